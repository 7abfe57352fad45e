"""Every text that a user meets: the field's words, and sentences that can be read once."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest
import typer

import infused
from infused.cli.app import app

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "infused"
#: What the glossary (docs/glossary.md) has another word for. A duality gap is one; a missing value is none.
FORBIDDEN = re.compile(
    "|".join(
        (
            r"(?<!duality )\bgaps?\b(?!=)",
            r"\btold\b",
            r"\bhangs? on\b",
            r"\bsays? the same\b",
            r"\brepeats? (?:each other|another)\b",
            r"\btells? most\b",
            r"\bhalf of the samples\b",
            r"\bchosen again\b",
            r"\bshuffled copies\b",
            r"\bsays? nothing of\b",
            r"\bjudges?\b",
            r"\bwhat counts\b",
            r"\breal (?:targets?|y)\b",
            r"\ba leak\?",
            r"\b(?:kept or )?dropped as a whole\b",
            r"\bfor what is drawn\b",
            r"\bweight of sparsity\b",
            r"\bours beside the published\b",
            r"\bwhat was measured\b",
        )
    ),
    re.IGNORECASE,
)
MOST_WORDS = 30
#: Texts that stay, each with the reason.
ALLOWED = {
    "gaps by X": "is hashed into the fingerprint of data, which a rename would change",
    "docs/benchmarks.md": "measures duality gaps",
    "docs/engine.md": "speaks of distances between numbers",
    "docs/comparison.md": "its tables are measured and its words set by benchmarks.document",
}
PAGES = sorted(
    path
    for pattern in ("docs/*.md", "docs/*.rst", "docs/guide/*.md", "docs/tutorials/*.md", "*.md", "examples/*")
    for path in ROOT.glob(pattern)
)
PAGE_TEXTS = sorted(
    [*SOURCE.glob("report/html/templates/*.html"), *SOURCE.glob("report/html/assets/[ct]*.js")]
)


def written(node):
    """The text of a string, with X for what is filled in; empty for everything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(written(part) or "X" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return written(node.left) + written(node.right)
    return ""


def strings(tree):
    """All strings of a module that are no docstrings, each whole."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        text = written(node)
        if text:
            yield node.lineno, text
        else:
            yield from strings(node)


def summaries(tree):
    """First lines of docstrings of whatever has a public name."""
    for node in ast.walk(tree):
        named = isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
        if named and (text := ast.get_docstring(node)):
            yield node.lineno, text.partition("\n\n")[0]


def long_sentences(text):
    """Sentences of more words than one can hold; a colon and a semicolon end one, too."""
    for sentence in re.split(r"(?<=[.!?:;])[\s\"'*)]+", text):
        if sum(bool(re.search(r"\w", word)) for word in sentence.split()) > MOST_WORDS:
            yield " ".join(sentence.split())


def paragraphs(text):
    """What is read as running text: no code, tables, formulas and headings; links by their words."""
    text = re.sub(r"```.*?```|\$\$.*?\$\$|<!--.*?-->|\.\. \w+::.*?\n\n", "\n\n", text, flags=re.DOTALL)
    text = re.sub(r"(?m)^(    .*|\|.*|#.*|:::.*|\s*:\w+:.*|=+|-+)$", "\n", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return [" ".join(one.split()) for one in re.split(r"\n\s*\n|\n\s*[-*] |\n\d+\. ", text)]


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_messages_and_help_use_the_glossary(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = [(line, text) for line, text in strings(tree) if " " in text and text not in ALLOWED]
    spoken = [f"{line}: {text}" for line, text in texts if FORBIDDEN.search(text)]
    spoken += [f"{line}: {one}" for line, text in texts for one in long_sentences(text)]
    # Docstrings speak of kernels and solvers, too, whose gaps are no missing values.
    spoken += [
        f"{line}: {text}"
        for line, text in summaries(tree)
        if FORBIDDEN.search(re.sub(r"(?i)\bgaps?\b", "", text))
    ]
    assert not spoken


@pytest.mark.parametrize("path", [*PAGES, *PAGE_TEXTS], ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_use_the_glossary(path):
    if str(path.relative_to(ROOT)) in ALLOWED or not path.is_file():
        return
    text = path.read_text(encoding="utf-8")
    assert not FORBIDDEN.findall(text)
    if path.suffix == ".md":
        assert not [one for part in paragraphs(text) for one in long_sentences(part)]


def helps(command):
    """The help of a command, of its options and of the commands below it."""
    yield command.help or ""
    yield from (getattr(one, "help", None) or "" for one in command.params)
    for below in getattr(command, "commands", {}).values():
        yield from helps(below)


def test_the_help_can_be_read_once():
    texts = list(helps(typer.main.get_command(app)))
    assert len(texts) > 100
    assert not [text for text in texts if FORBIDDEN.search(text)]
    assert not [one for text in texts for one in long_sentences(text)]


def test_public_docstrings_open_in_one_short_sentence():
    opened = [inspect.getdoc(getattr(infused, name)).partition("\n\n")[0] for name in infused.__all__]
    assert not [one for text in opened for one in long_sentences(text)]


@pytest.mark.parametrize(
    "text",
    [
        "A gap in a column.",
        "This was told.",
        "It hangs on the seed.",
        "They say the same.",
        "The judge is an SVM.",
    ],
)
def test_the_glossary_is_enforced(text):
    assert FORBIDDEN.search(text)
    assert not FORBIDDEN.search("The duality gap is below 1e-6, and a missing value is filled.")
    assert list(long_sentences("word " * (MOST_WORDS + 1))) and not list(long_sentences("word " * MOST_WORDS))
