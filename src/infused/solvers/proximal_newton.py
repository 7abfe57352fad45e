r"""Proximal Newton steps on a working set, for every datafit.

.. math::

    \min_{B, D} f(XB + ZD) + \mathrm{tr}(B'SB) + \lambda \sum_g w_g |B_g|

with f any convex, smooth loss of the predictions. Z has the columns without a penalty: ones for the
intercepts, and features that are always kept.
At most optima few groups are not zero, so the problem is solved on a working set: those that are not zero
and those that violate the optimality conditions most. Inside, f is replaced by the parabola that touches it,
which has the Hessian X'HX of the working set; its minimum, by coordinate descent, is the direction of a line
search. The same Hessian serves for as many steps, and solutions along a path, as it brings forward: steps
without a new one cost a product with the working set. Outside, one gradient tells which groups to add. The
optimality conditions are those of f itself, so they certify the end whatever the parabola was.

Along a path of a large dense X, few features are at hand at a time. The derivatives of the others are bounded
from those that are known at other predictions, and computed where the bound does not rule out that they
should enter: the certificate of the end is that of all features, and most ends need no pass over the data.

Proximal Newton steps: Lee, Sun and Saunders (2014). With working sets: Johnson and Guestrin (2015); Massias,
Vaiter, Gramfort and Salmon (2020).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from infused import _kernels
from infused._columns import ColumnDesign
from infused._design import Design, SparseDesign, beside, column_squares, less, rows_scaled, turned
from infused._typing import Floats, Ints
from infused.datafits import Curvature, Datafit
from infused.penalties.norms import RowGroups, unmet
from infused.penalties.quadratic import NO_QUADRATIC, Quadratic, Ridge
from infused.solvers.coordinate_descent import (
    BlockPenalty,
    curvatures,
    descend,
    working_set,
)
from infused.solvers.result import Settled, SolverResult, Stopping

FIRST_SIZE = 10  # groups in the first working set
INNER = 0.3  # how much more precise a working set is solved than the whole problem has come
STEP = 0.1  # how much more precise a parabola is solved than its working set has come
ENOUGH = 0.5  # of what the working set is to come to, closer than which those along a path do not go
MOST_ROUNDS, MOST_STEPS = 200, 500
MOST_HALVINGS = 60
DESCENT = 1e-4  # of what the parabola promises, that a step must bring
SLOW = 0.5  # of the violation: a step that leaves more asks for a new Hessian
CHEAP = 1e6  # multiplications, up to which every step has its own Hessian
MOST_COUPLED = 1500  # coefficients, up to which the Hessian couples the classes
ROUNDING = 1e-14  # of the objective
TINY = 1e-300
FLATTEST = 1e-13  # of the largest curvature of a feature
SCREENED = 200_000  # entries of X, from which on a path has only some features at hand
AT_HAND = 50  # features at least that are at hand beside those that are not zero
PARALLEL = 1e-4  # the sine of the angle between slopes, up to which one stands for both
MANY_UNKNOWN = 0.2  # of the features, from which on all derivatives are computed again


class Loss:
    r""":math:`f(XB + ZD) + \mathrm{tr}(B'SB)` for one datafit f, and the last Hessian that was formed.

    Parameters
    ----------
    datafit : Datafit
    X : array or SparseDesign of shape (n_samples, n_features)
    quadratic : Quadratic
        What gives S.
    kept : array of shape (n_samples, n_kept), default=None
        Columns of Z beside the ones of the intercepts, which it has where the datafit has intercepts.
    """

    def __init__(
        self, datafit: Datafit, X: Design, quadratic: Quadratic = NO_QUADRATIC, kept: Floats | None = None
    ):
        self.datafit, self.X, self.quadratic = datafit, X, quadratic
        ones = np.ones((len(X), int(datafit.has_intercept)))
        self.Z: Floats = ones if kept is None else np.column_stack([ones, kept])
        self.lengths_of_Z = np.linalg.norm(self.Z, axis=0)
        self.parabola: Parabola | None = None
        self.last: Place | None = None
        self.screening: AtHand | None = None
        #: Whether these are the features at hand of a path, and whether steps on them need no Hessian.
        self.screened = self.direct = False
        # Values of a feature lie together, as columns are taken again and again.
        self._by_feature = turned(X) if isinstance(X, np.ndarray) else X.T
        self._taken: tuple[Ints, Design] | None = None

    @property
    def wide(self) -> bool:
        """Tell whether a path should have only some features at hand."""
        simple = isinstance(self.quadratic, Ridge) and self.datafit.n_targets == 1
        dense = isinstance(self.X, np.ndarray | ColumnDesign)
        return simple and dense and self.X.shape[0] * self.X.shape[1] >= SCREENED

    @property
    def shape(self) -> tuple[int, int]:
        """Return (features, targets)."""
        return int(self.X.shape[1]), self.datafit.n_targets

    def at(self, start: SolverResult | None) -> tuple[Floats, Floats]:
        """Return B and D of a start; both are zero without one."""
        if start is None:
            return np.zeros(self.shape), np.zeros((self.Z.shape[1], self.shape[1]))
        free = start.free if start.free is not None else np.zeros((self.Z.shape[1], self.shape[1]))
        return start.coef.copy(), free.copy()

    def predictions(self, B: Floats, D: Floats) -> Floats:
        """Return XB + ZD."""
        rows = np.flatnonzero(B.any(axis=1))
        return np.asarray(self._by_feature[rows].T @ B[rows] + self.Z @ D)

    def columns(self, features: Ints) -> Design:
        """Return some columns of X; those that were taken last are remembered."""
        if self._taken is None or not np.array_equal(self._taken[0], features):
            self._taken = features, self._by_feature[features].T
        return self._taken[1]

    def place(self, B: Floats, D: Floats, eta: Floats | None = None) -> Place:
        """Return what is known at some coefficients; the last place is remembered, as paths go on from it."""
        last = self.last
        if last is not None and np.array_equal(D, last.D) and np.array_equal(B, last.B):
            return last
        eta = self.predictions(B, D) if eta is None else eta
        slope = self.datafit.gradient(eta)
        self.last = Place(B, D, eta, np.asarray(self._by_feature @ slope), self.Z.T @ slope)
        return self.last

    def gradient(self, eta: Floats, B: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives by B and by D."""
        slope = self.datafit.gradient(eta)
        return np.asarray(self._by_feature @ slope + self.quadratic.gradient(B)), self.Z.T @ slope

    def unmet(self, slope: Floats) -> float:
        """Measure how far D is from its optimum, by its derivatives along columns of length one."""
        return largest_row(slope / np.maximum(self.lengths_of_Z, TINY)[:, None])

    def least_squares(self, eta: Floats, X: Design) -> Touching:
        r"""Return the least squares that touch f: weights h and the target :math:`\eta - g / h`."""
        h = self.datafit.curvature(eta).bound.weights[:, None]
        root, target, weighed = np.sqrt(h), eta - self.datafit.gradient(eta) / h, h * self.Z
        inverse = _inverse(self.Z.T @ weighed)
        means, own = inverse @ np.asarray(X.T @ weighed).T, inverse @ (weighed.T @ target)
        centred = less(rows_scaled(X, root[:, 0]), root * self.Z, means)
        return Touching(centred, root * (target - self.Z @ own), means, own)

    def value(self, eta: Floats, B: Floats) -> float:
        """Return the value at some coefficients, whose predictions are known."""
        return self.datafit.value(eta) + float((B * self.quadratic.gradient(B)).sum() / 2)


