"""The same data in every format: the same numbers, names and fingerprint."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

from infused.data import DataError, load_data, load_features, reader_formats
from infused.exceptions import MissingExtraError
from tests.data.writers import FORMATS, NAMES, frame, small, write, write_svmlight


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_gives_the_same_data(tmp_path, suffix):
    X, y = small()
    path, options = write(tmp_path, suffix)
    data = load_data(path, **options)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, y)
    assert data.X.dtype == np.float64
    assert data.feature_names == NAMES
    assert (data.name, data.source, data.kind) == ("small", str(path), "classes")
    reference, options = write(tmp_path, ".csv")
    assert data.fingerprint == load_data(reference, **options).fingerprint


def test_every_registered_suffix_is_tested_or_known_to_share_a_reader():
    shared = {".txt.gz", ".tab", ".tab.gz", ".pq", ".arrow", ".ndjson"}
    svmlight = {f"{stem}{end}" for stem in (".svm", ".svmlight", ".libsvm") for end in ("", ".gz")}
    elsewhere = {".bed", ".h5ad", ".xlsx", ".xlsm", ".xls"}  # need packages that may be absent
    assert set(reader_formats()) == {*FORMATS, *shared, *svmlight, *elsewhere}


@pytest.mark.parametrize("suffix", [".svm", ".svmlight", ".libsvm"])
def test_svmlight_stays_sparse(tmp_path, suffix):
    X, y = small()
    data = load_data(write_svmlight(tmp_path / f"small{suffix}"))
    assert sp.issparse(data.X) and data.X.format == "csr"
    np.testing.assert_array_equal(data.X.toarray(), X)
    np.testing.assert_array_equal(data.y, np.unique(y, return_inverse=True)[1])
    assert data.feature_names == tuple(f"feature_{j}" for j in range(1, 7))


def test_svmlight_names_are_the_indices_of_the_file(tmp_path):
    from_zero = load_data(write_svmlight(tmp_path / "a.svm", zero_based=True))
    assert from_zero.feature_names[0] == "feature_0"
    (tmp_path / "new.svm").write_text("1 2:5 3:6\n0 2:7\n")
    np.testing.assert_array_equal(
        load_features(tmp_path / "new.svm", ["feature_3", "feature_2"]).X.toarray(), [[6, 5], [0, 7]]
    )


def test_sparse_matlab_and_numpy_stay_sparse_and_share_the_dense_fingerprint(tmp_path):
    X, y = small()
    codes = np.unique(y, return_inverse=True)[1]
    scipy.io.savemat(tmp_path / "s.mat", {"fea": sp.csc_matrix(X), "gnd": codes[:, None]})
    scipy.io.savemat(tmp_path / "d.mat", {"FEA": X.astype(np.float64), "Gnd": codes[None, :]})
    sp.save_npz(tmp_path / "s.npz", sp.coo_matrix(X))
    pd.DataFrame({"label": codes}).to_csv(tmp_path / "y.csv", index=False)
    sparse, dense = load_data(tmp_path / "s.mat"), load_data(tmp_path / "d.mat")
    archive = load_data(tmp_path / "s.npz", target_file=tmp_path / "y.csv")
    assert sp.issparse(sparse.X) and sp.issparse(archive.X) and not sp.issparse(dense.X)
    assert len({sparse.fingerprint, dense.fingerprint, archive.fingerprint}) == 1
    assert "sparse" in sparse.describe()


@pytest.mark.parametrize(
    "keys", [("X", "Y"), ("fea", "gnd"), ("data", "target"), ("features", "labels"), ("x", "y")]
)
def test_usual_keys_are_found_and_others_can_be_named(tmp_path, keys):
    X, y = np.arange(12.0).reshape(4, 3) ** 2, np.array([1, 2, 1, 2])
    np.savez(tmp_path / "a.npz", **{keys[0]: X, keys[1]: y})
    scipy.io.savemat(tmp_path / "a.mat", {keys[0]: X, keys[1]: y})
    for path in (tmp_path / "a.npz", tmp_path / "a.mat"):
        np.testing.assert_array_equal(load_data(path).X, X)
    np.savez(tmp_path / "b.npz", measured=X, kind=y)
    named = load_data(tmp_path / "b.npz", x_key="measured", y_key="kind")
    assert named.target_name == "kind" and named.fingerprint == load_data(tmp_path / "a.npz").fingerprint


def test_several_real_targets(tmp_path):
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((9, 2))
    np.savez(tmp_path / "a.npz", X=rng.standard_normal((9, 3)), Y=Y)
    data = load_data(tmp_path / "a.npz")
    np.testing.assert_array_equal(data.y, Y)
    assert data.kind == "real" and "2 real targets" in data.describe()


@pytest.mark.parametrize("store", [np.asarray, sp.csc_matrix])
def test_matlab_of_version_7_3(tmp_path, store):
    h5py = pytest.importorskip("h5py")
    kinds = ["left", "right", "left"]
    stored = store(np.array([[1.5, 0.0], [0.0, -2.0], [3.0, 4.0]]))
    with h5py.File(tmp_path / "t.mat", "w", userblock_size=512) as file:
        if sp.issparse(stored):
            X = file.create_group("fea")
            X.attrs["MATLAB_sparse"] = 3
            X["data"], X["ir"], X["jc"] = stored.data, stored.indices, stored.indptr
        else:
            file["fea"] = stored.T
        refs = file.create_group("#refs#")
        for n, kind in enumerate(kinds):
            refs[str(n)] = np.array([[ord(letter)] for letter in kind], np.uint16)
            refs[str(n)].attrs["MATLAB_class"] = np.bytes_("char")
        cells = file.create_dataset("gnd", (1, 3), dtype=h5py.ref_dtype)
        cells[0] = [refs[str(n)].ref for n in range(3)]
        cells.attrs["MATLAB_class"] = np.bytes_("cell")
    with (tmp_path / "t.mat").open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    data = load_data(tmp_path / "t.mat")
    assert data.y.tolist() == kinds and sp.issparse(data.X) == sp.issparse(stored)
    X = data.X.toarray() if sp.issparse(data.X) else data.X
    np.testing.assert_array_equal(X, [[1.5, 0.0], [0.0, -2.0], [3.0, 4.0]])


def test_matlab_texts(tmp_path):
    X = np.arange(8.0).reshape(4, 2) ** 2
    scipy.io.savemat(tmp_path / "c.mat", {"X": X, "Y": np.array(["ab", "c", "ab", "c"])})
    np.testing.assert_array_equal(load_data(tmp_path / "c.mat").y, ["ab", "c", "ab", "c"])


def test_capital_suffix(tmp_path):
    frame().to_csv(tmp_path / "A.CSV", index=False)
    assert load_data(tmp_path / "A.CSV", target="diagnosis").n_features == 6


def test_types_of_parquet_columns(tmp_path):
    table = pd.DataFrame(
        {
            "small": np.array([1, 2, 250, 4], dtype=np.uint8),
            "half": np.array([0.5, 1.5, 2.5, 4.5], dtype=np.float16),
            "truth": [True, False, True, True],
            "coded": pd.Categorical([3, 5, 3, 5]),
            "kind": pd.Categorical(["a", "b", "a", "b"]),
        }
    )
    table.to_parquet(tmp_path / "t.parquet")
    data = load_data(tmp_path / "t.parquet", target="kind")
    np.testing.assert_array_equal(data.X, [[1, 0.5, 1, 3], [2, 1.5, 0, 5], [250, 2.5, 1, 3], [4, 4.5, 1, 5]])
    np.testing.assert_array_equal(data.y, ["a", "b", "a", "b"])
    np.testing.assert_array_equal(
        load_data(tmp_path / "t.parquet", target="truth", one_hot=True).y, [1, 0, 1, 1]
    )


def test_the_index_of_a_data_frame_is_no_feature(tmp_path):
    table = frame()
    table.index = pd.Index([f"patient {j}" for j in range(len(table))], name="who")
    for path in (tmp_path / "t.parquet", tmp_path / "u.parquet"):
        table.to_parquet(path)
    data = load_data(tmp_path / "t.parquet", target="diagnosis")
    assert data.feature_names == NAMES
    assert data.notes[0] == "left out as row labels: 'who'"


def test_h5ad_without_anndata_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "anndata", None)
    (tmp_path / "a.h5ad").write_bytes(b"x")
    with pytest.raises(MissingExtraError, match=r"anndata.*not installed.*infused\[h5ad\]"):
        load_data(tmp_path / "a.h5ad", target="t")


@pytest.mark.parametrize("sparse", [False, True])
def test_h5ad(tmp_path, sparse):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        anndata = pytest.importorskip("anndata")
        X, y = small()
        stored = sp.csr_matrix(X) if sparse else X
        obs = pd.DataFrame({"diagnosis": pd.Categorical(y)}, index=[f"cell{j}" for j in range(12)])
        data = anndata.AnnData(stored, obs=obs, var=pd.DataFrame(index=list(NAMES)))
        data.layers["twice"] = stored * 2
        data.write_h5ad(tmp_path / "small.h5ad")
        read = load_data(tmp_path / "small.h5ad", target="diagnosis")
        twice = load_data(tmp_path / "small.h5ad", target="diagnosis", x_key="twice")
        with pytest.raises(DataError, match=r"no layer 'thrice'.*x_key=.*'twice'"):
            load_data(tmp_path / "small.h5ad", target="diagnosis", x_key="thrice")
        with pytest.raises(DataError, match=r"target=.*'diagnosis'"):
            load_data(tmp_path / "small.h5ad")
    reference, options = write(tmp_path, ".csv")
    assert read.fingerprint == load_data(reference, **options).fingerprint
    assert sp.issparse(read.X) == sparse
    assert (twice.X != read.X * 2).sum() == 0


def test_importing_the_package_loads_no_file_library():
    heavy = "{'numba', 'pandas', 'polars', 'pyarrow', 'scipy.io', 'scipy.sparse', 'sklearn', 'anndata'}"
    code = (
        "import sys, infused.data as d; d.reader_formats(); d.available_datasets(); d.dataset_info('USPS');"
        f"found = {heavy} & set(sys.modules); assert not found, found"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
