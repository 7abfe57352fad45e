"""Records of selections, with bytes or values changed."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import infused
from infused.exceptions import InputError
from infused.workflow import Selection
from tests.data.writers import frame
from tests.fuzz.cases import UnsoundError, command, no_noise
from tests.fuzz.files import mutated

VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        0,
        -1,
        1.5,
        10**400,
        2**70,
        "",
        "x",
        "</script><script>alert(1)</script>",
        "\u2028",
        "\udc80",
    ),
    *([], {}, [[]], [1, 2, 3], {"a": 1}, float("inf"), float("nan"), 1e308, "é" * 500, "=1+1", "../../etc"),
)


@cache
def original(target: str) -> str:
    """The record of a small selection."""
    with no_noise():
        return infused.select(frame(), target, k=3, method="anova").record.to_json()


def run(random: np.random.Generator, folder: Path, content: list[tuple[str, bytes]]) -> None:
    """Change a record, and apply, rerun or draw it."""
    text = original(str(random.choice(["diagnosis", "gene a"])))
    if random.random() < 0.5:
        data = mutated(random, text.encode())
    else:
        tree = json.loads(text)
        for _ in range(int(random.integers(1, 4))):
            _replace(random, tree)
        data = json.dumps(tree).encode("utf-8", "surrogatepass")
    path = folder / "selection.json"
    path.write_bytes(data)
    content.append((path.name, data))
    use = random.integers(3)
    frame().to_csv(folder / "t.csv", index=False)
    if use == 0:
        command(["apply", str(path), "t.csv", "-o", "new.csv", "-q"])
    elif use == 1:
        command(["rerun", str(path), "-q"] if random.random() < 0.5 else ["rerun", str(path)])
    else:
        _draw(path)
    halves = list(folder.rglob("*.part"))
    if halves:
        raise UnsoundError(f"files were left: {halves}")


def _draw(path: Path) -> None:
    try:
        with no_noise():
            page = Selection.load(path).report()
    except InputError:
        return
    if "<script>alert(1)" in page:
        raise UnsoundError("a script of the record is on the page")


def _replace(random: np.random.Generator, tree: Any) -> None:
    """Put a hostile value in a random place."""
    while True:
        keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
        if not keys:
            return
        key = keys[int(random.integers(len(keys)))]
        inner = tree[key]
        if not isinstance(inner, dict | list) or not inner or random.random() < 0.3:
            tree[key] = deepcopy(VALUES[int(random.integers(len(VALUES)))])  # the next may change it
            return
        tree = inner
