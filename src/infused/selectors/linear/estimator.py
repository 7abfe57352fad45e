"""What the selectors that rank features by a sparse linear model share: one fit, and one way to store it."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from infused._runtime.compat import Interval, StrOptions, fit_context
from infused._runtime.tasks import current_cluster, is_collection
from infused._runtime.threads import blas_threads, memory_budget
from infused._typing import Array
from infused.exceptions import InputError, Setting
from infused.selectors.base import NUMBER_OF_FEATURES, WEIGHT, BaseSelector, how_many
from infused.selectors.inputs.checks import Inputs, check_inputs
from infused.selectors.inputs.groups import GROUPS, KEEP
from infused.selectors.inputs.training import Coding, TrainingData, Weights, refuse_weights, resolve_coding
from infused.selectors.linear.information import InformationTerm, screened
from infused.selectors.linear.model import SparseModel
from infused.selectors.linear.ranking import (
    Adjusted,
    Lambdas,
    Ranked,
    behind,
    fit_path,
    path_grid,
    rank,
    rank_by_coefficient,
)
from infused.solvers.result import RegularizationPath

MOST_ITERATIONS = 2**31 - 1  # more than a solver could make: it would only never end
FEW_ENTRIES = 10**6  # of X: a pass over fewer takes less than waking a thread


@dataclass(frozen=True)
class Composition:
    """What an estimator makes of its data: a model, its weights, and the term that waits for U."""

    model: SparseModel
    """Complete but for the information term, in whose place a ridge stands."""
    lambdas: Lambdas
    information: InformationTerm | None = None
    positive: bool = False
    """The paper's rule: without a number, features with a positive coefficient are selected."""
    attributes: dict[str, Any] = field(default_factory=dict)
    """What the estimator stores beside the results."""


class LinearSelector(BaseSelector):
    r"""Features by the rows of B in :math:`\min_B \frac12 |Y - XB|^2 + \mathrm{tr}(B'SB)` plus norms of B.

    A subclass composes its model from data (:meth:`_compose`); this class ranks it and stores the results.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": NUMBER_OF_FEATURES,
        "lambda1": WEIGHT,
        "lambda_scale": [StrOptions({"relative", "absolute"})],
        "target": [StrOptions({"auto", "onehot", "label", "real"})],
        "groups": GROUPS,
        "keep": KEEP,
        "standardize": ["boolean"],
        "ranking": [StrOptions({"recursive", "forward", "coefficient", "path"})],
        "max_iter": [Interval(Integral, 1, MOST_ITERATIONS, closed="both")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [Integral, None],
    }

    @abstractmethod
    def _compose(self, data: TrainingData) -> Composition:
        """The model on all features."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @fit_context
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Rank and select the features of X for the target y.

        Parameters
        ----------
        X : array, sparse matrix, data frame or Dask array of shape (n_samples, n_features)
            Training samples; texts and categories of a frame are variables as they are. Of an array of Dask,
            inside :func:`infused.cluster`, the workers leave out what the lasso needs least, until the rest
            fits here.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Class labels, real values, several columns of real values, or an indicator matrix of labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            What each sample counts; a whole number is as good as so many copies of it.

        Returns
        -------
        self : object
            The fitted selector.
        """
        if is_collection(X):
            cluster = current_cluster()
            if cluster is None:
                raise InputError("X is an array of Dask: call this inside infused.cluster(client)")
            cluster.fit(self, X, y, sample_weight=sample_weight)
            return self
        inputs = check_inputs(self, X, y, several=True)
        kept = inputs.variables.places(self.keep)
        coding = self._coding(inputs.y)
        number = self._number(inputs, kept, coding == "real", sample_weight)
        k = how_many(number, inputs.variables, len(kept))
        inputs = inputs.weighed(sample_weight)
        with blas_threads(_threads(self.n_jobs, inputs.coded.X)):
            data = self._training_data(inputs, coding)
            composed = self._compose(data)
            adjusted = Adjusted.make(replace(composed.model, n_samples=data.n_samples), kept, data.F)
            ranked, found = _rank(composed, adjusted, self.ranking, k)
        if coding == "onehot":
            self.classes_ = np.unique(inputs.y)
        chosen = _chosen(composed, adjusted, ranked, k)
        self._store_ranking(inputs.variables, ranked.scores, ranked.ranking, chosen)
        _store(self, composed, ranked, found)
        _name_columns(self, inputs)
        return self

    def regularization_path(
        self, X: Any, y: Any, *, lambda1: Any = None, n_lambdas: int = 30, sample_weight: Any = None
    ) -> RegularizationPath:
        """Solve on all features for a grid of lambda1, each time from where the last solution ended.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            As in :meth:`fit`.
        lambda1 : sequence of float, default=None
            The grid, in the scale of ``lambda_scale``; by default ``n_lambdas`` values, evenly in their
            logarithm, from where no feature is needed down to the estimator's own lambda1.
        n_lambdas : int, default=30
            How many values the default grid has.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            As in :meth:`fit`.

        Returns
        -------
        RegularizationPath
            The grid, the coefficients at each of its values, and how exact they are.

        See Also
        --------
        infused.report.plot_coefficients : Draws the coefficients along the path.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from infused import Lasso
        >>> path = Lasso().regularization_path(*load_wine(return_X_y=True), n_lambdas=5)
        >>> path.coef.shape  # lambdas x targets x features
        (5, 3, 13)
        """
        self._validate_params()
        copy = clone(self)  # so that this leaves no trace of a fit
        inputs = check_inputs(copy, X, y, several=True).weighed(sample_weight)
        with blas_threads(_threads(self.n_jobs, inputs.coded.X)):
            data = self._training_data(inputs, self._coding(inputs.y))
            composed = self._compose(data)
            adjusted = Adjusted.make(composed.model, inputs.variables.places(self.keep), data.F)
            model = adjusted.model
            if composed.information is not None:
                model = composed.information.added_to(model, adjusted.features).model
            scale = model.largest_lambda1() if composed.lambdas.relative else 1.0
            if lambda1 is None:
                grid = path_grid(model.largest_lambda1() / scale, composed.lambdas.first, n_lambdas)
            else:
                grid = np.sort(np.asarray(lambda1, dtype=np.float64))[::-1]
            fits = fit_path(model, grid * scale, composed.lambdas.second * scale)
        results = [replace(fit.result, coef=adjusted.coefficients(fit.result.coef)) for fit in fits]
        return RegularizationPath.from_results(grid, results)

    def _coding(self, y: Array) -> Coding:
        """What y is to the model; the paper's formulation takes the numbers of classes as they are."""
        published = getattr(self, "formulation", "stable") == "paper" and self.target == "auto"
        return resolve_coding(y, "label" if published else self.target)

    def _training_data(self, inputs: Inputs, coding: Coding) -> TrainingData:
        X, variables = inputs.coded.X, inputs.coded.variables
        if inputs.levels is not None and not isinstance(getattr(self, "fusion", "auto"), str):
            raise InputError(
                Setting("fusion"),
                " has pairs of features, but those of text have several columns: give columns of numbers",
            )
        budget, weights = memory_budget(), inputs.weights
        return TrainingData.make(X, inputs.y, coding, self.standardize, budget, variables, weights)


