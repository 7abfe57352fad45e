"""Mutual information feature selection."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from infused._typing import Floats
from infused.graphs.validation import Target
from infused.selectors.greedy_information import InformationFilter

__all__ = ["MIFS"]


class MIFS(InformationFilter):
    r"""Mutual information feature selection (MIFS).

    .. math::

        \max_{f \notin S} I(f; y) - \beta \sum_{s \in S} I(f; f_s)

    picks one feature after the other, S being those picked so far and I the mutual information of discretised
    features, in nats. The sum grows with S, so that redundancy weighs more and more: when it outweighs the
    relevance of every feature that is left, features that say nothing at all come next, with a criterion of
    zero. For many features take a smaller beta, or :class:`infused.MRMR`.

    Parameters
    ----------
    n_features_to_select : int, float or None
        How many features: a number, a fraction, or None for half of them.
    beta : float
        Weight of redundancy; zero ranks features one by one. The paper finds 0.5 to 1 useful.
    n_bins : int
        Bins of equal frequency, from 2 to 256, where a value that fills a bin has it for itself. Discrete
        features are taken as they are: those with no more distinct values than bins, or with at most 32 of
        which each has five samples or more on average.
    target : {"auto", "classes", "real"}
        What y is; "auto" decides by its type. Real values are discretised as features are.
    n_jobs : int, optional
        Threads; -1 for every core. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Larger is better: the number of features that are not ahead in the ranking. Values of the criterion at
        different steps cannot be compared, so they are no scores.
    ranking_ : ndarray of shape (n_features,)
        1 for the best. Selected features are in the order in which they were picked, the others behind them
        by their criterion at the last step. Ties (differences below 1e-10) go to the feature with more
        relevance, then to the first.
    support_ : ndarray of bool
    relevance_ : ndarray of shape (n_features,)
        I(f; y).
    criterion_ : ndarray of shape (n_features,)
        The criterion of each feature at the step that picked it, or at the last one.

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
        n_features_to_select: int | float | None = None,
        beta: float = 0.5,
        n_bins: int = 5,
        target: Target = "auto",
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.beta = beta
        self.n_bins = n_bins
        self.target = target
        self.n_jobs = n_jobs

    def _criterion(self, relevance: Floats, joined: Floats, n_taken: int) -> Floats:
        return relevance - self.beta * joined
