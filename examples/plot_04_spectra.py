"""
Spectra: features in an order
=============================

A spectrum has hundreds of channels, and a band covers many of them. The fused lasso gives
neighbouring channels similar coefficients, so that it finds bands where the lasso picks single
channels. Whether the channels have an order at all, ``fusion="auto"`` finds by itself.
"""

# %%
# Two substances, each with a band; the concentration of the first is asked for, the second
# disturbs.

import matplotlib.pyplot as plt
import numpy as np

from infused import FusedLasso, InFusedLasso, Lasso

rng = np.random.default_rng(0)
channel = np.arange(200)


def band(centre, width):
    return np.exp(-(((channel - centre) / width) ** 2))


concentration, other = rng.uniform(size=(2, 80))
X = np.outer(concentration, band(60, 9)) + np.outer(other, band(75, 14) + band(150, 10))
X += rng.normal(0, 0.15, (80, 9)) @ [band(25 * n, 25) for n in range(9)]  # a background that drifts
X += 0.02 * rng.normal(size=X.shape)

# %%

models = {
    "Lasso": Lasso(ranking="coefficient", lambda1=0.05),
    "FusedLasso, chain": FusedLasso(ranking="coefficient", lambda1=0.05, lambda2=0.05, fusion="chain"),
}
figure, axes = plt.subplots(3, 1, figsize=(7.5, 6), sharex=True, layout="constrained")
axes[0].plot(channel, X[:12].T, color="0.7", lw=0.6)
axes[0].plot(channel, band(60, 9), "C3", label="what is asked for")
axes[0].plot(channel, band(75, 14) + band(150, 10), "C0", label="what disturbs")
axes[0].legend(frameon=False)
axes[0].set_title("spectra")
for ax, (name, model) in zip(axes[1:], models.items(), strict=True):
    model.fit(X, concentration)
    ax.plot(channel, model.coef_.ravel(), "k", lw=1)
    ax.fill_between(
        channel,
        0,
        1,
        where=model.get_support(),
        transform=ax.get_xaxis_transform(),
        color="C3",
        alpha=0.25,
        lw=0,
    )
    runs = int(np.sum(np.diff(model.get_support().astype(int)) == 1))
    ax.set_title(f"{name}: {model.get_support().sum()} channels in {runs} stretches")
axes[-1].set_xlabel("channel")
plt.show()

# %%
# Above are twelve spectra with the two bands. The lasso picks 12 channels in 8 stretches. The fused lasso
# selects bands: that of the substance has positive coefficients, and those beside it correct for what
# disturbs.
#
# InFusedLasso looks whether neighbours are alike before it fuses; on channels in random order it does not.

print(InFusedLasso(n_features_to_select=20).fit(X, concentration).fusion_reason_)
print(InFusedLasso(n_features_to_select=20).fit(X[:, rng.permutation(200)], concentration).fusion_reason_)
