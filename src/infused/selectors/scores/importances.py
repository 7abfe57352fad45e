"""Importances of features in boosted trees and other models."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import check_array
from threadpoolctl import threadpool_limits

from infused._runtime.compat import L1_PENALTY, Interval, StrOptions, split_gains
from infused._runtime.messages import extra
from infused._runtime.threads import memory_budget
from infused._typing import Array, Data, Floats, Ints
from infused.exceptions import InputError
from infused.graphs.validation import class_codes
from infused.selectors.base import documented
from infused.selectors.inputs.checks import Inputs
from infused.selectors.inputs.training import LARGEST, Weights, dense_design, refuse_weights, tame
from infused.selectors.scores.univariate import MutualInformationSelector, ScoreSelector, f_tests


@documented()
@dataclass(kw_only=True, eq=False, repr=False)
class L1LogisticSelector(ScoreSelector):
    r"""Features by their coefficients in a logistic regression with an l1 penalty.

    .. math::

        \min_b |b|_1 + C \sum_a \log(1 + e^{-y_a x_a'b})

    for each class against the rest, by liblinear on standardised features. A feature's score is the sum of
    the sizes of its coefficients over all classes, as in scikit-learn's ``SelectFromModel``; that of a group
    is the sum over its features. Features at zero are ranked by their F value. A real target is refused.

    Parameters
    ----------
    %(parameters)s
    C : float, default=0.1
        Inverse of the strength of the penalty.

    Attributes
    ----------
    %(scores_)s
    ranking_ : ndarray of int of shape (n_features,) or (n_groups,)
        1 for the best; ties go to the larger F value.
    %(support_)s
    %(group_names_)s
    %(number_curve_)s
    %(n_features_in_)s
    %(feature_names_in_)s

    See Also
    --------
    Lasso : The squared loss, with one row of coefficients for all classes; real targets too.
    sklearn.linear_model.LogisticRegression : The model.

    References
    ----------
    R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R. Wang, C.-J. Lin, "LIBLINEAR: a library for large linear
    classification", Journal of Machine Learning Research 9 (2008).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused.selectors.scores.importances import L1LogisticSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> L1LogisticSelector(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    C: float = 0.1

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ScoreSelector._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
    }

    def _score(self, inputs: Inputs, real: bool) -> Floats:
        if real:
            raise InputError("L1LogisticSelector needs classes, but y is continuous: take Lasso instead.")
        logistic = LogisticRegression(
            **L1_PENALTY,
            C=self.C,
            solver="liblinear",
            tol=1e-3,
            max_iter=1000,
            random_state=self.random_state,
        )
        F, weights = _of_variance_one(inputs), None if inputs.weights is None else inputs.weights.values
        codes, counts = class_codes(inputs.y)
        classes = range(1 if len(counts) == 2 else 0, len(counts))
        jobs = Parallel(n_jobs=self.n_jobs)
        fits = jobs(delayed(clone(logistic).fit)(F, codes == c, weights) for c in classes)
        return inputs.coded.variables.summed(np.abs([fit.coef_[0] for fit in fits]).sum(axis=0))

    def _tie_breaks(self, inputs: Inputs, real: bool) -> Floats:
        kept = inputs.variables.places(self.keep)
        variables = inputs.coded.variables
        return f_tests(inputs.coded.X, inputs.y, False, variables, kept, inputs.weights).evidence


def _of_variance_one(inputs: Inputs) -> Floats:
    weights = inputs.weights
    F = dense_design(inputs.coded.X, True, memory_budget(), weights)
    if weights is None:
        return np.asarray(F * np.sqrt(len(F)))
    return np.asarray(F * (np.sqrt(weights.total) / weights.root[:, None]))


@documented()
class RandomForestSelector(ScoreSelector):
    r"""Features by their importance in a random forest.

    .. math::

        s_i = \frac1T \sum_t \sum_{v \in t : f_i} p_v\, \Delta_v

    is the score of feature i: over the T = 300 trees, what the nodes v that split on it take off the
    impurity, weighted by their share :math:`p_v` of the samples. A group of features has the sum of theirs.
    Trees are scikit-learn's, each on as many samples as there are, drawn with replacement by their weights.
    Neither the order of the samples nor their repetition instead of a weight changes what is drawn.

    Parameters
    ----------
    %(parameters)s

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    MutualInformationSelector : Relations of any form, one feature at a time.
    sklearn.ensemble.RandomForestClassifier : The forest.

    References
    ----------
    L. Breiman, "Random forests", Machine Learning 45 (2001).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused.selectors.scores.importances import RandomForestSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> RandomForestSelector(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    _takes_gaps = True

    def _score(self, inputs: Inputs, real: bool) -> Floats:
        X = tame(inputs.coded.X, LARGEST[4])  # scikit-learn's trees compute in float32
        return inputs.coded.variables.summed(
            forest_importances(X, inputs.y, real, inputs.weights, self.random_state, self.n_jobs)
        )


TREES = 300
MOST_SEEDS = 2**31 - 1


def forest_importances(
    X: Data, y: Array, real: bool, weights: Weights | None, seed: int | None, n_jobs: int | None
) -> Floats:
    """Compute the mean importance of every feature in the trees, as scikit-learn's forests have it.

    A forest draws as many samples as there are for each tree, and does not look which of several equal ones
    it drew. So equal samples are made one here, with the sum of their weights, and how often each is drawn
    comes from one multinomial distribution. What is drawn is then the same in whatever order samples come,
    and whether they are repeated or have weights.
    """
    X = check_array(X, dtype=np.float32, accept_sparse="csc", ensure_all_finite="allow-nan", input_name="X")
    values = np.asarray(y, dtype=np.float64) if real else class_codes(y)[0]
    first, sizes = _distinct(X, values, np.ones(len(values)) if weights is None else weights.values)
    X, values = X[first], values[first]
    random, n_draws = np.random.default_rng(seed), round(sizes.sum())
    tree = DecisionTreeRegressor() if real else DecisionTreeClassifier(max_features="sqrt")

    def importances(own_seed: int, drawn: Ints) -> Floats | None:
        grown = type(tree)(**{**tree.get_params(), "random_state": own_seed})
        grown.fit(X, values, sample_weight=drawn.astype(np.float64))
        return grown.feature_importances_ if grown.tree_.node_count > 1 else None

    draws = (
        (int(random.integers(MOST_SEEDS)), random.multinomial(n_draws, sizes / sizes.sum()))
        for _ in range(TREES)
    )
    jobs = Parallel(n_jobs=n_jobs, prefer="threads")
    found = [one for one in jobs(delayed(importances)(*draw) for draw in draws) if one is not None]
    if not found:
        return np.zeros(X.shape[1])
    mean = np.mean(found, axis=0)
    return np.asarray(mean / mean.sum())


def _distinct(X: Data, y: Array, weights: Floats) -> tuple[Ints, Floats]:
    """Find the first of each set of equal samples, in an order of their own, and sum their weights."""
    rows = sp.csr_array(X)
    rows.eliminate_zeros()
    rows.sort_indices()
    parts = zip(rows.indptr[:-1], rows.indptr[1:], y, strict=True)
    keys = [(rows.indices[a:b].tobytes(), rows.data[a:b].tobytes(), one.item()) for a, b, one in parts]
    places: dict[tuple[bytes, bytes, float], list[int]] = {}
    for n, key in enumerate(keys):
        places.setdefault(key, []).append(n)
    ordered = [places[key] for key in sorted(places)]
    return np.array([own[0] for own in ordered]), np.array([weights[own].sum() for own in ordered])


FEWEST_ROUNDS, MOST_ROUNDS = 20, 100
LARGEST_LEAF = 20  # samples that a leaf must have, at most
FOLDS, REPEATS = 3, 5  # of permutations
SMALLEST_PROBABILITY = 1e-15


@documented()
@dataclass(kw_only=True, eq=False, repr=False)
class BoostedTreesSelector(ScoreSelector):
    r"""Select features by their importance in boosted trees.

    .. math::

        s_i = \sum_{v : f_i} \Delta_v \qquad \text{or} \qquad s_i = \ell(f_{\pi(i)}) - \ell(f)

    "gain" is the sum of what the splits v on feature i take off the loss of the samples that the trees are
    grown on. "permutation" is by how much the loss of held-out samples rises when the feature is permuted
    there, the mean over five permutations in each of three folds. The columns of a group, or of a category,
    have the sum of their gains, and are permuted together. Missing values go to the better side of a split.
    Features on which no tree splits are ranked by their mutual information with the target.

    Parameters
    ----------
    %(parameters)s
    importance : {"gain", "permutation"}, default="gain"
        What a feature is worth.
    library : {"scikit-learn", "lightgbm"}, default="scikit-learn"
        Whose trees are grown; LightGBM has to be installed.

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    HSICLasso : Relations of any form, and redundant features once.
    sklearn.ensemble.HistGradientBoostingClassifier : The trees.

    References
    ----------
    J. H. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29(5)
    (2001).
    G. Ke, Q. Meng, T. Finley, T. Wang, W. Chen, W. Ma, Q. Ye, T.-Y. Liu, "LightGBM: a highly efficient
    gradient boosting decision tree", NeurIPS (2017).

    Examples
    --------
    >>> import numpy as np
    >>> from infused import make_selector
    >>> X = np.random.default_rng(0).normal(size=(400, 10))
    >>> y = (X[:, 3] > 0) ^ (X[:, 7] > 0)  # neither says anything alone
    >>> make_selector("boosted-trees", n_features_to_select=2).fit(X, y).get_support(indices=True)
    array([3, 7])
    """

    importance: str = "gain"
    library: str = "scikit-learn"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ScoreSelector._parameter_constraints,
        "importance": [StrOptions({"gain", "permutation"})],
        "library": [StrOptions({"scikit-learn", "lightgbm"})],
    }

    # scikit-learn takes a parameter of this name for a promise to use it.
    def fit(self, X: Any, y: Any, **weights: Any) -> Self:
        """Score, rank and select the features of X for the target y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples; texts and categories of a frame are variables as they are.
        y : array of shape (n_samples,)
            Class labels or real values.
        **weights : dict
            A ``sample_weight`` is refused, as leaves count samples.

        Returns
        -------
        self : object
            The fitted selector.
        """
        super().fit(X, y, **weights)
        return self

    _takes_gaps = True

    def _score(self, inputs: Inputs, real: bool) -> Floats:
        instead = "Take random-forest, whose samples are drawn by their weights"
        refuse_weights(type(self).__name__, "a leaf counts samples", instead, inputs.weights)
        X = tame(inputs.coded.X, LARGEST[4])
        X = X.toarray() if hasattr(X, "toarray") else X
        y = np.asarray(inputs.y, np.float64) if real else class_codes(inputs.y)[0]
        y = (y - y.mean()) / (y.std() or 1.0) if real else y
        variables = inputs.coded.variables
        with threadpool_limits(effective_n_jobs(self.n_jobs), user_api="openmp"):
            if self.importance == "gain":
                return variables.summed(self._gains(self._grown(X, y, real), X.shape[1]))
            scores = np.zeros(len(variables))
            for train, held in _folds(y, real, self.random_state):
                model = self._grown(X[train], y[train], real)
                used = np.flatnonzero(variables.summed(self._gains(model, X.shape[1])) > 0)
                scores[used] += self._rises(
                    model, X[held], y[held], [variables.columns(v) for v in used.tolist()]
                )
            return scores / FOLDS

    def _tie_breaks(self, inputs: Inputs, real: bool) -> Floats:
        information = MutualInformationSelector(target=self.target, n_jobs=self.n_jobs)
        return information._score(inputs, real)

    def _grown(self, X: Floats, y: Array, real: bool) -> Any:
        """Fit the trees of either library, with the same settings."""
        n_trees = 1 if real or y.max() < 2 else int(y.max()) + 1
        rounds = int(np.clip(TREES // n_trees, FEWEST_ROUNDS, MOST_ROUNDS))
        leaf = int(np.clip(len(y) // 10, 1, LARGEST_LEAF))
        if self.library == "lightgbm":
            lightgbm = extra("lightgbm")
            kind = lightgbm.LGBMRegressor if real else lightgbm.LGBMClassifier
            given: dict[str, Any] = {"n_estimators": rounds, "min_child_samples": leaf, "verbose": -1}
            given |= {"importance_type": "gain", "deterministic": True, "force_row_wise": True}
            return kind(**given, random_state=self.random_state, n_jobs=effective_n_jobs(self.n_jobs)).fit(
                X, y
            )
        kind = HistGradientBoostingRegressor if real else HistGradientBoostingClassifier
        model = kind(
            max_iter=rounds, min_samples_leaf=leaf, early_stopping=False, random_state=self.random_state
        )
        return model.fit(X, y)

    def _gains(self, model: Any, n_columns: int) -> Floats:
        if self.library == "lightgbm":
            return np.asarray(model.feature_importances_, np.float64)
        return np.asarray(split_gains(model, n_columns), np.float64)

    def _rises(self, model: Any, X: Floats, y: Array, variables: list[Ints]) -> Floats:
        """Return by how much the loss rises when each variable is permuted, all in the same ways."""
        random = np.random.default_rng(self.random_state)
        orders = [random.permutation(len(y)) for _ in range(REPEATS)]
        usual, rises = _loss(model, X, y), np.zeros(len(variables))
        for place, columns in enumerate(variables):
            permuted = X.copy()
            for order in orders:
                permuted[:, columns] = X[np.ix_(order, columns)]
                rises[place] += (_loss(model, permuted, y) - usual) / REPEATS
        return rises


def _folds(y: Array, real: bool, seed: int | None) -> Any:
    """Split samples into training and held-out parts, by class where each class has enough of them."""
    by_class = not real and np.bincount(y).min() >= FOLDS
    kind = StratifiedKFold if by_class else KFold
    return kind(FOLDS, shuffle=True, random_state=seed).split(np.zeros((len(y), 1)), y)


def _loss(model: Any, X: Floats, y: Array) -> float:
    """Return the mean squared error, or the mean negative log-likelihood of classes."""
    if not hasattr(model, "predict_proba"):
        return float(np.mean((model.predict(X) - y) ** 2))
    chances = model.predict_proba(X)
    places = np.searchsorted(model.classes_, y)
    known = np.isin(y, model.classes_)
    own = np.where(known, chances[np.arange(len(y)), np.where(known, places, 0)], 0.0)
    return float(-np.log(np.maximum(own, SMALLEST_PROBABILITY)).mean())
