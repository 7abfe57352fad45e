"""Equal-frequency bins of many entries."""

from __future__ import annotations

from numba import float64, int64

from infused._kernels.compiled import compiled, filled, given
from infused._kernels.cut_points import find_cuts as plain

find_cuts = compiled(
    given(int64, 1),
    given(float64, 1),
    given(float64, 1),
    given(int64, 1),
    int64,
    int64,
    filled(float64, 1),
    filled(float64, 1),
    filled(int64, 1),
    filled(float64, 2),
    filled(int64, 1),
)(plain)
