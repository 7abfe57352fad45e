"""A server on this machine that sends any bytes, and waits where it is told."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Callable, Iterable, Iterator

Answer = Callable[[str], Iterable[bytes | float]]


@contextlib.contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """The address of a server that sends what is made of each request: bytes, or seconds to wait."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.02)
        thread = threading.Thread(target=_listen, args=(listening, answer, over), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            over.set()
            thread.join()


def _listen(listening: socket.socket, answer: Answer, over: threading.Event) -> None:
    threads = []
    while not over.is_set():
        with contextlib.suppress(TimeoutError):
            connection, _ = listening.accept()
            threads.append(threading.Thread(target=_reply, args=(connection, answer, over), daemon=True))
            threads[-1].start()
    for thread in threads:
        thread.join()


def _reply(connection: socket.socket, answer: Answer, over: threading.Event) -> None:
    with connection, contextlib.suppress(OSError):
        connection.settimeout(5.0)
        request = b""
        while b"\r\n\r\n" not in request:
            request += connection.recv(4096)
        for piece in answer(request.decode("latin-1")):
            if isinstance(piece, bytes):
                connection.sendall(piece)
            else:
                over.wait(piece)
            if over.is_set():
                return


def http(body: bytes = b"", *headers: str, status: str = "200 OK", cut: int | None = None) -> bytes:
    """An answer with its true length, unless the headers state another; or the begin of it."""
    stated = any(header.lower().startswith(("content-length", "transfer-encoding")) for header in headers)
    lines = [f"HTTP/1.1 {status}", *headers, *[f"Content-Length: {len(body)}"] * (not stated)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body[:cut]


def chunked(body: bytes, size: int = 100) -> bytes:
    """A body in chunks, with the mark of its end."""
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in [*pieces, b""])


def first_byte(request: str) -> int:
    """Where the range begins that a request asks for."""
    found = re.search(r"(?i)^range: bytes=(\d+)-", request, re.MULTILINE)
    return int(found[1]) if found else 0
