"""What models are trained on: designs and targets, the losses that targets have, and weights of samples.

A whole weight says how often a sample counts, any other how much it matters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from infused._columns import COPIED, ColumnDesign, HeldColumns, StoredColumns
from infused._design import NEGLIGIBLE, Design, SparseDesign, column_squares, dense, measured, rows_scaled
from infused._runtime.checks import told_kind
from infused._runtime.compat import StrOptions, cached_property, check_sample_weight
from infused._runtime.messages import quoted, reason
from infused._runtime.threads import require, spans
from infused._typing import Array, Data, Floats, Ints
from infused.datafits import SURVIVAL, Cox, Datafit, Huber, Logistic, Multinomial, Poisson, survival_records
from infused.exceptions import InputError, Setting
from infused.graphs.validation import class_codes, kind_of_target
from infused.selectors.base import survival_of
from infused.selectors.inputs.groups import Groups

EXACT = 2.0**53  # beyond it every number is whole
FINEST = 2.0**20
UNITS, UNITS_EACH = 2**22, 64  # in which weights are counted that are not whole, in all and for each sample


@dataclass(frozen=True)
class Weights:
    """What each sample counts: all above zero, and of mean one unless they are whole.

    Samples with whole weights are as good as repeated, down to the degrees of freedom.
    """

    values: Floats
    whole: bool

    @cached_property
    def total(self) -> float:
        """Sum the weights: how many samples there are."""
        return float(self.values.sum())

    @cached_property
    def root(self) -> Floats:
        """Return what a row is multiplied by where squares are summed."""
        return np.sqrt(self.values)

    @property
    def counts(self) -> Array:
        """Return the weights to fill bins by: integers or multiples of 2^-20, whose sums have no rounding."""
        if self.whole:
            return self.values.astype(np.int64)
        return np.asarray(np.maximum(np.rint(self.values * FINEST), 1.0) / FINEST)

    @cached_property
    def units(self) -> Ints:
        """Return the weights as integers, rounded to the 4-millionth part of their sum or less."""
        most = max(UNITS, UNITS_EACH * len(self.values))
        scale = 1.0 if self.whole and self.total <= most else most / self.total
        return np.rint(self.values * scale).astype(np.int64)


def weighed(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Weights | None]:
    """Leave the samples of weight zero out of checked X and y, and return the weights of the others.

    Weights that are all one, or all the same and not whole, are none.
    """
    if sample_weight is None:
        return X, y, None
    values, whole = counted(sample_weight, X)
    present = values > 0
    if present.sum() < 2:
        raise InputError(Setting("sample_weight"), " leaves fewer than two samples: the others have zero")
    if not present.all():
        X, y, values = X[present], y[present], values[present]
    if (values == (1.0 if whole else values[0])).all():
        return X, y, None
    return X, y, Weights(values, whole)


def counted(sample_weight: Any, X: Any) -> tuple[Floats, bool]:
    """Return the weight of each row of X, and whether all are whole; others are made to have mean one.

    No sum of them overflows, and one too small beside the others is zero.
    """
    values = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if (values == np.rint(values)).all() and values.max() <= EXACT / len(values):
        return values, True
    values = values / values.max()
    return values / values[values > 0].mean(), False


def centred(F: Floats, weights: Weights | None) -> Floats:
    """Take the means off columns; where there are weights, rows were multiplied by their roots."""
    if weights is None:
        return np.asarray(F - F.mean(axis=0))
    return np.asarray(F - np.outer(weights.root, weights.root @ F / weights.total))


def refuse_weights(name: str, why: str, instead: str, weights: Any) -> None:
    """Refuse weights, and say why."""
    if weights is not None:
        raise InputError(f"{name} takes no ", Setting("sample_weight"), f": {why}. {instead}.")


#: By bytes of a number: the square of its square is in range, and that of its inverse.
LARGEST = {2: 2.0**4, 4: 2.0**40, 8: 2.0**200}


def tame(A: Any, extreme: float | None = None) -> Any:
    """Divide extreme columns by powers of two, so that no square and no sum leaves the range.

    What does not depend on the scale of a column is the same, to the last bit where nothing is extreme.
    """
    if A.dtype.kind != "f" or isinstance(A, StoredColumns):  # whose columns are scaled where they are used
        return A
    exponents = _exponents(A, extreme or LARGEST.get(A.dtype.itemsize, LARGEST[8]))
    if not exponents.any():
        return A
    if sp.issparse(A):
        A = A.copy()
        owners = A.indices if A.format == "csr" else np.repeat(np.arange(A.shape[1]), np.diff(A.indptr))
        A.data = np.ldexp(A.data, exponents[owners])
        return A
    return np.ldexp(A, exponents if A.ndim == 2 else exponents[0])


def tame_together(train: Floats, test: Floats) -> tuple[Floats, Floats]:
    """Divide both parts by the powers of two that the training part asks for.

    What is unseen must not squeeze what is learned from into nothing: a value of the test part that leaves
    the range then is set to its end.
    """
    exponents, end = _exponents(train, LARGEST[8]), LARGEST[8]
    if exponents.any():
        with np.errstate(over="ignore"):
            train, test = np.ldexp(train, exponents), np.ldexp(test, exponents)
    return train, test if tame(test) is test else np.clip(test, -end, end)


def _exponents(A: Any, extreme: float) -> Ints:
    """Return the power of two that brings each column's largest number to about one; zero if not extreme."""
    largest = _largest(A)
    wild = (largest > extreme) | ((largest < 1 / extreme) & (largest > 0))
    return np.where(wild, -np.frexp(largest)[1], 0)


