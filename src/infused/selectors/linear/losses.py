"""Losses: the datafit that a loss makes of the target, and what stands for the target elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from infused._runtime.compat import StrOptions
from infused._typing import Array, Floats
from infused.datafits import (
    Cox,
    Datafit,
    Huber,
    Logistic,
    Multinomial,
    Poisson,
    survival_records,
)
from infused.exceptions import InputError, Setting
from infused.graphs.validation import class_codes, kind_of_target
from infused.selectors.base import survival_of
from infused.selectors.inputs.training import Coding, resolve_coding

#: What ``loss`` may be, for scikit-learn's validation of parameters.
LOSS = [StrOptions({"auto", "squared", "logistic", "poisson", "huber", "cox"})]

TURN = 1.345  # scales of an error, from where Huber's loss grows linearly: 95% efficient for normal errors
NORMAL = 1.4826  # the standard deviation of normal errors, in median absolute deviations


def resolve_loss(loss: str, y: Any) -> tuple[str, Any]:
    """Resolve a loss; times and events become two columns."""
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
    return "cox", np.column_stack([records["time"], records["event"]])


def coding_for(loss: str, y: Array) -> Coding:
    """Return what y is to a loss other than the squared one: classes, or numbers."""
    if loss != "logistic":
        return "real"
    if kind_of_target(y, raise_unknown=True) not in ("binary", "multiclass"):
        raise InputError(Setting("loss", loss), " needs one class label for each sample")
    return resolve_coding(y, "onehot")


def make_datafit(loss: str, y: Array, weights: Floats | None) -> Datafit:
    """Make the datafit of a loss other than the squared one."""
    if loss == "logistic":
        codes, counts = class_codes(y)
        return Logistic(codes, weights) if len(counts) == 2 else Multinomial(codes, weights)
    y = np.asarray(y, dtype=np.float64)
    if loss == "cox":
        records = survival_records(y[:, 0], y[:, 1], "y", "y")  # samples may have left by a weight of zero
        return Cox(records["time"], records["event"], weights)
    if loss == "poisson":
        if y.ndim > 1 and y.shape[1] > 1:
            raise InputError(Setting("loss", loss), " needs one target")
        if (y < 0).any():
            raise InputError(Setting("loss", loss), f" needs counts, but y has {y.min():g}")
        return Poisson(y.ravel(), weights)
    errors = np.abs(y - np.median(y, axis=0))
    scale = NORMAL * float(np.median(errors)) or float(errors.mean())
    return Huber(y, TURN * scale, weights)


def null_residuals(datafit: Datafit, n_samples: int, weights: Floats | None) -> Floats:
    """Return what each sample has beyond its expectation without features: its martingale residual."""
    slope = datafit.gradient(np.zeros((n_samples, datafit.n_targets)))[:, 0]
    return -slope if weights is None else -slope / weights
