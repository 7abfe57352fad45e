"""What every selector answers on scikit-learn's data sets: recorded once, and held since.

``python -m tests.selectors.golden`` records anew, after a change that is meant to change answers.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

from infused import available_selectors
from infused.selectors.registry import selector_info
from tests.selectors.family import make_selector

FILE = Path(__file__).parent / "golden.json"
K = 6
VARIANTS = (
    {"ranking": "coefficient"},
    {"ranking": "path"},
    {"n_features_to_select": None},
    {"lambda_scale": "absolute"},
    {"standardize": False},
    {"target": "label"},
    {"fusion": "chain"},
    {"fusion": "none"},
    {"formulation": "paper", "lambda3": 1e-9, "lambda_scale": "absolute"},
    {"graph": "euclidean"},
)


def cases() -> list[tuple[str, str, dict[str, Any]]]:
    """Data set, id and parameters."""
    names = ("wine", "breast_cancer", "digits", "diabetes")
    usual = [(name, id, {}) for name in names for id in available_selectors() if _takes(name, id)]
    return [*usual, *[("breast_cancer", "infused-lasso", changed) for changed in VARIANTS]]


def answer(name: str, id: str, changed: dict[str, Any]) -> dict[str, Any]:
    """The selected features, best first, and the size of their coefficients."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    if name == "diabetes":
        y = y + 0.25  # whole numbers are classes to scikit-learn
    selector = make_selector(id, **{"n_features_to_select": K, **changed})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(X, y)
    chosen = np.flatnonzero(selector.get_support())
    order = chosen[np.argsort(selector.ranking_[chosen], kind="stable")]
    sizes = None
    if hasattr(selector, "coef_"):
        sizes = np.linalg.norm(selector.coef_[:, order], axis=0).tolist()
    return {"selected": order.tolist(), "coefficients": sizes}


def key(name: str, id: str, changed: dict[str, Any]) -> str:
    """One text for one case."""
    return " ".join([name, id, *[f"{word}={value}" for word, value in changed.items()]])


def _takes(name: str, id: str) -> bool:
    return name != "diabetes" or selector_info(id).regression


if __name__ == "__main__":
    answers = {key(*case): answer(*case) for case in cases()}
    FILE.write_text(json.dumps(answers, indent=0) + "\n")