def _largest(A: Any) -> Floats:
    """Find the largest size of a number in each column; NaN where all are missing."""
    if sp.issparse(A):
        return np.asarray(abs(A).nanmax(axis=0).toarray()).ravel()
    # Without a copy of A.
    return np.asarray(np.maximum(np.fmax.reduce(A, axis=0), -np.fmin.reduce(A, axis=0))).ravel()


def refuse_extreme(A: Floats, name: str) -> None:
    """Refuse numbers whose squares leave the range, which a model without a scale cannot take."""
    largest = max(float(A.max(initial=0)), -float(A.min(initial=0)))
    if largest > LARGEST[8] or 0 < largest < 1 / LARGEST[8]:
        raise InputError(
            f"The largest value of {name} is {largest:.2g}, whose squares become "
            f"{'infinity' if largest > 1 else 'zero'}: scale {name}, or let ",
            Setting("standardize", True),
            " do it.",
        )


Coding: TypeAlias = Literal["onehot", "label", "real"]  # what y is to a linear model

COPIED_AT_ONCE = 256  # columns
RANK = 1e-10  # directions shorter than this share of the longest are none
NOTHING_NEW = 1e-10  # a column of which less than this share is left has nothing of its own
FEW_DIGITS = 1e-6  # the same, of its square, where a Gram matrix has lost too many digits
SPARSE = 0.5  # stored entries, at most, of what is kept sparse: with more a dense array is smaller
LARGEST_WEIGHT = 1e150  # of a term of the model: its square is a number


