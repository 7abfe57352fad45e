"""Data ready for a selector: X, y, the names, and where they come from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from infused._runtime.messages import count, listed, quoted
from infused._runtime.threads import cached_property
from infused._typing import Array, Data, TargetKind
from infused.coding import Coded, Coder, Coding, Levels, Origin, has_gaps, transformed
from infused.data.columns import no_columns
from infused.data.reading import DataError, GridOrder, ReadOptions
from infused.datafits import SURVIVAL, martingale_residuals
from infused.samples import ALONE, Samples

DEFAULTS = ReadOptions()


@dataclass(frozen=True)
class Features:
    """Numbers, samples x features, with names.

    Parameters
    ----------
    X : ndarray or sparse CSR array of shape (n_samples, n_features)
        The values, float64; for categories the positions of their levels; NaN for gaps.
    feature_names : tuple of str
        One for each column of X.
    notes : tuple of str, default=()
        What was left out or filled, a sentence each.
    levels : tuple or None, default=None
        For each feature the names of its levels, None for a number; None where all are numbers.
    origins : tuple of Origin or None, default=None
        How each feature is read from a column; None for columns of their names that hold numbers.

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
    levels: Levels | None = None
    origins: tuple[Origin, ...] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Samples x features with a target, every feature with a name of its own.

    A feature is a variable: a number, or a category. Gaps are NaN. Without gaps and categories, X is what a
    selector takes; otherwise :meth:`coded` makes that of it.

    Parameters
    ----------
    name : str
        A short name; "data" for data given in Python.
    X : ndarray or sparse CSR array of shape (n_samples, n_features)
        The values, float64: numbers, and for categories the positions of their levels; NaN for gaps.
    y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Texts or int64 for classes, float64 for real targets.
    feature_names : tuple of str
        One for each column of X.
    target_name : str
        What y is called.
    kind : {"classes", "real", "survival"}
        What the target holds; times and events are records of ``event`` and ``time``.
    source : str or None, default=None
        The path or name that `load_data` was given; None for data given in Python.
    grid_shape : tuple of int or None, default=None
        Rows and columns of the picture whose pixels are the features.
    grid_order : {"rows", "columns"}, default="rows"
        Whether the features list the pixels row by row or column by column.
    notes : tuple of str, default=()
        What was left out, filled or taken for granted, a sentence each.
    levels : tuple or None, default=None
        For each feature the names of its levels, None for a number; None where all are numbers.
    origins : tuple of Origin or None, default=None
        How each feature is read from a column; None for columns of their names that hold numbers.
    impute : str, default="median"
        How gaps of numbers are filled.
    options : ReadOptions, default=ReadOptions()
        The options that the data were read with.
    samples : Samples, default=ALONE
        The groups and the order of the samples, where they were given.
    hints : tuple of str, default=()
        Why rows may be related that were not said to be, a sentence each.
    blocks : tuple of str or None, default=None
        The kind of each feature, where kinds were given.

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
    levels: Levels | None = None
    origins: tuple[Origin, ...] | None = None
    impute: str = "median"
    options: ReadOptions = DEFAULTS
    samples: Samples = ALONE
    hints: tuple[str, ...] = ()
    blocks: tuple[str, ...] | None = None

    @property
    def n_samples(self) -> int:
        """Return the number of rows of X."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Return the number of columns of X."""
        return int(self.X.shape[1])

    @property
    def grid_by_rows(self) -> tuple[int, int] | None:
        """Return the shape of the picture whose pixels the features list row by row."""
        if self.grid_shape is None or self.grid_order == "rows":
            return self.grid_shape
        # Pixels that are listed by columns are those of the turned picture listed by rows.
        return self.grid_shape[1], self.grid_shape[0]

    @cached_property
    def fingerprint(self) -> str:
        """Compute the SHA-256 of X, y, the feature names, groups and order, when first asked for.

        The same data have the same fingerprint in every file format and on every machine.
        """
        return fingerprint(self.X, self.y, self.feature_names, self.levels, self._filled_by, self.samples)

    @cached_property
    def coder(self) -> Coder:
        """Return the rules by which features become columns of numbers, learned on training rows."""
        return Coder(self.feature_names, self.levels, self.impute, self.origins, has_gaps(self.X))

    @property
    def plain(self) -> bool:
        """Return whether X has neither missing values nor categories."""
        return self.levels is None and not self.coder.gaps

    @cached_property
    def coding(self) -> Coding:
        """Learn on all samples how features become columns of numbers; computed once."""
        return self.coder.fit(self.X)

    @cached_property
    def _coded(self) -> Coded:
        return self.coding.apply(self.X)

    def coded(self) -> Coded:
        """Return the columns of numbers that a selector takes, learned on all samples; computed once.

        Returns
        -------
        Coded
            ``F`` holds the columns, ``groups`` the feature of each; None where each feature is one column.
        """
        return self._coded

    def duplicates(self) -> dict[int, int]:
        """Find the features that repeat an earlier one exactly; none where ``keep_duplicates`` was given.

        Categories do where they divide the samples in the same way, whatever their levels are called.

        Returns
        -------
        dict
            Positions of duplicates, each with that of the first feature with these values.
        """
        first: dict[tuple[bool, bytes], int] = {}  # by digests: the values themselves would be a copy of X
        found: dict[int, int] = {}
        for j, (rows, values) in enumerate(() if self.options.keep_duplicates else _columns(self.X)):
            category = self.levels is not None and self.levels[j] is not None
            digest = hashlib.blake2b(digest_size=16)
            if category:
                column = np.zeros(self.n_samples)
                column[rows] = values
                _feed_numbers(digest, _numbered(column), "<i8")
            else:
                _feed_numbers(digest, rows, "<i8")
                _feed_numbers(digest, np.where(np.isnan(values), np.nan, values), "<f8")
            key = (category, digest.digest())
            if key in first:
                found[j] = first[key]
            else:
                first[key] = j
        return found

    @property
    def _filled_by(self) -> str | None:
        return self.impute if self.coder.gaps else None

    def with_numbers(self) -> Dataset:
        """Return the data with martingale residuals in the place of times and events: a number per sample.

        Returns
        -------
        Dataset
            The events of each sample, less those expected by its time if no feature mattered, as a continuous
            target; the data themselves, where they hold no times and events.
        """
        if self.kind != "survival":
            return self
        return replace(self, y=martingale_residuals(self.y), kind="real")

    def transformed(self, transform: str) -> Dataset:
        """Return the data with a transform of every number.

        Parameters
        ----------
        transform : {"none", "sqrt", "log1p"}
            For counts and intensities: a negative value is an error.

        Returns
        -------
        Dataset
            The data; categories and missing values stay as they are.
        """
        if transform == "none":
            return self
        levels = self.levels or (None,) * self.n_features
        numeric = None if self.levels is None else np.array([own is None for own in levels])
        return replace(self, X=transformed(self.X, transform, self.feature_names, numeric))

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
        elif self.kind == "survival":
            goal = f"{count(int(self.y['event'].sum()), 'event')} in {quoted(self.target_name)}"
        else:
            several = f"{self.y.shape[1]} " if self.y.ndim == 2 else ""
            goal = f"{several}real target{'s' if several else ''} {quoted(self.target_name)}"
        return f"{self.name}: {size}, {goal}"

    def __repr__(self) -> str:
        return f"<Dataset {self.describe()}>"

    def take(self, features: Iterable[str | int]) -> Dataset:
        """Return the samples with these features alone, in the order given.

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
        coder = self.coder.take(positions)
        return replace(
            self,
            X=self.X[:, positions],
            feature_names=names,
            levels=coder.levels,
            origins=coder.origins,
            grid_shape=None,
            blocks=None if self.blocks is None else tuple(self.blocks[j] for j in positions),
        )

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


VERSION = b"infused data 1"
BLOCK = 256  # columns taken at once
SPARSE = 4  # a column with fewer than a quarter of its entries non-zero is hashed by those


def fingerprint(
    X: Data,
    y: Array,
    names: Iterable[str],
    levels: Levels | None = None,
    impute: str | None = None,
    samples: Samples = ALONE,
) -> str:
    """Compute the SHA-256; levels, fillings, groups and an order count where there are any."""
    digest = hashlib.sha256(VERSION)
    _feed_texts(digest, names)
    _feed_numbers(digest, np.array(X.shape), "<i8")
    for rows, values in _columns(X):
        if len(rows) * SPARSE < X.shape[0]:
            _feed_numbers(digest, rows, "<i8")
            _feed_numbers(digest, np.where(np.isnan(values), np.nan, values), "<f8")
        else:
            column = np.zeros(X.shape[0])
            column[rows] = np.where(np.isnan(values), np.nan, values)  # every gap has the same bits
            _feed_numbers(digest, column, "<f8")
    if y.dtype == SURVIVAL:
        y = np.column_stack([y["time"], y["event"]])
    _feed_numbers(digest, np.array(y.shape), "<i8")
    if y.dtype.kind == "U":
        _feed_texts(digest, y.tolist())
    else:
        _feed_numbers(digest, y, "<f8" if y.dtype.kind == "f" else "<i8")
    for own in levels or ():
        _feed_texts(digest, ("category", *own) if own is not None else ("number",))
    if impute is not None:
        _feed_texts(digest, (f"gaps by {impute}",))
    if samples.groups is not None or samples.order is not None:
        _feed_texts(digest, ("samples", *samples.texts))
    return digest.hexdigest()


def _columns(X: Data) -> Iterator[tuple[Array, Array]]:
    """Yield rows and values of the non-zero entries of each column."""
    if isinstance(X, np.ndarray):
        for start in range(0, X.shape[1], BLOCK):
            for column in np.asfortranarray(X[:, start : start + BLOCK]).T:
                rows = np.flatnonzero(column)
                yield rows, column[rows]
        return
    by_column = X.tocsc()
    by_column.sum_duplicates()
    by_column.eliminate_zeros()
    for start, end in zip(by_column.indptr, by_column.indptr[1:], strict=False):
        yield by_column.indices[start:end], by_column.data[start:end]


def _numbered(codes: Array) -> Array:
    """Number levels in the order of their first samples."""
    _, first, member = np.unique(codes, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[member]


def _feed_texts(digest: Any, texts: Iterable[str]) -> None:
    """Hash each text after its length, so that no two lists run together."""
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d:%b" % (len(encoded), encoded))


def _feed_numbers(digest: Any, values: Array, dtype: str) -> None:
    digest.update(b"%s %d " % (dtype.encode(), values.size))
    digest.update(np.ascontiguousarray(values, dtype=dtype).data)
