"""``.. commands::``: the reference of the command line, made from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


def commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The program's commands and theirs, each with all that is typed before its options."""
    for name, below in getattr(command, "commands", {}).items():
        yield f"{path} {name}", below
        yield from commands(below, f"{path} {name}")


def usage(path: str, command: Any) -> str:
    """How it is typed."""
    arguments = [_metavar(one) for one in command.params if one.param_type_name == "argument"]
    below = ["[COMMAND]"] if hasattr(command, "commands") else []
    return " ".join([path, "[OPTIONS]", *arguments, *below])


def _metavar(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required or name.startswith("[") else f"[{name}]"


def plain(text: str | None) -> str:
    """Without the marks for colours."""
    return re.sub(r"\[/?[a-z ]+\]", "", text or "").strip()


def examples(command: Any) -> str:
    """The commands that its help shows, which the tests run."""
    lines = [line.strip() for line in (command.epilog or "").splitlines()]
    return "\n".join(line for line in lines if line.startswith("infused "))


class Commands(SphinxDirective):
    """A section for every command."""

    def run(self) -> list[nodes.Node]:
        """Usage, what it does, its options, and examples."""
        import typer

        from infused.cli.app import app

        program = typer.main.get_command(app)
        return [self._section(path, command) for path, command in commands(program, "infused")]

    def _section(self, path: str, command: Any) -> nodes.section:
        section = nodes.section(ids=[nodes.make_id(path)])
        section += nodes.title(text=path)
        section += nodes.literal_block(usage(path, command), usage(path, command), language="none")
        for paragraph in re.split(r"\n\s*\n", plain(command.help)):
            section += nodes.paragraph(text=" ".join(paragraph.split()))
        described = [one for one in command.params if getattr(one, "help", None) and not one.hidden]
        if described:
            section += self._options(described)
        if shown := examples(command):
            section += nodes.literal_block(shown, shown, language="none")
        self.env.note_reread()
        self.state.document.note_explicit_target(section)
        return section

    def _options(self, params: list[Any]) -> nodes.definition_list:
        found = nodes.definition_list(classes=["options"])
        for one in params:
            names = ", ".join([*getattr(one, "opts", []), *getattr(one, "secondary_opts", [])])
            metavar = (
                "" if getattr(one, "is_flag", False) or one.param_type_name == "argument" else one.metavar
            )
            default = one.default
            stated = (
                isinstance(default, int | float | str) and not isinstance(default, bool) and default != ""
            )
            words = plain(one.help) + (f" Default: {default}." if stated else "")
            shown = one.metavar or one.name.upper() if one.param_type_name == "argument" else names
            term = nodes.term("", "", nodes.literal(text=" ".join([shown, metavar or ""]).strip()))
            found += nodes.definition_list_item("", term, nodes.definition("", nodes.paragraph(text=words)))
        return found


def setup(app: Any) -> dict[str, bool]:
    """Name the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
