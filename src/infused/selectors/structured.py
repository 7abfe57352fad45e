"""What the selectors with an information term share: two formulations, the limit, and the memory."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from infused._runtime.memory import memory_budget, require
from infused._typing import Array, Floats, Ints
from infused.exceptions import ScreeningWarning, UnboundedObjectiveWarning
from infused.penalties.quadratic import Quadratic, Ridge, Sum
from infused.selectors.linear import WEIGHT, LinearSelector
from infused.selectors.model import SparseModel
from infused.selectors.ranking import Ranked, rank_by_coefficient, rank_recursively
from infused.selectors.structure import PublishedTerm, bytes_of_structure, size_that_fits, stable_term

__all__ = ["StructuredSelector"]


class StructuredSelector(LinearSelector):
    r"""A model with :math:`-\lambda_3\,\mathrm{tr}\,B'UB`, as published or convexified.

    A subclass says what U is (:meth:`_information`), and whether there is a ridge beside it.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearSelector._parameter_constraints,
        "lambda3": WEIGHT,
        "formulation": [StrOptions({"stable", "paper"})],
        "unbounded": [StrOptions({"raise", "iterate"})],
    }

    def _information(self, X: Any, y: Any) -> Floats:
        """U, features x features."""
        raise NotImplementedError

    def _ridge(self, F: Floats) -> float:
        """The weight of a ridge that is part of the model."""
        return 0.0

    def _target(self) -> str:
        published = self.formulation == "paper" and self.target == "auto"
        return "label" if published else str(self.target)

    def _quadratic(self, F: Floats) -> Quadratic:
        """A ridge in the place of the information term."""
        own = 0.0 if self.formulation == "paper" else self._weight(self.lambda3, F)
        return Ridge(self._ridge(F) + own)

    def _whole_model(self, X: Any, y: Any) -> SparseModel:
        model = self._model(X, y)
        return self._with_structure(model, X, y) if self.lambda3 > 0 else model

    def _rank_features(self, X: Any, y: Any, k: int | None) -> tuple[Ranked, Ints]:
        """Rank the features that are left after screening, and say which they are."""
        model = self._model(X, y)
        features = self._screen(model, k)
        if len(features) < model.n_features:
            model, X = model.restricted(features), X[:, features]
        if self.lambda3 > 0:
            model = self._with_structure(model, X, y)
        if self.unbounded_:
            return rank_by_coefficient(model, self._lambdas(), stop_early=False), features
        return self._rank(model, k), features

    def _check(self, X: Any, y: Any) -> tuple[Any, Any]:
        self.unbounded_ = False
        return super()._check(X, y)

    def _screen(self, model: SparseModel, k: int | None) -> Ints:
        """All features, or as many as U fits for, chosen by the rounds that the ranking would do anyway."""
        n = model.n_features
        budget = memory_budget(self.memory_budget)
        self.n_features_screened_ = 0
        if self.lambda3 == 0 or bytes_of_structure(n) <= budget:
            return np.arange(n)
        recursive = self.formulation == "stable" and self.ranking == "recursive"
        size = size_that_fits(n, k, budget) if k is not None and recursive else n
        if bytes_of_structure(size) > budget:
            what = f"U of {size} features"
            require(bytes_of_structure(size), budget, what, "set n_features_to_select to a smaller number")
        warnings.warn(
            f"U of {n} features would not fit in the memory budget: the first rounds ran without it, "
            f"and it entered when {size} features were left.",
            ScreeningWarning,
            stacklevel=5,
        )
        self.n_features_screened_ = n - size
        return np.flatnonzero(rank_recursively(model, self._lambdas(), size).ranking <= size)

    def _with_structure(self, model: SparseModel, X: Any, y: Any) -> SparseModel:
        """The model with the information term instead of the ridge in its place."""
        U = self._information(X, y)
        relative = self.lambda_scale == "relative"
        ridge = self._ridge(model.X)
        if self.formulation == "stable":
            term = stable_term(model.X, U, self.lambda3, relative)
        else:
            published = PublishedTerm.of(model.X, U, self.lambda3, relative, ridge)
            self.lambda3_limit_ = published.limit
            if not published.bounded:
                self._face(published)
            term = published.term
        return replace(model, quadratic=Sum(Ridge(ridge), term) if ridge > 0 else term)

    def _face(self, published: PublishedTerm) -> None:
        """Refuse an objective without a minimum, or warn and go on, as ``unbounded`` says."""
        if self.unbounded == "raise":
            published.refuse()
        self.unbounded_ = True
        running = f"Running {self.max_iter} iterations of Algorithm 1 as published."
        warnings.warn(f"{published.complaint} {running}", UnboundedObjectiveWarning, stacklevel=6)

    def _selected(self, coef: Floats) -> Array:
        """The paper's rule is b > 0."""
        return np.asarray((coef > 0).any(axis=1)) if self.formulation == "paper" else super()._selected(coef)

    def _must_converge(self) -> bool:
        return not self.unbounded_
