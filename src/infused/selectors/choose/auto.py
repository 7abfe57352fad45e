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
from infused._typing import Floats, Ints, TargetKind
from infused.exceptions import InputError, Setting
from infused.samples import ALONE, Samples, Split
from infused.selectors.base import (
    NUMBER_OF_FEATURES,
    BaseSelector,
    check_one_target,
    documented,
    how_many,
    survival_of,
)
from infused.selectors.choose.contest import TRIED, Clock, Contest, Trial, curve_of_one
from infused.selectors.choose.number import (
    LINEAR,
    TREES,
    Fold,
    NumberCurve,
    checked_scoring,
    numbers_to_try,
    splits_by,
)
from infused.selectors.inputs.checks import Inputs, check_inputs
from infused.selectors.inputs.groups import BLOCKS, GROUPS, KEEP
from infused.selectors.inputs.training import counted, is_real, tame
from infused.selectors.method import Method, methods_in, takes_survival, told_target

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

FACTORS_OF_BLOCKS = (0.25, 0.5, 2.0, 4.0)
RULES = ("one-standard-error", "best")


@documented()
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
        lambda1 of 0.05 and 0.2), greedy-forward, infused-lasso, hsic-lasso and boosted-trees.
    n_features_to_select : int, float, "auto" or None, default="auto"
        How many features: a number, a fraction, or "auto" (or None) for what cross-validation chooses.
    cv : int, splitter of scikit-learn's kind or iterable of splits, default=5
        How samples are split. A number of folds is stratified, shuffled, and on at most 3,000 samples.
    scoring : str, callable or None, default=None
        The metric: a name such as "accuracy", "balanced_accuracy", "roc_auc", "f1", "r2" or "mae", or
        any scorer of scikit-learn; None takes what suits y.
    rule : {"one-standard-error", "best"}, default="one-standard-error"
        What is chosen: the smallest number within one standard error of the best mean, or that of the best.
    time_budget : float or None, default=None
        Seconds for everything, the last fit included. Methods are tried from the quickest on, and one is
        begun where an estimate says that it will be done in time; the first is tried in any case.
    target : {"auto", "classes", "real"}, default="auto"
        What y is; "auto" decides by its type.
    %(groups)s
    %(keep)s
    blocks : array-like of shape (n_features,), mapping or None, default=None
        The kind of each feature (or group), such as clinical, RNA or protein, or a mapping from kinds to
        features. Methods with ``penalty_factors`` are then tried with one factor for each kind: with one for
        all, and with a half, a quarter, twice or four times the penalty of the others for each kind in turn.
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
    scores_ : ndarray of shape (n_features,) or (n_groups,)
        Those of the method that was chosen.
    ranking_ : ndarray of int of shape (n_features,) or (n_groups,)
        1 for the best: the ranking of ``selector_``. Another number of features may have another method
        chosen, and so another order.
    %(attributes)s
    number_curve_ : NumberCurve
        The scores of the method that was chosen against the number of features; only where that was
        chosen, too.
    block_factors_ : dict of str to float
        What the penalty of each block is multiplied with; only where there are blocks.

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
    blocks: Any = None
    random_state: int | None = None
    n_jobs: int | None = None

    _takes_survival = True

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
        "blocks": BLOCKS,
        "random_state": [Interval(Integral, 0, None, closed="left"), None],
        "n_jobs": [Integral, None],
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = all(_tag(one.make(), "allow_nan") for one in self._methods())
        return tags

    @fit_context
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        sample_groups: Any = None,
        order: Any = None,
        groups: Any = None,
    ) -> Self:
        """Choose, and fit what was chosen on all samples.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples. Missing values are taken where all methods take them.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Class labels or continuous values, of several columns where a method takes them; or times and
            events, as a structured array.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            What each sample counts, in the methods, the evaluation models and the scores by name.
        sample_groups : array-like of shape (n_samples,), default=None
            The group of each sample, such as its patient: folds never part a group.
        order : array-like of shape (n_samples,), default=None
            The place of each sample in an order, such as its time: models are tested on later samples.
        groups : array-like of shape (n_samples,), default=None
            The name that scikit-learn has for ``sample_groups``.

        Returns
        -------
        self : object
            The fitted selector.
        """
        clock, methods = Clock(self.time_budget), self._methods(survival_of(y) is not None)
        made = [one.make() for one in methods]
        if not any(_tag(one, "multi_output") for one in made):
            check_one_target(self, y)
        gaps = all(_tag(one, "allow_nan") for one in made)
        inputs = check_inputs(self, X, y, several=True, gaps=gaps, dtype=[np.float64, np.float32])
        if inputs.y.ndim > 1 and inputs.y.shape[1] == 1:
            inputs = replace(inputs, y=inputs.y.ravel())
        variables = inputs.variables
        kept = variables.places(self.keep)
        kind = kind_of(inputs, self.target)
        asked = None if self.n_features_to_select == "auto" else self.n_features_to_select
        k = how_many(asked, variables, len(kept))
        grid = numbers_to_try(len(variables), len(kept)) if k is None else np.array([k])
        samples = Samples.given(sample_groups if groups is None else groups, order, len(inputs.y))
        contest = contest_on(
            inputs,
            kind,
            grid,
            cv=self.cv,
            scoring=self.scoring,
            seed=self.random_state or 0,
            samples=samples,
            sample_weight=sample_weight,
            clock=clock,
        )
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        trials = [self._trial(one, inputs, kind, kept, int(grid[-1]), given) for one in methods]
        factors = dict[str, dict[str, float]]()
        if self.blocks is not None:
            trials, factors = with_factors(trials, *variables.blocks(self.blocks), kept)
        contest.run(trials)
        winner, number = contest.chosen(self.rule)
        selector = _told(winner.selector, n_features_to_select=number, groups=variables.labels)
        X = inputs.X if inputs.levels is None else X
        given |= samples.taken_by(selector)
        fitted = selector.fit(X, tame(inputs.y) if kind == "real" else inputs.y, **given)
        self._store(contest, winner, number, k is None)
        self.__dict__.pop("block_factors_", None)  # of an earlier fit
        if factors:
            self.block_factors_ = factors[winner.name]
        self.selector_, self.method_, self.n_features_ = fitted, winner.name, number
        self._store_ranking(variables, fitted.scores_, fitted.ranking_, fitted.ranking_ <= number)
        self._tell(contest)
        return self

    def _methods(self, survival: bool = False) -> list[Method]:
        """Read the methods; of the default ones, those that take times and events where y holds these."""
        if self.methods is not None:
            return methods_of(self.methods)
        return [one for one in methods_of(METHODS) if not survival or takes_survival(one.info.load())]

    def _trial(
        self, method: Method, inputs: Inputs, kind: TargetKind, kept: Ints, most: int, given: dict[str, Any]
    ) -> Trial:
        """Make a method with all the settings that it takes, or say why it is left out."""
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
        if kind == "survival" and not takes_survival(method.info.load()):
            trial.status = "left out: it does not take times and events"
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
            relation = contest.relation(winner, number)
            self.number_curve_ = replace(self.curves_[winner.name], chosen=number, relation=relation)
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
        clock, said = contest.clock, []
        for word in ("failed", "left out", "stopped"):
            some = [one for one in missed if one.status.startswith(word)]
            if some and not (clock.limited and word != "failed"):
                methods = count(len(some), "method")
                said.append(f"{methods} could not be tried: {some[0].name} {some[0].status}")
        if contest.n_samples is not None:
            said.append(
                f"methods were tried on {contest.n_samples:,} of the samples, for "
                f"time_budget={clock.budget:g} does not suffice for all"
            )
        if clock.left() < -0.2 * clock.budget:
            said.append(
                f"the quickest method alone took {clock.spent():.1f} s, more than the time budget of "
                f"{clock.budget:g} s: allow more, or choose on fewer samples"
            )
        for words in said:
            warnings.warn(words, UserWarning, stacklevel=5)


