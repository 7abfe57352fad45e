"""Cox's proportional hazards regression with a ridge penalty, which evaluates features of survival."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.linalg as sl
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from infused._typing import Array, Floats
from infused.datafits import Cox, concordance, survival_target
from infused.exceptions import InputError, Setting

MOST_STEPS, MOST_HALVINGS = 50, 40
TOLERANCE = 1e-13  # of the value, that the next step would gain
DESCENT = 1e-4  # of what a step promises, that it must bring


class CoxRegression(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""Proportional hazards, :math:`h(t | x) = h_0(t) e^{x'b}`, with the coefficients

    .. math::

        \min_b -\log L(b) + \frac{\alpha}{2} |b|^2

    of the partial likelihood L (Breslow's rule for ties), by Newton's method. Where features are more than
    samples, b is searched for among the combinations of samples, where its minimum is.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the ridge penalty. Features should be on one scale; zero is maximum likelihood.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Logarithms of the hazard ratios.
    variance_ : ndarray of shape (n_features,)
        Inverse curvature of each coefficient: without a penalty, its squared standard error.
    converged_ : bool
        Whether the minimum was reached.
    times_, cumulative_hazard_ : ndarray
        Breslow's estimate for samples with the mean of all features.

    See Also
    --------
    Lasso : Selects features by the same likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> from infused.datafits import survival_records
    >>> from infused.selectors.choose.cox import CoxRegression
    >>> x = np.arange(20.0)[:, None]
    >>> y = survival_records(40 - 2 * x[:, 0] + 9 * (x[:, 0] % 3), np.ones(20))
    >>> round(CoxRegression().fit(x, y).score(x, y), 2)
    0.79
    """

    def __init__(self, alpha: float = 1.0):
        self.alpha = alpha

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the coefficients and the baseline.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Features.
        y : structured array of shape (n_samples,), or data frame of two columns
            Whether the event happened (bool), and when it did or when the sample was last seen.
        sample_weight : array of shape (n_samples,) or None, default=None
            What each sample counts.

        Returns
        -------
        self : object
            The fitted model.
        """
        if not self.alpha >= 0:
            raise InputError(Setting("alpha", self.alpha), " must be at least zero")
        records = survival_target(y)
        if records is None:
            raise InputError("y must hold times and events: a structured array of one boolean and one number")
        X = validate_data(self, X, dtype=np.float64, ensure_min_features=0)
        self._mean = X.mean(axis=0)
        F, f = X - self._mean, Cox(records["time"], records["event"], sample_weight)
        basis = None
        if F.shape[1] > F.shape[0]:
            basis = sl.svd(F, full_matrices=False)[2].T
            F = F @ basis
        b, inverse, self.converged_ = _minimise(f, F, self.alpha)
        self.coef_ = b if basis is None else basis @ b
        self.variance_ = np.diag(inverse) if basis is None else ((basis @ inverse) * basis).sum(axis=1)
        self.times_, self.cumulative_hazard_ = f.baseline(F @ b[:, None])
        return self

    def predict(self, X: Any) -> Floats:
        """Return the logarithm of each sample's hazard, beside that of a sample with the means.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            The higher, the earlier events are expected.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False, ensure_min_features=0)
        return np.asarray((X - self._mean) @ self.coef_)

    def predict_survival(self, X: Any, times: Floats) -> Floats:
        """Return the probability that no event has happened until each time.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Features.
        times : array of shape (n_times,)
            Times.

        Returns
        -------
        ndarray of shape (n_samples, n_times)
            The probabilities.
        """
        steps = np.concatenate([[0.0], self.cumulative_hazard_])
        hazard = steps[np.searchsorted(self.times_, times, side="right")]
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(-np.minimum(np.exp(self.predict(X))[:, None], 1e300) * hazard))

    def score(self, X: Any, y: Any) -> float:
        """Return Harrell's index of concordance.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Features.
        y : structured array of shape (n_samples,), or data frame of two columns
            Times and events.

        Returns
        -------
        float
            The share of comparable pairs in the right order.
        """
        records: Array | None = survival_target(y)
        if records is None:
            raise InputError("y must hold times and events: a structured array of one boolean and one number")
        return concordance(records, self.predict(X))


def _minimise(f: Cox, F: Floats, alpha: float) -> tuple[Floats, Floats, bool]:
    """Return the minimum by Newton's method, the inverse curvature there, and whether it was reached."""
    b = np.zeros(F.shape[1])
    value, ridge, converged = f.value(F @ b[:, None]), alpha * np.eye(len(b)), False
    inverse = np.zeros_like(ridge)
    for _ in range(MOST_STEPS):
        eta = F @ b[:, None]
        slope = F.T @ f.gradient(eta)[:, 0] + alpha * b
        inverse = sl.pinvh(f.curvature(eta).gram(F) + ridge)
        step = -inverse @ slope
        gain = float(-slope @ step)
        converged = gain <= TOLERANCE * max(abs(value), 1.0)
        if converged:
            break
        for _ in range(MOST_HALVINGS):
            after = f.value(F @ (b + step)[:, None]) + alpha / 2 * float((b + step) @ (b + step))
            if after <= value - DESCENT * gain:
                break
            step, gain = step / 2, gain / 2
        else:
            break
        b, value = b + step, after
    return b, inverse, bool(converged)
