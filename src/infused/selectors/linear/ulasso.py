"""Uncorrelated lasso."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from infused.penalties.quadratic import Decorrelation
from infused.selectors.base import WEIGHT
from infused.selectors.docs import LINEAR, documented
from infused.selectors.inputs.training import TrainingData, unit_columns
from infused.selectors.linear.estimator import LinearSelector
from infused.selectors.linear.model import SparseModel


@documented(LINEAR)
@dataclass(kw_only=True, eq=False, repr=False)
class ULasso(LinearSelector):
    r"""The uncorrelated lasso: correlated features are not selected together.

    .. math::

        \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_i |b_i| + \lambda_2\, \mathrm{tr}\, B'RB,
        \qquad R_{ij} = \mathrm{corr}(f_i, f_j)^2

    R is positive semidefinite, so the problem is convex; it is never stored. Where features are uncorrelated,
    R is the identity and this is the elastic net.

    Parameters
    ----------
    %(linear)s
    lambda2 : float, default=0.01
        Weight of decorrelation; a relative one is a fraction of the mean squared length of a feature.

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    Lasso : This selector where ``lambda2=0``.
    MRMR : Penalises redundancy that need not be linear.

    References
    ----------
    S. Chen, C. Ding, B. Luo, Y. Xie, "Uncorrelated lasso", AAAI Conference on Artificial Intelligence (2013).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import ULasso
    >>> X, y = load_wine(return_X_y=True)
    >>> ULasso(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    lambda2: float = 0.01

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearSelector._parameter_constraints,
        "lambda2": WEIGHT,
    }

    def _model(self, data: TrainingData) -> SparseModel:
        unit = data.F if self.standardize else unit_columns(data.F, data.weights)
        weight = self._quadratic_weight(self.lambda2, data)
        return self._sparse_model(data, quadratic=Decorrelation(unit, weight))
