"""infused compare, infused benchmark table and figures: from data to a page, and from a store to tables."""

from __future__ import annotations

import csv
import io
import shlex
import shutil

import pytest

from infused.cli import main


def run(command, *arguments):
    """The exit code of a command."""
    words = ["compare"] if command == "compare" else ["benchmark", command]
    return main([*words, *(str(one) for one in arguments)])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder in which wine was compared."""
    folder = tmp_path_factory.mktemp("compared")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        arguments = ["--methods", "anova,lasso", "-k", "2,4", "--folds", "3", "--jobs", "1", "--quiet"]
        assert run("compare", "wine", *arguments, "--store", "kept") == 0
    return folder


@pytest.fixture
def compared(place, tmp_path, monkeypatch):
    """A copy of it, in the current folder."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(place / "kept", tmp_path / "infused-results")
    return shutil.copytree(place / "infused-compare-wine", tmp_path / "infused-compare-wine")


@pytest.fixture
def store(compared):
    """The results, where they do not depend on a name."""
    return compared.parent / "infused-results"


def test_compare_writes_a_page_and_a_table(compared):
    page = (compared / "comparison.html").read_text(encoding="utf-8")
    command = "infused compare wine --methods anova,lasso,random -k 2,4 --folds 3 --repeats 1 --seed 0"
    assert command in page
    lines = list(csv.DictReader((compared / "comparison.csv").open(encoding="utf-8")))
    assert {line["method"] for line in lines[:3]} == {"anova", "lasso", "random"}
    assert [line["method"] for line in lines[3:]] == ["all features", "majority class"]
    assert all(line["n_folds"] == "3" for line in lines)


def test_the_command_of_the_page_computes_nothing_anew(compared, capsys):
    before = (compared / "comparison.csv").read_text(encoding="utf-8")
    again = shlex.split("compare wine --methods anova,lasso,random -k 2,4 --folds 3 --repeats 1 --seed 0")
    assert run(*again, "--no-report", "--store", "infused-results") == 0
    out, err = capsys.readouterr()
    assert "repeat" not in err, "no cell was computed"
    assert "has the best mean accuracy" in out
    assert "anova" in out
    assert (compared / "comparison.csv").read_text(encoding="utf-8") == before


def test_another_k_starts_anew(compared):
    assert (
        run("compare", "wine", "--methods", "anova", "-k", "3", "--folds", "3", "--jobs", "1", "--quiet") == 0
    )
    lines = list(csv.DictReader((compared / "comparison.csv").open(encoding="utf-8")))
    assert [line["k"] for line in lines] == ["3", "3", "13", "0"]


def test_a_part_of_the_methods_is_shown_alone(compared, capsys):
    assert (
        run("compare", "wine", "--methods", "anova", "-k", "2,4", "--folds", "3", "--output", compared) == 0
    )
    assert "lasso" not in capsys.readouterr().out


