"""
How many features?
==================

Six of 40 features matter. ``n_features_to_select="auto"`` tries several numbers by
cross-validation, and takes the smallest that is as good as the best within one standard error. The
curve beside it is what :func:`infused.compare` draws.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

import infused
from infused import GreedyForward
from infused.report import plot_accuracy_curves

X, y = make_classification(
    n_samples=300, n_features=40, n_informative=6, n_redundant=0, class_sep=0.9, shuffle=False, random_state=2
)
auto = GreedyForward(n_features_to_select="auto").fit(X, y)
print("selected:", np.flatnonzero(auto.get_support()), "(0 to 5 matter)")

# %%
# Accuracy against the number of features, on test parts that the selection did not see.

found = infused.compare(
    (X, y), methods=["greedy-forward", "anova"], k=[1, 2, 3, 4, 6, 8, 12, 20, 30], folds=5
)
ax = plot_accuracy_curves(found.standings.rows)
ax.axvline(auto.get_support().sum(), color="0.5", ls=":", lw=1)
ax.annotate("auto", (auto.get_support().sum(), ax.get_ylim()[0]), xytext=(4, 4), textcoords="offset points")
plt.show()

# %%
# The dotted line is the number that was chosen; bands are one standard error.
#
# The verdict in words.

print(found.verdict)
