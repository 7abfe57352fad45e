"""Rows as the runner makes them, from a small deterministic function instead of fits."""

from __future__ import annotations

import numpy as np
import pandas as pd

from infused.bench.plan import PROTOCOL_VERSION
from infused.selectors.registry import selector_version

METHODS = {"infused-lasso": 0.90, "mrmr": 0.88, "anova": 0.85, "random": 0.70}


def make_rows(
    datasets=("wine",), methods=METHODS, *, protocol="nested", repeats=2, folds=5, ks=(5, 10, 20),
    n_samples=100, n_features=40, noise=0.02, parameters="{}", regression=False,
):  # fmt: skip
    """One row per k of every cell: a level for each method, rising with k, less for later data sets.

    Noise is shared by the methods of a fold, as it is in real folds, and each adds a little of its own.
    """
    rows = []
    for d, dataset in enumerate(datasets):
        for m, (method, level) in enumerate(methods.items()):
            for repeat in range(repeats):
                for fold in range(folds):
                    rng = np.random.default_rng([d, m, repeat, fold])
                    shared = np.random.default_rng([d, repeat, fold]).normal(0, noise)
                    order = ranking(rng, n_features, steady=method != "random")
                    for k in ks:
                        value = level - 0.1 / k - 0.02 * d + shared + rng.normal(0, noise / 2)
                        rows.append(
                            {
                                "dataset": dataset, "method": method, "parameters": parameters,
                                "selector_version": selector_version(method),
                                "protocol_version": PROTOCOL_VERSION, "protocol": protocol,
                                "repeat": repeat, "fold": fold, "k": k,
                                "accuracy": np.nan if regression else min(value, 1.0),
                                "balanced_accuracy": np.nan if regression else min(value - 0.01, 1.0),
                                "f1": np.nan if regression else min(value - 0.02, 1.0),
                                "r2": value - 0.4 if regression else np.nan,
                                "status": "ok", "reason": "", "transform": "none", "C": 1.0,
                                "classifier": "svm", "n_train": n_samples - n_samples // folds,
                                "n_test": n_samples // folds, "n_features": n_features, "seed": 0,
                                "select_seconds": 0.01 * (m + 1), "fit_seconds": 0.002,
                                "selected": order[: max(ks)].tolist() if k == max(ks) else None,
                            }
                        )  # fmt: skip
    return pd.DataFrame(rows)


def ranking(rng, n_features, steady):
    """A ranking of all features: much the same each time, or at random."""
    return (
        np.argsort(np.arange(n_features) + rng.normal(0, 1.5, n_features))
        if steady
        else rng.permutation(n_features)
    )


def with_failure(rows, method, repeat, fold, status="timeout", reason="took longer than 60 s"):
    """The rows with one cell that failed."""
    cell = (rows["method"] == method) & (rows["repeat"] == repeat) & (rows["fold"] == fold)
    kept, lost = rows[~cell], rows[cell].iloc[:1].copy()
    lost[["accuracy", "balanced_accuracy", "f1"]] = np.nan
    lost["selected"] = None
    return pd.concat([kept, lost.assign(status=status, reason=reason)], ignore_index=True)


def mean_and_error(rows):
    """The mean accuracy over folds, and its standard error by Nadeau and Bengio, written out."""
    x, n = rows["accuracy"].to_list(), len(rows)
    mean = sum(x) / n
    variance = sum((one - mean) ** 2 for one in x) / (n - 1)
    overlap = rows["n_test"].mean() / rows["n_train"].mean()
    return mean, ((1 / n + overlap) * variance) ** 0.5
