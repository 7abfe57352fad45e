"""Joint mutual information."""

from __future__ import annotations

from typing import Any

from infused._typing import Floats
from infused.graphs.validation import Target
from infused.information.mutual import MutualInformation
from infused.selectors.docs import FILTERS, documented
from infused.selectors.greedy_information import InformationFilter

__all__ = ["JMI"]


@documented(FILTERS)
class JMI(InformationFilter):
    r"""Joint mutual information (JMI).

    .. math::

        \max_{f \notin S} \sum_{s \in S} I(\{f, f_s\}; y)

    picks one feature after the other, S being those picked so far and I the mutual information of discretised
    features, in nats: the feature that says most about y together with each of S, on average.

    Parameters
    ----------
    %(n_features_to_select)s
    %(n_bins)s
    %(target)s
    %(groups)s
    %(keep)s
    %(cv)s
    %(scoring)s
    %(n_jobs)s

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    JMIM : The smallest of them instead of the sum.
    DISR : Each as a share of the entropy.

    References
    ----------
    H. H. Yang, J. Moody, "Data visualization and feature selection: new algorithms for nongaussian data",
    Advances in Neural Information Processing Systems 12 (1999). G. Brown, A. Pocock, M.-J. Zhao, M. Luján,
    "Conditional likelihood maximisation: a unifying framework for information theoretic feature selection",
    Journal of Machine Learning Research 13 (2012), which finds it the best of seventeen.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import JMI
    >>> X, y = load_wine(return_X_y=True)
    >>> JMI(n_features_to_select=3).fit(X, y).transform(X).shape
    (178, 3)
    """

    def __init__(
        self,
        *,
        n_features_to_select: int | float | str | None = None,
        n_bins: int = 5,
        target: Target = "auto",
        groups: Any = None,
        keep: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_bins = n_bins
        self.target = target
        self.groups = groups
        self.keep = keep
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs

    def _pairs(self, information: MutualInformation, s: int) -> Floats:
        return information.with_feature_and_target(s)

    def _criterion(self, relevance: Floats, joined: Floats, n_taken: int) -> Floats:
        return joined
