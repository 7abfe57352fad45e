"""Forward selection by least squares, or by the score tests of another loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from infused._columns import ColumnDesign, HeldColumns
from infused._design import Design, column_squares, dense
from infused._runtime.compat import Interval, StrOptions, fit_context
from infused._runtime.progress import Stage
from infused._runtime.threads import blas_threads, memory_budget, spans
from infused._typing import Floats, Ints
from infused.datafits import Datafit
from infused.exceptions import InputError, Setting
from infused.penalties import Ridge, RowGroups
from infused.selectors.base import NUMBER_OF_FEATURES, BaseSelector, documented, number_or_half, ranks
from infused.selectors.inputs.checks import check_inputs
from infused.selectors.inputs.groups import GROUPS, KEEP, Groups
from infused.selectors.inputs.training import (
    LARGEST_WEIGHT,
    LOSS,
    TrainingData,
    basis,
    coding_for,
    left_over,
    mean_square,
    resolve_loss,
    with_loss,
)
from infused.solvers import Loss, null_solution
from infused.solvers.result import SolverResult

COLLINEAR = 1e-10  # a feature of which less than this share is new adds nothing
SAME = 1e-12  # gains that differ by less than this share of the largest are ties


@dataclass
class ForwardSearch:
    """The state of a forward selection: c_j = f_j'PY and d_j = ridge + f_j'Pf_j for all features.

    With ``blocks``, the number of each feature's block, a step adds all features of a block: the one with the
    largest gain, less what so many features more than one would gain by chance. Else a category of many
    levels would come before any number, whatever it says.
    """

    F: Design
    Y: Floats
    ridge: float
    k: int | None
    """How many features, or blocks; None for all."""
    blocks: Ints | None = None
    n_samples: float | None = None
    """How many samples the rows stand for, by their weights; None for one each."""
    c: Floats = field(init=False)
    d: Floats = field(init=False)
    relevance: Floats = field(init=False)
    free: Any = field(init=False)

    def __post_init__(self) -> None:
        self._rows: Any = self.F.T
        self._single: SinglePrecision | None = None
        if self.blocks is None and SinglePrecision.worth_it(self.F):
            self._single = SinglePrecision(self.F, self.Y)
        elif isinstance(self.F, np.ndarray):
            self._rows = np.ascontiguousarray(self.F.T)  # one feature's values lie together
        self.c = self._rows @ self.Y
        self.square = column_squares(self.F)
        self.d = self.ridge + self.square
        sizes = self._arrange(lambda own: self._rows[own] @ self._rows[own].T)
        most = int(np.sort(sizes)[::-1][: self._steps].sum())
        self._W = np.empty((most, len(self.Y)))  # P f_s of the features that were added
        self._sizes = np.empty(most)
        self._added = 0
        self._n_samples = len(self.Y) if self.n_samples is None else self.n_samples
        self._left, self._spent = float((self.Y * self.Y).sum()), 1.0  # the mean is a degree of freedom

    def _arrange(self, products: Callable[[Ints], Floats]) -> Ints:
        """Put features into blocks, with the products of each, and return how large these are."""
        self.relevance = np.linalg.norm(self.c, axis=1)
        self._stacks: list[_Stack] = []
        if self.blocks is None:
            sizes, constant = np.ones(len(self.d), np.int64), self.square == 0
        else:
            n_blocks = int(self.blocks.max(initial=-1)) + 1
            self._members = [np.flatnonzero(self.blocks == b) for b in range(n_blocks)]
            self.relevance = np.sqrt(np.bincount(self.blocks, weights=self.relevance**2))
            self._stacks = _stacked(self._members, products, self.square)
            sizes = np.array([len(own) for own in self._members], np.int64)
            constant = np.array([not self.square[own].any() for own in self._members], bool)
        # A constant comes after all others, those that say nothing of Y among them.
        self.relevance[constant] = -1.0
        self.free = np.ones(len(sizes), dtype=bool)
        self._steps = len(sizes) if self.k is None else self.k
        return sizes

    def gains(self) -> Floats:
        """Compute by how much each feature or block would lower the objective; zero for nothing new."""
        alone = self._alone(slice(None))
        if self.blocks is None:
            alone[~self.free] = 0.0
            return alone
        gains = np.zeros(len(self.free))
        gains[self.blocks] = alone  # right where a block is one feature; the others follow
        for stack in self._stacks:
            gains[stack.blocks] = stack.gains(self.c, self.ridge)
        gains[~self.free] = 0.0
        return gains

    def _alone(self, features: Ints | slice) -> Floats:
        """Compute the gains of single features."""
        c, d = self.c[features], self.d[features]
        new = d - self.ridge > COLLINEAR * self.square[features]
        squares = np.einsum("ij,ij->i", c, c)
        return np.asarray(np.divide(squares, d, out=np.zeros_like(squares), where=new))

    def run(self) -> tuple[Ints, Floats]:
        """Select k features or blocks; their order and the gain of each."""
        order, gains = np.empty(self._steps, dtype=np.int64), np.empty(self._steps)
        stage = Stage(None, "selecting features", self._steps)
        for step in range(self._steps):
            gain = self._certain(self.gains())
            best = self._best(self._less_chance(gain))
            order[step], gains[step] = best, gain[best]
            self._add(best, float(gain[best]))
            stage.advance()
        return order, gains

    def _certain(self, gain: Floats) -> Floats:
        """Compute the gains of single features that decide in double precision."""
        if self._single is None:
            return gain
        first = np.array([int(np.argmax(gain))])
        least = float(self._renewed(first)[0])  # the largest is no smaller
        doubtful = self._single.in_doubt(self.c, self.d, self.ridge, self.square, least)
        doubtful = doubtful[self.free[doubtful]]
        if len(doubtful) > MOST_IN_DOUBT:  # from here on all of them
            self._renewed(np.arange(len(self.d)))
            self._single = None
            return self.gains()
        gain[doubtful] = self._renewed(doubtful)
        return gain

    def _renewed(self, features: Ints) -> Floats:
        """Compute the gains of some features that are free, with their c and d in double precision."""
        if self._single is not None:
            W, sizes = self._W[: self._added], self._sizes[: self._added]
            self.c[features], fallen = self._single.exact(features, W, sizes)
            self.d[features] = np.maximum(self.ridge + self.square[features] - fallen, self.ridge)
        return self._alone(features)

    def _less_chance(self, gain: Floats) -> Floats:
        """Take off gains what further features of a block explain of noise: equal shares of the rest."""
        if not self._stacks:
            return gain
        worth, share = gain.copy(), self._noise()
        for stack in self._stacks:
            worth[stack.blocks] -= share * np.maximum(stack.freedom - 1, 0.0)
        worth[gain == 0] = worth.min() - 1  # nothing new comes after what is no better than chance
        return worth

    def _noise(self) -> float:
        """Return what a column of noise would gain."""
        return self._left / max(self._n_samples - self._spent, 1.0)

    def _best(self, gain: Floats) -> int:
        """Find the largest gain; among ties the more relevant feature, then the first."""
        largest = gain[self.free].max()
        tied = np.flatnonzero(self.free & (gain >= largest - SAME * abs(largest)))
        return int(tied[np.argmax(self.relevance[tied])])

    def _add(self, chosen: int, gain: float) -> None:
        self.free[chosen] = False
        if gain > 0:
            members = np.array([chosen]) if self.blocks is None else self._members[chosen]
            self._add_features(members)
            self._left -= gain

    def _add_features(self, members: Ints) -> None:
        for s in members:
            if len(members) == 1 or self.d[s] - self.ridge > COLLINEAR * self.square[s]:
                self._add_feature(int(s))

    def _add_feature(self, s: int) -> None:
        self._spent += 1 - self.ridge / self.d[s]
        f = self._rows[s]
        w = self._project(f)
        size = self.ridge + float(f @ w)
        if self._single is None:
            pull = self._rows @ w  # f_j'Pf_s for all j
        else:
            pull = self._single.products(w)
            self._single.added(w, self.c[s], size)
        self.c -= np.outer(pull, self.c[s] / size)
        self.d -= pull * pull / size
        np.maximum(self.d, self.ridge, out=self.d)
        for stack in self._stacks:
            stack.update(pull, size)
        self._W[self._added], self._sizes[self._added] = w, size
        self._added += 1

    def _project(self, f: Floats) -> Floats:
        """Compute P f. Without a ridge P is a projection; applied twice it takes off what rounding left."""
        W, sizes = self._W[: self._added], self._sizes[: self._added]
        for _ in range(1 if self.ridge > 0 else 2):
            f = f - (W @ f / sizes) @ W
        return f


@dataclass
class _Stack:
    """All blocks of one size, with G = F_b'PF_b of each."""

    blocks: Ints
    features: Ints
    """blocks x size."""
    G: Floats
    """blocks x size x size."""
    square: Floats
    """The largest squared length in each block, before anything was added."""
    freedom: Floats
    """How many features' worth of noise each block would fit; known with the gains."""

    def update(self, pull: Floats, size: float) -> None:
        """Update the products after a feature was added."""
        own = pull[self.features]
        self.G -= own[:, :, None] * own[:, None, :] / size

    def gains(self, c: Floats, ridge: float) -> Floats:
        """Compute tr C_b'(ridge + G_b)^-1 C_b, over the directions that are new."""
        values, vectors = np.linalg.eigh(self.G)
        new = values > COLLINEAR * self.square[:, None]
        along = np.einsum("bij,bit->bjt", vectors, c[self.features])
        squares = np.einsum("bjt,bjt->bj", along, along)
        self.freedom = np.divide(values, values + ridge, out=np.zeros_like(values), where=new).sum(axis=1)
        gains = np.divide(squares, values + ridge, out=np.zeros_like(squares), where=new)
        return np.asarray(gains.sum(axis=1))


