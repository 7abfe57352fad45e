"""How results are put into words: numbers, captions and notes that every table and page shares."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from infused.bench import paper
from infused.bench.frames import CELL, REFERENCES, failed_cells
from infused.bench.table_formats import DASH
from infused.bench.versions import older
from infused.record.measures import error_text, measure, number, score_text, shown, signed, unit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pandas import DataFrame

__all__ = [
    "CHOICES",
    "ERRORS",
    "LEAKY",
    "OPTIMISM",
    "error_text",
    "failure_notes",
    "fold_note",
    "in_order",
    "measure",
    "number",
    "p_text",
    "protocol_words",
    "score_text",
    "shown",
    "signed",
    "unit",
    "variant_note",
    "version_notes",
]

LEAKY = (
    "LEAKY PROTOCOL: features were selected on all samples, those of the test folds included, so these "
    "figures are too high; they serve only to compare with published tables."
)
OPTIMISM = "The best over k is chosen on the very folds that it is reported for, so it is optimistic"
CHOICES = (
    "Each k, and which method is the best, were chosen on the very folds that they are reported for, so the "
    "figures are optimistic and p is rather too small."
)
ERRORS = "Standard errors are corrected for overlapping training parts (Nadeau and Bengio 2003)."


def p_text(p: float) -> str:
    """A p-value as it is read: two digits, and no zeros that nobody could vouch for.

    >>> p_text(0.03456), p_text(0.00002), p_text(0.6)
    ('0.035', '<0.001', '0.60')
    """
    if isnan(p):
        return DASH
    if p < 0.001:
        return "<0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def protocol_words(protocol: str) -> str:
    """What a caption says of the protocol."""
    if protocol == "leaky":
        return LEAKY
    return "Nested: features, scaling, transform and C were chosen inside the training part of each fold."


def in_order(names: Iterable[str], first: Iterable[str]) -> list[str]:
    """Names in the order of ``first``, then the others by name, random after them, references last."""
    last = ("random", *REFERENCES)
    places = {name: n for n, name in enumerate(first)} | {name: n for n, name in enumerate(last)}
    return sorted(names, key=lambda name: (name in last, places.get(name, len(places)), name))


def fold_note(summary: DataFrame) -> str:
    """On how many folds each data set was measured, and who has fewer."""
    counts = summary.groupby(["dataset", "label"])["n_folds"].max()
    words = []
    for dataset in in_order(counts.index.get_level_values("dataset").unique(), paper.DATASETS):
        mine = counts[dataset]
        fewer = [f"{label} {n}" for label, n in mine.items() if n < mine.max()]
        words.append(f"{dataset} {mine.max()}" + (f" ({', '.join(fewer)})" if fewer else ""))
    return f"Folds, over all repeats: {'; '.join(words)}."


def failure_notes(rows: DataFrame) -> list[str]:
    """What failed: one note that counts and names it, or none."""
    failed = failed_cells(rows)
    if len(failed) == 0:
        return []
    totals = rows.drop_duplicates(CELL).groupby(["dataset", "label"]).size()
    words = []
    for (dataset, label, status), cells in failed.groupby(["dataset", "label", "status"], sort=True):
        reason = next((str(one) for one in cells["reason"] if one), "")
        why = f"{status}: {reason}" if reason else status
        words.append(f"{label} on {dataset}, {len(cells)} of {totals[dataset, label]} folds ({why})")
    what = "1 cell failed and is" if len(failed) == 1 else f"{len(failed)} cells failed and are"
    return [f"† {what} left out: {'; '.join(words)}."]


def variant_note(labels: Iterable[str]) -> str:
    """Who is left out of a table of methods with their defaults."""
    return f"Left out, because they are variants: {', '.join(labels)}."


def version_notes(rows: DataFrame) -> list[str]:
    """Which methods were measured in an earlier version: one note, or none."""
    found = rows[older(rows)]
    if found.empty:
        return []
    labels = in_order(found["label"].unique(), paper.METHODS)
    return [f"Measured with an earlier version, whose figures may differ from today's: {', '.join(labels)}."]
