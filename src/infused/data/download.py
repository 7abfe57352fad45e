"""Transfers over http(s): whole, of one version of the file, and finished by a deadline.

The standard library sends the requests. It reads a cut body as if it were whole, limits the time of a single
read only, and follows redirects to FTP; what is here checks the length, the version and the time.
"""

from __future__ import annotations

import io
import json
import re
import ssl
from collections.abc import Callable
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
)

from infused._runtime.files import write_whole
from infused._runtime.messages import quoted, reason
from infused._runtime.threads import format_bytes
from infused.data.reading import DataError

LARGEST_DOWNLOAD = 2 * 2**30
PATIENCE_S = 60.0  # for the next byte, and for the first of the content
DEADLINE_S = 3600.0  # for the whole transfer
SLOWEST = 1000.0  # bytes per second on average: a server that sends less is given up
PIECE = 1 << 14
UNSURE_S = 60.0  # a file may change again within the second that its date shows

#: Called with the bytes that are there, and all of them where the server states the length.
Arrived = Callable[[int, int | None], None]


class TransferError(OSError):
    """A file did not arrive whole."""


class Version(NamedTuple):
    """Which version of a file a server sent: its validator and its length."""

    tag: str
    """A strong ETag, or the date of the last change."""
    total: int


def check_address(address: str) -> None:
    """Refuse an address that cannot be fetched; cheap, so ask before any work is done."""
    if "@" in address.split("/")[2]:
        raise DataError("an address with a name or a password would be recorded: download the file instead")
    try:
        parts = urlsplit(address)
        sound = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        sound = False
    if not sound or not address.isprintable() or " " in address:
        raise DataError(f"{quoted(address)} is no valid address: give http(s)://host/path, spaces as %20")


def download(
    address: str,
    file: Path,
    *,
    limit: int = LARGEST_DOWNLOAD,
    resume: bool = False,
    verified: bool = False,
    arrived: Arrived = lambda done, total: None,
) -> bool:
    """Write what is at an address to a file; return whether the server said where the file ends.

    With ``resume`` a file that is there is continued, if the server still has the version that it began with.
    Where the content is ``verified`` by its checksum afterwards, a server need not tell versions apart.
    """
    try:
        return _transfer(address, file, limit, resume, verified, arrived)
    except TransferError:
        raise
    except HTTPError as error:
        error.close()
        raise TransferError(f"{error.code} {reason(error.msg)}") from error
    except (OSError, HTTPException, ValueError, OverflowError) as error:
        raise TransferError(reason(getattr(error, "reason", error))) from error


def bytes_kept(file: Path, verified: bool) -> int:
    """Return the number of bytes after which a transfer that was cut can go on."""
    usable = file.is_file() and (verified or _read_version(file) is not None)
    return file.stat().st_size if usable else 0


def discard(file: Path) -> None:
    """Remove a file that was cut, with the version that it began with."""
    file.unlink(missing_ok=True)
    _version_file(file).unlink(missing_ok=True)


def _transfer(address: str, file: Path, limit: int, resume: bool, verified: bool, arrived: Arrived) -> bool:
    have = bytes_kept(file, verified) if resume else 0
    version = _read_version(file) if have else None
    with _ask(address, have, version) as response:
        if not have or not _continues(response, have, version):
            discard(file)
            if have and response.status != 200:  # a part of something else: ask for all of it
                return _transfer(address, file, limit, resume, verified, arrived)
            if response.status != 200:
                raise TransferError(f"the server answers {response.status}, not with the whole file")
            have = 0
        length = _length(response)
        total = None if length is None else have + length
        if have and version is not None:
            total = version.total
        if total is not None and total > limit:
            raise TransferError(f"it holds more than {format_bytes(limit)}")
        if resume and not have and total is not None:
            _write_version(file, _tag(response), total)
        size = _copy(response, file, have, total, limit, arrived)
    if total is not None and size != total:
        raise TransferError(f"the transfer ended after {size:,} of {total:,} bytes")
    return total is not None or response.chunked


def _ask(address: str, have: int, version: Version | None) -> Any:
    """Send the request: for the file, or for what follows the bytes that are here."""
    headers = {"User-Agent": "infused"}
    if have:
        headers["Range"] = f"bytes={have}-"
    if have and version is not None:
        headers["If-Range"] = version.tag
    opener = OpenerDirector()
    for handler in (
        ProxyHandler,
        UnknownHandler,
        HTTPDefaultErrorHandler,
        HTTPErrorProcessor,
        _Redirects,
        _Open,
    ):
        opener.add_handler(handler())
    try:
        return opener.open(Request(address, headers=headers), timeout=PATIENCE_S)
    except HTTPError as error:
        if error.code == 416 and have:  # the file is shorter now than what is here
            return error
        raise


def _copy(response: Any, file: Path, size: int, total: int | None, limit: int, arrived: Arrived) -> int:
    """Append the body to the file; return the size that this gives it."""
    with file.open("ab") as target:
        while piece := response.read(PIECE):
            size += len(piece)
            if size > limit:
                raise TransferError(f"it holds more than {format_bytes(limit)}")
            target.write(piece)
            arrived(size, total)
    return size


