"""The lasso with pairwise interaction information."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from infused._runtime.compat import Interval
from infused._typing import Floats, Ints
from infused.information.discrete import MAX_BINS, discretize, distinct_samples, target_codes
from infused.information.mutual import joint_information
from infused.selectors.docs import INFORMED, documented
from infused.selectors.inputs.training import TrainingData, one_target
from infused.selectors.linear.estimator import Composition, LinearSelector
from infused.selectors.linear.information import CONSTRAINTS, InformationTerm
from infused.selectors.linear.model import SparseModel
from infused.selectors.linear.ranking import Lambdas


@documented(INFORMED)
class InLasso(LinearSelector):
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
    %(n_features_to_select)s
    %(lambda1)s
    %(lambda3)s
    %(lambda_scale)s
    %(formulation)s
    %(target)s
    %(groups)s
    %(keep)s
    n_bins : int, default=5
        Bins of equal frequency, from 2 to 256, for features (and real targets) that are not discrete.
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearSelector._parameter_constraints,
        **CONSTRAINTS,
        "n_bins": [Interval(Integral, 2, MAX_BINS, closed="both")],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | str | None = None,
        lambda1: float = 0.05,
        lambda3: float = 0.01,
        lambda_scale: str = "relative",
        formulation: str = "stable",
        target: str = "auto",
        groups: Any = None,
        keep: Any = None,
        n_bins: int = 5,
        standardize: bool = True,
        ranking: str = "recursive",
        unbounded: str = "raise",
        max_iter: int = 3000,
        tol: float = 1e-4,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.lambda1 = lambda1
        self.lambda3 = lambda3
        self.lambda_scale = lambda_scale
        self.formulation = formulation
        self.target = target
        self.groups = groups
        self.keep = keep
        self.n_bins = n_bins
        self.standardize = standardize
        self.ranking = ranking
        self.unbounded = unbounded
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def _compose(self, data: TrainingData) -> Composition:
        relative, weights = self.lambda_scale == "relative", data.weights

        def W(features: Ints) -> Floats:
            counts, units = (None, None) if weights is None else (weights.counts, weights.units)
            y = one_target(data.y, weights)
            distinct, _ = distinct_samples(data.X, y)
            codes = discretize(data.columns(features), self.n_bins, self.n_jobs, counts, distinct[features])
            y_codes = target_codes(data.X, y, target=data.kind, n_bins=self.n_bins, weights=counts)
            return joint_information(codes, y_codes, weights=units, n_jobs=self.n_jobs)

        term = InformationTerm(W, self.lambda3, relative, self.formulation, self.unbounded)
        stand_in = term.stand_in(data.F)
        model = SparseModel(data.F, data.Y, self.max_iter, self.tol, stand_in, groups=data.groups)
        return Composition(model, Lambdas(self.lambda1, 0.0, relative), term, positive=term.published)
