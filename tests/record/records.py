"""Records of real fits, and of data whose every name is hostile."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from sklearn import datasets
from sklearn.feature_selection import SelectKBest, f_classif

from infused import InFusedLasso
from infused.data import Dataset, ReadOptions
from infused.record.schema import Request, SelectionStability
from infused.record.summary import summarize
from infused.selectors.method import Method
from infused.selectors.registry import id_of

IMG = "<img src=x onerror=window.__hacked=1>"
HOSTILE = (
    IMG,
    "</script><script>window.__hacked=2</script>",
    "<b>bold</b>",
    '<a href="https://example.org">link</a>',
    "<!-- -->",
    "&lt;i&gt;",
    "%{x} $x^2$",
    "@accent",
    "\u2028\u2029",
    "x" * 300,
)


def as_data(X, y, names=None, kind="classes", name="made up", target_name="target", **more):
    """Data as they are after reading, without the checks."""
    columns = tuple(f"x{n}" for n in range(X.shape[1])) if names is None else tuple(names)
    return Dataset(name, X, y, columns, target_name, kind, **more)


def record_of(data, selector, **more):
    """Summarize a fitted selector, with the request that its parameters stand for."""
    parameters = selector.get_params(deep=False)
    k = parameters.pop("n_features_to_select", parameters.get("k"))
    method, reading = Method(id_of(type(selector)), parameters), ReadOptions(target=data.target_name)
    return summarize(data, selector, Request(data.source, reading, method, k, "none", 0), **more)


@cache
def cells_data():
    bunch = datasets.load_breast_cancer()
    labels = bunch.target_names.astype(str)[bunch.target]
    names = [str(name) for name in bunch.feature_names]
    return as_data(bunch.data, labels, names, target_name="diagnosis", name="breast-cancer")


@cache
def digits_data():
    bunch = datasets.load_digits()
    return as_data(
        bunch.data[:400], bunch.target[:400], bunch.feature_names, grid_shape=(8, 8), name="digits"
    )


@cache
def diabetes_data():
    bunch = datasets.load_diabetes()
    more = {"target_name": "progression", "name": "diabetes"}
    return as_data(bunch.data, bunch.target, bunch.feature_names, kind="real", **more)


@cache
def cells_fit():
    return InFusedLasso(n_features_to_select=8).fit(cells_data().X, cells_data().y)


@cache
def cells_record():
    return record_of(cells_data(), cells_fit(), timings={"select": 0.25})


@cache
def halved_record():
    """With a column more: how often halves of the samples chose each feature."""
    n_features = cells_record().data.n_features
    often = SelectionStability(
        50, 0, 5.0, 0.75, 2, 0.4, "r-concave", tuple(np.linspace(0, 1, n_features).tolist())
    )
    return replace(cells_record(), stability=often)


@cache
def digits_record():
    data = digits_data()
    return record_of(data, InFusedLasso(n_features_to_select=12, max_iter=200, tol=1e-2).fit(data.X, data.y))


@cache
def diabetes_record():
    data = diabetes_data()
    return record_of(data, InFusedLasso(n_features_to_select=4, target="real").fit(data.X, data.y))


@cache
def hostile_record():
    """Features, classes, target, data set, source and notes that try to be markup."""
    cells = cells_data()
    X = cells.X[:, : len(HOSTILE)]
    labels = np.array([f"{IMG} class", "</title><svg onload=window.__hacked=4>"])[(cells.y == "benign") * 1]
    more = {
        "name": IMG,
        "target_name": f"</title>{IMG}",
        "source": IMG,
        "notes": (IMG,),
        "grid_shape": (2, 5),
    }
    data = as_data(X, labels, HOSTILE, **more)
    return record_of(data, InFusedLasso(n_features_to_select=9).fit(X, labels), timings={IMG: 1.0})


@cache
def large_record():
    """10,000 features, 150 selected, with names as long as those of probes."""
    rng = np.random.default_rng(0)
    y = np.repeat(["control", "tumour"], 40)
    causes = rng.standard_normal((80, 600)) + 0.3 * (y == "tumour")[:, None]
    X = causes[:, rng.integers(0, 600, 10_000)] + 0.5 * rng.standard_normal((80, 10_000))
    names = [f"ENSG{number:011d}_probe_{n}" for n, number in enumerate(rng.integers(0, 10**10, 10_000))]
    return record_of(as_data(X, y, names), SelectKBest(f_classif, k=150).fit(X, y))
