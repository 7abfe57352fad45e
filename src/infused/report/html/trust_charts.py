"""The charts of how sure a selection is: what halves of the samples chose, and which methods were tried."""

from __future__ import annotations

from typing import Any

from infused._runtime.messages import count
from infused.bench.tables import metric_title
from infused.record.schema import SelectionRecord
from infused.record.sentences import error_text, measure, score_number, score_text, shown
from infused.report.html.charts import TOP, Chart, label, rounded, rows_axis, rows_height
from infused.report.html.page import Pair
from infused.selectors.choose.number import NumberCurve

MOST_PAIRS = 12


def again_chart(record: SelectionRecord) -> Chart | None:
    """How often each of the best features was chosen in halves of the samples."""
    found, best = record.stability, record.selected[:TOP]
    if found is None or not best:
        return None
    names = [feature.name for feature in best]
    shares = [100 * found.frequencies[feature.index] for feature in best]
    wins = [feature.wins for feature in best]
    told = [
        "" if one is None else f"<br>ahead of all shuffled copies in {one:.0%} of the trials" for one in wins
    ]
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": [rounded(share, 4) for share in shares],
        "y": list(range(len(names))),
        "customdata": [f"{label(name)}{more}" for name, more in zip(names, told, strict=True)],
        "hovertemplate": "chosen in %{x:.3g}% of the halves<br>%{customdata}<extra></extra>",
        "marker": {"color": ["@accent" if s >= 100 * found.threshold - 1e-9 else "@quiet" for s in shares]},
        "width": 0.62,
    }
    line = {
        "type": "scatter",
        "mode": "lines",
        "x": [100 * found.threshold] * 2,
        "y": [-0.6, len(names) - 0.4],
        "hoverinfo": "skip",
        "line": {"color": "@mark", "width": 1.6, "dash": "dash"},
    }
    return Chart(
        id="again",
        title=f"How often they were chosen in {2 * found.n_pairs:,} random halves of the samples",
        caption=f"The line is at {100 * found.threshold:g}%: what reaches it is stable. Of the "
        f"{count(found.n_stable, 'feature')} there, at most {found.expected_false:.2g} are expected to be so "
        f"by chance ({found.bound} bound; halves chose {found.per_half:g} features each).",
        height=rows_height(len(best)),
        data=[bars, line],
        layout={
            "xaxis": {"title": {"text": "Halves that chose it (%)"}, "range": [0, 103]},
            "yaxis": rows_axis(names),
            "showlegend": False,
        },
        wide=True,
    )


def tried_chart(record: SelectionRecord) -> Chart | None:
    """What each method reached, with its standard error; the chosen one in colour."""
    tried = [one for one in record.tried if one.score is not None]
    if len(tried) < 2:
        return None
    name = _scoring(record)
    scores = [rounded(shown(one.score or 0.0, name)) for one in tried]
    errors = [abs(measure(name).factor) * (one.error or 0.0) for one in tried]
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers",
        "x": scores,
        "y": list(range(len(tried))),
        "error_x": {"type": "data", "array": [rounded(error, 4) for error in errors], "color": "@quiet"},
        "customdata": [f"{label(one.method)}<br>{one.n_features:,} features" for one in tried],
        "hovertemplate": "%{customdata}: %{x:.4g}<extra></extra>",
        "marker": {"color": ["@mark" if one.chosen else "@accent" for one in tried], "size": 10},
    }
    return Chart(
        id="tried",
        title=f"{len(tried)} methods, each with the number of features that suits it",
        caption="Mean over the folds, one standard error to both sides. Orange: the one that was chosen.",
        height=rows_height(len(tried)),
        data=[trace],
        layout={
            "xaxis": {"title": {"text": metric_title(name)}},
            "yaxis": rows_axis([one.method for one in tried]),
            "showlegend": False,
        },
        wide=True,
    )


def tried_pairs(record: SelectionRecord) -> tuple[Pair, ...]:
    """The table of candidates, one line for each."""
    name = _scoring(record)
    lines = []
    for one in record.tried:
        seconds = f"{one.seconds:.1f} s"
        if one.score is None or one.n_features is None:
            lines.append((one.method, f"{one.status} ({seconds})"))
            continue
        reached = f"{score_text(one.score, one.error or 0.0, name)}{measure(name).unit}"
        plural = "feature" if one.n_features == 1 else "features"
        chosen = ", chosen" if one.chosen else ""
        lines.append((one.method, f"{reached} with {one.n_features:,} {plural}, {seconds}{chosen}"))
    return tuple(lines)


