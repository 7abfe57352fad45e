"""The comparison of selectors on one data set: one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, floor, isnan, log10
from typing import TYPE_CHECKING, Any

from infused.bench.plan import ALL_FEATURES
from infused.bench.ranks import ALPHA
from infused.bench.standings import Standings, agreement, n_features, verdict, with_unit
from infused.bench.table_formats import LEAKY, p_text
from infused.bench.tables import metric_title, standings_table
from infused.record.sentences import measure, score_number, shown, unit
from infused.report.html.charts import (
    TOP,
    Chart,
    crossed,
    label,
    names_axis,
    rounded,
    rows_axis,
    rows_height,
)
from infused.report.html.page import PAPER, Pair, Section, render_page

if TYPE_CHECKING:
    from pandas import DataFrame, Series

CITATIONS = (
    PAPER,
    'C. Nadeau, Y. Bengio, "Inference for the Generalization Error", Machine Learning 52, 2003.',
    'S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics '
    "6, 1979.",
    'S. Nogueira, K. Sechidis, G. Brown, "On the Stability of Feature Selection Algorithms", JMLR 18 (174), '
    "2018.",
)


def render_comparison(
    standings: Standings,
    title: str | None = None,
    *,
    command: str | None = None,
    notes: Sequence[str] = (),
    names: Sequence[str] = (),
) -> str:
    """One HTML page on which selector is best, with how many features, and whether the difference is real.

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
        title=title or f"Feature selectors on {standings.dataset}",
        eyebrow=f"Standings of {standings.methods['label'].nunique()} feature selectors",
        lead=verdict(standings),
        warning=LEAKY if leaky else "",
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
    others = (stability_chart(standings), time_chart(standings))
    agreed = agreement_chart(agreement(standings, names)) if names else None
    difference = differences_chart(standings)
    return [
        Section("features", "How many features", [scores_chart(standings)]),
        Section("differences", "Is it real?", [] if difference is None else [difference]),
        Section("agreement", "Which features", [] if agreed is None else [agreed]),
        Section("stability", "Stability and time", [chart for chart in others if chart is not None]),
    ]


def _marked(section: Section) -> Section:
    """Every chart of a leaky comparison says so."""
    return replace(section, charts=[replace(one, title=f"Leaky: {one.title}") for one in section.charts])


