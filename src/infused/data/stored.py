"""Named data in a folder of the user's: found, checked by their sums, and read."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

from infused._runtime.messages import quoted
from infused.data.columns import pixel_names
from infused.data.errors import DataError
from infused.data.paper import StoredSet
from infused.data.public import SETS
from infused.data.raw import RawMatrix
from infused.data.treatment import Treatment

__all__ = [
    "by_hand",
    "data_folder",
    "file_of",
    "is_present",
    "known_sum",
    "read_stored",
    "sum_file",
    "sum_of",
]


def data_folder() -> Path:
    """The folder that INFUSED_DATA names, or one in the user's cache."""
    named = os.environ.get("INFUSED_DATA")
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "infused"


def file_of(name: str) -> Path:
    """Where a set is looked for."""
    return data_folder() / f"{name}.mat"


def is_present(name: str) -> bool:
    """Whether its file is there; its content is checked when it is read."""
    return file_of(name).is_file()


def sum_file(name: str) -> Path:
    """Where the sum of a first download is kept."""
    return file_of(name).with_suffix(".sha256")


def known_sum(name: str) -> str | None:
    """The SHA-256 that the file must have; None where neither we nor an earlier download know it."""
    if SETS[name].sha256 is not None:
        return SETS[name].sha256
    kept = sum_file(name)
    return kept.read_text(encoding="ascii").split()[0] if kept.is_file() else None


def sum_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_stored(name: str) -> RawMatrix:
    """One of the sets, the very file that figures were computed on; word counts come sparse."""
    entry, path = SETS[name], file_of(name)
    if not path.is_file():
        fetch = f"type infused datasets fetch {name}, or " if entry.address is not None else ""
        raise DataError(f"{name} is not on this machine: {fetch}{by_hand(name)}")
    expected, found = known_sum(name), sum_of(path)
    if expected is not None and found != expected:
        raise DataError(
            f"{quoted(path)} is not the expected {name} (its SHA-256 begins with {found[:12]}, not with "
            f"{expected[:12]}): get it again, or give its path instead of its name to read it as it is"
        )
    return read_as(path, entry, name)


def by_hand(name: str) -> str:
    """What to do where a set is absent and is not to be fetched."""
    entry, path = SETS[name], file_of(name)
    return (
        f"get {path.name} from {entry.collection} and put it into {quoted(path.parent)}, or name its folder "
        "in the environment variable INFUSED_DATA"
    )


def read_as(path: Path, entry: StoredSet, name: str) -> RawMatrix:
    """A file as what it should be, or an error where it has another size."""
    from scipy import sparse

    from infused.data.readers.arrays import read_mat

    stored = read_mat(path, Treatment(), "both")
    if stored.X.shape != (entry.n_samples, entry.n_features):
        size = " x ".join(str(length) for length in stored.X.shape)
        raise DataError(
            f"{quoted(path)} is not {name}: it has {size} values, not {entry.n_samples} x {entry.n_features}"
        )
    names = None if entry.grid_shape is None else pixel_names(entry.grid_shape, entry.grid_order == "columns")
    X = sparse.csr_array(stored.X) if entry.sparse else stored.X
    return RawMatrix(X, stored.y, "class", names, entry.grid_shape, entry.grid_order)
