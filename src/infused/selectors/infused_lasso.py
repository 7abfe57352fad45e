"""The paper's selector."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from infused._runtime.memory import memory_budget, require
from infused._typing import Ints
from infused.exceptions import ScreeningWarning, UnboundedObjectiveWarning
from infused.graphs.validation import Graph
from infused.information.structural import structural_information
from infused.penalties.fusion import fusion_edges
from infused.penalties.quadratic import Ridge
from infused.results import RegularizationPath
from infused.selectors.base import BaseSelector, how_many
from infused.selectors.inputs import design_matrix, resolve_kind, target_matrix
from infused.selectors.model import SparseModel
from infused.selectors.ranking import (
    Lambdas,
    Ranked,
    fit_path,
    path_grid,
    rank_by_coefficient,
    rank_by_path,
    rank_recursively,
)
from infused.selectors.structure import (
    PublishedTerm,
    bytes_of_structure,
    mean_square,
    one_target,
    size_that_fits,
    stable_term,
)

__all__ = ["InFusedLasso"]


class InFusedLasso(BaseSelector):
    r"""Fused lasso with structural information (InFusedLasso).

    .. math::

        \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_i |b_i| + \lambda_2 \sum_i |b_{i+1} - b_i|
        + \lambda_3\, \mathrm{tr}\, B'\Big(I - \frac{U - \bar U}{c}\Big)B

    with one row :math:`b_i` for each feature and one column for each class (or real target), U the structural
    information of all pairs of features and c the largest eigenvalue of :math:`U - \bar U`. This "stable"
    formulation is convex for every data set. ``formulation="paper"`` is the published one, with the labels as
    y and :math:`-\lambda_3 b'Ub`, which has a minimum only for small :math:`\lambda_3`.

    Parameters
    ----------
    n_features_to_select : int, float or None
        How many features: a number, a fraction, or None for those whose coefficients are not zero (positive,
        in the paper's formulation).
    lambda1, lambda2, lambda3 : float
        Weights of sparsity, of fusion and of structure.
    lambda_scale : {"relative", "absolute"}
        "relative" takes the first two as fractions of the lambda1 at which no feature is left, and lambda3 as
        a fraction of the mean squared length of a feature (in the paper's formulation, of its largest
        admissible value), so that defaults mean the same on all data. "absolute" takes them as they are.
    formulation : {"stable", "paper"}
    target : {"auto", "onehot", "label", "real"}
        What y is to the model; "auto" makes one-hot columns of classes (the paper's formulation: labels).
    fusion : {"chain", "grid", "none"}, pairs of features or sparse adjacency
        Which features are fused: each with the next (the paper), neighbouring pixels, or any edges.
    grid_shape : tuple of int, optional
        Rows and columns of the image, for ``fusion="grid"``.
    graph : {"kernel", "euclidean"}
        See :func:`infused.feature_distributions`.
    standardize : bool
        Whether features and targets are first centred and scaled to length one.
    ranking : {"recursive", "coefficient", "path"}
        How features are ranked when their number is given: by fitting again and again on the best part, by
        the length of their coefficients in one fit, or by the order in which they enter as lambda1 falls.
    solver : {"auto", "split-bregman", "proximal"}
        Algorithm 1, or accelerated proximal gradients (one target on a chain only).
    unbounded : {"raise", "iterate"}
        What to do when the published objective has no minimum: refuse, or run Algorithm 1 for ``max_iter``
        steps as published, with a warning.
    max_iter, tol : int, float
        Most iterations of a fit; largest violation of the optimality conditions relative to lambda1.
    n_jobs : int, optional
        Threads for the structural information.
    memory_budget : int or str, optional
        See :class:`infused.StructuralInformation`. Where U of all features would not fit, the first rounds of
        the recursive ranking run with a ridge in its place, and U enters as soon as what is left fits.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Larger is better; in the order of ``ranking_``.
    ranking_ : ndarray of shape (n_features,)
        1 for the best.
    support_ : ndarray of bool
    coef_ : ndarray of shape (n_targets, n_features)
        Coefficients of the last fit, on standardised features; zero for features that had left by then.
    classes_ : ndarray
        The classes in the order of the rows of ``coef_`` (with two classes there is one row, for the second);
        only where y was made one-hot.
    n_iter_ : int
        Iterations of all fits.
    converged_ : bool
    certificate_ : float
        Largest violation of the optimality conditions, relative to lambda1, of the first and the last fit.
    objective_path_ : ndarray
        The objective along the fit on all features.
    unbounded_ : bool
        Whether Algorithm 1 was run on an objective without a minimum, as ``unbounded="iterate"`` asks.
    lambda3_limit_ : float
        The largest admissible lambda3 (the paper's formulation only).
    n_features_screened_ : int
        Features dropped before U entered; zero when it fits.

    Notes
    -----
    There are no sample weights: the graphs that define U have none.

    References
    ----------
    L. Bai, L. Cui, Y. Wang, P. S. Yu, E. R. Hancock, "Fused Lasso for Feature Selection using Structural
    Information".

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import InFusedLasso
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = InFusedLasso(n_features_to_select=4).fit(X, y)
    >>> selector.transform(X).shape
    (178, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            None,
        ],
        "lambda1": [Interval(Real, 0, None, closed="left")],
        "lambda2": [Interval(Real, 0, None, closed="left")],
        "lambda3": [Interval(Real, 0, None, closed="left")],
        "lambda_scale": [StrOptions({"relative", "absolute"})],
        "formulation": [StrOptions({"stable", "paper"})],
        "target": [StrOptions({"auto", "onehot", "label", "real"})],
        "fusion": [StrOptions({"chain", "grid", "none"}), "array-like", "sparse matrix"],
        "grid_shape": [tuple, list, None],
        "graph": [StrOptions({"kernel", "euclidean"})],
        "standardize": ["boolean"],
        "ranking": [StrOptions({"recursive", "coefficient", "path"})],
        "solver": [StrOptions({"auto", "split-bregman", "proximal"})],
        "unbounded": [StrOptions({"raise", "iterate"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [Integral, None],
        "memory_budget": [Real, str, None],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | None = None,
        lambda1: float = 0.05,
        lambda2: float = 0.005,
        lambda3: float = 0.01,
        lambda_scale: str = "relative",
        formulation: str = "stable",
        target: str = "auto",
        fusion: Any = "chain",
        grid_shape: tuple[int, int] | None = None,
        graph: Graph = "kernel",
        standardize: bool = True,
        ranking: str = "recursive",
        solver: str = "auto",
        unbounded: str = "raise",
        max_iter: int = 3000,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        memory_budget: int | float | str | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.lambda3 = lambda3
        self.lambda_scale = lambda_scale
        self.formulation = formulation
        self.target = target
        self.fusion = fusion
        self.grid_shape = grid_shape
        self.graph = graph
        self.standardize = standardize
        self.ranking = ranking
        self.solver = solver
        self.unbounded = unbounded
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.memory_budget = memory_budget

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]  # scikit-learn's
    def fit(self, X: Any, y: Any) -> InFusedLasso:
        """Rank and select the features of X for the target y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Class labels, real values, or several columns of real values.
        """
        X, y = self._check(X, y)
        k = how_many(self.n_features_to_select, X.shape[1])
        ranked, features = self._rank(X, y, k)
        if self._kind == "onehot":
            self.classes_ = np.unique(y)
        self._store(ranked, features, X.shape[1], k)
        return self

    def regularization_path(
        self, X: Any, y: Any, *, lambda1: Any = None, n_lambdas: int = 30
    ) -> RegularizationPath:
        """Solutions on all features for a grid of lambda1, each started where the last one ended.

        Parameters
        ----------
        X, y
            As in :meth:`fit`.
        lambda1 : sequence of float, optional
            The grid, in the scale of ``lambda_scale``; by default ``n_lambdas`` values, evenly in their
            logarithm, from where no feature is needed down to the estimator's own lambda1.
        """
        self._validate_params()
        fresh: InFusedLasso = clone(self)  # so that this leaves no trace of a fit
        return fresh._path(X, y, lambda1, n_lambdas)

    def _path(self, X: Any, y: Any, lambda1: Any, n_lambdas: int) -> RegularizationPath:
        X, y = self._check(X, y)
        model = self._model(X, y)
        if self.lambda3 > 0:
            model = self._with_structure(model, X, y)
        scale = model.largest_lambda1() if self.lambda_scale == "relative" else 1.0
        if lambda1 is None:
            grid = path_grid(model.largest_lambda1() / scale, self.lambda1, n_lambdas)
        else:
            grid = np.sort(np.asarray(lambda1, dtype=np.float64))[::-1]
        results = [fit.result for fit in fit_path(model, grid * scale, self.lambda2 * scale)]
        return RegularizationPath(
            lambda1=grid,
            coef=np.stack([result.coef.T for result in results]),
            certificate=np.array([result.certificate for result in results]),
            n_iter=np.array([result.n_iter for result in results]),
        )

    def _check(self, X: Any, y: Any) -> tuple[Any, Any]:
        self.unbounded_ = False
        checked: tuple[Any, Any] = validate_data(
            self, X, y, accept_sparse=["csr", "csc"], multi_output=True, ensure_min_samples=2
        )
        return checked

    def _rank(self, X: Any, y: Any, k: int | None) -> tuple[Ranked, Ints]:
        """Rank the features that are left after screening; also says which they are."""
        model = self._model(X, y)
        lambdas = Lambdas(self.lambda1, self.lambda2, self.lambda_scale == "relative")
        features = self._screen(model, lambdas, k)
        screened = len(features) < model.n_features
        if screened:
            model = model.of(features)
        if self.lambda3 > 0:
            model = self._with_structure(model, X[:, features] if screened else X, y)
        if self.unbounded_:
            return rank_by_coefficient(model, lambdas, stop_early=False), features
        if k is None or self.ranking == "coefficient":
            return rank_by_coefficient(model, lambdas), features
        if self.ranking == "path":
            return rank_by_path(model, lambdas), features
        return rank_recursively(model, lambdas, k), features

    def _model(self, X: Any, y: Any) -> SparseModel:
        """The model with a ridge in the place of the structural term."""
        budget = memory_budget(self.memory_budget)
        paper = self.formulation == "paper"
        self._kind = resolve_kind(y, "label" if paper and self.target == "auto" else self.target)
        F = design_matrix(X, self.standardize, budget)
        Y = target_matrix(y, self._kind, self.standardize)
        chain = isinstance(self.fusion, str) and self.fusion == "chain"
        edges = None if chain else fusion_edges(self.fusion, X.shape[1], self.grid_shape)
        weight = self.lambda3 * mean_square(F) if self.lambda_scale == "relative" else self.lambda3
        quadratic = Ridge(0.0 if paper else weight)
        return SparseModel(F, Y, quadratic, edges, self.solver, self.max_iter, self.tol)

    def _screen(self, model: SparseModel, lambdas: Lambdas, k: int | None) -> Ints:
        """All features, or as many as U fits for, chosen by the rounds that the ranking would do anyway."""
        n = model.n_features
        budget = memory_budget(self.memory_budget)
        self.n_features_screened_ = 0
        if self.lambda3 == 0 or bytes_of_structure(n) <= budget:
            return np.arange(n)
        recursive = self.formulation == "stable" and self.ranking == "recursive"
        size = size_that_fits(n, k, budget) if k is not None and recursive else n
        if bytes_of_structure(size) > budget:
            what = f"U of {size} features"
            require(bytes_of_structure(size), budget, what, "set n_features_to_select to a smaller number")
        warnings.warn(
            f"U of {n} features would not fit in the memory budget: the first rounds ran without it, "
            f"and it entered when {size} features were left.",
            ScreeningWarning,
            stacklevel=5,
        )
        self.n_features_screened_ = n - size
        return np.flatnonzero(rank_recursively(model, lambdas, size).ranking <= size)

    def _with_structure(self, model: SparseModel, X: Any, y: Any) -> SparseModel:
        U = structural_information(
            X,
            one_target(y),
            graph=self.graph,
            target="real" if self._kind == "real" else "classes",
            n_jobs=self.n_jobs,
            memory_budget=self.memory_budget,
        )
        relative = self.lambda_scale == "relative"
        if self.formulation == "stable":
            return replace(model, quadratic=stable_term(model.X, U, self.lambda3, relative))
        published = PublishedTerm.of(model.X, U, self.lambda3, relative)
        self.lambda3_limit_ = published.limit
        if not published.bounded:
            if self.unbounded == "raise":
                published.refuse()
            self.unbounded_ = True
            running = f"Running {self.max_iter} iterations of Algorithm 1 as published."
            warnings.warn(f"{published.complaint} {running}", UnboundedObjectiveWarning, stacklevel=5)
        return replace(model, quadratic=published.term)

    def _store(self, ranked: Ranked, features: Ints, n_features: int, k: int | None) -> None:
        """Set the fitted attributes; features that were screened out rank behind all others."""
        self.scores_ = np.full(n_features, -1.0 if len(features) < n_features else 0.0)
        self.scores_[features] = ranked.scores
        self.ranking_ = np.full(n_features, len(features) + 1)
        self.ranking_[features] = ranked.ranking
        coef = np.zeros((n_features, ranked.coef.shape[1]))
        coef[features] = ranked.coef
        self.coef_ = coef.T
        positive = self.formulation == "paper"
        chosen = (coef > 0).any(axis=1) if positive else coef.any(axis=1)
        self.support_ = chosen if k is None else self.ranking_ <= k
        self.n_iter_ = ranked.n_iter
        self.objective_path_ = ranked.first.objective
        self.certificate_ = max(ranked.first.certificate, ranked.last.certificate)
        self.converged_ = ranked.first.converged and ranked.last.converged
        if not self.converged_ and not self.unbounded_:
            last = ranked.last if ranked.first.converged else ranked.first
            warnings.warn(
                f"InFusedLasso stopped because {last.reason}; the optimality conditions hold to "
                f"{self.certificate_:.1e} of lambda1, not to tol={self.tol:g}. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