def _facts(standings: Standings) -> list[Pair]:
    """The key figures."""
    best, rows = standings.methods.iloc[0], standings.rows
    sizes = rows[["n_train", "n_test"]].dropna().sum(axis=1)
    repeats, folds = rows["repeat"].nunique(), rows["fold"].nunique()
    tied = standings.tied
    pairs = [
        ("Best", str(best["label"]) if len(tied) == 1 else f"{len(tied)} methods tied"),
        (f"Its {measure(standings.metric).words}", with_unit(best, standings.metric)),
        ("Its features", f"{int(best['k']):,} of {n_features(standings):,}"),
        ("Enough", f"{int(best['smallest_k']):,}"),
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
    """What a rerun needs, in words."""
    rows = standings.rows
    packages = {"infused": "infused_version", "scikit-learn": "sklearn_version", "NumPy": "numpy_version"}
    versions = [f"{name} {_values(rows, one)}" for name, one in packages.items() if _values(rows, one)]
    pairs = [
        ("Data", standings.dataset),
        ("Fingerprint", _values(rows, "data")),
        ("Protocol", standings.protocol),
        ("Repeats x folds", f"{rows['repeat'].nunique()} x {rows['fold'].nunique()}"),
        ("Numbers of features", ", ".join(str(k) for k in sorted(standings.curves["k"].unique()))),
        ("Judged by", _values(rows, "classifier")),
        ("Scored by", standings.metric),
        ("Transforms chosen", _values(rows, "transform")),
        ("Seed", _values(rows, "seed")),
        ("Versions", ", ".join(versions)),
        ("Machine", _values(rows, "machine")),
    ]
    return [(name, value) for name, value in pairs if value]


def _values(rows: Any, column: str) -> str:
    """The different values of a column, if there is one."""
    return ", ".join(sorted(str(one) for one in rows[column].dropna().unique())) if column in rows else ""


COLOURED = 6  # of the methods; the colours of a theme
#: Later lines are drawn over earlier ones, which are seen through their gaps and open marks.
DASHES = ("solid", "8px 4px", "3px 3px", "10px 3px 3px 3px", "5px 5px", "12px 6px")
SYMBOLS = ("circle", "square-open", "diamond-open", "cross-open", "triangle-up-open", "x-open")
MOST_TICKS = 12


def agreement_chart(table: DataFrame) -> Chart | None:
    """Features by methods: in how many of the folds each method selected each feature."""
    best = table.iloc[:TOP]
    if best.shape[0] == 0 or best.shape[1] < 2:
        return None
    names, methods = [str(name) for name in best.index], [str(name) for name in best.columns]
    trace = {
        "type": "heatmap",
        "z": [[rounded(100 * share, 3) for share in row] for row in best.to_numpy().tolist()],
        "x": list(range(len(methods))),
        "y": list(range(len(names))),
        "zmin": 0,
        "zmax": 100,
        "colorscale": "@sequential",
        "crossed": crossed(names, methods),
        "hovertemplate": "%{customdata}<br>selected in %{z:.3g}% of the folds<extra></extra>",
        "xgap": 1,
        "ygap": 1,
    }
    whole = f"the first {TOP} of {len(table):,} features" if len(table) > TOP else "all that any selected"
    return Chart(
        id="agreement",
        title="Which features methods and folds agree on",
        caption=f"The stronger the colour, the more of the folds a method selected the feature in; {whole}, "
        "those on which methods agree most first.",
        height=rows_height(len(names)) + 40,
        data=[trace],
        layout={
            "xaxis": names_axis(methods, showgrid=False, automargin=True),
            "yaxis": rows_axis(names),
        },
        wide=True,
    )


def scores_chart(standings: Standings) -> Chart:
    """The mean score of every method: against the number of features, or for the only one that was tried."""
    ks = sorted(standings.curves["k"].unique().tolist())
    return _curves(standings, ks) if len(ks) > 1 else _levels(standings, ks[0])


def _curves(standings: Standings, ks: list[int]) -> Chart:
    factor, sign = unit(standings.metric)
    methods = standings.methods["label"][standings.methods["mean"].notna()]
    traces: list[dict[str, Any]] = []
    for place, name in enumerate(methods):
        curve = standings.curves[standings.curves["label"] == name]
        traces += _curve(str(name), place, curve, factor, sign)
    traces += _reference_lines(standings, ks)
    few = len(ks) <= MOST_TICKS
    ticks = {"tickmode": "array", "tickvals": ks} if few else {}
    scale = {"type": "log"} if few and ks[-1] >= 10 * ks[0] else {}
    others = f" The best {COLOURED} have colours." if len(methods) > COLOURED else ""
    return Chart(
        id="scores",
        title=f"Mean {measure(standings.metric).words} against the number of features",
        caption="The band is one standard error to both sides of the best; point at another for its own."
        f"{others} Level lines: what comes without selecting. Click a name to hide it.",
        height=460,
        data=traces,
        layout={
            "xaxis": {"title": {"text": "Number of features"}, **ticks, **scale},
            "yaxis": {"title": {"text": metric_title(standings.metric)}},
            "showlegend": True,
        },
        wide=True,
    )


def _curve(name: str, place: int, curve: DataFrame, factor: float, sign: str) -> list[dict[str, Any]]:
    """The line of a method; behind that of the best a band, for several bands would hide the lines."""
    coloured = place < COLOURED and name != "random"
    colour = f"@series{place}" if coloured else "@quiet"
    dash = "dot" if name == "random" else DASHES[place % len(DASHES)]
    ks, means = curve["k"].tolist(), factor * curve["mean"]
    errors = (abs(factor) * curve["error"]).fillna(0.0)
    line = {
        "type": "scatter",
        "mode": "lines+markers" if coloured else "lines",
        "name": label(name),
        "legendgroup": label(name),
        "x": ks,
        "y": [rounded(one) for one in means],
        "customdata": [[label(name), f"{one:.2g}"] for one in errors],
        "hovertemplate": "%{customdata[0]}<br>%{x} features: %{y:.4g} ± %{customdata[1]}"
        f"{sign}<extra></extra>",
        "line": {
            "color": colour,
            "width": 2.4 if place == 0 else 1.8 if coloured else 1.2,
            "dash": dash,
        },
        "marker": {"color": colour, "size": 7, "symbol": SYMBOLS[place % len(SYMBOLS)]},
    }
    if place > 0:
        return [line]
    high, low = ([rounded(one) for one in edge] for edge in (means + errors, means - errors))
    band = {
        "type": "scatter",
        "mode": "lines",
        "legendgroup": label(name),
        "showlegend": False,
        "hoverinfo": "skip",
        "x": [*ks, *reversed(ks)],
        "y": [*high, *reversed(low)],
        "fill": "toself",
        "fillcolor": "@wash0",
        "line": {"width": 0, "color": "@wash0"},
    }
    return [band, line]


def _reference_lines(standings: Standings, ks: list[int]) -> list[dict[str, Any]]:
    """What all features reach, and what comes without any, at every number of features alike."""
    found = standings.references[standings.references["mean"].notna()]
    sign, lines = unit(standings.metric)[1], []
    for name, mean in zip(found["label"], found["mean"], strict=True):
        whole = name.startswith(ALL_FEATURES)
        lines.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": label(name),
                "x": [ks[0], ks[-1]],
                "y": [rounded(shown(mean, standings.metric))] * 2,
                "hovertemplate": f"{label(name)}: {score_number(mean, standings.metric)}{sign}"
                "<extra></extra>",
                "line": {"color": "@strong", "width": 1.4, "dash": "dash" if whole else "dot"},
            }
        )
    return lines


