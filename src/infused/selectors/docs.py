"""What estimators have in common, described once.

A docstring names a shared description by a placeholder on a line of its own, ``%(lambda1)s``, and
:func:`documented` fills it in. ``%(parameters)s`` and ``%(attributes)s`` stand for all those of a
family, ``%(linear)s`` for the parameters that all linear selectors have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from textwrap import dedent, indent
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=type[Any])

#: Parameters that all linear selectors have, in the order of the fields of their base class.
LINEAR_PARAMETERS = (
    "n_features_to_select",
    "lambda1",
    "lambda_scale",
    "target",
    "groups",
    "keep",
    "standardize",
    "ranking",
    "max_iter",
    "tol",
    "n_jobs",
    "loss",
    "penalty_factors",
    "positive",
)

PLACEHOLDER = re.compile(r"^( *)%\((\w+)\)s$", re.MULTILINE)


def documented(shared: Mapping[str, str]) -> Callable[[Kind], Kind]:
    """Fill the placeholders in the docstring of a class; there is none to fill under ``python -OO``."""

    def fill(cls: Kind) -> Kind:
        if cls.__doc__ is not None:
            cls.__doc__ = filled(cls.__doc__, shared)
        return cls

    return fill


def filled(text: str, shared: Mapping[str, str]) -> str:
    """Fill descriptions in the place of placeholders, indented as they are.

    Raises
    ------
    KeyError
        Where there is no description of that name.

    Examples
    --------
    >>> from infused.selectors.docs import LINEAR, filled
    >>> print(filled("%(lambda1)s", LINEAR))
    lambda1 : float, default=0.05
        Weight of sparsity; a relative one is a fraction of the value at which no feature is left.
    """
    table = {
        **shared,
        "linear": "\n".join(shared[name] for name in LINEAR_PARAMETERS if name in shared),
        "parameters": "\n".join(entry for name, entry in shared.items() if not name.endswith("_")),
        "attributes": "\n".join(entry for name, entry in shared.items() if name.endswith("_")),
    }
    return PLACEHOLDER.sub(lambda found: indent(table[found[2]], found[1]), text)


def entries(section: str) -> dict[str, str]:
    """Read the descriptions in a section of a docstring, by name."""
    parts = re.split(r"\n(?=\w)", dedent(section).strip())
    return {part.partition(" : ")[0]: part for part in parts}


_SUPPORT = entries("""
    support_ : ndarray of bool of shape (n_features,)
        The mask of the selected features.
""")

_GROUPS = entries("""
    groups : array-like of shape (n_features,), mapping or None, default=None
        Columns that are one variable, kept or dropped whole: one label for each column, or a mapping from
        names to columns (by position, or by name for a data frame), where columns that are left out are
        variables of their own. Then ``n_features_to_select`` counts groups.
    keep : array-like or None, default=None
        Features that are always selected, by name or position (groups by name): they have the first ranks, in
        this order, and count in ``n_features_to_select``.
    group_names_ : ndarray of object of shape (n_groups,)
        The groups in the order of their first columns, which is that of ``scores_`` and ``ranking_``; only
        where ``groups`` was given.
    number_curve_ : NumberCurve
        The scores of a linear model against the number of features; only where
        ``n_features_to_select="auto"``.
""")

_UNPENALISED = {
    "keep": _GROUPS["keep"]
    + "\n    Their coefficients carry no penalty, and the others are ranked by what they add to them."
}

_SEEN = entries("""
    n_features_in_ : int
        Number of features seen during ``fit``.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Their names; only where X was a data frame whose column names are all texts.
""")

_HALF = entries("""
    n_features_to_select : int, float, "auto" or None, default=None
        How many features: a number, a fraction, "auto" for the smallest number that predicts within one
        standard error of the best (by cross-validation), or None for half of them.
