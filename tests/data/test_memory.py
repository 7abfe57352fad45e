"""Data given in Python take the same way as a file of the same content."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.io
import scipy.sparse as sp

from infused.data import DataError, ReadOptions, load_data, load_features
from infused.exceptions import InputError, MissingExtraError
from tests.data.writers import NAMES, frame, small, write, write_svmlight


def nullable(data):
    """With missing values of pandas' own; its version 2 casts values that are too large for it."""
    with np.errstate(invalid="ignore"):
        return data.convert_dtypes()


FRAMES = {
    "pandas": lambda data: data,
    "pandas, nullable": nullable,
    "pandas, objects": lambda data: data.astype(object),
    "pandas, categories": lambda data: data.astype({"diagnosis": "category"}),
    "polars": pl.from_pandas,
    "polars, categories": lambda data: pl.from_pandas(data).cast({"diagnosis": pl.Categorical}),
    "arrow": pa.Table.from_pandas,
    "arrow batches": lambda data: pa.Table.from_pandas(data).to_reader(max_chunksize=5),
}


def same(data, other):
    np.testing.assert_array_equal(data.X, other.X)
    np.testing.assert_array_equal(data.y, other.y)
    assert (data.feature_names, data.target_name) == (other.feature_names, other.target_name)
    assert (data.kind, data.notes, data.fingerprint) == (other.kind, other.notes, other.fingerprint)
    assert (data.name, data.source) == ("data", None)


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES.keys())
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_frames_and_files_give_the_same_data(tmp_path, make, suffix):
    path, options = write(tmp_path, suffix)
    same(load_data(make(frame()), **options), load_data(path, **options))


