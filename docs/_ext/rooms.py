"""Draw the rooms of the package from the layers that import-linter enforces.

python docs/_ext/rooms.py    writes docs/figures/rooms.svg

A box is a package or module; its words are the first line of its docstring. Rooms of one row do not import
each other; every row imports from the rows below it only.
"""

from __future__ import annotations

import ast
import textwrap
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs/figures/rooms.svg"
WIDTH, MARGIN, PADDING = 900, 12, 10
LINE, CHARACTER = 17, 6.6  # pixels of a line, and of a character of the small text


def layers() -> list[list[str]]:
    """Return the rows of rooms from the top, as pyproject.toml declares them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = [c for c in settings["tool"]["importlinter"]["contracts"] if c["type"] == "layers"]
    return [[room.strip() for room in row.split("|")] for row in contract["layers"]]


def purpose(room: str) -> str:
    """Return the first line of a room's docstring."""
    path = ROOT / "src/infused" / room
    source = (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def drawn() -> str:
    """Draw a row of boxes for each layer, the top layer first."""
    shapes, y = [], MARGIN
    for row in layers():
        width = (WIDTH - MARGIN * (len(row) + 1)) / len(row)
        texts = [textwrap.wrap(purpose(room), int((width - 2 * PADDING) / CHARACTER)) for room in row]
        height = PADDING + LINE * (1 + max(map(len, texts))) + PADDING
        for column, (room, lines) in enumerate(zip(row, texts, strict=True)):
            x = MARGIN + column * (width + MARGIN)
            shapes.append(box(x, y, width, height, room, lines))
        y += height + MARGIN
    namespace = 'xmlns="http://www.w3.org/2000/svg"'
    head = f'<svg {namespace} viewBox="0 0 {WIDTH} {y}" role="img" font-family="sans-serif">'
    title = "<title>The rooms of infused: each row imports from the rows below it only</title>"
    ground = f'<rect width="{WIDTH}" height="{y}" fill="#ffffff"/>'
    return "\n".join([head, title, ground, *shapes, "</svg>"]) + "\n"


def box(x: float, y: float, width: float, height: float, room: str, lines: list[str]) -> str:
    """Draw one room: its name in bold, its purpose below."""
    left, first = x + PADDING, y + PADDING + 12
    frame = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return "\n".join(
        [
            f'<rect {frame} rx="6" fill="#eef3f8" stroke="#7890a8"/>',
            text(left, first, room, 'font-size="14" font-weight="bold" fill="#17324d"'),
            *(
                text(left, first + number * LINE, line, 'font-size="12" fill="#333333"')
                for number, line in enumerate(lines, 1)
            ),
        ]
    )


def text(x: float, y: float, words: str, style: str) -> str:
    """Draw a line of text."""
    return f'<text x="{x:g}" y="{y:g}" {style}>{escape(words)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
