"""Packages that only some jobs need, each brought along by an extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from infused.exceptions import MissingExtraError

__all__ = ["extra"]

#: Which extra of infused brings which package.
EXTRAS = {
    "anndata": "h5ad",
    "dask": "dask",
    "distributed": "dask",
    "filelock": "files",
    "jinja2": "report",
    "matplotlib": "plots",
    "openpyxl": "files",
    "pandas": "files",
    "pyarrow": "files",
    "rich": "cli",
    "typer": "cli",
    "zarr": "dask",
}


def extra(module: str) -> Any:
    """A module of an optional package, or one line that says how to get it."""
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        wanted = f"'infused[{EXTRAS[package]}]'" if package in EXTRAS else package
        raise MissingExtraError(
            f"this needs the package {package}, which is not installed: pip install {wanted}"
        ) from error
