"""Greedy forward selection by least squares."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from infused._design import Design, dense
from infused._runtime.compat import Interval, StrOptions, fit_context
from infused._runtime.threads import blas_threads, memory_budget
from infused._typing import Floats, Ints
from infused.exceptions import InputError, Setting
from infused.selectors.base import NUMBER_OF_FEATURES, BaseSelector, number_or_half, ranks
from infused.selectors.docs import FORWARD, documented
from infused.selectors.greedy.search import ForwardSearch
from infused.selectors.inputs.checks import check_inputs
from infused.selectors.inputs.groups import GROUPS, KEEP, Groups
from infused.selectors.inputs.training import (
    LARGEST_WEIGHT,
    basis,
    design_matrix,
    left_over,
    mean_square,
    resolve_coding,
    target_matrix,
)


@documented(FORWARD)
@dataclass(kw_only=True, eq=False, repr=False)
class GreedyForward(BaseSelector):
    r"""Forward selection by least squares.

    .. math::

        \min_{j \notin S} \min_B |Y - X_{S \cup j} B|^2 + \rho |B|^2

    picks one feature after the other, S being those picked so far and Y one column per class (or real
    target).

    Adding feature j lowers it by :math:`|f_j'PY|^2 / (\rho + f_j'Pf_j)`, with
    :math:`P = (I + X_S X_S'/\rho)^{-1}`, the projection on what S leaves over when :math:`\rho = 0`. P
    changes by a matrix of rank one, so all gains are brought up to date by one product with X': k features of
    N cost O(k N M), and nothing of size N x N or M x M is stored. A group is added whole; it lowers it by
    :math:`\mathrm{tr}\, Y'PX_g (\rho I + X_g'PX_g)^{-1} X_g'PY`, less what its columns beyond the first would
    take off by chance.

    Parameters
    ----------
    %(n_features_to_select)s
    ridge : float, default=0.1
        The weight :math:`\rho`, as a fraction of the mean squared length of a feature.
    %(target)s
    %(groups)s
    %(keep)s
    %(standardize)s
    %(n_jobs)s

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,) or (n_groups,)
        For a selected feature, the gains of its step and of those after it, above whatever is left, so that
        scores fall along the ranking; for others, their gain at the end.
    ranking_ : ndarray of int of shape (n_features,) or (n_groups,)
        The order of selection: the first j of k are the selection for j. The others follow by their gain at
        the end, which need not be the order in which a larger number would select them; then by their
        correlation with the target, and by position. The same rule breaks ties.
    gains_ : ndarray of shape (n_selected,)
        By how much each step lowered the objective, as a share of :math:`|Y|^2`.
    %(attributes)s

    See Also
    --------
    Lasso : Weighs all features at once.
    MRMR : Picks one feature after the other by mutual information.

    References
    ----------
    A. Miller, "Subset Selection in Regression" (2002), on forward selection and its updates.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import GreedyForward
    >>> X, y = load_wine(return_X_y=True)
    >>> GreedyForward(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    n_features_to_select: int | float | str | None = None
    ridge: float = 0.1
    target: str = "auto"
    groups: Any = None
    keep: Any = None
    standardize: bool = True
    n_jobs: int | None = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": NUMBER_OF_FEATURES,
        "ridge": [Interval(Real, 0, None, closed="left")],
        "target": [StrOptions({"auto", "onehot", "label", "real"})],
        "groups": GROUPS,
        "keep": KEEP,
        "standardize": ["boolean"],
        "n_jobs": [Integral, None],
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @fit_context
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Rank and select the features of X for the target y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples; texts and categories of a frame are variables as they are.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Class labels, real values, several columns of real values, or an indicator matrix of labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            What each sample counts; a whole number is as good as so many copies of it.

        Returns
        -------
        self : object
            The fitted selector.
        """
        inputs = check_inputs(self, X, y, several=True)
        kept = inputs.variables.places(self.keep)
        coding = resolve_coding(inputs.y, self.target)
        number = self._number(inputs, kept, coding == "real", sample_weight)
        k = number_or_half(number, inputs.variables, len(kept))
        inputs = inputs.weighed(sample_weight)
        weights, variables = inputs.weights, inputs.coded.variables
        F = design_matrix(inputs.coded.X, self.standardize, memory_budget(), weights)
        Y = target_matrix(inputs.y, coding, self.standardize, weights)
        total = float((Y * Y).sum()) or 1.0
        with blas_threads(self.n_jobs):
            blocks = None if variables.single else variables.codes
            weight, first = self._weight(F), np.array([])
            constant = variables.all_of(np.asarray(~F.any(axis=0)))
            if len(kept):
                F, Y, first = _adjusted(F, Y, [variables.columns(group) for group in kept])
                weight = self._weight(F[:, ~np.isin(variables.codes, kept)])
            n_samples = None if weights is None else weights.total
            search = ForwardSearch(F, Y, weight, k - len(kept), blocks, n_samples)
            search.free[kept] = False
            search.relevance[~constant] = np.maximum(search.relevance[~constant], 0.0)
            order, gains = search.run()
        self.gains_ = np.concatenate([first, gains]) / total
        self._store(inputs.variables, np.concatenate([kept, order]), search, total)
        return self

    def _weight(self, F: Design) -> float:
        weight = self.ridge * mean_square(F)
        if not weight <= LARGEST_WEIGHT:
            raise InputError(
                f"the weight of the ridge would be {weight:.3g} on these data, too large to solve: lower ",
                Setting("ridge"),
            )
        return weight

    def _store(self, variables: Groups, order: Ints, search: ForwardSearch, total: float) -> None:
        scores = search.gains() / total
        # What is still to come, from each step on; a little above every feature that was left.
        scores[order] = np.cumsum(self.gains_[::-1])[::-1] + scores.max(initial=0.0)
        tie_breaks = search.relevance.copy()
        tie_breaks[order] = np.inf
        ranking = ranks(scores, tie_breaks)
        behind = np.setdiff1d(np.argsort(ranking), order, assume_unique=True)
        ranking[order] = np.arange(1, len(order) + 1)
        ranking[behind] = np.arange(len(order) + 1, len(ranking) + 1)
        self._store_ranking(variables, scores, ranking, ranking <= len(order))


def _adjusted(F: Design, Y: Floats, kept: list[Ints]) -> tuple[Design, Floats, Floats]:
    """Take what some columns explain out of F and Y, and return by how much each lowers |Y|^2."""
    explained = [0.0]
    for place in range(len(kept)):
        Q = basis(dense(F[:, np.concatenate(kept[: place + 1])]))
        explained.append(float(((Q.T @ Y) ** 2).sum()))
    Z = dense(F[:, np.concatenate(kept)])
    return left_over(F, Z), left_over(Y, Z), np.diff(explained)
