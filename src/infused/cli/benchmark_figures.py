"""``infused benchmark figures``: the store as pictures."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from infused.cli import options as o
from infused.cli import terminal
from infused.cli.benchmark_table import MethodNames, StoreFolder, stored_rows
from infused.cli.files import check_writable, write_whole
from infused.cli.lists import parse_names
from infused.cli.progress import Stages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure
    from pandas import DataFrame

    from infused.bench.cells import Protocol

__all__ = ["FIGURES_EXAMPLES", "figures"]

FIGURES_EXAMPLES = o.examples("infused benchmark figures --output docs/figures")

#: Those of Figure 3 of the paper.
CONVERGENCE = ("USPS", "YaleB")


def figures(
    store: StoreFolder = Path("results"),
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the pictures.")
    ] = Path("figures"),
    methods: MethodNames = None,
    convergence: Annotated[
        bool,
        typer.Option("--convergence/--no-convergence", help="Whether to fit USPS and YaleB for Figure 3."),
    ] = True,
    quiet: o.Quiet = False,
) -> None:
    """Draw what a benchmark found, each figure as PNG and as SVG.

    accuracy: accuracy against the number of features on every data set (Figure 2 of the paper), with bands of
    one standard error and the published result of InFusedLasso. ranks: the critical-difference diagram.
    convergence: the objective against the iteration (Figure 3). Variants of a method are drawn only where
    --methods names them. Leaky results have figures of their own.
    """
    import matplotlib

    from infused.bench.frames import labelled, plain_methods

    matplotlib.use("Agg")
    check_writable(output)
    rows = labelled(stored_rows(store, parse_names("--methods", methods)))
    rows = plain_methods(rows) if methods is None else rows
    written = []
    with Stages(quiet=quiet) as stages:
        with stages.stage("draw", "drawing"):
            for protocol in sorted(rows["protocol"].unique()):
                suffix = "-leaky" if protocol == "leaky" else ""
                for name, figure in _of_rows(rows, protocol, stages):
                    written += _save(figure, output, f"{name}{suffix}")
        if convergence:
            written += _convergence(output, stages)
    if not quiet:
        for path in written:
            terminal.results().print(str(path), soft_wrap=True)


def _of_rows(rows: DataFrame, protocol: Protocol, stages: Stages) -> Iterator[tuple[str, Figure]]:
    from infused.bench.ranks import TooFewToRankError
    from infused.bench.tables import rank_comparison
    from infused.report.bench_figures import plot_accuracy_grid, plot_critical_difference

    yield "accuracy", plot_accuracy_grid(rows, protocol=protocol, published=True)
    try:
        ranks = rank_comparison(rows, protocol=protocol)
    except TooFewToRankError as error:
        stages.notes([f"no figure of {protocol} ranks: {error}"])
        return
    figure: Any = plot_critical_difference(ranks).figure
    yield "ranks", figure


def _convergence(folder: Path, stages: Stages) -> list[Path]:
    """Figure 3, where its data are on this machine."""
    import matplotlib.pyplot as plt

    from infused.data import load_data
    from infused.data.paper import is_present
    from infused.report.figures import plot_convergence
    from infused.selectors import make_selector

    absent = [name for name in CONVERGENCE if not is_present(name)]
    if absent:
        stages.notes([f"no figure of convergence: {' and '.join(absent)} not found (see infused datasets)"])
        return []
    figure, axes = plt.subplots(1, len(CONVERGENCE), figsize=(9.6, 3.8), layout="constrained")
    for ax, name in zip(axes, CONVERGENCE, strict=True):
        with stages.stage("fit", f"fitting {name}"):
            data = load_data(name)
            # The first round on all features is what the paper's figure shows.
            selector = make_selector("infused-lasso", ranking="coefficient").fit(data.X, data.y)
        plot_convergence(selector, ax=ax)
        ax.set_title(f"{name}: {ax.get_title()}", fontsize="medium")
    return _save(figure, folder, "convergence")


def _save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """As PNG and SVG; the same figure gives the same files."""
    import matplotlib
    import matplotlib.pyplot as plt

    paths = [folder / f"{name}.{kind}" for kind in ("png", "svg")]
    with matplotlib.rc_context({"svg.hashsalt": "infused"}):
        for path in paths:
            metadata = {"Date": None} if path.suffix == ".svg" else {}
            draw = partial(figure.savefig, format=path.suffix[1:], dpi=150, metadata=metadata)
            write_whole(path, draw)
    plt.close(figure)
    return paths
