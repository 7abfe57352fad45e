"""The eight data sets of the paper: not ours to hand out, but found in a folder of the user's and checked."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from infused._runtime.messages import quoted
from infused.data.columns import pixel_names
from infused.data.errors import DataError
from infused.data.raw import GridOrder, RawMatrix
from infused.data.treatment import Treatment

__all__ = ["PAPER", "PaperSet", "data_folder", "is_present", "paper_file", "read_paper"]

SCIKIT_FEATURE = "scikit-feature repository (Arizona State University)"
DENG_CAI = "Deng Cai's page of face and digit data"


@dataclass(frozen=True)
class PaperSet:
    """What is known of one of the files."""

    title: str
    n_samples: int
    n_features: int
    n_classes: int
    collection: str
    """The public collection that it comes from."""
    sha256: str
    grid_shape: tuple[int, int] | None = None
    grid_order: GridOrder = "rows"
    sparse: bool = False


PAPER = {
    "USPS": PaperSet(
        "handwritten digits from envelopes, 16 x 16 pixels", 9298, 256, 10, DENG_CAI,
        "99e71a60ca6f47c45d5478c964746d695ba21efffcd93b7e147fae6518cd768a", (16, 16),
    ),
    "PIE": PaperSet(
        "faces by pose and light, 32 x 32 pixels", 11554, 1024, 68, DENG_CAI,
        "4cd3bbea0426cddbc08f0bf820bfeb77da137724090e285a8b272099613a9f28", (32, 32), "columns",
    ),
    "YaleB": PaperSet(
        "faces under many lights, 32 x 32 pixels", 2414, 1024, 38, DENG_CAI,
        "3fbbda4eb781b9bb28025189677b6727706e114eb0215bbfd718f1f4fcb54b99", (32, 32), "columns",
    ),
    "Lymphoma": PaperSet(
        "gene expression, types of lymphoma", 96, 4026, 9, SCIKIT_FEATURE,
        "bd834ed911d47ecf2e07625ed77617d514d89ee398fa2e7a787230f7cf5243f8",
    ),
    "Leukemia": PaperSet(
        "gene expression, two types of leukaemia", 72, 7129, 2, SCIKIT_FEATURE,
        "068afe0fe1021932e1e7d801294c267de8aeaa9d41899acfac024e72b0d44c1e",
    ),
    "RELATHE": PaperSet(
        "words of newsgroups: religion or atheism", 1427, 4322, 2, SCIKIT_FEATURE,
        "1091fe26c721aa69ddc5ce3ebcef54e03565809cae07e1769cef45ad23ab28d0", sparse=True,
    ),
    "BASEHOCK": PaperSet(
        "words of newsgroups: baseball or hockey", 1993, 4862, 2, SCIKIT_FEATURE,
        "e0452e0f3c0fefdc5cb6352165e4ba4a25c3a2a7b5a5b4d44e103742d6317aa0", sparse=True,
    ),
    "Isolet1": PaperSet(
        "spoken letters of the alphabet", 1560, 617, 26, SCIKIT_FEATURE,
        "ea73c69b1342a7def8199458e53a70307a83d557eceb2579863dda57c3ccd2b1",
    ),
}  # fmt: skip


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


def paper_file(name: str) -> Path:
    """Where a set is looked for."""
    return data_folder() / f"{name}.mat"


def is_present(name: str) -> bool:
    """Whether its file is there; its content is checked when it is read."""
    return paper_file(name).is_file()


def read_paper(name: str) -> RawMatrix:
    """One of the eight, the very file that published figures were computed on; word counts come sparse."""
    entry, path = PAPER[name], paper_file(name)
    if not path.is_file():
        raise DataError(
            f"{name} is not on this machine: get {path.name} from {entry.collection} and put it into "
            f"{quoted(path.parent)}, or name its folder in the environment variable INFUSED_DATA"
        )
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != entry.sha256:
        raise DataError(
            f"{quoted(path)} is not the expected {name} (its SHA-256 begins with {found[:12]}, not with "
            f"{entry.sha256[:12]}): get it again, or give its path instead of its name to read it as it is"
        )
    return _read(path, entry)


def _read(path: Path, entry: PaperSet) -> RawMatrix:
    from scipy import sparse

    from infused.data.readers.arrays import read_mat

    stored = read_mat(path, Treatment(), "both")
    names = None if entry.grid_shape is None else pixel_names(entry.grid_shape, entry.grid_order == "columns")
    X = sparse.csr_array(stored.X) if entry.sparse else stored.X
    return RawMatrix(X, stored.y, "class", names, entry.grid_shape, entry.grid_order)
