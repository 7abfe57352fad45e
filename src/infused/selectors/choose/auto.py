"""The method, its parameters and the number of features by cross-validation."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from infused._runtime.compat import Interval, StrOptions, fit_context
from infused._runtime.messages import count
from infused._typing import Ints, TargetKind
from infused.exceptions import InputError, Setting
from infused.selectors.base import NUMBER_OF_FEATURES, BaseSelector, check_one_target, how_many
from infused.selectors.choose.contest import TRIED, Clock, Contest, Trial, curve_of_one
from infused.selectors.choose.number import (
    LINEAR,
    TREES,
    Fold,
    NumberCurve,
    Split,
    checked_scoring,
    numbers_to_try,
    splits_by,
)
from infused.selectors.docs import AUTO, documented
from infused.selectors.inputs.checks import Inputs, check_inputs
from infused.selectors.inputs.groups import GROUPS, KEEP
from infused.selectors.inputs.training import counted, is_real, tame
from infused.selectors.method import Method, methods_in, told_target

#: Different ideas, one of them with two penalties: some see linear relations alone, some any.
METHODS = (
    "anova",
    "mrmr",
    "jmi",
    "lasso",
    "lasso:lambda1=0.2",
    "greedy-forward",
    "infused-lasso",
    "hsic-lasso",
    "boosted-trees",
)

RULES = ("one-standard-error", "best")


@documented(AUTO)
@dataclass(eq=False, repr=False)
class AutoSelector(BaseSelector):
    r"""The selector, its parameters and its number of features that predict best, by cross-validation.

    .. math::

        \max_{m, k} \frac1F \sum_{f=1}^F s\big(y_f, \hat y(X_f[r_{mf}(1), \ldots, r_{mf}(k)])\big)

    with :math:`r_{mf}` the ranking of the features by method m, made once on the training part of fold f,
    :math:`\hat y` a model on the first k of it, and s a score on the test part. The model is linear, or
    boosted trees where these predict better, as they do where relations are not linear. By the rule of one
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
        method alone), ``score`` and ``error`` (its standard error) there, ``linear`` and ``boosted_trees``
        (its best score by either model), ``seconds``, ``status`` and ``chosen``.
        ``pandas.DataFrame(selector.candidates_)`` shows it as a table.
    curves_ : dict of str to NumberCurve
        The scores against the number of features, by method.
    evaluator_ : {"linear", "boosted-trees"}
        The evaluation model that predicts better, by which was chosen.
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

    methods: Any = None
    n_features_to_select: int | float | str | None = "auto"
    _: KW_ONLY
    cv: Any = 5
    scoring: Any = None
    rule: str = "one-standard-error"
    time_budget: float | None = None
    target: str = "auto"
    groups: Any = None
    keep: Any = None
    random_state: int | None = None
    n_jobs: int | None = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "methods": "no_validation",  # type: ignore[dict-item]  # scikit-learn's word for "anything"
        "n_features_to_select": NUMBER_OF_FEATURES,
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "rule": [StrOptions(set(RULES))],
        "time_budget": [Interval(Real, 0, None, closed="neither"), None],
        "target": [StrOptions({"auto", "classes", "real"})],
        "groups": GROUPS,
        "keep": KEEP,
        "random_state": [Interval(Integral, 0, None, closed="left"), None],
        "n_jobs": [Integral, None],
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = all(_tag(one.make(), "allow_nan") for one in self._methods())
        return tags

    @fit_context
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Choose, and fit what was chosen on all samples.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples. Missing values are taken where all methods take them.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Class labels or continuous values; of several columns where a method takes them.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            What each sample counts, in the methods, the evaluation models and the scores by name.
        groups : array-like of shape (n_samples,), default=None
            Samples that belong together, where ``cv`` asks for them.

        Returns
        -------
        self : object
            The fitted selector.
        """
        clock, methods = Clock(self.time_budget), self._methods()
        made = [one.make() for one in methods]
        if not any(_tag(one, "multi_output") for one in made):
            check_one_target(self, y)
        gaps = all(_tag(one, "allow_nan") for one in made)
        inputs = check_inputs(self, X, y, several=True, gaps=gaps, dtype=[np.float64, np.float32])
        if inputs.y.ndim > 1 and inputs.y.shape[1] == 1:
            inputs = replace(inputs, y=inputs.y.ravel())
        variables = inputs.variables
        kept = variables.places(self.keep)
        kind: TargetKind = "real" if is_real(inputs.y, self.target) else "classes"
        asked = None if self.n_features_to_select == "auto" else self.n_features_to_select
        k = how_many(asked, variables, len(kept))
        grid = numbers_to_try(len(variables), len(kept)) if k is None else np.array([k])
        contest = contest_on(
            inputs,
            kind,
            grid,
            cv=self.cv,
            scoring=self.scoring,
            seed=self.random_state or 0,
            samples=groups,
            sample_weight=sample_weight,
            clock=clock,
        )
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        contest.run([self._trial(one, inputs, kind, kept, int(grid[-1]), given) for one in methods])
        winner, number = contest.chosen(self.rule)
        selector = _told(winner.selector, n_features_to_select=number, groups=variables.labels)
        X = inputs.X if inputs.levels is None else X
        fitted = selector.fit(X, tame(inputs.y) if kind == "real" else inputs.y, **given)
        self._store(contest, winner, number, k is None)
        self.selector_, self.method_, self.n_features_ = fitted, winner.name, number
        self._store_ranking(variables, fitted.scores_, fitted.ranking_, fitted.ranking_ <= number)
        self._tell(contest)
        return self

    def _methods(self) -> list[Method]:
        return methods_of(METHODS if self.methods is None else self.methods)

    def _trial(
        self, method: Method, inputs: Inputs, kind: TargetKind, kept: Ints, most: int, given: dict[str, Any]
    ) -> Trial:
        """Make a method with all that it can be told, or say why it is left out."""
        takes, told = method.takes, {**method.parameters, "n_features_to_select": most}
        if "random_state" in takes:
            told.setdefault("random_state", self.random_state or 0)
        if "n_jobs" in takes:
            told.setdefault("n_jobs", self.n_jobs)
        if len(kept):
            told["keep"] = kept.tolist()
        trial, labels = Trial(str(method), None), inputs.filled.variables.labels
        missing = [
            name for name, value in (("groups", labels), ("keep", told.get("keep"))) if value is not None
        ]
        missing = [name for name in missing if name not in takes]
        if told.get("groups") is not None:
            raise InputError(
                f"{method.id} has groups of its own: give ", Setting("groups"), " to AutoSelector"
            )
        if missing:
            trial.status = f"left out: it does not take {missing[-1]}"
            return trial
        if kind == "real" and not method.info.regression:
            trial.status = "left out: it needs classes"
            return trial
        trial.selector = method.make(told)
        if inputs.y.ndim > 1 and not _tag(trial.selector, "multi_output"):
            trial.status = "left out: it takes one target"
        if given and not has_fit_parameter(trial.selector, "sample_weight"):
            trial.status = "left out: it takes no sample_weight"
        if told.get("target", takes.get("target")) == "auto":
            trial.selector.set_params(**told_target(trial.selector, kind, told))
        return trial

    def _store(self, contest: Contest, winner: Trial, number: int, auto: bool) -> None:
        self.evaluator_ = contest.model
        self.curves_ = {one.name: one.curves[self.evaluator_] for one in contest.trials if one.curves}
        self.__dict__.pop("number_curve_", None)  # of an earlier fit
        if auto:
            self.number_curve_ = replace(self.curves_[winner.name], chosen=number)
        scores = ("score", "error", "linear", "boosted_trees")
        columns = ("method", "n_features", *scores, "seconds", "status", "chosen")
        self.candidates_: dict[str, list[Any]] = {name: [] for name in columns}
        for one in contest.trials:
            row = self._row(one, winner, number)
            for name in columns:
                self.candidates_[name].append(row[name])

    def _row(self, one: Trial, winner: Trial, number: int) -> dict[str, Any]:
        told = {
            "method": one.name,
            "seconds": one.seconds,
            "status": one.status,
            "chosen": one is winner,
        }
        best = {name: max(one.curves[name].means) if name in one.curves else None for name in (LINEAR, TREES)}
        told |= {"linear": best[LINEAR], "boosted_trees": best[TREES]}
        if not one.curves:
            return {**told, "n_features": None, "score": None, "error": None}
        curve = one.curves[self.evaluator_]
        own = curve.chosen if self.rule == "one-standard-error" else curve.best
        k = number if one is winner else own
        at = curve.ks.index(k)
        return {**told, "n_features": k, "score": curve.means[at], "error": curve.errors[at]}

    def _tell(self, contest: Contest) -> None:
        """Warn of methods that were not tried, and of a budget that did not suffice."""
        missed = [one for one in contest.trials if one.status != TRIED]
        for word in ("failed", "left out", "stopped"):
            some = [one for one in missed if one.status.startswith(word)]
            if some and not (contest.clock.limited and word != "failed"):
                warnings.warn(
                    f"{count(len(some), 'method')} could not be tried: {some[0].name} {some[0].status}",
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


def contest_on(
    inputs: Inputs,
    kind: TargetKind,
    grid: Ints,
    *,
    cv: Any = 5,
    scoring: Any = None,
    seed: int = 0,
    samples: Any = None,
    sample_weight: Any = None,
    clock: Clock | None = None,
) -> Contest:
    """Prepare folds of the inputs, and what is scored on them.

    ``samples`` are the groups of the samples, which ``cv`` may ask for. Weights count in the rankings, in the
    models and in the scores by name.
    """
    columns = inputs.filled
    X = columns.X.tocsr() if hasattr(columns.X, "tocsr") else columns.X
    y = tame(inputs.y) if kind == "real" else inputs.y  # a score must not leave the range
    scoring = checked_scoring(scoring, y, kind)
    few, splits = splits_by(cv, X, y, kind, samples, seed)
    longest = len(y) / min(len(train) for train, _ in splits)
    weights = None
    if sample_weight is not None:
        weights = counted(sample_weight, X)[0][few]
        splits = [(a[weights[a] > 0], b[weights[b] > 0]) for a, b in splits]
    X, y = (X, y) if len(few) == len(y) else (X[few], y[few])

    def fold(split: Split) -> Fold:
        a, b = split
        own = (None, None) if weights is None else (weights[a], weights[b])
        return Fold(X[a], y[a], X[b], y[b], columns.variables.labels, *own)

    return Contest(fold, y, splits, grid, kind, scoring, clock or Clock(), longest)


def chosen_number(
    selector: Any, inputs: Inputs, kept: Ints, kind: TargetKind, sample_weight: Any = None
) -> NumberCurve:
    """Choose the number of features of one selector, as :class:`AutoSelector` does by default."""
    seed = getattr(selector, "random_state", None)
    factors = inputs.variables.factors(getattr(selector, "penalty_factors", None))
    n_possible = len(inputs.variables) if factors is None else int(np.isfinite(factors).sum())
    grid = numbers_to_try(n_possible, len(kept))
    contest = contest_on(
        inputs, kind, grid, seed=int(seed) if isinstance(seed, Integral) else 0, sample_weight=sample_weight
    )
    one = clone(selector).set_params(
        n_features_to_select=int(grid[-1]), groups=None, keep=kept.tolist() or None
    )
    if factors is not None:  # names are gone in what it is fitted to
        one.set_params(penalty_factors=factors)
    if getattr(one, "target", None) == "auto":
        one.set_params(**told_target(one, kind, one.get_params(deep=False)))
    return curve_of_one(contest, one)


def _tag(selector: Any, name: str) -> bool:
    """Read one of scikit-learn's tags; a selector of somebody else may have none."""
    tags = selector.__sklearn_tags__() if hasattr(selector, "__sklearn_tags__") else None
    if tags is None:
        return False
    return bool(tags.input_tags.allow_nan if name == "allow_nan" else tags.target_tags.multi_output)


def _told(selector: Any, **parameters: Any) -> Any:
    """Set those of some parameters that a selector takes."""
    takes = selector.get_params(deep=False)
    return selector.set_params(**{name: value for name, value in parameters.items() if name in takes})


def methods_of(methods: Any) -> list[Method]:
    """Read and check the methods to choose among."""
    unique = methods_in(methods)
    if not unique:
        raise InputError(Setting("methods"), " names no method")
    for one in unique:
        one.check()
        if "auto" in (one.id, str(one.parameters.get("selector")).partition(":")[0]):
            raise InputError(Setting("methods"), f" has {one}, but auto cannot choose among choices")
    return unique
