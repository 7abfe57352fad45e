"""What every selector answers on scikit-learn's data sets: recorded once, and held since.

``python -m tests.selectors.golden`` records anew, after a change that is meant to change answers, and after
the number of the selector in ``infused.selectors.registry`` was raised: of every version the answers are
known by a hash, and one version has one.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

from infused import available_selectors
from infused.selectors.registry import selector_info, selector_version
from tests.selectors.family import make_selector

FILE = Path(__file__).parent / "golden.json"
VERSIONS = Path(__file__).parent / "golden_versions.json"
K = 6
VARIANTS = (
    {"ranking": "forward"},
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


def same(found: dict[str, Any], recorded: dict[str, Any]) -> bool:
    """The same features in the same order, and coefficients of the same size but for rounding."""
    if found["selected"] != recorded["selected"]:
        return False
    if recorded["coefficients"] is None or found["coefficients"] is None:
        return found["coefficients"] is recorded["coefficients"]
    return np.allclose(found["coefficients"], recorded["coefficients"], rtol=1e-5, atol=1e-9)


def digests(answers: dict[str, Any]) -> dict[str, str]:
    """A hash of all recorded answers of each selector."""
    mine: dict[str, dict[str, Any]] = {}
    for case in cases():
        mine.setdefault(case[1], {})[key(*case)] = answers.get(key(*case))
    return {id: hashlib.sha256(json.dumps(own).encode()).hexdigest()[:16] for id, own in mine.items()}


def with_new_versions(versions: dict[str, dict[str, str]], answers: dict[str, Any]) -> dict[str, Any]:
    """The versions with those of today; one whose answers changed must have a number that is new."""
    for id, digest in digests(answers).items():
        if versions.setdefault(id, {}).setdefault(selector_version(id), digest) != digest:
            raise SystemExit(f"{id} answers otherwise: raise its number in infused/selectors/versions.py")
    return versions


def record() -> None:
    """Write both files; an answer that is the same but for rounding stays as it is written."""
    before = json.loads(FILE.read_text())
    answers = {}
    for case in cases():
        found, recorded = answer(*case), before.get(key(*case))
        answers[key(*case)] = recorded if recorded and same(found, recorded) else found
    versions = with_new_versions(json.loads(VERSIONS.read_text()) if VERSIONS.exists() else {}, answers)
    FILE.write_text(json.dumps(answers, indent=0) + "\n")
    VERSIONS.write_text(json.dumps(versions, indent=1) + "\n")


if __name__ == "__main__":
    record()
