"""A linear support vector machine that predicts with its weights instead of its support vectors."""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVC

from infused._typing import Array, Floats

__all__ = ["LinearSVM"]


class LinearSVM(SVC):  # type: ignore[misc]  # scikit-learn has no types
    r"""libsvm's linear C-SVM, one class against one other.

    .. math::

        \hat y(x) = \arg\max_c |\{(i, j) : c \text{ wins } (i, j)\}|, \quad
        i \text{ wins if } w_{ij}'x + b_{ij} > 0, \text{ else } j

    libsvm takes the kernel of a sample with every support vector. With a linear kernel the weights of a pair
    of classes are known, and all decisions are one product of matrices: with 68 classes and thousands of
    support vectors that is five times faster. Votes and ties are counted as libsvm counts them.
    """

    def __init__(self, C: float = 1.0, random_state: int | None = None):
        super().__init__(kernel="linear", C=C, random_state=random_state)

    def predict(self, X: Floats) -> Array:
        """The class with most votes; of equals, the first."""
        decisions = X @ self.coef_.T + self.intercept_
        if len(self.classes_) == 2:
            return np.asarray(self.classes_[(decisions[:, 0] > 0).astype(int)])
        first, second = np.triu_indices(len(self.classes_), k=1)
        classes = np.eye(len(self.classes_), dtype=np.float32)
        won = (decisions > 0).astype(np.float32)
        votes = won @ (classes[first] - classes[second]) + classes[second].sum(axis=0)
        return np.asarray(self.classes_[votes.argmax(axis=1)])
