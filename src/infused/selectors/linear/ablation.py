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

from infused._typing import Ints
from infused.penalties.quadratic import Ridge
from infused.selectors.inputs.training import TrainingData
from infused.selectors.linear.estimator import Composition
from infused.selectors.linear.information import InformationTerm, WithInformation
from infused.selectors.linear.infused_lasso import InFusedLasso
from infused.selectors.linear.model import SparseModel


class EqualRidge(InFusedLasso):
    r"""The structural term replaced by a ridge of the same weight, :math:`\lambda_3\,\mathrm{tr}\,B'B`."""

    def _compose(self, data: TrainingData) -> Composition:
        return _with_term(super()._compose(data), _EqualRidge)


class PermutedStructure(InFusedLasso):
    """U with its features in random order: the same eigenvalues, at the wrong features."""

    def _compose(self, data: TrainingData) -> Composition:
        return _with_term(super()._compose(data), _Permuted)


class _EqualRidge(InformationTerm):
    def added_to(self, model: SparseModel, features: Ints) -> WithInformation:
        added = super().added_to(model, features)
        term: Any = added.model.quadratic
        return replace(added, model=replace(added.model, quadratic=Ridge(term.weight)))


class _Permuted(InformationTerm):
    def added_to(self, model: SparseModel, features: Ints) -> WithInformation:
        added = super().added_to(model, features)
        term: Any = added.model.quadratic
        order = np.random.default_rng(0).permutation(added.model.n_features)
        return replace(added, model=replace(added.model, quadratic=term.restricted(order)))


def _with_term(composed: Composition, kind: type[InformationTerm]) -> Composition:
    return replace(composed, information=kind(**vars(composed.information)))