@pytest.mark.parametrize("make", [lambda data: data, pl.from_pandas, pa.Table.from_pandas])
def test_frames_and_files_are_treated_the_same(tmp_path, make):
    """Missing numbers and texts, truth, row numbers, and a column to leave out."""
    table = pd.DataFrame(
        {
            "n": range(6),
            "a": [1.5, None, 2.5, 2.5, None, 7],
            "town": ["Rome", "Bonn", None, "Rome", "Bonn", "Rome"],
            "truth": [True, False, True, True, False, False],
            "kind": [3, 4, 3, 4, 3, 4],
        }
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    options = {"target": "kind", "drop": "n", "impute": "median", "one_hot": True}
    same(load_data(make(table), **options), load_data(tmp_path / "t.csv", **options))
    notes = load_data(make(table), **{**options, "drop": ()}).notes
    assert "left out as an identifier, because every row has its own value: 'n'" in notes


PAIRS = {
    "frame and series": lambda X, y: (X, y),
    "polars": lambda X, y: (pl.from_pandas(X), pl.from_pandas(y)),
    "frame and frame": lambda X, y: (X, y.to_frame()),
    "frame and categories": lambda X, y: (X, y.astype("category")),
    "frame and list": lambda X, y: (X, y.tolist()),
    "frame and arrow": lambda X, y: (X, pa.array(y)),
    "arrow": lambda X, y: (pa.Table.from_pandas(X), pa.chunked_array([pa.array(y)])),
    "array": lambda X, y: (X.to_numpy(), y.to_numpy()),
    "lists": lambda X, y: (X.to_numpy().tolist(), y.tolist()),
    "objects": lambda X, y: (X.to_numpy(), y.to_numpy().astype(object)),
    "sparse": lambda X, y: (sp.coo_matrix(X.to_numpy()), y),
}


@pytest.mark.parametrize("make", PAIRS.values(), ids=PAIRS.keys())
def test_pairs(make):
    X, y = small()
    table = frame()
    pair = make(table.drop(columns="diagnosis"), table["diagnosis"])
    data = load_data(pair)
    np.testing.assert_array_equal(data.X.toarray() if sp.issparse(data.X) else data.X, X)
    np.testing.assert_array_equal(data.y, y)
    assert sp.issparse(data.X) == sp.issparse(pair[0])
    assert data.feature_names == (
        NAMES if hasattr(pair[0], "columns") else tuple(f"feature_{j}" for j in range(6))
    )
    named = hasattr(pair[1], "name") or hasattr(pair[1], "columns")
    assert data.target_name == ("diagnosis" if named else "target")
    assert (data.kind, data.name, data.source) == ("classes", "data", None)


def test_several_targets_and_a_target_file(tmp_path):
    X, y = small()
    Y = pd.DataFrame({"u": np.sqrt(np.arange(12)), "v": np.arange(12) / 3})
    data = load_data((X, Y))
    np.testing.assert_array_equal(data.y, Y)
    assert data.kind == "real"
    pd.DataFrame({"diagnosis": y}).to_csv(tmp_path / "y.csv", index=False)
    for source in (X, frame().drop(columns="diagnosis")):
        read = load_data(source, target_file=tmp_path / "y.csv")
        assert read.target_name == "diagnosis" and read.n_features == 6


def test_the_given_arrays_stay_as_they_are():
    X = np.array([[1.0, np.nan], [2.0, 3.0], [0.0, 5.0]])
    S = sp.csr_matrix((np.array([1.0, 0.0, 2.0, np.nan]), np.array([0, 0, 1, 1]), np.array([0, 2, 3, 4])))
    dense, stored = X.copy(), S.data.copy()
    table = pd.DataFrame(X, columns=["a", "b"])
    for source in (X, S, table):
        data = load_data((source, [1, 2, 1]), impute="mean")
        assert data.notes[0] == f"1 missing value filled by the mean in: {data.feature_names[1]!r}"
        filled = data.coded().F
        assert not np.shares_memory(getattr(filled, "data", filled), X)
    np.testing.assert_array_equal(X, dense)
    np.testing.assert_array_equal(S.data, stored)
    assert table["b"].isna()[0]
    read_only = X.copy()
    read_only.setflags(write=False)
    assert load_data((read_only, [1, 2, 1]), impute="zero").coded().F[0, 1] == 0
    masked = load_data((np.ma.masked_invalid(X), [1, 2, 1]), impute="zero")
    np.testing.assert_array_equal(masked.coded().F[:, :2], np.nan_to_num(X))


class TestRowLabelsAndNamesOfPandas:
    """A named index is data that can be asked for; an index without a name is no data."""

    def labelled(self, name):
        return frame().set_index(pd.Index([f"patient {j}" for j in range(12)], name=name))

    def test_an_index_without_a_name_is_ignored(self, tmp_path):
        self.labelled(None).to_parquet(tmp_path / "t.parquet")
        chosen = frame().iloc[[3, 1, 2, 0, 4, 5]]
        for source in (self.labelled(None), tmp_path / "t.parquet", chosen, pa.Table.from_pandas(chosen)):
            data = load_data(source, target="diagnosis")
            assert data.feature_names == NAMES and data.notes == ()

    def test_a_named_index_is_left_out_with_a_note(self, tmp_path):
        self.labelled("who").to_parquet(tmp_path / "t.parquet")
        for source in (self.labelled("who"), tmp_path / "t.parquet"):
            data = load_data(source, target="diagnosis")
            assert data.feature_names == NAMES
            assert data.notes == ("left out as row labels: 'who'",)

    def test_a_named_index_can_be_the_target_or_be_kept(self):
        table = frame().set_index("diagnosis")
        assert load_data(table, target="diagnosis").y[1] == "ill"
        table = frame().set_index("flag")
        assert load_data(table, target="diagnosis", use="flag").feature_names[-1] == "flag"

    @pytest.mark.parametrize(
        ("names", "target", "first"),
        [
            (range(7), 6, "0"),
            (range(2019, 2026), 2025, "2019"),
            ([*range(6), "kind"], "kind", "0"),
            (pd.MultiIndex.from_product([["g"], range(7)]), -1, "('g', 0)"),
        ],
    )
    def test_names_become_texts(self, names, target, first):
        data = load_data(frame().set_axis(names, axis=1), target=target)
        assert data.feature_names[0] == first and data.n_features == 6
        assert data.y[1] == "ill"


def anndata_like(X):
    y = small()[1]
    obs = pd.DataFrame({"diagnosis": pd.Categorical(y)}, index=[f"cell{j}" for j in range(12)])
    return SimpleNamespace(X=X, layers={"twice": X * 2}, obs=obs, var_names=pd.Index(NAMES))


@pytest.mark.parametrize("store", [np.asarray, sp.csr_matrix])
def test_anndata(tmp_path, store):
    cells = anndata_like(store(small()[0]))
    data = load_data(cells, target="diagnosis")
    path, options = write(tmp_path, ".csv")
    assert data.fingerprint == load_data(path, **options).fingerprint
    assert (data.name, data.source, data.target_name) == ("data", None, "diagnosis")
    twice = load_data(cells, target="diagnosis", x_key="twice")
    assert (twice.X != data.X * 2).sum() == 0
    with pytest.raises(DataError, match=r"the AnnData object has no layer 'thrice'.*x_key=.*'twice'"):
        load_data(cells, target="diagnosis", x_key="thrice")
    with pytest.raises(DataError, match=r"target=.*'diagnosis'"):
        load_data(cells)


@pytest.mark.filterwarnings("ignore:The 'future.infer_string' option")  # of anndata
def test_one_file_of_anndata_in_several_threads(tmp_path):
    anndata = pytest.importorskip("anndata")
    cells = anndata_like(sp.csr_matrix(small()[0]))
    with anndata.settings.override(allow_write_nullable_strings=True):
        anndata.AnnData(cells.X, obs=cells.obs).write_h5ad(tmp_path / "t.h5ad")
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: load_data(tmp_path / "t.h5ad", target="diagnosis"), range(40)))
    assert {data.fingerprint for data in found} == {found[0].fingerprint}


