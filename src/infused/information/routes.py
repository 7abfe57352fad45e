"""Which route: a cost model, in nanoseconds on one ordinary core."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from infused._runtime.memory import require
from infused._runtime.threads import Workers
from infused.exceptions import PrecisionError
from infused.graphs.storage import DenseDistributions, SparseDistributions
from infused.information.direct import DirectSums
from infused.information.grouped import GroupedSums
from infused.information.pair_sums import PairSumProblem, PairSums
from infused.information.products import SeparableSums, box_of
from infused.information.separable import PhiFactors

__all__ = ["ROUTES", "RouteName", "choose_route"]

RouteName: TypeAlias = Literal["auto", "separable", "grouped", "direct"]
ROUTES = ("auto", "separable", "grouped", "direct")

LOGARITHM = 7.0  # one phi in the direct route
FACTOR = 30.0  # all factors of one entry
FLOP = 1 / 40  # of a matrix product
COMMON_SAMPLE = 2.0  # that two features both store, and a third of a nanosecond a term
SETUP = 1e7  # decomposition and tables

FACTOR_SHARE = 0.95  # of the tolerance; the rest is for rounding
SAMPLED_FEATURES = 32
SPARSE_ENOUGH = 0.2  # share of entries off the base below which grouping is worth a look
WIDEST_BOX = 2.0**60


def choose_route(
    problem: PairSumProblem, route: RouteName, tolerance: float, budget: int, work: Workers
) -> PairSums:
    """The cheapest route whose error is within ``tolerance``, or the one that is asked for."""
    if route == "direct" or (route == "auto" and not _worth_factors(problem)):
        return DirectSums(_dense(problem, budget))
    sums = _factored_route(problem, route, tolerance, budget, work)
    if sums is not None and sums.error <= tolerance:
        return sums
    if route == "auto":
        return DirectSums(_dense(problem, budget))
    reached = "" if sums is None else f" (it reaches {sums.error:.1e} where {tolerance:.1e} is needed)"
    raise PrecisionError(
        f"route={route!r} cannot reach the tolerance on these distributions{reached}; "
        "use route='direct' or a larger tol."
    )


def _factored_route(
    problem: PairSumProblem, route: RouteName, tolerance: float, budget: int, work: Workers
) -> SeparableSums | GroupedSums | None:
    factors = _factors(problem, tolerance)
    if factors is None:
        return None
    sparse = None if route == "separable" else _sparse(problem, forced=route == "grouped")
    if sparse is not None and (route == "grouped" or _grouped_is_cheaper(sparse, factors.rank)):
        _require(GroupedSums.bytes_needed(sparse, factors.rank), sparse, budget)
        return GroupedSums(sparse, factors, work)
    return SeparableSums(_dense(problem, budget), factors, work)


def _factors(problem: PairSumProblem, tolerance: float) -> PhiFactors | None:
    """Factors that leave room for rounding, or None where phi has no box to be factored on."""
    box = box_of(problem)
    if not box.x[0] > 0.0 or box.x[1] / box.x[0] > WIDEST_BOX:
        return None
    return PhiFactors(box, FACTOR_SHARE * tolerance / problem.total_weight)


def _worth_factors(problem: PairSumProblem) -> bool:
    n_features, n_samples = problem.features.shape
    evaluations = 2 if problem.joint_weight else 1
    return evaluations * LOGARITHM * n_features**2 * n_samples > SETUP


def _dense(problem: PairSumProblem, budget: int) -> PairSumProblem:
    """The problem with dense distributions, if they fit."""
    if isinstance(problem.features, DenseDistributions):
        return problem
    n_features, n_samples = problem.features.shape
    _require(8 * n_features * n_samples, problem, budget)
    return PairSumProblem(DenseDistributions(problem.features.dense()), problem.target, *problem.weights)


def _require(n_bytes: int, problem: PairSumProblem, budget: int) -> None:
    n_features, n_samples = problem.features.shape
    what = f"The distributions of {n_features} features and {n_samples} samples, in the form that U needs,"
    require(n_bytes, budget, what, "take fewer features or fewer samples")


def _sparse(problem: PairSumProblem, forced: bool) -> PairSumProblem | None:
    """The problem with sparse distributions, where they are or may be worth it."""
    features = problem.features
    if isinstance(features, DenseDistributions):
        step = max(1, len(features.values) // SAMPLED_FEATURES)
        sample = SparseDistributions.from_dense(features.values[::step])
        if not forced and len(sample.values) > SPARSE_ENOUGH * len(sample.base) * sample.n_samples:
            return None
        features = SparseDistributions.from_dense(features.values)
    return PairSumProblem(features, problem.target, *problem.weights)


def _grouped_is_cheaper(problem: PairSumProblem, rank: int) -> bool:
    assert isinstance(problem.features, SparseDistributions)
    n_features, n_samples = problem.features.shape
    n_groups = problem.target.values.shape[1]
    stored = np.bincount(problem.features.samples, minlength=n_samples).astype(float)
    product = 2 * FLOP * rank * n_features**2
    common = (COMMON_SAMPLE + rank / 3) * float(stored @ stored)
    grouped = (1 + n_groups) * product + common + FACTOR * n_features * n_groups
    separable = n_samples * product + FACTOR * n_features * n_samples
    return bool(grouped < separable)
