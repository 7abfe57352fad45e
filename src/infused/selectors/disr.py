"""Double input symmetrical relevance."""

from __future__ import annotations

from typing import Any

from infused._typing import Floats
from infused.graphs.validation import Target
from infused.information.mutual import MutualInformation
from infused.selectors.docs import FILTERS, documented
from infused.selectors.greedy_information import InformationFilter

__all__ = ["DISR"]


@documented(FILTERS)
class DISR(InformationFilter):
    r"""Double input symmetrical relevance (DISR).

    .. math::

        \max_{f \notin S} \sum_{s \in S} \frac{I(\{f, f_s\}; y)}{H(f, f_s, y)}

    picks one feature after the other, S being those picked so far, I the mutual information and H the entropy
    of discretised features: what a feature says about y together with each of S, as a share of all that the
    three have to say. Features of many values gain nothing by that alone.

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
    JMI : The same without the entropy.
    JMIM : The smallest of the joint informations.

    References
    ----------
    P. E. Meyer, G. Bontempi, "On the use of variable complementarity for feature selection in cancer
    classification", Applications of Evolutionary Computing, LNCS 3907 (2006).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import DISR
    >>> X, y = load_wine(return_X_y=True)
    >>> DISR(n_features_to_select=3).fit(X, y).transform(X).shape
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
        return information.symmetrical_relevance(s)

    def _criterion(self, relevance: Floats, joined: Floats, n_taken: int) -> Floats:
        return joined
