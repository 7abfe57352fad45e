"""Which route: a cost model, in nanoseconds on one ordinary core.

The choice needs a few figures of a problem only, which can be added up from its parts, so that it is the same
where the parts are on several machines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal, TypeAlias

import numpy as np

from infused._runtime.progress import Stage
from infused._runtime.threads import Workers, require, spans
from infused._typing import Floats
from infused.exceptions import PrecisionError
from infused.graphs.distributions import DenseDistributions, FeatureDistributions, SparseDistributions
from infused.information.pair_sums import EPS, FeatureIndex, PairSumProblem, PairSums, phi
from infused.information.separable import Box, GroupedSums, PhiFactors, SeparableSums, box_of, rounding

RouteName: TypeAlias = Literal["auto", "separable", "grouped", "direct"]
ROUTES = ("auto", "separable", "grouped", "direct")

LOGARITHM = 3.0  # one phi in the direct route
FACTOR = 30.0  # all factors of one entry
FLOP = 1 / 40  # of a matrix product
COMMON_SAMPLE = 2.0  # that two features both store, and a third of a nanosecond a term
SETUP = 1e7  # decomposition and tables

FACTOR_SHARE = 0.95  # of the tolerance; the rest is for rounding
SAMPLED_FEATURES = 32
SPARSE_ENOUGH = 0.2  # share of entries off the base below which grouping is worth a look
WIDEST_BOX = 2.0**60


@dataclass(frozen=True)
class Outline:
    """What the choice of a route depends on."""

    shape: tuple[int, int]
    """(features, samples)."""
    n_groups: int
    """Of samples that share an entry of their target graph."""
    weights: tuple[float, float]
    """(joint_weight, pair_weight)."""
    box: Box
    """The ranges of the arguments of phi."""
    off_base: Callable[[], float | None]
    """Share of the entries of sampled features that are off their base; None where all are sparse."""
    stored: Callable[[], Floats]
    """Number of features that each sample has off their base."""


@dataclass(frozen=True)
class Plan:
    """A route, the factors that it takes, if it takes any, and a bound of the error of every Q_ij."""

    route: Literal["separable", "grouped", "direct"]
    factors: PhiFactors | None
    error: float

    @property
    def rank(self) -> int | None:
        """Return the number of terms of the factorisation, where the route has one."""
        return None if self.factors is None else self.factors.rank


def choose_route(
    problem: PairSumProblem, route: RouteName, tolerance: float, budget: int, work: Workers
) -> tuple[Plan, PairSums]:
    """Prepare the cheapest route whose error is within ``tolerance``, or the one that is asked for."""
    sparse = cache(partial(_as_sparse, problem))
    outline = Outline(
        shape=problem.features.shape,
        n_groups=int(problem.target.values.shape[1]),
        weights=problem.weights,
        box=box_of(problem),
        off_base=partial(_off_base, problem.features),
        stored=lambda: stored_by_sample(sparse().features),
    )
    plan = plan_route(outline, route, tolerance)
    return plan, build_route(plan, sparse() if plan.route == "grouped" else problem, budget, work)


def plan_route(outline: Outline, route: RouteName, tolerance: float) -> Plan:
    """Choose a route and its factors, without preparing it."""
    n_samples, total_weight = outline.shape[1], sum(abs(weight) for weight in outline.weights)
    direct = Plan("direct", None, 16 * EPS * total_weight * float(np.sqrt(n_samples)))
    if route == "direct" or (route == "auto" and not _worth_factors(outline)):
        return direct
    factors, reached = _factors(outline, tolerance), ""
    if factors is not None:
        grouped = route == "grouped" or (route == "auto" and _grouped_is_cheaper(outline, factors.rank))
        n_terms = ((1 + outline.n_groups) if grouped else 1) * n_samples * factors.rank
        error = total_weight * (factors.error + rounding(n_terms, factors.scale))
        if error <= tolerance:
            return Plan("grouped" if grouped else "separable", factors, error)
        reached = f" (it reaches {error:.1e} where {tolerance:.1e} is needed)"
    if route == "auto":
        return direct
    raise PrecisionError(
        f"route={route!r} cannot reach the tolerance on these distributions{reached}; "
        "use route='direct' or a larger tol."
    )


def build_route(plan: Plan, problem: PairSumProblem, budget: int | None, work: Workers) -> PairSums:
    """Prepare the route of a plan on some features; a budget of None is no limit."""
    if plan.factors is None:
        return DirectSums(dense_problem(problem, budget))
    if plan.route == "separable":
        return SeparableSums(dense_problem(problem, budget), plan.factors, work)
    problem = _as_sparse(problem)
    _require(GroupedSums.bytes_needed(problem, plan.factors.rank), problem, budget)
    return GroupedSums(problem, plan.factors, work)


def sample_step(n_features: int) -> int:
    """Return the step between features that are sampled to tell whether grouping is worth a try."""
    return max(1, n_features // SAMPLED_FEATURES)


def _off_base(features: FeatureDistributions) -> float | None:
    if isinstance(features, SparseDistributions):
        return None
    sample = SparseDistributions.from_dense(features.values[:: sample_step(len(features.values))])
    return len(sample.values) / (len(sample.base) * sample.n_samples)


def stored_by_sample(features: FeatureDistributions) -> Floats:
    """Count for each sample the features that have it off their base."""
    if isinstance(features, DenseDistributions):
        features = SparseDistributions.from_dense(features.values)
    return np.bincount(features.samples, minlength=features.n_samples).astype(np.float64)


def _factors(outline: Outline, tolerance: float) -> PhiFactors | None:
    """Make factors that leave room for rounding, or None where phi has no box to be factored on."""
    box = outline.box
    if not box.x[0] > 0.0 or box.x[1] / box.x[0] > WIDEST_BOX:
        return None
    return PhiFactors(box, FACTOR_SHARE * tolerance / sum(abs(weight) for weight in outline.weights))


def _worth_factors(outline: Outline) -> bool:
    n_features, n_samples = outline.shape
    evaluations = 2 if outline.weights[0] else 1
    return evaluations * LOGARITHM * n_features**2 * n_samples > SETUP


def dense_problem(problem: PairSumProblem, budget: int | None) -> PairSumProblem:
    """Return the problem with dense distributions, if they fit."""
    if isinstance(problem.features, DenseDistributions):
        return problem
    n_features, n_samples = problem.features.shape
    _require(8 * n_features * n_samples, problem, budget)
    return PairSumProblem(DenseDistributions(problem.features.dense()), problem.target, *problem.weights)


def _as_sparse(problem: PairSumProblem) -> PairSumProblem:
    """Return the problem with sparse distributions."""
    if isinstance(problem.features, SparseDistributions):
        return problem
    features = SparseDistributions.from_dense(problem.features.values)
    return PairSumProblem(features, problem.target, *problem.weights)


def _require(n_bytes: int, problem: PairSumProblem, budget: int | None) -> None:
    n_features, n_samples = problem.features.shape
    what = f"The distributions of {n_features} features and {n_samples} samples, in the form that U needs,"
    if budget is not None:
        require(n_bytes, budget, what, "take fewer features or fewer samples")


def _grouped_is_cheaper(outline: Outline, rank: int) -> bool:
    off_base = outline.off_base()
    if off_base is not None and off_base > SPARSE_ENOUGH:
        return False
    n_features, n_samples = outline.shape
    stored = outline.stored()
    product = 2 * FLOP * rank * n_features**2
    common = (COMMON_SAMPLE + rank / 3) * float(stored @ stored)
    grouped = (1 + outline.n_groups) * product + common + FACTOR * n_features * outline.n_groups
    separable = n_samples * product + FACTOR * n_features * n_samples
    return bool(grouped < separable)


ROWS_PER_TASK = 16
ENTRIES = 2**15  # logarithms at a time: they stay in the cache


class DirectSums(PairSums):
    """Pair sums by their definition: N^2 M logarithms for each of the two terms."""

    def __init__(self, problem: PairSumProblem):
        self._problem = problem
        self._P = problem.features.dense()

    def _sums(
        self, rows: FeatureIndex, columns: FeatureIndex, work: Workers, stage: Stage, share: float
    ) -> Floats:
        target = self._problem.target
        P, T, Q = self._P[rows], target.rows(rows), self._P[columns]
        out = np.zeros((len(P), len(Q)))
        upper_only = rows is columns and self._problem.symmetric
        joint, pair = self._problem.weights
        chunks = spans(len(Q), max(1, ENTRIES // P.shape[1]))

        def compute(strip: slice) -> int:
            first = strip.start if upper_only else 0
            for i in range(strip.start, strip.stop):
                t = T[0 if target.shared else i, target.codes] if joint else 0.0
                for chunk in chunks:
                    if chunk.stop > first:
                        s = Q[chunk] + P[i]
                        out[i, chunk] = pair * phi(s).mean(axis=1)
                        if joint:
                            s += t
                            out[i, chunk] += joint * phi(s).mean(axis=1)
            return int(len(P[strip]) * len(Q) * P.shape[1])

        for done in work.map(compute, spans(len(P), ROWS_PER_TASK)):
            stage.advance(share * done)
        return out