@dataclass(frozen=True)
class Place:
    """Coefficients, their predictions, and the derivatives of the loss by the coefficients."""

    B: Floats
    D: Floats
    eta: Floats
    pull: Floats
    """By B, without the quadratic term."""
    slope: Floats
    """By D."""


@dataclass(frozen=True)
class Touching:
    """Weighted least squares that touch a loss, less what the columns without a penalty explain."""

    X: Design
    Y: Floats
    means: Floats
    """What Z explains of the features."""
    own: Floats
    """What Z explains of the target."""

    def free(self, B: Floats) -> Floats:
        """Return D for some coefficients."""
        return np.asarray(self.own - self.means @ B)


@dataclass(frozen=True)
class Parabola:
    """The Hessian of some features, with the columns without a penalty minimised out."""

    features: Ints
    hessian: Floats
    """X'HX + 2S - K P K', with K = X'HZ."""
    inverse: Floats
    """P, the inverse of that of the columns without a penalty."""
    cross: Floats
    """K."""
    width: int
    """Rows for each feature: one that all targets share, or one for each target."""

    @classmethod
    def make(cls, curvature: Curvature, X: Design, Z: Floats, features: Ints, S: Floats) -> Parabola:
        """Form it for the columns X of some features; S is the quadratic term of them."""
        n_free = Z.shape[1]
        H = curvature.gram(beside(Z, X) if n_free else X)
        width = len(H) // max(X.shape[1] + n_free, 1)
        n = width * n_free
        inner, cross = H[n:, n:], H[n:, :n]
        inverse = _inverse(H[:n, :n])
        inner = inner + 2 * (S if width == 1 else np.kron(S, np.eye(width))) - cross @ inverse @ cross.T
        inner[np.diag_indices_from(inner)] += FLATTEST * np.diagonal(inner).max(initial=0.0)
        return cls(features, np.ascontiguousarray(inner), inverse, cross, width)

    def restricted(self, features: Ints) -> Parabola | None:
        """Return the part of some features; None where it has not all of them."""
        if len(features) == len(self.features) and (features == self.features).all():
            return self
        order = np.argsort(self.features)
        places = np.searchsorted(self.features, features, sorter=order)
        if not len(order) or places.max(initial=0) >= len(order):
            return None
        places = order[places]
        if (self.features[places] != features).any():
            return None
        rows = (places[:, None] * self.width + np.arange(self.width)).ravel()
        hessian = np.ascontiguousarray(self.hessian[np.ix_(rows, rows)])
        return Parabola(features, hessian, self.inverse, self.cross[rows], self.width)


