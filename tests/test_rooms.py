"""The house as CONTRIBUTING shows it, and docstrings that a newcomer can read alone."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest

import infused

ROOT = Path(__file__).parent.parent
SOURCE = Path(infused.__file__).parent
#: What functions do here; a new verb joins the list.
VERBS = """
lower follow lay space live ignore mix
accept acquire add adjust align allow announce append apply approximate arrange ask assign attach average
bind bound bring build call cancel cast centre certify change check choose claim classify clear close
cluster code collect colour combine compare compose compute convert copy count create cross-validate cut
decide decode delete demand describe detach differentiate divide do download draw drop encode end ensure
enter escape estimate evaluate exit expand explain extend factorise fetch fill filter find finish fit
flatten follow form format fuse give go group guard guess hand hash have hold import inspect integrate
interpolate invert iterate join keep label lay learn leave let limit list live load lock log look lower make
map mark mask match maximise measure mention merge minimise move multiply name normalise note notify number
offer open order pack parse pass permute pick place plot predict prepare print project put quantise quote
raise rank read recommend record reduce refuse register reject release remember remove rename render repeat
replace report require rescale reset resolve restart restrict resume return reweight round run sample save
say scale score screen search see seed select send set shelter shorten show shrink shuffle simulate skip
solve sort space split stack standardise start step stop store strip subtract suggest sum summarise swap
tabulate take tell test time trace track transform translate trust try turn unlock update validate wait walk
warn weigh widen wrap write yield
"""


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


def test_the_audit_of_texts_names_files_that_are_there():
    page = ROOT / "docs/security.md"
    if not page.is_file():
        pytest.skip("the documents are not here")
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*\.py)`", page.read_text(encoding="utf-8")))
    assert len(named) > 20
    assert [name for name in sorted(named) if not (SOURCE / name).is_file()] == []


def documented_functions():
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (text := ast.get_docstring(node)):
                yield f"{path.relative_to(SOURCE)}:{node.lineno} {node.name}", text


def test_docstrings_of_functions_open_with_a_verb():
    """Each can be read alone: "Return the ...", not "The same, ..."."""
    verbs = set(VERBS.split())
    wrong = [
        f"{place}: {text.partition(chr(10))[0]}"
        for place, text in documented_functions()
        if text.split()[0].strip(".,:;").lower() not in verbs
    ]
    assert not wrong, "\n".join(wrong)
