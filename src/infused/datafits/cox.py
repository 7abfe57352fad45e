"""Cox's proportional hazards, for the time until an event."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infused._design import Design, dense
from infused._typing import Array, Floats, Ints
from infused.datafits.curvature import Diagonal, weights_or_ones

SMALLEST = 1e-250  # of what is left at risk, as a share of the largest hazard
FLATTEST = 1e-10  # curvature of a sample of which no event is expected


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
        time, happened = time[self._order], np.asarray(event, dtype=bool)[self._order]
        self._weights = weights_or_ones(weights, len(time))[self._order, 0]
        self._events = np.where(happened, self._weights, 0.0)
        with np.errstate(divide="ignore"):
            self._log_weights = np.log(self._weights)
        moments, which = np.unique(time[happened], return_inverse=True)
        self._deaths: Floats = np.zeros(len(moments))
        np.add.at(self._deaths, which, self._weights[happened])
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
        """Return X'HX, features x features.

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
        spread, shift = np.sqrt(expected)[:, None] * F, np.sqrt(self.deaths)[:, None] * means
        return np.asarray(spread.T @ spread - shift.T @ shift)

    @property
    def bound(self) -> Diagonal:
        """Return the expected events of each sample."""
        return Diagonal(np.maximum(self.expected, FLATTEST)[self.back])
