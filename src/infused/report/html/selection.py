"""The report of a selection: one HTML page that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from infused.record.schema import SelectedFeature, SelectionRecord
from infused.record.sentences import (
    COLUMNS,
    OTHER_CELLS,
    chance_words,
    column_meanings,
    measure,
    score_curve,
    score_number,
    score_text,
    shared_groups,
    title,
    verdict,
)
from infused.report.html.charts import Chart, rounded, shortened
from infused.report.html.feature_charts import (
    FEW_CLASSES,
    class_pictures_chart,
    distribution_charts,
    heat_chart,
    network_chart,
    picture_chart,
    relation_charts,
)
from infused.report.html.page import PAPER, Pair, Section, embedded, render_page
from infused.report.html.selection_charts import (
    block_chart,
    coefficient_chart,
    convergence_chart,
    cost_chart,
    effect_chart,
    explained_chart,
    number_chart,
    rank_chart,
    stability_chart,
    stand_in_pairs,
    tried_chart,
    tried_pairs,
)

#: The table holds this many features, the best ones; selection.json holds all.
MOST_ROWS = 10_000

NAME_LENGTHS = (160, 80, 40, 20)  # in the table: the first with which all names take less than
BYTES_OF_NAMES = 700_000  # this much, so that a page with 10,000 of them stays under 3 MB
MOST_CLASSES = 12
MOST_MEMBERS = 8


def render_report(record: SelectionRecord) -> str:
    """Render one HTML page about a selection, which opens without a network.

    Names of features and classes are data. The templates escape them, in the embedded JSON no character can
    end the script element, the script writes them by ``textContent``, and labels of charts are escaped for
    plotly. The page's Content-Security-Policy lets only those scripts run whose hashes it lists, and forbids
    every connection.

    Parameters
    ----------
    record : SelectionRecord
        What was asked, of which data, and what came out: a selection's ``record``.

    Returns
    -------
    str
        Encode it as UTF-8.

    See Also
    --------
    infused.Selection.report : The same, also as a file.

    Examples
    --------
    >>> import infused
    >>> page = infused.report.render_report(infused.select("wine", k=3, method="anova").record)
    >>> page.splitlines()[0]
    '<!doctype html>'
    """
    beyond = f"The table holds the best {MOST_ROWS:,} features; selection.json holds all."
    return render_page(
        "selection.html",
        sections=_sections(record),
        scripts=("table.js",),
        payload=_table(record),
        title=title(record),
        eyebrow=f"Feature selection with {record.method_name}",
        verdict=verdict(record),
        facts=_facts(record),
        findings=[note[:1].upper() + note[1:] for note in record.data.notes],
        notes=[meanings(record), *[beyond] * (record.data.n_features > MOST_ROWS)],
        settings=_settings(record),
        citations=citations(record),
    )


def _sections(record: SelectionRecord) -> list[Section]:
    scores = _there(explained_chart(record), coefficient_chart(record))
    groups = tuple(
        (f"Group {number}", _listed([feature.name for feature in features], MOST_MEMBERS))
        for number, features in shared_groups(record).items()
    )
    return [
        Section("stability", "Selection stability", _there(stability_chart(record))),
        Section("tried", "Methods that were tried", _there(tried_chart(record)), pairs=tried_pairs(record)),
        Section("blocks", "Blocks", _there(block_chart(record))),
        Section("effects", "Effects and intervals", _there(effect_chart(record))),
        Section("number", "How many features", _there(number_chart(record))),
        Section("cost", "Score against cost", _there(cost_chart(record))),
        Section("scores", "What they explain", scores),
        Section("picture", "Picture", _there(picture_chart(record), class_pictures_chart(record))),
        Section(
            "redundancy",
            "Redundancy",
            _there(heat_chart(record), network_chart(record)),
            pairs=(*groups, *stand_in_pairs(record)),
        ),
        _relations(record),
        _distributions(record),
        Section(
            "technical",
            "Technical details",
            _there(rank_chart(record), convergence_chart(record)),
            pairs=tuple(_solver(record)),
            folded=True,
        ),
    ]


def _there(*charts: Chart | None) -> list[Chart]:
    return [chart for chart in charts if chart is not None]


def _relations(record: SelectionRecord) -> Section:
    classes = [one.name for one in record.data.classes or ()]
    what = "Percent of each class" if classes else f"Mean of {record.data.target}"
    note = f"{what} along each feature, near each of its values."
    if any(one.relevance is not None for one in record.relations):
        note += (
            " Relevance is how much the graph of a feature has of the target's, redundancy how much of "
            "another feature's: inner products, from 0 to 1."
        )
    legend = tuple(classes) if len(classes) <= FEW_CLASSES else ()
    return Section("relation", "Shape of the relation", relation_charts(record), note, legend, small=True)


def _distributions(record: SelectionRecord) -> Section:
    classes = record.data.classes
    legend: tuple[str, ...] = ()
    heading = "Best features by class"
    if record.survival:
        heading = "Survival by the best features"
        note = (
            f"Share of samples without an event over time ({record.data.target}, by Kaplan and Meier), in "
            "thirds of the values or by level; beside each its events and samples."
        )
    elif classes is None:
        heading = "Best features against the target"
        note = f"Each dot is a sample: the feature from left to right, {record.data.target} upwards."
    elif len(classes) > FEW_CLASSES:
        note = "One row for each class: the stronger the colour, the more of its samples have this value."
    else:
        note = f"Percent of the samples of each class of {record.data.target}, by the value of the feature."
        legend = tuple(one.name for one in classes)
    if record.transform != "none":
        note += f" Numbers are shown after {record.transform}."
    return Section("distributions", heading, distribution_charts(record), note, legend, small=True)


def _table(record: SelectionRecord) -> dict[str, Any]:
    """Return what the table shows, by rank: the selected with all their columns, then the others."""
    order = np.argsort(record.features.ranks)[:MOST_ROWS]
    shown, shared = record.selected[:MOST_ROWS], shared_groups(record)
    return {
        "names": _names_that_fit([record.features.names[n] for n in order]),
        "scores": [rounded(record.features.scores[n]) for n in order],
        "selected": len(shown),
        "titles": COLUMNS,
        "distributions": len(distribution_charts(record)),
        "directions": [feature.direction for feature in shown],
        "groups": [feature.group if feature.group in shared else None for feature in shown],
        "alone": [rounded(feature.alone, 4) for feature in shown],
        "unique": [rounded(feature.unique, 4) for feature in shown],
        "frequency": [_frequency(record, feature.index) for feature in shown],
        "others": _other_columns(record, shown),
        "coefficients": [[rounded(b, 4) for b in feature.coefficients or ()] for feature in shown],
        "coefficientNames": list(record.coefficient_names),
    }


def _other_columns(record: SelectionRecord, shown: Sequence[SelectedFeature]) -> list[dict[str, Any]]:
    """Return the columns that few selections have: what they are sorted by, and what they say."""
    values: dict[str, Callable[[SelectedFeature], Any]] = {
        "block": lambda one: one.block,
        "effect": lambda one: one.effect and rounded(one.effect.effect, 4),
        "p_value": lambda one: one.effect and rounded(one.effect.p_value, 4),
        "hazard": lambda one: one.hazard and rounded(one.hazard.ratio, 4),
        "cost": lambda one: one.cost,
    }
    return [
        {
            "key": key,
            "values": [values[key](one) for one in shown],
            "texts": [OTHER_CELLS[key](one) for one in shown],
            "high": key in ("effect", "hazard"),
        }
        for key in column_meanings(record)
        if key in values
    ]


def _frequency(record: SelectionRecord, feature: int) -> float | None:
    return None if record.stability is None else rounded(record.stability.frequencies[feature], 4)


def meanings(record: SelectionRecord) -> str:
    """Say in one paragraph what the columns of the table mean."""
    return " ".join(f"{COLUMNS[key]}: {words}." for key, words in column_meanings(record).items())


def _names_that_fit(names: list[str]) -> list[str]:
    """Cut the middle of names, where they are many and long."""
    for longest in NAME_LENGTHS:
        names = [shortened(name, longest) for name in names]
        if len(embedded(names).encode()) <= BYTES_OF_NAMES:
            break
    return names


def _facts(record: SelectionRecord) -> list[Pair]:
    """Return the key figures."""
    data = record.data
    pairs = [
        ("Selected", f"{len(record.selected):,} of {data.n_features:,}"),
        *_reached(record),
        ("Samples", f"{data.n_samples:,}"),
    ]
    if data.classes is not None:
        pairs.append(("Classes", f"{len(data.classes):,}"))
    if data.events is not None:
        pairs.append(("Events", f"{data.events:,}"))
    if record.budget is not None:
        pairs.append(("Cost", f"{record.budget.total:g} of {record.budget.limit:g}"))
    if record.stability is not None:
        pairs.append(("Stable features", f"{record.stability.n_stable:,}"))
        if record.stability.n_stable:
            pairs.append(("Expected false selections", f"≤ {record.stability.expected_false:.2g}"))
    if record.shadows is not None:
        pairs.append(
            ("Behind permuted features", f"{record.shadows.n_beaten:,} of {record.shadows.n_compared:,}")
        )
    if record.redundancy is not None:
        pairs.append(("Redundancy groups", f"{len(shared_groups(record)):,}"))
    return pairs


def _solver(record: SelectionRecord) -> list[Pair]:
    """Return how the solver ended."""
    found = record.convergence
    pairs = []
    if found is not None and found.converged is not None:
        pairs.append(("Solver", "converged" if found.converged else "not converged"))
    if found is not None and found.iterations is not None:
        pairs.append(("Iterations", f"{found.iterations:,}"))
    if found is not None and found.certificate is not None:
        pairs.append(("Largest violation of the optimality conditions", f"{found.certificate:.1e} of λ1"))
    return pairs


def _reached(record: SelectionRecord) -> list[Pair]:
    """Return what the selected features reach, beside all of them and none, where it was measured."""
    curve = score_curve(record)
    if curve is None:
        return []
    name, sign = curve.scoring, measure(curve.scoring).unit
    at = curve.ks.index(curve.chosen)
    words = measure(name).words
    chance = chance_words(record).capitalize()
    pairs = [(f"{words[0].upper()}{words[1:]}", score_text(curve.means[at], curve.errors[at], name))]
    if curve.all_features is not None:
        pairs.append(("With all features", score_number(curve.all_features, name)))
    pairs.append((chance, score_number(curve.chance, name)))
    return [(title, f"{text}{sign}") for title, text in pairs]


def _settings(record: SelectionRecord) -> list[Pair]:
    """Return what a rerun needs, in words."""
    request, data, versions = record.request, record.data, record.versions
    classes = [f"{one.name} ({one.count:,})" for one in data.classes or ()]
    reading = {name: value for name, value in request.reading.given().items() if name != "target"}
    chosen = " (auto)" if request.transform == "auto" else ""
    curve = score_curve(record)
    pairs = [
        ("Data", request.source or "given in Python"),
        ("Reading", _options(reading)),
        ("Target", data.target),
        ("Classes (samples)", _listed(classes, MOST_CLASSES)),
        ("Fingerprint", data.fingerprint),
        ("Method", request.method.id),
        ("Parameters", _options(request.method.parameters)),
        ("Features asked for", "chosen by the method" if request.k is None else str(request.k)),
        ("Half-samples", f"{request.stability} pairs" if request.stability else ""),
        ("Metric", "" if curve is None else curve.scoring),
        ("Transform", f"{record.transform}{chosen}"),
        ("Seed", str(request.seed)),
        ("Time", ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in record.timings.items())),
        (
            "Versions",
            f"infused {versions.infused}, NumPy {versions.numpy}, scikit-learn {versions.scikit_learn}, "
            f"Python {versions.python}",
        ),
        ("Made", record.created),
    ]
    return [(name, value) for name, value in pairs if value]


def citations(record: SelectionRecord) -> list[str]:
    """Return the paper, and the method's own reference where it is another."""
    own = record.reference
    return [PAPER] if own is None or own == PAPER else [own, PAPER]


def _options(options: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} = {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in options.items()
        if value is not None
    )


def _listed(names: list[str], most: int) -> str:
    beyond = len(names) - most
    return ", ".join(names[:most]) + (f" and {beyond:,} more" if beyond > 0 else "")
