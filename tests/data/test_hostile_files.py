"""Files that are damaged or claim more than they are: one line before anything large is made of them."""

from __future__ import annotations

import gzip
import io
import json
import time
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
import scipy.io
import scipy.sparse as sp
from pyarrow import parquet

from infused import config_context, open_columns
from infused._runtime.checks import is_number
from infused.data import DataError, load_data
from infused.data.reading import ReadOptions
from infused.data.written import find_dialect, number
from infused.exceptions import InputError, MemoryBudgetError


@pytest.fixture
def small_budget(monkeypatch):
    monkeypatch.setenv("INFUSED_MEMORY", "50MB")


def damaged():
    X = sp.csc_matrix(np.eye(18, 6))
    X.indices[0] = 40
    return X


def mat(path):
    scipy.io.savemat(path, {"X": damaged(), "Y": np.arange(18) % 2})


def npz(path):
    X = damaged()
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape, "format": b"csc"}
    np.savez(path, **parts)


@pytest.mark.parametrize(("suffix", "write"), [(".mat", mat), (".npz", npz)])
def test_sparse_files_with_an_index_out_of_range(tmp_path, suffix, write):
    path = tmp_path / f"t{suffix}"
    write(path)
    labels = tmp_path / "y.csv"
    labels.write_text("y\n" + "a\nb\n" * 9)
    found = r"X of .*damaged sparse matrix: an index is 40, outside 0 to 17|index 40 exceeds"  # older SciPy's
    with pytest.raises(InputError, match=found):
        load_data(path, target_file=labels)


@pytest.mark.parametrize("numbers", [(10**19, 2 * 10**19, 3 * 10**19), (10**19 + 1, 10**19 + 2, 10**19 + 3)])
def test_labels_beyond_64_bits_stay_apart(tmp_path, numbers):
    labels = list(numbers) * 4
    rows = "".join(f"{j * 0.5},{label}\n" for j, label in enumerate(labels))
    (tmp_path / "t.csv").write_text("a,kind\n" + rows)
    found = load_data(tmp_path / "t.csv", target="kind")
    assert found.kind == "classes"
    assert found.y.tolist() == [str(label) for label in labels]
    X = np.arange(12.0)[:, None] * 0.5
    for y in (
        np.array(labels, dtype=object),
        labels,
        np.array(labels, dtype=np.uint64) if max(labels) < 2**64 else labels,
    ):
        assert load_data((X, y)).y.tolist() == [str(label) for label in labels]
    floats = load_data((X, np.array([1e19, 2e19, 3e19] * 4)))
    assert sorted(set(floats.y.tolist())) == ["1e+19", "2e+19", "3e+19"]


def test_ordinary_whole_labels_stay_numbers():
    X = np.arange(12.0)[:, None] * 0.5
    assert load_data((X, np.array([2**62, -(2**62)] * 6))).y.dtype == np.int64
    assert load_data((X, np.array([1.0, 3.0] * 6))).y.dtype == np.int64


def wide_csv(folder):
    (folder / "t.csv").write_text(",".join(f"c{j}" for j in range(20_000)) + "\n" + "1," * 19_999 + "1\n")
    return folder / "t.csv"


def long_line(folder):
    with gzip.open(folder / "t.csv.gz", "wb", compresslevel=1) as file:
        for _ in range(100):
            file.write(b"x" * 1_000_000)
    return folder / "t.csv.gz"


def zeros_npz(folder):
    np.savez_compressed(folder / "t.npz", X=np.zeros((1000, 10_000)), y=np.arange(1000) % 2)
    return folder / "t.npz"


def zeros_mat(folder):
    scipy.io.savemat(
        folder / "t.mat", {"X": np.zeros((1000, 10_000)), "Y": np.arange(1000)}, do_compression=True
    )
    return folder / "t.mat"


def far_index(folder):
    (folder / "t.svm").write_text("1 1:2\n0 20000000:1\n")
    return folder / "t.svm"


def constant_parquet(folder):
    values = pa.DictionaryArray.from_arrays(np.zeros(10_000_000, dtype=np.int8), ["a"])
    parquet.write_table(pa.table({"a": values}), folder / "t.parquet")
    return folder / "t.parquet"


def keys_without_end(folder):
    (folder / "t.jsonl").write_text("".join(json.dumps({f"k{j}": 1}) + "\n" for j in range(5000)))
    return folder / "t.jsonl"


def far_cell(folder):
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD9000"] = "a", 1
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def packed(folder):
    with zipfile.ZipFile(folder / "t.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", "a,kind\n" + "1,x\n" * 20_000_000)
    return folder / "t.zip"


@pytest.mark.parametrize(
    "build",
    [
        wide_csv,
        long_line,
        zeros_npz,
        zeros_mat,
        far_index,
        constant_parquet,
        keys_without_end,
        far_cell,
        packed,
    ],
)
def test_what_would_pass_the_budget_is_refused_before_it_is_read(tmp_path, small_budget, build):
    path = build(tmp_path)
    start = time.process_time()
    with pytest.raises(InputError, match=r"memory budget|holds more than|characters") as caught:
        load_data(path, **({"target": "kind"} if path.suffix in (".csv", ".gz", ".zip") else {}))
    assert str(path) in str(caught.value)
    assert time.process_time() - start < 30, "it was read after all"