def proximal_newton(
    f: Loss,
    penalty: BlockPenalty,
    *,
    max_iter: int = 20_000,
    tol: float = 1e-4,
    start: SolverResult | None = None,
    settled: Settled | None = None,
) -> SolverResult:
    """Minimise f + penalty, until the optimality conditions hold to ``tol`` relative to lambda.

    With ``settled``, until it is content as well: see :class:`Stopping`.
    """
    B, D = f.at(start)
    objective: list[float] = []
    n_iter, size, stopping, scale = 0, FIRST_SIZE, Stopping(tol, settled), penalty.weight
    groups, eta, stuck = np.empty(0, np.int64), None, False
    for _ in range(MOST_ROUNDS):
        here = f.place(B, D, eta)
        eta, gradient = here.eta, here.pull + f.quadratic.gradient(B)
        objective.append(f.value(eta, B) + penalty.value(B))
        violation = penalty.distance(B, gradient)
        scale = scale or largest_row(gradient)
        certificate = max(float(violation.max(initial=0.0)), f.unmet(here.slope)) / scale
        if stopping.enough(certificate, B, gradient) or n_iter >= max_iter:
            break
        outside = np.delete(violation, groups).max(initial=0.0)
        if stuck and outside <= stopping.level * scale:
            break  # rounding leaves nothing to gain
        if outside > stopping.level * scale or not len(groups):
            if len(groups):
                size = max(size, 2 * len(groups))  # some that should have been in it were not
            groups = working_set(penalty, B, gradient, size)
        steps = _Steps(f, penalty, groups, B, D, eta)
        steps.begin(here)
        n_iter += steps.run(INNER * stopping.level * scale, max_iter - n_iter)
        (B, D), eta = steps.coefficients(B), steps.eta
        stuck = steps.stuck
    empty = np.empty(0)
    return SolverResult(
        B,
        np.array(objective),
        empty,
        empty,
        n_iter,
        *stopping.end(certificate, max_iter),
        certificate,
        gradient,
        free=D,
    )


