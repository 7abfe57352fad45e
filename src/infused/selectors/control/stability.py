"""Stability selection: would these features be chosen again?"""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from infused._runtime.compat import Interval, StrOptions, fit_context
from infused._runtime.messages import count
from infused._typing import Array, Floats, Ints
from infused.exceptions import InputError, Setting
from infused.selectors.base import NUMBER_OF_FEATURES, BaseSelector, check_one_target, how_many
from infused.selectors.choose.number import numbers_to_try
from infused.selectors.control.half_samples import (
    BOUNDS,
    Bound,
    Halves,
    expected_false,
    largest_number,
    select_in_halves,
    smallest_threshold,
)
from infused.selectors.docs import STABILITY, documented
from infused.selectors.inputs.checks import Inputs, check_inputs
from infused.selectors.inputs.groups import GROUPS, KEEP, Groups
from infused.selectors.inputs.training import constant_columns, is_real
from infused.selectors.linear.lasso import Lasso
from infused.selectors.method import Method, told_target

THRESHOLD, MAX_FALSE = 0.75, 1.0  # where neither was given
HIGH = 0.9  # where the number per half is free: it may then be larger, and more of the true are found
SLACK = 1e-9  # a frequency of 75 in 100 reaches a threshold of 0.75


@documented(STABILITY)
class StabilitySelection(BaseSelector):
    r"""Features that a selector chooses again and again in random halves of the samples.

    .. math::

        \hat\Pi_i = \frac1{2B} \sum_{b=1}^{2B} 1\{i \in \hat S(A_b)\}, \qquad
        \hat S = \{i : \hat\Pi_i \ge \tau\}

    with B pairs of complementary halves :math:`A_{2b-1} \cap A_{2b} = \emptyset`, each with equal shares of
    every class. Where a half chooses q of p features, the expected number of false ones in :math:`\hat S` is
    bounded by a function of q, :math:`\tau` and p: two of q, :math:`\tau` and that number give the third. A
    false feature is one that a half chooses no more often than a feature at random. With nothing given,
    :math:`\tau = 0.9`, and q is the largest number with which at most one is expected: more features per half
    and a higher threshold find more at the same bound. Where q is given, :math:`\tau = 0.75`.

    Parameters
    ----------
    selector : selector, str or None, default=None
        Of ours or of scikit-learn's kind, or an id such as ``"mrmr"``; None for :class:`Lasso`. Its own
        number of features is q.
    %(n_features_to_select)s
    n_pairs : int, default=50
        The number B of pairs of halves.
    threshold : float or None, default=None
        The share :math:`\tau` of the halves, above 0.5.
    max_false : float or None, default=None
        The expected number of false features.
    bound : {"r-concave", "unimodal", "worst-case"}, default="r-concave"
        What is assumed of the frequencies: the first two are the bounds of Shah and Samworth; the last is
        that of Meinshausen and Bühlmann, and assumes nothing of them.
    %(target)s
    %(groups)s
    %(keep)s
    n_jobs : int or None, default=None
        Pairs that run side by side; -1 for as many as there are cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the halves.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_features,) or (n_groups,)
        The share of the halves in which each was chosen.
    threshold_ : float
        The threshold :math:`\tau`.
    expected_false_ : float
        At most so many of the features that reach the threshold are expected to be false.
    n_features_per_half_ : float
        How many q a half chose, on average.
    n_stable_ : int
        How many features reach the threshold, beside those that are kept.
    bounds_ : dict of str to float
        The expected number of false ones by every bound.
    path_numbers_ : ndarray of int of shape (n_numbers,)
        Numbers of features up to q.
    path_ : ndarray of shape (n_numbers, n_features) or (n_numbers, n_groups)
        The stability path: the share of the halves in which a feature is among the first 1, 2, ... q.
    n_pairs_ : int
        Pairs that count. Where a half could not be fitted, its pair is left out, with a warning that says
        why.
    %(attributes)s

    See Also
    --------
    AutoSelector : Chooses the method and the number by cross-validation.
    infused.report.plot_stability : Draws the frequencies and the stability path.

    References
    ----------
    N. Meinshausen, P. Bühlmann, "Stability selection", Journal of the Royal Statistical Society B 72 (2010).
    R. D. Shah, R. J. Samworth, "Variable selection with error control: another look at stability selection",
    Journal of the Royal Statistical Society B 75 (2013).

    Examples
    --------
    >>> import numpy as np
    >>> from infused import Lasso, StabilitySelection
    >>> X = np.random.default_rng(0).normal(size=(100, 40))
    >>> y = X[:, 3] - X[:, 7] + 0.5 * X[:, 0]
    >>> selector = StabilitySelection(Lasso(n_features_to_select=5), random_state=0).fit(X, y)
    >>> selector.get_support(indices=True)
    array([0, 3, 7])
    >>> bool(selector.expected_false_ < 0.2)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "selector": "no_validation",  # type: ignore[dict-item]  # scikit-learn's word for "anything"
        "n_features_to_select": NUMBER_OF_FEATURES,
        "n_pairs": [Interval(Integral, 1, None, closed="left")],
        "threshold": [Interval(Real, 0.5, 1, closed="right"), None],
        "max_false": [Interval(Real, 0, None, closed="neither"), None],
        "bound": [StrOptions(set(BOUNDS))],
        "target": [StrOptions({"auto", "classes", "real"})],
        "groups": GROUPS,
        "keep": KEEP,
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        selector: Any = None,
        *,
        n_features_to_select: int | float | str | None = None,
        n_pairs: int = 50,
        threshold: float | None = None,
        max_false: float | None = None,
        bound: str = "r-concave",
        target: str = "auto",
        groups: Any = None,
        keep: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.selector = selector
        self.n_features_to_select = n_features_to_select
        self.n_pairs = n_pairs
        self.threshold = threshold
        self.max_false = max_false
        self.bound = bound
        self.target = target
        self.groups = groups
        self.keep = keep
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def _takes_survival(self) -> bool:  # type: ignore[override]  # as the selector does
        return bool(getattr(made(self.selector), "_takes_survival", False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = made(self.selector).__sklearn_tags__()
        tags.target_tags.multi_output = own.target_tags.multi_output
        tags.input_tags.sparse = own.input_tags.sparse
        return tags

    @fit_context
    def fit(self, X: Any, y: Any) -> Self:
        """Select the features that halves of the samples agree on.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            What the selector takes.

        Returns
        -------
        self : object
            The fitted selector.
        """
        base = made(self.selector)
        inputs = self._looked(base, X, y)
        X, y, variables = inputs.coded.X, inputs.y, inputs.coded.variables
        X, kept = X.tocsr() if hasattr(X, "tocsr") else X, variables.places(self._own(base, "keep"))
        base, real = (base, True) if inputs.survival else _aimed(base, y, self.target)
        number = self._number(inputs, kept, real)
        k = how_many(number, variables, len(kept))
        constant = variables.all_of(constant_columns(X))
        constant[kept] = False
        p = len(variables) - len(kept) - int(constant.sum())
        q, self.threshold_ = self._resolved(base, variables, len(kept), max(p, 1), k)
        base = _told(base, q, variables, kept)
        most = len(variables) if q is None else q
        halves = select_in_halves(
            base,
            X,
            y,
            variables,
            real=real,
            seeds=check_random_state(self.random_state).randint(2**31 - 1, size=self.n_pairs),
            numbers=numbers_to_try(min(most, len(variables))),
            n_jobs=self.n_jobs,
        )
        self._store(halves, inputs.variables, kept, constant, k, p)
        self._tell(halves, k)
        return self

    def _looked(self, base: Any, X: Any, y: Any) -> Inputs:
        """Check X and y once for all halves; groups are our own, or those of the selector."""
        several = base.__sklearn_tags__().target_tags.multi_output
        if not several:
            check_one_target(self, y)
        inputs = check_inputs(self, X, y, several=several)
        names = getattr(self, "feature_names_in_", None)
        return replace(inputs, variables=Groups.parse(self._own(base, "groups"), inputs.X.shape[1], names))

    def _own(self, base: Any, name: str) -> Any:
        """Return our own parameter, or that of the selector."""
        own = getattr(self, name)
        return base.get_params(deep=False).get(name) if own is None else own

    def _resolved(
        self, base: Any, variables: Groups, n_kept: int, p: int, k: int | None
    ) -> tuple[int | None, float]:
        """Return the number per half (None where the selector finds it by itself) and the threshold."""
        bound: Bound = self.bound  # type: ignore[assignment]  # it was checked
        number = base.get_params(deep=False).get(number_of(base))
        q = how_many(number, variables, n_kept) if _is_number(number) else None
        if q is None and k is not None:
            q = k
        given = [self.threshold is not None, self.max_false is not None]
        if q is not None and all(given):
            raise InputError(
                "two of the number per half, ", Setting("threshold"), " and ", Setting("max_false"),
                " give the third: leave one of them out",
            )  # fmt: skip
        by_itself = q is None and (number_of(base) is None or number == "auto")
        usual = HIGH if q is None and not by_itself else THRESHOLD
        threshold = usual if self.threshold is None else float(self.threshold)
        max_false = MAX_FALSE if self.max_false is None else float(self.max_false)
        if q is not None:
            if self.max_false is not None:
                found = smallest_threshold(q - n_kept, max_false, p, self.n_pairs, bound)
                if found is None:
                    raise InputError(
                        f"with {q} features per half of {p}, more than ", Setting("max_false", max_false),
                        " are expected at any threshold: take fewer per half, or allow more",
                    )  # fmt: skip
                threshold = found
            return q, threshold
        if by_itself:
            return None, threshold
        free = largest_number(threshold, max_false, p, self.n_pairs, bound)
        if free is None and any(given):
            raise InputError(
                f"one feature per half of {p} is too many for ", Setting("max_false", max_false),
                " at ", Setting("threshold", threshold), ": raise either",
            )  # fmt: skip
        return n_kept + (free or 1), threshold

    def _store(
        self, halves: Halves, variables: Groups, kept: Ints, constant: Array, k: int | None, p: int
    ) -> None:
        frequencies = halves.frequencies
        q = max(halves.number - len(kept), 0.0)
        self.bounds_: dict[str, float] = {
            one: expected_false(q, self.threshold_, p, halves.n_pairs, one) for one in BOUNDS
        }
        self.expected_false_ = self.bounds_[self.bound]
        self.frequencies_, self.n_features_per_half_ = frequencies, halves.number
        self.n_pairs_ = halves.n_pairs
        self.path_numbers_, self.path_ = halves.numbers, halves.path
        if not halves.ranked:
            self.path_numbers_, self.path_ = np.array([round(halves.number)]), frequencies[None, :]
        order = np.lexsort((halves.rank_sums, -frequencies, constant))
        order = np.concatenate([kept, order[~np.isin(order, kept)]])
        ranking = np.empty(len(order), np.int64)
        ranking[order] = np.arange(1, len(order) + 1)
        stable = (frequencies >= self.threshold_ - SLACK) & ~constant
        stable[kept] = True
        self.n_stable_ = int(stable.sum()) - len(kept)
        scores: Floats = np.where(constant, 0.0, frequencies)
        self._store_ranking(variables, scores, ranking, stable if k is None else ranking <= k)

    def _tell(self, halves: Halves, k: int | None) -> None:
        """Warn of halves that failed, fits that warned, and features that are tied."""
        if halves.failures:
            why = Counter(halves.failures).most_common(1)[0][0]
            warnings.warn(
                f"{len(halves.failures)} of {count(self.n_pairs, 'pair')} of halves could not be used: {why}",
                UserWarning,
                stacklevel=5,
            )
        if halves.complaints:
            warnings.warn(
                f"{count(len(halves.complaints), 'fit')} on halves of the samples warned: "
                f"{halves.complaints[0]}",
                UserWarning,
                stacklevel=5,
            )
        tied = 0 if k is None or halves.ranked else _tied_at(self.frequencies_, k)
        if tied:
            warnings.warn(
                f"{tied} features were chosen equally often at the last place: the first of them are taken",
                UserWarning,
                stacklevel=5,
            )


def made(selector: Any) -> Any:
    """Return a copy of the selector, the selector of an id, or a lasso for None."""
    if selector is None:
        return Lasso()
    if isinstance(selector, str | Method):
        return Method.given(selector).make()
    if isinstance(selector, type) or not (hasattr(selector, "fit") and hasattr(selector, "get_params")):
        raise InputError(Setting("selector", selector), " is neither an id nor a selector")
    if not hasattr(selector, "get_support"):
        raise InputError(
            Setting("selector", selector),
            " selects no features, for it has no get_support: give a selector, such as SelectFromModel of it",
        )
    return clone(selector)


def number_of(selector: Any) -> str | None:
    """Return the name of the parameter for the number of features, if there is one."""
    own = selector.get_params(deep=False)
    return next((name for name in ("n_features_to_select", "k") if name in own), None)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _aimed(base: Any, y: Array, target: str) -> tuple[Any, bool]:
    """Tell the selector the kind of y where it takes that; return it, and whether y is continuous."""
    own = base.get_params(deep=False).get("target")
    real = is_real(y, target if own in (None, "auto") else own)
    told = told_target(base, "real" if real else "classes", base.get_params(deep=False))
    return (base.set_params(**told) if own == "auto" else base), real


def _told(base: Any, q: int | None, variables: Groups, kept: Ints) -> Any:
    """Set the number per half-sample, the groups and the kept features of the selector."""
    own, changed = base.get_params(deep=False), dict[str, Any]()
    number = number_of(base)
    if q is not None and number is not None:
        changed[number] = q
    for name, value in (("groups", variables.labels), ("keep", kept.tolist())):
        if name in own:
            changed[name] = value if value is None or len(value) else None
        elif value is not None and len(value):
            raise InputError(f"{type(base).__name__} does not take ", Setting(name))
    if "n_jobs" in own:
        changed["n_jobs"] = 1
    return base.set_params(**changed)


def _tied_at(frequencies: Floats, k: int) -> int:
    """Count the features that tie with the last selected one, where some of them are not selected."""
    last = np.sort(frequencies)[::-1][k - 1]
    above, equal = int((frequencies > last).sum()), int((frequencies == last).sum())
    return equal if above + equal > k else 0
