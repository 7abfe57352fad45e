"""Losses, penalty factors and signs in the linear selectors: beside glmnet, cvxpy and scikit-learn."""

from __future__ import annotations

import warnings
from functools import partial

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn import linear_model

from infused import (
    FusedLasso,
    GreedyForward,
    GroupLasso,
    InFusedLasso,
    Lasso,
    ULasso,
    make_selector,
    structural_information,
)
from infused.datafits import Cox
from infused.exceptions import InputError
from infused.selectors.inputs.training import make_datafit
from tests.solvers.test_losses import glmnet_figures, needs_glmnet

LINEAR = ("infused-lasso", "in-elastic-net", "in-lasso", "lasso", "ulasso", "fused-lasso", "group-lasso")
RANKINGS = ("recursive", "forward", "coefficient", "path")
LOSSES = ("logistic", "multinomial", "poisson", "huber", "cox")
PAIRS = [*((id, "recursive") for id in LINEAR), *(("lasso", ranking) for ranking in RANKINGS[1:])]
every_loss = pytest.mark.parametrize("loss", LOSSES)


def drawn(loss, n_samples=80, n_features=14, seed=0):
    """Features of which the first three matter, and a target for a loss."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)) * rng.uniform(0.5, 3, size=n_features) + 2
    eta = (X[:, :3] - 2) @ np.array([1.0, -1.0, 0.8])
    if loss == "logistic":
        return X, (eta + rng.logistic(size=n_samples) > 0).astype(int)
    if loss == "multinomial":
        return X, np.digitize(eta + rng.logistic(size=n_samples), [-1, 1])
    if loss == "poisson":
        return X, rng.poisson(np.exp(0.5 * eta))
    if loss == "huber":
        return X, eta + rng.standard_t(2, size=n_samples)
    time, censored = rng.exponential(np.exp(-eta)), rng.exponential(2.0, size=n_samples)
    return X, survival(np.minimum(time, censored), time <= censored)


def survival(time, event):
    return np.array(list(zip(event, time, strict=True)), dtype=[("died", bool), ("months", float)])


def name_of(loss):
    return "logistic" if loss == "multinomial" else loss


def standardised(X):
    X = X - X.mean(axis=0)
    return X / np.linalg.norm(X, axis=0)


@needs_glmnet
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("variant", ["plain", "factors", "weights", "positive"])
@pytest.mark.parametrize("family", ["gaussian", "binomial", "multinomial", "poisson", "cox"])
def test_the_path_is_that_of_glmnet(family, variant, form):
    """On the scale of the data; our penalty is of columns of length one, and of the sum of the losses."""
    X, y, path = glmnet_figures(family, variant)
    n, p = X.shape
    weights = np.resize([1.0, 2.0, 3.0], n) if variant == "weights" else np.ones(n)
    total = weights.sum()
    factors = np.resize([1.0, 2.0, 0.5, 1.0], p) if variant == "factors" else np.ones(p)
    scale = np.sqrt(weights @ (X - weights @ X / total) ** 2)
    loss = {"gaussian": "squared", "binomial": "logistic", "multinomial": "logistic"}.get(family, family)
    size = np.sqrt(weights @ (y[:, 0] - weights @ y[:, 0] / total) ** 2) if loss == "squared" else 1.0
    selector = Lasso(
        loss=loss,
        penalty_factors=factors * p / factors.sum(),
        positive=variant == "positive",
        lambda_scale="absolute",
        tol=1e-9,
        max_iter=100_000,
    )
    values = np.sort(list(path))[::-1]
    given = values * np.sqrt(total) / size
    y = y if family == "cox" else y[:, 0]
    if variant == "weights":
        found = selector.regularization_path(form(X), y, lambda1=given, sample_weight=weights)
    else:
        found = selector.regularization_path(form(X), y, lambda1=given)
    for value, coef in zip(values, found.coef, strict=True):
        B, expected = size * coef.T / scale[:, None], path[value][1:]
        assert np.abs(B - expected).max() <= 1e-5 * max(np.abs(expected).max(), np.abs(path[value]).max())


@pytest.mark.parametrize("id", LINEAR)
@every_loss
def test_every_selector_finds_what_matters(id, loss):
    X, y = drawn(loss, 150)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = make_selector(id, loss=name_of(loss), n_features_to_select=3).fit(X, y)
    assert found.converged_ and found.certificate_ <= 1e-4
    assert found.support_.sum() == 3 and found.support_[:3].sum() >= 2
    np.testing.assert_array_equal(np.sort(found.ranking_), np.arange(1, 15))


@pytest.mark.parametrize(("id", "ranking"), [("infused-lasso", "recursive"), *PAIRS[-4:]])
@every_loss
def test_every_ranking_is_nested(id, ranking, loss):
    X, y = drawn(loss)
    make = partial(make_selector, id, loss=name_of(loss), ranking=ranking, n_jobs=1)
    fits = [make(n_features_to_select=k).fit(X, y) for k in (2, 9)]
    np.testing.assert_array_equal(fits[0].ranking_, fits[1].ranking_)


@pytest.mark.parametrize("shape", [(80, 14), (30, 90)])
@every_loss
def test_one_solution_whatever_the_terms_are_called(loss, shape):
    """With lambda2 = lambda3 = 0 all are the lasso, and ULasso is without its term."""
    X, y = drawn(loss, *shape)
    options = {"loss": name_of(loss), "lambda1": 0.2, "tol": 1e-8, "max_iter": 30_000}
    lasso = Lasso(**options).fit(X, y).coef_
    for other in (
        FusedLasso(lambda2=0.0, **options),
        FusedLasso(lambda2=1e-12, fusion="chain", **options),
        InFusedLasso(lambda2=0.0, lambda3=0.0, **options),
        ULasso(lambda2=0.0, **options),
    ):
        np.testing.assert_allclose(other.fit(X, y).coef_, lasso, atol=2e-5 * np.abs(lasso).max())


def cvxpy_loss(loss, F, y, B):
    """The loss of B and of intercepts, as cvxpy has it."""
    eta = F @ B + np.ones((len(F), 1)) @ cp.Variable((1, B.shape[1]))
    if loss == "logistic":
        return cp.sum(cp.logistic(eta)) - cp.sum(cp.multiply(y[:, None], eta))
    if loss == "multinomial":
        return cp.sum(cp.log_sum_exp(eta, axis=1)) - cp.sum(cp.multiply(np.eye(3)[y], eta))
    if loss == "poisson":
        return cp.sum(cp.exp(eta)) - cp.sum(cp.multiply(y[:, None], eta))
    time, event = y["months"], y["died"]
    return sum(
        cp.log_sum_exp(eta[np.flatnonzero(time >= time[i])]) - eta[i, 0] for i in np.flatnonzero(event)
    )


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss != "huber"])
def test_infused_lasso_is_what_cvxpy_finds(loss):
    """All four terms: the loss, rows, fusion along a chain and structural information."""
    X, y = drawn(loss, 60, 10)
    options = {"loss": name_of(loss), "lambda_scale": "absolute", "fusion": "chain"}
    found = InFusedLasso(lambda1=0.3, lambda2=0.2, lambda3=0.1, tol=1e-8, max_iter=50_000, **options).fit(
        X, y
    )
    F, B = standardised(X), found.coef_.T
    target = y
    if loss == "cox":  # the martingale residuals without features
        at_risk = np.array([(y["months"] >= t).sum() for t in y["months"]])
        expected = [(y["died"] * (y["months"] <= t) / at_risk).sum() for t in y["months"]]
        target = y["died"] - np.array(expected)
    kind = "real" if loss in ("cox", "poisson") else "classes"
    U = structural_information(X, target.astype(float) if kind == "real" else target, target=kind)
    centred = U - U.mean()
    S = 0.1 * (np.linalg.eigvalsh(centred)[-1] * np.eye(10) - centred)
    root = np.linalg.cholesky(S + 1e-12 * np.eye(10)).T
    Z = cp.Variable(B.shape)
    penalty = 0.3 * cp.sum(cp.norm(Z, 2, axis=1)) + 0.2 * cp.sum(cp.norm(cp.diff(Z), 2, axis=1))
    problem = cp.Problem(cp.Minimize(cvxpy_loss(loss, F, y, Z) + penalty + cp.sum_squares(root @ Z)))
    problem.solve(solver="CLARABEL")
    assert found.converged_
    np.testing.assert_allclose(B, Z.value, atol=2e-3 * np.abs(Z.value).max())


@pytest.mark.parametrize("id", ["lasso", "ulasso", "in-lasso", "fused-lasso"])
@every_loss
def test_whole_weights_are_copies(id, loss):
    X, y = drawn(loss, 50)
    weights = np.random.default_rng(1).integers(1, 4, size=50)
    make = partial(make_selector, id, loss=name_of(loss), n_features_to_select=5, tol=1e-7)
    weighed = make().fit(X, y, sample_weight=weights)
    repeated = make().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    if loss == "huber":  # the scale of its errors is a median, which weights do not change
        return
    np.testing.assert_array_equal(weighed.ranking_, repeated.ranking_)
    np.testing.assert_allclose(weighed.coef_, repeated.coef_, atol=1e-5 * np.abs(repeated.coef_).max())


@every_loss
def test_sparse_and_dense_agree(loss):
    X, y = drawn(loss)
    X = np.where(np.abs(X - 2) < 1, 0.0, X)
    for make in (Lasso, InFusedLasso):
        dense, sparse = (
            make(loss=name_of(loss), n_features_to_select=4).fit(form, y) for form in (X, sp.csr_array(X))
        )
        np.testing.assert_array_equal(dense.ranking_, sparse.ranking_)


@every_loss
def test_what_is_kept_has_no_penalty(loss):
    """Where no other feature is in the model, its coefficients are those of the loss without a penalty."""
    X, y = drawn(loss)
    found = Lasso(loss=name_of(loss), keep=[5, 1], lambda1=1.5, n_features_to_select=4).fit(X, y)
    assert (found.ranking_[5], found.ranking_[1]) == (1, 2) and found.support_[[1, 5]].all()
    free = Lasso(loss=name_of(loss), lambda1=1e-7, tol=1e-2).fit(X[:, [1, 5]], y)
    alone = Lasso(loss=name_of(loss), keep=[5, 1], lambda1=1.5, ranking="coefficient").fit(X, y)
    np.testing.assert_allclose(alone.coef_[:, [1, 5]], free.coef_, rtol=1e-3, atol=1e-4)
    as_factor = Lasso(loss=name_of(loss), penalty_factors={5: 0, 1: 0}, lambda1=1.5).fit(X, y)
    np.testing.assert_allclose(as_factor.coef_, alone.coef_)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize(("id", "ranking"), PAIRS)
def test_factors_are_prices(id, loss, ranking):
    """Zero is always in, infinity never, and a high price comes late."""
    X, y = drawn("logistic", 100)
    groups = {"groups": np.arange(14)} if id == "group-lasso" else {}
    factors = np.ones(14)
    factors[[0, 1, 9]] = np.inf, 50.0, 0.0
    found = make_selector(
        id, loss=loss, ranking=ranking, n_features_to_select=3, penalty_factors=factors, **groups
    ).fit(X, y)
    assert found.ranking_[9] == 1 and found.support_[9]
    assert found.ranking_[0] == 14 and not found.coef_[:, 0].any()
    if ranking in ("coefficient", "path"):
        usual = make_selector(id, loss=loss, ranking=ranking, n_features_to_select=3, **groups).fit(X, y)
        assert found.ranking_[1] > usual.ranking_[1]
    with pytest.raises(InputError, match=r"n_features_to_select=14 is more than the 13 features"):
        make_selector(id, n_features_to_select=14, penalty_factors=factors, **groups).fit(X, y)


@pytest.mark.parametrize("n_targets", [1, 2])
@pytest.mark.parametrize("fused", [False, True])
def test_a_factor_is_a_scale_of_the_column(fused, n_targets):
    """Twice the price is the same as half the column, but for the fusion of its coefficient."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20))
    Y = X[:, :n_targets] + rng.normal(size=(60, n_targets))
    factors = rng.choice([0.5, 1.0, 2.0], size=20)
    options = {
        "lambda1": 1.0,
        "lambda_scale": "absolute",
        "standardize": False,
        "tol": 1e-9,
        "max_iter": 50_000,
    }
    if fused:
        found = FusedLasso(fusion="chain", lambda2=0.5, penalty_factors=factors, **options).fit(X, Y).coef_.T
        B = cp.Variable((20, n_targets))
        rows = cp.sum(cp.multiply(factors, cp.norm(B, 2, axis=1)))
        fusion = cp.sum(cp.norm(cp.diff(B), 2, axis=1))
        cp.Problem(cp.Minimize(cp.sum_squares(Y - X @ B) / 2 + rows + 0.5 * fusion)).solve(solver="CLARABEL")
        np.testing.assert_allclose(found, B.value, atol=1e-4)
        return
    found = Lasso(penalty_factors=factors, **options).fit(X, Y).coef_
    np.testing.assert_allclose(found, Lasso(**options).fit(X / factors, Y).coef_ / factors, atol=1e-7)


