"""Greedy forward selection by mutual information: MIFS, MRMR, JMIM, JMI, CMIM and DISR."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from infused._runtime.compat import Interval, StrOptions, fit_context
from infused._runtime.progress import Stage
from infused._runtime.threads import workers
from infused._typing import Array, Floats, Ints
from infused.graphs.validation import Target
from infused.information.mutual import RESOLUTION, MutualInformation
from infused.selectors.base import (
    NUMBER_OF_FEATURES,
    BaseSelector,
    check_one_target,
    documented,
    number_or_half,
)
from infused.selectors.inputs.checks import N_BINS, check_inputs
from infused.selectors.inputs.groups import GROUPS, KEEP
from infused.selectors.inputs.training import is_real

TIE = 1e-10  # criteria closer than this, relative to the larger where that is above one, are equal
WORTH_COUNTING = 0.75  # when fewer of the counted features are still candidates, the others are dropped


@documented()
@dataclass(kw_only=True, eq=False, repr=False)
class InformationFilter(BaseSelector):
    """Take the feature with the best criterion, given those taken before, until there are enough.

    The first feature is the most informative about y. Every other step compares all features that are left
    with the feature taken last, and with no other: k of N features cost k N comparisons. A group of features
    is the variable that they are together: samples have one value of it where all their codes are equal.

    Parameters
    ----------
    %(n_features_to_select)s
    %(groups)s
    %(keep)s
        The search starts with them.
    n_bins : int or "auto", default="auto"
        Bins of equal frequency, from 2 to 256, where a value that fills a bin has it for itself; "auto"
        takes 5, and cuts the lowest and the highest again, the outermost quarter each time, while every
        part keeps 25 samples, so that long tails are seen. Discrete features are taken as they are: those
        with no more distinct values than bins, or with at most 32 of which each has five samples or more
        on average.
    target : {"auto", "classes", "real"}, default="auto"
        What y is; "auto" decides by its type. Real values are discretised as features are.
    n_jobs : int or None, default=None
        Threads; None for one, -1 for every core. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,) or (n_groups,)
        Larger is better: the number of features that are not ahead in the ranking. Values of the
        criterion at different steps cannot be compared, so they are no scores.
    ranking_ : ndarray of int of shape (n_features,) or (n_groups,)
        1 for the best. Selected features are in the order in which they were picked: the first j of k are
        the selection for j. The others follow by their criterion at the last step, which need not be the
        order in which a larger number would pick them; constants are last. Ties (differences below 1e-10)
        go to the feature with more relevance, then to the first.
    %(attributes)s
    relevance_ : ndarray of shape (n_features,) or (n_groups,)
        The information I(f; y) of each feature (or group) about the target.
    criterion_ : ndarray of shape (n_features,) or (n_groups,)
        The criterion of each feature at the step that picked it, or at the last one.
    """

    n_features_to_select: int | float | str | None = None
    groups: Any = None
    keep: Any = None
    n_bins: int | str = "auto"
    target: Target = "auto"
    n_jobs: int | None = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": NUMBER_OF_FEATURES,
        "n_bins": N_BINS,
        "target": [StrOptions({"auto", "classes", "real"})],
        "groups": GROUPS,
        "keep": KEEP,
        "n_jobs": [Integral, None],
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @fit_context
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Rank and select the features of X for the target y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples; texts and categories of a frame are variables as they are.
        y : array of shape (n_samples,)
            Class labels of any kind, or real values.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            What each sample counts; a whole number is as good as so many copies of it.

        Returns
        -------
        self : object
            The fitted selector.
        """
        check_one_target(self, y)
        inputs = check_inputs(self, X, y, gaps=True, stored=True)
        variables = inputs.variables
        kept = variables.places(self.keep)
        real = is_real(inputs.y, self.target)
        number = self._number(inputs, kept, real, sample_weight)
        k = number_or_half(number, variables, len(kept))
        inputs = inputs.weighed(sample_weight)
        codes, y_codes, units = inputs.counted(self.n_bins, real, self.n_jobs)
        with workers(self.n_jobs) as pool:
            information = MutualInformation.build(codes, y_codes, pool, units)
            self.relevance_ = information.with_target()
            order, self.criterion_ = self._select(
                information, self.relevance_, codes.n_codes > 1, kept.tolist(), k
            )
        ranking = np.empty(len(variables), np.int64)
        ranking[order] = np.arange(1, len(variables) + 1)
        scores = np.asarray(len(variables) + 1 - ranking, dtype=np.float64)
        self._store_ranking(variables, scores, ranking, ranking <= k)
        return self

    def _pairs(self, information: MutualInformation, s: int) -> Floats:
        """Compute what the criterion needs of feature s and each of the others."""
        return information.with_feature(s)

    def _join(self, before: Floats, pairs: Floats) -> Floats:
        """Join what candidates have with the features taken before and with the last one."""
        return before + pairs

    def _criterion(self, relevance: Floats, joined: Floats, n_taken: int) -> Floats:
        """Compute the criterion, of which the next feature has most: what was joined."""
        return joined

    def _select(
        self, information: MutualInformation, relevance: Floats, varies: Array, kept: list[int], k: int
    ) -> tuple[Ints, Floats]:
        """List all features from the best to the worst, and the criterion of each when it was last compared.

        What is kept is taken first. A constant shares nothing with what was taken, and would come before what
        is redundant: it is taken when nothing else is left.
        """
        values, joined = relevance, None
        criterion = relevance.copy()
        free = np.ones(len(relevance), dtype=bool)
        taken: list[int] = []
        steps = min(k, len(kept) + int(varies[np.setdiff1d(np.arange(len(varies)), kept)].sum()))
        stage = Stage(None, "selecting features", steps)
        while len(taken) < steps:
            candidates = np.flatnonzero(free)
            criterion[candidates] = values[candidates]
            if len(taken) < len(kept):
                s = kept[len(taken)]
            else:
                s = best(candidates[varies[candidates]], values, relevance)
            taken.append(s)
            free[s] = False
            stage.advance()
            if len(taken) == steps:
                break
            if len(candidates) < WORTH_COUNTING * len(information.counter.features):
                information = information.restricted(candidates)
            pairs = self._pairs(information, s)
            joined = pairs if joined is None else self._join(joined, pairs)
            values = self._criterion(relevance, joined, len(taken))
        rest = np.flatnonzero(free)
        behind = np.lexsort((levels(relevance[rest]), levels(values[rest]), ~varies[rest]))
        return np.concatenate([np.array(taken, dtype=np.int64), rest[behind]]), criterion


