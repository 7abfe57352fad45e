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

import numpy as np

from infused._typing import Floats, Ints
from infused.penalties.quadratic import PairInformation, Ridge, Structural
from infused.selectors.inputs.training import TrainingData
from infused.selectors.linear.infused_lasso import InFusedLasso
from infused.selectors.linear.model import SparseModel


class EqualRidge(InFusedLasso):
    r"""The structural term replaced by a ridge of the same weight, :math:`\lambda_3\,\mathrm{tr}\,B'B`."""

    def _model(self, data: TrainingData) -> SparseModel:
        model = super()._model(data)
        term = model.quadratic
        return replace(model, quadratic=Ridge(term.strength)) if isinstance(term, Structural) else model


class PermutedStructure(InFusedLasso):
    """U with its features in random order: the same eigenvalues, at the wrong features."""

    def _model(self, data: TrainingData) -> SparseModel:
        model = super()._model(data)
        term = model.quadratic
        if not isinstance(term, Structural):
            return model
        U = term.information

        def permuted(features: Ints) -> Floats:
            order = np.random.default_rng(0).permutation(len(features))
            return U.formed(features)[np.ix_(order, order)]

        return replace(model, quadratic=replace(term, information=PairInformation(permuted)))
