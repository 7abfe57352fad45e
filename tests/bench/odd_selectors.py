"""Selectors that misbehave, wait or listen; a benchmark finds them by their dotted path."""

from __future__ import annotations

import os
import time
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression


class InOrder:
    """Features in the order of their variance: quick, and it listens to the data."""

    def __init__(self, *, n_features_to_select=None):
        self.n_features_to_select = n_features_to_select

    def get_params(self):
        return vars(self)

    def fit(self, X, y):
        order = np.argsort(-X.var(axis=0), kind="stable")
        self.ranking_ = np.empty(X.shape[1], dtype=int)
        self.ranking_[order] = np.arange(1, X.shape[1] + 1)
        return self


class Moody(InOrder):
    """Goes wrong where one sample is among those that it sees, which is in all folds but one."""

    def fit(self, X, y):
        if (X == MARK).any():
            self.go_wrong()
        return super().fit(X, y)


MARK = 77.0


class Listening(InOrder):
    """Remembers which samples it saw: the first feature is their number."""

    seen: np.ndarray
    target: np.ndarray

    def fit(self, X, y):
        Listening.seen, Listening.target = np.sort(X[:, 0]), y
        return super().fit(X, y)


class Hasty(LogisticRegression):
    """A model that stops before it converges."""

    def __init__(self, *, C=1.0):
        super().__init__(C=C, max_iter=1)


class Slow(InOrder):
    def fit(self, X, y):
        time.sleep(0.1)
        return super().fit(X, y)


class AlsoSlow(Slow):
    pass


class Endless(Moody):
    def go_wrong(self):
        time.sleep(1000)


class Failing(Moody):
    def go_wrong(self):
        raise RuntimeError("this selector\nnever works")


class Dying(Moody):
    def go_wrong(self):
        os.abort()


class Hungry(Moody):
    def go_wrong(self):
        self.held = np.ones(6 * 10**8 // 8)  # 600 MB
        time.sleep(1000)


class OutOfMemory(Moody):
    def go_wrong(self):
        raise MemoryError("U of 9 features")


class Tied(InOrder):
    def fit(self, X, y):
        self.ranking_ = np.ones(X.shape[1], dtype=int)
        return self


class Unranked(InOrder):
    def fit(self, X, y):
        self.support_ = np.ones(X.shape[1], dtype=bool)
        return self


class Complaining(InOrder):
    def fit(self, X, y):
        warnings.warn("too few\nrounds", UserWarning, stacklevel=2)
        warnings.warn("soon to go", FutureWarning, stacklevel=2)
        return super().fit(X, y)