@pytest.mark.parametrize("n_targets", [1, 2])
def test_the_adaptive_lasso_in_two_lines(n_targets):
    """It leaves out what the first fit finds small, and keeps what matters."""
    X, y = drawn("huber", 150)
    y = np.column_stack([y, X[:, 1]])[:, :n_targets]
    first = Lasso(lambda1=0.01).fit(X, y)
    adaptive = Lasso(penalty_factors=1 / np.maximum(np.linalg.norm(first.coef_, axis=0), 1e-6)).fit(X, y)
    usual = Lasso().fit(X, y)
    assert adaptive.support_.sum() <= usual.support_.sum() < first.support_.sum()
    assert adaptive.support_[:3].all() and adaptive.support_.sum() <= 5


def test_factors_by_name():
    pd = pytest.importorskip("pandas")
    X, y = drawn("logistic")
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(14)])
    named = Lasso(penalty_factors={"f0": 3, "f9": np.inf}, n_features_to_select=4).fit(frame, y)
    factors = np.ones(14)
    factors[[0, 9]] = 3, np.inf
    np.testing.assert_array_equal(
        named.ranking_, Lasso(penalty_factors=factors, n_features_to_select=4).fit(X, y).ranking_
    )
    chosen = Lasso(penalty_factors={"f0": 3, "f9": np.inf}, n_features_to_select="auto").fit(frame, y)
    assert not chosen.support_[9]
    groups = {"a": [0, 1, 2], "b": [3, 4]}
    grouped = GroupLasso(groups=groups, penalty_factors={"a": np.inf}, n_features_to_select=2).fit(X, y)
    assert not grouped.support_[:3].any()


