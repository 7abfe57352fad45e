"""Paths on the scale of the data, chosen by cross-validation: beside R's cv.glmnet."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from infused import FusedLasso, InFusedLasso, Lasso
from infused.exceptions import InputError
from infused.selectors.linear.model import SparseModel
from infused.solvers.least_squares import LeastSquares
from tests.selectors.test_losses import LOSSES, drawn, name_of

#: glmnet 4.1-6, cv.glmnet(x, y, family, lambda, foldid = rep(1:5, 16), grouped = TRUE, thresh = 1e-14) with
#: lambda = 0.2, 0.1, 0.05, 0.02, 0.01, 0.003 (twice that for gaussian) on drawn(loss): cvm, cvsd, lambda.1se.
GLMNET = {
    "squared": (
        [15.91132, 16.57217, 17.59181, 18.40021, 18.70756, 18.93064],
        [6.377336, 6.175473, 5.989038, 5.872949, 5.838825, 5.816673],
        0.4,
    ),
    "logistic": (
        [1.230823, 0.893875, 0.716521, 0.752134, 0.912797, 1.453539],
        [0.053087, 0.031939, 0.036819, 0.074378, 0.145296, 0.271606],
        0.05,
    ),
    "multinomial": (  # the last differs, as glmnet cuts probabilities at 1e-5
        [1.67847, 1.317555, 1.173899, 1.237359, 1.463269],
        [0.038724, 0.0432, 0.098498, 0.19474, 0.30305],
        0.05,
    ),
    "poisson": (
        [1.933358, 1.943119, 2.075311, 2.273798, 2.404629, 2.550768],
        [0.439692, 0.502347, 0.620578, 0.716289, 0.746287, 0.786341],
        0.2,
    ),
    "cox": (
        [7.920632, 6.826005, 6.488013, 6.90691, 7.504666, 8.367312],
        [0.186235, 0.094825, 0.049897, 0.326112, 0.542696, 0.809281],
        0.05,
    ),
}
FOLDS = [(np.flatnonzero(np.arange(80) % 5 != k), np.flatnonzero(np.arange(80) % 5 == k)) for k in range(5)]


@pytest.mark.parametrize("loss", GLMNET)
def test_the_choice_is_that_of_cv_glmnet(loss):
    """Its penalty is of the mean loss and of columns with a standard deviation of one."""
    X, y = drawn("huber" if loss == "squared" else loss)
    mean, error, best = GLMNET[loss]
    size = np.linalg.norm(y - y.mean()) if loss == "squared" else 1.0
    unit = np.sqrt(80) / size
    values = np.array([0.2, 0.1, 0.05, 0.02, 0.01, 0.003]) * (2 if loss == "squared" else 1)
    lasso = Lasso(loss=name_of(loss), lambda_scale="absolute", tol=1e-9, max_iter=10**5)
    path = lasso.regularization_path(X, y, lambda1=values * unit, cv=FOLDS)
    np.testing.assert_allclose(path.deviance[: len(mean)], mean, rtol=2e-6)
    np.testing.assert_allclose(path.deviance_error[: len(mean)], error, rtol=2e-5)
    assert path.lambda_1se == pytest.approx(best * unit) == path.model().lambda1
    assert path.lambda_min == path.model("min").lambda1 <= path.lambda_1se


@pytest.mark.parametrize("loss", ["squared", *LOSSES])
@pytest.mark.parametrize("standardize", [True, False])
def test_models_are_on_the_scale_of_the_data(loss, standardize):
    """A smooth solution has no slope along the intercept, and that of lambda1 along what is in the model."""
    X, y = drawn("huber" if loss == "squared" else loss)
    keep = [4]  # has no penalty
    lasso = Lasso(
        loss=name_of(loss), standardize=standardize, lambda1=0.1, tol=1e-7, max_iter=10**4, keep=keep
    )
    path = lasso.regularization_path(X, y, n_lambdas=4)
    for place in range(4):
        model = path.model(path.lambda1[place])
        assert model.coef_.shape == path.coef[place].shape and len(model.intercept_) == len(model.coef_)
        eta = model.decision_function(X)
        if loss == "cox":
            at_risk = y["months"][:, None] >= y["months"]
            hazard = np.exp(eta[:, 0])
            expected = hazard * (at_risk @ (y["died"] / (at_risk.T @ hazard)))
            slope = (expected - y["died"])[:, None]
        elif loss == "logistic":
            slope = 1 / (1 + np.exp(-eta)) - y[:, None]
        elif loss == "multinomial":
            slope = np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True) - np.eye(3)[y]
        elif loss == "poisson":
            slope = np.exp(eta) - y[:, None]
        elif loss == "huber":
            errors = y - np.median(y)
            delta = 1.345 * 1.4826 * np.median(np.abs(errors))
            slope = np.clip(eta - y[:, None], -delta, delta)
        else:
            slope = eta - y[:, None]
        size = np.abs(slope).sum() * np.abs(X).max()
        if loss != "cox" and (standardize or loss != "squared"):
            assert np.abs(slope.sum(axis=0)).max() < 1e-6 * size
        assert np.abs(X[:, 4] @ slope).max() < 1e-6 * size
    assert (np.diff(path.explained) > -1e-9).all() and 0 <= path.explained[0] < path.explained[-1] < 1


@pytest.mark.parametrize("make", [InFusedLasso, FusedLasso])
@pytest.mark.parametrize("loss", ["squared", "multinomial", "cox"])
def test_every_linear_selector_has_a_chosen_path(make, loss):
    X, y = drawn("huber" if loss == "squared" else loss)
    path = make(loss=name_of(loss)).regularization_path(X, y, n_lambdas=6, cv=4)
    other = make(loss=name_of(loss)).regularization_path(sp.csr_array(X), y, n_lambdas=6, cv=4)
    np.testing.assert_allclose(other.deviance, path.deviance, rtol=1e-3)
    lines = str(path).splitlines()
    assert len(lines) == 7 and any(line.endswith("1se") for line in lines)
    assert set(np.flatnonzero(path.model().coef_.any(axis=0))) >= {0, 2}


def test_equal_weights_change_nothing_and_weights_of_zero_leave_samples_out():
    X, y = drawn("cox", 90)
    lasso, kept = Lasso(), np.arange(90) < 80
    path = lasso.regularization_path(X[kept], y[kept], n_lambdas=5, cv=FOLDS)
    twice = lasso.regularization_path(X[kept], y[kept], n_lambdas=5, cv=FOLDS, sample_weight=np.full(80, 0.5))
    np.testing.assert_allclose(twice.deviance, path.deviance, rtol=1e-4)
    left = lasso.regularization_path(X, y, n_lambdas=5, cv=FOLDS, sample_weight=kept.astype(float))
    np.testing.assert_allclose(left.deviance, path.deviance, rtol=1e-6)


def test_a_path_is_drawn():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X, y = drawn("poisson")
    path = Lasso(loss="poisson").regularization_path(X, y, n_lambdas=5)
    assert len(path.plot().lines) == path.coef[:, 0].any(axis=0).sum()
    chosen = Lasso(loss="poisson").regularization_path(X, y, n_lambdas=5, cv=5)
    assert chosen.plot().get_legend() is not None
    pyplot.close("all")


def test_bad_requests_are_named():
    X, y = drawn("poisson")
    path = Lasso(loss="poisson").regularization_path(X, y, n_lambdas=5)
    with pytest.raises(InputError, match="call regularization_path with cv=10"):
        path.model("1se")
    with pytest.raises(InputError, match="cv=1 must be from 2 to 80"):
        Lasso(loss="poisson").regularization_path(X, y, cv=1)
    with pytest.raises(InputError, match="take 'min', '1se' or a number"):
        Lasso(loss="poisson").regularization_path(X, y, n_lambdas=3, cv=3).model("best")


@pytest.mark.parametrize("own", [{}, {"positive": True}, {"penalty_factors": np.linspace(0.5, 2, 700)}])
def test_solutions_that_one_pass_certifies_are_those_of_a_pass_for_each(rng, monkeypatch, own):
    X = rng.normal(size=(60, 700))
    X[:, 9] = X[:, 3]
    y = X[:, :6].sum(axis=1) + rng.normal(size=60)
    lasso = Lasso(target="real", tol=1e-7, **own)
    passes, gradients = [], LeastSquares.gradients
    monkeypatch.setattr(LeastSquares, "gradients", lambda f, B: passes.append(len(B)) or gradients(f, B))
    monkeypatch.setattr("infused.selectors.linear.model.CACHED", 60 * 40)  # so that some are missing
    grid = np.geomspace(1, 0.02, 25)
    ahead = lasso.regularization_path(X, y, lambda1=grid)
    assert 0 < len(passes) < 25 and max(passes) > 1 and ahead.certificate.max() <= 1e-7
    monkeypatch.setattr(SparseModel, "fit_along", lambda *a: None)
    one_by_one = lasso.regularization_path(X, y, lambda1=grid)
    np.testing.assert_allclose(ahead.coef, one_by_one.coef, atol=1e-5)
