"""
Genes: thousands of features, few patients
==========================================

A hundred patients, 2,000 genes, of which three pathways of ten genes each have to do with the
disease. The genes of a pathway rise and fall together, so that a list of the best single genes has
one pathway ten times over. What do selectors make of it, and which of the selected are redundant?
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

import infused
from infused import make_selector

rng = np.random.default_rng(1)
n_patients, n_genes, pathway = 100, 2000, 10
disease = np.arange(n_patients) % 2
X = rng.normal(size=(n_patients, n_genes))
strength = (2.0, 1.6, 1.4)
for number, effect in enumerate(strength):
    genes = slice(number * pathway, (number + 1) * pathway)
    activity = effect * disease + rng.normal(size=n_patients)
    X[:, genes] = activity[:, None] + 0.35 * rng.normal(size=(n_patients, pathway))
names = [f"{'ABC'[i // pathway]}{i % pathway}" if i < 3 * pathway else f"gene_{i}" for i in range(n_genes)]

# %%
# How many of the first nine genes of each method are of which pathway?

methods = ("anova", "mrmr", "greedy-forward", "infused-lasso")
counts = {}
for method in methods:
    selector = make_selector(method, n_features_to_select=9).fit(X, disease)
    chosen = np.flatnonzero(selector.get_support())
    counts[method] = [int(np.sum(chosen // pathway == number)) for number in range(3)]
    counts[method].append(9 - sum(counts[method]))
print(counts)

# %%
# F values spend all nine on the strongest pathway. The others take one gene or a few of each
# pathway; what they take beyond is noise, because the genes of a pathway are redundant.
# Asked for three genes, they would be right.

# %%

figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
left = np.zeros(len(methods))
for part, (name, colour) in enumerate(
    zip(("pathway A", "pathway B", "pathway C", "noise"), ("C0", "C1", "C2", "0.8"), strict=True)
):
    width = np.array([counts[method][part] for method in methods])
    ax.barh(methods, width, left=left, color=colour, label=name)
    left += width
ax.invert_yaxis()
ax.set_xlabel("of nine selected genes")
ax.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
plt.show()

# %%
# Each bar has the nine genes of a method: the shares of the pathways in colour, noise in grey.
#
# The record of a selection has the groups of redundant features.

selection = infused.select((X, disease), k=9, method="mrmr")
print(selection.table[["rank", "feature", "alone", "unique"]].head().to_string(index=False))
