"""The main job in Python: whatever the data come as, and the same as on the command line."""

from __future__ import annotations

import html
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import load_digits

import infused
from infused.cli import main
from infused.data import load_data
from infused.exceptions import InputError
from infused.record.schema import SelectionRecord
from infused.record.sentences import stability_sentences


def lasting(record):
    """Of a record, what does not change from run to run."""
    return replace(record, created="", timings={})


def as_anndata(table):
    """An object of AnnData's shape: to have the package itself would keep pandas at an old version."""
    X = table.drop(columns="diagnosis")
    return SimpleNamespace(X=X.to_numpy(), obs=table[["diagnosis"]], var_names=X.columns, layers={})


def test_three_lines_from_a_file_to_a_page(file, tmp_path):
    selection = infused.select("patients.csv", "diagnosis", k=3)
    selection.report("page.html")
    assert selection.table["feature"].tolist() == selection.features
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert all(name in page for name in selection.features)


@pytest.mark.parametrize(
    "given",
    [
        lambda table: (table, "diagnosis"),
        lambda table: (pl.from_pandas(table), "diagnosis"),
        lambda table: (pa.Table.from_pandas(table), "diagnosis"),
        lambda table: ((table.drop(columns="diagnosis"), table["diagnosis"]), None),
        lambda table: (as_anndata(table), "diagnosis"),
    ],
    ids=["pandas", "polars", "arrow", "pair", "anndata"],
)
def test_frames_give_what_the_file_gives(file, table, given):
    data, target = given(table)
    found = infused.select(data, target, k=4)
    expected = infused.select(file, "diagnosis", k=4)
    assert found.record.selected == expected.record.selected
    assert found.record.data.fingerprint == expected.record.data.fingerprint
    assert found.record.request.source is None


def test_arrays(table):
    X, y = load_digits(return_X_y=True)
    selection = infused.select((X, y), k=5, grid=(8, 8), method="fused-lasso", folds=0)
    assert selection.record.request.method.parameters["grid_shape"] == [8, 8]
    assert selection.features[0].startswith("feature_")
    named = infused.select("digits", k=5, grid=(8, 8), method="fused-lasso", folds=0)
    assert [f.index for f in selection.record.selected] == [f.index for f in named.record.selected]


@pytest.mark.parametrize(
    ("k", "found"),
    [(3, 3), (np.int64(3), 3), (0.4, 4), (None, 5), ("auto", None)],
    ids=["number", "numpy", "fraction", "none", "auto"],
)
def test_how_many(table, k, found):
    selection = infused.select(table, "diagnosis", k=k, method="anova")
    assert len(selection) == len(selection.features) == (found or len(selection))
    assert selection.selector.support_.sum() == len(selection)


def test_methods_come_as_ids_texts_and_selectors(table):
    expected = infused.select(table, "diagnosis", k=3, method="mrmr", n_bins=7).record
    for method in ("mrmr:n_bins=7", infused.MRMR(n_bins=7, n_features_to_select=3)):
        k = 3 if isinstance(method, str) else None
        assert infused.select(table, "diagnosis", k=k, method=method).record.selected == expected.selected
    assert expected.request.method.parameters["n_bins"] == 7
    assert expected.request.method.parameters["target"] == "classes", "what follows from the data, too"


def test_parameters_that_only_python_can_give(table):
    """Edges are an array: the record keeps them as lists."""
    edges = np.array([[0, 1], [2, 3]])
    selection = infused.select(table, "diagnosis", k=3, fusion=edges)
    assert selection.record.request.method.parameters["fusion"] == edges.tolist()
    assert SelectionRecord.from_json(selection.record.to_json()) == selection.record


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({"k": 3}, ["-k", "3"]),
        (
            {"k": "auto", "transform": "auto", "method": "mrmr", "seed": 3},
            ["-k", "auto", "--transform", "auto", "-m", "mrmr", "--seed", "3"],
        ),
        (
            {"k": 0.3, "lambda2": 0.1, "drop": ["zinc"], "task": "classification", "ranking": "coefficient"},
            [
                *("-k", "0.3", "--lambda2", "0.1", "--drop", "zinc", "--task", "classification"),
                *("--set", "ranking=coefficient"),
            ],
        ),
        ({"k": 4, "grid": (2, 5)}, ["-k", "4", "--grid", "2x5"]),
        ({"k": 4, "keep": ["zinc", "lead"]}, ["-k", "4", "--keep", "zinc", "--keep", "lead"]),
    ],
    ids=["plain", "auto", "options", "grid", "keep"],
)
def test_python_the_command_line_and_a_rerun_give_identical_records(file, options, arguments):
    # The last bits of an objective are those of the number of threads of BLAS.
    python = infused.select(file, "diagnosis", **options, n_jobs=1)
    usual = ["--no-report", "--quiet", "--jobs", "1"]
    assert main(["select", file, "-t", "diagnosis", *arguments, "-o", "out", *usual]) == 0
    written = infused.Selection.load("out").record
    assert lasting(python.record) == lasting(written)
    again = infused.rerun("out", n_jobs=1)
    assert lasting(again.again.record) == lasting(written)
    assert main(["rerun", "out", "-o", "again", *usual]) == 0
    assert lasting(infused.Selection.load("again").record) == lasting(written)


