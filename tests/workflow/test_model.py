"""The model of a selection: coded as the selection, fitted to its features, on new data, from a file."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

import infused
from infused.data import load_data
from infused.datafits import concordance
from infused.exceptions import InputError


@pytest.fixture
def table():
    """Numbers, a category and missing values; a class, an amount, and times with events."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(200, 4)), columns=["age", "iron", "sodium", "zinc"])
    table["port"] = rng.choice(["Cork", "Dover", "Lima"], 200)
    risk = table["age"] + 2 * (table["port"] == "Lima")
    table["class"] = np.where(risk + rng.logistic(size=200) > 0.7, "ill", "well")
    table["amount"] = np.expm1(np.abs(risk + rng.normal(size=200)))
    table["years"] = rng.exponential(np.exp(-risk)).round(4) + 0.001
    table["dead"] = rng.random(200) < 0.7
    table.loc[::9, "age"] = np.nan
    return table


def test_a_model_predicts_new_frames_and_is_saved(table):
    """By hand: fill, code, scale and fit; the columns of new data come in any order, beside others."""
    given = table.drop(columns=["amount", "years", "dead"])
    selection = infused.select(given, target="class", k=2, method="anova")
    assert set(selection.features) == {"age", "port"}
    model = selection.model()
    names = model["features"].get_feature_names_out().tolist()
    assert set(names) == {"age", "age=(missing)", "port=Cork", "port=Dover", "port=Lima"}
    by_hand = pd.DataFrame(
        {f"port={port}": (table["port"] == port) * 1.0 for port in ("Cork", "Dover", "Lima")}
    )
    by_hand["age"], by_hand["age=(missing)"] = table["age"].fillna(table["age"].median()), table["age"].isna()
    np.testing.assert_array_equal(model["features"].transform(given), by_hand[names].astype(float))
    scaled = StandardScaler().fit_transform(by_hand[names].astype(float))
    twin = LogisticRegression(C=model["model"].C, max_iter=1000).fit(scaled, table["class"])
    np.testing.assert_allclose(model.predict_proba(given), twin.predict_proba(scaled), atol=1e-6)
    assert model["model"].C in (0.01, 0.1, 1.0, 10.0)
    new = pd.DataFrame({"other": ["x", "y", "z"], "port": ["Lima", None, "Oslo"], "age": [3.0, -3.0, np.nan]})
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    assert model.predict(new)[:2].tolist() == ["ill", "well"]
    one = np.concatenate([model.predict_proba(new.iloc[[n]]) for n in range(3)])
    np.testing.assert_allclose(one, model.predict_proba(new))


def test_a_model_of_survival_orders_and_predicts_survival(table):
    selection = infused.select(
        table.drop(columns=["class", "amount"]), time="years", event="dead", k=2, method="anova"
    )
    model = selection.model()
    risk = model.predict(table)
    assert concordance(selection.data.y, risk) == pytest.approx(model.score(table, selection.data.y))
    assert model.score(table, selection.data.y) > 0.7
    alive = model["model"].predict_survival(model[:-1].transform(table), np.array([0.1, 1.0]))
    assert alive.shape == (200, 2) and (alive[:, 0] >= alive[:, 1]).all()


def test_an_amount_by_its_logarithm_is_predicted_as_it_is(table):
    given = table.drop(columns=["class", "years", "dead"])
    selection = infused.select(given, target="amount", log_target=True, k=2, method="anova")
    model = selection.model()
    logs = Ridge(alpha=model["model"].get_params()["regressor__alpha"])
    F = model[:-1].transform(given)
    np.testing.assert_allclose(
        model.predict(given), np.expm1(logs.fit(F, np.log1p(table["amount"])).predict(F)), rtol=1e-9
    )


def test_another_estimator_and_a_transform():
    selection = infused.select("digits", k=6, method="anova", transform="sqrt")
    forest = selection.model(RandomForestClassifier(random_state=0))
    data = load_data("digits")
    assert (forest.predict("digits") == data.y).mean() > 0.99
    columns = [feature.index for feature in selection.record.selected]
    np.testing.assert_allclose(forest["features"].transform("digits"), np.sqrt(data.X[:, columns]))


def test_arrays_and_sparse_arrays_have_models():
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, size=(80, 12)).astype(float)
    y = (X[:, 3] + X[:, 7] > 1).astype(int)
    for given in (X, csr_array(X)):
        model = infused.select((given, y), k=2, method="anova").model()
        np.testing.assert_array_equal(model.predict(given), y)


def test_what_has_no_model_says_so(table, tmp_path):
    selection = infused.select(table, target="class", drop=["years", "dead", "amount"], k=2, method="anova")
    selection.save(tmp_path / "result", report=False)
    with pytest.raises(InputError, match="the data are not in a selection that was read from a file"):
        infused.Selection.load(tmp_path / "result").model()
    few = table.head(12).assign(**{"class": ["ill"] + 11 * ["well"]})
    rare = infused.select(few, target="class", drop=["years", "dead", "amount"], k=2, method="anova")
    with pytest.raises(InputError, match="at least two samples each: give an estimator"):
        rare.model()
    assert rare.model(LogisticRegression()).predict(few).shape == (12,)
