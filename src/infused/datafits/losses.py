r"""What solvers ask of a datafit; squared errors, Huber's loss, logistic, Poisson and Cox regression.

A datafit is a convex function of the predictions :math:`\eta` (samples x targets), summed over the samples
with their weights. Intercepts, penalties and standardised features are the solver's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import expit, log_softmax, softmax, xlogy

from infused._design import Design, dense, rows_scaled
from infused._typing import Array, Floats, Ints

#: Curvature of a sample that is certain, or of which nothing is expected: a Newton step needs some.
FLATTEST = 1e-10
OUTLIER = 1e-2  # of the upper bound for an outlier, that a Newton step takes as its curvature
SMALLEST = 1e-250  # of what is left at risk, as a share of the largest hazard


class Curvature(Protocol):
    """The second derivative H of a datafit at some predictions, or a close upper bound on it."""

    def gram(self, X: Design) -> Floats:
        """Return X'HX: features x features where all targets share it, else by feature, then by target."""
        ...

    def factors(self, X: Design) -> list[tuple[float, Design]]:
        """Return signs and matrices A: X'HX is the signed sum of A'A (that of the bound, by class)."""
        ...

    @property
    def bound(self) -> Diagonal:
        """Return an upper bound on H with one number for each sample."""
        ...


class Datafit(Protocol):
    """A loss, summed over the training samples."""

    #: Whether a constant that is added to all predictions changes the value.
    has_intercept: bool
    #: How many columns the predictions have.
    n_targets: int
    #: Below this no predictions bring the value.
    smallest: float

    def value(self, eta: Floats) -> float:
        """Return the loss of the predictions, infinity where it leaves the range of numbers."""
        ...

    def gradient(self, eta: Floats) -> Floats:
        """Return the derivative of the value by each prediction, samples x targets."""
        ...

    def curvature(self, eta: Floats) -> Curvature:
        """Return the second derivative of the value, or a close upper bound."""
        ...


@dataclass(frozen=True)
class Diagonal:
    """H with one number for each sample, which all of its targets share."""

    weights: Floats

    def gram(self, X: Design) -> Floats:
        """Return X'HX, features x features."""
        return _gram(X, np.sqrt(self.weights))

    def factors(self, X: Design) -> list[tuple[float, Design]]:
        """Return the rows of X times the roots of the weights."""
        return [(1.0, rows_scaled(X, np.sqrt(self.weights)))]

    @property
    def bound(self) -> Diagonal:
        """Return H itself."""
        return self


def weights_or_ones(weights: Floats | None, n_samples: int) -> Floats:
    """Return what each sample counts, as a column."""
    return np.ones((n_samples, 1)) if weights is None else np.asarray(weights, np.float64).reshape(-1, 1)


def as_columns(y: Floats) -> Floats:
    """Return targets as samples x targets."""
    y = np.asarray(y, dtype=np.float64)
    return y.reshape(len(y), -1)


class Squared:
    r"""Half the squared error, :math:`\tfrac12 \sum_i w_i |y_i - \eta_i|^2`.

    Parameters
    ----------
    y : array of shape (n_samples,) or (n_samples, n_targets)
        Continuous targets.
    weights : array of shape (n_samples,) or None, default=None
        What each sample counts.
    """

    has_intercept = True
    smallest = 0.0

    def __init__(self, y: Floats, weights: Floats | None = None):
        self.y = as_columns(y)
        self.weights = weights_or_ones(weights, len(self.y))
        self.n_targets = self.y.shape[1]

    def value(self, eta: Floats) -> float:
        """Return half the weighted sum of squared errors."""
        return float((self.weights * (eta - self.y) ** 2).sum() / 2)

    def gradient(self, eta: Floats) -> Floats:
        """Return the weighted errors."""
        return np.asarray(self.weights * (eta - self.y))

    def curvature(self, eta: Floats) -> Diagonal:
        """Return the weights: the curvature is the same everywhere."""
        return Diagonal(self.weights[:, 0])


@dataclass(frozen=True)
class Kinked(Diagonal):
    """H of small errors, and next to nothing of outliers."""

    above: Floats

    @property
    def bound(self) -> Diagonal:
        """Return w min(1, delta / |r|)."""
        return Diagonal(self.above[:, 0])


