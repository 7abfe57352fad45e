"""The site: a page for every public name, all commands, examples that draw; `make docs` builds it."""

from __future__ import annotations

import email.message
import importlib
import importlib.util
import re
import shlex
from pathlib import Path

import pytest
import typer

import infused
from infused.cli import main
from infused.cli.app import app
from infused.selectors import base

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").rglob("plot_*.py"))


def extension(name):
    """A module of the site's own."""
    found = importlib.util.spec_from_file_location(name, ROOT / "docs" / "_ext" / f"{name}.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_every_public_name_has_a_page():
    public = extension("public_names")
    listed = re.findall(r"^   (infused[\w.]+)$", public.page(), re.MULTILINE)
    for space in ("infused", *public.SPACES):
        names = set(importlib.import_module(space).__all__) - (
            set(public.MODULES) if space == "infused" else set()
        )
        assert {f"{space}.{name}" for name in names} <= set(listed)
    assert len(listed) == len(set(listed))


def test_every_command_is_in_the_reference():
    reference = extension("command_line")
    found = dict(reference.commands(typer.main.get_command(app), "infused"))
    assert {"infused select", "infused datasets fetch", "infused benchmark table"} <= set(found)
    assert all(reference.examples(command) for command in found.values())
    assert reference.usage("infused explain", found["infused explain"]).startswith(
        "infused explain [OPTIONS] "
    )
    assert "[" not in reference.plain("[bold]Examples[/bold]")


def test_ten_examples_or_more_each_with_a_picture_and_none_with_a_network():
    assert len(EXAMPLES) >= 10
    for path in EXAMPLES:
        text = path.read_text(encoding="utf-8")
        assert "plt.show()" in text and "# %%" in text, path.name
        assert not re.search(r"fetch_|https?://|INFUSED_DATA", text), path.name


def test_the_guide_answers_how_many_features():
    page = (ROOT / "docs" / "guide" / "how_many.md").read_text(encoding="utf-8")
    assert page.startswith("# How many features?")
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(block, "how_many.md", "exec"), {"__name__": "__main__"})


def test_a_broken_link_is_found(tmp_path):
    links = extension("inner_links")
    (tmp_path / "a.html").write_text('<p id="here"><a href="b.html#there">b</a><a href="#here">a</a></p>')
    (tmp_path / "b.html").write_text('<p id="there"></p><a href="http://elsewhere.example">out</a>')
    assert links.broken(tmp_path) == []
    (tmp_path / "b.html").write_text('<a href="c.html">c</a>')
    assert sorted(links.broken(tmp_path)) == ["a.html: b.html#there", "b.html: c.html"]


@pytest.mark.parametrize("name", ["choosing", "how_many", "reading", "large"])
def test_a_page_of_the_guide_is_reached(name):
    assert f"]({name}.md)" in (ROOT / "docs" / "guide" / "index.md").read_text(encoding="utf-8")


def test_every_page_is_in_a_table_of_contents():
    """Else `make docs` warns, which fails."""
    pages = [
        path for path in (ROOT / "docs").rglob("*.md") if not {"_build", "auto_examples"} & set(path.parts)
    ]
    listed = "".join(
        path.read_text(encoding="utf-8") for path in pages if "{toctree}" in path.read_text("utf-8")
    )
    trees = re.findall(r"```\{toctree\}(.*?)```", listed, re.DOTALL)
    named = {
        Path(re.sub(r".*<(.*)>", r"\1", line).strip()).name for tree in trees for line in tree.splitlines()
    }
    assert {path.stem for path in pages if path.parent.name == "docs"} - {"index", "404"} <= named


LESSONS = [ROOT / "docs" / "getting_started.md", ROOT / "docs" / "paper.md"]
LESSONS += sorted((ROOT / "docs" / "tutorials").glob("*.md"))


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_runs_as_it_stands_and_prints_what_it_says(path, tmp_path, monkeypatch, capsys):
    """Code and commands in their order in one folder; a text block is the last that was printed."""
    monkeypatch.chdir(tmp_path)
    names, printed = {"__name__": "__main__"}, ""
    blocks = re.findall(r"^```(python|bash|text)\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) > 3
    for kind, block in blocks:
        if kind == "text":
            assert printed.split()[-len(block.split()) :] == block.split()
            continue
        if kind == "python":
            exec(compile(block, path.name, "exec"), names)
        else:
            for line in block.replace("\\\n", " ").splitlines():
                assert main(shlex.split(line)[1:]) == 0, line
        printed = capsys.readouterr().out


def test_the_html_box_of_a_selector_leads_to_its_page_where_the_package_names_a_site(monkeypatch):
    selector = infused.MRMR()
    assert "https://docs.example" not in selector._repr_html_()
    named = email.message.Message()
    named["Project-URL"] = "Documentation, https://docs.example/infused/"
    monkeypatch.setattr(base, "metadata", lambda name: named)
    assert "https://docs.example/infused/api/generated/infused.MRMR.html" in selector._repr_html_()
