"""Everything that can be wrong with data: one line that names the culprit and the option that helps."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from infused.data import DataError, load_data
from infused.exceptions import InputError
from tests.data.bad_inputs import CASES
from tests.data.writers import FORMATS, write, write_svmlight


def test_there_are_many():
    assert len(CASES) >= 50


@pytest.mark.parametrize(("build", "expected"), CASES.values(), ids=CASES.keys())
def test_one_line_that_names_the_culprit(tmp_path, build, expected):
    source, options = build(tmp_path)
    with pytest.raises(InputError) as caught:
        load_data(source, **options)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    for words in expected:
        assert words in message, message


def test_messages_say_enough_and_no_more(tmp_path):
    """A file of a thousand text columns makes a line that still fits a screen."""
    names = [f"a rather long name of a column, number {j}" for j in range(1000)]
    pd.DataFrame({name: ["u", "v"] * 2 for name in names} | {"kind": ["x", "y"] * 2}).to_csv(
        tmp_path / "t.csv", index=False
    )
    with pytest.raises(DataError) as caught:
        load_data(tmp_path / "t.csv", target="kind", categories="error")
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("suffix", [*FORMATS, ".svm"])
def test_damaged_files_raise_nothing_else(tmp_path, suffix):
    """Cut files and changed bytes: some can still be read, the rest are a DataError."""
    path, options = (write_svmlight(tmp_path / "t.svm"), {}) if suffix == ".svm" else write(tmp_path, suffix)
    whole = path.read_bytes()
    random = np.random.default_rng(5)
    for trial in range(24):
        content = bytearray(whole)
        if trial % 2:
            content = content[: random.integers(1, len(whole))]
        else:
            for place in random.integers(0, len(whole), random.integers(1, 9)):
                content[place] = random.choice([0, 10, 34, 39, 44, 255])
        path.write_bytes(content)
        with suppress(DataError):
            assert load_data(path, **options).X.shape[0] >= 2
