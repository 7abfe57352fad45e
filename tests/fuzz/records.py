"""Records of selections, with bytes or values changed, or with methods of any kind: none may run code."""

from __future__ import annotations

import json
import sys
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import infused
from infused import available_selectors
from infused.exceptions import InputError
from infused.workflow import Selection
from tests.data.writers import frame
from tests.fuzz.cases import UnsoundError, command, no_noise
from tests.fuzz.files import mutated
from tests.hostile_methods import CANARY, IDS, MODULE, NAMES, TOUCH, named, plant
from tests.hostile_methods import VALUES as HOSTILE

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
    """Change a record or the method that it names, and use it where code waits to be found."""
    plant(folder)
    frame().to_csv(folder / "t.csv", index=False)
    before = sys.modules.pop(MODULE, None)
    with patch.object(sys, "path", [str(folder), *sys.path]):
        _method(random, folder, content) if random.random() < 0.5 else _changed(random, folder, content)
    if (folder / CANARY).exists() or MODULE in sys.modules or before is not None:
        raise UnsoundError("code ran")
    if halves := list(folder.rglob("*.part")):
        raise UnsoundError(f"files were left: {halves}")


def _method(random: np.random.Generator, folder: Path, content: list[tuple[str, bytes]]) -> None:
    """Name code as the method, inside it, or in a command; nothing but an error may come of it."""
    id = _path(random)
    ways = [*named(id), _given(random)]
    method = ways[int(random.integers(len(ways)))]
    tree = json.loads(original("diagnosis"))
    tree["request"] |= {"source": "t.csv", "method": method}
    path = folder / "selection.json"
    path.write_text(json.dumps(tree))
    content.append((path.name, path.read_bytes()))
    use = int(random.integers(4))
    if use == 0:
        _draw(path)
        command(["apply", str(path), "t.csv", "-o", "new.csv", "-q"])
    elif use == 1 and "\x00" not in id:
        way = [["-m", id], ["-m", f"stability:selector={id}"], ["-m", "auto", "--set", f"methods={id}"]]
        _refused(["select", "t.csv", "-t", "diagnosis", *way[int(random.integers(3))], "--json"], id)
    else:
        _refused(["rerun", str(path), "-q"], id if method is not ways[-1] else "")


def _refused(arguments: list[str], id: str) -> None:
    if command(arguments) == 0 and id:
        raise UnsoundError(f"{id!r} was taken by {arguments!r}")


def _path(random: np.random.Generator) -> str:
    """Name any function or class that is loaded, or one of the hostile spellings."""
    if random.random() < 0.4:
        return IDS[int(random.integers(len(IDS)))]
    names = sorted(name for name in sys.modules if name not in ("tests", "__main__"))
    module = names[int(random.integers(len(names)))]
    inner = [name for name in dir(sys.modules[module]) if not name.startswith("_")] or ["x"]
    return f"{module}{random.choice(['.', ':'])}{inner[int(random.integers(len(inner)))]}"


def _given(random: np.random.Generator) -> dict[str, Any]:
    """Make a registered method whose parameter is given code, or a text of a shell."""
    values = (
        *HOSTILE,
        _path(random),
        f"{_path(random)}:args={TOUCH}",
        [_path(random)],
        {"id": _path(random)},
    )
    value = values[int(random.integers(len(values)))]
    id = str(random.choice([*available_selectors(), "stability", "auto"]))
    return {"id": id, "parameters": {NAMES[int(random.integers(len(NAMES)))]: value}}


def _changed(random: np.random.Generator, folder: Path, content: list[tuple[str, bytes]]) -> None:
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
    if use == 0:
        command(["apply", str(path), "t.csv", "-o", "new.csv", "-q"])
    elif use == 1:
        command(["rerun", str(path), "-q"] if random.random() < 0.5 else ["rerun", str(path)])
    else:
        _draw(path)


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
