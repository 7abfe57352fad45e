"""The words of the comparison page: the answer first, and no claim beyond what the folds show."""

from __future__ import annotations

from html import escape
from math import isnan
from typing import Any

from infused.bench.captions import METRICS
from infused.bench.standings import Standings
from infused.bench.tables import comparison_table
from infused.bench.verdict import n_features, with_unit
from infused.report.html.words import PAPER, Pair

__all__ = ["citations", "facts", "method_table", "settings", "table_note"]

CITATIONS = (
    PAPER,
    'C. Nadeau, Y. Bengio, "Inference for the Generalization Error", Machine Learning 52, 2003.',
    'S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics '
    "6, 1979.",
    'S. Nogueira, K. Sechidis, G. Brown, "On the Stability of Feature Selection Algorithms", JMLR 18 (174), '
    "2018.",
)


def facts(standings: Standings) -> list[Pair]:
    """The key figures: a name and a value each."""
    best, rows = standings.methods.iloc[0], standings.rows
    name = METRICS[standings.metric]
    sizes = rows[["n_train", "n_test"]].dropna().sum(axis=1)
    pairs = [
        ("Best", str(best["label"])),
        (f"Its {name}", with_unit(best, standings.metric)),
        ("Its features", f"{int(best['k']):,} of {n_features(standings):,}"),
        ("Enough", f"{int(best['smallest_k']):,}"),
    ]
    if not isnan(best["stability"]):
        pairs.append(("Its stability", f"{best['stability']:.2f}"))
    pairs.append(("Samples", f"{int(sizes.max()):,}"))
    pairs.append(("Folds", fold_words(standings)))
    return pairs


def fold_words(standings: Standings) -> str:
    """Repeats and folds, as they were asked for."""
    repeats, folds = standings.rows["repeat"].nunique(), standings.rows["fold"].nunique()
    return f"{folds}" if repeats == 1 else f"{repeats} x {folds}"


def method_table(standings: Standings) -> str:
    """One line for each method, as HTML; names are escaped."""
    table = comparison_table(standings)
    names = list(table.cells.columns)
    kinds = ["name", *["number"] * (len(names) - 1)]
    head = "".join(
        f'<th scope="col" class="{kind}">{escape(name)}</th>' for name, kind in zip(names, kinds, strict=True)
    )
    body = []
    for n, row in enumerate(table.cells.itertuples(index=False)):
        cells = "".join(
            f'<td class="{kind}" data-title="{escape(name)}">{escape(str(text))}</td>'
            for text, name, kind in zip(row, names, kinds, strict=True)
        )
        body.append(f'<tr class="{"best" if n == 0 else ""}">{cells}</tr>')
    return f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody>"


def table_note(standings: Standings) -> str:
    """What the columns mean, what was counted, and what failed; as HTML."""
    table = comparison_table(standings)
    return "".join(f'<p class="note">{escape(words)}</p>' for words in (table.caption, *table.notes))


def settings(standings: Standings) -> list[Pair]:
    """What a rerun needs, in words."""
    rows = standings.rows
    packages = {"infused": "infused_version", "scikit-learn": "sklearn_version", "NumPy": "numpy_version"}
    versions = [
        f"{name} {_values(rows, column)}" for name, column in packages.items() if _values(rows, column)
    ]
    pairs = [
        ("Data", standings.dataset),
        ("Fingerprint", _values(rows, "data")),
        ("Protocol", standings.protocol),
        ("Repeats x folds", f"{rows['repeat'].nunique()} x {rows['fold'].nunique()}"),
        ("Numbers of features", ", ".join(str(k) for k in sorted(standings.curves["k"].unique()))),
        ("Judged by", _values(rows, "classifier")),
        ("Transforms chosen", _values(rows, "transform")),
        ("Seed", _values(rows, "seed")),
        ("Versions", ", ".join(versions)),
        ("Machine", _values(rows, "machine")),
    ]
    return [(name, value) for name, value in pairs if value]


def _values(rows: Any, column: str) -> str:
    """The different values of a column, if there is one."""
    return ", ".join(sorted(str(one) for one in rows[column].dropna().unique())) if column in rows else ""


def citations() -> str:
    """The papers behind the methods and the statistics, as HTML."""
    return "".join(f"<li>{escape(one)}</li>" for one in CITATIONS)
