"""The results that come with the source: complete, and what the pages say of them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from benchmarks.tables import earlier_versions
from infused.bench import Store, paper
from infused.bench.rows import of_protocol, older, plain_methods
from infused.bench.statistics import best_scores, score_summary
from infused.bench.tables import ablation_table
from infused.cli import main
from infused.selectors.registry import IN_PAPER

ROOT = Path(__file__).parents[2]
STORE, FIGURES = ROOT / "results", ROOT / "benchmarks" / "results"
USUAL = {*IN_PAPER, "greedy-forward", "anova", "random"}
BESIDE = {"mifs", "mrmr", "jmim", "jmi", "mutual-info", "l1-logistic", "random-forest"}
REPEATS = {"Lymphoma": 3, "Leukemia": 3, "Isolet1": 3}
#: Files whose figures depend on no selector: U and the solvers themselves.
WITHOUT_SELECTORS = {"cluster_bits", "cluster_speed", "fused_lasso", "scaling", "structural_information"}
#: Files of times that were measured before versions were kept: the list may only become shorter.
BEFORE_VERSIONS = {
    "certainty", "choices", "cluster_larger", "cold", "family", "lasso_path", "selectors", "sparse",
    "stability", "wide",
}  # fmt: skip


@pytest.fixture(scope="module")
def rows():
    return Store(STORE).frame()


@pytest.fixture(scope="module")
def nested(rows):
    return plain_methods(of_protocol(rows))


def folds_of(rows, dataset, method):
    mine = rows[(rows["dataset"] == dataset) & (rows["method"] == method)]
    return {(one.repeat, one.fold) for one in mine.itertuples()}


@pytest.mark.parametrize("dataset", paper.DATASETS)
def test_every_cell_is_there_and_none_failed(nested, dataset):
    assert (nested["status"] == "ok").all()
    repeats = REPEATS.get(dataset, 1)
    for method in {*USUAL, *BESIDE}:
        assert folds_of(nested, dataset, method) == {(r, f) for r in range(repeats) for f in range(10)}


@pytest.mark.parametrize("dataset", ["Lymphoma", "Leukemia"])
def test_the_leaky_protocol_ran_on_the_biomedical_sets(rows, dataset):
    leaky = of_protocol(rows, "leaky")
    assert all(len(folds_of(leaky, dataset, method)) == 30 for method in USUAL)


def test_infused_lasso_reaches_the_published_accuracy_where_the_pages_say_so(nested):
    """At its best number of features, as the paper reports it; forward selection beside it."""
    best = best_scores(score_summary(nested, "accuracy")).set_index(["label", "dataset"])
    published = {name: paper.published_score("infused-lasso", name).accuracy for name in paper.DATASETS}

    def ahead(method, name):
        """The lead over the published figure, in standard errors."""
        one = best.loc[method, name]
        return (one["mean"] - published[name] / 100) / one["error"]

    leads = {name: ahead("infused-lasso", name) for name in paper.DATASETS}
    assert {name for name in leads if leads[name] < 0} == {"USPS", "Lymphoma", "Leukemia"}
    assert {name for name in leads if leads[name] > 1} == {"YaleB", "RELATHE", "BASEHOCK", "Isolet1", "PIE"}
    assert min(leads.values()) > -1
    assert sum(ahead("greedy-forward", name) >= 0 for name in paper.DATASETS) == 6
    for page in ("README.md", "docs/paper.md"):
        words = " ".join((ROOT / page).read_text(encoding="utf-8").split())
        assert "published accuracy on five" in words and "and plain forward selection on six" in words, page
    mean = 100 * best["mean"].unstack("dataset")
    linear = mean.loc[list(IN_PAPER)]
    assert (linear.max() - linear.min()).max() < 1.1
    assert (linear.max() - mean.loc["greedy-forward"]).max() < 1.75
    assert all(mean.at["anova", name] < mean.at["random", name] for name in ("USPS", "PIE", "Isolet1"))


def test_the_structural_term_shows_no_gain_over_a_ridge(rows):
    """What the pages say of the ablation."""
    found = ablation_table(rows).data.set_index(["variant", "dataset"])
    for variant in ("infused-lasso[equal-ridge]", "infused-lasso[permuted-U]"):
        mine = found.loc[variant]
        assert set(mine.index) == set(paper.DATASETS)
        assert (mine["p_holm"] > 0.05).all() and (mine["folds"] == 10).all()
        assert (mine["shared_features"] > 0.8).all()


def test_the_papers_tables_from_the_command_line(capsys):
    assert main(["benchmark", "table", "--paper", "--store", str(STORE)]) == 0
    out = capsys.readouterr().out
    (table,) = [part for part in out.split("\n\n") if "| lasso " in part]
    ours = [line.split("|")[3:-1] for line in table.splitlines() if "| ours " in line]
    assert sum(all("±" in cell for cell in line) for line in ours) >= len(USUAL)


@pytest.mark.parametrize("part", ["", "orders"])
def test_no_result_is_of_an_earlier_version(part):
    """Whoever changes what a selector answers measures its rows again."""
    rows = Store(STORE / part).frame()
    behind = rows[older(rows)]
    assert len(rows) and behind.empty, f"measured with an earlier version: {sorted(set(behind['method']))}"


@pytest.mark.parametrize("path", sorted(FIGURES.glob("*.csv")), ids=lambda path: path.stem)
def test_figures_are_of_todays_versions(path):
    """Files of figures name the versions of the selectors in them, and none is older than the code."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    named = any(row.get("selectors") for row in rows)  # those of other packages have none
    assert named == (path.stem not in WITHOUT_SELECTORS | BEFORE_VERSIONS), "take it off the list"
    assert not earlier_versions(rows), f"run python -m benchmarks.{path.stem} again"


def test_todays_answers_name_their_versions():
    with (FIGURES / "answers.csv").open(newline="", encoding="utf-8") as file:
        assert all(row["selectors"].startswith("infused-lasso:") for row in csv.DictReader(file))
