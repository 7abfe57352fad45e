"""The lasso as a selector."""

from __future__ import annotations

from dataclasses import dataclass

from infused.selectors.docs import LINEAR, documented
from infused.selectors.inputs.training import TrainingData
from infused.selectors.linear.estimator import LinearSelector
from infused.selectors.linear.model import SparseModel


@documented(LINEAR)
@dataclass(kw_only=True, eq=False, repr=False)
class Lasso(LinearSelector):
    r"""The lasso; with one-hot or several targets, the multi-task lasso.

    .. math::

        \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_i |b_i|

    with one row :math:`b_i` for each feature and one column for each class (or real target): a feature is
    needed for all classes or for none.

    Parameters
    ----------
    %(linear)s

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

    def _model(self, data: TrainingData) -> SparseModel:
        return self._sparse_model(data)
