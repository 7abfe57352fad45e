"""Charts of a selection: what features explain, their scores, how stable they are, how many are enough."""

from __future__ import annotations

from math import ceil, log10
from typing import Any

import numpy as np

from infused._runtime.messages import count
from infused.bench.tables import metric_title
from infused.record.schema import SelectionRecord
from infused.record.sentences import (
    COLUMNS,
    chance_words,
    column_meanings,
    effect_text,
    error_text,
    intervals_meaning,
    measure,
    p_value_text,
    score_number,
    score_text,
    shown,
)
from infused.report.figures import (
    Coefficients,
    distances_to_last,
    record_coefficients,
    record_explained,
    record_frequencies,
)
from infused.report.html.charts import (
    TOP,
    Chart,
    Trace,
    axis,
    band,
    bars,
    dots,
    grid,
    heat,
    label,
    line,
    names_axis,
    rounded,
    row_chart,
)
from infused.report.html.page import Pair
from infused.selectors.choose.budget import CostCurve
from infused.selectors.choose.number import NumberCurve

MOST_POINTS = 400
MOST_PAIRS = 12
MOST_TICKS = 12


def _best(record: SelectionRecord) -> str:
    k = len(record.selected)
    if k == 1:
        return "the selected feature"
    return f"the {k} selected features" if k <= TOP else f"the best {TOP} of {k:,} selected features"


def explained_chart(record: SelectionRecord) -> Chart | None:
    """Show what each of the best features explains: by itself, and beyond the other selected ones."""
    found = record_explained(record)
    if found is None:
        return None
    names = found.features
    panels = [bars(found.alone, names, f"{COLUMNS['alone'].lower()} %{{x:.3g}}%", "@accent")]
    if found.unique is not None:
        words = f"{COLUMNS['unique'].lower()} %{{x:.3g}}%"
        panels.append(bars(found.unique, names, words, "@series2", xaxis="x2"))
    halves = [[0.0, 0.46], [0.54, 1.0]] if len(panels) == 2 else [[0.0, 1.0]]
    axes = [
        axis(f"{title} (%)", domain=half, nticks=4, range=[0, 100], anchor="y")
        for title, half in zip((COLUMNS["alone"], COLUMNS["unique"]), halves, strict=False)
    ]
    return row_chart(
        "scores",
        f"What {_best(record)} explain{'s' if len(record.selected) == 1 else ''}",
        " ".join(f"{COLUMNS[key]}: {column_meanings(record)[key]}." for key in ("alone", "unique")),
        names,
        panels,
        wide=not record.coefficient_names,
        **{f"xaxis{n + 1 if n else ''}": one for n, one in enumerate(axes)},
    )


def coefficient_chart(record: SelectionRecord) -> Chart | None:
    """Show coefficients of the best features: bars for one target, a heat map for several classes."""
    found = record_coefficients(record)
    if found is None:
        return None
    return (_coefficient_bars if len(found.targets) == 1 else _coefficient_map)(record, found)


def _coefficient_bars(record: SelectionRecord, found: Coefficients) -> Chart:
    values = _known(found.values[0])
    colours = ["@mark" if (value or 0) < 0 else "@accent" for value in values]
    whom = found.targets[0]
    effect = f"make {record.data.target} = {whom} more likely" if found.by_class else f"go with higher {whom}"
    opposite = "less likely" if found.by_class else "lower"
    if record.data.events is not None:
        effect, opposite = "go with earlier events", "later"
    return row_chart(
        "coefficients",
        f"Coefficients of {_best(record)}",
        f"Blue: higher values {effect}. Orange: {opposite}.{_without(record, found)}",
        found.features,
        [bars(values, found.features, "coefficient %{x:.4g}", colours, digits=6)],
        wide=False,
        xaxis=axis(found.unit, zeroline=True),
    )


def _without(record: SelectionRecord, found: Coefficients) -> str:
    """Say why some of the best features have no coefficient."""
    there = len(found.features) < min(len(record.selected), TOP)
    return " A category of several levels has several coefficients, which are not shown." if there else ""


def _coefficient_map(record: SelectionRecord, found: Coefficients) -> Chart:
    shape = found.features, found.targets
    what = "class" if found.by_class else "target"
    trace = heat(
        [[rounded(b) for b in _known(row)] for row in found.values.T],
        "@diverging",
        "coefficient %{z:.4g}",
        limits=(-found.largest, found.largest),
        crossed=shape,
        **grid(shape),
    )
    ticks = names_axis(found.targets, title={"text": what.capitalize()}, showgrid=False)
    if len(found.targets) > TOP:
        ticks |= {"tickvals": [], "ticktext": []}
    effect, opposite = ("more likely", "less likely") if found.by_class else ("higher", "lower")
    return row_chart(
        "coefficients",
        f"Coefficients of {_best(record)}, by {what}",
        f"{found.unit}. Blue: higher values make the {what} {effect}. Orange: {opposite}."
        f"{_without(record, found)}",
        found.features,
        [trace],
        wide=False,
        xaxis=ticks,
    )


