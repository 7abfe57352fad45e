"""Data ready for a selector: X, y, the names, and where they come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from infused._runtime.messages import count, listed, quoted
from infused._typing import Array, Data, TargetKind
from infused.data.columns import no_columns
from infused.data.errors import DataError
from infused.data.fingerprint import fingerprint
from infused.data.raw import GridOrder

__all__ = ["Dataset", "Features"]


@dataclass(frozen=True)
class Features:
    """Finite numbers, samples x features, with names.

    Parameters
    ----------
    X : ndarray or sparse CSR array of shape (n_samples, n_features)
        The values, float64.
    feature_names : tuple of str
        One for each column of X.
    notes : tuple of str, default=()
        What was left out or filled, a sentence each.

    See Also
    --------
    load_features : Reads them.

    Examples
    --------
    >>> from infused.data import load_features
    >>> load_features("wine", ["proline"]).feature_names
    ('proline',)
    """

    X: Data
    feature_names: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Samples x features with a target, all finite numbers, every feature with a name of its own.

    Parameters
    ----------
    name : str
        A short name; "data" for data given in Python.
    X : ndarray or sparse CSR array of shape (n_samples, n_features)
        The values, float64.
    y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Texts or int64 for classes, float64 for real targets.
    feature_names : tuple of str
        One for each column of X.
    target_name : str
        What y is called.
    kind : {"classes", "real"}
        What the target holds.
    source : str or None, default=None
        The path or name that `load_data` was given; None for data given in Python.
    grid_shape : tuple of int or None, default=None
        Rows and columns of the picture whose pixels are the features.
    grid_order : {"rows", "columns"}, default="rows"
        Whether the features list the pixels row by row or column by column.
    notes : tuple of str, default=()
        What was left out, filled or taken for granted, a sentence each.

    See Also
    --------
    load_data : Reads it.

    Examples
    --------
    >>> from infused.data import load_data
    >>> digits = load_data("digits")
    >>> print(digits.describe())
    digits: 1,797 samples x 64 features, 10 classes in 'digit'
    >>> digits.take(["pixel_3_5", "pixel_2_2"]).X.shape
    (1797, 2)
    """

    name: str
    X: Data
    y: Array
    feature_names: tuple[str, ...]
    target_name: str
    kind: TargetKind
    source: str | None = None
    grid_shape: tuple[int, int] | None = None
    grid_order: GridOrder = "rows"
    notes: tuple[str, ...] = ()

    @property
    def n_samples(self) -> int:
        """The number of rows of X."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """The number of columns of X."""
        return int(self.X.shape[1])

    @property
    def grid_by_rows(self) -> tuple[int, int] | None:
        """The shape of the picture whose pixels the features list row by row."""
        if self.grid_shape is None or self.grid_order == "rows":
            return self.grid_shape
        # Pixels that are listed by columns are those of the turned picture listed by rows.
        return self.grid_shape[1], self.grid_shape[0]

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the values of X and y and the feature names, in their order; computed on demand.

        The same data have the same fingerprint in every file format and on every machine.
        """
        return fingerprint(self.X, self.y, self.feature_names)

    def describe(self) -> str:
        """Say in one line what the data are.

        Returns
        -------
        str
            Name, size, and what the target is.
        """
        size = f"{count(self.n_samples, 'sample')} x {count(self.n_features, 'feature')}"
        if not isinstance(self.X, np.ndarray):
            size += f" (sparse, {self.X.nnz / (self.n_samples * self.n_features):.1%} non-zero)"
        if self.kind == "classes":
            goal = f"{count(len(np.unique(self.y)), 'class')} in {quoted(self.target_name)}"
        else:
            several = f"{self.y.shape[1]} " if self.y.ndim == 2 else ""
            goal = f"{several}real target{'s' if several else ''} {quoted(self.target_name)}"
        return f"{self.name}: {size}, {goal}"

    def __repr__(self) -> str:
        return f"<Dataset {self.describe()}>"

    def take(self, features: Iterable[str | int]) -> Dataset:
        """The same samples with these features alone, in the order given.

        Parameters
        ----------
        features : iterable of str or int, or mask
            By name, by position, or as a mask with one entry for each feature.

        Returns
        -------
        Dataset
            With all else as it was, but for the grid, which a part of a picture does not have.
        """
        positions = self._positions(list(features))
        names = tuple(self.feature_names[j] for j in positions)
        return replace(self, X=self.X[:, positions], feature_names=names, grid_shape=None)

    def _positions(self, features: list[str | int]) -> list[int]:
        if len(features) == self.n_features and all(isinstance(f, bool | np.bool_) for f in features):
            features = list(np.flatnonzero(features))
        if not features:
            raise DataError(f"no features to take from {quoted(self.name)}")
        where = {name: j for j, name in enumerate(self.feature_names)}
        absent = [f for f in features if isinstance(f, str) and f not in where]
        if absent:
            raise no_columns(absent, quoted(self.name))
        positions = [where[f] if isinstance(f, str) else int(f) for f in features]
        outside = [j for j in positions if not 0 <= j < self.n_features]
        if outside:
            raise DataError(
                f"{quoted(self.name)} has features 0 to {self.n_features - 1}, but not {listed(outside)}"
            )
        if len(set(positions)) < len(positions):
            raise DataError(f"a feature is taken twice from {quoted(self.name)}")
        return positions