@pytest.fixture
def covariates():
    """Categories, gaps, copies, a constant: columns, variables and candidates have other places."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 4)), columns=["early copy", "a", "b", "c"])
    table["age"], table["town"], table["one"] = table["early copy"], rng.choice(list("xyz"), 60), 1.0
    table["gaps"] = table["c"].where(rng.random(60) < 0.7)
    return table.assign(kind=np.where(table["b"] > 0, "ill", "well"))


@pytest.mark.parametrize("method", ["lasso", "mrmr", "auto", "stability", "knockoffs"])
@pytest.mark.parametrize("keep", ["age", ["town", "gaps"], ["one"], ["gaps", "age"], [5]])
def test_what_is_kept_comes_first_whatever_is_left_out(covariates, method, keep):
    own = {"cv": 3} if method == "auto" else {}
    names = [keep] if isinstance(keep, str) else ["town"] if keep == [5] else keep
    unscored = {"stability": 0, "folds": 0}
    selection = infused.select(covariates, "kind", k=3, method=method, keep=keep, **unscored, **own)
    assert selection.features[: len(names)] == names
    assert len(set(selection.features) & {"early copy", "age"}) <= 1  # of copies one
    assert any("selected as asked" in note for note in selection.record.data.notes)
    again = infused.rerun(selection, covariates)
    assert again.again.features == selection.features


def test_how_sure_it_is_counts_what_was_found_alone(covariates):
    kept = infused.select(covariates, "kind", k=2, keep=["town", "b"], stability=2).record
    assert stability_sentences(kept) == ""
    more = infused.select(covariates, "kind", k=3, keep=[5, "a"], stability=5).record
    assert more.request.method.parameters["keep"] == ["town", "a"]
    assert "The selected feature is stable" in stability_sentences(more)


def test_a_selector_may_name_what_it_keeps(covariates):
    given = infused.select(covariates, "kind", k=3, method=infused.Lasso(keep=["age"]), stability=0)
    assert given.features == infused.select(covariates, "kind", k=3, method="lasso", keep="age").features


@pytest.mark.parametrize(
    ("keep", "told"),
    [
        ("agee", r"keep='agee': no such column; did you mean 'age'\?$"),
        ("row", "no such column, or it was left out: what looks like an identifier is used with use="),
        ([True], "give names or positions of features"),
        ([["age"]], "give names or positions of features"),
        (["age", "age"], "names a feature more than once"),
        (["a", "b", "c", "age"], "n_features_to_select=3 is fewer than the 4 of keep="),
    ],
)
def test_what_cannot_be_kept_is_told(covariates, keep, told):
    covariates.insert(0, "row", range(60))
    with pytest.raises(InputError, match=told):
        infused.select(covariates, "kind", k=3, keep=keep)


def test_a_rerun_of_data_that_were_given_in_python(table):
    selection = infused.select(table, "diagnosis", k=3, method="anova")
    with pytest.raises(InputError, match="pass them as data="):
        infused.rerun(selection)
    found = infused.rerun(selection, table)
    assert (found.same_data, found.difference) == (True, "")
    other = table.assign(lead=table["lead"] + 30 * (table["diagnosis"] == "ill"))
    with pytest.raises(InputError, match=r"changed since .*force=True"):
        infused.rerun(selection, other)
    with pytest.warns(UserWarning, match="so other features may have come out"):
        found = infused.rerun(selection, other, force=True)
    assert "1 of 3 are no longer selected" in found.difference
    assert found.again.record.request.source is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, r"k=0: give a whole number"),
        ({"k": True}, r"k=True: give a whole number"),
        ({"k": "many"}, r"k='many'"),
        ({"k": 99}, r"k=99 is more than the 10 features of 'data'"),
        ({"method": "mrmrr"}, r"no selector 'mrmrr'; did you mean 'mrmr'"),
        ({"method": 3}, r"method=3 is neither an id nor a selector"),
        ({"lambda9": 1}, r"infused-lasso does not take lambda9=; did you mean"),
        ({"lambda1": -1}, r"'lambda1' parameter of InFusedLasso"),
        ({"transform": "cube"}, r"transform='cube' is not known"),
        ({"seed": -1}, r"seed=-1"),
        ({"n_jobs": 0}, r"n_jobs=0"),
        ({"impute": "mode"}, r"impute='mode'"),
        ({"drop": "nothing"}, r"drop='nothing'"),
        ({"target": np.zeros(90)}, r"target= takes names or positions .* give values as a pair \(X, y\)"),
        ({"fusion": "grid"}, r"fusion='grid' needs the shape of the pictures: give grid="),
        ({"grid": (3, 3)}, r"grid=\(3, 3\)"),
    ],
)
def test_errors_name_parameters(table, options, message):
    with pytest.raises(InputError, match=message) as caught:
        infused.select(table, **{"target": "diagnosis", "k": 3, **options})
    assert isinstance(caught.value, ValueError)
    assert "--" not in str(caught.value) and "\n" not in str(caught.value)


def test_the_selection_shows_itself(table):
    selection = infused.select(table, "diagnosis", k=4, method="lasso")
    assert repr(selection).startswith("<Selection: 4 of the 10 features of data, by Lasso: ")
    assert str(selection).startswith("Result: Top 4 of 10 features for predicting diagnosis (")
    fragment = selection._repr_html_()
    assert all(name in fragment for name in selection.features)
    assert "<script" not in fragment
    columns = ["rank", "feature", "direction", "score", "alone", "unique", "group", "coefficient"]
    assert selection.table.columns.tolist() == columns
    assert selection.table["rank"].tolist() == [1, 2, 3, 4]


def test_hostile_names_stay_text_in_a_notebook(table):
    hostile = "<img src=x onerror=alert(1)>"
    selection = infused.select(table.rename(columns={"glucose": hostile}), "diagnosis", k=2, method="anova")
    assert hostile in selection.features
    assert "<img" not in selection._repr_html_()


def test_what_is_saved_is_loaded(file, tmp_path):
    selection = infused.select(file, "diagnosis", k=3, method="anova")
    written = selection.save("out", reduced=True)
    assert [path.name for path in written] == [
        "selected.csv",
        "reduced.parquet",
        "report.html",
        "selection.json",
    ]
    loaded = infused.Selection.load("out/selection.json")
    assert loaded.record == selection.record
    assert loaded.selector is None and loaded.data is None
    assert loaded.features == selection.features
    with pytest.raises(InputError, match=r"holds earlier results .*force=True"):
        selection.save("out")
    with pytest.raises(InputError, match="use apply instead"):
        loaded.save("elsewhere", reduced=True)
    assert not (tmp_path / "elsewhere").exists()
    loaded.save("out", force=True, report=False)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["selected.csv", "selection.json"]


def test_apply(file, table):
    selection = infused.select(file, "diagnosis", k=3, method="anova", transform="sqrt")
    new = table[list(reversed(table.columns))].drop(columns="diagnosis").iloc[:7]
    expected = new[selection.features].reset_index(drop=True)
    pd.testing.assert_frame_equal(selection.apply(new), expected, check_dtype=False)
    pd.testing.assert_frame_equal(selection.apply(new, transformed=True), np.sqrt(expected))
    assert selection.apply(file).shape == (90, 3)
    gaps = new.astype(float).copy()
    gaps.iloc[0] = np.nan
    filled = selection.apply(gaps)
    assert filled.iloc[0].tolist() == table[selection.features].median().tolist()
    assert filled.attrs["notes"] == ("3 missing values filled as recorded",)
    with pytest.raises(InputError, match="1 feature has no column"):
        selection.apply(new.drop(columns=selection.features[0]))
    with pytest.raises(InputError, match="no option 'imput'"):
        selection.apply(new, imput="zero")


def test_what_is_wrong_is_the_first_thing_that_one_reads(table, tmp_path, monkeypatch, capsys):
    """In Python, in a notebook and on the command line."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    leak = table.assign(outcome=np.where(table["diagnosis"] == table["diagnosis"][0], "good", "bad"))
    noise = table.assign(diagnosis=rng.permutation(table["diagnosis"]))
    noise[noise.columns[:-1]] = rng.normal(size=noise.iloc[:, :-1].shape)
    rare = pd.concat([table.query("diagnosis == 'well'")] * 3 + [table.query("diagnosis == 'ill'").head(11)])
    rare = rare.reset_index(drop=True)
    rare[rare.columns[:-1]] += rng.normal(size=rare.iloc[:, :-1].shape)
    related = pd.concat([table] * 4, ignore_index=True)
    related[related.columns[:-1]] += rng.normal(size=related.iloc[:, :-1].shape)
    related.insert(0, "patient", [f"P{n:02}" for n in list(range(len(table))) * 4])
    for data, words, gravity in (
        (leak, "Possible leakage: 'outcome' alone predicts", "warning"),
        (noise, "No single feature predicts", "warning"),
        (rare, "94.2% of the samples are 'well'", "caution"),
        (related, "Rows look related: 'patient' has 90 different values", "caution"),
    ):
        found = infused.select(data, "diagnosis", k=2, method="anova", stability=0, folds=0)
        assert str(found).startswith(f"Warning: {words}")
        notebook = html.unescape(found._repr_html_())
        assert words in notebook and notebook.index("Warning:") < notebook.index("Top 2 of")
        page = html.unescape(found.report())
        assert page.index(f'class="verdict {gravity}"') < page.index(words) < page.index("Top 2 of")
        data.to_csv("data.csv", index=False)
        assert (
            main(["select", "data.csv", "-t", "diagnosis", "-k", "2", "--stability", "0", "--no-report"]) == 0
        )
        title, first = capsys.readouterr().out.splitlines()[:2]
        assert title.startswith("2 of ") and first.startswith(f"Warning: {words}")
        shutil.rmtree("infused-data")