def _known(values: Any) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def rank_chart(record: SelectionRecord) -> Chart | None:
    """Show the score against the rank for all features: where the selection was cut."""
    k, n = len(record.selected), len(record.features.names)
    if k in (0, n) or any(score is None for score in record.features.scores):
        return None
    order = np.argsort(record.features.ranks)
    places = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(int))
    places = np.union1d(places, [k - 1, k])
    return Chart(
        "ranks",
        f"Score against rank for all {n:,} features",
        f"Where the selection was cut, after rank {k:,}, and how the scores of the others go on.",
        300,
        [
            _rank_line(record, order, places[places < k], "Selected", "@accent"),
            _rank_line(record, order, places[places >= k], "Not selected", "@quiet"),
        ],
        {
            "xaxis": axis("Rank", range=[0.5 - 0.02 * n, n + 0.5 + 0.02 * n]),
            "yaxis": axis("Score"),
            "showlegend": True,
        },
        wide=True,
    )


def _rank_line(record: SelectionRecord, order: Any, places: Any, name: str, colour: str) -> Trace:
    features = record.features
    return line(
        (places + 1).tolist(),
        [features.scores[n] for n in order[places]],
        colour,
        marker={"size": 5},
        name=name,
        customdata=[label(features.names[n]) for n in order[places]],
        said="%{customdata}<br>rank %{x}, score %{y:.4g}",
    )


def convergence_chart(record: SelectionRecord) -> Chart | None:
    """Show the distance to the last objective on a logarithmic scale: the objective soon looks flat."""
    found = record.convergence
    if found is None or len(found.path_objective) < 3:
        return None
    distances = distances_to_last(found.path_objective)
    known = np.flatnonzero(~np.isnan(distances))
    if len(known) < 2:
        return None
    gaps, last = distances[known], found.path_objective[-1]
    iterations = [found.path_iterations[n] for n in known]
    decades = log10(gaps.max()) - log10(gaps.min())
    trace = line(
        iterations,
        gaps.tolist(),
        "@accent",
        marker={"size": 5},
        customdata=[rounded(found.path_objective[n], 10) for n in known],
        said="iteration %{x}<br>objective %{customdata:.8g}<br>distance %{y:.2e}",
    )
    upwards = {"type": "log", "exponentformat": "e", **({"dtick": ceil(decades / 8)} if decades > 2 else {})}
    return Chart(
        "convergence",
        "Distance to the final objective, by iteration",
        f"The fit on all features, which ended at an objective of {last:.6g}. A straight line "
        "falls by the same factor in each step.",
        320,
        [trace],
        {
            "xaxis": axis("Iteration", **({"dtick": 1} if iterations[-1] <= 10 else {})),
            "yaxis": axis("Distance to the final objective", **upwards),
        },
        wide=True,
    )


def stability_chart(record: SelectionRecord) -> Chart | None:
    """Show the selection frequencies of the best features in half-samples."""
    found, stability = record_frequencies(record), record.stability
    if found is None or stability is None:
        return None
    colours = ["@accent" if stable else "@quiet" for stable in found.stable]
    frequencies = bars(100 * found.shares, found.features, "selected in %{x:.3g}% of half-samples", colours)
    for n, one in enumerate(record.selected[: len(found.features)]):
        if one.wins is not None:
            frequencies["customdata"][n] += f"<br>ahead of all permuted features in {one.wins:.0%} of repeats"
    limit = 100 * found.threshold
    threshold = line([limit] * 2, [-0.6, len(found.features) - 0.4], "@mark", width=1.6, dash="dash")
    return row_chart(
        "stability",
        f"Selection frequency in {found.n_halves:,} half-samples",
        f"Features selected in at least {limit:g}% of half-samples (dashed line) are stable. "
        f"{count(found.n_stable, 'feature')} reach{'es' if found.n_stable == 1 else ''} it; at most "
        f"{found.expected_false:.2g} false selections are expected among them ({stability.bound} bound, "
        f"{stability.per_half:g} features per half-sample).",
        found.features,
        [frequencies, threshold],
        xaxis=axis("Selection frequency (%)", range=[0, 103]),
        showlegend=False,
    )


