"""Data sets by name: what there is, where it is kept, and how it is fetched."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from urllib.error import HTTPError, URLError

import numpy as np

from infused._runtime.files import alone_in, check_writable, write_whole
from infused._runtime.messages import quoted, suggestion
from infused.data.columns import pixel_names
from infused.data.dataset import Dataset
from infused.data.download import Arrived, TransferError, bytes_kept, discard, download
from infused.data.readers import format_of
from infused.data.reading import DataError, GridOrder, RawMatrix, ReadOptions

#: name: (title, samples, features, classes)
BUNDLED: dict[str, tuple[str, int, int, int | None]] = {
    "digits": ("handwritten digits, 8 x 8 pixels", 1797, 64, 10),
    "breast-cancer": ("cell nuclei of breast tumours, Wisconsin", 569, 30, 2),
    "wine": ("chemical analysis of wines from three growers", 178, 13, 3),
    "diabetes": ("progression of diabetes after one year", 442, 10, None),
}

TARGETS = {"digits": "digit", "breast-cancer": "diagnosis", "wine": "grower", "diabetes": "progression"}


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of named data before they are read.

    Parameters
    ----------
    name : str
        As `load_data` takes it.
    title : str
        What the data are.
    n_samples : int
        Rows.
    n_features : int
        Columns, without the target.
    n_classes : int or None
        None for a real target.
    origin : str
        Who provides them.
    present : bool
        Whether they are on this machine.

    See Also
    --------
    dataset_info : Makes one.

    Examples
    --------
    >>> from infused.data import dataset_info
    >>> dataset_info("digits").title
    'handwritten digits, 8 x 8 pixels'
    """

    name: str
    title: str
    n_samples: int
    n_features: int
    n_classes: int | None
    origin: str
    present: bool


def available_datasets() -> tuple[str, ...]:
    """List the names that `load_data` knows; `dataset_info` describes each, and says whether it is here.

    Returns
    -------
    tuple of str
        The sets that come with scikit-learn, then those of the paper, then more of their kinds.

    See Also
    --------
    dataset_info : What is known of one.
    load_data : Reads it.
    infused.fetch_dataset : Downloads it where it is absent, and reads it.

    Examples
    --------
    >>> from infused.data import available_datasets
    >>> available_datasets()[:4]
    ('digits', 'breast-cancer', 'wine', 'diabetes')
    """
    return (*BUNDLED, *SETS)


def dataset_info(name: str) -> DatasetInfo:
    """Return size, origin and presence of named data, without reading them.

    Parameters
    ----------
    name : str
        One of `available_datasets`, whatever its capitals.

    Returns
    -------
    DatasetInfo
        What is known of them.

    Raises
    ------
    DataError
        Where no data have this name.

    See Also
    --------
    available_datasets : The names.
    load_data : Reads the data.

    Examples
    --------
    >>> from infused.data import dataset_info
    >>> dataset_info("wine").n_features
    13
    """
    known = _known(name)
    if known in BUNDLED:
        return DatasetInfo(known, *BUNDLED[known], "scikit-learn", True)
    entry = SETS[known]
    size = (entry.title, entry.n_samples, entry.n_features, entry.n_classes)
    return DatasetInfo(known, *size, entry.collection, is_present(known))


def find_named(source: str) -> str | None:
    """Find a name as it is spelled here, whatever its capitals; None where there is none such."""
    return next((name for name in available_datasets() if name.casefold() == source.casefold()), None)


def read_named(name: str) -> RawMatrix:
    """Read the data of a name that `find_named` returned."""
    return _read_bundled(name) if name in BUNDLED else read_stored(name)


def _read_bundled(name: str) -> RawMatrix:
    """Read X, y and the names from scikit-learn; classes go by their names where they have any."""
    bunch = getattr(import_module("sklearn.datasets"), f"load_{name.replace('-', '_')}")()
    y = bunch.target
    if name in ("breast-cancer", "wine"):
        y = np.asarray(bunch.target_names)[y]
    names = tuple(str(feature) for feature in bunch.feature_names)
    return RawMatrix(bunch.data, y, TARGETS[name], names, (8, 8) if name == "digits" else None)


SCIKIT_FEATURE = "scikit-feature repository (Arizona State University)"
DENG_CAI = "Deng Cai's page of face and digit data"
SCIKIT_FEATURE_FILES = "https://jundongl.github.io/scikit-feature/files/datasets/"
DENG_CAI_FILES = "http://www.cad.zju.edu.cn/home/dengcai/Data/"


@dataclass(frozen=True)
class StoredSet:
    """What is known of a public file of data, and where it is."""

    title: str
    n_samples: int
    n_features: int
    n_classes: int
    collection: str
    """The public collection that it comes from."""
    sha256: str | None
    """Of its file; None where it is not known, then the first download settles it."""
    address: str | None
    """Of its file; None where no public file has this sum."""
    grid_shape: tuple[int, int] | None = None
    grid_order: GridOrder = "rows"
    sparse: bool = False