@dataclass(frozen=True)
class TrainingData:
    """What was given, checked, and what a linear model sees of it."""

    X: Any
    y: Any
    coding: Coding
    F: Design
    """Features, samples x features: dense, or sparse with means and scales implied."""
    Y: Floats
    """Targets, samples x targets."""
    variables: Groups
    weights: Weights | None = None
    """Of the samples: rows of F and Y are multiplied by their roots."""
    datafit: Datafit | None = None
    """The loss where it is not the squared one; it weighs samples itself."""

    @classmethod
    def make(
        cls,
        X: Data,
        y: Array,
        coding: Coding,
        standardize: bool,
        budget: int,
        variables: Groups,
        weights: Weights | None = None,
    ) -> TrainingData:
        """Make training data of checked X and y; times and events are two columns."""
        y = y if y.dtype != SURVIVAL else np.column_stack([y["time"], y["event"]])
        y = tame(y) if standardize and coding == "real" else y
        F = design_matrix(X, standardize, budget, weights)
        return cls(X, y, coding, F, target_matrix(y, coding, standardize, weights), variables, weights)

    @cached_property
    def design(self) -> Design:
        """Return F as the loss takes it: where that weighs samples itself, rows are not multiplied."""
        if self.datafit is None or self.weights is None:
            return self.F
        return rows_scaled(self.F, 1 / self.weights.root)

    @property
    def n_samples(self) -> float:
        """Return how many samples the rows stand for."""
        return float(len(self.F)) if self.weights is None else self.weights.total

    @property
    def n_features(self) -> int:
        """Count the columns of F."""
        return int(self.F.shape[1])

    @property
    def groups(self) -> Ints | None:
        """Return the group of each feature; None where every feature is one of its own."""
        return None if self.variables.single else self.variables.codes

    def columns(self, features: Ints) -> Any:
        """Take some features as they were given; X itself where they are all."""
        return self.X if len(features) == self.n_features else self.X[:, features]

    @property
    def kind(self) -> Literal["classes", "real"]:
        """Return whether y holds classes or continuous values."""
        return "real" if self.coding == "real" else "classes"


def constant_columns(X: Data) -> Array:
    """Find the columns that have one value only; a missing value counts as one."""
    if isinstance(X, StoredColumns):
        if X.missing is None and X.dtype.kind in "biu":
            return ~ColumnDesign.of(X, True).any(axis=0)
        found = []
        for block in X.blocks(None):
            A, first = block.columns, block.columns[:1]
            found.append(((first == A) | (np.isnan(first) & np.isnan(A))).all(axis=0))
        return np.concatenate(found)
    largest, smallest = X.max(axis=0), X.min(axis=0)
    if sp.issparse(X):
        largest, smallest = largest.toarray().ravel(), smallest.toarray().ravel()
    constant = np.asarray(largest == smallest)
    if largest.dtype.kind == "f":
        for j in np.flatnonzero(np.isnan(largest)):
            column = X[:, [j]].toarray() if sp.issparse(X) else X[:, j]
            constant[j] = np.isnan(column).all()
    return constant


def design_matrix(X: Data, standardize: bool, budget: int, weights: Weights | None = None) -> Design:
    """Make X for a linear model; standardised, columns have mean zero and length one. Constants are zero.

    What is sparse stays so, and its means are implied, unless it would be smaller as a dense array. What is
    too large to copy stays as it is, and means and lengths are implied. With weights these are weighted
    means, and rows are multiplied by the roots of their weights.
    """
    n_samples, n_features = X.shape
    if sp.issparse(X) and X.nnz <= SPARSE * n_samples * n_features:
        what = f"The sparse design matrix of {n_samples} samples and {X.nnz} entries"
        require(48 * X.nnz, budget, what, "take fewer features or fewer samples")
        return _sparse_design(X, standardize, None if weights is None else weights.values)
    large = n_samples * n_features > COPIED or 16 * n_samples * n_features > budget
    if isinstance(X, StoredColumns) or (large and not sp.issparse(X)):
        source = X if isinstance(X, StoredColumns) else HeldColumns(X)
        if not standardize:
            for block in source.blocks(None):
                refuse_extreme(block.columns, "X")
        return ColumnDesign.of(source, standardize, None if weights is None else weights.values)
    return dense_design(X, standardize, budget, weights)


def dense_design(X: Data, standardize: bool, budget: int, weights: Weights | None = None) -> Floats:
    """Make X for a linear model as a dense array."""
    n_samples, n_features = X.shape
    what = f"The dense design matrix of {n_samples} samples and {n_features} features"
    require(16 * n_samples * n_features, budget, what, "take fewer features or fewer samples")
    # In one order of memory, so that rounding does not hang on how X is stored.
    F: Floats = np.empty(X.shape)
    X = X.toarray() if sp.issparse(X) else X
    for some in spans(n_features, COPIED_AT_ONCE):  # few enough for the cache, whatever the order of X
        F[:, some] = X[:, some]
    if standardize:
        measured(F, None if weights is None else weights.values)
        return F
    refuse_extreme(F, "X")
    F[:, constant_columns(F)] = 0.0
    return F if weights is None else F * weights.root[:, None]


