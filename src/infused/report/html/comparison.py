"""The comparison of selectors on one data set: one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, floor, isnan, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from infused._runtime.messages import count
from infused.bench.plan import ALL_FEATURES
from infused.bench.standings import (
    Standings,
    agreement,
    joint_ranking,
    n_features,
    pareto_front,
    verdict,
    with_unit,
)
from infused.bench.statistics import ALPHA, p_text
from infused.bench.tables import LEAKY, metric_title, standings_table
from infused.record.sentences import Sentence, measure, score_number, shown, unit, warned
from infused.report.figures import ScoreCurve, score_curves
from infused.report.html.charts import (
    TOP,
    Chart,
    Trace,
    axis,
    band,
    dots,
    grid,
    heat,
    label,
    line,
    names_axis,
    rounded,
    row_chart,
)
from infused.report.html.page import PAPER, Pair, Section, render_page
from infused.report.html.selection_charts import level_line

if TYPE_CHECKING:
    from pandas import DataFrame, Series

CITATIONS = (
    PAPER,
    'C. Nadeau, Y. Bengio, "Inference for the Generalization Error", Machine Learning 52, 2003.',
    'S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics '
    "6, 1979.",
    'S. Nogueira, K. Sechidis, G. Brown, "On the Stability of Feature Selection Algorithms", JMLR 18 (174), '
    "2018.",
    'V. Satopää, J. Albrecht, D. Irwin, B. Raghavan, "Finding a Kneedle in a Haystack: Detecting Knee Points '
    'in System Behavior", ICDCS Workshops, 2011.',
)


def render_comparison(
    standings: Standings,
    title: str | None = None,
    *,
    command: str | None = None,
    notes: Sequence[str] = (),
    warnings: Sequence[str] = (),
    names: Sequence[str] = (),
) -> str:
    """Render one HTML page: the best selector, its number of features, and whether differences are real.

    The answer comes first, in two sentences, and says so where the folds show no difference. Like the report
    of a selection, the page opens without a network, and names of methods and data are shown as text. A page
    about leaky results is marked as such.

    Parameters
    ----------
    standings : Standings
        What the folds say about the methods: a comparison's ``standings``.
    title : str, default=None
        The heading; by default it names the data.
    command : str, default=None
        What to type to run it again.
    notes : sequence of str, default=()
        What a reader should know about the data.
    warnings : sequence of str, default=()
        What may make the comparison misleading.
    names : sequence of str, default=()
        Those of all features, to show which of them methods agree on.

    Returns
    -------
    str
        Encode it as UTF-8.

    See Also
    --------
    infused.Comparison.report : The same, also as a file.

    Examples
    --------
    >>> import infused
    >>> found = infused.compare("wine", methods=["anova"], k=[2, 4], folds=3)
    >>> page = infused.report.render_comparison(found.standings, "Wine")
    >>> page.splitlines()[0]
    '<!doctype html>'
    """
    leaky = standings.protocol == "leaky"
    table = standings_table(standings)
    sections = _sections(standings, names)
    return render_page(
        "comparison.html",
        sections=[_marked(section) for section in sections] if leaky else sections,
        first=("methods", "Methods"),
        title=title or f"Feature selectors on {standings.dataset}",
        eyebrow=f"Standings of {standings.methods['label'].nunique()} feature selectors",
        verdict=[
            *[Sentence("Warning", LEAKY, "warning")] * leaky,
            *warned(warnings),
            Sentence("Answer", verdict(standings)),
        ],
        facts=_facts(standings),
        columns=list(table.cells.columns),
        rows=table.cells.to_numpy().tolist(),
        n_best=len(standings.tied),
        n_methods=len(standings.methods),
        notes=[table.caption, *table.notes],
        command=command,
        settings=_settings(standings),
        findings=[note[:1].upper() + note[1:] for note in notes],
        citations=CITATIONS,
    )


def _sections(standings: Standings, names: Sequence[str]) -> list[Section]:
    others = (method_stability_chart(standings), time_chart(standings))
    agreed = agreement_chart(agreement(standings, names)) if names else None
    ranked = joint_ranking(standings, names)["mean_rank"] if names else None
    first = [] if ranked is None or ranked.isna().all() else ranked.index[:MOST_RANKED].astype(str)
    difference = differences_chart(standings)
    return [
        Section("features", "How many features", [scores_chart(standings)]),
        Section("differences", "Significance", [] if difference is None else [difference]),
        Section(
            "agreement",
            "Which features",
            [] if agreed is None else [agreed],
            pairs=(("All methods together rank first", ", ".join(first)),) if len(first) else (),
        ),
        Section("stability", "Stability and time", [chart for chart in others if chart is not None]),
    ]


def _marked(section: Section) -> Section:
    """Mark every chart of a leaky comparison as such."""
    return replace(section, charts=[replace(one, title=f"Leaky: {one.title}") for one in section.charts])


def _facts(standings: Standings) -> list[Pair]:
    """Return the key figures."""
    best, rows = standings.methods.iloc[0], standings.rows
    sizes = rows[["n_train", "n_test"]].dropna().sum(axis=1)
    repeats, folds = rows["repeat"].nunique(), rows["fold"].nunique()
    tied = standings.tied
    pairs = [
        ("Best", str(best["label"]) if len(tied) == 1 else f"{len(tied)} methods tied"),
        (f"Its {measure(standings.metric).words}", with_unit(best, standings.metric)),
        ("Its features", f"{int(best['k']):,} of {n_features(standings):,}"),
        ("Smallest k within 1 SE", f"{int(best['smallest_k']):,}"),
    ]
    for name, mean in zip(standings.references["label"], standings.references["mean"], strict=True):
        if not isnan(mean):
            sign = unit(standings.metric)[1]
            pairs.append((f"{name[0].upper()}{name[1:]}", f"{score_number(mean, standings.metric)}{sign}"))
    if not isnan(best["stability"]):
        pairs.append(("Its stability", f"{best['stability']:.2f}"))
    pairs.append(("Samples", f"{int(sizes.max()):,}"))
    pairs.append(("Folds", f"{folds}" if repeats == 1 else f"{repeats} x {folds}"))
    return pairs


def _settings(standings: Standings) -> list[Pair]:
    """Return what a rerun needs, in words."""
    rows = standings.rows
    packages = {"infused": "infused_version", "scikit-learn": "sklearn_version", "NumPy": "numpy_version"}
    versions = [f"{name} {_values(rows, one)}" for name, one in packages.items() if _values(rows, one)]
    pairs = [
        ("Data", standings.dataset),
        ("Fingerprint", _values(rows, "data")),
        ("Protocol", standings.protocol),
        ("Repeats x folds", f"{rows['repeat'].nunique()} x {rows['fold'].nunique()}"),
        ("Numbers of features", ", ".join(str(k) for k in sorted(standings.curves["k"].unique()))),
        ("Evaluation model", _values(rows, "classifier")),
        ("Metric", standings.metric),
        ("Transforms chosen", _values(rows, "transform")),
        ("Seed", _values(rows, "seed")),
        ("Versions", ", ".join(versions)),
        ("Machine", _values(rows, "machine")),
    ]
    return [(name, value) for name, value in pairs if value]


def _values(rows: Any, column: str) -> str:
    """List the different values of a column, if there is one."""
    return ", ".join(sorted(str(one) for one in rows[column].dropna().unique())) if column in rows else ""


MOST_RANKED = 10  # features of all methods together
COLOURED = 6  # of the methods; the colours of a theme
#: Later lines are drawn over earlier ones, which are seen through their gaps and open marks.
DASHES = ("solid", "8px 4px", "3px 3px", "10px 3px 3px 3px", "5px 5px", "12px 6px")
SYMBOLS = ("circle", "square-open", "diamond-open", "cross-open", "triangle-up-open", "x-open")
MOST_TICKS = 12


def agreement_chart(table: DataFrame) -> Chart | None:
    """Show features by methods: in how many of the folds each method selected each feature."""
    best = table.iloc[:TOP]
    if best.shape[0] == 0 or best.shape[1] < 2:
        return None
    names, methods = [str(name) for name in best.index], [str(name) for name in best.columns]
    trace = heat(
        [[rounded(100 * share, 3) for share in row] for row in best.to_numpy().tolist()],
        "@sequential",
        "selected in %{z:.3g}% of the folds",
        limits=(0, 100),
        crossed=(names, methods),
        **grid((names, methods)),
    )
    whole = f"the first {TOP} of {len(table):,} features" if len(table) > TOP else "all that any selected"
    chart = row_chart(
        "agreement",
        "Which features methods and folds agree on",
        f"The stronger the colour, the more of the folds a method selected the feature in; {whole}, "
        "those on which methods agree most first.",
        names,
        [trace],
        xaxis=names_axis(methods, showgrid=False, automargin=True),
    )
    return replace(chart, height=chart.height + 40)


def scores_chart(standings: Standings) -> Chart:
    """Show the mean score of every method: against the number of features, or for the only one tried."""
    ks = sorted(standings.curves["k"].unique().tolist())
    return _curves(standings, ks) if len(ks) > 1 else _levels(standings, ks[0])


def _curves(standings: Standings, ks: list[int]) -> Chart:
    methods = standings.methods["label"][standings.methods["mean"].notna()].tolist()
    traces: list[Trace] = []
    for place, curve in enumerate(score_curves(standings.curves, standings.metric, methods)):
        traces += _curve(place, curve, unit(standings.metric)[1])
    traces += _front(standings)
    known, beyond = _levels_in_sight(standings, methods)
    for name, mean in zip(known["label"], known["mean"], strict=True):
        dash = "dash" if name.startswith(ALL_FEATURES) else "dot"
        traces.append(level_line(name, mean, standings.metric, (ks[0], ks[-1]), dash))
    few = len(ks) <= MOST_TICKS
    ticks = {"tickmode": "array", "tickvals": ks} if few else {}
    scale = {"type": "log"} if few and ks[-1] >= 10 * ks[0] else {}
    others = f" The best {COLOURED} have colours." if len(methods) > COLOURED else ""
    return Chart(
        "scores",
        f"Mean {measure(standings.metric).words} against the number of features",
        "The band is one standard error to both sides of the best; point at another for its own."
        f"{others} Rings: the Pareto front, which no method beats with as few features, and its knee."
        f"{' Level lines: what is reached without selecting.' if len(known) else ''}"
        f"{beyond} Click a name to hide it.",
        460,
        traces,
        {
            "xaxis": axis("Number of features", **ticks, **scale),
            "yaxis": axis(metric_title(standings.metric)),
            "showlegend": True,
        },
        wide=True,
    )


def _levels_in_sight(standings: Standings, methods: Sequence[str]) -> tuple[Any, str]:
    """Return the references that the axis of the curves can hold, and words on those far from all curves.

    A baseline far below would squeeze all curves into one line: it is given in words instead.
    """
    there = standings.curves[standings.curves["label"].isin(methods)]
    low, high = (float(there["mean"].agg(end)) for end in ("min", "max"))
    known = standings.references[standings.references["mean"].notna()]
    far = (known["mean"] < low - (high - low)) | (known["mean"] > high + (high - low))
    sign = unit(standings.metric)[1]
    beyond = "".join(
        f" Beyond the axis: {one['label']}, {score_number(one['mean'], standings.metric)}{sign}."
        for one in known[far].to_dict("records")
    )
    return known[~far], beyond


def _curve(place: int, curve: ScoreCurve, sign: str) -> list[Trace]:
    """Draw the line of a method; behind that of the best a band, for several bands would hide the lines."""
    name = label(curve.label)
    coloured = place < COLOURED and curve.label != "random"
    said = "%{customdata[0]}<br>%{x} features: %{y:.4g} ± %{customdata[1]}" + sign
    drawn = line(
        curve.ks,
        curve.means,
        f"@series{place}" if coloured else "@quiet",
        width=2.4 if place == 0 else 1.8 if coloured else 1.2,
        dash="dot" if curve.label == "random" else DASHES[place % len(DASHES)],
        marker={"size": 7, "symbol": SYMBOLS[place % len(SYMBOLS)]} if coloured else None,
        name=name,
        legendgroup=name,
        customdata=[[name, f"{error:.2g}"] for error in curve.errors],
        said=said,
    )
    if place > 0:
        return [drawn]
    return [band(curve.ks, curve.means - curve.errors, curve.means + curve.errors, legendgroup=name), drawn]


def _front(standings: Standings) -> list[Trace]:
    """Draw rings at the Pareto front of score and number of features, the larger one at its knee."""
    front = pareto_front(standings)
    ring = {"symbol": "circle-open", "color": "@mark", "size": [18 if knee else 12 for knee in front["knee"]]}
    traces = line(
        front["k"].tolist(),
        shown(1.0, standings.metric) * front["mean"],
        "@mark",
        marker={**ring, "line": {"width": 2, "color": "@mark"}},
        name="Pareto front",
    )
    return [{**traces, "mode": "markers"}] if len(front) else []


def _levels(standings: Standings, k: int) -> Chart:
    there = standings.everyone
    there = there[there["mean"].notna()]
    names, sign = [str(name) for name in there["label"]], unit(standings.metric)[1]
    mean = shown(1.0, standings.metric) * there["mean"]
    error = abs(shown(1.0, standings.metric)) * there["error"].fillna(0.0)
    said = [
        f"{label(name)}<br>{score_number(one, standings.metric)}{sign}"
        for name, one in zip(names, there["mean"], strict=True)
    ]
    return _method_chart(
        "scores",
        f"Mean {measure(standings.metric).words} with {count(k, 'feature')}",
        "With one standard error to both sides. Mind where the axis starts.",
        names,
        [dots(mean, mean - error, mean + error, said)],
        axis(metric_title(standings.metric)),
    )


def _method_chart(
    id: str, title: str, caption: str, names: list[str], data: list[Trace], xaxis: Any, **more: Any
) -> Chart:
    """Make a chart with a row for each method."""
    return row_chart(id, title, caption, names, data, xaxis=xaxis, yaxis={"showgrid": True}, **more)


def differences_chart(standings: Standings) -> Chart | None:
    """Show how far every method lies behind the best on the same folds, with simultaneous intervals."""
    tested = standings.methods[standings.methods["p_holm"].notna()]
    if len(tested) == 0:
        return None
    factor, sign = unit(standings.metric)
    names = [str(name) for name in tested["label"]]
    worse = (tested["p_holm"] < ALPHA).to_numpy()
    traces = []
    for rows, colour, words in (
        (np.flatnonzero(worse), "@accent", f"Significantly worse (p < {ALPHA:g}, Holm)"),
        (np.flatnonzero(~worse), "@mark", "Not significantly worse"),
    ):
        part = tested.iloc[rows]
        said = [
            f"{label(str(one['label']))}<br>difference {factor * one['difference']:.3g}, "
            f"p {label(p_text(one['p_holm']))}"
            for one in part.to_dict("records")
        ]
        middle, low, high = (factor * part[name] for name in ("difference", "low", "high"))
        low, high = (low, high) if factor > 0 else (high, low)
        if len(rows):
            traces.append(dots(middle, low, high, said, colour, rows.tolist(), name=label(words)))
    points = " (points)" if sign else ""
    chart = _method_chart(
        "differences",
        f"Difference from {standings.methods['label'].iloc[0]}, fold by fold",
        "Each method with its best k, on the same folds. Simultaneous 95% confidence intervals; one that "
        "crosses zero shows no significant difference. They allow for folds that share samples.",
        names,
        traces,
        axis(f"Difference in {measure(standings.metric).words}{points}", zeroline=True),
        showlegend=True,
    )
    return replace(chart, height=chart.height + 30)


def method_stability_chart(standings: Standings) -> Chart | None:
    """Show how alike the features of different folds are, with intervals."""
    known = standings.methods[standings.methods["stability"].notna()]
    if len(known) == 0:
        return None
    said = [
        f"{label(str(one['label']))}, k = {one['k']:.0f}<br>stability {one['stability']:.2f}"
        for one in known.to_dict("records")
    ]
    chart = _method_chart(
        "stability",
        "Stability of the selected features",
        "1: every fold selects the same. 0: no more alike than at random. With 95% intervals, "
        "which are too narrow, because folds share samples.",
        [str(name) for name in known["label"]],
        [dots(known["stability"], known["stability_low"], known["stability_high"], said)],
        axis("Stability"),
    )
    return replace(chart, wide=False)


def time_chart(standings: Standings) -> Chart | None:
    """Show seconds to select on one fold, on a logarithmic scale."""
    timed = standings.methods[standings.methods["select_seconds"] > 0]
    if len(timed) == 0:
        return None
    names, seconds = [str(name) for name in timed["label"]], timed["select_seconds"]
    said = [f"{label(name)}<br>{one:.2g} s" for name, one in zip(names, seconds, strict=True)]
    chart = _method_chart(
        "time",
        "Time to select",
        "Mean CPU seconds on one fold, for all k together. Mind the logarithmic scale.",
        names,
        [dots(seconds, seconds, seconds, said)],
        axis("Seconds", type="log", **_second_ticks(seconds)),
    )
    return replace(chart, wide=False)


def _second_ticks(seconds: Series) -> dict[str, Any]:
    """Place ticks at 1, 2, 5, 10, ... where these are few enough to be read, else at powers of ten."""
    low, high = float(seconds.min()) / 1.5, float(seconds.max()) * 1.5
    powers = [10.0**n for n in range(floor(log10(low)), ceil(log10(high)) + 1)]
    steps = (1, 2, 5) if len(powers) <= 4 else (1,)
    ticks = [step * power for power in powers for step in steps if low <= step * power <= high]
    return {"tickmode": "array", "tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}
