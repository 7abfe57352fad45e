"""Words that messages share, and packages that an extra brings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from infused.exceptions import InputError, MissingExtraError, Setting

SHOWN = 5  # names that a message lists before it says how many more there are
LONGEST = 60  # characters of a name that a message shows
LONGEST_REASON = 160


def quoted(name: Any) -> str:
    """Quote a name, control characters escaped; one that would fill the screen is cut, a path never."""
    text = str(name)
    return repr(text if len(text) <= LONGEST or isinstance(name, Path) else text[: LONGEST - 1] + "…")


def listed(names: Iterable[Any], shown: int = SHOWN) -> str:
    """List the first names in words: ``'a', 'b', 'c', 'd', 'e' and 7 more``."""
    every = list(names)
    text = ", ".join(quoted(name) for name in every[:shown])
    return text if len(every) <= shown else f"{text} and {len(every) - shown:,} more"


def enumerated(words: Sequence[str], most: int = 8) -> str:
    """List words as a sentence has them, ``a, b and c``; of many the first, and how many more."""
    *first, last = words if len(words) <= most else [*words[:most], f"{len(words) - most:,} more"]
    return f"{', '.join(first)} and {last}" if first else last


def count(number: int, noun: str) -> str:
    """Count in words: ``1 column``, ``2,000 columns``."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + ("es" if noun.endswith("s") else "s")
    return f"{number:,} {noun if number == 1 else plural}"


def suggestion(name: str, candidates: Sequence[str]) -> str:
    """Suggest close candidates: ``; did you mean 'petal width'?``, or nothing when none is close."""
    folded = {candidate.casefold(): candidate for candidate in candidates}
    close = get_close_matches(name.casefold(), list(folded), n=3)
    return f"; did you mean {listed(folded[match] for match in close)}?" if close else ""


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Raise unless the value of a parameter is one of the choices."""
    known = list(choices)
    if value not in known:
        hint = suggestion(str(value), known) or f"; there are {', '.join(known)}"
        raise InputError(Setting(name, value), f" is not known{hint}")


def reason(error: object) -> str:
    """Shorten what a library said to the end of a line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 1] + "…"


#: Which extra of infused brings which package.
EXTRAS = {
    "anndata": "h5ad",
    "dask": "dask",
    "distributed": "dask",
    "filelock": "files",
    "h5py": "mat",
    "jinja2": "report",
    "matplotlib": "plots",
    "openpyxl": "files",
    "pandas": "files",
    "pyarrow": "files",
    "rich": "cli",
    "typer": "cli",
    "xlrd": "xls",
    "zarr": "dask",
}


def extra(module: str) -> Any:
    """Import a module of an optional package, or raise one line that says how to get it."""
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        wanted = f"'infused[{EXTRAS[package]}]'" if package in EXTRAS else package
        raise MissingExtraError(
            f"this needs the package {package}, which is not installed: pip install {wanted}"
        ) from error
