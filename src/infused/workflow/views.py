"""Features as one column each, for figures that take one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from infused._runtime.cached import cached_property
from infused._typing import Floats, Ints
from infused.coding import Coded, Coding
from infused.data import Dataset
from infused.record.distributions import dense_columns

__all__ = ["FeatureView", "feature_view"]


@dataclass(frozen=True)
class FeatureView:
    """Features as one column of numbers each: gaps filled, the outcomes of categories numbered."""

    data: Dataset
    coding: Coding
    coded: Coded

    @cached_property
    def X(self) -> Any:
        """All of them."""
        if not self.coding.variables or not isinstance(self.data.X, np.ndarray):
            return self.coded.F
        return np.column_stack([self.values(j) for j in range(self.data.n_features)])

    @property
    def numbers(self) -> Ints:
        """Which are no categories."""
        return np.array([j for j in range(self.data.n_features) if self.levels(j) is None], dtype=np.int64)

    def levels(self, feature: int) -> tuple[str, ...] | None:
        """What the numbers of a category stand for."""
        if not self.coding.variables or self.coding.variables[feature].levels is None:
            return None
        return self.coding.variables[feature].outcomes

    def values(self, feature: int) -> Floats:
        """One of them."""
        if self.levels(feature) is None:
            columns, _ = self.coded.columns(np.array([feature]))
            return dense_columns(self.coded.F, columns[:1])[:, 0]
        return self.coding.outcome(self.data.X[:, feature], feature).astype(np.float64)


def feature_view(dataset: Dataset) -> FeatureView:
    """The view on all samples."""
    coding = dataset.coder.fit(dataset.X)
    return FeatureView(dataset, coding, coding.apply(dataset.X))