def with_factors(
    trials: list[Trial], codes: Ints, names: list[str], kept: Ints
) -> tuple[list[Trial], dict[str, dict[str, float]]]:
    """Try methods with a penalty with several factors for each block; return the factors of each trial.

    The first has one factor for all, so that of equal scores it is chosen. Features that are kept have no
    penalty, and neither has a block of which all are.
    """
    penalised = np.unique(np.delete(codes, kept)).tolist()
    tried, factors = list[Trial](), dict[str, dict[str, float]]()
    for trial in trials:
        takes = {} if trial.selector is None else trial.selector.get_params(deep=False)
        able = "penalty_factors" in takes and takes["penalty_factors"] is None
        for vector in factors_to_try(len(penalised)) if able else [np.ones(len(penalised))]:
            every = np.ones(len(names))
            every[penalised] = vector
            own = [f"{names[b]} x{every[b]:g}" for b in penalised if every[b] != 1]
            name = f"{trial.name} ({', '.join(own)})" if own else trial.name
            selector = trial.selector
            if own:
                selector = clone(selector).set_params(penalty_factors=every[codes])
            tried.append(Trial(name, selector, status=trial.status))
            factors[name] = {names[b]: float(every[b]) if b in penalised else 0.0 for b in range(len(names))}
    return tried, factors


