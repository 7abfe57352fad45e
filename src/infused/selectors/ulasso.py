"""Uncorrelated lasso."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from infused._typing import Floats
from infused.penalties.quadratic import Decorrelation, Quadratic
from infused.selectors.linear import WEIGHT, LinearSelector

__all__ = ["ULasso"]


class ULasso(LinearSelector):
    r"""The uncorrelated lasso: correlated features are not selected together.

    .. math::

        \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_i |b_i| + \lambda_2\, \mathrm{tr}\, B'RB,
        \qquad R_{ij} = \mathrm{corr}(f_i, f_j)^2

    R is positive semidefinite, so the problem is convex; it is never stored. Where features are uncorrelated,
    R is the identity and this is the elastic net.

    Parameters
    ----------
    lambda1, lambda2 : float
        Weights of sparsity and of decorrelation. A relative lambda2 is a fraction of the mean squared length
        of a feature.
    n_features_to_select, lambda_scale, target, standardize, ranking, max_iter, tol, n_jobs, memory_budget
        As in :class:`Lasso`, and so are the attributes.

    References
    ----------
    S. Chen, C. Ding, B. Luo, Y. Xie, "Uncorrelated lasso", AAAI Conference on Artificial Intelligence (2013).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import ULasso
    >>> X, y = load_wine(return_X_y=True)
    >>> ULasso(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearSelector._parameter_constraints,
        "lambda2": WEIGHT,
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | None = None,
        lambda1: float = 0.05,
        lambda2: float = 0.01,
        lambda_scale: str = "relative",
        target: str = "auto",
        standardize: bool = True,
        ranking: str = "recursive",
        max_iter: int = 3000,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        memory_budget: int | float | str | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.lambda_scale = lambda_scale
        self.target = target
        self.standardize = standardize
        self.ranking = ranking
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.memory_budget = memory_budget

    def _quadratic(self, F: Floats) -> Quadratic:
        centred = F if self.standardize else F - F.mean(axis=0)
        length = np.linalg.norm(centred, axis=0)
        unit = F if self.standardize else centred / np.where(length > 0, length, 1.0)
        return Decorrelation(unit, self._weight(self.lambda2, F))
