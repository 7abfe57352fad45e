"""From fits to a ranking of all features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infused._runtime.progress import Stage
from infused._typing import Floats, Ints
from infused.selectors.base import ranks
from infused.selectors.model import Fit, SparseModel
from infused.solvers.result import SolverResult

__all__ = ["Lambdas", "Ranked", "rank_by_coefficient", "rank_by_path", "rank_recursively"]

MANY_FEATURES = 1100
KEEP, KEEP_OF_MANY = 0.7, 0.5
ROUGH = 1e-3  # rounds that only drop features need no more than this
PATH_LENGTH = 30


@dataclass(frozen=True)
class Lambdas:
    """lambda1 and lambda2, as numbers or as fractions of the largest lambda1 that the data allow."""

    first: float
    second: float
    relative: bool

    def scaled_to(self, model: SparseModel) -> tuple[float, float]:
        """Both as numbers, for one model."""
        scale = model.largest_lambda1() if self.relative else 1.0
        return self.first * scale, self.second * scale


@dataclass(frozen=True)
class Ranked:
    """Scores and ranks of all features, and the solutions behind them."""

    scores: Floats
    ranking: Ints
    coef: Floats
    """Coefficients of the last fit, features x targets; zero for features that had left by then."""
    first: SolverResult
    """The fit on all features."""
    last: SolverResult
    n_iter: int


def rank(model: SparseModel, lambdas: Lambdas, ranking: str, k: int | None) -> Ranked:
    """Rank by the rule that was asked for; without a number of features, by one fit."""
    if k is None or ranking == "coefficient":
        return rank_by_coefficient(model, lambdas)
    if ranking == "path":
        return rank_by_path(model, lambdas)
    return rank_recursively(model, lambdas, k)


def rank_by_coefficient(model: SparseModel, lambdas: Lambdas, stop_early: bool = True) -> Ranked:
    """One fit; features by the length of their row, those at zero by their correlation with the residual."""
    fit = model.fit(*lambdas.scaled_to(model), stop_early=stop_early)
    ranking = ranks(fit.scores, fit.leftover)
    return Ranked(fit.scores, ranking, fit.result.coef, fit.result, fit.result, fit.result.n_iter)


def rank_recursively(model: SparseModel, lambdas: Lambdas, k: int) -> Ranked:
    """Fit, keep the best part, fit again, until k features remain.

    A score is the number of rounds that a feature survived, plus its share of the largest row in the last of
    them: it orders features as the ranking does.
    """
    remaining = np.arange(model.n_features)
    scores, tie_breaks = np.zeros(model.n_features), np.zeros(model.n_features)
    first, n_iter, survived = None, 0, 0
    stage = Stage(None, "ranking features", sum(_sizes(model.n_features, k)))
    while True:
        last_round = len(remaining) == k
        part = model if len(remaining) == model.n_features else model.restricted(remaining)
        tol = model.tol if last_round or first is None else max(model.tol, ROUGH)
        fit = part.fit(*lambdas.scaled_to(part), tol=tol)
        first = first or fit.result
        n_iter += fit.result.n_iter
        stage.advance(len(remaining))
        scores[remaining] = survived + _share(fit.scores)
        tie_breaks[remaining] = fit.leftover
        if last_round:
            break
        best = np.argsort(ranks(fit.scores, fit.leftover))[: next_size(len(remaining), k)]
        remaining = remaining[np.sort(best)]
        survived += 1
    coef = np.zeros((model.n_features, model.Y.shape[1]))
    coef[remaining] = fit.result.coef
    return Ranked(scores, ranks(scores, tie_breaks), coef, first, fit.result, n_iter)


def rank_by_path(model: SparseModel, lambdas: Lambdas) -> Ranked:
    """Features in the order in which they enter as lambda1 falls; those that never do, as by coefficient."""
    lambda1, lambda2 = lambdas.scaled_to(model)
    grid = path_grid(model.largest_lambda1(), lambda1, PATH_LENGTH)
    scores = np.zeros(model.n_features)
    fits = fit_path(model, grid, lambda2)
    for place, fit in enumerate(fits):
        entered = (scores == 0) & (fit.scores > 0)
        scores[entered] = len(grid) - place
    last = fits[-1]
    scores[scores > 0] += _share(last.scores)[scores > 0]
    ranking = ranks(scores, last.leftover)
    return Ranked(
        scores, ranking, last.result.coef, last.result, last.result, sum(f.result.n_iter for f in fits)
    )


def fit_path(model: SparseModel, grid: Floats, lambda2: float) -> list[Fit]:
    """One fit for each lambda1, each started where the last one ended."""
    fits: list[Fit] = []
    stage = Stage(None, "following the path", len(grid))
    for lambda1 in grid:
        fits.append(model.fit(float(lambda1), lambda2, start=fits[-1].result if fits else None))
        stage.advance()
    return fits


def path_grid(largest: float, smallest: float, length: int) -> Floats:
    """lambda1 from where no feature is needed down to ``smallest``, evenly in its logarithm."""
    if not 0 < smallest < largest:
        return np.array([max(smallest, 0.0)])
    return np.asarray(np.geomspace(largest, smallest, length))


def next_size(n: int, k: int) -> int:
    """How many features the next round keeps: always fewer, never less than k."""
    kept = int(np.ceil(n * (KEEP_OF_MANY if n > MANY_FEATURES else KEEP)))
    return max(k, min(kept, n - 1))


def _sizes(n: int, k: int) -> list[int]:
    """How many features each round has: a round costs about as much as it has features."""
    sizes = [n]
    while sizes[-1] > k:
        sizes.append(next_size(sizes[-1], k))
    return sizes


def _share(scores: Floats) -> Floats:
    """Scores as shares of the largest, a little below one."""
    largest = scores.max(initial=0.0)
    return scores / largest * (1 - 2.0**-20) if largest > 0 else scores
