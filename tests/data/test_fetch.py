"""Public data over the network: against a server on this machine that sends, cuts and lies as it is told."""

from __future__ import annotations

import hashlib
import io
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.io

import infused
from infused.cli import main
from infused.data import DataError, available_datasets, dataset_info, load_data
from infused.data.named import MORE, PAPER, SETS, fetch_file
from tests.data.servers import chunked, first_byte, http, serving

X = np.random.default_rng(0).normal(size=(30, 40))


def content(X=X):
    """A .mat file of these values."""
    file = io.BytesIO()
    scipy.io.savemat(file, {"X": X, "Y": (np.arange(len(X)) % 2)[:, None]})
    return file.getvalue()


WHOLE = content()


@pytest.fixture
def server():
    """What it serves, where it cuts, whether it knows ranges, and what it was asked for."""
    told = SimpleNamespace(body=WHOLE, cut=None, ranges=True, status=200, asked=[])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            first = self.headers.get("Range")
            told.asked.append(first)
            if told.status != 200:
                return self.send_error(told.status)
            start = int(first.removeprefix("bytes=").rstrip("-")) if first and told.ranges else 0
            if start >= len(told.body):
                return self.send_error(416)
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(told.body) - start))
            self.end_headers()
            self.wfile.write(told.body[start : told.cut])

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        told.address = f"http://127.0.0.1:{http.server_port}/set.mat"
        thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield told
        http.shutdown()
        thread.join()


