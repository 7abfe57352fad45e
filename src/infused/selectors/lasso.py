"""The lasso as a selector."""

from __future__ import annotations

from infused.selectors.linear import LinearSelector

__all__ = ["Lasso"]


class Lasso(LinearSelector):
    r"""The lasso; with one-hot or several targets, the multi-task lasso.

    .. math::

        \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_i |b_i|

    with one row :math:`b_i` for each feature and one column for each class (or real target): a feature is
    needed for all classes or for none.

    Parameters
    ----------
    n_features_to_select : int, float or None
        How many features: a number, a fraction, or None for those whose coefficients are not zero.
    lambda1 : float
        Weight of sparsity.
    lambda_scale : {"relative", "absolute"}
        "relative" takes lambda1 as a fraction of the value at which no feature is left, so that defaults mean
        the same on all data; "absolute" takes it as it is.
    target : {"auto", "onehot", "label", "real"}
        What y is to the model; "auto" makes one-hot columns of classes.
    standardize : bool
        Whether features and targets are first centred and scaled to length one.
    ranking : {"recursive", "coefficient", "path"}
        How features are ranked when their number is given: by fitting again and again on the best part, by
        the length of their coefficients in one fit, or by the order in which they enter as lambda1 falls.
    max_iter, tol : int, float
        Most iterations of a fit; largest violation of the optimality conditions relative to lambda1.
    n_jobs : int, optional
        Threads for linear algebra; None leaves them to BLAS.
    memory_budget : int or str, optional
        Bytes, or a text such as "4GB"; half of the free memory by default.

    Attributes
    ----------
    scores_, ranking_, support_ : ndarray of shape (n_features,)
        Larger scores are better; rank 1 is the best; the mask of the selected features.
    coef_ : ndarray of shape (n_targets, n_features)
        Coefficients of the last fit, on standardised features; zero for features that had left by then.
    classes_ : ndarray
        The classes in the order of the rows of ``coef_`` (with two classes there is one row, for the second);
        only where y was made one-hot.
    n_iter_, converged_, certificate_, objective_path_
        Iterations of all fits; whether the first and the last converged, and how far they are from the
        optimality conditions; the objective along the fit on all features.

    References
    ----------
    R. Tibshirani, "Regression shrinkage and selection via the lasso", Journal of the Royal Statistical
    Society B 58 (1996). G. Obozinski, B. Taskar, M. Jordan, "Multi-task feature selection" (2006).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import Lasso
    >>> X, y = load_wine(return_X_y=True)
    >>> Lasso(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    def __init__(
        self,
        *,
        n_features_to_select: int | float | None = None,
        lambda1: float = 0.05,
        lambda_scale: str = "relative",
        target: str = "auto",
        standardize: bool = True,
        ranking: str = "recursive",
        max_iter: int = 3000,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        memory_budget: int | float | str | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.lambda1 = lambda1
        self.lambda_scale = lambda_scale
        self.target = target
        self.standardize = standardize
        self.ranking = ranking
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.memory_budget = memory_budget