class Huber:
    r"""Squares of small errors and sizes of large ones, :math:`\sum_i w_i h(y_i - \eta_i)` with

    .. math::

        h(r) = \tfrac12 r^2 \text{ where } |r| \le \delta, \text{ else } \delta |r| - \tfrac12 \delta^2

    Parameters
    ----------
    y : array of shape (n_samples,) or (n_samples, n_targets)
        Continuous targets; several have one row of errors each, whose length is r.
    delta : float
        The size from which an error counts as an outlier.
    weights : array of shape (n_samples,) or None, default=None
        What each sample counts.
    """

    has_intercept = True
    smallest = 0.0

    def __init__(self, y: Floats, delta: float, weights: Floats | None = None):
        self.y, self.delta = as_columns(y), delta
        self.weights = weights_or_ones(weights, len(self.y))
        self.n_targets = self.y.shape[1]

    def value(self, eta: Floats) -> float:
        """Return the weighted sum of the losses."""
        size = np.linalg.norm(eta - self.y, axis=1, keepdims=True)
        small = np.minimum(size, self.delta)
        return float((self.weights * small * (size - small / 2)).sum())

    def gradient(self, eta: Floats) -> Floats:
        """Return the weighted errors, those of outliers cut to delta."""
        return np.asarray(self.weights * self._share(eta) * (eta - self.y))

    def curvature(self, eta: Floats) -> Kinked:
        """Return the weights of what is no outlier; outliers have next to no curvature along r."""
        share = self._share(eta)
        return Kinked((self.weights * np.where(share < 1, OUTLIER * share, 1.0))[:, 0], self.weights * share)

    def _share(self, eta: Floats) -> Floats:
        """Return the part of each error that counts."""
        size = np.linalg.norm(eta - self.y, axis=1, keepdims=True)
        return np.asarray(self.delta / np.maximum(size, self.delta))


class Logistic:
    r"""Negative log-likelihood of two classes, :math:`\sum_i w_i (\log(1 + e^{\eta_i}) - y_i \eta_i)`.

    Parameters
    ----------
    y : array of shape (n_samples,)
        One for samples of the second class, zero for the others.
    weights : array of shape (n_samples,) or None, default=None
        What each sample counts.
    """

    has_intercept = True
    n_targets = 1
    smallest = 0.0

    def __init__(self, y: Array, weights: Floats | None = None):
        self.y = np.asarray(y, dtype=np.float64).reshape(-1, 1)
        self.weights = weights_or_ones(weights, len(self.y))

    def value(self, eta: Floats) -> float:
        """Return the negative log-likelihood."""
        return float((self.weights * (np.logaddexp(0.0, eta) - self.y * eta)).sum())

    def gradient(self, eta: Floats) -> Floats:
        """Return the weighted probabilities of the second class, less one where it is the true one."""
        return np.asarray(self.weights * (expit(eta) - self.y))

    def curvature(self, eta: Floats) -> Diagonal:
        """Return w p (1 - p)."""
        return Diagonal((self.weights * np.maximum(expit(eta) * expit(-eta), FLATTEST))[:, 0])


class Multinomial:
    r"""Negative log-likelihood of many classes, :math:`\sum_i w_i (\log \sum_c e^{\eta_{ic}} - \eta_{iy_i})`.

    Parameters
    ----------
    y : array of int of shape (n_samples,)
        The class of each sample, from zero.
    weights : array of shape (n_samples,) or None, default=None
        What each sample counts.
    """

    has_intercept = True
    smallest = 0.0

    def __init__(self, y: Array, weights: Floats | None = None):
        codes = np.asarray(y, dtype=np.int64)
        self.n_targets = int(codes.max(initial=0)) + 1
        self.Y = np.eye(self.n_targets)[codes]
        self.weights = weights_or_ones(weights, len(codes))

    def value(self, eta: Floats) -> float:
        """Return the negative log-likelihood."""
        return -float((self.weights * self.Y * log_softmax(eta, axis=1)).sum())

    def gradient(self, eta: Floats) -> Floats:
        """Return the weighted probabilities, less one for the true class."""
        return np.asarray(self.weights * (softmax(eta, axis=1) - self.Y))

    def curvature(self, eta: Floats) -> Softmax:
        """Return w (diag(p) - pp') for each sample."""
        return Softmax(softmax(eta, axis=1), self.weights)


