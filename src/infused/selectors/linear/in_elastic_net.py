"""The elastic net with structural information."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from infused._runtime.compat import StrOptions
from infused.graphs.validation import Graph
from infused.selectors.base import WEIGHT
from infused.selectors.docs import INFORMED, documented
from infused.selectors.inputs.training import TrainingData
from infused.selectors.linear.information import StructuralSelector, Structure
from infused.selectors.linear.model import SparseModel


@documented(INFORMED)
@dataclass(kw_only=True, eq=False, repr=False)
class InElasticNet(StructuralSelector):
    r"""The elastic net with structural information (InElasticNet).

    .. math::

        \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_i |b_i| + \lambda_2 |B|^2
        + \lambda_3\, \mathrm{tr}\, B'\Big(I - \frac{U - \bar U}{c}\Big)B,
        \qquad U_{ij} = \frac{I_S(G_i, T_i) + I_S(G_j, T_j)}{I_S(G_i, G_j)}

    with the Euclidean graphs of features and targets and c the largest eigenvalue of :math:`U - \bar U`.
    ``formulation="paper"`` is the published :math:`-\lambda_3 b'Ub`; the ridge raises the largest admissible
    :math:`\lambda_3` above zero.

    Parameters
    ----------
    %(linear)s
    %(lambda3)s
    %(formulation)s
    %(unbounded)s
    lambda2 : float, default=0.01
        Weight of the ridge; a relative one is a fraction of the mean squared length of a feature.
    graph : {"kernel", "euclidean"}, default="euclidean"
        The graphs that are compared; see :func:`infused.feature_distributions`.

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    InFusedLasso : Fusion instead of the ridge, and another structural information.
    InLasso : Mutual information of pairs, and no ridge.
    structural_information : The matrix U, as ``criterion="two-way"``.

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

    lambda2: float = 0.01
    graph: Graph = "euclidean"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StructuralSelector._parameter_constraints,
        "lambda2": WEIGHT,
        "graph": [StrOptions({"kernel", "euclidean"})],
    }

    def _model(self, data: TrainingData) -> SparseModel:
        self._refuse_weights(data.weights)
        U = Structure(data, "two-way", self.graph, self.n_jobs)
        ridge = self._quadratic_weight(self.lambda2, data)
        term = self._structural(U.pairs(few=data.groups is None), data, ridge)
        return self._sparse_model(data, quadratic=term)
