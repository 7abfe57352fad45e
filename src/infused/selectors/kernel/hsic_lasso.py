"""The lasso on feature graphs, with Gaussian graphs the HSIC lasso."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from infused._runtime.compat import Interval, StrOptions, fit_context
from infused._runtime.threads import blas_threads, memory_budget, require
from infused._typing import Floats, Ints
from infused.graphs.inner_products import GraphColumns, GraphProducts, graph_products
from infused.selectors.base import NUMBER_OF_FEATURES, BaseSelector, ahead, documented, how_many, ranks
from infused.selectors.inputs.checks import Inputs, check_inputs
from infused.selectors.inputs.groups import GROUPS, KEEP
from infused.selectors.inputs.training import Coding, resolve_coding, tame, target_matrix
from infused.selectors.kernel.path import TIED, GraphLasso, GraphPath, recursive_order


@documented()
@dataclass(eq=False, repr=False)
class HSICLasso(BaseSelector):
    r"""Select features by the lasso on feature graphs; with Gaussian graphs, the HSIC lasso.

    .. math::

        \min_{b \ge 0} \frac12 |L - \sum_i b_i K_i|_F^2 + \lambda_1 \sum_i b_i
        + \lambda_2 \sum_i |b_{i+1} - b_i|

    K_i is the graph of feature i: how alike each two samples are in it, centred and of norm one. L is the
    graph of the target. :math:`\langle K_i, L \rangle` is the relevance of a feature, of whatever form its
    relation with the target is, and :math:`\langle K_i, K_j \rangle` the redundancy of two.

    The graphs, of standardised values a and b:

    * "gaussian": :math:`e^{-(a-b)^2/2}`;
    * "laplacian": :math:`e^{-|a-b|}`;
    * "distance": :math:`-|a-b|`, so that relevance is the distance covariance;
    * "kernel": Eq. (1) of the InFusedLasso paper, the cosine of the distances from all samples.

    In the graph of classes, two samples of the same class are related by one over its size. A category (one
    column for each level), or a group of columns, has the sum of the graphs of its columns, and one
    coefficient. A missing value is replaced by the mean, and the graph of where values are missing is added;
    each of the two is weighted by the share of its samples.

    No graph is formed. Gaussian graphs have thin factors, exact to about 1e-11; inner products of the others
    are exact sums in O(M log M) for M samples. Beyond 4,096 samples, a feature of more than 256 values is
    binned to these, and ``approximation_error_`` is the measured effect.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        How many features: a number, a fraction, "auto" for the smallest number that predicts within one
        standard error of the best (by cross-validation), or None for those whose coefficients are not
        zero.
    graph : {"gaussian", "distance", "kernel", "laplacian"}, default="gaussian"
        The graph of a feature and of a continuous target.
    lambda1 : float, default=0.05
        Strength of the L1 penalty, as a fraction of the value at which no feature is left.
    lambda2 : float, default=0.005
        Strength of fusion, as a fraction of the same value.
    fusion : {"none", "chain"}, default="none"
        Whether the coefficients of successive features are fused. It takes the inner products of all features
        with each other.
    ranking : {"recursive", "path"}, default="recursive"
        "recursive" eliminates among the features with a coefficient by the model itself: fit, drop a fifth of
        them, fit again. "path" ranks by the order in which features enter as lambda1 falls. The other
        features follow by what is left of their relevance.
    target : {"auto", "onehot", "label", "real"}, default="auto"
        What y is; "auto" makes a graph of classes, and the sum of a graph for each of several columns.
    %(groups)s
    %(keep)s
        Their coefficients carry no penalty, and the others are ranked by what they add to them.
    max_iter : int, default=20000
        Most iterations of a fit with fusion.
    tol : float, default=1e-6
        Largest duality gap, relative to the objective at zero.
    n_jobs : int or None, default=None
        Threads for linear algebra, -1 for every core; None leaves them to BLAS.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,) or (n_groups,)
        Larger is better: places above one for features with a coefficient; for others what is left of
        their relevance, as a share of the largest lambda1.
    ranking_ : ndarray of int of shape (n_features,) or (n_groups,)
        1 for the best; ties go to the larger relevance, then to the first.
    %(attributes)s
    graph_coef_ : ndarray of shape (n_features,) or (n_groups,)
        The coefficients b at ``lambda_``.
    relevance_ : ndarray of shape (n_features,) or (n_groups,)
        The inner product of each graph with that of the target, from 0 to 1.
    redundancy_ : ndarray of shape (n_selected, n_selected)
        The inner products of the graphs of the selected features, best first, from 0 to 1.
    lambda_ : float
        The strength of the L1 penalty, of which graphs have norm one.
    approximation_error_ : float
        How far inner products of a few features are from exact ones; zero where nothing was binned.
    certificate_ : float
        The duality gap of the whole problem, relative to the objective at zero.
    converged_ : bool
        Whether it is at most ``tol``.
    n_iter_ : int
        Features that entered or left along the path, or iterations with fusion.

    See Also
    --------
    InFusedLasso : Linear, with the same graphs in its structural term.
    MRMR : Relevance less redundancy, by mutual information.

    Notes
    -----
    The problem and Gaussian graphs are Yamada's; graphs of samples in blocks are from Climente-González. The
    other graphs, thin factors and exact sums, fusion, groups, recursive ranking, and the rule that leaves
    features out (what is left of a relevance is at most the relevance less any of its terms, as neither
    coefficients nor inner products of graphs are negative) are of this package.

    References
    ----------
    M. Yamada, W. Jitkrittum, L. Sigal, E. P. Xing, M. Sugiyama, "High-dimensional feature selection by
    feature-wise kernelized lasso", Neural Computation 26(1) (2014).
    H. Climente-González, C.-A. Azencott, S. Kaski, M. Yamada, "Block HSIC Lasso: model-free biomarker
    detection for ultra-high dimensional data", Bioinformatics 35(14) (2019).

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from infused import HSICLasso
    >>> X, y = make_friedman1(n_samples=300, n_features=20, random_state=0)
    >>> HSICLasso(n_features_to_select=5).fit(X, y).get_support(indices=True)
    array([0, 1, 2, 3, 4])
    """

    n_features_to_select: int | float | str | None = None
    _: KW_ONLY
    graph: str = "gaussian"
    lambda1: float = 0.05
    lambda2: float = 0.005
    fusion: str = "none"
    ranking: str = "recursive"
    target: str = "auto"
    groups: Any = None
    keep: Any = None
    max_iter: int = 20_000
    tol: float = 1e-6
    n_jobs: int | None = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": NUMBER_OF_FEATURES,
        "graph": [StrOptions({"gaussian", "distance", "kernel", "laplacian"})],
        "lambda1": [Interval(Real, 0, 1, closed="right")],
        "lambda2": [Interval(Real, 0, None, closed="left")],
        "fusion": [StrOptions({"none", "chain"})],
        "ranking": [StrOptions({"recursive", "path"})],
        "target": [StrOptions({"auto", "onehot", "label", "real"})],
        "groups": GROUPS,
        "keep": KEEP,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [Integral, None],
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = True
        return tags

    @fit_context
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Rank and select the features of X for the target y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples; texts and categories of a frame are variables as they are, and numbers may be
            missing.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Class labels, real values, several columns of real values, or an indicator matrix of labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            What each sample counts; a whole number is as good as so many copies of it.

        Returns
        -------
        self : object
            The fitted selector.
        """
        inputs = check_inputs(self, X, y, several=True, gaps=True)
        kept = inputs.variables.places(self.keep)
        coding = resolve_coding(inputs.y, self.target)
        number = self._number(inputs, kept, coding == "real", sample_weight)
        k = how_many(number, inputs.variables, len(kept))
        inputs = inputs.weighed(sample_weight)
        with blas_threads(self.n_jobs):
            products, penalty = self._graphs(inputs, coding, kept)
            path = GraphPath(products, penalty)
            fitted = self._fitted_by_path(path) if self.fusion == "none" else self._fused(path)
            self._store(inputs, kept, path, fitted, k)
        return self

    def _graphs(self, inputs: Inputs, coding: Coding, kept: Ints) -> tuple[GraphProducts, Floats]:
        """Prepare the graphs of all variables and of the target; what is kept carries no penalty."""
        weights = np.ones(inputs.X.shape[0]) if inputs.weights is None else inputs.weights.values
        variables = inputs.coded.variables
        columns = GraphColumns.of(inputs.coded.X, variables.codes, len(variables), weights)
        Y = target_matrix(tame(inputs.y) if coding == "real" else inputs.y, coding, False)
        goal = GraphColumns.of_target(Y, weights, coding == "onehot")
        graph: Any = self.graph
        products = graph_products(columns, goal, graph, memory_budget())
        self.approximation_error_ = products.error
        return products, np.where(np.isin(np.arange(len(variables)), kept), 0.0, 1.0)

    def _fitted_by_path(self, path: GraphPath) -> _Fitted:
        """Follow the path down to lambda1."""
        path.follow(self.lambda1 * path.largest)
        support = np.flatnonzero(path.coef)
        order = path.entered
        if self.ranking == "recursive":
            c = path.graphs.relevance[support]
            problem = GraphLasso(path.gram(support), c, path.penalty[support], path.lambda_)
            order = recursive_order(problem, support, self.tol, self.max_iter)
        return _Fitted(path.coef, path.left_of_all(), path.lambda_, path.duality_gap(), path.n_events, order)

    def _fused(self, path: GraphPath) -> _Fitted:
        """Solve with fusion, which takes the inner products of all features with each other."""
        c, lambda1 = path.graphs.relevance, self.lambda1 * path.largest
        require(
            16 * len(c) ** 2,
            memory_budget(),
            f"The inner products of all {len(c)} features with each other",
            "take fewer features, or fusion='none'",
        )
        every = np.arange(len(c))
        path.load(every)
        problem = GraphLasso(path.gram(every), c, path.penalty, lambda1, self.lambda2 * path.largest)
        varies = np.flatnonzero(np.diagonal(problem.G) > 0)  # fusion would give constants a coefficient
        b, n_iter = np.zeros(len(c)), 0
        if len(varies):
            b[varies], n_iter = problem.restricted(varies).solve_fused(self.tol, self.max_iter)
        support = np.flatnonzero(b)
        order = support[np.argsort(-b[support], kind="stable")].tolist()
        if self.ranking == "recursive":
            order = recursive_order(problem.restricted(support), support, self.tol, self.max_iter)
        gap = problem.restricted(varies).duality_gap(b[varies])
        return _Fitted(b, c - problem.G @ b, lambda1, gap, n_iter, order)

    def _store(self, inputs: Inputs, kept: Ints, path: GraphPath, fitted: _Fitted, k: int | None) -> None:
        """Set the fitted attributes: features with a coefficient first, then by what is left of relevance."""
        relevance = path.graphs.relevance
        scores = np.round(fitted.left / max(path.largest, TIED) / TIED) * TIED
        first = np.array([j for j in fitted.order if path.penalty[j] > 0], dtype=np.int64)
        scores[first] = max(1.0, scores.max(initial=0.0)) + np.arange(len(first), 0, -1)
        scores[inputs.constant] = min(0.0, scores.min(initial=0.0)) - 1.0
        ranking = ranks(scores, np.round(relevance / TIED))
        scores, ranking = ahead(kept, scores, ranking)
        chosen = (fitted.coef > 0) | (path.penalty == 0) if k is None else ranking <= k
        self._store_ranking(inputs.variables, scores, ranking, chosen)
        order = np.argsort(ranking)
        selected = order[chosen[order]]
        path.load(selected)
        self.relevance_, self.redundancy_ = relevance, path.gram(selected)
        self.graph_coef_, self.lambda_ = fitted.coef, fitted.lambda_
        self.certificate_, self.n_iter_ = fitted.gap, fitted.n_iter
        self.converged_ = fitted.gap <= self.tol
        if not self.converged_:
            warnings.warn(
                f"HSICLasso stopped with a duality gap of {fitted.gap:.1e}, more than tol={self.tol:g}. "
                "Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )


@dataclass(frozen=True)
class _Fitted:
    """A solution, and the features in the order of their worth in it."""

    coef: Floats
    left: Floats
    """What is left of the relevance of each feature, or a bound of it."""
    lambda_: float
    gap: float
    n_iter: int
    order: list[int]