def _sparse_design(X: Data, standardize: bool, weights: Floats | None = None) -> SparseDesign:
    """Standardise as A - rm', with the entries of X, scaled, in A and the means, scaled, in m.

    r is one, or the root of the weight of each sample, by which rows are multiplied.
    """
    A = sp.csc_array(X, dtype=np.float64, copy=True)
    A.sum_duplicates()
    n_samples, n_features = A.shape
    each = np.ones(n_samples) if weights is None else weights
    root, total, own = np.sqrt(each), each.sum(), each[A.indices]
    if not standardize:
        refuse_extreme(A.data, "X")
        kept = np.where(constant_columns(A), 0.0, 1.0)
        A.data *= np.sqrt(own)
        return SparseDesign.of(A).scaled(kept)
    owners, stored = np.repeat(np.arange(n_features), np.diff(A.indptr)), np.diff(A.indptr)
    largest = np.zeros(n_features)
    np.maximum.at(largest, owners, np.abs(A.data))
    A.data /= np.where(largest > 0, largest, 1.0)[owners]
    mean = np.bincount(owners, weights=own * A.data, minlength=n_features) / total
    off = A.data - mean[owners]
    squares = np.bincount(owners, weights=own * off**2, minlength=n_features)
    full = stored == n_samples  # no zero is left in these, so they can be centred as they are
    zeros = np.where(full, 0.0, total - np.bincount(owners, weights=own, minlength=n_features))
    length = np.sqrt(squares + zeros * mean**2)
    A.data = np.sqrt(own) * np.where(full[owners], off, A.data)
    centred = SparseDesign(A, root[:, None], np.where(full, 0.0, mean)[None, :])
    return centred.scaled(_inverse(length, length > NEGLIGIBLE * np.sqrt(total)))


def unit_columns(F: Design, weights: Weights | None = None) -> Design:
    """Centre the columns of a design, or of some rows, and make their length one; constants are zero."""
    root = np.ones((len(F), 1)) if weights is None else weights.root[:, None]
    means = (F.T @ root).T / (root**2).sum()
    if isinstance(F, np.ndarray):
        centred = F - root @ means
        lengths, before = np.linalg.norm(centred, axis=0), np.linalg.norm(F, axis=0)
        return centred * _inverse(lengths, lengths > NEGLIGIBLE * before)
    centred = F.less(root, means)
    squares = centred.squares()
    if isinstance(F, ColumnDesign):
        return centred.scaled(_inverse(np.sqrt(squares), squares > NEGLIGIBLE**2 * column_squares(F)))
    before = SparseDesign.of(F.A).squares() + (F.R**2).sum(axis=0) * (F.L**2).sum()
    return centred.scaled(_inverse(np.sqrt(squares), squares > FEW_DIGITS**2 * before))


def _inverse(lengths: Floats, varies: Array) -> Floats:
    """Return one over each length; zero for what does not vary."""
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=varies)


def basis(A: Floats) -> Floats:
    """Compute orthonormal columns that span those of A."""
    left, sizes, _ = np.linalg.svd(A, full_matrices=False)
    return np.asarray(left[:, sizes > RANK * sizes.max(initial=0.0)])


def left_over(A: Design, Z: Floats) -> Design:
    """Take off A its projection on the columns of Z; columns that are in their span become zero."""
    Q, left = basis(Z), A
    if isinstance(A, SparseDesign):
        return _sparse_left_over(A, Q, Z)
    if isinstance(A, ColumnDesign):
        if not Q.shape[1]:
            return A  # without two passes over all columns
        new = A.less(Q, (A.T @ Q).T)
        return new.scaled(np.where(new.squares() <= NOTHING_NEW**2 * A.squares(), 0.0, 1.0))
    for _ in range(2):  # the second time takes off what rounding left
        left = left - Q @ (Q.T @ left)
    gone = np.linalg.norm(left, axis=0) <= NOTHING_NEW * np.linalg.norm(A, axis=0)
    return np.asarray(np.where(gone, 0.0, left))


