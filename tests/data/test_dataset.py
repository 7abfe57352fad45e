"""The value that readers return: taking features, describing, fingerprints."""

from __future__ import annotations

import hashlib
import pickle
import struct
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
import scipy.sparse as sp

from infused.data import DataError, Dataset, ReadOptions, load_data, load_features
from infused.exceptions import InputError
from tests.data.writers import NAMES, frame, small, write


@pytest.fixture
def data(tmp_path):
    path, options = write(tmp_path, ".csv")
    return load_data(path, **options)


def test_take_by_name_position_and_mask(data):
    X, _ = small()
    taken = data.take(["flag", "gene a"])
    np.testing.assert_array_equal(taken.X, X[:, [5, 0]])
    assert taken.feature_names == ("flag", "gene a") and taken.source == data.source
    assert data.take([5, 0]).fingerprint == taken.fingerprint != data.fingerprint
    assert data.take(np.array([5, 0])).feature_names == ("flag", "gene a")
    mask = np.isin(NAMES, ["flag", "gene a"])
    assert data.take(mask).feature_names == ("gene a", "flag")


def test_take_from_sparse_data(data):
    sparse = replace(data, X=sp.csr_array(data.X)).take(["flag", "gene a"])
    assert sp.issparse(sparse.X)
    assert sparse.fingerprint == data.take(["flag", "gene a"]).fingerprint


@pytest.mark.parametrize(
    ("features", "words"),
    [
        (["flag", "flagg"], "1 feature has no column in 'small': 'flagg'"),
        (
            [f"n{j}" for j in range(8)],
            "8 features have no column in 'small': 'n0', 'n1', 'n2', 'n3', 'n4' and 3 more",
        ),
        ([0, 6], "features 0 to 5, but not '6'"),
        ([-1], "features 0 to 5, but not '-1'"),
        ([], "no features to take from 'small'"),
        (["flag", 5], "taken twice"),
    ],
)
def test_take_what_is_not_there(data, features, words):
    with pytest.raises(DataError) as caught:
        data.take(features)
    assert words in str(caught.value)


def test_describe(data):
    assert data.describe() == "small: 12 samples x 6 features, 3 classes in 'diagnosis'"
    assert repr(data) == f"<Dataset {data.describe()}>"
    assert (
        load_data("diabetes").describe() == "diabetes: 442 samples x 10 features, real target 'progression'"
    )


def test_frozen_and_picklable(data):
    with pytest.raises(FrozenInstanceError):
        data.name = "other"
    again = pickle.loads(pickle.dumps(data))
    assert isinstance(again, Dataset) and again.fingerprint == data.fingerprint


def test_the_error_is_a_value_error_and_survives_pickling():
    error = pickle.loads(pickle.dumps(DataError("one\ntwo\u2028three")))
    assert isinstance(error, InputError) and isinstance(error, ValueError)
    assert str(error) == "one two three"


def test_fingerprint_tells_contents_apart(data):
    """Values, order, names and labels count; storage, the file's name and the target's name do not."""
    X, y = data.X, data.y
    different = [
        replace(data, X=X + 1e-9),
        replace(data, X=X[::-1]),
        data.take([1, 0, 2, 3, 4, 5]),
        replace(data, feature_names=("gene b", *NAMES[1:])),
        replace(data, y=y[::-1]),
        replace(data, y=np.arange(12)),
        replace(data, y=np.arange(12.0)),
        replace(data, X=X.T.reshape(X.shape)),
    ]
    prints = {other.fingerprint for other in different}
    assert len(prints) == len(different) and data.fingerprint not in prints
    same = [
        replace(data, X=np.ascontiguousarray(X)),
        replace(data, X=sp.csc_array(X)),
        replace(data, X=np.where(X == 0, -0.0, X)),
        replace(data, name="other", target_name="t", source="elsewhere", notes=("noted",)),
    ]
    assert {other.fingerprint for other in same} == {data.fingerprint}


