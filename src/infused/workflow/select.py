"""``infused.select``: from data to a selection. One path for Python, the command line and reruns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from os import PathLike, fspath
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from scipy import sparse

from infused._runtime.messages import check_choice, count, listed, quoted
from infused._runtime.progress import timed
from infused._typing import Floats, Ints
from infused.bench.tuning import Part, choose_number, choose_panel, choose_transform
from infused.coding import TRANSFORMS, Coded, transformed
from infused.data import DataError, Dataset, load_data
from infused.data.columns import find_columns, numbers_by_name
from infused.data.reading import ReadOptions, several
from infused.exceptions import InputError, Setting
from infused.record.explained import inspect_data
from infused.record.schema import Request
from infused.record.summary import summarize
from infused.selectors.choose.budget import CostCurve, Walks, score_at
from infused.selectors.choose.evaluators import default_scoring
from infused.selectors.choose.number import MOST_FEATURES, NumberCurve, checked_scoring
from infused.selectors.method import APART, Method, plain, prepared, with_groups
from infused.workflow.selection import Selection
from infused.workflow.trust import Trust, assess_trust, estimate_effects

ENOUGH_FOR_TRANSFORM = 100  # features to choose the transform with, where their number is not given
LARGEST_SEED = 2**32 - 1
USUAL = "infused-lasso"
SHOWN = 5  # duplicates in a note
WITHOUT_BUDGET = "half-samples select as many features whatever they cost"
FOLDS = 5  # of the score of a selection
WORTH_A_SCORE = 0.6  # CPU seconds of a selection, up to which it is scored without being asked
BY_THEMSELVES = ("auto", "knockoffs")  # they choose the number, if it is left to them


def select(
    data: Any,
    target: str | int | None = None,
    *,
    k: int | float | str | None = None,
    method: Any = "infused-lasso",
    keep: Any = (),
    transform: str = "none",
    scoring: str | None = None,
    stability: int | None = None,
    folds: int | None = None,
    fdr: float | None = None,
    costs: Any = None,
    max_cost: float | None = None,
    intervals: bool = False,
    seed: int = 0,
    n_jobs: int | None = None,
    allow_imports: bool = False,
    **options: Any,
) -> Selection:
    """Select the features of some data that predict a target best.

    Parameters
    ----------
    data : path, name, data frame, pair (X, y), AnnData or Dataset
        A file of any format that :func:`infused.data.reader_formats` lists, one of
        :func:`infused.data.available_datasets`, a pandas, polars or Arrow frame, arrays, single-cell data, or
        what :func:`infused.data.load_data` returned.
    target : str or int, default=None
        The column to predict, by name or by position; not needed for a pair and for data that bring it.
    k : int, float, "auto" or None, default=None
        Number of features: a number, a fraction, "auto" for the smallest number that predicts as well as the
        best (by cross-validation), or None for as many as the method finds.
    method : str or selector, default="infused-lasso"
        One of :func:`infused.available_selectors`, with parameters after colons where wanted
        (``"lasso:lambda1=0.1"``), or a selector that is not fitted, also of a class of your own.
    keep : feature or list of features, default=()
        Features that are always selected, by name or position, such as covariates that must be adjusted for:
        the others are ranked given these. They come first, and count in k.
    transform : {"none", "sqrt", "log1p", "auto"}, default="none"
        Transform of the values; "auto" chooses the one that predicts best by cross-validation.
    scoring : str, default=None
        Metric of the score, and of a choice of k or the transform: "accuracy", "balanced_accuracy",
        "roc_auc", "average_precision", "f1" (macro), "r2", "mae", or another scorer of scikit-learn; for
        times and events "concordance" (Harrell's), "uno_concordance" or "integrated_brier". By default R² for
        a continuous target, and concordance for times and events. Of classes accuracy, unless the largest has
        three quarters of the samples or the smallest less than a fifth of an equal share: then ROC AUC for
        two classes, balanced accuracy for several.
    stability : int, default=None
        Pairs of random half-samples to select in again, to tell which features are stable and whether
        permuted copies do as well; 0 for none. By default 50 where that takes a few seconds.
    folds : int, default=None
        Folds of the cross-validated score of the selection, with the selection inside the folds; 0 for none.
        By default 5 where that takes a few seconds.
    fdr : float, default=None
        False discovery rate, such as 0.1: features are selected by knockoffs (:class:`KnockoffSelector`), as
        many as the rate allows, so that ``k`` cannot be given too.
    costs : mapping or array, default=None
        What features cost, by name or in their order; features without a cost are free.
    max_cost : float, default=None
        Budget for the selected features together: of the panels that fit along the ranking, the one that
        predicts best by cross-validation, with at most k features where k is a number.
    intervals : bool, default=False
        Whether to estimate the effect of each selected feature with a 90% interval and an adjusted p-value
        that allow for the selection (:class:`SelectionInference`).
    seed : int, default=0
        Random seed.
    n_jobs : int, default=None
        Threads; -1 for every core. They do not change the result.
    allow_imports : bool, default=False
        Whether ``method`` may be the dotted path of a class. The code that it names is imported and runs.
    **options : dict
        Options of reading the data, which :class:`infused.data.ReadOptions` lists, such as ``drop=["id"]`` or
        ``missing="?"``; and parameters of the method, such as ``lambda1=0.1``.

    Returns
    -------
    Selection
        The features by rank, their figures, the fitted selector, and the record of how they were found.

    See Also
    --------
    compare : Which method is best for these data.
    explain : All about one feature.

    Examples
    --------
    >>> import infused
    >>> selection = infused.select("breast-cancer", k=3, method="mrmr")
    >>> selection.features
    ['worst perimeter', 'worst texture', 'worst concave points']
    """
    k = getattr(method, "n_features_to_select", None) if k is None else k
    reading, parameters = ReadOptions.split(target=target, **options)
    asked = Method.given(method, allow_imports=allow_imports).having(parameters)
    request = Request(
        source=path_or_name(data),
        reading=reading,
        method=_keeping(_at_rate(asked, fdr, k), several(keep)),
        k=plain(k),
        transform=transform,
        seed=plain(seed),
        scoring=scoring,
        stability=plain(stability),
        folds=plain(folds),
        costs=costs,
        max_cost=plain(max_cost),
        intervals=bool(intervals),
    )
    return run_request(request, data, n_jobs=n_jobs)


def path_or_name(data: Any) -> str | None:
    """Return what finds the data again; None for data that are given in Python."""
    if isinstance(data, Dataset):
        return data.source
    return fspath(data) if isinstance(data, str | PathLike) else None


def run_request(
    request: Request,
    data: Any = None,
    *,
    n_jobs: int | None = None,
    check: Callable[[Dataset], None] = lambda dataset: None,
) -> Selection:
    """Do what a request asks: read, choose what is left to choose, fit, summarise.

    ``data`` are needed where the request does not say where they are; ``check`` may refuse them.
    """
    check_request(request)
    check_jobs(n_jobs)
    timings: dict[str, float] = {}
    source = request.source if data is None else data
    with timed(timings, "read", f"reading {_called(source)}"):
        dataset = load_data(source, request.reading)
        check(dataset)
        request = replace(request, reading=dataset.options)  # a Dataset brings its own
    asked = _over_blocks(_with_grid(request), dataset)
    request = replace(request, method=asked)
    kept = _places(asked, dataset)
    costs = _costs(request, dataset, kept)
    seen = candidates(dataset, asked, kept)
    if request.max_cost is not None:
        seen = seen.without(np.flatnonzero(costs > request.max_cost))
    if isinstance(request.k, int) and request.k > seen.most:
        once = " without duplicates" if seen.most < dataset.n_features else ""
        raise InputError(
            Setting("k", request.k),
            f" is more than the {seen.most:,} features of {dataset.name!r}{once}",
        )
    if dataset.y.ndim > 1:
        _check_targets(dataset, asked)
    related = dataset.samples.groups is not None or dataset.samples.order is not None
    if related:
        _check_samples(dataset, request)
    method = asked.having(_by_position(asked, dataset.feature_names, seen, kept))

    def make(k: int | float | None) -> Any:
        seed = request.seed
        return prepared(method, k, dataset.kind, grid_shape=dataset.grid_by_rows, seed=seed, n_jobs=n_jobs)

    made = make(None if isinstance(request.k, str) else request.k)
    free = request if request.max_cost is None or request.k != "auto" else replace(request, k=None)
    chosen = _choose(seen.data, free, make, timings)
    k = chosen.k if not isinstance(chosen.k, int) else min(chosen.k, len(seen.positions))
    k = k if request.max_cost is None else min(MOST_FEATURES, len(seen.positions))
    if asked.id == "auto" and request.scoring is not None:
        made.set_params(scoring=request.scoring)
    start = process_time()
    with timed(timings, "select", "selecting features"):
        coded = dataset.coded().taken(seen.positions)
        F = coded.F
        if chosen.transform != "none":
            names = [seen.data.feature_names[j] for j in coded.variables]
            F = transformed(F, chosen.transform, names, coded.numeric)
        selector = with_groups(made.set_params(n_features_to_select=k), coded.groups)
        given = dataset.samples.taken_by(selector) if related else {}
        selector.fit(F, dataset.y, **given)
    selecting = process_time() - start
    number = chosen.number or getattr(selector, "number_curve_", None)
    n_selected = _n_selected(selector, coded)
    score = budget = None
    asked_score = bool(request.folds) or request.scoring is not None
    if request.max_cost is not None:
        most = None if chosen.k is None else _about(chosen.k, dataset.n_features)
        walks = Walks(costs[seen.positions], request.max_cost, most, len(kept))
        with timed(timings, "choose the panel", "choosing for the budget"):
            budget = _within_budget(selector, make(k), seen.data, walks, coded, request, chosen.transform)
        number, n_selected = None, _n_selected(selector, coded)
        score = score_at(budget, n_selected)
    elif number is None and n_selected and (asked_score or selecting <= WORTH_A_SCORE):
        score = _score(seen.data, request, make, n_selected, chosen.transform, timings)
    asked_trust = request if budget is None else replace(request, stability=request.stability or 0)
    trust = assess_trust(selector, F, dataset.y, dataset.samples, asked_trust, timings, n_jobs, selecting)
    inference = estimate_effects(selector, F, dataset.y, dataset.samples, request, timings, n_jobs)
    with timed({}, "summarise", "summarising"):
        pixels = dataset.grid_shape is not None
        findings = inspect_data(seen.data, coded, pixels, chosen.transform)
        first = [dataset.feature_names[j] for j in kept]
        record = summarize(
            dataset,
            selector,
            replace(
                request,
                method=_complete(asked, selector, first),
                stability=trust.n_pairs,
                folds=score.n_folds if score is not None else request.folds if asked_score else 0,
                costs=None
                if request.costs is None
                else dict(zip(dataset.feature_names, costs.tolist(), strict=True)),
            ),
            transform=chosen.transform,
            timings=timings,
            notes=(
                *seen.notes,
                *_survival_note(dataset),
                *_kept_note(first),
                *_block_note(dataset, selector),
                *chosen.reasons,
                *_fit_notes(selector, trust),
                *([WITHOUT_BUDGET] if budget is not None and trust.stability is not None else []),
            ),
            findings=findings,
            number=number,
            score=score,
            budget=budget,
            kept=seen.positions,
            rest=seen.rest,
            n_selected=chosen.k if budget is None and isinstance(chosen.k, int) and chosen.k != k else None,
            stability=trust.stability,
            shadows=trust.shadows,
            inference=inference,
        )
    published = asked.info.reference
    if published and record.reference is None:
        record = replace(record, reference=published)
    return Selection(record, selector, dataset)


@dataclass(frozen=True)
class Candidates:
    """Features that a selector sees."""

    data: Dataset
    """With these features alone."""
    positions: Ints
    """Where they are among all."""
    rest: Ints
    """The others: constant ones, then duplicates."""
    most: int
    """How many can be selected: with the constant ones, but no duplicates."""
    notes: tuple[str, ...]

    def without(self, positions: Ints) -> Candidates:
        """Leave out features that alone cost more than the budget."""
        gone = np.intersect1d(self.positions, positions)
        if not len(gone):
            return self
        stays = ~np.isin(self.positions, gone)
        names = [self.data.feature_names[j] for j in np.flatnonzero(~stays)]
        left, note = np.flatnonzero(stays).tolist(), f"each alone costs more than the budget: {listed(names)}"
        return Candidates(
            self.data.take(left),
            self.positions[stays],
            np.concatenate([self.rest, gone]),
            self.most,
            (*self.notes, note),
        )


def candidates(dataset: Dataset, method: Method, kept: Sequence[int] = ()) -> Candidates:
    """Leave out exact duplicates of earlier features and constant ones, but not what is to be kept.

    Where the method depends on the places of features, in an image or in a graph that was given, they all
    stay: a linear model has no use for a constant one anyway.
    """
    every, none = np.arange(dataset.n_features), np.zeros(0, dtype=np.int64)
    if _depends_on_places(dataset, method):
        return Candidates(dataset, every, none, dataset.n_features, ())
    constant = np.setdiff1d(_constant_features(dataset.coded()), kept)
    duplicates = _for_the_kept(dataset.duplicates(), kept)
    duplicates = {j: first for j, first in duplicates.items() if j not in set(constant.tolist())}
    left = np.setdiff1d(every, [*constant, *duplicates])
    if len(left) == 0 or len(left) == len(every):
        return Candidates(dataset, every, none, dataset.n_features, ())
    notes = [duplicates_note(dataset, duplicates)] if duplicates else []
    if len(constant):
        names = listed(dataset.feature_names[j] for j in constant)
        notes.append(
            f"{count(len(constant), 'constant column')}, selected only where nothing else is left: {names}"
        )
    most = dataset.n_features - len(duplicates)
    rest = np.array([*constant, *duplicates], dtype=np.int64)
    return Candidates(dataset.take(left.tolist()), left, rest, most, tuple(notes))


def _for_the_kept(duplicates: dict[int, int], kept: Sequence[int]) -> dict[int, int]:
    """Let features that are kept stand for those that they repeat."""
    for j in kept:
        first = duplicates.pop(j, j)
        if first != j and first not in kept:
            duplicates = {other: j if one == first else one for other, one in duplicates.items()}
            duplicates[first] = j
    return duplicates


def _depends_on_places(dataset: Dataset, method: Method) -> bool:
    if method.parameters.get("groups") is not None:
        return True
    takes = method.takes
    if "fusion" not in takes:
        return False
    fusion = method.parameters.get("fusion", takes["fusion"])
    if not isinstance(fusion, str):
        return fusion is not None
    return fusion == "grid" or (fusion == "auto" and dataset.grid_shape is not None)


def duplicates_note(dataset: Dataset, duplicates: dict[int, int]) -> str:
    """Say which features were dropped as duplicates, each with the one that stands for it."""
    names = dataset.feature_names
    pairs = [f"{quoted(names[j])} (same as {quoted(names[first])})" for j, first in duplicates.items()]
    more = f" and {len(pairs) - SHOWN:,} more" if len(pairs) > SHOWN else ""
    return f"dropped exact duplicates: {', '.join(pairs[:SHOWN])}{more}"


def _constant_features(coded: Coded) -> Ints:
    """Return the features that have one value only, in all their columns."""
    F = coded.F
    if sparse.issparse(F):
        same = F.min(axis=0).toarray().ravel() == F.max(axis=0).toarray().ravel()
    else:
        same = (F[0] == F).all(axis=0)
    return np.flatnonzero(np.bincount(coded.variables, weights=~same) == 0)


def check_request(request: Request) -> None:
    """Refuse what can be refused before the data are read."""
    k = request.k
    whole = isinstance(k, int) and not isinstance(k, bool) and k >= 1
    if not (k is None or k == "auto" or whole or (isinstance(k, float) and 0 < k < 1)):
        raise InputError(
            Setting("k", k), ": give a whole number from 1, a fraction between 0 and 1, or 'auto'"
        )
    check_choice("transform", request.transform, (*TRANSFORMS, "auto"))
    blocks = request.reading.blocks is not None
    chooses = blocks or "auto" in (k, request.transform, request.method.id)
    if request.scoring is not None and request.folds == 0 and not chooses:
        raise InputError(
            Setting("scoring", request.scoring),
            " has no meaning where nothing is scored: leave it or ",
            Setting("folds", 0),
            " out",
        )
    for name, value, least in (("folds", request.folds, 2), ("stability", request.stability, 1)):
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not (value is None or (whole and (value == 0 or value >= least))):
            raise InputError(Setting(name, value), f": give a whole number from {least}, or 0 for none")
    budget = request.max_cost
    if budget is not None:
        if isinstance(budget, bool) or not isinstance(budget, int | float) or not 0 <= budget < inf:
            raise InputError(Setting("max_cost", budget), ": give a number of at least zero")
        if request.costs is None:
            raise InputError(Setting("max_cost", budget), " needs ", Setting("costs"), " beside it")
        if blocks:
            raise InputError(Setting("max_cost", budget), " cannot be combined with ", Setting("blocks"))
        if request.method.id in BY_THEMSELVES:
            raise InputError(
                Setting("max_cost", budget),
                f" chooses the number of features, as {request.method.id} does: take another method",
            )
    if not (isinstance(request.seed, int) and 0 <= request.seed <= LARGEST_SEED):
        raise InputError(Setting("seed", request.seed), f": give a whole number from 0 to {LARGEST_SEED}")
    request.method.check()


def check_jobs(n_jobs: int | None) -> None:
    """Refuse no threads at all."""
    if n_jobs == 0:
        raise InputError(Setting("n_jobs", 0), ": give a number, or -1 for every core")


@dataclass(frozen=True)
class _Chosen:
    """The transform and how many features, after what was left to choose."""

    transform: str
    k: int | float | None
    reasons: tuple[str, ...]
    number: NumberCurve | None = None


def _choose(
    data: Dataset, request: Request, make: Callable[[int], Any], timings: dict[str, float]
) -> _Chosen:
    transform, k, reasons = request.transform, request.k, []
    if transform != "auto" and not isinstance(k, str):
        return _Chosen(transform, k, ())
    part = Part.of(data, request.seed)
    scoring = checked_scoring(request.scoring, part.y, part.kind)
    if request.scoring is None:
        reasons += [why] if (why := default_scoring(part.y, part.kind)[1]) else []
    if transform == "auto":
        with timed(timings, "choose the transform", "choosing the transform"):
            many = _about(k, part.X.shape[1])
            how = choose_transform(part, many, scoring)
        transform = how.value
        reasons.append(how.reason)
    if request.method.id in BY_THEMSELVES and isinstance(k, str):
        return _Chosen(transform, None, tuple(reasons))
    if isinstance(k, str):
        with timed(timings, "choose the number", "choosing the number of features"):
            curve = choose_number(make, part, scoring, transform)
        return _Chosen(transform, curve.chosen, tuple(reasons), curve)
    return _Chosen(transform, k, tuple(reasons))


def _score(
    data: Dataset,
    request: Request,
    make: Callable[[int], Any],
    k: int,
    transform: str,
    timings: dict[str, float],
) -> NumberCurve | None:
    """Score a linear model on the k best features, selected inside the folds; None where that fails."""
    if request.folds == 0:
        return None
    part, scoring = Part.of(data, request.seed), checked_scoring(request.scoring, data.y, data.kind)
    try:
        with timed(timings, "score", "scoring the selection"):
            return choose_number(make, part, scoring, transform, np.array([k]), request.folds or FOLDS)
    except InputError:
        if request.folds is not None or request.scoring is not None:
            raise
        return None


def _n_selected(selector: Any, coded: Coded) -> int:
    """Count the selected features."""
    if not hasattr(selector, "get_support"):
        return 0
    return len(np.unique(coded.variables[selector.get_support()]))


def _at_rate(method: Method, fdr: float | None, k: Any) -> Method:
    """Return the method, or knockoffs where a false discovery rate was asked for."""
    if fdr is None:
        return method
    if k is not None and not isinstance(k, str):
        raise InputError(
            Setting("fdr", fdr), " chooses the number of features: leave ", Setting("k", k), " out"
        )
    if method not in (Method(USUAL), Method("knockoffs", method.parameters)):
        raise InputError(
            Setting("fdr", fdr), " selects by knockoffs: leave ", Setting("method"), " and its parameters out"
        )
    return Method("knockoffs", {**method.parameters, "fdr": fdr})


def _keeping(method: Method, keep: Sequence[str | int]) -> Method:
    return method.having({"keep": plain(list(keep))}) if keep else method


def _places(method: Method, dataset: Dataset) -> list[int]:
    """Find the features that are always selected; none where the method has groups of its own."""
    wanted = method.parameters.get("keep")
    if wanted is None or method.parameters.get("groups") is not None:
        return []
    if not all(isinstance(one, str | int) and not isinstance(one, bool) for one in wanted):
        raise InputError(Setting("keep", wanted), ": give names or positions of features")
    try:
        return find_columns(dataset.feature_names, _of_blocks(wanted, dataset), "keep")
    except DataError as error:
        left_out = ", or it was left out: what looks like an identifier is used with ", Setting("use")
        raise InputError(*error.parts, *(() if str(error).endswith("?") else left_out)) from error


def _of_blocks(wanted: Sequence[Any], dataset: Dataset) -> list[Any]:
    """Replace the names of blocks by those of their features."""
    every, names, blocks = list[Any](), dataset.feature_names, dataset.blocks or ()
    for one in wanted:
        own = [] if one in names else [name for name, of in zip(names, blocks, strict=False) if of == one]
        every += own or [one]
    return every


def _over_blocks(method: Method, dataset: Dataset) -> Method:
    """Return a method that chooses a penalty factor for each block, where there are blocks.

    A method that has no penalty, or factors or groups of its own, stays as it is.
    """
    own = method.parameters
    if len(set(dataset.blocks or ())) < 2 or method.id == "auto" or dataset.grid_shape is not None:
        return method
    given = any(own.get(name) is not None for name in ("penalty_factors", "groups"))
    if given or "penalty_factors" not in method.takes or not method.info.ours:
        return method
    inside = Method(method.id, {name: value for name, value in own.items() if name != "keep"})
    keep = {} if own.get("keep") is None else {"keep": own["keep"]}
    return Method("auto", {"methods": [str(inside)], **keep})


def _block_note(dataset: Dataset, selector: Any) -> list[str]:
    """Say how the penalties of blocks were chosen, or why they are all the same."""
    if len(set(dataset.blocks or ())) < 2:
        return []
    factors = getattr(selector, "block_factors_", None)
    if factors is None:
        return ["the blocks share one penalty: the method takes none, or has penalty factors of its own"]
    told = ", ".join(f"{name} {factor:g}" for name, factor in factors.items())
    return [f"penalty factors of the blocks, chosen by cross-validation (0 for what is kept): {told}"]


def _survival_note(dataset: Dataset) -> list[str]:
    if dataset.kind != "survival":
        return []
    n_events = int(dataset.y["event"].sum())
    return [
        f"{count(n_events, 'event')} in {dataset.n_samples:,} samples; figures of single features are of the "
        "martingale residuals: events less those expected by their times if no feature mattered"
    ]


def _costs(request: Request, dataset: Dataset, kept: Sequence[int]) -> Floats:
    """Return what each feature costs; refuse what no panel can fulfil. Without costs all are free."""
    names, limit = dataset.feature_names, request.max_cost
    costs = numbers_by_name(names, {} if request.costs is None else request.costs, "costs", 0.0)
    if not np.isfinite(costs).all():
        raise InputError(Setting("costs"), " must be finite")
    if limit is not None and costs.min() > limit:
        cheapest = quoted(names[int(costs.argmin())])
        raise InputError(
            Setting("max_cost", limit),
            f" affords no feature: {cheapest}, the cheapest, costs {costs.min():g}",
        )
    if limit is not None and len(kept) and costs[list(kept)].sum() > limit:
        total = f" is less than the {costs[list(kept)].sum():g} that the features cost which are given by "
        raise InputError(Setting("max_cost", limit), total, Setting("keep"))
    return costs


def _by_position(
    method: Method, names: Sequence[str], seen: Candidates, kept: Sequence[int]
) -> dict[str, Any]:
    """Return the parameters that name features, by their places among the candidates."""
    found: dict[str, Any] = {}
    if kept:
        found["keep"] = np.searchsorted(seen.positions, kept).tolist()
    if method.id == "auto" and seen.data.blocks is not None:
        found["blocks"] = list(seen.data.blocks)
    factors = _factors(method)
    if factors is not None:
        every = numbers_by_name(names, factors, "penalty_factors", 1.0)
        found["penalty_factors"] = every[seen.positions]
    return found


def _factors(method: Method) -> Any:
    """Return the penalty factors of features; None where they are of groups of the method's own."""
    own = method.parameters
    return None if own.get("groups") is not None else own.get("penalty_factors")


def _within_budget(
    fitted: Any,
    again: Any,
    data: Dataset,
    walks: Walks,
    coded: Coded,
    request: Request,
    transform: str,
) -> CostCurve:
    """Choose the panel along the ranking of a fitted selector, and make it what that selects."""
    order = np.argsort(fitted.ranking_, kind="stable")
    scoring = checked_scoring(request.scoring, data.y, data.kind)
    curve, panel = choose_panel(again, Part.of(data, request.seed), scoring, transform, order, walks)
    order = np.concatenate([panel, order[~np.isin(order, panel)]])
    fitted.ranking_ = np.argsort(order) + 1
    fitted.support_ = np.isin(coded.variables, panel)
    return curve


def _kept_note(kept: list[str]) -> list[str]:
    return [f"selected as asked, before all others: {listed(kept)}"] if kept else []


def _fit_notes(selector: Any, trust: Trust) -> list[str]:
    """Say what the selector and the assessment found out or chose by themselves."""
    notes = []
    asked = getattr(selector, "fusion", None)
    if isinstance(asked, str) and asked == "auto" and selector.fusion_ != "none":
        notes.append(f"fusion penalty between neighbours: {selector.fusion_reason_}")
    if hasattr(selector, "candidates_") and len(selector.methods or ()) != 1:
        tried = sum(status == "tried" for status in selector.candidates_["status"])
        notes.append(f"{selector.method_} was chosen among {tried} methods by cross-validation")
    return [*notes, *([trust.note] if trust.note else [])]


def _about(k: int | float | str | None, n_features: int) -> int:
    """Estimate how many features will be selected."""
    if isinstance(k, float):
        return max(1, round(k * n_features))
    return k if isinstance(k, int) else min(ENOUGH_FOR_TRANSFORM, n_features)


def _with_grid(request: Request) -> Method:
    """Return the method; a given grid is also what features are fused along, unless fusion is given."""
    method = request.method
    if request.reading.grid is None or "fusion" not in method.takes:
        return method
    return method.having({"fusion": "grid", **method.parameters})


def _check_samples(dataset: Dataset, request: Request) -> None:
    """Refuse more folds than groups, and knockoffs of samples that follow one another."""
    if request.folds:
        dataset.samples.check_folds(request.folds, "folds")
    if (
        request.method.id == "knockoffs"
        and dataset.samples.order is not None
        and not dataset.samples.n_groups
    ):
        raise InputError(
            "knockoffs hold their rate for independent samples, and those in an ", Setting("order"),
            " are not: give ", Setting("sample_groups"), ", or take another method, such as stability",
        )  # fmt: skip


def _check_targets(dataset: Dataset, method: Method) -> None:
    """Refuse several targets where the selector takes one, as scikit-learn's tags say."""
    selector = method.make()
    tags = selector.__sklearn_tags__() if hasattr(selector, "__sklearn_tags__") else None
    if tags is not None and not tags.target_tags.multi_output:
        raise InputError(
            f"{method.id} takes one target, but {dataset.target_name!r} has {dataset.y.shape[1]} columns: "
            "take another method, such as lasso"
        )


def _complete(method: Method, selector: Any, kept: list[str]) -> Method:
    """Return the method with all its parameters, so that a rerun does not depend on defaults that may change.

    What is kept is recorded by name, not by its place among the candidates, and so are penalty factors. The
    number of threads is left out: it belongs to the machine, and does not change the result. So are groups
    that follow from the data, and how a number is chosen that was given.
    """
    every = {**selector.get_params(deep=False), **({"keep": kept} if kept else {})}
    if (factors := _factors(method)) is not None:
        every["penalty_factors"] = factors
    left_out = {*APART, "blocks", *(() if "groups" in method.parameters else ("groups",))}
    if every.get("n_features_to_select") != "auto" and method.id != "auto":
        left_out |= {"cv", "scoring"}  # which then have no meaning
    return Method(method.id).having({name: value for name, value in every.items() if name not in left_out})


def _called(source: Any) -> str:
    return Path(source).name if isinstance(source, str | PathLike) else "the data"
