"""Complementary halves of the samples, and what a selector chooses in each of them."""

from __future__ import annotations

import warnings
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn import config_context
from sklearn.base import clone

from infused._runtime.messages import reason
from infused._runtime.progress import Stage, reporting
from infused._runtime.tasks import each
from infused._runtime.threads import one_blas_thread
from infused._typing import Array, Data, Floats, Ints
from infused.exceptions import InputError
from infused.selectors.groups import Groups

__all__ = ["Halves", "complementary_halves", "select_in_halves"]


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
        """Nothing counted yet."""
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
        """Shares of the halves."""
        return np.asarray(self.chosen / (2 * self.n_pairs))

    @property
    def path(self) -> Floats:
        """Shares of the halves in which a variable is among the first; numbers x variables."""
        return np.asarray(self.first / (2 * self.n_pairs))

    @property
    def number(self) -> float:
        """How many a half chose, on average."""
        return self.n_chosen / (2 * self.n_pairs)


def complementary_halves(y: Array, real: bool, seed: int) -> tuple[Ints, Ints]:
    """Two halves without a common sample, of equal size, with equal shares of every class."""
    random = np.random.default_rng(seed)
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
    """What is chosen in both halves of a pair, or why it could not be."""
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
    """A copy that draws anew: what hangs on a seed and not on the data is not stable."""
    copy = clone(selector)
    return copy.set_params(random_state=seed) if "random_state" in copy.get_params(deep=False) else copy


def _chosen(fitted: Any, variables: Groups) -> tuple[Array, Ints | None]:
    """The mask of the chosen variables, and their ranking where all are ranked."""
    support = np.asarray(fitted.get_support(), dtype=bool)
    mask = np.bincount(variables.codes[support], minlength=len(variables)) > 0
    ranking = np.asarray(getattr(fitted, "ranking_", ()))
    strict = ranking.shape == mask.shape and len(np.unique(ranking)) == len(mask)
    return mask, ranking if strict else None
