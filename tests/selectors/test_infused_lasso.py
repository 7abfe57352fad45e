"""InFusedLasso: at home in scikit-learn, and true to its model."""

from __future__ import annotations

import pickle

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import Lasso, LogisticRegression, MultiTaskLasso
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from infused import InFusedLasso, config_context, structural_information
from infused.exceptions import (
    MemoryBudgetError,
    ScreeningWarning,
    UnboundedObjectiveError,
    UnboundedObjectiveWarning,
)

WINE = load_wine(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


@parametrize_with_checks(
    [
        InFusedLasso(),
        InFusedLasso(n_features_to_select=1),
        InFusedLasso(ranking="path", n_features_to_select=1, graph="euclidean"),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("ranking", ["recursive", "forward", "coefficient", "path"])
@pytest.mark.parametrize("k", [1, 5, 13, 0.5])
def test_the_number_asked_for_is_the_number_selected(ranking, k):
    X, y = WINE
    selector = InFusedLasso(n_features_to_select=k, ranking=ranking).fit(X, y)
    expected = k if isinstance(k, int) else 6
    assert selector.support_.sum() == selector.transform(X).shape[1] == expected
    np.testing.assert_array_equal(np.sort(selector.ranking_), np.arange(1, 14))
    np.testing.assert_array_equal(selector.support_, selector.ranking_ <= expected)
    by_score = np.lexsort((selector.ranking_, -selector.scores_))
    np.testing.assert_array_equal(selector.ranking_[by_score], np.arange(1, 14))
    assert selector.converged_
    assert selector.certificate_ <= 1e-4
    assert np.isfinite(selector.objective_path_).all()


def test_none_selects_what_is_not_zero():
    X, y = WINE
    selector = InFusedLasso(lambda1=0.3).fit(X, y)
    np.testing.assert_array_equal(selector.support_, selector.coef_.any(axis=0))
    assert 0 < selector.support_.sum() < 13
    assert selector.coef_.shape == (3, 13)


def test_lambda1_of_one_leaves_nothing():
    with pytest.warns(UserWarning, match="No features were selected"):
        assert InFusedLasso(lambda1=1.0).fit(*WINE).transform(WINE[0]).shape == (178, 0)


def test_noise_features_are_left_out(rng):
    X, y = load_iris(return_X_y=True)
    noisy = np.column_stack([rng.normal(size=(150, 20)), X])
    selector = InFusedLasso(n_features_to_select=2).fit(noisy, y)
    assert set(selector.get_support(indices=True)) <= {20, 21, 22, 23}


def test_it_selects_better_than_single_features_do():
    X, y = load_digits(return_X_y=True)
    X = X[:, X.std(axis=0) > 1.0]  # f_classif warns of pixels that are constant in a fold
    selectors = InFusedLasso(n_features_to_select=12), SelectKBest(f_classif, k=12)
    ours, single = (make_pipeline(StandardScaler(), s, LinearDiscriminantAnalysis()) for s in selectors)
    assert cross_val_score(ours, X, y, cv=3).mean() > cross_val_score(single, X, y, cv=3).mean() + 0.02


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.csr_matrix])
def test_sparse_and_dense_agree(make, rng):
    X = rng.poisson(0.5, size=(80, 15)).astype(float)
    y = (X[:, 2] + X[:, 7] + 0.1 * rng.normal(size=80) > 1).astype(int)
    dense = InFusedLasso(n_features_to_select=4).fit(X, y)
    sparse = InFusedLasso(n_features_to_select=4).fit(make(X), y)
    np.testing.assert_array_equal(dense.ranking_, sparse.ranking_)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-9)
    assert sp.issparse(sparse.transform(make(X)))


def test_single_precision(rng):
    X, y = WINE
    double = InFusedLasso(n_features_to_select=5).fit(X.astype(np.float32).astype(float), y)
    single = InFusedLasso(n_features_to_select=5).fit(X.astype(np.float32), y)
    np.testing.assert_array_equal(double.ranking_, single.ranking_)
    assert single.transform(X.astype(np.float32)).dtype == np.float32


def test_data_frames_and_names():
    pd = pytest.importorskip("pandas")
    X, y = load_wine(return_X_y=True, as_frame=True)
    selector = InFusedLasso(n_features_to_select=3).set_output(transform="pandas").fit(X, y)
    out = selector.transform(X)
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == list(selector.get_feature_names_out()) == list(X.columns[selector.support_])
    np.testing.assert_array_equal(selector.feature_names_in_, X.columns)


def test_polars_output():
    pl = pytest.importorskip("polars")
    X, y = load_wine(return_X_y=True, as_frame=True)
    frame = pl.DataFrame({name: X[name].to_numpy() for name in X.columns})
    out = (
        InFusedLasso(n_features_to_select=3)
        .set_output(transform="polars")
        .fit(frame, y.to_numpy())
        .transform(frame)
    )
    assert isinstance(out, pl.DataFrame)
    assert out.shape == (178, 3)


