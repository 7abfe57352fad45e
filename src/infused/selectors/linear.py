"""What the selectors that rank features by a sparse linear model share."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from infused._runtime.memory import memory_budget
from infused._runtime.threads import blas_threads
from infused._typing import Array, Floats, Ints
from infused.penalties.quadratic import Quadratic, Ridge
from infused.selectors.base import NUMBER_OF_FEATURES, BaseSelector, how_many
from infused.selectors.inputs import design_matrix, mean_square, resolve_kind, target_matrix
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
from infused.solvers.result import RegularizationPath

__all__ = ["WEIGHT", "LinearSelector"]

FEW_ENTRIES = 10**6  # of X: a pass over fewer takes less than waking a thread
WEIGHT = [Interval(Real, 0, None, closed="left")]  # what a lambda may be


class LinearSelector(BaseSelector):
    r"""Features by the rows of B in :math:`\min_B \frac12 |Y - XB|^2 + \mathrm{tr}(B'SB)` plus norms of B.

    A subclass says which S (:meth:`_quadratic`), which features are fused (:meth:`_edges`), which form groups
    (:meth:`_groups`); this class fits, ranks and stores.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": NUMBER_OF_FEATURES,
        "lambda1": WEIGHT,
        "lambda_scale": [StrOptions({"relative", "absolute"})],
        "target": [StrOptions({"auto", "onehot", "label", "real"})],
        "standardize": ["boolean"],
        "ranking": [StrOptions({"recursive", "coefficient", "path"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [Integral, None],
        "memory_budget": [Real, str, None],
    }

    solver = "auto"  # unless it is a parameter

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]  # scikit-learn's
    def fit(self, X: Any, y: Any) -> Self:
        """Rank and select the features of X for the target y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Class labels, real values, or several columns of real values.
        """
        X, y = self._check(X, y)
        k = how_many(self.n_features_to_select, X.shape[1])
        with blas_threads(_threads(self.n_jobs, X)):
            ranked, features = self._rank_features(X, y, k)
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
        fresh: LinearSelector = clone(self)  # so that this leaves no trace of a fit
        X, y = fresh._check(X, y)
        with blas_threads(_threads(self.n_jobs, X)):
            return fresh._path(X, y, lambda1, n_lambdas)

    def _path(self, X: Any, y: Any, lambda1: Any, n_lambdas: int) -> RegularizationPath:
        model = self._whole_model(X, y)
        scale = model.largest_lambda1() if self.lambda_scale == "relative" else 1.0
        if lambda1 is None:
            grid = path_grid(model.largest_lambda1() / scale, self.lambda1, n_lambdas)
        else:
            grid = np.sort(np.asarray(lambda1, dtype=np.float64))[::-1]
        results = [fit.result for fit in fit_path(model, grid * scale, self._lambda2() * scale)]
        return RegularizationPath(
            lambda1=grid,
            coef=np.stack([result.coef.T for result in results]),
            certificate=np.array([result.certificate for result in results]),
            n_iter=np.array([result.n_iter for result in results]),
        )

    def _check(self, X: Any, y: Any) -> tuple[Any, Any]:
        checked: tuple[Any, Any] = validate_data(
            self, X, y, accept_sparse=["csr", "csc"], multi_output=True, ensure_min_samples=2
        )
        return checked

    def _rank_features(self, X: Any, y: Any, k: int | None) -> tuple[Ranked, Ints]:
        """Rank the features, and say which they are."""
        return self._rank(self._whole_model(X, y), k), np.arange(X.shape[1])

    def _rank(self, model: SparseModel, k: int | None) -> Ranked:
        if k is None or self.ranking == "coefficient":
            return rank_by_coefficient(model, self._lambdas())
        if self.ranking == "path":
            return rank_by_path(model, self._lambdas())
        return rank_recursively(model, self._lambdas(), k)

    def _lambdas(self) -> Lambdas:
        return Lambdas(self.lambda1, self._lambda2(), self.lambda_scale == "relative")

    def _whole_model(self, X: Any, y: Any) -> SparseModel:
        """The model on all features, complete."""
        return self._model(X, y)

    def _model(self, X: Any, y: Any) -> SparseModel:
        self._kind = resolve_kind(y, self._target())
        F = design_matrix(X, self.standardize, memory_budget(self.memory_budget))
        Y = target_matrix(y, self._kind, self.standardize)
        edges, groups = self._edges(F.shape[1]), self._groups(F, Y)
        quadratic = self._quadratic(F)
        return SparseModel(F, Y, quadratic, edges, self.solver, self.max_iter, self.tol, groups)

    def _target(self) -> str:
        return str(self.target)

    def _quadratic(self, F: Floats) -> Quadratic:
        return Ridge(0.0)

    def _lambda2(self) -> float:
        """The weight of fusion."""
        return 0.0

    def _edges(self, n_features: int) -> Ints | None:
        return np.empty((0, 2), np.int64)

    def _groups(self, F: Floats, Y: Floats) -> Array | None:
        return None

    def _weight(self, share: float, F: Floats) -> float:
        """A quadratic weight: relative ones are shares of the mean squared length of a feature."""
        return share * mean_square(F) if self.lambda_scale == "relative" else share

    def _selected(self, coef: Floats) -> Array:
        """The features that are selected when no number is given: those whose rows are not zero."""
        return np.asarray(coef.any(axis=1))

    def _store(self, ranked: Ranked, features: Ints, n_features: int, k: int | None) -> None:
        """Set the fitted attributes; features that were screened out rank behind all others."""
        self.scores_ = np.full(n_features, -1.0 if len(features) < n_features else 0.0)
        self.scores_[features] = ranked.scores
        self.ranking_ = np.full(n_features, len(features) + 1)
        self.ranking_[features] = ranked.ranking
        coef = np.zeros((n_features, ranked.coef.shape[1]))
        coef[features] = ranked.coef
        self.coef_ = coef.T
        self.support_ = self._selected(coef) if k is None else self.ranking_ <= k
        self.n_iter_ = ranked.n_iter
        self.objective_path_ = ranked.first.objective
        self.certificate_ = max(ranked.first.certificate, ranked.last.certificate)
        self.converged_ = ranked.first.converged and ranked.last.converged
        if not self.converged_ and self._must_converge():
            last = ranked.last if ranked.first.converged else ranked.first
            warnings.warn(
                f"{type(self).__name__} stopped because {last.reason}; the optimality conditions hold to "
                f"{self.certificate_:.1e} of lambda1, not to tol={self.tol:g}. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _must_converge(self) -> bool:
        return True


def _threads(n_jobs: int | None, X: Any) -> int | None:
    """The BLAS threads to use: with more features than samples, few entries are not worth a second one."""
    n_samples, n_features = X.shape
    small = n_features > n_samples and n_samples * n_features < FEW_ENTRIES
    return 1 if n_jobs is None and small else n_jobs
