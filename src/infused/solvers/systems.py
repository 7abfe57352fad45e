r"""Solving with :math:`D = X'X + 2S + \mu (I + C'C)`, the linear system of Algorithm 1.

Two ways behind one interface, ``solve(right_side)``: the inverse, kept as the paper advises for small N, and
the Woodbury identity, for N >> M when S is not part of D.
"""

from __future__ import annotations

import warnings
from typing import Protocol

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from infused._design import Design, dense
from infused._typing import Floats

__all__ = ["Inverse", "System", "Woodbury"]


class System(Protocol):
    """D for one mu, ready to be solved with."""

    def solve(self, right_side: Floats) -> Floats:
        """D^-1 right_side, features x targets."""
        ...


class Inverse:
    """D^-1 itself: one factorisation, then a matrix product for every iteration."""

    def __init__(self, hessian: Floats, C: sp.csr_array, mu: float):
        D = hessian + mu * (C.T @ C).toarray()
        D[np.diag_indices_from(D)] += mu
        try:
            factor = sl.cholesky(D, lower=True, overwrite_a=True, check_finite=False)
        except sl.LinAlgError:  # past the limit of the published model D may be indefinite
            with warnings.catch_warnings():  # how exact the result is, its certificate tells
                warnings.simplefilter("ignore", sl.LinAlgWarning)
                self._inverse = _inverse(hessian + mu * (C.T @ C).toarray() + mu * np.eye(len(hessian)))
            return
        inverse, _ = sl.lapack.dpotri(factor, lower=True, overwrite_c=True)
        self._inverse = np.tril(inverse) + np.tril(inverse, -1).T

    def solve(self, right_side: Floats) -> Floats:
        """See :class:`System`."""
        return np.asarray(self._inverse @ right_side)


def _inverse(D: Floats) -> Floats:
    """Of a symmetric D, on what is not zero of it beside weights so large that mu is nothing."""
    try:
        return np.asarray(sl.inv(D))
    except sl.LinAlgError:
        return np.asarray(sl.pinvh(D))


class _SparsePart:
    """K = mu (I + C'C), factored: cheap for a chain or a grid."""

    def __init__(self, C: sp.csr_array, mu: float):
        self._mu = mu
        self._factor = None
        if C.shape[0]:
            K = sp.csc_matrix(mu * (C.T @ C + sp.eye_array(C.shape[1])))
            self._factor = splu(K, diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def solve(self, right_side: Floats) -> Floats:
        if self._factor is None:
            return np.asarray(right_side / self._mu)
        return np.asarray(self._factor.solve(np.ascontiguousarray(right_side)))


class Woodbury:
    r""":math:`D^{-1} = K^{-1} - K^{-1}X'(I + XK^{-1}X')^{-1}XK^{-1}`, with :math:`K = \mu(I + C'C)`."""

    def __init__(self, X: Design, C: sp.csr_array, mu: float):
        self._X = X = dense(X)  # as is K^-1 X'
        self._K = _SparsePart(C, mu)
        self._W = self._K.solve(np.ascontiguousarray(X.T))
        self._small = sl.cho_factor(np.eye(len(X)) + X @ self._W, lower=True)

    def solve(self, right_side: Floats) -> Floats:
        """See :class:`System`."""
        first = self._K.solve(right_side)
        return np.asarray(first - self._W @ sl.cho_solve(self._small, self._X @ first))
