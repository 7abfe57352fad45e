"""The structural information matrix."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import process_time
from typing import Any, TypeVar

import numpy as np
from joblib import hash as content_hash

from infused._columns import StoredColumns
from infused._runtime.messages import check_choice
from infused._runtime.processes import Cluster, current_cluster, is_collection
from infused._runtime.progress import ProgressCallback, Stage
from infused._runtime.threads import Workers, memory_budget, require, spans, workers
from infused._typing import Floats, Ints
from infused.exceptions import InputError, PrecisionError
from infused.graphs.distributions import (
    DenseDistributions,
    FeatureDistributions,
    TargetDistributions,
    feature_graphs,
    target_graphs,
)
from infused.graphs.validation import Graph, Target, check_data, check_distributions, sparse_if_mostly_zero
from infused.information.operator import InformationOperator, linearised
from infused.information.pair_sums import CRITERIA, TILE, CriterionName, PairSumProblem, block_of, strips
from infused.information.routes import ROUTES, RouteName, choose_route, dense_problem

HELD_BACK = 32  # columns on which an operator is measured
OPERATOR_TOLERANCES = (1e-4, 1e-6, 1e-8)  # of the factors, which matter less than linearising
GRAPHS_SHARE = 0.2  # of the progress, for the graphs


class StructuralInformation:
    r"""The structural information of all pairs of features, as much of it as is asked for.

    .. math::

        U_{ij} = \frac{I_S(G_i, G_j, T_i) + I_S(G_i, G_j, T_j)}{I_S(G_i, G_j)}, \qquad
        I_S = \exp(-D_{JS})

    U is symmetric, features x features, with entries near 2. Nothing is computed before it is asked for, and
    nothing of size N x N is stored but what :meth:`full` returns.

    Parameters
    ----------
    P : array-like of shape (n_samples, n_features)
        Distributions of the feature graphs; columns sum to one. To start from data, use :meth:`from_data`.
    T : array-like of shape (n_samples, n_features)
        Distributions of the target graphs; columns sum to one.
    tol : float, default=1e-10
        Largest error of an entry of U.
    criterion : {"three-way", "two-way"}, default="three-way"
        "three-way" is the measure above (InFusedLasso); "two-way" is that of InElasticNet,
        :math:`(I_S(G_i, T_i) + I_S(G_j, T_j)) / I_S(G_i, G_j)`.
    route : {"auto", "separable", "grouped", "direct"}, default="auto"
        How sums over pairs are computed: matrix products of factors, the same for sparse distributions, or
        one logarithm at a time. "auto" takes the cheapest by a cost model.
    n_jobs : int or None, default=-1
        Threads, as in joblib; -1 for every core. The result does not depend on it.
    progress : callable or None, default=None
        Called as ``progress(fraction, message)``; return False to cancel.

    Attributes
    ----------
    shape : tuple of int
        (n_features, n_features).
    route : str
        The route taken.
    rank : int or None
        Terms of the factorisation, where the route has one.

    See Also
    --------
    structural_information : All of U in one call.
    feature_distributions : What P is made of.
    target_distributions : What T is made of.

    References
    ----------
    L. Bai, L. Cui, Y. Wang, P. S. Yu, E. R. Hancock, "Fused Lasso for Feature Selection using Structural
    Information".

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import StructuralInformation
    >>> X, y = load_wine(return_X_y=True)
    >>> info = StructuralInformation.from_data(X, y)
    >>> info.columns([0, 6]).shape
    (13, 2)
    >>> info.full().shape, [block.shape for rows, columns, block in info.tiles()]
    ((13, 13), [(13, 13)])
    >>> info.error_estimate() < 1e-10
    True
    """

    _start = 0.0  # the fraction of the progress that is done before the first computation

    def __init__(
        self,
        P: Any,
        T: Any,
        *,
        tol: float = 1e-10,
        criterion: CriterionName = "three-way",
        route: RouteName = "auto",
        n_jobs: int | None = -1,
        progress: ProgressCallback | None = None,
    ):
        P, T = check_distributions(P, "P"), check_distributions(T, "T")
        if P.shape != T.shape:
            raise InputError(f"P and T must have one shape, got {P.shape[::-1]} and {T.shape[::-1]}.")
        options = Options(tol, criterion, route, n_jobs, memory_budget(), progress)
        with workers(n_jobs) as work:
            self._prepare(DenseDistributions(P), TargetDistributions.from_dense(T), options, work)

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        *,
        graph: Graph = "kernel",
        target: Target = "auto",
        tol: float = 1e-10,
        criterion: CriterionName = "three-way",
        route: RouteName = "auto",
        n_jobs: int | None = -1,
        progress: ProgressCallback | None = None,
    ) -> StructuralInformation:
        """Start from data: graphs, their distributions, and what U needs of them.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Dask array of shape (n_samples, n_features)
            Finite numbers. Sparse data stays sparse, and dense data that is mostly zero is treated so. Arrays
            of Dask are for :func:`infused.cluster`.
        y : array-like of shape (n_samples,)
            Class labels of any kind, or real values.
        graph : {"kernel", "euclidean"}, default="kernel"
            Compare samples by the paper's kernel (Eq. 1) or by their distance.
        target : {"auto", "classes", "real"}, default="auto"
            How to read y; "auto" takes fractional numbers as real values and everything else as classes.
        tol : float, default=1e-10
            Largest error of an entry of U.
        criterion : {"three-way", "two-way"}, default="three-way"
            "three-way" is the measure of InFusedLasso; "two-way" is that of InElasticNet.
        route : {"auto", "separable", "grouped", "direct"}, default="auto"
            How sums over pairs are computed: matrix products of factors, the same for sparse distributions,
            or one logarithm at a time. "auto" takes the cheapest by a cost model.
        n_jobs : int or None, default=-1
            Threads, as in joblib; -1 for every core. The result does not depend on it.
        progress : callable or None, default=None
            Called as ``progress(fraction, message)``; return False to cancel.

        Returns
        -------
        StructuralInformation
            Ready to compute what is asked for.

        See Also
        --------
        structural_information : All of U in one call.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from infused import StructuralInformation
        >>> StructuralInformation.from_data(*load_wine(return_X_y=True))
        StructuralInformation(13 features, 178 samples, route='direct')
        """
        options = Options(tol, criterion, route, n_jobs, memory_budget(), progress)
        X = within_reach(X)
        cluster = cluster_for(X)
        if cluster is not None:
            there: StructuralInformation = cluster.information(X, y, graph, target, options)
            return there
        source = X, y
        X = sparse_if_mostly_zero(check_data(X))
        n_samples, n_features = X.shape
        mass = float(n_samples)
        middle = GRAPHS_SHARE / 2
        with workers(n_jobs) as work:

            def graphs() -> tuple[FeatureDistributions, TargetDistributions]:
                stage = Stage(progress, "building target graphs", n_features, 0.0, middle)
                T = target_graphs(X, y, graph, target, work, stage, mass=mass)
                stage = Stage(progress, "building feature graphs", n_features, middle, GRAPHS_SHARE)
                return feature_graphs(X, graph, work, stage, mass=mass), T

            P, T = shared(("graphs", graph, target), source, graphs)
            self = cls.__new__(cls)
            self._prepare(P, T, options, work)
        self._start = GRAPHS_SHARE
        return self

    def __repr__(self) -> str:
        rank = "" if self.rank is None else f", rank={self.rank}"
        size = f"{self._n_features} features, {self._n_samples} samples"
        return f"StructuralInformation({size}, route={self.route!r}{rank})"

    @property
    def shape(self) -> tuple[int, int]:
        """Return (n_features, n_features)."""
        return self._n_features, self._n_features

    @property
    def route(self) -> str:
        """Return the name of the route."""
        return self._plan.route

    @property
    def rank(self) -> int | None:
        """Return the number of terms of the factorisation, where the route has one."""
        return self._plan.rank

    def error_estimate(self) -> float:
        """Bound the error of every entry of U, from the factorisation and from rounding.

        Returns
        -------
        float
            At most ``tol``, unless ``tol`` is below what rounding allows.

        See Also
        --------
        full : All of U.
        """
        return CRITERIA[self._options.criterion].largest * self._plan.error

    def full(self, out: Floats | None = None) -> Floats:
        """Compute all of U.

        Parameters
        ----------
        out : ndarray of shape (n_features, n_features) or None, default=None
            Where to write it, for example a ``numpy.memmap``; then the memory budget does not apply.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            Symmetric to the last bit.

        See Also
        --------
        columns : Some columns only.
        tiles : All of it, a tile at a time.
        """
        out = self._place(out)
        with closing(self._computed(ordered=False)) as tiles:
            for (rows, columns), block in tiles:
                self._write(out, rows, columns, block)
        return out

    def tiles(self) -> Iterator[tuple[slice, slice, Floats]]:
        """Walk over all of U, a tile at a time.

        Yields
        ------
        rows : slice
            The features of the tile's rows.
        columns : slice
            The features of its columns.
        block : ndarray
            The tile, ``U[rows, columns]``.

        See Also
        --------
        full : All of U at once.
        columns : Some columns only.
        """
        with closing(self._computed(ordered=True)) as tiles:
            for (rows, columns), block in tiles:
                yield rows, columns, block
                if rows is not columns:
                    yield columns, rows, block.T

    def columns(self, indices: Any) -> Floats:
        """Compute some columns of U, without the rest of it.

        Parameters
        ----------
        indices : array-like of int, or of bool and shape (n_features,)
            Which features: their positions, negative ones from the end, or a mask.

        Returns
        -------
        ndarray of shape (n_features, n_chosen)
            The columns ``U[:, indices]``, in the order asked for.

        See Also
        --------
        full : All of U.
        tiles : All of it, a tile at a time.
        """
        chosen = self._check_indices(indices)
        n_bytes = 8 * self._n_features * len(chosen)
        what = f"{len(chosen)} columns of U"
        require(n_bytes, self._options.budget, what, "ask for fewer columns at a time")
        distinct, place = np.unique(chosen, return_inverse=True)
        if len(distinct) < len(chosen):  # what is asked for twice is computed once
            return self.columns(distinct)[:, place]
        out = np.empty((self._n_features, len(chosen)))
        self._fill_columns(out, chosen, self._stage("computing columns", out.size))
        return out

    def operator(self, *, bound: float = 1e-3) -> InformationOperator:
        r"""Multiply with U without forming it, :math:`U \approx AB' + BA' + diag(d)`.

        For many more features than samples. A and B have N rows, as long as there are samples times the terms
        of a factorisation, so a product costs a multiple of N M, and memory as much.

        Parameters
        ----------
        bound : float, default=1e-3
            Largest error, relative to the largest eigenvalue of U less its mean. It is measured on columns
            that are computed exactly and held back; terms are added until it is below.

        Returns
        -------
        InformationOperator
            A ``scipy.sparse.linalg.LinearOperator`` with its measured ``error``.

        See Also
        --------
        columns : Some columns of U, exactly.
        full : All of U, exactly.
        """
        n, rng = self._n_features, np.random.default_rng(0)
        held_back = np.sort(rng.choice(n, min(n, HELD_BACK), replace=False))
        exact = self.columns(held_back)
        best = np.inf
        for tolerance in OPERATOR_TOLERANCES:
            with workers(self._options.n_jobs) as work:
                problem = dense_problem(self._problem, self._options.budget)
                operator = linearised(problem, self._criterion.part(), tolerance, work)
            wrong = operator.times(held_back, np.eye(len(held_back))) - exact
            size = np.sqrt(n / len(held_back)) * float(np.linalg.norm(wrong))
            operator.error = float(size / max(operator.ends[1], np.finfo(float).tiny))
            if operator.error <= bound:
                return operator
            best = min(best, operator.error)
        raise PrecisionError(
            f"Products with U have an error of {best:.1e} on these distributions, where {bound:.1e} is "
            "allowed; use full() or columns(), or a larger bound."
        )

    def _place(self, out: Floats | None) -> Floats:
        """Return the array that U goes to: what was given, or new memory if the budget allows it."""
        n = self._n_features
        if out is None:
            require(
                8 * n * n,
                self._options.budget,
                f"U of {n} x {n} features",
                "take what you need with columns(), walk through tiles(), or pass out=numpy.memmap(...)",
            )
            return np.empty((n, n))
        if out.shape != (n, n):
            raise InputError(f"out must have shape {(n, n)}, got {out.shape}.")
        return out

    def _computed(self, ordered: bool) -> Generator[tuple[tuple[slice, slice], Floats]]:
        """Yield each tile on and above the diagonal with its place; here they are in order either way."""
        stage = self._stage_of_all()
        for rows, columns in self._upper_tiles():
            # Not around the loop: in between BLAS is the caller's.
            with workers(self._options.n_jobs) as work:
                block = block_of(self._sums, self._criterion, rows, columns, work, stage)
            yield (rows, columns), block

    def _fill_columns(self, out: Floats, chosen: Ints, stage: Stage) -> None:
        with workers(self._options.n_jobs) as work:
            for part in spans(len(chosen), TILE):
                for rows in spans(len(out), TILE):
                    out[rows, part] = block_of(self._sums, self._criterion, rows, chosen[part], work, stage)

    def _upper_tiles(self) -> list[tuple[slice, slice]]:
        tiles = spans(self._n_features, TILE)
        return [(rows, columns) for n, rows in enumerate(tiles) for columns in tiles[n:]]

    def _stage_of_all(self) -> Stage:
        pairs = self._upper_tiles()
        entries = sum((rows.stop - rows.start) * (columns.stop - columns.start) for rows, columns in pairs)
        return self._stage("computing U", entries)

    def _stage(self, message: str, entries: int) -> Stage:
        """Start a stage; the first after from_data goes on where the graphs left off."""
        start = self._start
        self._start = 0.0
        return Stage(self._options.progress, message, entries * self._n_samples, start)

    def _write(self, out: Floats, rows: slice, columns: slice, block: Floats) -> None:
        def write(strip: slice) -> None:
            features = slice(rows.start + strip.start, rows.start + strip.stop)
            out[features, columns] = block[strip]
            if rows is not columns:
                out[columns, features] = block[strip].T

        with workers(self._options.n_jobs) as work:
            work.run(write, strips(len(block)))

    def _check_indices(self, indices: Any) -> Ints:
        chosen = np.atleast_1d(np.asarray(indices))
        if chosen.dtype == bool and chosen.shape == (self._n_features,):
            return np.flatnonzero(chosen)
        if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
            raise InputError("indices must be a sequence of feature positions (integers) or a mask.")
        n = self._n_features
        outside = chosen[(chosen < -n) | (chosen >= n)]
        if len(outside):
            raise InputError(f"indices must lie between {-n} and {n - 1}, got {outside[0]}.")
        return np.where(chosen < 0, chosen + n, chosen).astype(np.int64)

    def _prepare(
        self, P: FeatureDistributions, T: TargetDistributions, options: Options, work: Workers
    ) -> None:
        kind = CRITERIA[options.criterion]
        self._n_features, self._n_samples = P.shape
        self._options = options
        self._criterion = kind(P, T, work)
        problem = self._problem = PairSumProblem(P, T, *kind.weights)
        tolerance = options.tol / kind.largest
        self._plan, self._sums = choose_route(problem, options.route, tolerance, options.budget, work)


@dataclass(frozen=True)
class Options:
    """What a user chooses, checked."""

    tol: float
    criterion: CriterionName
    route: RouteName
    n_jobs: int | None
    budget: int
    progress: ProgressCallback | None

    def __post_init__(self) -> None:
        check_choice("criterion", self.criterion, CRITERIA)
        check_choice("route", self.route, ROUTES)
        if not self.tol > 0:
            raise InputError(f"tol must be positive, got {self.tol!r}.")


def within_reach(X: Any) -> Any:
    """Return what is on disk as an array of Dask on a cluster, and else in memory."""
    if not isinstance(X, StoredColumns):
        return X
    return np.asarray(X) if current_cluster() is None else X.to_dask()


def cluster_for(X: Any) -> Cluster | None:
    """Return the cluster that computes U of these data: where there is one, and more than one tile."""
    cluster = current_cluster()
    if is_collection(X) and cluster is None:
        raise InputError("X is an array of Dask: call this inside infused.cluster(client)")
    many = is_collection(X) or getattr(X, "shape", (0,))[-1] > TILE
    return cluster if many else None


def structural_information(
    X: Any,
    y: Any,
    *,
    graph: Graph = "kernel",
    target: Target = "auto",
    tol: float = 1e-10,
    criterion: CriterionName = "three-way",
    route: RouteName = "auto",
    n_jobs: int | None = -1,
    progress: ProgressCallback | None = None,
    out: Floats | None = None,
) -> Floats:
    r"""Compute the structural information of all pairs of features of a data set.

    .. math::

        U_{ij} = \frac{I_S(G_i, G_j, T_i) + I_S(G_i, G_j, T_j)}{I_S(G_i, G_j)}

    with :math:`G_i` the graph of feature i, :math:`T_i` its target graph, and
    :math:`I_S = \exp(-D_{JS})` the similarity of their distributions. An entry is large when two features
    are jointly relevant to the target and not redundant.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Dask array of shape (n_samples, n_features)
        Finite numbers. Sparse data stays sparse, and dense data that is mostly zero is treated so. Arrays of
        Dask are for :func:`infused.cluster`.
    y : array-like of shape (n_samples,)
        Class labels of any kind, or real values.
    graph : {"kernel", "euclidean"}, default="kernel"
        Compare samples by the paper's kernel (Eq. 1) or by their distance.
    target : {"auto", "classes", "real"}, default="auto"
        How to read y; "auto" takes fractional numbers as real values and everything else as classes.
    tol : float, default=1e-10
        Largest error of an entry of U.
    criterion : {"three-way", "two-way"}, default="three-way"
        "three-way" is the measure above (InFusedLasso); "two-way" is that of InElasticNet,
        :math:`(I_S(G_i, T_i) + I_S(G_j, T_j)) / I_S(G_i, G_j)`.
    route : {"auto", "separable", "grouped", "direct"}, default="auto"
        How sums over pairs are computed: matrix products of factors, the same for sparse distributions, or
        one logarithm at a time. "auto" takes the cheapest by a cost model.
    n_jobs : int or None, default=-1
        Threads, as in joblib; -1 for every core. The result does not depend on it.
    progress : callable or None, default=None
        Called as ``progress(fraction, message)``; return False to cancel.
    out : ndarray of shape (n_features, n_features) or None, default=None
        Where to write U, for example a ``numpy.memmap``; then the memory budget does not apply.

    Returns
    -------
    ndarray of shape (n_features, n_features)
        U, symmetric to the last bit, each entry within ``tol`` of the definition.

    See Also
    --------
    StructuralInformation : Columns or tiles of U, where all of it is too much.
    feature_distributions : The distributions of the features' graphs.
    target_distributions : The distributions of their target graphs.
    similarity : The similarity of any distributions.

    References
    ----------
    L. Bai, L. Cui, Y. Wang, P. S. Yu, E. R. Hancock, "Fused Lasso for Feature Selection using Structural
    Information".

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from infused import structural_information
    >>> X, y = load_digits(return_X_y=True)
    >>> structural_information(X, y).shape
    (64, 64)
    """

    def compute() -> Floats:
        options: dict[str, Any] = {"tol": tol, "criterion": criterion, "route": route, "n_jobs": n_jobs}
        information = StructuralInformation.from_data(
            X, y, graph=graph, target=target, progress=progress, **options
        )
        return information.full(out)

    X = within_reach(X)
    if out is not None or is_collection(X):
        return compute()
    return shared(("U", graph, target, tol, criterion, route), (X, y), compute)


Value = TypeVar("Value")

LARGEST = 2**30  # bytes of what is kept: a U of 11,585 features


class Shared:
    """What was computed from the last X and y."""

    def __init__(self) -> None:
        self._source = ""
        self._kept: dict[Hashable, tuple[Any, float]] = {}
        self.seconds = 0.0
        """CPU seconds that would have been spent without sharing, less those that sharing took."""

    def get(self, what: Hashable, source: tuple[Any, ...], compute: Callable[[], Value]) -> Value:
        """Return what was computed from this source before, or compute it now."""
        start = process_time()
        name = content_hash(tuple(map(_content, source)))
        if name != self._source:
            self._source, self._kept = name, {}
        self.seconds -= process_time() - start
        if what not in self._kept:
            start, before = process_time(), self.seconds
            value = compute()
            if getattr(value, "nbytes", 0) <= LARGEST:
                self._kept[what] = value, process_time() - start + self.seconds - before
            return value
        kept, seconds = self._kept[what]
        self.seconds += seconds
        found: Value = kept
        return found


_current: ContextVar[Shared | None] = ContextVar("infused.sharing", default=None)


@contextmanager
def sharing(kept: Shared | None = None) -> Iterator[Shared]:
    """Keep what is computed inside for the next who needs it; with what is kept already, if given."""
    kept = Shared() if kept is None else kept
    token = _current.set(kept)
    try:
        yield kept
    finally:
        _current.reset(token)


def shared(what: Hashable, source: tuple[Any, ...], compute: Callable[[], Value]) -> Value:
    """Compute, or take what was computed from the same source before, where that is kept."""
    kept = _current.get()
    return compute() if kept is None else kept.get(what, source, compute)


def saved_seconds() -> float:
    """Return the CPU seconds that this process has saved by sharing."""
    kept = _current.get()
    return 0.0 if kept is None else kept.seconds


def _content(part: Any) -> Any:
    """Return what a sparse matrix holds, without the flags that SciPy sets when it is looked at."""
    if not hasattr(part, "indptr"):
        return part
    return part.format, part.shape, part.data, part.indices, part.indptr
