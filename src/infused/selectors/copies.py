r"""Copies of a feature: of all ways to share their coefficients that are solutions, one.

For a group g of equal features, a model determines the sum of their coefficients only, and solvers end with
different shares. Among the solutions is one that has as much as possible at the first of each group:

.. math:: \min_b \; \lambda_1 \sum_j (1 + \epsilon_j) |b_j| + \lambda_2 |C b|_1
    \quad \text{with the sums as they are, and all other coefficients,}

a small linear program. :math:`\epsilon_j` is zero for the first of a group, small and different for others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from infused._design import Design, copies_of
from infused._typing import Array, Floats, Ints
from infused.penalties.fusion import incidence

__all__ = ["Copies"]

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
