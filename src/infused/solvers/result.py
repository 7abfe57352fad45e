"""Frozen value types that computations return."""

from __future__ import annotations

from dataclasses import dataclass

from infused._typing import Floats

__all__ = ["RegularizationPath", "SolverResult", "SplitState"]


@dataclass(frozen=True)
class SplitState:
    """Where a split Bregman iteration stands: enough to go on from there."""

    p: Floats
    """The sparse copy of the coefficients."""
    q: Floats
    """The sparse copy of their differences along the edges."""
    u: Floats
    """Multipliers of b = p."""
    v: Floats
    """Multipliers of C b = q."""
    mu: float
    """Weight of both constraints."""


@dataclass(frozen=True)
class SolverResult:
    """What a solver found, and how far it is to be trusted."""

    coef: Floats
    """Coefficients, features x targets, with exact zeros."""
    objective: Floats
    """The objective after each iteration."""
    primal_residuals: Floats
    """How far the copies were from what they copy, where the solver has copies."""
    dual_residuals: Floats
    """How far the copies moved."""
    n_iter: int
    converged: bool
    reason: str
    """Why it stopped, in words."""
    certificate: float
    """Largest violation of the optimality conditions, relative to lambda1; it proves optimality only where
    the objective is convex."""
    gradient: Floats
    """Of the smooth part of the objective, at the coefficients."""
    state: SplitState | None = None
    """For a warm start of a solver that has copies."""


@dataclass(frozen=True)
class RegularizationPath:
    """Solutions for falling lambda1."""

    lambda1: Floats
    """From where no feature is needed downwards; as the estimator takes it (relative or absolute)."""
    coef: Floats
    """lambdas x targets x features."""
    certificate: Floats
    """Violation of the optimality conditions of each, relative to its lambda1."""
    n_iter: Floats
    """Iterations of each."""
