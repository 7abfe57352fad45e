r"""Features on a cluster: what is left out is left out where the data are; the rest is fitted here.

The recursive ranking fits a model, drops the features that it needs least, and fits again. Features without
a coefficient can go without changing the lasso's solution, and so its residual: as long as those that go have
none, all rounds have one solution,

.. math::

    \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_j |B_j| + \rho |B|^2

It is found by a working set. The solver has the columns of some features here; the workers look at all
others, a chunk at a time, for those that break the optimality condition
:math:`|x_j'(Y - XB)| \le \lambda_1`, and send the columns of the worst. When there are none, the solution
holds on all features, and the ranking that the rounds would give is that by coefficients, then by
:math:`|x_j'(Y - XB)|`. Fusion and the information of pairs enter with the features that are left.
"""

from __future__ import annotations

import warnings
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from operator import getitem
from typing import Any

import numpy as np
from sklearn.base import clone

from infused._cluster.tasks import DaskCluster
from infused._runtime.checks import settled
from infused._runtime.progress import Stage
from infused._runtime.threads import format_bytes, memory_budget, one_blas_thread, spans
from infused._typing import Floats, Ints
from infused.exceptions import InputError, MemoryBudgetError, ScreeningWarning, Setting
from infused.graphs.validation import check_data
from infused.penalties.quadratic import Ridge
from infused.selectors.base import how_many, ranks, with_targets
from infused.selectors.inputs.groups import Groups
from infused.selectors.inputs.training import dense_design, resolve_coding, target_matrix
from infused.selectors.linear.model import SparseModel
from infused.selectors.linear.ranking import round_sizes

ENTRIES_PER_STRIP = 2**21  # of a chunk that are standardised at a time
FIRST = 500  # features of the first working set, at least
FEWEST = 16  # columns that a chunk may send in a round
MOST_ROUNDS = 40
SLACK = 1e-3  # by how much a feature must break its condition, as a share of lambda1


def fit_on_cluster(cluster: DaskCluster, selector: Any, X: Any, y: Any, **given: Any) -> None:
    """Fit a linear selector to an array of Dask."""
    _check(selector, X, given)
    n_samples, n_features = (int(size) for size in X.shape)
    _, y = with_targets(clone(selector), np.zeros((n_samples, 1)), y)
    k = how_many(selector.n_features_to_select, Groups.parse(None, n_features, None))
    size = _how_many_fit(n_samples, n_features, memory_budget(), k)
    data = Chunks(cluster, X)
    found = screen(data, selector, y) if size < n_features else Screened(np.arange(1, n_features + 1))
    left = np.sort(np.argsort(found.ranking)[:size])
    if size < n_features:
        _tell(n_features, size, found)
    local = clone(selector).set_params(n_features_to_select=k).fit(data.columns(left), y)
    _store(selector, local, left, found, n_features)


class Chunks:
    """An array of Dask, a chunk of features at a time."""

    def __init__(self, cluster: DaskCluster, X: Any):
        self._cluster = cluster
        X = X.rechunk({0: -1})
        self.shape = tuple(int(size) for size in X.shape)
        self._blocks = [cluster.passing(partial(getitem, X.blocks, (0, j))) for j in range(X.numblocks[1])]
        edges = np.concatenate([[0], np.cumsum(X.chunks[1])]).astype(int).tolist()
        self.spans = [slice(start, stop) for start, stop in pairwise(edges)]

    def scores(self, R: Floats, how: Wanted, held: Ints, message: str) -> tuple[Floats, float, Ints, Floats]:
        """Return |x'R| of all features, their squared lengths summed, and the columns that were sent."""
        residual = self._cluster.put(R)
        found: dict[int, ChunkScores] = {}
        stage = Stage(None, message, self.shape[1])
        tasks = (
            (block, residual, how, held[(held >= span.start) & (held < span.stop)] - span.start)
            for block, span in zip(self._blocks, self.spans, strict=True)
        )
        with closing(self._cluster.finished(score_chunk, tasks)) as results:
            for n, part in results:
                found[n] = part
                stage.advance(len(part.pull))
        every = [found[n] for n in range(len(self.spans))]  # in the order of the features, not of the workers
        places = [part.places + span.start for part, span in zip(every, self.spans, strict=True)]
        return (
            np.concatenate([part.pull for part in every]),
            sum(part.squares for part in every),
            np.concatenate(places),
            np.concatenate([part.columns for part in every], axis=1),
        )

    def columns(self, features: Ints) -> Floats:
        """Bring some columns of X here, as they are."""
        out = np.empty((self.shape[0], len(features)))
        stage = Stage(None, "fetching features", len(features))
        parts = [
            (n, *np.searchsorted(features, [span.start, span.stop])) for n, span in enumerate(self.spans)
        ]
        wanted = [(n, a, b) for n, a, b in parts if a < b]
        tasks = ((self._blocks[n], features[a:b] - self.spans[n].start) for n, a, b in wanted)
        with closing(self._cluster.finished(take, tasks)) as results:
            for place, values in results:
                _, a, b = wanted[place]
                out[:, a:b] = values
                stage.advance(b - a)
        return out


