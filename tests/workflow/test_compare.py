"""Methods side by side: the same from Python and from the command line."""

from __future__ import annotations

import tempfile
import time

import numpy as np
import pandas as pd
import pytest

import infused
from infused.bench.store import VOLATILE
from infused.bench.tables import standings_table
from infused.cli import main
from infused.exceptions import InputError, OperationCancelledError

OPTIONS = {"methods": ["anova", "lasso:lambda1=0.1"], "k": [2, 4], "folds": 3}


@pytest.fixture(scope="module")
def found():
    return infused.compare("wine", **OPTIONS)


def lasting(rows):
    return rows.drop(columns=list(VOLATILE)).reset_index(drop=True)


def test_the_answer(found):
    assert "has the best mean accuracy" in found.verdict
    names = found.table["method"].tolist()
    assert set(names[:3]) == {"anova", "lasso (lambda1=0.1)", "random"}
    assert names[3:] == ["all features", "majority class"]
    assert found.table["mean"][:3].is_monotonic_decreasing
    assert found.verdict in repr(found)
    assert found.n_failed == 0
    assert len(found.rows) == 3 * (3 * 2 + 2)
    notes = standings_table(found.standings).notes
    assert any(" The whole comparison took " in note for note in notes)
    fragment = found._repr_html_()
    assert "lasso (lambda1=0.1)" in fragment and "<script" not in fragment


