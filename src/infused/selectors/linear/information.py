r"""The term :math:`-\lambda_3\,\mathrm{tr}\,B'UB` of a model: its two formulations, its limit and its memory.

As published it makes the objective unbounded below beyond a limit of :math:`\lambda_3`, which is zero where
there are more features than samples. Convexified it is
:math:`\lambda_3\,\mathrm{tr}\,B'(I - (U - \bar U)/c)B`, with c the largest eigenvalue of :math:`U - \bar U`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from infused._columns import StoredColumns
from infused._runtime.compat import StrOptions, cached_property
from infused._runtime.threads import memory_budget, require
from infused._typing import Floats, Ints
from infused.exceptions import (
    PrecisionError,
    ScreeningWarning,
    UnboundedObjectiveError,
    UnboundedObjectiveWarning,
)
from infused.graphs.validation import Graph, is_mostly_zero
from infused.information.operator import MOST_KNOWN, InformationOperator, NearbyInformation, Sampled
from infused.information.pair_sums import CriterionName
from infused.information.structural import StructuralInformation, shared, structural_information
from infused.penalties.quadratic import PairInformation, Quadratic, Ridge, Structural
from infused.selectors.base import WEIGHT, documented
from infused.selectors.inputs.training import (
    TrainingData,
    Weights,
    one_target,
    refuse_weights,
)
from infused.selectors.linear.estimator import LinearSelector
from infused.selectors.linear.model import SparseModel
from infused.selectors.linear.ranking import Ranked, rank, rank_by_coefficient, round_sizes
from infused.solvers.least_squares import largest_lambda3


@documented()
@dataclass(kw_only=True, eq=False, repr=False)
class InformedSelector(LinearSelector):
    """A linear selector with a term of the information of pairs of features.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        How many features: a number, a fraction, "auto" for the smallest number that predicts within one
        standard error of the best (by cross-validation), or None for those whose coefficients are not
        zero (positive, in the paper's formulation).
    %(lambda1)s
    %(lambda_scale)s
    target : {"auto", "onehot", "label", "real"}, default="auto"
        What y is to the model; "auto" makes one-hot columns of classes (the paper's formulation: labels).
    %(groups)s
    %(keep)s
    %(standardize)s
    %(ranking)s
    %(max_iter)s
    %(tol)s
    n_jobs : int or None, default=None
        Threads for the information of pairs (None for one) and for linear algebra (None leaves them to
        BLAS); -1 for every core.
    %(loss)s
    %(penalty_factors)s
    %(positive)s
    lambda3 : float, default=0.01
        Weight of the information of pairs. A relative one is a fraction of the mean squared length of a
        feature (in the paper's formulation, of its largest admissible value); an absolute one is
        multiplied by c, so that it weighs the same matrix in both formulations.
    formulation : {"stable", "paper"}, default="stable"
        The convex problem above, or the published one.
    unbounded : {"raise", "iterate"}, default="raise"
        What to do when the published objective has no minimum: refuse, or run Algorithm 1 for
        ``max_iter`` steps as published, with a warning.

    Attributes
    ----------
    %(attributes)s
    unbounded_ : bool
        Whether Algorithm 1 was run on an objective without a minimum, as ``unbounded="iterate"`` asks.
    lambda3_limit_ : float
        The largest admissible lambda3; only in the paper's formulation.
    n_features_screened_ : int
        Features dropped before the information of pairs entered: where that of all pairs would pass the
        memory budget (see :func:`infused.config_context`), the first rounds of the recursive ranking run
        with a ridge in its place. Zero where it fits.
    information_error_ : float
        Where features are many more than samples, not all of U is formed: the measured error of what
        stands for it, relative to the largest eigenvalue of U less its mean. Zero where it was formed.
    """

    lambda3: float = 0.01
    formulation: str = "stable"
    unbounded: str = "raise"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearSelector._parameter_constraints,
        "lambda3": WEIGHT,
        "formulation": [StrOptions({"stable", "paper"})],
        "unbounded": [StrOptions({"raise", "iterate"})],
    }

    def _structural(self, U: PairInformation, data: TrainingData, ridge: float = 0.0) -> Quadratic:
        """Make the term of U, with a ridge beside it; without a weight it is the ridge alone."""
        relative, published = self.lambda_scale == "relative", self.formulation == "paper"
        if self.lambda3 == 0:
            return Ridge(ridge)
        # A relative weight of the printed term is a share of its limit, which is known with U.
        weight = self.lambda3 if published else self._quadratic_weight(self.lambda3, data)
        every, times_top = np.arange(data.n_features), not relative and not published
        return Structural(U, every, weight, published, times_top, ridge)

    def _within_limit(self, model: SparseModel) -> SparseModel:
        """Resolve the weight of the printed term, and refuse one without a minimum or warn of it."""
        term, self.unbounded_ = model.quadratic, False
        if not isinstance(term, Structural) or not term.published:
            return model
        U = np.asarray(term.U)
        self.lambda3_limit_ = limit = largest_lambda3(model.X, U, term.ridge)
        # A relative lambda3 is a share of the limit; where that is zero, it is taken as it is.
        share = self.lambda_scale == "relative" and 0 < limit < np.inf
        weight = self.lambda3 * limit if share else self.lambda3
        self.unbounded_ = bool(weight > limit)
        if self.unbounded_:
            self._complain(weight, limit)
        term = Structural.given(U, weight, published=True, extra_ridge=term.extra_ridge)
        return replace(model, quadratic=term)

    def _complain(self, lambda3: float, limit: float) -> None:
        """Refuse an objective without a minimum, or warn and go on, as ``unbounded`` says."""
        trouble = (
            f"The published objective has no minimum for lambda3={lambda3:.6g}: the largest admissible value "
            f"on these data is {limit:.6g}."
        )
        if self.unbounded == "raise":
            ways = "Use formulation='stable', a smaller lambda3, or unbounded='iterate'."
            raise UnboundedObjectiveError(f"{trouble} {ways}", limit)
        running = f"Running {self.max_iter} iterations of Algorithm 1 as published."
        warnings.warn(f"{trouble} {running}", UnboundedObjectiveWarning, stacklevel=2)

    def _ranked(self, model: SparseModel, k: int | None) -> Ranked:
        """Rank the variables; U enters when it fits in memory."""
        waits = k is not None and self.formulation == "stable" and self.ranking in ("recursive", "forward")
        enters = fitting_size(model, waits, memory_budget())
        model = self._within_limit(model)
        term, self.information_error_, self.n_features_screened_ = model.quadratic, 0.0, 0
        if self.unbounded_:
            return rank_by_coefficient(model, stop_early=False)
        ranked = rank(model, self.ranking, k, enters)
        if enters < model.n_variables:
            left = model.features(np.flatnonzero(ranked.ranking <= enters))
            self.n_features_screened_ = model.n_features - len(left)
        elif isinstance(term, Structural):
            self.information_error_ = term.error(ranked.first.coef)
        return ranked


class StructuralSelector(InformedSelector):
    """A linear selector with the term of U, whose graphs have one vertex for each sample."""

    # scikit-learn takes a parameter of this name for a promise to use it.
    def fit(self, X: Any, y: Any, **weights: Any) -> Self:
        """Rank and select the features of X for the target y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples; texts and categories of a frame are variables as they are.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Class labels, real values, several columns of real values, or an indicator matrix of labels.
        **weights : dict
            A ``sample_weight`` is refused, as every sample is one vertex of the graphs behind U; but it is
            taken where ``lambda3=0`` leaves U out.

        Returns
        -------
        self : object
            The fitted selector.
        """
        super().fit(X, y, **weights)
        return self

    def _refuse_weights(self, weights: Weights | None) -> None:
        if self.lambda3 > 0:
            why = "every sample is one vertex of the graphs behind U"
            instead = "Repeat samples, leave U out with lambda3=0, or take FusedLasso or Lasso"
            refuse_weights(type(self).__name__, why, instead, weights)


def fitting_size(model: SparseModel, waits: bool, budget: int) -> int:
    """Return how many variables are left when U fits in memory, all of them if it does from the start.

    It is refused where the ranking cannot wait for that, and warned of where it does.
    """
    term, n = model.quadratic, model.n_variables
    if not isinstance(term, Structural) or _bytes(model.n_features) <= budget or not term.forms_U:
        return n
    widths = _widths(model)
    fitting = (size for size in round_sizes(n, 1) if _bytes(widths[size]) <= budget)
    size = next(fitting, n) if waits else n
    what = f"U of {widths[size]} features"
    require(_bytes(widths[size]), budget, what, "set n_features_to_select, or raise memory_budget")
    left = "features" if model.variables is None else "groups of features"
    warnings.warn(
        f"U of {model.n_features} features would not fit in the memory budget: the first rounds ran without "
        f"it, and it entered when {size} {left} were left.",
        ScreeningWarning,
        stacklevel=2,
    )
    return size


def _widths(model: SparseModel) -> list[int]:
    """Return at most how many features so many variables have, from none of them to all."""
    sizes = np.ones(model.n_features) if model.variables is None else np.bincount(model.variables)
    widths: list[int] = np.concatenate([[0], np.cumsum(np.sort(sizes)[::-1])]).astype(int).tolist()
    return widths


def _bytes(n_features: int) -> int:
    """Return what U takes, its part for the next round, and what the solver makes of it."""
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

    def pairs(self, few: bool) -> PairInformation:
        """Return U for a model; one that takes ``few`` features at a time needs few columns."""
        return PairInformation(self.formed, self.nearby if few else self.operator)

    def formed(self, features: Ints) -> Floats:
        """Form U of some features."""
        return structural_information(
            self.data.columns(features),
            one_target(self.data.y),
            tol=TOL,
            **self._options,
        )

    def operator(self, features: Ints) -> InformationOperator | None:
        """Make what multiplies with U of some features, where that is faster than to form it."""
        if not self._wide or self._bytes > memory_budget() or self._whole is None:
            return None
        return self._whole if len(features) == self.data.n_features else self._whole.restricted(features)

    def nearby(self, features: Ints) -> NearbyInformation | InformationOperator | None:
        """Make U of some features for a model that takes few of them: formed for those that it comes near."""
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
        """Make the operator of the features of X; None where its error would be too large."""
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
        """Return the operator of all features, where there is no way around it."""
        what, instead = f"U of {self.data.n_features} features", "raise lambda1, so that the model has fewer"
        require(self._bytes, memory_budget(), what, instead)
        if self._whole is None:
            raise PrecisionError(f"Products with {what} have too large an error; {instead}.")
        return self._whole

    @property
    def _bytes(self) -> int:
        """Return what the operator of all features takes."""
        n_samples, n_features = self.data.X.shape
        return int(BYTES_PER_ENTRY * n_samples * n_features)

    @cached_property
    def _wide(self) -> bool:
        """Tell whether features are many, well above samples, and dense."""
        n_samples, n_features = self.data.X.shape
        if n_features < max(MANY_FEATURES, FEATURES_PER_SAMPLE * n_samples):
            return False
        X = self.data.X
        if isinstance(X, StoredColumns):
            X = X[:, np.linspace(0, n_features - 1, SAMPLE).astype(np.int64)]
        return not sp.issparse(X) and not is_mostly_zero(int(np.count_nonzero(X)), X.size)
