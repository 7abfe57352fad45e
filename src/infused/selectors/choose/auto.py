"""How long a fit will take, told by fits on small parts of the data, and how much time is left."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from math import inf, log2
from numbers import Integral, Real
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from infused._runtime.compat import Interval, StrOptions, fit_context
from infused._runtime.messages import count, reason
from infused._runtime.progress import Stage, reporting
from infused._runtime.tasks import current_cluster, each
from infused._typing import Array, Data, Floats, Ints, TargetKind
from infused.exceptions import InputError, Setting
from infused.selectors.base import NUMBER_OF_FEATURES, BaseSelector, check_one_target, how_many
from infused.selectors.choose.number import (
    CV,
    SCORING,
    Fold,
    NumberCurve,
    Split,
    checked_scoring,
    curve_of,
    numbers_to_try,
    references,
    scores_along,
    splits_by,
)
from infused.selectors.choose.scoring import Scoring
from infused.selectors.docs import AUTO, documented
from infused.selectors.inputs.checks import look
from infused.selectors.inputs.groups import GROUPS, KEEP, Groups
from infused.selectors.inputs.training import is_real, tame
from infused.selectors.method import Method, methods_in, told_target

ROWS, COLUMNS = 30, 10  # of the smallest part
USUAL, STEEP, SLOWEST = 2.0, 4.0, 8.0  # by what a fit grows where rows and columns double
CAREFUL = 1.5  # times an estimate from a smaller part
PROBING = 0.05  # of the time that is left, for one fit on a larger part


class Clock:
    """Seconds of a budget, from now on; without one there is always time."""

    def __init__(self, budget: float | None):
        self.budget = inf if budget is None else float(budget)
        self._start = perf_counter()

    @property
    def limited(self) -> bool:
        """Whether there is a budget."""
        return self.budget < inf

    def spent(self) -> float:
        """Seconds since it was set."""
        return perf_counter() - self._start

    def left(self) -> float:
        """Seconds until the budget is used up."""
        return self.budget - self.spent()


class Probe:
    """Fits of one selector on growing parts of some data: each time twice the rows and twice the columns.

    The first fit of all may load or compile something: where it does not take long, two others count.
    """

    def __init__(self, selector: Any, X: Data, y: Array, patience: float):
        self._selector, self._X, self._y = selector, X, y
        n_rows, n_columns = X.shape
        self._rows = min(max(ROWS, 2 * len(np.unique(y)) if y.dtype.kind != "f" else 0), n_rows)
        larger = max(n_rows / self._rows, n_columns / COLUMNS, 1.0)
        self._halvings = int(np.ceil(log2(larger)))
        self._growth = USUAL
        self._seconds = self._timed()
        if self._seconds <= patience:
            self._seconds = min(self._timed(), self._timed())

    @property
    def seconds(self) -> float:
        """What a fit on all rows and columns is expected to take."""
        return self._seconds * self._growth**self._halvings

    def fits_in(self, n_fits: float, clock: Clock) -> bool:
        """Whether so many fits on all rows and columns fit in the time that is left.

        As long as both is possible, and a larger part takes little of that time, it is tried.
        """
        while self._halvings:
            left = clock.left() / n_fits
            if self._seconds * SLOWEST**self._halvings <= left:
                return True
            if self._seconds > left:
                return False
            if self._seconds * self._growth > PROBING * clock.left():
                return CAREFUL * self.seconds <= left
            self._halvings -= 1
            before, self._seconds = self._seconds, self._timed()
            # What is fixed weighs less and less, so that growth rises: the next will be no slower.
            self._growth = min(max(self._seconds / max(before, 1e-9), USUAL), STEEP)
        return self._seconds * n_fits <= clock.left()

    def _timed(self) -> float:
        share = 0.5**self._halvings
        rows = some_rows(self._y, max(self._rows, round(share * len(self._y))))
        n_columns = self._X.shape[1]
        columns = np.arange(max(min(COLUMNS, n_columns), round(share * n_columns)))
        part = self._X[rows] if len(columns) == n_columns else self._X[rows][:, columns]
        selector = _narrowed(self._selector, len(columns), n_columns)
        start = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector.fit(part, self._y[rows])
        return perf_counter() - start


def some_rows(y: Array, n: int) -> Ints:
    """Positions of n samples, of every class a share."""
    order = np.argsort(y, kind="stable")
    return np.sort(order[np.linspace(0, len(y) - 1, n).astype(int)])


def _narrowed(selector: Any, n_columns: int, of: int) -> Any:
    """A copy for the first columns: what names columns is left out, for it takes no time to speak of."""
    copy, own = clone(selector), selector.get_params(deep=False)
    if n_columns == of:
        return copy
    changed: dict[str, Any] = {}
    if own.get("groups") is not None:
        changed["groups"] = np.asarray(own["groups"])[:n_columns]
    if own.get("keep") is not None:
        changed["keep"] = None
    fusion = own.get("fusion", "none")
    if not (isinstance(fusion, str) and fusion in ("none", "chain")):
        changed |= {"fusion": "chain", "grid_shape": None}
    wanted = own["n_features_to_select"]
    most = n_columns if own.get("groups") is None else len(np.unique(changed["groups"]))
    return copy.set_params(**changed, n_features_to_select=max(1, min(wanted, most // 2)))


#: Six different ideas, one of them with two penalties.
METHODS = ("anova", "mrmr", "jmi", "lasso", "lasso:lambda1=0.2", "greedy-forward", "infused-lasso")

RULES = ("one-standard-error", "best")


@documented(AUTO)
class AutoSelector(BaseSelector):
    r"""The selector, its parameters and its number of features that predict best, by cross-validation.

    .. math::

        \max_{m, k} \frac1F \sum_{f=1}^F s\big(y_f, \hat y(X_f[r_{mf}(1), \ldots, r_{mf}(k)])\big)

    with :math:`r_{mf}` the ranking of the features by method m, made once on the training part of fold f,
    :math:`\hat y` a linear model on the first k of it, and s a score on the test part. By the rule of one
    standard error, the smallest k of any method is taken whose mean is within one standard error of the
    best. It is an insurance against a method that does not suit the data, not a gain over the one that
    suits them best.

    Parameters
    ----------
    methods : sequence of str or selectors, mapping or None, default=None
        Ids, with parameters after colons where wanted (``"lasso:lambda1=0.1"``), selectors that are not
        fitted, or a mapping from ids to grids of parameters. None takes anova, mrmr, jmi, lasso (with
        lambda1 of 0.05 and 0.2), greedy-forward and infused-lasso.
    %(n_features_to_select)s
    %(cv)s
    %(scoring)s
    rule : {"one-standard-error", "best"}, default="one-standard-error"
        What is chosen: the smallest number within one standard error of the best mean, or that of the best.
    time_budget : float or None, default=None
        Seconds for everything, the last fit included. Methods are tried from the quickest on, and one is
        begun where an estimate says that it will be done in time; the first is tried in any case.
    target : {"auto", "classes", "real"}, default="auto"
        What y is; "auto" decides by its type.
    %(groups)s
    %(keep)s
    random_state : int or None, default=None
        Seed of the folds, and of methods that draw at random; None for 0.
    n_jobs : int or None, default=None
        Threads of the methods that take them; -1 for every core. Without a time budget, the result does not
        depend on it.

    Attributes
    ----------
    candidates_ : dict of str to list
        One entry for each method, in the order of trial: ``method``, ``n_features`` (by the rule, for this
        method alone), ``score`` and ``error`` (its standard error) there, ``seconds``, ``status`` and
        ``chosen``. ``pandas.DataFrame(selector.candidates_)`` shows it as a table.
    curves_ : dict of str to NumberCurve
        The scores against the number of features, by method.
    method_ : str
        The method that was chosen, with its parameters.
    selector_ : selector
        It, fitted on all samples.
    n_features_ : int
        The number of features that was chosen, or given.
    %(attributes)s

    See Also
    --------
    StabilitySelection : Features that halves of the samples agree on.
    infused.compare : Methods side by side, with tests of their differences.

    References
    ----------
    L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone, "Classification and Regression Trees" (1984), on
    the rule of one standard error.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import AutoSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = AutoSelector(["anova", "lasso"], random_state=0).fit(X, y)
    >>> selector.candidates_["method"]
    ['anova', 'lasso']
    >>> selector.transform(X).shape[1] == selector.n_features_
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "methods": "no_validation",  # type: ignore[dict-item]  # scikit-learn's word for "anything"
        "n_features_to_select": NUMBER_OF_FEATURES,
        "cv": CV,
        "scoring": SCORING,
        "rule": [StrOptions(set(RULES))],
        "time_budget": [Interval(Real, 0, None, closed="neither"), None],
        "target": [StrOptions({"auto", "classes", "real"})],
        "groups": GROUPS,
        "keep": KEEP,
        "random_state": [Interval(Integral, 0, None, closed="left"), None],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        methods: Any = None,
        n_features_to_select: int | float | str | None = "auto",
        *,
        cv: Any = 5,
        scoring: Any = None,
        rule: str = "one-standard-error",
        time_budget: float | None = None,
        target: str = "auto",
        groups: Any = None,
        keep: Any = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ):
        self.methods = methods
        self.n_features_to_select = n_features_to_select
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.time_budget = time_budget
        self.target = target
        self.groups = groups
        self.keep = keep
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context
    def fit(self, X: Any, y: Any, *, groups: Any = None) -> Self:
        """Choose, and fit what was chosen on all samples.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,)
            Class labels or real values.
        groups : array-like of shape (n_samples,), default=None
            Samples that belong together, where ``cv`` asks for them.

        Returns
        -------
        self : object
            The fitted selector.
        """
        clock = Clock(self.time_budget)
        methods = methods_of(METHODS if self.methods is None else self.methods)
        check_one_target(self, y)
        seen = look(self, X, y, dtype=[np.float64, np.float32])
        X, y, variables = seen.coded.X, seen.y, seen.coded.variables
        X = X.tocsr() if hasattr(X, "tocsr") else X
        kept = variables.places(self.keep)
        kind: TargetKind = "real" if is_real(y, self.target) else "classes"
        y = tame(y) if kind == "real" else y  # a score must not leave the range
        asked = None if self.n_features_to_select == "auto" else self.n_features_to_select
        k = how_many(asked, variables, len(kept))
        grid = numbers_to_try(len(variables), len(kept)) if k is None else np.array([k])
        contest = self._contest(X, y, variables, kind, grid, clock, groups)
        contest.run([self._trial(one, kind, variables, kept, int(grid[-1])) for one in methods])
        winner, number = contest.chosen(self.rule)
        fitted = winner.selector.set_params(n_features_to_select=number).fit(X, y)
        self._store(contest, winner, number, k is None)
        self.selector_, self.method_, self.n_features_ = fitted, str(winner.method), number
        self._store_ranking(seen.variables, fitted.scores_, fitted.ranking_, fitted.ranking_ <= number)
        self._tell(contest)
        return self

    def _contest(
        self, X: Any, y: Array, variables: Groups, kind: TargetKind, grid: Ints, clock: Clock, samples: Any
    ) -> Contest:
        scoring = checked_scoring(self.scoring, y, kind)
        few, splits = splits_by(self.cv, X, y, kind, samples, self.random_state or 0)
        smallest = min(len(train) for train, _ in splits)
        part = (X, y) if len(few) == len(y) else (X[few], y[few])
        return Contest(*part, variables, splits, grid, kind, scoring, clock, len(y) / smallest)

    def _trial(self, method: Method, kind: TargetKind, variables: Groups, kept: Ints, most: int) -> Trial:
        """A method, told all that it can be told."""
        takes, told = method.takes, {**method.parameters, "n_features_to_select": most}
        if "random_state" in takes:
            told.setdefault("random_state", self.random_state or 0)
        if "n_jobs" in takes:
            told.setdefault("n_jobs", self.n_jobs)
        trial = Trial(method, None)
        for name, value in (
            ("groups", variables.labels),
            ("keep", kept.tolist()),
        ):
            if value is None or not len(value):
                continue
            told[name] = value
            if name not in takes:
                trial.status = f"left out: it does not take {name}"
        if kind == "real" and not method.info.regression:
            trial.status = "left out: it needs classes"
        if trial.status == WAITING:
            trial.selector = method.make(told)
            if told.get("target", takes.get("target")) == "auto":
                trial.selector.set_params(**told_target(trial.selector, kind, told))
        return trial

    def _store(self, contest: Contest, winner: Trial, number: int, auto: bool) -> None:
        self.curves_ = {str(one.method): one.curve for one in contest.trials if one.curve is not None}
        self.__dict__.pop("number_curve_", None)  # of an earlier fit
        if auto and winner.curve is not None:
            self.number_curve_ = replace(winner.curve, chosen=number)
        columns = ("method", "n_features", "score", "error", "seconds", "status", "chosen")
        self.candidates_: dict[str, list[Any]] = {name: [] for name in columns}
        for one in contest.trials:
            row = self._row(one, winner, number)
            for name in columns:
                self.candidates_[name].append(row[name])

    def _row(self, one: Trial, winner: Trial, number: int) -> dict[str, Any]:
        told = {
            "method": str(one.method),
            "seconds": one.seconds,
            "status": one.status,
            "chosen": one is winner,
        }
        if one.curve is None:
            return {**told, "n_features": None, "score": None, "error": None}
        own = one.curve.chosen if self.rule == "one-standard-error" else one.curve.best
        k = number if one is winner else own
        at = one.curve.ks.index(k)
        return {**told, "n_features": k, "score": one.curve.means[at], "error": one.curve.errors[at]}

    def _tell(self, contest: Contest) -> None:
        """What was not tried, in one line; and a budget that did not suffice."""
        missed = [one for one in contest.trials if one.status != TRIED]
        for word in ("failed", "left out", "stopped"):
            some = [one for one in missed if one.status.startswith(word)]
            if some and not (contest.clock.limited and word != "failed"):
                warnings.warn(
                    f"{count(len(some), 'method')} could not be tried: {some[0].method} {some[0].status}",
                    UserWarning,
                    stacklevel=5,
                )
        if contest.n_samples is not None:
            warnings.warn(
                f"methods were tried on {contest.n_samples:,} of the samples, for time_budget="
                f"{contest.clock.budget:g} does not suffice for all",
                UserWarning,
                stacklevel=5,
            )
        if contest.clock.left() < -0.2 * contest.clock.budget:
            warnings.warn(
                f"the quickest method alone took {contest.clock.spent():.1f} s, more than the time budget of "
                f"{contest.clock.budget:g} s: allow more, or choose on fewer samples",
                UserWarning,
                stacklevel=5,
            )


