"""The paper's eight data sets, read from the folder that INFUSED_DATA names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import io, sparse

from infused.bench import paper

NAMES = paper.DATASETS
TEXT = ("RELATHE", "BASEHOCK")  # counts, mostly zero: also worth measuring as CSR


class DatasetError(Exception):
    """A data set cannot be found; the message says in one line what to do."""


def check_names(names: list[str]) -> list[str]:
    """Return the names as they are, or fail before any work starts when one is unknown or its file absent."""
    for name in names:
        if name not in NAMES:
            raise DatasetError(f"unknown data set {name!r}; choose from {', '.join(NAMES)}")
        _path(name)
    return names


def paper_k(name: str) -> int:
    """The number of features with which the paper's InFusedLasso is best."""
    published = paper.published_score("infused-lasso", name)
    assert published is not None  # its table has every data set
    return published.k


def load(name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """X (samples x features, the type as stored) and y (one label per sample)."""
    content = io.loadmat(_path(name), spmatrix=True)
    X, y = (content["fea"], content["gnd"]) if "fea" in content else (content["X"], content["Y"])
    return X, y.ravel()


def load_csr(name: str) -> tuple[sparse.csr_array, NDArray[Any]]:
    """The same data as float64 CSR, the form in which text counts usually arrive."""
    X, y = load(name)
    return sparse.csr_array(X, dtype=np.float64), y


def variants(name: str) -> list[tuple[str, bool]]:
    """The ways in which a data set is given to infused: (label, is it CSR)."""
    return [(name, False), (f"{name} (CSR)", True)] if name in TEXT else [(name, False)]


def load_variant(name: str, as_csr: bool) -> tuple[NDArray[Any] | sparse.csr_array, NDArray[Any]]:
    return load_csr(name) if as_csr else load(name)


def _path(name: str) -> Path:
    folder = os.environ.get("INFUSED_DATA")
    if not folder:
        raise DatasetError("INFUSED_DATA is not set: export INFUSED_DATA=<folder with USPS.mat, ...>")
    path = Path(folder).expanduser() / f"{name}.mat"
    if not path.is_file():
        raise DatasetError(f"{path.name} is not in {path.parent}: point INFUSED_DATA at its folder")
    return path
