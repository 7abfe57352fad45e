"""One sparse model on some of the features: what the rankings fit again and again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from infused._columns import ColumnDesign
from infused._design import Design, copies_of, selected_columns
from infused._runtime.compat import cached_property
from infused._typing import Array, Floats, Ints
from infused.datafits import Datafit
from infused.exceptions import InputError, Setting
from infused.penalties.norms import NO_EDGES, FusedChain, GroupNorms, RowGroups, chain_edges, incidence
from infused.penalties.quadratic import NO_QUADRATIC, Quadratic, Structural
from infused.selectors.inputs.training import LARGEST_WEIGHT
from infused.selectors.linear.certainty import CertainOrder, Standing, Uncertainty
from infused.solvers.coordinate_descent import (
    Screening,
    coordinate_descent,
    descent_along,
    descent_on_screened,
)
from infused.solvers.least_squares import LeastSquares, hessian_is_worth_forming, most_worth_forming
from infused.solvers.proximal import proximal_gradient
from infused.solvers.proximal_newton import (
    Loss,
    largest_row,
    newton_on_screened,
    null_solution,
    proximal_newton,
)
from infused.solvers.result import Settled, SolverResult
from infused.solvers.reweighted import reweighted
from infused.solvers.split_bregman import split_bregman, split_bregman_on_working_set

DESCENT = "coordinate-descent"
EPOCHS_PER_ITERATION = 10  # coordinate descent and proximal gradients take more, and cheaper, iterations
ROUGH = 1e-3  # the tolerance of what is only a start
NO_MORE_THAN_CHANCE = 0.01  # of the contribution of a column
AT_HAND = 2**23  # entries of the features that a solver has at hand where X is too large to copy
CACHED = 2**20  # the same where it is copied: they should stay in the cache
WIDE = 10  # this many features to a sample


@dataclass(frozen=True, eq=False)
class Fit:
    """A solution, and where it puts the variables."""

    result: SolverResult
    model: SparseModel
    uncertainty: Uncertainty | None = None
    """By how much lengths and leftovers may be off, where their order was to be certain."""

    @cached_property
    def standing(self) -> Standing:
        """Return what orders the variables."""
        return self.model.standing(self.result.coef, self.result.gradient)

    @property
    def scores(self) -> Floats:
        """Return the length of each variable's coefficients; zero where they may be zero."""
        return self.standing.scores

    @property
    def leftover(self) -> Floats:
        """Return what orders those without a score."""
        return self.standing.tie_breaks


