"""One sparse model on some of the features: what the rankings fit again and again."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from infused._typing import Floats, Ints
from infused.penalties.fusion import FusedChain, chain_edges, incidence
from infused.penalties.quadratic import Ridge, Structural
from infused.results import SolverResult, SplitState
from infused.solvers.least_squares import LeastSquares
from infused.solvers.proximal import proximal_gradient
from infused.solvers.split_bregman import split_bregman

__all__ = ["Fit", "SparseModel"]

FEW_FEATURES = 256  # below this the Hessian is always worth forming


@dataclass(frozen=True)
class Fit:
    """A solution, and by how much each feature still correlates with what it leaves over."""

    result: SolverResult
    leftover: Floats

    @property
    def scores(self) -> Floats:
        """Length of each feature's row of coefficients."""
        return np.asarray(np.linalg.norm(self.result.coef, axis=1))


@dataclass(frozen=True)
class SparseModel:
    """X, Y, the quadratic penalty, the edges, and how to solve.

    ``edges`` of None is the chain of whatever features there are: those that remain stay neighbours.
    """

    X: Floats
    Y: Floats
    quadratic: Ridge | Structural
    edges: Ints | None
    solver: str
    max_iter: int
    tol: float

    @property
    def n_features(self) -> int:
        """Columns of X."""
        return int(self.X.shape[1])

    def largest_lambda1(self) -> float:
        """The smallest lambda1 for which no feature is needed (without fusion)."""
        return float(np.linalg.norm(self.X.T @ self.Y, axis=1).max(initial=0.0))

    def of(self, features: Ints) -> SparseModel:
        """The same model on some of the features."""
        edges = self.edges
        if edges is not None:
            position = np.full(self.n_features, -1, dtype=np.int64)
            position[features] = np.arange(len(features))
            moved = position[edges]
            edges = moved[(moved >= 0).all(axis=1)]
        quadratic = self.quadratic.of(features) if isinstance(self.quadratic, Structural) else self.quadratic
        return replace(self, X=np.ascontiguousarray(self.X[:, features]), quadratic=quadratic, edges=edges)

    def fit(
        self,
        lambda1: float,
        lambda2: float,
        *,
        tol: float | None = None,
        start: SplitState | None = None,
        stop_early: bool = True,
    ) -> Fit:
        """Solve for one pair of lambdas."""
        tol = self.tol if tol is None else tol
        f = LeastSquares(self.X, self.Y, self.quadratic, dense=self._dense())
        edges = chain_edges(self.n_features) if self.edges is None else self.edges
        if stop_early and self._use_proximal(lambda2):
            penalty = FusedChain(lambda1, lambda2)
            result = proximal_gradient(f, penalty, max_iter=10 * self.max_iter, tol=tol)
        else:
            C = incidence(edges if lambda2 > 0 else edges[:0], self.n_features)
            result = split_bregman(
                f, C, lambda1, lambda2, max_iter=self.max_iter, tol=tol, start=start, stop_early=stop_early
            )
        residual = self.Y - self.X @ result.coef
        return Fit(result, np.asarray(np.linalg.norm(self.X.T @ residual, axis=1)))

    def _dense(self) -> bool:
        """Whether the Hessian is formed: not when features are many more than samples."""
        return self._published() or self.n_features <= max(len(self.X), FEW_FEATURES)

    def _use_proximal(self, lambda2: float) -> bool:
        """One target on a chain has an exact proximal operator; the published term may not be convex."""
        possible = self.Y.shape[1] == 1 and (self.edges is None or lambda2 == 0.0)
        if self.solver == "proximal" and not possible:
            raise ValueError("solver='proximal' needs one target and fusion='chain' or 'none'.")
        if self.solver == "auto":
            return possible and not self._published() and not self._woodbury_is_cheaper()
        return possible and self.solver == "proximal"

    def _woodbury_is_cheaper(self) -> bool:
        """With structure and few samples, a step of Algorithm 1 costs little and fewer are needed."""
        return isinstance(self.quadratic, Structural) and self.n_features > 4 * len(self.X)

    def _published(self) -> bool:
        """Whether the structural term is the one that the paper prints."""
        return isinstance(self.quadratic, Structural) and not self.quadratic.top
