"""One case: what is made of its number, what is done with it, and what must hold."""

from __future__ import annotations

import base64
import contextlib
import io
import os
import shutil
import signal
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from infused.cli import main
from infused.data import load_data
from infused.exceptions import InputError

#: Kinds of cases, and how often each comes.
KINDS = {
    **{"file": 12, "record": 3, "option": 1, "estimator": 6, "download": 2, "replaced": 1, "weights": 2},
    **{"typed": 3},
}

FRAMES = 6
MOST_SHOWN = 3000


@dataclass(frozen=True)
class Finding:
    """A case that went wrong."""

    kind: str
    number: int
    reason: str
    content: bytes | None = None
    name: str = ""

    def told(self, seed: int) -> str:
        """What runs it again, why, and the bytes of its file."""
        lines = [f"FOUND python -m tests.fuzz --seed {seed} --case {self.kind}:{self.number}", self.reason]
        if self.content is not None:
            cut = " (cut)" if len(self.content) > MOST_SHOWN else ""
            coded = base64.b85encode(self.content[:MOST_SHOWN]).decode()
            lines.append(f"{self.name}, {len(self.content):,} bytes, base85{cut}: {coded}")
        return "\n".join(lines)


class UnsoundError(Exception):
    """What must hold does not."""


def run_case(seed: int, kind: str, number: int, folder: Path) -> Finding | None:
    """Run it; None where all is well."""
    from tests.fuzz import downloads, estimators, files, options, records, replaced, typed, weights

    makers = {
        "file": files.run,
        "record": records.run,
        "option": options.run,
        "estimator": estimators.run,
        "download": downloads.run,
        "replaced": replaced.run,
        "weights": weights.run,
        "typed": typed.run,
        "crash": lambda *_: os.kill(os.getpid(), signal.SIGSEGV),  # to see that it is found
    }
    place = folder / "case"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    random = np.random.default_rng([seed, list(makers).index(kind), number])
    content: list[tuple[str, bytes]] = []
    try:
        with contextlib.chdir(place):
            makers[kind](random, place, content)
    except UnsoundError as error:
        name, data = content[-1] if content else ("", None)
        return Finding(kind, number, str(error), data, name)
    except MemoryError:
        return None
    except Exception as error:
        frames = traceback.format_exception(error)[-FRAMES:]
        name, data = content[-1] if content else ("", None)
        reason = f"{type(error).__name__}: {str(error)[:300]}\n{''.join(frames)}"
        return Finding(kind, number, reason, data, name)
    return None


@contextlib.contextmanager
def no_noise(*allowed: type[Warning]) -> Iterator[None]:
    """Every warning that a user cannot act on is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in (UserWarning, *allowed):
            warnings.simplefilter("ignore", kind)
        yield


def load(path: Path, **options: Any) -> None:
    """Read it: data, or one line that says what is wrong."""
    try:
        with no_noise():
            data = load_data(path, **options)
    except InputError as error:
        if len(str(error).splitlines()) != 1:
            raise UnsoundError(f"a message of several lines: {str(error)!r}") from error
        return
    if data.X.shape != (len(data.y), len(data.feature_names)):
        raise UnsoundError(f"X has the shape {data.X.shape} for {len(data.y)} and {len(data.feature_names)}")


def command(arguments: list[str], output: Path | None = None) -> int:
    """Run it: 0 or 2, one line of error, files whole or absent."""
    out, err = _Stream(), _Stream()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):  # type: ignore[type-var]
        try:
            code = main(arguments)
        except SystemExit as error:  # typer's own, for --help
            code = int(error.code or 0)
    told = err.getvalue()
    if code not in (0, 2):
        raise UnsoundError(f"exit code {code} of {arguments!r}: {told[-1500:]}")
    if "Traceback" in told or ("Warning:" in told.replace("\nWarning: ", "\n") and "RuntimeWarning" in told):
        raise UnsoundError(f"noise of {arguments!r}: {told[-1500:]}")
    if code == 2 and "Error" not in told:
        raise UnsoundError(f"no error is told of {arguments!r}: {told!r}")
    if output is not None and output.exists():
        names = {path.name for path in output.rglob("*")}
        halves = {name for name in names if name.endswith(".part")}
        if halves or (names and code == 0 and "selection.json" not in names) or (names and code == 2):
            raise UnsoundError(f"files of {arguments!r}, which ended with {code}: {sorted(names)}")
    return code


class _Stream(io.StringIO):
    """A stream that has bytes, as those of a process have."""

    def __init__(self) -> None:
        super().__init__()
        self.buffer = io.BytesIO()