def _stacked(members: list[Ints], products: Callable[[Ints], Floats], square: Floats) -> list[_Stack]:
    """Stack the blocks of more than one feature by size."""
    sizes = np.array([len(own) for own in members])
    stacks = []
    for size in np.unique(sizes[sizes > 1]):
        blocks = np.flatnonzero(sizes == size)
        features = np.array([members[b] for b in blocks])
        G = np.array([products(own) for own in features])
        stacks.append(
            _Stack(blocks, features, G, square[features].max(axis=1), np.full(len(blocks), float(size)))
        )
    return stacks


class LossSearch(ForwardSearch):
    """Forward selection by the score tests of a loss.

    c is the negative gradient of the loss at its minimum over the features that were added, and d - ridge its
    curvature along each feature, less what these features and the intercepts share of it: c^2/d is twice what
    the touching parabola falls by. What was added is fitted anew after each step.
    """

    def __init__(
        self, datafit: Datafit, F: Design, share: float, k: int | None, blocks: Ints | None, kept: Floats
    ):
        self.F, self.k, self.blocks, self.ridge = F, k, blocks, 0.0
        self._single = None
        self._f, self._picked = Loss(datafit, F, kept=kept), np.empty(0, np.int64)
        self._fit: SolverResult | None = None
        self._stacks = []
        self._renew()
        self.square = self.d
        self.ridge = ridge_weight(share * float(self.square.sum()) / max(int((self.square > 0).sum()), 1))
        self._f.quadratic = Ridge(self.ridge / 2)
        self.d = self.square + self.ridge
        self._left, self._values = 0.0, [self._value]
        self._arrange(self._products)

    def run(self) -> tuple[Ints, Floats]:
        """Select k features or blocks; their order, and by how much each lowers the doubled objective."""
        order, _ = super().run()
        return order, -np.diff(self._values)

    def _add(self, chosen: int, gain: float) -> None:
        super()._add(chosen, gain)
        self._values.append(min(self._value, self._values[-1]))

    def _add_features(self, members: Ints) -> None:
        self._picked = np.concatenate([self._picked, members[self.square[members] > 0]])
        self._renew()

    def _noise(self) -> float:
        """Return what a column of noise would gain: one, where the loss is the likelihood of y."""
        return float((self._slope**2).sum() / self._curvature.bound.weights.sum())

    def _renew(self) -> None:
        """Fit the features that were added, and look what the others would add to them."""
        f, factors = self._f, np.ones(self.F.shape[1])
        factors[self._picked] = 0.0
        self._fit = null_solution(f, RowGroups(1.0, factors), start=self._fit)
        self._value, self.c = 2 * float(self._fit.objective[0]), -self._fit.gradient
        eta, own = f.predictions(*f.at(self._fit)), np.column_stack([f.Z, dense(self.F[:, self._picked])])
        self._slope, self._curvature = f.datafit.gradient(eta), f.datafit.curvature(eta)
        self._own = self._curvature.factors(own)
        corner = np.diag(np.repeat([0.0, self.ridge], [f.Z.shape[1], len(self._picked)]))
        shared = sum((sign * (A.T @ A) for sign, A in self._own), corner)
        self._inverse = np.linalg.pinv(shared, hermitian=True)
        alone = [self._along(some) for some in spans(self.F.shape[1], COLUMNS_AT_ONCE)]
        self.d = self.ridge + np.concatenate(alone)
        for stack in self._stacks:
            stack.G = np.array([self._products(own) for own in stack.features])

    def _along(self, features: slice) -> Floats:
        """Return the curvature along each of some features, less what is shared."""
        found = self._curvature.factors(self.F[:, features])
        cross = self._cross(found)
        square = sum(sign * column_squares(A) for sign, A in found)
        left = square - np.einsum("ij,ij->i", cross @ self._inverse, cross)
        return np.asarray(np.where(left > COLLINEAR * square, left, 0.0))

    def _products(self, own: Ints) -> Floats:
        """Return the curvature of some features together, less what is shared."""
        found = self._curvature.factors(self.F[:, own])
        cross = self._cross(found)
        whole = sum(sign * np.asarray(A.T @ A) for sign, A in found)
        return np.asarray(whole - cross @ self._inverse @ cross.T)

    def _cross(self, found: list[tuple[float, Design]]) -> Floats:
        pairs = zip(found, self._own, strict=True)
        return np.asarray(sum(sign * np.asarray(A.T @ own) for (sign, A), (_, own) in pairs))


