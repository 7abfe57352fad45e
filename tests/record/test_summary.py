"""From fitted selectors, ours and scikit-learn's, to a record."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    VarianceThreshold,
    chi2,
    f_classif,
)
from sklearn.linear_model import LinearRegression, Ridge

from infused import InFusedLasso
from infused.record.explained import class_distribution, target_scatter
from infused.record.redundancy import redundancy_groups
from infused.record.schema import SelectionRecord
from tests.record.records import as_data, record_of


def test_the_record_says_what_the_selector_found(cells, fitted_cells, record):
    best = np.flatnonzero(fitted_cells.support_)
    best = best[np.argsort(fitted_cells.ranking_[best])]
    assert [feature.index for feature in record.selected] == best.tolist()
    assert [feature.name for feature in record.selected] == [cells.feature_names[n] for n in best]
    assert [feature.rank for feature in record.selected] == list(range(1, 9))
    assert [feature.score for feature in record.selected] == fitted_cells.scores_[best].tolist()
    assert [feature.coefficients[0] for feature in record.selected] == fitted_cells.coef_[0, best].tolist()
    assert record.coefficient_names == ("malignant",)
    groups = redundancy_groups(cells.X[:, best])[1]
    shared = [group for group in dict.fromkeys(groups) if np.count_nonzero(groups == group) > 1]
    numbers = {group: n + 1 for n, group in enumerate(shared)}
    assert shared and [feature.group for feature in record.selected] == [numbers.get(one) for one in groups]
    assert record.features.ranks == tuple(fitted_cells.ranking_)
    assert record.data.target == "diagnosis"
    assert {one.name: one.count for one in record.data.classes} == {"benign": 357, "malignant": 212}
    assert record.request.k == 8
    assert record.request.method.parameters["lambda1"] == 0.05
    assert record.timings == {"select": 0.25}
    assert record.standardized
    assert "Fused Lasso" in record.reference


def test_convergence_is_that_of_the_solver(fitted_cells, record):
    found = record.convergence
    assert (found.converged, found.iterations) == (fitted_cells.converged_, fitted_cells.n_iter_)
    assert found.certificate == fitted_cells.certificate_
    assert found.path_objective == tuple(fitted_cells.objective_path_)
    assert found.path_iterations == tuple(range(1, len(fitted_cells.objective_path_) + 1))


def test_a_long_path_is_thinned_and_keeps_its_ends(cells, fitted_cells):
    class Long(InFusedLasso):
        pass

    selector = Long(n_features_to_select=8)
    vars(selector).update(vars(fitted_cells))
    selector.objective_path_ = np.r_[np.inf, 1.0 / np.arange(1, 30_000)]
    selector.certificate_ = np.nan
    found = record_of(cells, selector).convergence
    assert len(found.path_objective) == len(found.path_iterations) <= 500
    assert found.path_iterations[0] == 2, "an infinite objective is left out"
    assert found.path_iterations[-1] == 30_000
    assert found.path_objective[-1] == selector.objective_path_[-1]
    assert found.certificate is None


@pytest.mark.parametrize(
    ("selector", "has_scores", "has_coefficients"),
    [
        (SelectKBest(f_classif, k=5), True, False),
        (RFE(LinearRegression(), n_features_to_select=5), False, False),
        (SelectFromModel(RandomForestClassifier(5, random_state=0), max_features=5), True, False),
        (SelectFromModel(Ridge(), max_features=5), True, True),
        (SequentialFeatureSelector(LinearRegression(), n_features_to_select=2, cv=2), False, False),
        (VarianceThreshold(1.0), False, False),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
def test_scikit_learn_selectors(cells, selector, has_scores, has_coefficients):
    X, y = cells.X[:, :8] / cells.X[:, :8].std(axis=0), (cells.y == "benign").astype(int)
    record = record_of(as_data(X, y), selector.fit(X, y))
    assert SelectionRecord.from_json(record.to_json()) == record
    assert (
        sorted(feature.index for feature in record.selected)
        == np.flatnonzero(selector.get_support()).tolist()
    )
    assert all((feature.score is not None) == has_scores for feature in record.selected)
    assert all((feature.coefficients is not None) == has_coefficients for feature in record.selected)
    scores = [feature.score for feature in record.selected if feature.score is not None]
    assert scores == sorted(scores, reverse=True)
    assert sorted(record.features.ranks) == list(range(1, 9))
    assert record.reference is None


def test_scores_that_are_no_numbers_become_none(rng):
    y = np.repeat([0, 1], 10)
    X = np.column_stack([rng.standard_normal(20), np.ones(20), y + 0.0])  # F is finite, NaN and infinite
    with pytest.warns((UserWarning, RuntimeWarning)):
        selector = SelectKBest(f_classif, k=3).fit(X, y)
    record = record_of(as_data(X, y), selector)
    assert [feature.index for feature in record.selected] == [2, 0, 1]
    assert [feature.score is None for feature in record.selected] == [True, False, True]
    assert SelectionRecord.from_json(record.to_json()) == record


def test_regression_has_scatters_and_the_name_of_the_target(diabetes):
    record = record_of(
        diabetes, InFusedLasso(n_features_to_select=4, target="real").fit(diabetes.X, diabetes.y)
    )
    assert record.data.classes is None
    assert record.coefficient_names == ("progression",)
    assert not record.distributions
    assert [scatter.name for scatter in record.scatters] == [feature.name for feature in record.selected]
    correlation = np.corrcoef(diabetes.X[:, record.selected[0].index], diabetes.y)[0, 1]
    assert record.selected[0].alone == pytest.approx(1 - (1 - correlation**2) * 441 / 440)


def test_several_targets(diabetes):
    Y = np.column_stack([diabetes.y, np.sqrt(diabetes.y)])
    data = as_data(diabetes.X, Y, kind="real", target_name="y")
    record = record_of(data, InFusedLasso(n_features_to_select=4).fit(data.X, Y))
    assert record.coefficient_names == ("y 1", "y 2")
    assert not record.scatters
    feature = data.X[:, record.selected[0].index]
    share = np.mean([np.corrcoef(y, feature)[0, 1] ** 2 for y in Y.T])
    assert record.selected[0].alone == pytest.approx(1 - (1 - share) * 441 / 440), "each counts the same"


def test_pictures_carry_their_mean(digits):
    record = record_of(digits, InFusedLasso(n_features_to_select=30).fit(digits.X, digits.y))
    assert record.data.grid_shape == (8, 8)
    np.testing.assert_allclose(record.data.mean_picture, digits.X.mean(axis=0))
    assert len(record.distributions) == 24
    assert record.coefficient_names == tuple("0123456789")


def test_sparse_data_gives_the_same_record(digits):
    selector = SelectKBest(chi2, k=6).fit(digits.X, digits.y)
    dense = record_of(digits, selector)
    for kind in (sparse.csr_array, sparse.csr_matrix):
        found = record_of(
            as_data(kind(digits.X), digits.y, digits.feature_names, grid_shape=(8, 8)), selector
        )
        assert found.distributions == dense.distributions
        np.testing.assert_allclose(found.data.mean_picture, dense.data.mean_picture)
        np.testing.assert_allclose(found.redundancy.matrix, dense.redundancy.matrix, atol=1e-12)


def test_nothing_selected_is_a_record_too(cells):
    selector = InFusedLasso(lambda1=1.0).fit(cells.X, cells.y)
    record = record_of(cells, selector)
    assert record.selected == ()
    assert record.redundancy is None
    assert SelectionRecord.from_json(record.to_json()) == record


def test_many_selected_features_are_capped(rng):
    X, y = rng.standard_normal((30, 2100)), np.repeat([0, 1], 15)
    record = record_of(as_data(X, y), SelectKBest(f_classif, k=2050).fit(X, y))
    assert len(record.redundancy.matrix) == 100
    groups = [feature.group for feature in record.selected]
    assert all(groups.count(group) > 1 for group in set(groups) - {None})
    assert set(groups[2000:]) == {None}
    assert len(record.distributions) == 24


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"X": np.ones((569, 3))}, "fitted on 30 features and the data has 3"),
        ({"grid_shape": (4, 4)}, "does not have 30 features"),
    ],
)
def test_data_that_does_not_fit_is_refused(cells, fitted_cells, more, message):
    data = as_data(cells.X, cells.y, cells.feature_names)
    vars(data).update(more)
    with pytest.raises(ValueError, match=message):
        record_of(data, fitted_cells)


def test_histograms_count_every_sample_once(rng):
    labels = rng.integers(0, 3, 200)
    for values in (
        rng.standard_normal(200),
        rng.integers(0, 17, 200) * 0.25,
        np.ones(200),
        np.full(200, -1e12),
    ):
        found = class_distribution("f", values, labels, 3)
        assert [sum(row) for row in found.counts] == np.bincount(labels).tolist()
        assert (np.diff(found.edges) > 0).all()
        assert len(found.edges) <= 25 + 1


def test_short_scales_get_one_bin_for_each_value():
    values = np.array([0, 1, 1, 3, 5, 5.0])
    found = class_distribution("f", values, np.array([0, 0, 1, 1, 1, 1]), 2)
    assert found.edges == (-0.5, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5)
    assert found.counts == ((1, 1, 0, 0, 0, 0), (0, 1, 0, 1, 0, 2))


def test_a_scatter_spans_the_target(rng):
    target = rng.standard_normal(3000)
    scatter = target_scatter("f", 2 * target, target)
    assert len(scatter.values) == 500
    assert (scatter.target[0], scatter.target[-1]) == (target.min(), target.max())
    assert scatter.values == tuple(2 * value for value in scatter.target)
