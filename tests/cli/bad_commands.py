"""Commands that cannot be carried out, each with what the one line of the answer must say.

They run in a folder that holds patients.csv, new-patients.csv and the results of a selection in ``out``.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

PATIENTS = ("select", "patients.csv", "-t", "diagnosis")


def command(*arguments):
    """A case that needs no more than what is there."""
    return lambda folder: arguments


def with_file(name, content, *arguments):
    """A case that finds this file as well."""

    def build(folder: Path):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return arguments

    return build


def with_targets(*arguments):
    """A case whose data have two real targets."""

    def build(folder: Path):
        rng = np.random.default_rng(0)
        np.savez(folder / "two.npz", X=rng.standard_normal((20, 4)), y=rng.standard_normal((20, 2)))
        return arguments

    return build


def with_record(*arguments, drop=(), **changes):
    """A case whose record says something else than what was written."""

    def build(folder: Path):
        path = folder / "out" / "selection.json"
        record = json.loads(path.read_text(encoding="utf-8"))
        for name in drop:
            del record[name]
        for name, value in changes.items():
            inner, _, key = name.partition("__")
            if key:
                record[inner][key] = value
            else:
                record[inner] = value
        path.write_text(json.dumps(record), encoding="utf-8")
        return arguments

    return build


def changed_data(folder: Path):
    lines = (folder / "patients.csv").read_text().splitlines()
    (folder / "patients.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]))
    return "rerun", "out/selection.json"


def moved_data(folder: Path):
    (folder / "patients.csv").rename(folder / "elsewhere.csv")
    return "rerun", "out/selection.json"


RERUN = ("rerun", "out/selection.json")
APPLY = ("apply", "out/selection.json", "new-patients.csv", "-o", "x.csv")
FOUR = "a,b,kind\n1.5,2,x\n2.5,1,y\n0.5,7,x\n9.5,3,y\n"
LONELY = "a,b,kind\n" + "1.5,2,x\n" * 11 + "0.5,7,y\n"

CASES = {
    # how many
    "k = 0": (command("select", "wine", "-k", "0"), ["-k 0", "whole number", "auto"]),
    "k < 0": (command("select", "wine", "-k", "-3"), ["-k -3"]),
    "k is no number": (command("select", "wine", "-k", "abc"), ["-k abc", "fraction"]),
    "fraction above one": (command("select", "wine", "-k", "1.5"), ["-k 1.5", "between 0 and 1"]),
    "fraction of all": (command("select", "wine", "-k", "1.0"), ["-k 1.0"]),
    "k is not a number": (command("select", "wine", "-k", "nan"), ["-k nan"]),
    "k > N": (command("select", "wine", "-k", "99"), ["-k 99", "13 features", "'wine'"]),
    "-k auto with four samples": (
        with_file("four.csv", FOUR, "select", "four.csv", "-t", "kind", "-k", "auto"),
        ["at least 10 samples", "there are 4"],
    ),
    "-k auto with a class of one": (
        with_file("lonely.csv", LONELY, "select", "lonely.csv", "-t", "kind", "-k", "auto"),
        ["two classes with at least two samples"],
    ),
    # methods and their parameters
    "unknown method": (command("select", "wine", "-m", "mrmrr"), ["'mrmrr'", "did you mean 'mrmr'"]),
    "unlike any method": (command("select", "wine", "-m", "zzz"), ["'zzz'", "infused-lasso, in-elastic-net"]),
    "unknown method to list": (command("methods", "laso"), ["'laso'", "'lasso'"]),
    "lambda1 < 0": (command("select", "wine", "--lambda1", "-1"), ["'lambda1'", "-1.0"]),
    "lambda1 is no number": (command("select", "wine", "--lambda1", "much"), ["--lambda1"]),
    "lambda1 is not a number": (command("select", "wine", "--lambda1", "nan"), ["'lambda1'", "nan"]),
    "lambda3 with mrmr": (
        command("select", "wine", "-m", "mrmr", "--lambda3", "1"),
        ["mrmr does not take --lambda3", "scheme", "n_bins"],
    ),
    "fusion with lasso": (
        command("select", "wine", "-m", "lasso", "--fusion", "chain"),
        ["lasso does not take --fusion", "it takes lambda1"],
    ),
    "formulation with anova": (
        command("select", "wine", "-m", "anova", "--formulation", "paper"),
        ["anova does not take --formulation", "it takes target"],
    ),
    "unknown formulation": (
        command("select", "wine", "--formulation", "papre"),
        ["'formulation'", "'papre'"],
    ),
    "unknown fusion": (command("select", "wine", "--fusion", "ring"), ["'fusion'", "'ring'"]),
    "setting without a value": (command("select", "wine", "--set", "tol"), ["--set 'tol'", "n_bins=10"]),
    "unknown setting": (
        command("select", "wine", "-m", "mrmr", "--set", "bins=3"),
        ["mrmr does not take --set bins=...", "n_bins"],
    ),
    "setting with an option": (
        command("select", "wine", "--set", "n_features_to_select=3"),
        ["n_features_to_select", "use -k"],
    ),
    "setting out of range": (command("select", "wine", "-m", "mrmr", "--set", "n_bins=1"), ["'n_bins'", "1"]),
    "lambda3 beyond the limit": (
        command(
            *("select", "wine", "--formulation", "paper", "--lambda3", "1"),
            *("--set", "lambda_scale=absolute"),
        ),
        ["lambda3=1", "largest admissible value on these data is 0.016"],
    ),
    "classes needed": (
        command("select", "diabetes", "-m", "l1-logistic"),
        ["l1-logistic needs classes", "lasso"],
    ),
    "two targets for mrmr": (
        with_targets("select", "two.npz", "-m", "mrmr"),
        ["mrmr takes one target", "2 columns"],
    ),
    "two targets for anova": (
        with_targets("select", "two.npz", "-m", "anova"),
        ["anova takes one target", "2 columns"],
    ),
    "no threads": (command("select", "wine", "--jobs", "0"), ["--jobs 0", "-1"]),
    "seed < 0": (command("select", "wine", "--seed", "-1"), ["--seed"]),
    "seed is no number": (command("select", "wine", "--seed", "today"), ["--seed"]),
    # the picture and the transform
    "grid of another size": (command("select", "wine", "--grid", "3x3"), ["--grid 3x3", "9 pixels", "13"]),
    "grid of letters": (command("select", "wine", "--grid", "axb"), ["--grid 'axb'", "16x16"]),
    "grid of nothing": (command("select", "wine", "--grid", "0x5"), ["--grid '0x5'"]),
    "fusion without a grid": (
        command("select", "wine", "--fusion", "grid"),
        ["--fusion grid", "--grid"],
    ),
    "unknown transform": (command("select", "wine", "--transform", "log1"), ["--transform log1", "'log1p'"]),
    "negative values": (
        command("select", "diabetes", "--transform", "log1p"),
        ["log1p", "negative", "'age'", "-0.107"],
    ),
    "transform of four samples": (
        with_file("four.csv", FOUR, "select", "four.csv", "-t", "kind", "--transform", "auto"),
        ["at least 10 samples", "there are 4"],
    ),
    # the command line itself
    "unknown command": (command("selct", "wine"), ["'selct'", "'select'"]),
    "unknown option": (command("select", "wine", "--lamda1", "3"), ["--lamda1", "--lambda1"]),
    "no data": (command("select"), ["DATA", "infused select --help"]),
    "two data": (command("select", "wine", "digits"), ["digits"]),
    "option without a value": (command("select", "wine", "-k"), ["-k"]),
    # places for results
    "output is a file": (command("select", "wine", "-o", "patients.csv"), ["patients.csv is a file"]),
    "output below a file": (
        command("select", "wine", "-o", "patients.csv/out"),
        ["patients.csv", "is a file"],
    ),
    "output with earlier results": (
        command("select", "wine", "-o", "out"),
        ["out holds earlier results", "selection.json", "--force"],
    ),
    "folder of the name with earlier results": (
        with_file("infused-wine/selection.json", "{}", "select", "wine", "-k", "3"),
        ["infused-wine holds earlier results", "--force"],
    ),
    # explain
    "unknown feature": (
        command("explain", "breast-cancer", "worst raduis"),
        ["FEATURE 'worst raduis'", "'worst radius'"],
    ),
    "feature beyond the last": (command("explain", "wine", "13"), ["FEATURE 13", "13 columns"]),
    "target as a feature": (
        command("explain", "patients.csv", "diagnosis", "-t", "diagnosis"),
        ["FEATURE diagnosis"],
    ),
    "two targets to explain": (
        with_targets("explain", "two.npz", "0"),
        ["explain takes one target", "2 columns"],
    ),
    "no neighbours": (command("explain", "wine", "0", "--neighbours", "0"), ["--neighbours"]),
    "explained before": (
        with_file("out/explain.json", "{}", "explain", "wine", "0", "-o", "out"),
        ["explain.json", "--force"],
    ),
    "no feature": (command("explain", "wine"), ["FEATURE"]),
    # rerun
    "record not there": (command("rerun", "nowhere.json"), ["nowhere.json", "No such file"]),
    "record is no JSON": (with_file("r.json", '{"schema": ', "rerun", "r.json"), ["r.json", "not JSON"]),
    "record is no text": (with_file("r.json", b"\xff\xfe\x00", "rerun", "r.json"), ["r.json", "no text"]),
    "record of something else": (with_file("r.json", "[1, 2]", "rerun", "r.json"), ["r.json", "schema"]),
    "newer record": (with_record(*RERUN, schema="infused.selection/9"), ["newer", "upgrade"]),
    "damaged record": (with_record(*RERUN, drop=["selected"]), ["selection.json", "selected is missing"]),
    "record of an unknown method": (
        with_record(*RERUN, request__method={"id": "x-lasso", "parameters": {}}),
        ["'x-lasso'"],
    ),
    "record with an unknown parameter": (
        with_record(*RERUN, request__method={"id": "anova", "parameters": {"depth": 3}}),
        ["anova", "depth"],
    ),
    "record with an unknown option": (with_record(*RERUN, request__reading={"depth": 3}), ["depth"]),
    "record with an unknown transform": (with_record(*RERUN, request__transform="cube"), ["cube", "log1p"]),
    "changed data": (changed_data, ["patients.csv", "changed since", "--force"]),
    "moved data": (moved_data, ["'patients.csv'", "not here", "--data"]),
    "rerun into earlier results": (command(*RERUN, "-o", "out"), ["out holds earlier results"]),
    # apply
    "column not there": (
        with_file("new-patients.csv", "age,iron\n1,2\n3,4\n", *APPLY),
        ["2 features have no column", "'glucose'"],
    ),
    "text to apply to": (
        with_file("new-patients.csv", "glucose,ferritin,iron\n1,2,lots\n3,4,5\n", *APPLY),
        ["'iron'", "'lots'", "--missing lots"],
    ),
    "output of no known kind": (command(*APPLY[:3], "-o", "x.xlsx"), ["x.xlsx", ".parquet or .csv"]),
    "output that exists": (command(*APPLY[:3], "-o", "patients.csv"), ["patients.csv", "--force"]),
    "output that is a folder": (
        with_file("x.csv/y", "", *APPLY),
        ["x.csv", "folder"],
    ),
    "apply without an output": (command(*APPLY[:3]), ["--output"]),
    "apply to nothing": (command(*APPLY[:2], "nowhere.csv", "-o", "x.csv"), ["nowhere.csv"]),
    "apply what is empty": (with_record(*APPLY, selected=[], coding=[], redundancy=None), ["no features"]),
}
