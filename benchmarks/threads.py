"""One number of threads for everything that is compared."""

from __future__ import annotations

import joblib
import numba
from threadpoolctl import threadpool_limits

THREADS = min(2, joblib.cpu_count())


def limit_threads() -> None:
    """Hold BLAS and numba, and so infused and every peer, to THREADS threads for the rest of the process."""
    threadpool_limits(THREADS)
    numba.set_num_threads(min(THREADS, numba.config.NUMBA_NUM_THREADS))
