"""The words of the comparison page: the answer first, and no claim beyond what the folds show."""

from __future__ import annotations

from html import escape
from math import isnan
from typing import Any

from infused.bench.comparison import Comparison
from infused.bench.paired import ALPHA
from infused.bench.tables import comparison_table
from infused.bench.wording import METRICS, p_text, score_text, unit
from infused.report.page_text import PAPER, Pair

__all__ = ["answer", "citations", "facts", "method_table", "settings", "table_note"]

CITATIONS = (
    PAPER,
    'C. Nadeau, Y. Bengio, "Inference for the Generalization Error", Machine Learning 52, 2003.',
    'S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics '
    "6, 1979.",
    'S. Nogueira, K. Sechidis, G. Brown, "On the Stability of Feature Selection Algorithms", JMLR 18 (174), '
    "2018.",
)


def answer(comparison: Comparison) -> str:
    """Which selector is best and with how many features; and whether that is more than chance."""
    return f"{_best(comparison)} {_real(comparison)}"


def _best(comparison: Comparison) -> str:
    best = comparison.methods.iloc[0]
    k, enough, tried = int(best["k"]), int(best["smallest_k"]), comparison.curves["k"].nunique()
    first = (
        f"{best['label']} has the best mean {METRICS[comparison.metric]}, "
        f"{with_unit(best, comparison.metric)}, with {k:,} of {_n_features(comparison):,} features"
    )
    if tried == 1:
        return f"{first}, the only number that was tried."
    if isnan(best["error"]):
        return f"{first}."
    if enough < k:
        comes = "is enough" if enough == 1 else "are enough"
        return f"{first}; {enough:,} {comes} to come within one standard error of that."
    return f"{first}; no smaller number that was tried comes within one standard error of that."


def _real(comparison: Comparison) -> str:
    beaten, undecided = comparison.beaten, comparison.undecided
    if comparison.protocol == "leaky":
        return (
            "But its features were selected with the test folds in view (leaky protocol), so neither this "
            "figure nor any difference can be trusted."
        )
    if not beaten and not undecided:
        return "There is no other method to compare it with."
    p = comparison.methods["p_holm"].min()
    if isnan(p):
        return "Whether the others are worse cannot be told from fewer than two folds."
    if not beaten:
        random = ", not even from random features" if "random" in undecided else ""
        return (
            f"No difference that these folds can show{random}: chance alone could put the others as "
            f"far behind (smallest p {p_text(p)} after Holm's correction)."
        )
    better = f"better than {listed(beaten)} (p < {ALPHA:g} after Holm's correction)"
    if not undecided:
        return f"It is {better}, that is, than every other method here."
    return f"It is {better}, but these folds show no difference from {listed(undecided)}."


def listed(names: list[str], most: int = 8) -> str:
    """Names as a sentence has them."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def with_unit(one: Any, metric: str) -> str:
    """A mean with its error and the metric's unit."""
    return f"{score_text(one['mean'], one['error'], metric)}{unit(metric)[1]}"


def _n_features(comparison: Comparison) -> int:
    return int(comparison.rows["n_features"].max())


def facts(comparison: Comparison) -> list[Pair]:
    """The key figures: a name and a value each."""
    best, rows = comparison.methods.iloc[0], comparison.rows
    name = METRICS[comparison.metric]
    sizes = rows[["n_train", "n_test"]].dropna().sum(axis=1)
    pairs = [
        ("Best", str(best["label"])),
        (f"Its {name}", with_unit(best, comparison.metric)),
        ("Its features", f"{int(best['k']):,} of {_n_features(comparison):,}"),
        ("Enough", f"{int(best['smallest_k']):,}"),
    ]
    if not isnan(best["stability"]):
        pairs.append(("Its stability", f"{best['stability']:.2f}"))
    pairs.append(("Samples", f"{int(sizes.max()):,}"))
    pairs.append(("Folds", fold_words(comparison)))
    return pairs


def fold_words(comparison: Comparison) -> str:
    """Repeats and folds, as they were asked for."""
    repeats, folds = comparison.rows["repeat"].nunique(), comparison.rows["fold"].nunique()
    return f"{folds}" if repeats == 1 else f"{repeats} x {folds}"


def method_table(comparison: Comparison) -> str:
    """One line for each method, as HTML; names are escaped."""
    table = comparison_table(comparison)
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


def table_note(comparison: Comparison) -> str:
    """What the columns mean, what was counted, and what failed; as HTML."""
    table = comparison_table(comparison)
    return "".join(f'<p class="note">{escape(words)}</p>' for words in (table.caption, *table.notes))


def settings(comparison: Comparison) -> list[Pair]:
    """What a rerun needs, in words."""
    rows = comparison.rows
    packages = {"infused": "infused_version", "scikit-learn": "sklearn_version", "NumPy": "numpy_version"}
    versions = [
        f"{name} {_values(rows, column)}" for name, column in packages.items() if _values(rows, column)
    ]
    pairs = [
        ("Data", comparison.dataset),
        ("Fingerprint", _values(rows, "data")),
        ("Protocol", comparison.protocol),
        ("Repeats x folds", f"{rows['repeat'].nunique()} x {rows['fold'].nunique()}"),
        ("Numbers of features", ", ".join(str(k) for k in sorted(comparison.curves["k"].unique()))),
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
