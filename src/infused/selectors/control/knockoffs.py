r"""Knockoffs: copies of features that relate to one another as the features do, and not to the target.

For Gaussian features of covariance :math:`\Sigma`, m copies of a sample x are drawn with

.. math::

    E[\tilde x_a \mid x] = x - S \Sigma^{-1} x, \qquad
    \mathrm{Cov}(\tilde x_a, \tilde x_b \mid x) = 1\{a = b\} S + S - S \Sigma^{-1} S, \quad
    S = \mathrm{diag}(s),

so that features and copies together have the covariance :math:`\Sigma` in each diagonal block and
:math:`\Sigma - S` in every other block. It stays as it is when a feature changes places with any of its
copies (Gimenez and Zou 2019). Every S with :math:`0 \preceq S \preceq \frac{m+1}m \Sigma` will do; the larger
s, the easier is a feature told from its copies.

Samples that are far out in all features at once follow a multivariate t distribution instead: a Gaussian
sample times a scale of its own, :math:`w^2 = \nu / \chi^2_\nu`. Given its scale a sample is Gaussian, so its
scale is drawn given the sample first, and the covariance above is multiplied by :math:`w^2`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from math import ceil
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import betaln
from sklearn.covariance import ledoit_wolf
from sklearn.utils import check_random_state

from infused._runtime.compat import Interval, StrOptions, fit_context
from infused._runtime.messages import count
from infused._runtime.progress import Stage
from infused._runtime.threads import memory_budget, require, workers
from infused._typing import Array, Floats, Ints
from infused.datafits import Cox, martingale_residuals
from infused.exceptions import InputError, Setting
from infused.penalties.norms import GroupNorms, RowGroups
from infused.samples import Samples
from infused.selectors.base import NUMBER_OF_FEATURES, BaseSelector, ahead, documented, how_many, ranks
from infused.selectors.control.redundancy import cluster_representatives
from infused.selectors.inputs.checks import check_inputs
from infused.selectors.inputs.groups import GROUPS, KEEP, Groups
from infused.selectors.inputs.training import (
    basis,
    dense_design,
    left_over,
    resolve_coding,
    resolve_loss,
    target_matrix,
)
from infused.selectors.linear.model import Fit, SparseModel
from infused.selectors.linear.ranking import path_grid

LEAST_SHRINKAGE = 1e-5  # so that copies of a feature leave the covariance invertible
LEAST_DEVIATION = 1e-8  # of columns of variance one: below, a column is constant within groups
INSIDE = 1 - 1e-6  # how far towards the border of what S may be
SWEEPS = 30  # over all coordinates, at most
SETTLED = 1e-3  # the largest relative change of s in the last sweep
BLOCK = 32  # coordinates between two updates of the inverse
FREEDOM = (
    2.5,
    200.0,
)  # at least, so that there is a covariance; at most, where samples are as good as Gaussian


@dataclass(frozen=True)
class Parts:
    """Columns of mean zero and variance one, uncorrelated within a variable, and whose each is.

    A variable of one column has itself; one of several has its principal components. A diagonal S of parts is
    one of a block for each variable in the columns themselves: copies of parts are copies of groups (Dai and
    Barber 2016), whatever S was made by.
    """

    Z: Floats
    """Samples x parts."""
    owners: Ints
    """The variable of each part, numbered from 0."""

    @classmethod
    def make(cls, columns: list[Floats]) -> Parts:
        """Take the centred columns of each variable, none of which is zero altogether."""
        parts = [own / np.linalg.norm(own) if own.shape[1] == 1 else basis(own) for own in columns]
        owners = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        n_samples = len(parts[0])
        return cls(np.ascontiguousarray(np.hstack(parts)) * np.sqrt(n_samples), owners)

    @property
    def n_variables(self) -> int:
        """Return the number of variables."""
        return int(self.owners[-1]) + 1


@dataclass(frozen=True)
class Copies:
    """Draws several copies of some columns at once."""

    s: Floats
    """The diagonal of S."""
    number: int
    """Copies of each column."""
    mean: Floats
    """The conditional mean of the copies of x is x @ mean."""
    root: Floats
    """A root of the conditional covariance of the mean of the copies."""

    @classmethod
    def make(cls, Sigma: Floats, construction: str, number: int = 1) -> Copies:
        """Prepare copies of columns of a covariance with a diagonal of ones."""
        s = CONSTRUCTIONS[construction](Sigma, number)
        solved = cho_solve(cho_factor(Sigma, lower=True), np.diag(s))  # Sigma^-1 S
        spread = (1 + 1 / number) * np.diag(s) - s[:, None] * solved
        sizes, directions = np.linalg.eigh((spread + spread.T) / 2)  # it may be singular
        root = directions * np.sqrt(np.maximum(sizes, 0.0))
        return cls(s, number, np.eye(len(s)) - solved, root)

    def draw(
        self,
        Z: Floats,
        random: np.random.Generator,
        project: Callable[[Floats], Floats] = np.asarray,
        scales: Scales | None = None,
    ) -> Floats:
        """Draw the copies of some samples, copies x samples x columns; what is drawn is projected."""
        scale = 1.0 if scales is None else scales.draw(random)
        mean = Z @ self.mean + scale * project(random.standard_normal(Z.shape)) @ self.root.T
        apart = scale * project(random.standard_normal((self.number, *Z.shape)))
        return np.asarray(mean + (apart - apart.mean(axis=0)) * np.sqrt(self.s))


@dataclass(frozen=True)
class Scales:
    """Draws the scale of each sample of a multivariate t distribution, given the sample."""

    freedom: float
    """Degrees of freedom; infinite where the samples are Gaussian."""
    squares: Floats
    """Twice the rate of the inverse gamma distribution that each squared scale follows."""
    shape: float
    """Twice its shape."""

    @classmethod
    def fit(cls, Z: Floats, Sigma: Floats) -> Scales:
        """Fit the distribution to samples by maximum likelihood, at a known covariance.

        Squared lengths of the samples are those of an F distribution then. The expected squares of the scales
        have a mean of one, so that copies have the covariance of the features whatever their distribution.
        """
        n_columns = Z.shape[1]
        lengths = np.einsum("ij,ji->i", Z, cho_solve(cho_factor(Sigma, lower=True), Z.T))

        def negative_likelihood(logarithms: Floats) -> float:
            freedom, size = np.exp(logarithms)
            density = -betaln(n_columns / 2, freedom / 2) - n_columns / 2 * np.log(freedom * size)
            return float((freedom + n_columns) / 2 * np.log1p(lengths / (freedom * size)).mean() - density)

        start = np.log([10.0, lengths.mean() / n_columns])
        bounds = [tuple(np.log(FREEDOM)), (None, None)]
        found = minimize(negative_likelihood, start, method="L-BFGS-B", bounds=bounds)
        freedom, size = np.exp(found.x)
        shape = freedom + n_columns
        squares = lengths + freedom * size
        squares /= (squares / (shape - 2)).mean()
        return cls(float(freedom) if freedom < 0.99 * FREEDOM[1] else np.inf, squares, float(shape))

    def draw(self, random: np.random.Generator) -> Floats | float:
        """Draw a scale for each sample, as a column."""
        if self.freedom == np.inf:
            return 1.0
        return np.asarray(np.sqrt(self.squares / random.chisquare(self.shape, len(self.squares))))[:, None]


def grouped_copies(
    Z: Floats, groups: Ints, construction: str, number: int
) -> Callable[[np.random.Generator], Floats]:
    """Prepare copies of samples in groups, from copies of the groups' means and of the deviations from them.

    Samples of a group are not independent, but means and deviations are independent of each other, and means
    of one another: so both kinds of copies are exchangeable with the features, whatever the covariances
    between groups and within them.
    """
    in_order, sizes = np.argsort(groups, kind="stable"), np.bincount(groups)
    starts = np.concatenate([[0], sizes.cumsum()[:-1]])

    def averaged(values: Floats) -> Floats:
        sums = np.add.reduceat(values[..., in_order, :], starts, axis=-2)
        return np.asarray((sums / sizes[:, None])[..., groups, :])

    between, root = averaged(Z), np.sqrt(sizes[groups])[:, None]
    sources = (
        (between, between[in_order[starts]], len(sizes), lambda drawn: averaged(drawn) * root),
        (Z - between, Z - between, len(Z) - len(sizes), lambda drawn: drawn - averaged(drawn)),
    )
    parts = []
    for values, rows, n_free, project in sources:
        deviation = np.sqrt((rows**2).sum(axis=0) / max(n_free, 1))
        varies = np.flatnonzero(deviation > LEAST_DEVIATION)
        if len(varies):
            scale = deviation[varies]
            scaled = rows[:, varies] / np.sqrt((rows[:, varies] ** 2).mean(axis=0))
            copies = Copies.make(shrunk_covariance(scaled), construction, number)
            parts.append((copies, values[:, varies] / scale, scale, varies, project))

    def draw(random: np.random.Generator) -> Floats:
        total = np.zeros((number, *Z.shape))
        for copies, values, scale, varies, project in parts:
            total[:, :, varies] += copies.draw(values, random, project) * scale
        return total

    return draw


def shrunk_covariance(Z: Floats) -> Floats:
    """Estimate the covariance of columns of mean zero and variance one, shrunk towards the identity.

    By how much, Ledoit and Wolf (2004) estimate from the data: enough for more columns than samples.
    """
    n_samples, n_columns = Z.shape
    _, shrinkage = ledoit_wolf(Z, assume_centered=True)
    shrinkage = max(float(shrinkage), LEAST_SHRINKAGE)
    Sigma = (1 - shrinkage) * (Z.T @ Z) / n_samples
    Sigma[np.diag_indices(n_columns)] = 1.0
    return np.asarray(Sigma)


def equicorrelated(Sigma: Floats, number: int = 1) -> Floats:
    """Give all columns the same s: the largest, at most one, that S may have (Candès 2018)."""
    smallest = float(np.linalg.eigvalsh(Sigma)[0])
    return np.full(len(Sigma), INSIDE * min(1.0, (1 + 1 / number) * smallest))


def least_reconstructable(Sigma: Floats, number: int = 1) -> Floats:
    r"""Minimise the trace of the inverse of G, the covariance of features and copies together.

    With m copies that is :math:`\mathrm{tr}((m + 1) \Sigma - m S)^{-1} + m \sum_j 1/s_j`. The inverse of
    :math:`(G^{-1})_{jj}` is what is left of a feature that all others and all copies predict: this keeps
    features from being told by the copies of others (Spector and Janson 2022). By coordinate descent: with
    :math:`u = ((m + 1) \Sigma - m S)^{-1} e_j`, the best step of one coordinate is
    :math:`(1 - |u| s_j) / (m u_j + |u|)`, and changes the inverse by a matrix of rank one.
    """
    s = equicorrelated(Sigma, number)
    for _ in range(SWEEPS):
        if _sweep(Sigma, s, number) <= SETTLED:
            break
    return s


def _sweep(Sigma: Floats, s: Floats, m: int) -> float:
    """Take one step for each coordinate, in place; return the largest relative change."""
    largest = 0.0
    gap = cho_factor((m + 1) * Sigma - m * np.diag(s), lower=True)
    inverse = cho_solve(gap, np.eye(len(s)))
    for start in range(0, len(s), BLOCK):
        coordinates = np.arange(start, min(start + BLOCK, len(s)))
        columns = inverse[:, coordinates]  # a copy, kept up to date; the others wait for the end of the block
        vectors, weights = np.empty_like(columns), np.empty(len(coordinates))
        for i, j in enumerate(coordinates):
            u = columns[:, i].copy()
            length = np.sqrt(u @ u)
            step = (1 - length * s[j]) / (m * u[j] + length)
            largest = max(largest, abs(step) / s[j])
            s[j] += step
            vectors[:, i], weights[i] = u, m * step / (1 - m * step * u[j])
            columns += weights[i] * np.outer(u, u[coordinates])
        inverse += (vectors * weights) @ vectors.T
    return largest


def reconstructability(Sigma: Floats, s: Floats, number: int = 1) -> float:
    """Compute the trace of the inverse of G, which :func:`least_reconstructable` minimises."""
    gap = cho_factor((number + 1) * Sigma - number * np.diag(s), lower=True)
    return float(np.trace(cho_solve(gap, np.eye(len(s)))) + number * (1 / s).sum())


#: A construction by its name: s of a covariance and a number of copies.
CONSTRUCTIONS: dict[str, Callable[[Floats, int], Floats]] = {
    "mvr": least_reconstructable,
    "equicorrelated": equicorrelated,
}


MOST_PER_SAMPLE = 5  # features: with more, the covariance is too poorly known
ENOUGH_FOR_ONE = 4  # times 1 / fdr features: with fewer, more copies let fewer discoveries pass
MOST_COPIES = 10


@documented()
@dataclass(eq=False, repr=False)
class KnockoffSelector(BaseSelector):
    r"""Select features with false discovery rate control, using model-X knockoffs.

    .. math::

        \mathbb{E} \, \frac{|\{\text{selected features that say nothing of } y \text{ given the others}\}|}
        {\max(|\{\text{selected}\}|, 1)} \le q

    Copies (knockoffs) of the features relate to one another and to the other features as the features do,
    and are drawn without a look at y. A lasso on features and copies lets each feature compete with its m
    copies. :math:`W_j` is by how much the longest of their coefficients exceeds the median of the others,
    positive where the feature itself has it, negative where a copy has. A feature that is irrelevant given
    the others wins no more often than each of its copies, so the negative W count the false among the
    positive:

    .. math::

        \hat S = \{j : W_j \ge t\}, \qquad
        t = \min \Big\{t > 0 : \frac{1 + |\{W_j \le -t\}|}{m \, |\{W_j \ge t\}|} \le q \Big\}

    Fewer than 1 / (m q) features are therefore never selected, and none where nothing passes.

    Where y has times and events, the lasso is that of Cox's partial likelihood.

    The rate holds for features that follow a multivariate t or Gaussian distribution with known covariance
    and degrees of freedom, whatever y is and however it depends on them. Here both are estimated (the
    covariance is shrunk as Ledoit and Wolf do), and other features are copied in their mean and covariance
    only: that the rate still holds is measured, not proven.

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
    n_copies : int or "auto", default="auto"
        Copies m of each feature, which compete at once. With more of them fewer features are enough to be
        selected, but a lasso with more columns finds less where many features are relevant. "auto" takes
        two, one where there are fewer samples than features, and up to ten where features are few.
    n_draws : int, default=1
        How often to draw copies. The selection of one draw depends on its seed; several are combined by
        e-values, which keep the rate, depend less on the seed and find less.
    n_clusters : int, "auto" or None, default="auto"
        With many more features than samples their covariance cannot be known. Then they are joined in this
        many clusters by their correlation, without a look at y, and one feature of each is tested for all.
        "auto" makes as many clusters as there are samples where features are more than five times as many;
        None makes none.
    target : {"auto", "onehot", "label", "real"}, default="auto"
        What y is to the model; "auto" makes one-hot columns of classes, and takes several columns as they
        are.
    %(groups)s
    %(keep)s
        The others are tested given them; they count in no rate.
    random_state : int, RandomState instance or None, default=None
        Seed of the copies.
    n_jobs : int or None, default=None
        Threads, each for a draw; None for one, -1 for every core. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,) or (n_groups,)
        Larger is better: the mean of W over the draws, as a share of the largest, and two more for what
        the rate allows to select.
    ranking_ : ndarray of int of shape (n_features,) or (n_groups,)
        1 for the best, by score, then by correlation with the target; the same for every number of
        features that is asked for.
    %(support_)s
    %(group_names_)s
    %(n_features_in_)s
    %(feature_names_in_)s
    e_values_ : ndarray of shape (n_features,) or (n_groups,)
        The mean of e-values over the draws, whose sum over irrelevant features is at most the number of
        features, in expectation. Zero for what was not tested.
    threshold_ : float
        The smallest e-value that is selected; infinite where none is.
    frequencies_ : ndarray of shape (n_features,) or (n_groups,)
        The share of draws in which a feature passed the threshold of that draw.
    n_discoveries_ : int
        How many features the rate allows to select, beside those of ``keep``.
    statistics_ : ndarray of shape (n_draws, n_features) or (n_draws, n_groups)
        W of each draw; zero for what was not tested.
    n_copies_ : int
        How many copies of each feature competed with it.
    representatives_ : ndarray of int of shape (n_features,) or (n_groups,)
        The position of the feature that was tested for each: itself, unless clusters were made; -1 for
        constants and for what is kept.

    See Also
    --------
    Lasso : The model that features and copies compete in; selects as many features as wanted.

    References
    ----------
    E. Candès, Y. Fan, L. Janson, J. Lv, "Panning for gold: model-X knockoffs for high dimensional controlled
    variable selection", Journal of the Royal Statistical Society B 80 (2018).
    J. R. Gimenez, J. Zou, "Improving the stability of the knockoff procedure: multiple simultaneous knockoffs
    and entropy maximization", AISTATS (2019).
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

    fdr: float = 0.1
    _: KW_ONLY
    n_features_to_select: int | float | str | None = None
    construction: str = "mvr"
    n_copies: int | str = "auto"
    n_draws: int = 1
    n_clusters: int | str | None = "auto"
    target: str = "auto"
    groups: Any = None
    keep: Any = None
    random_state: Any = None
    n_jobs: int | None = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "fdr": [Interval(Real, 0, 1, closed="neither")],
        "n_features_to_select": NUMBER_OF_FEATURES,
        "construction": [StrOptions(set(CONSTRUCTIONS))],
        "n_copies": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "n_clusters": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "target": [StrOptions({"auto", "onehot", "label", "real"})],
        "groups": GROUPS,
        "keep": KEEP,
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    _takes_survival = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @fit_context
    def fit(self, X: Any, y: Any, *, sample_groups: Any = None) -> Self:
        """Let the features of X and their copies compete for the target y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Class labels, real values, several columns of real values, an indicator matrix of labels, or times
            and events.
        sample_groups : array-like of shape (n_samples,), default=None
            The group of each sample, such as its patient. Means of groups and deviations from them are then
            copied each by their own covariance.

        Returns
        -------
        self : object
            The fitted selector.
        """
        loss, y = resolve_loss("auto", y)
        seen = check_inputs(self, X, y, several=True)
        X, y, variables = seen.coded.X, seen.y, seen.coded.variables
        kept = variables.places(self.keep)
        samples = Samples.given(sample_groups, None, len(y))
        number = None if self.n_features_to_select == "auto" else self.n_features_to_select
        k = how_many(number, variables, len(kept))
        budget = memory_budget()
        F = dense_design(X, True, budget)
        if loss == "cox":
            Y = target_matrix(martingale_residuals(y), "real", True)
        else:
            Y = target_matrix(y, resolve_coding(y, self.target), True)
        given = F[:, np.isin(variables.codes, kept)]  # which the model has without a penalty
        if len(kept):
            F, Y = left_over(F, given), left_over(Y, given)
        stand_ins = self._stand_ins(F, variables, kept, budget, samples.n_groups or len(F))
        tested = np.setdiff1d(stand_ins, [-1])
        self.n_copies_ = self._number_of_copies(samples.n_groups or len(F), len(tested))
        if k is None and len(tested) < 1 / (self.n_copies_ * self.fdr):
            _warn_of_too_few(len(tested), self.fdr, self.n_copies_)
        W = np.zeros((self.n_draws, len(variables)))
        if len(tested):
            columns = [variables.columns(int(one)) for one in tested]
            target = Target(Y, None, None) if loss == "squared" else Target(Y, y, given)
            W[:, tested] = self._statistics(F, target, columns, given, budget, samples)
        relevance = variables.summed(((F.T @ Y) ** 2).sum(axis=1)) / variables.sizes
        found = discoveries(W[:, tested], self.fdr, self.n_copies_)
        self._store(seen.variables, kept, k, _Tests(W, stand_ins, tested, found, relevance))
        return self

    def _stand_ins(self, F: Floats, variables: Groups, kept: Ints, budget: int, n_independent: int) -> Ints:
        """Return the variable that is tested for each; -1 where none is.

        ``n_independent`` is the number of samples, or of their groups.
        """
        varies = ~variables.all_of(np.asarray(~F.any(axis=0)))
        varies[kept] = False
        candidates = np.flatnonzero(varies)
        stand_ins = np.full(len(variables), -1)
        stand_ins[candidates] = candidates
        n_columns = int(varies[variables.codes].sum())
        n_clusters = self._number_of_clusters(n_independent, n_columns)
        if n_clusters is not None and n_clusters < n_columns:
            if not variables.single:
                raise InputError(
                    f"the covariance of {n_columns} columns cannot be known from {len(F)} samples, and "
                    "those of ",
                    Setting("groups"),
                    " are joined to no clusters: give fewer columns, or no groups",
                )
            own = F[:, candidates] / np.linalg.norm(F[:, candidates], axis=0)
            stand_ins[candidates] = candidates[cluster_representatives(own, n_clusters, budget)]
        return stand_ins

    def _number_of_clusters(self, n_samples: int, n_columns: int) -> int | None:
        if self.n_clusters != "auto":
            return self.n_clusters  # type: ignore[return-value]  # the parameter was checked
        return n_samples if n_columns > MOST_PER_SAMPLE * n_samples else None

    def _number_of_copies(self, n_samples: int, n_tested: int) -> int:
        if self.n_copies != "auto":
            return int(self.n_copies)
        usual = 2 if n_samples >= n_tested else 1
        return min(MOST_COPIES, max(usual, ceil(ENOUGH_FOR_ONE / (self.fdr * max(n_tested, 1)))))

    def _statistics(
        self, F: Floats, target: Target, columns: list[Ints], given: Floats, budget: int, samples: Samples
    ) -> Floats:
        """Compute W, draws x variables."""
        parts = Parts.make([F[:, own] for own in columns])
        n_parts = parts.Z.shape[1]
        what, instead = f"The covariance of {n_parts:,} columns", "make fewer clusters of features"
        require(48 * n_parts**2, budget, what, instead)
        seeds = np.random.SeedSequence(int(check_random_state(self.random_state).randint(2**31 - 1)))
        with workers(self.n_jobs) as pool:
            if samples.groups is not None:
                draw = grouped_copies(parts.Z, samples.groups, self.construction, self.n_copies_)
            else:
                Sigma = shrunk_covariance(parts.Z)
                copies = Copies.make(Sigma, self.construction, self.n_copies_)
                draw = partial(copies.draw, parts.Z, scales=Scales.fit(parts.Z, Sigma))

            def one(seed: np.random.SeedSequence) -> Floats:
                random = np.random.default_rng(seed)
                drawn = draw(random)
                if given.shape[1]:  # they are explained first, as of the features
                    drawn = np.stack([left_over(copy, given) for copy in drawn])
                return coefficient_gaps(parts, drawn, target, random, samples.groups)

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
        """Return values of all variables, from those that were tested."""
        full = np.zeros(self.W.shape[1])
        full[self.tested] = values
        return full

    def scores(self) -> tuple[Floats, Floats]:
        """Score what was found above all others; then by the mean of W, that of the representative."""
        mean = self.W.mean(axis=0)
        mean = mean / (np.abs(mean).max(initial=0.0) or 1.0)
        scores = mean + 2 * self.spread(self.found.selected)
        behind = (self.stand_ins >= 0) & (self.stand_ins != np.arange(len(mean)))
        scores[behind] = mean[self.stand_ins[behind]] - 2
        scores[self.stand_ins < 0] = -4.0
        return scores, np.where(self.stand_ins < 0, -1.0, self.relevance)


