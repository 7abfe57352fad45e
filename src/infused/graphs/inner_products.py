r"""Inner products of feature graphs with each other and with the graph of the target.

.. math::

    \langle K_i, K_j \rangle = |F_i' F_j|_F^2, \qquad \langle K_i, L \rangle

Graphs are centred and of Frobenius norm one, and none is ever formed. There are three routes: thin factors F,
exact sums over pairs of samples in the order of two features, and, where samples are many, counts of at most
256 values of each feature. Gaussian graphs have factors of ten to thirty columns, exact to about 1e-11, and a
graph on few values has no more columns than values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp

from infused import _kernels
from infused._runtime.processes import current_cluster, each
from infused._runtime.threads import require, spans
from infused._typing import Array, Data, Floats, Ints

FeatureGraphKind: TypeAlias = Literal["gaussian", "distance", "kernel", "laplacian"]

RESIDUAL = 1e-11  # share of the trace that a factor may leave out
DIRECTION = 1e-11  # directions shorter than this share of the longest are left out
NEGLIGIBLE = 1e-12  # deviations below this share of the largest value are rounding
FIRST_ROWS, FEW_ROWS = 32, 8


@dataclass(frozen=True)
class GraphColumns:
    """Columns with a graph each, and the variable that each belongs to.

    The graph of a variable is the sum of those of its columns. Where values are missing, the column has its
    mean there, and a second column says where they are; each graph is weighted by the share of its samples.
    """

    X: Data
    owners: Ints
    """The variable of each column; in ascending order."""
    source: Ints
    """The column of X that each is made of."""
    indicates: Array
    """Whether the column says where values are missing."""
    shares: Floats
    """The weight of each graph in its variable."""
    n_variables: int
    weights: Floats
    """What each sample counts."""

    @classmethod
    def of(cls, X: Data, variables: Ints, n_variables: int, weights: Floats) -> GraphColumns:
        """Make columns of an array, whose columns belong to these variables."""
        X = sp.csc_array(X) if sp.issparse(X) else X
        missing = _missing_shares(X, weights)
        some = np.flatnonzero(missing > 0)
        source = np.concatenate([np.arange(X.shape[1]), some])
        indicates = np.arange(len(source)) >= X.shape[1]
        shares = np.where(indicates, missing[source], 1.0 - missing[source])
        order = np.lexsort((source, variables[source]))
        return cls(
            X,
            variables[source][order],
            source[order],
            indicates[order],
            shares[order],
            n_variables,
            weights,
        )

    @classmethod
    def of_target(cls, Y: Floats, weights: Floats, classes: bool) -> GraphColumns:
        """Make the columns of one target; those of classes weigh so that a class has the entries 1 / size."""
        shares = 1.0 - weights @ Y / weights.sum() if classes else np.ones(Y.shape[1])
        one, each = np.zeros(Y.shape[1], np.int64), np.arange(Y.shape[1])
        return cls(Y, one, each, np.zeros(Y.shape[1], bool), shares, 1, weights)

    def __len__(self) -> int:
        return len(self.owners)

    @property
    def n_samples(self) -> int:
        """Return the number of samples."""
        return int(self.X.shape[0])

    def of_variables(self, variables: Ints) -> Ints:
        """Return the positions of the columns of some variables."""
        return np.flatnonzero(np.isin(self.owners, variables))

    def restricted(self, variables: Ints) -> GraphColumns:
        """Return the columns of some variables, numbered anew."""
        own = self.of_variables(variables)
        owners = np.searchsorted(variables, self.owners[own])
        parts = (self.source[own], self.indicates[own], self.shares[own])
        return GraphColumns(self.X, owners, *parts, len(variables), self.weights)

    def summed(self, positions: Ints, values: Floats) -> Floats:
        """Return the sums over the columns of each variable, weighted by their shares."""
        weights = self.shares[positions] * values
        return np.bincount(self.owners[positions], weights, self.n_variables).astype(np.float64)

    def standardised(self, columns: Ints) -> Floats:
        """Return columns as rows of mean zero and variance one; zero where nothing varies."""
        values = self.X[:, self.source[columns]]
        rows = np.array((values.toarray() if sp.issparse(values) else values).T, np.float64, order="C")
        missing = np.isnan(rows)
        indicates = self.indicates[columns]
        rows[indicates], missing[indicates] = missing[indicates], False
        largest = np.abs(np.where(missing, 0.0, rows)).max(axis=1, keepdims=True)
        rows /= np.where(largest > 0, largest, 1.0)  # so that no square overflows
        present = np.where(missing, 0.0, self.weights)
        rows[missing] = 0.0
        total = present.sum(axis=1)
        rows -= ((rows * present).sum(axis=1) / np.where(total > 0, total, 1.0))[:, None]
        rows[missing] = 0.0
        deviation = np.sqrt((rows * rows) @ self.weights / self.weights.sum())
        varies = deviation > NEGLIGIBLE
        return np.asarray(
            rows * np.divide(1.0, deviation, out=np.zeros_like(deviation), where=varies)[:, None]
        )


def _missing_shares(X: Data, weights: Floats) -> Floats:
    """Return the share of samples without a value, for each column."""
    if sp.issparse(X):
        holes = sp.csc_array((np.isnan(X.data).astype(np.float64), X.indices, X.indptr), shape=X.shape)
        shares: Floats = np.asarray(holes.T @ weights) / weights.sum()
        return shares
    with np.errstate(over="ignore", invalid="ignore"):
        doubtful = np.isnan(X.sum(axis=0))  # without a mask of the whole of X
    shares = np.zeros(X.shape[1])
    for j in np.flatnonzero(doubtful):
        shares[j] = weights @ np.isnan(X[:, j]) / weights.sum()
    return shares


def gaussian_factors(rows: Floats, weights: Floats) -> list[Floats]:
    """Return a thin factor of the graph exp(-(a - b)^2 / 2) of each row, by pivoted Cholesky steps.

    Each step takes the value that is represented worst, until nothing is left.
    """
    n, n_samples = rows.shape
    total, left, ranks = weights.sum(), np.ones((n, n_samples)), np.zeros(n, np.int64)
    factors, enough = np.zeros((n, FIRST_ROWS, n_samples)), float(RESIDUAL * total)
    while _kernels.gaussian_steps(rows, weights, enough, left, ranks, factors):
        factors = np.concatenate([factors, np.zeros_like(factors)], axis=1)
    lengths, norms, roots = np.zeros(factors.shape[:2]), np.empty(n), np.sqrt(weights)
    _kernels.centre_factors(ranks, weights, roots, factors, lengths, norms)
    norms[norms <= NEGLIGIBLE * total] = np.inf  # nothing varies
    factors = factors[:, : ranks.max(initial=0)]
    if factors.shape[1] <= FEW_ROWS:  # of so few, one or two less are worth turning them to their axes
        lengths, vectors = np.linalg.eigh(factors @ factors.transpose(0, 2, 1))
        factors = vectors.transpose(0, 2, 1) @ factors
    used = lengths[:, : factors.shape[1]] > DIRECTION * norms[:, None]
    return [own[those] / np.sqrt(norm) for own, those, norm in zip(factors, used, norms, strict=True)]


def node_factor(nodes: Floats, weights: Floats, graph: FeatureGraphKind) -> Floats:
    """Return a factor (columns x nodes) of the centred graph of a few values, of norm one.

    The weights of the nodes are not multiplied in: a sample has the entries of its node.
    """
    if not len(nodes) or np.ptp(nodes) == 0:
        return np.zeros((0, len(nodes)))
    share, root = weights / weights.sum(), np.sqrt(weights)
    K = adjacency(nodes, weights, graph)
    K = K - (K @ share)[:, None]
    K = K - share @ K
    values, vectors = np.linalg.eigh(root[:, None] * K * root)
    norm = float(np.linalg.norm(values))
    used = values > DIRECTION * norm
    return np.asarray((vectors[:, used] * np.sqrt(values[used] / norm)).T / root)


def adjacency(nodes: Floats, weights: Floats, graph: FeatureGraphKind) -> Floats:
    """Return the graph of a few values, each of which stands for samples of some weight."""
    A = np.abs(nodes[:, None] - nodes)
    if graph == "gaussian":
        return np.exp(-0.5 * A * A)
    if graph == "laplacian":
        return np.exp(-A)
    if graph == "distance":
        return -A
    lengths = np.sqrt((A * A) @ weights)
    return np.asarray((A * weights) @ A / np.outer(lengths, lengths))


MANY_SAMPLES = 4096  # beyond them a column has at most NODES values
NODES = 256
FEW_VALUES = 64  # a column of no more has a thin factor, whatever its graph
FEW_SAMPLES = 256  # up to these, sums over pairs of them cost less than factors
SPREAD = 2048  # variables of a task, where there is a cluster and there are more
AT_ONCE = 2**18  # numbers of a part that is computed at once, so that it stays in the cache
TYPICAL_RANK = 16
N_COMPARED = 3  # features whose inner products are compared with exact ones


def graph_products(
    columns: GraphColumns, target: GraphColumns, graph: FeatureGraphKind, budget: int
) -> ThinProducts | ColumnProducts:
    """Choose the route for these columns, with factors of at most ``budget`` bytes."""
    if columns.n_samples <= MANY_SAMPLES:
        return exact_products(columns, target, graph, budget)
    what = f"The values of {len(columns)} columns of {columns.n_samples} samples"
    size = len(columns) * (columns.n_samples + 8 * NODES * TYPICAL_RANK)
    require(size, budget, what, "take fewer features")
    mine, goal = CountedGraphs.of(columns, graph), CountedGraphs.of(target, graph)
    found = ColumnProducts(columns, target, mine, goal)
    found.error = measured_error(columns, target, graph, found, budget)
    return found


def exact_products(
    columns: GraphColumns, target: GraphColumns, graph: FeatureGraphKind, budget: int
) -> ThinProducts | ColumnProducts:
    """Choose between thin factors and sums over pairs."""
    if graph == "gaussian" or (_has_few_values(columns) and _has_few_values(target)):
        return ThinProducts(columns, target, graph, budget)
    what = f"The ordered samples of {len(columns)} columns"
    size = 8 * columns.n_samples * len(columns) * (3 + 2 * N_PARTS[graph])
    require(size, budget, what, "take fewer features, or graph='gaussian'")
    return ColumnProducts(columns, target, OrderedGraphs.of(columns, graph), OrderedGraphs.of(target, graph))


def _has_few_values(columns: GraphColumns) -> bool:
    parts = (columns.standardised(some) for some in _parts(columns, np.arange(len(columns))))
    return all(len(np.unique(row)) <= FEW_VALUES for rows in parts for row in rows)


def _parts(columns: GraphColumns, positions: Ints) -> list[Ints]:
    """Cut columns into parts whose factors are computed at once."""
    width = max(1, AT_ONCE // (TYPICAL_RANK * columns.n_samples))
    return [positions[some] for some in spans(len(positions), width)]


@dataclass(frozen=True)
class Factors:
    """Factors of some variables, one below the other, with the roots of the samples' weights in them."""

    rows: Floats
    owners: Ints
    """The place, among these variables, that each row belongs to."""
    n_variables: int

    @classmethod
    def of(cls, columns: GraphColumns, variables: Ints, graph: FeatureGraphKind) -> Factors:
        """Compute the factors of some variables; those of several columns are scaled to norm one together."""
        positions = columns.of_variables(variables)
        rows: list[Floats] = []
        for some in _parts(columns, positions):
            factors = column_factors(columns.standardised(some), columns.weights, graph)
            shares = columns.shares[some]
            rows += [f if s == 1 else np.sqrt(s) * f for s, f in zip(shares, factors, strict=True)]
        places = np.searchsorted(variables, columns.owners[positions])
        owners = np.repeat(places, [len(own) for own in rows])
        found = cls(np.concatenate([np.zeros((0, columns.n_samples)), *rows]), owners, len(variables))
        n_columns, total = np.bincount(places), np.bincount(places, columns.shares[positions])
        for place in np.flatnonzero((n_columns > 1) | (total != 1)):
            own = owners == place
            norm = np.sqrt(_squares(found.rows[own], found.rows[own]).sum())
            found.rows[own] /= np.sqrt(norm) if norm > 0 else 1.0
        return found

    def some(self, variables: Ints) -> Factors:
        """Take the factors of some variables."""
        own = np.isin(self.owners, variables)
        return Factors(self.rows[own], np.searchsorted(variables, self.owners[own]), len(variables))

    def products(self, rows: Floats) -> Floats:
        """Return the inner product of each variable with the graph of another factor."""
        squares = _squares(self.rows, rows)
        return np.bincount(self.owners, squares, self.n_variables).astype(np.float64)


