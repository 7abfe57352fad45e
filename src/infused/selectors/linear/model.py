"""One sparse model on some of the features: what the rankings fit again and again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from infused._design import Design, copies_of, selected_columns
from infused._runtime.compat import cached_property
from infused._typing import Array, Floats, Ints
from infused.exceptions import InputError, Setting
from infused.penalties.fusion import FusedChain, chain_edges, incidence, no_edges
from infused.penalties.quadratic import Quadratic, Ridge, Structural, ridge_instead, structural
from infused.penalties.rows import GroupNorms, RowGroups
from infused.selectors.linear.certainty import CertainOrder, Standing, Uncertainty
from infused.solvers.coordinate_descent import coordinate_descent
from infused.solvers.least_squares import LeastSquares, hessian_is_worth_forming, most_worth_forming
from infused.solvers.proximal import proximal_gradient
from infused.solvers.result import Settled, SolverResult
from infused.solvers.split_bregman import split_bregman, split_bregman_on_working_set

EPOCHS_PER_ITERATION = 10  # coordinate descent and proximal gradients take more, and cheaper, iterations
NO_QUADRATIC = Ridge(0.0)
ROUGH = 1e-3  # the tolerance of what is only a start
NO_MORE_THAN_CHANCE = 0.01  # of the contribution of a column
WIDE = 10  # this many features to a sample


@dataclass(frozen=True)
class Fit:
    """A solution, and where it puts the variables."""

    result: SolverResult
    standing: Standing
    uncertainty: Uncertainty | None = None
    """By how much lengths and leftovers may be off, where their order was to be certain."""

    @property
    def leftover(self) -> Floats:
        """What orders those without a score."""
        return self.standing.tie_breaks

    @property
    def scores(self) -> Floats:
        """Length of each variable's coefficients; zero where the solver cannot tell it from zero."""
        return self.standing.scores


