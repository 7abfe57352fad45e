"""One feature: the facts against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import f_oneway

import infused
from infused import FeatureGraph, similarity
from infused.data import load_data
from infused.exceptions import InputError
from tests.cli.conftest import patients


@pytest.fixture(scope="module")
def cells():
    return load_data("breast-cancer")


@pytest.fixture(scope="module")
def facts(cells):
    return infused.explain("breast-cancer", "worst radius", neighbours=5)


def test_relevance(cells, facts):
    malignant = cells.y == "malignant"
    every = [f_oneway(column[malignant], column[~malignant]).statistic for column in cells.X.T]
    assert facts.f_value.value == pytest.approx(every[20])
    assert facts.f_value.rank == 1 + np.sum(np.array(every) > every[20])
    selection = infused.select(cells, k=30, method="anova", stability=0)
    assert facts.alone == selection.table.set_index("feature")["alone"]["worst radius"]
    assert 0 < facts.mutual_information.value < np.log(2)


def test_graphs(cells, facts):
    f = cells.X[:, 20]
    own, target = FeatureGraph(f), FeatureGraph.of_target(f, cells.y)
    assert facts.entropy == pytest.approx(own.entropy())
    assert facts.target_similarity == pytest.approx(similarity(own.distribution(), target.distribution()))


def test_spread_by_class(cells, facts):
    for part in facts.by_target:
        values = cells.X[cells.y == part.name, 20]
        assert part.count == len(values) == sum(part.histogram)
        assert part.five == pytest.approx(tuple(np.percentile(values, (0, 25, 50, 75, 100))))


def test_neighbours(cells, facts):
    correlation = np.abs(np.corrcoef(cells.X.T)[20])
    order = [j for j in np.argsort(-correlation) if j != 20][:5]
    assert [one.name for one in facts.by_correlation] == [cells.feature_names[j] for j in order]
    own = FeatureGraph(cells.X[:, 20]).distribution()
    likeness = np.array([similarity(own, FeatureGraph(column).distribution()) for column in cells.X.T])
    order = [j for j in np.argsort(-likeness) if j != 20][:5]
    assert [one.name for one in facts.by_similarity] == [cells.feature_names[j] for j in order]
    for one in (*facts.by_correlation, *facts.by_similarity):
        j = cells.feature_names.index(one.name)
        assert (one.correlation, one.similarity) == pytest.approx((correlation[j], likeness[j]))


def test_python(tmp_path):
    found = infused.explain(patients(), "glucose", "diagnosis", neighbours=2)
    assert str(found).startswith("glucose explains ")
    assert len(found.by_correlation) == 2
    assert [path.name for path in found.save(tmp_path / "there")] == [
        "report.html",
        "graph.png",
        "explain.json",
    ]
    with pytest.raises(InputError, match="force=True"):
        found.save(tmp_path / "there")
    with pytest.raises(InputError, match="feature='glucos': no such column; did you mean 'glucose'"):
        infused.explain(patients(), "glucos", "diagnosis")
    with pytest.raises(InputError, match="neighbours=0"):
        infused.explain(patients(), "glucose", "diagnosis", neighbours=0)


def test_values_are_transformed_as_in_select():
    random = np.random.default_rng(0)
    X = np.exp(random.normal(size=(200, 3)))
    y = np.log(X[:, 0]) + random.normal(size=200)
    plain, taken = infused.explain((X, y), 0), infused.explain((X, y), 0, transform="log1p")
    by_hand = infused.explain((np.log1p(X), y), 0)
    assert taken.alone == by_hand.alone > plain.alone and taken.by_target == by_hand.by_target
    assert "transformed by log1p" in taken.notes[-1] and not plain.notes
    chosen = infused.explain((X, y), 0, transform="auto")
    assert chosen.alone == taken.alone and "chosen as the transform" in chosen.notes[-1]
    with pytest.raises(InputError, match="needs values that are not negative"):
        infused.explain((-X, y), 0, transform="sqrt")
    with pytest.raises(InputError, match="explain takes one target"):
        infused.explain((X, np.column_stack([y, y])), 0)


def test_the_verdict_begins_with_a_leak(tmp_path):
    rng = np.random.default_rng(0)
    table = patients().assign(after=lambda one: (one.diagnosis == "ill") + 0.01 * rng.normal(size=len(one)))
    table.to_csv(tmp_path / "patients.csv", index=False)
    leak = infused.explain(tmp_path / "patients.csv", "after", "diagnosis")
    first = leak.verdict[0]
    assert first.label == "Warning" and first.severity == "warning"
    assert first.text.startswith("Possible leakage: 'after' alone predicts 'diagnosis' almost perfectly.")
    shown = leak._repr_html_()
    assert 0 < shown.index("Possible leakage") < shown.index("explains")
    page = leak.report()
    assert 0 < page.index("Possible leakage") < page.index("explains")


def test_the_verdict_says_what_a_feature_is_good_for(facts):
    said = {one.label: one.text for one in facts.verdict}
    assert list(said) == ["Relevance", "Direction", "Redundant with"]
    assert said["Direction"] == "Higher in malignant."
    assert said["Redundant with"].startswith("worst perimeter (|r| 0.99), ")
    alike = infused.explain("wine", "flavanoids")  # r 0.86 with one feature, less with the others
    said = {one.label: one.text for one in alike.verdict}
    assert said["Redundant with"] == "total_phenols (|r| 0.86)."
    rng = np.random.default_rng(0)
    noise = infused.explain((rng.normal(size=(80, 30)), np.arange(80) % 2), 3)
    assert "no more than chance" in noise.verdict[0].text


def test_only_what_is_redundant_is_called_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X[:, 1] = X[:, 0] + 0.3 * X[:, 1]
    y = np.maximum(rng.normal(size=200), 0)
    found = infused.explain((X, y), 0)
    said = {one.label: one.text for one in found.verdict}
    assert (
        said["Redundant with"].startswith("feature_1 (|r| 0.9") and "feature_2" not in said["Redundant with"]
    )
    assert len(found.by_correlation) == 3
    assert found.by_target[0].name == "0"
    worst = min((infused.explain((X, y), j) for j in range(4)), key=lambda one: one.alone)
    assert worst.alone < 0 and "explains 0.0% of" in str(worst) and "-" not in worst.verdict[0].text[:40]


@pytest.mark.parametrize(
    ("data", "feature"), [("breast-cancer", "worst area"), ("diabetes", "bmi"), ("digits", "pixel_4_4")]
)
def test_the_page_and_the_notebook(data, feature, tmp_path):
    found = infused.explain(data, feature, neighbours=3)
    page = found.report()
    assert found.report(tmp_path / "page.html") == str(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    for part in found.by_target:
        assert part.name in page and f"{part.count:,}" in found._repr_html_()
    assert f"{found.alone:.1%}" in page
    assert "Closest by correlation" in page
