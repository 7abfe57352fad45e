"""The results that come with the source: complete, and what the pages say of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from infused import available_selectors
from infused.bench import Store, paper
from infused.bench.frames import of_protocol, plain_methods
from infused.bench.statistics import best_scores, score_summary
from infused.cli.app import main

STORE = Path(__file__).parents[2] / "results"
USUAL = {*paper.METHODS, "greedy-forward", "anova", "random"}
REPEATS = {"Lymphoma": 10, "Leukemia": 10, "Isolet1": 10, "RELATHE": 3, "BASEHOCK": 3}


@pytest.fixture(scope="module")
def rows():
    return Store(STORE).frame()


def folds_of(rows, dataset, method):
    mine = rows[(rows["dataset"] == dataset) & (rows["method"] == method)]
    return {(one.repeat, one.fold) for one in mine.itertuples()}


@pytest.mark.parametrize("dataset", paper.DATASETS)
def test_every_cell_is_there_and_none_failed(rows, dataset):
    nested = plain_methods(of_protocol(rows))
    assert (nested["status"] == "ok").all()
    repeats = REPEATS.get(dataset, 1)
    for method in USUAL:
        assert folds_of(nested, dataset, method) == {(r, f) for r in range(repeats) for f in range(10)}
    for method in set(available_selectors()) - USUAL if dataset not in ("USPS", "PIE") else ():
        assert len(folds_of(nested, dataset, method)) >= 10


@pytest.mark.parametrize("dataset", ["Lymphoma", "Leukemia"])
def test_the_leaky_protocol_ran_on_the_biomedical_sets(rows, dataset):
    leaky = of_protocol(rows, "leaky")
    assert all(len(folds_of(leaky, dataset, method)) == 100 for method in USUAL)


def test_infused_lasso_reaches_the_published_accuracy_where_the_page_says_so(rows):
    best = best_scores(score_summary(plain_methods(of_protocol(rows)), "accuracy"))
    ours = best[best["label"] == "infused-lasso"].set_index("dataset")["mean"]
    reached = {
        name
        for name in paper.DATASETS
        if 100 * ours[name] >= paper.published_score("infused-lasso", name).accuracy
    }
    assert reached >= set(paper.DATASETS) - {"Lymphoma", "Leukemia"}


def test_the_papers_tables_from_the_command_line(capsys):
    assert main(["benchmark", "table", "--paper", "--store", str(STORE)]) == 0
    out = capsys.readouterr().out
    (table,) = [part for part in out.split("\n\n") if "| lasso " in part]
    ours = [line.split("|")[3:-1] for line in table.splitlines() if "| ours " in line]
    assert sum(all("±" in cell for cell in line) for line in ours) >= len(USUAL)
