r"""How much better a feature does than its copy, in a lasso that has both.

.. math::

    W_j = |b_j| - |\tilde b_j|, \quad (B, \tilde B) = \arg\min \tfrac12 |Y - XB - \tilde X \tilde B|^2
    + \lambda \Big(\sum_j |b_j| + \sum_j |\tilde b_j|\Big)

with :math:`\lambda` chosen by cross-validation, and rows for several targets. The order of entry on the path
was measured too: it finds far less where features are correlated.
"""

from __future__ import annotations

import numpy as np

from infused._typing import Floats, Ints
from infused.penalties.rows import GroupNorms, RowGroups
from infused.selectors.knockoff_copies import Parts
from infused.selectors.model import Fit, SparseModel
from infused.selectors.ranking import path_grid

__all__ = ["coefficient_gaps"]

FOLDS = 5
PATH_LENGTH, SMALLEST = 15, 0.01  # of lambda, relative to where no feature is needed
WORSE = 1.05  # times the least error: the path ends there
ROUGH, EXACT = 1e-3, 1e-4  # tolerances, in the folds and of the answer
MAX_ITER = 3000


def coefficient_gaps(parts: Parts, copies: Floats, Y: Floats, random: np.random.Generator) -> Floats:
    """W of each variable."""
    n = int(parts.owners[-1]) + 1
    swapped = random.random(n) < 0.5  # so that no solver can prefer what comes first
    exchanged = swapped[parts.owners]
    A = np.hstack([np.where(exchanged, copies, parts.Z), np.where(exchanged, parts.Z, copies)])
    A -= A.mean(axis=0)
    A /= np.linalg.norm(A, axis=0)
    groups = None if parts.single else np.concatenate([parts.owners, parts.owners + n])
    B = _cross_validated(A, Y, groups, random)
    rows = RowGroups(1.0) if groups is None else GroupNorms(1.0, groups)
    lengths = rows.lengths(B)
    gaps = lengths[:n] - lengths[n:]
    return np.where(swapped, -gaps, gaps)


def _cross_validated(A: Floats, Y: Floats, groups: Ints | None, random: np.random.Generator) -> Floats:
    """Coefficients at the lambda that predicts best what was left out."""
    whole = _model(A, Y, groups, EXACT)
    grid = path_grid(whole.largest_lambda1(), SMALLEST * whole.largest_lambda1(), PATH_LENGTH)
    n_folds = min(FOLDS, len(A))
    parts = random.permutation(len(A)) % n_folds
    folds = [_model(A[parts != fold], Y[parts != fold], groups, ROUGH) for fold in range(n_folds)]
    left_out = [(A[parts == fold], Y[parts == fold]) for fold in range(n_folds)]
    fits: list[Fit | None] = [None] * n_folds
    errors: list[float] = []
    for value in grid:
        scaled = [value * len(model.X) / len(A) for model in folds]
        fits = [_next(*one) for one in zip(folds, scaled, fits, strict=True)]
        pairs = zip(left_out, fits, strict=True)
        errors.append(sum(_error(*part, fit) for part, fit in pairs if fit is not None))
        if errors[-1] > WORSE * min(errors):
            break
    fit: Fit | None = None
    for value in grid[: int(np.argmin(errors)) + 1]:
        fit = _next(whole, value, fit)
    return np.zeros((A.shape[1], Y.shape[1])) if fit is None else fit.result.coef


def _model(A: Floats, Y: Floats, groups: Ints | None, tol: float) -> SparseModel:
    return SparseModel(np.ascontiguousarray(A), Y, MAX_ITER, tol, groups=groups, solver="coordinate-descent")


def _next(model: SparseModel, value: float, fit: Fit | None) -> Fit:
    return model.fit(value, 0.0, start=None if fit is None else fit.result)


def _error(A: Floats, Y: Floats, fit: Fit) -> float:
    rows = np.flatnonzero(fit.result.coef.any(axis=1))
    left = Y - A[:, rows] @ fit.result.coef[rows]
    return float((left * left).sum())
