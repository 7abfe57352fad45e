r"""Knockoffs: copies of features that relate to one another as the features do, and not to the target.

For Gaussian features of covariance :math:`\Sigma` the copies of a sample x are drawn from

.. math::

    \tilde x \mid x \sim N(x - S \Sigma^{-1} x, \; 2S - S \Sigma^{-1} S), \quad S = \mathrm{diag}(s),

so that features and copies together have the covariance

.. math::

    G = \begin{pmatrix} \Sigma & \Sigma - S \\ \Sigma - S & \Sigma \end{pmatrix},

which stays as it is when any features change places with their copies. Every S with
:math:`0 \preceq S \preceq 2\Sigma` will do; the larger s, the easier is a feature told from its copy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.covariance import ledoit_wolf

from infused._typing import Floats, Ints
from infused.selectors.inputs import basis

__all__ = [
    "CONSTRUCTIONS",
    "Copies",
    "Parts",
    "equicorrelated",
    "least_reconstructable",
    "reconstructability",
    "shrunk_covariance",
]

LEAST_SHRINKAGE = 1e-5  # so that copies of a feature leave the covariance invertible
INSIDE = 1 - 1e-6  # how far towards the border of what S may be
SWEEPS = 30  # over all coordinates, at most
SETTLED = 1e-3  # the largest relative change of s in the last sweep
BLOCK = 32  # coordinates between two updates of the inverse


@dataclass(frozen=True)
class Parts:
    """Columns of mean zero and variance one, uncorrelated within a variable, and whose each is.

    A variable of one column has itself; one of several has its principal components. A diagonal S of parts is
    one of a block for each variable in the columns themselves: copies of parts are copies of groups (Dai and
    Barber 2016), whatever S was made by.
    """

    Z: Floats
    """Samples x parts."""
    owners: Ints
    """The variable of each part, numbered from 0."""

    @classmethod
    def make(cls, columns: list[Floats]) -> Parts:
        """From the centred columns of each variable, none of which is zero altogether."""
        parts = [_uncorrelated(own) for own in columns]
        owners = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        n_samples = len(parts[0])
        return cls(np.ascontiguousarray(np.hstack(parts)) * np.sqrt(n_samples), owners)

    @property
    def single(self) -> bool:
        """Whether every variable has one part."""
        return len(self.owners) == int(self.owners[-1]) + 1


def _uncorrelated(columns: Floats) -> Floats:
    """Orthonormal columns that span the same."""
    if columns.shape[1] == 1:
        return columns / np.linalg.norm(columns)
    return basis(columns)


@dataclass(frozen=True)
class Copies:
    """Draws copies of some columns."""

    s: Floats
    """The diagonal of S."""
    mean: Floats
    """The conditional mean of the copies of x is x @ mean."""
    root: Floats
    """A root of their conditional covariance."""

    @classmethod
    def make(cls, Sigma: Floats, construction: str) -> Copies:
        """For columns of a covariance with a diagonal of ones."""
        s = CONSTRUCTIONS[construction](Sigma)
        solved = cho_solve(cho_factor(Sigma, lower=True), np.diag(s))  # Sigma^-1 S
        spread = 2 * np.diag(s) - s[:, None] * solved
        sizes, directions = np.linalg.eigh((spread + spread.T) / 2)  # it may be singular
        root = directions * np.sqrt(np.maximum(sizes, 0.0))
        return cls(s, np.eye(len(s)) - solved, root)

    def draw(self, Z: Floats, random: np.random.Generator) -> Floats:
        """One set of copies."""
        return np.asarray(Z @ self.mean + random.standard_normal(Z.shape) @ self.root.T)


def shrunk_covariance(Z: Floats) -> Floats:
    """The covariance of columns of mean zero and variance one, shrunk towards the identity.

    By how much, Ledoit and Wolf (2004) estimate from the data: enough for more columns than samples.
    """
    n_samples, n_columns = Z.shape
    _, shrinkage = ledoit_wolf(Z, assume_centered=True)
    shrinkage = max(float(shrinkage), LEAST_SHRINKAGE)
    Sigma = (1 - shrinkage) * (Z.T @ Z) / n_samples
    Sigma[np.diag_indices(n_columns)] = 1.0
    return np.asarray(Sigma)


def equicorrelated(Sigma: Floats) -> Floats:
    """The same s for all: the largest, at most one, for which S is no larger than 2 Sigma (Candès 2018)."""
    smallest = float(np.linalg.eigvalsh(Sigma)[0])
    return np.full(len(Sigma), INSIDE * min(1.0, 2 * smallest))


def least_reconstructable(Sigma: Floats) -> Floats:
    r"""The s that minimises :math:`\mathrm{tr}\, G^{-1} = \mathrm{tr}(2\Sigma - S)^{-1} + \sum_j 1/s_j`.

    The inverse of :math:`(G^{-1})_{jj}` is what is left of a feature that all others and all copies predict:
    this keeps features from being told by the copies of others (Spector and Janson 2022). By coordinate
    descent: with :math:`u = (2\Sigma - S)^{-1} e_j`, the best step of one coordinate is
    :math:`(1 - |u| s_j) / (u_j + |u|)`, and changes the inverse by a matrix of rank one.
    """
    s = equicorrelated(Sigma)
    for _ in range(SWEEPS):
        if _sweep(Sigma, s) <= SETTLED:
            break
    return s


def _sweep(Sigma: Floats, s: Floats) -> float:
    """One step for each coordinate, in place; returns the largest relative change."""
    largest = 0.0
    gap = cho_factor(2 * Sigma - np.diag(s), lower=True)
    inverse = cho_solve(gap, np.eye(len(s)))
    for start in range(0, len(s), BLOCK):
        coordinates = np.arange(start, min(start + BLOCK, len(s)))
        columns = inverse[:, coordinates]  # a copy, kept up to date; the others wait for the end of the block
        vectors, weights = np.empty_like(columns), np.empty(len(coordinates))
        for i, j in enumerate(coordinates):
            u = columns[:, i].copy()
            length = np.sqrt(u @ u)
            step = (1 - length * s[j]) / (u[j] + length)
            largest = max(largest, abs(step) / s[j])
            s[j] += step
            vectors[:, i], weights[i] = u, step / (1 - step * u[j])
            columns += weights[i] * np.outer(u, u[coordinates])
        inverse += (vectors * weights) @ vectors.T
    return largest


def reconstructability(Sigma: Floats, s: Floats) -> float:
    """What the second construction minimises: the trace of the inverse of G."""
    gap = cho_factor(2 * Sigma - np.diag(s), lower=True)
    return float(np.trace(cho_solve(gap, np.eye(len(s)))) + (1 / s).sum())


#: By name, from a covariance to s.
CONSTRUCTIONS: dict[str, Callable[[Floats], Floats]] = {
    "mvr": least_reconstructable,
    "equicorrelated": equicorrelated,
}
