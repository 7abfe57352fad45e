"""F values where rounding is all that there is."""

from __future__ import annotations

import numpy as np

from infused import make_selector


def test_a_feature_that_is_the_target_comes_first():
    for seed in range(
        20
    ):  # the correlation of a column with itself is above one in some, below one in others
        rng = np.random.default_rng(seed)
        y = rng.normal(size=50)
        X = np.column_stack([y + rng.normal(size=50), y])
        selector = make_selector("anova", n_features_to_select=1).fit(X, y)
        assert selector.get_support(indices=True).tolist() == [1]
        assert np.isfinite(selector.scores_).all()