def factors_to_try(n_blocks: int) -> list[Floats]:
    """List factors of blocks, the least of them 1: all equal, then each block apart from the others.

    >>> [one.tolist() for one in factors_to_try(2)]
    [[1.0, 1.0], [1.0, 2.0], [2.0, 1.0], [1.0, 4.0], [4.0, 1.0]]
    """
    found = {tuple(np.ones(n_blocks))}
    for block in range(n_blocks):
        for factor in FACTORS_OF_BLOCKS:
            one = np.ones(n_blocks)
            one[block] = factor
            found.add(tuple(one / one.min()))
    return [np.array(one) for one in sorted(found, key=lambda one: (max(one), sum(one), one))]


def kind_of(inputs: Inputs, target: str) -> TargetKind:
    """Return what y holds, to a selector that takes it as ``target`` says."""
    if inputs.survival:
        return "survival"
    return "real" if is_real(inputs.y, target) else "classes"


def contest_on(
    inputs: Inputs,
    kind: TargetKind,
    grid: Ints,
    *,
    cv: Any = 5,
    scoring: Any = None,
    seed: int = 0,
    samples: Samples = ALONE,
    sample_weight: Any = None,
    clock: Clock | None = None,
) -> Contest:
    """Prepare folds of the inputs, and what is scored on them.

    Weights count in the rankings, in the models and in the scores by name.
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
        if not all(len(a) and len(b) for a, b in splits):
            raise InputError(
                Setting("cv", cv),
                " leaves a part of a fold without any weight: give fewer folds, or leave such samples out",
            )
    X, y, samples = (X, y, samples) if len(few) == len(y) else (X[few], y[few], samples.take(few))

    def fold(split: Split) -> Fold:
        a, b = split
        own = (None, None) if weights is None else (weights[a], weights[b])
        labels = columns.variables.labels
        return Fold(X[a], y[a], X[b], y[b], labels, own[0], own[1], samples.take(a))

    return Contest(fold, y, splits, grid, kind, scoring, clock or Clock(), longest)


def chosen_number(
    selector: Any,
    inputs: Inputs,
    kept: Ints,
    kind: TargetKind,
    sample_weight: Any = None,
    samples: Samples = ALONE,
) -> NumberCurve:
    """Choose the number of features of one selector, as :class:`AutoSelector` does by default."""
    seed = getattr(selector, "random_state", None)
    factors = inputs.variables.factors(getattr(selector, "penalty_factors", None))
    n_possible = len(inputs.variables) if factors is None else int(np.isfinite(factors).sum())
    grid = numbers_to_try(n_possible, len(kept))
    seed = int(seed) if isinstance(seed, Integral) else 0
    contest = contest_on(inputs, kind, grid, seed=seed, samples=samples, sample_weight=sample_weight)
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
