"""From variables to the columns of numbers that a selector takes: learned on training rows, applied to any.

A **number** is one column. Its gaps are filled by the median of the training rows (or the mean, the most
frequent value, zero), and where they are many, 5% of those rows or more, a second column is 1 where there is
one. A **category** has a 0/1 column for each level; two levels need one column. A gap is a level of its own.
Levels with fewer than 1% of the rows and than 5 rows (a tenth of the rows, where these are fewer than 50) are
pooled; where rows have weights, a row counts as many times. A level that the training rows lack counts as
pooled; where nothing was pooled, all columns are 0. The columns of a variable are one group, which is
selected whole or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from infused._runtime.messages import check_choice
from infused._runtime.threads import memory_budget, require
from infused._typing import Array, Data, Floats, Ints
from infused.exceptions import InputError, Setting

TRANSFORMS: dict[str, Callable[[Any], Any]] = {"none": lambda X: X, "sqrt": np.sqrt, "log1p": np.log1p}

Levels = tuple[tuple[str, ...] | None, ...]

#: How a variable may be read from a column, and the signs of decimals in its texts.
HOWS = ("number", "category", "code", "level", "word", "year", "month", "weekday", "hour")
DECIMALS = (".", ",")

OTHER, GAP = "(other)", "(missing)"
MANY_GAPS = 0.05  # of the training rows
FEWEST, RARE = 5, 0.01
FEW_LEVELS = 10
MOST_RARE = 256  # columns of a category whose levels are all rare


@dataclass(frozen=True)
class Origin:
    """How a variable is read from a column."""

    column: str
    how: str = "number"
    """"number", "category", "code" (numbers as levels), "level" (1 where it is ``level``), "word" (how often
    ``level`` occurs), or, of a date, "year", "month", "weekday", "hour"."""
    decimal: str = "."
    """Of numbers in text."""
    unit: str | None = None
    """Of numbers in text: their currency, "%", or "" for none; None where any is taken."""
    format: str | None = None
    """Of dates in text."""
    level: str | None = None
    fill: float | None = None
    """What stands for a gap, where that was settled when the data were read."""


@dataclass(frozen=True)
class VariableCoding:
    """How one variable becomes columns."""

    name: str
    origin: Origin
    fill: float | None = None
    """What stands for a gap of a number; None for a category."""
    indicator: bool = False
    """Whether a number has a second column, 1 where there is a gap."""
    levels: tuple[str, ...] | None = None
    """The levels of a category that have a column."""
    rare: tuple[str, ...] = ()
    """Those that are pooled."""
    pooled: bool = False
    """Whether there is a name for all others."""
    pool_column: bool = True
    """Whether they have a column."""
    gap: bool = False
    """Whether gaps of a category have one."""

    @property
    def outcomes(self) -> tuple[str, ...]:
        """List the levels of a category, and what stands for the others and for missing values."""
        return (*(self.levels or ()), *([OTHER] if self.pooled else []), *([GAP] if self.gap else []))

    @property
    def column_names(self) -> tuple[str, ...]:
        """Name its columns: one for each level, or for the second of two."""
        if self.levels is None:
            return (self.name, f"{self.name}={GAP}") if self.indicator else (self.name,)
        told = [one for one in self.outcomes if self.pool_column or one != OTHER]
        names = tuple(f"{self.name}={one}" for one in told)
        return (names[1:] if len(names) == 2 else names) or (self.name,)


class Coded(NamedTuple):
    """Columns of numbers, and the variable that each belongs to."""

    F: Data
    groups: Ints | None
    """One number for each column, that of its variable, in order; None where every variable is one column."""
    numeric: Array | None
    """Which columns hold numbers, rather than 0 and 1 for levels and gaps; None for all."""

    @property
    def variables(self) -> Ints:
        """Return the variable of each column."""
        return np.arange(self.F.shape[1]) if self.groups is None else self.groups

    def columns(self, variables: Ints) -> tuple[Ints, Ints]:
        """List the columns of some variables, one after another, and where those of each end."""
        return columns_of(variables, self.groups)

    def taken(self, variables: Ints) -> Coded:
        """Take some of the variables, in the order given."""
        if np.array_equal(variables, np.unique(self.variables)):
            return self
        columns, ends = columns_of(variables, self.groups)
        widths = np.diff(ends, prepend=0)
        groups = np.repeat(np.arange(len(variables)), widths) if len(widths) and widths.max() > 1 else None
        numeric = None if self.numeric is None else self.numeric[columns]
        return Coded(self.F[:, columns], groups, numeric)


def columns_of(variables: Ints, groups: Ints | None) -> tuple[Ints, Ints]:
    """List the columns of some variables, one after another, and where those of each end.

    ``groups`` has the variable of each column; None where every column is one.
    """
    if groups is None:
        return variables, np.arange(1, len(variables) + 1)
    sizes = np.bincount(groups)
    by_variable = np.split(np.argsort(groups, kind="stable"), np.cumsum(sizes)[:-1])
    parts = [by_variable[one] for one in variables]
    return np.concatenate([np.zeros(0, np.int64), *parts]), np.cumsum(sizes[variables])


@dataclass(frozen=True)
class Coder:
    """The rules by which variables become columns.

    Parameters
    ----------
    names : tuple of str
        Of the variables.
    levels : tuple or None
        Of each variable the levels that its codes stand for, None for a number; None where all are numbers.
    impute : str
        How gaps of numbers are filled; "none" leaves them.
    origins : tuple of Origin or None
        Where the variables come from; None for columns of their names.
    """

    names: tuple[str, ...]
    levels: Levels | None = None
    impute: str = "median"
    origins: tuple[Origin, ...] | None = None
    gaps: bool = True
    """Whether there may be any."""

    def take(self, positions: Sequence[int]) -> Coder:
        """Take the rules for some of the variables."""
        return Coder(
            tuple(self.names[j] for j in positions),
            None if self.levels is None else tuple(self.levels[j] for j in positions),
            self.impute,
            None if self.origins is None else tuple(self.origins[j] for j in positions),
            self.gaps,
        )

    def fit(self, X: Data, weights: Floats | None = None) -> Coding:
        """Learn fill values and levels from training rows."""
        if self.levels is None and not self.gaps:
            return Coding((), None)
        return self.learn(X, weights)

    def learn(self, X: Data, weights: Floats | None = None) -> Coding:
        """Learn fill values and levels also where nothing is missing, as it may be in other rows."""
        is_sparse = not isinstance(X, np.ndarray)
        columns = X.tocsc() if is_sparse else X
        every = (columns[:, [j]].toarray()[:, 0] if is_sparse else columns[:, j] for j in range(X.shape[1]))
        learned = (self._variable(values, j, is_sparse, weights) for j, values in enumerate(every))
        return Coding(tuple(learned), self.levels)

    def _variable(self, values: Floats, j: int, is_sparse: bool, weights: Floats | None) -> VariableCoding:
        name = self.names[j]
        origin = Origin(name, unit="") if self.origins is None else self.origins[j]
        levels = None if self.levels is None else self.levels[j]
        missing = np.isnan(values)
        if levels is None and self.impute == "none":
            return VariableCoding(name, origin, np.nan)
        if levels is None:
            fill = origin.fill if origin.fill is not None else _fill(values[~missing], self.impute)
            # A column beside a sparse one would be dense, and its group cost every method more.
            many = bool(missing.mean() >= MANY_GAPS) and not missing.all() and not is_sparse
            return VariableCoding(name, origin, fill, many)
        each = np.ones(len(values)) if weights is None else weights
        least = fewest_rows(float(each.sum()))
        times = np.bincount(values[~missing].astype(np.int64), each[~missing], minlength=len(levels))
        if len(times) and max(times) < least:  # all are rare: those of a few rows are better than none
            least = min(least, FEWEST if max(times) >= FEWEST else 2)
            least = max([least, *(np.sort(times)[:-MOST_RARE] + 1)[-1:]])
        kept = tuple(level for level, n in zip(levels, times, strict=True) if n >= least)
        rare = tuple(level for level, n in zip(levels, times, strict=True) if 0 < n < least)
        gaps = float(each[missing].sum())
        n_pooled = float(times[times < least].sum()) + (gaps if gaps < least else 0.0)
        return VariableCoding(
            name,
            origin,
            levels=kept,
            rare=rare,
            pooled=n_pooled > 0,
            # A pool that is rare itself would be the one odd row again.
            pool_column=n_pooled >= least,
            gap=gaps >= least,
        )


@dataclass(frozen=True)
class Coding:
    """How variables become columns, as it was learned on some rows."""

    variables: tuple[VariableCoding, ...]
    """Empty where there is nothing to do."""
    levels: Levels | None
    """What the codes of the data stand for."""

    def apply(self, X: Data) -> Coded:
        """Make the columns of any rows."""
        if not self.variables:
            return Coded(X, None, None)
        if not isinstance(X, np.ndarray):
            return Coded(_filled_sparse(X, np.array([one.fill for one in self.variables])), None, None)
        widths = [len(one.column_names) for one in self.variables]
        stops = np.cumsum(widths)
        require(
            8 * len(X) * int(stops[-1]),
            memory_budget(),
            f"coding {len(widths):,} variables as {stops[-1]:,} columns of numbers",
            "leave out columns of text with many levels",
        )
        F, numeric = np.empty((len(X), stops[-1]), order="F"), np.zeros(stops[-1], dtype=bool)
        for j, (one, width, stop) in enumerate(zip(self.variables, widths, stops, strict=True)):
            F[:, stop - width : stop] = self._block(X[:, j], j)
            numeric[stop - width] = one.levels is None
        groups = np.repeat(np.arange(len(widths)), widths) if max(widths) > 1 else None
        return Coded(F, groups, None if numeric.all() else numeric)

    def _block(self, values: Floats, j: int) -> Floats:
        one = self.variables[j]
        if one.levels is None:
            missing = np.isnan(values)
            filled = np.where(missing, one.fill or 0.0, values)
            return np.column_stack([filled, missing]) if one.indicator else filled[:, None]
        outcome = self.outcome(values, j)
        width = len(one.outcomes)
        block = np.equal(outcome[:, None], np.arange(width)).astype(np.float64)
        if one.pooled and not one.pool_column:
            block, width = np.delete(block, len(one.levels), axis=1), width - 1
        if width == 0:
            return np.zeros((len(values), 1))
        return block[:, 1:] if width == 2 else block

    def column_names(self) -> list[str]:
        """Name the columns: a variable by its name, a level as ``variable=level``."""
        return [name for one in self.variables for name in one.column_names]

    def outcome(self, values: Floats, j: int) -> Ints:
        """Return the outcome of a category in each row; -1 for none of them."""
        one, levels = self.variables[j], (self.levels or ())[j] or ()
        place = {level: n for n, level in enumerate(one.levels or ())}
        other = len(place) if one.pooled else -1
        gap = len(one.outcomes) - 1 if one.gap else other
        table = np.array([*(place.get(level, other) for level in levels), gap], dtype=np.int64)
        codes = np.where(np.isnan(values), len(levels), values).astype(np.int64)
        return table[codes]


def is_identifier(n_levels: int, n_present: int) -> bool:
    """Return whether nearly every row has a text of its own, as names and numbers of tickets do."""
    return n_levels == n_present > 2 or (n_levels > FEW_LEVELS and 2 * n_levels > n_present)


def fewest_rows(n_rows: float) -> int:
    """Return how many rows a level needs for a column of its own."""
    return max(1, ceil(max(RARE * n_rows, min(FEWEST, n_rows / 10))))


def has_gaps(X: Data) -> bool:
    """Return whether a value is NaN; found by sums, as a mask would take an eighth of the memory again."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.asarray(X.sum(axis=0)).ravel()
    unsure = np.flatnonzero(np.isnan(sums))
    if not isinstance(X, np.ndarray):
        return bool(len(unsure)) and bool(np.isnan(X.data).any())
    return any(bool(np.isnan(X[:, j]).any()) for j in unsure)


