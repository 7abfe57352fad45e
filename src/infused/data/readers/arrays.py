"""Arrays: MATLAB's .mat, NumPy's .npz, svmlight, PLINK's .bed. Which holds the features, which the target?"""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from functools import partial
from math import prod
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np

from infused._runtime.checks import EXACT, FEATURE_BYTES, check_archive, check_table, sound
from infused._runtime.messages import extra, quoted, suggestion
from infused._runtime.processes import read_tried
from infused.data.columns import check_unique, numbered
from infused.data.readers import reader
from infused.data.reading import (
    LARGE,
    DataError,
    Part,
    RawMatrix,
    RawTable,
    ReadOptions,
    as_array,
    parsing,
)
from infused.data.written import loses_digits
from infused.exceptions import Setting

X_KEYS = ("X", "fea", "data", "features", "feature", "inputs")
Y_KEYS = ("Y", "gnd", "target", "targets", "labels", "label", "class", "classes")
NAME_KEYS = ("feature_names", "featurenames", "var_names")

SAMPLE, PHENOTYPE = "sample", "phenotype"  # of a .fam

WHOLE = re.compile(rb"(?:^|[\s:,])([+-]?[0-9]{16,})(?=[\s,#]|$)")
SCIPY_SPARSE = {"data", "shape", "format"}


@reader(".mat", title="MATLAB arrays", options=("x_key", "y_key"))
def read_mat(path: Path, options: ReadOptions, part: Part) -> RawMatrix:
    """Read X and Y, fea and gnd, or the arrays that the caller names; a sparse X stays sparse."""
    from scipy import io

    with parsing(path, "MATLAB .mat"):
        try:
            for name, shape, _ in io.whosmat(path):
                check_table(prod(shape), 1, f"{quoted(name)} of {quoted(path)}")
            # Said aloud, since SciPy 1.18 warns that its default will change.
            content = read_tried(partial(io.loadmat, path, spmatrix=True), path, "MATLAB .mat")
        except NotImplementedError:  # version 7.3, which is HDF5
            extra("h5py")
            content = read_tried(partial(hdf5_arrays, path), path, "MATLAB .mat")
    arrays = {key: value for key, value in content.items() if not key.startswith("__")}
    return _pick(arrays, options, part, path)


def hdf5_arrays(path: Path) -> dict[str, Any]:
    """Read the arrays of a .mat file of version 7.3, turned as MATLAB stores columns first."""
    import h5py

    with h5py.File(path, "r") as file:
        names = [name for name in file if not name.startswith("#")]
        return {name: value for name in names if (value := _hdf5_value(file, file[name], path)) is not None}


def _hdf5_value(file: Any, node: Any, path: Path) -> Any:
    """Return a full or sparse array, texts of a cell array; None for what is none of these."""
    from h5py import Dataset
    from scipy import sparse

    if "MATLAB_sparse" in node.attrs:
        if "data" not in node:
            return sparse.csc_matrix((int(node.attrs["MATLAB_sparse"]), len(node["jc"]) - 1))
        n_rows, parts = int(node.attrs["MATLAB_sparse"]), [node[part][()] for part in ("data", "ir", "jc")]
        return sparse.csc_matrix((parts[0], parts[1], parts[2]), shape=(n_rows, len(parts[2]) - 1))
    if not isinstance(node, Dataset):
        return None
    check_table(prod(node.shape), 1, f"{quoted(node.name)} of {quoted(path)}")
    kind = bytes(node.attrs.get("MATLAB_class", b"double"))
    if "MATLAB_empty" in node.attrs:
        return np.empty(node[()].astype(int), dtype="U1" if kind == b"char" else float)
    if kind == b"char":
        return np.array(["".join(map(chr, row)) for row in np.atleast_2d(node[()].T)])
    if kind == b"cell":
        cells = [_hdf5_value(file, file[reference], path) for reference in node[()].T.ravel()]
        texts = ["" if cell is None or not np.size(cell) else np.ravel(cell)[0] for cell in cells]
        return np.array(texts).reshape(node.shape[::-1])
    return node[()].T


@reader(".npz", title="NumPy arrays", options=("x_key", "y_key"))
def read_npz(path: Path, options: ReadOptions, part: Part) -> RawMatrix:
    """Read X and y, or the arrays that the caller names; refuse pickled objects, which can run any code."""
    with parsing(path, "NumPy .npz"), path.open("rb") as file:
        if is_zipfile(path):
            check_archive(path)
        archive = np.load(file, allow_pickle=False)
        if not hasattr(archive, "files"):
            raise DataError(
                f"{quoted(path)} holds a single array (.npy), not an archive: store X and y with np.savez"
            )
        arrays = {key: _member(archive, key, path) for key in archive.files}
    if set(arrays) >= SCIPY_SPARSE:
        from scipy import sparse

        with parsing(path, "a SciPy sparse matrix"):
            arrays = {"X": sparse.load_npz(path)}
    return _pick(arrays, options, part, path)