def _sparse_left_over(A: SparseDesign, Q: Floats, Z: Floats) -> SparseDesign:
    left = A.less(Q, (A.T @ Q).T)
    # Of a column that is nearly in the span, too few digits would be left: it is stored as it comes out.
    few = np.flatnonzero(left.squares() <= FEW_DIGITS * A.squares())
    return left.replaced(few, left_over(dense(A[:, few]), Z)) if len(few) else left


def mean_square(F: Design) -> float:
    """Compute the mean squared length of the columns."""
    return float(column_squares(F).sum() / F.shape[1])


def quadratic_weight(share: float, F: Design, relative: bool) -> float:
    """Resolve the weight of a quadratic term; a relative one is a share of the mean squared length."""
    weight = share * mean_square(F) if relative else share
    if not weight <= LARGEST_WEIGHT:
        raise InputError(
            f"the weight of a quadratic term would be {weight:.3g} on these data, too large to solve: lower ",
            Setting("lambda3"),
            " or ",
            Setting("lambda2"),
        )
    return weight


def resolve_coding(y: Any, target: str) -> Coding:
    """Resolve what y is to the model: "auto" makes one-hot columns of classes, and takes numbers as given."""
    kind = kind_of_target(y, raise_unknown=True)
    numbers = kind.startswith("continuous") or kind.endswith("multioutput") or kind == "multilabel-indicator"
    if target == "auto":
        return "real" if numbers or not told_kind(np.asarray(y)) else "onehot"
    if target == "real":
        _numbers(y)
    if target in ("onehot", "label") and numbers:
        raise InputError(f"target={target!r} needs one class label per sample, but y is {kind!r}.")
    return target  # type: ignore[return-value]  # the parameter was checked


def is_real(y: Any, target: str) -> bool:
    """Return whether y is continuous, to a selector that takes it as "classes", as "real" or by its type."""
    return resolve_coding(y, "onehot" if target == "classes" else target) == "real"


def _numbers(y: Array) -> Floats:
    try:
        return np.asarray(check_array(y, ensure_2d=False, dtype=np.float64, input_name="y"))
    except ValueError as error:
        # Not a Setting: on the command line --target is the column.
        raise InputError(f"target='real' needs numbers in y: {reason(error)}") from error


def target_matrix(y: Array, coding: Coding, standardize: bool, weights: Weights | None = None) -> Floats:
    """Make Y, samples x targets; standardised, columns have mean zero and length one. Weights as for X."""
    if coding == "real":
        Y = _numbers(y).reshape(len(y), -1)
    else:
        codes, counts = class_codes(y)
        if coding == "label":
            numbers = y if np.asarray(y).dtype.kind in "biuf" else codes
            Y = np.asarray(numbers, dtype=np.float64).reshape(-1, 1)
        else:
            Y = np.eye(len(counts))[codes]
            Y = Y[:, 1:] if len(counts) == 2 else Y  # the two columns of two classes say the same
    if weights is not None:
        Y = Y * weights.root[:, None]
    if not standardize:
        refuse_extreme(Y, "y")
        return np.asarray(Y)
    Y = centred(tame(Y), weights)
    length = np.linalg.norm(Y, axis=0)
    return np.asarray(Y / np.where(length > 0, length, 1.0))


