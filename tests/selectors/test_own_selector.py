"""A selector of one's own: scikit-learn's interface is all that it needs, and somebody who allows it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin

import infused
from infused import AutoSelector, StabilitySelection, make_selector
from infused.exceptions import InputError


class LastFeatures(SelectorMixin, BaseEstimator):
    def __init__(self, *, n_features_to_select=2):
        self.n_features_to_select = n_features_to_select

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        self.ranking_ = self.scores_ = np.arange(X.shape[1], 0, -1)
        return self

    def _get_support_mask(self):
        return self.ranking_ <= self.n_features_to_select


PATH = f"{__name__}.LastFeatures"


@pytest.fixture
def data(rng):
    y = np.arange(60) % 2
    return rng.normal(size=(60, 6)) + 3 * y[:, None] * (np.arange(6) > 3), y


@pytest.mark.parametrize(("own", "leave"), [(LastFeatures(), {}), (PATH, {"allow_imports": True})])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_it_is_compared_with_the_others(data, own, leave, n_jobs):
    found = infused.compare(data, methods=[own, "random"], k=2, folds=3, n_jobs=n_jobs, **leave)
    best = found.standings.methods.iloc[0]
    assert best["label"] == PATH and best["mean"] > 0.9 and best["failed"] == 0


@pytest.mark.parametrize("leave", [{}, {"allow_imports": True}])
@pytest.mark.parametrize(
    "given",
    [
        {"method": PATH},
        {"method": "stability", "selector": PATH, "n_pairs": 2},
        {"method": "auto", "methods": [PATH, "random"], "cv": 2},
        {"method": "auto", "methods": {PATH: {}, "random": {}}, "cv": 2},
        {"method": LastFeatures()},
        {"method": StabilitySelection(LastFeatures(), n_pairs=2)},
        {"method": "stability", "selector": LastFeatures(), "n_pairs": 2},
        {"method": AutoSelector([LastFeatures(), "random"], cv=2)},
    ],
    ids=str,
)
def test_a_path_needs_leave_and_a_selector_does_not(data, given, leave, tmp_path):
    """So does a record of either, which says nothing of leave."""
    if not leave and PATH in str(given):
        with pytest.raises(InputError, match="is not a registered method but a path to code"):
            infused.select(data, k=2, stability=0, **given)
        return
    selection = infused.select(data, k=2, stability=0, **leave, **given)
    assert set(selection.features) == {"feature_4", "feature_5"}
    selection.save(tmp_path, report=False)
    for earlier in (selection, tmp_path):
        with pytest.raises(InputError, match=r"path to code.*allow_imports=True"):
            infused.rerun(earlier, data)
        again = infused.rerun(earlier, data, allow_imports=True)
        assert again.again.features == selection.features


def test_it_is_made_by_its_path():
    assert make_selector(PATH, allow_imports=True, n_features_to_select=3).n_features_to_select == 3
    with pytest.raises(InputError, match="allow_imports=True"):
        make_selector(PATH, n_features_to_select=3)
