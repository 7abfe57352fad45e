"""Servers that cut, lie and wait: what is read is the whole file, or one line says why not."""

from __future__ import annotations

import io
import os
import re
import tempfile
import time
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from unittest import mock

import numpy as np
import scipy.io

from infused.data import DataError, load_data
from infused.data.named import MORE, SETS, fetch_file
from tests.data.servers import chunked, first_byte, http, serving
from tests.fuzz.cases import UnsoundError, command, no_noise
from tests.fuzz.files import mutated

ROWS, COLUMNS = 150, 3
DOWNLOAD = "infused.data.download"
STATUSES = (
    "201 Created",
    "202 Accepted",
    "204 No Content",
    "206 Partial Content",
    "304 Not Modified",
    "500 No",
)
PLACES = (
    *(
        "ftp://127.0.0.1/t.csv",
        "file:///etc/passwd",
        "http://[",
        "http://127.0.0.1:99999/",
        "",
        "//",
        "http://",
    ),
    *("http://127.0.0.1:1/t.csv", "/t.csv", "gopher://x", "http://127.0.0.1:x/", "data:,x", "\x00", "é"),
)
CHUNKS = "Transfer-Encoding: chunked"


@cache
def table() -> bytes:
    """A file half of which is a sound table as well."""
    rng = np.random.default_rng(0)
    rows = [
        f"{a:.4f},{b:.4f},{c:.4f},{'xy'[n % 2]}"
        for n, (a, b, c) in enumerate(rng.normal(size=(ROWS, COLUMNS)))
    ]
    return "\n".join(["a,b,c,kind", *rows, ""]).encode()


def run(random: np.random.Generator, folder: Path, content: list[tuple[str, bytes]]) -> None:
    """Ask a server for a table, or for a set whose checksum is not known."""
    own = folder / "temporary"  # other cases run at the same time
    own.mkdir()
    with mock.patch.object(tempfile, "tempdir", str(own)):
        _versions(random, folder) if random.random() < 0.3 else _table(random, content)
    if left := list(own.glob("infused-*/data-*")):
        raise UnsoundError(f"temporary files were left: {left}")


def _table(random: np.random.Generator, content: list[tuple[str, bytes]]) -> None:
    kind = str(random.choice(["whole", "cut", "status", "redirect", "length", "mutated", "wait", "drip"]))
    body = table()
    coded = random.random() < 0.3
    whole = http(b"", CHUNKS) + chunked(body, int(random.integers(1, 2000))) if coded else http(body)
    pieces: Iterable[bytes | float] = [whole]
    patience = 0.4 if kind in ("wait", "drip", "mutated") else 30.0
    if kind == "cut":
        ends = [found.end() for found in re.finditer(rb"\n", whole[:-4])]  # half of a table is a table
        place = random.choice(ends) if random.random() < 0.7 else random.integers(len(whole) - 4)
        pieces = [whole[: int(place)]]
    elif kind == "status":
        pieces = [http(body, status=str(random.choice(STATUSES)))]
    elif kind == "redirect":
        pieces = [
            http(
                body, f"Location: {random.choice(PLACES)}", status=f"{random.choice([301, 302, 307, 308])} X"
            )
        ]
    elif kind == "length":
        stated = random.choice(
            [str(len(body) + random.integers(1, 999)), "-1", "x", "1e3", "9" * 30, "0x10", f"{len(body)}, 7"]
        )
        pieces = [http(body, f"Content-Length: {stated}")]
    elif kind == "mutated":
        head = whole.index(b"\r\n\r\n") + int(random.integers(4 + 60 * coded))
        pieces = [mutated(random, whole[:head]) + whole[head:]]
    elif kind == "wait":
        place = int(random.integers(len(whole)))
        pieces = [whole[:place], 30.0, whole[place:]]
    elif kind == "drip":
        place = int(random.integers(len(whole) - 100))
        pieces = [whole[:place], *[piece for byte in whole[place:] for piece in (bytes([byte]), 0.02)]]
    content.append((kind, b"".join(piece for piece in pieces if isinstance(piece, bytes))))
    quick = {"PATIENCE_S": patience, "DEADLINE_S": 2 * patience}
    with mock.patch.multiple(DOWNLOAD, **quick), serving(lambda request: pieces) as where:
        started = time.monotonic()
        if random.random() < 0.2:
            command(
                [
                    "select",
                    f"{where}/t.csv",
                    "-t",
                    "kind",
                    "-k",
                    "1",
                    "-m",
                    "anova",
                    "--json",
                    "--stability",
                    "0",
                ]
            )
        else:
            _check(f"{where}/t.csv", kind)
        if kind in ("wait", "drip") and time.monotonic() - started > 20:
            raise UnsoundError(f"a server that waits was waited for, {time.monotonic() - started:.0f} s")


