"""Samples that are related: folds, half-samples and permutations that respect groups and an order."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from infused._typing import Array, Ints, TargetKind
from infused.datafits import SURVIVAL
from infused.exceptions import InputError, Setting

#: Positions of the training and of the test samples.
Split = tuple[Ints, Ints]

BLOCKS = 20  # of samples in order that half-samples take whole
NO_VALUE = {"", "nan", "none", "<na>", "nat"}


@dataclass(frozen=True, eq=False)
class Samples:
    """How samples are related: groups of one patient, plate or day, and an order, such as time.

    Parameters
    ----------
    groups : ndarray of int of shape (n_samples,) or None, default=None
        The group of each sample, numbered from 0.
    order : ndarray of int of shape (n_samples,) or None, default=None
        The place of each sample in the order, numbered from 0; equal for samples of the same time.
    """

    groups: Ints | None = None
    order: Ints | None = None

    @classmethod
    def given(cls, sample_groups: Any, order: Any, n_samples: int) -> Samples:
        """Check one value per sample for groups and order; None for neither."""
        groups = None if sample_groups is None else _groups(sample_groups, n_samples)
        return cls(groups, None if order is None else _order(order, n_samples))

    def __bool__(self) -> bool:
        return self.groups is not None or self.order is not None

    @property
    def n_groups(self) -> int:
        """Count the groups; 0 where there are none."""
        return 0 if self.groups is None else int(self.groups.max()) + 1

    @property
    def texts(self) -> list[str]:
        """Write groups and order down, for a fingerprint."""
        return ["" if one is None else " ".join(map(str, one.tolist())) for one in (self.groups, self.order)]

    def take(self, rows: Any) -> Samples:
        """Return how some of the samples are related."""
        parts = (None if one is None else _dense(one[rows]) for one in (self.groups, self.order))
        return Samples(*parts)

    def most_folds(self, n_samples: int) -> int:
        """Return the largest number of folds."""
        if self.order is not None and self.groups is not None:
            return len(np.unique(self.groups[self._later()]))
        return self.n_groups or (n_samples if self.order is None else int(self.order.max()))

    def check_folds(self, n_folds: int, setting: str) -> None:
        """Refuse more folds than groups, or than times that have earlier ones."""
        most = self.most_folds(n_folds)
        if n_folds > most:
            what = "later times of " if self.groups is None else "groups of "
            option = Setting("order" if self.groups is None else "sample_groups")
            raise InputError(Setting(setting, n_folds), f" is more than the {most} {what}", option)

    def folds(self, y: Array, kind: TargetKind, n_folds: int, seed: int) -> list[Split]:
        """Split into folds: classes or events in equal shares, groups unbroken, training before testing.

        A class with fewer samples than folds is in some test parts only. Samples of one group alone, as the
        training part of one fold of two may be, are split as if they were not related.
        """
        if kind == "survival":
            y, kind = y["event"], "classes"
        if self.order is not None:
            return self._ordered_folds(y, kind, n_folds, seed)
        from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

        groups = self.groups if self.n_groups > 1 else None
        n_folds = n_folds if groups is None else min(n_folds, self.n_groups)
        plain, whole = (StratifiedKFold, StratifiedGroupKFold) if kind == "classes" else (KFold, GroupKFold)
        nothing = np.zeros((len(y), 1))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            splitter = (plain if groups is None else whole)(n_folds, shuffle=True, random_state=seed)
            try:
                found = list(splitter.split(nothing, y, groups))
            except ValueError:  # every class has fewer samples than there are folds
                found = []
        if groups is not None and not all(len(test) for _, test in found or [((), ())]):
            found = list(GroupKFold(n_folds, shuffle=True, random_state=seed).split(nothing, y, groups))
        return found

    def _ordered_folds(self, y: Array, kind: TargetKind, n_folds: int, seed: int) -> list[Split]:
        """Test later samples with models of earlier ones.

        Without groups, each part in the order is tested after all that come before it. With groups, the later
        half of the samples is tested group by group, with the earlier half of the other groups.
        """
        order, n_folds = self.order, max(1, min(n_folds, self.most_folds(len(y))))
        assert order is not None
        if self.groups is not None:
            groups, later = self.groups, self._later()
            rows = np.flatnonzero(later)
            tests = [rows[test] for _, test in self._of_later(later).folds(y[later], kind, n_folds, seed)]
            splits = [(np.flatnonzero(~later & ~np.isin(groups, groups[test])), test) for test in tests]
        else:
            cuts = [*self._cuts(n_folds), int(order.max()) + 1]
            splits = [
                (np.flatnonzero(order < a), np.flatnonzero((order >= a) & (order < b)))
                for a, b in pairwise(cuts)
            ]
        for train, _ in splits:
            if len(train) < 2 or (kind == "classes" and len(np.unique(y[train])) < 2):
                raise InputError(
                    Setting("order"), " leaves a training part with fewer than two ",
                    "classes" if kind == "classes" else "samples", ": give fewer folds",
                )  # fmt: skip
        return splits

    def _later(self) -> Array:
        """Return which samples are in the later half."""
        assert self.order is not None
        return self.order >= self._cuts(1)[0]

    def _of_later(self, later: Array) -> Samples:
        assert self.groups is not None
        return Samples(_dense(self.groups[later]))

    def _cuts(self, n: int) -> list[int]:
        """Find n places in the order that cut the samples in n + 1 parts of nearly equal size."""
        assert self.order is not None
        n_before = np.bincount(self.order).cumsum()
        wanted = len(self.order) * np.arange(1, n + 1) / (n + 1)
        cuts = np.searchsorted(n_before, wanted) + 1
        places = np.arange(n)
        cuts = np.maximum.accumulate(cuts - places) + places  # each later than the one before
        return np.asarray(np.minimum(cuts, len(n_before) - n + places)).tolist()  # type: ignore[no-any-return]

    @property
    def units(self) -> Ints | None:
        """Return the unit of each sample that half-samples take whole; None where each is one.

        Units are the groups, or blocks of an order in which at least 20 times are told apart.
        """
        if self.groups is not None or self.order is None:
            return self.groups
        n_times = int(self.order.max()) + 1
        return None if n_times < BLOCKS else self.order * BLOCKS // n_times

    def halves(self, y: Array, real: bool, seed: int) -> Split:
        """Split in two halves of equal size, with equal shares of every class, or of events.

        Groups go whole into a half: they are halved by the class that most of their samples have.
        """
        if y.dtype == SURVIVAL:
            y, real = y["event"], False
        codes = np.zeros(len(y), np.int64) if real else np.unique(y, return_inverse=True)[1].ravel()
        units = self.units
        if units is not None:
            table = np.zeros((units.max() + 1, codes.max() + 1), np.int64)
            np.add.at(table, (units, codes), 1)
            parts = _halved(table.argmax(axis=1), seed)
            return np.flatnonzero(np.isin(units, parts[0])), np.flatnonzero(np.isin(units, parts[1]))
        return _halved(codes, seed)

    def shuffled(self, n_samples: int, random: Any) -> Ints:
        """Permute the samples so that what is related stays related.

        Each group gets the samples of a random group in random order, repeated or cut to its size, so that
        features that are constant within groups are permuted between them, and others within them, too. An
        order is shifted in a circle.
        """
        if self.groups is not None:
            members = np.split(np.argsort(self.groups, kind="stable"), np.bincount(self.groups).cumsum()[:-1])
            rows = np.empty(n_samples, np.int64)
            for own, donor in zip(members, random.permutation(len(members)), strict=True):
                rows[own] = np.resize(random.permutation(members[donor]), len(own))
            return rows
        if self.order is not None:
            in_order = np.argsort(self.order, kind="stable")
            rows = np.empty(n_samples, np.int64)
            rows[in_order] = np.roll(in_order, 1 + int(random.random() * (n_samples - 1)))
            return rows
        return np.asarray(random.permutation(n_samples))

    def taken_by(self, selector: Any) -> dict[str, Ints]:
        """Return groups and order as keywords of a selector's ``fit``, as far as it takes them."""
        from sklearn.utils.validation import has_fit_parameter

        pairs = (("sample_groups", self.groups), ("order", self.order))
        return {name: one for name, one in pairs if one is not None and has_fit_parameter(selector, name)}