class AtHand:
    """The features that a path has at hand, and what is known of the others."""

    def __init__(self, f: Loss, place: Place):
        self.f, self.rows = f, f._by_feature
        self.lengths: Floats = np.sqrt(column_squares(f.X))
        #: Slopes of length one at right angles to each other, and the derivatives that they would make.
        self.slopes: Floats = np.empty((0, f.X.shape[0]))
        self.pulls: Floats = np.empty((0, f.X.shape[1]))
        self.last: tuple[Floats, Floats] | None = None
        self.features: Ints = np.empty(0, np.int64)
        self.part, self.weight = f, np.inf
        curvature = f.datafit.curvature(place.eta)
        self.exact = curvature.bound is curvature  # with a bound in its place, steps would be many
        self._know(f.datafit.gradient(place.eta)[:, 0], place.pull[:, 0])

    def take(self, thresholds: Floats, B: Floats, pulls: Floats) -> None:
        """Have at hand the features that are not zero, and those that are closest to entering."""
        urgency, inside = pulls - thresholds, np.flatnonzero(B)
        urgency[inside] = np.inf
        most = min(3 * len(inside) + AT_HAND, len(urgency))
        self.features = np.sort(np.argpartition(-urgency, most - 1)[:most])
        kept = self.f.Z[:, int(self.f.datafit.has_intercept) :]
        self.part = Loss(self.f.datafit, self.rows[self.features].T, self.f.quadratic, kept)
        self.part.screened, self.part.direct = True, self.exact

    def ready(self, weight: float, thresholds: Floats, B: Floats, pulls: Floats) -> None:
        """Have at hand what should enter next by the sequential strong rule (Tibshirani and others 2012)."""
        share = max(2 - self.weight / weight, TINY)
        ahead = pulls >= share * thresholds
        ahead[self.features] = False
        if not len(self.features) or ahead.any():
            self.take(thresholds, B, pulls)
        self.weight = weight

    def pull(self, slope: Floats, enough: Floats) -> Floats:
        r"""Return derivatives by all features; those that cannot exceed ``enough`` are estimates.

        With :math:`s = \sum_k c_k s_k + r` and :math:`x_j's_k` known, :math:`|x_j's|` is at most
        :math:`|\sum_k c_k x_j's_k| + |x_j| |r|`.
        """
        shares = self.slopes @ slope
        pull = shares @ self.pulls
        rest = float(np.linalg.norm(slope - shares @ self.slopes))
        unknown = np.flatnonzero(np.abs(pull) + rest * self.lengths > enough)
        if len(unknown) > MANY_UNKNOWN * len(pull):
            pull = np.asarray(self.rows @ slope)
            self._know(slope, pull)
        elif isinstance(self.rows, np.ndarray):
            _kernels.chosen_products(self.rows, unknown, slope, pull)
        else:
            pull[unknown] = self.f.X.restricted(unknown).pulled(slope[:, None])[:, 0]
        return pull

    def _know(self, slope: Floats, pull: Floats) -> None:
        """Remember all derivatives at a slope beside those of the last."""
        size = max(float(np.linalg.norm(slope)), TINY)
        known = slope / size, pull / size
        self.slopes, self.pulls = known[0][None], known[1][None]
        if self.last is not None:
            (other, own), share = self.last, float(known[0] @ self.last[0])
            other, own = other - share * known[0], own - share * known[1]
            left = float(np.linalg.norm(other))
            if left > PARALLEL:
                self.slopes = np.stack([known[0], other / left])
                self.pulls = np.stack([known[1], own / left])
        self.last = known


