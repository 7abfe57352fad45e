"""MATLAB's .mat files, up to version 7.2."""

from __future__ import annotations

from pathlib import Path

from infused.data.arrays import pick_arrays
from infused.data.content import Matrix, ReadOptions
from infused.data.errors import DataError, parsing, quoted
from infused.data.registry import reader

__all__ = ["read_mat"]


@reader(".mat", title="MATLAB arrays", options=("x_key", "y_key"))
def read_mat(path: Path, options: ReadOptions) -> Matrix:
    """X and Y, fea and gnd, or the arrays that the caller names; a sparse X stays sparse."""
    from scipy import io

    with parsing(path, "MATLAB .mat"):
        try:
            content = io.loadmat(path)
        except NotImplementedError as error:
            raise DataError(
                f"{quoted(path)} is a version 7.3 .mat file (HDF5), which is not supported: "
                "in MATLAB, save it again with save(..., '-v7')"
            ) from error
    arrays = {key: value for key, value in content.items() if not key.startswith("__")}
    return pick_arrays(arrays, options, path)
