"""Packed files, addresses, standard input and spreadsheets hold the same data as the plain file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import threading
import zipfile
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer, SimpleHTTPRequestHandler

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from infused.data import DataError, load_data
from infused.data import sources as packed
from infused.exceptions import InputError


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.standard_normal((20, 3)).round(4), columns=["a", "b", "c"])
    data["kind"] = np.where(np.arange(20) % 2, "x", "y")
    return data


@pytest.fixture
def plain(tmp_path, table):
    path = tmp_path / "plain.csv"
    table.to_csv(path, index=False)
    return path


def zipped(content, *names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names or ("folder/plain.csv",):
            archive.writestr(name, content)
    return buffer.getvalue()


def jsonl(table):
    return table.to_json(orient="records", lines=True).encode()


def zstd_stream(content):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


PACKERS = {
    "t.csv.gz": gzip.compress,
    "t.csv.bz2": bz2.compress,
    "t.csv.xz": lzma.compress,
    "t.CSV.ZST": zstd_stream,
    "t.zip": zipped,
    "t.bz2": bz2.compress,  # nothing tells what is inside, but how it begins
}


def same(found, plain):
    expected = load_data(plain, target="kind")
    np.testing.assert_array_equal(found.X, expected.X)
    assert (found.y == expected.y).all() and found.feature_names == expected.feature_names


@pytest.mark.parametrize("name", PACKERS)
def test_packed_tables(tmp_path, plain, name):
    path = tmp_path / name
    path.write_bytes(PACKERS[name](plain.read_bytes()))
    found = load_data(path, target="kind")
    same(found, plain)
    assert found.name == ("plain" if name == "t.zip" else "t")


def test_any_format_can_be_packed(tmp_path, plain, table):
    (tmp_path / "t.jsonl.xz").write_bytes(lzma.compress(jsonl(table)))
    same(load_data(tmp_path / "t.jsonl.xz", target="kind"), plain)
    table.to_parquet(tmp_path / "t.parquet")
    (tmp_path / "u.parquet.gz").write_bytes(gzip.compress((tmp_path / "t.parquet").read_bytes()))
    same(load_data(tmp_path / "u.parquet.gz", target="kind"), plain)


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson"])
def test_json_lines(tmp_path, plain, table, suffix):
    (tmp_path / f"t{suffix}").write_bytes(jsonl(table))
    same(load_data(tmp_path / f"t{suffix}", target="kind"), plain)
    (tmp_path / f"t{suffix}").write_bytes(b'{"a": 1}\n{"a": ')
    with pytest.raises(DataError, match="could not be read as JSON lines"):
        load_data(tmp_path / f"t{suffix}", target="a")


def test_a_line_may_be_longer_than_a_block(tmp_path):
    wide = pd.DataFrame(np.random.default_rng(0).random((3, 60_000))).assign(y=["a", "b", "a"])
    (tmp_path / "wide.jsonl").write_bytes(jsonl(wide))
    assert load_data(tmp_path / "wide.jsonl", target="y").n_features == 60_000


def test_spreadsheets(tmp_path, plain, table):
    openpyxl = pytest.importorskip("openpyxl")
    table.to_excel(tmp_path / "t.xlsx", index=False)
    same(load_data(tmp_path / "t.xlsx", target="kind"), plain)
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    book.create_sheet("notes")
    book.worksheets[0]["A30"] = None  # formatting leaves empty rows behind
    book.save(tmp_path / "two.xlsx")
    found = load_data(tmp_path / "two.xlsx", target="kind")
    same(found, plain)
    assert any("the first of 2 sheets" in note for note in found.notes)
    book.worksheets[0]["B4"] = "many"
    book.save(tmp_path / "text.xlsx")
    with pytest.raises(DataError, match="'b' seems to hold numbers, but not in 'many'"):
        load_data(tmp_path / "text.xlsx", target="kind")
    (tmp_path / "no.xlsx").write_bytes(b"nothing of the kind")
    with pytest.raises(DataError, match=r"no\.xlsx' could not be read as an Excel file"):
        load_data(tmp_path / "no.xlsx", target="kind")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.zip", zipped(b"a,b\n1,2\n", "one.csv", "two.csv"), "several tables ('one.csv', 'two.csv')"),
        ("t.zip", zipped(b"x", "readme.md"), "no table ('readme.md')"),
        ("t.zip", b"PK no archive", "cannot be opened as a zip archive"),
        ("t.csv.bz2", b"not compressed at all", "cannot be unpacked to its end"),
        ("t.csv.xz", lzma.compress(b"a,b\n" * 999)[:60], "cannot be unpacked to its end"),
        ("t.csv.zst", b"not compressed at all", "cannot be unpacked to its end"),
    ],
    ids=["several", "none", "no archive", "bz2", "xz", "zst"],  # an archive has the time of its making in it
)
def test_what_cannot_be_unpacked(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as caught:
        load_data(tmp_path / name, target="a")
    assert words in str(caught.value) and name in str(caught.value)


def test_messages_name_the_file_that_was_given(tmp_path):
    (tmp_path / "t.csv.bz2").write_bytes(bz2.compress(b"a,b\n1,2\n3\n4,5\n"))
    with pytest.raises(DataError) as caught:
        load_data(tmp_path / "t.csv.bz2", target="a")
    assert f"line 3 of '{tmp_path / 't.csv.bz2'}' has 1 values" in str(caught.value)


def test_a_small_file_that_would_fill_the_disk_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(packed, "LARGEST_UNPACKED", 1 << 20)
    (tmp_path / "t.csv.xz").write_bytes(lzma.compress(b"1,2\n" * (1 << 20)))
    with pytest.raises(DataError, match="holds more than"):
        load_data(tmp_path / "t.csv.xz", target="a")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Endless(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        while True:
            try:
                self.wfile.write(b"1,2\n" * 4096)
            except OSError:
                return

    def log_message(self, *_):
        pass


@pytest.fixture
def serve():
    """Give a handler, get the address of a server on this machine."""
    servers = []

    def start(handler):
        server = HTTPServer(("127.0.0.1", 0), handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_addresses(tmp_path, plain, serve):
    where = serve(partial(Quiet, directory=tmp_path))
    found = load_data(f"{where}/plain.csv?version=2", target="kind")
    same(found, plain)
    assert found.name == "plain"
    (tmp_path / "t.csv.zst").write_bytes(zstd_stream(plain.read_bytes()))
    same(load_data(f"{where}/t.csv.zst", target="kind"), plain)
    (tmp_path / "export").write_bytes(zipped(plain.read_bytes()))
    same(load_data(f"{where}/export", target="kind"), plain)
    with pytest.raises(DataError, match=r"nothing\.csv cannot be fetched: 404"):
        load_data(f"{where}/nothing.csv", target="kind")
    with pytest.raises(DataError, match="cannot be fetched"):
        load_data("http://127.0.0.1:1/t.csv", target="kind")
    with pytest.raises(DataError, match="password would be recorded") as caught:
        load_data("http://me:secret@127.0.0.1/t.csv", target="kind")
    assert "secret" not in str(caught.value)
    with pytest.raises(InputError, match="separator=';' has no meaning"):
        load_data(f"{where}/t.parquet", target="kind", separator=";")


def test_a_download_has_a_limit(serve, monkeypatch):
    monkeypatch.setattr(packed, "LARGEST_DOWNLOAD", 1 << 21)
    with pytest.raises(DataError, match="holds more than"):
        load_data(f"{serve(Endless)}/t.csv", target="a")


@pytest.mark.parametrize("packing", ["csv", "gz", "zst", "jsonl", "parquet"])
def test_standard_input(plain, table, monkeypatch, packing):
    content = plain.read_bytes()
    if packing == "parquet":
        buffer = io.BytesIO()
        table.to_parquet(buffer)
        content = buffer.getvalue()
    pack = {"gz": gzip.compress, "zst": zstd_stream, "jsonl": lambda _: jsonl(table)}.get(packing, bytes)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(pack(content))))
    same(load_data("-", target="kind"), plain)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    with pytest.raises(DataError, match="standard input is empty"):
        load_data("-", target="kind")


@pytest.mark.parametrize(("place", "byte"), [(0, b"X"), (28, b"\xff"), (45, b"\xff\xff\xff")])
def test_damage_inside_an_archive_is_one_line(tmp_path, place, byte):
    """In the header of the file inside, which is read when it is opened, or in its content."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", "a,kind\n1,x\n2,y\n" * 9)
    content = bytearray(made.getvalue())
    content[place : place + len(byte)] = byte
    path = tmp_path / "t.zip"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"t\.zip.* cannot be unpacked to its end") as caught:
        load_data(path, target="kind")
    assert len(str(caught.value).splitlines()) == 1


def test_a_cut_archive_on_standard_input_is_one_line(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"PK\x03\x04" + b"\0" * 50)))
    with pytest.raises(DataError, match="cannot be opened as a zip archive"):
        load_data("-", target="kind")