COLUMNS_AT_ONCE = 4096  # of copies that last a moment
WORTH_IT = 10**7  # entries of X
ERROR = 32 * float(np.finfo(np.float32).eps)  # of a product of two vectors, relative to their lengths
MOST_IN_DOUBT = 200  # features; with more, single precision decides too little


class SinglePrecision:
    """The features in single precision, and what the products with them leave open."""

    def __init__(self, F: Design, Y: Floats):
        self._F = F
        if isinstance(F, ColumnDesign):
            self._rows = np.empty(F.shape[::-1], np.float32)
            for place, columns in F.parts():
                self._rows[place] = columns.T
        else:
            self._rows = np.ascontiguousarray(F.T, dtype=np.float32)
        self._PY = Y.copy()
        self._c, self._d = 0.0, 0.0  # bounds on the errors of c and d, for a feature of length one

    @staticmethod
    def worth_it(F: Design) -> bool:
        """Return whether reading the features takes most of the time, and less where they are cut in half."""
        if isinstance(F, ColumnDesign):
            return isinstance(F.source, HeldColumns) and F.source.dtype == np.float64
        return isinstance(F, np.ndarray) and F.size >= WORTH_IT

    def products(self, w: Floats) -> Floats:
        """Compute f_j'w of all features."""
        return np.asarray(self._rows @ w.astype(np.float32), dtype=np.float64)

    def added(self, w: Floats, c: Floats, size: float) -> None:
        """Update the bounds after a step along w = Pf_s, with c = c_s and d_s = size."""
        self._PY -= np.outer(w, c / size)
        length = float(np.linalg.norm(w))
        self._c += ERROR * length * float(np.linalg.norm(c)) / size
        self._d += ERROR * (2 + ERROR) * length**2 / size  # |f_j'w| is at most the length of w

    def in_doubt(self, c: Floats, d: Floats, ridge: float, square: Floats, least: float) -> Ints:
        """Find the features whose gain may be as large as ``least``."""
        most = np.linalg.norm(c, axis=1) + self._c * np.sqrt(square)
        smallest = np.maximum(d - self._d * square, np.maximum(ridge, np.finfo(float).tiny))
        return np.flatnonzero(most * most >= least * (1 - ERROR) * smallest)

    def exact(self, features: Ints, W: Floats, sizes: Floats) -> tuple[Floats, Floats]:
        """Compute c_j, and by how much d_j has fallen, of some features."""
        f = self._F[:, features].T
        f = np.ascontiguousarray(f) if isinstance(f, np.ndarray) else f
        pulls = f @ W.T
        return f @ self._PY, (pulls * pulls / sizes).sum(axis=1)


