"""Numbers in any type of pandas, polars and Arrow: what is read equals them, or is refused in one line."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from infused import make_selector
from infused.data import load_data
from infused.exceptions import InputError
from tests.data.writers import COLUMNS, framed
from tests.fuzz.cases import UnsoundError, no_noise

EXACT = 2**53
ENDS = (0, 1, 10**6, EXACT, EXACT, 2**60, 2**62, 2**63 - 1)
Values = list[Any]


def run(random: np.random.Generator, folder: Path, content: list[tuple[str, bytes]]) -> None:
    """Read one column, as a feature and as a target, in two types that can hold it."""
    values, whole = numbers(random)
    able = [(name, column) for name in COLUMNS if (column := held(name, values, whole)) is not None]
    chosen = [able[int(place)] for place in random.choice(len(able), 2)]
    content.append(("values", "\n".join(map(str, values)).encode()))
    use = (as_feature, as_label, as_measured)[int(random.integers(3))]
    for name, column in chosen:
        check(use, column, values, f"{use.__name__} in {name}")
    if None not in values and all(abs(value) < EXACT for value in values):
        fitted = [scores(column, len(values)) for name, column in chosen if name != "category"]  # has codes
        if fitted and not np.allclose(fitted[0], fitted[-1], rtol=1e-9):
            raise UnsoundError(f"{fitted} from {[name for name, _ in chosen]}")


def numbers(random: np.random.Generator) -> tuple[Values, bool]:
    """Make whole numbers, small or around the largest that types hold, or decimals; some may be missing."""
    n, some = int(random.choice([12, 40])), int(random.choice([2, 3, 8, 40]))
    end = ENDS[int(random.integers(len(ENDS)))]
    sign = -1 if random.random() < 0.3 else 1
    steps = random.integers(0, 1000 if random.random() < 0.5 else 4, size=some)
    distinct: Values = [sign * (end - int(step)) for step in steps]
    whole = bool(random.random() < 0.6)
    if not whole:
        scale = int(random.choice([1, 2, 6, 17]))
        distinct = [Decimal(value).scaleb(-scale) for value in distinct]
    values = [distinct[int(place)] for place in random.integers(some, size=n)]
    if random.random() < 0.3:
        values[int(random.integers(n))] = None
    return values, whole


def held(name: str, values: Values, whole: bool) -> Any:
    """Make the column; None where its type cannot hold the values."""
    if not whole and not any(word in name for word in ("ecimal", "objects")):
        return None
    if name == "int64" and None in values:
        return None
    try:
        column = COLUMNS[name](values)
    except Exception:  # each library has its own
        return None
    back = [None if _missing(cell) else cell for cell in _cells(column)]
    same = all(
        (one is None) == (other is None) and (one is None or Decimal(str(one)) == Decimal(str(other)))
        for one, other in zip(back, values, strict=True)
    )
    return column if same else None  # some round by themselves


def _cells(column: Any) -> list[Any]:
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column)


def _missing(cell: Any) -> bool:
    return cell is None or type(cell).__name__ == "NAType" or cell != cell


def as_feature(column: Any, n: int) -> Values:
    """Read it as a variable."""
    table = framed(column, b=[j * 0.5 for j in range(n)], y=["u", "v"] * (n // 2))
    return [None if cell != cell else cell for cell in load_data(table, target="y").X[:, 0].tolist()]


def as_label(column: Any, n: int) -> Values:
    """Read it as classes."""
    return load_data(
        framed(column, b=[j % 5 for j in range(n)]), target="a", task="classification"
    ).y.tolist()


def as_measured(column: Any, n: int) -> Values:
    """Read it as a continuous target."""
    return load_data(framed(column, b=[j % 5 for j in range(n)]), target="a", task="regression").y.tolist()


def check(use: Callable[..., Values], column: Any, values: Values, described: str) -> None:
    """Compare what was read with what was written: all of it, as it was or the nearest float, or one line."""
    there = [value for value in values if value is not None]
    try:
        with no_noise():
            found = use(column, len(values))
    except InputError as error:
        if len(str(error).splitlines()) != 1:
            raise UnsoundError(f"a message of several lines: {str(error)!r}") from error
        if 1 < len(set(there)) < len(there) / 2 and (
            is_plain(there) or (use is as_label and not any(value % 1 for value in there))
        ):
            raise UnsoundError(f"refused {described}: {error}") from error
        return
    if use is as_label and not any(value % 1 for value in there):
        same = [Decimal(str(cell)) for cell in found] == there
    elif use is as_label:  # named by the nearest floats
        same = list(map(float, found)) == list(map(float, there)) and len(set(found)) == len(set(there))
    else:
        expected = values if use is as_feature else there
        same = found == [None if value is None else float(value) for value in expected]
        same = same and is_plain(there)
    if not same:
        raise UnsoundError(f"{described} became {found}")


def is_plain(values: Values) -> bool:
    """Return whether float64 holds all of them exactly, and keeps them distinct."""
    return all(abs(value) < EXACT for value in values) and len(set(map(float, values))) == len(set(values))


def scores(column: Any, n: int) -> Any:
    """Rank it beside another column, as a selector takes the frame."""
    table = framed(column, b=[j * 0.5 for j in range(n)])
    with no_noise():
        return make_selector("anova").fit(table, np.arange(n) % 3 > 0).scores_
