"""U of a data set as the selectors take it: formed, formed where a model comes near, or as an operator.

A product with the operator costs a multiple of N M, and so does making it; to form U takes a multiple of
N^2 M, and N^2 of memory. For N well above M and dense data the operator is therefore the faster one, and for
models that take few features at a time a sample of it and U of those features are faster still. Either is off
by less than about 1e-3 of what U is divided by in the model, so that with lambda3 a hundredth of a feature's
square the quadratic term is off by about 1e-5 of it. That is no proof that a selection stays the same; the
tests compare selections with those of the formed U.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from infused._runtime.cached import cached_property
from infused._runtime.memory import memory_budget, require
from infused._typing import Floats, Ints
from infused.exceptions import PrecisionError
from infused.graphs.validation import Graph, check_data, sparse_if_mostly_zero
from infused.information.criteria import CriterionName
from infused.information.nearby import MOST_KNOWN, NearbyInformation, Sampled
from infused.information.operator import InformationOperator
from infused.information.sharing import shared
from infused.information.structural import StructuralInformation, structural_information
from infused.selectors.inputs import TrainingData, one_target

__all__ = ["Structure"]

TOL = 1e-6  # of U's entries; a smaller error changes no selection
MANY_FEATURES = 2000  # below which U takes little time and memory, however it is made
FEATURES_PER_SAMPLE = 8  # from which the operator is faster than U
SAMPLE = 2000  # features from which the mean of U and the size of its eigenvalues are taken
TIMES_SAMPLE = 3  # as many features, from which a sample is worth it
BYTES_PER_PAIR = 24  # of features: U, its part for the next round, and what the solver makes of it
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
        if not self._wide or self._bytes > memory_budget(self.memory_budget) or self._whole is None:
            return None
        return self._whole if len(features) == self.data.n_features else self._whole.restricted(features)

    def nearby(self, features: Ints) -> NearbyInformation | InformationOperator | None:
        """U of some features for a model that takes few of them: formed for those that it comes near."""
        if not self._wide or self.data.n_features < TIMES_SAMPLE * SAMPLE:
            return self.operator(features)
        return None if self._nearby is None else self._nearby.restricted(features)

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
        return self._operator(self.data.X)

    @cached_property
    def _nearby(self) -> NearbyInformation | None:
        n = self.data.n_features
        sample = np.sort(np.random.default_rng(0).choice(n, SAMPLE, replace=False))
        operator = self._operator(self.data.columns(sample))
        if operator is None:
            return None
        most = min(MOST_KNOWN, int(np.sqrt(memory_budget(self.memory_budget) / BYTES_PER_PAIR)))
        return NearbyInformation.make(n, self.formed, self._demanded, Sampled.of(operator, n), most)

    def _operator(self, X: Any) -> InformationOperator | None:
        """Of the features of X; None where its error would be too large."""
        y = one_target(self.data.y)

        def compute() -> InformationOperator | None:
            information = StructuralInformation.from_data(X, y, tol=TOL, **self._options)
            try:
                return information.operator() if information.route == "separable" else None
            except PrecisionError:
                return None

        what = ("operator", self.graph, self.data.kind, self.criterion, X.shape)
        return shared(what, (X, y), compute)

    def _demanded(self) -> InformationOperator:
        """The operator of all features, where there is no way around it."""
        what, instead = f"U of {self.data.n_features} features", "raise lambda1, so that the model has fewer"
        require(self._bytes, memory_budget(self.memory_budget), what, instead)
        if self._whole is None:
            raise PrecisionError(f"Products with {what} have too large an error; {instead}.")
        return self._whole

    @property
    def _bytes(self) -> int:
        """What the operator of all features takes."""
        n_samples, n_features = self.data.X.shape
        return int(BYTES_PER_ENTRY * n_samples * n_features)

    @cached_property
    def _wide(self) -> bool:
        """Whether features are many, well above samples, and dense."""
        n_samples, n_features = self.data.X.shape
        if n_features < max(MANY_FEATURES, FEATURES_PER_SAMPLE * n_samples):
            return False
        return not sp.issparse(sparse_if_mostly_zero(check_data(self.data.X)))
