"""Command lines of any options with any values."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from infused import available_selectors
from tests.data.writers import frame
from tests.fuzz.cases import command

VALUES = (
    *(
        "",
        " ",
        "0",
        "1",
        "2",
        "-1",
        "1.5",
        "0.5",
        "1e999",
        "nan",
        "inf",
        "9" * 30,
        "auto",
        "none",
        "all",
        "x",
    ),
    *("diagnosis", "flag", "gene a", "-2", "nothing", "a,b", "tab", "\t", "é", "utf-8", "latin-1", "utf-16"),
    *("classification", "regression", "median", "mean", "zero", "error", "whole", "accuracy", "r2", "grid"),
    *(
        "chain",
        "paper",
        "stable",
        "2x3",
        "2,3",
        "6x1",
        "sqrt",
        "log1p",
        "lambda1=0.1",
        "target=real",
        "=",
        "a=b",
    ),
    *(
        "target=label",
        "n_bins=1",
        "n_bins=3",
        "ranking=path",
        "standardize=False",
        "\x1b[2J",
        "\udc80",
        "*",
        "?",
    ),
)
OPTIONS = (
    *(
        "--target",
        "-k",
        "--method",
        "--transform",
        "--scoring",
        "--seed",
        "--lambda1",
        "--lambda2",
        "--lambda3",
    ),
    *("--formulation", "--fusion", "--set", "--drop", "--keep", "--impute", "--missing", "--separator"),
    *("--encoding", "--task", "--grid", "--as-category", "--categories", "--jobs", "--x-key", "--y-key"),
)
FLAGS = (
    "--one-hot",
    "--keep-duplicates",
    "--no-header",
    "--quiet",
    "--json",
    "--reduced",
    "--force",
    "--nope",
)
COMMANDS = ("select", "select", "select", "explain", "compare", "apply", "rerun", "methods", "datasets")


def run(random: np.random.Generator, folder: Path, content: list[tuple[str, bytes]]) -> None:
    """Some options that may or may not go together."""
    frame().to_csv(folder / "t.csv", index=False)
    name = COMMANDS[int(random.integers(len(COMMANDS)))]
    arguments = [name]
    if name not in ("methods", "datasets"):
        arguments.append(str(random.choice(["t.csv", "t.csv", "t.csv", "wine", "missing.csv", "", "."])))
    if random.random() < 0.8:
        arguments += ["--target", str(random.choice(["diagnosis", "diagnosis", "gene a", "flag", "-1"]))]
    for _ in range(int(random.integers(0, 4))):
        option = OPTIONS[int(random.integers(len(OPTIONS)))]
        value = VALUES[int(random.integers(len(VALUES)))]
        if option == "--method" and random.random() < 0.8:
            value = str(random.choice(available_selectors()))
        arguments += [option, value]
    if random.random() < 0.3:
        arguments.append(FLAGS[int(random.integers(len(FLAGS)))])
    if name == "explain":
        arguments.insert(2, str(random.choice(["gene a", "flag", "nothing", "é"])))
    if name == "select":
        command([*arguments, "--no-report", "-o", "out"], folder / "out")
    else:
        command(arguments)
