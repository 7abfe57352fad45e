"""``infused select``: from a file to an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from infused.cli import options as o
from infused.cli.parameters import method_parameters
from infused.cli.progress import Stages
from infused.cli.reading import load_requested, reading_options
from infused.cli.results import Results
from infused.cli.selecting import check_request, select_features

__all__ = ["SELECT_EXAMPLES", "select"]

SELECT_EXAMPLES = o.examples(
    "infused select digits -k 20",
    "infused select patients.csv --target diagnosis -k 10 --output out",
    "infused select patients.csv --target diagnosis -k auto --method mrmr -o mrmr",
    "infused select breast-cancer -k 0.2 --transform auto --json",
)
MODEL = "Model"


def _model(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=MODEL, **more)


def select(
    data: o.Data,
    features: Annotated[
        str | None,
        typer.Option(
            "-k",
            "--features",
            metavar="K",
            help="How many: a number, a fraction like 0.1, or auto; by default as many as the method finds.",
        ),
    ] = None,
    method: Annotated[
        str, typer.Option("--method", "-m", metavar="ID", help="One that infused methods lists.")
    ] = "infused-lasso",
    transform: Annotated[
        str,
        typer.Option("--transform", metavar="HOW", help="Of the values first: none, sqrt, log1p or auto."),
    ] = "none",
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="For what is drawn at random.")] = 0,
    jobs: o.Jobs = -1,
    target: o.Target = None,
    target_file: o.TargetFile = None,
    x_key: o.XKey = None,
    y_key: o.YKey = None,
    drop: o.Drop = None,
    keep: o.Keep = None,
    impute: o.Impute = None,
    one_hot: o.OneHot = False,
    separator: o.Separator = None,
    encoding: o.Encoding = None,
    no_header: o.NoHeader = False,
    task: o.TaskName = None,
    grid: Annotated[
        str | None,
        typer.Option(
            "--grid",
            metavar="ROWSxCOLUMNS",
            help="The features are the pixels of a picture, row by row.",
            rich_help_panel=o.READING,
        ),
    ] = None,
    lambda1: Annotated[float | None, _model("--lambda1", metavar="X", help="Weight of sparsity.")] = None,
    lambda2: Annotated[float | None, _model("--lambda2", metavar="X", help="Weight of fusion.")] = None,
    lambda3: Annotated[float | None, _model("--lambda3", metavar="X", help="Weight of structure.")] = None,
    formulation: Annotated[
        str | None, _model("--formulation", metavar="WHICH", help="stable, or paper: as published.")
    ] = None,
    fusion: Annotated[
        str | None,
        _model("--fusion", metavar="HOW", help="Which features are fused: chain, grid or none."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        _model("--set", metavar="NAME=VALUE", help="Another parameter of the method (repeatable)."),
    ] = None,
    output: o.Output = None,
    report: o.Report = True,
    reduced: Annotated[
        bool,
        typer.Option(
            "--reduced", help="Also write the selected columns as reduced.parquet.", rich_help_panel=o.RESULTS
        ),
    ] = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
    force: o.Force = False,
) -> None:
    """Select the features of DATA that tell most about a target.

    Shows the best ones, and writes selected.csv, selection.json and the page report.html to a folder
    (infused- and the name of the data, unless --output says otherwise). With --json nothing is written unless
    --output is given.
    """
    from infused.selection import Request
    from infused.selection.choices import TRANSFORMS

    request = Request(
        source=data,
        target=target,
        reading=reading_options(
            target_file=target_file,
            x_key=x_key,
            y_key=y_key,
            drop=drop,
            keep=keep,
            impute=impute,
            one_hot=one_hot,
            separator=separator,
            encoding=encoding,
            no_header=no_header,
            task=task,
            grid=o.parse_grid(grid),
        ),
        method=method,
        parameters=method_parameters(
            method,
            {
                "lambda1": lambda1,
                "lambda2": lambda2,
                "lambda3": lambda3,
                "formulation": formulation,
                "fusion": fusion,
            },
            settings or [],
        ),
        n_features=o.parse_number(features),
        transform=o.one_of("--transform", transform, (*TRANSFORMS, "auto")),
        seed=seed,
        task=task or "auto",
    )
    results = Results(output, report=report, reduced=reduced, json=json, quiet=quiet, force=force)
    results.check()
    check_request(request)
    o.check_jobs(jobs)
    with Stages(quiet=quiet or json) as stages:
        with stages.stage("read", f"reading {Path(data).name}"):
            dataset = load_requested(data, target, request.reading)
        results = results.for_data(dataset.name)
        record = select_features(dataset, request, stages, jobs)
        written = results.write(record, dataset, stages)
        stages.notes(record.data.notes)
    results.show(record, written)
