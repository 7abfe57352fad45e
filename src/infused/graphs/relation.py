"""The relation of one feature with the target, as a curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from infused._typing import Floats
from infused.exceptions import InputError, Setting
from infused.graphs.validation import Target, check_data, class_codes, resolve_target

WIDTH = 1.06  # of the Gaussian rule for densities, times deviation and the fifth root of samples


@dataclass(frozen=True)
class RelationCurve:
    """Means of the target along a feature."""

    values: Floats
    """Values of the feature, ascending."""
    target: Floats
    """values x targets: the mean of y near each value, or the share of each class in their sorted order."""
    samples: Floats
    """How many samples each mean is of, by their weights."""


def relation_curve(f: Any, y: Any, *, target: Target = "auto", n_points: int = 50) -> RelationCurve:
    r"""Estimate the mean of the target along a feature, of whatever form their relation is.

    .. math::

        m(v) = \frac{\sum_a w_a(v)\, y_a}{\sum_a w_a(v)}, \qquad w_a(v) = e^{-(f_a - v)^2 / 2h^2}

    at quantiles v of the feature, with :math:`h = 1.06\, \sigma M^{-1/5}` for M samples of deviation
    :math:`\sigma`. A feature of no more values than ``n_points`` has the mean at each of them.

    Parameters
    ----------
    f : array-like of shape (n_samples,)
        The feature; samples where it is missing are left out.
    y : array-like of shape (n_samples,)
        Class labels of any kind, or real values.
    target : {"auto", "classes", "real"}, default="auto"
        How to read y; "auto" takes fractional numbers as real values and everything else as classes.
    n_points : int, default=50
        Most points of the curve.

    Returns
    -------
    RelationCurve
        The points, the means there, and how many samples they are of.

    See Also
    --------
    HSICLasso : Selects features by relations of any form.

    Examples
    --------
    >>> import numpy as np
    >>> from infused import relation_curve
    >>> f = np.repeat([-1.0, 0.0, 1.0], 4)
    >>> relation_curve(f, f**2 + 0.5).target.ravel()
    array([1.5, 0.5, 1.5])
    """
    if n_points < 2:
        raise InputError(Setting("n_points", n_points), " is too few: a curve has at least two points")
    f = np.asarray(f, dtype=np.float64).ravel()
    present = ~np.isnan(f)
    column = np.asarray(check_data(f[present, None]), np.float64)
    y, kind = resolve_target(column, np.asarray(y)[present], target)
    Y = np.asarray(y, np.float64)[:, None] if kind == "real" else np.eye(len(np.unique(y)))[class_codes(y)[0]]
    own = column[:, 0]
    values = np.unique(own)
    if len(values) <= n_points:
        weights = np.equal.outer(values, own).astype(np.float64)
    else:
        values = np.unique(np.quantile(own, np.linspace(0, 1, n_points)))
        width = WIDTH * own.std() * len(own) ** -0.2
        weights = np.exp(-0.5 * (np.subtract.outer(values, own) / width) ** 2)
    samples = weights.sum(axis=1)
    return RelationCurve(values, weights @ Y / samples[:, None], samples)