def _rank(
    composed: Composition,
    adjusted: Adjusted,
    ranking: str,
    k: int | None,
) -> tuple[Ranked, dict[str, Any]]:
    """Rank the variables, and say what the information term found."""
    k = None if k is None else k - len(adjusted.kept)
    ranked, found = _rank_others(composed, adjusted, ranking, k, memory_budget())
    return adjusted.expanded(ranked), found


def _rank_others(
    composed: Composition, adjusted: Adjusted, ranking: str, k: int | None, budget: int
) -> tuple[Ranked, dict[str, Any]]:
    """The same for those that are not kept."""
    model, lambdas, term = adjusted.model, composed.lambdas, composed.information
    if term is None:
        return rank(model, lambdas, ranking, k), {}
    early, variables = screened(adjusted, lambdas, term, ranking, k, budget)
    features = model.features(variables)
    if early is not None:
        model = model.restricted(features)
    added = term.added_to(model, adjusted.features[features])
    found: dict[str, Any] = {
        "unbounded_": added.unbounded,
        "n_features_screened_": adjusted.model.n_features - len(features),
    }
    if added.limit is not None:
        found["lambda3_limit_"] = added.limit
    if added.unbounded:
        return rank_by_coefficient(added.model, lambdas, stop_early=False), {
            **found,
            "information_error_": 0.0,
        }
    ranked = rank(added.model, lambdas, ranking, None if k is None else min(k, len(variables)))
    found["information_error_"] = added.error(ranked.first.coef)
    return ranked if early is None else behind(early, adjusted.model, variables, ranked), found


def _chosen(composed: Composition, adjusted: Adjusted, ranked: Ranked, k: int | None) -> Array:
    """The variables that are selected: the first k, or without a number those that the model needs."""
    if k is not None:
        return np.asarray(ranked.ranking <= k)
    chosen = np.zeros(len(ranked.ranking), dtype=bool)
    needed = (ranked.coef > 0 if composed.positive else ranked.coef != 0).any(axis=1)
    owners = composed.model.variables
    chosen[np.flatnonzero(needed) if owners is None else owners[needed]] = True
    chosen &= ~composed.model.empty
    chosen[adjusted.kept] = True
    return chosen


def _store(selector: LinearSelector, composed: Composition, ranked: Ranked, found: dict[str, Any]) -> None:
    """Set the fitted attributes that only linear models have."""
    if not np.isfinite(ranked.coef).all():
        raise InputError(
            f"the coefficients of {type(selector).__name__} left the range of numbers: lower ",
            Setting("max_iter"),
            " or ",
            Setting("lambda3"),
            ", or take ",
            Setting("formulation", "stable"),
        )
    selector.coef_ = ranked.coef.T
    selector.n_iter_ = ranked.n_iter
    selector.objective_path_ = ranked.first.objective
    selector.certificate_ = max(ranked.first.certificate, ranked.last.certificate)
    selector.converged_ = ranked.first.converged and ranked.last.converged
    for name, value in {**composed.attributes, **found}.items():
        setattr(selector, name, value)
    if not selector.converged_ and not found.get("unbounded_", False):
        last = ranked.last if ranked.first.converged else ranked.first
        warnings.warn(
            f"{type(selector).__name__} stopped because {last.reason}; the optimality conditions hold to "
            f"{selector.certificate_:.1e} of lambda1, not to tol={selector.tol:g}. Raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )


def _name_columns(selector: LinearSelector, inputs: Inputs) -> None:
    """What the columns of ``coef_`` are, where categories have several."""
    if hasattr(selector, "coef_names_"):  # of an earlier fit
        del selector.coef_names_
    if inputs.coded.names is not None:
        selector.coef_names_ = np.array(inputs.coded.names, dtype=object)


def _threads(n_jobs: int | None, X: Any) -> int | None:
    """The BLAS threads to use: with more features than samples, few entries are not worth a second one."""
    n_samples, n_features = X.shape
    small = n_features > n_samples and n_samples * n_features < FEW_ENTRIES
    return 1 if n_jobs is None and small else n_jobs


class StructuralSelector(LinearSelector):
    """A linear selector with the term of U, whose graphs have one vertex for each sample."""

    lambda3: float

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
