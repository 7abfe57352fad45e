"""Minimum redundancy, maximum relevance."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from infused._runtime.sklearn_compat import StrOptions
from infused._typing import Floats
from infused.graphs.validation import Target
from infused.information.mutual import RESOLUTION
from infused.selectors.docs import FILTERS, documented
from infused.selectors.greedy_information import InformationFilter

__all__ = ["MRMR"]


@documented(FILTERS)
class MRMR(InformationFilter):
    r"""Minimum redundancy, maximum relevance (mRMR).

    .. math::

        \max_{f \notin S} I(f; y) - \frac1{|S|} \sum_{s \in S} I(f; f_s)
        \quad\text{or}\quad
        \max_{f \notin S} I(f; y) \Big/ \frac1{|S|} \sum_{s \in S} I(f; f_s)

    picks one feature after the other, S being those picked so far and I the mutual information of discretised
    features, in nats.

    Parameters
    ----------
    %(n_features_to_select)s
    scheme : {"difference", "quotient"}, default="difference"
        Relevance less the mean redundancy, or divided by it. A mean redundancy below 1e-10 nats counts as
        1e-10 there: features that share nothing with S come first, by their relevance.
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
    MIFS : The sum of the redundancies instead of their mean.
    JMIM : What pairs of features say together.

    References
    ----------
    H. Peng, F. Long, C. Ding, "Feature selection based on mutual information: criteria of max-dependency,
    max-relevance, and min-redundancy", IEEE Transactions on Pattern Analysis and Machine Intelligence 27(8),
    2005. The quotient: C. Ding, H. Peng, "Minimum redundancy feature selection from microarray gene
    expression data", Journal of Bioinformatics and Computational Biology 3(2), 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import MRMR
    >>> X, y = load_wine(return_X_y=True)
    >>> MRMR(n_features_to_select=3).fit(X, y).transform(X).shape
    (178, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **InformationFilter._parameter_constraints,
        "scheme": [StrOptions({"difference", "quotient"})],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | str | None = None,
        scheme: str = "difference",
        n_bins: int = 5,
        target: Target = "auto",
        groups: Any = None,
        keep: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.scheme = scheme
        self.n_bins = n_bins
        self.target = target
        self.groups = groups
        self.keep = keep
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs

    def _criterion(self, relevance: Floats, joined: Floats, n_taken: int) -> Floats:
        redundancy = joined / n_taken
        if self.scheme == "difference":
            return relevance - redundancy
        return relevance / np.maximum(redundancy, RESOLUTION)
