"""``infused methods`` and ``infused datasets``: what there is to select with, and from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.text import Text

from infused.cli import options as o
from infused.cli import terminal
from infused.cli.terminal import Watch
from infused.exceptions import Setting

if TYPE_CHECKING:
    from rich.console import Console

    from infused.selectors.registry import SelectorInfo


@o.command(
    """List the methods: what they do, where they were published, and whether they take continuous targets.

    With an ID, list the parameters of that method with their defaults.
    """,
    "infused methods",
    "infused methods mrmr",
    method=typer.Argument(metavar="[ID]", help="Show the parameters of this one."),
)
def methods(
    method: str | None = None,
    allow_imports: bool = False,
) -> None:
    """List all methods, or the parameters of one."""
    from infused.selectors.registry import available_selectors, selector_info

    console = terminal.results()
    if method is None:
        _show_all(console, [selector_info(name) for name in available_selectors()])
    else:
        _show_one(console, selector_info(method, allow_imports=allow_imports))


def _show_all(console: Console, known: list[SelectorInfo]) -> None:
    """Show the registry alone: to load the classes for their parameters would take seconds."""
    table = terminal.plain_table("id", "what it does", "published", "continuous")
    for info in known:
        table.add_row(
            Text(info.id, "bold"),
            info.summary,
            Text(info.reference, "dim"),
            "yes" if info.regression else "no",
        )
    console.print(table)
    console.print()
    console.print(
        "continuous: whether it takes continuous targets. infused methods ID lists the parameters of one."
    )


def _show_one(console: Console, info: SelectorInfo) -> None:
    from infused.selectors.method import defaults_of

    console.print(Text(info.id, "bold"), Text(f"{info.summary}; {_targets(info)}"))
    if info.reference:
        console.print(Text(info.reference))
    table = terminal.plain_table("parameter", "default", "option")
    for name, value in defaults_of(info.id, allow_imports=True).items():
        table.add_row(name, str(value), o.spelled(Setting(name)))
    console.print(table)


def _targets(info: SelectorInfo) -> str:
    return "for classes and continuous targets" if info.regression else "for classes only"


@o.command(
    "List the data that go by a name, their sizes, and how to obtain those that are absent.",
    "infused datasets",
)
def datasets(context: typer.Context) -> None:
    """List the data that can be given by name."""
    if context.invoked_subcommand is not None:
        return
    from infused.data import available_datasets, dataset_info, reader_formats
    from infused.data.named import data_folder

    known = [dataset_info(name) for name in available_datasets()]
    console = terminal.results()
    table = terminal.plain_table(
        "name", "what", "samples", "features", "classes", "here", right=("samples", "features", "classes")
    )
    for data in known:
        here = Text("yes", "green") if data.present else Text("no", "yellow")
        classes = "continuous" if data.n_classes is None else str(data.n_classes)
        table.add_row(
            Text(data.name, "bold"), data.title, f"{data.n_samples:,}", f"{data.n_features:,}", classes, here
        )
    console.print(table)
    for origin in dict.fromkeys(data.origin for data in known if not data.present):
        files = ", ".join(f"{data.name}.mat" for data in known if data.origin == origin and not data.present)
        console.print(f"{files}: from {origin}", soft_wrap=True)
    if not all(data.present for data in known):
        console.print(
            f"infused datasets fetch downloads them. Or put them into {data_folder()}, or name their folder "
            "in the environment variable INFUSED_DATA.",
            soft_wrap=True,
        )
    formats = ", ".join(reader_formats())
    console.print(Text(f"Files with these suffixes are read as well: {formats}", "dim"))


@o.command(
    """Download public data once, checked by their SHA-256; a transfer that was cut goes on where it was.

    They are kept in the folder that the environment variable INFUSED_DATA names, or in the cache. Where the
    sum of a file is not known, the first file of the stated size settles it. What cannot be had is reported,
    the others are fetched, and the exit code is 2.
    """,
    "infused datasets fetch Lymphoma Isolet1",
    "infused datasets fetch",
    names=typer.Argument(
        metavar="[NAME...]", help="Names that infused datasets lists; by default all of them."
    ),
)
def fetch(
    names: list[str] | None = None,
    quiet: bool = False,
) -> None:
    """Download data by name, and keep them."""
    from infused.data import DataError, available_datasets, dataset_info
    from infused.data.named import fetch_file

    failed = []
    for name in names or [name for name in available_datasets() if not dataset_info(name).present]:
        with Watch(quiet) as watch:

            def arrived(done: int, total: int | None, name: str = name, watch: Watch = watch) -> None:
                watch.report(done / total if total else 0.0, f"Fetching {name}")

            try:
                path = fetch_file(name, arrived)
            except DataError as error:
                failed.append(f"{name}: {error}")
                continue
        if not quiet:
            terminal.results().print(f"{name}: {path}", soft_wrap=True)
    for line in failed:
        terminal.warn(terminal.stderr(), line)
    if failed:
        raise typer.Exit(o.BAD_INPUT)
