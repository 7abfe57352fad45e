"""Half-samples, how often each feature is selected on them, and the bounds on false features."""

from __future__ import annotations

import warnings
from contextlib import closing
from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil, sqrt
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy.optimize import brentq
from sklearn import config_context
from sklearn.base import clone

from infused._runtime.messages import reason
from infused._runtime.progress import Stage, reporting
from infused._runtime.tasks import each
from infused._runtime.threads import one_blas_thread
from infused._typing import Array, Data, Floats, Ints
from infused.datafits import SURVIVAL
from infused.exceptions import InputError
from infused.selectors.inputs.groups import Groups


class Pair(NamedTuple):
    """What was chosen in the two halves of a pair."""

    halves: list[tuple[Array, Ints | None]]
    """The mask and the ranking of each."""
    failure: str
    """Why one of them could not be fitted; empty where both were."""
    complaints: list[str]
    """What the fits warned of."""


@dataclass
class Halves:
    """What was chosen in the halves of the samples, counted by variable."""

    numbers: Ints
    """For which the path is counted."""
    chosen: Ints
    """In how many halves."""
    first: Ints
    """In how many halves among the first of the ranking; numbers x variables."""
    rank_sums: Floats
    """Sums of the ranks, or of zeros where the selector does not rank."""
    n_pairs: int = 0
    """Pairs that count: both their halves were fitted."""
    n_chosen: int = 0
    """Variables that were chosen, over all halves."""
    ranked: bool = True
    """Whether all halves have a ranking."""
    failures: list[str] = field(default_factory=list)
    """Why pairs do not count."""
    complaints: list[str] = field(default_factory=list)
    """What fits warned of."""

    @classmethod
    def none(cls, n_variables: int, numbers: Ints) -> Halves:
        """Start with nothing counted."""
        first = np.zeros((len(numbers), n_variables), np.int64)
        return cls(numbers, np.zeros(n_variables, np.int64), first, np.zeros(n_variables))

    def add(self, pair: Pair) -> None:
        """Count both halves of a pair, or why it does not count."""
        self.complaints += pair.complaints
        if pair.failure:
            self.failures.append(pair.failure)
            return
        self.n_pairs += 1
        for mask, ranking in pair.halves:
            self.chosen += mask
            self.n_chosen += int(mask.sum())
            if ranking is None:
                self.ranked = False
            else:
                self.rank_sums += ranking
                self.first += ranking <= self.numbers[:, None]

    @property
    def frequencies(self) -> Floats:
        """Return the selection frequencies."""
        return np.asarray(self.chosen / (2 * self.n_pairs))

    @property
    def path(self) -> Floats:
        """Return the share of the halves in which a variable is among the first; numbers x variables."""
        return np.asarray(self.first / (2 * self.n_pairs))

    @property
    def number(self) -> float:
        """Return how many variables a half selected, on average."""
        return self.n_chosen / (2 * self.n_pairs)


def complementary_halves(y: Array, real: bool, seed: int) -> tuple[Ints, Ints]:
    """Split the samples in two halves of equal size, with equal shares of every class, or of events."""
    random = np.random.default_rng(seed)
    if y.dtype == SURVIVAL:
        y, real = y["event"], False
    codes = np.zeros(len(y), np.int64) if real else np.unique(y, return_inverse=True)[1].ravel()
    first, second, left = [], [], []
    for code in range(codes.max() + 1):
        rows = random.permutation(np.flatnonzero(codes == code))
        half = len(rows) // 2
        first.append(rows[:half])
        second.append(rows[half : 2 * half])
        left.append(rows[2 * half :])
    odd = random.permutation(np.concatenate(left))  # one of each class with an odd number
    half = len(odd) // 2
    first.append(odd[:half])
    second.append(odd[half : 2 * half])
    return np.sort(np.concatenate(first)), np.sort(np.concatenate(second))


def select_in_halves(
    selector: Any,
    X: Data,
    y: Array,
    variables: Groups,
    *,
    real: bool,
    seeds: Ints,
    numbers: Ints,
    n_jobs: int | None = None,
) -> Halves:
    """Fit a copy of the selector on both halves of a pair for every seed.

    X and y were checked, once for all. Every fit has one thread for linear algebra, whatever the number of
    jobs, so that they share the cores, and that the result is the same to the last bit.
    """
    stage = Stage(None, "selecting in halves of the samples", len(seeds))
    found = Halves.none(len(variables), numbers)
    pairs = each(_pair, seeds.tolist(), selector, X, y, variables, real, n_jobs=n_jobs)
    with reporting(None), closing(pairs):
        for pair in pairs:
            found.add(pair)
            stage.advance()
    if not found.n_pairs:
        raise InputError(f"no pair of halves could be used: {found.failures[0]}")
    return found