def block_chart(record: SelectionRecord) -> Chart | None:
    """Show how many features of each block were selected, and what is lost without them."""
    blocks = record.blocks
    if not blocks or not record.selected:
        return None
    names = [one.name for one in blocks]
    shares = [100 * one.n_selected / len(record.selected) for one in blocks]
    panels = [bars(shares, names, "%{x:.3g}% of the selected features", "@accent")]
    axes = [axis("Share of the selected features (%)", domain=[0.0, 1.0], range=[0, 100], anchor="y")]
    if all(one.unique is not None for one in blocks):
        lost = [100 * (one.unique or 0.0) for one in blocks]
        panels.append(bars(lost, names, "%{x:.3g}% of the variance lost", "@series2", xaxis="x2"))
        axes[0]["domain"] = [0.0, 0.46]
        axes.append(axis("Variance lost without it (%)", domain=[0.54, 1.0], range=[0, 100], anchor="y"))
    return row_chart(
        "blocks",
        "What each kind of features contributes",
        "How many of the selected features are of each block, and what share of the variance of the target "
        "a ridge regression on the selected features loses without it.",
        names,
        panels,
        wide=True,
        **{f"xaxis{n + 1 if n else ''}": one for n, one in enumerate(axes)},
    )


def effect_chart(record: SelectionRecord) -> Chart | None:
    """Show the effects of the selected features with their intervals, in standard deviations of each."""
    how = record.intervals
    there = [one for one in record.selected if one.effect is not None]
    rows = [
        (one, one.effect) for one in there if one.effect and None not in (one.effect.low, one.effect.high)
    ]
    if how is None or not rows:
        return None
    best = rows[:TOP]
    middle, low, high = (
        [one.deviation * (getattr(one, name) or 0.0) for _, one in best] for name in ("effect", "low", "high")
    )
    said = [
        f"{label(one.name)}<br>one unit: {effect_text(one)}<br>adjusted p {label(p_value_text(one))}"
        for one, _ in best
    ]
    colours = ["@accent" if one.p_value <= 1 - how.level else "@quiet" for _, one in best]
    names, few = [feature.name for feature, _ in best], len(there) - len(rows)
    others = f" Without an interval, as too few half-samples selected them: {few}." if few else ""
    return row_chart(
        "effects",
        f"Effects with {how.level:.0%} intervals",
        f"Shown: {intervals_meaning(record)}; here of one standard deviation. In colour: adjusted p of at "
        f"most {1 - how.level:.2g}.{others}",
        names,
        [
            dots(middle, low, high, said, colours),
            line([0, 0], [-0.6, len(names) - 0.4], "@mark", dash="dash"),
        ],
        xaxis=axis("Effect of one standard deviation"),
        showlegend=False,
    )


def tried_chart(record: SelectionRecord) -> Chart | None:
    """Show what each method reached, with its standard error; the chosen one in colour."""
    tried = [one for one in record.tried if one.score is not None]
    if len(tried) < 2:
        return None
    name = _scoring(record)
    scores = np.array([shown(one.score or 0.0, name) for one in tried])
    errors = np.array([abs(measure(name).factor) * (one.error or 0.0) for one in tried])
    said = [
        f"{label(one.method)}<br>{one.n_features:,} features: {score:.4g}"
        for one, score in zip(tried, scores, strict=True)
    ]
    colours = ["@mark" if one.chosen else "@accent" for one in tried]
    return row_chart(
        "tried",
        f"{len(tried)} methods, each with the number of features that suits it",
        "Mean over the folds, one standard error to both sides. Orange: the one that was chosen.",
        [one.method for one in tried],
        [dots(scores, scores - errors, scores + errors, said, colours)],
        xaxis=axis(metric_title(name)),
        showlegend=False,
    )


def tried_pairs(record: SelectionRecord) -> tuple[Pair, ...]:
    """Return the table of candidates, one line for each."""
    name = _scoring(record)
    lines = []
    for one in record.tried:
        seconds = f"{one.seconds:.1f} s"
        if one.score is None or one.n_features is None:
            lines.append((one.method, f"{one.status} ({seconds})"))
            continue
        reached = f"{score_text(one.score, one.error or 0.0, name)}{measure(name).unit}"
        chosen = ", chosen" if one.chosen else ""
        named = {"linear": one.linear, "boosted trees": one.boosted_trees}
        models = [f"{model} {score_number(best, name)}" for model, best in named.items() if best is not None]
        size = count(one.n_features, "feature")
        lines.append((one.method, f"{reached} with {size} ({', '.join(models)}), {seconds}{chosen}"))
    return tuple(lines)


