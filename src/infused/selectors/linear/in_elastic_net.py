"""The elastic net with structural information."""

from __future__ import annotations

from typing import Any, ClassVar

from infused._runtime.compat import StrOptions
from infused.graphs.validation import Graph
from infused.selectors.base import WEIGHT
from infused.selectors.docs import INFORMED, documented
from infused.selectors.inputs.training import TrainingData
from infused.selectors.linear.estimator import Composition, LinearSelector, StructuralSelector
from infused.selectors.linear.information import CONSTRAINTS, InformationTerm, Structure
from infused.selectors.linear.model import SparseModel
from infused.selectors.linear.ranking import Lambdas


@documented(INFORMED)
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
    %(n_features_to_select)s
    %(lambda1)s
    lambda2 : float, default=0.01
        Weight of the ridge; a relative one is a fraction of the mean squared length of a feature.
    %(lambda3)s
    %(lambda_scale)s
    %(formulation)s
    %(target)s
    %(groups)s
    %(keep)s
    graph : {"kernel", "euclidean"}, default="euclidean"
        The graphs that are compared; see :func:`infused.feature_distributions`.
    %(standardize)s
    %(ranking)s
    %(unbounded)s
    %(max_iter)s
    %(tol)s
    %(n_jobs)s

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearSelector._parameter_constraints,
        **CONSTRAINTS,
        "lambda2": WEIGHT,
        "graph": [StrOptions({"kernel", "euclidean"})],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | str | None = None,
        lambda1: float = 0.05,
        lambda2: float = 0.01,
        lambda3: float = 0.01,
        lambda_scale: str = "relative",
        formulation: str = "stable",
        target: str = "auto",
        groups: Any = None,
        keep: Any = None,
        graph: Graph = "euclidean",
        standardize: bool = True,
        ranking: str = "recursive",
        unbounded: str = "raise",
        max_iter: int = 3000,
        tol: float = 1e-4,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.lambda3 = lambda3
        self.lambda_scale = lambda_scale
        self.formulation = formulation
        self.target = target
        self.groups = groups
        self.keep = keep
        self.graph = graph
        self.standardize = standardize
        self.ranking = ranking
        self.unbounded = unbounded
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def _compose(self, data: TrainingData) -> Composition:
        self._refuse_weights(data.weights)
        relative = self.lambda_scale == "relative"

        structure = Structure(data, "two-way", self.graph, self.n_jobs)
        term = InformationTerm(
            structure.formed,
            self.lambda3,
            relative,
            self.formulation,
            self.unbounded,
            ridge=self.lambda2,
            operator=structure.nearby if data.groups is None else structure.operator,
        )
        stand_in = term.stand_in(data.F)
        model = SparseModel(data.F, data.Y, self.max_iter, self.tol, stand_in, groups=data.groups)
        return Composition(model, Lambdas(self.lambda1, 0.0, relative), term, positive=term.published)
