"""A table that says what it shows, as Markdown, CSV and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from math import isnan
from typing import TYPE_CHECKING

from infused._runtime.files import guarded
from infused._runtime.messages import check_choice
from infused.bench import paper
from infused.bench.plan import REFERENCES
from infused.bench.rows import CELL, failed_cells, older

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pandas import DataFrame

FORMATS = ("markdown", "csv", "latex")

#: What stands where there is nothing.
DASH = "\N{EN DASH}"

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "²": r"$^2$",
    "†": r"$^\dagger$",
    "‡": r"$^\ddagger$",
    DASH: "--",
}


@dataclass(frozen=True)
class ResultTable:
    """What people read, and the numbers behind it."""

    caption: str
    cells: DataFrame
    """Texts; the first column names the row."""
    data: DataFrame
    """Numbers, one line for each thing that was measured: what CSV holds."""
    notes: tuple[str, ...] = ()
    strong: frozenset[tuple[int, str]] = field(default_factory=frozenset)
    """Cells to stress, by row and column."""
    left: int = 1
    """The first so many columns hold words, the others numbers."""

    def to(self, format: str) -> str:
        """Write the table in one of ``FORMATS``; CSV holds the numbers, the others what people read."""
        check_choice("format", format, FORMATS)
        return {"markdown": self.to_markdown, "csv": self.to_csv, "latex": self.to_latex}[format]()

    def to_markdown(self) -> str:
        """Write a pipe table, its caption above and its notes below, columns aligned in the source, too."""
        head = [escape_markdown(name) for name in self.cells.columns]
        body = self._texts(escape_markdown, "**{}**")
        widths = [max(len(row[n]) for row in [head, *body]) for n in range(len(head))]
        widths = [max(width, 3) for width in widths]
        rule = ["-" * width if n < self.left else "-" * (width - 1) + ":" for n, width in enumerate(widths)]
        lines = [self._padded(row, widths) for row in (head, rule, *body)]
        notes = [f"- {escape_markdown(note)}" for note in self.notes]
        return "\n".join([escape_markdown(self.caption), "", *lines, *([""] if notes else []), *notes, ""])

    def _padded(self, row: list[str], widths: list[int]) -> str:
        fitted = [
            text.ljust(width) if n < self.left else text.rjust(width)
            for n, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        return f"| {' | '.join(fitted)} |"

    def to_csv(self) -> str:
        """Write the numbers, comma-separated; what is missing is empty."""
        # Whole numbers stay whole also where some are missing.
        whole = self.data.convert_dtypes().map(lambda one: guarded(one) if isinstance(one, str) else one)
        return str(whole.to_csv(index=False, lineterminator="\n", float_format="%.6g"))

    def to_latex(self) -> str:
        """Write a table environment for the package booktabs."""
        columns = "".join("l" if n < self.left else "r" for n in range(len(self.cells.columns)))
        head = " & ".join(escape_latex(name) for name in self.cells.columns)
        body = [" & ".join(row) + r" \\" for row in self._texts(escape_latex, r"\textbf{{{}}}")]
        notes = [rf"\par\footnotesize {escape_latex(note)}" for note in self.notes]
        return "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                rf"\caption{{{escape_latex(self.caption)}}}",
                rf"\begin{{tabular}}{{{columns}}}",
                r"\toprule",
                rf"{head} \\",
                r"\midrule",
                *body,
                r"\bottomrule",
                r"\end{tabular}",
                *notes,
                r"\end{table}",
                "",
            ]
        )

    def _texts(self, escape: Callable[[str], str], strong: str) -> list[list[str]]:
        rows = []
        for n, row in enumerate(self.cells.itertuples(index=False)):
            texts = [escape(str(text)) for text in row]
            names = zip(texts, self.cells.columns, strict=True)
            rows.append([strong.format(t) if (n, name) in self.strong else t for t, name in names])
        return rows


def escape_markdown(text: str) -> str:
    """Escape text so that Markdown shows it as it is, on one line."""
    one_line = re.sub(r"([\\`*_\[\]|])", r"\\\1", " ".join(text.split()))
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", one_line)  # elsewhere it opens no tag


def escape_latex(text: str) -> str:
    """Escape text so that LaTeX shows it as it is."""
    return "".join(_LATEX.get(one, one) for one in " ".join(text.split()))


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
    """Write a p-value with two digits, and no more zeros than anybody could vouch for.

    >>> p_text(0.03456), p_text(0.00002), p_text(0.6)
    ('0.035', '<0.001', '0.60')
    """
    if isnan(p):
        return DASH
    if p < 0.001:
        return "<0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def protocol_words(protocol: str) -> str:
    """Return what a caption says of the protocol."""
    if protocol == "leaky":
        return LEAKY
    return "Nested: features, scaling, transform and C were chosen inside the training part of each fold."


def in_order(names: Iterable[str], first: Iterable[str]) -> list[str]:
    """Sort names in the order of ``first``, then the others by name, random, and references last."""
    last = ("random", *REFERENCES)
    places = {name: n for n, name in enumerate(first)} | {name: n for n, name in enumerate(last)}
    return sorted(names, key=lambda name: (name in last, places.get(name, len(places)), name))


def fold_note(summary: DataFrame) -> str:
    """Say on how many folds each data set was measured, and who has fewer."""
    counts = summary.groupby(["dataset", "label"])["n_folds"].max()
    words = []
    for dataset in in_order(counts.index.get_level_values("dataset").unique(), paper.DATASETS):
        mine = counts[dataset]
        fewer = [f"{label} {n}" for label, n in mine.items() if n < mine.max()]
        words.append(f"{dataset} {mine.max()}" + (f" ({', '.join(fewer)})" if fewer else ""))
    return f"Folds, over all repeats: {'; '.join(words)}."


def failure_notes(rows: DataFrame) -> list[str]:
    """Count and name what failed in one note, if anything did."""
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
    """Say who is left out of a table of methods with their defaults."""
    return f"Left out, because they are variants: {', '.join(labels)}."


def version_notes(rows: DataFrame) -> list[str]:
    """Name the methods that were measured in an earlier version, if there are any."""
    found = rows[older(rows)]
    if found.empty:
        return []
    labels = in_order(found["label"].unique(), paper.METHODS)
    return [f"Measured with an earlier version, whose figures may differ from today's: {', '.join(labels)}."]
