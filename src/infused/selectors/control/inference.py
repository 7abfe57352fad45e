"""Intervals and p-values that allow for the selection: select on a half, estimate on the other, and join."""

from __future__ import annotations

import warnings
from contextlib import closing
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import t as t_distribution
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from infused._runtime.compat import Interval, fit_context
from infused._runtime.messages import count, reason
from infused._runtime.processes import each
from infused._runtime.progress import Stage, reporting
from infused._runtime.threads import one_blas_thread
from infused._typing import Array, Floats, Ints
from infused.datafits import Datafit, Squared
from infused.exceptions import InputError, Setting
from infused.samples import Samples
from infused.selectors.base import check_one_target
from infused.selectors.control.stability import aimed, made, number_of
from infused.selectors.inputs.checks import check_inputs
from infused.selectors.inputs.groups import Groups
from infused.selectors.inputs.training import LOSS, make_datafit, resolve_loss

SAMPLES_PER_FEATURE, OF_EVENTS = 4, 10  # of the half that estimates; of classes and of times and events
GAMMA = 0.05  # the least share of splits that a quantile is taken of
STEPS, HALVINGS, SMALL_STEP = 50, 30, 1e-9


class Estimate(NamedTuple):
    """What one half says of the features that the other selected."""

    variables: Ints
    effects: Floats
    """NaN for variables of several columns, and of several targets."""
    errors: Floats
    p_values: Floats
    degrees: float
    """Of freedom of t."""


