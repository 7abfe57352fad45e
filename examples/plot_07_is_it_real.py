"""
Is it real?
===========

A selector always selects. Whether what it selected has anything to do with the target is
another question, and three answers to it come with a promise: permuted copies that compete,
half-samples that must agree, and knockoffs that hold a false discovery rate.
Here 8 of 100 features matter, and some of the others are their neighbours.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

from infused import GreedyForward, KnockoffSelector, StabilitySelection, shadow_test

rng = np.random.default_rng(3)
n_samples, n_features, true = 300, 100, np.arange(0, 40, 5)
X = rng.normal(size=(n_samples, n_features))
X[:, 1:40] += 0.6 * X[:, :39]
y = X[:, true] @ np.array([1.0, -1.0, 0.9, -0.9, 0.8, -0.8, 0.7, -0.7]) + 2.0 * rng.normal(size=n_samples)

# %%
# Twenty features were asked for, so twenty are selected: how many outperform permuted copies of
# all features? With 19 permutations a p-value of 0.05 is possible.

asked = GreedyForward(n_features_to_select=20).fit(X, y)
test = shadow_test(asked, X, y, n_repeats=19, random_state=0)
print("p <= 0.05:", np.sort(test.features[test.p_values <= 0.05]))

# %%
# Stability: in which share of random half-samples is a feature selected? The threshold comes with
# a bound on the expected number of false ones.

stable = StabilitySelection("lasso", n_pairs=25, random_state=0).fit(X, y)
print("stable:", np.flatnonzero(stable.get_support()), f"at most {stable.expected_false_:.1f} false expected")

# %%
# Knockoffs: the expected share of false ones is at most a fifth. Two copies of each feature
# compete with it, so that three features are enough to be found.

knockoffs = KnockoffSelector(fdr=0.2, random_state=0).fit(X, y)
print("knockoffs:", np.flatnonzero(knockoffs.get_support()))

# %%
# Colours tell what only a simulation knows: which features matter.

figure, axes = plt.subplots(2, 1, figsize=(8, 5.4), layout="constrained")
matters = np.isin(test.features, true)
axes[0].bar(np.arange(20), test.wins, color=np.where(matters, "C0", "0.75"))
axes[0].set_xticks(np.arange(20), test.features)
axes[0].axhline(0.5, color="k", lw=0.8, ls=":")
axes[0].set(title="twenty that were asked for, best first", ylabel="ahead of all shadows")
matters = np.isin(np.arange(n_features), true)
axes[1].bar(np.arange(n_features), stable.frequencies_, color=np.where(matters, "C0", "0.75"))
axes[1].axhline(stable.threshold_, color="k", lw=0.8, ls=":")
chosen = np.flatnonzero(knockoffs.get_support())
axes[1].plot(chosen, np.full(len(chosen), 1.05), "v", color="C1", label="selected by knockoffs")
axes[1].set(title="stability", xlabel="feature", ylabel="selection frequency", ylim=(0, 1.15))
axes[1].legend(frameon=False)
plt.show()

# %%
# Blue features matter, grey ones do not. Above, only blue features outperform all permuted copies. Below,
# only blue ones reach the dotted threshold. Of the nine features under a triangle one is grey: knockoffs
# promise at most a fifth.
#
# And where nothing is there? A target at random.

nothing = rng.normal(size=n_samples)
print("stable:", StabilitySelection("lasso", n_pairs=25, random_state=0).fit(X, nothing).get_support().sum())
print("knockoffs:", KnockoffSelector(fdr=0.2, random_state=0).fit(X, nothing).get_support().sum())
asked = GreedyForward(n_features_to_select=20).fit(X, nothing)
test = shadow_test(asked, X, nothing, n_repeats=19, random_state=0)
print("p <= 0.05:", (test.p_values <= 0.05).sum())
