"""The paper's selector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from infused._runtime.compat import StrOptions
from infused.graphs.validation import Graph
from infused.selectors.docs import FUSION, INFORMED, documented
from infused.selectors.inputs.training import TrainingData
from infused.selectors.linear.feature_order import CONSTRAINTS, choose_fusion
from infused.selectors.linear.information import StructuralSelector, Structure
from infused.selectors.linear.model import SparseModel


@documented({**INFORMED, **FUSION})
@dataclass(kw_only=True, eq=False, repr=False)
class InFusedLasso(StructuralSelector):
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
    %(linear)s
    %(lambda3)s
    %(formulation)s
    %(unbounded)s
    %(lambda2)s
    %(fusion)s
    %(grid_shape)s
    graph : {"kernel", "euclidean"}, default="kernel"
        The graphs that are compared; see :func:`infused.feature_distributions`.
    %(solver)s

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    FusedLasso : The same without structural information.
    InElasticNet : A ridge instead of fusion, and another structural information.
    InLasso : Mutual information of pairs, and no fusion.
    structural_information : The matrix U.

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

    lambda2: float = 0.005
    fusion: Any = "auto"
    grid_shape: tuple[int, int] | None = None
    graph: Graph = "kernel"
    solver: str = "auto"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StructuralSelector._parameter_constraints,
        **CONSTRAINTS,
        "graph": [StrOptions({"kernel", "euclidean"})],
    }

    def _model(self, data: TrainingData) -> SparseModel:
        self._refuse_weights(data.weights)
        grouped = data.groups is not None
        order = choose_fusion(
            self.fusion, self.grid_shape, data.F, published=self._published, grouped=grouped
        )
        self.fusion_, self.fusion_reason_, self.grid_shape_ = order.name, order.reason, order.grid_shape
        # Coordinate descent takes few features at a time.
        few = order.nothing and not grouped and self.solver in ("auto", "coordinate-descent")
        U = Structure(data, "three-way", self.graph, self.n_jobs)
        return self._sparse_model(  # 1/2 |Y - XB|^2 + lambda1 sum |b_i|
            data,
            lambda2=self.lambda2,  # lambda2 sum |b_i - b_j|
            edges=order.edges,  # over these pairs
            quadratic=self._structural(U.pairs(few), data),  # lambda3 tr B'(I - (U - mean U)/c)B
            solver=self.solver,
        )