def newton_on_screened(
    f: Loss, penalty: RowGroups, start: SolverResult, *, max_iter: int = 20_000, tol: float = 1e-4
) -> SolverResult:
    """Do what :func:`proximal_newton` does along a path with few passes over all features.

    Each solution on the features at hand is checked by the derivatives of all others, or by bounds on them.
    Derivatives that the result has of features that cannot enter are estimates.
    """
    (B, D), pull, n_iter, empty = f.at(start), start.gradient, 0, np.empty(0)
    if f.screening is None:
        place = f.place(B, D)
        f.screening, pull = AtHand(f, place), place.pull
    screening, thresholds = f.screening, penalty.thresholds(np.arange(len(B)))

    def outwards(pull: Floats) -> Floats:
        """Return how hard features pull out of zero."""
        return -pull[:, 0] if penalty.positive else np.abs(pull[:, 0])

    screening.ready(penalty.weight, thresholds, B[:, 0], outwards(pull))
    for _ in range(MOST_ROUNDS):
        features = screening.features
        inner = proximal_newton(
            screening.part,
            penalty.restricted(features),
            max_iter=max_iter - n_iter,
            tol=tol,
            start=replace(start, coef=B[features], free=D),
        )
        n_iter, (b, D) = n_iter + inner.n_iter, screening.part.at(inner)
        B = np.zeros(f.shape)
        B[features] = b
        eta = screening.part.place(b, D).eta
        pull = screening.pull(f.datafit.gradient(eta)[:, 0], thresholds + tol * penalty.weight)[:, None]
        pull[features] = inner.gradient
        beyond = outwards(pull) - thresholds
        beyond[features] = 0.0
        outside = max(float(beyond.max()), 0.0) / penalty.weight
        if outside <= tol or n_iter >= max_iter:
            break
        screening.take(thresholds, B[:, 0], outwards(pull))
    certificate = max(outside, inner.certificate)
    end = Stopping(tol, None).end(certificate, max_iter)
    return SolverResult(B, inner.objective, empty, empty, n_iter, *end, certificate, pull, free=D)


def null_solution(
    f: Loss, penalty: BlockPenalty, tol: float = 1e-6, start: SolverResult | None = None
) -> SolverResult:
    """Return the solution in which only what has no penalty is not zero, from where a path begins."""
    B, D = f.at(start)
    thresholds = penalty.thresholds(np.arange(len(penalty.lengths(B))))
    steps = _Steps(f, penalty, np.flatnonzero(thresholds == 0), B, D, f.predictions(B, D))
    scale = largest_row(f.gradient(steps.eta, B)[0])
    n_iter = steps.run(tol * scale, MOST_STEPS)
    B, D = steps.coefficients(B)
    gradient, _ = f.gradient(steps.eta, B)
    value, empty = np.array([f.value(steps.eta, B)]), np.empty(0)
    found = steps.violation <= tol * scale
    why = f"the optimality conditions hold to {tol:.1e}" if found else "no step lowered the objective"
    return SolverResult(B, value, empty, empty, n_iter, found, why, tol, gradient, free=D)


