r"""A sum over pairs becomes a matrix product.

With :math:`\varphi(s) = s \log s`, the entropies of all pairs of features need
:math:`\sum_a \varphi(x_{ia} + y_{ja})`: N^2 M logarithms. Write instead

.. math::

    \varphi(x + y) = \varphi(x + 1) + \varphi(1 + y) - \varphi(2) + \sum_{k \le r} L_k(x) R_k(y)

on the box that the data fill. The first terms are sums over single features; the last is one BLAS product.
L and R come from a singular value decomposition on Chebyshev nodes in log x and log y. The singular values
fall by about ten a term, so r of 5 to 14 serves every data set that we know.

The error is measured over the whole box, so it bounds the error of every pair, whatever the data. (Weighting
the decomposition by a histogram of the data saves a term at most, and then nothing bounds the rare pairs.)
Distributions are scaled to mean one, so values far above one are rare: where x + y is large, so may the error
be. With W = max(1, (x + y) / 3), whose mean over samples is at most 2 because that of x + y is at most 3, the
mean error of a pair is at most 2 max |e| / W.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from infused import _kernels
from infused._runtime.arrays import settled
from infused._typing import Floats, Ints
from infused.information.pair_sums import phi

__all__ = ["Box", "PhiFactors"]

NODES_PER_OCTAVE = 6
FEWEST_NODES = 32
MOST_NODES = 160
GRID = 256
SAFETY = 1.25  # for what may lie between the grid's points
LANES = 4  # functions are padded to whole vector registers


@dataclass(frozen=True)
class Box:
    """The ranges of x and y, both positive."""

    x: tuple[float, float]
    y: tuple[float, float]

    def whole_pieces(self) -> Box:
        """The box widened to whole pieces of the tables, so that no series is used outside its range."""
        return Box(*(_piece_edges(*side)[[0, -1]].tolist() for side in (self.x, self.y)))

    def nodes(self) -> int:
        """Chebyshev nodes that resolve phi(x + y) to rounding on this box."""
        octaves = math.log2(max(self.x[1], self.y[1]) / min(self.x[0], self.y[0]))
        return int(min(max(FEWEST_NODES, NODES_PER_OCTAVE * octaves), MOST_NODES))


class PhiFactors:
    """L and R of one box, tabulated, with the least rank whose error is below ``tolerance``.

    ``error`` bounds the mean error of any pair; it stays above the tolerance when no rank reaches it.
    ``scale`` bounds the mean of the sum of |L_k R_k|, on which rounding depends.
    """

    def __init__(self, box: Box, tolerance: float):
        box = box.whole_pieces()
        left, right = _decompose(box, box.nodes())
        grid_x, grid_y = (np.geomspace(side[0], np.nextafter(side[1], 0.0), GRID) for side in (box.x, box.y))
        exact = _remainder(grid_x, grid_y)
        most = left.rank
        L, R = left(grid_x), right(grid_y)
        self.rank, best = most, math.inf
        for rank in range(1, most + 1):
            error = _mean_error(grid_x, grid_y, L[:, :rank] @ R[:, :rank].T - exact)
            if error < best:  # past the floor of rounding, more terms make it worse
                self.rank, best = rank, error
            if error <= tolerance:
                break
        self._tabulate(box, left.first(self.rank), right.first(self.rank))
        # What the tables give, not what they were made from, is what counts.
        L, R = self.evaluate(grid_x)[0], self.evaluate(grid_y)[1]
        self.error = _mean_error(grid_x, grid_y, L @ R.T - exact)
        self.scale = 2 * float(_largest(L, grid_x) @ _largest(R, grid_y))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _table=settled(state["_table"]))

    def fill(
        self, P: Floats, T: Floats, codes: Ints, weights: tuple[float, float], left: Floats, right: Floats
    ) -> None:
        """left = weights[0] L(p + t) + weights[1] L(p), right = R(p), each features x (samples * rank).

        P is features x samples, T features (or 1) x groups.
        """
        sums = P + np.take(T, codes, axis=1) if weights[0] else P
        n_samples, n_functions = P.shape[1], self._table.shape[2]
        _kernels.pair_factors(
            P.view(np.int64),
            sums.view(np.int64),
            *weights,
            self._first,
            self._table,
            self.rank,
            np.empty((2, n_samples), np.int64),
            np.empty((2, n_samples)),
            np.empty((2, n_functions)),
            left,
            right,
        )

    def evaluate(self, x: Floats) -> tuple[Floats, Floats]:
        """L and R at a vector of points, points x rank. R is only meant inside the box's range of y."""
        left, right = np.empty((len(x), self.rank)), np.empty((len(x), self.rank))
        self.fill(x[:, None], np.zeros((1, 1)), np.zeros(1, np.int64), (0.0, 1.0), left, right)
        return left, right

    def _tabulate(self, box: Box, left: _Series, right: _Series) -> None:
        edges = _piece_edges(min(box.x[0], box.y[0]), np.nextafter(max(box.x[1], box.y[1]), 0.0))
        self._first = int(edges[:1].view(np.int64)[0]) >> _kernels.SHIFT
        centre, half_width = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
        n_powers = _kernels.DEGREE + 1
        u = np.cos(np.pi * (np.arange(n_powers) + 0.5) / n_powers)
        to_powers = np.linalg.inv(np.vander(u, increasing=True))
        half = -(-self.rank // LANES) * LANES
        self._table = np.zeros((len(centre), n_powers, 2 * half))
        for offset, series, side in ((0, left, box.x), (half, right, box.y)):
            inside = (centre > side[0]) & (centre < side[1])
            x = centre[inside, None] + u * half_width[inside, None]
            values = series(x.ravel()).reshape(*x.shape, self.rank)
            self._table[inside, :, offset : offset + self.rank] = np.einsum("dn,pnk->pdk", to_powers, values)


@dataclass(frozen=True)
class _Series:
    """Functions given by Chebyshev series in the logarithm of their argument."""

    middle: float
    half_width: float
    coefficients: Floats

    @property
    def rank(self) -> int:
        return int(self.coefficients.shape[1])

    def first(self, rank: int) -> _Series:
        """The leading functions."""
        return _Series(self.middle, self.half_width, self.coefficients[:, :rank])

    def __call__(self, x: Floats) -> Floats:
        z = (np.log(x) - self.middle) / self.half_width
        basis = chebyshev.chebvander(z, len(self.coefficients) - 1)
        return np.asarray(basis @ self.coefficients, dtype=np.float64)


def _remainder(x: Floats, y: Floats) -> Floats:
    """What is left of phi(x + y) after its single-feature terms."""
    return np.asarray(phi(x[:, None] + y) - phi(x + 1)[:, None] - phi(1 + y) + 2 * math.log(2.0))


def _weight(x: Floats) -> Floats:
    """1 / W is at most the product of these for x and y, times a constant."""
    return np.asarray(1 / np.sqrt(np.maximum(1.0, x)))


def _mean_error(x: Floats, y: Floats, error: Floats) -> float:
    """A bound on the mean of the error over samples, from its values on a grid."""
    size = np.abs(error)
    relative = size / np.maximum(1.0, (x[:, None] + y) / 3)
    return SAFETY * float(min(size.max(), 2 * relative.max()))


def _largest(functions: Floats, x: Floats) -> Floats:
    return np.asarray(np.abs(functions * _weight(x)[:, None]).max(axis=0))


def _decompose(box: Box, n: int) -> tuple[_Series, _Series]:
    z = np.cos(np.pi * (np.arange(n) + 0.5) / n)
    to_series = np.cos(np.arange(n)[:, None] * np.arccos(z)) * 2 / n
    to_series[0] /= 2
    logs = [(math.log(low * high) / 2, math.log(high / low) / 2) for low, high in (box.x, box.y)]
    x, y = (np.exp(middle + half * z) for middle, half in logs)
    weight_x, weight_y = _weight(x), _weight(y)
    left, size, right = np.linalg.svd(weight_x[:, None] * _remainder(x, y) * weight_y)
    left, right, root = left / weight_x[:, None], right / weight_y, np.sqrt(size)
    return (
        _Series(*logs[0], to_series @ (left * root)),
        _Series(*logs[1], to_series @ (right.T * root)),
    )


def _piece_edges(low: float, high: float) -> Floats:
    """Edges of the pieces that hold every number from low to high, in the order of their bits."""
    shift = _kernels.SHIFT
    first, last = (int(np.float64(v).view(np.int64)) >> shift for v in (low, high))
    return (np.arange(first, last + 2, dtype=np.int64) << shift).view(np.float64)
