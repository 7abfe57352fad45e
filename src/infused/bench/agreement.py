"""Which features methods and folds agree on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from infused._runtime.extras import extra
from infused.bench.standings import Standings

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["agreement"]

BASELINE = "random"


def agreement(standings: Standings, names: Sequence[str]) -> DataFrame:
    """The share of folds in which each method selected each feature, with as many features as the best has.

    One row for each feature that any method selected, but for random features; those on which methods agree
    most come first. One column for each method, the best first.
    """
    pandas = extra("pandas")
    k = int(standings.methods["k"].iloc[0])
    shares = {}
    for method in standings.methods["label"]:
        mine = standings.rows[standings.rows["label"] == method]["selected"]
        folds = [one[:k] for one in mine if isinstance(one, list | tuple | np.ndarray) and len(one) >= k]
        if folds:
            shares[str(method)] = np.bincount(np.concatenate(folds), minlength=len(names)) / len(folds)
    table = pandas.DataFrame(shares, index=pandas.Index(list(names), name="feature"))
    real = table.drop(columns=BASELINE, errors="ignore")
    order = np.argsort(-real.mean(axis=1).to_numpy(), kind="stable") if real.shape[1] else np.arange(0)
    chosen = [n for n in order if real.iloc[n].max() > 0]
    return table.iloc[chosen]
