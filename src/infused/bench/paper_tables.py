"""Tables 1, 2 and 3 of the paper: ours beside the published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any

from infused.bench import paper
from infused.bench.plan import ProtocolName
from infused.bench.ranks import PairedTest, paired_test
from infused.bench.rows import of_protocol, other_variants, plain_methods, scored
from infused.bench.table_formats import (
    DASH,
    ERRORS,
    OPTIMISM,
    ResultTable,
    in_order,
    p_text,
    protocol_words,
    variant_note,
)
from infused.bench.tables import BestScores
from infused.exceptions import InputError
from infused.record.sentences import signed

if TYPE_CHECKING:
    from pandas import DataFrame


METRIC = "accuracy"
_WHO = ("ours", "published")
FIRST, SECOND = "infused-lasso", "in-elastic-net"
BESIDE = (
    "Ours: mean ± standard error, k in brackets. Published: Bai et al., who give no standard errors. "
    "Difference: ours less published; ‡ where it exceeds our standard error."
)


def datasets_table() -> ResultTable:
    """Make Table 1: the sizes of the data sets, those of our files beside the published."""
    import pandas as pd

    from infused.data.named import PAPER

    lines, data = [], []
    for name, size in paper.SIZES.items():
        ours = PAPER[name]
        pairs = {
            "features": (ours.n_features, size.n_features),
            "samples": (ours.n_samples, size.n_samples),
            "classes": (ours.n_classes, size.n_classes),
        }
        texts = {title.capitalize(): _size_text(*pair) for title, pair in pairs.items()}
        lines.append({"Data set": name, "Type": size.kind, **texts})
        numbers = {f"{what}_{who}": pair[n] for what, pair in pairs.items() for n, who in enumerate(_WHO)}
        data.append({"dataset": name, "type": size.kind, **numbers})
    return ResultTable(
        caption=f"The data sets (Table 1 of {paper.SOURCE}). Sizes are those of our files; where the paper "
        "has another, it stands in brackets.",
        cells=pd.DataFrame(lines),
        data=pd.DataFrame(data),
        left=2,
    )


def _size_text(ours: int, published: int) -> str:
    return f"{ours:,}" if ours == published else f"{ours:,} ({published:,})"


def published_accuracy_table(rows: DataFrame, *, protocol: ProtocolName = "nested") -> ResultTable:
    """Make Table 2: the best mean accuracy of all methods, ours beside the published.

    Methods that the paper does not have follow, random features last. All eight data sets have a column.

    Parameters
    ----------
    rows : DataFrame
        One row per k of a cell. Methods that ran with parameters of their own are named in a note only.
    protocol : {"nested", "leaky"}

    Returns
    -------
    ResultTable
    """
    mine = _paper_rows(rows, protocol)
    methods = [*paper.TABLE_2, *in_order(set(mine["method"].unique()) - set(paper.TABLE_2), paper.METHODS)]
    caption = (
        f"Best mean accuracy (%) over k (Table 2). {BESIDE} {protocol_words(protocol)} {OPTIMISM}, as the "
        f"paper's is. {ERRORS}"
    )
    return _beside(mine, methods, protocol, caption, _variant_note(rows, protocol))


def structural_table(rows: DataFrame, *, protocol: ProtocolName = "nested") -> ResultTable:
    """Make Table 3: InFusedLasso versus InElasticNet, ours beside the published, and how the two differ.

    The last two lines give InFusedLasso less InElasticNet. Ours is tested on the folds that both have, each
    with its best k, by the corrected t-test; there is no correction for the number of data sets.

    The parameters are those of :func:`published_accuracy_table`.
    """
    import pandas as pd

    mine = _paper_rows(rows, protocol)
    mine = mine[mine["method"].isin(paper.TABLE_3)]
    caption = (
        f"InFusedLasso versus InElasticNet (Table 3): best mean accuracy (%) over k. {BESIDE} Last: the "
        f"first less the second, p from a paired corrected t-test. {protocol_words(protocol)} {OPTIMISM}, as "
        f"the paper's is. {ERRORS}"
    )
    table = _beside(mine, paper.TABLE_3, protocol, caption, _variant_note(rows, protocol))
    tests = _tests(mine, protocol)
    ours = {
        name: DASH if test is None else f"{signed(test.difference, METRIC)} (p {p_text(test.p_value)})"
        for name, test in tests.items()
    }
    theirs = {name: f"{_accuracy(FIRST, name) - _accuracy(SECOND, name):+.2f}" for name in paper.DATASETS}
    last = [_line(f"{FIRST} less {SECOND}", "ours", ours), _line("", "published", theirs)]
    return replace(table, cells=pd.concat([table.cells, pd.DataFrame(last)], ignore_index=True))


def _paper_rows(rows: DataFrame, protocol: ProtocolName) -> DataFrame:
    """Return the rows that can stand beside published figures."""
    mine = plain_methods(of_protocol(rows, protocol))
    mine = mine[mine["dataset"].isin(paper.DATASETS)]
    if len(mine) == 0:
        raise InputError(f"there are no rows of the paper's data sets: {', '.join(paper.DATASETS)}")
    if (mine["label"] != mine["method"]).any():
        raise InputError("the rows come from several classifiers: pass those of one")
    return mine


def _variant_note(rows: DataFrame, protocol: ProtocolName) -> list[str]:
    variants = other_variants(of_protocol(rows, protocol))
    return [variant_note(variants)] if variants else []


def _beside(
    mine: DataFrame, methods: Sequence[str], protocol: ProtocolName, caption: str, notes: list[str]
) -> ResultTable:
    """Write three lines for a method of the paper (ours, published, difference) and one for another."""
    import pandas as pd

    best = BestScores(mine, METRIC, protocol)
    lines: list[dict[str, str]] = []
    strong: set[tuple[int, str]] = set()
    records = [_record(best, method, name) for method in methods for name in paper.DATASETS]
    for method in methods:
        strong |= {(len(lines), name) for name in paper.DATASETS if method in best.winners(methods, name)}
        lines.append(_line(method, "ours", {name: best.text(method, name) for name in paper.DATASETS}))
        if method in paper.METHODS:
            mine_of = {one["dataset"]: one for one in records if one["method"] == method}
            texts = {name: f"{one['published']:.2f} ({one['published_k']})" for name, one in mine_of.items()}
            lines.append(_line("", "published", texts))
            lines.append(_line("", "difference", {name: _gap_text(one) for name, one in mine_of.items()}))
    return ResultTable(
        caption=caption,
        cells=pd.DataFrame(lines),
        data=pd.DataFrame(records),
        notes=(*best.notes(), *notes),
        strong=frozenset(strong),
        left=2,
    )


def _line(method: str, whose: str, texts: dict[str, str]) -> dict[str, str]:
    return {"Method": method, "Whose": whose, **texts}


def _record(best: BestScores, method: str, dataset: str) -> dict[str, Any]:
    """Return our numbers (%), the published ones, and whether they differ by more than our standard error."""
    record, published = best.record(method, dataset), paper.published_score(method, dataset)
    record |= {
        "published": None if published is None else published.accuracy,
        "published_k": None if published is None else published.k,
        "difference": None,
        "exceeds_error": None,
    }
    if published is not None and record["mean"] is not None:
        difference = record["mean"] - published.accuracy
        record["difference"] = difference
        if not isnan(record["standard_error"]):
            record["exceeds_error"] = abs(difference) > record["standard_error"]
    return record


def _gap_text(record: dict[str, Any]) -> str:
    if record["difference"] is None:
        return DASH
    return f"{record['difference']:+.1f}{'‡' if record['exceeds_error'] else ''}"


def _accuracy(method: str, dataset: str) -> float:
    published = paper.published_score(method, dataset)
    assert published is not None  # both methods have a figure for every data set
    return published.accuracy


def _tests(mine: DataFrame, protocol: ProtocolName) -> dict[str, PairedTest | None]:
    """Test InFusedLasso against InElasticNet on every data set, each with its best k."""
    best, results = BestScores(mine, METRIC, protocol), scored(mine, METRIC)
    tests: dict[str, PairedTest | None] = dict.fromkeys(paper.DATASETS)
    for name in paper.DATASETS:
        first, second = (best.get(method, name) for method in (FIRST, SECOND))
        if first is not None and second is not None:
            folds = results[results["dataset"] == name]
            tests[name] = paired_test(folds, (FIRST, first["k"]), (SECOND, second["k"]), METRIC)
    return tests
