"""The published figures: L. Bai, L. Cui, Y. Wang, P. S. Yu, E. R. Hancock, "Fused Lasso for Feature Selection
using Structural Information", Tables 1, 2 and 3.

The paper gives means over ten repeats of 10-fold cross-validation with a linear C-SVM, the best over the
number of features, and no standard errors. It does not say whether features were selected inside the training
part of each fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING, Any

from infused.bench.plan import ProtocolName
from infused.bench.rows import in_order, of_protocol, plain_methods, scored
from infused.bench.statistics import DASH, PairedTest, p_text, paired_test
from infused.bench.tables import ERRORS, OPTIMISM, BestScores, ResultTable, protocol_words, variant_notes
from infused.exceptions import InputError
from infused.record.sentences import signed
from infused.selectors.registry import IN_PAPER

if TYPE_CHECKING:
    from pandas import DataFrame


SOURCE = 'Bai et al., "Fused Lasso for Feature Selection using Structural Information"'


@dataclass(frozen=True)
class PublishedSize:
    """One row of Table 1."""

    kind: str
    n_features: int
    n_samples: int
    n_classes: int


@dataclass(frozen=True)
class PublishedScore:
    """One entry of Table 2 or 3."""

    accuracy: float
    """The best mean, in percent."""
    k: int
    """The number of features that it was reached with."""


#: Table 1. The paper writes Pie for PIE.
SIZES = {
    "USPS": PublishedSize("Image", 256, 9298, 10),
    "PIE": PublishedSize("Image", 1024, 11554, 68),
    "YaleB": PublishedSize("Image", 1024, 2414, 38),
    "Lymphoma": PublishedSize("Biomedical", 4026, 96, 9),
    "Leukemia": PublishedSize("Biomedical", 7129, 73, 2),
    "RELATHE": PublishedSize("Text", 4322, 1427, 2),
    "BASEHOCK": PublishedSize("Text", 4862, 1993, 2),
    "Isolet1": PublishedSize("Speech", 617, 1560, 26),
}

#: The data sets in the order of the tables.
DATASETS = tuple(SIZES)

#: The methods of Table 2, and those of Table 3.
TABLE_2 = ("lasso", "ulasso", "fused-lasso", "group-lasso", "in-lasso", "infused-lasso")
TABLE_3 = ("in-elastic-net", "infused-lasso")

# Accuracy (%) and number of features, by data set in the order of DATASETS.
_SCORES = {
    "lasso": (
        (86.30, 50), (94.48, 70), (46.64, 50), (91.11, 100), (82.86, 200), (86.00, 200),
        (67.22, 140), (91.67, 100),
    ),
    "ulasso": (
        (83.25, 50), (94.57, 70), (47.43, 50), (94.44, 160), (82.86, 200), (85.49, 200),
        (67.33, 200), (92.18, 100),
    ),
    "fused-lasso": (
        (87.40, 50), (86.94, 70), (48.09, 50), (90.00, 120), (94.29, 140), (85.62, 200),
        (84.62, 200), (88.08, 90),
    ),
    "group-lasso": (
        (83.93, 50), (92.35, 70), (45.02, 50), (91.11, 200), (91.43, 180), (74.33, 200),
        (73.33, 200), (83.53, 100),
    ),
    "in-lasso": (
        (93.94, 50), (96.58, 70), (71.20, 50), (95.55, 140), (100.00, 80), (80.70, 180),
        (86.58, 180), (91.92, 100),
    ),
    "infused-lasso": (
        (93.67, 50), (96.90, 70), (94.87, 50), (95.55, 120), (98.57, 200), (84.50, 200),
        (92.85, 200), (93.01, 100),
    ),
    "in-elastic-net": (
        (94.10, 50), (96.82, 70), (94.62, 50), (95.55, 160), (100.00, 80), (83.02, 200),
        (92.75, 200), (92.03, 100),
    ),
}  # fmt: skip


def published_score(method: str, dataset: str) -> PublishedScore | None:
    """Return what the paper's tables say of a method on a data set, or None.

    >>> from infused.bench.paper import published_score
    >>> published_score("infused-lasso", "YaleB")
    PublishedScore(accuracy=94.87, k=50)
    """
    if method not in _SCORES or dataset not in SIZES:
        return None
    return PublishedScore(*_SCORES[method][DATASETS.index(dataset)])


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
    for name, size in SIZES.items():
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
        caption=f"The data sets (Table 1 of {SOURCE}). Sizes are those of our files; where the paper "
        "has another, it stands in brackets.",
        cells=pd.DataFrame(lines),
        data=pd.DataFrame(data),
        left=2,
    )


def _size_text(ours: int, published: int) -> str:
    return f"{ours:,}" if ours == published else f"{ours:,} ({published:,})"


def published_accuracy_table(rows: DataFrame, *, protocol: ProtocolName = "nested") -> ResultTable:
    """Make Table 2: the best mean accuracy of all methods, beside the published one.

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
    methods = [*TABLE_2, *in_order(set(mine["method"]) - set(TABLE_2))]
    caption = (
        f"Best mean accuracy (%) over k (Table 2). {BESIDE} {protocol_words(protocol)} {OPTIMISM}, as the "
        f"paper's is. {ERRORS}"
    )
    return _beside(mine, methods, protocol, caption, variant_notes(of_protocol(rows, protocol)))