def test_a_method_can_have_parameters(compared, capsys):
    variant = "lasso:ranking=coefficient:lambda1=0.2"
    command = ["compare", "wine", "--methods", f"lasso,{variant}", "-k", "2,4", "--folds", "3", "--jobs", "1"]
    assert run(*command, "--output", compared, "--store", "infused-results") == 0
    assert "lasso (lambda1=0.2," in capsys.readouterr().out
    lines = list(csv.DictReader((compared / "comparison.csv").open(encoding="utf-8")))
    assert "lasso (lambda1=0.2, ranking=coefficient)" in [line["method"] for line in lines]
    page = (compared / "comparison.html").read_text(encoding="utf-8")
    assert "lasso,lasso:lambda1=0.2:ranking=coefficient,random" in page, "the command to run it again"

    store = "infused-results"
    assert run("table", "--store", store, "--methods", "lasso,random") == 0
    assert "lambda1" not in capsys.readouterr().out
    assert run("table", "--store", store, "--methods", variant) == 0
    out = capsys.readouterr().out
    assert "lasso (lambda1=0.2, ranking=coefficient)" in out and "random" not in out
    assert "all features" in out, "what every selection is measured by"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "wine", "--methods", "lasso:lambda1=-1"], "'lambda1' parameter of Lasso"),
        (["compare", "wine", "--methods", "lasso:lambda1="], "'lasso:lambda1=' is no method"),
        (["compare", "wine", "--methods", "lasso:lamda=1"], "does not take --set lamda=..."),
        (["compare", "wine", "--methods", "lasso:n_features_to_select=3"], "cannot have -k of its own"),
        (["compare", "wine", "-k", "2,x"], "give whole numbers with commas between"),
        (["compare", "wine", "-k", "0"], "give whole numbers with commas between"),
        (["compare", "wine", "-k", "99"], "99 is more than the 13 features of wine"),
        (["compare", "wine", "--timeout", "0"], "give a number of seconds above zero"),
        (["compare", "wine", "--methods", "anova,,lasso"], "has an empty entry"),
        (["compare", "wine", "--methods", "nothing"], "there is no selector 'nothing'"),
        (["compare", "wine", "--protocol", "none"], "--protocol none is not known"),
        (["compare", "wine", "--scoring", "r2"], "--scoring r2 is not for a target of classes"),
        (["table", "--store", "nowhere"], "there are no results in 'nowhere'"),
        (["table", "--format", "pdf"], "--format pdf is not known"),
        (["table", "--protocol", "leaky"], "no rows of the leaky"),
        (["table", "--paper"], "no rows of the paper's data sets"),
        (["table", "--dataset", "iris"], "--dataset iris is not known"),
        (["table", "--protocol", "loose"], "--protocol loose is not known"),
        (["table", "--dataset", "wine", "--paper"], "--paper and --dataset ask for different tables"),
        (["table", "--ablation"], "run infused benchmark --ablate first"),
        (["figures", "--methods", "mrmr"], "--methods mrmr is not known"),
    ],
)
def test_bad_commands_say_what_to_change(store, capsys, arguments, words):
    assert run(*arguments) == 2
    out, err = capsys.readouterr()
    assert words in " ".join(err.split())
    assert out == ""


def test_a_store_as_tables(store, capsys):
    assert run("table") == 0
    out, err = capsys.readouterr()
    assert out.startswith("Best mean accuracy (%)")
    assert "| anova " in out
    assert "no table of ranks" in err
    assert run("table", "--store", store, "--format", "csv") == 0
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [line["method"] for line in lines] == [
        *("lasso", "anova", "random", "all features", "majority class")
    ]


def test_one_data_set_of_a_store_as_a_table(store, capsys):
    assert run("table", "--dataset", "wine") == 0
    out = capsys.readouterr().out
    assert out.startswith("Methods on wine, each with the k of its best mean")
    assert out.count(" best |") == 1
    assert all(method in out for method in ("lasso", "anova", "random"))
    assert run("table", "--dataset", "wine", "--format", "csv") == 0
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {line["method"] for line in lines[:3]} == {"lasso", "anova", "random"}
    assert all(float(line["stability"]) <= 1 for line in lines[:3])


def test_tables_are_written_once(store, tmp_path, capsys):
    file = tmp_path / "tables.tex"
    command = ["table", "--store", store, "--format", "latex", "--output", file]
    assert run(*command) == 0
    assert file.read_text(encoding="utf-8").startswith(r"\begin{table}")
    assert run(*command) == 2
    assert "--force" in capsys.readouterr().err
    assert run(*command, "--force") == 0


def test_a_store_as_figures(store, tmp_path, capsys):
    command = ["figures", "--store", store, "--no-convergence", "--output"]
    assert run(*command, tmp_path / "one") == 0
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == ["accuracy.png", "accuracy.svg"]
    assert "no figure of nested ranks" in capsys.readouterr().err
    assert run(*command, tmp_path / "two", "--quiet") == 0
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