def test_positive_is_scikit_learns():
    rng = np.random.default_rng(0)
    X = standardised(rng.normal(size=(60, 30)))
    y = X @ rng.normal(size=30)
    peer = linear_model.Lasso(alpha=0.1 / 60, positive=True, fit_intercept=False, tol=1e-12).fit(X, y)
    found = Lasso(lambda1=0.1, lambda_scale="absolute", standardize=False, positive=True, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(found.coef_[0], peer.coef_, atol=1e-7)


@pytest.mark.parametrize("loss", ["squared", "multinomial", "cox"])
@pytest.mark.parametrize(("id", "ranking"), PAIRS)
def test_no_coefficient_is_negative(id, loss, ranking):
    X, y = drawn("logistic" if loss == "squared" else loss)
    found = make_selector(id, loss=name_of(loss), positive=True, ranking=ranking, n_features_to_select=5).fit(
        X, y
    )
    assert found.coef_.min() == 0 < found.coef_.max()


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_fused_coefficients_of_one_sign_are_what_cvxpy_finds(loss):
    X, y = drawn("logistic", 60, 12)
    F = standardised(X)
    target = y - y.mean()
    target = target / np.linalg.norm(target)
    options = {"lambda_scale": "absolute", "lambda1": 0.05, "lambda2": 0.03, "fusion": "chain"}
    found = FusedLasso(loss=loss, positive=True, tol=1e-8, max_iter=50_000, **options).fit(X, y).coef_[0]
    b = cp.Variable((12, 1))
    fit = cp.sum_squares(target[:, None] - F @ b) / 2 if loss == "squared" else cvxpy_loss(loss, F, y, b)
    penalty = 0.05 * cp.norm1(b) + 0.03 * cp.norm1(cp.diff(b))
    cp.Problem(cp.Minimize(fit + penalty), [b >= 0]).solve(solver="CLARABEL")
    np.testing.assert_allclose(found, b.value[:, 0], atol=2e-4 * np.abs(b.value).max())


def test_times_and_events_in_any_form():
    X, y = drawn("cox")
    found = Lasso(n_features_to_select=4).fit(X, y)
    columns = np.column_stack([y["months"], y["died"]])
    np.testing.assert_array_equal(
        Lasso(loss="cox", n_features_to_select=4).fit(X, columns).coef_, found.coef_
    )


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({"loss": "logistic"}, np.arange(80) / 7, "loss='logistic' needs one class label"),
        ({"loss": "poisson"}, np.arange(80) - 3.0, "loss='poisson' needs counts, but y has -3"),
        ({"loss": "poisson"}, np.resize(["no", "yes"], 80), "loss='poisson' needs numbers, but y has 'no'"),
        ({"loss": "huber"}, np.resize(["II", "I"], 80), "loss='huber' needs numbers, but y has 'II'"),
        ({"loss": "poisson"}, np.ones((80, 2)) * np.arange(80)[:, None], "needs one target"),
        ({"loss": "cox"}, np.arange(80.0), "needs a structured y, or two columns"),
        ({}, survival(np.arange(80.0), np.zeros(80, bool)), "no event: all times are censored"),
        ({}, survival(np.arange(80.0) - 1, np.arange(80) > 4), "times of at least zero, but has -1"),
        ({}, survival(np.arange(80) // 79, np.arange(80) < 40), "all events at one time"),
        ({"loss": "logistic"}, survival(np.arange(80.0), np.arange(80) > 4), "take loss='cox'"),
        ({"loss": "hinge"}, np.arange(80) % 2, "loss"),
        ({"penalty_factors": [1.0]}, np.arange(80) % 2, "one number for each of the 14 features"),
        ({"penalty_factors": -np.ones(14)}, np.arange(80) % 2, "at least zero"),
        ({"penalty_factors": np.zeros(14)}, np.arange(80) % 2, "leave no feature"),
        ({"penalty_factors": {20: 1}}, np.arange(80) % 2, "penalty_factors"),
    ],
)
def test_bad_requests_are_named(options, y, message):
    with pytest.raises(ValueError, match=message):
        Lasso(n_features_to_select=2, **options).fit(drawn("huber")[0], y)


def test_the_published_model_has_one_loss():
    X, y = drawn("logistic")
    with pytest.raises(InputError, match="loss='logistic' is not published"):
        InFusedLasso(formulation="paper", loss="logistic").fit(X, y)
    with pytest.raises(InputError, match="penalty_factors= are for given groups"):
        GroupLasso(penalty_factors=np.arange(14)).fit(X, y)


def second_derivative(datafit, eta, step=1e-5):
    """Return the curvature of a loss of one target by differences of its gradient, samples x samples."""
    shifts = step * np.eye(len(eta))[:, :, None]
    return np.array([datafit.gradient(eta + s) - datafit.gradient(eta - s) for s in shifts])[..., 0] / (
        2 * step
    )


@pytest.mark.parametrize("loss", ["logistic", "poisson", "cox"])
def test_forward_selection_takes_the_largest_score_test(loss):
    """A twin: fit what was picked by a general optimiser, then test every other feature as is written."""
    X, y = drawn(loss, 60, 8)
    found = GreedyForward(loss=loss, n_features_to_select=4).fit(X, y)
    datafit = Cox(y["months"], y["died"]) if loss == "cox" else make_datafit(loss, y, None)
    F = standardised(X)
    Z, picked, values, ridge = np.ones((60, int(datafit.has_intercept))), [], [], 0.0
    for _ in range(5):
        fixed = np.column_stack([Z, F[:, picked]])
        weights = np.repeat([0.0, ridge], [Z.shape[1], len(picked)])

        def objective(b, fixed=fixed, weights=weights):
            return datafit.value((fixed @ b)[:, None]) + weights @ b**2 / 2

        b = minimize(objective, np.zeros(fixed.shape[1]), tol=1e-12).x if fixed.shape[1] else np.zeros(0)
        eta = (fixed @ b)[:, None]
        values.append(objective(b))
        H = second_derivative(datafit, eta)
        shared = np.linalg.pinv(fixed.T @ H @ fixed + np.diag(weights)) @ fixed.T @ H
        new = np.diagonal(F.T @ H @ (F - fixed @ shared @ F))
        ridge = ridge or 0.1 * new.mean()
        gains = (F.T @ datafit.gradient(eta))[:, 0] ** 2 / (new + ridge)
        gains[picked] = -1
        picked.append(int(np.argmax(gains)))
    np.testing.assert_array_equal(np.argsort(found.ranking_)[:4], picked[:4])
    lowered = -2 * np.diff(values) / (2 * values[0] - 2 * datafit.smallest)
    np.testing.assert_allclose(found.gains_, lowered, rtol=2e-3)


@every_loss
def test_forward_selection_with_a_loss_keeps_the_laws_of_the_family(loss):
    """Nested, whatever form X has; what is kept comes first, groups are whole, weights are copies."""
    X, y = drawn(loss)
    make = partial(GreedyForward, loss=name_of(loss))
    few, many = (make(n_features_to_select=k).fit(X, y) for k in (3, 9))
    np.testing.assert_array_equal(np.argsort(few.ranking_)[:3], np.argsort(many.ranking_)[:3])
    assert few.support_[:3].sum() >= 2 and (np.diff(many.gains_.cumsum()) >= 0).all()
    sparse = make(n_features_to_select=9).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(sparse.ranking_, many.ranking_)
    kept = make(n_features_to_select=4, keep=[9, 5]).fit(X, y)
    np.testing.assert_array_equal(np.argsort(kept.ranking_)[:2], [9, 5])
    assert len(kept.gains_) == 4 and 0 < kept.gains_.sum() < 1
    grouped = make(n_features_to_select=1, groups=[0, 0, 0, 1, 1, 1, *range(2, 10)]).fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(grouped.support_), [0, 1, 2])
    weights = np.random.default_rng(1).integers(0, 3, size=len(X))
    if loss != "huber":  # the scale of its errors is a median, which weights do not change
        weighed = make(n_features_to_select=5).fit(X, y, sample_weight=weights)
        copies = make(n_features_to_select=5).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        np.testing.assert_array_equal(weighed.ranking_, copies.ranking_)
        np.testing.assert_allclose(weighed.gains_, copies.gains_, rtol=1e-4, atol=1e-8)


def test_forward_selection_takes_times_and_events_as_they_come():
    X, y = drawn("cox")
    X = np.column_stack([X, np.ones(len(X)), X[:, 0]])  # a constant and a copy add nothing
    auto, cox = (GreedyForward(loss=loss, n_features_to_select=16).fit(X, y) for loss in ("auto", "cox"))
    np.testing.assert_array_equal(auto.ranking_, cox.ranking_)
    assert auto.ranking_[14] == 16 and auto.ranking_[15] > auto.ranking_[0]
    with pytest.raises(InputError, match="take loss='cox'"):
        GreedyForward(loss="poisson").fit(X, y)