def _levels(standings: Standings, k: int) -> Chart:
    factor, sign = unit(standings.metric)
    there = standings.everyone
    there = there[there["mean"].notna()]
    names = [str(name) for name in there["label"]]
    mean, error = factor * there["mean"], (abs(factor) * there["error"]).fillna(0.0)
    said = [
        f"{label(name)}<br>{score_number(one, standings.metric)}{sign}"
        for name, one in zip(names, there["mean"], strict=True)
    ]
    return Chart(
        id="scores",
        title=f"Mean {measure(standings.metric).words} with {k:,} {'feature' if k == 1 else 'features'}",
        caption="With one standard error to both sides. Mind where the axis starts.",
        height=rows_height(len(names)),
        data=[_dots(mean, mean - error, mean + error, said)],
        layout=_by_method(names, metric_title(standings.metric)),
        wide=True,
    )


def _by_method(names: list[str], title: str, **axis: Any) -> dict[str, Any]:
    """The layout of a chart with a row for each method."""
    return {"xaxis": {"title": {"text": title}, **axis}, "yaxis": {**rows_axis(names), "showgrid": True}}


def _dots(
    middle: Series,
    low: Series,
    high: Series,
    said: list[str],
    rows: list[int] | None = None,
    colour: str = "@accent",
) -> dict[str, Any]:
    """A dot and an interval in each row, and what it says when it is pointed at."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [rounded(one) for one in middle],
        "y": list(range(len(middle))) if rows is None else rows,
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [rounded(one) for one in high - middle],
            "arrayminus": [rounded(one) for one in middle - low],
            "color": colour,
            "thickness": 1.6,
            "width": 4,
        },
        "customdata": said,
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {"color": colour, "size": 8},
    }


def differences_chart(standings: Standings) -> Chart | None:
    """How far every method lies behind the best on the same folds, with intervals that hold together."""
    tested = standings.methods[standings.methods["p_holm"].notna()]
    if len(tested) == 0:
        return None
    factor, sign = unit(standings.metric)
    names = [str(name) for name in tested["label"]]
    worse = (tested["p_holm"] < ALPHA).tolist()
    kinds = (
        (True, "@accent", f"Worse (p < {ALPHA:g} after Holm)"),
        (False, "@mark", "Not told apart by these folds"),
    )
    traces = []
    for kind, colour, words in kinds:
        rows = [n for n, one in enumerate(worse) if one == kind]
        part = tested.iloc[rows]
        said = [
            f"{label(str(one['label']))}<br>difference {factor * one['difference']:.3g}, "
            f"p {label(p_text(one['p_holm']))}"
            for one in part.to_dict("records")
        ]
        middle, low, high = (factor * part[name] for name in ("difference", "low", "high"))
        low, high = (low, high) if factor > 0 else (high, low)
        if rows:
            traces.append({**_dots(middle, low, high, said, rows, colour), "name": label(words)})
    points = " (points)" if sign else ""
    return Chart(
        id="differences",
        title=f"Difference from {standings.methods['label'].iloc[0]}, fold by fold",
        caption="Each method with its best k, on the same folds. The intervals hold together with 95% "
        "confidence; one that crosses zero shows no difference. Folds share samples, which they allow for.",
        height=rows_height(len(names)) + 30,
        data=traces,
        layout={
            **_by_method(names, f"Difference in {measure(standings.metric).words}{points}", zeroline=True),
            "showlegend": True,
        },
        wide=True,
    )


def stability_chart(standings: Standings) -> Chart | None:
    """How alike the folds' features are, with intervals."""
    known = standings.methods[standings.methods["stability"].notna()]
    if len(known) == 0:
        return None
    names = [str(name) for name in known["label"]]
    said = [
        f"{label(str(one['label']))}, k = {one['k']:.0f}<br>stability {one['stability']:.2f}"
        for one in known.to_dict("records")
    ]
    return Chart(
        id="stability",
        title="Stability of the selected features",
        caption="1: every fold selects the same. 0: no more alike than at random. With 95% intervals, "
        "which are too narrow, because folds share samples.",
        height=rows_height(len(names)),
        data=[_dots(known["stability"], known["stability_low"], known["stability_high"], said)],
        layout=_by_method(names, "Stability"),
    )