def best(candidates: Ints, values: Floats, relevance: Floats) -> int:
    """Find the candidate with the largest value; of equal ones the most relevant, of those the first."""
    for numbers in (values, relevance):
        own = numbers[candidates]
        largest = own.max()
        candidates = candidates[own >= largest - TIE * max(1.0, abs(largest))]
    return int(candidates[0])


def levels(values: Floats) -> Ints:
    """Number values from 0 for the largest, in steps; neighbours that are tied are on one level."""
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    apart = ordered[:-1] - ordered[1:] > TIE * np.maximum(1.0, np.abs(ordered[:-1]))
    result = np.zeros(len(values), np.int64)
    result[order[1:]] = np.cumsum(apart)
    return result


@documented()
@dataclass(kw_only=True, eq=False, repr=False)
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
    %(parameters)s
    beta : float, default=0.5
        Weight of redundancy; zero ranks features one by one. The paper finds 0.5 to 1 useful.

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

    beta: float = 0.5

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **InformationFilter._parameter_constraints,
        "beta": [Interval(Real, 0, None, closed="left")],
    }

    def _criterion(self, relevance: Floats, joined: Floats, n_taken: int) -> Floats:
        return relevance - self.beta * joined


@documented()
@dataclass(kw_only=True, eq=False, repr=False)
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
    %(parameters)s
    scheme : {"difference", "quotient"}, default="difference"
        Relevance less the mean redundancy, or divided by it. A mean redundancy below 1e-10 nats counts as
        1e-10 there: features that share nothing with S come first, by their relevance.

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

    scheme: str = "difference"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **InformationFilter._parameter_constraints,
        "scheme": [StrOptions({"difference", "quotient"})],
    }

    def _criterion(self, relevance: Floats, joined: Floats, n_taken: int) -> Floats:
        redundancy = joined / n_taken
        if self.scheme == "difference":
            return relevance - redundancy
        return relevance / np.maximum(redundancy, RESOLUTION)


