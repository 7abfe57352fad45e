"""The lasso as a selector."""

from __future__ import annotations

from typing import Any

from infused.selectors.docs import LINEAR, documented
from infused.selectors.inputs.training import TrainingData
from infused.selectors.linear.estimator import Composition, LinearSelector
from infused.selectors.linear.model import SparseModel
from infused.selectors.linear.ranking import Lambdas


@documented(LINEAR)
class Lasso(LinearSelector):
    r"""The lasso; with one-hot or several targets, the multi-task lasso.

    .. math::

        \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_i |b_i|

    with one row :math:`b_i` for each feature and one column for each class (or real target): a feature is
    needed for all classes or for none.

    Parameters
    ----------
    %(n_features_to_select)s
    %(lambda1)s
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
    FusedLasso : Neighbouring features get similar coefficients.
    GroupLasso : Groups of features are needed together.
    InFusedLasso : Fusion, and the structural information of pairs.

    References
    ----------
    R. Tibshirani, "Regression shrinkage and selection via the lasso", Journal of the Royal Statistical
    Society B 58 (1996). G. Obozinski, B. Taskar, M. Jordan, "Multi-task feature selection" (2006).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import Lasso
    >>> X, y = load_wine(return_X_y=True)
    >>> Lasso(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    def __init__(
        self,
        *,
        n_features_to_select: int | float | str | None = None,
        lambda1: float = 0.05,
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
        model = SparseModel(data.F, data.Y, self.max_iter, self.tol, groups=data.groups)
        return Composition(model, Lambdas(self.lambda1, 0.0, self.lambda_scale == "relative"))