@dataclass(frozen=True, kw_only=True, eq=False)
class SparseModel:
    r"""The problem that every linear selector solves, and how.

    .. math::

        \min_{B, D} f(XB + ZD) + \lambda_1 \sum_g w_g \sqrt{p_g}\, |B_g| + \lambda_2 \sum_e |(CB)_e|
        + \mathrm{tr}(B'SB)

    with f a datafit, or :math:`\tfrac12 |Y - XB|^2` without Z: there what needs no penalty is projected out.

    Groups g are single features unless ``groups`` says otherwise. Where they are ``whole``, a group is one
    variable, to be kept or dropped as it is, and they are numbered from 0; else every feature is a variable.
    """

    X: Design
    Y: Floats
    datafit: Datafit | None = None
    """f; None for least squares."""
    Z: Floats | None = None
    """Columns without a penalty, beside the intercepts of the datafit."""
    factors: Floats | None = None
    """w, by variable; None for one."""
    positive: bool = False
    """Whether no coefficient may be negative."""
    lambda1: float = 0.0
    lambda2: float = 0.0
    relative: bool = False
    """Whether lambda1 and lambda2 are fractions of the smallest lambda1 at which no feature is needed."""
    edges: Ints | None = field(default_factory=lambda: NO_EDGES)
    """The rows of C; None is the chain of whatever features there are: those that remain stay neighbours."""
    quadratic: Quadratic = NO_QUADRATIC
    """What gives S."""
    groups: Array | None = None
    whole: bool = True
    varying: Array | None = None
    """The features that are not constant; None for those of X that are not zero."""
    n_samples: float | None = None
    """How many samples the rows stand for, by their weights; None for one each."""
    solver: str = "auto"
    max_iter: int = 3000
    tol: float = 1e-4

    @property
    def n_features(self) -> int:
        """Count the columns of X."""
        return int(self.X.shape[1])

    @property
    def variables(self) -> Ints | None:
        """Return the variable of each feature; None where it is the feature itself."""
        return self.groups if self.whole else None

    @property
    def n_variables(self) -> int:
        """Count what can be kept or dropped."""
        return self.n_features if self.variables is None else int(self.variables.max(initial=-1)) + 1

    def features(self, variables: Ints) -> Ints:
        """Return the features of some variables."""
        return variables if self.variables is None else np.flatnonzero(np.isin(self.variables, variables))

    @cached_property
    def smooth(self) -> LeastSquares:
        """Make everything but the norms, once for all lambdas."""
        return LeastSquares(self.X, self.Y, self.quadratic, dense=self._dense())

    @cached_property
    def screening(self) -> Screening:
        """Keep the features that a solver has at hand, once for all lambdas."""
        entries = AT_HAND if isinstance(self.X, ColumnDesign) else CACHED
        return Screening(max(1, entries // self.X.shape[0]))

    @cached_property
    def loss(self) -> Loss | None:
        """Make everything but the norms where the datafit is not least squares."""
        return None if self.datafit is None else Loss(self.datafit, self.X, self.quadratic, self.Z)

    @cached_property
    def null(self) -> SolverResult:
        """Solve without any feature that has a penalty, where the datafit is not least squares."""
        if self.loss is None:
            raise TypeError("least squares need no such solution")
        return null_solution(self.loss, self._norms(1.0))

    @cached_property
    def touching(self) -> tuple[Design, Floats]:
        """Return X and Y of the least squares that touch the loss where no feature is in the model."""
        if self.loss is None:
            return self.X, self.Y
        eta = self.loss.predictions(*self.loss.at(self.null))
        found = self.loss.least_squares(eta, self.X)
        return found.X, found.Y

    def _norms(self, weight: float) -> RowGroups | GroupNorms:
        """Make the penalty of rows, or of groups of them."""
        if self.groups is None:
            return RowGroups(weight, self.factors, self.positive)
        return GroupNorms(weight, self.groups, self.factors, self.positive)

    @cached_property
    def empty(self) -> Array:
        """Find the variables that cannot be in the model: constant, or with an infinite penalty."""
        varies = np.zeros(self.n_variables, dtype=bool)
        features = np.flatnonzero(self.X.any(axis=0) if self.varying is None else self.varying)
        varies[features if self.variables is None else self.variables[features]] = True
        return ~varies if self.factors is None else ~varies | np.isinf(self.factors)

    def largest_lambda1(self) -> float:
        """Compute the smallest lambda1 for which no feature is needed (without fusion)."""
        part = self.distinct
        pull = part.smooth.correlation if part.loss is None else -part.null.gradient
        pull, norms = np.maximum(pull, 0.0) if part.positive else pull, part._norms(1.0)
        lengths = norms.lengths(pull)
        return float((lengths / norms.thresholds(np.arange(len(lengths)))).max(initial=0.0))

    @property
    def weights(self) -> tuple[float, float]:
        """Compute lambda1 and lambda2 as numbers."""
        scale = self.largest_lambda1() if self.relative else 1.0
        both = self.lambda1 * scale, self.lambda2 * scale
        for name, weight in zip(("lambda1", "lambda2"), both, strict=True):
            if not weight <= LARGEST_WEIGHT:
                raise InputError(
                    f"the weight of a penalty would be {weight:.3g} on these data, too large to solve: "
                    "lower ",
                    Setting(name),
                )
        return both

    def restricted(self, features: Ints) -> SparseModel:
        """Restrict the model to some of the features."""
        edges = self.edges
        if edges is not None:
            position = np.full(self.n_features, -1, dtype=np.int64)
            position[features] = np.arange(len(features))
            moved = position[edges]
            edges = moved[(moved >= 0).all(axis=1)]
        groups, factors = self.groups, self.factors
        if groups is not None:
            groups = groups[features]
            if self.whole:
                left, groups = np.unique(groups, return_inverse=True)
                factors = None if factors is None else factors[left]
        elif factors is not None:
            factors = factors[features]
        part = replace(
            self,
            X=selected_columns(self.X, features),
            quadratic=self.quadratic.restricted(features),
            edges=edges,
            groups=groups,
            factors=factors,
            varying=None if self.varying is None else self.varying[features],
        )
        if "smooth" in vars(self) and self.smooth.hessian is not None and part._dense():
            vars(part)["smooth"] = self.smooth.restricted(features, part.X)
        elif "smooth" in vars(self) and isinstance(self.X, ColumnDesign) and not part._dense():
            known = self.smooth.correlation[features]  # a pass over all features made it
            vars(part)["smooth"] = LeastSquares(
                part.X, self.Y, part.quadratic, dense=False, correlation=known
            )
        if "copies" in vars(self):
            vars(part)["copies"] = _copies_among(features, self.copies)
        return part

    @cached_property
    def copies(self) -> tuple[Ints, Floats] | None:
        """Find the first feature that is equal to each, up to its sign, and the sign; None where all differ.

        A quadratic term, or groups, settle how copies share a coefficient; there they are left as they are.
        """
        settled = self.groups is not None or self.quadratic != NO_QUADRATIC
        found = None if settled else copies_of(self.X)
        if found is None or (self.factors is None and not self.positive):
            return found
        # What is not as good as the first is none of its copies.
        (first, sign), every = found, np.arange(self.n_features)
        other = np.zeros(self.n_features, dtype=bool) if self.factors is None else self._dearer(first)
        other |= (sign < 0) & self.positive
        return _copies_among(every, (np.where(other, every, first), np.where(other, 1.0, sign)))

    def _dearer(self, first: Ints) -> Array:
        """Find features with another factor than the first of their copies."""
        return np.zeros(len(first), bool) if self.factors is None else self.factors != self.factors[first]

    @cached_property
    def distinct(self) -> SparseModel:
        """Restrict the model to the features that are no copies of an earlier one."""
        return self if self.copies is None else self.restricted(self.firsts)

    @cached_property
    def firsts(self) -> Ints:
        """Find the features that are no copies of an earlier one."""
        return np.arange(self.n_features) if self.copies is None else np.unique(self.copies[0])

    @cached_property
    def _owners(self) -> Ints:
        """Find the place of the first of its copies among the distinct features, for each feature."""
        first = np.arange(self.n_features) if self.copies is None else self.copies[0]
        return np.searchsorted(self.firsts, first)

    def _to_all(self, coef: Floats, gradient: Floats) -> tuple[Floats, Floats]:
        """Extend a solution for distinct features to all: copies have equal gradients, no coefficients."""
        if self.copies is None:
            return coef, gradient
        full = np.zeros((self.n_features, coef.shape[1]))
        full[self.firsts] = coef
        return full, self.copies[1][:, None] * gradient[self._owners]

    def gradient(self, coef: Floats) -> Floats:
        """Compute the gradient of least squares where copies have no coefficients."""
        coef = coef if self.copies is None else coef[self.firsts]
        return self._to_all(coef, self.distinct.smooth.gradient(coef))[1]

    def with_gradient(self, fit: Fit) -> Fit:
        """Return a fit of a path with all of its gradient: a path may have estimated a part of it."""
        if self.loss is None:
            return fit
        part, coef, free = self.distinct, fit.result.coef[self.firsts], fit.result.free
        if part.loss is None or free is None or not part.loss.wide:
            return fit
        gradient, _ = part.loss.gradient(part.loss.predictions(coef, free), coef)
        result = replace(fit.result, gradient=self._to_all(coef, gradient)[1])
        return Fit(result, self, fit.uncertainty)

    def carried_over(
        self, fit: Fit, features: Ints, part: SparseModel
    ) -> tuple[SolverResult, Uncertainty | None]:
        """Return the start that a fit gives to the model of some of the features, and its uncertainty.

        Where all other features are zero and nothing is fused, it is the solution of that model too, and as
        uncertain.
        """
        result, left = fit.result, fit.result.coef.copy()
        left[features] = 0.0
        same, fused = not left.any(), self.edges is None or len(self.edges) > 0
        coef, state = result.coef[features], result.state
        known = same or self.datafit is not None  # a loss looks itself
        gradient = result.gradient[features] if known else part.gradient(coef)
        if state is not None:
            edges = self._edges_left(features) if len(state.q) else slice(0, 0)
            p, q, u, v = state.p[features], state.q[edges], state.u[features], state.v[edges]
            state = replace(state, p=p, q=q, u=u, v=v)
        start = replace(result, coef=coef, gradient=gradient, state=state)
        return start, fit.uncertainty if same and not fused else None

    def _edges_left(self, features: Ints) -> Ints:
        """Return which edges are left of the model of some of the features.

        On a chain each feature is joined to the next that is left: the edge stands for all between them.
        """
        if self.edges is None:
            return features[:-1]
        return np.flatnonzero(np.isin(self.edges, features).all(axis=1))

    def fit(
        self,
        lambda1: float | None = None,
        *,
        tol: float | None = None,
        start: SolverResult | None = None,
        certain: CertainOrder | None = None,
        stop_early: bool = True,
    ) -> Fit:
        """Solve the model, for its own lambda1 or for a number in its place.

        Parameters
        ----------
        lambda1 : float, default=None
            A number, not a fraction.
        tol : float, default=None
            The tolerance; None for that of the model.
        start : SolverResult, default=None
            Where to start.
        certain : CertainOrder, default=None
            Which order of the variables must be certain: the solver goes beyond the tolerance until it is.
        stop_early : bool, default=True
            Whether to stop at the tolerance; else all iterations of Algorithm 1 are run, as published.
        """
        own, lambda2 = self.weights
        both = own if lambda1 is None else lambda1, lambda2
        tol, term = self.tol if tol is None else tol, self.quadratic
        if not isinstance(term, Structural) or not term.partial:
            return self._fit(both, tol, start, certain, stop_early)
        if start is None:
            start = self._near(term, both, tol)
        while True:
            fit = self._fit(both, tol, start, certain, stop_early)
            new = _within_reach(term, both[0], fit.result)
            if not len(new):
                return fit
            term.learn(new)
            start = self._now(fit.result)
            certain = None if certain is None else replace(certain, uncertainty=None)

    def fit_along(self, grid: Floats) -> list[Fit] | None:
        """Solve for falling lambda1, several for each pass over all features; None where one needs its own.

        That is least squares with a penalty of rows, without the information of pairs, whose Hessian is not
        formed.
        """
        part = self.distinct
        simple = part.loss is None and part.groups is None and not isinstance(part.quadratic, Structural)
        if not simple or part.smooth.hessian is not None or part._choose(self.weights[1]) != DESCENT:
            return None
        norms = [RowGroups(float(lambda1), part.factors, part.positive) for lambda1 in grid]
        many = EPOCHS_PER_ITERATION * self.max_iter
        fits = []
        for found in descent_along(part.smooth, norms, part.screening, max_iter=many, tol=self.tol):
            coef, gradient = self._to_all(found.coef, found.gradient)
            fits.append(Fit(replace(found, coef=coef, gradient=gradient), self))
        return fits

    def _near(self, term: Structural, both: tuple[float, float], tol: float) -> SolverResult:
        """Solve roughly without U, and let U be known for the features that are close to this solution."""
        simple = replace(self, quadratic=term.without_information())
        result = simple._fit(both, max(tol, ROUGH)).result
        # Rounds come down to so many, of which all will be needed.
        n_needed = max(3 * int((result.coef != 0).any(axis=1).sum()), most_worth_forming(self.X.shape[0]))
        closest = np.argsort(-np.linalg.norm(result.gradient, axis=1), kind="stable")[:n_needed]
        term.learn(closest)
        return self._now(result)

    def _now(self, result: SolverResult) -> SolverResult:
        """Return a start with the gradient as it is when more of U is known; a loss looks itself."""
        return result if self.loss is not None else replace(result, gradient=self.gradient(result.coef))

    def _fit(
        self,
        both: tuple[float, float],
        tol: float,
        start: SolverResult | None = None,
        certain: CertainOrder | None = None,
        stop_early: bool = True,
    ) -> Fit:
        """Solve for a pair of lambdas with what is known of U."""

        def settled(coef: Floats, gradient: Floats) -> bool:
            return certain is None or certain(self.standing(*self._to_all(coef, gradient)))

        ask = None if certain is None or self.n_variables < 2 else settled
        if self.copies is not None and start is not None:
            place = self.firsts
            start = replace(start, coef=start.coef[place], gradient=start.gradient[place])
        result = self.distinct._solve(both, tol, start, ask, stop_early)
        if self.copies is not None:
            coef, gradient = self._to_all(result.coef, result.gradient)
            result = replace(result, coef=coef, gradient=gradient, state=None)
        uncertainty = None if certain is None else certain.uncertainty
        return Fit(result, self, uncertainty)

    def _solve(
        self,
        both: tuple[float, float],
        tol: float,
        start: SolverResult | None,
        settled: Settled | None,
        stop_early: bool,
    ) -> SolverResult:
        """Solve by the solver that was asked for, or by the fastest."""
        (lambda1, lambda2), many = both, EPOCHS_PER_ITERATION * self.max_iter
        rows = self._norms(lambda1)
        if self.loss is not None:
            return self._newton(self.loss, rows, lambda2, tol, start, settled)
        f = self.smooth
        solver = self._choose(lambda2) if stop_early else "split-bregman"
        if (
            solver == "coordinate-descent"
            and isinstance(rows, RowGroups)
            and isinstance(self.X, ColumnDesign)
        ):
            return descent_on_screened(
                f, rows, self.screening, max_iter=many, tol=tol, start=start, settled=settled
            )
        if solver == "coordinate-descent":
            return coordinate_descent(f, rows, max_iter=many, tol=tol, start=start, settled=settled)
        if solver == "proximal":
            chain = FusedChain(lambda1, lambda2 if self.edges is None else 0.0)
            return proximal_gradient(f, chain, max_iter=many, tol=tol, start=start, settled=settled)
        return self._algorithm_1(f, rows, lambda2, tol, start, settled, stop_early)

    def _newton(
        self,
        loss: Loss,
        rows: RowGroups | GroupNorms,
        lambda2: float,
        tol: float,
        start: SolverResult | None,
        settled: Settled | None,
    ) -> SolverResult:
        """Solve for a datafit by Newton steps; where features are fused, by Algorithm 1 for each step."""
        many = EPOCHS_PER_ITERATION * self.max_iter
        if not len(self._edges(lambda2)):
            alone = start is None or settled is not None or not loss.wide
            if start is not None and not alone and isinstance(rows, RowGroups) and rows.weight > 0:
                return newton_on_screened(loss, rows, start, max_iter=many, tol=tol)
            return proximal_newton(loss, rows, max_iter=many, tol=tol, start=start, settled=settled)
        C, fusion = self._incidence(lambda2), RowGroups(lambda2)

        def norms(B: Floats) -> float:
            return rows.value(B) + fusion.value(C @ B)

        def solve(f: LeastSquares, precision: float, before: SolverResult | None) -> SolverResult:
            return self._algorithm_1(f, rows, lambda2, precision, before)

        scale = rows.weight or largest_row(self.null.gradient)
        return reweighted(loss, norms, solve, scale, tol=tol, start=start, settled=settled)

    def _incidence(self, lambda2: float) -> sp.csr_array:
        edges = self._edges(lambda2)
        return incidence(edges, self.n_features) if len(edges) else sp.csr_array((0, self.n_features))

    def _algorithm_1(
        self,
        f: LeastSquares,
        rows: RowGroups | GroupNorms,
        lambda2: float,
        tol: float,
        start: SolverResult | None,
        settled: Settled | None = None,
        stop_early: bool = True,
    ) -> SolverResult:
        """Run Algorithm 1, on a working set where features are many more than samples."""
        C = self._incidence(lambda2)
        if stop_early and self.groups is None and f.hessian is None:
            return split_bregman_on_working_set(
                f, rows, C, lambda2, max_iter=self.max_iter, tol=tol, start=start, settled=settled
            )
        return split_bregman(
            f,
            rows,
            C,
            lambda2,
            max_iter=self.max_iter,
            tol=tol,
            start=start.state if start else None,
            stop_early=stop_early,
            settled=settled,
        )

    def standing(self, coef: Floats, gradient: Floats) -> Standing:
        """Return what orders the variables at a solution.

        The length of a feature is that of its coefficients, which is what it contributes to the fit. The
        leftover is |X'(Y - XB)|, the gradient less the part of the quadratic term, by what the penalty
        multiplies a variable with: the largest is the next to enter. What is empty comes after all others.
        """
        rows = self._norms(1.0) if self.whole or self.groups is None else RowGroups(1.0)
        pull = self.quadratic.gradient(coef) - gradient
        pull = rows.lengths(np.maximum(pull, 0.0) if self.positive else pull)
        leftover = pull / rows.thresholds(np.arange(self.n_variables))
        lengths = rows.lengths(coef) if self.variables is None else self._contributions(coef)
        # Fusion and the information of pairs may give what is empty the coefficients of others.
        lengths = np.where(self.empty, 0.0, lengths)
        return Standing(lengths, np.where(self.empty, -1.0, leftover))

    def _contributions(self, coef: Floats) -> Floats:
        """Return what each group contributes to the fit, |X_g B_g|, less what its columns would by chance.

        Else a category of many levels would come before any number, whatever it says of the target. What is
        no more than chance comes behind, by a small share of its contribution for each column.
        """
        (X, Y), owners = self.touching, self.groups
        fitted, squares = np.zeros(Y.shape), np.zeros(self.n_variables)
        sizes = np.ones(self.n_variables) if owners is None else np.sqrt(np.bincount(owners))
        for g in np.unique(owners[coef.any(axis=1)]) if owners is not None else ():
            own = np.flatnonzero(owners == g)
            part = X[:, own] @ coef[own]
            fitted += part
            squares[g] = float((part * part).sum())
        n_samples = self.n_samples or len(Y)
        noise = float(((Y - fitted) ** 2).sum()) / max(n_samples - 1, 1)
        beyond = np.sqrt(np.maximum(squares - (sizes**2 - 1) * noise, 0.0))
        return np.asarray(np.maximum(beyond, NO_MORE_THAN_CHANCE * np.sqrt(squares) / sizes))

    def _edges(self, lambda2: float) -> Ints:
        """Return the edges that are fused: none without a weight."""
        if lambda2 <= 0:
            return NO_EDGES
        return chain_edges(self.n_features) if self.edges is None else self.edges

    def _dense(self) -> bool:
        """Tell whether the Hessian is formed: not when features are many more than samples."""
        return not self.quadratic.convex or hessian_is_worth_forming(self.X)

    def _choose(self, lambda2: float) -> str:
        """Return the solver that was asked for, or the fastest that can solve this model."""
        fused = len(self._edges(lambda2)) > 0
        on_chain = self.Y.shape[1] == 1 and self.groups is None and (self.edges is None or not fused)
        on_chain = on_chain and self.factors is None and not self.positive
        if self.solver == "proximal" and not on_chain:
            raise InputError(Setting("solver", "proximal"), " needs one target and fusion='chain' or 'none'.")
        if self.solver == "coordinate-descent" and fused:
            raise InputError(Setting("solver", "coordinate-descent"), " needs lambda2=0 or fusion='none'.")
        if self.solver != "auto":
            return self.solver
        if not self.quadratic.convex:  # as published
            return "split-bregman"
        if not fused:
            # A step of Algorithm 1 is a product with an inverse: dearer, but with many targets and few
            # features, where most of them stay in the model, so few steps are needed that it wins.
            several_dense = self.Y.shape[1] > 1 and self._dense()
            return "split-bregman" if several_dense or self._wide_groups() else "coordinate-descent"
        # With structure a gradient is a product with U, and of large data it is a pass over all of them:
        # Algorithm 1 needs them on a working set only.
        many_passes = isinstance(self.quadratic, Structural) or isinstance(self.X, ColumnDesign)
        cheap_steps = self._dense() or not many_passes
        return "proximal" if on_chain and cheap_steps else "split-bregman"

    def _wide_groups(self) -> bool:
        """Tell whether groups of features bring far more of them into the model than there are samples.

        The Hessian of a working set is then much larger than the system of Algorithm 1, which has the size
        of the samples, and nearly singular: there coordinate descent is slow, and stops far from the end.
        """
        n_samples, n_features = self.X.shape
        return self.groups is not None and n_features > WIDE * n_samples


def _copies_among(features: Ints, copies: tuple[Ints, Floats] | None) -> tuple[Ints, Floats] | None:
    """Find the copies among some features, from those among all."""
    if copies is None:
        return None
    first, sign = copies[0][features], copies[1][features]
    _, place, owner = np.unique(first, return_index=True, return_inverse=True)
    head = place[owner]
    return None if len(place) == len(features) else (head, sign * sign[head])


def _within_reach(term: Structural, lambda1: float, result: SolverResult) -> Ints:
    """Find features that could enter, if what is not known of their U pulled as hard as it can."""
    beyond, pull = term.beyond(result.coef)
    lengths = np.linalg.norm(result.gradient, axis=1)
    return np.flatnonzero(beyond & (lengths >= lambda1 - pull))