def test_ordinary_files_are_within_the_budget(tmp_path, small_budget):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(2000, 50)), columns=[f"c{j}" for j in range(50)])
    frame["kind"] = np.arange(2000) % 2
    for name in ("t.csv", "t.csv.gz"):
        frame.to_csv(tmp_path / name, index=False)
        assert load_data(tmp_path / name, target="kind").X.shape == (2000, 50)


@pytest.mark.parametrize("cell", ["1" * 300_000 + "x", " " * 300_000 + "x", "1" * 300_000, "1." * 150_000])
def test_cells_without_end_are_no_numbers_and_take_no_time(tmp_path, cell):
    (tmp_path / "t.csv").write_text(f"a;b;kind\n{cell};1;x\n2,5;2;y\n3,5;3;x\n1,5;4;y\n")
    start = time.process_time()
    find_dialect(tmp_path / "t.csv", ReadOptions(), None)
    assert number(cell) is None and not is_number(cell)
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("text", "value"), [("٣", None), ("1e", None), ("1e+", None), ("-", None), (".", None), ("+.5e3", 500.0)]
)
def test_texts_that_only_look_like_numbers(text, value):
    assert number(text) == value


def refused(path, message, **options):
    with pytest.raises(InputError, match=message) as caught:
        load_data(path, **options)
    assert "\n" not in str(caught.value)


def test_separators_and_encodings_that_are_none(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,kind\n1,x\n2,y\n")
    for separator in ("\0", "é", "→", "\x85"):
        refused(path, "separator.*ASCII", target="kind", separator=separator)
    refused(path, "encoding.*not known", target="kind", encoding="utf\0")


def test_nesting_that_a_table_may_have(tmp_path):
    """Brackets in texts are no nesting, and a column of lists can be left out."""
    rows = [{"a": j * 0.5, "t": '["\\"[[{' * 100, "l": [[[j]]], "kind": "xy"[j % 2]} for j in range(6)]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert load_data(tmp_path / "t.jsonl", target="kind", drop=["l", "t"]).X.ravel().tolist() == [
        j * 0.5 for j in range(6)
    ]


def test_nesting_on_standard_input(monkeypatch):
    content = b'{"a": ' + b"[" * 10_000 + b"]" * 10_000 + b', "kind": 1}\n'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    refused("-", "standard input nests lists or objects more than 64 deep", target="kind")


def nested_parquet(path, depth):
    """Write the footer of a column inside another, and so on; each takes eight bytes."""
    size, count = b"", depth + 2
    while count > 127:
        size, count = size + bytes([count & 127 | 128]), count >> 7
    root, inner = b"\x48\x06schema\x15\x02\x00", b"\x35\x02\x18\x01a\x15\x02\x00"
    last = b"\x15\x04\x25\x02\x18\x01a\x00"
    schema = b"\x19\xfc" + size + bytes([count]) + root + inner * depth + last
    footer = b"\x15\x04" + schema + b"\x16\x00\x19\x0c\x00"
    path.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")


def test_parquet_nested_without_end(tmp_path):
    """Versions of pyarrow that have no limit of their own follow 20,000 levels until the process ends."""
    nested_parquet(tmp_path / "t.parquet", 20_000)
    refused(tmp_path / "t.parquet", "could not be read as Parquet", target="kind")
    with pytest.raises(InputError, match=r"t.parquet"):
        open_columns(tmp_path / "t.parquet")
    nested_parquet(tmp_path / "t.parquet", 20)
    refused(tmp_path / "t.parquet", "no such column", target="kind")


def test_parquet_without_columns(tmp_path):
    parquet.write_table(pa.table({}), tmp_path / "t.parquet")
    refused(tmp_path / "t.parquet", "no columns")
    refused(tmp_path / "t.parquet", "no columns", target="kind")


def test_names_and_labels_that_are_no_text(tmp_path):
    X = np.arange(8.0).reshape(4, 2) ** 2
    refused((X, np.array(["a", "b\udcff"] * 2)), "no valid text")
    path = tmp_path / "bad\udcff.csv"
    try:
        path.write_text("a,kind\n1,x\n2,y\n")
    except (OSError, UnicodeEncodeError):
        pytest.skip("this system has no such file names")
    refused(path, "no valid text", target="kind")


def test_a_budget_error_is_a_data_error_to_those_who_catch_it(tmp_path, small_budget):
    with pytest.raises(MemoryBudgetError):
        load_data(far_index(tmp_path))
    assert not issubclass(MemoryBudgetError, DataError) and issubclass(MemoryBudgetError, InputError)


def test_members_of_an_archive_that_lie_about_their_size(tmp_path):
    """A header that claims more values than there are bytes."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)}
    )
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("X.npy", header.getvalue())
        archive.writestr("y.npy", header.getvalue())
    with pytest.raises((InputError, MemoryError)):
        load_data(tmp_path / "t.npz")


def test_texts_become_columns_within_the_budget_or_not_at_all():
    """Sixty texts of thirty levels are small as they are read, and thirty times as large in columns."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"t{j}": rng.choice([f"level {n}" for n in range(30)], 3000) for j in range(60)})
    data = load_data((frame, rng.integers(2, size=3000)))
    with config_context(memory_budget="20MB"), pytest.raises(InputError, match="1,800 columns of numbers"):
        data.coded()
    with config_context(memory_budget="60MB"):
        assert data.coded().F.shape == (3000, 1800)
