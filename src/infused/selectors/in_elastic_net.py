"""The elastic net with structural information."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from infused._typing import Floats
from infused.graphs.validation import Graph
from infused.information.structural import structural_information
from infused.selectors.linear import WEIGHT
from infused.selectors.structure import one_target
from infused.selectors.structured import StructuredSelector

__all__ = ["InElasticNet"]


class InElasticNet(StructuredSelector):
    r"""The elastic net with structural information (InElasticNet).

    .. math::

        \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_i |b_i| + \lambda_2 |B|^2
        + \lambda_3\, \mathrm{tr}\, B'\Big(I - \frac{U - \bar U}{c}\Big)B,
        \qquad U_{ij} = \frac{I_S(G_i, T_i) + I_S(G_j, T_j)}{I_S(G_i, G_j)}

    with the Euclidean graphs of features and targets. ``formulation="paper"`` is the published
    :math:`-\lambda_3 b'Ub`; the ridge raises the largest admissible :math:`\lambda_3` above zero.

    Parameters
    ----------
    lambda1, lambda2, lambda3 : float
        Weights of sparsity, of the ridge and of structure. Relative ones of the last two are fractions of the
        mean squared length of a feature.
    graph : {"euclidean", "kernel"}
        See :func:`infused.feature_distributions`.
    formulation, unbounded
        As in :class:`InFusedLasso`, and so are the attributes.
    n_features_to_select, lambda_scale, target, standardize, ranking, max_iter, tol, n_jobs, memory_budget
        As in :class:`InFusedLasso`.

    References
    ----------
    L. Cui, L. Bai, Z. Zhang, Y. Wang, E. R. Hancock, "Identifying the most informative features using a
    structurally interacting elastic net", Neurocomputing 336 (2019).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import InElasticNet
    >>> X, y = load_wine(return_X_y=True)
    >>> InElasticNet(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StructuredSelector._parameter_constraints,
        "lambda2": WEIGHT,
        "graph": [StrOptions({"kernel", "euclidean"})],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | None = None,
        lambda1: float = 0.05,
        lambda2: float = 0.01,
        lambda3: float = 0.01,
        lambda_scale: str = "relative",
        formulation: str = "stable",
        target: str = "auto",
        graph: Graph = "euclidean",
        standardize: bool = True,
        ranking: str = "recursive",
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
        self.graph = graph
        self.standardize = standardize
        self.ranking = ranking
        self.unbounded = unbounded
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.memory_budget = memory_budget

    def _ridge(self, F: Floats) -> float:
        return self._weight(self.lambda2, F)

    def _information(self, X: Any, y: Any) -> Floats:
        return structural_information(
            X,
            one_target(y),
            criterion="two-way",
            graph=self.graph,
            target="real" if self._kind == "real" else "classes",
            n_jobs=self.n_jobs,
            memory_budget=self.memory_budget,
        )
