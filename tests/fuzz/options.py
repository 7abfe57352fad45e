"""Command lines of any options with any values."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from infused import available_selectors
from tests.data.writers import frame
from tests.fuzz.cases import command
from tests.made_tables import travellers

# fmt: off
VALUES = (
    "", " ", "0", "1", "2", "-1", "1.5", "0.5", "1e999", "nan", "inf", "9" * 30, "auto", "none", "all", "x",
    "diagnosis", "flag", "gene a", "-2", "nothing", "a,b", "tab", "\t", "é", "utf-8", "latin-1", "utf-16",
    "classification", "regression", "median", "mean", "zero", "error", "whole", "accuracy", "r2", "grid",
    "chain", "paper", "stable", "2x3", "2,3", "6x1", "sqrt", "log1p", "lambda1=0.1", "target=real", "=",
    "a=b", "target=label", "n_bins=1", "ranking=path", "standardize=False", "\x1b[2J", "\udc80", "*", "?",
    "sex", "age", "when", "0x10", "1e-9", "\u0661", "2,", ",", "1-3", "--", "t.csv", ".", "/", "groups=[0]",
    "keep=[0]", "n_features_to_select=2", "cv=2", "random_state=1", "selector=mrmr", "methods=anova",
)

#: What has a meaning for an option; any option may get any of the others too.
MEANT = {
    "-k": ("1", "2", "3", "auto", "0.5", "99", "1,2"),
    "--method": ("auto", "stability", "knockoffs", "lasso", "mrmr", "lasso:lambda1=0.1", "nope"),
    "--methods": ("anova", "lasso,anova", "anova,anova", "lasso:lambda1=0.1,mrmr", "auto", "nope", ","),
    "--stability": ("0", "1", "2", "3", "-1", "1.5"),
    "--fdr": ("0.1", "0.5", "0", "1", "2", "-0.1"),
    "--set": ("lambda1=0.1", "n_bins=3", "groups=[0,0]", "cv=2", "=", "target=real", "selector=mrmr"),
    "--scoring": ("accuracy", "balanced_accuracy", "roc_auc", "f1", "r2", "mae", "max_error"),
    "--folds": ("2", "3", "1", "0", "99", "-1"),
    "--repeats": ("1", "2", "0", "-1"),
    "--protocol": ("nested", "leaky"),
    "--classifier": ("svm", "logistic", "knn", "ridge", "os.system", "sklearn.svm.SVC", "nope.Nope"),
    "--timeout": ("0.001", "60", "0", "-1"),
    "--neighbours": ("1", "3", "99", "0"),
    "--scheduler": ("", "x", "tcp://127.0.0.1:1", "tcp://", "http://[", "tcp://127.0.0.1:99999"),
    "--workers": ("0", "-1", "1.5", "x"),
    "--target-file": ("t.csv", "mixed.csv", "missing.csv", "."),
    "--data": ("t.csv", "mixed.csv", "missing.csv", "wine"),
    "--dates": ("day-first", "month-first"),
    "--as-category": ("flag", "level", "age"),
    "--keep": ("name", "gene a", "0", "sex", "age"),
    "--use": ("name", "gene a", "0"),
    "--drop": ("name", "gene a", "sex", "0"),
}
READING = (
    "--target", "--drop", "--use", "--impute", "--missing", "--separator", "--encoding", "--task", "--grid",
    "--as-category", "--categories", "--dates", "--x-key", "--y-key", "--target-file",
)
CLUSTER = ("--scheduler", "--workers")
MODEL = ("--lambda1", "--lambda2", "--lambda3", "--formulation", "--fusion", "--set", "--set")
OPTIONS = {
    "select": (
        "-k", "-k", "--method", "--method", "--transform", "--scoring", "--stability", "--fdr", "--seed",
        "--keep", "--jobs", *MODEL, *CLUSTER, *READING,
    ),
    "explain": ("--neighbours", "--jobs", *READING),
    "compare": (
        "--methods", "--methods", "-k", "--folds", "--repeats", "--scoring", "--protocol", "--classifier",
        "--seed", "--jobs", "--timeout", *CLUSTER, *READING,
    ),
    "apply": ("--x-key", "--missing", "--separator", "--encoding"),
    "rerun": ("--data", "--jobs"),
    "methods": (),
    "datasets": (),
}
FLAGS = (
    "--one-hot", "--keep-duplicates", "--no-header", "--quiet", "--json", "--reduced", "--force", "--nope",
    "--transformed", "--help",
)
# fmt: on
COMMANDS = ("select", "select", "select", "select", "explain", "explain", "compare", "apply", "rerun")
SOURCES = ("t.csv", "t.csv", "mixed.csv", "mixed.csv", "mixed.xlsx", "mixed.jsonl", "missing.csv", "", ".")


@cache
def tables() -> dict[str, bytes]:
    """What the commands find in their folder."""
    mixed = travellers(40)
    mixed["when"] = pd.date_range("2020-01-01", periods=40, freq="17D")
    mixed.loc[3, "when"] = pd.NaT
    plain = Path("mixed.xlsx")
    with pd.ExcelWriter(plain) as book:
        mixed.to_excel(book, sheet_name="first", index=False)
        frame().to_excel(book, sheet_name="second", index=False)
    made = {
        "t.csv": frame().to_csv(index=False).encode(),
        "mixed.csv": mixed.to_csv(index=False).encode(),
        "mixed.jsonl": mixed.to_json(orient="records", lines=True, date_format="iso").encode(),
        "mixed.xlsx": plain.read_bytes(),
    }
    plain.unlink()
    return made


def run(random: np.random.Generator, folder: Path, content: list[tuple[str, bytes]]) -> None:
    """Some options that may or may not go together."""
    for name, data in tables().items():
        (folder / name).write_bytes(data)
    name = str(random.choice([*COMMANDS, "methods", "datasets"]))
    source = str(random.choice(SOURCES))
    if name in ("methods", "datasets"):
        command([name, *_options(random, name)])
    elif name in ("apply", "rerun"):
        _after_a_selection(random, name, source, folder)
    else:
        feature = [str(random.choice(["gene a", "flag", "sex", "age", "when", "nothing", "é"]))]
        arguments = [name, source, *feature * (name == "explain"), *_target(random, source)]
        arguments += _options(random, name)
        if name == "select":
            sure = ["--stability", "0"] * int("--stability" not in arguments and random.random() < 0.8)
            command([*arguments, *sure, "--no-report", "-o", "out"], folder / "out")
        elif name == "explain":
            command([*arguments, *["-o", "out"] * int(random.integers(2))])
        else:  # quick, unless what follows says otherwise
            command([name, source, "--methods", "anova", "--folds", "2", *arguments[2:], "--no-report"])


def _target(random: np.random.Generator, source: str) -> list[str]:
    if random.random() < 0.15:
        return []
    choices = (
        ["survived", "survived", "age", "level"] if "mixed" in source else ["diagnosis", "gene a", "flag"]
    )
    return ["--target", str(random.choice([*choices, "-1"]))]


def _options(random: np.random.Generator, name: str) -> list[str]:
    arguments: list[str] = []
    for _ in range(int(random.integers(0, 4)) if OPTIONS[name] else 0):
        option = str(random.choice(OPTIONS[name]))
        value = VALUES[int(random.integers(len(VALUES)))]
        if option in MEANT and random.random() < 0.7:
            value = str(random.choice(MEANT[option]))
        if option == "--method" and random.random() < 0.6:
            value = str(random.choice(available_selectors()))
        arguments += [option, value]
    if random.random() < 0.3:
        arguments.append(FLAGS[int(random.integers(len(FLAGS)))])
    return arguments


def _after_a_selection(random: np.random.Generator, name: str, source: str, folder: Path) -> None:
    """Select, and use what was written with the same data, other ones or none."""
    first = "mixed.csv" if "mixed" in source else "t.csv"
    target = "survived" if first == "mixed.csv" else "diagnosis"
    more = ["--one-hot"] * int(random.integers(2)) + ["--stability", str(random.integers(3))]
    method = str(random.choice(["anova", "mrmr", "lasso", "stability", "knockoffs"]))
    made = ["select", first, "-t", target, "-k", "2", "-m", method, *more, "--no-report", "-o", "out", "-q"]
    command(made, folder / "out")
    given = str(random.choice(["out", "out/selection.json", "out/selected.csv", "nothing"]))
    if name == "rerun":
        command(["rerun", given, *_options(random, name)])
        return
    written = str(random.choice(["new.csv", "new.parquet", "new.txt", "out", "t.csv", "no/folder.csv"]))
    command(["apply", given, source, "-o", written, *_options(random, name)])