@dataclass(eq=False)
class SelectionInference(BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    r"""Intervals and p-values of the effects of selected features, which allow for their selection.

    .. math::

        p_j = \min\Big\{1, (1 - \log \gamma_0) \min_{\gamma \ge \gamma_0}
        \frac1\gamma\, q_\gamma\big(\{p_j^b |\hat S_b|\}_b\big)\Big\}

    The samples are split in halves. One half selects features :math:`\hat S_b`, an unpenalised model of the
    other half has their effects with p-values :math:`p_j^b`, and both change places. Quantiles
    :math:`q_\gamma` over many splits join the p-values (multi-split), so that the chance of any false
    positive is at most the level: where the halves select all features that matter, whatever was selected
    beside them. An interval holds the effects that no quantile rejects. Groups of samples go whole into a
    half, and errors then allow for what the samples of a group have in common.

    Parameters
    ----------
    selector : selector, str or None, default=None
        Of ours or of scikit-learn's kind, or an id such as ``"mrmr"``; None for :class:`Lasso`.
    n_splits : int, default=50
        How often to select and estimate.
    level : float, default=0.9
        The probability that an interval holds the effect.
    loss : {"auto", "squared", "logistic", "poisson", "huber", "cox"}, default="auto"
        Of the model that estimates; "auto" for the loss of the selector, or what suits y.
    random_state : int, RandomState or None, default=None
        Seed of the splits.
    n_jobs : int or None, default=None
        Splits that run side by side; -1 for as many as there are cores. The result does not depend on it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The median effect of each feature, for one unit of it, over the splits that selected it; NaN where
        none did, and where a feature has no single effect (several columns, three classes or more).
    conf_int_ : ndarray of shape (n_features, 2)
        The interval of each effect; infinite where too few splits selected the feature.
    p_values_ : ndarray of shape (n_features,)
        Adjusted for the number of features.
    frequencies_ : ndarray of shape (n_features,)
        The share of the splits that selected each feature.
    n_splits_ : int
        Splits that count; where a half could not be fitted, a warning says why.
    loss_ : str
        The loss of the model that estimates.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, where X has any.

    See Also
    --------
    StabilitySelection : How often halves select each feature, with a bound on the false ones.
    KnockoffSelector : A selection at a false discovery rate.

    References
    ----------
    N. Meinshausen, L. Meier, P. Bühlmann, "p-values for high-dimensional regression", Journal of the American
    Statistical Association 104 (2009).
    R. Dezeure, P. Bühlmann, L. Meier, N. Meinshausen, "High-dimensional inference: confidence intervals,
    p-values and R-software hdi", Statistical Science 30 (2015).

    Examples
    --------
    >>> import numpy as np
    >>> from infused import SelectionInference
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> y = X[:, 3] - X[:, 7] + np.random.default_rng(1).normal(size=200)
    >>> found = SelectionInference(n_splits=20, random_state=0).fit(X, y)
    >>> np.flatnonzero(found.p_values_ <= 0.1)
    array([3, 7])
    >>> low, high = found.conf_int_[3]
    >>> bool(low < 1 < high)
    True
    """

    selector: Any = None
    n_splits: int = 50
    level: float = 0.9
    loss: str = "auto"
    random_state: Any = None
    n_jobs: int | None = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "selector": "no_validation",  # type: ignore[dict-item]  # scikit-learn's word for "anything"
        "n_splits": [Interval(Integral, 2, None, closed="left")],
        "level": [Interval(Real, 0, 1, closed="neither")],
        "loss": LOSS,
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    _takes_survival = True

    def _variables(self, X: Any) -> Groups:
        """Return the groups of columns that the selector takes as one feature."""
        groups = made(self.selector).get_params(deep=False).get("groups")
        return Groups.parse(groups, X.shape[1], getattr(self, "feature_names_in_", None))

    @fit_context
    def fit(self, X: Any, y: Any, *, sample_groups: Any = None, order: Any = None) -> Self:
        """Select on one half, estimate on the other, and join what the splits say.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Samples.
        y : array of shape (n_samples,)
            Class labels, numbers, counts, or times and events.
        sample_groups : array-like of shape (n_samples,), default=None
            The group of each sample, such as its patient: a half takes groups whole.
        order : array-like of shape (n_samples,), default=None
            The place of each sample in an order, such as its time: a half takes blocks of it whole, where at
            least 20 times are told apart.

        Returns
        -------
        self : object
            With ``conf_int_`` and ``p_values_``.
        """
        base = made(self.selector)
        check_one_target(self, y)
        inputs = check_inputs(self, X, y)
        variables = inputs.coded.variables
        samples = Samples.given(sample_groups, order, len(inputs.y))
        base, real = (base, True) if inputs.survival else aimed(base, inputs.y, "auto")
        self.loss_ = self._resolved(base, inputs.y, real)
        if self.loss_ == "cox" and samples.units is not None:
            raise InputError(
                "times and events cannot be estimated in groups: leave out ", Setting("sample_groups")
            )
        F, y = inputs.coded.X, inputs.y
        F = F.tocsr() if hasattr(F, "tocsr") else F
        units = np.arange(len(y)) if samples.units is None else samples.units
        per_feature = OF_EVENTS if self.loss_ in ("logistic", "cox") else SAMPLES_PER_FEATURE
        most = max(1, (int(units.max()) + 1) // 2 // per_feature)
        task = Split(base, F, y, variables, samples, real, self.loss_, most)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=(self.n_splits + 1) // 2)
        estimates, failures, stage = list[Estimate](), list[str](), Stage(None, "estimating", len(seeds))
        with reporting(None), closing(each(task.run, seeds.tolist(), n_jobs=self.n_jobs)) as done:
            for found, failed in done:
                estimates += found
                failures += failed
                stage.advance()
        if not estimates:
            raise InputError(f"no split could be used: {failures[0]}")
        if failures:
            warnings.warn(
                f"{count(len(failures), 'split')} could not be used: {failures[0]}", UserWarning, stacklevel=2
            )
        self._store(estimates, len(variables))
        return self

    def _resolved(self, base: Any, y: Any, real: bool) -> str:
        """Return the loss: ours, that of the selector, or what suits y."""
        own = base.get_params(deep=False).get("loss", "auto")
        asked = self.loss if self.loss != "auto" or own == "auto" else own
        loss, _ = resolve_loss(asked, y)
        return "logistic" if asked == "auto" and loss == "squared" and not real else loss

    def _store(self, estimates: list[Estimate], n_variables: int) -> None:
        shape = len(estimates), n_variables
        effects, errors = np.full(shape, np.nan), np.full(shape, np.nan)
        adjusted, selected = np.ones(shape), np.zeros(shape, dtype=bool)
        for row, one in enumerate(estimates):
            effects[row, one.variables], errors[row, one.variables] = one.effects, one.errors
            adjusted[row, one.variables] = np.minimum(1.0, one.p_values * len(one.variables))
            selected[row, one.variables] = True
        degrees = np.array([one.degrees for one in estimates])
        self.n_splits_, self.frequencies_ = len(estimates), selected.mean(axis=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of features that no split selected
            self.coef_ = np.nanmedian(effects, axis=0)
        self.p_values_ = joined_p_values(adjusted)
        self.conf_int_ = joined_intervals(effects, errors, degrees, 1 - self.level)
        single = np.isnan(effects) == ~selected
        self.conf_int_[~single.all(axis=0)] = np.nan

    def plot(self, *, top: int | None = None, ax: Any = None) -> Any:
        """Draw the effects with their intervals, the smallest p-value on top (a forest plot).

        Parameters
        ----------
        top : int or None, default=None
            How many features to show; by default at most 30 of those with a finite interval.
        ax : matplotlib Axes, default=None
            Where to draw; by default on a new figure.

        Returns
        -------
        matplotlib Axes
            Where it was drawn.
        """
        import infused

        return infused.report.plot_effects(self, top=top, ax=ax)


def joined_p_values(p: Floats) -> Floats:
    """Join the p-values of splits (rows) by their quantiles (Meinshausen, Meier and Bühlmann, Eq. 2.2)."""
    n = len(p)
    ranks = np.arange(1, n + 1)[:, None]
    quantiles = (np.sort(p, axis=0) * n / ranks)[ranks[:, 0] >= GAMMA * n]
    return np.asarray(np.minimum(1.0, (1 - np.log(GAMMA)) * quantiles.min(axis=0)))


def joined_intervals(effects: Floats, errors: Floats, degrees: Floats, alpha: float) -> Floats:
    """Return the effects that no quantile of the splits' p-values rejects at the level alpha.

    The k-th smallest p-value rejects where it is at most a = alpha k / (n (1 - log gamma)), that is, where k
    intervals of the level 1 - a lie on one side. A split that did not select a feature rejects nothing.
    """
    n = len(effects)
    low, high = np.full(effects.shape[1], -np.inf), np.full(effects.shape[1], np.inf)
    for k in range(int(np.ceil(GAMMA * n)), n + 1):
        a = alpha * k / (n * (1 - np.log(GAMMA)))
        half = t_distribution.isf(a / 2, degrees)[:, None] * errors
        ends = np.sort(np.where(np.isnan(half), np.inf, effects + half), axis=0)
        starts = np.sort(np.where(np.isnan(half), -np.inf, effects - half), axis=0)
        low, high = np.maximum(low, starts[n - k]), np.minimum(high, ends[k - 1])
    return np.column_stack([np.minimum(low, high), np.maximum(low, high)])


@dataclass(frozen=True)
class Split:
    """What is done with each split."""

    base: Any
    F: Any
    y: Any
    variables: Groups
    samples: Samples
    real: bool
    loss: str
    most: int
    """Variables that a half can estimate."""

    def run(self, seed: int) -> tuple[list[Estimate], list[str]]:
        """Select on either half and estimate on the other; return estimates, and why others failed."""
        halves = self.samples.halves(self.y, self.real, seed)
        found, failures = list[Estimate](), list[str]()
        with warnings.catch_warnings(), one_blas_thread(), config_context(assume_finite=True):
            warnings.simplefilter("ignore")
            for n, (a, b) in enumerate((halves, halves[::-1])):
                try:
                    found.append(self._estimated(self._selected(a, seed + n), b))
                except (ValueError, ArithmeticError) as error:
                    failures.append(reason(error))
        return found, failures

    def _selected(self, rows: Ints, seed: int) -> Ints:
        """Return the variables that a half selects, the best first where it ranks them."""
        from sklearn.base import clone

        selector, own = clone(self.base), self.base.get_params(deep=False)
        number = number_of(selector)
        if number is not None and own[number] is None:
            selector.set_params(**{number: min(self.most, len(self.variables))})
        if "random_state" in own:
            selector.set_params(random_state=seed)
        if self.variables.labels is not None and "groups" in own:
            selector.set_params(groups=self.variables.labels)
        selector.fit(self.F[rows], self.y[rows], **self.samples.take(rows).taken_by(selector))
        chosen = np.unique(self.variables.codes[np.asarray(selector.get_support(), dtype=bool)])
        ranking = np.asarray(getattr(selector, "ranking_", np.arange(len(self.variables))))
        if len(ranking) == len(self.variables):
            chosen = chosen[np.argsort(ranking[chosen], kind="stable")]
        return chosen[: self.most]

    def _estimated(self, chosen: Ints, rows: Ints) -> Estimate:
        """Fit an unpenalised model of the selected variables."""
        columns = [self.variables.columns(int(one)) for one in chosen]
        every = np.concatenate([*columns, np.empty(0, np.int64)]).astype(np.int64)
        X = self.F[rows][:, every]
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        _, y = resolve_loss(self.loss if self.loss == "cox" else "auto", self.y[rows])
        datafit = Squared(y) if self.loss == "squared" else make_datafit(self.loss, y, None)
        units = self.samples.units
        own = None if units is None else np.unique(units[rows], return_inverse=True)[1].ravel()
        owners = np.repeat(np.arange(len(chosen)), [len(one) for one in columns])
        return wald(datafit, X, chosen, owners, own)


def wald(datafit: Datafit, X: Floats, variables: Ints, owners: Ints, units: Ints | None) -> Estimate:
    r"""Estimate effects, standard errors and Wald p-values of a model without a penalty.

    The covariance is :math:`\hat\sigma^2 (X'X)^{-1}` of squared errors and :math:`H^{-1}` of likelihoods of
    classes and of events. Of all other losses, and of samples in units, it is the sandwich
    :math:`H^{-1} \sum_u s_u s_u' H^{-1}` with the scores :math:`s_u` summed over each unit.
    """
    n_samples = len(X)
    middle, scale = X.mean(axis=0), X.std(axis=0)
    Z = (X - middle) / np.where(scale > 0, scale, 1.0)
    if datafit.has_intercept:
        Z = np.column_stack([Z, np.ones(n_samples)])
    B, inverse = maximum_likelihood(datafit, Z)
    n_units = n_samples if units is None else int(units.max()) + 1
    degrees = float(n_units - Z.shape[1])
    if degrees < 1:
        raise ValueError("a half has too few samples for the features that were selected")
    slope = datafit.gradient(Z @ B)
    plain = units is None and type(datafit).__name__ in ("Squared", "Logistic", "Multinomial", "Cox")
    if plain and isinstance(datafit, Squared):
        covariance = inverse * float((slope**2).sum()) / degrees
    elif plain:
        covariance = inverse
    else:
        scores = (Z[:, :, None] * slope[:, None, :]).reshape(n_samples, -1)
        if units is not None:
            totals = np.zeros((n_units, scores.shape[1]))
            np.add.at(totals, units, scores)
            scores = totals
        covariance = n_units / degrees * inverse @ (scores.T @ scores) @ inverse
    n_targets = B.shape[1]
    effects, errors = np.full(len(variables), np.nan), np.full(len(variables), np.nan)
    p_values = np.ones(len(variables))
    for place in range(len(variables)):
        own = np.flatnonzero(owners == place)
        if not (scale[own] > 0).any():
            effects[place], errors[place] = 0.0, np.inf
            continue
        part = (own[:, None] * n_targets + np.arange(n_targets)).ravel()
        b, V = B[own].ravel(), covariance[np.ix_(part, part)]
        if len(part) == 1:
            effects[place], errors[place] = b[0] / scale[own[0]], np.sqrt(V[0, 0]) / scale[own[0]]
            p_values[place] = 2 * t_distribution.sf(abs(b[0]) / max(np.sqrt(V[0, 0]), 1e-300), degrees)
        else:
            rank = max(int(np.linalg.matrix_rank(V, hermitian=True)), 1)
            p_values[place] = f_distribution.sf(
                b @ np.linalg.pinv(V, hermitian=True) @ b / rank, rank, degrees
            )
    return Estimate(variables, effects, errors, p_values, degrees)


def maximum_likelihood(datafit: Datafit, Z: Floats) -> tuple[Floats, Floats]:
    """Minimise the loss by Newton's method; return coefficients, columns x targets, and the inverse of H."""
    T = datafit.n_targets
    B = np.zeros((Z.shape[1], T))
    value = datafit.value(Z @ B)
    for _ in range(STEPS):
        gradient = Z.T @ datafit.gradient(Z @ B)
        step = _solved(_hessian(datafit, Z, B), gradient.ravel()).reshape(B.shape)
        for _ in range(HALVINGS):
            after = datafit.value(Z @ (B - step))
            if after <= value:
                break
            step /= 2
        else:
            break
        B, small = B - step, value - after <= SMALL_STEP * (abs(value) + 1)
        value = after
        if small:
            break
    return B, np.asarray(np.linalg.pinv(_hessian(datafit, Z, B), hermitian=True), np.float64)


def _hessian(datafit: Datafit, Z: Floats, B: Floats) -> Floats:
    H = datafit.curvature(Z @ B).gram(Z)
    return H if len(H) == B.size else np.asarray(np.kron(H, np.eye(B.shape[1])), np.float64)


def _solved(H: Floats, g: Array) -> Array:
    return np.asarray(np.linalg.lstsq(H, g, rcond=None)[0])
