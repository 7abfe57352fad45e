"""What the selectors with structural information share: their samples are vertices, and have no weights."""

from __future__ import annotations

from typing import Any, Self

from infused.selectors.linear import LinearSelector
from infused.selectors.weights import Weights, refuse_weights

__all__ = ["StructuralSelector"]


class StructuralSelector(LinearSelector):
    """A linear selector with the term of U, whose graphs have one vertex for each sample."""

    lambda3: float

    # scikit-learn takes a parameter of this name for a promise to use it.
    def fit(self, X: Any, y: Any, *, groups: Any = None, **weights: Any) -> Self:
        """Rank and select the features of X for the target y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples; texts and categories of a frame are variables as they are.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Class labels, real values, several columns of real values, or an indicator matrix of labels.
        groups : array-like of shape (n_samples,), default=None
            Samples that belong together, where ``n_features_to_select="auto"`` and ``cv`` asks for them.
        **weights : dict
            A ``sample_weight`` is refused, as every sample is one vertex of the graphs behind U; but it is
            taken where ``lambda3=0`` leaves U out.

        Returns
        -------
        self : object
            The fitted selector.
        """
        super().fit(X, y, groups=groups, **weights)
        return self

    def _refuse_weights(self, weights: Weights | None) -> None:
        if self.lambda3 > 0:
            why = "every sample is one vertex of the graphs behind U"
            instead = "Repeat samples, leave U out with lambda3=0, or take FusedLasso or Lasso"
            refuse_weights(type(self).__name__, why, instead, weights)
