"""Files of several named arrays: which one holds the features and which one the target."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from infused.data.content import Matrix, ReadOptions
from infused.data.errors import DataError, quoted, suggestion

__all__ = ["as_names", "pick_arrays"]

X_KEYS = ("X", "fea", "data", "features", "feature", "inputs")
Y_KEYS = ("Y", "gnd", "target", "targets", "labels", "label", "class", "classes")
NAME_KEYS = ("feature_names", "featurenames", "var_names")


def pick_arrays(arrays: Mapping[str, Any], options: ReadOptions, path: Path) -> Matrix:
    """X, y and the feature names, by the caller's keys or by the usual ones, capitals aside."""
    X = y = names = None
    y_key = "Y"
    if options.part != "target":
        X = arrays[_key(arrays, options.x_key, X_KEYS, "--x-key", path)]
        names_key = _find(arrays, NAME_KEYS)
        names = None if names_key is None else as_names(arrays[names_key])
    if options.part != "features":
        alone = options.part == "target" and options.y_key is None and len(arrays) == 1
        y_key = next(iter(arrays)) if alone else _key(arrays, options.y_key, Y_KEYS, "--y-key", path)
        y = arrays[y_key].toarray() if hasattr(arrays[y_key], "toarray") else arrays[y_key]
    return Matrix(X, y, names, target_name=y_key)


def as_names(values: Any) -> tuple[str, ...]:
    """Texts from an array of texts, or from a MATLAB cell array of them."""
    flat = np.asarray(values).ravel()
    return tuple(str(np.asarray(value).ravel()[0] if np.size(value) else "").strip() for value in flat)


def _key(
    arrays: Mapping[str, Any], wanted: str | None, usual: tuple[str, ...], option: str, path: Path
) -> str:
    if wanted is None:
        found = _find(arrays, usual)
        if found is not None:
            return found
        missing = f"none of {', '.join(usual)}"
    elif wanted in arrays:
        return wanted
    else:
        missing = f"no {quoted(wanted)}{suggestion(wanted, list(arrays))}"
    held = ", ".join(f"{quoted(key)} ({_shape(value)})" for key, value in list(arrays.items())[:8])
    raise DataError(f"{quoted(path)} has {missing}: name the array with {option}; it holds {held or 'none'}")


def _find(arrays: Mapping[str, Any], usual: tuple[str, ...]) -> str | None:
    """The first usual key that is there, as it is written there."""
    folded = {key.casefold(): key for key in reversed(list(arrays))}
    return next((folded[key.casefold()] for key in usual if key.casefold() in folded), None)


def _shape(value: Any) -> str:
    return "x".join(str(length) for length in np.shape(value)) or "one value"
