"""The store: what is written is read, by any number of processes, and nothing is ever half there."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from infused._runtime import files
from infused.bench import Cell, Store, StoreError
from infused.bench.rows import COLUMNS, cell_rows, failed_rows
from infused.bench.store import arrow_schema

CELL = Cell("wine", "d" * 64, "lasso", "{}", "nested", "svm", (2, 4), 5, 0, 0, 0)


def rows_of(cell, accuracy=0.5):
    shared = {"status": "ok", "reason": "", "warnings": "", "transform": "none", "cell_seconds": 0.1}
    return cell_rows(
        cell, shared, {2: {"accuracy": accuracy}, 4: {"accuracy": accuracy, "selected": [3, 1, 0, 2]}}
    )


def filled(folder, n=6):
    store = Store(folder)
    cells = [replace(CELL, fold=fold) for fold in range(n)]
    for cell in reversed(cells):
        store.write(rows_of(cell, cell.fold / 10))
    return store, cells


def test_rows_come_back_in_order_with_every_column(tmp_path):
    store, cells = filled(tmp_path / "new" / "store")
    frame = store.frame()
    assert list(frame.columns) == list(COLUMNS)
    assert frame["fold"].tolist() == [fold for fold in range(6) for _ in range(2)]
    assert frame["k"].tolist() == [2, 4] * 6
    assert frame["cell"].tolist() == [cell.key for cell in cells for _ in range(2)]
    assert frame["accuracy"].tolist() == [fold / 10 for fold in range(6) for _ in range(2)]
    assert frame["selected"].iloc[0] is None and frame["selected"].iloc[1].tolist() == [3, 1, 0, 2]
    assert frame["r2"].isna().all()


def test_an_absent_store_is_empty_and_nothing_is_made_by_looking(tmp_path):
    store = Store(tmp_path / "store")
    assert store.frame().empty and list(store.frame().columns) == list(COLUMNS)
    assert not store.has(CELL.key) and not store.folder.exists()
    with pytest.raises(StoreError, match="no store"):
        store.compact()


def test_a_cell_written_twice_is_there_once(tmp_path):
    store, cells = filled(tmp_path)
    store.write(failed_rows(cells[0], "failed", "no reason"))
    store.write(rows_of(cells[0], 0.9))
    frame = store.frame()
    assert len(frame) == 12 and frame["accuracy"].iloc[0] == 0.9 and (frame["status"] == "ok").all()


def test_compacting_changes_no_row(tmp_path):
    store, cells = filled(tmp_path)
    before = store.table()
    assert store.compact() == 12
    assert store.table().equals(before) and not list((tmp_path / "cells").iterdir())
    alone = tmp_path / "alone"
    alone.mkdir()
    store.compacted.rename(alone / "results.parquet")
    assert Store(alone).table().equals(before)
    # A cell that is written again counts more than the compact form, then and after the next compaction.
    Store(alone).write(rows_of(cells[3], 0.99))
    assert Store(alone).compact() == 12
    assert Store(alone).frame()["accuracy"].tolist()[6:8] == [0.99, 0.99]


def test_a_kill_between_the_steps_of_compacting_loses_and_doubles_nothing(tmp_path, monkeypatch):
    store, _ = filled(tmp_path)
    before = store.table()
    monkeypatch.setattr(Path, "unlink", _killed)
    with pytest.raises(KeyboardInterrupt):
        store.compact()
    monkeypatch.undo()
    assert store.compacted.exists() and len(list((tmp_path / "cells").iterdir())) == 6
    assert store.table().equals(before)
    assert store.compact() == 12 and store.table().equals(before)


def test_readers_see_every_row_while_others_compact(tmp_path):
    store, _ = filled(tmp_path)
    before, seen = store.table(), []
    stop = threading.Event()

    def read():
        while not stop.is_set():
            seen.append(store.table().equals(before))

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(15):
        store.compact()
        for rows in _by_cell(before):
            store.write(rows)
    stop.set()
    reader.join()
    assert len(seen) > 3 and all(seen)


def test_a_write_that_is_cut_short_leaves_no_cell(tmp_path, monkeypatch):
    store, _ = filled(tmp_path, 1)
    before = store.table()
    monkeypatch.setattr(Path, "replace", _killed)
    with pytest.raises(KeyboardInterrupt):
        store.write(rows_of(replace(CELL, fold=9)))
    monkeypatch.undo()
    assert store.table().equals(before)
    assert [path.name for path in (tmp_path / "cells").iterdir()] == [f"{CELL.key}.parquet"]


def test_leftovers_of_a_killed_process_are_swept_once_they_are_old(tmp_path, monkeypatch):
    store, _ = filled(tmp_path)
    left = tmp_path / "cells" / ".abc.parquet.123456.part"
    left.write_bytes(b"half")
    assert len(store.frame()) == 12
    store.compact()
    assert left.exists()  # another process may be writing it
    monkeypatch.setattr(files, "STALE_S", -1.0)
    store.compact()
    assert not left.exists() and len(store.frame()) == 12


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PAR1 and no more", "is damaged"),
        (b"", "is damaged"),
        (pa.table({"a": [1]}), "holds no results of a benchmark"),
        (arrow_schema().with_metadata({"infused.bench": "99"}).empty_table(), "has schema 99, but"),
    ],
)
@pytest.mark.parametrize("place", ["results.parquet", "cells/abc.parquet"])
def test_other_files_are_refused_by_name(tmp_path, place, content, words):
    store, _ = filled(tmp_path, 1)
    path = tmp_path / place
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        parquet.write_table(content, path)
    with pytest.raises(StoreError, match=words) as caught:
        store.frame()
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_file_is_no_store(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="is a file"):
        Store(tmp_path / "file")


def test_a_key_names_all_that_a_result_depends_on():
    others = {
        "dataset": "x", "data": "e" * 64, "method": "mrmr", "parameters": '{"a":1}', "protocol": "leaky",
        "classifier": "knn", "ks": (2, 4, 6), "folds": 6, "seed": 1, "repeat": 1, "fold": 1,
        "scoring": "roc_auc", "selector_version": "2", "protocol_version": "2", "per_k": True,
        "transform": "log1p",
    }  # fmt: skip
    keys = {CELL.key, *(replace(CELL, **{name: value}).key for name, value in others.items())}
    assert len(keys) == 1 + len(others)
    assert set(CELL.__dataclass_fields__) - set(others) == {"allow_imports"}, "which changes no result"
    assert CELL.key == replace(CELL).key == replace(CELL, allow_imports=True).key


def _killed(*_, **__):
    raise KeyboardInterrupt


def _by_cell(table):
    rows = table.to_pylist()
    return [rows[n : n + 2] for n in range(0, len(rows), 2)]
