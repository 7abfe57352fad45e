"""Equal-frequency bins of many entries."""

from __future__ import annotations

from numba import int64

from infused._kernels.compiled import FLOATS, FLOATS_2D_OUT, FLOATS_OUT, INTS, INTS_OUT, compiled
from infused._kernels.cut_points import find_cuts as plain

find_cuts = compiled(
    INTS, INTS, FLOATS, FLOATS, FLOATS, INTS, int64, FLOATS_OUT, FLOATS_OUT, INTS_OUT, FLOATS_2D_OUT, INTS_OUT
)(plain)