def _pair(selector: Any, X: Data, y: Array, variables: Groups, real: bool, seed: int) -> Pair:
    """Fit the selector on both halves of a pair; return what they select, or why one of them failed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        try:
            with one_blas_thread(), config_context(assume_finite=True):
                halves = [
                    _chosen(_seeded(selector, seed + n).fit(X[rows], y[rows]), variables)
                    for n, rows in enumerate(complementary_halves(y, real, seed))
                ]
        except (ValueError, ArithmeticError) as error:
            return Pair([], reason(error), [])
    return Pair(halves, "", [str(one.message) for one in caught])


def _seeded(selector: Any, seed: int) -> Any:
    """Copy the selector with another seed: what depends on a seed and not on the data is not stable."""
    copy = clone(selector)
    return copy.set_params(random_state=seed) if "random_state" in copy.get_params(deep=False) else copy


def _chosen(fitted: Any, variables: Groups) -> tuple[Array, Ints | None]:
    """Return the mask of the selected variables, and their ranking where all are ranked."""
    support = np.asarray(fitted.get_support(), dtype=bool)
    mask = np.bincount(variables.codes[support], minlength=len(variables)) > 0
    ranking = np.asarray(getattr(fitted, "ranking_", ()))
    strict = ranking.shape == mask.shape and len(np.unique(ranking)) == len(mask)
    return mask, ranking if strict else None


Bound = Literal["r-concave", "unimodal", "worst-case"]
BOUNDS: tuple[Bound, ...] = get_args(Bound)

GRID, ZOOMS = 200, 4  # values of a, and how often their range is narrowed
WIDEST = (-30.0, 30.0)  # logarithms of a: from all mass at zero to a uniform distribution
DIGITS = 10  # a threshold of 0.6 is 60 of 100 halves, though its float is a little more


def expected_false(q: float, threshold: float, p: int, n_pairs: int, bound: Bound = "r-concave") -> float:
    """Bound the expected number of falsely selected features; never above the worst-case bound."""
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
    """Find the smallest threshold above one half that keeps the bound; None where there is none."""
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
    """Find the largest number per half-sample that keeps the bound; None where one is too many."""
    low, high = 0, p  # bounds rise with q
    while low < high:
        middle = (low + high + 1) // 2
        if expected_false(middle, threshold, p, n_pairs, bound) <= max_false:
            low = middle
        else:
            high = middle - 1
    return low or None


def _unimodal(theta: float, threshold: float, n_pairs: int) -> float:
    """Return C(tau, B) of Theorem 2; infinite where the theorem says nothing."""
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
    r"""Maximise :math:`P(X \ge t/n)` over r-concave X on :math:`\{0, 1/n, \ldots, 1\}` of mean eta or less.

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
    """Find log a for which masses at 0, ..., k have this mean."""

    def excess(log_a: float) -> float:
        masses = (1 + np.arange(k + 1) / np.exp(log_a)) ** s
        return float((np.arange(k + 1) * masses).sum() / masses.sum() - mean)

    low, high = WIDEST
    if excess(high) <= 0:
        return high
    return low if excess(low) >= 0 else float(brentq(excess, low, high, xtol=1e-13))


def _tails(a: Floats, t: int, n: int, mean: float, s: float) -> Floats:
    """Compute P(X >= t) for each a; zero where no k fits."""
    places = np.arange(n + 1)
    masses = (1 + places / a[:, None]) ** s
    whole, first = masses.cumsum(axis=1), (masses * places).cumsum(axis=1)
    k = (first <= mean * whole).sum(axis=1) - 1  # the means rise with k
    k = np.clip(k, t - 1, n - 1)  # rounding at the ends
    rows = np.arange(len(a))
    scale = (k + 1 - mean) / ((k + 1) * whole[rows, k] - first[rows, k])
    return np.asarray(1 - scale * whole[rows, t - 1])