def _warn_of_too_few(n: int, fdr: float, n_copies: int) -> None:
    warnings.warn(
        f"fdr={fdr:g} with {count(n_copies, 'copy')} of each feature selects at least "
        f"{ceil(1 / (n_copies * fdr))} features or none, but {n} can be tested: take a larger fdr, or "
        "more copies.",
        stacklevel=3,
    )


SHARE = 0.5  # of the rate, for the e-values of one of several draws (Ren and Barber 2024)
ROUNDING = 1e-9  # e-values that are equal but for rounding


@dataclass(frozen=True)
class Discoveries:
    """What several draws of copies agree on."""

    selected: Array
    e_values: Floats
    """Their mean over the draws."""
    threshold: float
    """The smallest e-value that is selected; infinite where none is."""
    frequencies: Floats
    """The share of draws in which each passed the threshold of that draw."""


def discoveries(W: Floats, fdr: float, n_copies: int = 1) -> Discoveries:
    """Select at a false discovery rate by statistics, draws x variables.

    With one draw this is the knockoff filter itself. With several, e-values are averaged: an average is one
    again, whatever the draws have in common, so the rate holds (Ren and Barber 2024).
    """
    level = fdr if len(W) == 1 else SHARE * fdr
    each = np.array([e_values(draw, level, n_copies) for draw in W])
    e = each.mean(axis=0)
    selected, threshold = e_benjamini_hochberg(e, fdr)
    return Discoveries(selected, e, threshold, np.asarray((each > 0).mean(axis=0)))


