"""NumPy's .npz archives, and the sparse matrices that SciPy stores in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from infused.data.arrays import pick_arrays
from infused.data.content import Matrix, ReadOptions
from infused.data.errors import DataError, parsing, quoted
from infused.data.registry import reader

__all__ = ["read_npz"]

SCIPY_SPARSE = {"data", "shape", "format"}


@reader(".npz", title="NumPy arrays", options=("x_key", "y_key"))
def read_npz(path: Path, options: ReadOptions) -> Matrix:
    """X and y, or the arrays that the caller names. Pickled objects are refused: they can run any code."""
    import numpy as np

    with parsing(path, "NumPy .npz"), path.open("rb") as file:
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
    return pick_arrays(arrays, options, path)


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
