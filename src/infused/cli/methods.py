"""``infused methods``: what there is to select with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from infused.cli import terminal
from infused.cli.options import AllowImports, help_page, spelled
from infused.exceptions import Setting

if TYPE_CHECKING:
    from rich.console import Console

    from infused.selectors.registry import SelectorInfo

__all__ = ["METHODS_HELP", "methods"]

METHODS_HELP = help_page(
    """List the methods: what they do, where they were published, and whether they take real targets.

    With an ID, list the parameters of that method with their defaults.
    """,
    "infused methods",
    "infused methods mrmr",
)


def methods(
    method: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Show the parameters of this one.")
    ] = None,
    allow_imports: AllowImports = False,
) -> None:
    """List all methods, or the parameters of one."""
    from infused.selectors.registry import available_selectors, selector_info

    console = terminal.results()
    if method is None:
        _show_all(console, [selector_info(name) for name in available_selectors()])
    else:
        _show_one(console, selector_info(method, allow_imports=allow_imports))


def _show_all(console: Console, known: list[SelectorInfo]) -> None:
    """From the registry alone: to load the classes for their parameters would take seconds."""
    table = terminal.plain_table("id", "what it does", "published", "real y")
    for info in known:
        table.add_row(
            Text(info.id, "bold"),
            info.summary,
            Text(info.reference, "dim"),
            "yes" if info.regression else "no",
        )
    console.print(table)
    console.print()
    console.print("real y: whether it takes real targets. infused methods ID lists the parameters of one.")


def _show_one(console: Console, info: SelectorInfo) -> None:
    from infused.selectors.method import defaults_of

    console.print(Text(info.id, "bold"), Text(f"{info.summary}; {_targets(info)}"))
    if info.reference:
        console.print(Text(info.reference))
    table = terminal.plain_table("parameter", "default", "option")
    for name, value in defaults_of(info.id, allow_imports=True).items():
        table.add_row(name, str(value), spelled(Setting(name)))
    console.print(table)


def _targets(info: SelectorInfo) -> str:
    return "for classes and real targets" if info.regression else "for classes only"
