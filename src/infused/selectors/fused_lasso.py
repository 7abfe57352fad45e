"""Fusion along a graph of features, and the selector that is just that."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from infused._typing import Ints
from infused.penalties.fusion import fusion_edges
from infused.selectors.linear import WEIGHT, LinearSelector

__all__ = ["Fused", "FusedLasso"]


class Fused:
    """The parameters ``lambda2``, ``fusion``, ``grid_shape`` and ``solver``, and what they mean."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "lambda2": WEIGHT,
        "fusion": [StrOptions({"chain", "grid", "none"}), "array-like", "sparse matrix"],
        "grid_shape": [tuple, list, None],
        "solver": [StrOptions({"auto", "split-bregman", "proximal", "coordinate-descent"})],
    }
    lambda2: float
    fusion: Any
    grid_shape: tuple[int, int] | None

    def _lambda2(self) -> float:
        return self.lambda2

    def _edges(self, n_features: int) -> Ints | None:
        """None for the chain of whatever features are left; other edges are given once."""
        if isinstance(self.fusion, str) and self.fusion == "chain":
            return None
        return fusion_edges(self.fusion, n_features, self.grid_shape)


class FusedLasso(Fused, LinearSelector):
    r"""The fused lasso.

    .. math::

        \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_i |b_i| + \lambda_2 \sum_i |b_{i+1} - b_i|

    with one row :math:`b_i` for each feature and one column for each class (or real target). Neighbouring
    features get similar coefficients: for spectra, images, positions on a genome.

    Parameters
    ----------
    lambda1, lambda2 : float
        Weights of sparsity and of fusion; relative ones are fractions of the lambda1 at which no feature is
        left.
    fusion : {"chain", "grid", "none"}, pairs of features or sparse adjacency
        Which features are fused: each with the next, neighbouring pixels, or any edges.
    grid_shape : tuple of int, optional
        Rows and columns of the image, for ``fusion="grid"``.
    solver : {"auto", "split-bregman", "proximal", "coordinate-descent"}
        As in :class:`InFusedLasso`, which with ``lambda3=0`` is this selector.
    n_features_to_select, lambda_scale, target, standardize, ranking, max_iter, tol, n_jobs, memory_budget
        As in :class:`Lasso`, and so are the attributes.

    References
    ----------
    R. Tibshirani, M. Saunders, S. Rosset, J. Zhu, K. Knight, "Sparsity and smoothness via the fused lasso",
    Journal of the Royal Statistical Society B 67 (2005).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from infused import FusedLasso
    >>> X, y = load_digits(return_X_y=True)
    >>> selector = FusedLasso(n_features_to_select=10, fusion="grid", grid_shape=(8, 8)).fit(X, y)
    >>> selector.transform(X).shape
    (1797, 10)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearSelector._parameter_constraints,
        **Fused._parameter_constraints,
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | None = None,
        lambda1: float = 0.05,
        lambda2: float = 0.005,
        lambda_scale: str = "relative",
        target: str = "auto",
        fusion: Any = "chain",
        grid_shape: tuple[int, int] | None = None,
        standardize: bool = True,
        ranking: str = "recursive",
        solver: str = "auto",
        max_iter: int = 3000,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        memory_budget: int | float | str | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.lambda_scale = lambda_scale
        self.target = target
        self.fusion = fusion
        self.grid_shape = grid_shape
        self.standardize = standardize
        self.ranking = ranking
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.memory_budget = memory_budget
