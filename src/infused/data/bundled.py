"""The data sets that come with scikit-learn."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from infused.data.content import Matrix

__all__ = ["BUNDLED", "read_bundled"]

#: name: (title, samples, features, classes)
BUNDLED: dict[str, tuple[str, int, int, int | None]] = {
    "digits": ("handwritten digits, 8 x 8 pixels", 1797, 64, 10),
    "breast-cancer": ("cell nuclei of breast tumours, Wisconsin", 569, 30, 2),
    "wine": ("chemical analysis of wines from three growers", 178, 13, 3),
    "diabetes": ("progression of diabetes after one year", 442, 10, None),
}

TARGETS = {"digits": "digit", "breast-cancer": "diagnosis", "wine": "grower", "diabetes": "progression"}


def read_bundled(name: str) -> Matrix:
    """X, y and the names; classes go by their names where they have any."""
    bunch = getattr(import_module("sklearn.datasets"), f"load_{name.replace('-', '_')}")()
    y = bunch.target
    if name in ("breast-cancer", "wine"):
        y = np.asarray(bunch.target_names)[y]
    names = tuple(str(feature) for feature in bunch.feature_names)
    return Matrix(bunch.data, y, names, TARGETS[name], grid_shape=(8, 8) if name == "digits" else None)
