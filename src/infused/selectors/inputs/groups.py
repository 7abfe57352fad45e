"""Whole variables: columns that are kept or dropped together, such as the levels of a category."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from infused._runtime.compat import cached_property
from infused._runtime.messages import count, listed, quoted, suggestion
from infused._typing import Array, Floats, Ints
from infused.exceptions import InputError, Setting

#: What ``groups`` may be, for scikit-learn's validation of parameters.
GROUPS = ["array-like", Mapping, None]

#: The same for ``blocks``.
BLOCKS = ["array-like", Mapping, None]

#: The same for ``keep``.
KEEP = ["array-like", None]

#: The same for ``penalty_factors``.
FACTORS = ["array-like", Mapping, None]


@dataclass(frozen=True)
class Groups:
    """Which columns make one variable; without groups, every column is one."""

    codes: Ints
    """The group of each column, numbered in the order of their first columns."""
    names: Sequence[Any]
    given: bool

    @classmethod
    def parse(cls, groups: Any, n_columns: int, column_names: Sequence[str] | None = None) -> Groups:
        """Read groups from one label for each column, or from a mapping of names to columns.

        Columns that a mapping leaves out are variables of their own, under the name or position that they
        have.
        """
        if groups is None:
            names = range(n_columns) if column_names is None else column_names
            return cls(np.arange(n_columns), names, given=False)
        if isinstance(groups, Mapping):
            labels = _labels_of_mapping(groups, n_columns, column_names)
        else:
            labels = _checked_labels(groups, n_columns)
        places: dict[Hashable, int] = {}
        codes = np.array([places.setdefault(label, len(places)) for label in labels], dtype=np.int64)
        return cls(codes, list(places), given=True)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def single(self) -> bool:
        """Return whether every column is a variable of its own."""
        return len(self.names) == len(self.codes)

    @property
    def labels(self) -> Ints | None:
        """Return the groups as a selector of the same columns takes them; None where it needs none."""
        return self.codes if self.given or not self.single else None

    @cached_property
    def sizes(self) -> Ints:
        """Count the columns of each group."""
        return np.bincount(self.codes, minlength=len(self.names))

    def columns(self, group: int) -> Ints:
        """List the columns of one group."""
        return np.flatnonzero(self.codes == group)

    def several(self) -> Ints:
        """Find the groups that have more than one column."""
        return np.flatnonzero(self.sizes > 1)

    def summed(self, values: Floats) -> Floats:
        """Sum the numbers of the columns of each group."""
        if self.single:
            return values
        return np.asarray(np.bincount(self.codes, weights=values, minlength=len(self.names)))

    def all_of(self, mask: Array) -> Array:
        """Return for each group whether all its columns are in a mask."""
        return np.asarray(np.bincount(self.codes, weights=~mask, minlength=len(self.names)) == 0)

    def places(self, keep: Any) -> Ints:
        """Find the groups that are always to be selected, by name; single columns by position too."""
        if keep is None:
            return np.empty(0, np.int64)
        own = {name: place for place, name in enumerate(self.names)}
        found = [self._place(name, own) for name in np.asarray(keep, dtype=object).ravel().tolist()]
        if len(set(found)) < len(found):
            raise InputError(Setting("keep"), " names a feature more than once")
        if len(found) == len(self):
            raise InputError(Setting("keep"), " names every feature: none is left to select")
        return np.array(found, dtype=np.int64)

    def _place(self, name: Any, own: Mapping[Any, int], setting: str = "keep") -> int:
        if not self.given:
            return _place(setting, name, len(self), own)
        if name not in own:
            close = suggestion(str(name), [str(known) for known in own])
            raise InputError(Setting(setting), f" has no group {quoted(name)}{close}")
        return own[name]

    def factors(self, penalty_factors: Any) -> Floats | None:
        """Return what the penalty of each variable is multiplied with; None where that is one for all.

        They are given by variable, or by name (or position of single columns) for some of them.
        """
        if penalty_factors is None:
            return None
        if isinstance(penalty_factors, Mapping):
            own = {name: place for place, name in enumerate(self.names)}
            factors = np.ones(len(self))
            for name, factor in penalty_factors.items():
                factors[self._place(name, own, "penalty_factors")] = factor
        else:
            factors = np.asarray(penalty_factors, dtype=np.float64)
            if factors.shape != (len(self),):
                what = "groups" if self.given else "features"
                raise InputError(
                    Setting("penalty_factors"),
                    f" must hold one number for each of the {len(self)} {what}, got shape {factors.shape}",
                )
        if not (factors >= 0).all():
            raise InputError(Setting("penalty_factors"), " must be numbers of at least zero")
        if not ((factors > 0) & np.isfinite(factors)).any():
            raise InputError(Setting("penalty_factors"), " leave no feature to select: each is 0 or infinity")
        return None if (factors == 1).all() else factors

    def blocks(self, blocks: Any) -> tuple[Ints, list[str]]:
        """Return the block of each variable, numbered in the order of their first ones, and their names.

        They are given by variable, or by a mapping from blocks to names (or positions of single columns);
        variables that it leaves out are the block "other".
        """
        if isinstance(blocks, Mapping):
            own = {name: place for place, name in enumerate(self.names)}
            labels = ["other"] * len(self)
            for block, members in blocks.items():
                for one in _as_list(members):
                    labels[self._place(one, own, "blocks")] = str(block)
        else:
            labels = [str(one) for one in np.asarray(blocks, dtype=object).ravel().tolist()]
            if len(labels) != len(self):
                what = "groups" if self.given else "features"
                raise InputError(
                    Setting("blocks"),
                    f" must hold one label for each of the {len(self)} {what}, got {len(labels)}",
                )
        names = list(dict.fromkeys(labels))
        return np.array([names.index(label) for label in labels], dtype=np.int64), names

    def array_of_names(self) -> Array:
        """Return the names in an array of objects, as scikit-learn has those of features."""
        names = np.empty(len(self.names), dtype=object)
        names[:] = self.names
        return names


def by_variable(
    X: Any,
    variables: Groups,
    of_columns: Callable[[Any], Floats],
    of_group: Callable[[Any], float],
) -> Floats:
    """Score single columns, all at once, and groups of several columns, one by one."""
    if variables.single:
        return of_columns(X)
    X = X.tocsc() if sp.issparse(X) else X
    scores = np.zeros(len(variables))
    alone = np.flatnonzero(variables.sizes[variables.codes] == 1)
    if len(alone):
        scores[variables.codes[alone]] = of_columns(X[:, alone])
    for group in variables.several():
        scores[group] = of_group(X[:, variables.columns(group)])
    return scores


def _checked_labels(groups: Any, n_columns: int) -> list[Hashable]:
    array = np.asarray(groups, dtype=object)
    if array.shape != (n_columns,):
        raise InputError(
            Setting("groups"),
            f" must hold one label for each of the {n_columns} features, got shape {array.shape}",
        )
    labels: list[Hashable] = array.tolist()
    for place, label in enumerate(labels):
        if label is None or label != label:
            raise InputError(Setting("groups"), f" has no label for the feature at position {place}")
    return labels


def _labels_of_mapping(
    groups: Mapping[Any, Any], n_columns: int, column_names: Sequence[str] | None
) -> list[Hashable]:
    own = range(n_columns) if column_names is None else list(column_names)
    places = {} if column_names is None else {name: place for place, name in enumerate(own)}
    labels: dict[int, Hashable] = {}
    for name, columns in groups.items():
        found = [_place("groups", column, n_columns, places) for column in _as_list(columns)]
        if not found:
            raise InputError(Setting("groups"), f" has no columns for {quoted(name)}")
        taken = [column for column in found if column in labels]
        if taken or len(set(found)) < len(found):
            twice = listed(own[column] for column in taken or found)
            raise InputError(Setting("groups"), f" has a column more than once: {twice}")
        labels.update(dict.fromkeys(found, name))
    left = [own[place] for place in range(n_columns) if place not in labels]
    clash = [name for name in left if name in groups]
    if clash:
        raise InputError(
            Setting("groups"), f" names a group {listed(clash)} as a column that is not in it: rename it"
        )
    return [labels.get(place, own[place]) for place in range(n_columns)]


def _as_list(columns: Any) -> list[Any]:
    if isinstance(columns, str | Integral):
        return [columns]
    return list(columns)


def _place(setting: str, column: Any, n_columns: int, places: Mapping[Any, int]) -> int:
    """Find the position of a column that is given by name or by position."""
    truth = isinstance(column, bool | np.bool_)  # which is no position, though Python takes it for one
    if column in places and not truth:
        return places[column]
    if isinstance(column, Integral) and not truth:
        place = int(column)
        if 0 <= place < n_columns:
            return place
        why = f"has no column {column}: X has {count(n_columns, 'column')}"
    elif any(isinstance(name, str) for name in places):
        why = f"has no column {quoted(column)}{suggestion(str(column), list(places))}"
    else:
        why = f"has a column {quoted(column)}, but X has no names: give positions, or X as a data frame"
    raise InputError(Setting(setting), f" {why}")
