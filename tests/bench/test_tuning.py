"""What is chosen by cross-validation is what the data were made for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from infused import make_selector
from infused._runtime.progress import reporting
from infused.bench.tuning import Part, choose_number, choose_transform
from infused.coding import transformed
from infused.exceptions import InputError
from infused.selectors.choose.evaluators import Scoring
from infused.selectors.choose.number import MOST_SAMPLES, numbers_to_try
from infused.selectors.scores.univariate import AnovaSelector

ACCURACY, R2 = Scoring("accuracy"), Scoring("r2")


def made(n_samples=120, n_features=20, n_useful=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % 2
    X = rng.standard_normal((n_samples, n_features))
    X[:, :n_useful] += 1.5 * y[:, None]
    return X, y


def by(method, **options):
    return lambda k: make_selector(method, n_features_to_select=k, **options)


@pytest.mark.parametrize("method", ["anova", "lasso", "mrmr"])
def test_few_features_are_found_to_be_enough(method):
    X, y = made()
    curve = choose_number(by(method), Part(X, y, "classes", 0), ACCURACY)
    assert 2 <= curve.chosen <= 3
    assert curve.chance == pytest.approx(0.5) and curve.ks == tuple(range(1, 21))
    assert curve.all_features == curve.means[-1], "20 of 20 features are all of them"


def test_one_ranking_of_each_fold_serves_every_number():
    X, y = made()
    fits = []

    class Watched(AnovaSelector):
        def fit(self, X, y, **more):
            fits.append(self.n_features_to_select)
            return super().fit(X, y, **more)

    choose_number(lambda k: Watched(n_features_to_select=k), Part(X, y, "classes", 0), ACCURACY)
    assert fits == [20] * 5


@pytest.mark.parametrize(("name", "chance"), [("roc_auc", 0.5), ("balanced_accuracy", 0.5)])
def test_a_rare_class_is_found_by_what_counts_it(name, chance):
    X, y = made(n_samples=600, n_useful=0)
    y = (np.arange(600) % 25 == 0).astype(int)
    X[:, 4] += 2.5 * y
    curve = choose_number(by("anova"), Part(X, y, "classes", 0), Scoring(name))
    assert curve.scoring == name and curve.chance == chance
    assert curve.chosen == 1 and curve.means[0] > 0.85


def test_the_rule_of_one_standard_error():
    """The choice again, in a few obvious lines."""
    X, y = made(n_useful=6)
    scores = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=4).split(X, y):
        order = np.argsort(by("anova")(20).fit(X[train], y[train]).ranking_)
        model = make_pipeline(StandardScaler(), LinearSVC(random_state=0))
        parts = [(X[train][:, order[:k]], X[test][:, order[:k]]) for k in range(1, 21)]
        scores.append([model.fit(fitted, y[train]).score(unseen, y[test]) for fitted, unseen in parts])
    mean, spread = np.mean(scores, axis=0), np.std(scores, axis=0, ddof=1) / np.sqrt(5)
    least = mean.max() - spread[mean.argmax()]
    expected = next(k for k in range(1, 21) if mean[k - 1] >= least)
    assert choose_number(by("anova"), Part(X, y, "classes", 4), ACCURACY).chosen == expected


def test_real_targets():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 12))
    y = X[:, 0] + X[:, 1] + 0.1 * rng.standard_normal(100)
    for name in ("r2", "mae"):
        curve = choose_number(by("lasso", target="real"), Part(X, y, "real", 0), Scoring(name))
        assert curve.chosen == 2
        assert curve.chance < curve.means[0] < curve.means[1]


def test_what_is_tried():
    assert numbers_to_try(4).tolist() == [1, 2, 3, 4]
    assert numbers_to_try(64).tolist() == [1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 64]
    assert numbers_to_try(5000).tolist() == [1, 2, 3, 5, 7, 10, 15, *range(20, 201, 10)]


def test_progress_runs_to_the_end():
    seen = []
    X, y = made()
    with reporting(lambda fraction, message: seen.append((fraction, message)) and None):
        choose_number(by("anova"), Part(X, y, "classes", 0), ACCURACY)
    assert {message for _, message in seen} == {"choosing the number of features"}
    fractions = [fraction for fraction, _ in seen]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0


@pytest.mark.parametrize(
    ("expected", "undone_by"), [("none", lambda Z: Z), ("sqrt", np.square), ("log1p", np.expm1)]
)
def test_the_transform_that_makes_the_target_linear(expected, undone_by):
    rng = np.random.default_rng(0)
    Z = rng.uniform(0, 9, (120, 4))
    y = Z @ [1.0, 2.0, 3.0, 4.0]
    assert choose_transform(Part(undone_by(Z), y, "real", 0), 4, R2).value == expected
    ranks = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    assert choose_transform(Part(undone_by(Z), ranks, "classes", 0), 4, ACCURACY).value == expected


def test_negative_values_leave_no_choice():
    X, y = made()
    choice = choose_transform(Part(X, y, "classes", 0), 3, ACCURACY)
    assert choice.value == "none"
    assert "negative" in choice.reason


def test_transform_for_several_targets():
    rng = np.random.default_rng(0)
    Z = rng.uniform(0, 9, (80, 4))
    assert choose_transform(Part(np.expm1(Z), Z[:, :2], "real", 0), 4, R2).value == "log1p"


@pytest.mark.parametrize("name", ["none", "sqrt", "log1p"])
def test_sparse_values_are_transformed_in_place(name):
    X = np.abs(made()[0]) * (made(seed=1)[0] > 0)
    result = transformed(sparse.csr_array(X), name)
    assert sparse.issparse(result)
    np.testing.assert_array_equal(result.toarray(), transformed(X, name))


def test_negative_values_are_refused_by_name():
    X = np.array([[1.0, 2.0], [3.0, -0.5]])
    with pytest.raises(
        InputError, match=r"transform='sqrt' needs values that are not negative, but 'b' has -0\.5"
    ):
        transformed(X, "sqrt", ["a", "b"])
    with pytest.raises(InputError, match=r"but 'b' has -0\.5"):
        transformed(sparse.csc_array(X), "log1p", ["a", "b"])


def test_many_samples_are_thinned_out():
    X, y = made(n_samples=3 * MOST_SAMPLES, n_features=3)
    seen = []

    class Watched(BaseEstimator):
        def fit(self, X, y):
            seen.append(len(y))
            self.ranking_ = np.arange(1, X.shape[1] + 1)
            return self

    choose_number(lambda k: Watched(), Part(X, y, "classes", 0), ACCURACY)
    assert seen == [MOST_SAMPLES * 4 // 5] * 5
