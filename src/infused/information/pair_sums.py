r"""What the routes compute: weighted pair sums.

.. math::

    Q_{ij} = \big\langle w_3\, \varphi(p_i + t_i + p_j) + w_2\, \varphi(p_i + p_j) \big\rangle

with :math:`\langle\cdot\rangle` the mean over samples, p and t scaled to mean one, and
:math:`\varphi(s) = s \log s`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from scipy.special import kl_div

from infused._runtime.progress import Stage
from infused._runtime.threads import Workers, spans
from infused._typing import Floats, Ints
from infused.exceptions import InputError
from infused.graphs.distributions import FeatureDistributions, SparseDistributions, TargetDistributions
from infused.graphs.validation import SUM_TOLERANCE

EPS = float(np.finfo(np.float64).eps)
ENTRIES_PER_TASK = 2**17
SHORTEST_STRIP, LONGEST_STRIP = 128, 256

#: Some of the features, by a slice or by their positions.
FeatureIndex = slice | Ints


@dataclass(frozen=True)
class PairSumProblem:
    """What weighted pair sums are taken of: the distributions and the two weights."""

    features: FeatureDistributions
    target: TargetDistributions
    joint_weight: float
    pair_weight: float

    @property
    def weights(self) -> tuple[float, float]:
        """Return (joint_weight, pair_weight)."""
        return self.joint_weight, self.pair_weight

    @property
    def weights_of_means(self) -> tuple[float, float]:
        """Divide the weights by the number of samples: sums of so weighted terms are means."""
        n_samples = self.features.shape[1]
        return self.joint_weight / n_samples, self.pair_weight / n_samples

    @property
    def total_weight(self) -> float:
        """Return the sum of the absolute weights: an error of phi counts this often."""
        return abs(self.joint_weight) + abs(self.pair_weight)

    @property
    def symmetric(self) -> bool:
        """Tell whether Q_ij = Q_ji: every feature has the same target graph, or none enters."""
        return self.joint_weight == 0.0 or self.target.shared


class PairSums:
    """A route: one way to compute Q."""

    _problem: PairSumProblem

    def pair(
        self, rows: slice, columns: FeatureIndex, work: Workers, stage: Stage
    ) -> tuple[Floats, Floats | None]:
        """Compute Q_ij and Q_ji for i in rows and j in columns; None for the second when symmetric.

        When rows and columns are the same slice and Q is symmetric, only the upper triangle is right.
        """
        if self._problem.symmetric:
            return self._sums(rows, columns, work, stage, 1.0), None
        if rows is columns:
            forward = self._sums(rows, columns, work, stage, 1.0)
            return forward, transposed(forward, work)
        forward = self._sums(rows, columns, work, stage, 0.5)
        return forward, self._sums(columns, rows, work, stage, 0.5).T

    def _sums(
        self, rows: FeatureIndex, columns: FeatureIndex, work: Workers, stage: Stage, share: float
    ) -> Floats:
        """Compute Q of any rows and columns, which is ``share`` of the work on a block."""
        raise NotImplementedError


def strips(n_rows: int) -> list[slice]:
    """Cut the rows of a block for the threads: enough pieces for many of them, each long enough for BLAS."""
    return spans(n_rows, min(max(SHORTEST_STRIP, n_rows // 8), LONGEST_STRIP))


def transposed(block: Floats, work: Workers) -> Floats:
    """Copy the transpose, in strips."""
    out = np.empty(block.shape[::-1])

    def copy(strip: slice) -> None:
        out[strip] = block[:, strip].T

    work.run(copy, strips(len(out)))
    return out


def phi(s: Floats) -> Floats:
    """Compute s log s, with 0 log 0 = 0."""
    if s.min() > 0:
        result: Floats = np.log(s)
        result *= s
        return result
    return np.where(s > 0, s * np.log(np.where(s > 0, s, 1.0)), 0.0)


def mean_phi(
    features: FeatureDistributions, target: TargetDistributions | None, offset: float, work: Workers
) -> Floats:
    """Average phi(p + t + offset) over samples, for every feature; without t when target is None."""
    if isinstance(features, SparseDistributions):
        return _sparse_mean_phi(features, target, offset)
    P = features.values
    out = np.empty(len(P))

    def compute(rows: slice) -> None:
        s = P[rows] + offset
        if target is not None:
            s += target.rows(rows)[:, target.codes]
        out[rows] = phi(s).mean(axis=1)

    work.run(compute, spans(len(P), max(1, ENTRIES_PER_TASK // P.shape[1])))
    return out


def _sparse_mean_phi(
    features: SparseDistributions, target: TargetDistributions | None, offset: float
) -> Floats:
    n_features, n_samples = features.shape
    owners = features.owners
    if target is None:
        target = TargetDistributions(np.zeros((1, 1)), np.zeros(n_samples, np.int64))
    n_groups = target.values.shape[1]
    groups = target.codes[features.samples]
    t = np.broadcast_to(target.values, (n_features, n_groups))
    stored = np.bincount(owners * n_groups + groups, minlength=n_features * n_groups)
    at_base = np.bincount(target.codes, minlength=n_groups) - stored.reshape(n_features, n_groups)
    total: Floats = (at_base * phi(features.base[:, None] + t + offset)).sum(axis=1)
    if len(owners):
        total += np.bincount(owners, phi(features.values + t[owners, groups] + offset), minlength=n_features)
    total /= n_samples
    return total


CriterionName: TypeAlias = Literal["three-way", "two-way"]


class ThreeWay:
    r"""The paper's measure, for InFusedLasso.

    .. math::

        U_{ij} = \frac{I_S(G_i, G_j, T_i) + I_S(G_i, G_j, T_j)}{I_S(G_i, G_j)}

    The logarithm of its first part is :math:`\log\frac23 + Q_{ij} + (h_i + h_j)/6 - h^T_i/3`, with
    :math:`h = \langle\varphi(p)\rangle` and :math:`Q_{ij} = \langle\varphi(p_i+t_i+p_j)\rangle/3 -
    \langle\varphi(p_i+p_j)\rangle/2`. Since a third distribution adds to the divergence of two,
    :math:`D_3 \ge \frac23 D_2`, no part exceeds :math:`2^{1/3}`.
    """

    weights: ClassVar[tuple[float, float]] = (1 / 3, -1 / 2)
    """(joint_weight, pair_weight) of the pair sums it needs."""
    largest: ClassVar[float] = 2 * 2 ** (1 / 3)
    """No entry of U is above this; an error e of Q is an error of at most ``largest * e`` of U."""

    def __init__(self, features: FeatureDistributions, target: TargetDistributions, work: Workers):
        h = mean_phi(features, None, 0.0, work)
        self._near = np.log(2 / 3) + h / 6 - _target_mean_phi(target) / 3
        self._far = h / 6

    def combine(
        self, forward: Floats, backward: Floats | None, rows: FeatureIndex, columns: FeatureIndex
    ) -> None:
        """Turn Q_ij (forward) and Q_ji (backward; None when they agree) into U, in the place of forward."""
        forward += self._near[rows][:, None]
        forward += self._far[columns]
        np.exp(forward, out=forward)
        if backward is None:
            forward *= 2
            return
        backward += self._near[columns]  # in this order: U_ij and U_ji then round alike
        backward += self._far[rows][:, None]
        np.exp(backward, out=backward)
        forward += backward

    def part(self) -> tuple[Floats, Floats, Floats]:
        """Return near, far and scale of V_ij = scale_i exp(near_i + far_j + Q_ij), U_ij = V_ij + V_ji."""
        return self._near, self._far, np.ones_like(self._near)


class TwoWay:
    r"""The measure of InElasticNet.

    .. math::

        U_{ij} = \frac{I_S(G_i, T_i) + I_S(G_j, T_j)}{I_S(G_i, G_j)}
    """

    weights: ClassVar[tuple[float, float]] = (0.0, -1 / 2)
    largest: ClassVar[float] = 4.0

    def __init__(self, features: FeatureDistributions, target: TargetDistributions, work: Workers):
        h = mean_phi(features, None, 0.0, work)
        joint = mean_phi(features, target, 0.0, work)
        self._relevance = np.exp(joint / 2 - (h + _target_mean_phi(target)) / 2 - np.log(2.0))
        self._half = (h + np.log(2.0)) / 2

    def combine(
        self, forward: Floats, backward: Floats | None, rows: FeatureIndex, columns: FeatureIndex
    ) -> None:
        """Compute exp(Q_ij + (h_i + h_j)/2 + log 2) (I_i + I_j)."""
        forward += self._half[rows][:, None]
        forward += self._half[columns]
        np.exp(forward, out=forward)
        forward *= self._relevance[rows][:, None] + self._relevance[columns]

    def part(self) -> tuple[Floats, Floats, Floats]:
        """Return the terms of I_i exp(Q_ij + ...), as Q is symmetric."""
        return self._half, self._half, self._relevance


Criterion: TypeAlias = ThreeWay | TwoWay
CRITERIA: dict[str, type[Criterion]] = {"three-way": ThreeWay, "two-way": TwoWay}


def _target_mean_phi(target: TargetDistributions) -> Floats:
    """Compute <phi(t)> of each feature, or of the one target graph that all share."""
    counts = np.bincount(target.codes, minlength=target.values.shape[1])
    result: Floats = phi(target.values) @ counts / len(target.codes)
    return result


TILE = 2048  # features of a tile of U; its last bits depend on it


def block_of(
    sums: PairSums, criterion: Criterion, rows: slice, columns: FeatureIndex, work: Workers, stage: Stage
) -> Floats:
    """Compute U[rows, columns]; on the diagonal rows and columns are the same slice."""
    block, backward = sums.pair(rows, columns, work, stage)

    def combine(strip: slice) -> None:
        features = slice(rows.start + strip.start, rows.start + strip.stop)
        other = None if backward is None else backward[strip]
        criterion.combine(block[strip], other, features, columns)

    work.run(combine, strips(len(block)))
    if rows is columns and backward is None:
        work.run(lambda strip: _mirror(block, strip), strips(len(block)))
    return block


def _mirror(block: Floats, strip: slice) -> None:
    """Copy what is above the diagonal in some rows to below it."""
    square = np.triu(block[strip, strip])
    block[strip, strip] = square + np.triu(square, 1).T
    block[strip.stop :, strip] = block[strip, strip.stop :].T


def jensen_shannon(*distributions: Any, weights: Any = None) -> Floats | float:
    r"""Compute the Jensen-Shannon divergence of n distributions, in nats.

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
    r"""Compute the similarity of n distributions, from 1/n to 1.

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
