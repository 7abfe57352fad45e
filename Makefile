# Every target sets up what it needs: a virtual environment in .venv, reused when it is up to date.
PYTHON ?= python3
VENV := .venv
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(SCRIPTS)
READY := $(VENV)/.ready
LOWEST_PYTHON ?= 3.11
NEWEST_PYTHON ?= 3.13

.PHONY: demo test test-lowest test-newest lint check dist docs docs-quick docs-links validate bench fuzz clean

demo: $(READY)  ## the main job, on scikit-learn's digits
	$(BIN)/infused select digits -k 20 --report --force

test test-lowest test-newest: export PYTHONDONTWRITEBYTECODE =  # tests start many processes
# There is a worker for each core: more threads of BLAS would wait for each other.
test test-lowest test-newest: export OMP_NUM_THREADS = 1

test: $(READY)  ## all quick tests
	$(BIN)/python -m pytest -n auto

test-lowest: $(READY)  ## all quick tests with the lowest versions that pyproject.toml declares, on the lowest Python
	$(BIN)/uv venv --quiet --clear --python $(LOWEST_PYTHON) .venv-lowest
	$(BIN)/uv pip install --quiet --python .venv-lowest --resolution lowest-direct --editable ".[dev]"
	NUMBA_CACHE_DIR=.venv-lowest/numba .venv-lowest/$(SCRIPTS)/python -m pytest -n auto
	.ci/extras . lowest-direct $(LOWEST_PYTHON)

test-newest: $(READY)  ## all quick tests with the newest versions there are, pre-releases among them
	$(BIN)/uv venv --quiet --clear --python $(NEWEST_PYTHON) .venv-newest
	$(BIN)/uv pip install --quiet --python .venv-newest --upgrade --prerelease allow \
		--editable ".[dev]"
	NUMBA_CACHE_DIR=.venv-newest/numba .venv-newest/$(SCRIPTS)/python -m pytest -n auto

lint: $(READY)  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test

dist: $(READY)  ## sdist and wheel, each installed into an empty environment and tested from there
	.ci/dist

docs: $(READY)  ## the site in docs/_build/html, examples run; a warning fails
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

docs-quick: $(READY)  ## the same without running the examples
	INFUSED_DOCS=quick $(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/quick

docs-links: docs-quick  ## whether every link inside the site leads somewhere
	$(BIN)/python docs/_ext/inner_links.py docs/_build/quick

MINUTES ?= 10
SEED ?= 0

fuzz: $(READY)  ## slow: damaged files and records, random options and selectors; MINUTES=10 SEED=0
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --seed $(SEED)
	$(BIN)/python -m tests.fuzz.kills --kills 50 --seed $(SEED)

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
	rm -rf .venv* .mypy_cache .pytest_cache .ruff_cache .hypothesis dist docs/_build docs/api docs/auto_examples