def _squares(rows: Floats, others: Floats) -> Floats:
    """Return the sum of the squared products of each row with all others."""
    squares = np.zeros(len(rows))
    for some in spans(len(rows), max(1, AT_ONCE // max(1, len(others)))):
        products = rows[some] @ others.T
        squares[some] = np.einsum("ij,ij->i", products, products)
    return squares


def column_factors(rows: Floats, weights: Floats, graph: FeatureGraphKind) -> list[Floats]:
    """Return a thin factor of the graph of each row; graphs with a cusp take one column for each value."""
    if graph == "gaussian":
        return gaussian_factors(rows, weights)
    factors = []
    for row in rows:
        nodes, codes = np.unique(row, return_inverse=True)
        factor = node_factor(nodes, np.bincount(codes, weights).astype(np.float64), graph)
        factors.append(factor[:, codes] * np.sqrt(weights))
    return factors


def products_with(columns: GraphColumns, graph: FeatureGraphKind, rows: Floats, variables: Ints) -> Floats:
    """Return the inner products of some variables with the graph of a factor; their own are not kept."""
    if graph == "gaussian" and columns.n_samples <= FEW_SAMPLES:
        return _pair_products(columns, rows, variables)
    factors = (Factors.of(columns, some, graph) for some in _parts(columns, variables))
    return np.concatenate([np.zeros(0), *[own.products(rows) for own in factors]])


def _pair_products(columns: GraphColumns, rows: Floats, variables: Ints) -> Floats:
    """Sum over pairs of samples, where the graph of a variable is that of one column."""
    owners, weights = columns.owners, columns.weights
    whole = np.bincount(owners, minlength=columns.n_variables) == 1
    whole[owners[columns.shares != 1]] = False
    out, single = np.empty(len(variables)), whole[variables]
    if not single.all():
        out[~single] = Factors.of(columns, variables[~single], "gaussian").products(rows)
    found, positions = np.empty(single.sum()), np.searchsorted(owners, variables[single])
    roots, scratch = np.sqrt(weights), np.empty(len(weights))
    other = roots[:, None] * (rows.T @ rows) * roots
    for part in spans(len(positions), max(1, AT_ONCE // len(weights))):
        squares, shared = np.empty((2, part.stop - part.start))
        values = columns.standardised(positions[part])
        _kernels.gaussian_sums(values, weights, other, scratch, squares, shared)
        squares[squares <= (NEGLIGIBLE * weights.sum()) ** 2] = np.inf  # nothing varies
        found[part] = shared / np.sqrt(squares)
    out[single] = found
    return out


class ThinProducts:
    """Inner products |F_i'F_j|^2 of thin factors; those that do not fit are computed when they are needed.

    Of few samples, Gaussian graphs are multiplied with one other by sums over pairs, so that only the
    variables that may enter have factors. On a cluster, its workers multiply all variables with one other.
    """

    def __init__(self, columns: GraphColumns, target: GraphColumns, graph: FeatureGraphKind, budget: int):
        self._columns, self._graph, self._left = columns, graph, budget
        self.error = 0.0
        every = np.arange(columns.n_variables)
        goal = Factors.of(target, np.array([0]), graph).rows
        self._all: Factors | None = None
        self._last: tuple[int, Factors] | None = None
        self._spread = columns.n_variables > SPREAD and current_cluster() is not None
        few = graph == "gaussian" and columns.n_samples <= FEW_SAMPLES
        if not few and not self._spread and self._size(every) <= budget:
            self._all = self.factors(every)
        self.combines = few or self._spread or self._all is not None
        self.relevance = self._with_factor(goal, every)

    def block(self, variables: Ints) -> ThinBlock:
        """Prepare some variables; their factors are kept as long as there is room."""
        if self._all is not None:
            return ThinBlock(self, variables, self._all.some(variables))
        if self._size(variables) > self._left:
            return ThinBlock(self, variables, None)
        self._left -= self._size(variables)
        return ThinBlock(self, variables, self.factors(variables))

    def combined(self, coef: Floats, variables: Ints) -> Floats | None:
        """Return the inner products of some variables with sum_j coef_j K_j, where they cost little."""
        if not self.combines:
            return None
        own = self.factors(np.flatnonzero(coef))
        rows = np.sqrt(coef[coef > 0])[own.owners, None] * own.rows
        if len(rows) > rows.shape[1]:
            values, vectors = np.linalg.eigh(rows.T @ rows)
            rows = (vectors * np.sqrt(np.maximum(values, 0.0))).T
        return self._with_factor(rows, variables)

    def factors(self, variables: Ints) -> Factors:
        """Return the factors of some variables."""
        if self._all is not None:
            return self._all.some(variables)
        return Factors.of(self._columns, variables, self._graph)

    def factor(self, variable: int) -> Floats:
        """Return the factor of one variable; the last one is remembered, as every block asks for it."""
        if self._last is None or self._last[0] != variable:
            self._last = variable, self.factors(np.array([variable]))
        return self._last[1].rows

    def without_factors(self, rows: Floats, variables: Ints) -> Floats:
        """Return the inner products of some variables with the graph of a factor; their own are not kept."""
        return products_with(self._columns, self._graph, rows, variables)

    def _with_factor(self, rows: Floats, variables: Ints) -> Floats:
        if self._all is not None:
            return self._all.some(variables).products(rows)
        if not self._spread:
            return self.without_factors(rows, variables)
        parts = [variables[some] for some in spans(len(variables), SPREAD)]
        return np.concatenate([*each(products_with, parts, self._columns, self._graph, rows)])

    def _size(self, variables: Ints) -> int:
        n_columns = len(self._columns.of_variables(variables))
        return 8 * TYPICAL_RANK * self._columns.n_samples * n_columns


@dataclass(frozen=True)
class ThinBlock:
    """Some variables, with their factors where these are kept."""

    source: ThinProducts
    variables: Ints
    factors: Factors | None

    def products(self, variable: int) -> Floats:
        """Return the inner products of these variables with any other."""
        rows = self.source.factor(variable)
        return (
            self.source.without_factors(rows, self.variables)
            if self.factors is None
            else self.factors.products(rows)
        )


class ColumnProducts:
    """Inner products of variables from those of their columns, two at a time."""

    combines = False

    def __init__(self, columns: GraphColumns, target: GraphColumns, mine: ColumnGraphs, goal: ColumnGraphs):
        self._columns, self._mine = columns, mine
        self._norms = _norms(columns, mine)
        self.error = 0.0
        self.relevance = self._products(np.arange(len(columns)), target, goal, 0) / _norms(target, goal)[0]

    def block(self, variables: Ints) -> ColumnBlock:
        """Prepare some variables."""
        return ColumnBlock(self, variables, self._columns.of_variables(variables))

    def combined(self, coef: Floats, variables: Ints) -> Floats | None:
        """Return None: each inner product with one more graph costs as much as the first."""
        return None

    def products(self, positions: Ints, variable: int) -> Floats:
        """Return the inner products of all variables with one, as far as they are made of some columns."""
        found = self._products(positions, self._columns, self._mine, variable)
        return np.asarray(found / self._norms[variable])

    def _products(
        self, positions: Ints, columns: GraphColumns, others: ColumnGraphs, variable: int
    ) -> Floats:
        found = np.zeros(len(positions))
        for t in columns.of_variables(np.array([variable])):
            found += columns.shares[t] * self._mine.products(positions, others, int(t))
        return self._columns.summed(positions, found) / self._norms


@dataclass(frozen=True)
class ColumnBlock:
    """Some variables and their columns."""

    source: ColumnProducts
    variables: Ints
    positions: Ints

    def products(self, variable: int) -> Floats:
        """Return the inner products of these variables with any other."""
        return self.source.products(self.positions, variable)[self.variables]


def _norms(columns: GraphColumns, graphs: ColumnGraphs) -> Floats:
    """Return the norm of the sum of graphs of each variable; one where nothing varies."""
    norms = np.zeros(columns.n_variables)
    norms[columns.owners] = columns.shares
    for variable in np.flatnonzero(np.bincount(columns.owners, minlength=columns.n_variables) > 1):
        own = columns.of_variables(np.array([variable]))
        shares = columns.shares[own]
        square = sum(
            share * shares @ graphs.products(own, graphs, int(t))
            for share, t in zip(shares, own, strict=True)
        )
        norms[variable] = np.sqrt(max(square, 0.0))
    return np.where(norms > 0, norms, 1.0)


class ColumnGraphs(Protocol):
    """Graphs of columns, centred and of norm one; zero where nothing varies."""

    def products(self, positions: Ints, others: Any, t: int) -> Floats:
        """Return the inner products of some graphs with one of the others."""


@dataclass(frozen=True)
class OrderedGraphs:
    """Graphs by their parts, k(a, b) = u_a'v_b where the value of a is no smaller than that of b."""

    order: Ints
    """columns x samples: the samples by their values."""
    ranks: Ints
    """columns x samples: the place of each sample in that order."""
    u: Floats
    """columns x samples x parts."""
    v: Floats
    sums: Floats
    """columns x samples: the sums of the rows of each graph."""
    sizes: Floats
    """The norm of each centred graph; infinite where nothing varies."""
    weights: Floats

    @classmethod
    def of(cls, columns: GraphColumns, graph: FeatureGraphKind) -> OrderedGraphs:
        """Order the samples by each column."""
        weights, shape = columns.weights, (len(columns), columns.n_samples)
        order, ranks, sums = np.empty(shape, np.int64), np.empty(shape, np.int64), np.empty(shape)
        u, v = np.empty((*shape, N_PARTS[graph])), np.empty((*shape, N_PARTS[graph]))
        constant = np.zeros(len(columns), bool)
        for i in range(len(columns)):
            row = columns.standardised(np.array([i]))[0]
            own = order[i] = np.argsort(row, kind="stable")
            ranks[i, own] = np.arange(len(own))
            left, right = _parts_of_graph(row[own], weights[own], graph)
            w = weights[own, None]
            below = np.cumsum(w * right, axis=0)
            above = np.cumsum((w * left)[::-1], axis=0)[::-1] - w * left
            u[i, own], v[i, own] = left, right
            sums[i, own] = (left * below + right * above).sum(axis=1)
            constant[i] = row[own[0]] == row[own[-1]]
        raw = cls(order, ranks, u, v, sums, np.ones(len(columns)), weights)
        squares = np.array([raw.products(np.array([i]), raw, i)[0] for i in range(len(columns))])
        return replace(raw, sizes=np.where(constant, np.inf, np.sqrt(np.maximum(squares, 0.0))))

    def products(self, positions: Ints, others: OrderedGraphs, t: int) -> Floats:
        """Return the inner products of some graphs with one of the others."""
        w, q = self.weights, self.u.shape[2]
        out, trees, found = np.empty(len(positions)), np.empty((2 * (len(w) + 1), q * q)), np.empty(q * q)
        other = (others.ranks[t], others.u[t], others.v[t])
        _kernels.pair_order_sums(positions, self.order, self.u, self.v, *other, w, trees, found, out)
        rows, row, total = self.sums[positions], others.sums[t], w.sum()
        out += (rows @ w) * (row @ w) / total**2 - 2.0 * (rows @ (w * row)) / total
        return np.asarray(out / self.sizes[positions] / others.sizes[t])


#: How many products k(a, b) is the sum of.
N_PARTS = {"distance": 2, "laplacian": 1, "kernel": 4}


def _parts_of_graph(z: Floats, weights: Floats, graph: FeatureGraphKind) -> tuple[Floats, Floats]:
    """Return u and v of sorted values of mean zero and variance one."""
    one = np.ones_like(z)
    if graph == "laplacian":
        return np.exp(-z)[:, None], np.exp(z)[:, None]
    if graph == "distance":
        return np.column_stack([-z, one]), np.column_stack([one, z])
    # sum_c |a - c||b - c| is sum_c (a - c)(b - c), and twice (a - c)(c - b) for each c between b and a.
    total = weights.sum()
    p0, p1, p2 = np.cumsum(weights), np.cumsum(weights * z), np.cumsum(weights * z * z)
    u = np.column_stack([2 * (z * p1 - p2), 2 * (p1 - z * p0), z, one])
    v = np.column_stack([one, z, 2 * (z * p0 - p1) + total * z, 2 * (p2 - z * p1) + total])
    length = np.sqrt(total * (z * z + 1.0))[:, None]
    return u / length, v / length


@dataclass(frozen=True)
class CountedGraphs:
    """Graphs on at most NODES values of each column, of which it is counted how often two meet."""

    codes: Array
    """columns x samples: the value of each sample."""
    factors: list[Floats]
    """Of each column, parts x values."""
    weights: Floats

    @classmethod
    def of(cls, columns: GraphColumns, graph: FeatureGraphKind) -> CountedGraphs:
        """Count the values of each column, in bins where there are many."""
        codes, factors = np.empty((len(columns), columns.n_samples), np.uint8), []
        for i in range(len(columns)):
            nodes, codes[i] = binned(columns.standardised(np.array([i]))[0], columns.weights)
            counts = np.bincount(codes[i], columns.weights, minlength=len(nodes))
            factors.append(node_factor(nodes, counts.astype(np.float64), graph))
        return cls(codes, factors, columns.weights)

    def products(self, positions: Ints, others: CountedGraphs, t: int) -> Floats:
        """Return the inner products of some graphs with one of the others."""
        factor, codes = others.factors[t], others.codes[t].astype(np.int64)
        out, width = np.zeros(len(positions)), factor.shape[1]
        for place, i in enumerate(positions):
            own = self.factors[i]
            shape = own.shape[1], width
            pairs = width * self.codes[i].astype(np.int64) + codes
            counts = np.bincount(pairs, self.weights, minlength=shape[0] * shape[1]).reshape(shape)
            products = own @ (counts @ factor.T)
            out[place] = float((products * products).sum())
        return out


def binned(row: Floats, weights: Floats) -> tuple[Floats, Ints]:
    """Return at most NODES values and which of them each sample has.

    More values are cut into bins, at even steps of the mean of their ranks and of their inverse hyperbolic
    sine, so that tails have bins of their own; the value of a bin is the mean of those in it.
    """
    nodes, codes = np.unique(row, return_inverse=True)
    if len(nodes) <= NODES:
        return nodes, codes
    sizes = np.bincount(codes, weights)
    ranks = (np.cumsum(sizes) - 0.5 * sizes) / sizes.sum()
    spread = np.arcsinh(nodes)
    measure = 0.5 * ranks + 0.5 * (spread - spread[0]) / (spread[-1] - spread[0])
    bins = np.unique(np.minimum((NODES * measure).astype(np.int64), NODES - 1), return_inverse=True)[1]
    masses = np.bincount(bins, sizes)
    return np.bincount(bins, sizes * nodes) / masses, bins[codes]


def measured_error(
    columns: GraphColumns, target: GraphColumns, graph: FeatureGraphKind, found: ColumnProducts, budget: int
) -> float:
    """Measure how far inner products are from those without bins, on a few variables."""
    some = np.unique(np.linspace(0, columns.n_variables - 1, N_COMPARED).astype(np.int64))
    few = columns.restricted(some)
    exact = exact_products(few, target, graph, budget)
    errors = [np.abs(exact.relevance - found.relevance[some]).max()]
    block, counted = exact.block(np.arange(len(some))), found.block(some)
    errors += [np.abs(block.products(n) - counted.products(int(j))).max() for n, j in enumerate(some)]
    return float(max(errors))


#: Graphs of all variables and of the target, centred and of norm one; and some variables, ready for products.
GraphProducts: TypeAlias = ThinProducts | ColumnProducts
GraphBlock: TypeAlias = ThinBlock | ColumnBlock
