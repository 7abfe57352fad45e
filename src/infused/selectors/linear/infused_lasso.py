"""The paper's selector."""

from __future__ import annotations

from typing import Any, ClassVar

from infused._runtime.compat import StrOptions
from infused.graphs.validation import Graph
from infused.selectors.docs import FUSION, INFORMED, documented
from infused.selectors.inputs.training import TrainingData
from infused.selectors.linear import fused_lasso
from infused.selectors.linear import information as information_term
from infused.selectors.linear.estimator import Composition, LinearSelector, StructuralSelector
from infused.selectors.linear.feature_order import choose_fusion
from infused.selectors.linear.information import InformationTerm, Structure
from infused.selectors.linear.model import SparseModel
from infused.selectors.linear.ranking import Lambdas


@documented({**INFORMED, **FUSION})
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
    %(n_features_to_select)s
    %(lambda1)s
    %(lambda2)s
    %(lambda3)s
    %(lambda_scale)s
    %(formulation)s
    %(target)s
    %(groups)s
    %(keep)s
    %(fusion)s
    %(grid_shape)s
    graph : {"kernel", "euclidean"}, default="kernel"
        The graphs that are compared; see :func:`infused.feature_distributions`.
    %(standardize)s
    %(ranking)s
    %(solver)s
    %(unbounded)s
    %(max_iter)s
    %(tol)s
    %(n_jobs)s

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearSelector._parameter_constraints,
        **fused_lasso.CONSTRAINTS,
        **information_term.CONSTRAINTS,
        "graph": [StrOptions({"kernel", "euclidean"})],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | str | None = None,
        lambda1: float = 0.05,
        lambda2: float = 0.005,
        lambda3: float = 0.01,
        lambda_scale: str = "relative",
        formulation: str = "stable",
        target: str = "auto",
        groups: Any = None,
        keep: Any = None,
        fusion: Any = "auto",
        grid_shape: tuple[int, int] | None = None,
        graph: Graph = "kernel",
        standardize: bool = True,
        ranking: str = "recursive",
        solver: str = "auto",
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

    def _compose(self, data: TrainingData) -> Composition:
        self._refuse_weights(data.weights)
        relative = self.lambda_scale == "relative"

        structure = Structure(data, "three-way", self.graph, self.n_jobs)
        fused = choose_fusion(
            self.fusion,
            self.grid_shape,
            data.F,
            published=self.formulation == "paper",
            grouped=data.groups is not None,
        )
        # Coordinate descent takes few features at a time.
        sparse = fused.nothing and data.groups is None and self.solver in ("auto", "coordinate-descent")
        term = InformationTerm(
            structure.formed,
            self.lambda3,
            relative,
            self.formulation,
            self.unbounded,
            operator=structure.nearby if sparse else structure.operator,
        )
        model = SparseModel(
            data.F,
            data.Y,
            self.max_iter,
            self.tol,
            quadratic=term.stand_in(data.F),
            edges=fused.edges,
            groups=data.groups,
            solver=self.solver,
        )
        lambdas = Lambdas(self.lambda1, self.lambda2, relative)
        return Composition(model, lambdas, term, term.published, fused.attributes())
