"""Methods on the same folds: each ranks the features once a fold, and models are scored along its ranking.

Where time is limited, fits on small parts of the data tell how long a method will take.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from math import inf, log2
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from infused._runtime.messages import reason
from infused._runtime.processes import each
from infused._runtime.progress import Stage, reporting
from infused._typing import Array, Data, Floats, Ints, TargetKind
from infused.exceptions import InputError
from infused.samples import ALONE, Samples, Split
from infused.selectors.choose.evaluators import Scoring
from infused.selectors.choose.number import (
    LINEAR,
    TREE_NUMBERS,
    TREES,
    Evaluation,
    Fold,
    NumberCurve,
    Relation,
    curve_of,
    evaluations,
    p_folds,
)
from infused.selectors.method import Method, with_groups

ROWS, COLUMNS = 30, 10  # of the smallest part
USUAL, STEEP, SLOWEST = 2.0, 4.0, 8.0  # by what a fit grows where rows and columns double
CAREFUL = 1.5  # times an estimate from a smaller part
PROBING = 0.05  # of the time that is left, for one fit on a larger part

WAITING, TRIED = "not reached", "tried"
EVALUATING = 0.3  # of a budget, at most, for the models that evaluate one method
FEWEST_NUMBERS, FEW_SAMPLES = 4, 200
FIRST_ESTIMATES, PATIENCE = 0.4, 0.02  # of a budget, for all first estimates and for one of them
MARGIN = 1.2  # times what a fold took, for the next one


class Clock:
    """Seconds of a budget, from now on; without one there is always time."""

    def __init__(self, budget: float | None = None):
        self.budget = inf if budget is None else float(budget)
        self._start = perf_counter()

    @property
    def limited(self) -> bool:
        """Return whether there is a budget."""
        return self.budget < inf

    def spent(self) -> float:
        """Return the seconds since it was set."""
        return perf_counter() - self._start

    def left(self) -> float:
        """Return the seconds until the budget is used up."""
        return self.budget - self.spent()


class Probe:
    """Fits of one selector on growing parts of a training part: each time twice the rows and columns.

    The first fit of all may load or compile something: where it does not take long, two others count.
    """

    def __init__(self, selector: Any, fold: Fold, kind: TargetKind, patience: float):
        self._selector, self._fold, self._kind = selector, fold, kind
        n_rows, n_columns = fold.X.shape
        several = 2 * len(np.unique(fold.y)) if kind == "classes" else 0
        self._rows = min(max(ROWS, several), n_rows)
        larger = max(n_rows / self._rows, n_columns / COLUMNS, 1.0)
        self._halvings = int(np.ceil(log2(larger)))
        self._growth = USUAL
        self._seconds = self._timed()
        if self._seconds <= patience:
            self._seconds = min(self._timed(), self._timed())

    @property
    def seconds(self) -> float:
        """Estimate a fit on all rows and columns."""
        return self._seconds * self._growth**self._halvings

    def fits_in(self, n_fits: float, clock: Clock) -> bool:
        """Return whether so many fits on all rows and columns fit in the time that is left.

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
        share, fold = 0.5**self._halvings, self._fold
        rows = some_rows(fold.y, max(self._rows, round(share * len(fold.y))))
        n_columns = fold.X.shape[1]
        columns = np.arange(max(min(COLUMNS, n_columns), round(share * n_columns)))
        part = fold.X[rows] if len(columns) == n_columns else fold.X[rows][:, columns]
        own = None if fold.variables is None else fold.variables[: len(columns)]
        weights = None if fold.weights is None else fold.weights[rows]
        selector = _narrowed(self._selector, own, len(columns), n_columns)
        start = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            samples = fold.samples.take(rows)
            features_by_rank(
                selector, part, fold.y[rows], self._kind, groups=own, weights=weights, samples=samples
            )
        return perf_counter() - start


def some_rows(y: Array, n: int) -> Ints:
    """Choose n samples, of every class a share."""
    order = np.argsort(y if y.ndim == 1 else y[:, 0], kind="stable")
    return np.sort(order[np.linspace(0, len(y) - 1, n).astype(int)])


