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
from infused._runtime.checks import settled
from infused._runtime.progress import Stage
from infused._runtime.threads import Workers, spans
from infused._typing import Floats, Ints
from infused.graphs.distributions import SparseDistributions
from infused.information.pair_sums import (
    EPS,
    LONGEST_STRIP,
    FeatureIndex,
    PairSumProblem,
    PairSums,
    mean_phi,
    phi,
    strips,
    transposed,
)

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
        """Widen the box to whole pieces of the tables, so that no series is used outside its range."""
        return Box(*(_piece_edges(*side)[[0, -1]].tolist() for side in (self.x, self.y)))

    def nodes(self) -> int:
        """Count the Chebyshev nodes that resolve phi(x + y) to rounding on this box."""
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
        """Fill left = weights[0] L(p + t) + weights[1] L(p), right = R(p), features x (samples * rank).

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
        """Evaluate L and R at some points, points x rank. R is meant inside the box's range of y only."""
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
        """Keep the leading functions."""
        return _Series(self.middle, self.half_width, self.coefficients[:, :rank])

    def __call__(self, x: Floats) -> Floats:
        z = (np.log(x) - self.middle) / self.half_width
        basis = chebyshev.chebvander(z, len(self.coefficients) - 1)
        return np.asarray(basis @ self.coefficients, dtype=np.float64)


def _remainder(x: Floats, y: Floats) -> Floats:
    """Compute what is left of phi(x + y) after its single-feature terms."""
    return np.asarray(phi(x[:, None] + y) - phi(x + 1)[:, None] - phi(1 + y) + 2 * math.log(2.0))


def _weight(x: Floats) -> Floats:
    """Weigh x and y: 1 / W is at most the product of both weights, times a constant."""
    return np.asarray(1 / np.sqrt(np.maximum(1.0, x)))


def _mean_error(x: Floats, y: Floats, error: Floats) -> float:
    """Bound the mean of the error over samples, from its values on a grid."""
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
    """Return the edges of the pieces that hold every number from low to high, in the order of their bits."""
    shift = _kernels.SHIFT
    first, last = (int(np.float64(v).view(np.int64)) >> shift for v in (low, high))
    return (np.arange(first, last + 2, dtype=np.int64) << shift).view(np.float64)


BUFFER_BYTES = 2**25
FILL_ROWS = 32


def box_of(problem: PairSumProblem) -> Box:
    """Return the ranges of the arguments of phi: x is p or p + t, y is p."""
    low, high = problem.features.bounds()
    above = float(problem.target.values.max()) if problem.joint_weight else 0.0
    return Box((low, high + above), (low, high))


def rounding(n_terms: int, scale: float) -> float:
    """Bound the rounding error of a mean of products of ``n_terms`` terms whose sizes add up to ``scale``."""
    return 16 * EPS * (1 + scale * float(np.sqrt(n_terms)))


@dataclass(frozen=True)
class SingleTerms:
    """The parts of Q that depend on one feature only: Q_ij = row_i + column_j + product."""

    row: Floats
    column: Floats

    @classmethod
    def computed(cls, problem: PairSumProblem, work: Workers) -> SingleTerms:
        """Compute w3 <phi(p + t + 1)> + w2 <phi(p + 1)>, and (w3 + w2) (<phi(1 + p)> - phi(2))."""
        joint, pair = problem.weights
        shifted = mean_phi(problem.features, None, 1.0, work)
        row = pair * shifted
        if joint:
            row += joint * mean_phi(problem.features, problem.target, 1.0, work)
        return cls(row, (joint + pair) * (shifted - 2 * np.log(2.0)))

    def block(self, rows: FeatureIndex, columns: FeatureIndex) -> Floats:
        """Return row_i + column_j."""
        return self.row[rows][:, None] + self.column[columns]

    def backward_block(self, rows: FeatureIndex, columns: FeatureIndex) -> Floats:
        """Return row_j + column_i."""
        return self.column[rows][:, None] + self.row[columns]


