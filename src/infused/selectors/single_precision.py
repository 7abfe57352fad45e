"""Products of a forward search in single precision, and the few that decide in double.

A step of the search is one product of all features with a vector, and takes as long as to read them once:
in single precision half as long. What that leaves open of c_j = f_j'PY and d_j = ridge + f_j'Pf_j is bounded
from step to step; every feature that could be the best within the bounds is computed anew in double
precision. So the order is the one of a search in double precision.
"""

from __future__ import annotations

import numpy as np

from infused._typing import Floats, Ints

__all__ = ["SinglePrecision"]

WORTH_IT = 10**7  # entries of X
ERROR = 32 * float(np.finfo(np.float32).eps)  # of a product of two vectors, relative to their lengths
MOST_IN_DOUBT = 200  # features; with more, single precision decides too little


class SinglePrecision:
    """The features in single precision, and what the products with them leave open."""

    def __init__(self, F: Floats, Y: Floats):
        self._F = F
        self._rows = np.ascontiguousarray(F.T, dtype=np.float32)
        self._PY = Y.copy()
        self._c, self._d = 0.0, 0.0  # bounds on the errors of c and d, for a feature of length one

    @staticmethod
    def worth_it(F: Floats) -> bool:
        """Whether reading the features takes most of the time."""
        return F.size >= WORTH_IT

    def products(self, w: Floats) -> Floats:
        """f_j'w of all features."""
        return np.asarray(self._rows @ w.astype(np.float32), dtype=np.float64)

    def added(self, w: Floats, c: Floats, size: float) -> None:
        """After a step along w = Pf_s, with c = c_s and d_s = size."""
        self._PY -= np.outer(w, c / size)
        length = float(np.linalg.norm(w))
        self._c += ERROR * length * float(np.linalg.norm(c)) / size
        self._d += ERROR * (2 + ERROR) * length**2 / size  # |f_j'w| is at most the length of w

    def in_doubt(self, c: Floats, d: Floats, ridge: float, square: Floats, least: float) -> Ints:
        """The features whose gain may be as large as ``least``."""
        most = np.linalg.norm(c, axis=1) + self._c * np.sqrt(square)
        smallest = np.maximum(d - self._d * square, np.maximum(ridge, np.finfo(float).tiny))
        return np.flatnonzero(most * most >= least * (1 - ERROR) * smallest)

    def exact(self, features: Ints, W: Floats, sizes: Floats) -> tuple[Floats, Floats]:
        """c_j, and by how much d_j has fallen, of some features."""
        f = np.ascontiguousarray(self._F[:, features].T)
        pulls = f @ W.T
        return f @ self._PY, (pulls * pulls / sizes).sum(axis=1)