def test_pipelines_grids_and_columns():
    X, y = WINE
    model = make_pipeline(StandardScaler(), InFusedLasso(n_features_to_select=3), LogisticRegression())
    grid = {"infusedlasso__n_features_to_select": [2, 5], "infusedlasso__lambda1": [0.05, 0.2]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.85
    columns = ColumnTransformer(
        [("first", InFusedLasso(n_features_to_select=2), [0, 1, 2, 6])], remainder="drop"
    )
    assert columns.fit_transform(X, y).shape == (178, 2)


def test_cloning_and_pickling():
    selector = InFusedLasso(n_features_to_select=4, lambda2=0.1)
    assert clone(selector).get_params() == selector.get_params()
    fitted = selector.fit(*WINE)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).ranking_, fitted.ranking_)
    with pytest.raises(NotFittedError):
        InFusedLasso().transform(WINE[0])


def test_fitting_twice_gives_the_same_bits():
    first, second = (InFusedLasso(n_features_to_select=5, n_jobs=jobs).fit(*CANCER) for jobs in (1, 2))
    np.testing.assert_array_equal(first.coef_, second.coef_)
    np.testing.assert_array_equal(first.scores_, second.scores_)


def test_regression_and_several_targets(rng):
    X, y = DIABETES
    one = InFusedLasso(n_features_to_select=3, target="real").fit(X, y)
    assert one.coef_.shape == (1, 10)
    assert one.support_[[2, 8]].all()  # body mass and s5, as everybody finds
    Y = np.column_stack([y, X[:, 0] + 0.1 * rng.normal(size=len(X))])
    several = InFusedLasso(n_features_to_select=3).fit(X, Y)
    assert several.coef_.shape == (2, 10)
    assert several.support_[0]


def model_of(X, y):
    """Standardised as the estimator does it: columns of mean zero and length one."""
    F = X - X.mean(axis=0)
    F /= np.linalg.norm(F, axis=0)
    t = y - y.mean()
    return F, t / np.linalg.norm(t)


def test_without_structure_and_fusion_it_is_the_lasso():
    F, t = model_of(*DIABETES)
    selector = InFusedLasso(lambda1=0.1, lambda2=0.0, lambda3=0.0, target="real", tol=1e-9).fit(*DIABETES)
    alpha = 0.1 * np.abs(F.T @ t).max()
    peer = Lasso(alpha=alpha / len(F), fit_intercept=False, tol=1e-12).fit(F, t)
    np.testing.assert_allclose(selector.coef_[0], peer.coef_, atol=1e-7)
    np.testing.assert_array_equal(selector.support_, peer.coef_ != 0)


def test_with_classes_it_is_the_multi_task_lasso():
    X, y = WINE
    selector = InFusedLasso(lambda1=0.1, lambda2=0.0, lambda3=0.0, tol=1e-9, max_iter=20_000).fit(X, y)
    F, _ = model_of(X, y)
    Y = np.eye(3)[y] - np.eye(3)[y].mean(axis=0)
    Y /= np.linalg.norm(Y, axis=0)
    alpha = 0.1 * np.linalg.norm(F.T @ Y, axis=1).max()
    peer = MultiTaskLasso(alpha=alpha / len(F), fit_intercept=False, tol=1e-12).fit(F, Y)
    np.testing.assert_allclose(selector.coef_, peer.coef_, atol=1e-7)


@pytest.mark.parametrize("solver", ["split-bregman", "proximal"])
def test_both_solvers_find_the_same(solver):
    X, y = CANCER
    peer = InFusedLasso(lambda1=0.1, lambda2=0.05, tol=1e-8, max_iter=50_000).fit(X, y)
    selector = InFusedLasso(lambda1=0.1, lambda2=0.05, tol=1e-8, max_iter=50_000, solver=solver).fit(X, y)
    np.testing.assert_allclose(selector.coef_, peer.coef_, atol=1e-5)


def published(F, t, U, lambda1, lambda2, lambda3):
    b = cp.Variable(F.shape[1])
    hessian = F.T @ F - 2 * lambda3 * U
    root = np.linalg.cholesky(hessian + 1e-12 * np.eye(len(hessian)))
    objective = 0.5 * cp.sum_squares(root.T @ b) - (F.T @ t) @ b + 0.5 * t @ t
    objective += lambda1 * cp.norm1(b) + lambda2 * cp.norm1(cp.diff(b))
    problem = cp.Problem(cp.Minimize(objective))
    problem.solve(solver="CLARABEL")
    return problem.value


def test_the_published_model_just_below_its_limit():
    X, y = load_iris(return_X_y=True)
    options = {"formulation": "paper", "lambda_scale": "absolute", "lambda1": 0.02, "lambda2": 0.01}
    limit = InFusedLasso(lambda3=1e-9, **options).fit(X, y).lambda3_limit_
    selector = InFusedLasso(lambda3=0.99 * limit, tol=1e-8, max_iter=100_000, **options).fit(X, y)
    F, t = model_of(X, y.astype(float))
    best = published(F, t, structural_information(X, y), 0.02, 0.01, 0.99 * limit)
    assert selector.converged_
    assert selector.objective_path_[-1] == pytest.approx(best, rel=1e-6)
    np.testing.assert_array_equal(selector.support_, selector.coef_[0] > 0)  # the paper's rule


