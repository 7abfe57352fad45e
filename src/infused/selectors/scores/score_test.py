"""Score tests of features in Cox's model: of single columns, of several together, and given others."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import chi2

from infused._design import dense, rows_scaled
from infused._runtime.threads import memory_budget
from infused._typing import Array, Floats, Ints
from infused.datafits import Cox, Curvature
from infused.penalties import RowGroups
from infused.selectors.inputs.groups import Groups
from infused.selectors.inputs.training import Weights, design_matrix
from infused.selectors.scores.f_test import FTests
from infused.solvers import Loss, null_solution

COLUMNS_AT_ONCE = 64
NEGLIGIBLE = 1e-10  # of the information of a column: less has nothing of its own beside what is kept


def score_tests(X: Any, y: Array, variables: Groups, kept: Ints, weights: Weights | None = None) -> FTests:
    r"""Test each variable, all its columns together, given the variables that are kept.

    .. math::

        \chi^2 = U' V^{-1} U, \qquad U = Z'(\delta - \Lambda)

    with U the slope of the partial likelihood along the columns Z of the variable where they have no
    coefficients, and V its curvature, both given the maximum of the likelihood over what is kept. With one
    column of two values it is the log-rank test.
    """
    design = design_matrix(X, True, memory_budget(), weights)
    values, given = None, np.flatnonzero(np.isin(variables.codes, kept))
    if weights is not None:
        values, design = weights.values, rows_scaled(design, 1 / weights.root)
    f = Loss(Cox(y["time"], y["event"], values), design, kept=dense(design[:, given]))
    null = null_solution(f, RowGroups(1.0))
    eta = f.predictions(null.coef, f.at(null)[1])
    slope, curvature = null.gradient[:, 0], f.datafit.curvature(eta)
    found, degrees = np.zeros(len(variables)), np.ones(len(variables))
    single = np.flatnonzero(variables.sizes[variables.codes] == 1)
    for first in range(0, len(single), COLUMNS_AT_ONCE):
        own = single[first : first + COLUMNS_AT_ONCE]
        V = np.diagonal(_information(curvature, dense(design[:, own]), f.Z))
        there = np.flatnonzero(V > NEGLIGIBLE)
        found[variables.codes[own[there]]] = slope[own[there]] ** 2 / V[there]
    for group in variables.several():
        own = variables.columns(group)
        V = _information(curvature, dense(design[:, own]), f.Z)
        sizes, directions = np.linalg.eigh(V)
        known = sizes > NEGLIGIBLE
        along = directions[:, known].T @ slope[own]
        degrees[group] = max(int(known.sum()), 1)
        found[group] = float((along**2 / sizes[known]).sum())
    log_p = chi2.logsf(found, degrees)
    return FTests(found / degrees, log_p, bool((degrees == degrees[0]).all()))


def _information(curvature: Curvature, F: Floats, Z: Floats) -> Floats:
    """Return the information of some columns, less what the columns Z share of it."""
    V, n = curvature.gram(np.column_stack([Z, F])), Z.shape[1]
    inner, cross = V[n:, n:], V[n:, :n]
    return np.asarray(inner - cross @ np.linalg.pinv(V[:n, :n], hermitian=True) @ cross.T)