@documented()
@dataclass(kw_only=True, eq=False, repr=False)
class GreedyForward(BaseSelector):
    r"""Forward selection by least squares.

    .. math::

        \min_{j \notin S} \min_B |Y - X_{S \cup j} B|^2 + \rho |B|^2

    picks one feature after the other, S being those picked so far and Y one column per class (or real
    target).

    Adding feature j lowers it by :math:`|f_j'PY|^2 / (\rho + f_j'Pf_j)`, with
    :math:`P = (I + X_S X_S'/\rho)^{-1}`, the projection on what S leaves over when :math:`\rho = 0`. P
    changes by a matrix of rank one, so all gains are brought up to date by one product with X': k features of
    N cost O(k N M), and nothing of size N x N or M x M is stored. A group is added whole; it lowers it by
    :math:`\mathrm{tr}\, Y'PX_g (\rho I + X_g'PX_g)^{-1} X_g'PY`, less what its columns beyond the first would
    take off by chance.

    With another ``loss``, such as the likelihood of classes, counts or survival times, the next feature is
    the one with the largest score test, :math:`(f_j'g)^2 / (\rho + f_j'Pf_j)` with g the gradient of the loss
    and P what its curvature leaves beside S; then all coefficients of S are fitted anew.

    Parameters
    ----------
    %(n_features_to_select)s
    ridge : float, default=0.1
        The weight :math:`\rho`, as a fraction of the mean squared length of a feature (of its mean curvature,
        for another loss).
    target : {"auto", "onehot", "label", "real"}, default="auto"
        What y is to the model; "auto" makes one-hot columns of classes, and takes several columns as they
        are.
    %(groups)s
    %(keep)s
        Their coefficients carry no penalty, and the others are ranked by what they add to them.
    standardize : bool, default=True
        Whether features and targets are first centred and scaled to length one. Constant features are
        zero either way, and rank last.
    n_jobs : int or None, default=None
        Threads for linear algebra, -1 for every core; None leaves them to BLAS.
    loss : {"auto", "squared", "logistic", "poisson", "huber", "cox"}, default="auto"
        What is minimised beside the penalties. "auto" is the squared error as above, and "cox" where y
        has times and events. "logistic" is the likelihood of classes (multinomial for more than two, with
        one row of coefficients per class), "poisson" that of counts, "cox" the partial likelihood of
        survival times (Breslow's rule for ties): y is a structured array of an event (bool) and a time,
        or has the columns time and event. "huber" is the squared error, but linear for outliers.
        Intercepts carry no penalty.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,) or (n_groups,)
        For a selected feature, the gains of its step and of those after it, above whatever is left, so that
        scores fall along the ranking; for others, their gain at the end.
    ranking_ : ndarray of int of shape (n_features,) or (n_groups,)
        The order of selection: the first j of k are the selection for j. The others follow by their gain at
        the end, which need not be the order in which a larger number would select them; then by their
        correlation with the target, and by position. The same rule breaks ties.
    gains_ : ndarray of shape (n_selected,)
        By how much each step lowered the objective, as a share of :math:`|Y|^2` (of the deviance without
        features, for another loss).
    %(attributes)s

    See Also
    --------
    Lasso : Weighs all features at once.
    MRMR : Picks one feature after the other by mutual information.

    References
    ----------
    A. Miller, "Subset Selection in Regression" (2002), on forward selection and its updates.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import GreedyForward
    >>> X, y = load_wine(return_X_y=True)
    >>> GreedyForward(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    n_features_to_select: int | float | str | None = None
    ridge: float = 0.1
    target: str = "auto"
    groups: Any = None
    keep: Any = None
    standardize: bool = True
    n_jobs: int | None = None
    loss: str = "auto"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": NUMBER_OF_FEATURES,
        "ridge": [Interval(Real, 0, None, closed="left")],
        "target": [StrOptions({"auto", "onehot", "label", "real"})],
        "groups": GROUPS,
        "keep": KEEP,
        "standardize": ["boolean"],
        "n_jobs": [Integral, None],
        "loss": LOSS,
    }

    _takes_survival = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @fit_context
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Rank and select the features of X for the target y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples; texts and categories of a frame are variables as they are.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Class labels, real values, several columns of real values, or an indicator matrix of labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            What each sample counts; a whole number is as good as so many copies of it.

        Returns
        -------
        self : object
            The fitted selector.
        """
        loss, y = resolve_loss(self.loss, y)
        inputs = check_inputs(self, X, y, several=True, stored=True)
        kept = inputs.variables.places(self.keep)
        coding = coding_for(loss, inputs.y, self.target)
        number = self._number(inputs, kept, coding == "real", sample_weight)
        k = number_or_half(number, inputs.variables, len(kept))
        inputs = inputs.weighed(sample_weight)
        weights, variables, budget = inputs.weights, inputs.coded.variables, memory_budget()
        data = TrainingData.make(
            inputs.coded.X, inputs.y, coding, self.standardize, budget, variables, weights
        )
        data = with_loss(data, loss, inputs.y)
        constant = variables.all_of(np.asarray(~data.F.any(axis=0)))
        with blas_threads(self.n_jobs):
            make = self._search if data.datafit is None else self._loss_search
            search, first, total = make(data, kept, k - len(kept))
            search.free[kept] = False
            search.relevance[~constant] = np.maximum(search.relevance[~constant], 0.0)
            order, gains = search.run()
        self.gains_ = np.concatenate([first, gains]) / total
        self._store(inputs.variables, np.concatenate([kept, order]), search, total)
        return self

    def _search(self, data: TrainingData, kept: Ints, k: int) -> tuple[ForwardSearch, Floats, float]:
        """Prepare the search by least squares; return what is kept gains, and the square of Y as well."""
        F, Y, variables, first = data.F, data.Y, data.variables, np.array([])
        total = float((Y * Y).sum()) or 1.0
        weight = self.ridge * mean_square(F)
        if len(kept):
            F, Y, first = _adjusted(F, Y, [variables.columns(group) for group in kept])
            weight = self.ridge * mean_square(F[:, ~np.isin(variables.codes, kept)])
        n_samples = None if data.weights is None else data.weights.total
        search = ForwardSearch(F, Y, ridge_weight(weight), k, data.groups, n_samples)
        return search, first, total

    def _loss_search(self, data: TrainingData, kept: Ints, k: int) -> tuple[LossSearch, Floats, float]:
        """Prepare the search by another loss; return what is kept gains, and what there is to gain."""
        X, datafit, values, variables = data.design, data.datafit, [], data.variables
        assert datafit is not None
        for place in range(len(kept) + 1):
            columns = [variables.columns(group) for group in kept[:place]]
            Z = dense(X[:, np.concatenate([np.empty(0, np.int64), *columns])])
            values.append(2 * float(null_solution(Loss(datafit, X, kept=Z), RowGroups(1.0)).objective[0]))
        search = LossSearch(datafit, X, self.ridge, k, data.groups, Z)
        return search, -np.diff(values), max(values[0] - 2 * datafit.smallest, np.finfo(float).tiny)

    def _store(self, variables: Groups, order: Ints, search: ForwardSearch, total: float) -> None:
        scores = search.gains() / total
        # What is still to come, from each step on; a little above every feature that was left.
        scores[order] = np.cumsum(self.gains_[::-1])[::-1] + scores.max(initial=0.0)
        tie_breaks = search.relevance.copy()
        tie_breaks[order] = np.inf
        ranking = ranks(scores, tie_breaks)
        behind = np.setdiff1d(np.argsort(ranking), order, assume_unique=True)
        ranking[order] = np.arange(1, len(order) + 1)
        ranking[behind] = np.arange(len(order) + 1, len(ranking) + 1)
        self._store_ranking(variables, scores, ranking, ranking <= len(order))


def ridge_weight(weight: float) -> float:
    """Return the weight of the ridge, unless it is too large to compute with."""
    if not weight <= LARGEST_WEIGHT:
        raise InputError(
            f"the weight of the ridge would be {weight:.3g} on these data, too large to solve: lower ",
            Setting("ridge"),
        )
    return weight


def _adjusted(F: Design, Y: Floats, kept: list[Ints]) -> tuple[Design, Floats, Floats]:
    """Take what some columns explain out of F and Y, and return by how much each lowers |Y|^2."""
    explained = [0.0]
    for place in range(len(kept)):
        Q = basis(dense(F[:, np.concatenate(kept[: place + 1])]))
        explained.append(float(((Q.T @ Y) ** 2).sum()))
    Z = dense(F[:, np.concatenate(kept)])
    return left_over(F, Z), left_over(Y, Z), np.diff(explained)