def _check(address: str, kind: str) -> None:
    """The whole table, or one line; a server that says that the file is shorter cannot be found out."""
    try:
        with no_noise():
            found = load_data(address, target="kind").n_samples
    except DataError as error:
        if kind == "whole" or len(str(error).splitlines()) != 1:
            raise UnsoundError(f"a {kind} answer: {error}") from error
        return
    if kind not in ("whole", "mutated") or (kind == "whole" and found != ROWS):
        raise UnsoundError(f"a {kind} answer was taken, {found} rows of {ROWS}")


@cache
def versions() -> tuple[bytes, ...]:
    """Versions of a set, of one length."""
    made = []
    for seed in range(3):
        file = io.BytesIO()
        X = np.random.default_rng(seed).normal(size=(20, 30))
        with mock.patch("time.asctime", return_value="now"):
            scipy.io.savemat(file, {"X": X, "Y": (np.arange(20) % 2)[:, None]})
        made.append(file.getvalue())
    return tuple(made)


def _versions(random: np.random.Generator, folder: Path) -> None:
    """A file that changes between transfers that are cut, on a server that tells so, or not, or lies."""
    seeds = random.integers(2**32, size=20)
    entry = replace(MORE["colon"], n_samples=20, n_features=30, n_classes=2)
    asked: list[str] = []
    with serving(partial(_answer, seeds, asked)) as where:
        place = replace(entry, address=f"{where}/set.mat")
        with mock.patch.dict(SETS, colon=place), mock.patch.dict(os.environ, INFUSED_DATA=str(folder)):
            for _ in range(10):
                try:
                    content = fetch_file("colon").read_bytes()
                except DataError as error:
                    if len(str(error).splitlines()) != 1:
                        raise UnsoundError(f"a message of several lines: {str(error)!r}") from error
                    continue
                if content not in versions():
                    raise UnsoundError(f"a mix of versions was settled: {asked}")
                return


def _answer(seeds: np.ndarray, asked: list[str], request: str) -> list[bytes | float]:
    """The number of the request decides the version, its headers, and where it is cut."""
    random = np.random.default_rng(seeds[len(asked) % len(seeds)])
    asked.append(request)
    number = int(random.integers(len(versions())))
    body = versions()[number]
    tag = [
        f'ETag: "{number}"',
        f'ETag: W/"{number % 2}"',
        f"Last-Modified: Wed, 21 Oct 2015 07:28:0{number} GMT",
        "X: y",
    ]
    headers = [tag[int(random.integers(len(tag)))], "Date: Thu, 22 Oct 2015 07:28:00 GMT"]
    start = first_byte(request)
    told = re.search(r'If-Range: "(\d)"', request)
    if not start or (told and told[1] != str(number) and random.random() < 0.5):
        return [http(body, *headers, cut=int(random.integers(len(body) * 2)))]
    if random.random() < 0.1:
        return [http(b"", status="416 Range Not Satisfiable")]
    if random.random() < 0.8:
        headers.append(f"Content-Range: bytes {start}-{len(body) - 1}/{len(body)}")
    rest = body[start:]
    return [http(rest, *headers, status="206 Partial Content", cut=int(random.integers(len(rest) * 3 + 1)))]
