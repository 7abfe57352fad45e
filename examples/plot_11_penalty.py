r"""
Writing a penalty
=================

A penalty has a value and a proximal operator; a solver asks for nothing else. This one prefers few
large coefficients to many small ones, the minimax concave penalty (Zhang 2010):

.. math::

    \lambda |b| - b^2 / (2\gamma) \text{ where } |b| \le \gamma\lambda,
    \quad \gamma\lambda^2 / 2 \text{ beyond.}

"""

# %%

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

from infused.penalties import L1


@dataclass(frozen=True)
class MinimaxConcave:
    """lambda |b| near zero, constant far from it."""

    weight: float
    gamma: float = 3.0

    def value(self, B):
        """The penalty."""
        size = np.abs(B)
        near = self.weight * size - size**2 / (2 * self.gamma)
        return float(np.where(size <= self.gamma * self.weight, near, self.gamma * self.weight**2 / 2).sum())

    def prox(self, B, step=1.0):
        """argmin_P 1/2 (P - B)^2 + step times the penalty, for a step below gamma."""
        size = np.abs(B)
        shrunk = np.sign(B) * np.maximum(size - step * self.weight, 0) / (1 - step / self.gamma)
        return np.where(size <= self.gamma * self.weight, shrunk, B)


# %%
# The law that the tests ask of every penalty: no other point is better than the proximal one.

penalty = MinimaxConcave(0.5)
grid = np.linspace(-3, 3, 6001)
for b in (-2.2, -0.7, 0.2, 1.0, 1.4, 2.5):
    found = float(penalty.prox(np.array([b]))[0])
    best = min(0.5 * (p - b) ** 2 + penalty.value(np.array([p])) for p in grid)
    assert 0.5 * (found - b) ** 2 + penalty.value(np.array([found])) <= best + 1e-6

# %%
# Proximal gradients with it, beside the l1 norm: large coefficients are not shrunk.

rng = np.random.default_rng(0)
X = rng.normal(size=(100, 30)) / 10
truth = np.zeros(30)
truth[[3, 9, 17]] = 3.0, -2.0, 1.5
y = X @ truth + 0.05 * rng.normal(size=100)
step = 1 / np.linalg.norm(X, 2) ** 2


def solve(penalty, n_iter=2000):
    b = np.zeros((30, 1))
    for _ in range(n_iter):
        b = penalty.prox(b - step * (X.T @ (X @ b - y[:, None])), step)
    return b.ravel()


figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
values = np.linspace(-3, 3, 400)
left.plot(values, L1(0.5).prox(values[:, None]).ravel(), label="l1")
left.plot(values, penalty.prox(values), label="minimax concave")
left.plot(values, values, "k:", lw=1)
left.set_xlabel("b")
left.set_title("proximal operators")
left.legend(frameon=False)
right.plot(truth, "k_", ms=14, label="truth")
right.plot(solve(L1(0.15)), "o", ms=4, label="l1")
right.plot(solve(MinimaxConcave(0.15, gamma=10 * step)), "s", ms=4, mfc="none", label="minimax concave")
right.set_xlabel("feature")
right.set_title("coefficients")
right.legend(frameon=False)
plt.show()

# %%
# Left: the l1 norm moves every value towards zero, the minimax concave penalty leaves large ones where they
# are (the dotted line). Right: the coefficients of both beside the truth.
#
# In the package a penalty is one file in ``infused/penalties`` and one export; the contract tests
# find it.
