"""Fusion along a graph of features, and the selector that is just that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from infused.selectors.docs import FUSION, LINEAR, documented
from infused.selectors.inputs.training import TrainingData
from infused.selectors.linear.estimator import LinearSelector
from infused.selectors.linear.feature_order import CONSTRAINTS, choose_fusion
from infused.selectors.linear.model import SparseModel


@documented({**LINEAR, **FUSION})
@dataclass(kw_only=True, eq=False, repr=False)
class FusedLasso(LinearSelector):
    r"""The fused lasso.

    .. math::

        \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_i |b_i| + \lambda_2 \sum_i |b_{i+1} - b_i|

    with one row :math:`b_i` for each feature and one column for each class (or real target). Neighbouring
    features get similar coefficients: for spectra, images, positions on a genome.

    Parameters
    ----------
    %(linear)s
    %(lambda2)s
    %(fusion)s
    %(grid_shape)s
    %(solver)s

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

    lambda2: float = 0.005
    fusion: Any = "auto"
    grid_shape: tuple[int, int] | None = None
    solver: str = "auto"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearSelector._parameter_constraints,
        **CONSTRAINTS,
    }

    def _model(self, data: TrainingData) -> SparseModel:
        grouped = data.groups is not None
        order = choose_fusion(self.fusion, self.grid_shape, data.F, grouped=grouped, weights=data.weights)
        self.fusion_, self.fusion_reason_, self.grid_shape_ = order.name, order.reason, order.grid_shape
        return self._sparse_model(data, lambda2=self.lambda2, edges=order.edges, solver=self.solver)