def _narrowed(selector: Any, groups: Ints | None, n_columns: int, of: int) -> Any:
    """Copy a selector for the first columns, without what names columns: it takes no time to speak of."""
    copy, own = clone(selector), selector.get_params(deep=False)
    if n_columns == of:
        return copy
    changed: dict[str, Any] = {
        name: None for name in ("keep", "penalty_factors") if own.get(name) is not None
    }
    fusion = own.get("fusion", "none")
    if not (isinstance(fusion, str) and fusion in ("none", "chain")):
        changed |= {"fusion": "chain", "grid_shape": None}
    most = n_columns if groups is None else len(np.unique(groups))
    wanted = max(1, min(own["n_features_to_select"], most // 2))
    return copy.set_params(**changed, n_features_to_select=wanted)


@dataclass
class Trial:
    """One method with its parameters, and its results."""

    name: str
    selector: Any
    """Not fitted; it ranks as many features as are needed."""
    curves: dict[str, NumberCurve] = field(default_factory=dict)
    """By evaluation model."""
    scores: dict[str, Floats] = field(default_factory=dict)
    """By evaluation model, folds x numbers."""
    seconds: float = 0.0
    fit_seconds: float = 0.0
    """Of the slowest ranking of a fold."""
    probe: Probe | None = None
    """How long it will take, where time is limited."""
    status: str = WAITING


@dataclass
class Contest:
    """Methods on the same folds, the quickest first where time is limited."""

    fold: Callable[[Split], Fold]
    """Makes the parts of a split."""
    y: Array
    splits: Sequence[Split]
    grid: Ints
    """The numbers of features to try."""
    kind: TargetKind
    scoring: Scoring
    clock: Clock = field(default_factory=Clock)
    refit: float = 1.25
    """How many times longer a fit on all samples takes than one on a training part."""
    trials: list[Trial] = field(default_factory=list)
    n_samples: int | None = None
    """How many the methods were tried on, where time did not suffice for all."""
    models: dict[str, Evaluation] = field(init=False)
    """The evaluation models, by name."""
    beside: dict[str, Floats] = field(init=False, default_factory=dict)
    """By evaluation model, the scores of no feature and of all features in each fold."""

    def __post_init__(self) -> None:
        self.models = evaluations(self.y, self.kind, self.grid)

    def run(self, trials: list[Trial]) -> None:
        """Try one method after the other, as long as there is time; the first is tried in any case."""
        what = "trying methods" if len(trials) > 1 else "choosing the number of features"
        stage = Stage(None, what, len(trials) * len(self.splits))
        with warnings.catch_warnings(), reporting(None):
            warnings.simplefilter("ignore")  # what matters is said of the fit on all data
            if self.clock.limited:
                self._probe(trials)
                self._thin_out()
            self.trials = sorted(trials, key=lambda one: inf if one.probe is None else one.probe.seconds)
            whole = not self.clock.limited
            beside = np.array(list(self._on_folds(_references, self.models, self.kind, self.scoring, whole)))
            self.beside = {name: beside[:, place] for place, name in enumerate(self.models)}
            for one in self.trials:
                if one.status == WAITING:
                    self._try(one, stage)

    def chosen(self, rule: str) -> tuple[Trial, int]:
        """Choose the method and the number: the best mean, or the smallest within one standard error."""
        model, tried = self.model, [one for one in self.trials if one.curves]
        rows = [
            (mean, error, k, -place)
            for place, curve in enumerate(one.curves[model] for one in tried)
            for mean, error, k in zip(curve.means, curve.errors, curve.ks, strict=True)
        ]
        best = max(rows, key=lambda row: (row[0], -row[2], row[3]))
        if rule == "one-standard-error":
            enough = [row for row in rows if row[0] >= best[0] - best[1]]
            best = min(enough, key=lambda row: (row[2], -row[0], -row[3]))
        return tried[-best[3]], best[2]

    @property
    def model(self) -> str:
        """Name the evaluation model that predicts best with any method; of equals, the linear one."""
        tried = [one for one in self.trials if one.curves]
        if not tried:
            raise InputError(f"no method could be tried: {self.trials[0].name} {self.trials[0].status}")
        return max(self.models, key=lambda model: max(max(one.curves[model].means) for one in tried))

    def relation(self, one: Trial, number: int) -> Relation | None:
        """Compare the linear model with boosted trees, on so many features of a method and on all.

        None where there are no trees, or where time is limited. Where trees look better, the linear model
        gets a further chance on the features that explain most by themselves: on all features together it
        may fail for their number alone.
        """
        if TREES not in one.scores or self.clock.limited:
            return None
        linear, trees = (
            (own[:, int(np.searchsorted(model.numbers, number, "right")) - 1], self.beside[name][:, 1])
            for (name, model), own in zip(self.models.items(), one.scores.values(), strict=True)
        )
        better, rival = max(trees, key=_mean), max(linear, key=_mean)
        if _mean(better) > _mean(rival):
            with reporting(None):
                along = np.array(list(self._on_folds(_by_themselves, self.kind, self.scoring)))
            linear = (linear[0], max(linear[1], along[:, np.nanmean(along, axis=0).argmax()], key=_mean))
            rival = max(linear, key=_mean)
        chance = self.beside[TREES][:, 0]
        # The better of two scores of the trees was taken.
        p_value = min(1.0, 2 * max(p_folds(better - rival), p_folds(better - chance)))
        return Relation(
            linear=_mean(linear[0]),
            linear_all=None if np.isnan(linear[1]).all() else _mean(linear[1]),
            boosted_trees=_mean(trees[0]),
            boosted_trees_all=None if np.isnan(trees[1]).all() else _mean(trees[1]),
            p_value=p_value,
            p_missed=p_folds(trees[1] - trees[0]),
        )

    def _on_folds(self, function: Callable[..., Any], *how: Any) -> Generator[Any]:
        """Call a function for every fold: side by side on a cluster, but not where each waits for a clock."""
        folds = (self.fold(split) for split in self.splits)
        if self.clock.limited:
            return (function(*how, fold) for fold in folds)
        return each(function, folds, *how)

    def _probe(self, trials: list[Trial]) -> None:
        """Make a first estimate for every method, or say why there is none."""
        fold = self.fold(self.splits[-1])
        for one in trials:
            if one is not trials[0] and self.clock.spent() > FIRST_ESTIMATES * self.clock.budget:
                one.status = "left out: there was no time for it"
            if one.status == WAITING:
                try:
                    one.probe = Probe(one.selector, fold, self.kind, PATIENCE * self.clock.budget)
                except (ValueError, ArithmeticError) as error:
                    one.status = f"failed: {reason(error)}"

    def _thin_out(self) -> None:
        """Try fewer numbers, then fewer samples, where models would take too much of the time."""
        n_train = max(len(train) for train, _ in self.splits)
        few = min(n_train, FEW_SAMPLES)
        rows = some_rows(self.y, few)
        fold = self.fold((rows, rows))
        order, largest = np.arange(min(int(self.grid[-1]), fold.n_variables)), self.grid[-1:]
        of_sample = dict[str, float]()
        for name, model in self.models.items():
            start = perf_counter()
            with _quietly():
                replace(model, numbers=largest).along(order, fold, self.scoring)
            of_sample[name] = CAREFUL * (perf_counter() - start) / few
        allowed = EVALUATING * self.clock.budget / len(self.splits)
        while self._fits(of_sample) * n_train > allowed:
            if len(self.models.get(TREES, self.models[LINEAR]).numbers) > FEWEST_NUMBERS:
                for name, model in self.models.items():
                    fewer = np.union1d(model.numbers[::-2], self.grid[:1])
                    self.models[name] = replace(model, numbers=fewer)
            elif n_train > FEW_SAMPLES:
                n_train = self._halve()
            elif TREES in self.models:
                del self.models[TREES]
            else:
                break

    def _fits(self, of_sample: dict[str, float]) -> float:
        """Estimate the seconds of all models along a ranking, for one sample."""
        numbers = {name: model.numbers for name, model in self.models.items()}
        trees = of_sample[TREES] * len(numbers[TREES]) if TREES in numbers else 0.0  # whatever the number
        return trees + of_sample[LINEAR] * float(numbers[LINEAR].sum() / numbers[LINEAR][-1])

    def _halve(self) -> int:
        """Take every second sample out of all folds; return how many train then."""
        stays = np.zeros(len(self.y), dtype=bool)
        own = np.unique(np.concatenate([part for split in self.splits for part in split]))
        stays[own[some_rows(self.y[own], len(own) // 2)]] = True
        self.splits = [(train[stays[train]], test[stays[test]]) for train, test in self.splits]
        self.n_samples = int(stays.sum())
        return max(len(train) for train, _ in self.splits)

    def _try(self, one: Trial, stage: Stage) -> None:
        first = not any(other.curves for other in self.trials)
        start = perf_counter()
        n_fits = len(self.splits) + self.refit
        try:
            if one.probe is not None and not first and not one.probe.fits_in(n_fits, self.clock):
                left = max(self.clock.left(), 0.0)
                one.status = f"left out: by its estimate it takes longer than the {left:.1f} s that were left"
                return
            scores = self._scores(one, stage, first)
            if scores is not None:
                for place, (name, model) in enumerate(self.models.items()):
                    one.scores[name] = own = np.array([fold[place] for fold in scores])
                    one.curves[name] = curve_of(own, model.numbers, self.beside[name], self.scoring, name)
                one.status = TRIED
        except (ValueError, ArithmeticError, MemoryError) as error:
            if len(self.trials) == 1:  # there is nothing else to choose
                raise
            one.status = f"failed: {reason(error)}"
        finally:
            one.seconds = perf_counter() - start

    def _scores(self, one: Trial, stage: Stage, first: bool) -> list[list[Floats]] | None:
        """Score a method on each fold by each model; return None where the time did not suffice."""
        scores, longest = list[list[Floats]](), 0.0
        with closing(
            self._on_folds(_scores_on_fold, one.selector, self.models, self.kind, self.scoring)
        ) as done:
            for n in range(len(self.splits)):
                to_come = MARGIN * longest * (len(self.splits) - n) + self._reserve(one)
                if n and not first and to_come > self.clock.left():
                    one.status = f"stopped after {n} of {len(self.splits)} folds: the time was up"
                    return None
                found, fitting, seconds = next(done)
                scores.append(found)
                one.fit_seconds, longest = max(one.fit_seconds, fitting), max(longest, seconds)
                stage.advance()
        return scores

    def _reserve(self, one: Trial) -> float:
        """Return the seconds for the fit on all samples of whichever may be chosen."""
        able = [other.fit_seconds for other in self.trials if other.curves]
        return self.refit * MARGIN * max([one.fit_seconds, *able])


def curve_of_one(contest: Contest, selector: Any) -> NumberCurve:
    """Choose the number of features of one selector, which ranks the largest number."""
    trial = Trial(type(selector).__name__, selector)
    contest.run([trial])
    curve = trial.curves[contest.model]
    return replace(curve, relation=contest.relation(trial, curve.chosen))


def _references(
    models: dict[str, Evaluation], kind: TargetKind, scoring: Scoring, whole: bool, fold: Fold
) -> list[tuple[float, float]]:
    with _quietly():
        return [model.beside(fold, kind, scoring, whole) for model in models.values()]


def _by_themselves(kind: TargetKind, scoring: Scoring, fold: Fold) -> Floats:
    """Score a linear model on the first 1, 2, 3, 5, ... features by the F test of each."""
    with _quietly():
        anova, groups, weights = Method("anova").make({"target": kind}), fold.variables, fold.weights
        order = features_by_rank(anova, fold.X, fold.y, kind, groups=groups, weights=weights)
        numbers = np.unique(np.minimum(TREE_NUMBERS, len(order)))
        return evaluations(fold.y, kind, numbers)[LINEAR].along(order, fold, scoring)


def _mean(scores: Floats) -> float:
    """Average over the folds that have a score; minus infinity where none has."""
    return -inf if np.isnan(scores).all() else float(np.nanmean(scores))


def _scores_on_fold(
    selector: Any, models: dict[str, Evaluation], kind: TargetKind, scoring: Scoring, fold: Fold
) -> tuple[list[Floats], float, float]:
    """Return the scores of each model and number of features, and the seconds of the fit and of all."""
    start = perf_counter()
    with _quietly():
        order = features_by_rank(
            clone(selector),
            fold.X,
            fold.y,
            kind,
            groups=fold.variables,
            weights=fold.weights,
            samples=fold.samples,
        )
        fitting = perf_counter() - start
        scores = [model.along(order, fold, scoring) for model in models.values()]
        return scores, fitting, perf_counter() - start


@contextmanager
def _quietly() -> Iterator[None]:
    """Ignore warnings, and give trees, which are small, one thread: more would wait for each other."""
    with warnings.catch_warnings(), threadpool_limits(1, user_api="openmp"):
        warnings.simplefilter("ignore")
        yield


def features_by_rank(
    selector: Any,
    X: Data,
    y: Array,
    kind: TargetKind,
    ks: Sequence[int] = (),
    groups: Ints | None = None,
    weights: Floats | None = None,
    samples: Samples = ALONE,
) -> Ints:
    """Fit a selector, and list all features from the best to the worst.

    Where ``groups`` give the variable of each column, variables are listed. One ranking serves every number
    of them up to the one that the selector was asked for, as the best k are its first k; ``ks`` are numbers
    for which this is checked.
    """
    name = type(selector).__name__
    if kind == "real" and not _knows_target(selector) and (y == np.round(y)).all():
        y = y + 0.5  # scikit-learn takes whole numbers for classes, and no selector minds where zero is
    given = {} if weights is None else {"sample_weight": weights}
    with_groups(selector, groups).fit(X, y, **given, **samples.taken_by(selector))
    if not hasattr(selector, "ranking_"):
        raise InputError(f"{name} sets no ranking_, which tells the best k for every k")
    ranking = np.asarray(selector.ranking_)
    for k in ks:
        found = np.count_nonzero(ranking <= k)
        if found != k:
            raise InputError(f"the ranking_ of {name} puts {found} features first, not {k}")
    return np.argsort(ranking, kind="stable")


def _knows_target(selector: Any) -> bool:
    return "target" in selector.get_params() if hasattr(selector, "get_params") else False
