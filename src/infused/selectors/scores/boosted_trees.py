"""Boosted trees: features by what they are worth to an ensemble of small trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import KFold, StratifiedKFold
from threadpoolctl import threadpool_limits

from infused._runtime.compat import StrOptions, split_gains
from infused._runtime.messages import extra
from infused._typing import Array, Floats, Ints
from infused.graphs.validation import class_codes
from infused.selectors.docs import SCORES, documented
from infused.selectors.inputs.checks import Inputs
from infused.selectors.inputs.training import LARGEST, refuse_weights, tame
from infused.selectors.scores.univariate import MutualInformationSelector, ScoreSelector

TREES = 300  # in all, where there is one for each class
FEWEST_ROUNDS, MOST_ROUNDS = 20, 100
LARGEST_LEAF = 20  # samples that a leaf must have, at most
FOLDS, REPEATS = 3, 5  # of permutations
SMALLEST_PROBABILITY = 1e-15


@documented(SCORES)
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

    def _takes_gaps(self) -> bool:
        return True

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
