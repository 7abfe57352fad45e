"""Figures without a screen, closed after each test, and two small fits."""

from __future__ import annotations

import matplotlib
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from infused import InFusedLasso


@pytest.fixture(autouse=True)
def close_figures():
    plt.close("all")  # of whatever ran before in this process
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300]


@pytest.fixture(scope="session")
def cells():
    """Named columns and two classes."""
    data = load_breast_cancer(as_frame=True)
    return data.data, data.target


@pytest.fixture(scope="session")
def fitted(digits):
    return InFusedLasso(n_features_to_select=8).fit(*digits)


@pytest.fixture(scope="session")
def fitted_cells(cells):
    return InFusedLasso(n_features_to_select=5).fit(*cells)