PAPER = {
    "USPS": StoredSet(
        "handwritten digits from envelopes, 16 x 16 pixels", 9298, 256, 10, DENG_CAI,
        "99e71a60ca6f47c45d5478c964746d695ba21efffcd93b7e147fae6518cd768a",
        DENG_CAI_FILES + "USPS/USPS.mat", (16, 16),
    ),
    "PIE": StoredSet(
        "faces by pose and light, 32 x 32 pixels", 11554, 1024, 68, DENG_CAI,
        "4cd3bbea0426cddbc08f0bf820bfeb77da137724090e285a8b272099613a9f28",
        None, (32, 32), "columns",
    ),
    "YaleB": StoredSet(
        "faces under many lights, 32 x 32 pixels", 2414, 1024, 38, DENG_CAI,
        "3fbbda4eb781b9bb28025189677b6727706e114eb0215bbfd718f1f4fcb54b99",
        DENG_CAI_FILES + "YaleB/YaleB_32x32.mat", (32, 32), "columns",
    ),
    "Lymphoma": StoredSet(
        "gene expression, types of lymphoma", 96, 4026, 9, SCIKIT_FEATURE,
        "bd834ed911d47ecf2e07625ed77617d514d89ee398fa2e7a787230f7cf5243f8",
        SCIKIT_FEATURE_FILES + "lymphoma.mat",
    ),
    "Leukemia": StoredSet(
        "gene expression, two types of leukaemia", 72, 7129, 2, SCIKIT_FEATURE,
        "068afe0fe1021932e1e7d801294c267de8aeaa9d41899acfac024e72b0d44c1e",
        SCIKIT_FEATURE_FILES + "ALLAML.mat",
    ),
    "RELATHE": StoredSet(
        "words of newsgroups: religion or atheism", 1427, 4322, 2, SCIKIT_FEATURE,
        "1091fe26c721aa69ddc5ce3ebcef54e03565809cae07e1769cef45ad23ab28d0",
        SCIKIT_FEATURE_FILES + "RELATHE.mat", sparse=True,
    ),
    "BASEHOCK": StoredSet(
        "words of newsgroups: baseball or hockey", 1993, 4862, 2, SCIKIT_FEATURE,
        "e0452e0f3c0fefdc5cb6352165e4ba4a25c3a2a7b5a5b4d44e103742d6317aa0",
        SCIKIT_FEATURE_FILES + "BASEHOCK.mat", sparse=True,
    ),
    "Isolet1": StoredSet(
        "spoken letters of the alphabet", 1560, 617, 26, SCIKIT_FEATURE,
        "ea73c69b1342a7def8199458e53a70307a83d557eceb2579863dda57c3ccd2b1",
        SCIKIT_FEATURE_FILES + "Isolet.mat",
    ),
}  # fmt: skip


#: name: (title, samples, features, classes)
_MORE = {
    "colon": ("gene expression, colon tumours", 62, 2000, 2),
    "GLIOMA": ("gene expression, types of glioma", 50, 4434, 4),
    "lung": ("gene expression, types of lung cancer", 203, 3312, 5),
    "Prostate-GE": ("gene expression, prostate cancer", 102, 5966, 2),
    "TOX-171": ("gene expression, toxicology", 171, 5748, 4),
    "COIL20": ("things on a turntable, 32 x 32 pixels", 1440, 1024, 20),
    "ORL": ("faces, 32 x 32 pixels", 400, 1024, 40),
    "Yale": ("faces, 32 x 32 pixels", 165, 1024, 15),
    "warpPIE10P": ("faces by pose, 44 x 55 pixels", 210, 2420, 10),
    "PCMAC": ("words of newsgroups: PC or Mac", 1943, 3289, 2),
    "madelon": ("made data: 20 features matter, 480 do not", 2600, 500, 2),
}
MORE = {
    name: StoredSet(*known, SCIKIT_FEATURE, None, f"{SCIKIT_FEATURE_FILES}{name.replace('-', '_')}.mat")
    for name, known in _MORE.items()
}

SETS = {**PAPER, **MORE}


def data_folder() -> Path:
    """Return the folder that INFUSED_DATA names, or one in the user's cache."""
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
    """Return the path where a set is looked for."""
    return data_folder() / f"{name}.mat"


def is_present(name: str) -> bool:
    """Return whether the file of a set is there; its content is checked when it is read."""
    return file_of(name).is_file()


def sum_file(name: str) -> Path:
    """Return the path where the checksum of a first download is kept."""
    return file_of(name).with_suffix(".sha256")


def known_sum(name: str) -> str | None:
    """Return the SHA-256 that the file must have; None where neither we nor an earlier download know it."""
    if SETS[name].sha256 is not None:
        return SETS[name].sha256
    kept = sum_file(name)
    return kept.read_text(encoding="ascii").split()[0] if kept.is_file() else None