@dataclass(frozen=True)
class Softmax:
    """H = w (diag(p) - pp') for each sample, one row and column for each class."""

    p: Floats
    weights: Floats

    def gram(self, X: Design) -> Floats:
        """Return X'HX by feature, then by class."""
        n_features, n_classes = X.shape[1], self.p.shape[1]
        result = np.empty((n_features, n_classes, n_features, n_classes))
        for first in range(n_classes):
            own = self.p[:, first]
            for second in range(first):
                roots = np.sqrt(self.weights[:, 0] * own * self.p[:, second])
                result[:, first, :, second] = result[:, second, :, first] = -_gram(X, roots)
            flattest = np.maximum(own * (1 - own), FLATTEST)
            result[:, first, :, first] = _gram(X, np.sqrt(self.weights[:, 0] * flattest))
        return result.reshape(n_features * n_classes, n_features * n_classes)

    def factors(self, X: Design) -> list[tuple[float, Design]]:
        """Return that of the bound."""
        return self.bound.factors(X)

    @property
    def bound(self) -> Diagonal:
        r"""Return at least the largest eigenvalue of diag(p) - pp'.

        It is at most the largest p, as the matrix is below diag(p), and at most :math:`2p(1 - p)` of it by
        Gershgorin's circles, where p is at least one half.
        """
        largest = self.p.max(axis=1)
        size = np.where(largest < 0.5, largest, 2 * largest * (1 - largest))
        return Diagonal(self.weights[:, 0] * np.maximum(size, FLATTEST))


def _gram(X: Design, roots: Floats) -> Floats:
    """Return X' diag(roots^2) X."""
    rooted = rows_scaled(X, roots)
    return np.asarray(rooted.T @ rooted)


class Poisson:
    r"""Negative log-likelihood of counts, :math:`\sum_i w_i (e^{\eta_i} - y_i \eta_i)`, less a constant.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Counts, or rates, of at least zero.
    weights : array of shape (n_samples,) or None, default=None
        What each sample counts.
    """

    has_intercept = True
    n_targets = 1

    def __init__(self, y: Floats, weights: Floats | None = None):
        self.y = np.asarray(y, dtype=np.float64).reshape(-1, 1)
        self.weights = weights_or_ones(weights, len(self.y))
        self.smallest = float((self.weights * (self.y - xlogy(self.y, self.y))).sum())

    def value(self, eta: Floats) -> float:
        """Return the negative log-likelihood; infinity where the rates leave the range of numbers."""
        with np.errstate(over="ignore"):
            return float((self.weights * (np.exp(eta) - self.y * eta)).sum())

    def gradient(self, eta: Floats) -> Floats:
        """Return the weighted rates, less the counts."""
        with np.errstate(over="ignore"):
            return np.asarray(self.weights * (np.exp(eta) - self.y))

    def curvature(self, eta: Floats) -> Diagonal:
        """Return the weighted rates."""
        with np.errstate(over="ignore"):
            return Diagonal((self.weights * np.maximum(np.exp(eta), FLATTEST))[:, 0])