@pytest.fixture
def place(server, tmp_path, monkeypatch):
    """An empty folder, and two sets on that server: the sum of one is known."""
    monkeypatch.setenv("INFUSED_DATA", str(tmp_path / "data"))
    size = {"n_samples": 30, "n_features": 40, "n_classes": 2, "address": server.address}
    known = replace(PAPER["Isolet1"], sha256=hashlib.sha256(WHOLE).hexdigest(), **size)
    monkeypatch.setitem(SETS, "Isolet1", known)
    monkeypatch.setitem(SETS, "colon", replace(MORE["colon"], **size))
    return tmp_path / "data"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_good_file_is_fetched_once(server, place):
    seen = []
    path = fetch_file("isolet1", lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == WHOLE and names(place) == ["Isolet1.mat"]
    assert seen[-1] == (len(WHOLE), len(WHOLE))
    data = infused.fetch_dataset("ISOLET1")
    np.testing.assert_array_equal(data.X, X)
    assert len(server.asked) == 1 and dataset_info("Isolet1").present


def test_a_file_with_another_sum_is_refused_and_not_kept(server, place):
    server.body = content(X + 1)
    with pytest.raises(DataError, match=r"is not the expected file: its SHA-256.*put it into") as caught:
        fetch_file("Isolet1")
    assert len(str(caught.value).splitlines()) == 1 and names(place) == []


@pytest.mark.parametrize("ranges", [True, False])
def test_a_cut_transfer_goes_on_where_it_was(server, place, ranges):
    server.cut, server.ranges = 5000, ranges
    with pytest.raises(DataError, match=r"was cut after [\d,]+ bytes .*: run it again, it goes on"):
        fetch_file("Isolet1")
    assert names(place) == ["Isolet1.part.mat"] and not dataset_info("Isolet1").present
    have = (place / "Isolet1.part.mat").stat().st_size
    assert 0 < have <= 5000
    server.cut = None
    assert fetch_file("Isolet1").read_bytes() == WHOLE
    assert server.asked == [None, f"bytes={have}-"] and names(place) == ["Isolet1.mat"]


def test_a_part_that_is_longer_than_the_file_begins_anew(server, place):
    place.mkdir()
    (place / "Isolet1.part.mat").write_bytes(b"x" * (len(WHOLE) + 9))
    assert fetch_file("Isolet1").read_bytes() == WHOLE
    assert len(server.asked) == 2


OTHER = content(X + 1)  # a later version, of the same length
TAG, DATE, NOW = (
    'ETag: "{}"',
    "Last-Modified: Wed, 21 Oct 2015 07:28:0{} GMT",
    "Date: Wed, 21 Oct 2015 09:00:00 GMT",
)
CUT, LONGER = 5000, len(OTHER) + 1


def two_versions(first, then, *, honest=False, partly=None):
    """Cuts WHOLE, then has OTHER; its headers name the version, and it may heed If-Range."""
    asked = []

    def answer(request):
        asked.append(request)
        if len(asked) == 1:
            return [http(WHOLE, *first, cut=CUT)]
        start = first_byte(request)
        if not start or (honest and "If-Range" in request):
            return [http(OTHER, *then)]
        rest = f"Content-Range: bytes {start}-{len(OTHER) - 1}/{len(OTHER)}"
        return [
            http(OTHER[start:], *then, *([rest] if partly is None else partly), status="206 Partial Content")
        ]

    return answer, asked


MIXED = {
    "no validators": two_versions((), ()),
    "another tag": two_versions((TAG.format(1),), (TAG.format(2),)),
    "another tag, heeded": two_versions((TAG.format(1),), (TAG.format(2),), honest=True),
    "a tag that is gone": two_versions((TAG.format(1),), ()),
    "a weak tag": two_versions(('ETag: W/"1"',), ('ETag: W/"1"',)),
    "another date": two_versions((DATE.format(1), NOW), (DATE.format(2), NOW)),
    "a date of now": two_versions((DATE.format(1), DATE.format(2).replace("Last-Modified", "Date")), ()),
    "a date that is none": two_versions(("Last-Modified: today", NOW), ("Last-Modified: today", NOW)),
    "the same tag, no range": two_versions((TAG.format(1),), (TAG.format(1),), partly=()),
    "the same tag, another range": two_versions(
        (TAG.format(1),), (TAG.format(1),), partly=(f"Content-Range: bytes 0-9/{len(OTHER)}",)
    ),
    "the same tag, another length": two_versions(
        (TAG.format(1),), (TAG.format(1),), partly=(f"Content-Range: bytes {CUT}-{LONGER - 1}/{LONGER}",)
    ),
}


@pytest.mark.parametrize("versions", MIXED.values(), ids=MIXED)
def test_two_versions_are_never_mixed(place, monkeypatch, versions):
    """A part of one and the rest of another would be settled as the set, for good."""
    answer, asked = versions
    with serving(answer) as where:
        monkeypatch.setitem(SETS, "colon", replace(SETS["colon"], address=f"{where}/set.mat"))
        with pytest.raises(DataError, match=r"after [\d,]+ "):
            fetch_file("colon")
        assert fetch_file("colon").read_bytes() == OTHER
    assert 2 <= len(asked) <= 3 and names(place) == ["colon.mat", "colon.sha256"]


@pytest.mark.parametrize("headers", [(TAG.format(1), DATE.format(1), NOW), (DATE.format(1), NOW)])
def test_a_set_without_a_sum_goes_on_where_its_version_is_still_there(place, monkeypatch, headers):
    asked = []

    def answer(request):
        asked.append(request)
        start = first_byte(request)
        if not start:
            return [http(WHOLE, *headers, cut=CUT)]
        told = f"Content-Range: bytes {start}-{len(WHOLE) - 1}/{len(WHOLE)}"
        return [http(WHOLE[start:], *headers, told, status="206 Partial Content")]

    with serving(answer) as where:
        monkeypatch.setitem(SETS, "colon", replace(SETS["colon"], address=f"{where}/set.mat"))
        with pytest.raises(DataError, match=r"was cut after 5,000 bytes .*it goes on from there"):
            fetch_file("colon")
        assert names(place) == ["colon.part.mat", "colon.part.version"]
        assert fetch_file("colon").read_bytes() == WHOLE
    assert first_byte(asked[1]) == CUT and f"If-Range: {headers[0].partition(' ')[2]}" in asked[1]
    assert names(place) == ["colon.mat", "colon.sha256"]


def test_the_rest_may_be_cut_again(place, monkeypatch):
    """In chunks, whose number nobody states: the whole length is known from the first time."""
    coding = "Transfer-Encoding: chunked"

    def answer(request):
        start = first_byte(request)
        if not start:
            return [http(WHOLE, TAG.format(1), cut=CUT)]
        told = f"Content-Range: bytes {start}-{len(WHOLE) - 1}/{len(WHOLE)}"
        head = http(b"", TAG.format(1), told, coding, status="206 Partial Content")
        return [head, chunked(WHOLE[start : start + 2000])]

    with serving(answer) as where:
        monkeypatch.setitem(SETS, "colon", replace(SETS["colon"], address=f"{where}/set.mat"))
        for size in range(CUT, len(WHOLE), 2000):
            with pytest.raises(DataError, match=f"was cut after {size:,} bytes"):
                fetch_file("colon")
        assert fetch_file("colon").read_bytes() == WHOLE


def test_a_cut_without_a_validator_keeps_nothing(server, place):
    server.cut = CUT
    with pytest.raises(
        DataError, match=r"cannot be fetched \(the transfer ended after 5,000 of [\d,]+ bytes\)"
    ):
        fetch_file("colon")
    assert names(place) == []


def test_an_unasked_part_settles_nothing(place, monkeypatch):
    with serving(lambda request: [http(WHOLE, status="206 Partial Content")]) as where:
        monkeypatch.setitem(SETS, "colon", replace(SETS["colon"], address=f"{where}/set.mat"))
        with pytest.raises(DataError, match="the server answers 206"):
            fetch_file("colon")
    assert names(place) == []


def test_two_processes_fetch_once(server, place):
    with ThreadPoolExecutor(4) as pool:
        assert {path.read_bytes() for path in pool.map(fetch_file, ["Isolet1"] * 4)} == {WHOLE}
    assert len(server.asked) == 1


def test_without_a_network_it_says_what_to_do(place, monkeypatch):
    monkeypatch.setitem(SETS, "Isolet1", replace(SETS["Isolet1"], address="http://127.0.0.1:1/set.mat"))
    with pytest.raises(DataError, match=r"cannot be fetched \(is there a connection\?\)") as caught:
        infused.fetch_dataset("Isolet1")
    for words in ("Isolet1.mat", str(place), "INFUSED_DATA"):
        assert words in str(caught.value)
    assert names(place) == []


def test_what_a_server_refuses(server, place):
    server.status = 404
    with pytest.raises(DataError, match="the server answers 404"):
        fetch_file("Isolet1")


def test_the_first_download_settles_a_sum_that_is_not_known(server, place):
    path = fetch_file("colon")
    kept = (place / "colon.sha256").read_text()
    assert kept == f"{hashlib.sha256(WHOLE).hexdigest()}  colon.mat\n"
    path.write_bytes(content(X + 1))
    with pytest.raises(DataError, match="is not the expected colon"):
        load_data("colon")
    path.unlink()
    server.body = content(X + 1)
    with pytest.raises(DataError, match="is not the expected file"):
        fetch_file("colon")


def test_a_file_of_another_size_settles_nothing(server, place):
    server.body = content(X[:20])
    with pytest.raises(DataError, match=r"is not colon: it has 20 x 40 values, not 30 x 40"):
        fetch_file("colon")
    assert names(place) == []


def test_the_command(server, place, capsys):
    assert main(["datasets", "fetch", "Isolet1", "nothing", "PIE", "colon"]) == 2
    out, err = capsys.readouterr()
    assert out.splitlines() == [f"{name}: {place / name}.mat" for name in ("Isolet1", "colon")]
    assert "nothing" in err and "no public file is the very PIE" in err
    assert main(["datasets", "fetch", "wine"]) == 2
    assert "comes with scikit-learn" in capsys.readouterr().err


def test_what_is_known_of_every_set():
    assert len(MORE) >= 10 and not set(MORE) & set(PAPER)
    assert all(entry.sha256 and len(entry.sha256) == 64 for entry in PAPER.values())
    assert all(entry.address for name, entry in SETS.items() if name != "PIE")
    assert len({name.casefold() for name in available_datasets()}) == len(available_datasets())


def test_the_page_lists_every_set_with_its_address_and_what_is_known_of_its_sum():
    page = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8")
    lines = {
        line.split(" | ")[0].removeprefix("| "): line for line in page.splitlines() if line.startswith("| ")
    }
    for name, entry in SETS.items():
        known = "known" if entry.sha256 else "settled by the first download"
        size = f"{entry.n_samples:,} | {entry.n_features:,} | {entry.n_classes}"
        assert f"{entry.title} | {size} | {known} | " in lines[name]
        assert lines[name].endswith(f" {f'`{entry.address}`' if entry.address else 'none'} |")
    assert "not checked" in lines["name"]