""")

_LINEAR = {
    **_GROUPS,
    **_UNPENALISED,
    **entries("""
        n_features_to_select : int, float, "auto" or None, default=None
            How many features: a number, a fraction, "auto" for the smallest number that predicts within one
            standard error of the best (by cross-validation), or None for those whose coefficients are not
            zero.
        lambda1 : float, default=0.05
            Weight of sparsity; a relative one is a fraction of the value at which no feature is left.
        lambda_scale : {"relative", "absolute"}, default="relative"
            "relative" takes weights as fractions of what the data allow, so that defaults mean the same on
            all data; "absolute" takes them as they are.
        target : {"auto", "onehot", "label", "real"}, default="auto"
            What y is to the model; "auto" makes one-hot columns of classes, and takes several columns as they
            are.
        standardize : bool, default=True
            Whether features and targets are first centred and scaled to length one. Constant features are
            zero either way, and rank last.
        ranking : {"recursive", "forward", "coefficient", "path"}, default="recursive"
            How features are ranked when their number is given. "recursive" eliminates recursively by the
            model itself: fit, drop the features with the smallest coefficients, fit again, down to one
            feature. "forward" takes the features that the model keeps when 250 are left, in the order of
            forward selection by ridge regression; use it where few features should predict well, not to
            read the model from the order, which lambda2 and lambda3 no longer affect. "coefficient" ranks by
            the size of the coefficients in one fit, "path" by the order in which features enter as lambda1
            falls.
        max_iter : int, default=3000
            Most iterations of a fit.
        tol : float, default=1e-4
            Largest violation of the optimality conditions, relative to lambda1.
        n_jobs : int or None, default=None
            Threads for linear algebra, -1 for every core; None leaves them to BLAS.
        loss : {"auto", "squared", "logistic", "poisson", "huber", "cox"}, default="auto"
            What is minimised beside the penalties. "auto" is the squared error as above, and "cox" where y
            has times and events. "logistic" is the likelihood of classes (multinomial for more than two, with
            one row of coefficients per class), "poisson" that of counts, "cox" the partial likelihood of
            survival times (Breslow's rule for ties): y is a structured array of an event (bool) and a time,
            or has the columns time and event. "huber" is the squared error, but linear for outliers.
            Intercepts carry no penalty.
        penalty_factors : array-like of shape (n_features,), mapping or None, default=None
            What the penalty of each feature (or group) is multiplied with, or a mapping from names to factors
            where all others have 1: 0 for always selected, infinity for never, 2 for twice the penalty.
        positive : bool, default=False
            Whether coefficients must be at least zero (but for features without a penalty).
        scores_ : ndarray of shape (n_features,) or (n_groups,)
            Larger is better; in the order of ``ranking_``.
        ranking_ : ndarray of int of shape (n_features,) or (n_groups,)
            1 for the best. It is the same for every number of features that is asked for, so that the first j
            are the selection for j; with None, features are ranked by the length of their coefficients.
    """),
    **_SUPPORT,
    **entries("""
        coef_ : ndarray of shape (n_targets, n_features)
            Coefficients of the last fit, on standardised features; zero for features that had left by then.
            Of a category one for each level: then there are more, and ``coef_names_`` has their names.
        coef_names_ : ndarray of str
            What the columns of ``coef_`` are, as in "port=Southampton"; only where X has categories.
        classes_ : ndarray of shape (n_classes,)
            The classes in the order of the rows of ``coef_`` (with two classes there is one row, for the
            second); only where y was made one-hot.
        n_iter_ : int
            Iterations of all fits.
        converged_ : bool
            Whether the first and the last fit met ``tol``.
        certificate_ : float
            Largest violation of the optimality conditions, relative to lambda1, of the first and the last
            fit.
        objective_path_ : ndarray of shape (n_iterations,)
            The objective along the fit on all features.
    """),
}

#: Sparse linear models.
LINEAR = {**_LINEAR, **_SEEN}

#: Linear models with a term of pairwise information.
INFORMED = {
    **_LINEAR,
    **entries("""
        n_features_to_select : int, float, "auto" or None, default=None
            How many features: a number, a fraction, "auto" for the smallest number that predicts within one
            standard error of the best (by cross-validation), or None for those whose coefficients are not
            zero (positive, in the paper's formulation).
        lambda3 : float, default=0.01
            Weight of the information of pairs. A relative one is a fraction of the mean squared length of a
            feature (in the paper's formulation, of its largest admissible value); an absolute one is
            multiplied by c, so that it weighs the same matrix in both formulations.
        formulation : {"stable", "paper"}, default="stable"
            The convex problem above, or the published one.
        target : {"auto", "onehot", "label", "real"}, default="auto"
            What y is to the model; "auto" makes one-hot columns of classes (the paper's formulation: labels).
        unbounded : {"raise", "iterate"}, default="raise"
            What to do when the published objective has no minimum: refuse, or run Algorithm 1 for
            ``max_iter`` steps as published, with a warning.
        n_jobs : int or None, default=None
            Threads for the information of pairs (None for one) and for linear algebra (None leaves them to
            BLAS); -1 for every core.
        unbounded_ : bool
            Whether Algorithm 1 was run on an objective without a minimum, as ``unbounded="iterate"`` asks.
        lambda3_limit_ : float
            The largest admissible lambda3; only in the paper's formulation.
        n_features_screened_ : int
            Features dropped before the information of pairs entered: where that of all pairs would pass the
            memory budget (see :func:`infused.config_context`), the first rounds of the recursive ranking run
            with a ridge in its place. Zero where it fits.
        information_error_ : float
            Where features are many more than samples, not all of U is formed: the measured error of what
            stands for it, relative to the largest eigenvalue of U less its mean. Zero where it was formed.
    """),
    **_SEEN,
}

#: What fusion adds to either.
FUSION = entries("""
    lambda2 : float, default=0.005
        Weight of fusion; a relative one is a fraction of the lambda1 at which no feature is left.
    fusion : {"auto", "chain", "grid", "none"}, pairs of features or sparse adjacency, default="auto"
        Which features are fused: each with the next, neighbouring pixels, none, or any edges. "auto" is the
        chain or the grid where neighbours are far more alike than other features, else none (the paper's
        formulation: the chain), and none where groups have several columns.
    grid_shape : tuple of int or None, default=None
        Rows and columns of the picture whose pixels are the features, for ``fusion="grid"``; given, "auto" is
        the grid.
    solver : {"auto", "split-bregman", "proximal", "coordinate-descent"}, default="auto"
        Algorithm 1, accelerated proximal gradients (one target on a chain only), or coordinate descent
        (without fusion only).
    fusion_ : {"chain", "grid", "none", "edges"}
        What was fused.
    fusion_reason_ : str
        Why, in a few words.
    grid_shape_ : tuple of int or None
        Rows and columns of the picture, where there is one.
""")

#: Greedy filters by mutual information.
FILTERS = {
    **_HALF,
    **_GROUPS,
    "keep": _GROUPS["keep"] + "\n    The search starts with them.",
    **entries("""
        n_bins : int, default=5
            Bins of equal frequency, from 2 to 256, where a value that fills a bin has it for itself. Discrete
            features are taken as they are: those with no more distinct values than bins, or with at most 32
            of which each has five samples or more on average.
        target : {"auto", "classes", "real"}, default="auto"
            What y is; "auto" decides by its type. Real values are discretised as features are.
        n_jobs : int or None, default=None
            Threads; None for one, -1 for every core. The result does not depend on it.
        scores_ : ndarray of shape (n_features,) or (n_groups,)
            Larger is better: the number of features that are not ahead in the ranking. Values of the
            criterion at different steps cannot be compared, so they are no scores.
        ranking_ : ndarray of int of shape (n_features,) or (n_groups,)
            1 for the best. Selected features are in the order in which they were picked: the first j of k are
            the selection for j. The others follow by their criterion at the last step, which need not be the
            order in which a larger number would pick them; constants are last. Ties (differences below 1e-10)
            go to the feature with more relevance, then to the first.
    """),
    **_SUPPORT,
    **entries("""
        relevance_ : ndarray of shape (n_features,) or (n_groups,)
            The information I(f; y) of each feature (or group) about the target.
        criterion_ : ndarray of shape (n_features,) or (n_groups,)
            The criterion of each feature at the step that picked it, or at the last one.
    """),
    **_SEEN,
}

#: One score for each feature.
SCORES = {
    **_HALF,
    **entries("""
        target : {"auto", "classes", "real"}, default="auto"
            What y is; "auto" decides by its type.
    """),
    **_GROUPS,
    **entries("""
        random_state : int or None, default=0
            Seed of whatever is drawn at random.
        n_jobs : int or None, default=None
            Jobs, where scikit-learn's computation takes them; -1 for every core.
        scores_ : ndarray of shape (n_features,) or (n_groups,)
            Larger is better.
        ranking_ : ndarray of int of shape (n_features,) or (n_groups,)
            1 for the best, the same for every number of features that is asked for; ties go to the first.
    """),
    **_SUPPORT,
    **_SEEN,
}

#: What is chosen by cross-validation, whatever the method.
AUTO = {
    **_GROUPS,
    **entries("""
        n_features_to_select : int, float, "auto" or None, default="auto"
            How many features: a number, a fraction, or "auto" (or None) for what cross-validation chooses.
        cv : int, splitter of scikit-learn's kind or iterable of splits, default=5
            How samples are split. A number of folds is stratified, shuffled, and on at most 3,000 samples.
        scoring : str, callable or None, default=None
            What counts: a name such as "accuracy", "balanced_accuracy", "roc_auc", "f1", "r2" or "mae", or
            any scorer of scikit-learn; None takes what suits y.
        scores_ : ndarray of shape (n_features,) or (n_groups,)
            Those of the method that was chosen.
        ranking_ : ndarray of int of shape (n_features,) or (n_groups,)
            1 for the best: the ranking of ``selector_``. Another number of features may have another method
            chosen, and so another order.
        number_curve_ : NumberCurve
            The scores of the method that was chosen against the number of features; only where that was
            chosen, too.
    """),
    **_SUPPORT,
    **_SEEN,
}

#: Features that halves of the samples agree on.
STABILITY = {
    **_GROUPS,
    **entries("""
        target : {"auto", "classes", "real"}, default="auto"
            What y is; "auto" decides by its type, or leaves it to the selector.
        n_features_to_select : int, float, "auto" or None, default=None
            How many features: a number, a fraction, "auto" for the smallest number that predicts within one
            standard error of the best (by cross-validation), or None for those that reach the threshold.
            Where the selector has no number of its own, a number is also that of each half.
        scores_ : ndarray of shape (n_features,) or (n_groups,)
            The frequencies; zero for constant features.
        ranking_ : ndarray of int of shape (n_features,) or (n_groups,)
            1 for the best: by frequency, then by the mean rank in the halves, then by position. Where the
            selector has a number of its own, it is the same for every number that is asked for; else halves
            choose as many as are asked for, and another number may have another order.
    """),
    **_SUPPORT,
    **_SEEN,
}

#: Forward selection by least squares.
FORWARD = {
    **_HALF,
    **_GROUPS,
    **_UNPENALISED,
    **{name: LINEAR[name] for name in ("target", "standardize", "n_jobs")},
    **_SUPPORT,
    **_SEEN,
}

#: The knockoff filter.
KNOCKOFFS = {
    **{name: entry for name, entry in _GROUPS.items() if name in ("groups", "group_names_")},
    "keep": _GROUPS["keep"] + "\n    The others are tested given them; they count in no rate.",
    **{name: LINEAR[name] for name in ("target",)},
    **entries("""
        n_jobs : int or None, default=None
            Threads, each for a draw; None for one, -1 for every core. The result does not depend on it.
        scores_ : ndarray of shape (n_features,) or (n_groups,)
            Larger is better: the mean of W over the draws, as a share of the largest, and two more for what
            the rate allows to select.
        ranking_ : ndarray of int of shape (n_features,) or (n_groups,)
            1 for the best, by score, then by correlation with the target; the same for every number of
            features that is asked for.
    """),
    **_SUPPORT,
    **entries("""
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
    """),
    **_SEEN,
}

#: The lasso on feature graphs.
GRAPHS = {
    **_GROUPS,
    **_UNPENALISED,
    "n_jobs": _LINEAR["n_jobs"],
    **entries("""
        n_features_to_select : int, float, "auto" or None, default=None
            How many features: a number, a fraction, "auto" for the smallest number that predicts within one
            standard error of the best (by cross-validation), or None for those whose coefficients are not
            zero.
        target : {"auto", "onehot", "label", "real"}, default="auto"
            What y is; "auto" makes a graph of classes, and the sum of a graph for each of several columns.
        scores_ : ndarray of shape (n_features,) or (n_groups,)
            Larger is better: places above one for features with a coefficient; for others what is left of
            their relevance, as a share of the largest lambda1.
        ranking_ : ndarray of int of shape (n_features,) or (n_groups,)
            1 for the best; ties go to the larger relevance, then to the first.
    """),
    **_SUPPORT,
    **entries("""
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
    """),
    **_SEEN,
}
