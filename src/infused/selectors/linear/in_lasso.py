"""The lasso with pairwise interaction information."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

from infused._runtime.compat import Interval
from infused._typing import Floats, Ints
from infused.information.discrete import MAX_BINS, discretize, distinct_samples, target_codes
from infused.information.mutual import joint_information
from infused.penalties.quadratic import PairInformation
from infused.selectors.docs import INFORMED, documented
from infused.selectors.inputs.training import TrainingData, one_target
from infused.selectors.linear.information import InformedSelector
from infused.selectors.linear.model import SparseModel


@documented(INFORMED)
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
    %(linear)s
    %(lambda3)s
    %(formulation)s
    %(unbounded)s
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