def time_chart(standings: Standings) -> Chart | None:
    """Seconds to select on one fold, on a logarithmic scale."""
    timed = standings.methods[standings.methods["select_seconds"] > 0]
    if len(timed) == 0:
        return None
    names, seconds = [str(name) for name in timed["label"]], timed["select_seconds"]
    said = [f"{label(name)}<br>{one:.2g} s" for name, one in zip(names, seconds, strict=True)]
    return Chart(
        id="time",
        title="Time to select",
        caption="Mean CPU seconds on one fold, for all k together. Mind the logarithmic scale.",
        height=rows_height(len(names)),
        data=[_dots(seconds, seconds, seconds, said)],
        layout=_by_method(names, "Seconds", type="log", **_second_ticks(seconds)),
    )


def _second_ticks(seconds: Series) -> dict[str, Any]:
    """1, 2, 5, 10, ... where these are few enough to be read, else powers of ten alone."""
    low, high = float(seconds.min()) / 1.5, float(seconds.max()) * 1.5
    powers = [10.0**n for n in range(floor(log10(low)), ceil(log10(high)) + 1)]
    steps = (1, 2, 5) if len(powers) <= 4 else (1,)
    ticks = [step * power for power in powers for step in steps if low <= step * power <= high]
    return {"tickmode": "array", "tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}