@dataclass(frozen=True)
class SparseModel:
    """X, Y, the penalties, and how to solve.

    ``edges`` of None is the chain of whatever features there are: those that remain stay neighbours.
    ``groups`` of None penalises every row by itself. Where they are ``whole``, a group is one variable, to be
    kept or dropped as it is, and groups are numbered from 0; else every feature is a variable.
    """

    X: Design
    Y: Floats
    max_iter: int
    tol: float
    quadratic: Quadratic = NO_QUADRATIC
    edges: Ints | None = field(default_factory=no_edges)
    groups: Array | None = None
    whole: bool = True
    solver: str = "auto"
    varying: Array | None = None
    """The features that are not constant; None for those of X that are not zero."""
    n_samples: float | None = None
    """How many samples the rows stand for, by their weights; None for one each."""

    @property
    def n_features(self) -> int:
        """Columns of X."""
        return int(self.X.shape[1])

    @property
    def variables(self) -> Ints | None:
        """The variable of each feature; None where it is the feature itself."""
        return self.groups if self.whole else None

    @property
    def n_variables(self) -> int:
        """What can be kept or dropped."""
        return self.n_features if self.variables is None else int(self.variables.max(initial=-1)) + 1

    def features(self, variables: Ints) -> Ints:
        """The features of some variables."""
        return variables if self.variables is None else np.flatnonzero(np.isin(self.variables, variables))

    @cached_property
    def smooth(self) -> LeastSquares:
        """Everything but the norms; made once for all lambdas."""
        return LeastSquares(self.X, self.Y, self.quadratic, dense=self._dense())

    @cached_property
    def empty(self) -> Array:
        """The variables of which all features are constant."""
        varies = np.zeros(self.n_variables, dtype=bool)
        features = np.flatnonzero(self.X.any(axis=0) if self.varying is None else self.varying)
        varies[features if self.variables is None else self.variables[features]] = True
        return ~varies

    def largest_lambda1(self) -> float:
        """The smallest lambda1 for which no feature is needed (without fusion)."""
        pull = self.X.T @ self.Y
        if self.groups is None:
            return float(np.linalg.norm(pull, axis=1).max(initial=0.0))
        norms = GroupNorms(1.0, self.groups)
        every = np.arange(len(norms.sizes))
        return float((norms.lengths(pull) / norms.thresholds(every)).max(initial=0.0))

    def restricted(self, features: Ints) -> SparseModel:
        """The same model on some of the features."""
        edges = self.edges
        if edges is not None:
            position = np.full(self.n_features, -1, dtype=np.int64)
            position[features] = np.arange(len(features))
            moved = position[edges]
            edges = moved[(moved >= 0).all(axis=1)]
        groups = None if self.groups is None else self.groups[features]
        if groups is not None and self.whole:
            groups = np.unique(groups, return_inverse=True)[1]
        part = replace(
            self,
            X=selected_columns(self.X, features),
            quadratic=self.quadratic.restricted(features),
            edges=edges,
            groups=groups,
            varying=None if self.varying is None else self.varying[features],
        )
        if "smooth" in vars(self) and self.smooth.hessian is not None and part._dense():
            vars(part)["smooth"] = self.smooth.restricted(features, part.X)
        return part

    def carried_over(
        self, fit: Fit, features: Ints, part: SparseModel
    ) -> tuple[SolverResult, Uncertainty | None]:
        """Return the start that a fit gives to the model of some of the features, and its uncertainty.

        Where all other features are zero and nothing is fused, it is the solution of that model too, and as
        uncertain.
        """
        result, left = fit.result, fit.result.coef.copy()
        coef, state = result.coef[features], result.state
        left[features] = 0.0
        same, fused = not left.any(), self.edges is None or len(self.edges) > 0
        gradient = result.gradient[features] if same else part.smooth.gradient(coef)
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
        lambda1: float,
        lambda2: float,
        *,
        tol: float | None = None,
        start: SolverResult | None = None,
        stop_early: bool = True,
        certain: bool = False,
        cut: int | None = None,
        ordered: bool = False,
        known: Uncertainty | None = None,
    ) -> Fit:
        """Solve for one pair of lambdas.

        Where the order should be ``certain``, beyond the tolerance until it is: that of the first ``cut``
        before all others (``ordered``: and that of all others), or without a cut who has a score, and the
        order of those that have none. ``known`` is the uncertainty of the start, where that is a solution
        already.
        """
        tol = self.tol if tol is None else tol
        solve = partial(
            self._solved,
            lambda1,
            lambda2,
            tol=tol,
            stop_early=stop_early,
            certain=certain,
            cut=cut,
            ordered=ordered,
        )
        term = structural(self.quadratic)
        if term is None or not term.partial:
            return solve(start=start, known=known)
        if start is None:
            start = self._approach(term, lambda1, lambda2, tol)
        while True:
            fit = solve(start=start, known=known)
            new = self._within_reach(term, lambda1, fit.result)
            if not len(new):
                return fit
            term.learn(new)
            start, known = replace(fit.result, gradient=self.smooth.gradient(fit.result.coef)), None

    def _approach(self, term: Structural, lambda1: float, lambda2: float, tol: float) -> SolverResult:
        """The solution with a ridge in the place of the information, and what is close to it known."""
        ridge = replace(self, quadratic=ridge_instead(self.quadratic))
        result = ridge.fit(lambda1, lambda2, tol=max(tol, ROUGH)).result
        # Rounds come down to so many, of which all will be needed.
        n_needed = max(3 * int((result.coef != 0).any(axis=1).sum()), most_worth_forming(self.X.shape[0]))
        closest = np.argsort(-np.linalg.norm(result.gradient, axis=1), kind="stable")[:n_needed]
        term.learn(closest)
        return replace(result, gradient=self.smooth.gradient(result.coef))

    def _within_reach(self, term: Structural, lambda1: float, result: SolverResult) -> Ints:
        """Features that could enter, if what is not known of their information pulled as hard as it can."""
        beyond, pull = term.beyond(result.coef)
        lengths = np.linalg.norm(result.gradient, axis=1)
        return np.flatnonzero(beyond & (lengths >= lambda1 - pull))

    def _solved(
        self,
        lambda1: float,
        lambda2: float,
        *,
        tol: float,
        start: SolverResult | None,
        stop_early: bool,
        certain: bool,
        cut: int | None,
        ordered: bool,
        known: Uncertainty | None,
    ) -> Fit:
        """Solve for one pair of lambdas with the information as far as it is known."""
        f, many = self.smooth, EPOCHS_PER_ITERATION * self.max_iter
        rows = RowGroups(lambda1) if self.groups is None else GroupNorms(lambda1, self.groups)
        solver = self._choose(lambda2) if stop_early else "split-bregman"

        def standing(coef: Floats, gradient: Floats) -> Standing:
            return self.standing(self._settled_copies(coef, lambda1, lambda2), gradient)

        settled = CertainOrder(standing, cut, known, ordered) if certain and self.n_variables > 1 else None
        if solver == "coordinate-descent":
            result = coordinate_descent(f, rows, max_iter=many, tol=tol, start=start, settled=settled)
        elif solver == "proximal":
            chain = FusedChain(lambda1, lambda2 if self.edges is None else 0.0)
            result = proximal_gradient(f, chain, max_iter=many, tol=tol, start=start, settled=settled)
        else:
            result = self._algorithm_1(rows, lambda2, tol, start, stop_early, settled)
        result = replace(result, coef=self._settled_copies(result.coef, lambda1, lambda2))
        uncertainty = None if settled is None else settled.uncertainty
        return Fit(result, self.standing(result.coef, result.gradient), uncertainty)

    def standing(self, coef: Floats, gradient: Floats) -> Standing:
        """Return what orders the variables at a solution.

        The length of a feature is that of its coefficients, which is what it contributes to the fit. The
        leftover is |X'(Y - XB)|, the gradient less the part of the quadratic term, by the root of a
        variable's size as in the penalty: the largest is the next to enter. What is empty comes after all
        others.
        """
        rows = RowGroups(1.0) if self.variables is None else GroupNorms(1.0, self.variables)
        sizes = rows.thresholds(np.arange(self.n_variables))  # their roots
        leftover = rows.lengths(gradient - self.quadratic.gradient(coef)) / sizes
        lengths = rows.lengths(coef) if self.variables is None else self._contributions(coef, sizes)
        # Fusion and the information of pairs may give what is empty the coefficients of others.
        lengths = np.where(self.empty, 0.0, lengths)
        return Standing(lengths, np.where(self.empty, -1.0, leftover))

    def _contributions(self, coef: Floats, sizes: Floats) -> Floats:
        """Return what each group contributes to the fit, |X_g B_g|, less what its columns would by chance.

        Else a category of many levels would come before any number, whatever it says of the target. What is
        no more than chance comes behind, by a small share of its contribution for each column.
        """
        owners, fitted = self.groups, np.zeros(self.Y.shape)
        squares = np.zeros(self.n_variables)
        for g in np.unique(owners[coef.any(axis=1)]) if owners is not None else ():
            own = np.flatnonzero(owners == g)
            part = self.X[:, own] @ coef[own]
            fitted += part
            squares[g] = float((part * part).sum())
        n_samples = self.n_samples or len(self.Y)
        noise = float(((self.Y - fitted) ** 2).sum()) / max(n_samples - 1, 1)
        beyond = np.sqrt(np.maximum(squares - (sizes**2 - 1) * noise, 0.0))
        return np.asarray(np.maximum(beyond, NO_MORE_THAN_CHANCE * np.sqrt(squares) / sizes))

    def _settled_copies(self, coef: Floats, lambda1: float, lambda2: float) -> Floats:
        """The same solution, with the coefficients of copies of a feature at the first as far as can be.

        A quadratic term settles by itself how they are shared. Groups and several fused targets are left as
        they are.
        """
        if self.groups is not None or self.quadratic != NO_QUADRATIC or self.copies is None:
            return coef
        edges = self._edges(lambda2)
        if not len(edges):
            return self.copies.joined(coef)
        return self.copies.arranged(coef, edges, lambda1, lambda2) if coef.shape[1] == 1 else coef

    @cached_property
    def copies(self) -> Copies | None:
        """Features that are equal; None where all differ."""
        return Copies.of(self.X)

    def _algorithm_1(
        self,
        rows: RowGroups | GroupNorms,
        lambda2: float,
        tol: float,
        start: SolverResult | None,
        stop_early: bool,
        settled: Settled | None,
    ) -> SolverResult:
        """On a working set where features are many more than samples, else on all of them at once."""
        f, C = self.smooth, incidence(self._edges(lambda2), self.n_features)
        if stop_early and self.groups is None and not self._dense():
            return split_bregman_on_working_set(
                f, rows, C, lambda2, max_iter=self.max_iter, tol=tol, start=start, settled=settled
            )
        state = start.state if start else None
        return split_bregman(
            f,
            rows,
            C,
            lambda2,
            max_iter=self.max_iter,
            tol=tol,
            start=state,
            stop_early=stop_early,
            settled=settled,
        )

    def _edges(self, lambda2: float) -> Ints:
        """The edges that are fused: none without a weight."""
        edges = chain_edges(self.n_features) if self.edges is None else self.edges
        return edges if lambda2 > 0 else edges[:0]

    def _dense(self) -> bool:
        """Whether the Hessian is formed: not when features are many more than samples."""
        return self._published() or hessian_is_worth_forming(self.X)

    def _choose(self, lambda2: float) -> str:
        """The solver that was asked for, or the fastest that can solve this model."""
        fused = len(self._edges(lambda2)) > 0
        on_chain = self.Y.shape[1] == 1 and self.groups is None and (self.edges is None or not fused)
        if self.solver == "proximal" and not on_chain:
            raise InputError(Setting("solver", "proximal"), " needs one target and fusion='chain' or 'none'.")
        if self.solver == "coordinate-descent" and fused:
            raise InputError(Setting("solver", "coordinate-descent"), " needs lambda2=0 or fusion='none'.")
        if self.solver != "auto":
            return self.solver
        if self._published():
            return "split-bregman"
        if not fused:
            # A step of Algorithm 1 is a product with an inverse: dearer, but with many targets and few
            # features, where most of them stay in the model, so few steps are needed that it wins.
            several_dense = self.Y.shape[1] > 1 and self._dense()
            return "split-bregman" if several_dense or self._wide_groups() else "coordinate-descent"
        # With structure a gradient is a product with U, and Algorithm 1 needs it on a working set only.
        cheap_steps = self._dense() or not isinstance(self.quadratic, Structural)
        return "proximal" if on_chain and cheap_steps else "split-bregman"

    def _wide_groups(self) -> bool:
        """Whether groups of features bring far more of them into the model than there are samples.

        The Hessian of a working set is then much larger than the system of Algorithm 1, which has the size
        of the samples, and nearly singular: there coordinate descent is slow, and stops far from the end.
        """
        n_samples, n_features = self.X.shape
        return self.groups is not None and n_features > WIDE * n_samples

    def _published(self) -> bool:
        """Whether the structural term is the one that the paper prints, which may not be convex."""
        return not self.quadratic.convex


