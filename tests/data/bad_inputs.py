"""Everything that can be wrong with data, each with what the message must say.

A case builds its file in a folder and returns the source and the options for load_data.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp

NO_TEXT = np.frombuffer(np.full(4, 0x7FFFFFFF, "<u4").tobytes(), "<U1")
GOOD = "a,b,kind\n1.5,2,x\n2.5,1,y\n0.5,7,x\n9.5,3,y\n"


def text(content, name="t.csv", encoding="utf-8", **options):
    """A case whose file holds this text."""

    def build(folder: Path):
        path = folder / name
        data = content.encode(encoding) if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path, {"target": "kind", **options}

    return build


def nested(opening, closing):
    """A row of JSON with 10,000 of them inside each other."""
    return f'{{"a": {opening * 10_000}1{closing * 10_000}, "kind": 1}}\n'


def columns(table):
    """A case whose file is a data frame with these columns beside a good target."""

    def build(folder: Path):
        kind = ["x", "y"] * (len(next(iter(table.values()))) // 2)
        pd.DataFrame({"kind": kind, **table}).to_parquet(folder / "t.parquet")
        return folder / "t.parquet", {"target": "kind"}

    return build


def npz(_options=None, **arrays):
    def build(folder: Path):
        np.savez(folder / "t.npz", **arrays)
        return folder / "t.npz", _options or {}

    return build


def mat(_options=None, **arrays):
    def build(folder: Path):
        scipy.io.savemat(folder / "t.mat", arrays)
        return folder / "t.mat", _options or {}

    return build


def cut(write, name, keep=0.6, **options):
    """A case whose file was written in full and lost its end."""

    def build(folder: Path):
        path = folder / name
        write(path)
        whole = path.read_bytes()
        path.write_bytes(whole[: int(len(whole) * keep)])
        return path, options

    return build


def fixed(source, **options):
    return lambda folder: (folder / source if "/" not in source else source, options)


def folder_named(name, **options):
    def build(folder: Path):
        (folder / name).mkdir()
        return folder / name, options

    return build


def with_labels(content, labels, name="y.csv", **options):
    def build(folder: Path):
        (folder / "t.csv").write_text(content)
        (folder / name).write_text(labels)
        return folder / "t.csv", {"target_file": folder / name, **options}

    return build


def numbers(n_rows=40, n_columns=200):
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.standard_normal((n_rows, n_columns)), columns=[f"g{j}" for j in range(n_columns)])


V73 = (
    b"MATLAB 7.3 MAT-file, Platform: GLNXA64, HDF5 schema 1.00 .".ljust(124, b" ")
    + b"\x00\x02IM"
    + b"\x00" * 384
)
X4, Y4 = np.arange(8.0).reshape(4, 2) ** 2, np.array([0, 1, 0, 1])
ARFF = "@relation r\n@attribute a numeric\n@attribute kind {x,y}\n@data\n"
PICKLED = np.array([{"a": 1}, None], dtype=object)

CASES = {
    # files
    "absent": (fixed("nowhere.csv", target="kind"), ["nowhere.csv", "No such file"]),
    "folder": (folder_named("things"), ["things", "folder"]),
    "folder with a suffix": (folder_named("things.csv"), ["things.csv", "folder"]),
    "empty": (text(b""), ["t.csv", "empty"]),
    "blank": (text("\n\n \n"), ["t.csv", "empty"]),
    "empty gzip": (text(b"", "t.csv.gz"), ["t.csv.gz", "empty"]),
    "unknown suffix": (text("x", "t.docx"), ["t.docx", ".docx", ".parquet", ".csv.gz", ".zip"]),
    "no suffix": (text("x", "stuff"), ["stuff", "no suffix"]),
    "path to nothing": (fixed("no/where"), ["no/where", "No such file"]),
    "no such name": (lambda _: ("zzz", {}), ["zzz", "neither a file", "digits, breast-cancer"]),
    "misspelt named data": (
        lambda _: ("breast-cancre", {}),
        ["breast-cancre", "did you mean 'breast-cancer'"],
    ),
    "header only": (text("a,b,kind\n"), ["t.csv", "header and no rows"]),
    "one row": (text("a,b,kind\n1,2,x\n"), ["t.csv", "1 row"]),
    "text that is no gzip": (
        lambda f: text(GOOD)(f)[0].rename(f / "t.csv.gz") and (f / "t.csv.gz", {}),
        ["t.csv.gz"],
    ),
    "cut gzip": (
        cut(lambda p: numbers().to_csv(p, index=False), "t.csv.gz", target="g0"),
        ["t.csv.gz", "to its end"],
    ),
    "cut parquet": (
        cut(lambda p: numbers().to_parquet(p), "t.parquet", target="g0"),
        ["t.parquet", "Parquet"],
    ),
    "cut feather": (
        cut(lambda p: numbers().to_feather(p), "t.feather", target="g0"),
        ["t.feather", "Feather"],
    ),
    "cut mat": (cut(lambda p: scipy.io.savemat(p, {"X": X4, "Y": Y4}), "t.mat"), ["t.mat", "complete"]),
    "cut compressed mat": (
        cut(lambda p: scipy.io.savemat(p, {"X": numbers().to_numpy()}, do_compression=True), "t.mat"),
        ["t.mat", "complete"],
    ),
    "cut npz": (cut(lambda p: np.savez(p, X=X4, y=Y4), "t.npz"), ["t.npz", "complete"]),
    "text as mat": (text(GOOD, "t.mat", target=None), ["t.mat"]),
    "mat 7.3": (text(V73, "t.mat", target=None), ["t.mat", "could not be read as MATLAB"]),
    "a single array": (
        lambda f: (np.save(f / "t.npy", X4), (f / "t.npy").rename(f / "t.npz")) and (f / "t.npz", {}),
        ["t.npz", "np.savez"],
    ),
    # the target
    "no target": (text(GOOD, target=None), ["target=", "'kind'"]),
    "no target, a usual name": (text("a,Diagnosis,b\n1,x,2\n", target=None), ["target=", "'Diagnosis'"]),
    "target not there": (text(GOOD, target="kinds"), ["'kinds'", "target=", "did you mean 'kind'"]),
    "target beyond the last": (text(GOOD, target=3), ["target=3", "3 columns"]),
    "target before the first": (text(GOOD, target="-4"), ["target=-4", "3 columns"]),
    "target dropped": (text(GOOD, drop=["kind"]), ["drop=", "'kind'"]),
    "one class": (text("a,kind\n1.5,x\n2.5,x\n7.5,x\n"), ["'kind'", "one class", "'x'"]),
    "as many classes as samples": (text("a,kind\n1.5,x\n2.5,y\n7.5,z\n"), ["'kind'", "each of the 3 rows"]),
    "as many numbers as samples": (text("a,kind\n1.5,3\n2.5,4\n7.5,9\n"), ["'kind'", "task='regression'"]),
    "infinite target": (text("a,kind\n1.5,0.5\n2.5,inf\n7.5,1.5\n"), ["'kind'", "infinite"]),
    "text for regression": (text(GOOD, task="regression"), ["'kind'", "text ('x')"]),
    "constant target": (text("a,kind\n1.5,0.5\n2.5,0.5\n"), ["'kind'", "same value", "0.5"]),
    "dates as target": (text("a,kind\n1.5,2020-01-01\n2.5,2020-01-02\n"), ["'kind'", "dates"]),
    "open quote": (text('a,kind\n1.5,x\n2.5,"y\n3.5,x\n7.5,y\n'), ["'kind'", "line break", "quote"]),
    "unknown task": (text(GOOD, task="ranking"), ["task=", "'ranking'", "classification"]),
    "several real targets as classes": (
        npz({"task": "classification"}, X=X4, y=X4 + 0.5),
        ["'y'", "2 columns"],
    ),
    "label of bytes": (npz(X=X4, y=np.array([b"\xff", b"b", b"b", b"\xff"])), ["'y'", "UTF-8"]),
    "complex target": (npz(X=X4, y=Y4 + 1j), ["'y'", "complex"]),
    "cells that are no text": (
        mat(X=X4, Y=np.array([[1, 2], "a", "b", "c"], dtype=object)),
        ["'Y'", "objects"],
    ),
    # a second file
    "target file absent": (
        lambda f: (text(GOOD)(f)[0], {"target_file": f / "labels.csv"}),
        ["labels.csv", "No such file"],
    ),
    "target file with two columns": (
        with_labels("a\n1.5\n2.5\n", "who,what\nx,1\ny,2\n"),
        ["target=", "y.csv", "'what'"],
    ),
    "target file of another length": (
        with_labels("a,b\n1,2.5\n3,4\n", "kind\nx\ny\nx\n"),
        ["t.csv", "2 rows", "'kind' has 3"],
    ),
    "target file without names": (with_labels("a\n1.5\n2.5\n", "1\n2\n"), ["y.csv", "header=False"]),
    "named data with a target file": (
        lambda f: ("wine", {"target_file": f / "y.csv"}),
        ["wine", "target_file="],
    ),
    "named data with a target": (lambda f: ("wine", {"target": "x"}), ["wine", "target="]),
    # columns
    "duplicate names": (text("a,b,a,kind\n1,2,3,x\n4,5,6,y\n"), ["t.csv", "'a'"]),
    "names that differ by spaces": (text("a, a,kind\n1,2,x\n4,5,y\n"), ["t.csv", "'a'"]),
    "text column": (
        text("town,b,kind\nRome,2,x\nBonn,5,y\nRome,6,x\n", categories="error"),
        ["'town'", "drop=['town']", "categories='whole'", "'Rome'"],
    ),
    "many text columns": (
        text(
            ",".join(f"t{j}" for j in range(9)) + ",kind\n" + "u,v,u,v,u,v,u,v,u,x\n" * 2, categories="error"
        ),
        ["9 problems", "(5) 't4'", "and 4 more", "categories='whole'"],
    ),
    "one bad number": (
        text("b,kind\n" + "".join(f"{j}.5,{'xy'[j % 2]}\n" for j in range(20)) + "4o,x\n"),
        ["'b'", "drop=['b']", "'4o'", "missing=['4o']", "as_category=['b']"],
    ),
    "one bad number in the target": (
        text(
            "b,kind\n"
            + "".join(f"{j},${j},000\n".replace(f"${j},000", f'"${j},000"') for j in range(40))
            + "1,4o\n"
        ),
        ["'kind'", "'4o'", "missing=['4o']", "task='classification'"],
    ),
    "several problems": (
        text(
            "a,b,t,kind\n"
            + "".join(f"{j}.5,{'inf' if j == 3 else j},u{j % 2},{'xy'[j % 2]}\n" for j in range(20))
            + "4o,1,u1,x\n",
            categories="error",
        ),
        [
            "3 problems",
            "'4o'",
            "infinite values in 'b'",
            "'t'",
            "missing=['4o']",
            "drop=['b']",
            "categories='whole'",
        ],
    ),
    "refused gaps and text": (
        text("a,t,kind\n1,u,x\n,v,y\n3,u,x\n", impute="error", categories="error"),
        ["2 problems", "impute='median'", "categories='whole'"],
    ),
    "no target at all": (text("a,kind\n1,\n2,\n"), ["'kind'", "no value at all"]),
    "only identifiers": (text("id,kind\n3,x\n9,y\n4,x\n"), ["t.csv", "no feature columns"]),
    "one-hot makes a name twice": (
        text("t,t=u,kind\nu,1.5,x\nv,2.5,y\nu,3.5,x\n", one_hot=True),
        ["'t=u'", "one_hot=True"],
    ),
    "missing values": (
        text("a,b,kind\n1,,x\n,2,y\n3,NA,x\n", impute="error"),
        ["'a' (1)", "'b' (2)", "3 values", "impute='median'"],
    ),
    "missing in a matrix": (
        npz({"impute": "error"}, X=np.where(X4 == 1, np.nan, X4), y=Y4),
        ["'feature_1' (1)", "impute='median'"],
    ),
    "missing in a sparse matrix": (
        mat({"impute": "error"}, X=sp.csr_matrix(np.where(X4 == 1, np.nan, X4)), Y=Y4),
        ["'feature_1' (1)", "impute='median'"],
    ),
    "unknown impute": (text(GOOD, impute="medain"), ["impute=", "'medain'", "did you mean 'median'"]),
    "infinite values": (text("a,b,kind\n1,inf,x\n2,2,y\n3,4,x\n"), ["'b'", "infinite", "drop=['b']"]),
    "a number too large": (text("a,b,kind\n1,1e999,x\n2,2,y\n3,4,x\n"), ["'b'", "infinite"]),
    "infinite in a sparse matrix": (
        mat(X=sp.csr_matrix(np.where(X4 == 1, -np.inf, X4)), Y=Y4),
        ["'feature_1'", "infinite"],
    ),
    "lists": (columns({"l": [[1], [2, 3]], "b": [1.5, 2]}), ["'l'", "lists", "drop=['l']"]),
    "bytes": (columns({"raw": [b"\xff", b"\xfe"], "b": [1.5, 2]}), ["'raw'", "bytes", "drop=['raw']"]),
    "beyond 2^53": (text("big,kind\n9007199254740993,x\n5,y\n6,x\n"), ["'big'", "2^53", "use=['big']"]),
    "beyond 2^53 in a matrix": (npz(X=np.array([[2**60, 1], [3, 4]]), y=Y4[:2]), ["t.npz", "2^53"]),
    "a target beyond Unicode": (npz(X=X4, y=NO_TEXT), ["'y'", "beyond Unicode"]),
    "names beyond Unicode": (
        npz(X=X4, y=Y4, feature_names=NO_TEXT[:2]),
        ["'feature_names'", "t.npz", "beyond Unicode"],
    ),
    "nested lists": (text(nested("[", "]"), "t.jsonl"), ["t.jsonl", "more than 64 deep"]),
    "nested objects": (text(nested('{"a": ', "}"), "t.jsonl"), ["t.jsonl", "more than 64 deep"]),
    "nested lists among brackets in texts": (
        text(nested('["]\\"]", ', "]"), "t.jsonl"),
        ["t.jsonl", "more than 64 deep"],
    ),
    "lists that do not end": (text('{"a": ' + "[" * 10_000, "t.jsonl"), ["t.jsonl", "more than 64 deep"]),
    "drop unknown": (text(GOOD, drop=["c"]), ["drop='c'", "no such column"]),
    "use unknown": (text(GOOD, use=["aa"]), ["use='aa'", "no such column"]),
    "everything dropped": (text(GOOD, drop=["a", "b"]), ["t.csv", "no feature columns"]),
    "a name of two lines": (
        text('"a\nb",c,kind\nu,2,x\nv,5,y\nu,6,x\n', categories="error"),
        ["'a\\nb'", "categories='whole'"],
    ),
    # text files
    "short row": (text("a,b,kind\n1,2,x\n3,y\n5,6,x\n"), ["line 3", "t.csv", "2 values", "3"]),
    "long row": (text("a,b,kind\n1,2,x\n\n3,4,5,y\n"), ["line 4", "t.csv", "4 values"]),
    "short row far down": (
        text("a,b,kind\n" + "1.5,2,x\n2.5,2,y\n" * 70_000 + "3,y\n"),
        ["line 140002", "2 values"],
    ),
    "no header": (text("5.1,3.5,1.4,x\n4.9,3.0,1.4,y\n", target=-1), ["t.csv", "header=False", "'5.1'"]),
    "latin-1 header": (
        text("größe,kind\n1.5,x\n2.5,y\n", encoding="latin-1"),
        ["t.csv", "UTF-8", "encoding='latin-1'"],
    ),
    "latin-1 far down": (
        text("a,t,kind\n" + "1.5,u,x\n2.5,v,y\n" * 70_000 + "3.5,ö,x\n", encoding="latin-1", one_hot=True),
        ["'t'", "UTF-8", "encoding='latin-1'"],
    ),
    "latin-1 label": (
        text("a,kind\n1.5,süß\n2.5,bitter\n3.5,süß\n", encoding="latin-1"),
        ["t.csv", "encoding='latin-1'"],
    ),
    "utf-16": (text(GOOD, encoding="utf-16"), ["t.csv", "UTF-8", "encoding='utf-16'"]),
    "unknown encoding": (
        lambda f: (text(GOOD)(f)[0], {"target": "kind", "encoding": "utf-99"}),
        ["'utf-99'", "encoding="],
    ),
    "encoding of no text": (
        lambda f: (text(GOOD)(f)[0], {"target": "kind", "encoding": "hex"}),
        ["'hex'", "encoding="],
    ),
    "endless quote": (text('"' + "a" * 200_000), ["t.csv", "quote"]),
    "long separator": (text(GOOD, separator="||"), ["separator=", "'||'"]),
    "wrong separator": (text(GOOD, separator=";"), ["'kind'", "target="]),
    "key for a table": (text(GOOD, x_key="X"), ["x_key=", ".csv"]),
    "separator for a matrix": (npz({"separator": ","}, X=X4, y=Y4), ["separator=", ".npz"]),
    "header for a matrix": (npz({"header": False}, X=X4, y=Y4), ["header=False", ".npz"]),
    # arrays
    "no X": (npz(measured=X4, y=Y4), ["t.npz", "x_key=", "'measured' (4x2)"]),
    "no y": (mat(X=X4, kind=Y4), ["t.mat", "y_key=", "'kind' (1x4)"]),
    "key not there": (mat({"x_key": "fea"}, X=X4, Y=Y4), ["'fea'", "x_key=", "'X' (4x2)"]),
    "pickled objects": (npz(X=PICKLED, y=Y4), ["t.npz", "pickled", "'X'"]),
    "lengths differ": (npz(X=X4, y=Y4[:3]), ["t.npz", "4 rows", "'y' has 3"]),
    "features x samples": (npz(X=X4.T, y=Y4), ["t.npz", "2 rows", "transpose"]),
    "complex X": (npz(X=X4 + 1j, y=Y4), ["t.npz", "complex"]),
    "complex sparse X": (mat(X=sp.csc_matrix(X4 + 1j), Y=Y4), ["t.mat", "complex"]),
    "object X": (mat(X=np.array([["a", 1.0], ["b", 2.0]], dtype=object), Y=Y4[:2]), ["t.mat", "objects"]),
    "struct X": (mat(X={"a": 1.0, "b": 2.0}, Y=Y4), ["t.mat", "X"]),
    "text X": (npz(X=np.array([["a", "b"], ["c", "d"]]), y=Y4[:2]), ["t.npz", "text"]),
    "flat X": (npz(X=np.arange(4.0), y=Y4), ["t.npz", "1 dimension"]),
    "three dimensions": (npz(X=np.zeros((4, 2, 2)), y=Y4), ["t.npz", "3 dimensions", "4x2x2"]),
    "names for other columns": (
        npz(X=X4, y=Y4, feature_names=np.array(["a"])),
        ["t.npz", "1 feature name", "2 columns"],
    ),
    "no rows": (npz(X=np.zeros((0, 3)), y=np.zeros(0)), ["t.npz"]),
    "no columns": (npz(X=np.zeros((4, 0)), y=Y4), ["t.npz", "no feature columns"]),
    # other formats
    "broken svmlight": (text("1 1:2\n0 a:b\n", "t.svm", target=None), ["t.svm", "svmlight"]),
    "huge svmlight index": (
        text("1 1:2\n0 999999999:1\n", "t.svm", target=None),
        ["t.svm", "1,000,000,000 columns", "memory budget"],
    ),
    "arff without data": (text("@relation r\n@attribute a numeric\n", "t.arff"), ["t.arff", "@data"]),
    "arff without attributes": (text("@relation r\n@data\n1\n", "t.arff"), ["t.arff", "@attribute"]),
    "arff without rows": (text(ARFF, "t.arff"), ["t.arff", "no rows"]),
    "sparse arff": (text(ARFF + "{0 1, 1 x}\n", "t.arff"), ["t.arff", "sparse", "svmlight"]),
    "arff text for a number": (text(ARFF + "1,x\nzwei,y\n", "t.arff"), ["'a'", "t.arff", "zwei"]),
    "arff undeclared value": (text(ARFF + "1,x\n2,z\n", "t.arff"), ["'kind'", "'z'"]),
    "arff short row": (text(ARFF + "1,x\n2\n", "t.arff"), ["t.arff", "2 attributes"]),
    "arff unknown type": (text("@attribute a complex\n@data\n1\n", "t.arff"), ["'a'", "'complex'"]),
    "arff broken attribute": (text("@attribute a\n@data\n1\n", "t.arff"), ["line 1", "t.arff"]),
    "arff latin-1": (
        text(ARFF.replace("a num", "ä num") + "1,x\n", "t.arff", "latin-1"),
        ["t.arff", "encoding="],
    ),
}
if np.finfo(np.longdouble).max > np.finfo(np.float64).max:  # not on every machine
    LARGEST = np.finfo(np.longdouble).max
    CASES |= {
        "beyond float64": (npz(X=X4 * (LARGEST / 100), y=Y4), ["t.npz", "range of float64"]),
        "beyond float64 as target": (npz(X=X4, y=Y4 * LARGEST), ["'y'", "range of float64"]),
    }
