"""AnnData's .h5ad files (single-cell data), where the package anndata is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from infused._typing import Array
from infused.data.columns import find_column
from infused.data.content import Matrix, ReadOptions
from infused.data.errors import DataError, listed, parsing, quoted
from infused.data.registry import reader
from infused.data.target import target_from_column

__all__ = ["read_h5ad"]


@reader(".h5ad", title="AnnData (needs the package anndata)", options=("target", "x_key"))
def read_h5ad(path: Path, options: ReadOptions) -> Matrix:
    """X, or the layer that ``x_key`` names; features are the variables, the target is a column of ``obs``."""
    try:
        import anndata
    except ImportError as error:
        raise DataError(
            f"{quoted(path)} needs the package anndata, which is not installed: pip install 'infused[h5ad]'"
        ) from error
    with parsing(path, "AnnData"):
        data = anndata.read_h5ad(path)
    y, target_name = (None, "target") if options.part == "features" else _target(data, options, path)
    X = None if options.part == "target" else _layer(data, options.x_key, path)
    return Matrix(X, y, tuple(str(name) for name in data.var_names), target_name)


def _layer(data: Any, key: str | None, path: Path) -> Any:
    if key is None and data.X is not None:
        return data.X
    if key is not None and key in data.layers:
        return data.layers[key]
    missing = "no X" if key is None else f"no layer {quoted(key)}"
    raise DataError(
        f"{quoted(path)} has {missing}: name a layer with --x-key; it has {listed(data.layers) or 'none'}"
    )


def _target(data: Any, options: ReadOptions, path: Path) -> tuple[Array, str]:
    import pyarrow as pa

    names = [str(name) for name in data.obs.columns]
    if options.target is None:
        held = listed(names) or "no columns"
        raise DataError(f"--target is not given: which column of obs of {quoted(path)} is it? it has {held}")
    position = find_column(names, options.target, "--target")
    column = pa.chunked_array([pa.Array.from_pandas(data.obs.iloc[:, position])])
    return target_from_column(column, names[position]), names[position]
