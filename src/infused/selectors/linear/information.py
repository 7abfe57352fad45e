r"""The term :math:`-\lambda_3\,\mathrm{tr}\,B'UB` of a model: its two formulations, its limit and its memory.

As published it makes the objective unbounded below beyond a limit of :math:`\lambda_3`, which is zero where
there are more features than samples. Convexified it is
:math:`\lambda_3\,\mathrm{tr}\,B'(I - (U - \bar U)/c)B`, with c the largest eigenvalue of :math:`U - \bar U`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from infused._runtime.compat import StrOptions, cached_property
from infused._runtime.threads import memory_budget, require
from infused._typing import Floats, Ints
from infused.exceptions import (
    PrecisionError,
    ScreeningWarning,
    UnboundedObjectiveError,
    UnboundedObjectiveWarning,
)
from infused.graphs.validation import Graph, check_data, sparse_if_mostly_zero
from infused.information.operator import MOST_KNOWN, InformationOperator, NearbyInformation, Sampled
from infused.information.pair_sums import CriterionName
from infused.information.structural import StructuralInformation, shared, structural_information
from infused.penalties.quadratic import Quadratic, Ridge, Structural, Sum, Unformed
from infused.selectors.base import WEIGHT
from infused.selectors.inputs.training import TrainingData, one_target, quadratic_weight
from infused.selectors.linear.model import SparseModel
from infused.selectors.linear.ranking import Adjusted, Lambdas, Ranked, rank_by_rounds, round_sizes
from infused.solvers.least_squares import largest_lambda3

#: What the parameters of the term may be, for scikit-learn's validation.
CONSTRAINTS: dict[str, list[Any]] = {
    "lambda3": WEIGHT,
    "formulation": [StrOptions({"stable", "paper"})],
    "unbounded": [StrOptions({"raise", "iterate"})],
}


@dataclass(frozen=True)
class WithInformation:
    """A model with its information term."""

    model: SparseModel
    limit: float | None = None
    """The largest lambda3 for which the published objective has a minimum."""
    unbounded: bool = False
    """Whether it has none, and Algorithm 1 is to run regardless."""
    unformed: Unformed | None = None
    """What stands for U where it was not formed."""

    def error(self, coef: Floats) -> float:
        """Of U at a solution, relative to its largest eigenvalue; zero where it was formed."""
        if isinstance(self.unformed, NearbyInformation):
            return self.unformed.error_on(np.flatnonzero(coef.any(axis=1)))
        return 0.0 if self.unformed is None else self.unformed.error


@dataclass(frozen=True)
class InformationTerm:
    """The term of one estimator; U is formed when it is needed, for the features that are left by then."""

    U: Callable[[Ints], Floats]
    """Information of the pairs of some features."""
    lambda3: float
    relative: bool
    formulation: str
    unbounded: str
    ridge: float = 0.0
    """lambda2 of a ridge that is part of the model."""
    operator: Callable[[Ints], Unformed | None] = lambda features: None
    """What multiplies with U of some features without forming it, where that is better."""

    @property
    def published(self) -> bool:
        """Whether the term is the printed one."""
        return self.formulation == "paper"

    def unformed(self, features: Ints) -> Unformed | None:
        """U of these features where it need not be formed; the limit of the printed term needs all of it."""
        return None if self.published or self.lambda3 == 0 else self.operator(features)

    def stand_in(self, F: Floats) -> Ridge:
        """A ridge in the place of the term, with the one that is part of the model."""
        own = 0.0 if self.published else quadratic_weight(self.lambda3, F, self.relative)
        return Ridge(quadratic_weight(self.ridge, F, self.relative) + own)

    def added_to(self, model: SparseModel, features: Ints) -> WithInformation:
        """The model of these features with the term instead of the ridge in its place."""
        if self.lambda3 == 0:
            return WithInformation(model)
        ridge, operator = quadratic_weight(self.ridge, model.X, self.relative), self.unformed(features)
        limit, unbounded = None, False
        if operator is not None:
            term = self._convexified(model.X, operator)
        elif self.published:
            U = self.U(features)
            limit = largest_lambda3(model.X, U, ridge)
            # A relative lambda3 is a share of the limit; where that is zero, it is taken as it is.
            share = self.relative and 0 < limit < np.inf
            term = Structural.published(U, self.lambda3 * limit if share else self.lambda3)
            unbounded = term.weight > limit
            if unbounded:
                self._complain(term.weight, limit, model.max_iter)
        else:
            term = self._convexified(model.X, self.U(features))
        quadratic: Quadratic = Sum(Ridge(ridge), term) if ridge > 0 else term
        return WithInformation(replace(model, quadratic=quadratic), limit, unbounded, operator)

    def _convexified(self, F: Floats, U: Floats | Unformed) -> Structural:
        term = Structural.convexified(U, 1.0)
        weight = quadratic_weight(self.lambda3, F, True) if self.relative else self.lambda3 * term.top
        return replace(term, weight=weight)

    def _complain(self, lambda3: float, limit: float, max_iter: int) -> None:
        """Refuse an objective without a minimum, or warn and go on, as ``unbounded`` says."""
        trouble = (
            f"The published objective has no minimum for lambda3={lambda3:.6g}: the largest admissible value "
            f"on these data is {limit:.6g}."
        )
        if self.unbounded == "raise":
            ways = "Use formulation='stable', a smaller lambda3, or unbounded='iterate'."
            raise UnboundedObjectiveError(f"{trouble} {ways}", limit)
        running = f"Running {max_iter} iterations of Algorithm 1 as published."
        warnings.warn(f"{trouble} {running}", UnboundedObjectiveWarning, stacklevel=2)


def screened(
    adjusted: Adjusted, lambdas: Lambdas, term: InformationTerm, ranking: str, k: int | None, budget: int
) -> tuple[Ranked | None, Ints]:
    """The rounds that must run without U because it would not fit, and the variables that are left then."""
    model = adjusted.model
    n = model.n_variables
    fits = term.lambda3 == 0 or _bytes(model.n_features) <= budget
    if fits or term.unformed(adjusted.features) is not None:
        return None, np.arange(n)
    recursive = k is not None and not term.published and ranking in ("recursive", "forward")
    widths = _widths(model)
    fitting = (size for size in round_sizes(n, 1) if _bytes(widths[size]) <= budget)
    size = next(fitting, n) if recursive else n
    what = f"U of {widths[size]} features"
    require(_bytes(widths[size]), budget, what, "set n_features_to_select, or raise memory_budget")
    left = "features" if model.variables is None else "groups of features"
    warnings.warn(
        f"U of {model.n_features} features would not fit in the memory budget: the first rounds ran without "
        f"it, and it entered when {size} {left} were left.",
        ScreeningWarning,
        stacklevel=2,
    )
    early = rank_by_rounds(model, lambdas, size)
    return early, np.flatnonzero(early.ranking <= size)


def _widths(model: SparseModel) -> list[int]:
    """At most how many features so many variables have, from none of them to all."""
    sizes = np.ones(model.n_features) if model.variables is None else np.bincount(model.variables)
    widths: list[int] = np.concatenate([[0], np.cumsum(np.sort(sizes)[::-1])]).astype(int).tolist()
    return widths


def _bytes(n_features: int) -> int:
    """U, its part for the next round, and what the solver makes of it."""
    return 3 * 8 * n_features * n_features


TOL = 1e-6  # of U's entries; a smaller error changes no selection
MANY_FEATURES = 2000  # below which U takes little time and memory, however it is made
FEATURES_PER_SAMPLE = 8  # from which the operator is faster than U
SAMPLE = 2000  # features from which the mean of U and the size of its eigenvalues are taken
TIMES_SAMPLE = 3  # as many features, from which a sample is worth it
BYTES_PER_PAIR = 24  # of features: U, its part for the next round, and what the solver makes of it
BYTES_PER_ENTRY = 48  # of X, that the operator takes: two factors of three terms, and their part in a round


@dataclass(frozen=True)
class Structure:
    """The structural information of the features of some training data."""

    data: TrainingData
    criterion: CriterionName
    graph: Graph
    n_jobs: int | None

    def formed(self, features: Ints) -> Floats:
        """U of some features."""
        return structural_information(
            self.data.columns(features),
            one_target(self.data.y),
            tol=TOL,
            **self._options,
        )

    def operator(self, features: Ints) -> InformationOperator | None:
        """What multiplies with U of some features, where that is faster than to form it."""
        if not self._wide or self._bytes > memory_budget() or self._whole is None:
            return None
        return self._whole if len(features) == self.data.n_features else self._whole.restricted(features)

    def nearby(self, features: Ints) -> NearbyInformation | InformationOperator | None:
        """U of some features for a model that takes few of them: formed for those that it comes near."""
        if not self._wide or self.data.n_features < TIMES_SAMPLE * SAMPLE:
            return self.operator(features)
        return None if self._nearby is None else self._nearby.restricted(features)

    @property
    def _options(self) -> dict[str, Any]:
        return {
            "criterion": self.criterion,
            "graph": self.graph,
            "target": self.data.kind,
            "n_jobs": self.n_jobs,
        }

    @cached_property
    def _whole(self) -> InformationOperator | None:
        return self._operator(self.data.X)

    @cached_property
    def _nearby(self) -> NearbyInformation | None:
        n = self.data.n_features
        sample = np.sort(np.random.default_rng(0).choice(n, SAMPLE, replace=False))
        operator = self._operator(self.data.columns(sample))
        if operator is None:
            return None
        most = min(MOST_KNOWN, int(np.sqrt(memory_budget() / BYTES_PER_PAIR)))
        return NearbyInformation.make(n, self.formed, self._demanded, Sampled.of(operator, n), most)

    def _operator(self, X: Any) -> InformationOperator | None:
        """Of the features of X; None where its error would be too large."""
        y = one_target(self.data.y)

        def compute() -> InformationOperator | None:
            information = StructuralInformation.from_data(X, y, tol=TOL, **self._options)
            try:
                return information.operator() if information.route == "separable" else None
            except PrecisionError:
                return None

        what = ("operator", self.graph, self.data.kind, self.criterion, X.shape)
        return shared(what, (X, y), compute)

    def _demanded(self) -> InformationOperator:
        """The operator of all features, where there is no way around it."""
        what, instead = f"U of {self.data.n_features} features", "raise lambda1, so that the model has fewer"
        require(self._bytes, memory_budget(), what, instead)
        if self._whole is None:
            raise PrecisionError(f"Products with {what} have too large an error; {instead}.")
        return self._whole

    @property
    def _bytes(self) -> int:
        """What the operator of all features takes."""
        n_samples, n_features = self.data.X.shape
        return int(BYTES_PER_ENTRY * n_samples * n_features)

    @cached_property
    def _wide(self) -> bool:
        """Whether features are many, well above samples, and dense."""
        n_samples, n_features = self.data.X.shape
        if n_features < max(MANY_FEATURES, FEATURES_PER_SAMPLE * n_samples):
            return False
        return not sp.issparse(sparse_if_mostly_zero(check_data(self.data.X)))