PREFERENCE = 1e-4  # for the first of a group: less than what any change of the penalties costs
LEAST = 1e-4  # costs are in units of the smaller penalty, but of no less than this share of the larger
PRECISION = 1e-10  # of the linear program, the finest that HiGHS takes
GOLDEN = (np.sqrt(5) - 1) / 2  # whose multiples are far from each other modulo one


@dataclass(frozen=True)
class Copies:
    """The first feature that is equal to each, or to its negative, and which of the two."""

    first: Ints
    sign: Floats

    @classmethod
    def of(cls, X: Design) -> Copies | None:
        """None where all features differ."""
        found = copies_of(X)
        return None if found is None else cls(*found)

    def joined(self, coef: Floats) -> Floats:
        """Where nothing is fused: all coefficients of a group at the first of it."""
        joined = np.zeros_like(coef)
        np.add.at(joined, self.first, self.sign[:, None] * coef)
        return joined

    def arranged(self, coef: Floats, edges: Ints, lambda1: float, lambda2: float) -> Floats:
        """Where features are fused along edges: as much at the first of a group as costs nothing.

        One target, so that the penalties are linear but for signs.
        """
        free, scale = self._free(coef[:, 0], edges), np.abs(coef).max(initial=0.0)
        if not free.any() or not np.isfinite(scale):
            return coef
        arranged = coef.copy()
        arranged[free, 0] = scale * self._program(coef[:, 0] / scale, free, edges, lambda1, lambda2)
        return arranged

    def _free(self, b: Floats, edges: Ints) -> Array:
        """The copies that some solution may give another coefficient.

        Those that are connected, as copies or by edges, and all zero among zeros, are zero in all solutions.
        """
        from scipy.sparse.csgraph import connected_components

        n_features, each = len(b), np.arange(len(b))
        copied = np.bincount(self.first, minlength=n_features)[self.first] > 1
        between = edges[copied[edges].all(axis=1)]
        links = np.concatenate([between, np.column_stack([each, self.first])])
        graph = sp.coo_array((np.ones(len(links)), links.T), shape=(n_features, n_features))
        component = connected_components(graph, directed=False)[1]
        near = b != 0
        near[edges[near[edges].any(axis=1)]] = True
        return copied & np.isin(component, component[copied & near])

    def _program(self, b: Floats, free: Array, edges: Ints, lambda1: float, lambda2: float) -> Floats:
        """The free coefficients; for the program, differences of two numbers that are not negative."""
        from scipy.optimize import linprog

        features = np.flatnonzero(free)
        unit = max(min(lambda1, lambda2), LEAST * max(lambda1, lambda2))
        group = np.unique(self.first[features], return_inverse=True)[1]
        sums = sp.csr_array((self.sign[features], (group, np.arange(len(features)))))
        C = incidence(edges[free[edges].any(axis=1)], len(b))
        on_free, given = C[:, features], C @ np.where(free, 0.0, b)
        later = np.where(self.first[features] == features, 0.0, 1 + GOLDEN * features % 1)
        size = lambda1 / unit + PREFERENCE * later
        difference = np.full(C.shape[0], lambda2 / unit)
        eye = sp.eye_array(C.shape[0])
        equal = sp.block_array([[sums, -sums, None, None], [on_free, -on_free, -eye, eye]], format="csr")
        found = linprog(
            np.concatenate([size, size, difference, difference]),
            A_eq=equal,
            b_eq=np.concatenate([sums @ b[features], -given]),
            method="highs-ds",
            options={"primal_feasibility_tolerance": PRECISION, "dual_feasibility_tolerance": PRECISION},
        )
        if not found.success:  # by its precision: what was given is a solution too
            return b[features]
        more, less, _ = np.split(found.x, [len(features), 2 * len(features)])
        return np.asarray(more - less)
