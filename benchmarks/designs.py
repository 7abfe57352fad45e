"""Data of which the truth is known: which features the target depends on, given all others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits

from benchmarks import datasets

Floats = NDArray[np.float64]
Random = np.random.Generator
Rows = Callable[[Random, int, int], Floats]


@dataclass(frozen=True)
class Design:
    """How features and target are drawn."""

    name: str
    features: Rows
    n_samples: int = 300
    n_features: int = 100
    n_signals: int = 30
    size: float = 0.35
    """Of a coefficient, for features of variance one and noise of variance one."""
    n_classes: int = 0
    """Of the target; 0 for a real one. Two are the halves of one, more have coefficients of their own."""
    cubic: bool = False
    """Whether the target depends on the cubes of features."""
    cluster: int = 1
    """Neighbouring features that say nearly the same: each of them is as good a discovery as another."""


@dataclass(frozen=True)
class Drawn:
    """One data set, and the truth."""

    X: Floats
    y: NDArray[Any]
    relevant: NDArray[np.bool_]
    """Features that the target depends on; of clusters, all whose cluster has one."""
    n_signals: int
    cluster: int
    effects: Floats
    """Of one unit of each feature, on the scale of the model; of the last class, where there are several."""


def draw(design: Design, seed: int) -> Drawn:
    """The data set of this design and seed."""
    random = np.random.default_rng([seed, *design.name.encode()])
    X = design.features(random, design.n_samples, design.n_features)
    places = random.choice(design.n_features // design.cluster, design.n_signals, replace=False)
    relevant = np.repeat(np.isin(np.arange(design.n_features // design.cluster), places), design.cluster)
    B = np.zeros((design.n_features, design.n_classes if design.n_classes > 2 else 1))
    signs = random.choice([-1.0, 1.0], (design.n_signals, B.shape[1]))
    signs[:, 0] = -signs[:, -1] if B.shape[1] > 1 else signs[:, 0]  # the same for all classes would be none
    B[places * design.cluster] = design.size * signs
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = (Z**3 / 3 if design.cubic else Z) @ B + random.normal(size=(design.n_samples, B.shape[1]))
    y: NDArray[Any] = Y.argmax(axis=1) if design.n_classes > 2 else Y[:, 0]
    if design.n_classes == 2:
        y = (y > np.median(y)).astype(np.int64)
    return Drawn(X, y, relevant, design.n_signals, design.cluster, B[:, -1] / X.std(axis=0))


def independent(random: Random, n: int, p: int) -> Floats:
    return random.normal(size=(n, p))


def autoregressive(rho: float) -> Rows:
    """Each feature correlates with the next."""

    def rows(random: Random, n: int, p: int) -> Floats:
        X = random.normal(size=(n, p))
        for j in range(1, p):
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
        return X

    return rows


def blocks(rho: float, size: int = 5) -> Rows:
    """Features correlate within blocks, and not between them."""

    def rows(random: Random, n: int, p: int) -> Floats:
        common = np.repeat(random.normal(size=(n, p // size)), size, axis=1)
        return np.asarray(np.sqrt(rho) * common + np.sqrt(1 - rho) * random.normal(size=(n, p)))

    return rows


def heavy_rows(random: Random, n: int, p: int) -> Floats:
    """Multivariate t of three degrees of freedom: some samples are far out in all features."""
    scale = np.sqrt(random.chisquare(3, size=(n, 1)) / 3)
    return np.asarray(autoregressive(0.5)(random, n, p) / scale)


def heavy_values(random: Random, n: int, p: int) -> Floats:
    """t of three degrees of freedom, each value for itself."""
    return random.standard_t(3, size=(n, p))


def binary(random: Random, n: int, p: int) -> Floats:
    """0 and 1, the ones in a fifth of the samples."""
    return (autoregressive(0.6)(random, n, p) > 0.84).astype(np.float64)


def mixed(random: Random, n: int, p: int) -> Floats:
    """Numbers, skewed amounts, counts and marks, correlated."""
    X = autoregressive(0.5)(random, n, p)
    X[:, 1::4] = np.exp(X[:, 1::4])
    X[:, 2::4] = np.floor(np.exp(0.7 * X[:, 2::4]))
    X[:, 3::4] = X[:, 3::4] > 0.5
    return X


def factors(random: Random, n: int, p: int) -> Floats:
    """Every feature is a sum of four hidden ones, and noise."""
    return np.asarray(
        0.7 * random.normal(size=(n, 4)) @ random.normal(size=(4, p)) + random.normal(size=(n, p))
    )


@cache
def measured(name: str) -> Floats:
    """Read a data set of scikit-learn's, or one of the paper's from the folder that INFUSED_DATA names."""
    own = {"digits": load_digits, "breast-cancer": load_breast_cancer}
    X = own[name]().data if name in own else datasets.load(name)[0]
    return np.asarray(X, dtype=np.float64)


def real(name: str) -> Rows:
    """Some samples and some features of a data set, as they were measured."""

    def rows(random: Random, n: int, p: int) -> Floats:
        X = measured(name)[random.permutation(len(measured(name)))[:n]]
        varies = np.flatnonzero(X.std(axis=0) > 0)
        return X[:, np.sort(random.choice(varies, p, replace=False))]

    return rows


NOTHING = 0
DESIGNS = (
    Design("independent", independent, size=0.3),
    Design("AR(1), 0.5", autoregressive(0.5)),
    Design("AR(1), 0.8", autoregressive(0.8), size=0.5),
    Design("blocks of 5, 0.7", blocks(0.7), size=0.5),
    Design("blocks of 5, 0.9", blocks(0.9), size=0.8),
    Design("heavy tails, rows", heavy_rows),
    Design("heavy tails, values", heavy_values, size=0.3),
    Design("binary features", binary),
    Design("mixed table", mixed),
    Design("target of cubes", independent, size=0.4, cubic=True),
    Design("two classes", autoregressive(0.5), size=0.6, n_classes=2, n_samples=400),
    Design("three classes", autoregressive(0.5), size=0.6, n_classes=3, n_samples=400),
    Design("N > M", autoregressive(0.5), n_samples=100, n_features=150, n_signals=20, size=1.0),
    Design("N >> M, clusters", blocks(0.9, 8), 100, 640, 14, 1.2, cluster=8),
    Design("5 signals", autoregressive(0.5), n_signals=5, size=0.4),
    Design("15 signals", independent, n_signals=15, size=0.3),
    Design("15 signals, AR(1), 0.5", autoregressive(0.5), n_signals=15, size=0.3),
    Design("15 signals, blocks of 5, 0.7", blocks(0.7), n_signals=15, size=0.4),
    Design("15 signals, mixed table, classes", mixed, 400, n_signals=15, size=0.6, n_classes=2),
    Design("12 signals, factors", factors, n_signals=12, size=0.5),
    Design("12 signals, N > M", autoregressive(0.5), 150, 400, 12, 0.7),
    Design("3 signals of 12", mixed, 200, 12, 3, 0.4),
    Design("digits", real("digits"), 600, 50, 15, 0.3),
    Design("digits, classes", real("digits"), 600, 50, 15, 0.6, n_classes=2),
    Design("breast-cancer", real("breast-cancer"), 500, 30, 15, 0.8),
    Design("breast-cancer, classes", real("breast-cancer"), 500, 30, 15, 1.6, n_classes=2),
    Design("Isolet1", real("Isolet1"), 600, 150, 15, 0.35),
    Design("Isolet1, classes", real("Isolet1"), 600, 150, 15, 0.7, n_classes=2),
    Design("USPS", real("USPS"), 600, 150, 15, 0.35),
    Design("PIE", real("PIE"), 600, 150, 15, 1.0),
    Design("no signal", independent, n_signals=NOTHING),
    Design("no signal, AR(1), 0.8", autoregressive(0.8), n_signals=NOTHING),
    Design("no signal, classes", binary, n_signals=NOTHING, n_classes=2),
    Design("no signal, N > M", heavy_rows, n_samples=80, n_features=150, n_signals=NOTHING),
    Design("no signal, digits", real("digits"), 600, 50, NOTHING),
)