@dataclass(frozen=True)
class Wanted:
    """The columns that workers send."""

    standardize: bool
    above: float
    """|x'R| of features that are worth sending."""
    most: int
    """Columns that a chunk may send."""


@dataclass(frozen=True)
class ChunkScores:
    """What a worker computed of a chunk."""

    pull: Floats
    """|x'R| of each feature; -1 where it is constant."""
    squares: float
    places: Ints
    columns: Floats
    """samples x places, standardised."""


def score_chunk(block: Any, R: Floats, how: Wanted, held: Ints) -> ChunkScores:
    """Compute |x'R| of each feature of a chunk, on a worker; ``held`` are not sent."""
    block, R = settled(block), settled(R)
    n_samples, n_features = block.shape
    pull, squares = np.empty(n_features), 0.0
    places, columns = np.empty(0, np.int64), np.empty((n_samples, 0))
    new = np.ones(n_features, dtype=bool)
    new[held] = False
    for span in spans(n_features, max(1, ENTRIES_PER_STRIP // n_samples)):
        X = check_data(block[:, span])
        F = dense_design(X, how.standardize, 16 * X.shape[0] * X.shape[1])
        lengths = np.linalg.norm(F.T @ R, axis=1)
        squares += float(np.einsum("ij,ij->", F, F))
        pull[span] = np.where(F.any(axis=0), lengths, -1.0)
        worth = np.flatnonzero(new[span] & (pull[span] > how.above))
        places = np.concatenate([places, worth + span.start])
        columns = np.concatenate([columns, F[:, worth]], axis=1)
        best = np.sort(np.argsort(-pull[places], kind="stable")[: how.most])
        places, columns = places[best], columns[:, best]
    return ChunkScores(pull, squares, places, np.asfortranarray(columns))


def take(block: Any, places: Ints) -> Floats:
    """Take some columns of a chunk, on a worker."""
    return np.asfortranarray(check_data(block[:, places]), dtype=np.float64)


@dataclass(frozen=True)
class Screened:
    """What the lasso's solution on all features says of them."""

    ranking: Ints
    n_needed: int = 0
    n_rounds: int = 0
    converged: bool = True


def screen(data: Chunks, selector: Any, y: Any) -> Screened:
    """Solve on a working set, let the workers look for what breaks the solution, until nothing does."""
    Y = target_matrix(y, resolve_coding(y, selector.target), selector.standardize)
    n_chunks, n_features = len(data.spans), data.shape[1]
    none = np.empty(0, np.int64)
    first = Wanted(selector.standardize, 0.0, max(FEWEST, -(-2 * FIRST // n_chunks)))
    pull, squares, held, columns = data.scores(Y, first, none, "looking at all features")
    relative = selector.lambda_scale == "relative"
    lambda1 = selector.lambda1 * (float(pull.max()) if relative else 1.0)
    ridge = Ridge(getattr(selector, "lambda3", 0.0) * (squares / n_features if relative else 1.0))
    for n_round in range(1, MOST_ROUNDS + 1):
        with one_blas_thread():
            model = SparseModel(
                X=columns,
                Y=Y,
                lambda1=lambda1,
                quadratic=ridge,
                max_iter=selector.max_iter,
                tol=selector.tol,
            )
            fit = model.fit()
            R = Y - columns @ fit.result.coef
        most = max(FEWEST, -(-2 * len(held) // n_chunks))
        worse = Wanted(selector.standardize, (1 + SLACK) * lambda1, most)
        pull, _, new, more = data.scores(R, worse, held, f"screening features, round {n_round}")
        if not len(new):
            break
        if n_round < MOST_ROUNDS:
            held, columns = np.concatenate([held, new]), np.concatenate([columns, more], axis=1)
    scores = np.zeros(n_features)
    scores[held] = fit.scores
    return Screened(ranks(scores, pull), int((fit.scores > 0).sum()), n_round, not len(new))


def _check(selector: Any, X: Any, given: dict[str, Any]) -> None:
    """Refuse what needs all features at once."""
    if X.ndim != 2 or any(np.isnan(size) for size in X.shape):
        raise InputError("X must have two dimensions of known sizes: call compute_chunk_sizes() on it first")
    if not isinstance(selector.n_features_to_select, int | float | np.number):
        raise InputError(
            Setting("n_features_to_select", selector.n_features_to_select),
            ": features on a cluster are selected by their number",
        )
    usual = {
        "formulation": ("stable",),
        "loss": ("auto", "squared"),
        "fusion": ("auto", "chain", "none"),
        "ranking": ("recursive", "forward"),
    }
    for name, possible in usual.items():
        value = getattr(selector, name, possible[0])
        if not (isinstance(value, str) and value in possible):
            raise InputError(Setting(name), f" must be {' or '.join(map(repr, possible))} on a cluster")
    if hasattr(selector, "n_groups"):
        raise InputError(f"{type(selector).__name__} makes groups of all features: give it X as an array")
    own = {
        "groups": selector.groups,
        "keep": selector.keep,
        "penalty_factors": selector.penalty_factors,
        "positive": selector.positive or None,
        **given,
    }
    for name, value in own.items():
        if value is not None and not (isinstance(value, tuple | list) and len(value) == 0):
            raise InputError(Setting(name), " has no meaning yet for features on a cluster: leave it out")


def _how_many_fit(n_samples: int, n_features: int, budget: int, k: int | None) -> int:
    """Count the features that the fit here may have: as many as the rounds would leave when they fit."""

    def bytes_of(n: int) -> int:
        return 3 * 8 * n * n + 2 * 8 * n_samples * n

    size = next((n for n in round_sizes(n_features, 1) if bytes_of(n) <= budget), 0)
    if k is not None and size < k:
        raise MemoryBudgetError(
            f"{k} features need {format_bytes(bytes_of(k))} here, more than the memory budget of "
            f"{format_bytes(budget)}: ask for fewer, or raise memory_budget (or INFUSED_MEMORY)."
        )
    return size


def _tell(n_features: int, size: int, found: Screened) -> None:
    said = [
        f"Of {n_features:,} features on the cluster {n_features - size:,} were screened out there by the "
        f"lasso, which needs {found.n_needed:,} of them; the model was fitted here to the other {size:,}."
    ]
    if not found.converged:
        said.append(
            f"After {found.n_rounds} rounds some features on the cluster still break the lasso's optimality "
            "conditions: raise lambda1, or take fewer features."
        )
    for words in said:
        warnings.warn(words, ScreeningWarning, stacklevel=3)


def _store(selector: Any, local: Any, left: Ints, found: Screened, n_features: int) -> None:
    """Store the results of the fit here as results on all features."""
    for name, value in vars(local).items():
        if name.endswith("_") and not name.startswith("_"):
            setattr(selector, name, value)
    # What was left out comes behind, in the order in which it was.
    others = np.setdiff1d(np.argsort(found.ranking), left, assume_unique=True)
    ranking = np.empty(n_features, dtype=np.int64)
    ranking[left], ranking[others] = local.ranking_, len(left) + 1 + np.arange(len(others))
    scores, support = np.zeros(n_features), np.zeros(n_features, dtype=bool)
    scores[left], support[left] = 1.0 + local.scores_, local.support_
    coef = np.zeros((len(local.coef_), n_features))
    coef[:, left] = local.coef_
    selector.ranking_, selector.scores_, selector.support_, selector.coef_ = ranking, scores, support, coef
    selector.n_features_in_ = n_features
    selector.n_features_screened_ = n_features - len(left) + getattr(local, "n_features_screened_", 0)
