"""The direction of an effect, for numbers and categories, classes and continuous targets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import infused
from infused.record.explained import direction

COLOURS = ("blue", "green", "red")


@pytest.fixture
def codes():
    return np.arange(60) % 3


@pytest.mark.parametrize("scale", [1.0, -1.0])
def test_numbers(rng, codes, scale):
    noise = 0.3 * rng.normal(size=60)
    two = codes == 2
    end = ("well", "ill") if scale < 0 else ("ill", "well")
    assert (
        direction(scale * two + noise, None, two.astype(int), ("well", "ill"), "d") == f"higher in {end[0]}"
    )
    high, low = ("red", "blue") if scale > 0 else ("blue", "red")
    words = f"highest in {high}, lowest in {low}"
    assert direction(scale * codes + noise, None, codes, COLOURS, "colour") == words
    y = np.exp(3 * rng.normal(size=60))
    verb = "rises" if scale > 0 else "falls"
    assert direction(scale * np.log(y) + noise, None, y, (), "price") == f"{verb} with price"


def test_categories(rng, codes):
    levels = ("east", "north", "west")
    own = np.where(rng.random(60) < 0.8, codes, rng.integers(0, 3, 60)).astype(float)
    said = direction(own, levels, codes, COLOURS, "colour")
    table = pd.crosstab(codes, own)
    pairs = {f"{COLOURS[c]} most often when it is {levels[n]}": (c, n) for c in range(3) for n in range(3)}
    residual = (table - np.outer(table.sum(axis=1), table.sum()) / 60) / np.sqrt(
        np.outer(table.sum(axis=1), table.sum()) / 60
    )
    assert pairs[said] == np.unravel_index(residual.to_numpy().argmax(), (3, 3))
    y = 5 * (own == 1) + rng.normal(size=60)
    assert direction(own, levels, y, (), "price") == "price highest when it is north"
    yes = (own == 1).astype(float)  # a number with two values is read as two levels
    assert direction(yes, None, y, (), "price") == "price highest when it is 1"
    assert (
        direction(yes, None, (y < 2).astype(int), ("dear", "cheap"), "kind") == "dear most often when it is 1"
    )


def test_what_is_not_clear_is_not_said(rng, codes):
    """One time in twenty chance looks like a direction."""
    said = [direction(rng.normal(size=60), None, codes, COLOURS, "colour") for _ in range(300)]
    assert sum(map(bool, said)) <= 300 * 0.08
    said = [direction(rng.integers(0, 3, 60).astype(float), COLOURS, codes, COLOURS, "c") for _ in range(300)]
    assert sum(map(bool, said)) <= 300 * 0.08
    assert direction(np.ones(60), None, codes, COLOURS, "colour") == ""
    assert direction(np.zeros(60), COLOURS, codes, COLOURS, "colour") == ""
    assert direction(rng.normal(size=60), None, np.zeros((60, 2)), (), "several") == ""


@pytest.mark.parametrize("method", ["anova", "mrmr", "infused-lasso", "random-forest"])
def test_every_method_has_it(rng, method):
    """In the table, in a notebook, on the page."""
    ill = np.arange(90) % 2 == 0
    table = pd.DataFrame({"glucose": ill + 0.3 * rng.normal(size=90), "noise": rng.normal(size=90)})
    table["sex"] = np.where(rng.random(90) < 0.9, np.where(ill, "f", "m"), "f")
    table["y"] = np.where(ill, "ill", "well")
    found = infused.select(table, "y", k=2, method=method, stability=0, folds=0)
    said = dict(zip(found.table["feature"], found.table["direction"], strict=True))
    assert said["glucose"] == "higher in ill"
    assert said["sex"] == "well most often when it is m"
    for shown in (found._repr_html_(), found.report()):
        assert "higher in ill" in shown and "well most often when it is m" in shown
