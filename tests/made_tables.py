"""Tables of the kinds that people have, made at random: each with a fact that a right answer must respect."""

from __future__ import annotations

import numpy as np
from pandas import DataFrame

__all__ = ["imbalanced", "priced", "rare_levels", "travellers"]


def travellers(n: int = 400) -> DataFrame:
    """Categories, gaps, a name for every row, one fact twice; survival follows sex, class and age."""
    random = np.random.default_rng(0)
    sex, level = random.choice(["male", "female"], n), random.integers(1, 4, n)
    age = np.where(random.random(n) < 0.2, np.nan, random.normal(35, 14, n).round())
    pull = 2.0 * (sex == "female") - 0.8 * level - 0.03 * np.nan_to_num(age, nan=35) + 2
    return DataFrame(
        {
            "name": [f"traveller {i}" for i in random.permutation(n)],
            "sex": sex,
            "level": level,
            "level name": np.array(["", "first", "second", "third"])[level],
            "age": age,
            "deck": np.where(random.random(n) < 0.7, None, random.choice(list("ABC"), n)),
            "port": random.choice(["S", "C", "Q"], n),
            "survived": np.where(random.random(n) < 1 / (1 + np.exp(-pull)), "yes", "no"),
        }
    )


def rare_levels(n: int = 600) -> DataFrame:
    """A roof that one house alone has, whose price is odd; prices follow size and quality."""
    random = np.random.default_rng(1)
    size, quality = random.normal(150, 40, n), random.choice(["poor", "fair", "good"], n)
    price = 1000 * size + 30_000 * (quality == "good") + random.normal(0, 15_000, n)
    roof = random.choice(["tile", "slate"], n).astype(object)
    roof[0], price[0] = "clay", price.max() * 3
    return DataFrame(
        {"roof": roof, "size": size, "quality": quality, "noise": random.normal(size=n), "price": price}
    )


def priced(n: int = 300) -> DataFrame:
    """Numbers with currency signs, thousands and percent; the rent follows the two of them."""
    random = np.random.default_rng(2)
    income, share = random.integers(20_000, 90_000, n), random.uniform(5, 40, n)
    rent = 0.01 * income + 20 * share + random.normal(0, 40, n)
    return DataFrame(
        {
            "income": [f"${value:,}" for value in income],
            "share": [f"{value:.1f}%" for value in share],
            "floor": random.choice(["1", "2", "n/a"], n),
            "rent": [f"{value:,.2f}" for value in rent + 500],
        }
    )


def imbalanced(n: int = 1000) -> DataFrame:
    """4% positives that two of ten columns tell apart."""
    random = np.random.default_rng(3)
    y = random.random(n) < 0.04
    X = random.normal(size=(n, 10))
    X[:, 2] += 1.5 * y
    X[:, 7] -= 1.2 * y
    return DataFrame(X, columns=[f"sensor {j}" for j in range(10)]).assign(spill=np.where(y, "oil", "sea"))