class Cox:
    r"""Negative logarithm of the partial likelihood, with Breslow's rule for ties:

    .. math::

        \sum_{t} d_t \log \sum_{j: T_j \ge t} w_j e^{\eta_j} - \sum_{i: \delta_i = 1} w_i \eta_i

    over the times t of events, with :math:`d_t` the weight of the events at t.

    Samples are sorted once; sums over those at risk are then sums from each place to the end, in O(n). They
    are sums of logarithms, so that no predictions are too far apart for them. A constant that is added to all
    predictions changes nothing, so there is no intercept.

    Parameters
    ----------
    time : array of shape (n_samples,)
        When the event happened, or until when it had not (censored).
    event : array of bool of shape (n_samples,)
        Whether the event happened.
    weights : array of shape (n_samples,) or None, default=None
        What each sample counts.
    """

    has_intercept = False
    n_targets = 1

    def __init__(self, time: Floats, event: Array, weights: Floats | None = None):
        time = np.asarray(time, dtype=np.float64)
        self._order: Ints = np.argsort(time, kind="stable")
        self._back: Ints = np.argsort(self._order)
        self._weights = weights_or_ones(weights, len(time))[self._order, 0]
        time, happened = time[self._order], np.asarray(event, dtype=bool)[self._order]
        happened &= self._weights > 0
        self._events = np.where(happened, self._weights, 0.0)
        with np.errstate(divide="ignore"):
            self._log_weights = np.log(self._weights)
        moments, which = np.unique(time[happened], return_inverse=True)
        self._moments: Floats = moments
        self._deaths: Floats = np.zeros(len(moments))
        np.add.at(self._deaths, which, self._weights[happened])
        self.smallest = float(xlogy(self._deaths, self._deaths).sum())
        #: The first sample at risk at each time of an event, and how many such times a sample has seen.
        self._first: Ints = np.searchsorted(time, moments, side="left")
        self._seen: Ints = np.searchsorted(moments, time, side="right")

    def value(self, eta: Floats) -> float:
        """Return the negative logarithm of the partial likelihood."""
        sorted_eta = eta[self._order, 0]
        return float(self._deaths @ self._log_at_risk(sorted_eta) - self._events @ sorted_eta)

    def gradient(self, eta: Floats) -> Floats:
        """Return the expected less the observed events of each sample: its negative martingale residual."""
        return np.asarray((self._expected(eta) - self._events)[self._back, None])

    def curvature(self, eta: Floats) -> RiskSets:
        """Return the second derivative: of each event, the covariance among those at risk."""
        sorted_eta = eta[self._order, 0]
        hazard = self._weights * np.exp(sorted_eta - sorted_eta.max())
        return RiskSets(
            self._order, self._first, self._deaths, hazard, self._expected(eta), self._back, self._seen
        )

    def baseline(self, eta: Floats) -> tuple[Floats, Floats]:
        """Return the times of events, and Breslow's cumulative hazard of a prediction of zero."""
        hazards = np.exp(np.log(self._deaths) - self._log_at_risk(eta[self._order, 0]))
        return self._moments, np.cumsum(hazards)

    def _log_at_risk(self, sorted_eta: Floats) -> Floats:
        """Return the logarithm of the summed hazards of those at risk at each time of an event."""
        logs = (sorted_eta + self._log_weights)[::-1]
        return np.asarray(np.logaddexp.accumulate(logs)[::-1][self._first])

    def _expected(self, eta: Floats) -> Floats:
        """Return the events that each sample should have had by its time."""
        sorted_eta = eta[self._order, 0]
        passed = np.logaddexp.accumulate(np.log(self._deaths) - self._log_at_risk(sorted_eta))
        passed = np.concatenate([[-np.inf], passed])[self._seen]
        return np.asarray(np.exp(sorted_eta + self._log_weights + passed))


@dataclass(frozen=True)
class RiskSets:
    r"""H = :math:`\sum_t d_t (\mathrm{diag}(p_t) - p_t p_t')`, with p_t the shares of the hazard at t."""

    order: Ints
    first: Ints
    deaths: Floats
    hazard: Floats
    """Of each sample, up to a common factor; sorted by time, as is what follows."""
    expected: Floats
    back: Ints
    seen: Ints

    def gram(self, X: Design) -> Floats:
        """Return X'HX, features x features."""
        (_, spread), (_, shift) = self.factors(X)
        return np.asarray(spread.T @ spread - shift.T @ shift)

    def factors(self, X: Design) -> list[tuple[float, Design]]:
        """Return the rows of X by their expected events, less their means among those at risk.

        Where hazards are so far apart that those at risk have none beside the largest, the term of that time
        is left out: the gradient has it, and a step needs only a rough curvature.
        """
        F = dense(X)[self.order]
        at_risk = np.cumsum(self.hazard[::-1])[::-1][self.first]
        known = at_risk > SMALLEST
        share = np.divide(1.0, at_risk, out=np.zeros_like(at_risk), where=known)
        expected = self.hazard * np.concatenate([[0.0], np.cumsum(self.deaths * share)])[self.seen]
        sums = np.add.reduceat(self.hazard[:, None] * F, self.first, axis=0)
        means = np.cumsum(sums[::-1], axis=0)[::-1] * share[:, None]
        return [(1.0, np.sqrt(expected)[:, None] * F), (-1.0, np.sqrt(self.deaths)[:, None] * means)]

    @property
    def bound(self) -> Diagonal:
        """Return the expected events of each sample."""
        return Diagonal(np.maximum(self.expected, FLATTEST)[self.back])
