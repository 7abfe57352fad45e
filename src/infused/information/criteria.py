"""From pair sums to structural information: one class for each criterion."""

from __future__ import annotations

from typing import ClassVar, Literal, Protocol, TypeAlias

import numpy as np

from infused._runtime.threads import Workers
from infused._typing import Floats
from infused.graphs.storage import FeatureDistributions, TargetDistributions
from infused.information.pair_sums import FeatureIndex, mean_phi, phi

__all__ = ["CRITERIA", "Criterion", "CriterionName"]

CriterionName: TypeAlias = Literal["three-way", "two-way"]


class Criterion(Protocol):
    """What turns Q into U."""

    weights: ClassVar[tuple[float, float]]
    """(joint_weight, pair_weight) of the pair sums it needs."""
    largest: ClassVar[float]
    """No entry of U is above this; an error e of Q is an error of at most ``largest * e`` of U."""

    def __init__(self, features: FeatureDistributions, target: TargetDistributions, work: Workers): ...

    def combine(
        self, forward: Floats, backward: Floats | None, rows: FeatureIndex, columns: FeatureIndex
    ) -> None:
        """Turn Q_ij (forward) and Q_ji (backward; None when they agree) into U, in the place of forward."""
        ...

    def part(self) -> tuple[Floats, Floats, Floats]:
        """U_ij = V_ij + V_ji with V_ij = scale_i exp(near_i + far_j + Q_ij): near, far and scale."""
        ...


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
    largest: ClassVar[float] = 2 * 2 ** (1 / 3)

    def __init__(self, features: FeatureDistributions, target: TargetDistributions, work: Workers):
        h = mean_phi(features, None, 0.0, work)
        self._near = np.log(2 / 3) + h / 6 - _target_mean_phi(target) / 3
        self._far = h / 6

    def combine(
        self, forward: Floats, backward: Floats | None, rows: FeatureIndex, columns: FeatureIndex
    ) -> None:
        """exp(Q_ij + ...) + exp(Q_ji + ...)."""
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
        """exp(Q_ij + ...) itself."""
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
        """exp(Q_ij + (h_i + h_j)/2 + log 2) (I_i + I_j)."""
        forward += self._half[rows][:, None]
        forward += self._half[columns]
        np.exp(forward, out=forward)
        forward *= self._relevance[rows][:, None] + self._relevance[columns]

    def part(self) -> tuple[Floats, Floats, Floats]:
        """I_i exp(Q_ij + ...), as Q is symmetric."""
        return self._half, self._half, self._relevance


CRITERIA: dict[str, type[Criterion]] = {"three-way": ThreeWay, "two-way": TwoWay}


def _target_mean_phi(target: TargetDistributions) -> Floats:
    """<phi(t)> of each feature, or of the one target graph that all share."""
    counts = np.bincount(target.codes, minlength=target.values.shape[1])
    result: Floats = phi(target.values) @ counts / len(target.codes)
    return result
