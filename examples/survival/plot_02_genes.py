"""
Many genes, few patients
========================

150 patients, 1,000 genes, of which eight change the hazard. The lasso of Cox's likelihood along its path, the
number of genes by cross-validation, and three ways to say how far the genes can be trusted.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

from infused import KnockoffSelector, Lasso, StabilitySelection, make_selector
from infused.datafits import survival_records

rng = np.random.default_rng(1)
genes, true = rng.normal(size=(150, 1000)), np.arange(0, 800, 100)
died = rng.exponential(np.exp(-genes[:, true] @ np.resize([0.9, -0.9], 8)))
left = rng.exponential(2.0, 150)
y = survival_records(np.minimum(died, left), died <= left)  # structured, as scikit-survival has it
print(f"{y['event'].mean():.0%} of the times are events")

# %%
# The path of the lasso, with the partial likelihood of held-out patients. ``"1se"`` is the smallest model
# within one standard error of the best.

path = Lasso(lambda1=0.2).regularization_path(genes, y, n_lambdas=25, cv=5)
path.plot()
plt.show()
for choice in ("min", "1se"):
    print(choice, np.flatnonzero(path.model(choice).coef_[0]))

# %%
# The first eight genes of each ranking. The score test looks at one gene at a time; the lasso eliminates
# genes by the model itself.

for id in ("anova", "lasso", "greedy-forward"):
    first = make_selector(id, n_features_to_select=8).fit(genes, y).get_support(indices=True)
    print(f"{id}: {np.isin(first, true).sum()} of 8 are true")

# %%
# Genes that half-samples agree on, with at most one false one expected; and knockoffs, of which at most a
# fifth are false on average. With many more genes than patients, knockoffs test clusters of genes, and eight
# genes in 150 clusters are too few for them to name any here.

stable = StabilitySelection("lasso", n_pairs=20, max_false=1.0, random_state=0).fit(genes, y)
print("stable:", stable.get_support(indices=True))
knockoffs = KnockoffSelector(fdr=0.2, random_state=0).fit(genes, y)
print("knockoffs:", knockoffs.get_support(indices=True))
