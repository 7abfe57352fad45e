"""The house as CONTRIBUTING shows it, and docstrings that a newcomer can read alone."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

import infused

ROOT = Path(__file__).parent.parent
SOURCE = Path(infused.__file__).parent
#: Words that open a noun phrase or a clause; a docstring of a function opens with a verb.
NO_VERBS = frozenset(
    """
    a all an another any are as at back beside both by each either every everything few for from had has have he her
    here his how if in into is it its like many most never no nobody none not nothing of on once one only other our
    over own same several she some something such than that the their then there these they this those three to two
    under until up was were what whatever when where whether which who whoever whole whose why with without yes
    columns features numbers pairs rows samples values
    """.split()
)


@pytest.fixture(scope="module")
def rooms():
    path = ROOT / "docs/_ext/rooms.py"
    if not path.is_file():
        pytest.skip("the documents are not here")
    spec = importlib.util.spec_from_file_location("rooms", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_of_the_rooms_is_drawn_from_the_layers(rooms):
    drawn = rooms.drawn()
    assert rooms.PICTURE.read_text(encoding="utf-8") == drawn, "run python docs/_ext/rooms.py"
    assert all(f">{room}<" in drawn for row in rooms.layers() for room in row)


def test_every_room_has_a_layer(rooms):
    layered = {room for row in rooms.layers() for room in row}
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert packages <= layered


def documented_functions():
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (text := ast.get_docstring(node)):
                yield f"{path.relative_to(SOURCE)}:{node.lineno} {node.name}", text


def test_docstrings_of_functions_open_with_a_verb():
    wrong = [
        f"{place}: {text.partition(chr(10))[0]}"
        for place, text in documented_functions()
        if text.split()[0].strip(".,:;`*").lower() in NO_VERBS
    ]
    assert not wrong, "\n".join(wrong)