def test_fingerprint_by_its_definition():
    """The slow, obvious twin: what is fed to SHA-256, byte by byte."""
    X = np.array([[0.0, 1.5], [0.0, 2.5], [0.0, 0.0], [0.0, -1.0], [7.0, 1.0]])
    data = Dataset("d", X, np.array(["u", "vv", "u", "u", "vv"]), ("a", "é"), "t", "classes", "s")
    fed = b"infused data 1" + b"1:a" + b"2:\xc3\xa9" + b"<i8 2 " + struct.pack("<2q", 5, 2)
    fed += b"<i8 1 " + struct.pack("<q", 4) + b"<f8 1 " + struct.pack("<d", 7.0)  # a quarter or less: by rows
    fed += b"<f8 5 " + struct.pack("<5d", 1.5, 2.5, 0.0, -1.0, 1.0)
    fed += b"<i8 1 " + struct.pack("<q", 5) + b"1:u2:vv1:u1:u2:vv"
    assert data.fingerprint == hashlib.sha256(fed).hexdigest()


class TestLoadFeatures:
    """The features of an earlier selection, from a file that has more, less and other columns."""

    def test_another_order_and_other_columns(self, tmp_path):
        X, _ = small()
        table = frame().drop(columns="diagnosis")[list(reversed(NAMES))]
        table.insert(0, "id", range(12))
        table["remark"] = "text"
        table["Größe"] = table["Größe"].where(table.index > 3)
        table.to_csv(tmp_path / "new.csv", index=False)
        features = load_features(tmp_path / "new.csv", ["flag", "gene a"])
        np.testing.assert_array_equal(features.X, X[:, [5, 0]])
        assert features.feature_names == ("flag", "gene a") and features.notes == ()

    def test_missing_columns_are_listed(self, tmp_path):
        frame().to_parquet(tmp_path / "new.parquet")
        wanted = ["flag", *(f"n{j}" for j in range(7))]
        with pytest.raises(DataError) as caught:
            load_features(tmp_path / "new.parquet", wanted)
        assert "7 features have no column" in str(caught.value) and "'n4' and 2 more" in str(caught.value)

    def test_gaps_stay_gaps(self, tmp_path):
        (tmp_path / "new.csv").write_text("a,b\n1,2\n,3\n5,4\n-,4\n")
        features = load_features(tmp_path / "new.csv", ["b", "a"], ReadOptions(missing=("4",)))
        np.testing.assert_array_equal(features.X, [[2, 1], [3, np.nan], [np.nan, 5], [np.nan, np.nan]])

    def test_one_hot_columns_are_made_again(self, tmp_path):
        (tmp_path / "new.csv").write_text("a,t=own,town\n1,5,Rome\n2,6,Oslo\n")
        features = load_features(tmp_path / "new.csv", ["town=Bonn", "a", "town=Rome", "t=own"])
        np.testing.assert_array_equal(features.X, [[0, 1, 1, 5], [0, 2, 0, 6]])

    @pytest.mark.parametrize(
        ("content", "features", "words"),
        [
            ("a,b\n1,2\n", [], "no features to read"),
            ("a,b\n1,2\n", ["a", "a"], "more than one column named 'a'"),
            ("a,b\n", ["a"], "no rows"),
            ("a,b\n1,x\n2,y\n", ["a", "b"], "'x', 'y' where numbers belong"),
            ("a,b\n1,inf\n2,3\n", ["a", "b"], "infinite values in 'b'"),
        ],
    )
    def test_what_cannot_be_read(self, tmp_path, content, features, words):
        (tmp_path / "new.csv").write_text(content)
        with pytest.raises(DataError, match=words):
            load_features(tmp_path / "new.csv", features)

    def test_matrices(self, tmp_path):
        X, _ = small()
        np.savez(tmp_path / "new.npz", X=X)
        np.testing.assert_array_equal(
            load_features(tmp_path / "new.npz", ["feature_2", "feature_0"]).X, X[:, [2, 0]]
        )