class _Steps:
    """Newton steps on the features of some groups; all others are zero."""

    def __init__(self, f: Loss, penalty: BlockPenalty, groups: Ints, B: Floats, D: Floats, eta: Floats):
        self.f, self.eta, self.D = f, eta, D
        members, self.starts = penalty.members(groups)
        self.thresholds, self.positive = penalty.thresholds(groups), penalty.positive
        self.features: Ints = members
        self.X = f.columns(members)
        self.S = f.quadratic if isinstance(f.quadratic, Ridge) else f.quadratic.block(members, members)
        self.b = B[members]
        self._rows_of_Z = np.ascontiguousarray(f.Z.T)
        self.violation = np.inf
        self.stuck = self._exhausted = False
        self._here: float | None = None  # the objective, where it is known
        self._known: tuple[Floats, Floats] | None = None  # the derivatives, where they are
        self._single = self.b.shape[1] == 1 and len(self.starts) == len(self.features) + 1
        self._cheap = self.X.shape[0] * self.b.size**2 <= CHEAP
        self.direct = self._entries_are_fewer() or self._samples_are_fewer()

    def begin(self, here: Place) -> None:
        """Take over the derivatives that are known where the steps begin."""
        self._known = here.pull[self.features] + self._quadratic_slope(self.b), here.slope

    def coefficients(self, B: Floats) -> tuple[Floats, Floats]:
        """Return B with the rows of the working set as they are now, and D."""
        B = B.copy()
        B[self.features] = self.b
        return B, self.D

    def run(self, tol: float, max_epochs: int) -> int:
        """Step until the optimality conditions hold to tol; returns the epochs of coordinate descent."""
        last = self.f.parabola
        parabola = None if last is None else last.restricted(self.features)
        taken, fresh = 0, False
        gradient, slope = self._gradient() if self._known is None else self._known
        self.violation = self._distance(gradient, slope)
        for _ in range(MOST_STEPS):
            if self.violation <= tol or taken >= max_epochs:
                break
            closest = (ENOUGH if self.direct or self.f.screened else STEP) * tol
            precision, left = max(STEP * self.violation, closest), max_epochs - taken
            if self.direct:
                fresh = True
                epochs, step = self._direction_without_hessian(precision, left)
            else:
                if parabola is None:
                    parabola, fresh = self._form(), True
                epochs, step = self._direction(parabola, gradient, slope, precision, left)
            taken += max(epochs, 1)
            before = self.violation
            if self._search(step, gradient, slope):
                gradient, slope = self._gradient()
                self.violation = self._distance(gradient, slope)
            if self.violation > (tol if self._cheap else SLOW * before):
                parabola = None
            if self.violation > SLOW * before:
                self.stuck = fresh and self.violation >= before and self._exhausted
                if self.stuck:
                    break
            fresh = False
        return taken

    def _gradient(self) -> tuple[Floats, Floats]:
        """Return the derivatives by the coefficients of the working set and by D."""
        slope = self.f.datafit.gradient(self.eta)
        return np.asarray(self.X.T @ slope + self._quadratic_slope(self.b)), self.f.Z.T @ slope

    def _quadratic_slope(self, b: Floats) -> Floats:
        """Return 2 S b."""
        if isinstance(self.S, Ridge):
            return self.S.gradient(b) if self.S.weight else np.zeros_like(b)
        return np.asarray(2 * self.S @ b)

    def _form(self) -> Parabola:
        """Form the Hessian at the current predictions, and keep it for the next working sets."""
        curvature = self.f.datafit.curvature(self.eta)
        if self.b.size > MOST_COUPLED:
            curvature = curvature.bound
        S = self.S.matrix(len(self.b)) if isinstance(self.S, Ridge) else self.S
        self.f.parabola = Parabola.make(curvature, self.X, self.f.Z, self.features, S)
        return self.f.parabola

    def _direction(
        self, parabola: Parabola, gradient: Floats, slope: Floats, tol: float, max_epochs: int
    ) -> tuple[int, _Move]:
        """Return the way to the minimum of the parabola and the penalty, and the epochs that it took."""
        H, K, P, width = parabola.hessian, parabola.cross, parabola.inverse, parabola.width

        def lines(A: Floats) -> Floats:
            """Lay out coefficients: targets that share the Hessian as rows, else all as one row."""
            return np.ascontiguousarray(A.T if width == 1 else A.reshape(1, -1))

        b, own = lines(self.b), lines(slope)
        new, epochs = b.copy(), 0
        if len(H):
            C, starts = np.ascontiguousarray(b @ H - lines(gradient) + own @ P @ K.T), self.starts * width
            bend = curvatures(H, starts)
            epochs = descend(H, C, new, starts, bend, self.thresholds, tol, max_epochs, self.positive)
        moved = new - b
        shift = -(own + moved @ K) @ P
        if width == 1:
            return epochs, _Move(moved.T, shift.T)
        return epochs, _Move(moved.reshape(self.b.shape), shift.reshape(self.D.shape))

    def _entries_are_fewer(self) -> bool:
        """Tell whether steps can go through the entries of a sparse X, which costs less than a Hessian."""
        single = len(self.starts) == len(self.features) + 1
        if not isinstance(self.X, SparseDesign) or not isinstance(self.f.quadratic, Ridge):
            return False
        if self.positive or not single or self.b.shape[1] > 1 or not self.f.datafit.has_intercept:
            return False
        return bool((self.X.L == 1).all())  # so that an intercept can take the place of the means

    def _samples_are_fewer(self) -> bool:
        """Tell whether predictions cost less to keep up to date than the gradients of the working set."""
        if not isinstance(self.X, np.ndarray) or not isinstance(self.f.quadratic, Ridge):
            return False
        return self.f.direct and self._single and not self.positive

    def _direction_without_hessian(self, tol: float, max_epochs: int) -> tuple[int, _Move]:
        """Return the way to the minimum of the parabola, by steps that keep its slope up to date.

        The means of a sparse X are left to the intercept, so that only its entries count.
        """
        ridge = self.S.weight if isinstance(self.S, Ridge) else 0.0
        h = self.f.datafit.curvature(self.eta).bound.weights
        slope, new = self.f.datafit.gradient(self.eta)[:, 0].copy(), self.b[:, 0].copy()
        shift, was = np.zeros(self.f.Z.shape[1]), slope.copy()
        rest = (self._rows_of_Z, h, self.thresholds, ridge, tol, max_epochs, new, shift, slope)
        if isinstance(self.X, SparseDesign):
            A = self.X.A
            starts, samples = A.indptr.astype(np.int32, copy=False), A.indices.astype(np.int32, copy=False)
            epochs = _kernels.touching_epochs(starts, samples, A.data, *rest)
            shift[0] += float((self.X.R @ (new[:, None] - self.b)).sum())
        else:
            epochs = _kernels.touching_dense_epochs(self.X.T, *rest)
        return epochs, _Move(new[:, None] - self.b, shift[:, None], ((slope - was) / h)[:, None])

    def _search(self, step: _Move, gradient: Floats, slope: Floats) -> bool:
        """Go along a step as far as it lowers the objective enough; returns whether it does anywhere."""
        ahead = step.ahead
        if ahead is None:
            ahead = np.asarray(self.X @ step.coef + self.f.Z @ step.free)
        size = self._penalty(self.b)
        here = self._objective(self.eta, self.b) if self._here is None else self._here
        promise = float((gradient * step.coef).sum() + (slope * step.free).sum())
        promise += self._penalty(self.b + step.coef) - size
        self._exhausted = -promise <= ROUNDING * abs(here)
        share = 1.0
        for _ in range(MOST_HALVINGS):
            b, eta = self.b + share * step.coef, self.eta + share * ahead
            there = self._objective(eta, b)
            if there <= here + DESCENT * share * promise + ROUNDING * abs(here):
                self.b, self.eta, self.D = b, eta, self.D + share * step.free
                self._here = there
                return True
            share /= 2
        self._exhausted = True
        return False

    def _objective(self, eta: Floats, b: Floats) -> float:
        """Return what is minimised; infinity where it is no number."""
        value = self.f.datafit.value(eta) + float((b * self._quadratic_slope(b)).sum() / 2) + self._penalty(b)
        return value if np.isfinite(value) else np.inf

    def _penalty(self, b: Floats) -> float:
        return float(self.thresholds @ self._lengths(b))

    def _lengths(self, b: Floats) -> Floats:
        """Return the length of each group."""
        if self._single:
            return np.abs(b[:, 0])
        squares = np.einsum("it,it->i", b, b)
        return np.sqrt(np.add.reduceat(squares, self.starts[:-1]) if len(squares) else squares)

    def _distance(self, gradient: Floats, slope: Floats) -> float:
        """Return how far the working set is from its optimality conditions."""
        if self._single and not self.positive:
            b, pull = self.b[:, 0], gradient[:, 0]
            off = np.where(
                b == 0, np.abs(pull) - self.thresholds, np.abs(pull + np.sign(b) * self.thresholds)
            )
            return max(float(off.max(initial=0.0)), self.f.unmet(slope))
        lengths = self._lengths(self.b)
        pull = np.divide(self.thresholds, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        off = gradient + np.repeat(pull, np.diff(self.starts))[:, None] * self.b
        off = self._lengths(unmet(self.b, off) if self.positive else off)
        off = np.where(lengths > 0, off, np.maximum(off - self.thresholds, 0.0))
        return max(float(off.max(initial=0.0)), self.f.unmet(slope))


@dataclass(frozen=True)
class _Move:
    """A step of the coefficients of a working set and of D."""

    coef: Floats
    free: Floats
    ahead: Floats | None = None
    """Of the predictions, where it is known."""


def _inverse(H: Floats) -> Floats:
    """Return the pseudoinverse of a symmetric matrix."""
    if H.shape == (1, 1):
        return 1 / H if H[0, 0] > 0 else np.zeros_like(H)
    return np.asarray(np.linalg.pinv(H, hermitian=True), np.float64)


def largest_row(rows: Floats) -> float:
    """Return the length of the longest row."""
    if rows.shape[1] == 1:
        return float(np.abs(rows).max(initial=0.0))
    return float(np.linalg.norm(rows, axis=1).max(initial=0.0))
