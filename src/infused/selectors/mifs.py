"""Mutual information feature selection."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from infused._runtime.sklearn_compat import Interval
from infused._typing import Floats
from infused.graphs.validation import Target
from infused.selectors.docs import FILTERS, documented
from infused.selectors.greedy_information import InformationFilter

__all__ = ["MIFS"]


@documented(FILTERS)
class MIFS(InformationFilter):
    r"""Mutual information feature selection (MIFS).

    .. math::

        \max_{f \notin S} I(f; y) - \beta \sum_{s \in S} I(f; f_s)

    picks one feature after the other, S being those picked so far and I the mutual information of discretised
    features, in nats. The sum grows with S, so that redundancy weighs more and more: when it outweighs the
    relevance of every feature that is left, features that share nothing with S come next, whatever they say
    of y. For many features take a smaller beta, or :class:`infused.MRMR`.

    Parameters
    ----------
    %(n_features_to_select)s
    beta : float, default=0.5
        Weight of redundancy; zero ranks features one by one. The paper finds 0.5 to 1 useful.
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
    MRMR : The mean of the redundancies instead of their sum.
    JMIM : What pairs of features say together.

    References
    ----------
    R. Battiti, "Using mutual information for selecting features in supervised neural net learning", IEEE
    Transactions on Neural Networks 5(4), 1994.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import MIFS
    >>> X, y = load_wine(return_X_y=True)
    >>> MIFS(n_features_to_select=3).fit(X, y).transform(X).shape
    (178, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **InformationFilter._parameter_constraints,
        "beta": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | str | None = None,
        beta: float = 0.5,
        n_bins: int = 5,
        target: Target = "auto",
        groups: Any = None,
        keep: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.beta = beta
        self.n_bins = n_bins
        self.target = target
        self.groups = groups
        self.keep = keep
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs

    def _criterion(self, relevance: Floats, joined: Floats, n_taken: int) -> Floats:
        return relevance - self.beta * joined