def _fill(present: Floats, impute: str) -> float:
    if impute == "zero" or not len(present):
        return 0.0
    if impute == "mean":
        return float(present.mean())
    if impute == "most-frequent":
        values, times = np.unique(present, return_counts=True)
        return float(values[times.argmax()])
    return float(np.median(present))


def _filled_sparse(X: Data, figures: Floats) -> Data:
    holes = np.isnan(X.data)
    if not holes.any():
        return X
    rows = X.tocsr().copy()
    holes = np.isnan(rows.data)
    rows.data[holes] = figures[rows.indices[holes]]
    rows.eliminate_zeros()
    return rows


def transformed(X: Data, name: str, feature_names: Sequence[str] = (), numeric: Array | None = None) -> Data:
    """Apply a transform of TRANSFORMS to every value of X; sparse data stay sparse.

    ``numeric`` says which columns hold numbers, by default all: others stay as they are. The square root and
    the logarithm are for counts and intensities: a negative value is an error.
    """
    check_choice("transform", name, TRANSFORMS)
    if name == "none":
        return X
    if numeric is not None:
        X = X.copy()
        names = [one for one, own in zip(feature_names, numeric, strict=bool(feature_names)) if own]
        X[:, numeric] = transformed(X[:, numeric], name, names)
        return X
    check_positive(X, name, feature_names)
    if isinstance(X, np.ndarray):
        return TRANSFORMS[name](X)
    X = X.copy()
    X.data = TRANSFORMS[name](X.data)  # zero stays zero
    return X


def check_positive(X: Data, transform: str, feature_names: Sequence[str] = ()) -> None:
    """Refuse the square root or the logarithm of negative values."""
    low = lowest(X)
    if transform not in ("none", "auto") and (low < 0).any():
        first = int(np.argmax(low < 0))
        whose = repr(feature_names[first]) if len(feature_names) else f"feature {first}"
        raise InputError(
            Setting("transform", transform),
            f" needs values that are not negative, but {whose} has {low[first]:g}",
        )


def lowest(X: Data) -> Floats:
    """Return the lowest known value of each column, at most zero; codes of categories are not negative."""
    if isinstance(X, np.ndarray):
        return np.asarray(np.fmin.reduce(X, axis=0, initial=0.0))
    return np.asarray(X.nanmin(axis=0).toarray(), dtype=np.float64).ravel()
