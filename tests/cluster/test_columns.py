"""Tables that are read column by column: the same numbers, and one line for what cannot be read so."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import infused
from infused import InFusedLasso, open_columns, structural_information
from infused.exceptions import InputError

da = pytest.importorskip("dask.array")
zarr = pytest.importorskip("zarr")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(50, 23)), columns=[f"f{j}" for j in range(23)])
    X["f3"] = rng.integers(0, 9, 50)
    X["f5"] = X["f5"].astype("float32")
    y = np.where(X["f7"] + X["f3"] / 4 > 1, "high", "low")
    return X, y


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    """Rows in three files, the target between the features."""
    X, y = table
    whole, folder = X.copy(), tmp_path_factory.mktemp("parquet")
    whole.insert(4, "kind", y)
    for n, (start, stop) in enumerate(((0, 20), (20, 21), (21, 50))):
        whole.iloc[start:stop].to_parquet(folder / f"part-{n}.parquet", row_group_size=7)
    return folder


def test_columns_of_parquet_are_those_of_the_table(folder, table):
    X, y = table
    columns = open_columns(folder, target="kind", chunk=6)
    assert columns.names == list(X.columns) and columns.y.tolist() == y.tolist()
    assert columns.X.width == 6 and columns.X.shape == X.shape
    assert np.array_equal(np.asarray(columns.X), X.to_numpy(dtype=float))
    assert open_columns(folder / "part-0.parquet", target="kind").X.shape == (20, 23)


def test_a_cluster_ranks_and_measures_columns_of_files(client, folder, table, tmp_path):
    X, y = table[0].to_numpy(dtype=float), table[1]
    group = zarr.open_group(str(tmp_path / "data.zarr"), mode="w")
    for name, values in (("X", X), ("y", (y == "high").astype(int))):
        made = group.create_array(name, shape=values.shape, dtype=values.dtype, chunks=values[..., :5].shape)
        made[...] = values
    of_files = open_columns(folder, target="kind", chunk=6)
    of_zarr = open_columns(tmp_path / "data.zarr")
    here = InFusedLasso(n_features_to_select=4).fit(X, y)
    U = structural_information(X, y)
    with infused.cluster(client):
        for columns in (of_files, of_zarr):
            there = InFusedLasso(n_features_to_select=4).fit(columns.X, columns.y)
            assert np.array_equal(there.ranking_, here.ranking_)
            assert np.array_equal(structural_information(columns.X, columns.y), U)


def test_what_cannot_be_read_by_columns_is_one_line(folder, tmp_path):
    with pytest.raises(InputError, match="there is no file or folder"):
        open_columns(tmp_path / "nothing")
    with pytest.raises(InputError, match=r"neither files that end in \.parquet nor an array of Zarr"):
        open_columns(tmp_path)
    with pytest.raises(InputError, match="did you mean 'kind'"):
        open_columns(folder, target="kin")
    with pytest.raises(InputError, match=r"not numbers .* 'kind'"):
        open_columns(folder)
    with pytest.raises(InputError, match="chunk=0"):
        open_columns(folder, target="kind", chunk=0)
    (tmp_path / "a.parquet").write_bytes(b"no table")
    with pytest.raises(InputError, match="is no Parquet file, or is damaged"):
        open_columns(tmp_path)
    pd.DataFrame({"b": [1.0]}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame({"c": [1.0]}).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match="has other columns than"):
        open_columns(tmp_path)


def test_damaged_stores_are_one_line_that_names_them(folder, tmp_path):
    group = zarr.open_group(str(tmp_path / "data.zarr"), mode="w")
    group.create_array("X", shape=(9, 4), dtype="f8", chunks=(9, 2))[...] = np.arange(36.0).reshape(9, 4)
    described = tmp_path / "data.zarr" / "X" / "zarr.json"
    whole = described.read_text()
    claimed = whole.replace("9,\n", f"{10**15},\n", 1)
    for text, words in (("{", "could not be read as Zarr"), (claimed, "is it complete")):
        described.write_text(text)
        with pytest.raises(InputError, match=r"data\.zarr.*" + words):
            open_columns(tmp_path / "data.zarr")
    described.write_text(whole)
    chunk = next(
        path for path in (tmp_path / "data.zarr" / "X").rglob("*") if path.is_file() and path != described
    )
    chunk.write_bytes(chunk.read_bytes()[:20])
    with pytest.raises(InputError, match=r"data\.zarr.* could not be read as Zarr"):
        np.asarray(open_columns(tmp_path / "data.zarr").X)
    part = folder / "part-0.parquet"
    content = part.read_bytes()
    part.write_bytes(content[:4] + b"\xff" * (len(content) // 3) + content[4 + len(content) // 3 :])
    with pytest.raises(InputError, match=r"part-0\.parquet.* could not be read as Parquet"):
        np.asarray(open_columns(folder, target="kind").X)
    pd.DataFrame({"b": np.zeros(0)}).to_parquet(tmp_path / "none.parquet")
    with pytest.raises(InputError, match="no samples"):
        open_columns(tmp_path / "none.parquet")


@pytest.mark.parametrize(
    "packed", [{"compressor": {"id": "pickle"}}, {"filters": [{"id": "vlen-utf8"}, {"id": "pickle"}]}]
)
def test_pickled_chunks_are_refused(tmp_path, monkeypatch, packed):
    """Also where the codec itself would unpickle them, as earlier versions of numcodecs do."""
    ran = []
    monkeypatch.setattr("numcodecs.pickles.Pickle.decode", lambda *_: ran.append(True))
    plain = {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "|O", "fill_value": "", "order": "C"}
    about_y = {**plain, "compressor": None, "filters": [{"id": "vlen-utf8"}], **packed}
    about_X = {**plain, "shape": [4, 2], "chunks": [4, 2], "dtype": "<f8", "fill_value": 0}
    for name, about in (("X", {**about_X, "compressor": None, "filters": None}), ("y", about_y)):
        folder = tmp_path / "data.zarr" / name
        folder.mkdir(parents=True)
        (folder / ".zarray").write_text(json.dumps(about))
        (folder / ("0.0" if name == "X" else "0")).write_bytes(bytes(64))
    (tmp_path / "data.zarr" / ".zgroup").write_text('{"zarr_format": 2}')
    with pytest.raises(InputError, match="holds pickled objects, refused"):
        open_columns(tmp_path / "data.zarr")
    assert not ran
