"""Features at a false discovery rate that was asked for: the knockoff filter."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from infused._runtime.memory import memory_budget, require
from infused._runtime.progress import Stage
from infused._runtime.sklearn_compat import Interval, StrOptions, fit_context
from infused._runtime.threads import workers
from infused._typing import Floats, Ints
from infused.exceptions import InputError, Setting
from infused.selectors.base import NUMBER_OF_FEATURES, BaseSelector, ahead, how_many, ranks
from infused.selectors.docs import KNOCKOFFS, documented
from infused.selectors.feature_clusters import representatives
from infused.selectors.groups import GROUPS, KEEP, Groups
from infused.selectors.inputs import dense_design, left_over, resolve_coding, target_matrix
from infused.selectors.knockoff_copies import CONSTRUCTIONS, Copies, Parts, shrunk_covariance
from infused.selectors.knockoff_filter import Discoveries, discoveries
from infused.selectors.knockoff_statistic import coefficient_gaps
from infused.selectors.seen import look

__all__ = ["KnockoffSelector"]

MOST_PER_SAMPLE = 5  # features: with more, the covariance is too poorly known


@documented(KNOCKOFFS)
class KnockoffSelector(BaseSelector):
    r"""Features at a false discovery rate: each must do better than a copy of it that knows nothing of y.

    .. math::

        \mathbb{E} \, \frac{|\{\text{selected features that say nothing of } y \text{ given the others}\}|}
        {\max(|\{\text{selected}\}|, 1)} \le q

    Copies (knockoffs) relate to one another and to the other features as the features do, and are drawn
    without a look at y. A lasso on both gives :math:`W_j = |b_j| - |\tilde b_j|`, which is as often negative
    as positive for a feature that says nothing, so the negative ones count the false ones among the positive.
    Several draws are combined by e-values, so that the selection does not hang on one of them. Where nothing
    can be told from chance, nothing is selected: fewer than 1 / q features never are.

    The rate holds for features that are Gaussian with a known covariance, whatever y is and however it
    depends on them. Here the covariance is estimated (shrunk as Ledoit and Wolf do), and other features are
    copied in their mean and covariance only: that the rate still holds is measured, not proven.

    Parameters
    ----------
    fdr : float, default=0.1
        The rate q: how large a share of what is selected may be false, on average over data sets.
    n_features_to_select : int, float, "auto" or None, default=None
        None and "auto" for as many as the rate allows, which may be none; a number or a fraction takes the
        first of the ranking, and then no rate is promised.
    construction : {"mvr", "equicorrelated"}, default="mvr"
        How copies differ from their features: so that they can least be told from all others (minimum
        variance-based reconstructability), or all by the same amount, which is simpler and finds less.
    n_draws : int, default=20
        Sets of copies. One is the knockoff filter as published: it finds a little more, and other features
        with another seed.
    n_clusters : int, "auto" or None, default="auto"
        With many more features than samples their covariance cannot be known. Then they are joined in this
        many clusters by their correlation, without a look at y, and one feature of each is tested for all.
        "auto" makes as many clusters as there are samples where features are more than five times as many;
        None makes none.
    %(target)s
    %(groups)s
    %(keep)s
    random_state : int, RandomState instance or None, default=None
        Seed of the copies.
    %(n_jobs)s
    %(memory_budget)s

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    Lasso : The model that features and copies compete in; selects as many features as wanted.

    References
    ----------
    E. Candès, Y. Fan, L. Janson, J. Lv, "Panning for gold: model-X knockoffs for high dimensional controlled
    variable selection", Journal of the Royal Statistical Society B 80 (2018).
    A. Spector, L. Janson, "Powerful knockoffs via minimizing reconstructability", Annals of Statistics 50
    (2022).
    Z. Ren, R. F. Barber, "Derandomised knockoffs: leveraging e-values for false discovery rate control",
    Journal of the Royal Statistical Society B 86 (2024).
    R. Dai, R. F. Barber, "The knockoff filter for FDR control in group-sparse and multitask regression",
    ICML (2016).

    Examples
    --------
    >>> import numpy as np
    >>> from infused import KnockoffSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 50))
    >>> y = X[:, :12].sum(axis=1) + rng.normal(size=300)
    >>> KnockoffSelector(fdr=0.1, random_state=0).fit(X, y).get_support(indices=True)
    array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "fdr": [Interval(Real, 0, 1, closed="neither")],
        "n_features_to_select": NUMBER_OF_FEATURES,
        "construction": [StrOptions(set(CONSTRUCTIONS))],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "n_clusters": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "target": [StrOptions({"auto", "onehot", "label", "real"})],
        "groups": GROUPS,
        "keep": KEEP,
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "memory_budget": [Real, str, None],
    }

    def __init__(
        self,
        fdr: float = 0.1,
        *,
        n_features_to_select: int | float | str | None = None,
        construction: str = "mvr",
        n_draws: int = 20,
        n_clusters: int | str | None = "auto",
        target: str = "auto",
        groups: Any = None,
        keep: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_budget: int | float | str | None = None,
    ):
        self.fdr = fdr
        self.n_features_to_select = n_features_to_select
        self.construction = construction
        self.n_draws = n_draws
        self.n_clusters = n_clusters
        self.target = target
        self.groups = groups
        self.keep = keep
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_budget = memory_budget

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @fit_context
    def fit(self, X: Any, y: Any) -> Self:
        """Let the features of X and their copies compete for the target y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Class labels, real values, several columns of real values, or an indicator matrix of labels.

        Returns
        -------
        self : object
            The fitted selector.
        """
        seen = look(self, X, y, several=True)
        X, y, variables = seen.coded.X, seen.y, seen.coded.variables
        kept = variables.places(self.keep)
        number = None if self.n_features_to_select == "auto" else self.n_features_to_select
        k = how_many(number, variables, len(kept))
        budget = memory_budget(self.memory_budget)
        F = dense_design(X, True, budget)
        Y = target_matrix(y, resolve_coding(y, self.target), True)
        given = F[:, np.isin(variables.codes, kept)]  # which the model has without a penalty
        if len(kept):
            F, Y = left_over(F, given), left_over(Y, given)
        stand_ins = self._stand_ins(F, variables, kept, budget)
        tested = np.setdiff1d(stand_ins, [-1])
        if k is None and len(tested) < 1 / self.fdr:
            _warn_of_too_few(len(tested), self.fdr)
        W = np.zeros((self.n_draws, len(variables)))
        if len(tested):
            columns = [variables.columns(int(one)) for one in tested]
            W[:, tested] = self._statistics(F, Y, columns, given, budget)
        relevance = variables.summed(((F.T @ Y) ** 2).sum(axis=1)) / variables.sizes
        found = discoveries(W[:, tested], self.fdr)
        self._store(seen.variables, kept, k, _Tests(W, stand_ins, tested, found, relevance))
        return self

    def _stand_ins(self, F: Floats, variables: Groups, kept: Ints, budget: int) -> Ints:
        """The variable that is tested for each; -1 for those that none is."""
        varies = ~variables.all_of(np.asarray(~F.any(axis=0)))
        varies[kept] = False
        candidates = np.flatnonzero(varies)
        stand_ins = np.full(len(variables), -1)
        stand_ins[candidates] = candidates
        n_columns = int(varies[variables.codes].sum())
        n_clusters = self._number_of_clusters(len(F), n_columns)
        if n_clusters is not None and n_clusters < n_columns:
            if not variables.single:
                raise InputError(
                    f"the covariance of {n_columns} columns cannot be known from {len(F)} samples, and "
                    "those of ",
                    Setting("groups"),
                    " are joined to no clusters: give fewer columns, or no groups",
                )
            own = F[:, candidates] / np.linalg.norm(F[:, candidates], axis=0)
            stand_ins[candidates] = candidates[representatives(own, n_clusters, budget)]
        return stand_ins

    def _number_of_clusters(self, n_samples: int, n_columns: int) -> int | None:
        if self.n_clusters != "auto":
            return self.n_clusters  # type: ignore[return-value]  # the parameter was checked
        return n_samples if n_columns > MOST_PER_SAMPLE * n_samples else None

    def _statistics(self, F: Floats, Y: Floats, columns: list[Ints], given: Floats, budget: int) -> Floats:
        """W, draws x variables."""
        parts = Parts.make([F[:, own] for own in columns])
        n_parts = parts.Z.shape[1]
        what, instead = f"The covariance of {n_parts:,} columns", "make fewer clusters of features"
        require(48 * n_parts**2, budget, what, instead)
        seeds = np.random.SeedSequence(int(check_random_state(self.random_state).randint(2**31 - 1)))
        with workers(self.n_jobs) as pool:
            copies = Copies.make(shrunk_covariance(parts.Z), self.construction)

            def one(seed: np.random.SeedSequence) -> Floats:
                random = np.random.default_rng(seed)
                drawn = copies.draw(parts.Z, random)
                drawn = left_over(drawn, given) if given.shape[1] else drawn  # as the features are
                return coefficient_gaps(parts, drawn, Y, random)

            stage, drawn = Stage(None, "drawing knockoffs", self.n_draws), []
            for gaps in pool.map(one, seeds.spawn(self.n_draws)):
                drawn.append(gaps)
                stage.advance()
        return np.array(drawn)

    def _store(self, variables: Groups, kept: Ints, k: int | None, tests: _Tests) -> None:
        scores, tie_breaks = tests.scores()
        scores, ranking = ahead(kept, scores, ranks(scores, tie_breaks))
        chosen = tests.spread(tests.found.selected).astype(bool)
        chosen[kept] = True
        self._store_ranking(variables, scores, ranking, chosen if k is None else ranking <= k)
        self.e_values_ = tests.spread(tests.found.e_values)
        self.frequencies_ = tests.spread(tests.found.frequencies)
        self.threshold_ = tests.found.threshold
        self.n_discoveries_ = int(tests.found.selected.sum())
        self.statistics_ = tests.W
        self.representatives_ = tests.stand_ins


