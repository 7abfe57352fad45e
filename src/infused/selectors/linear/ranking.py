"""From fits to a ranking of all features, with those that are always kept."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from infused._design import Design, dense
from infused._runtime.progress import Stage
from infused._typing import Floats, Ints
from infused.penalties.quadratic import Structural
from infused.selectors.base import ahead, ranks
from infused.selectors.greedy.forward import ForwardSearch
from infused.selectors.inputs.training import left_over, mean_square
from infused.selectors.linear.certainty import CertainOrder, Uncertainty
from infused.selectors.linear.model import Fit, SparseModel
from infused.solvers.result import SolverResult

MANY, FEW = 1100, 250  # variables
KEEP_OF_MANY, KEEP, KEEP_OF_FEW = 0.5, 0.7, 0.8  # the share that a round keeps
ROUGH = 1e-3  # rounds that only drop features need no more than this
PATH_LENGTH = 30
FORWARD_RIDGE = 0.1  # as a share of the mean squared length of a feature


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
    informed: tuple[SparseModel, Ints] | None = None
    """The model that U became part of, and its features, where the first rounds ran without it."""


def rank(model: SparseModel, ranking: str, k: int | None, enters: int | None = None) -> Ranked:
    """Rank by the rule that was asked for; without a number of features, by one fit.

    ``enters`` is the number of variables from which on U is part of the model; None for all of them.
    """
    enters = model.n_variables if enters is None else enters
    if k is None or ranking == "coefficient":
        return rank_by_coefficient(model)
    if ranking == "path":
        return rank_by_path(model)
    ranked = rank_by_rounds(model, 1 if ranking == "recursive" else min(FEW, enters), enters)
    if ranking == "forward":
        ranked = reorder_forward(model, ranked)
    return refit_first(model, ranked, min(k, enters))


def rank_by_coefficient(model: SparseModel, stop_early: bool = True) -> Ranked:
    """Rank by one fit: by the length of rows, and by their share of the residual where these are zero."""
    fit = model.fit(stop_early=stop_early, certain=CertainOrder(None) if stop_early else None)
    ranking = ranks(fit.scores, fit.leftover)
    return Ranked(fit.scores, ranking, fit.result.coef, fit.result, fit.result, fit.result.n_iter)


def rank_by_rounds(model: SparseModel, down_to: int, enters: int) -> Ranked:
    """Rank by recursive elimination: fit, keep the best part by its coefficients, fit again.

    Variables without a coefficient follow by their share of the residual. It ends when at most ``down_to``
    variables are left. The rounds depend on the number of variables alone, never on how many are wanted, so
    that the first k are the first of every longer selection. A score is the number of rounds that a variable
    survived, and the size of its coefficients in the last of them as a share of the largest. Rounds of more
    than ``enters`` variables run without U.
    """
    sizes = round_sizes(model.n_variables, down_to)
    stage = Stage(None, "ranking features", sum(sizes))
    remaining = np.arange(model.n_variables)
    scores, tie_breaks = np.zeros(model.n_variables), np.zeros(model.n_variables)
    part = model if sizes[0] <= enters else without_information(model)
    first_weights, informed = part.weights, None
    fit = part.fit(certain=_certain(sizes, 0))
    first, n_iter = fit.result, fit.result.n_iter
    for survived, size in enumerate(sizes):
        if survived:
            best = np.sort(np.argsort(ranks(fit.scores, fit.leftover))[:size])
            remaining, features = remaining[best], part.features(best)
            if size <= enters < sizes[survived - 1]:
                features = model.features(remaining)
                part = model.restricted(features)
                informed = part, features
                fit = part.fit(certain=_certain(sizes, survived))
                first_weights = part.weights
            else:
                smaller = part.restricted(features)
                start, known = part.carried_over(fit, features, smaller)
                part = smaller
                same = np.isclose(part.weights[0], first_weights[0], rtol=1e-9, atol=0)
                certain = _certain(sizes, survived, known if same else None)
                fit = part.fit(tol=max(model.tol, ROUGH), start=start, certain=certain)
            n_iter += fit.result.n_iter
        stage.advance(size)
        scores[remaining] = survived + _share(fit.scores)
        tie_breaks[remaining] = fit.leftover
    coef = np.zeros_like(first.coef)
    coef[model.features(remaining)] = fit.result.coef
    return Ranked(scores, ranks(scores, tie_breaks), coef, first, fit.result, n_iter, sizes[-1], informed)


def without_information(model: SparseModel) -> SparseModel:
    """Return the model with that part of its quadratic term alone that needs no U."""
    term = model.quadratic
    return replace(model, quadratic=term.without_information()) if isinstance(term, Structural) else model


def _certain(sizes: list[int], survived: int, known: Uncertainty | None = None) -> CertainOrder:
    """Ask for what a round must be certain of: which variables the next has.

    The order of those that it drops is made certain where somebody may ask for so few.
    """
    cut = sizes[survived + 1] if survived + 1 < len(sizes) else None
    return CertainOrder(cut, known, ordered=cut is not None and cut <= FEW)


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
    features, (X, Y) = model.features(variables), model.touching
    F = X[:, features]
    owners = model.variables
    blocks = None if owners is None else np.searchsorted(variables, owners[features])
    order, gains = ForwardSearch(F, Y, FORWARD_RIDGE * mean_square(F), None, blocks, model.n_samples).run()
    return order, np.cumsum(gains[::-1])[::-1] / max(float((Y * Y).sum()), np.finfo(float).tiny)


def refit_first(model: SparseModel, ranked: Ranked, k: int) -> Ranked:
    """Replace the coefficients by those of the model on the first k variables alone."""
    first = ranked.first
    if k == 0:  # nothing is wanted beside what is kept
        return replace(ranked, coef=np.zeros_like(first.coef), last=first)
    if k >= model.n_variables:
        return replace(ranked, coef=first.coef, last=first)
    chosen = model.features(np.flatnonzero(ranked.ranking <= k))
    whole, features = ranked.informed or (model, np.arange(model.n_features))
    last = whole.restricted(np.searchsorted(features, chosen)).fit().result
    coef = np.zeros_like(first.coef)
    coef[chosen] = last.coef
    return replace(ranked, coef=coef, last=last, n_iter=ranked.n_iter + last.n_iter)


def rank_by_path(model: SparseModel) -> Ranked:
    """Rank in the order in which features enter as lambda1 falls; those that never do, as by coefficient."""
    grid = path_grid(model.largest_lambda1(), model.weights[0], PATH_LENGTH)
    scores = np.zeros(model.n_variables)
    fits = fit_path(model, grid)
    for place, fit in enumerate(fits):
        entered = (scores == 0) & (fit.scores > 0)
        scores[entered] = len(grid) - place
    last = model.with_gradient(fits[-1])
    scores[scores > 0] += _share(last.scores)[scores > 0]
    ranking = ranks(scores, last.leftover)
    return Ranked(
        scores, ranking, last.result.coef, last.result, last.result, sum(f.result.n_iter for f in fits)
    )


def fit_path(model: SparseModel, grid: Floats) -> list[Fit]:
    """Fit for each lambda1, each time from where the last fit ended."""
    fits: list[Fit] = []
    stage = Stage(None, "following the path", len(grid))
    for lambda1 in grid:
        fits.append(model.fit(float(lambda1), start=fits[-1].result if fits else None))
        stage.advance()
    return fits


def path_grid(largest: float, smallest: float, length: int) -> Floats:
    """Space lambda1 evenly in its logarithm, from where no feature is needed down to ``smallest``."""
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


def _share(scores: Floats) -> Floats:
    """Return scores as shares of the largest, a little below one."""
    largest = scores.max(initial=0.0)
    return scores / largest * (1 - 2.0**-20) if largest > 0 else scores


@dataclass(frozen=True)
class Unpenalised:
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
    def make(cls, whole: SparseModel, kept: Ints, F: Design) -> Unpenalised:
        """Make it from the model of all variables, which is left alone where none is kept, and all columns.

        A model may have set features to zero that it does not need, but not where they are kept.
        """
        others = np.setdiff1d(np.arange(whole.n_variables), kept)
        features, Z = whole.features(others), dense(F[:, whole.features(kept)])
        if not len(kept):
            return cls(whole, kept, whole, others, features, Z)
        part = whole.restricted(features)
        varying = np.asarray(F[:, features].any(axis=0))  # a copy of what is kept is no constant
        if whole.datafit is not None:
            return cls(whole, kept, replace(part, Z=Z, varying=varying), others, features, Z)
        model = replace(part, X=left_over(part.X, Z), Y=left_over(whole.Y, Z), varying=varying)
        return cls(whole, kept, model, others, features, Z)

    def coefficients(self, B: Floats, free: Floats | None = None) -> Floats:
        """Return all coefficients: those that are kept are free, or fitted to what the others leave."""
        if not len(self.kept):
            return B
        full = np.zeros((self.whole.n_features, B.shape[1]))
        full[self.features] = B
        if free is not None:
            full[self.whole.features(self.kept)] = free[len(free) - self.Z.shape[1] :]
            return full
        left = self.whole.Y - self.whole.X[:, self.features] @ B
        full[self.whole.features(self.kept)] = np.linalg.lstsq(self.Z, left, rcond=None)[0]
        return full

    def expanded(self, ranked: Ranked) -> Ranked:
        """Return the ranking of all variables, from that of the others."""
        if not len(self.kept):
            return ranked
        scores, ranking = np.zeros(self.whole.n_variables), np.zeros(self.whole.n_variables, np.int64)
        scores[self.others], ranking[self.others] = ranked.scores, ranked.ranking
        scores, ranking = ahead(self.kept, scores, ranking)
        coef = self.coefficients(ranked.coef, ranked.last.free)
        return replace(ranked, scores=scores, ranking=ranking, coef=coef)