def _length(response: Any) -> int | None:
    """Return the stated length of the body; None where its end is marked, or unknown."""
    coding = response.headers.get("Transfer-Encoding", "")
    if coding:
        if coding.strip().lower() != "chunked":
            raise TransferError(f"the transfer encoding {quoted(coding)} is not known")
        return None
    stated = {one.strip() for one in response.headers.get_all("Content-Length", [])}
    if not stated:
        return None
    if len(stated) > 1 or not re.fullmatch("[0-9]{1,18}", min(stated)):
        raise TransferError(f"the server states the length {quoted(', '.join(sorted(stated)))}")
    return int(stated.pop())


def _tag(response: Any) -> str | None:
    """Return what tells this version of a file from every other, where the server sends such a thing."""
    tag = response.headers.get("ETag", "").strip()
    if re.fullmatch(r'"[!#-~]*"', tag):  # one that begins with W/ holds for files that differ in some bytes
        return str(tag)
    changed, now = response.headers.get("Last-Modified", ""), response.headers.get("Date", "")
    with suppress(ValueError, TypeError, OverflowError):
        if (parsedate_to_datetime(now) - parsedate_to_datetime(changed)).total_seconds() >= UNSURE_S:
            return str(changed)
    return None


def _continues(response: Any, have: int, version: Version | None) -> bool:
    """Return whether the answer is the rest of the file, of the same version as the first part."""
    if response.status != 206:
        return False
    begins = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", response.headers.get("Content-Range", "").strip())
    if version is None:  # then a checksum decides
        return begins is None or int(begins[1]) == have
    whole = (have, version.total - 1, version.total)
    told = (response.headers.get("ETag"), response.headers.get("Last-Modified"))
    return begins is not None and tuple(map(int, begins.groups())) == whole and version.tag in told


def _version_file(file: Path) -> Path:
    return file.with_suffix(".version")


def _read_version(file: Path) -> Version | None:
    with suppress(OSError, ValueError, TypeError):
        tag, total = json.loads(_version_file(file).read_text(encoding="utf-8"))
        return Version(str(tag), int(total))
    return None


def _write_version(file: Path, tag: str | None, total: int) -> None:
    if tag is not None:
        write_whole(_version_file(file), json.dumps([tag, total]).encode())


class _Redirects(HTTPRedirectHandler):
    """Follow redirects to http(s) only, without reading what else the answer holds."""

    def redirect_request(
        self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        fp.close()
        if urlsplit(newurl).scheme not in ("http", "https"):
            raise TransferError(f"it redirects to {quoted(newurl)}, which is no http(s) address")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Open(HTTPSHandler, HTTPHandler):
    """Open connections whose answers must come in time."""

    def __init__(self) -> None:
        super().__init__()
        self.start = monotonic()

    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(partial(self._connection, HTTPConnection), req)

    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(partial(self._connection, HTTPSConnection), req, context=_trusted())

    def _connection(self, kind: type[HTTPConnection], host: str, **options: Any) -> HTTPConnection:
        connection = kind(host, **options)
        connection.response_class = partial(_Timely, self.start)  # type: ignore[assignment]
        return connection


def _trusted() -> ssl.SSLContext:
    """Trust the certificates of the system; those of certifi where the system shows none to Python."""
    context = ssl.create_default_context()
    if not context.get_ca_certs():
        with suppress(ImportError):
            import certifi

            context.load_verify_locations(certifi.where())
    return context


class _Timely(HTTPResponse):
    """An answer every byte of which is waited for until the deadline, from its first line on."""

    def __init__(self, start: float, sock: Any, *args: Any, **options: Any):
        super().__init__(sock, *args, **options)
        self._clocked = _Clocked(self.fp.detach(), sock, start)
        self.fp = io.BufferedReader(self._clocked)

    def begin(self) -> None:
        super().begin()
        self._clocked.content = 0  # headers could go on for ever


class _Clocked(io.RawIOBase):
    """The bytes of a socket, as long as there is time."""

    def __init__(self, raw: io.RawIOBase, sock: Any, start: float):
        self.raw, self.sock, self.start = raw, sock, start
        self.content: int | None = None  # bytes that came, once the headers are over

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self.start + min(DEADLINE_S, PATIENCE_S + (self.content or 0) / SLOWEST) - monotonic()
        self.sock.settimeout(max(0.001, min(left, PATIENCE_S)))
        try:
            count = self.raw.readinto(buffer) if left > 0 else None
        except TimeoutError as error:
            if left >= PATIENCE_S:
                raise TransferError(f"nothing came for {PATIENCE_S:,.0f} seconds") from error
            count = None
        if count is None:
            seconds = monotonic() - self.start
            raise TransferError(f"it is too slow: {self.content or 0:,} bytes in {seconds:,.0f} seconds")
        if self.content is not None:
            self.content += count
        return count

    def close(self) -> None:
        self.raw.close()
        super().close()
