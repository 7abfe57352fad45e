"""``infused datasets``: what can be read by name."""

from __future__ import annotations

from rich.text import Text

from infused.cli import terminal
from infused.cli.options import examples

__all__ = ["DATASETS_EXAMPLES", "datasets"]

DATASETS_EXAMPLES = examples("infused datasets")


def datasets() -> None:
    """List the data that go by a name, their sizes, and how to obtain those that are absent."""
    from infused.data import available_datasets, dataset_info, reader_formats
    from infused.data.paper import data_folder

    known = [dataset_info(name) for name in available_datasets()]
    console = terminal.results()
    table = terminal.plain_table(
        "name", "what", "samples", "features", "classes", "here", right=("samples", "features", "classes")
    )
    for data in known:
        here = Text("yes", "green") if data.present else Text("no", "yellow")
        classes = "real" if data.n_classes is None else str(data.n_classes)
        table.add_row(
            Text(data.name, "bold"), data.title, f"{data.n_samples:,}", f"{data.n_features:,}", classes, here
        )
    console.print(table)
    for origin in dict.fromkeys(data.origin for data in known if not data.present):
        files = ", ".join(f"{data.name}.mat" for data in known if data.origin == origin and not data.present)
        console.print(f"{files}: from {origin}", soft_wrap=True)
    if not all(data.present for data in known):
        console.print(
            f"Put them into {data_folder()}, or name their folder in the environment variable INFUSED_DATA.",
            soft_wrap=True,
        )
    formats = ", ".join(reader_formats())
    console.print(Text(f"Files with these suffixes are read as well: {formats}", "dim"))