def test_apply_keeps_the_index_and_an_id(table, tmp_path):
    found = infused.select(table, "diagnosis", k=2, method="anova", stability=0, folds=0)
    named = table.set_axis([f"patient {n}" for n in range(len(table))], axis=0)
    assert found.apply(named).index.equals(named.index)
    assert found.apply((named.drop(columns="diagnosis"), named["diagnosis"])).index.equals(named.index)
    table.insert(3, "sample", [f"00{n}" for n in range(len(table))])
    table.to_csv(tmp_path / "new.csv", index=False)
    for data in (table, tmp_path / "new.csv", pl.from_pandas(table)):
        reduced = found.apply(data, id="sample")
        assert reduced.columns.tolist() == ["sample", *found.features]
        assert reduced["sample"].tolist() == table["sample"].tolist()
    with pytest.raises(InputError, match="no such column; did you mean 'sample'"):
        found.apply(table, id="sampel")
    with pytest.raises(InputError, match="is a selected feature"):
        found.apply(table, id=found.features[0])


def test_a_given_number_has_a_score(file):
    """The same as that of the curve by which the number is chosen, with the selection inside the folds."""
    found = infused.select(file, "diagnosis", k=2, method="anova", stability=0)
    score, chosen = (
        found.record.score,
        infused.select(file, "diagnosis", k="auto", method="anova", stability=0),
    )
    curve = chosen.record.number
    assert score.ks == (2,) and found.record.request.folds == score.n_folds == 5
    assert score.means[0] == curve.means[curve.ks.index(2)] and score.chance == curve.chance
    assert chosen.record.score is None
    assert "5-fold cross-validation, selecting inside the folds." in str(found)
    assert lasting(infused.rerun(found).again.record) == lasting(found.record)
    assert infused.select(file, "diagnosis", k=2, folds=0, stability=0).record.score is None
    scored = infused.select(file, "diagnosis", k=2, folds=3, scoring="roc_auc", stability=0).record.score
    assert (scored.n_folds, scored.scoring) == (3, "roc_auc")
    with pytest.raises(InputError, match="folds=1: give a whole number from 2"):
        infused.select(file, "diagnosis", k=2, folds=1)


