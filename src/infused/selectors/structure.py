"""U of a data set as the selectors take it: formed, or as an operator where features are many.

A product with the operator costs a multiple of N M, and so does making it; to form U takes a multiple of
N^2 M, and N^2 of memory. For N well above M and dense data the operator is therefore the faster one. Its
error is below 1e-3 of what U is divided by in the model, so that with lambda3 a hundredth of a feature's
square the quadratic term is off by at most 1e-5 of it. That is no proof that a selection stays the same; the
tests compare selections with those of the formed U.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import scipy.sparse as sp

from infused._runtime.memory import memory_budget
from infused._typing import Floats, Ints
from infused.exceptions import PrecisionError
from infused.graphs.validation import Graph, check_data, sparse_if_mostly_zero
from infused.information.criteria import CriterionName
from infused.information.operator import InformationOperator
from infused.information.sharing import shared
from infused.information.structural import StructuralInformation, structural_information
from infused.selectors.inputs import TrainingData, one_target

__all__ = ["Structure"]

TOL = 1e-6  # of U's entries; a smaller error changes no selection
MANY_FEATURES = 2000  # below which U takes little time and memory, however it is made
FEATURES_PER_SAMPLE = 8  # from which the operator is faster than U
BYTES_PER_ENTRY = 48  # of X, that the operator takes: two factors of three terms, and their part in a round


@dataclass(frozen=True)
class Structure:
    """The structural information of the features of some training data."""

    data: TrainingData
    criterion: CriterionName
    graph: Graph
    n_jobs: int | None
    memory_budget: int | float | str | None

    def formed(self, features: Ints) -> Floats:
        """U of some features."""
        return structural_information(
            self.data.columns(features),
            one_target(self.data.y),
            tol=TOL,
            **self._options,
        )

    def operator(self, features: Ints) -> InformationOperator | None:
        """What multiplies with U of some features, where that is faster than to form it."""
        if self._whole is None or len(features) == self.data.n_features:
            return self._whole
        return self._whole.restricted(features)

    @property
    def _options(self) -> dict[str, Any]:
        return {
            "criterion": self.criterion,
            "graph": self.graph,
            "target": self.data.kind,
            "n_jobs": self.n_jobs,
            "memory_budget": self.memory_budget,
        }

    @cached_property
    def _whole(self) -> InformationOperator | None:
        if not self._many():
            return None
        y = one_target(self.data.y)

        def compute() -> InformationOperator | None:
            information = StructuralInformation.from_data(self.data.X, y, tol=TOL, **self._options)
            try:
                return information.operator() if information.route == "separable" else None
            except PrecisionError:
                return None

        what = ("operator", self.graph, self.data.kind, self.criterion)
        return shared(what, (self.data.X, y), compute)

    def _many(self) -> bool:
        """Whether features are well above samples, and the operator fits."""
        n_samples, n_features = self.data.X.shape
        if n_features < max(MANY_FEATURES, FEATURES_PER_SAMPLE * n_samples):
            return False
        fits = BYTES_PER_ENTRY * n_samples * n_features <= memory_budget(self.memory_budget)
        return fits and not sp.issparse(sparse_if_mostly_zero(check_data(self.data.X)))
