"""What is each part of InFusedLasso worth? The variants that lack one, set against the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from infused.bench import paper
from infused.bench.captions import in_order, p_text, protocol_words, signed, unit
from infused.bench.frames import metric_of, of_protocol, scored
from infused.bench.paired import ALPHA, holm, paired_test
from infused.bench.plan import ProtocolName
from infused.bench.statistics import best_scores, score_summary
from infused.bench.table_formats import DASH, Table
from infused.bench.tables import BestScores

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["ablation_table"]

WHOLE = "infused-lasso"


def ablation_table(rows: DataFrame, *, protocol: ProtocolName = "nested") -> Table | None:
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
    parts = {
        name: mine[mine["dataset"] == name] for name in in_order(mine["dataset"].unique(), paper.DATASETS)
    }
    records = [one for part in parts.values() for one in _differences(part, variants)]
    cells = {"Method": [WHOLE, *variants]}
    for name, part in parts.items():
        whole = BestScores(part, metric_of(part), protocol).text(WHOLE, name)
        cells[name] = [whole, *(one["text"] for one in records if one["dataset"] == name)]
    return Table(
        caption="InFusedLasso at its best k, and its variants less it with as many features, on the folds "
        "that both have: points, in brackets p (paired corrected t-test, after Holm within a data set) and "
        f"the share of its features that a variant selects. A p above {ALPHA:g}: the folds show no worth of "
        f"the part that a variant lacks. {protocol_words(protocol)}",
        cells=pd.DataFrame(cells),
        data=pd.DataFrame(records).drop(columns="text").assign(protocol=protocol),
    )


def _differences(part: DataFrame, variants: list[str]) -> list[dict[str, Any]]:
    """What the folds of one data set say of each variant."""
    metric = metric_of(part)
    results = scored(part, metric)
    best = best_scores(score_summary(part[part["label"] == WHOLE], metric))
    k = int(best["k"].iloc[0]) if len(best) else None
    tests = [None if k is None else paired_test(results, (one, k), (WHOLE, k), metric) for one in variants]
    adjusted = holm([np.nan if test is None else test.p_value for test in tests])
    factor, records = unit(metric)[0], []
    for variant, test, p in zip(variants, tests, adjusted, strict=True):
        record: dict[str, Any] = {
            "dataset": part["dataset"].iloc[0],
            "variant": variant,
            "k": k,
            "text": DASH,
        }
        if test is not None:
            shared = _shared_features(results, variant, k)
            record |= {
                "difference": factor * test.difference,
                "standard_error": factor * test.error,
                "p_holm": p,
                "folds": test.n_folds,
                "shared_features": shared,
                "text": f"{signed(test.difference, metric)} (p {p_text(p)}, {shared:.0%})",
            }
        records.append(record)
    return records


def _shared_features(results: DataFrame, variant: str, k: int | None) -> float:
    """The share of the first k features of the whole that the variant has among its own, over the folds."""
    ranked = results[results["selected"].notna()].set_index(["repeat", "fold"])
    whole, other = (ranked.loc[ranked["label"] == label, "selected"] for label in (WHOLE, variant))
    both = whole.index.intersection(other.index)
    return float(np.mean([np.isin(whole[place][:k], other[place][:k]).mean() for place in both]))
