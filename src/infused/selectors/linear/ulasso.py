"""Uncorrelated lasso."""

from __future__ import annotations

from typing import Any, ClassVar

from infused.penalties.quadratic import Decorrelation
from infused.selectors.base import WEIGHT
from infused.selectors.docs import LINEAR, documented
from infused.selectors.inputs.training import TrainingData, quadratic_weight, unit_columns
from infused.selectors.linear.estimator import Composition, LinearSelector
from infused.selectors.linear.model import SparseModel
from infused.selectors.linear.ranking import Lambdas


@documented(LINEAR)
class ULasso(LinearSelector):
    r"""The uncorrelated lasso: correlated features are not selected together.

    .. math::

        \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_i |b_i| + \lambda_2\, \mathrm{tr}\, B'RB,
        \qquad R_{ij} = \mathrm{corr}(f_i, f_j)^2

    R is positive semidefinite, so the problem is convex; it is never stored. Where features are uncorrelated,
    R is the identity and this is the elastic net.

    Parameters
    ----------
    %(n_features_to_select)s
    %(lambda1)s
    lambda2 : float, default=0.01
        Weight of decorrelation; a relative one is a fraction of the mean squared length of a feature.
    %(lambda_scale)s
    %(target)s
    %(groups)s
    %(keep)s
    %(standardize)s
    %(ranking)s
    %(max_iter)s
    %(tol)s
    %(n_jobs)s

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearSelector._parameter_constraints,
        "lambda2": WEIGHT,
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | str | None = None,
        lambda1: float = 0.05,
        lambda2: float = 0.01,
        lambda_scale: str = "relative",
        target: str = "auto",
        groups: Any = None,
        keep: Any = None,
        standardize: bool = True,
        ranking: str = "recursive",
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
        self.standardize = standardize
        self.ranking = ranking
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def _compose(self, data: TrainingData) -> Composition:
        relative = self.lambda_scale == "relative"
        unit = data.F if self.standardize else unit_columns(data.F, data.weights)
        term = Decorrelation(unit, quadratic_weight(self.lambda2, data.F, relative))
        model = SparseModel(data.F, data.Y, self.max_iter, self.tol, term, groups=data.groups)
        return Composition(model, Lambdas(self.lambda1, 0.0, relative))