def stand_in_pairs(record: SelectionRecord) -> tuple[Pair, ...]:
    """Return features that could stand in for the selected ones, with their correlation."""
    return tuple(
        (
            f"Alternatives to {feature.name}",
            ", ".join(f"{one.name} (|r| {one.correlation:.2f})" for one in feature.stand_ins),
        )
        for feature in [one for one in record.selected if one.stand_ins][:MOST_PAIRS]
    )


def _scoring(record: SelectionRecord) -> str:
    if record.number is not None:
        return record.number.scoring
    return record.request.scoring or ("r2" if record.data.classes is None else "accuracy")


def number_chart(record: SelectionRecord) -> Chart | None:
    """Show the score against the number of features, and what comes without selecting."""
    curve = record.number
    if curve is None:
        return None
    wide = curve.ks[-1] > 20
    ticks = [k for k in (1, 2, 3, 5, 10, 20, 50, 100, 200) if k <= curve.ks[-1]] if wide else list(curve.ks)
    across = {"tickmode": "array", "tickvals": ticks} if len(curve.ks) <= MOST_TICKS or wide else {}
    name = measure(curve.scoring).words
    return Chart(
        "number",
        f"{name[0].upper()}{name[1:]} against the number of features",
        f"Mean of {curve.n_folds} folds, one standard error to both sides. Ring: the number that was chosen, "
        "the smallest within one standard error of the best. Level lines: all features, and none.",
        360,
        [*_number_curve(curve), *_levels(record, curve)],
        {
            "xaxis": axis("Number of features", **({"type": "log"} if wide else {}), **across),
            "yaxis": axis(metric_title(curve.scoring)),
            "showlegend": True,
        },
        wide=True,
    )


def cost_chart(record: SelectionRecord) -> Chart | None:
    """Show the score against the budget, where one was given."""
    curve = record.budget
    if curve is None:
        return None
    name = measure(curve.scoring).words
    return Chart(
        "cost",
        f"{name[0].upper()}{name[1:]} against cost",
        f"Best panel along the ranking for each budget up to {curve.limit:g}: mean of {curve.n_folds} folds, "
        f"one standard error to both sides. Ring: the budget that was chosen. The selected features cost "
        f"{curve.total:g}. Level lines: all features, and none.",
        360,
        [*_number_curve(curve, "cost"), *_levels(record, curve)],
        {"xaxis": axis("Cost"), "yaxis": axis(metric_title(curve.scoring)), "showlegend": True},
        wide=True,
    )


def _number_curve(curve: NumberCurve | CostCurve, unit: str = "features") -> list[Trace]:
    """Draw the means with their band, and a ring at what was chosen."""
    factor, sign = measure(curve.scoring).factor, measure(curve.scoring).unit
    means, errors = factor * np.array(curve.means), factor * np.array(curve.errors)
    ring = {"size": 14, "symbol": "circle-open", "color": "@mark", "line": {"width": 2.5, "color": "@mark"}}
    chosen = line([curve.chosen], [means[curve.ks.index(curve.chosen)]], "@mark", marker=ring)
    return [
        band(curve.ks, means - errors, means + errors),
        line(
            curve.ks,
            means,
            "@accent",
            width=2,
            marker={"size": 6},
            name="first k of the ranking" if isinstance(curve, NumberCurve) else "best panel",
            customdata=[error_text(error, curve.scoring) for error in curve.errors],
            said=f"%{{x:,}} {unit}: %{{y:.4g}} ± %{{customdata}}{sign}",
        ),
        {**chosen, "mode": "markers", "name": f"chosen: {curve.chosen:,.10g}"},
    ]


def _levels(record: SelectionRecord, curve: NumberCurve | CostCurve) -> list[Trace]:
    """Draw level lines at the scores of all features, and of none."""
    whole = f"all {record.data.n_features:,} features"
    levels = [(whole, curve.all_features, "dash"), (chance_words(record), curve.chance, "dot")]
    return [
        level_line(name, level, curve.scoring, (curve.ks[0], curve.ks[-1]), dash)
        for name, level, dash in levels
        if level is not None
    ]


def level_line(name: str, score: float, scoring: str, ends: tuple[float, float], dash: str) -> Trace:
    """Draw what is reached at every number of features alike."""
    value = shown(score, scoring)
    said = f"{label(name)}: {score_number(score, scoring)}{measure(scoring).unit}"
    return line(ends, [value, value], "@strong", width=1.4, dash=dash, name=label(name), said=said)
