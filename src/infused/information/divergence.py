"""How far distributions lie apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import kl_div

from infused._typing import Floats
from infused.exceptions import InputError
from infused.graphs.validation import SUM_TOLERANCE

__all__ = ["jensen_shannon", "similarity"]


def jensen_shannon(*distributions: Any, weights: Any = None) -> Floats | float:
    r"""Jensen-Shannon divergence of n distributions, in nats.

    .. math::

        D(P_1, \dots, P_n) = H\Big(\sum_i \pi_i P_i\Big) - \sum_i \pi_i H(P_i), \qquad
        H(P) = -\sum_a p_a \log p_a

    It is zero when all distributions agree and at most log n. (The paper prints H without its minus sign.)

    Parameters
    ----------
    *distributions : array-like of shape (n_samples,) or (n_samples, ...)
        Two or more, of one shape; each sums to one along the first axis.
    weights : array-like of shape (n,) or None, default=None
        The :math:`\pi_i`, non-negative with sum one; None for 1/n each.

    Returns
    -------
    float or ndarray
        The divergence; where the distributions have more than one axis, one number for each entry of the
        others.

    See Also
    --------
    similarity : The exponential of its negative.
    feature_distributions : Distributions of graphs to compare.

    References
    ----------
    J. Lin (1991), "Divergence measures based on the Shannon entropy".

    Examples
    --------
    >>> from infused import jensen_shannon
    >>> round(jensen_shannon([1.0, 0.0], [0.0, 1.0]), 6)
    0.693147
    """
    if len(distributions) < 2:
        raise InputError(f"At least two distributions are needed, got {len(distributions)}.")
    P = _stack([_check_distribution(p, n) for n, p in enumerate(distributions)])
    w = _check_weights(weights, len(P)).reshape(-1, *[1] * (P.ndim - 1))
    mixture = (w * P).sum(axis=0)
    # The sum of pi_i KL(P_i | mixture) equals the difference of entropies above, but each of its terms is
    # non-negative: no cancellation, and never a divergence below zero.
    terms = np.where(w > 0, w * np.maximum(kl_div(P, mixture), 0.0), 0.0)
    result: Floats = terms.sum(axis=(0, 1))
    return float(result) if result.ndim == 0 else result


def similarity(*distributions: Any, weights: Any = None) -> Floats | float:
    r"""Similarity of n distributions, from 1/n to 1.

    .. math::

        I_S(P_1, \dots, P_n) = \exp(-D(P_1, \dots, P_n))

    with D the Jensen-Shannon divergence.

    Parameters
    ----------
    *distributions : array-like of shape (n_samples,) or (n_samples, ...)
        Two or more, of one shape; each sums to one along the first axis.
    weights : array-like of shape (n,) or None, default=None
        Non-negative with sum one; None for 1/n each.

    Returns
    -------
    float or ndarray
        The similarity; where the distributions have more than one axis, one number for each entry of the
        others.

    See Also
    --------
    jensen_shannon : The divergence.
    structural_information : Similarities of the graphs of all pairs of features, combined.

    References
    ----------
    L. Bai, L. Cui, Y. Wang, P. S. Yu, E. R. Hancock, "Fused Lasso for Feature Selection using Structural
    Information".

    Examples
    --------
    >>> from infused import similarity
    >>> similarity([0.5, 0.5], [0.5, 0.5], [0.5, 0.5])
    1.0
    """
    result: Floats = np.exp(-np.asarray(jensen_shannon(*distributions, weights=weights)))
    return float(result) if result.ndim == 0 else result


def _check_distribution(values: Any, position: int) -> Floats:
    p: Floats = np.asarray(values)
    if p.dtype.kind not in "biuf":
        raise InputError(f"Distribution {position} has dtype {p.dtype}; real numbers are needed.")
    p = np.array(p, dtype=np.float64)
    if p.ndim == 0 or len(p) == 0:
        raise InputError(f"Distribution {position} is empty.")
    if not np.isfinite(p).all() or (p < 0).any():
        raise InputError(f"Distribution {position} has entries that are negative, infinite or not a number.")
    if (np.abs(p.sum(axis=0) - 1) > SUM_TOLERANCE).any():
        raise InputError(f"Distribution {position} does not sum to one along its first axis.")
    return p


def _stack(distributions: list[Floats]) -> Floats:
    shapes = {p.shape for p in distributions}
    if len(shapes) > 1:
        raise InputError(f"Distributions must have one shape, got {sorted(shapes)}.")
    return np.stack(distributions)


def _check_weights(weights: Any, n: int) -> Floats:
    if weights is None:
        return np.full(n, 1.0 / n)
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (n,) or not np.isfinite(w).all() or (w < 0).any() or abs(w.sum() - 1) > SUM_TOLERANCE:
        raise InputError(f"weights must be {n} non-negative numbers with sum one, got {weights!r}.")
    return np.array(w)
