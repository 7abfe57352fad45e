"""One description of how data are treated, from the options of a user to the record and back."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from inspect import signature
from pathlib import Path

import numpy as np
import pytest

from infused.data import Treatment, load, load_data
from infused.exceptions import InputError


def test_load_data_has_every_option_with_its_default():
    parameters = dict(signature(load_data).parameters)
    parameters.pop("source")
    assert {name: p.default for name, p in parameters.items()} == {
        f.name: f.default for f in fields(Treatment)
    }


def test_there_and_back_through_json():
    treatment = Treatment.make(target=-1, target_file=Path("y.csv"), drop="id", use=["a", 3], grid=[2, 3])
    assert treatment.given() == {
        "target": -1,
        "target_file": "y.csv",
        "drop": ("id",),
        "use": ("a", 3),
        "grid": (2, 3),
    }
    for stored in (treatment.given(), asdict(treatment)):
        assert Treatment.make(**json.loads(json.dumps(stored))) == treatment
    assert Treatment.make() == Treatment() and Treatment().given() == {}


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
        Treatment.make(**options)


def test_load_is_load_data():
    options = {"drop": ["pixel_0_0", 5], "grid": (2, 31)}
    assert load("digits", Treatment.make(**options)).fingerprint == load_data("digits", **options).fingerprint


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
