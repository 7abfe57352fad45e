"""Joint mutual information maximisation."""

from __future__ import annotations

import numpy as np

from infused._typing import Floats
from infused.graphs.validation import Target
from infused.information.mutual import MutualInformation
from infused.selectors.greedy_information import InformationFilter

__all__ = ["JMIM"]


class JMIM(InformationFilter):
    r"""Joint mutual information maximisation (JMIM).

    .. math::

        \max_{f \notin S} \min_{s \in S} I(\{f, f_s\}; y)

    picks one feature after the other, S being those picked so far and I the mutual information of discretised
    features, in nats: the feature that says most about y together with any of S.

    Parameters
    ----------
    n_features_to_select : int, float or None
        How many features: a number, a fraction, or None for half of them.
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
    M. Bennasar, Y. Hicks, R. Setchi, "Feature selection using joint mutual information maximisation", Expert
    Systems with Applications 42(22), 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import JMIM
    >>> X, y = load_wine(return_X_y=True)
    >>> JMIM(n_features_to_select=3).fit(X, y).transform(X).shape
    (178, 3)
    """

    def __init__(
        self,
        *,
        n_features_to_select: int | float | None = None,
        n_bins: int = 5,
        target: Target = "auto",
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_bins = n_bins
        self.target = target
        self.n_jobs = n_jobs

    def _pairs(self, information: MutualInformation, s: int) -> Floats:
        return information.with_feature_and_target(s)

    def _join(self, before: Floats, pairs: Floats) -> Floats:
        return np.minimum(before, pairs)

    def _criterion(self, relevance: Floats, joined: Floats, n_taken: int) -> Floats:
        return joined
