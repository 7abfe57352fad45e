"""Half a download is never a result: servers that cut, lie and wait, and addresses that are none."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import PureWindowsPath

import numpy as np
import pytest

from infused.cli import main
from infused.data import DataError, load_data
from infused.data.sources import address_name
from tests.data.servers import chunked, http, serving

ROWS = 200
BODY = b"a,b,kind\n" + b"".join(b"%d,%d,%s\n" % (n, n * n % 7, b"xy"[n % 2 : n % 2 + 1]) for n in range(ROWS))
HALF = len(BODY) // 2
CHUNKS = "Transfer-Encoding: chunked"


def always(*pieces):
    return lambda request: pieces


def drip(*, first=b"", pause=0.02):
    """One byte at a time, without an end."""

    def answer(request):
        yield first
        while True:
            yield b"1"
            yield pause

    return answer


@pytest.fixture
def hasty(monkeypatch):
    """Waits for a fraction of a second, not for a minute."""
    monkeypatch.setattr("infused.data.download.PATIENCE_S", 0.3)


@pytest.fixture(autouse=True)
def nothing_left(tmp_path, monkeypatch):
    """Temporary files are gone, whatever came."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield
    assert not list(tmp_path.glob("infused-*"))


def refused(answer, words):
    """The address is refused with these words, in one line, by the function and the command."""
    with serving(answer) as where:
        address = f"{where}/t.csv"
        with pytest.raises(DataError, match=words) as caught:
            load_data(address, target="kind")
        assert str(caught.value).startswith(f"{address} cannot be fetched: ")
        assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "pieces", [(http(BODY),), (http(b"", CHUNKS), chunked(BODY))], ids=["length", "chunks"]
)
def test_a_whole_file_is_read_without_a_word(pieces, recwarn):
    with serving(always(*pieces)) as where:
        assert load_data(f"{where}/t.csv", target="kind").n_samples == ROWS
    assert not recwarn


def test_a_file_whose_end_nobody_states_is_read_with_a_warning():
    body = b"HTTP/1.0 200 OK\r\n\r\n" + BODY
    with serving(always(body)) as where, pytest.warns(UserWarning, match="check that the data are complete"):
        assert load_data(f"{where}/t.csv", target="kind").n_samples == ROWS


# fmt: off
NOT_WHOLE: dict = {
    "cut": ((http(BODY, cut=HALF),), rf"ended after {HALF:,} of {len(BODY):,} bytes"),
    "cut after a line": ((http(BODY, cut=BODY.index(b"\n99,")),), "ended after"),
    "nothing": ((http(BODY, cut=0),), "ended after 0 of"),
    "chunks cut": ((http(b"", CHUNKS), chunked(BODY)[:HALF]), "IncompleteRead"),
    "chunks without an end": ((http(b"", CHUNKS), chunked(BODY)[:-5]), "IncompleteRead"),
    "chunks that are none": ((http(b"", CHUNKS), b"zz\r\n" + BODY), "IncompleteRead"),
    "unasked part": ((http(BODY[:HALF], status="206 Partial Content"),), "the server answers 206"),
    "part of the range": (
        (http(BODY[:HALF], f"Content-Range: bytes 0-{HALF - 1}/{len(BODY)}", status="206 Partial"),),
        "the server answers 206",
    ),
    "accepted": ((http(BODY, status="202 Accepted"),), "the server answers 202"),
    "no content": ((http(status="204 No Content"),), "the server answers 204"),
    "two lengths": ((http(BODY, "Content-Length: 9", "Content-Length: 20"),), "the length '20, 9'"),
    "length of letters": ((http(BODY, "Content-Length: many"),), "states the length 'many'"),
    "length below zero": ((http(BODY, "Content-Length: -5"),), "states the length '-5'"),
    "another coding": ((http(b"", "Transfer-Encoding: gzip, chunked"), chunked(BODY)), "is not known"),
    "no answer": ((b"",), "closed connection without response"),
    "no status": ((b"hello\r\n\r\n",), "hello"),
    "no number": ((b"HTTP/1.1 ok fine\r\n\r\n",), "fine"),
    "endless line": ((b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000 + b"\r\n\r\n",), "header line"),
    "many headers": ((http(BODY, *[f"X{n}: 1" for n in range(200)]),), "more than 100 headers"),
    "error": ((http(b"no", status="500 Oh\x1b[2J no"),), "500 Oh"),
}
# fmt: on


