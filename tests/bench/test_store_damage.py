"""A store whose files were changed from outside: found, named, or computed again; never averaged."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from infused.bench import Store, StoreError
from infused.bench.store import write_table
from infused.exceptions import InputError
from infused.selectors.registry import find_class
from tests.bench.test_store import filled


def one_cell(folder):
    return sorted((folder / "cells").glob("*.parquet"))[0]


def test_no_flipped_bit_goes_unnoticed(tmp_path):
    store, _ = filled(tmp_path)
    before = store.frame()
    path = one_cell(tmp_path)
    whole = path.read_bytes()
    random = np.random.default_rng(0)
    unseen = 0
    for place in random.choice(len(whole), 150, replace=False):
        content = bytearray(whole)
        content[place] ^= 1 << int(random.integers(8))
        path.write_bytes(content)
        try:
            unseen += not store.frame().equals(before)
        except StoreError as error:
            assert str(path) in str(error)
    assert unseen == 0


@pytest.mark.parametrize("compacted", [False, True], ids=["cells", "compacted"])
def test_changed_columns_are_named(tmp_path, compacted):
    store, _ = filled(tmp_path)
    if compacted:
        store.compact()
    path = store.compacted if compacted else one_cell(tmp_path)
    table = parquet.read_table(path)
    place = table.column_names.index("k")
    retyped = table.set_column(place, "k", table["k"].cast(pa.string()))
    for changed in (table.drop_columns(["k"]), retyped, table.append_column("x", table["k"])):
        parquet.write_table(changed, path)
        with pytest.raises(StoreError, match=r"its columns are not those of results: '[kx]'") as caught:
            store.frame()
        assert str(path) in str(caught.value) and "\n" not in str(caught.value)


EDITS = [
    *((name, None) for name in ("cell", "dataset", "data", "method", "parameters", "protocol", "classifier")),
    *((name, None) for name in ("folds", "seed", "repeat", "fold", "k", "status")),
    *(("parameters", text) for text in ("", "{", "[]", "null", '"a"', "3", "[" * 100_000)),
    *(("status", "done"), ("status", ""), ("protocol", "x"), ("scoring", "k"), ("scoring", "")),
    *(("k", -1), ("fold", -1), ("repeat", -5), ("folds", 1), ("seed", -1)),
    *(("accuracy", np.inf), ("accuracy", -np.inf), ("accuracy", 1e308), ("cell_seconds", np.inf)),
    *(("selected", [-1]), ("selected", [None]), ("cell", "0" * 32)),
]


@pytest.mark.parametrize(("column", "value"), EDITS, ids=lambda value: str(value)[:12])
def test_values_that_no_benchmark_writes_are_named(tmp_path, column, value):
    """With checksums that fit: they tell of accidents, not of who wrote a file."""
    store, _ = filled(tmp_path)
    path = one_cell(tmp_path)
    table = parquet.ParquetFile(path).read()
    rows = [{**row, column: value} for row in table.to_pylist()]
    write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    with pytest.raises(StoreError, match="is damaged") as caught:
        store.frame()
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_copy_under_another_name_does_not_count_twice(tmp_path):
    store, _ = filled(tmp_path)
    before = store.table()
    path = one_cell(tmp_path)
    copy = path.with_name(f"{path.stem} (conflicted copy 2).parquet")
    shutil.copy(path, copy)
    with pytest.warns(UserWarning, match="conflicted copy"):
        assert store.table().equals(before)
    path.unlink()
    with pytest.warns(UserWarning, match="conflicted copy"):
        assert store.table().equals(before), "the only one that is left counts"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the administrator may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_told_before_any_work(tmp_path):
    (tmp_path / "cells").mkdir()
    (tmp_path / "cells").chmod(0o500)
    with pytest.raises(InputError, match="cannot be written to"):
        Store(tmp_path).check()


def test_a_file_in_the_place_of_a_folder_is_told_before_any_work(tmp_path):
    (tmp_path / "cells").write_text("")
    with pytest.raises(InputError, match="is a file, not a folder"):
        Store(tmp_path).check()


def test_a_broken_package_of_others_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "broken_plugin.py").write_text("raise RuntimeError('no licence')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"broken_plugin:Selector.*no licence"):
        find_class("broken_plugin:Selector")