def knockoff_threshold(W: Floats, level: float, n_copies: int = 1) -> float:
    r"""Find the least t > 0 at which :math:`(1 + \#\{W \le -t\}) / (m \#\{W \ge t\})` is at most the level.

    Or at which no negative one is left: to go on would lose features and gain nothing. Both are stopping
    times of the same martingale, so e-values at either are sound.
    """
    sizes = np.unique(np.abs(W[W != 0]))  # ascending
    negative, positive = np.sort(-W[W < 0]), np.sort(W[W > 0])
    below = len(negative) - np.searchsorted(negative, sizes)
    above = len(positive) - np.searchsorted(positive, sizes)
    stops = (1 + below <= n_copies * level * above) | ((below == 0) & (above > 0))
    return float(sizes[np.argmax(stops)]) if stops.any() else np.inf


def e_values(W: Floats, level: float, n_copies: int = 1) -> Floats:
    r"""Compute :math:`m n 1\{W_j \ge t\} / (1 + \#\{W \le -t\})`.

    Over irrelevant features they sum to n at most, in expectation: these win one time in m + 1.
    """
    t = knockoff_threshold(W, level, n_copies)
    return np.asarray(n_copies * len(W) * (t <= W) / (1 + (t <= -W).sum()))


def e_benjamini_hochberg(e: Floats, fdr: float) -> tuple[Array, float]:
    """Select the most features of which the least e-value is n / (fdr k), k being their number.

    Returns the mask, and the least e-value (Wang and Ramdas 2022).
    """
    ordered = np.sort(e)[::-1]
    enough = ordered * fdr * np.arange(1, len(e) + 1) >= len(e) * (1 - ROUNDING)
    if not enough.any():
        return np.zeros(len(e), dtype=bool), np.inf
    threshold = float(ordered[np.flatnonzero(enough)[-1]])
    return np.asarray(e >= threshold), threshold


