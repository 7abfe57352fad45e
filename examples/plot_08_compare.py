"""
Compare selectors on your data
==============================

Which selector is best for these data, with how many features, and is the difference real? Nested
cross-validation, two references, paired tests: one call.
"""

# %%

import matplotlib.pyplot as plt

import infused

found = infused.compare(
    "breast-cancer", methods=["infused-lasso", "mrmr", "anova", "random"], k=[2, 5, 10, 15], folds=5
)
print(found.verdict)

# %%
# Every method with the number of features of its best mean, beside all features and none.

print(found.table.to_string(index=False))

# %%

lines = found.standings.everyone.dropna(subset="mean")
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.errorbar(100 * lines["mean"], lines["label"], xerr=100 * lines["error"], fmt="o", capsize=3)
ax.invert_yaxis()
ax.set_xlabel("percent correct, ± standard error")
plt.show()

# %%
# No method is significantly worse than the best, not even random features: the measurements of these cells
# are so redundant that nearly any fifteen will do. Only the majority class is far below.
