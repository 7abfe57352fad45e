"""Columns on which a careless computation loses digits."""

from __future__ import annotations

import numpy as np

M = 36


def hard_columns():
    """Name -> column of M values."""
    rng = np.random.default_rng(7)
    normal = rng.normal(size=M)
    ramp = np.arange(M, dtype=float)
    columns = {
        "normal": normal,
        "uniform": rng.uniform(size=M),
        "ties": rng.integers(0, 4, size=M).astype(float),
        "binary": (ramp % 3 == 0).astype(float),
        "one that differs": (ramp == 5).astype(float),
        "outlier 1e14": np.where(ramp == 3, 1e14, normal),
        "outliers on both sides": np.where(ramp == 3, 1e14, np.where(ramp == 20, -3e14, normal)),
        "offset 1e9": normal + 1e9,
        "offset 1e15": np.round(8 * normal) / 8 + 1e15,
        "negative offset 1e12": normal - 1e12,
        "scale 1e-200": normal * 1e-200,
        "scale 1e200": normal * 1e200,
        "denormal": rng.integers(1, 50, size=M) * 5e-324,
        "denormal and zero": rng.integers(0, 3, size=M) * 5e-324,
        "largest doubles": np.where(ramp % 2 == 0, 1.7e308, -1.7e308) * rng.uniform(0.1, 1, size=M),
        "powers over 300 decades": 10.0 ** np.linspace(-150, 150, M),
        "pairs 1e-12 apart": np.repeat(rng.normal(size=M // 2), 2) + 1e-12 * (ramp % 2),
        "next double": np.where(ramp % 4 == 0, np.nextafter(1.0, 2.0), 1.0),
        "heavy tails": rng.standard_cauchy(size=M) ** 3,
        "negative only": -np.exp(normal),
        "constant 0.1": np.full(M, 0.1),
        "constant 1e300": np.full(M, 1e300),
        "ramp": ramp,
        "ramp backwards": ramp[::-1].copy(),
        "cubes": (ramp - M / 2) ** 3,
        "single precision": normal.astype(np.float32).astype(float),
        "zeros and 1e-300": np.where(ramp % 7 == 0, 1e-300, 0.0),
        "huge and tiny": np.where(ramp % 5 == 0, 1e308, normal * 1e-308),
        "two clusters": np.where(ramp < 10, normal * 1e-6, 1.0 + normal * 1e-6),
        "counts": rng.poisson(0.3, size=M).astype(float),
    }
    return {name: np.asarray(column, dtype=float) for name, column in columns.items()}


def hard_labels():
    """Name -> class labels of the M samples."""
    rng = np.random.default_rng(8)
    return {
        "two classes": np.arange(M) % 2,
        "five uneven classes": rng.choice(5, p=[0.5, 0.2, 0.15, 0.1, 0.05], size=M),
        "a class of its own": (np.arange(M) == 3).astype(int) + 2 * (np.arange(M) > 30),
        "text": np.array(["healthy", "sick", "unknown"])[rng.integers(0, 3, size=M)],
    }