@pytest.mark.parametrize(("pieces", "words"), NOT_WHOLE.values(), ids=NOT_WHOLE)
def test_what_is_not_the_whole_file_is_refused(pieces, words):
    refused(always(*pieces), words)


@pytest.mark.parametrize("where", ["ftp://127.0.0.1/t.csv", "file:///etc/passwd", "data:,a", "javascript:1"])
def test_redirects_stay_with_http(where):
    refused(always(http(b"", f"Location: {where}", status="302 Found")), "(?i)redirect")


@pytest.mark.parametrize("where", ["http://[::1", "http://127.0.0.1:99999/", "http:///", "/again"])
def test_redirects_that_lead_nowhere(where):
    refused(always(http(b"", f"Location: {where}", status="302 Found")), ".")


def test_a_redirect_is_followed_and_its_own_content_is_not_read():
    def answer(request):
        if request.startswith("GET /t.csv "):
            yield b"HTTP/1.1 301 Moved\r\nLocation: /there.csv\r\n\r\n"
            while True:
                yield b"x" * 100_000
        yield http(BODY)

    with serving(answer) as where:
        assert load_data(f"{where}/t.csv", target="kind").n_samples == ROWS


@pytest.mark.parametrize(
    "answer",
    [
        drip(),
        drip(first=b"HTTP/1.1 200 OK\r\nX-Long: "),
        drip(first=b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"),
        drip(first=http(b"", CHUNKS)),
        drip(first=b"HTTP/1.0 200 OK\r\n\r\na,kind\n"),
    ],
    ids=["status", "header", "body", "chunk size", "no length"],
)
def test_a_server_that_sends_a_byte_now_and_then_is_given_up(hasty, answer):
    start = time.monotonic()
    refused(answer, "too slow")
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("first", [b"", http(BODY, cut=HALF), http(b"", CHUNKS) + chunked(BODY)[:HALF]])
def test_a_server_that_falls_silent_is_given_up(hasty, first):
    refused(always(first, 30.0), "nothing came for|too slow")


def test_a_server_that_always_says_go_on_is_given_up(hasty):
    def answer(request):
        while True:
            yield b"HTTP/1.1 100 Continue\r\n\r\n"
            yield 0.01

    refused(answer, "too slow")


def test_all_of_it_has_a_deadline(monkeypatch):
    """However fast it comes, and although it does not stop for long."""
    monkeypatch.setattr("infused.data.download.DEADLINE_S", 0.3)

    def answer(request):
        yield b"HTTP/1.0 200 OK\r\n\r\na,kind\n"
        while True:
            yield b"1,x\n" * 500
            yield 0.01

    refused(answer, "too slow")


def test_a_length_beyond_the_limit_is_refused_at_once(monkeypatch):
    monkeypatch.setattr("infused.data.sources.LARGEST_DOWNLOAD", 1000)
    refused(always(http(b"a", "Content-Length: 1001"), 30.0), "holds more than")


ADDRESSES = [
    *("http://", "http:///t.csv", "http://[::1/t.csv", "http://[x]/t.csv", "http://:80/t.csv", "https://?"),
    *("http://127.0.0.1:99999/t.csv", "http://127.0.0.1:x/t.csv", "http://127.0.0.1:0/t.csv"),
    *("http://127.0.0.1:1/a b.csv", "http://127.0.0.1:1/a\tb.csv", "http://127.0.0.1:1/\x00.csv"),
    *(
        "http://127.0.0.1:1/\r\nX: y",
        "http://a..b/t.csv",
        f"http://{'a' * 70}.invalid/t.csv",
        "http://\u2100/",
    ),
    *(
        "http://127.0.0.1:1/é.csv",
        "HTTP://127.0.0.1:1/t.csv",
        "http://%/t.csv",
        "http://1.2.3.4.5.6.invalid/x",
    ),
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_what_is_no_address_is_one_line_and_exit_code_2(tmp_path, monkeypatch, capsys, address):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError) as caught:
        load_data(address, target="kind")
    assert len(str(caught.value).splitlines()) == 1
    assert main(["select", address, "--target", "kind"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and len(err.splitlines()) == 1 and err.startswith("Error: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP"])
def test_who_is_told_to_end_leaves_no_temporary_folder(tmp_path, number):
    temporary, number = tmp_path / "tmp", getattr(signal, number)
    temporary.mkdir()
    with serving(always(http(BODY, cut=HALF), 60.0)) as where:
        command = [sys.executable, "-m", "infused", "select", f"{where}/t.csv", "--target", "kind"]
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            env={**os.environ, "TMPDIR": str(temporary)},
            stderr=subprocess.PIPE,
            text=True,
        )
        while not list(temporary.glob("infused-*/data-t.csv")):
            assert process.poll() is None
            time.sleep(0.02)
        for _ in range(2):  # whoever ends a process often says so twice
            process.send_signal(number)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert told == "Stopped; nothing was left half written.\n"
    assert list(temporary.iterdir()) == [] and list(tmp_path.iterdir()) == [temporary]


HOSTILE = [
    *(
        "..%5C..%5Cevil.csv",
        "..%5c..%5cevil.csv",
        "C%3Aevil.csv",
        "C:%5Cevil.csv",
        "%5C%5Chost%5Cshare%5Ce.csv",
    ),
    *("t.csv%3Astream", "CON.csv", "nul", "com1.csv.gz", "t.csv.", "t.csv%20", "..", "%2e%2e", ".", ""),
    *(
        "a%00b.csv",
        "a%0Ab.csv",
        "%FF.csv",
        "x" * 400 + ".csv",
        "%E2%82%AC" * 200 + ".csv",
        "%3C%3E%22%7C%2A.csv",
    ),
    *("..%2F..%2Fevil.csv", "%2F..%2F..", ".hidden.csv", "%ED%B2%80.csv", "what%3F.csv"),
]


@pytest.mark.parametrize("path", HOSTILE)
def test_the_name_of_a_download_stays_in_its_folder_on_every_platform(path):
    name = address_name(f"http://127.0.0.1/x/{path}")
    assert len(name.encode()) <= 100
    for made in (f"data-{name}", f"infused-{name}", f"infused-compare-{name}"):
        place = PureWindowsPath("D:/Temp/infused-x")
        assert (place / made).parent == place and not set(made) & set('<>:"/\\|?*')
        assert made.isprintable() and not made.endswith((".", " "))


@pytest.mark.parametrize("path", HOSTILE)
def test_a_hostile_name_is_read_like_any_other(path):
    with serving(always(http(BODY))) as where:
        if path == "com1.csv.gz":
            with pytest.raises(DataError, match="Not a gzipped file"):
                load_data(f"{where}/{path}", target="kind")
        else:
            found = load_data(f"{where}/{path}", target="kind")
            assert found.n_samples == ROWS and not set(found.name) & set("/\\:")


def test_members_of_an_archive_stay_in_the_folder_too(tmp_path):
    path = tmp_path / "t.zip"
    for member in ("C:evil.csv", "..\\..\\evil.csv", "../../evil.csv", "a/b:c.csv"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(member, BODY)
        found = load_data(path, target="kind")
        assert found.n_samples == ROWS and not set(found.name) & set("/\\:")


def test_a_second_file_may_be_at_an_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("X.npz", X=np.random.default_rng(0).normal(size=(ROWS, 3)))
    labels = b"kind\n" + b"x\ny\n" * (ROWS // 2)
    with serving(always(http(labels))) as where:
        options = ["--target-file", f"{where}/labels.csv", "--target", "kind", "-k", "1", "--method", "anova"]
        assert main(["select", "X.npz", *options, "--json", "--quiet"]) == 0


def test_https_where_nobody_speaks_it_is_one_line():
    with serving(always(http(BODY))) as where, pytest.raises(DataError, match=r"cannot be fetched: .*SSL"):
        load_data(f"{where.replace('http', 'https')}/t.csv", target="kind")
