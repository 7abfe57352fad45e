"""Files of every format, with bytes, numbers or structure changed."""

from __future__ import annotations

import gzip
import io
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp

from infused import open_columns
from infused.exceptions import InputError
from tests.data.writers import FORMATS, frame, small, write, write_svmlight
from tests.fuzz.cases import UnsoundError, command, load, no_noise

INTERESTING = (0, 1, 9, 10, 13, 32, 34, 39, 44, 45, 46, 48, 57, 59, 92, 101, 123, 127, 128, 254, 255)
TOKENS = (
    *(b"1e999", b"-1e-999", b"nan", b"inf", b"1" * 400, b"9" * 25, b"''", b'"', b",", b"\n", b"\r\n", b"\0"),
    *(
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"=1+1",
        b"0x10",
        b"1_000",
        b"1.234,56",
        b"(12)",
        b"\xc2\xa0",
        b"{",
        b"[[",
    ),
    *(b"@data", b"@attribute x numeric", b" " * 2000, b"9999999:1", b"-1:1", b"1:1:1", b"%", b"\xed\xa0\x80"),
)


def _has_anndata() -> bool:
    try:
        import anndata  # noqa: F401
    except ImportError:
        return False
    return True


@cache
def originals() -> dict[str, tuple[bytes, dict[str, Any]]]:
    """The bytes of a good file of each suffix, and what must be said of it."""
    found: dict[str, tuple[bytes, dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for suffix in FORMATS:
            path, options = write(folder, suffix)
            found[suffix] = path.read_bytes(), dict(options)
        found[".svm"] = write_svmlight(folder / "s.svm").read_bytes(), {}
        found[".xlsx"] = _sheets(folder / "s.xlsx"), {"target": "diagnosis"}
        found[".csv.zip"] = _zipped(folder / "s.zip", found[".csv"][0]), {"target": "diagnosis"}
        found[".csv.xz"] = _packed("lzma", found[".csv"][0]), {"target": "diagnosis"}
        found[".csv.bz2"] = _packed("bz2", found[".csv"][0]), {"target": "diagnosis"}
        if _has_anndata():
            found[".h5ad"] = _annotated(folder / "s.h5ad"), {"target": "kind"}
    return found


def _sheets(path: Path) -> bytes:
    """Two sheets, the first with dates and gaps."""
    dated = frame().assign(when=pd.date_range("2020-01-31", periods=12, freq="9D"))
    dated.loc[2, ["when", "gene a"]] = None
    with pd.ExcelWriter(path) as book:
        dated.to_excel(book, sheet_name="dated", index=False)
        frame().to_excel(book, sheet_name="second")
    return path.read_bytes()


def _zipped(path: Path, content: bytes) -> bytes:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner.csv", content)
    return path.read_bytes()


def _packed(module: str, content: bytes) -> bytes:
    return bytes(__import__(module).compress(content))


def _annotated(path: Path, X: Any = None) -> bytes:
    import anndata
    import pandas as pd

    values, y = small()
    data = anndata.AnnData(
        sp.csr_matrix(values) if X is None else X,
        obs=pd.DataFrame({"kind": y}, index=[f"s{j}" for j in range(len(y))]),
    )
    data.write_h5ad(path)
    return path.read_bytes()


def run(random: np.random.Generator, folder: Path, content: list[tuple[str, bytes]]) -> None:
    """Change a file, and read it or select from it."""
    kinds = [*originals(), ".sparse.npz", ".sparse.mat", "folder"]
    suffix = str(random.choice(kinds))
    if suffix == "folder":
        damaged_folder(random, folder, content)
        return
    if suffix.startswith(".sparse"):
        data, options = damaged_sparse(random, suffix, folder), {}
        suffix = suffix.removeprefix(".sparse")
    else:
        whole, options = originals()[suffix]
        inner = suffix.endswith(".gz") and random.random() < 0.5
        data = mutated(random, gzip.decompress(whole) if inner else whole)
        data = gzip.compress(data, 1) if inner else data
    path = folder / f"t{suffix}"
    path.write_bytes(data)
    content.append((path.name, data))
    if random.random() < 0.75:
        load(path, **options)
        return
    given = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    method = str(random.choice(["anova", "lasso", "mrmr"]))
    arguments = ["select", str(path), *given, "-k", "2", "-m", method, "-o", "out", "--no-report", "-q"]
    command(arguments, folder / "out")


def mutated(random: np.random.Generator, whole: bytes) -> bytes:
    """A few changes, each of another sort."""
    content = bytearray(whole)
    for _ in range(int(random.integers(1, 5))):
        change = CHANGES[int(random.integers(len(CHANGES)))]
        if content:
            change(random, content)
    return bytes(content)


def _flip(random: np.random.Generator, content: bytearray) -> None:
    for place in random.integers(0, len(content), int(random.integers(1, 9))):
        content[place] ^= 1 << int(random.integers(8))


def _overwrite(random: np.random.Generator, content: bytearray) -> None:
    for place in random.integers(0, len(content), int(random.integers(1, 9))):
        content[place] = int(random.choice(INTERESTING))


def _cut(random: np.random.Generator, content: bytearray) -> None:
    del content[int(random.integers(0, len(content))) :]


def _remove(random: np.random.Generator, content: bytearray) -> None:
    start = int(random.integers(0, len(content)))
    del content[start : start + int(random.integers(1, 200))]


def _repeat(random: np.random.Generator, content: bytearray) -> None:
    start = int(random.integers(0, len(content)))
    piece = content[start : start + int(random.integers(1, 200))]
    content[start:start] = piece * int(random.integers(1, 20))


def _token(random: np.random.Generator, content: bytearray) -> None:
    start = int(random.integers(0, len(content)))
    content[start:start] = TOKENS[int(random.integers(len(TOKENS)))]


def _number(random: np.random.Generator, content: bytearray) -> None:
    """Four or eight bytes that a size or an index may be made of."""
    value = int(random.choice([0, 1, -1, 40, 255, 65536, 2**31 - 1, -(2**31)]))
    start = int(random.integers(0, len(content)))
    piece = value.to_bytes(int(random.choice([4, 8])), "little", signed=True)
    content[start : start + len(piece)] = piece


Change = Callable[[np.random.Generator, bytearray], None]
CHANGES: tuple[Change, ...] = (_flip, _overwrite, _cut, _remove, _repeat, _token, _number)


def damaged_sparse(random: np.random.Generator, suffix: str, folder: Path) -> bytes:
    """A sparse matrix with wrong pointers or indices, in a file that is whole otherwise."""
    values, y = small()
    X = (sp.csc_matrix if random.random() < 0.5 else sp.csr_matrix)(values)
    if suffix == ".sparse.mat":
        X = X.tocsc()
    parts = {"data": X.data.copy(), "indices": X.indices.copy(), "indptr": X.indptr.copy()}
    for _ in range(int(random.integers(1, 4))):
        part = parts[str(random.choice(["indices", "indptr"]))]
        part[int(random.integers(len(part)))] = int(random.choice([-1, 0, 5, 7, 13, 40, 2**30, -(2**31)]))
    codes = np.unique(y, return_inverse=True)[1]
    buffer = io.BytesIO()
    if suffix == ".sparse.npz":
        name = "csr" if isinstance(X, sp.csr_matrix) else "csc"
        np.savez(buffer, **parts, shape=np.array(X.shape), format=np.array(name.encode()))
    else:
        scipy.io.savemat(buffer, {"X": X, "Y": codes})  # of the sound one: it would crash itself
        data = buffer.getvalue()
        for name in ("indices", "indptr"):
            whole, broken = (np.asarray(part, "<i4").tobytes() for part in (getattr(X, name), parts[name]))
            data = data.replace(whole, broken, 1)
        return data
    return buffer.getvalue()


@cache
def folders() -> tuple[dict[str, bytes], ...]:
    """The files of tables that stay where they are: Parquet, Zarr, NumPy, AnnData and genotypes."""
    import zarr

    numbers = frame().drop(columns="diagnosis").assign(kind=np.arange(12) % 3)
    with tempfile.TemporaryDirectory() as name:
        places = parquet, group, array, cells, calls = [Path(name) / f"place{n}" for n in range(5)]
        for place in (parquet, array, cells, calls):
            place.mkdir()
        for n, part in enumerate((numbers[:5], numbers[5:])):
            part.to_parquet(parquet / f"part-{n}.parquet", index=False)
        made = zarr.open_group(str(group), mode="w")
        for key, values in (("X", small()[0]), ("y", np.arange(12) % 3)):
            made.create_array(key, shape=values.shape, dtype=values.dtype, chunks=values.shape)[:] = values
        np.save(array / "x.npy", np.asfortranarray(small()[0]))
        if _has_anndata():
            _annotated(cells / "x.h5ad", small()[0])
        (calls / "x.bed").write_bytes(b"\x6c\x1b\x01" + bytes(range(100, 118)))  # 12 samples, 6 variants
        (calls / "x.bim").write_text("".join(f"1 rs{n} 0 {n} A C\n" for n in range(6)))
        (calls / "x.fam").write_text("".join(f"f s{n} 0 0 1 {n % 2 + 1}\n" for n in range(12)))
        found = [
            {str(file.relative_to(place)): file.read_bytes() for file in place.rglob("*") if file.is_file()}
            for place in places
        ]
        return tuple(files for files in found if files)


def damaged_folder(random: np.random.Generator, folder: Path, content: list[tuple[str, bytes]]) -> None:
    """Change one file of such a table, or take it away, and read all columns."""
    whole = folders()[int(random.integers(len(folders())))]
    changed = str(random.choice(list(whole)))
    alone = next((name for name in whole if name.endswith((".npy", ".h5ad", ".bed"))), "")
    for name, data in whole.items():
        path = folder / "store" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name != changed:
            path.write_bytes(data)
        elif random.random() < 0.9:
            path.write_bytes(mutated(random, data))
            content.append((name, path.read_bytes()))
    target = [None, "kind", "nothing"][int(random.integers(3))]
    try:
        with no_noise():
            found = open_columns(folder / "store" / alone, target)
            X = np.asarray(found.X)
    except InputError as error:
        if len(str(error).splitlines()) != 1:
            raise UnsoundError(f"a message of several lines: {str(error)!r}") from error
        return
    n_samples = len(X) if found.y is None else len(found.y)
    if X.shape != (n_samples, len(found.names)):
        raise UnsoundError(f"X has the shape {X.shape} for {n_samples} and {len(found.names)} names")