def test_a_dataset_is_what_its_file_is(file):
    """Read once with its options, it gives what the file gives, and its record can be made again."""
    data = load_data(file, target="diagnosis", drop=["glucose"], missing="?")
    found = infused.select(data, k=3, method="anova", stability=0)
    expected = infused.select(
        file, "diagnosis", k=3, method="anova", drop=["glucose"], missing="?", stability=0
    )
    assert lasting(found.record) == lasting(expected.record)
    assert infused.rerun(found).same_data
    assert infused.select(data, "diagnosis", k=1, stability=0).data is data
    assert infused.explain(data, "age").data is data
    assert infused.compare(data, methods=["anova"], k=1, folds=2).data is data


@pytest.mark.parametrize("options", [{"target": "age"}, {"missing": "-1"}])
def test_options_of_reading_come_too_late_for_a_dataset(table, options):
    data = load_data(table, target="diagnosis")
    for job in (infused.select, infused.compare):
        with pytest.raises(InputError, match="too late for a Dataset"):
            job(data, **options)


def test_data_are_read_as_they_were_for_the_selection(table, tmp_path):
    path = tmp_path / "odd.csv"
    table.to_csv(path, sep="|", header=False, index=False, encoding="utf-16")
    odd = {"separator": "|", "header": False, "encoding": "utf-16"}
    selection = infused.select(path, 10, k=2, method="anova", **odd)
    again = selection.apply(path)
    assert list(again) == selection.features
    assert selection.apply(path, header=False).equals(again)
    renamed = table.set_axis([f"column_{n}" for n in range(11)], axis=1)
    renamed.to_csv(path, index=False)
    assert selection.apply(path, separator=",", header=True, encoding="utf-8").equals(again)


