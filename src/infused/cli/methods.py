"""``infused methods``: what there is to select with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from infused.cli import terminal
from infused.cli.options import examples, spelled
from infused.exceptions import Setting

if TYPE_CHECKING:
    from rich.console import Console

    from infused.selectors.registry import SelectorInfo

__all__ = ["METHODS_EXAMPLES", "methods"]

METHODS_EXAMPLES = examples("infused methods", "infused methods mrmr")

#: Parameters of most methods that are given apart or of use to few people; ``infused methods ID`` shows them.
RARE = (
    "grid_shape",
    "groups",
    "lambda_scale",
    "max_iter",
    "memory_budget",
    "n_features_to_select",
    "n_jobs",
    "random_state",
    "ranking",
    "solver",
    "standardize",
    "target",
    "tol",
    "unbounded",
)


def methods(
    method: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Show all parameters of this one.")
    ] = None,
) -> None:
    """List the methods: what they do, where they were published, and their parameters with defaults."""
    from infused.selectors.registry import available_selectors, selector_info

    console = terminal.results()
    if method is None:
        _show_all(console, [selector_info(name) for name in available_selectors()])
    else:
        _show_one(console, selector_info(method))


def _show_all(console: Console, known: list[SelectorInfo]) -> None:
    from infused.selectors.method import defaults_of

    table = terminal.plain_table("id", "what it does", "real y", "parameters")
    for info in known:
        usual = [f"{name}={value}" for name, value in defaults_of(info.id).items() if name not in RARE]
        table.add_row(
            Text(info.id, "bold"),
            Text.assemble(info.summary, (f"\n{info.reference}" if info.reference else "", "dim")),
            "yes" if info.regression else "no",
            Text("\n".join(usual), "dim", no_wrap=True),
        )
    console.print(table)
    console.print()
    console.print(
        "real y: whether it takes real targets. infused methods ID shows all parameters of one; those "
        "without an option of their own are given with --set NAME=VALUE."
    )


def _show_one(console: Console, info: SelectorInfo) -> None:
    from infused.selectors.method import defaults_of

    console.print(Text(info.id, "bold"), Text(f"{info.summary}; {_targets(info)}"))
    if info.reference:
        console.print(Text(info.reference))
    table = terminal.plain_table("parameter", "default", "option")
    for name, value in defaults_of(info.id).items():
        table.add_row(name, str(value), spelled(Setting(name)))
    console.print(table)


def _targets(info: SelectorInfo) -> str:
    return "for classes and real targets" if info.regression else "for classes only"