ALONE = Samples()  # not related


def _halved(codes: Ints, seed: int) -> Split:
    random = np.random.default_rng(seed)
    first, second, left = [], [], []
    for code in range(codes.max() + 1):
        rows = random.permutation(np.flatnonzero(codes == code))
        half = len(rows) // 2
        first.append(rows[:half])
        second.append(rows[half : 2 * half])
        left.append(rows[2 * half :])
    odd = random.permutation(np.concatenate(left))  # one of each class with an odd number
    half = len(odd) // 2
    first.append(odd[:half])
    second.append(odd[half : 2 * half])
    return np.sort(np.concatenate(first)), np.sort(np.concatenate(second))


def _dense(codes: Array) -> Ints:
    """Number values from 0, in their order."""
    return np.asarray(np.unique(codes, return_inverse=True)[1].ravel(), dtype=np.int64)


def _groups(values: Any, n_samples: int) -> Ints:
    values = _one_per_sample("sample_groups", values, n_samples)
    codes = _dense(values)
    if codes.max() == 0:
        raise InputError(Setting("sample_groups"), " has one group only: at least two are needed")
    return codes


def _order(values: Any, n_samples: int) -> Ints:
    values = _one_per_sample("order", values, n_samples)
    if values.dtype.kind in "US":
        for kind in ("float64", "datetime64[ns]"):
            try:
                values = values.astype(kind)
                break
            except ValueError:
                continue
        else:
            raise InputError(Setting("order"), " holds texts that are neither numbers nor dates")
    codes = _dense(values)
    if codes.max() == 0:
        raise InputError(Setting("order"), " has the same value for all samples")
    return codes


def _one_per_sample(name: str, values: Any, n_samples: int) -> Array:
    """Return numbers, dates or texts; refuse another length, and missing values."""
    array = np.asarray(values)
    if array.ndim == 2 and 1 in array.shape:
        array = array.ravel()
    if array.ndim != 1 or len(array) != n_samples:
        shape = "x".join(map(str, array.shape)) or "one"
        raise InputError(Setting(name), f" has {shape} values for {n_samples:,} samples: give one for each")
    if array.dtype.kind not in "biufMUS":
        array = np.array([str(value) for value in array.tolist()])
    if array.dtype.kind in "US":
        missing = np.array([str(value).strip().lower() in NO_VALUE for value in array.tolist()])
    else:
        missing = array != array
    if missing.any():
        raise InputError(
            Setting(name), f" has no value for {int(missing.sum()):,} of {n_samples:,} samples: fill them in"
        )
    return np.asarray(array)
