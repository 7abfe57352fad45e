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
    assert [path.name for path in found.save(tmp_path / "there")] == ["graph.png", "explain.json"]
    with pytest.raises(InputError, match="force=True"):
        found.save(tmp_path / "there")
    with pytest.raises(InputError, match="feature='glucos': no such column; did you mean 'glucose'"):
        infused.explain(patients(), "glucos", "diagnosis")
    with pytest.raises(InputError, match="neighbours=0"):
        infused.explain(patients(), "glucose", "diagnosis", neighbours=0)
