"""Inputs of a selector, checked: variables in numbers, and what each kind of selector makes of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from infused._columns import COPIED, StoredColumns, stored_array
from infused._runtime.compat import Interval, StrOptions, cached_property
from infused._runtime.messages import listed, quoted
from infused._typing import Array, Data, Floats, Ints
from infused.coding import OTHER, Coder, Levels, has_gaps, is_identifier
from infused.datafits import SURVIVAL
from infused.exceptions import InputError, Setting
from infused.graphs.validation import Target
from infused.information.discrete import (
    MAX_BINS,
    Codes,
    DenseCodes,
    discretize,
    distinct_samples,
    joint_codes,
    target_codes,
)
from infused.selectors.base import checked
from infused.selectors.inputs.frames import coded_frame
from infused.selectors.inputs.groups import Groups
from infused.selectors.inputs.training import Weights, constant_columns, weighed

BINS = 5  # of equal frequency, where their number is chosen
TAIL = 25  # samples that every part of an outer bin keeps
N_BINS: list[Any] = [Interval(Integral, 2, MAX_BINS, closed="both"), StrOptions({"auto"})]


@dataclass(frozen=True)
class ModelColumns:
    """Columns of numbers for a model, and the variable that each belongs to."""

    X: Data
    variables: Groups
    names: Sequence[str] | None = None
    """What the columns are called; None where each is a feature."""


@dataclass(frozen=True)
class Inputs:
    """Samples and target as they were given, in numbers."""

    X: Data
    """Numbers, and for a category the codes of its levels. A missing value is NaN."""
    y: Any
    variables: Groups
    levels: Levels | None = None
    """Of each column the levels of a category, None for a number; None where all are numbers."""
    weights: Weights | None = None
    names: tuple[str, ...] | None = None
    """Of the columns; None for their positions."""

    @property
    def survival(self) -> bool:
        """Tell whether y holds times and events."""
        return getattr(self.y, "dtype", None) == SURVIVAL

    def weighed(self, sample_weight: Any) -> Inputs:
        """Leave out the samples of weight zero, and add the weights of the others."""
        X, y, weights = weighed(self.X, self.y, sample_weight)
        return replace(self, X=X, y=y, weights=weights)

    @cached_property
    def coded(self) -> ModelColumns:
        """Return columns for models: a category as one group of 0/1 columns, one for each level."""
        return self._coded("none")

    @cached_property
    def filled(self) -> ModelColumns:
        """Return columns for models that take no missing values, which are filled and indicated."""
        if self.levels is None and not has_gaps(self.X):
            return ModelColumns(self.X, self.variables)
        return self._coded("median")

    def _coded(self, impute: str) -> ModelColumns:
        if self.levels is None and impute == "none":
            return ModelColumns(self.X, self.variables)
        coder = Coder(self.names or tuple(map(str, range(self.X.shape[1]))), self.levels, impute)
        coding = coder.learn(self.X, None if self.weights is None else self.weights.values)
        columns = coding.apply(self.X)
        if columns.groups is None:
            return ModelColumns(columns.F, self.variables, coding.column_names())
        owners = self.variables.codes[columns.groups]
        return ModelColumns(columns.F, replace(self.variables, codes=owners), coding.column_names())

    def counted(self, n_bins: int | str, real: bool, n_jobs: int | None) -> tuple[Codes, Ints, Ints | None]:
        """Return the codes of variables and target, and how often each sample counts (None: once).

        Numbers are in bins, categories by level, a missing value is a level. Only bins that are chosen
        ("auto") have tails.
        """
        counts, units = self.whole_weights
        distinct, _ = distinct_samples(self.X, self.y)
        n_bins, tail = (BINS, TAIL) if n_bins == "auto" else (int(n_bins), 0)
        kind: Target = "real" if real else "classes"
        y_codes = target_codes(self.X, self.y, target=kind, n_bins=n_bins, weights=counts, tail=tail)
        if self.levels is None:
            codes = discretize(self.X, n_bins, n_jobs, counts, distinct, tail)
            return joint_codes(codes, self.variables.codes), y_codes, units
        numbers = np.array([own is None for own in self.levels])
        rows = [np.empty(0, np.int64)] * len(numbers)
        binned = discretize(self.X[:, numbers], n_bins, n_jobs, counts, distinct[numbers], tail)
        assert isinstance(binned, DenseCodes)  # frames are dense
        for j, row in zip(np.flatnonzero(numbers), binned.codes, strict=True):
            rows[j] = row
        for j in np.flatnonzero(~numbers):
            rows[j] = np.unique(self.X[:, j], return_inverse=True)[1]  # all missing values are one
        return joint_codes(DenseCodes.of(rows), self.variables.codes), y_codes, units

    @property
    def whole_weights(self) -> tuple[Array | None, Ints | None]:
        """Return the weights to fill bins by, and as integers to count by; None where there are none."""
        return (None, None) if self.weights is None else (self.weights.counts, self.weights.units)

    @property
    def constant(self) -> Array:
        """Find the variables that have one value only, where a missing value counts as one."""
        return self.variables.all_of(constant_columns(self.X))


def check_inputs(
    selector: Any,
    X: Any,
    y: Any,
    *,
    several: bool = False,
    gaps: bool = False,
    dtype: Any = "numeric",
    stored: bool = False,
) -> Inputs:
    """Check the inputs of ``fit``: frames with texts and categories, or whatever scikit-learn takes.

    Parameters
    ----------
    selector : BaseSelector
        Its number and names of features are set here.
    X : data frame, array or sparse matrix
        Samples.
    y : array
        Target.
    several : bool, default=False
        Whether y may have several columns: continuous ones, or an indicator of each label.
    gaps : bool, default=False
        Whether numbers may be missing. A missing value of a category is a level in any case.
    dtype : object, default="numeric"
        As scikit-learn's checks take it.
    stored : bool, default=False
        Whether X may stay on disk.
    """
    if stored and isinstance(X, np.memmap) and X.size > COPIED:
        X = stored_array(X) or X
    if isinstance(X, StoredColumns):
        if not stored:
            raise InputError(
                f"X is on disk, and {type(selector).__name__} needs all of it in memory: give np.asarray(X), "
                "or take a linear selector, a filter by mutual information, greedy-forward or anova"
            )
        return _stored_inputs(selector, X, y, several)
    rules: dict[str, Any] = {"multi_output": several, "dtype": dtype, "ensure_all_finite": "allow-nan"}
    coded = coded_frame(X)
    if coded is None:
        X, y = checked(selector, X, y, **rules)
        levels = None
    else:
        values, y = checked(selector, coded[0], y, **rules)
        validate_data(selector, X, skip_check_array=True)  # for the names
        X, levels = _without_identifiers(values, coded[1], _names(selector, X))
    if not gaps:
        _refuse_gaps(selector, X, levels)
    names = getattr(selector, "feature_names_in_", None)
    return Inputs(X, y, selector._variables(X), levels, names=None if names is None else tuple(names))


def _stored_inputs(selector: Any, X: StoredColumns, y: Any, several: bool) -> Inputs:
    """Check y beside features on disk; their values are checked when they are read first."""
    if X.dtype.kind not in "biuf":
        raise InputError(f"X holds {X.dtype}: features on disk must be numbers")
    if isinstance(selector.n_features_to_select, str):
        raise InputError(Setting("n_features_to_select", "auto"), " needs X in memory: give a number")
    _, y = checked(clone(selector), np.zeros((len(X), 1)), y, multi_output=several)
    selector.n_features_in_ = X.shape[1]
    vars(selector).pop("feature_names_in_", None)
    if X.names is not None:
        selector.feature_names_in_ = np.array(X.names, dtype=object)
    return Inputs(X, y, selector._variables(X), names=X.names)


def _names(selector: Any, X: Any) -> Sequence[Any]:
    return getattr(selector, "feature_names_in_", range(X.shape[1]))


def _without_identifiers(values: Floats, levels: Levels, names: Sequence[Any]) -> tuple[Floats, Levels]:
    """Make constants of categories with a level for nearly every sample: they are identifiers."""
    own = list(levels)
    found = []
    for j, mine in enumerate(levels):
        if mine is not None and is_identifier(len(mine), int((~np.isnan(values[:, j])).sum())):
            values[:, j], own[j] = 0.0, (OTHER,)
            found.append(names[j])
    if found:
        warnings.warn(
            f"nearly every sample has a text of its own in {listed(found)}: taken for identifiers, which say "
            "nothing, as constants.",
            UserWarning,
            stacklevel=4,
        )
    return values, tuple(own)


def _refuse_gaps(selector: Any, X: Data, levels: Levels | None) -> None:
    """Refuse missing numbers, with the pipeline that fills them."""
    if X.dtype.kind != "f" or not has_gaps(X):
        return
    name, names = type(selector).__name__, _names(selector, X)
    if sp.issparse(X):
        holes = np.unique(X.tocoo().coords[1][np.isnan(X.tocoo().data)])
    else:
        holes = np.flatnonzero(np.isnan(X).any(axis=0))
    holes = holes if levels is None else np.array([j for j in holes if levels[j] is None], dtype=np.int64)
    if not len(holes):
        return
    fill = "SimpleImputer(add_indicator=True)"
    if levels is not None:
        columns = ", ".join(quoted(names[j]) for j in holes)
        fill = f"make_column_transformer(({fill}, [{columns}]), remainder='passthrough')"
        fill += ".set_output(transform='pandas')"
    raise InputError(
        f"X has NaN in {listed(names[j] for j in holes)}, which {name} cannot take: fill missing values, "
        f"with make_pipeline({fill}, {name}()), or take a selector that counts them, such as MRMR"
    )
