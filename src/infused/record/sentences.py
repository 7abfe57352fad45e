"""A selection in words: what was asked, and what came out."""

from __future__ import annotations

from infused.record.measures import measure, number, score_text
from infused.record.schema import SelectedFeature, SelectionRecord

__all__ = ["asked", "came_out", "how_many", "shared_groups", "title"]

MOST_NUMBERS = 12  # that a sentence lists

#: Why nothing was selected, by method.
NONE = {
    "": "ask for a number of features, or for less sparsity",
    "stability": "nothing is stable, so halves of these samples do not agree on any feature",
    "knockoffs": "at this false discovery rate, no feature can be told from chance",
}


def title(record: SelectionRecord) -> str:
    """What the page is about, in one line."""
    return f"{len(record.selected):,} of {record.data.n_features:,} features of {record.data.name}"


def asked(record: SelectionRecord) -> str:
    """What was asked, in one sentence."""
    data, wanted = record.data, record.request.k
    if isinstance(wanted, int):
        best = "the best" if wanted == 1 else f"the {wanted:,} best"
    elif isinstance(wanted, float):
        best = f"the best {100 * wanted:g}%"
    elif wanted == "auto":
        best = "as few as predict well"
    else:
        best = "the best, as many as it finds,"
    purpose = (
        f"to predict {data.target}"
        if data.classes is None
        else f"to tell the {len(data.classes):,} classes of {data.target} apart"
    )
    return (
        f"{record.method_name} was asked for {best} of the {data.n_features:,} features of {data.name}, "
        f"measured on {data.n_samples:,} samples, {purpose}."
    )


def came_out(record: SelectionRecord) -> str:
    """What came out, in one sentence."""
    k = len(record.selected)
    if k == 0:
        return f"It selected none: {NONE.get(record.request.method.id, NONE[''])}."
    *others, last = (feature.name for feature in record.selected[:3])
    leaders = f"{', '.join(others)} and {last}" if others else last
    first = f"It selected {'one' if k == 1 else f'{k:,}'}, {'namely' if k <= 3 else 'led by'} {leaders}"
    parts = [first, *_redundancy_clause(record), *_convergence_clause(record)]
    return f"{'; '.join(parts)}."


def how_many(record: SelectionRecord) -> str:
    """How the number of features was chosen, in one or two sentences; empty where it was given."""
    curve = record.number
    if curve is None:
        return ""
    at = dict(zip(curve.ks, zip(curve.means, curve.errors, strict=True), strict=True))
    name, unit = curve.scoring, measure(curve.scoring).unit
    best = f"{score_text(*at[curve.best], name)}{unit}"
    others = [
        f"{'the majority class' if record.data.classes is not None else 'the mean'} alone reaches "
        f"{number(curve.chance, name)}{unit}"
    ]
    if curve.all_features is not None:
        n = record.data.n_features
        others.insert(0, f"all {n:,} features reach {number(curve.all_features, name)}{unit}")
    rule = (
        f"it has the best {measure(name).words}, {best}, and no smaller one comes within one standard error"
        if curve.chosen == curve.best
        else f"the smallest within one standard error of the best {measure(name).words}, {best} with "
        f"{curve.best:,}; it reaches {number(at[curve.chosen][0], name)}{unit}"
    )
    return (
        f"The number of features, {curve.chosen:,}, was chosen by {curve.n_folds}-fold cross-validation "
        f"among {_tried(curve.ks)}: {rule}. For comparison: {', '.join(others)}."
    )


def _tried(ks: tuple[int, ...]) -> str:
    """Numbers as a sentence has them; of many, the first and the last.

    >>> _tried((1, 2, 3)), _tried(tuple(range(1, 31)))
    ('1, 2 and 3', '1, 2, 3, 4, 5, 6, ... and 30 (30 numbers)')
    """
    shown = [f"{k:,}" for k in ks]
    if len(ks) > MOST_NUMBERS:
        return f"{', '.join(shown[:6])}, ... and {shown[-1]} ({len(ks)} numbers)"
    *others, last = shown
    return f"{', '.join(others)} and {last}" if others else last


def _redundancy_clause(record: SelectionRecord) -> list[str]:
    if record.redundancy is None:
        return []
    limit = f"|r| of at least {record.redundancy.threshold:g}"
    shared = shared_groups(record)
    if not shared:
        return [f"no two of them repeat each other ({limit})"]
    repeated = sum(len(features) for features in shared.values())
    groups = "one group" if len(shared) == 1 else f"{len(shared):,} groups"
    return [f"{repeated:,} of them fall into {groups} of near-duplicates ({limit})"]


def _convergence_clause(record: SelectionRecord) -> list[str]:
    found = record.convergence
    if found is None or found.converged is None:
        return []
    return [
        "the solver converged"
        if found.converged
        else "the solver did not converge, so treat the order with care"
    ]


def shared_groups(record: SelectionRecord) -> dict[int, list[SelectedFeature]]:
    """Redundancy groups with more than one feature, the best first."""
    groups: dict[int, list[SelectedFeature]] = {}
    for feature in record.selected:
        if feature.group is not None:
            groups.setdefault(feature.group, []).append(feature)
    return {number: features for number, features in groups.items() if len(features) > 1}
