r"""How many false features stability selection lets through, at most and on average.

A half of the samples selects q of p features on average, and features that at least a share :math:`\tau` of
the halves agree on are selected. With :math:`\theta = q/p`, the expected number of selected features that a
half selects with probability :math:`\theta` or less (features at random, or worse) is at most

* worst case (Meinshausen and Bühlmann 2010; Shah and Samworth 2013, without their exchangeability):
  :math:`\theta q / (2\tau - 1)`;
* unimodal (Shah and Samworth, Theorem 2): :math:`C(\tau, B)\,\theta q`;
* r-concave (Shah and Samworth, Section 3.3):
  :math:`p \min\{D(\theta^2, 2\tau - 1, B, -\tfrac12), D(\theta, \tau, 2B, -\tfrac14)\}`, where
  :math:`D(\eta, t, B, r)` is the largest :math:`P(X \ge t)` of r-concave X on
  :math:`\{0, 1/B, \ldots, 1\}` with mean :math:`\eta` or less.

The assumptions are on the distribution of how often a feature is selected, over pairs of halves.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, sqrt
from typing import Literal, get_args

import numpy as np
from scipy.optimize import brentq

from infused._typing import Floats

__all__ = ["BOUNDS", "Bound", "expected_false", "largest_number", "smallest_threshold", "tail_of_r_concave"]

Bound = Literal["r-concave", "unimodal", "worst-case"]
BOUNDS: tuple[Bound, ...] = get_args(Bound)

GRID, ZOOMS = 200, 4  # values of a, and how often their range is narrowed
WIDEST = (-30.0, 30.0)  # logarithms of a: from all mass at zero to a uniform distribution
DIGITS = 10  # a threshold of 0.6 is 60 of 100 halves, though its float is a little more


def expected_false(q: float, threshold: float, p: int, n_pairs: int, bound: Bound = "r-concave") -> float:
    """The bound on the expected number of false features; never above that of the worst case."""
    if q <= 0 or p <= 0:
        return 0.0
    theta = min(q / p, 1.0)
    known = [float(p), q / threshold]  # all frequencies add up to q
    if threshold > 0.5:
        known.append(theta * q / (2 * threshold - 1))
        if bound == "unimodal":
            known.append(_unimodal(theta, threshold, n_pairs) * theta * q)
    if bound == "r-concave":
        known.append(p * _r_concave(theta, threshold, n_pairs))
    return min(known)


def smallest_threshold(q: float, max_false: float, p: int, n_pairs: int, bound: Bound) -> float | None:
    """The smallest threshold above one half with which no more are expected; None where there is none."""
    steps = np.arange(n_pairs + 1, 2 * n_pairs + 1)  # bounds fall as it rises
    low, high = 0, len(steps)
    while low < high:
        middle = (low + high) // 2
        if expected_false(q, steps[middle] / (2 * n_pairs), p, n_pairs, bound) <= max_false:
            high = middle
        else:
            low = middle + 1
    return None if low == len(steps) else float(steps[low] / (2 * n_pairs))


def largest_number(threshold: float, max_false: float, p: int, n_pairs: int, bound: Bound) -> int | None:
    """The largest number per half with which no more are expected; None where one is too many."""
    low, high = 0, p  # bounds rise with q
    while low < high:
        middle = (low + high + 1) // 2
        if expected_false(middle, threshold, p, n_pairs, bound) <= max_false:
            low = middle
        else:
            high = middle - 1
    return low or None


def _unimodal(theta: float, threshold: float, n_pairs: int) -> float:
    """C(tau, B) of Theorem 2; infinite where it says nothing."""
    B = n_pairs
    if theta > 1 / sqrt(3):
        return float("inf")
    if threshold > 0.75:
        return 4 * (1 - threshold + 1 / (2 * B)) / (1 + 1 / B)
    if threshold <= min(0.5 + theta**2, 0.5 + 1 / (2 * B) + 0.75 * theta**2):
        return float("inf")
    room = 2 * threshold - 1 - 1 / (2 * B)
    return 1 / (2 * room) if room > 0 else float("inf")


def _r_concave(theta: float, threshold: float, n_pairs: int) -> float:
    halves = ceil(round(2 * n_pairs * threshold, DIGITS))
    together = halves - n_pairs  # of the pairs of which both halves select
    both = tail_of_r_concave(theta**2, together, n_pairs, -0.5) if together > 0 else 1.0
    return min(both, tail_of_r_concave(theta, halves, 2 * n_pairs, -0.25))


@lru_cache(maxsize=4096)
def tail_of_r_concave(eta: float, t: int, n: int, r: float) -> float:
    r"""The largest :math:`P(X \ge t/n)` of r-concave X on :math:`\{0, 1/n, \ldots, 1\}` of mean eta or less.

    The largest is reached by masses proportional to :math:`(a + i)^{1/r}` at i = 0, ..., k, and what the mean
    leaves, at most as much, at k + 1 (Shah and Samworth, Appendix). Every a has one such k, so there is one
    number to search for. Where t is not well above the mean the bound is one.
    """
    mean, s = eta * n, 1 / r
    if t < ceil(2 * mean) + 1:
        return 1.0
    # The larger a, the flatter the masses, and the fewer of them have that mean: k from t - 1 to n - 1.
    low, high = _log_a(n, mean, s), _log_a(t - 1, mean, s)
    best = 0.0
    for _ in range(ZOOMS):
        logs = np.linspace(low, high, GRID)
        tails = _tails(np.exp(logs), t, n, mean, s)
        at = int(tails.argmax())
        best = max(best, float(tails[at]))
        low, high = logs[max(at - 2, 0)], logs[min(at + 2, GRID - 1)]
    return min(best, 1.0)


def _log_a(k: int, mean: float, s: float) -> float:
    """Where masses at 0, ..., k have this mean."""

    def excess(log_a: float) -> float:
        masses = (1 + np.arange(k + 1) / np.exp(log_a)) ** s
        return float((np.arange(k + 1) * masses).sum() / masses.sum() - mean)

    low, high = WIDEST
    if excess(high) <= 0:
        return high
    return low if excess(low) >= 0 else float(brentq(excess, low, high, xtol=1e-13))


def _tails(a: Floats, t: int, n: int, mean: float, s: float) -> Floats:
    """P(X >= t) for each a; zero where no k fits."""
    places = np.arange(n + 1)
    masses = (1 + places / a[:, None]) ** s
    whole, first = masses.cumsum(axis=1), (masses * places).cumsum(axis=1)
    k = (first <= mean * whole).sum(axis=1) - 1  # the means rise with k
    k = np.clip(k, t - 1, n - 1)  # rounding at the ends
    rows = np.arange(len(a))
    scale = (k + 1 - mean) / ((k + 1) * whole[rows, k] - first[rows, k])
    return np.asarray(1 - scale * whole[rows, t - 1])
