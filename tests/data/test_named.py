"""Named data: scikit-learn's and the paper's."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import datasets

from infused.data import DataError, available_datasets, dataset_info, load_data
from infused.data.named import MORE, PAPER, data_folder

BUNDLED = ("digits", "breast-cancer", "wine", "diabetes")


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_data_come_with_their_names(name):
    bunch = getattr(datasets, f"load_{name.replace('-', '_')}")()
    data, info = load_data(name.upper()), dataset_info(name)
    np.testing.assert_array_equal(data.X, bunch.data)
    assert data.feature_names == tuple(bunch.feature_names)
    assert (data.name, data.source) == (name, name)
    assert (info.n_samples, info.n_features, info.present) == (data.n_samples, data.n_features, True)
    if info.n_classes is None:
        assert data.kind == "real"
        np.testing.assert_array_equal(data.y, bunch.target)
    else:
        np.testing.assert_array_equal(np.unique(data.y, return_inverse=True)[1], _ranks(bunch, name))
        assert info.n_classes == len(np.unique(data.y))


def _ranks(bunch, name):
    labels = bunch.target if name == "digits" else bunch.target_names[bunch.target]
    return np.unique(labels, return_inverse=True)[1]


def test_digits_are_pictures():
    data = load_data("digits")
    assert data.grid_shape == (8, 8) and data.feature_names[3 * 8 + 5] == "pixel_3_5"
    assert data.take([3, 4]).grid_shape is None
    assert load_data("digits", drop=["pixel_0_0"]).grid_shape is None
    assert data.plain and data.notes == ()
    assert load_data("breast-cancer").y[0] == "malignant"


def test_names():
    assert available_datasets() == (*BUNDLED, *PAPER, *MORE)
    with pytest.raises(DataError, match="did you mean 'digits'"):
        dataset_info("digit")


@pytest.mark.parametrize("name", PAPER)
def test_absent_data_say_where_to_get_them(name, tmp_path, monkeypatch):
    monkeypatch.setenv("INFUSED_DATA", str(tmp_path))
    with pytest.raises(DataError) as caught:
        load_data(name.lower())
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    for words in (name, str(tmp_path), "INFUSED_DATA", PAPER[name].collection):
        assert words in message
    assert not dataset_info(name).present


def test_another_file_of_that_name_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("INFUSED_DATA", str(tmp_path))
    (tmp_path / "USPS.mat").write_bytes(b"not the file")
    with pytest.raises(DataError, match=r"USPS\.mat.*SHA-256.*99e71a60ca6f"):
        load_data("usps")


def test_the_folder_is_in_the_cache_by_default(monkeypatch, tmp_path):
    monkeypatch.delenv("INFUSED_DATA", raising=False)
    for platform, variable, expected in [
        ("linux", "XDG_CACHE_HOME", tmp_path / "infused"),
        ("win32", "LOCALAPPDATA", tmp_path / "infused"),
        ("darwin", "HOME", tmp_path / "Library" / "Caches" / "infused"),
    ]:
        monkeypatch.setattr("sys.platform", platform)
        monkeypatch.setenv(variable, str(tmp_path))
        assert data_folder() == expected


@pytest.mark.data
@pytest.mark.parametrize("name", PAPER)
def test_the_paper_s_data(name):
    folder = os.environ.get("INFUSED_DATA")
    if folder is None or not (Path(folder) / f"{name}.mat").exists():
        pytest.skip(f"{name}.mat is not there: set INFUSED_DATA to the folder that holds it")
    data, info = load_data(name), dataset_info(name)
    assert (data.n_samples, data.n_features) == (info.n_samples, info.n_features)
    assert len(np.unique(data.y)) == info.n_classes and data.kind == "classes"
    assert sp.issparse(data.X) == (name in ("RELATHE", "BASEHOCK"))
    if data.grid_shape is not None:
        rows, columns = data.grid_shape
        step = columns if data.grid_order == "rows" else 1
        assert data.feature_names[step] == "pixel_1_0" and rows * columns == data.n_features
