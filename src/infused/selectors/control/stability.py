"""Stability selection: half-samples, the bounds on false features, and the selector."""

from __future__ import annotations

import warnings
from collections import Counter
from contextlib import closing
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import lru_cache
from math import ceil, sqrt
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args

import numpy as np
from scipy.optimize import brentq
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils import check_random_state

from infused._runtime.compat import Interval, StrOptions, fit_context
from infused._runtime.messages import count, reason
from infused._runtime.processes import each
from infused._runtime.progress import Stage, reporting
from infused._runtime.threads import one_blas_thread
from infused._typing import Array, Data, Floats, Ints
from infused.exceptions import InputError, Setting
from infused.samples import Samples
from infused.selectors.base import NUMBER_OF_FEATURES, BaseSelector, check_one_target, documented, how_many
from infused.selectors.choose.number import numbers_to_try
from infused.selectors.inputs.checks import Inputs, check_inputs
from infused.selectors.inputs.groups import GROUPS, KEEP, Groups
from infused.selectors.inputs.training import constant_columns, is_real
from infused.selectors.linear.lassos import Lasso
from infused.selectors.method import Method, told_target


class Pair(NamedTuple):
    """What was chosen in the two halves of a pair."""

    halves: list[tuple[Array, Ints | None]]
    """The mask and the ranking of each."""
    failure: str
    """Why one of them could not be fitted; empty where both were."""
    complaints: list[str]
    """What the fits warned of."""


@dataclass
class Halves:
    """What was chosen in the halves of the samples, counted by variable."""

    numbers: Ints
    """For which the path is counted."""
    chosen: Ints
    """In how many halves."""
    first: Ints
    """In how many halves among the first of the ranking; numbers x variables."""
    rank_sums: Floats
    """Sums of the ranks, or of zeros where the selector does not rank."""
    n_pairs: int = 0
    """Pairs that count: both their halves were fitted."""
    n_chosen: int = 0
    """Variables that were chosen, over all halves."""
    ranked: bool = True
    """Whether all halves have a ranking."""
    failures: list[str] = field(default_factory=list)
    """Why pairs do not count."""
    complaints: list[str] = field(default_factory=list)
    """What fits warned of."""

    @classmethod
    def none(cls, n_variables: int, numbers: Ints) -> Halves:
        """Start with nothing counted."""
        first = np.zeros((len(numbers), n_variables), np.int64)
        return cls(numbers, np.zeros(n_variables, np.int64), first, np.zeros(n_variables))

    def add(self, pair: Pair) -> None:
        """Count both halves of a pair, or why it does not count."""
        self.complaints += pair.complaints
        if pair.failure:
            self.failures.append(pair.failure)
            return
        self.n_pairs += 1
        for mask, ranking in pair.halves:
            self.chosen += mask
            self.n_chosen += int(mask.sum())
            if ranking is None:
                self.ranked = False
            else:
                self.rank_sums += ranking
                self.first += ranking <= self.numbers[:, None]

    @property
    def frequencies(self) -> Floats:
        """Return the selection frequencies."""
        return np.asarray(self.chosen / (2 * self.n_pairs))

    @property
    def path(self) -> Floats:
        """Return the share of the halves in which a variable is among the first; numbers x variables."""
        return np.asarray(self.first / (2 * self.n_pairs))

    @property
    def number(self) -> float:
        """Return how many variables a half selected, on average."""
        return self.n_chosen / (2 * self.n_pairs)


def select_in_halves(
    selector: Any,
    X: Data,
    y: Array,
    variables: Groups,
    samples: Samples,
    *,
    real: bool,
    seeds: Ints,
    numbers: Ints,
    n_jobs: int | None = None,
) -> Halves:
    """Fit a copy of the selector on both halves of a pair for every seed.

    X and y were checked, once for all. Every fit has one thread for linear algebra, whatever the number of
    jobs, so that they share the cores, and that the result is the same to the last bit.
    """
    stage = Stage(None, "selecting in halves of the samples", len(seeds))
    found = Halves.none(len(variables), numbers)
    pairs = each(_pair, seeds.tolist(), selector, X, y, variables, samples, real, n_jobs=n_jobs)
    with reporting(None), closing(pairs):
        for pair in pairs:
            found.add(pair)
            stage.advance()
    if not found.n_pairs:
        raise InputError(f"no pair of halves could be used: {found.failures[0]}")
    return found


