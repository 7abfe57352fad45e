"""Data sets and records that the tests of a selection share."""

from __future__ import annotations

import numpy as np
import pytest

from tests.record import records


@pytest.fixture(scope="session")
def cells():
    return records.cells_data()


@pytest.fixture(scope="session")
def digits():
    return records.digits_data()


@pytest.fixture(scope="session")
def diabetes():
    return records.diabetes_data()


@pytest.fixture(scope="session")
def fitted_cells():
    return records.cells_fit()


@pytest.fixture(scope="session")
def record():
    return records.cells_record()


@pytest.fixture
def rng():
    return np.random.default_rng(0)
