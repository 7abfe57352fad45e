"""
The paper's Figures 1 to 3
==========================

Figure 1: a feature becomes a graph of its samples, beside the graph of the target. Figure 2:
accuracy against the number of features. Figure 3: the objective against the iteration. Here on
scikit-learn's digits; on the paper's data ``infused benchmark figures`` draws them
(:doc:`/comparison`).
"""

# %%
# Figure 1: one pixel of 40 zeros and ones as a graph. Samples of equal pixels are joined alike; the
# target's graph has the mean pixel of each class instead.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import infused
from infused import InFusedLasso
from infused.report import plot_accuracy_curves, plot_convergence, plot_feature_graph

X, y = load_digits(return_X_y=True)
few = np.flatnonzero(y < 2)[:40]
plot_feature_graph(X[few, 36], y[few], name="pixel 4, 4")
plt.show()

# %%
# Figure 2: percent correct of a linear SVM on test parts, with bands of one standard error.

sample = np.random.default_rng(0).choice(len(y), 500, replace=False)
found = infused.compare(
    (X[sample], y[sample]), methods=["infused-lasso", "lasso", "mrmr", "anova"], k=[5, 10, 20, 30], folds=3
)
plot_accuracy_curves(found.standings.rows)
plt.show()

# %%
# Each line is a method, and the bands are one standard error.
#
# Figure 3: the objective falls within tens of iterations.

plot_convergence(InFusedLasso(n_features_to_select=20, ranking="coefficient").fit(X, y), gap=True)
plt.show()

# %%
# The axis is the distance to the final objective, on a logarithmic scale: a straight line falls by the same
# factor in each step.