def _pair(
    selector: Any, X: Data, y: Array, variables: Groups, samples: Samples, real: bool, seed: int
) -> Pair:
    """Fit the selector on both halves of a pair; return what they select, or why one of them failed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        try:
            with one_blas_thread(), config_context(assume_finite=True):
                halves = []
                for n, rows in enumerate(samples.halves(y, real, seed)):
                    copy = _seeded(selector, seed + n)
                    fitted = copy.fit(X[rows], y[rows], **samples.take(rows).taken_by(copy))
                    halves.append(_chosen(fitted, variables))
        except (ValueError, ArithmeticError) as error:
            return Pair([], reason(error), [])
    return Pair(halves, "", [str(one.message) for one in caught])


def _seeded(selector: Any, seed: int) -> Any:
    """Copy the selector with another seed: what depends on a seed and not on the data is not stable."""
    copy = clone(selector)
    return copy.set_params(random_state=seed) if "random_state" in copy.get_params(deep=False) else copy


def _chosen(fitted: Any, variables: Groups) -> tuple[Array, Ints | None]:
    """Return the mask of the selected variables, and their ranking where all are ranked."""
    support = np.asarray(fitted.get_support(), dtype=bool)
    mask = np.bincount(variables.codes[support], minlength=len(variables)) > 0
    ranking = np.asarray(getattr(fitted, "ranking_", ()))
    strict = ranking.shape == mask.shape and len(np.unique(ranking)) == len(mask)
    return mask, ranking if strict else None


Bound = Literal["r-concave", "unimodal", "worst-case"]
BOUNDS: tuple[Bound, ...] = get_args(Bound)

GRID, ZOOMS = 200, 4  # values of a, and how often their range is narrowed
WIDEST = (-30.0, 30.0)  # logarithms of a: from all mass at zero to a uniform distribution
DIGITS = 10  # a threshold of 0.6 is 60 of 100 halves, though its float is a little more


def expected_false(q: float, threshold: float, p: int, n_pairs: int, bound: Bound = "r-concave") -> float:
    """Bound the expected number of falsely selected features; never above the worst-case bound."""
    if q <= 0 or p <= 0:
        return 0.0
    theta = min(q / p, 1.0)
    known = [float(p), q / threshold]  # all frequencies add up to q
    if threshold > 0.5:
        known.append(theta * q / (2 * threshold - 1))
        if bound == "unimodal":
            known.append(_unimodal(theta, threshold, n_pairs) * theta * q)
    if bound == "r-concave":
        known.append(p * _r_concave(theta, threshold, n_pairs))
    return min(known)


def smallest_threshold(q: float, max_false: float, p: int, n_pairs: int, bound: Bound) -> float | None:
    """Find the smallest threshold above one half that keeps the bound; None where there is none."""
    steps = np.arange(n_pairs + 1, 2 * n_pairs + 1)  # bounds fall as it rises
    low, high = 0, len(steps)
    while low < high:
        middle = (low + high) // 2
        if expected_false(q, steps[middle] / (2 * n_pairs), p, n_pairs, bound) <= max_false:
            high = middle
        else:
            low = middle + 1
    return None if low == len(steps) else float(steps[low] / (2 * n_pairs))


def largest_number(threshold: float, max_false: float, p: int, n_pairs: int, bound: Bound) -> int | None:
    """Find the largest number per half-sample that keeps the bound; None where one is too many."""
    low, high = 0, p  # bounds rise with q
    while low < high:
        middle = (low + high + 1) // 2
        if expected_false(middle, threshold, p, n_pairs, bound) <= max_false:
            low = middle
        else:
            high = middle - 1
    return low or None


def _unimodal(theta: float, threshold: float, n_pairs: int) -> float:
    """Return C(tau, B) of Theorem 2; infinite where the theorem says nothing."""
    B = n_pairs
    if theta > 1 / sqrt(3):
        return float("inf")
    if threshold > 0.75:
        return 4 * (1 - threshold + 1 / (2 * B)) / (1 + 1 / B)
    if threshold <= min(0.5 + theta**2, 0.5 + 1 / (2 * B) + 0.75 * theta**2):
        return float("inf")
    room = 2 * threshold - 1 - 1 / (2 * B)
    return 1 / (2 * room) if room > 0 else float("inf")


def _r_concave(theta: float, threshold: float, n_pairs: int) -> float:
    halves = ceil(round(2 * n_pairs * threshold, DIGITS))
    together = halves - n_pairs  # of the pairs of which both halves select
    both = tail_of_r_concave(theta**2, together, n_pairs, -0.5) if together > 0 else 1.0
    return min(both, tail_of_r_concave(theta, halves, 2 * n_pairs, -0.25))


@lru_cache(maxsize=4096)
def tail_of_r_concave(eta: float, t: int, n: int, r: float) -> float:
    r"""Maximise :math:`P(X \ge t/n)` over r-concave X on :math:`\{0, 1/n, \ldots, 1\}` of mean eta or less.

    The largest is reached by masses proportional to :math:`(a + i)^{1/r}` at i = 0, ..., k, and what the mean
    leaves, at most as much, at k + 1 (Shah and Samworth, Appendix). Every a has one such k, so there is one
    number to search for. Where t is not well above the mean the bound is one.
    """
    mean, s = eta * n, 1 / r
    if t < ceil(2 * mean) + 1:
        return 1.0
    # The larger a, the flatter the masses, and the fewer of them have that mean: k from t - 1 to n - 1.
    low, high = _log_a(n, mean, s), _log_a(t - 1, mean, s)
    best = 0.0
    for _ in range(ZOOMS):
        logs = np.linspace(low, high, GRID)
        tails = _tails(np.exp(logs), t, n, mean, s)
        at = int(tails.argmax())
        best = max(best, float(tails[at]))
        low, high = logs[max(at - 2, 0)], logs[min(at + 2, GRID - 1)]
    return min(best, 1.0)


def _log_a(k: int, mean: float, s: float) -> float:
    """Find log a for which masses at 0, ..., k have this mean."""

    def excess(log_a: float) -> float:
        masses = (1 + np.arange(k + 1) / np.exp(log_a)) ** s
        return float((np.arange(k + 1) * masses).sum() / masses.sum() - mean)

    low, high = WIDEST
    if excess(high) <= 0:
        return high
    return low if excess(low) >= 0 else float(brentq(excess, low, high, xtol=1e-13))


def _tails(a: Floats, t: int, n: int, mean: float, s: float) -> Floats:
    """Compute P(X >= t) for each a; zero where no k fits."""
    places = np.arange(n + 1)
    masses = (1 + places / a[:, None]) ** s
    whole, first = masses.cumsum(axis=1), (masses * places).cumsum(axis=1)
    k = (first <= mean * whole).sum(axis=1) - 1  # the means rise with k
    k = np.clip(k, t - 1, n - 1)  # rounding at the ends
    rows = np.arange(len(a))
    scale = (k + 1 - mean) / ((k + 1) * whole[rows, k] - first[rows, k])
    return np.asarray(1 - scale * whole[rows, t - 1])


THRESHOLD, MAX_FALSE = 0.75, 1.0  # where neither was given
HIGH = 0.9  # where the number per half is free: it may then be larger, and more of the true are found
SLACK = 1e-9  # a frequency of 75 in 100 reaches a threshold of 0.75


@documented()
@dataclass(eq=False, repr=False)
class StabilitySelection(BaseSelector):
    r"""Features that a selector chooses again and again in random halves of the samples.

    .. math::

        \hat\Pi_i = \frac1{2B} \sum_{b=1}^{2B} 1\{i \in \hat S(A_b)\}, \qquad
        \hat S = \{i : \hat\Pi_i \ge \tau\}

    with B pairs of complementary halves :math:`A_{2b-1} \cap A_{2b} = \emptyset`, each with equal shares of
    every class. Groups of samples go whole into a half. Where a half chooses q of p features, the expected
    number of false ones in :math:`\hat S` is bounded by a function of q, :math:`\tau` and p: two of q,
    :math:`\tau` and that number give the third. A false feature is one that a half chooses no more often than
    a feature at random. With nothing given, :math:`\tau = 0.9`, and q is the largest number with which at
    most one is expected: more features per half and a higher threshold find more at the same bound. Where q
    is given, :math:`\tau = 0.75`.

    Parameters
    ----------
    selector : selector, str or None, default=None
        Of ours or of scikit-learn's kind, or an id such as ``"mrmr"``; None for :class:`Lasso`. Its own
        number of features is q.
    n_features_to_select : int, float, "auto" or None, default=None
        How many features: a number, a fraction, "auto" for the smallest number that predicts within one
        standard error of the best (by cross-validation), or None for those that reach the threshold.
        Where the selector has no number of its own, a number is also that of each half.
    n_pairs : int, default=50
        The number B of pairs of halves.
    threshold : float or None, default=None
        The share :math:`\tau` of the halves, above 0.5.
    max_false : float or None, default=None
        The expected number of false features.
    bound : {"r-concave", "unimodal", "worst-case"}, default="r-concave"
        What is assumed of the frequencies: the first two are the bounds of Shah and Samworth; the last is
        that of Meinshausen and Bühlmann, and assumes nothing of them.
    target : {"auto", "classes", "real"}, default="auto"
        What y is; "auto" decides by its type, or leaves it to the selector.
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
    scores_ : ndarray of shape (n_features,) or (n_groups,)
        The frequencies; zero for constant features.
    ranking_ : ndarray of int of shape (n_features,) or (n_groups,)
        1 for the best: by frequency, then by the mean rank in the halves, then by position. Where the
        selector has a number of its own, it is the same for every number that is asked for; else halves
        choose as many as are asked for, and another number may have another order.
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

    selector: Any = None
    _: KW_ONLY
    n_features_to_select: int | float | str | None = None
    n_pairs: int = 50
    threshold: float | None = None
    max_false: float | None = None
    bound: str = "r-concave"
    target: str = "auto"
    groups: Any = None
    keep: Any = None
    n_jobs: int | None = None
    random_state: Any = None

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
    def fit(self, X: Any, y: Any, *, sample_groups: Any = None, order: Any = None) -> Self:
        """Select the features that halves of the samples agree on.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            What the selector takes.
        sample_groups : array-like of shape (n_samples,), default=None
            The group of each sample, such as its patient: a half takes groups whole.
        order : array-like of shape (n_samples,), default=None
            The place of each sample in an order, such as its time: a half takes blocks
            of it whole, where at least 20 times are told apart.

        Returns
        -------
        self : object
            The fitted selector.
        """
        base = made(self.selector)
        inputs = self._looked(base, X, y)
        X, y, variables = inputs.coded.X, inputs.y, inputs.coded.variables
        X, kept = X.tocsr() if hasattr(X, "tocsr") else X, variables.places(self._own(base, "keep"))
        base, real = (base, True) if inputs.survival else aimed(base, y, self.target)
        samples = Samples.given(sample_groups, order, len(y))
        number = self._number(inputs, kept, real, samples=samples)
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
            samples,
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
        inputs = check_inputs(self, X, y, several=several, stored=True)
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
        failures, complaints, said = halves.failures, halves.complaints, []
        if failures:
            why = Counter(failures).most_common(1)[0][0]
            said.append(
                f"{len(failures)} of {count(self.n_pairs, 'pair')} of halves could not be used: {why}"
            )
        if complaints:
            fits = count(len(complaints), "fit")
            said.append(f"{fits} on halves of the samples warned: {complaints[0]}")
        if tied := 0 if k is None or halves.ranked else _tied_at(self.frequencies_, k):
            said.append(f"{tied} features were chosen equally often at the last place: the first are taken")
        for words in said:
            warnings.warn(words, UserWarning, stacklevel=5)


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


def aimed(base: Any, y: Array, target: str) -> tuple[Any, bool]:
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