def test_the_published_model_just_above_its_limit():
    X, y = load_iris(return_X_y=True)
    options = {"formulation": "paper", "lambda_scale": "absolute"}
    limit = InFusedLasso(lambda3=1e-9, **options).fit(X, y).lambda3_limit_
    with pytest.raises(
        UnboundedObjectiveError, match=f"largest admissible value on these data is {limit:.6g}"
    ) as e:
        InFusedLasso(lambda3=1.01 * limit, **options).fit(X, y)
    assert e.value.limit == pytest.approx(limit)
    assert pickle.loads(pickle.dumps(e.value)).limit == e.value.limit


def test_relative_lambda3_is_a_share_of_the_limit():
    X, y = load_iris(return_X_y=True)
    assert InFusedLasso(formulation="paper", lambda3=0.9).fit(X, y).converged_
    with pytest.raises(UnboundedObjectiveError):
        InFusedLasso(formulation="paper", lambda3=1.1).fit(X, y)


def test_iterating_past_the_limit_as_published(rng):
    X, y = rng.normal(size=(20, 40)), np.arange(20) % 2
    with pytest.raises(UnboundedObjectiveError, match="is 0"):
        InFusedLasso(formulation="paper").fit(X, y)
    with pytest.warns(UnboundedObjectiveWarning, match="150 iterations of Algorithm 1 as published"):
        selector = InFusedLasso(formulation="paper", unbounded="iterate", max_iter=150).fit(X, y)
    assert selector.n_iter_ == 150
    assert not selector.converged_


def test_the_ranking_does_not_hang_on_the_tolerance():
    """Rows that only the solver's tolerance keeps from zero rank with those at zero."""
    rng = np.random.default_rng(2)
    X, y = rng.integers(-1, 2, size=(40, 500)).astype(float), np.arange(40) % 4
    X[:, :30] += y[:, None] % 2
    rough = InFusedLasso(n_features_to_select=30).fit(X, y)
    fine = InFusedLasso(n_features_to_select=30, tol=1e-7, max_iter=50_000).fit(X, y)
    np.testing.assert_array_equal(rough.support_, fine.support_)


def test_images_and_networks():
    X, y = load_digits(return_X_y=True)
    grid = InFusedLasso(n_features_to_select=10, fusion="grid", grid_shape=(8, 8)).fit(X, y)
    edges = InFusedLasso(n_features_to_select=10, fusion=[[0, 1], [8, 9]]).fit(X, y)
    none = InFusedLasso(n_features_to_select=10, fusion="none").fit(X, y)
    assert grid.support_.sum() == edges.support_.sum() == none.support_.sum() == 10


def test_a_path():
    X, y = WINE
    path = InFusedLasso(lambda1=0.05).regularization_path(X, y, n_lambdas=12)
    assert path.coef.shape == (12, 3, 13)
    assert path.lambda1[0] == pytest.approx(1.0)
    assert (np.diff(path.lambda1) < 0).all()
    sizes = (path.coef != 0).any(axis=1).sum(axis=1)
    assert sizes[0] == 0
    assert sizes[-1] == InFusedLasso(lambda1=0.05).fit(X, y).support_.sum()
    assert (path.certificate <= 1e-4).all()


def test_where_u_does_not_fit_the_first_rounds_run_without_it(rng):
    X = rng.normal(size=(40, 300))
    y = (X[:, 11] + X[:, 200] > 0).astype(int)
    little = config_context(memory_budget="1MB")
    with little, pytest.warns(ScreeningWarning, match="entered when 168 features were left"):
        selector = InFusedLasso(n_features_to_select=5).fit(X, y)
    assert selector.n_features_screened_ == 300 - 168
    assert selector.support_.sum() == 5
    assert selector.support_[[11, 200]].all()
    words = r"U of 300 features needs 2.16 MB.*n_features_to_select"
    with config_context(memory_budget="1MB"), pytest.raises(MemoryBudgetError, match=words):
        InFusedLasso().fit(X, y)


def test_not_converging_warns_with_what_was_reached():
    with pytest.warns(ConvergenceWarning, match=r"the 5 iterations ran out.*hold to .* of lambda1"):
        selector = InFusedLasso(max_iter=5, solver="split-bregman").fit(*WINE)
    assert not selector.converged_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features_to_select": 14}, "14 is more than the 13 features"),
        ({"n_features_to_select": 0}, "n_features_to_select"),
        ({"n_features_to_select": 1.5}, "n_features_to_select"),
        ({"lambda1": -1}, "lambda1"),
        ({"lambda3": -0.1}, "lambda3"),
        ({"formulation": "published"}, "formulation"),
        ({"fusion": "ring"}, "fusion"),
        ({"fusion": "grid"}, "grid_shape"),
        ({"solver": "proximal"}, "one target"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        InFusedLasso(**options).fit(*WINE)


def test_bad_targets_are_named():
    X, y = WINE
    with pytest.raises(ValueError, match="got 1 class"):
        InFusedLasso().fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="target='onehot' needs one class label"):
        InFusedLasso(target="onehot").fit(X, y + 0.5 * np.arange(len(y)))