def one_target(y: Array, weights: Weights | None = None) -> Array:
    """Reduce several continuous targets to their first principal component, as graphs are of one."""
    y = np.asarray(y)
    if y.ndim == 1 or y.shape[1] == 1:
        return y.ravel()
    values, root = (None, 1.0) if weights is None else (weights.values, weights.root[:, None])
    scaled = y - np.average(y, axis=0, weights=values)
    length = np.linalg.norm(scaled * root, axis=0)
    scaled = scaled / np.where(length > 0, length, 1.0)
    _, _, directions = np.linalg.svd(scaled * root, full_matrices=False)
    component = (scaled * directions[0]).sum(axis=1)  # row by row: equal samples stay equal
    return np.asarray(component * np.sign(component[np.abs(component).argmax()]))  # bins have a direction


#: What ``loss`` may be, for scikit-learn's validation of parameters.
LOSS = [StrOptions({"auto", "squared", "logistic", "poisson", "huber", "cox"})]

TURN = 1.345  # scales of an error, from where Huber's loss grows linearly: 95% efficient for normal errors
NORMAL = 1.4826  # the standard deviation of normal errors, in median absolute deviations


def resolve_loss(loss: str, y: Any) -> tuple[str, Any]:
    """Resolve a loss; times and events become records of them."""
    records = survival_of(y)
    if records is None and loss != "cox":
        return ("squared" if loss == "auto" else loss), y
    if loss not in ("auto", "cox"):
        raise InputError(Setting("loss", loss), " is not for times and events: take ", Setting("loss", "cox"))
    if records is None:
        columns = np.asarray(y)
        if columns.ndim != 2 or columns.shape[1] != 2 or columns.dtype.kind not in "biuf":
            raise InputError(
                Setting("loss", "cox"), " needs a structured y, or two columns: times, and events as 0 or 1"
            )
        records = survival_records(
            columns[:, 0], columns[:, 1], "the first column of y", "the second column of y"
        )
    return "cox", records


def coding_for(loss: str, y: Array, target: str) -> Coding:
    """Return what y is to a loss: classes, or numbers; the squared error takes what ``target`` says."""
    if loss == "squared":
        return resolve_coding(y, target)
    if loss != "logistic":
        for value in np.asarray(y).ravel() if np.asarray(y).dtype.kind in "OU" else ():
            try:
                float(value)
            except (TypeError, ValueError):
                raise InputError(
                    Setting("loss", loss), f" needs numbers, but y has {quoted(value)}"
                ) from None
        return "real"
    if kind_of_target(y, raise_unknown=True) not in ("binary", "multiclass"):
        raise InputError(Setting("loss", loss), " needs one class label for each sample")
    return resolve_coding(y, "onehot")


def make_datafit(loss: str, y: Array, weights: Floats | None) -> Datafit:
    """Make the datafit of a loss other than the squared one."""
    if loss == "logistic":
        codes, counts = class_codes(y)
        return Logistic(codes, weights) if len(counts) == 2 else Multinomial(codes, weights)
    if loss == "cox":
        y = survival_records(y["time"], y["event"], "y", "y")  # samples may have left by a weight of zero
        return Cox(y["time"], y["event"], weights)
    y = np.asarray(y, dtype=np.float64)
    if loss == "poisson":
        if y.ndim > 1 and y.shape[1] > 1:
            raise InputError(Setting("loss", loss), " needs one target")
        if (y < 0).any():
            raise InputError(Setting("loss", loss), f" needs counts, but y has {y.min():g}")
        return Poisson(y.ravel(), weights)
    errors = np.abs(y - np.median(y, axis=0))
    scale = NORMAL * float(np.median(errors)) or float(errors.mean())
    return Huber(y, TURN * scale, weights)


def with_loss(data: TrainingData, loss: str, y: Array) -> TrainingData:
    """Add the datafit of a loss to training data of y.

    What a graph or a bin is made of, where times and events are the target, are martingale residuals: what
    each sample has beyond its expectation without features.
    """
    if loss == "squared":
        return data
    values = None if data.weights is None else data.weights.values
    datafit, target = make_datafit(loss, y, values), data.y
    if loss == "cox":
        slope = datafit.gradient(np.zeros((len(y), 1)))[:, 0]
        target = -slope if values is None else -slope / values
    return replace(data, datafit=datafit, y=target)
