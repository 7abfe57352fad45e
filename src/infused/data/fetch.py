"""`fetch_dataset`: public data by one call, downloaded once, checked by their sum, resumed where cut."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from infused._runtime.extras import extra
from infused._runtime.files import check_writable, write_whole
from infused._runtime.messages import quoted, reason, suggestion
from infused.data.dataset import Dataset
from infused.data.errors import DataError
from infused.data.load import load_data
from infused.data.named import BUNDLED, available_datasets, find_named
from infused.data.public import SETS
from infused.data.stored import by_hand, file_of, is_present, known_sum, read_as, sum_file, sum_of

__all__ = ["Arrived", "fetch_dataset", "fetch_file"]

PATIENCE_S = 30
PIECE = 1 << 12  # of the last one a cut loses all

#: Called with the bytes that are there, and all of them where the server tells.
Arrived = Callable[[int, int | None], None]


def fetch_dataset(name: str) -> Dataset:
    """Public data by their name, downloaded where they are not on this machine.

    The file is kept in the folder that the environment variable INFUSED_DATA names, or in the user's cache,
    and is not downloaded again. Its SHA-256 is checked. Of some sets no sum is known: the first file that has
    the stated size settles it, and a later one must be the same. A transfer that was cut goes on from there.

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


def fetch_file(name: str, arrived: Arrived | None = None) -> Path:
    """The file of a set, downloaded where it is absent; its content is what its sum says."""
    name = _known(name)
    if name in BUNDLED:
        raise DataError(f"{name} comes with scikit-learn: there is nothing to fetch")
    path, entry = file_of(name), SETS[name]
    if is_present(name):
        return path
    if entry.address is None:
        raise DataError(f"no public file is the very {name} that was measured: {by_hand(name)}")
    check_writable(path.parent)
    path.parent.mkdir(parents=True, exist_ok=True)
    _download(entry.address, path, known_sum(name), arrived)
    try:
        read_as(path, entry, name)
    except DataError:
        path.unlink()
        raise
    if known_sum(name) is None:
        write_whole(sum_file(name), f"{sum_of(path)}  {path.name}\n".encode())
    return path


def _known(name: str) -> str:
    known = find_named(name)
    if known is None:
        raise DataError(f"no data are named {quoted(name)}{suggestion(name, available_datasets())}")
    return known


def _download(address: str, path: Path, expected: str | None, arrived: Arrived | None) -> None:
    """Pooch checks the sum, and renames a whole file into its place."""
    pooch = extra("pooch")
    pooch.get_logger().setLevel("ERROR")
    part = path.with_suffix(path.suffix + ".part")
    try:
        pooch.retrieve(
            address,
            known_hash=None if expected is None else f"sha256:{expected}",
            fname=path.name,
            path=path.parent,
            downloader=Resuming(part, arrived),
        )
    except ValueError as error:  # pooch's word for another sum
        raise DataError(
            f"{address} is not the expected file: its SHA-256 is another than {(expected or '')[:12]}...; "
            f"{by_hand(path.stem)}"
        ) from error
    except OSError as error:  # what requests raises is one
        raise DataError(_broken(address, part, error)) from error


def _broken(address: str, part: Path, error: OSError) -> str:
    if part.is_file() and part.stat().st_size:
        size = f"{part.stat().st_size:,} bytes"
        return f"{address} was cut after {size} ({reason(error)}): run it again, it goes on from there"
    answer = getattr(getattr(error, "response", None), "status_code", None)
    why = f"the server answers {answer}" if answer else "is there a connection?"
    return f"{address} cannot be fetched ({why}): {by_hand(part.name.partition('.')[0])}"


class Resuming:
    """A downloader for pooch that goes on where an earlier transfer was cut."""

    def __init__(self, part: Path, arrived: Arrived | None = None):
        self.part = part
        self.arrived = arrived or (lambda done, total: None)

    def __call__(self, url: str, output_file: str, pooch: Any) -> None:
        """Download to ``part``; when it is whole, give it the name that pooch asked for."""
        requests = extra("requests")
        have = self.part.stat().st_size if self.part.is_file() else 0
        headers = {"User-Agent": "infused", "Accept-Encoding": "identity"}
        if have:
            headers["Range"] = f"bytes={have}-"
        with requests.get(url, headers=headers, stream=True, timeout=PATIENCE_S) as response:
            if response.status_code == requests.codes.requested_range_not_satisfiable:
                self.part.unlink()  # it is longer than the file is now
                return self(url, output_file, pooch)
            response.raise_for_status()
            if response.status_code != requests.codes.partial_content:
                have = 0  # the server sends all of it
            left = response.headers.get("Content-Length")
            total = have + int(left) if left is not None else None
            with self.part.open("ab" if have else "wb") as file:
                for piece in response.iter_content(PIECE):
                    file.write(piece)
                    self.arrived(file.tell(), total)
        self.part.replace(output_file)