class SeparableSums(PairSums):
    """Q_IJ = single terms + L_I R_J', the product taken in chunks of samples.

    Factors are made anew for every tile: that costs 30 ns an entry, against N r / 40 ns for the product.
    """

    def __init__(self, problem: PairSumProblem, factors: PhiFactors, work: Workers):
        self._problem = problem
        self._factors = factors
        self._single = SingleTerms.computed(problem, work)
        self._P = problem.features.dense()

    def pair(
        self, rows: slice, columns: FeatureIndex, work: Workers, stage: Stage
    ) -> tuple[Floats, Floats | None]:
        """Compute both blocks as :class:`~infused.information.pair_sums.PairSums` says."""
        diagonal, symmetric = rows is columns, self._problem.symmetric
        forward = self._single.block(rows, columns)
        backward = None if symmetric or diagonal else self._single.backward_block(rows, columns)
        n, m = forward.shape
        n_samples = self._P.shape[1]
        width = max(1, BUFFER_BYTES // (16 * self._factors.rank * (m + LONGEST_STRIP)))
        for chunk in spans(n_samples, width):
            far = self._fill(columns, chunk, work)

            def multiply(strip: slice, chunk: slice = chunk, far: _Pair = far) -> None:
                start = strip.start if diagonal and symmetric else 0
                near = far.rows(strip) if diagonal else self._fill(_within(rows, strip), chunk)
                forward[strip, start:] += near.left @ far.right[start:].T
                if backward is not None:
                    backward[strip] += near.right @ far.left.T

            work.run(multiply, strips(n))
            stage.advance(n * m * (chunk.stop - chunk.start))
        if diagonal and not symmetric:
            backward = transposed(forward, work)
        return forward, backward

    def _fill(self, features: FeatureIndex, chunk: slice, work: Workers | None = None) -> _Pair:
        """Compute both factors of some features and samples, by many threads or by this one."""
        P, target = self._P[features, chunk], self._problem.target
        T, codes = target.rows(features), target.codes[chunk]
        shape = (len(P), P.shape[1] * self._factors.rank)
        out = _Pair(np.empty(shape), np.empty(shape))

        def fill(rows: slice) -> None:
            t = T if target.shared else T[rows]
            p, part = np.ascontiguousarray(P[rows]), out.rows(rows)
            self._factors.fill(p, t, codes, self._problem.weights_of_means, part.left, part.right)

        if work is None:
            fill(slice(None))
        else:
            work.run(fill, spans(len(P), FILL_ROWS))
        return out


@dataclass(frozen=True)
class _Pair:
    """Factors of some features and samples, each features x (samples * rank)."""

    left: Floats
    right: Floats

    def rows(self, rows: slice) -> _Pair:
        return _Pair(self.left[rows], self.right[rows])


def _within(rows: slice, strip: slice) -> slice:
    """Return the strip of some rows, counted from the first row of all."""
    return slice(rows.start + strip.start, rows.start + strip.stop)


class GroupedSums(PairSums):
    """Q for sparse distributions: cost N^2 r (1 + groups) and r for each sample that two features store."""

    def __init__(self, problem: PairSumProblem, factors: PhiFactors, work: Workers):
        if not isinstance(problem.features, SparseDistributions):
            raise TypeError("the grouped route needs sparse distributions")
        self._problem = problem
        self._features = problem.features
        self._single = SingleTerms.computed(problem, work)
        self._factorise(factors)
        self._list_by_sample()

    @staticmethod
    def bytes_needed(problem: PairSumProblem, rank: int) -> int:
        """Return the bytes of the factors: of every feature and group, and of every stored entry."""
        assert isinstance(problem.features, SparseDistributions)
        n_features, n_groups = len(problem.features.base), int(problem.target.values.shape[1])
        return 16 * rank * (n_features * (1 + 2 * n_groups) + 2 * len(problem.features.values))

    def _sums(
        self, rows: FeatureIndex, columns: FeatureIndex, work: Workers, stage: Stage, share: float
    ) -> Floats:
        n_features, n_samples = self._features.shape
        row_features, column_features = (
            np.arange(n_features, dtype=np.int64)[chosen] for chosen in (rows, columns)
        )
        position = np.full(n_features, -1, dtype=np.int64)
        position[column_features] = np.arange(len(column_features))
        right = self._dense_right[column_features]
        out = np.empty((len(row_features), len(column_features)))
        by_feature = self._features.indptr, self._features.samples, self._left
        by_sample = self._sample_indptr, self._sample_features, self._right
        add_common_samples = _kernels.add_common_samples

        def compute(strip: slice) -> int:
            features, block = row_features[strip], out[strip]
            np.matmul(self._dense_left[features], right.T, out=block)
            add_common_samples(features, *by_feature, *by_sample, position, block)
            block += self._single.block(features, column_features)
            return block.size * n_samples

        for done in work.map(compute, strips(len(row_features))):
            stage.advance(share * done)
        return out

    def _factorise(self, factors: PhiFactors) -> None:
        """Compute the factors at the base values, what the stored entries add, and their sums over groups."""
        n_features, rank = len(self._features.base), factors.rank
        target, owners = self._problem.target, self._features.owners
        n_groups, weights = target.values.shape[1], self._problem.weights_of_means
        groups = target.codes[self._features.samples]
        T = np.broadcast_to(target.values, (n_features, n_groups))

        base = np.repeat(self._features.base[:, None], n_groups, axis=1)
        a, b = np.empty((n_features, n_groups * rank)), np.empty((n_features, n_groups * rank))
        factors.fill(base, np.ascontiguousarray(T), np.arange(n_groups, dtype=np.int64), weights, a, b)
        a, b = a.reshape(n_features, n_groups, rank), b[:, :rank]

        self._left, self._right = np.empty((len(owners), rank)), np.empty((len(owners), rank))
        t = T[owners, groups][:, None]
        entry = np.zeros(1, np.int64)
        factors.fill(self._features.values[:, None], t, entry, weights, self._left, self._right)
        self._left -= a[owners, groups]
        self._right -= b[owners]

        sizes = np.bincount(target.codes, minlength=n_groups).astype(np.float64)
        total = np.einsum("g,igk->ik", sizes, a) + _sums_by(owners, self._left, n_features)
        by_group = _sums_by(owners * n_groups + groups, self._right, n_features * n_groups)
        self._dense_left = np.hstack([total, a.reshape(n_features, -1)])
        self._dense_right = np.hstack([b, by_group.reshape(n_features, -1)])

    def _list_by_sample(self) -> None:
        """List the stored entries sample by sample."""
        order = np.argsort(self._features.samples, kind="stable")
        self._sample_features = self._features.owners[order]
        self._right = self._right[order]
        self._sample_indptr = np.zeros(self._features.n_samples + 1, np.int64)
        counts = np.bincount(self._features.samples, minlength=self._features.n_samples)
        np.cumsum(counts, out=self._sample_indptr[1:])


def _sums_by(key: Ints, rows: Floats, n_keys: int) -> Floats:
    """Sum the rows that share a key, n_keys x columns."""
    return np.stack([np.bincount(key, column, minlength=n_keys) for column in rows.T], axis=1)
