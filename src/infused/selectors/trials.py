"""Methods side by side in one cross-validation: which, and with how many features?"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from math import inf
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from infused._runtime.cluster import current_cluster
from infused._runtime.messages import reason
from infused._runtime.progress import Stage, reporting
from infused._runtime.tasks import each
from infused._typing import Array, Data, Floats, Ints, TargetKind
from infused.exceptions import InputError, Setting
from infused.selectors.costs import Clock, Probe, some_rows
from infused.selectors.groups import Groups
from infused.selectors.method import Method, methods_in
from infused.selectors.scoring import Scoring
from infused.selectors.tuning import (
    Fold,
    NumberCurve,
    Split,
    curve_of,
    references,
    scores_along,
)

__all__ = ["Contest", "Trial", "methods_of"]

WAITING, TRIED = "not reached", "tried"
JUDGING = 0.3  # of a budget, at most, for the models that judge one method
FEWEST_NUMBERS, FEW_SAMPLES = 4, 200
PROBING, PATIENCE = 0.4, 0.02  # of a budget, for all first estimates and for one of them
CAREFUL = 1.5  # times what a model took on few samples
MARGIN = 1.2  # times what a fold took, for the next one


@dataclass
class Trial:
    """One method with its parameters, and what came of it."""

    method: Method
    selector: Any
    """Not fitted; it ranks as many features as are needed."""
    curve: NumberCurve | None = None
    seconds: float = 0.0
    fit_seconds: float = 0.0
    """Of the slowest ranking of a fold."""
    probe: Probe | None = None
    """How long it will take, where time is limited."""
    status: str = WAITING


@dataclass
class Contest:
    """Methods on the same folds, the quickest first where time is limited."""

    X: Data
    y: Array
    variables: Groups
    splits: Sequence[Split]
    grid: Ints
    kind: TargetKind
    scoring: Scoring
    clock: Clock
    refit: float = 1.25
    """How many times longer a fit on all samples takes than one on a training part."""
    trials: list[Trial] = field(default_factory=list)
    n_samples: int | None = None
    """How many the methods were tried on, where time did not suffice for all."""

    def run(self, trials: list[Trial]) -> None:
        """Try one method after the other, as long as there is time; the first is tried in any case."""
        stage = Stage(None, "trying methods", len(trials) * len(self.splits))
        with warnings.catch_warnings(), reporting(None):
            warnings.simplefilter("ignore")  # what matters is said of the fit on all data
            if self.clock.limited:
                self._probe(trials)
                self._thin_out()
            self.trials = sorted(trials, key=lambda one: inf if one.probe is None else one.probe.seconds)
            beside = [self._beside(split) for split in self.splits]
            for one in self.trials:
                if one.status == WAITING:
                    self._try(one, beside, stage)

    def chosen(self, rule: str) -> tuple[Trial, int]:
        """The method and the number: the best mean, or the smallest within one standard error of it."""
        tried = [one for one in self.trials if one.curve is not None]
        if not tried:
            raise InputError(f"no method could be tried: {self.trials[0].method} {self.trials[0].status}")
        rows = [
            (mean, error, k, -place)
            for place, one in enumerate(tried)
            if one.curve is not None
            for mean, error, k in zip(one.curve.means, one.curve.errors, one.curve.ks, strict=True)
        ]
        best = max(rows, key=lambda row: (row[0], -row[2], row[3]))
        if rule == "one-standard-error":
            enough = [row for row in rows if row[0] >= best[0] - best[1]]
            best = min(enough, key=lambda row: (row[2], -row[0], -row[3]))
        return tried[-best[3]], best[2]

    def _fold(self, split: Split) -> Fold:
        train, test = split
        X, y = self.X, self.y
        return Fold(X[train], y[train], X[test], y[test], self.variables.in_order)

    def _beside(self, split: Split) -> tuple[float, float]:
        """The references of a fold; all features together are left out where time is limited."""
        fold = self._fold(split)
        if self.clock.limited:
            none = np.zeros((len(fold.y), 1)), np.zeros((len(fold.y_test), 1))
            fold = replace(fold, X=none[0], X_test=none[1])
            return references(fold, self.kind, self.scoring)[0], float("nan")
        return references(fold, self.kind, self.scoring)

    def _probe(self, trials: list[Trial]) -> None:
        """A first estimate for every method, or why there is none."""
        train = self.splits[-1][0]
        X, y = self.X[train], self.y[train]
        for one in trials:
            if one is not trials[0] and self.clock.spent() > PROBING * self.clock.budget:
                one.status = "left out: there was no time for it"
            if one.status == WAITING:
                try:
                    one.probe = Probe(one.selector, X, y, PATIENCE * self.clock.budget)
                except (ValueError, ArithmeticError) as error:
                    one.status = f"failed: {reason(error)}"

    def _thin_out(self) -> None:
        """Fewer numbers, then fewer samples, where the models that judge would take too much of the time."""
        n_train = max(len(train) for train, _ in self.splits)
        few = min(n_train, FEW_SAMPLES)
        rows = some_rows(self.y, few)
        fold = self._fold((rows, rows))
        order = np.arange(min(int(self.grid[-1]), len(self.variables)))
        start = perf_counter()
        scores_along(order, fold, self.grid[-1:], self.kind, self.scoring)
        of_sample = CAREFUL * (perf_counter() - start) / few
        allowed = JUDGING * self.clock.budget / len(self.splits)
        while of_sample * n_train * self.grid.sum() / self.grid[-1] > allowed:
            if len(self.grid) > FEWEST_NUMBERS:
                self.grid = np.union1d(self.grid[::-2], self.grid[:1])
            elif n_train > FEW_SAMPLES:
                n_train = self._halve()
            else:
                break

    def _halve(self) -> int:
        """Take every second sample out of all folds; how many train then."""
        stays = np.zeros(len(self.y), dtype=bool)
        own = np.unique(np.concatenate([part for split in self.splits for part in split]))
        stays[own[some_rows(self.y[own], len(own) // 2)]] = True
        self.splits = [(train[stays[train]], test[stays[test]]) for train, test in self.splits]
        self.n_samples = int(stays.sum())
        return max(len(train) for train, _ in self.splits)

    def _try(self, one: Trial, beside: list[tuple[float, float]], stage: Stage) -> None:
        first = not any(other.curve is not None for other in self.trials)
        start = perf_counter()
        n_fits = len(self.splits) + self.refit
        try:
            if one.probe is not None and not first and not one.probe.fits_in(n_fits, self.clock):
                left = max(self.clock.left(), 0.0)
                one.status = f"left out: by its estimate it takes longer than the {left:.1f} s that were left"
                return
            scores = self._scores(one, stage, first)
            if scores is not None:
                one.curve, one.status = curve_of(scores, self.grid, beside, self.scoring), TRIED
        except (ValueError, ArithmeticError, MemoryError) as error:
            one.status = f"failed: {reason(error)}"
        finally:
            one.seconds = perf_counter() - start

    def _scores(self, one: Trial, stage: Stage, first: bool) -> Floats | None:
        """folds x numbers; None where the time did not suffice."""
        scores, longest = np.empty((len(self.splits), len(self.grid))), 0.0
        how = one.selector, self.grid, self.kind, self.scoring
        folds = (self._fold(split) for split in self.splits)
        # Without a limit folds may run side by side, on a cluster; else each waits for the clock.
        done = each(_on_fold, folds, *how) if self._together() else (_on_fold(*how, fold) for fold in folds)
        with closing(done):
            for n in range(len(self.splits)):
                to_come = MARGIN * longest * (len(self.splits) - n) + self._reserve(one)
                if n and not first and to_come > self.clock.left():
                    one.status = f"stopped after {n} of {len(self.splits)} folds: the time was up"
                    return None
                scores[n], fitting, seconds = next(done)
                one.fit_seconds, longest = max(one.fit_seconds, fitting), max(longest, seconds)
                stage.advance()
        return scores

    def _together(self) -> bool:
        return current_cluster() is not None and not self.clock.limited

    def _reserve(self, one: Trial) -> float:
        """Seconds for the fit on all samples of whichever may be chosen."""
        able = [other.fit_seconds for other in self.trials if other.curve is not None]
        return self.refit * MARGIN * max([one.fit_seconds, *able])


def _on_fold(
    selector: Any, grid: Ints, kind: TargetKind, scoring: Scoring, fold: Fold
) -> tuple[Floats, float, float]:
    """The scores of each number of features; seconds of the fit, and of all."""
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(selector).fit(fold.X, fold.y)
        fitting = perf_counter() - start
        order = np.argsort(fitted.ranking_, kind="stable")[: grid[-1]]
        return scores_along(order, fold, grid, kind, scoring), fitting, perf_counter() - start


def methods_of(methods: Any) -> list[Method]:
    """Return the methods to choose among, checked."""
    unique = methods_in(methods)
    if not unique:
        raise InputError(Setting("methods"), " names no method")
    for one in unique:
        one.check()
        if "auto" in (one.id, str(one.parameters.get("selector")).partition(":")[0]):
            raise InputError(Setting("methods"), f" has {one}, but auto cannot choose among choices")
    return unique
