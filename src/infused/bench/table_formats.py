"""A table that says what it shows, as Markdown, CSV and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from infused._runtime.messages import check_choice
from infused._runtime.spreadsheets import guarded

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["DASH", "FORMATS", "Table", "escape_latex", "escape_markdown"]

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
class Table:
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
        """The table in one of ``FORMATS``; CSV holds the numbers, the others what people read."""
        check_choice("format", format, FORMATS)
        return {"markdown": self.to_markdown, "csv": self.to_csv, "latex": self.to_latex}[format]()

    def to_markdown(self) -> str:
        """A pipe table, its caption above and its notes below; columns are aligned in the source, too."""
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
        """The numbers, comma-separated; what is missing is empty."""
        # Whole numbers stay whole also where some are missing.
        whole = self.data.convert_dtypes().map(lambda one: guarded(one) if isinstance(one, str) else one)
        return str(whole.to_csv(index=False, lineterminator="\n", float_format="%.6g"))

    def to_latex(self) -> str:
        """A table environment for the package booktabs."""
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
    """Text that Markdown shows as it is, on one line."""
    one_line = re.sub(r"([\\`*_\[\]|])", r"\\\1", " ".join(text.split()))
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", one_line)  # elsewhere it opens no tag


def escape_latex(text: str) -> str:
    """Text that LaTeX shows as it is."""
    return "".join(_LATEX.get(one, one) for one in " ".join(text.split()))