def sum_of(path: Path) -> str:
    """Compute the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_stored(name: str) -> RawMatrix:
    """Read one of the sets, the very file that figures were computed on; word counts come sparse."""
    entry, path = SETS[name], file_of(name)
    if not path.is_file():
        fetch = f"type infused datasets fetch {name}, or " if entry.address is not None else ""
        raise DataError(f"{name} is not on this machine: {fetch}{by_hand(name)}")
    expected, found = known_sum(name), sum_of(path)
    if expected is not None and found != expected:
        raise DataError(
            f"{quoted(path)} is not the expected {name} (SHA-256 {found[:12]}..., not "
            f"{expected[:12]}...): get it again, or give its path instead of its name to read it as it is"
        )
    return read_as(path, entry, name)


def by_hand(name: str) -> str:
    """Say what to do where a set is absent and is not to be fetched."""
    entry, path = SETS[name], file_of(name)
    return (
        f"get {path.name} from {entry.collection} and put it into {quoted(path.parent)}, or name its folder "
        "in the environment variable INFUSED_DATA"
    )


def read_as(path: Path, entry: StoredSet, name: str) -> RawMatrix:
    """Read the file of a set; raise where it has another size."""
    from scipy import sparse

    stored = format_of(path).read(path, ReadOptions(), "both")
    assert isinstance(stored, RawMatrix)
    if stored.X.shape != (entry.n_samples, entry.n_features):
        size = " x ".join(str(length) for length in stored.X.shape)
        raise DataError(
            f"{quoted(path)} is not {name}: it has {size} values, not {entry.n_samples} x {entry.n_features}"
        )
    names = None if entry.grid_shape is None else pixel_names(entry.grid_shape, entry.grid_order == "columns")
    X = sparse.csr_array(stored.X) if entry.sparse else stored.X
    return RawMatrix(X, stored.y, "class", names, entry.grid_shape, entry.grid_order)


def fetch_dataset(name: str) -> Dataset:
    """Return public data by their name, downloaded where they are not on this machine.

    The file is kept in the folder that the environment variable INFUSED_DATA names, or in the user's cache,
    and is not downloaded again. Its SHA-256 is checked. Of some sets no sum is known: the first file that has
    the stated size settles it, and a later one must be the same. A transfer that was cut goes on from there,
    unless the file may have changed meanwhile.

    Parameters
    ----------
    name : str
        One of `infused.data.available_datasets`, whatever its capitals.

    Returns
    -------
    Dataset
        The data, with one target.

    Raises
    ------
    DataError
        Where no data have this name, there is no connection, or the file is another than the expected.

    See Also
    --------
    infused.data.available_datasets : The names.
    infused.data.load_data : Reads files and named data that are there.

    Examples
    --------
    >>> import infused
    >>> infused.fetch_dataset("wine").n_samples  # comes with scikit-learn
    178
    """
    known = _known(name)
    if known not in BUNDLED:
        fetch_file(known)
    from infused.data.load import load_data  # which finds sources by the names in this file

    return load_data(known)


def fetch_file(name: str, arrived: Arrived = lambda done, total: None) -> Path:
    """Return the file of a set, downloaded where it is absent; its content is what its sum says."""
    name = _known(name)
    if name in BUNDLED:
        raise DataError(f"{name} comes with scikit-learn: there is nothing to fetch")
    path = file_of(name)
    if is_present(name):
        return path
    if SETS[name].address is None:
        raise DataError(f"no public file is the very {name} that was measured: {by_hand(name)}")
    check_writable(path.parent)
    path.parent.mkdir(parents=True, exist_ok=True)
    with alone_in(path.parent):
        if not is_present(name):  # another process may have fetched it meanwhile
            _fetch(name, path, arrived)
    return path


def _known(name: str) -> str:
    known = find_named(name)
    if known is None:
        raise DataError(f"no data are named {quoted(name)}{suggestion(name, available_datasets())}")
    return known


def _fetch(name: str, path: Path, arrived: Arrived) -> None:
    """Download a set beside its place, check it, and move it there."""
    entry, expected, part = SETS[name], known_sum(name), path.with_suffix(f".part{path.suffix}")
    address = str(entry.address)
    try:
        download(address, part, resume=True, verified=expected is not None, arrived=arrived)
    except TransferError as error:
        raise DataError(_broken(name, address, part, error)) from error
    try:
        found = sum_of(part)
        if expected is not None and found != expected:
            raise DataError(
                f"{address} is not the expected file: its SHA-256 is {found[:12]}..., not "
                f"{expected[:12]}...; {by_hand(name)}"
            )
        read_as(part, entry, name)
    except DataError:
        discard(part)
        raise
    if expected is None:
        write_whole(sum_file(name), f"{found}  {path.name}\n".encode())
    part.replace(path)
    discard(part)


def _broken(name: str, address: str, part: Path, error: TransferError) -> str:
    size = bytes_kept(part, verified=known_sum(name) is not None)
    if size:
        return f"{address} was cut after {size:,} bytes ({error}): run it again, it goes on from there"
    discard(part)
    why, cause = str(error), error.__cause__
    if isinstance(cause, URLError):  # of which an HTTPError is one
        why = f"the server answers {cause.code}" if isinstance(cause, HTTPError) else "is there a connection?"
    return f"{address} cannot be fetched ({why}): {by_hand(name)}"
