"""Features that are always selected: all others are judged by what they add to them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from infused._design import Design, dense
from infused._typing import Floats, Ints
from infused.selectors.base import ahead
from infused.selectors.inputs import left_over
from infused.selectors.model import SparseModel
from infused.selectors.ranking import Ranked

__all__ = ["Adjusted"]


@dataclass(frozen=True)
class Adjusted:
    r"""A model in which the coefficients of some variables carry no penalty.

    .. math::

        \min_{B, D} \tfrac12 |Y - XB - ZD|^2 + \Omega(B) = \min_B \tfrac12 |PY - PXB|^2 + \Omega(B)

    with Z the columns that are kept and P the projection on what they leave over.
    """

    whole: SparseModel
    """The model of all variables."""
    kept: Ints
    model: SparseModel
    """That of the others."""
    others: Ints
    features: Ints
    """The features of the others."""
    Z: Floats
    """The columns that are kept."""

    @classmethod
    def make(cls, whole: SparseModel, kept: Ints, F: Design) -> Adjusted:
        """From the model of all variables, which is left alone where none is kept, and all columns.

        A model may have set features to zero that it does not need, but not where they are kept.
        """
        others = np.setdiff1d(np.arange(whole.n_variables), kept)
        features, Z = whole.features(others), dense(F[:, whole.features(kept)])
        if not len(kept):
            return cls(whole, kept, whole, others, features, Z)
        part = whole.restricted(features)
        varying = np.asarray(F[:, features].any(axis=0))  # a copy of what is kept is no constant
        model = replace(part, X=left_over(part.X, Z), Y=left_over(whole.Y, Z), varying=varying)
        return cls(whole, kept, model, others, features, Z)

    def coefficients(self, B: Floats) -> Floats:
        """Of all features, from those of the others: what is kept explains what they leave."""
        if not len(self.kept):
            return B
        full = np.zeros((self.whole.n_features, B.shape[1]))
        full[self.features] = B
        left = self.whole.Y - self.whole.X[:, self.features] @ B
        full[self.whole.features(self.kept)] = np.linalg.lstsq(self.Z, left, rcond=None)[0]
        return full

    def expanded(self, ranked: Ranked) -> Ranked:
        """The ranking of all variables, from that of the others."""
        if not len(self.kept):
            return ranked
        scores, ranking = np.zeros(self.whole.n_variables), np.zeros(self.whole.n_variables, np.int64)
        scores[self.others], ranking[self.others] = ranked.scores, ranked.ranking
        scores, ranking = ahead(self.kept, scores, ranking)
        return replace(ranked, scores=scores, ranking=ranking, coef=self.coefficients(ranked.coef))
