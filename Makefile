# Every target sets up what it needs: a virtual environment in .venv, reused when it is up to date.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint check validate bench clean

demo: $(READY)  ## the main job, on scikit-learn's digits
	$(BIN)/infused select digits -k 20 --report --force

test: $(READY)  ## all quick tests
	$(BIN)/python -m pytest -n auto

lint: $(READY)  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test

validate: $(READY)  ## slow: U against its definition on the paper's data (needs INFUSED_DATA)
	$(BIN)/python -m benchmarks.validate

bench: $(READY)  ## slow: speed and memory against peers (needs INFUSED_DATA)
	$(BIN)/python -m benchmarks.structural_information
	$(BIN)/python -m benchmarks.scaling

$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $(READY)

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
