"""Is a selection better than chance? Permuted copies of the features compete with them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from infused._runtime.progress import Stage, reporting
from infused._typing import Array, Floats, Ints
from infused.exceptions import InputError, Setting
from infused.penalties.norms import fusion_edges
from infused.samples import Samples
from infused.selectors.inputs.groups import Groups

MOST_SHADOWS = 1000


@dataclass(frozen=True)
class ShadowTest:
    """Selected features beside randomly permuted copies of all features (shadows).

    Parameters
    ----------
    features : ndarray of int of shape (n_selected,)
        Positions of the selected features (or groups), best first; without those that are kept anyway.
    wins : ndarray of shape (n_selected,)
        The share of repeats in which each was ahead of all shadows.
    n_repeats : int
        How often the shadows were permuted.
    n_features : int
        Features (or groups) that compete.
    n_shadows : int
        Shadows that compete with them: as many, or 1,000 where features are more.

    Attributes
    ----------
    p_values : ndarray of shape (n_selected,)
        Permutation p-value of each selected feature, adjusted for the number of features.
    n_beaten : int
        Selected features that the best shadow was ahead of in half of the repeats or more.
    by_chance : float
        Expected number of features that are ahead of all shadows in a repeat if no feature is relevant.

    See Also
    --------
    shadow_test : Makes one.

    Examples
    --------
    >>> import numpy as np
    >>> from infused import ShadowTest
    >>> test = ShadowTest(np.array([4, 2]), np.array([1.0, 0.2]), n_repeats=5, n_features=30, n_shadows=30)
    >>> test.n_beaten
    1
    >>> test.p_values.round(3)
    array([0.167, 0.833])
    """

    features: Ints
    wins: Floats
    n_repeats: int
    n_features: int
    n_shadows: int

    @property
    def p_values(self) -> Floats:
        r"""Compute the permutation p-value of each selected feature, adjusted for the number of features.

        With R repeats of S shadows beside N features it is :math:`(1 + b_j) / (1 + RS/N)`, where in
        :math:`b_j` repeats a shadow was ahead of the feature: the best of N irrelevant features is ahead of
        all R S shadows with the probability N / (N + R S). A p-value of 0.05 needs 19 repeats or more.
        """
        behind = np.rint(self.n_repeats * (1 - self.wins))
        return np.asarray(
            np.minimum((1 + behind) / (1 + self.n_repeats * self.n_shadows / self.n_features), 1.0)
        )

    @property
    def n_beaten(self) -> int:
        """Count the selected features that the best shadow was ahead of in half of the repeats or more."""
        return int((self.wins <= 0.5).sum())

    @property
    def by_chance(self) -> float:
        """Return how many features are expected to be ahead of all shadows if no feature is relevant."""
        return self.n_features / (self.n_shadows + 1)


def shadow_test(
    selector: Any,
    X: Any,
    y: Any,
    *,
    n_repeats: int = 5,
    max_shadows: int = MOST_SHADOWS,
    random_state: Any = None,
    sample_groups: Any = None,
    order: Any = None,
) -> ShadowTest:
    r"""Test selected features against randomly permuted copies of all features (shadows).

    .. math::

        \mathrm{wins}_j = \frac1R \sum_{r=1}^R 1\{\mathrm{rank}_r(f_j) < \min_s \mathrm{rank}_r(\tilde f_s)\}

    In each repeat the rows of X are permuted, all columns alike, so that the shadows relate to one another as
    the features do, and to the target only by chance. The selector ranks features and shadows together. The
    best of many irrelevant features is ahead of all shadows in about half of the repeats, so a large share of
    wins alone is no evidence: ``p_values`` take the number of features into account, and need 19 repeats or
    more to reach 0.05. They are those of a permutation test where no feature is relevant; where some are,
    they compare the others with shadows that compete with the relevant ones, too.

    Parameters
    ----------
    selector : object
        A fitted selector with ``support_`` and ``ranking_``, as all of infused have. It stays as it is.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        What it was fitted on.
    y : array of shape (n_samples,) or (n_samples, n_targets)
        The target that it was fitted on.
    n_repeats : int, default=5
        How often to permute; each repeat is a fit on features and shadows.
    max_shadows : int, default=1000
        With more features than this, some neighbouring ones alone get shadows, others in each repeat.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutations.
    sample_groups : array-like of shape (n_samples,), default=None
        The group of each sample, such as its patient. Each group then gets the rows of another one in random
        order: features that are constant within groups are permuted between groups, others within them, too.
    order : array-like of shape (n_samples,), default=None
        The place of each sample in an order, such as its time, along which shadows are shifted.

    Returns
    -------
    ShadowTest
        Each selected feature, and how often it was ahead of all shadows.

    See Also
    --------
    KnockoffSelector : Copies that keep the correlation with the other features, and a rate that holds.

    References
    ----------
    M. B. Kursa, W. R. Rudnicki, "Feature selection with the Boruta package", Journal of Statistical Software
    36 (2010), whose shadows are permuted column by column, for random forests.

    Examples
    --------
    >>> import numpy as np
    >>> from infused import Lasso, shadow_test
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(100, 20))
    >>> y = X[:, 3] + X[:, 8] + 0.5 * rng.normal(size=100)
    >>> test = shadow_test(Lasso(n_features_to_select=6).fit(X, y), X, y, n_repeats=19, random_state=0)
    >>> test.features[test.p_values <= 0.05]
    array([3, 8])
    """
    check_is_fitted(selector)
    if not hasattr(selector, "ranking_") or not hasattr(selector, "support_"):
        raise InputError(f"{type(selector).__name__} ranks no features: shadows need ranking_ and support_")
    if n_repeats < 1 or max_shadows < 1:
        raise InputError(Setting("n_repeats"), " and ", Setting("max_shadows"), " must be 1 or more")
    race = _Race.make(selector, X)
    samples = Samples.given(sample_groups, order, race.X.shape[0])
    if not len(race.selected):
        return ShadowTest(race.selected, np.empty(0), n_repeats, race.n_candidates, 0)
    random = check_random_state(random_state)
    n_shadows = min(race.n_candidates, max_shadows)
    wins, stage = np.zeros(len(race.selected)), Stage(None, "letting shadows compete", n_repeats)
    with warnings.catch_warnings(), reporting(None):
        warnings.simplefilter("ignore")  # what matters is said of the fit on the features alone
        for _ in range(n_repeats):
            wins += race.run(y, n_shadows, random, samples)
            stage.advance()
    return ShadowTest(race.selected, wins / n_repeats, n_repeats, race.n_candidates, n_shadows)


@dataclass(frozen=True)
class _Race:
    """Features and shadows, one beside the other, in front of one selector."""

    selector: Any
    X: Any
    variables: Groups
    kept: Ints
    selected: Ints
    """Variables, best first, without the kept."""

    @classmethod
    def make(cls, selector: Any, X: Any) -> _Race:
        names = getattr(selector, "feature_names_in_", None)
        X = check_array(X, accept_sparse=["csr", "csc"], dtype=None)
        variables = Groups.parse(getattr(selector, "groups", None), X.shape[1], names)
        kept = variables.places(getattr(selector, "keep", None))
        first_columns = np.unique(variables.codes, return_index=True)[1]
        chosen = np.flatnonzero(np.asarray(selector.support_)[first_columns])
        chosen = np.setdiff1d(chosen, kept)
        return cls(selector, X, variables, kept, chosen[np.argsort(selector.ranking_[chosen])])

    @property
    def n_candidates(self) -> int:
        """Count the variables that compete."""
        return len(self.variables) - len(self.kept)

    def run(self, y: Any, n_shadows: int, random: Any, samples: Samples) -> Array:
        """Return which selected features are ahead of all shadows, for one permutation."""
        candidates = np.setdiff1d(np.arange(len(self.variables)), self.kept)
        start = random.randint(len(candidates) - n_shadows + 1)
        shadowed = candidates[start : start + n_shadows]  # neighbours, which may belong together
        columns = np.flatnonzero(np.isin(self.variables.codes, shadowed))
        shuffled = self.X[samples.shuffled(self.X.shape[0], random)][:, columns]
        both = sp.hstack([self.X, shuffled], "csr") if sp.issparse(self.X) else np.hstack([self.X, shuffled])
        competitor = self._competitor(columns)
        ranking = competitor.fit(both, y, **samples.taken_by(competitor)).ranking_
        return np.asarray(ranking[self.selected] < ranking[len(self.variables) :].min())

    def _competitor(self, columns: Ints) -> Any:
        """Copy the selector for features and shadows, with their groups, neighbours and kept features."""
        takes = self.selector.get_params(deep=False)
        new: dict[str, Any] = {"n_features_to_select": len(self.selected) + len(self.kept)}
        if not self.variables.single:
            shadows = np.unique(self.variables.codes[columns], return_inverse=True)[1]
            new["groups"] = np.concatenate([self.variables.codes, shadows + len(self.variables)])
        elif self.variables.given:
            new["groups"] = None
        if len(self.kept):
            new["keep"] = self.kept.tolist()
        if hasattr(self.selector, "fusion_"):
            new |= {"fusion": self._fusion(columns), "grid_shape": None}
        return clone(self.selector).set_params(**{name: new[name] for name in new if name in takes})

    def _fusion(self, columns: Ints) -> Any:
        """Fuse shadows among themselves as their features are."""
        name, n = self.selector.fusion_, self.X.shape[1]
        if name in ("none", "chain"):
            return name
        edges = fusion_edges("grid" if name == "grid" else self.selector.fusion, n, self.selector.grid_shape_)
        place = np.full(n, -1)
        place[columns] = np.arange(n, n + len(columns))
        own = place[edges]
        return np.vstack([edges, own[(own >= 0).all(axis=1)]])