def test_gaps_are_filled_as_they_were_for_the_selection(table):
    table.loc[3, "glucose"] = np.nan
    selection = infused.select(table, "diagnosis", k=3, method="anova", impute="median")
    assert not selection.apply(table).isna().any(axis=None)


def test_plots_take_a_selection(table):
    import matplotlib

    matplotlib.use("Agg")
    selection = infused.select(table, "diagnosis", k=3)
    ax = infused.report.plot_coefficients(selection)
    assert [label.get_text() for label in ax.get_xticklabels()] == selection.features
    infused.report.plot_convergence(selection)


EXTRAS = (
    ("pyarrow", "files", "infused.select('patients.csv', 'diagnosis')"),
    ("pandas", "files", "selection.table"),
    ("pandas", "files", "selection.apply((X, y))"),
    ("pandas", "files", "infused.compare((X, y), methods=['anova'], k=2, folds=2)"),
    ("filelock", "files", "alone('lock').__enter__()"),
    ("jinja2", "report", "selection.report()"),
    ("matplotlib", "plots", "infused.report.plot_convergence(selection)"),
    ("anndata", "h5ad", "infused.select('cells.h5ad', 'kind')"),
)
WITHOUT_EXTRAS = f"""
import json, sys
class Hidden:  # as if they were not installed
    names = ("pyarrow", "pandas", "filelock", "jinja2", "matplotlib", "anndata", "typer", "rich")
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
import numpy as np
import infused
from infused._runtime.files import alone
from infused.cli import main
X = np.random.default_rng(0).normal(size=(40, 6))
y = (X[:, 0] > 0).astype(int)
selection = infused.select((X, y), k=2, method='lasso')
said = []
for _, _, code in {EXTRAS!r}:
    try:
        eval(code)
    except infused.exceptions.MissingExtraError as error:
        said.append(str(error))
print(json.dumps([selection.features, said, main(["methods"])]))
"""


def test_the_core_needs_no_extra_and_a_missing_one_is_named(file, tmp_path):
    (tmp_path / "cells.h5ad").write_bytes(b"x")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS], capture_output=True, text=True, check=True, timeout=120
    )
    features, said, code = json.loads(done.stdout)
    line = "this needs the package {}, which is not installed: pip install 'infused[{}]'"
    assert features[0] == "feature_0"
    assert said == [line.format(package, extra) for package, extra, _ in EXTRAS]
    assert (code, done.stderr) == (2, f"Error: {line.format('typer', 'cli')}\n")


def test_a_record_is_plain_json(table):
    record = infused.select(table, "diagnosis", k=2, method="anova").record
    content = json.loads(record.to_json())
    assert content["schema"] == "infused.selection/2"
    assert content["request"]["reading"]["target"] == "diagnosis"
