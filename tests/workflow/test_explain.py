"""One feature: the facts against their definitions, the screen, the files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import f_oneway
from sklearn.datasets import load_breast_cancer

import infused as library
from infused import FeatureGraph, similarity
from infused.data import load_data
from infused.exceptions import InputError
from tests.cli.conftest import folder, infused, patients  # noqa: F401 - fixtures


@pytest.fixture(scope="module")
def cells():
    return load_data("breast-cancer")


@pytest.fixture(scope="module")
def facts(cells):
    return library.explain("breast-cancer", "worst radius", neighbours=5)


def test_relevance(cells, facts):
    f, malignant = cells.X[:, 20], cells.y == "malignant"
    every = [f_oneway(column[malignant], column[~malignant]).statistic for column in cells.X.T]
    assert facts.f_value.value == pytest.approx(every[20])
    assert facts.f_value.rank == 1 + np.sum(np.array(every) > every[20])
    ratio = facts.f_value.value
    share = ratio / (ratio + len(f) - 2)
    assert facts.alone == pytest.approx(1 - (1 - share) * (len(f) - 1) / (len(f) - 2))
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


def test_the_screen(folder, infused):
    done = infused("explain", "breast-cancer", "worst radius", "--neighbours", "2")
    assert done.code == 0, done.err
    for words in (
        "worst radius  one of 30 features, 569 samples",
        "rank 4 of 30",
        "By diagnosis, bars from 7.93 to 36",
    ):
        assert words in done.out
    rows = [line.split() for line in done.out.splitlines() if line]
    values = load_breast_cancer().data[:, 20][load_breast_cancer().target == 1]
    five = [f"{value:.3g}" for value in np.percentile(values, (0, 25, 50, 75, 100))]
    assert ["benign", "357", *five, "▂▅█▄▁▁"] in rows
    closest = [row[:4] for row in rows if row[:2] == ["worst", "perimeter"]]
    assert closest == [["worst", "perimeter", "0.994", "━━━━━━━━━━━━"]] * 2


def test_real_targets(folder, infused):
    done = infused("explain", "diabetes", "bmi", "--json")
    facts = json.loads(done.out)
    assert facts["schema"] == "infused.explain/2"
    assert [part["name"] for part in facts["by_target"]] == [
        "25 to 87",
        "88 to 140",
        "141 to 210",
        "212 to 346",
    ]
    assert sum(part["count"] for part in facts["by_target"]) == 442
    assert facts["f_value"]["rank"] == 1


def test_the_files(folder, infused):
    command = ("explain", "patients.csv", "glucose", "-t", "diagnosis", "-o", "there")
    assert infused(*command).code == 0
    assert (folder / "there" / "graph.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((folder / "there" / "explain.json").read_text())["name"] == "glucose"
    assert infused(*command).code == 2
    assert infused(*command, "--force").code == 0
    assert sorted(path.name for path in (folder / "there").iterdir()) == ["explain.json", "graph.png"]


def test_sparse_and_constant_features(folder, infused):
    lines = [
        f"{int(row.diagnosis == 'ill')} 1:{row.glucose} 3:{row.iron} 4:1" for row in patients().itertuples()
    ]
    (folder / "t.svm").write_text("\n".join(lines))
    facts = json.loads(infused("explain", "t.svm", "3", "--json").out)
    assert facts["n_distinct"] == 1
    assert facts["entropy"] == pytest.approx(np.log(90)), "a constant has the uniform distribution"
    assert facts["f_value"]["value"] == 0
    assert {one["correlation"] for one in facts["by_correlation"]} == {0.0}


def test_a_single_feature(folder, infused):
    patients()[["age", "diagnosis"]].to_csv("one.csv", index=False)
    done = infused("explain", "one.csv", "0", "-t", "diagnosis")
    assert done.code == 0, done.err
    assert "Closest" not in done.out


def test_python(tmp_path):
    found = library.explain(patients(), "glucose", "diagnosis", neighbours=2)
    assert str(found).startswith("glucose: ")
    assert len(found.by_correlation) == 2
    assert [path.name for path in found.save(tmp_path / "there")] == ["graph.png", "explain.json"]
    with pytest.raises(InputError, match="force=True"):
        found.save(tmp_path / "there")
    with pytest.raises(InputError, match="feature='glucos': no such column; did you mean 'glucose'"):
        library.explain(patients(), "glucos", "diagnosis")
    with pytest.raises(InputError, match="neighbours=0"):
        library.explain(patients(), "glucose", "diagnosis", neighbours=0)
