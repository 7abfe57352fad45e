"""What runs where only some extras are installed, and the one line where one is missing.

    python -m tests.extras [EXTRA]

``.ci/extras`` makes an environment without extras, and one for each of them, and runs this in it. There is
nothing else in them, so this needs neither pytest nor what an extra brings.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import infused
import infused.data
from infused._cluster.session import on_cluster
from infused._runtime.files import alone
from infused._runtime.messages import EXTRAS
from infused.exceptions import MissingExtraError

LINE = "this needs the package {}, which is not installed: pip install 'infused[{}]'"
INSTALLED = sys.argv[1] if sys.argv[1:] else None

NAMES = list("abcdefghijkl")
X = np.random.default_rng(0).normal(size=(40, len(NAMES))).round(3)
y = (X[:, 0] > 0).astype(int)


def a_table() -> None:
    rows = [[*NAMES, "kind"], *([*row, kind] for row, kind in zip(X, y, strict=True))]
    Path("table.csv").write_text("\n".join(",".join(map(str, row)) for row in rows), encoding="utf-8")
    assert infused.select("table.csv", "kind", k=1, method="anova").features == ["a"]


def a_sheet() -> None:
    path = Path("table.xlsx")
    path.write_bytes(b"x")
    if INSTALLED == "files":
        import pandas

        pandas.DataFrame(X, columns=NAMES).assign(kind=y).to_excel(path, index=False)
    assert infused.select(path, "kind", k=1, method="anova").features == ["a"]


def an_old_sheet() -> None:
    path = Path("table.xls")
    path.write_bytes(biff([[*NAMES, "kind"], *([*row, kind] for row, kind in zip(X, y, strict=True))]))
    assert infused.select(path, "kind", k=1, method="anova").features == ["a"]


def biff(rows: Sequence[Sequence[object]]) -> bytes:
    """Write a sheet as the first version of Excel did: records of a number and a length."""
    records = [(0x09, struct.pack("<HH", 2, 0x10))]
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            place = struct.pack("<HH3x", i, j)
            if isinstance(value, str):
                text = value.encode("latin-1")
                records.append((0x04, place + bytes([len(text)]) + text))
            elif value is not None:
                records.append((0x03, place + struct.pack("<d", float(str(value)))))
    return b"".join(struct.pack("<HH", kind, len(body)) + body for kind, body in [*records, (0x0A, b"")])


def a_new_mat() -> None:
    path = Path("new.mat")
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    if INSTALLED == "mat":
        import h5py

        with h5py.File(path, "w", userblock_size=512) as file:
            file["X"], file["Y"] = X.T, y[None]
        with path.open("r+b") as stream:
            stream.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    assert infused.data.load_data(path).X.shape == X.shape


def a_comparison() -> None:
    found = infused.compare((X, y), methods=["anova"], k=2, folds=2)
    assert "anova" in found.table["method"].tolist()


def a_lock() -> None:
    with alone(Path("lock")):
        pass


def the_columns() -> None:
    assert len(infused.select((X, y), k=2, method="lasso").table) == 2


def a_page() -> None:
    assert infused.select((X, y), k=2, method="lasso").report().startswith("<!doctype html>")


def a_plot() -> None:
    infused.report.plot_convergence(infused.select((X, y), k=2))


def processes() -> None:
    with on_cluster(workers=1):
        assert infused.structural_information(X, y).shape == (12, 12)


def cells() -> None:
    path = Path("cells.h5ad")
    path.write_bytes(b"x")
    if INSTALLED == "h5ad":
        import anndata
        import pandas

        labels = [f"cell{j}" for j in range(len(y))]
        obs = pandas.DataFrame({"kind": y.astype(str)}, index=labels)
        var = pandas.DataFrame(index=NAMES)
        anndata.AnnData(X, obs=obs, var=var).write_h5ad(path)
    assert infused.select(path, "kind", k=1, method="anova").features == ["a"]


def the_command() -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "infused", "methods"], capture_output=True, text=True, check=False
    )
    if done.returncode == 2:
        raise MissingExtraError(done.stderr.removeprefix("Error: ").removesuffix("\n"))
    assert done.returncode == 0 and "infused-lasso" in done.stdout, done


#: A job, the extra that it needs, and the package that it misses first.
JOBS: tuple[tuple[Callable[[], None], str, str], ...] = (
    (a_table, "files", "pyarrow"),
    (a_sheet, "files", "openpyxl"),
    (an_old_sheet, "xls", "xlrd"),
    (a_new_mat, "mat", "h5py"),
    (a_comparison, "files", "pandas"),
    (the_columns, "files", "pandas"),
    (a_lock, "files", "filelock"),
    (a_page, "report", "jinja2"),
    (a_plot, "plots", "matplotlib"),
    (the_command, "cli", "typer"),
    (processes, "dask", "dask"),
    (cells, "h5ad", "anndata"),
)


def without_extras() -> None:
    """Every selector works; every job that needs more says in one line how to get it."""
    for name in infused.available_selectors():
        infused.make_selector(name).fit(X, y)
    for job, extra, package in JOBS:
        try:
            job()
        except MissingExtraError as error:
            assert str(error) == LINE.format(package, extra), f"{job.__name__}: {error}"
        else:
            raise AssertionError(f"{job.__name__} runs without infused[{extra}]")


def with_extra(name: str) -> None:
    """One extra is enough for its jobs."""
    for job in [job for job, extra, _ in JOBS if extra == name]:
        job()


if __name__ == "__main__":
    assert {extra for _, extra, _ in JOBS} == set(EXTRAS.values()), "an extra has no job"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        without_extras() if INSTALLED is None else with_extra(INSTALLED)
        os.chdir(Path(__file__).parent)  # a folder that one is in cannot be removed everywhere
