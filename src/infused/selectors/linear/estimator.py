"""What the linear selectors share: losses, parameters, and the steps of a fit."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from infused._columns import StoredColumns
from infused._runtime.compat import Interval, StrOptions, fit_context
from infused._runtime.processes import current_cluster, is_collection
from infused._runtime.threads import blas_threads, memory_budget
from infused._typing import Array, Ints
from infused.exceptions import InputError, Setting
from infused.selectors.base import NUMBER_OF_FEATURES, WEIGHT, BaseSelector, documented, how_many
from infused.selectors.inputs.checks import Inputs, check_inputs
from infused.selectors.inputs.groups import FACTORS, GROUPS, KEEP
from infused.selectors.inputs.training import (
    LOSS,
    Coding,
    TrainingData,
    coding_for,
    quadratic_weight,
    resolve_loss,
    with_loss,
)
from infused.selectors.linear.model import SparseModel
from infused.selectors.linear.path import RegularizationPath, explained, held_out, solve_path
from infused.selectors.linear.ranking import Ranked, Unpenalised, rank

MOST_ITERATIONS = 2**31 - 1  # more than a solver could make: it would only never end
FEW_ENTRIES = 10**6  # of X: a pass over fewer takes less than waking a thread


@documented()
@dataclass(kw_only=True, eq=False, repr=False)
class LinearSelector(BaseSelector):
    r"""Features by the rows of B in :math:`\min_B \frac12 |Y - XB|^2 + \mathrm{tr}(B'SB)` plus norms of B.

    A subclass composes its model from data (:meth:`_model`); this class ranks by it and stores the results.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        How many features: a number, a fraction, "auto" for the smallest number that predicts within one
        standard error of the best (by cross-validation), or None for those whose coefficients are not
        zero.
    lambda1 : float, default=0.05
        Weight of sparsity; a relative one is a fraction of the value at which no feature is left.
    lambda_scale : {"relative", "absolute"}, default="relative"
        "relative" takes weights as fractions of what the data allow, so that defaults mean the same on
        all data; "absolute" takes them as they are.
    target : {"auto", "onehot", "label", "real"}, default="auto"
        What y is to the model; "auto" makes one-hot columns of classes, and takes several columns as they
        are.
    %(groups)s
    %(keep)s
        Their coefficients carry no penalty, and the others are ranked by what they add to them.
    standardize : bool, default=True
        Whether features and targets are first centred and scaled to length one. Constant features are
        zero either way, and rank last.
    ranking : {"recursive", "forward", "coefficient", "path"}, default="recursive"
        How features are ranked when their number is given. "recursive" eliminates recursively by the
        model itself: fit, drop the features with the smallest coefficients, fit again, down to one
        feature. "forward" takes the features that the model keeps when 250 are left, in the order of
        forward selection by ridge regression; use it where few features should predict well, not to
        read the model from the order, which lambda2 and lambda3 no longer affect. "coefficient" ranks by
        the size of the coefficients in one fit, "path" by the order in which features enter as lambda1
        falls.
    max_iter : int, default=3000
        Most iterations of a fit.
    tol : float, default=1e-4
        Largest violation of the optimality conditions, relative to lambda1.
    n_jobs : int or None, default=None
        Threads for linear algebra, -1 for every core; None leaves them to BLAS.
    loss : {"auto", "squared", "logistic", "poisson", "huber", "cox"}, default="auto"
        What is minimised beside the penalties. "auto" is the squared error as above, and "cox" where y
        has times and events. "logistic" is the likelihood of classes (multinomial for more than two, with
        one row of coefficients per class), "poisson" that of counts, "cox" the partial likelihood of
        survival times (Breslow's rule for ties): y is a structured array of an event (bool) and a time,
        or has the columns time and event. "huber" is the squared error, but linear for outliers.
        Intercepts carry no penalty.
    penalty_factors : array-like of shape (n_features,), mapping or None, default=None
        What the penalty of each feature (or group) is multiplied with, or a mapping from names to factors
        where all others have 1: 0 for always selected, infinity for never, 2 for twice the penalty.
    positive : bool, default=False
        Whether coefficients must be at least zero (but for features without a penalty).

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,) or (n_groups,)
        Larger is better; in the order of ``ranking_``.
    ranking_ : ndarray of int of shape (n_features,) or (n_groups,)
        1 for the best. It is the same for every number of features that is asked for, so that the first j
        are the selection for j; with None, features are ranked by the length of their coefficients.
    %(attributes)s
    coef_ : ndarray of shape (n_targets, n_features)
        Coefficients of the last fit, on standardised features; zero for features that had left by then.
        Of a category one for each level: then there are more, and ``coef_names_`` has their names.
    coef_names_ : ndarray of str
        What the columns of ``coef_`` are, as in "port=Southampton"; only where X has categories.
    classes_ : ndarray of shape (n_classes,)
        The classes in the order of the rows of ``coef_`` (with two classes there is one row, for the
        second); only where y was made one-hot.
    n_iter_ : int
        Iterations of all fits.
    converged_ : bool
        Whether the first and the last fit met ``tol``.
    certificate_ : float
        Largest violation of the optimality conditions, relative to lambda1, of the first and the last
        fit.
    objective_path_ : ndarray of shape (n_iterations,)
        The objective along the fit on all features.
    """

    n_features_to_select: int | float | str | None = None
    lambda1: float = 0.05
    lambda_scale: str = "relative"
    target: str = "auto"
    groups: Any = None
    keep: Any = None
    standardize: bool = True
    ranking: str = "recursive"
    max_iter: int = 3000
    tol: float = 1e-4
    n_jobs: int | None = None
    loss: str = "auto"
    penalty_factors: Any = None
    positive: bool = False

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
        "loss": LOSS,
        "penalty_factors": FACTORS,
        "positive": ["boolean"],
    }

    _takes_survival = True

    @abstractmethod
    def _model(self, data: TrainingData) -> SparseModel:
        """Compose the model on all features."""

    def _sparse_model(self, data: TrainingData, **terms: Any) -> SparseModel:
        """Make a model of the data, the sparsity that all have, and terms of its own."""
        return SparseModel(
            X=data.design,
            Y=data.Y,
            datafit=data.datafit,
            factors=data.variables.factors(self.penalty_factors),
            positive=self.positive,
            lambda1=self.lambda1,
            relative=self.lambda_scale == "relative",
            groups=data.groups,
            n_samples=data.n_samples,
            max_iter=self.max_iter,
            tol=self.tol,
            **terms,
        )

    def _quadratic_weight(self, share: float, data: TrainingData) -> float:
        """Return the weight of a quadratic term; a relative one is a share of a mean curvature."""
        X, _ = self._sparse_model(data).touching
        return quadratic_weight(share, X, self.lambda_scale == "relative")

    def _within_limit(self, model: SparseModel) -> SparseModel:
        """Return the model, which has a minimum."""
        return model

    def _ranked(self, model: SparseModel, k: int | None) -> Ranked:
        """Rank the variables of a model."""
        return rank(model, self.ranking, k)

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
            Training samples; texts and categories of a frame are variables as they are. What
            :func:`infused.open_columns` opened, or a large ``numpy.memmap``, stays on disk. Of an array of
            Dask, inside :func:`infused.cluster`, the workers leave out what the lasso needs least, until the
            rest fits here.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Class labels, real values, several columns of real values, or an indicator matrix of labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            What each sample counts; a whole number is as good as so many copies of it.

        Returns
        -------
        self : object
            The fitted selector.
        """
        cluster = current_cluster()
        if isinstance(X, StoredColumns) and cluster is not None:
            X = X.to_dask()
        if is_collection(X):
            if cluster is None:
                raise InputError("X is an array of Dask: call this inside infused.cluster(client)")
            cluster.fit(self, X, y, sample_weight=sample_weight)
            return self
        loss, y = resolve_loss(self.loss, y)
        inputs = check_inputs(self, X, y, several=True, stored=True)
        kept = self._kept(inputs)
        coding = self._coding(loss, inputs.y)
        number = self._number(inputs, kept, coding == "real", sample_weight)
        k = how_many(number, inputs.variables, len(kept))
        inputs = inputs.weighed(sample_weight)
        with blas_threads(_threads(self.n_jobs, inputs.coded.X)):
            data = self._training_data(inputs, coding, loss)
            others = Unpenalised.make(self._model(data), kept, data.design)
            ranked = others.expanded(self._ranked(others.model, None if k is None else k - len(kept)))
        if coding == "onehot":
            self.classes_ = np.unique(inputs.y)
        self._store_ranking(inputs.variables, ranked.scores, ranked.ranking, self._chosen(others, ranked, k))
        self._store(ranked)
        _name_columns(self, inputs)
        return self

    def regularization_path(
        self,
        X: Any,
        y: Any,
        *,
        lambda1: Any = None,
        n_lambdas: int = 30,
        sample_weight: Any = None,
        cv: Any = None,
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
        cv : int, splitter of scikit-learn's kind, iterable of splits or None, default=None
            How to hold samples out, so that a lambda1 can be chosen by their deviance; None for not at all.

        Returns
        -------
        RegularizationPath
            The grid, the coefficients at each of its values, and how exact they are. Its ``model()`` has
            coefficients and intercepts on the scale of the data.

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
        loss, y = resolve_loss(self.loss, y)
        inputs = check_inputs(copy, X, y, several=True, stored=True)
        weighed = inputs.weighed(sample_weight)
        with blas_threads(_threads(self.n_jobs, inputs.coded.X)):
            found = solve_path(copy, weighed, loss, lambda1, n_lambdas)
            chosen = () if cv is None else held_out(copy, inputs, loss, found, sample_weight, cv)
        return RegularizationPath(
            found.grid,
            np.stack([one.coef.T for one in found.results]),
            np.array([one.certificate for one in found.results]),
            np.array([one.n_iter for one in found.results]),
            found.coef,
            found.intercept,
            explained(found, weighed, loss, self.standardize),
            *chosen,
        )

    @property
    def _published(self) -> bool:
        """Tell whether the model is as the paper prints it."""
        return getattr(self, "formulation", "stable") == "paper"

    def _kept(self, inputs: Inputs) -> Ints:
        """Find the variables without a penalty: those of ``keep``, and those with a factor of zero."""
        kept = inputs.variables.places(self.keep)
        factors = inputs.variables.factors(self.penalty_factors)
        if factors is None:
            return kept
        number = self.n_features_to_select
        if isinstance(number, Integral) and number > np.isfinite(factors).sum():
            raise InputError(
                Setting("n_features_to_select", number),
                f" is more than the {np.isfinite(factors).sum()} features with a finite factor in ",
                Setting("penalty_factors"),
            )
        return np.concatenate([kept, np.setdiff1d(np.flatnonzero(factors == 0), kept)])

    def _coding(self, loss: str, y: Array) -> Coding:
        """Return what y is to the model; the paper's formulation takes the numbers of classes as they are."""
        return coding_for(loss, y, "label" if self._published and self.target == "auto" else self.target)

    def _training_data(self, inputs: Inputs, coding: Coding, loss: str) -> TrainingData:
        X, variables = inputs.coded.X, inputs.coded.variables
        if inputs.levels is not None and not isinstance(getattr(self, "fusion", "auto"), str):
            raise InputError(
                Setting("fusion"),
                " has pairs of features, but those of text have several columns: give columns of numbers",
            )
        if self._published and loss != "squared":
            raise InputError(
                Setting("loss", loss), " is not published: take ", Setting("formulation", "stable")
            )
        budget, weights = memory_budget(), inputs.weights
        data = TrainingData.make(X, inputs.y, coding, self.standardize, budget, variables, weights)
        return with_loss(data, loss, inputs.y)

    def _chosen(self, others: Unpenalised, ranked: Ranked, k: int | None) -> Array:
        """Select the first k variables, or without a number those that the model needs.

        The published rule takes positive coefficients.
        """
        if k is not None:
            return np.asarray(ranked.ranking <= k)
        chosen, model = np.zeros(len(ranked.ranking), dtype=bool), others.whole
        needed = (ranked.coef > 0 if self._published else ranked.coef != 0).any(axis=1)
        chosen[np.flatnonzero(needed) if model.variables is None else model.variables[needed]] = True
        chosen &= ~model.empty
        chosen[others.kept] = True
        return chosen

    def _store(self, ranked: Ranked) -> None:
        """Set the fitted attributes that only linear models have."""
        if not np.isfinite(ranked.coef).all():
            raise InputError(
                f"the coefficients of {type(self).__name__} left the range of numbers: lower ",
                Setting("max_iter"),
                " or ",
                Setting("lambda3"),
                ", or take ",
                Setting("formulation", "stable"),
            )
        self.coef_ = ranked.coef.T
        self.n_iter_ = ranked.n_iter
        self.objective_path_ = ranked.first.objective
        self.certificate_ = max(ranked.first.certificate, ranked.last.certificate)
        self.converged_ = ranked.first.converged and ranked.last.converged
        if not self.converged_ and not getattr(self, "unbounded_", False):
            last = ranked.last if ranked.first.converged else ranked.first
            warnings.warn(
                f"{type(self).__name__} stopped because {last.reason}; the optimality conditions hold to "
                f"{self.certificate_:.1e} of lambda1, not to tol={self.tol:g}. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )


def _name_columns(selector: LinearSelector, inputs: Inputs) -> None:
    """Name the columns of ``coef_``, where categories have several."""
    if hasattr(selector, "coef_names_"):  # of an earlier fit
        del selector.coef_names_
    if inputs.coded.names is not None:
        selector.coef_names_ = np.array(inputs.coded.names, dtype=object)


def _threads(n_jobs: int | None, X: Any) -> int | None:
    """Return the BLAS threads to use: with more features than samples, few entries are worth only one."""
    n_samples, n_features = X.shape
    small = n_features > n_samples and n_samples * n_features < FEW_ENTRIES
    return 1 if n_jobs is None and small else n_jobs