WAITING, TRIED = "not reached", "tried"
JUDGING = 0.3  # of a budget, at most, for the models that judge one method
FEWEST_NUMBERS, FEW_SAMPLES = 4, 200
FIRST_ESTIMATES, PATIENCE = 0.4, 0.02  # of a budget, for all first estimates and for one of them
MARGIN = 1.2  # times what a fold took, for the next one


@dataclass
class Trial:
    """One method with its parameters, and what came of it."""

    method: Method
    selector: Any
    """Not fitted; it ranks as many features as are needed."""
    curve: NumberCurve | None = None
    seconds: float = 0.0
    fit_seconds: float = 0.0
    """Of the slowest ranking of a fold."""
    probe: Probe | None = None
    """How long it will take, where time is limited."""
    status: str = WAITING


@dataclass
class Contest:
    """Methods on the same folds, the quickest first where time is limited."""

    X: Data
    y: Array
    variables: Groups
    splits: Sequence[Split]
    grid: Ints
    kind: TargetKind
    scoring: Scoring
    clock: Clock
    refit: float = 1.25
    """How many times longer a fit on all samples takes than one on a training part."""
    trials: list[Trial] = field(default_factory=list)
    n_samples: int | None = None
    """How many the methods were tried on, where time did not suffice for all."""

    def run(self, trials: list[Trial]) -> None:
        """Try one method after the other, as long as there is time; the first is tried in any case."""
        stage = Stage(None, "trying methods", len(trials) * len(self.splits))
        with warnings.catch_warnings(), reporting(None):
            warnings.simplefilter("ignore")  # what matters is said of the fit on all data
            if self.clock.limited:
                self._probe(trials)
                self._thin_out()
            self.trials = sorted(trials, key=lambda one: inf if one.probe is None else one.probe.seconds)
            beside = [self._beside(split) for split in self.splits]
            for one in self.trials:
                if one.status == WAITING:
                    self._try(one, beside, stage)

    def chosen(self, rule: str) -> tuple[Trial, int]:
        """The method and the number: the best mean, or the smallest within one standard error of it."""
        tried = [one for one in self.trials if one.curve is not None]
        if not tried:
            raise InputError(f"no method could be tried: {self.trials[0].method} {self.trials[0].status}")
        rows = [
            (mean, error, k, -place)
            for place, one in enumerate(tried)
            if one.curve is not None
            for mean, error, k in zip(one.curve.means, one.curve.errors, one.curve.ks, strict=True)
        ]
        best = max(rows, key=lambda row: (row[0], -row[2], row[3]))
        if rule == "one-standard-error":
            enough = [row for row in rows if row[0] >= best[0] - best[1]]
            best = min(enough, key=lambda row: (row[2], -row[0], -row[3]))
        return tried[-best[3]], best[2]

    def _fold(self, split: Split) -> Fold:
        train, test = split
        X, y = self.X, self.y
        return Fold(X[train], y[train], X[test], y[test], self.variables.in_order)

    def _beside(self, split: Split) -> tuple[float, float]:
        """The references of a fold; all features together are left out where time is limited."""
        fold = self._fold(split)
        if self.clock.limited:
            none = np.zeros((len(fold.y), 1)), np.zeros((len(fold.y_test), 1))
            fold = replace(fold, X=none[0], X_test=none[1])
            return references(fold, self.kind, self.scoring)[0], float("nan")
        return references(fold, self.kind, self.scoring)

    def _probe(self, trials: list[Trial]) -> None:
        """A first estimate for every method, or why there is none."""
        train = self.splits[-1][0]
        X, y = self.X[train], self.y[train]
        for one in trials:
            if one is not trials[0] and self.clock.spent() > FIRST_ESTIMATES * self.clock.budget:
                one.status = "left out: there was no time for it"
            if one.status == WAITING:
                try:
                    one.probe = Probe(one.selector, X, y, PATIENCE * self.clock.budget)
                except (ValueError, ArithmeticError) as error:
                    one.status = f"failed: {reason(error)}"

    def _thin_out(self) -> None:
        """Fewer numbers, then fewer samples, where the models that judge would take too much of the time."""
        n_train = max(len(train) for train, _ in self.splits)
        few = min(n_train, FEW_SAMPLES)
        rows = some_rows(self.y, few)
        fold = self._fold((rows, rows))
        order = np.arange(min(int(self.grid[-1]), len(self.variables)))
        start = perf_counter()
        scores_along(order, fold, self.grid[-1:], self.kind, self.scoring)
        of_sample = CAREFUL * (perf_counter() - start) / few
        allowed = JUDGING * self.clock.budget / len(self.splits)
        while of_sample * n_train * self.grid.sum() / self.grid[-1] > allowed:
            if len(self.grid) > FEWEST_NUMBERS:
                self.grid = np.union1d(self.grid[::-2], self.grid[:1])
            elif n_train > FEW_SAMPLES:
                n_train = self._halve()
            else:
                break

    def _halve(self) -> int:
        """Take every second sample out of all folds; how many train then."""
        stays = np.zeros(len(self.y), dtype=bool)
        own = np.unique(np.concatenate([part for split in self.splits for part in split]))
        stays[own[some_rows(self.y[own], len(own) // 2)]] = True
        self.splits = [(train[stays[train]], test[stays[test]]) for train, test in self.splits]
        self.n_samples = int(stays.sum())
        return max(len(train) for train, _ in self.splits)

    def _try(self, one: Trial, beside: list[tuple[float, float]], stage: Stage) -> None:
        first = not any(other.curve is not None for other in self.trials)
        start = perf_counter()
        n_fits = len(self.splits) + self.refit
        try:
            if one.probe is not None and not first and not one.probe.fits_in(n_fits, self.clock):
                left = max(self.clock.left(), 0.0)
                one.status = f"left out: by its estimate it takes longer than the {left:.1f} s that were left"
                return
            scores = self._scores(one, stage, first)
            if scores is not None:
                one.curve, one.status = curve_of(scores, self.grid, beside, self.scoring), TRIED
        except (ValueError, ArithmeticError, MemoryError) as error:
            one.status = f"failed: {reason(error)}"
        finally:
            one.seconds = perf_counter() - start

    def _scores(self, one: Trial, stage: Stage, first: bool) -> Floats | None:
        """folds x numbers; None where the time did not suffice."""
        scores, longest = np.empty((len(self.splits), len(self.grid))), 0.0
        how = one.selector, self.grid, self.kind, self.scoring
        folds = (self._fold(split) for split in self.splits)
        # Without a limit folds may run side by side, on a cluster; else each waits for the clock.
        done = each(_on_fold, folds, *how) if self._together() else (_on_fold(*how, fold) for fold in folds)
        with closing(done):
            for n in range(len(self.splits)):
                to_come = MARGIN * longest * (len(self.splits) - n) + self._reserve(one)
                if n and not first and to_come > self.clock.left():
                    one.status = f"stopped after {n} of {len(self.splits)} folds: the time was up"
                    return None
                scores[n], fitting, seconds = next(done)
                one.fit_seconds, longest = max(one.fit_seconds, fitting), max(longest, seconds)
                stage.advance()
        return scores

    def _together(self) -> bool:
        return current_cluster() is not None and not self.clock.limited

    def _reserve(self, one: Trial) -> float:
        """Seconds for the fit on all samples of whichever may be chosen."""
        able = [other.fit_seconds for other in self.trials if other.curve is not None]
        return self.refit * MARGIN * max([one.fit_seconds, *able])


def _on_fold(
    selector: Any, grid: Ints, kind: TargetKind, scoring: Scoring, fold: Fold
) -> tuple[Floats, float, float]:
    """The scores of each number of features; seconds of the fit, and of all."""
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(selector).fit(fold.X, fold.y)
        fitting = perf_counter() - start
        order = np.argsort(fitted.ranking_, kind="stable")[: grid[-1]]
        return scores_along(order, fold, grid, kind, scoring), fitting, perf_counter() - start


def methods_of(methods: Any) -> list[Method]:
    """Return the methods to choose among, checked."""
    unique = methods_in(methods)
    if not unique:
        raise InputError(Setting("methods"), " names no method")
    for one in unique:
        one.check()
        if "auto" in (one.id, str(one.parameters.get("selector")).partition(":")[0]):
            raise InputError(Setting("methods"), f" has {one}, but auto cannot choose among choices")
    return unique
