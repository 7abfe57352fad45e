"""`fetch_dataset`: public data by one call, downloaded once, checked by their sum, resumed where cut."""

from __future__ import annotations

from pathlib import Path
from urllib.error import HTTPError, URLError

from infused._runtime.files import alone_in, check_writable, write_whole
from infused._runtime.messages import quoted, suggestion
from infused.data.dataset import Dataset
from infused.data.download import Arrived, TransferError, bytes_kept, download, forget
from infused.data.errors import DataError
from infused.data.load import load_data
from infused.data.named import BUNDLED, available_datasets, find_named
from infused.data.public import SETS
from infused.data.stored import by_hand, file_of, is_present, known_sum, read_as, sum_file, sum_of

__all__ = ["fetch_dataset", "fetch_file"]


def fetch_dataset(name: str) -> Dataset:
    """Public data by their name, downloaded where they are not on this machine.

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
    entry, expected, part = SETS[name], known_sum(name), path.with_suffix(path.suffix + ".part")
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
        forget(part)
        raise
    if expected is None:
        write_whole(sum_file(name), f"{found}  {path.name}\n".encode())
    part.replace(path)
    forget(part)


def _broken(name: str, address: str, part: Path, error: TransferError) -> str:
    size = bytes_kept(part, verified=known_sum(name) is not None)
    if size:
        return f"{address} was cut after {size:,} bytes ({error}): run it again, it goes on from there"
    forget(part)
    why, cause = str(error), error.__cause__
    if isinstance(cause, URLError):  # of which an HTTPError is one
        why = f"the server answers {cause.code}" if isinstance(cause, HTTPError) else "is there a connection?"
    return f"{address} cannot be fetched ({why}): {by_hand(name)}"
