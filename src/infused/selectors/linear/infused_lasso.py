r"""The paper's selector, variants of it with one part changed, and the two that it goes back to.

.. math::

    \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_i |b_i| + \lambda_2 \sum_i |b_{i+1} - b_i|
    + \lambda_3\, \mathrm{tr}\, B'\Big(I - \frac{U - \bar U}{c}\Big)B

with one column of Y for each class. A variant that does as well as the full model says that the part it lacks
does nothing on these data. The variants without fusion and with labels for Y are a matter of parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from infused._runtime.compat import Interval, StrOptions
from infused._typing import Floats, Ints
from infused.graphs.validation import Graph
from infused.information.discrete import MAX_BINS, discretize, distinct_samples, target_codes
from infused.information.mutual import joint_information
from infused.penalties.quadratic import PairInformation, Ridge, Structural
from infused.selectors.base import WEIGHT, documented
from infused.selectors.inputs.training import TrainingData, one_target
from infused.selectors.linear.feature_order import CONSTRAINTS, choose_fusion
from infused.selectors.linear.information import InformedSelector, StructuralSelector, Structure
from infused.selectors.linear.lassos import FusedLasso
from infused.selectors.linear.model import SparseModel


@documented(FusedLasso)
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
    %(parameters)s
    %(lambda2)s
    %(fusion)s
    %(grid_shape)s
    graph : {"kernel", "euclidean"}, default="kernel"
        The graphs that are compared; see :func:`infused.feature_distributions`.
    %(solver)s

    Attributes
    ----------
    %(attributes)s
    %(fusion_)s
    %(fusion_reason_)s
    %(grid_shape_)s

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


class EqualRidge(InFusedLasso):
    r"""The structural term replaced by a ridge of the same weight, :math:`\lambda_3\,\mathrm{tr}\,B'B`."""

    def _model(self, data: TrainingData) -> SparseModel:
        model = super()._model(data)
        term = model.quadratic
        return replace(model, quadratic=Ridge(term.strength)) if isinstance(term, Structural) else model


class PermutedStructure(InFusedLasso):
    """U with its features in random order: the same eigenvalues, at the wrong features."""

    def _model(self, data: TrainingData) -> SparseModel:
        model = super()._model(data)
        term = model.quadratic
        if not isinstance(term, Structural):
            return model
        U = term.information

        def permuted(features: Ints) -> Floats:
            order = np.random.default_rng(0).permutation(len(features))
            return U.formed(features)[np.ix_(order, order)]

        return replace(model, quadratic=replace(term, information=PairInformation(permuted)))


@documented()
@dataclass(kw_only=True, eq=False, repr=False)
class InLasso(InformedSelector):
    r"""The lasso with the information that pairs of features carry about the target (InLasso).

    .. math::

        \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_i |b_i|
        + \lambda_3\, \mathrm{tr}\, B'\Big(I - \frac{W - \bar W}{c}\Big)B,
        \qquad W_{ij} = I(\{f_i, f_j\}; y)

    with the mutual information of discretised features and c the largest eigenvalue of :math:`W - \bar W`.
    ``formulation="paper"`` is the published
    :math:`-\lambda_3 b'Wb`, which has a minimum only for small :math:`\lambda_3` and is refused beyond.

    Parameters
    ----------
    %(parameters)s
    n_bins : int, default=5
        Bins of equal frequency, from 2 to 256, for features (and continuous targets) that are not discrete.

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    InElasticNet : The structural information of pairs, and a ridge.
    InFusedLasso : The structural information of pairs, and fusion.
    JMIM : Picks features by the same information, one after the other.

    References
    ----------
    Z. Zhang, Y. Tian, L. Bai, J. Xiahou, E. R. Hancock, "High-order covariate interacted lasso for feature
    selection", Pattern Recognition Letters 87 (2017).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import InLasso
    >>> X, y = load_wine(return_X_y=True)
    >>> InLasso(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    n_bins: int = 5

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **InformedSelector._parameter_constraints,
        "n_bins": [Interval(Integral, 2, MAX_BINS, closed="both")],
    }

    def _model(self, data: TrainingData) -> SparseModel:
        weights = data.weights

        def W(features: Ints) -> Floats:
            counts, units = (None, None) if weights is None else (weights.counts, weights.units)
            y = one_target(data.y, weights)
            distinct, _ = distinct_samples(data.X, y)
            codes = discretize(data.columns(features), self.n_bins, self.n_jobs, counts, distinct[features])
            y_codes = target_codes(data.X, y, target=data.kind, n_bins=self.n_bins, weights=counts)
            return joint_information(codes, y_codes, weights=units, n_jobs=self.n_jobs)

        return self._sparse_model(data, quadratic=self._structural(PairInformation(W), data))


@documented()
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
    %(parameters)s
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