@documented()
class JMIM(InformationFilter):
    r"""Joint mutual information maximisation (JMIM).

    .. math::

        \max_{f \notin S} \min_{s \in S} I(\{f, f_s\}; y)

    picks one feature after the other, S being those picked so far and I the mutual information of discretised
    features, in nats: the feature that says most about y together with any of S.

    Parameters
    ----------
    %(parameters)s

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    JMI : Their sum instead of the smallest.
    MIFS : Relevance less redundancy.
    MRMR : Relevance less the mean redundancy, or divided by it.

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

    def _pairs(self, information: MutualInformation, s: int) -> Floats:
        return information.with_feature_and_target(s)

    def _join(self, before: Floats, pairs: Floats) -> Floats:
        return np.minimum(before, pairs)


@documented()
class JMI(InformationFilter):
    r"""Joint mutual information (JMI).

    .. math::

        \max_{f \notin S} \sum_{s \in S} I(\{f, f_s\}; y)

    picks one feature after the other, S being those picked so far and I the mutual information of discretised
    features, in nats: the feature that says most about y together with each of S, on average.

    Parameters
    ----------
    %(parameters)s

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

    def _pairs(self, information: MutualInformation, s: int) -> Floats:
        return information.with_feature_and_target(s)


@documented()
class CMIM(InformationFilter):
    r"""Conditional mutual information maximisation (CMIM).

    .. math::

        \max_{f \notin S} \min\Big(I(f; y),\, \min_{s \in S} I(f; y \mid f_s)\Big)

    picks one feature after the other, S being those picked so far and I the mutual information of discretised
    features, in nats: the feature that still says most about y when any one of S is known. A copy of a
    feature in S says nothing then.

    Parameters
    ----------
    %(parameters)s

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    JMI : What a feature says together with each of S.
    MRMR : Relevance less the mean redundancy, or divided by it.

    References
    ----------
    F. Fleuret, "Fast binary feature selection with conditional mutual information", Journal of Machine
    Learning Research 5 (2004).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import CMIM
    >>> X, y = load_wine(return_X_y=True)
    >>> CMIM(n_features_to_select=3).fit(X, y).transform(X).shape
    (178, 3)
    """

    def _pairs(self, information: MutualInformation, s: int) -> Floats:
        # I(f; y | s) = I({f, s}; y) - I(s; y)
        return np.asarray(information.with_feature_and_target(s) - information.with_target()[s])

    def _join(self, before: Floats, pairs: Floats) -> Floats:
        return np.minimum(before, pairs)

    def _criterion(self, relevance: Floats, joined: Floats, n_taken: int) -> Floats:
        return np.minimum(relevance, joined)


@documented()
class DISR(InformationFilter):
    r"""Double input symmetrical relevance (DISR).

    .. math::

        \max_{f \notin S} \sum_{s \in S} \frac{I(\{f, f_s\}; y)}{H(f, f_s, y)}

    picks one feature after the other, S being those picked so far, I the mutual information and H the entropy
    of discretised features: what a feature says about y together with each of S, as a share of all that the
    three have to say. Features of many values gain nothing by that alone.

    Parameters
    ----------
    %(parameters)s

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

    def _pairs(self, information: MutualInformation, s: int) -> Floats:
        return information.symmetrical_relevance(s)