def stand_in_pairs(record: SelectionRecord) -> tuple[Pair, ...]:
    """Features that could stand in for the selected ones, with their correlation."""
    return tuple(
        (
            f"Instead of {feature.name}",
            ", ".join(f"{one.name} (|r| {one.correlation:.2f})" for one in feature.stand_ins),
        )
        for feature in [one for one in record.selected if one.stand_ins][:MOST_PAIRS]
    )


def _scoring(record: SelectionRecord) -> str:
    if record.number is not None:
        return record.number.scoring
    return record.request.scoring or ("r2" if record.data.classes is None else "accuracy")


MOST_TICKS = 12


def number_chart(record: SelectionRecord) -> Chart | None:
    """The score against the number of features with its standard error, and what comes without selecting."""
    curve = record.number
    if curve is None:
        return None
    few = len(curve.ks) <= MOST_TICKS
    wide = curve.ks[-1] > 20
    ticks = [k for k in (1, 2, 3, 5, 10, 20, 50, 100, 200) if k <= curve.ks[-1]] if wide else list(curve.ks)
    axis = {"tickmode": "array", "tickvals": ticks} if few or wide else {}
    name = measure(curve.scoring).words
    return Chart(
        id="number",
        title=f"{name[0].upper()}{name[1:]} against the number of features",
        caption=f"Mean of {curve.n_folds} folds, one standard error to both sides. The ring marks the number "
        "that was chosen: the smallest within one standard error of the best. Level lines: what comes "
        "without selecting.",
        height=360,
        data=[_band(curve), _means(curve), _ring(curve), *_levels(record, curve)],
        layout={
            "xaxis": {"title": {"text": "Number of features"}, **({"type": "log"} if wide else {}), **axis},
            "yaxis": {"title": {"text": metric_title(curve.scoring)}},
            "showlegend": True,
        },
        wide=True,
    )


def _shown(curve: NumberCurve, values: list[float]) -> list[float | None]:
    return [rounded(shown(value, curve.scoring)) for value in values]


def _band(curve: NumberCurve) -> dict[str, Any]:
    pairs = list(zip(curve.means, curve.errors, strict=True))
    high, low = [mean + error for mean, error in pairs], [mean - error for mean, error in pairs]
    return {
        "type": "scatter",
        "mode": "lines",
        "showlegend": False,
        "hoverinfo": "skip",
        "x": [*curve.ks, *reversed(curve.ks)],
        "y": _shown(curve, [*high, *reversed(low)]),
        "fill": "toself",
        "fillcolor": "@wash0",
        "line": {"width": 0, "color": "@wash0"},
    }


def _means(curve: NumberCurve) -> dict[str, Any]:
    sign = measure(curve.scoring).unit
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "first k of the ranking",
        "x": list(curve.ks),
        "y": _shown(curve, list(curve.means)),
        "customdata": [error_text(error, curve.scoring) for error in curve.errors],
        "hovertemplate": f"%{{x}} features: %{{y:.4g}} ± %{{customdata}}{sign}<extra></extra>",
        "line": {"color": "@accent", "width": 2},
        "marker": {"color": "@accent", "size": 6},
    }


def _ring(curve: NumberCurve) -> dict[str, Any]:
    mean = dict(zip(curve.ks, curve.means, strict=True))[curve.chosen]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"chosen: {curve.chosen:,}",
        "x": [curve.chosen],
        "y": _shown(curve, [mean]),
        "hoverinfo": "skip",
        "marker": {
            "color": "@mark",
            "size": 14,
            "symbol": "circle-open",
            "line": {"width": 2.5, "color": "@mark"},
        },
    }


def _levels(record: SelectionRecord, curve: NumberCurve) -> list[dict[str, Any]]:
    """All features, and none."""
    chance = "majority class" if record.data.classes is not None else "mean of the target"
    whole = f"all {record.data.n_features:,} features"
    levels = [(whole, curve.all_features, "dash"), (chance, curve.chance, "dot")]
    sign = measure(curve.scoring).unit
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "x": [curve.ks[0], curve.ks[-1]],
            "y": _shown(curve, [level, level]),
            "hovertemplate": f"{name}: {score_number(level, curve.scoring)}{sign}<extra></extra>",
            "line": {"color": "@strong", "width": 1.4, "dash": dash},
        }
        for name, level, dash in levels
        if level is not None
    ]
