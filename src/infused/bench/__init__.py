"""Comparing selectors honestly: protocol, runner and store, statistics and tables.

Names are loaded when they are first used, so that a light command does not pay for scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from infused._lazy import lazy_names

if TYPE_CHECKING:
    from infused.bench.cells import BenchmarkError, Cell, Method, Problem, default_ks
    from infused.bench.experiment import Experiment
    from infused.bench.methods import ABLATIONS
    from infused.bench.protocol import evaluate
    from infused.bench.runner import Outcome, Progress, run_experiment
    from infused.bench.store import Store, StoreError

_HOME = {
    "ABLATIONS": "methods",
    "BenchmarkError": "cells",
    "Cell": "cells",
    "Experiment": "experiment",
    "Method": "cells",
    "Outcome": "runner",
    "Problem": "cells",
    "Progress": "runner",
    "Store": "store",
    "StoreError": "store",
    "default_ks": "cells",
    "evaluate": "protocol",
    "run_experiment": "runner",
}

__all__ = [
    "ABLATIONS",
    "BenchmarkError",
    "Cell",
    "Experiment",
    "Method",
    "Outcome",
    "Problem",
    "Progress",
    "Store",
    "StoreError",
    "default_ks",
    "evaluate",
    "run_experiment",
]

__getattr__ = lazy_names(__name__, _HOME)
