"""How long a fit will take, told by fits on small parts of the data, and how much time is left."""

from __future__ import annotations

import warnings
from math import inf, log2
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from infused._typing import Array, Data, Ints

__all__ = ["Clock", "Probe", "some_rows"]

ROWS, COLUMNS = 30, 10  # of the smallest part
USUAL, STEEP, SLOWEST = 2.0, 4.0, 8.0  # by what a fit grows where rows and columns double
CAREFUL = 1.5  # times an estimate from a smaller part
PROBING = 0.05  # of the time that is left, for one fit on a larger part


class Clock:
    """Seconds of a budget, from now on; without one there is always time."""

    def __init__(self, budget: float | None):
        self.budget = inf if budget is None else float(budget)
        self._start = perf_counter()

    @property
    def limited(self) -> bool:
        """Whether there is a budget."""
        return self.budget < inf

    def spent(self) -> float:
        """Seconds since it was set."""
        return perf_counter() - self._start

    def left(self) -> float:
        """Seconds until the budget is used up."""
        return self.budget - self.spent()


class Probe:
    """Fits of one selector on growing parts of some data: each time twice the rows and twice the columns.

    The first fit of all may load or compile something: where it does not take long, two others count.
    """

    def __init__(self, selector: Any, X: Data, y: Array, patience: float):
        self._selector, self._X, self._y = selector, X, y
        n_rows, n_columns = X.shape
        self._rows = min(max(ROWS, 2 * len(np.unique(y)) if y.dtype.kind != "f" else 0), n_rows)
        larger = max(n_rows / self._rows, n_columns / COLUMNS, 1.0)
        self._halvings = int(np.ceil(log2(larger)))
        self._growth = USUAL
        self._seconds = self._timed()
        if self._seconds <= patience:
            self._seconds = min(self._timed(), self._timed())

    @property
    def seconds(self) -> float:
        """What a fit on all rows and columns is expected to take."""
        return self._seconds * self._growth**self._halvings

    def fits_in(self, n_fits: float, clock: Clock) -> bool:
        """Whether so many fits on all rows and columns fit in the time that is left.

        As long as both is possible, and a larger part takes little of that time, it is tried.
        """
        while self._halvings:
            left = clock.left() / n_fits
            if self._seconds * SLOWEST**self._halvings <= left:
                return True
            if self._seconds > left:
                return False
            if self._seconds * self._growth > PROBING * clock.left():
                return CAREFUL * self.seconds <= left
            self._halvings -= 1
            before, self._seconds = self._seconds, self._timed()
            # What is fixed weighs less and less, so that growth rises: the next will be no slower.
            self._growth = min(max(self._seconds / max(before, 1e-9), USUAL), STEEP)
        return self._seconds * n_fits <= clock.left()

    def _timed(self) -> float:
        share = 0.5**self._halvings
        rows = some_rows(self._y, max(self._rows, round(share * len(self._y))))
        n_columns = self._X.shape[1]
        columns = np.arange(max(min(COLUMNS, n_columns), round(share * n_columns)))
        part = self._X[rows] if len(columns) == n_columns else self._X[rows][:, columns]
        selector = _narrowed(self._selector, len(columns), n_columns)
        start = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector.fit(part, self._y[rows])
        return perf_counter() - start


def some_rows(y: Array, n: int) -> Ints:
    """Positions of n samples, of every class a share."""
    order = np.argsort(y, kind="stable")
    return np.sort(order[np.linspace(0, len(y) - 1, n).astype(int)])


def _narrowed(selector: Any, n_columns: int, of: int) -> Any:
    """A copy for the first columns: what names columns is left out, for it takes no time to speak of."""
    copy, own = clone(selector), selector.get_params(deep=False)
    if n_columns == of:
        return copy
    changed: dict[str, Any] = {}
    if own.get("groups") is not None:
        changed["groups"] = np.asarray(own["groups"])[:n_columns]
    if own.get("keep") is not None:
        changed["keep"] = None
    fusion = own.get("fusion", "none")
    if not (isinstance(fusion, str) and fusion in ("none", "chain")):
        changed |= {"fusion": "chain", "grid_shape": None}
    wanted = own["n_features_to_select"]
    most = n_columns if own.get("groups") is None else len(np.unique(changed["groups"]))
    return copy.set_params(**changed, n_features_to_select=max(1, min(wanted, most // 2)))
