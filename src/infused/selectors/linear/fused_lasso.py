"""Fusion along a graph of features, and the selector that is just that."""

from __future__ import annotations

from typing import Any, ClassVar

from infused._runtime.compat import StrOptions
from infused.selectors.base import WEIGHT
from infused.selectors.docs import FUSION, LINEAR, documented
from infused.selectors.inputs.training import TrainingData
from infused.selectors.linear.estimator import Composition, LinearSelector
from infused.selectors.linear.feature_order import choose_fusion
from infused.selectors.linear.model import SparseModel
from infused.selectors.linear.ranking import Lambdas

#: What the parameters of fusion may be, for scikit-learn's validation.
CONSTRAINTS: dict[str, list[Any]] = {
    "lambda2": WEIGHT,
    "fusion": [StrOptions({"auto", "chain", "grid", "none"}), "array-like", "sparse matrix"],
    "grid_shape": [tuple, list, None],
    "solver": [StrOptions({"auto", "split-bregman", "proximal", "coordinate-descent"})],
}


@documented({**LINEAR, **FUSION})
class FusedLasso(LinearSelector):
    r"""The fused lasso.

    .. math::

        \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_i |b_i| + \lambda_2 \sum_i |b_{i+1} - b_i|

    with one row :math:`b_i` for each feature and one column for each class (or real target). Neighbouring
    features get similar coefficients: for spectra, images, positions on a genome.

    Parameters
    ----------
    %(n_features_to_select)s
    %(lambda1)s
    %(lambda2)s
    %(lambda_scale)s
    %(target)s
    %(groups)s
    %(keep)s
    %(fusion)s
    %(grid_shape)s
    %(standardize)s
    %(ranking)s
    %(solver)s
    %(max_iter)s
    %(tol)s
    %(n_jobs)s

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    InFusedLasso : With structural information; this selector where ``lambda3=0``.
    Lasso : Without fusion; this selector where ``lambda2=0``.

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
        **CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | str | None = None,
        lambda1: float = 0.05,
        lambda2: float = 0.005,
        lambda_scale: str = "relative",
        target: str = "auto",
        groups: Any = None,
        keep: Any = None,
        fusion: Any = "auto",
        grid_shape: tuple[int, int] | None = None,
        standardize: bool = True,
        ranking: str = "recursive",
        solver: str = "auto",
        max_iter: int = 3000,
        tol: float = 1e-4,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.lambda_scale = lambda_scale
        self.target = target
        self.groups = groups
        self.keep = keep
        self.fusion = fusion
        self.grid_shape = grid_shape
        self.standardize = standardize
        self.ranking = ranking
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def _compose(self, data: TrainingData) -> Composition:
        grouped = data.groups is not None
        fused = choose_fusion(self.fusion, self.grid_shape, data.F, grouped=grouped, weights=data.weights)
        model = SparseModel(
            data.F,
            data.Y,
            self.max_iter,
            self.tol,
            edges=fused.edges,
            groups=data.groups,
            solver=self.solver,
        )
        lambdas = Lambdas(self.lambda1, self.lambda2, self.lambda_scale == "relative")
        return Composition(model, lambdas, attributes=fused.attributes())
