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

#: What a target holds: labels of classes, real numbers, or times and events.
TargetKind: TypeAlias = Literal["classes", "real", "survival"]
