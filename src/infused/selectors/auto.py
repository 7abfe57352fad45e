"""Method, parameters and number of features, chosen by cross-validation."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from infused._runtime.messages import count
from infused._runtime.sklearn_compat import Interval, StrOptions, fit_context
from infused._typing import Array, Ints, TargetKind
from infused.selectors.base import NUMBER_OF_FEATURES, BaseSelector, check_one_target, how_many
from infused.selectors.costs import Clock
from infused.selectors.docs import AUTO, documented
from infused.selectors.extremes import tame
from infused.selectors.groups import GROUPS, KEEP, Groups
from infused.selectors.inputs import is_real
from infused.selectors.method import Method, told_target
from infused.selectors.seen import look
from infused.selectors.trials import TRIED, WAITING, Contest, Trial, methods_of
from infused.selectors.tuning import CV, SCORING, checked_scoring, numbers_to_try, splits_by

__all__ = ["METHODS", "AutoSelector"]

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