@dataclass(frozen=True)
class _Tests:
    """What was tested, and what was found."""

    W: Floats
    """Draws x variables; zero for those that were not tested."""
    stand_ins: Ints
    tested: Ints
    found: Discoveries
    relevance: Floats
    """What orders variables whose statistics are equal, as where the lasso needs none: their correlation."""

    def spread(self, values: Any) -> Floats:
        """Values of all variables, from those that were tested."""
        full = np.zeros(self.W.shape[1])
        full[self.tested] = values
        return full

    def scores(self) -> tuple[Floats, Floats]:
        """What was found before all others; then by the mean of W, of a stand-in for those behind it."""
        mean = self.W.mean(axis=0)
        mean = mean / (np.abs(mean).max(initial=0.0) or 1.0)
        scores = mean + 2 * self.spread(self.found.selected)
        behind = (self.stand_ins >= 0) & (self.stand_ins != np.arange(len(mean)))
        scores[behind] = mean[self.stand_ins[behind]] - 2
        scores[self.stand_ins < 0] = -4.0
        return scores, np.where(self.stand_ins < 0, -1.0, self.relevance)


def _warn_of_too_few(n: int, fdr: float) -> None:
    warnings.warn(
        f"fdr={fdr:g} selects at least {int(np.ceil(1 / fdr))} features or none, but {n} can be tested: take "
        "a larger fdr, or more features.",
        stacklevel=3,
    )