def structural_table(rows: DataFrame, *, protocol: ProtocolName = "nested") -> ResultTable:
    """Make Table 3: InFusedLasso versus InElasticNet, beside the published figures, and how the two differ.

    The last two lines give InFusedLasso less InElasticNet. Ours is tested on the folds that both have, each
    with its best k, by the corrected t-test; there is no correction for the number of data sets.

    The parameters are those of :func:`published_accuracy_table`.
    """
    import pandas as pd

    mine = _paper_rows(rows, protocol)
    mine = mine[mine["method"].isin(TABLE_3)]
    caption = (
        f"InFusedLasso versus InElasticNet (Table 3): best mean accuracy (%) over k. {BESIDE} Last: the "
        f"first less the second, p from a paired corrected t-test. {protocol_words(protocol)} {OPTIMISM}, as "
        f"the paper's is. {ERRORS}"
    )
    table = _beside(mine, TABLE_3, protocol, caption, variant_notes(of_protocol(rows, protocol)))
    tests = _tests(mine, protocol)
    ours = {
        name: DASH if test is None else f"{signed(test.difference, METRIC)} (p {p_text(test.p_value)})"
        for name, test in tests.items()
    }
    theirs = {name: f"{_accuracy(FIRST, name) - _accuracy(SECOND, name):+.2f}" for name in DATASETS}
    last = [_line(f"{FIRST} less {SECOND}", "ours", ours), _line("", "published", theirs)]
    return replace(table, cells=pd.concat([table.cells, pd.DataFrame(last)], ignore_index=True))


def _paper_rows(rows: DataFrame, protocol: ProtocolName) -> DataFrame:
    """Return the rows that can stand beside published figures."""
    mine = plain_methods(of_protocol(rows, protocol))
    mine = mine[mine["dataset"].isin(DATASETS)]
    if len(mine) == 0:
        raise InputError(f"there are no rows of the paper's data sets: {', '.join(DATASETS)}")
    if (mine["label"] != mine["method"]).any():
        raise InputError("the rows come from several classifiers: pass those of one")
    return mine


def _beside(
    mine: DataFrame, methods: Sequence[str], protocol: ProtocolName, caption: str, notes: list[str]
) -> ResultTable:
    """Write three lines for a method of the paper (ours, published, difference) and one for another."""
    import pandas as pd

    best = BestScores(mine, METRIC, protocol)
    lines: list[dict[str, str]] = []
    strong: set[tuple[int, str]] = set()
    records = [_record(best, method, name) for method in methods for name in DATASETS]
    for method in methods:
        strong |= {(len(lines), name) for name in DATASETS if method in best.winners(methods, name)}
        lines.append(_line(method, "ours", {name: best.text(method, name) for name in DATASETS}))
        if method in IN_PAPER:
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
    record, published = best.record(method, dataset), published_score(method, dataset)
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
    published = published_score(method, dataset)
    assert published is not None  # both methods have a figure for every data set
    return published.accuracy


def _tests(mine: DataFrame, protocol: ProtocolName) -> dict[str, PairedTest | None]:
    """Test InFusedLasso against InElasticNet on every data set, each with its best k."""
    best, results = BestScores(mine, METRIC, protocol), scored(mine, METRIC)
    tests: dict[str, PairedTest | None] = dict.fromkeys(DATASETS)
    for name in DATASETS:
        first, second = (best.get(method, name) for method in (FIRST, SECOND))
        if first is not None and second is not None:
            folds = results[results["dataset"] == name]
            tests[name] = paired_test(folds, (FIRST, first["k"]), (SECOND, second["k"]), METRIC)
    return tests
