"""One description of how data are read, from the options of a user to the record and back."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from infused.data import ReadOptions, load_data
from infused.exceptions import InputError


def test_there_and_back_through_json():
    options = ReadOptions.make(target=-1, target_file=Path("y.csv"), drop="id", use=["a", 3], grid=[2, 3])
    assert options.given() == {
        "target": -1,
        "target_file": "y.csv",
        "drop": ("id",),
        "use": ("a", 3),
        "grid": (2, 3),
    }
    for stored in (options.given(), asdict(options)):
        assert ReadOptions.make(**json.loads(json.dumps(stored))) == options
    assert ReadOptions.make() == ReadOptions() and ReadOptions().given() == {}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"depth": 3}, "'depth'"),
        ({"impute": "medain"}, "impute='medain'.*did you mean 'median'"),
        ({"task": "ranking"}, "task='ranking'.*classification"),
        ({"grid": (2,)}, "grid="),
        ({"grid": (0, 4)}, "grid="),
    ],
)
def test_what_is_not_known(options, words):
    with pytest.raises(InputError, match=words):
        ReadOptions.make(**options)


def test_options_by_name_and_in_one_object_are_the_same():
    options = {"drop": ["pixel_0_0", 5], "grid": (2, 31)}
    data = load_data("digits", **options)
    assert load_data("digits", ReadOptions.make(**options)).fingerprint == data.fingerprint
    changed = load_data("digits", ReadOptions(drop=("pixel_0_0", 5)), grid=(2, 31))
    assert (changed.fingerprint, changed.grid_shape) == (data.fingerprint, data.grid_shape)


def test_an_option_that_is_not_known_is_refused_where_data_are_loaded():
    with pytest.raises(InputError, match="'depth'"):
        load_data("digits", depth=3)


def test_grid():
    X, y = np.random.default_rng(0).standard_normal((8, 6)), [0, 1] * 4
    assert load_data((X, y)).grid_shape is None
    data = load_data((X, y), grid=(2, 3))
    assert (data.grid_shape, data.grid_order) == ((2, 3), "rows")
    assert load_data("digits", grid=(4, 16)).grid_shape == (4, 16)
    with pytest.raises(InputError) as caught:
        load_data("digits", grid=(3, 3))
    assert caught.value.told(lambda setting: f"--{setting.name}") == (
        "--grid has 9 pixels, but 'digits' has 64 features"
    )