FOLDS = 5
PATH_LENGTH, SMALLEST = 15, 0.01  # of lambda, relative to where no feature is needed
WORSE = 1.05  # times the least error: the path ends there
ROUGH, EXACT = 1e-3, 1e-4  # tolerances, in the folds and of the answer
MAX_ITER = 3000


@dataclass(frozen=True)
class Target:
    """What features and copies compete to predict."""

    Y: Floats
    """Columns of numbers; of times and events the martingale residuals."""
    survival: Array | None
    """Times and events, where the loss is Cox's."""
    given: Floats | None
    """Columns that its model has without a penalty; those of Y were taken off it already."""

    def model(self, A: Floats, rows: Array, groups: Ints | None, tol: float) -> SparseModel:
        """Make the lasso of some samples."""
        survival, kept = self.survival, None
        if survival is not None:
            kept = None if self.given is None or not self.given.shape[1] else self.given[rows]
        return SparseModel(
            X=np.ascontiguousarray(A[rows]),
            Y=self.Y[rows],
            datafit=None if survival is None else Cox(survival["time"][rows], survival["event"][rows]),
            Z=kept,
            groups=groups,
            solver="coordinate-descent",
            max_iter=MAX_ITER,
            tol=tol,
        )

    def error(self, A: Floats, rows: Array, fit: Fit) -> float:
        """Measure the loss of the other samples; for Cox, what they add to that of these."""
        coef, free = fit.result.coef, fit.result.free
        needed = np.flatnonzero(coef.any(axis=1))
        eta = A[:, needed] @ coef[needed]
        if self.survival is None:
            left = self.Y[~rows] - eta[~rows]
            return float((left * left).sum())
        if free is not None and self.given is not None and len(free):
            eta = eta + self.given @ free
        time, event = self.survival["time"], self.survival["event"]
        return Cox(time, event).value(eta) - Cox(time[rows], event[rows]).value(eta[rows])


