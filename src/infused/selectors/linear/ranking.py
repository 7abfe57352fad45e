"""From fits to a ranking of all features, with those that are always kept."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from infused._design import Design, dense
from infused._runtime.progress import Stage
from infused._typing import Floats, Ints
from infused.exceptions import InputError, Setting
from infused.selectors.base import ahead, ranks
from infused.selectors.greedy.search import ForwardSearch
from infused.selectors.inputs.training import LARGEST_WEIGHT, left_over, mean_square
from infused.selectors.linear.model import Fit, SparseModel
from infused.solvers.result import SolverResult

MANY, FEW = 1100, 250  # variables
KEEP_OF_MANY, KEEP, KEEP_OF_FEW = 0.5, 0.7, 0.8  # the share that a round keeps
ROUGH = 1e-3  # rounds that only drop features need no more than this
PATH_LENGTH = 30
FORWARD_RIDGE = 0.1  # as a share of the mean squared length of a feature


@dataclass(frozen=True)
class Lambdas:
    """lambda1 and lambda2, as numbers or as fractions of the largest lambda1 that the data allow."""

    first: float
    second: float
    relative: bool

    def scaled_to(self, model: SparseModel) -> tuple[float, float]:
        """Both as numbers, for one model."""
        scale = model.largest_lambda1() if self.relative else 1.0
        both = self.first * scale, self.second * scale
        for name, weight in zip(("lambda1", "lambda2"), both, strict=True):
            if not weight <= LARGEST_WEIGHT:
                raise InputError(
                    f"the weight of a penalty would be {weight:.3g} on these data, too large to solve: "
                    "lower ",
                    Setting(name),
                )
        return both


@dataclass(frozen=True)
class Ranked:
    """Scores and ranks of all variables (features, or groups of them), and the solutions behind them."""

    scores: Floats
    ranking: Ints
    coef: Floats
    """Coefficients of the last fit, features x targets; zero for features that had left by then."""
    first: SolverResult
    """The fit on all features."""
    last: SolverResult
    n_iter: int
    n_left: int = 0
    """Variables that were left after the last round."""


def rank(model: SparseModel, lambdas: Lambdas, ranking: str, k: int | None) -> Ranked:
    """Rank by the rule that was asked for; without a number of features, by one fit."""
    if k is None or ranking == "coefficient":
        return rank_by_coefficient(model, lambdas)
    if ranking == "path":
        return rank_by_path(model, lambdas)
    ranked = rank_by_rounds(model, lambdas, 1 if ranking == "recursive" else FEW)
    if ranking == "forward":
        ranked = reorder_forward(model, ranked)
    return refit_first(model, lambdas, ranked, k)


def behind(early: Ranked, model: SparseModel, variables: Ints, ranked: Ranked) -> Ranked:
    """The ranking of some variables, with all others behind them as they stood in an earlier one."""
    scores, ranking, coef = early.scores.copy(), early.ranking.copy(), np.zeros_like(early.coef)
    scores[variables] = np.floor(early.scores[variables].min(initial=0.0)) + ranked.scores
    ranking[variables] = ranked.ranking
    coef[model.features(variables)] = ranked.coef
    n_iter = early.n_iter + ranked.n_iter
    return Ranked(scores, ranking, coef, early.first, ranked.last, n_iter)


def rank_by_coefficient(model: SparseModel, lambdas: Lambdas, stop_early: bool = True) -> Ranked:
    """One fit; variables by the length of their rows, those at zero by what they have of the residual."""
    fit = model.fit(*lambdas.scaled_to(model), stop_early=stop_early, certain=stop_early)
    ranking = ranks(fit.scores, fit.leftover)
    return Ranked(fit.scores, ranking, fit.result.coef, fit.result, fit.result, fit.result.n_iter)


def rank_by_rounds(model: SparseModel, lambdas: Lambdas, down_to: int) -> Ranked:
    """Rank by recursive elimination: fit, keep the best part by its coefficients, fit again.

    Variables without a coefficient follow by their share of the residual. It ends when at most ``down_to``
    variables are left. The rounds depend on the number of variables alone, never on how many are wanted, so
    that the first k are the first of every longer selection. A score is the number of rounds that a variable
    survived, and the size of its coefficients in the last of them as a share of the largest.
    """
    sizes = round_sizes(model.n_variables, down_to)
    stage = Stage(None, "ranking features", sum(sizes))
    remaining = np.arange(model.n_variables)
    scores, tie_breaks = np.zeros(model.n_variables), np.zeros(model.n_variables)
    cuts: list[int | None] = [*sizes[1:], None]
    first_lambda, lambda2 = lambdas.scaled_to(model)
    fit = model.fit(first_lambda, lambda2, certain=True, cut=cuts[0], ordered=_is_ordered(cuts[0]))
    first, n_iter = fit.result, fit.result.n_iter
    part = model
    for survived, size in enumerate(sizes):
        if survived:
            best = np.sort(np.argsort(ranks(fit.scores, fit.leftover))[:size])
            remaining, features = remaining[best], part.features(best)
            smaller = part.restricted(features)
            start, known = part.carried_over(fit, features, smaller)
            part = smaller
            lambda1, lambda2 = lambdas.scaled_to(part)
            fit = part.fit(
                lambda1,
                lambda2,
                tol=max(model.tol, ROUGH),
                start=start,
                certain=True,
                cut=cuts[survived],
                ordered=_is_ordered(cuts[survived]),
                known=known if np.isclose(lambda1, first_lambda, rtol=1e-9, atol=0) else None,
            )
            n_iter += fit.result.n_iter
        stage.advance(size)
        scores[remaining] = survived + _share(fit.scores)
        tie_breaks[remaining] = fit.leftover
    coef = np.zeros_like(first.coef)
    coef[model.features(remaining)] = fit.result.coef
    return Ranked(scores, ranks(scores, tie_breaks), coef, first, fit.result, n_iter, sizes[-1])


def reorder_forward(model: SparseModel, rounds: Ranked) -> Ranked:
    """Order the variables that the last round needs by forward selection, before all others.

    Each is the one that lowers a ridge regression most, given those before it. Its score is one round more
    than the last, and the share of the target that was still to be explained.
    """
    left = np.flatnonzero(rounds.ranking <= rounds.n_left)
    survived = np.floor(rounds.scores[left].max(initial=0.0))
    needed = left[rounds.scores[left] > survived]
    if not len(needed):
        return rounds
    order, to_come = forward_order(model, needed)
    scores, tie_breaks = rounds.scores.copy(), -rounds.ranking.astype(np.float64)
    scores[needed[order]] = survived + 1 + to_come
    tie_breaks[needed[order]] = -np.arange(len(order))
    return replace(rounds, scores=scores, ranking=ranks(scores, tie_breaks))


def forward_order(model: SparseModel, variables: Ints) -> tuple[Ints, Floats]:
    """Return some variables in the order of forward selection, and the share of |Y|^2 left before each."""
    features, Y = model.features(variables), model.Y
    F = model.X[:, features]
    owners = model.variables
    blocks = None if owners is None else np.searchsorted(variables, owners[features])
    order, gains = ForwardSearch(F, Y, FORWARD_RIDGE * mean_square(F), None, blocks, model.n_samples).run()
    return order, np.cumsum(gains[::-1])[::-1] / max(float((Y * Y).sum()), np.finfo(float).tiny)


def refit_first(model: SparseModel, lambdas: Lambdas, ranked: Ranked, k: int) -> Ranked:
    """Replace the coefficients by those of the model on the first k variables alone."""
    first = ranked.first
    if k == 0:  # nothing is wanted beside what is kept
        return replace(ranked, coef=np.zeros_like(first.coef), last=first)
    if k >= model.n_variables:
        return replace(ranked, coef=first.coef, last=first)
    chosen = model.features(np.flatnonzero(ranked.ranking <= k))
    part = model.restricted(chosen)
    last = part.fit(*lambdas.scaled_to(part)).result
    coef = np.zeros_like(first.coef)
    coef[chosen] = last.coef
    return replace(ranked, coef=coef, last=last, n_iter=ranked.n_iter + last.n_iter)


def rank_by_path(model: SparseModel, lambdas: Lambdas) -> Ranked:
    """Features in the order in which they enter as lambda1 falls; those that never do, as by coefficient."""
    lambda1, lambda2 = lambdas.scaled_to(model)
    grid = path_grid(model.largest_lambda1(), lambda1, PATH_LENGTH)
    scores = np.zeros(model.n_variables)
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


def round_sizes(n: int, down_to: int) -> list[int]:
    """Return how many variables each round has, from n to at most ``down_to``."""
    sizes = [n]
    while sizes[-1] > down_to:
        n = sizes[-1]
        share = KEEP_OF_MANY if n > MANY else KEEP if n > FEW else KEEP_OF_FEW
        sizes.append(min(math.ceil(n * share), n - 1))
    return sizes


def _is_ordered(cut: int | None) -> bool:
    """Whether the order of what a round drops is made certain: where somebody may ask for so few."""
    return cut is not None and cut <= FEW


def _share(scores: Floats) -> Floats:
    """Scores as shares of the largest, a little below one."""
    largest = scores.max(initial=0.0)
    return scores / largest * (1 - 2.0**-20) if largest > 0 else scores


@dataclass(frozen=True)
class Adjusted:
    r"""A model in which the coefficients of some variables carry no penalty.

    .. math::

        \min_{B, D} \tfrac12 |Y - XB - ZD|^2 + \Omega(B) = \min_B \tfrac12 |PY - PXB|^2 + \Omega(B)

    with Z the columns that are kept and P the projection on what they leave over.
    """

    whole: SparseModel
    """The model of all variables."""
    kept: Ints
    model: SparseModel
    """That of the others."""
    others: Ints
    features: Ints
    """The features of the others."""
    Z: Floats
    """The columns that are kept."""

    @classmethod
    def make(cls, whole: SparseModel, kept: Ints, F: Design) -> Adjusted:
        """From the model of all variables, which is left alone where none is kept, and all columns.

        A model may have set features to zero that it does not need, but not where they are kept.
        """
        others = np.setdiff1d(np.arange(whole.n_variables), kept)
        features, Z = whole.features(others), dense(F[:, whole.features(kept)])
        if not len(kept):
            return cls(whole, kept, whole, others, features, Z)
        part = whole.restricted(features)
        varying = np.asarray(F[:, features].any(axis=0))  # a copy of what is kept is no constant
        model = replace(part, X=left_over(part.X, Z), Y=left_over(whole.Y, Z), varying=varying)
        return cls(whole, kept, model, others, features, Z)

    def coefficients(self, B: Floats) -> Floats:
        """Of all features, from those of the others: what is kept explains what they leave."""
        if not len(self.kept):
            return B
        full = np.zeros((self.whole.n_features, B.shape[1]))
        full[self.features] = B
        left = self.whole.Y - self.whole.X[:, self.features] @ B
        full[self.whole.features(self.kept)] = np.linalg.lstsq(self.Z, left, rcond=None)[0]
        return full

    def expanded(self, ranked: Ranked) -> Ranked:
        """The ranking of all variables, from that of the others."""
        if not len(self.kept):
            return ranked
        scores, ranking = np.zeros(self.whole.n_variables), np.zeros(self.whole.n_variables, np.int64)
        scores[self.others], ranking[self.others] = ranked.scores, ranked.ranking
        scores, ranking = ahead(self.kept, scores, ranking)
        return replace(ranked, scores=scores, ranking=ranking, coef=self.coefficients(ranked.coef))
