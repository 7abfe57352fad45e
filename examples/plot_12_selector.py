"""
Writing a selector
==================

Any scikit-learn selector that takes ``n_features_to_select`` can be compared with the others: give the
selector itself, the dotted path of its class with ``allow_imports=True`` (``--allow-imports`` on the
command line), or an id that its package registers through the entry point ``infused.selectors``. This one
ranks by the distance between medians, in units of the spread: it minds outliers less than F values do.
"""

# %%

import sys
from types import ModuleType

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

import infused
from infused.report import plot_accuracy_curves


class MedianSelector(SelectorMixin, BaseEstimator):
    """Features whose medians differ most between classes, by their median absolute deviation."""

    def __init__(self, *, n_features_to_select=10):
        self.n_features_to_select = n_features_to_select

    def fit(self, X, y):
        """Rank the features."""
        X, y = validate_data(self, X, y)
        medians = np.array([np.median(X[y == one], axis=0) for one in np.unique(y)])
        spread = np.mean(
            [
                np.median(np.abs(X[y == one] - m), axis=0)
                for one, m in zip(np.unique(y), medians, strict=True)
            ],
            axis=0,
        )
        self.scores_ = np.ptp(medians, axis=0) / np.where(spread > 0, spread, np.inf)
        self.ranking_ = np.empty(X.shape[1], dtype=int)
        self.ranking_[np.argsort(-self.scores_, kind="stable")] = np.arange(1, X.shape[1] + 1)
        return self

    def _get_support_mask(self):
        check_is_fitted(self)
        return self.ranking_ <= self.n_features_to_select


# %%
# A module of your own holds it, which processes import; here one is made on the spot.

module = ModuleType("my_selectors")
module.MedianSelector = MedianSelector
MedianSelector.__module__ = "my_selectors"
sys.modules["my_selectors"] = module

# %%
# Ten features matter, and one sample in ten is an outlier.

rng = np.random.default_rng(0)
y = np.arange(240) % 2
X = rng.normal(size=(240, 60)) + 0.9 * y[:, None] * (np.arange(60) < 10)
X[rng.random(X.shape) < 0.1] *= 12

found = infused.compare((X, y), methods=[MedianSelector(), "anova", "mutual-info"], k=[2, 5, 10, 20], folds=5)
print(found.verdict)
plot_accuracy_curves(found.standings.rows)
plt.show()

# %%
# The new selector stands in the figure as every other does, with its band of one standard error.
