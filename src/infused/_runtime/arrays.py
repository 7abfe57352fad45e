"""Arrays that came from elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["settled"]


def settled(array: Any) -> Any:
    """The array as if it had been made here: aligned and writeable, copied where it is not.

    What comes from another process may begin at any byte. numba compiles its functions once more for such
    arrays, and sums may then round otherwise.
    """
    return (
        np.require(array, requirements=["ALIGNED", "WRITEABLE"]) if isinstance(array, np.ndarray) else array
    )
