"""What is each part of InFusedLasso worth? The variants that lack one, set against the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from infused.bench import paper
from infused.bench.frames import Protocol, metric_of, of_protocol, scored
from infused.bench.paired import ALPHA, holm, paired_test
from infused.bench.statistics import best_scores, score_summary
from infused.bench.table_formats import DASH, Table
from infused.bench.tables import BestScores
from infused.bench.wording import in_order, p_text, protocol_words, signed, unit

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["ablation_table"]

WHOLE = "infused-lasso"


def ablation_table(rows: DataFrame, *, protocol: Protocol = "nested") -> Table | None:
    """Every variant less the whole, with as many features as suit the whole best, on the same folds.

    Parameters
    ----------
    rows : DataFrame
        One row per k of a cell; variants are called ``infused-lasso[...]``.
    protocol : {"nested", "leaky"}

    Returns
    -------
    Table or None
        None where there is no variant.
    """
    import pandas as pd

    mine = of_protocol(rows, protocol)
    mine = mine[(mine["label"] == WHOLE) | mine["label"].str.startswith(f"{WHOLE}[")]
    variants = sorted(set(mine["label"]) - {WHOLE})
    if not variants:
        return None
    datasets = in_order(mine["dataset"].unique(), paper.DATASETS)
    records = [one for name in datasets for one in _differences(mine, name, variants)]
    by_place = {(one["variant"], one["dataset"]): one["text"] for one in records}
    whole = {name: _whole(mine, name, protocol) for name in datasets}
    lines = [{"Method": WHOLE, **whole}]
    lines += [{"Method": one, **{name: by_place[one, name] for name in datasets}} for one in variants]
    return Table(
        caption="InFusedLasso, and how its variants differ from it with the same number of features (points; "
        f"p from a paired corrected t-test, after Holm within a data set). A p above {ALPHA:g} says that the "
        f"folds show no worth of the part that a variant lacks. {protocol_words(protocol)}",
        cells=pd.DataFrame(lines),
        data=pd.DataFrame(records).drop(columns="text").assign(protocol=protocol),
    )


def _whole(mine: DataFrame, dataset: str, protocol: Protocol) -> str:
    part = mine[mine["dataset"] == dataset]
    return BestScores(part, metric_of(part), protocol).text(WHOLE, dataset)


def _differences(mine: DataFrame, dataset: str, variants: list[str]) -> list[dict[str, Any]]:
    part = mine[mine["dataset"] == dataset]
    metric = metric_of(part)
    results = scored(part, metric)
    best = best_scores(score_summary(part[part["label"] == WHOLE], metric))
    k = int(best["k"].iloc[0]) if len(best) else None
    tests = [None if k is None else paired_test(results, (one, k), (WHOLE, k), metric) for one in variants]
    adjusted = holm([np.nan if test is None else test.p_value for test in tests])
    factor = unit(metric)[0]
    return [
        {
            "dataset": dataset,
            "variant": variant,
            "k": k,
            "difference": None if test is None else factor * test.difference,
            "standard_error": None if test is None else factor * test.error,
            "p_holm": None if test is None else p,
            "text": DASH if test is None else f"{signed(test.difference, metric)} (p {p_text(p)})",
        }
        for variant, test, p in zip(variants, tests, adjusted, strict=True)
    ]
