r"""What solvers ask of a datafit, and the curvature that most of them have.

A datafit is a convex function of the predictions :math:`\eta` (samples x targets), summed over the samples
with their weights. Intercepts, penalties and standardised features are the solver's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from infused._design import Design, rows_scaled
from infused._typing import Floats


class Curvature(Protocol):
    """The second derivative H of a datafit at some predictions, or a close upper bound on it."""

    def gram(self, X: Design) -> Floats:
        """Return X'HX: features x features where all targets share it, else by feature, then by target."""
        ...

    @property
    def bound(self) -> Diagonal:
        """Return an upper bound on H with one number for each sample."""
        ...


class Datafit(Protocol):
    """A loss, summed over the training samples."""

    #: Whether a constant that is added to all predictions changes the value.
    has_intercept: bool
    #: How many columns the predictions have.
    n_targets: int

    def value(self, eta: Floats) -> float:
        """Return the loss of the predictions, infinity where it leaves the range of numbers."""
        ...

    def gradient(self, eta: Floats) -> Floats:
        """Return the derivative of the value by each prediction, samples x targets."""
        ...

    def curvature(self, eta: Floats) -> Curvature:
        """Return the second derivative of the value, or a close upper bound."""
        ...


@dataclass(frozen=True)
class Diagonal:
    """H with one number for each sample, which all of its targets share."""

    weights: Floats

    def gram(self, X: Design) -> Floats:
        """Return X'HX, features x features."""
        rooted = rows_scaled(X, np.sqrt(self.weights))
        return np.asarray(rooted.T @ rooted)

    @property
    def bound(self) -> Diagonal:
        """Return H itself."""
        return self


def weights_or_ones(weights: Floats | None, n_samples: int) -> Floats:
    """Return what each sample counts, as a column."""
    return np.ones((n_samples, 1)) if weights is None else np.asarray(weights, np.float64).reshape(-1, 1)


def as_columns(y: Floats) -> Floats:
    """Return targets as samples x targets."""
    y = np.asarray(y, dtype=np.float64)
    return y.reshape(len(y), -1)