@reader(".bed", title="PLINK genotypes, beside .bim and .fam")
def read_bed(path: Path, options: ReadOptions, part: Part) -> RawTable:
    """Read copies of the first allele by variant, missing calls as missing, and the phenotype of the .fam."""
    from infused.data.stored import MISSING_CALL, genotypes

    pa = extra("pyarrow")
    found = genotypes(path, every=part in ("features", "texts"))
    check_table(len(found.X), len(found.names), quoted(path))
    columns = [pa.array(found.samples)]
    for block in found.X.blocks(None):
        columns += [pa.array(one, mask=one == MISSING_CALL) for one in block.columns.T]
    check_unique([SAMPLE, *found.names], quoted(path))
    table = pa.table(columns, names=[SAMPLE, *found.names])
    return RawTable(table, found.y, PHENOTYPE, index=(SAMPLE,))


@reader(".svmlight", ".svm", ".libsvm", ".svmlight.gz", ".svm.gz", ".libsvm.gz", title="svmlight, sparse")
def read_svmlight(path: Path, options: ReadOptions, part: Part) -> RawMatrix:
    """Read a sparse X; features are named by their indices in the file, which count from 0 or from 1.

    A file whose indices count from 1 has no feature 0. Naming by index keeps the names of two files of one
    collection in step, even when index 0 occurs in only one of them.
    """
    from sklearn.datasets import load_svmlight_file

    with parsing(path, "svmlight"):
        X, y = load_svmlight_file(str(path), zero_based=True)
    if any(len(found) and np.abs(found).max() >= EXACT for found in (X.data, y)):
        _refuse_lossy(path)
    check_table(0, X.shape[1], quoted(path), FEATURE_BYTES)
    first = 1 if X.shape[1] > 1 and X[:, [0]].nnz == 0 else 0
    return RawMatrix(X[:, first:], y, names=numbered(X.shape[1] - first, first))


def _refuse_lossy(path: Path) -> None:
    """Refuse whole numbers that lost digits, in the features or in the target."""
    with (gzip.open if path.suffix.lower() == ".gz" else open)(path, "rb") as file:
        for line in file:
            if any(loses_digits(found[1].decode()) for found in WHOLE.finditer(line)):
                raise DataError(f"{quoted(path)} has {LARGE}, which would be rounded: store other numbers")


def _member(archive: Any, key: str, path: Path) -> Any:
    try:
        return archive[key]
    except ValueError as error:
        if "pickle" not in str(error):
            raise
        raise DataError(
            f"{quoted(path)} holds pickled objects in {quoted(key)}, refused as they can run any code: "
            "store numbers or texts"
        ) from error


def _pick(arrays: Mapping[str, Any], options: ReadOptions, part: Part, path: Path) -> RawMatrix:
    """Pick X, y and the feature names by the caller's keys or by the usual ones, capitals aside."""
    X = y = names = None
    y_key = "Y"
    if part != "target":
        X = arrays[_key(arrays, "x_key", options.x_key, X_KEYS, path)]
        names_key = _find(arrays, NAME_KEYS)
        where = f"{quoted(names_key)} of {quoted(path)}"
        names = None if names_key is None else _texts(arrays[names_key], where)
    if part in ("both", "target"):
        alone = part == "target" and options.y_key is None and len(arrays) == 1
        y_key = next(iter(arrays)) if alone else _key(arrays, "y_key", options.y_key, Y_KEYS, path)
        y = sound(arrays[y_key], f"{quoted(y_key)} of {quoted(path)}")
        y = y.toarray() if hasattr(y, "toarray") else y
    return RawMatrix(X, y, y_key, names)


def _texts(values: Any, what: str) -> tuple[str, ...]:
    """Read texts from an array, or from a MATLAB cell array."""
    flat = as_array(values, what).ravel()
    return tuple(str(np.asarray(value).ravel()[0] if np.size(value) else "").strip() for value in flat)


def _key(
    arrays: Mapping[str, Any], option: str, wanted: str | None, usual: tuple[str, ...], path: Path
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
    raise DataError(
        f"{quoted(path)} has {missing}: name the array with ", Setting(option), f"; it holds {held or 'none'}"
    )


def _find(arrays: Mapping[str, Any], usual: tuple[str, ...]) -> str | None:
    """Find the first usual key that is there, as it is written there."""
    folded = {key.casefold(): key for key in reversed(list(arrays))}
    return next((folded[key.casefold()] for key in usual if key.casefold() in folded), None)


def _shape(value: Any) -> str:
    return "x".join(str(length) for length in np.shape(value)) or "one value"
