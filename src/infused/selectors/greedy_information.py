"""Greedy forward selection by mutual information: what MIFS, MRMR, JMIM, JMI, CMIM and DISR share."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np

from infused._runtime.progress import Stage
from infused._runtime.sklearn_compat import Interval, StrOptions, fit_context
from infused._runtime.threads import workers
from infused._typing import Array, Floats, Ints
from infused.graphs.validation import Target
from infused.information.discrete import MAX_BINS, target_codes
from infused.information.mutual import MutualInformation
from infused.selectors.base import NUMBER_OF_FEATURES, BaseSelector, check_one_target, number_or_half
from infused.selectors.groups import GROUPS, KEEP
from infused.selectors.inputs import is_real
from infused.selectors.seen import look
from infused.selectors.tuning import CV, SCORING, chosen_number

__all__ = ["InformationFilter"]

TIE = 1e-10  # criteria closer than this, relative to the larger where that is above one, are equal
WORTH_COUNTING = 0.75  # when fewer of the counted features are still candidates, the others are dropped


class InformationFilter(BaseSelector):
    """Take the feature with the best criterion, given those taken before, until there are enough.

    The first feature is the most informative about y. Every other step compares all features that are left
    with the feature taken last, and with no other: k of N features cost k N comparisons. A group of features
    is the variable that they are together: samples have one value of it where all their codes are equal.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": NUMBER_OF_FEATURES,
        "n_bins": [Interval(Integral, 2, MAX_BINS, closed="both")],
        "target": [StrOptions({"auto", "classes", "real"})],
        "groups": GROUPS,
        "keep": KEEP,
        "cv": CV,
        "scoring": SCORING,
        "n_jobs": [Integral, None],
    }

    n_features_to_select: int | float | str | None
    n_bins: int
    target: Target
    n_jobs: int | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @fit_context
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Rank and select the features of X for the target y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples; texts and categories of a frame are variables as they are.
        y : array of shape (n_samples,)
            Class labels of any kind, or real values.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            What each sample counts; a whole number is as good as so many copies of it.
        groups : array-like of shape (n_samples,), default=None
            Samples that belong together, where ``n_features_to_select="auto"`` and ``cv`` asks for them.

        Returns
        -------
        self : object
            The fitted selector.
        """
        check_one_target(self, y)
        seen = look(self, X, y, gaps=True)
        variables = seen.variables
        kept = variables.places(self.keep)
        real = is_real(seen.y, self.target)
        number = chosen_number(
            self,
            *seen.judged(self.n_features_to_select),
            kept,
            real=real,
            samples=groups,
            sample_weight=sample_weight,
        )
        k = number_or_half(number, variables, len(kept))
        seen = seen.weighed(sample_weight)
        counts, units = (None, None) if seen.weights is None else (seen.weights.counts, seen.weights.units)
        kind: Target = "real" if real else "classes"
        y_codes = target_codes(seen.X, seen.y, target=kind, n_bins=self.n_bins, weights=counts)
        codes = seen.codes(self.n_bins, self.n_jobs)
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
        """What feature s has with each of the others."""
        return information.with_feature(s)

    def _join(self, before: Floats, pairs: Floats) -> Floats:
        """Pairs with all features taken so far, from those with all but the last and those with the last."""
        return before + pairs

    @abstractmethod
    def _criterion(self, relevance: Floats, joined: Floats, n_taken: int) -> Floats:
        """What the next feature should have most of."""

    def _select(
        self, information: MutualInformation, relevance: Floats, varies: Array, kept: list[int], k: int
    ) -> tuple[Ints, Floats]:
        """All features from the best to the worst, and the criterion of each when it was last compared.

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
    """The candidate with the largest value; of equal ones the most relevant, of those the first."""
    for numbers in (values, relevance):
        own = numbers[candidates]
        largest = own.max()
        candidates = candidates[own >= largest - TIE * max(1.0, abs(largest))]
    return int(candidates[0])


def levels(values: Floats) -> Ints:
    """0 for the largest values, 1 for the next, and so on; neighbours that are tied are on one level."""
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    apart = ordered[:-1] - ordered[1:] > TIE * np.maximum(1.0, np.abs(ordered[:-1]))
    result = np.zeros(len(values), np.int64)
    result[order[1:]] = np.cumsum(apart)
    return result