def test_the_page(found, tmp_path):
    page = found.report()
    assert found.report(tmp_path / "page.html") == str(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    assert "lasso (lambda1=0.1)" in page
    written = found.save(tmp_path / "out")
    assert [path.name for path in written] == ["comparison.csv", "comparison.html"]
    assert pd.read_csv(written[0])["method"].tolist() == found.table["method"].tolist()


def test_the_command_line_gives_the_same_rows(found, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ["compare", "wine", "--methods", "anova,lasso:lambda1=0.1", "-k", "2,4", "--folds", "3"]
    assert main([*command, "--jobs", "1", "--no-report", "--quiet", "--store", "results"]) == 0
    computed = []
    kept = infused.compare("wine", **OPTIONS, store="results", watch=computed.append)
    assert not computed, "Python asked for other cells than the command"
    pd.testing.assert_frame_equal(lasting(kept.rows), lasting(found.rows), check_dtype=False)
    pd.testing.assert_frame_equal(
        kept.table.drop(columns="select_seconds"), found.table.drop(columns="select_seconds")
    )


def test_rows_are_kept_in_memory(tmp_path, monkeypatch):
    """Nothing is written unless a store is given."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    found = infused.compare("wine", methods=["anova"], k=2, folds=2)
    assert len(found.rows) == 8 and not list(tmp_path.iterdir())


def test_a_store_keeps_results(tmp_path):
    seen = []
    for methods in (["anova"], ["anova", "mrmr"]):
        infused.compare(
            "wine",
            methods=methods,
            k=2,
            folds=2,
            store=tmp_path,
            watch=lambda p: seen.append(p.finished.cell),
        )
    assert [cell.method for cell in seen].count("anova") == 2, "computed once, on two folds"


def test_frames_and_scoring(found):
    from sklearn.datasets import load_wine

    data = load_wine(as_frame=True)
    other = infused.compare((data.data, data.target), **OPTIONS, scoring="balanced_accuracy")
    assert other.standings.metric == "balanced_accuracy"
    assert "balanced accuracy" in other.verdict


@pytest.fixture(scope="module")
def rare():
    """4% positives, which 3 of 60 columns tell from the others."""
    rng = np.random.default_rng(0)
    positive = np.arange(750) % 25 == 0
    X = rng.standard_normal((750, 60))
    X[:, 20:23] += 1.5 * positive[:, None]
    return X, np.where(positive, "spill", "none")


def test_a_rare_class_tells_a_selector_from_random_features(rare):
    found = infused.compare(rare, methods=["anova"], k=[3], folds=5, repeats=2)
    assert found.standings.metric == "roc_auc"
    assert "ROC AUC counts, not accuracy, because 'spill' is rare: 30 of 750" in found.standings.reason
    assert found.standings.reason in standings_table(found.standings).notes
    assert found.standings.beaten == ["random"]
    mean = found.table.set_index("method")["mean"]
    assert mean["anova"] > 0.85 and mean["random"] < 0.65 and mean["majority class"] == 0.5
    assert "Using all" in found.verdict and "better" not in found.verdict.partition("Using all")[2]
    assert "The majority class alone reaches 0.500" in found.verdict


def test_accuracy_cannot_tell_them_and_names_no_best(rare):
    found = infused.compare(rare, methods=["anova"], k=[1], folds=2, scoring="accuracy")
    assert found.standings.tied == ["anova", "random"]
    assert found.verdict.startswith("All 2 methods have the same mean accuracy, 96.0")
    assert "has the best" not in found.verdict
    assert "No method is significantly better than the majority class alone" in found.verdict
    cells = standings_table(found.standings).cells
    assert cells["p"][:2].tolist() == ["tied", "tied"]
    assert found.report().count('class="best"') == 2


def test_the_judge_does_not_answer_with_the_majority_always(rare):
    found = infused.compare(rare, methods=["anova"], k=[3], folds=3, scoring="balanced_accuracy")
    rows = found.rows[found.rows["method"] == "anova"]
    assert (rows["balanced_accuracy"] > 0.7).all()


def test_references(found):
    from sklearn.datasets import load_wine

    share = np.bincount(load_wine().target).max() / 178
    rows = found.rows.groupby("method")
    assert rows["k"].unique()["all features"].tolist() == [13]
    assert rows["accuracy"].mean()["majority class"] == pytest.approx(share, abs=0.01)
    assert rows["accuracy"].mean()["all features"] > 0.95


def test_errors_are_negated_inside_and_shown_as_they_are():
    found = infused.compare("diabetes", methods=["anova"], k=[2, 4], folds=3, scoring="mae")
    assert (found.rows["mae"] < 0).all()
    table = found.table.set_index("method")
    assert table["mean"]["anova"] == pytest.approx(
        -found.rows.query("method == 'anova'").groupby("k")["mae"].mean().max()
    )
    assert table["mean"]["anova"] < table["mean"]["random"] < table["mean"]["mean of the target"]
    assert (table["standard_error"] > 0).all()
    assert (table["low"].dropna() < table["high"].dropna()).all()
    assert table["difference"]["random"] > 0
    assert "anova has the best mean absolute error, 4" in found.verdict


def test_any_scorer_of_scikit_learn():
    found = infused.compare("wine", methods=["anova"], k=2, folds=2, scoring="f1_weighted")
    assert found.rows["f1_weighted"].notna().all()
    assert "best mean f1 weighted, 0." in found.verdict


def test_progress_can_cancel():
    from infused._runtime.progress import reporting

    halfway = reporting(lambda fraction, message: message != "comparing methods" or fraction < 0.5)
    with halfway, pytest.raises(OperationCancelledError):
        infused.compare("wine", **OPTIONS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 99}, "99 is more than the 13 features of wine"),
        ({"k": [0]}, "whole numbers from 1"),
        ({"folds": 1}, "folds=1"),
        ({"methods": ["nothing"]}, "there is no selector 'nothing'"),
        ({"methods": ["lasso:lambda1=-1"]}, "'lambda1' parameter of Lasso"),
        ({"scoring": "speed"}, "scoring='speed' is not known; there are accuracy, balanced_accuracy"),
        ({"scoring": "r2"}, "scoring='r2' is not for a target of classes"),
        ({"scoring": "neg_log_loss"}, "scoring='neg_log_loss' cannot be had of the model 'svm'"),
        ({"scoring": "neg_mean_squared_error"}, "cannot be had"),
        ({"protocol": "none"}, "protocol='none'"),
        ({"timeout": 0}, "timeout=0: give a number of seconds"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"imputed": "mean"}, "no option 'imputed'"),
    ],
)
def test_errors_name_parameters(options, message):
    with pytest.raises(InputError, match=message) as caught:
        infused.compare("wine", **{**OPTIONS, **options})
    assert "--" not in str(caught.value)


def test_which_features_methods_agree_on():
    found = infused.compare("wine", methods=["anova", "lasso"], k=[2, 4], folds=3)
    table = found.agreement
    assert set(table.columns) == {"anova", "lasso", "random"}
    k = int(found.standings.methods["k"].iloc[0])
    np.testing.assert_allclose(table.drop(columns="random")["anova"].sum(), k)
    for method in ("anova", "lasso"):
        rows = found.rows[found.rows["label"] == method]["selected"].dropna()
        chosen = [found.data.feature_names[n] for one in rows for n in one[:k]]
        assert all(table[method][name] == chosen.count(name) / 3 for name in table.index)
    assert "Which features methods and folds agree on" in found.report()


def test_one_k_does_not_depend_on_the_others():
    """With one feature the best C is another than with twelve, and each has its own."""
    rng = np.random.default_rng(3)
    y = np.arange(90) % 2
    X = rng.normal(size=(90, 12)) + 0.4 * y[:, None]
    alone = infused.compare((X, y), methods=["anova"], k=1, folds=3)
    among = infused.compare((X, y), methods=["anova"], k=[1, 5, 12], folds=3)
    keys, figures = ["method", "fold"], ["C", "transform", "accuracy", "score"]
    one, other = (
        found.rows[(found.rows["k"] == 1) & found.rows["method"].isin(["anova", "random"])]
        .sort_values(keys)
        .reset_index(drop=True)[[*keys, *figures]]
        for found in (alone, among)
    )
    pd.testing.assert_frame_equal(one, other)
    by_k = among.rows[among.rows["method"] == "anova"].groupby(["fold", "k"])["C"].first()
    assert (by_k.groupby("fold").nunique() > 1).any(), "else it would show nothing"


def hard_table(kind, n=3000):
    """Two classes whose linear SVM is hard to find: dummies, a constant, columns of very different scale."""
    rng = np.random.default_rng(0)
    months, price = rng.integers(1, 73, n), rng.uniform(18, 118, n)
    levels = [rng.integers(0, n_levels, n) for n_levels in (2, 3, 3, 4, 40)]
    dummies = np.column_stack([one == level for one in levels for level in np.unique(one)]).astype(float)
    numbers = [months, price, months * price + rng.normal(size=n), 1e6 * price**2, np.ones(n)]
    z = -0.05 * months + 0.01 * price + dummies[:, 2] + rng.logistic(size=n)
    y = (z > np.quantile(z, {"overlapping": 0.6, "imbalanced": 0.95}.get(kind, 0.5))).astype(int)
    return np.column_stack([*numbers, dummies, *[1e-9 * y] * (kind == "separable")]), y


@pytest.mark.parametrize("kind", ["overlapping", "imbalanced", "separable"])
def test_every_table_ends_within_seconds(kind):
    """15 seconds of CPU; libsvm without a limit took 35 where classes overlap."""
    start = time.process_time()
    found = infused.compare(hard_table(kind), methods=["anova"], k=[2, 8, 40], folds=3)
    assert time.process_time() - start < 15
    assert found.n_failed == 0
    spent = found.rows.drop_duplicates("cell")["cell_seconds"].sum()
    assert spent < time.process_time() - start


def test_a_model_that_stops_early_is_told():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 6)) + y[:, None]
    options = {"methods": ["anova"], "k": 3, "folds": 2, "allow_imports": True}
    with pytest.warns(UserWarning, match="stopped at its limit of iterations in 6 of 8 evaluations"):
        infused.compare((X, y), **options, classifier="tests.bench.odd_selectors.Hasty")


def test_random_features_are_not_recommended(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(60, 8)), columns=list("abcdefgh")).assign(y=np.arange(60) % 2)
    for seed in range(8):
        frame.sample(frac=1, random_state=seed).to_csv("noise.csv", index=False)
        command = ["compare", "noise.csv", "-t", "y", "--methods", "anova", "-k", "2", "--folds", "3"]
        assert main([*command, "--jobs", "1", "--no-report", "--seed", str(seed)]) == 0
        out = capsys.readouterr().out
        assert "--method random" not in out
        if "No method beats chance" in out:
            assert "Use it" not in out
            return
    raise AssertionError("random features were never the best")


def test_a_given_transform_holds_in_every_fold():
    random = np.random.default_rng(0)
    X = np.exp(2 * random.normal(size=(120, 4)))
    y = np.log(X[:, 0]) + 0.3 * random.normal(size=120)
    options = {"methods": ["anova"], "k": 1, "folds": 3}
    plain = infused.compare((X, y), transform="none", **options)
    logarithm = infused.compare((X, y), transform="log1p", **options)
    assert set(plain.rows["transform"]) == {"none"} and set(logarithm.rows["transform"]) == {"log1p"}
    assert logarithm.rows["r2"].max() > plain.rows["r2"].max() + 0.1
    with pytest.raises(InputError, match="needs values that are not negative"):
        infused.compare((-X, y), transform="sqrt", **options)
    with pytest.raises(InputError, match="has 2 targets, but methods are compared by one"):
        infused.compare((X, np.column_stack([y, y])), **options)
