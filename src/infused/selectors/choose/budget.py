"""The best panel for a budget: features along a ranking, as long as their cost fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from infused._typing import Floats, Ints, TargetKind
from infused.selectors.choose.contest import features_by_rank
from infused.selectors.choose.evaluators import Scoring
from infused.selectors.choose.number import LINEAR, Fold, NumberCurve, curve_of, evaluations

MOST_BUDGETS = 20
MOST_STARTS = 5  # features of the ranking that are tried in front
ROUNDING = 1e-9  # of a budget: three features of 0.1 cost 0.3


@dataclass(frozen=True)
class CostCurve:
    """How a panel was chosen for a budget: scores of a linear model by cross-validation.

    In each fold features are taken in the order of a ranking, each that still fits in a budget. Scores are
    the larger the better.
    """

    scoring: str
    n_folds: int
    ks: tuple[float, ...]
    """The budgets that were tried, up to the one that was given."""
    means: tuple[float, ...]
    errors: tuple[float, ...]
    """Standard errors of the means."""
    chance: float
    """What a model without features reaches."""
    all_features: float | None
    """What all affordable features reach, whatever they cost together; None where they are too many."""
    chosen: float
    """The budget with the best mean; of equals the lowest."""
    total: float
    """What the selected features cost together."""
    limit: float
    """The budget that was given."""

    @property
    def best(self) -> float:
        """Return the budget that was chosen, which predicts best."""
        return self.chosen


def score_at(curve: CostCurve, n_features: int) -> NumberCurve:
    """Return the score of the panel that was chosen, as that of a number of features."""
    place = curve.ks.index(curve.chosen)
    return NumberCurve(
        scoring=curve.scoring,
        n_folds=curve.n_folds,
        ks=(n_features,),
        means=(curve.means[place],),
        errors=(curve.errors[place],),
        chance=curve.chance,
        all_features=curve.all_features,
        best=n_features,
        chosen=n_features,
    )


def within_budget(order: Iterable[int], costs: Floats, budget: float, most: int | None = None) -> list[int]:
    """Take features in their order, each that still fits in the budget, up to a number of them."""
    panel, left = list[int](), budget * (1 + ROUNDING)
    for j in order:
        if len(panel) == most:
            break
        if costs[j] <= left:
            panel.append(int(j))
            left -= costs[j]
    return panel


@dataclass(frozen=True)
class Walks:
    """Ways along a ranking: it itself, and with another of the first features in front.

    A feature that is a little better but costs what another one needs must not always come first.
    """

    costs: Floats
    limit: float
    most: int | None = None
    n_kept: int = 0
    """Features that come first in any case."""

    def orders(self, order: Ints) -> list[Ints]:
        """Return the ranking with each of its first features in front."""
        kept, others = order[: self.n_kept], order[self.n_kept :]
        starts = range(1, min(MOST_STARTS, len(others)))
        return [order, *(np.concatenate([kept, others[[n]], np.delete(others, n)]) for n in starts)]

    def panel(self, order: Ints, budget: float) -> list[int]:
        """Take what a budget affords."""
        return within_budget(order, self.costs, budget, self.most)

    def budgets(self, order: Ints) -> Floats:
        """Return what first features cost together, along each way; at most 20 numbers up to the limit."""
        panels = [self.panel(own, self.limit) for own in self.orders(order)]
        every = np.concatenate([np.cumsum(self.costs[panel]) for panel in panels])
        totals = np.unique(every[every >= self.costs[order[: self.n_kept]].sum()])
        if len(totals) > MOST_BUDGETS:
            totals = totals[np.unique(np.linspace(0, len(totals) - 1, MOST_BUDGETS).round().astype(int))]
        return np.asarray(totals)

    def scores(self, order: Ints, budgets: Floats, score: Callable[[list[int]], float]) -> Floats:
        """Score each way at each budget; a panel is scored once."""
        known: dict[frozenset[int], float] = {}

        def once(panel: list[int]) -> float:
            key = frozenset(panel)
            if key not in known:
                known[key] = score(panel)
            return known[key]

        orders = self.orders(order)
        return np.array([[once(self.panel(own, budget)) for own in orders] for budget in budgets])


def cost_curve(
    selector: Any, folds: Iterable[Fold], order: Ints, walks: Walks, kind: TargetKind, scoring: Scoring
) -> tuple[CostCurve, list[int]]:
    """Choose the budget and the way that predict best; return the scores, and the panel for all samples.

    At each budget, the scores are those of the way that is best there.
    """
    budgets, scores, beside = walks.budgets(order), [], []
    for fold in folds:
        ranked = features_by_rank(
            clone(selector), fold.X, fold.y, kind, groups=fold.variables, samples=fold.samples
        )
        model = evaluations(fold.y, kind, np.array([1]))[LINEAR]
        scores.append(walks.scores(ranked, budgets, partial(_score, model, fold, scoring)))
        beside.append(model.beside(fold, kind, scoring, True))
    way = np.nanmean(scores, axis=0).argmax(axis=1)
    own = np.array(scores)[:, np.arange(len(budgets)), way]
    curve = curve_of(own, np.arange(len(budgets)), np.array(beside), scoring, LINEAR)
    chosen = float(budgets[curve.best])
    panel = walks.panel(walks.orders(order)[way[curve.best]], chosen)
    found = CostCurve(
        scoring=curve.scoring,
        n_folds=curve.n_folds,
        ks=tuple(budgets.tolist()),
        means=curve.means,
        errors=curve.errors,
        chance=curve.chance,
        all_features=curve.all_features,
        chosen=chosen,
        total=float(walks.costs[panel].sum()),
        limit=float(walks.limit),
    )
    return found, panel


def _score(model: Any, fold: Fold, scoring: Scoring, panel: list[int]) -> float:
    """Score a linear model with the features of a panel on the test part."""
    own = replace(model, numbers=np.array([len(panel)]))
    return float(own.along(np.array(panel), fold, scoring)[0])
