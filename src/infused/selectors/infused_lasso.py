"""The paper's selector."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from infused._typing import Floats
from infused.graphs.validation import Graph
from infused.information.structural import structural_information
from infused.selectors.fused_lasso import Fused
from infused.selectors.structure import one_target
from infused.selectors.structured import StructuredSelector

__all__ = ["InFusedLasso"]


class InFusedLasso(Fused, StructuredSelector):
    r"""Fused lasso with structural information (InFusedLasso).

    .. math::

        \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_i |b_i| + \lambda_2 \sum_i |b_{i+1} - b_i|
        + \lambda_3\, \mathrm{tr}\, B'\Big(I - \frac{U - \bar U}{c}\Big)B

    with one row :math:`b_i` for each feature and one column for each class (or real target), U the structural
    information of all pairs of features and c the largest eigenvalue of :math:`U - \bar U`. This "stable"
    formulation is convex for every data set. ``formulation="paper"`` is the published one, with the labels as
    y and :math:`-\lambda_3 b'Ub`, which has a minimum only for small :math:`\lambda_3`.

    Parameters
    ----------
    n_features_to_select : int, float or None
        How many features: a number, a fraction, or None for those whose coefficients are not zero (positive,
        in the paper's formulation).
    lambda1, lambda2, lambda3 : float
        Weights of sparsity, of fusion and of structure.
    lambda_scale : {"relative", "absolute"}
        "relative" takes the first two as fractions of the lambda1 at which no feature is left, and lambda3 as
        a fraction of the mean squared length of a feature (in the paper's formulation, of its largest
        admissible value), so that defaults mean the same on all data. "absolute" takes them as they are.
    formulation : {"stable", "paper"}
    target : {"auto", "onehot", "label", "real"}
        What y is to the model; "auto" makes one-hot columns of classes (the paper's formulation: labels).
    fusion : {"chain", "grid", "none"}, pairs of features or sparse adjacency
        Which features are fused: each with the next (the paper), neighbouring pixels, or any edges.
    grid_shape : tuple of int, optional
        Rows and columns of the image, for ``fusion="grid"``.
    graph : {"kernel", "euclidean"}
        See :func:`infused.feature_distributions`.
    standardize : bool
        Whether features and targets are first centred and scaled to length one.
    ranking : {"recursive", "coefficient", "path"}
        How features are ranked when their number is given: by fitting again and again on the best part, by
        the length of their coefficients in one fit, or by the order in which they enter as lambda1 falls.
    solver : {"auto", "split-bregman", "proximal", "coordinate-descent"}
        Algorithm 1, accelerated proximal gradients (one target on a chain only), or coordinate descent
        (without fusion only).
    unbounded : {"raise", "iterate"}
        What to do when the published objective has no minimum: refuse, or run Algorithm 1 for ``max_iter``
        steps as published, with a warning.
    max_iter, tol : int, float
        Most iterations of a fit; largest violation of the optimality conditions relative to lambda1.
    n_jobs : int, optional
        Threads, for the structural information and for linear algebra; None leaves the latter to BLAS.
    memory_budget : int or str, optional
        See :class:`infused.StructuralInformation`. Where U of all features would not fit, the first rounds of
        the recursive ranking run with a ridge in its place, and U enters as soon as what is left fits.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Larger is better; in the order of ``ranking_``.
    ranking_ : ndarray of shape (n_features,)
        1 for the best.
    support_ : ndarray of bool
    coef_ : ndarray of shape (n_targets, n_features)
        Coefficients of the last fit, on standardised features; zero for features that had left by then.
    classes_ : ndarray
        The classes in the order of the rows of ``coef_`` (with two classes there is one row, for the second);
        only where y was made one-hot.
    n_iter_ : int
        Iterations of all fits.
    converged_ : bool
    certificate_ : float
        Largest violation of the optimality conditions, relative to lambda1, of the first and the last fit.
    objective_path_ : ndarray
        The objective along the fit on all features.
    unbounded_ : bool
        Whether Algorithm 1 was run on an objective without a minimum, as ``unbounded="iterate"`` asks.
    lambda3_limit_ : float
        The largest admissible lambda3 (the paper's formulation only).
    n_features_screened_ : int
        Features dropped before U entered; zero when it fits.

    Notes
    -----
    There are no sample weights: the graphs that define U have none.

    References
    ----------
    L. Bai, L. Cui, Y. Wang, P. S. Yu, E. R. Hancock, "Fused Lasso for Feature Selection using Structural
    Information".

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import InFusedLasso
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = InFusedLasso(n_features_to_select=4).fit(X, y)
    >>> selector.transform(X).shape
    (178, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StructuredSelector._parameter_constraints,
        **Fused._parameter_constraints,
        "graph": [StrOptions({"kernel", "euclidean"})],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | None = None,
        lambda1: float = 0.05,
        lambda2: float = 0.005,
        lambda3: float = 0.01,
        lambda_scale: str = "relative",
        formulation: str = "stable",
        target: str = "auto",
        fusion: Any = "chain",
        grid_shape: tuple[int, int] | None = None,
        graph: Graph = "kernel",
        standardize: bool = True,
        ranking: str = "recursive",
        solver: str = "auto",
        unbounded: str = "raise",
        max_iter: int = 3000,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        memory_budget: int | float | str | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.lambda3 = lambda3
        self.lambda_scale = lambda_scale
        self.formulation = formulation
        self.target = target
        self.fusion = fusion
        self.grid_shape = grid_shape
        self.graph = graph
        self.standardize = standardize
        self.ranking = ranking
        self.solver = solver
        self.unbounded = unbounded
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.memory_budget = memory_budget

    def _information(self, X: Any, y: Any) -> Floats:
        return structural_information(
            X,
            one_target(y),
            graph=self.graph,
            target="real" if self._kind == "real" else "classes",
            n_jobs=self.n_jobs,
            memory_budget=self.memory_budget,
        )