TABLE = frame()
X6, Y6 = small()
BAD = {
    "a list": ([1, 2], {}, ["type list", "a pair (X, y)"]),
    "nothing": (None, {}, ["type NoneType"]),
    "a series": (TABLE["flag"], {}, ["1 dimension"]),
    "a polars series": (pl.Series([1, 2]), {}, ["data frame"]),
    "no target": (TABLE, {}, ["target=", "'diagnosis'"]),
    "an array alone": (X6, {}, ["no target", "(X, y)", "target_file="]),
    "a separator": (TABLE, {"separator": ";"}, ["separator=';'", "the data frame"]),
    "a target beside a target": ((X6, Y6), {"target": 0}, ["target=0", "the pair"]),
    "a file beside a target": ((X6, Y6), {"target_file": "y.csv"}, ["target_file='y.csv'", "the pair"]),
    "the target among the features": ((TABLE, TABLE["diagnosis"]), {}, ["'diagnosis'", "drop=['diagnosis']"]),
    "no values": ((X6, None), {}, ["one value per sample"]),
    "too few values": ((X6, Y6[:5]), {}, ["12 rows", "'target' has 5"]),
    "no label at all": ((X6, pd.Series([None] * 12, name="k")), {}, ["'k'", "no value at all"]),
    "labels of objects": ((X6, [{}] * 12), {}, ["objects"]),
    "ragged X": (([[1], [2, 3]], [1, 2]), {}, ["X of the pair"]),
    "ragged y": ((X6, [1, [2]]), {}, ["the target"]),
    "objects": ((TABLE.to_numpy(), Y6), {}, ["objects"]),
    "columns of one name": (
        pd.concat([TABLE, TABLE[["flag"]]], axis=1),
        {"target": "diagnosis"},
        ["more than one column named 'flag'"],
    ),
    "names that are one as texts": (
        TABLE.set_axis([0, "0", *range(1, 6)], axis=1),
        {"target": 5},
        ["more than one column named '0'"],
    ),
    "mixed types": (TABLE.assign(m=["a", 1] * 6), {"target": "diagnosis"}, ["column m"]),
    "complex numbers": (TABLE.assign(z=1j), {"target": "diagnosis"}, ["column z"]),
    "periods": (
        TABLE.assign(z=pd.period_range("2020", periods=12)),
        {"target": "diagnosis"},
        ["'z'", "other objects", "drop=['z']"],
    ),
    "a grid of another size": (TABLE, {"target": "diagnosis", "grid": (2, 4)}, ["grid=(2, 4)", "8 pixels"]),
}