def coefficient_gaps(
    parts: Parts,
    copies: Floats,
    target: Target,
    random: np.random.Generator,
    sample_groups: Ints | None = None,
) -> Floats:
    """Compute W of each variable from its copies, copies x samples x parts."""
    versions = np.concatenate([parts.Z[None], copies])
    shape = len(versions), parts.n_variables
    order = random.random(shape).argsort(axis=0)  # so that no solver can prefer what comes first
    A = np.hstack(list(np.take_along_axis(versions, order[:, None, parts.owners], axis=0)))
    A -= A.mean(axis=0)
    A /= np.linalg.norm(A, axis=0)
    single = len(parts.owners) == parts.n_variables
    groups = None if single else np.concatenate([parts.owners + n * shape[1] for n in range(shape[0])])
    units = np.arange(len(A)) if sample_groups is None else sample_groups
    B = _cross_validated(A, target, groups, random, units)
    rows = RowGroups(1.0) if groups is None else GroupNorms(1.0, groups)
    lengths = rows.lengths(B).reshape(shape)
    gaps = lengths.max(axis=0) - np.median(np.sort(lengths, axis=0)[:-1], axis=0)
    return np.asarray(np.where(lengths.argmax(axis=0) == order.argmin(axis=0), gaps, -gaps))


def _cross_validated(
    A: Floats, target: Target, groups: Ints | None, random: np.random.Generator, units: Ints
) -> Floats:
    """Fit the lasso at the lambda that predicts best what was left out; return the coefficients.

    Folds take the ``units`` of samples whole.
    """
    whole = target.model(A, np.ones(len(A), dtype=bool), groups, EXACT)
    grid = path_grid(whole.largest_lambda1(), SMALLEST * whole.largest_lambda1(), PATH_LENGTH)
    n_units = int(units.max()) + 1
    n_folds = min(FOLDS, n_units)
    parts = (random.permutation(n_units) % n_folds)[units]
    trained = [parts != fold for fold in range(n_folds)]
    folds = [target.model(A, rows, groups, ROUGH) for rows in trained]
    fits: list[Fit | None] = [None] * n_folds
    errors: list[float] = []
    for value in grid:
        scaled = [value * len(model.X) / len(A) for model in folds]
        fits = [_next(*one) for one in zip(folds, scaled, fits, strict=True)]
        pairs = zip(trained, fits, strict=True)
        errors.append(sum(target.error(A, rows, fit) for rows, fit in pairs if fit is not None))
        if errors[-1] > WORSE * min(errors):
            break
    fit: Fit | None = None
    for value in grid[: int(np.argmin(errors)) + 1]:
        fit = _next(whole, value, fit)
    return np.zeros((A.shape[1], target.Y.shape[1])) if fit is None else fit.result.coef


def _next(model: SparseModel, value: float, fit: Fit | None) -> Fit:
    return model.fit(value, start=None if fit is None else fit.result)
