"""Types for annotations."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

#: A dense array or a CSC array, samples x features; SciPy carries no types.
Data: TypeAlias = Any

#: What a target holds: labels of classes, or real numbers.
TargetKind: TypeAlias = Literal["classes", "real"]

#: What the target of a dataset holds: times and events too.
DataKind: TypeAlias = Literal["classes", "real", "survival"]
