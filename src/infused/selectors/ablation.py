r"""InFusedLasso with one of its parts changed: what is each of them worth?

The full model is

.. math::

    \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_i |b_i| + \lambda_2 \sum_i |b_{i+1} - b_i|
    + \lambda_3\, \mathrm{tr}\, B'\Big(I - \frac{U - \bar U}{c}\Big)B

with one column of Y for each class. A variant that does as well as the full model says that the part it lacks
does nothing on these data. The variants without fusion and with labels for Y are a matter of parameters.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from infused.penalties.quadratic import Ridge
from infused.selectors.infused_lasso import InFusedLasso
from infused.selectors.model import SparseModel

__all__ = ["EqualRidge", "PermutedStructure"]


class EqualRidge(InFusedLasso):
    r"""The structural term replaced by a ridge of the same weight, :math:`\lambda_3\,\mathrm{tr}\,B'B`."""

    def _with_structure(self, model: SparseModel, X: Any, y: Any) -> SparseModel:
        term: Any = super()._with_structure(model, X, y).quadratic
        return replace(model, quadratic=Ridge(term.weight))


class PermutedStructure(InFusedLasso):
    """U with its features in random order: the same eigenvalues, at the wrong features."""

    def _with_structure(self, model: SparseModel, X: Any, y: Any) -> SparseModel:
        model = super()._with_structure(model, X, y)
        term: Any = model.quadratic
        order = np.random.default_rng(0).permutation(model.n_features)
        return replace(model, quadratic=replace(term, U=term.U[np.ix_(order, order)]))
