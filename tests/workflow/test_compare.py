"""Methods side by side: the same from Python and from the command line."""

from __future__ import annotations

import pandas as pd
import pytest

import infused
from infused.bench.store import VOLATILE
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
    assert set(found.table["method"]) == {"anova", "lasso (lambda1=0.1)", "random"}
    assert found.table["mean"].is_monotonic_decreasing
    assert found.verdict in repr(found)
    assert found.n_failed == 0
    assert len(found.rows) == 3 * 3 * 2
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
    assert main([*command, "--jobs", "1", "--no-report", "--quiet"]) == 0
    computed = []
    kept = infused.compare("wine", **OPTIONS, store="infused-compare-wine/store", watch=computed.append)
    assert not computed, "Python asked for other cells than the command"
    pd.testing.assert_frame_equal(lasting(kept.rows), lasting(found.rows))
    pd.testing.assert_frame_equal(
        kept.table.drop(columns="select_seconds"), found.table.drop(columns="select_seconds")
    )


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
        ({"scoring": "speed"}, "scoring='speed' is not known"),
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