@pytest.mark.parametrize(("source", "options", "expected"), BAD.values(), ids=BAD.keys())
def test_one_line_that_names_the_culprit(source, options, expected):
    with pytest.raises(InputError) as caught:
        load_data(source, **options)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    for words in expected:
        assert words in message, message


class TestFeaturesOfAnEarlierSelection:
    """From new data in any form, with the reading of the old."""

    @pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES.keys())
    def test_frames(self, make):
        features = load_features(make(frame()), ["flag", "gene a"])
        np.testing.assert_array_equal(features.X, small()[0][:, [5, 0]])

    def test_arrays_pairs_and_anndata(self):
        X, y = small()
        for source in (X, (X, y), sp.csr_array(X)):
            features = load_features(source, ["feature_5", "feature_0"])
            assert (X[:, [5, 0]] != features.X).sum() == 0
        np.testing.assert_array_equal(load_features(anndata_like(X), ["flag"]).X, X[:, [5]])

    def test_options_that_have_no_meaning_here_are_not_heeded(self):
        reading = ReadOptions.make(
            target="kind", drop="id", separator=";", x_key="X", y_key="Y", target_file="y.csv", grid=(2, 3)
        )
        assert load_features(frame(), ["flag"], reading).X.shape == (12, 1)


class TestWithoutPyarrowAndPandas:
    """Arrays and named data need neither."""

    def run(self, code, *arguments):
        hide = (
            "import sys\n"
            "class Hidden:\n"
            "    def find_spec(self, name, path=None, target=None):\n"
            "        if name.partition('.')[0] in ('pandas', 'pyarrow'):\n"
            "            raise ModuleNotFoundError(name=name)\n"
            "sys.meta_path.insert(0, Hidden())\n"
        )
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", hide + code, *arguments],
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def test_arrays_and_named_data(self, tmp_path):
        X, y = small()
        np.savez(tmp_path / "a.npz", X=X, y=y)
        scipy.io.savemat(tmp_path / "a.mat", {"X": X, "Y": y.astype(object)[:, None]})
        write_svmlight(tmp_path / "a.svm")
        code = (
            "import numpy as np; from pathlib import Path; from infused.data import *\n"
            "folder = Path(sys.argv[1])\n"
            "sizes = [load_data(folder / name).X.shape for name in ('a.npz', 'a.mat', 'a.svm')]\n"
            "data = load_data(folder / 'a.npz')\n"
            "pair = load_data((data.X, data.y)); listed = load_data((data.X.tolist(), data.y.tolist()))\n"
            "same = data.fingerprint == pair.fingerprint == listed.fingerprint\n"
            "names = [load_data(name).name for name in available_datasets()[:4]]\n"
            "columns = load_features(data.X, ['feature_2']).X.shape\n"
            "print(sizes, same, names, columns)"
        )
        expected = "[(12, 6), (12, 6), (12, 6)] True ['digits', 'breast-cancer', 'wine', 'diabetes'] (12, 1)"
        assert self.run(code, str(tmp_path)).strip() == expected

    @pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather", ".arff"])
    def test_tables_say_what_to_install(self, tmp_path, monkeypatch, suffix):
        path, options = write(tmp_path, suffix)
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(MissingExtraError, match=r"pyarrow.*not installed.*infused\[files\]"):
            load_data(path, **options)

    def test_frames_say_what_to_install(self, monkeypatch):
        cells = anndata_like(small()[0])
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        for source in (frame(), cells, (small()[0], frame()["diagnosis"])):
            options = {} if isinstance(source, tuple) else {"target": "diagnosis"}
            with pytest.raises(MissingExtraError, match="pyarrow"):
                load_data(source, **options)
