"""The path of a linear model: solutions for falling lambda1 on the scale of the data, and which to take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import check_cv

from infused._design import dense
from infused._runtime.messages import extra
from infused._typing import Floats, Ints
from infused.datafits import Datafit, Squared
from infused.exceptions import InputError, Setting
from infused.penalties import RowGroups
from infused.samples import ALONE, Split
from infused.selectors.inputs.checks import Inputs
from infused.selectors.inputs.training import TrainingData, make_datafit, target_matrix
from infused.selectors.linear.ranking import Unpenalised, fit_path, path_grid
from infused.solvers import Loss, null_solution
from infused.solvers.result import SolverResult

if TYPE_CHECKING:
    from infused.selectors.linear.estimator import LinearSelector


@dataclass(frozen=True, eq=False)
class LinearModel:
    r"""One solution of a path on the scale of the data, :math:`\eta = X B + c`.

    Parameters
    ----------
    lambda1 : float
        Where on the path it is.
    coef_ : ndarray of shape (n_targets, n_features)
        B, one row for each target, or for each class (with two classes there is one row, for the second).
    intercept_ : ndarray of shape (n_targets,)
        c; zero for ``loss="cox"``, which has none.
    """

    lambda1: float
    coef_: Floats
    intercept_: Floats

    def decision_function(self, X: Any) -> Floats:
        """Predict log odds, logarithms of rates or of hazards, or the target of squared errors.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_targets)
            The predictions.
        """
        return np.asarray(X @ self.coef_.T + self.intercept_)


@dataclass(frozen=True, eq=False)
class RegularizationPath:
    """Solutions for falling lambda1; ``print`` and :meth:`plot` show them.

    Parameters
    ----------
    lambda1 : ndarray of shape (n_lambdas,)
        From where no feature is needed downwards; as the estimator takes it (relative or absolute).
    coef : ndarray of shape (n_lambdas, n_targets, n_features)
        Coefficients at each, of standardised features and targets.
    certificate : ndarray of shape (n_lambdas,)
        Violation of the optimality conditions at each, relative to its lambda1.
    n_iter : ndarray of int of shape (n_lambdas,)
        Iterations of each.
    data_coef : ndarray of shape (n_lambdas, n_targets, n_features)
        Coefficients at each on the scale of the data.
    intercept : ndarray of shape (n_lambdas, n_targets)
        Intercepts on the scale of the data.
    explained : ndarray of shape (n_lambdas,)
        Share of the deviance without features that each explains.
    deviance : ndarray of shape (n_lambdas,) or None, default=None
        Mean deviance of held-out samples at each (for squared errors, the mean squared error); only with
        ``cv``.
    deviance_error : ndarray of shape (n_lambdas,) or None, default=None
        Standard error of that mean.

    See Also
    --------
    infused.Lasso.regularization_path : Makes one, as every linear selector does.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import Lasso
    >>> path = Lasso().regularization_path(*load_wine(return_X_y=True), lambda1=[0.1, 0.5, 1.0], cv=5)
    >>> print(path)
       lambda1  features  explained  deviance
             1         0       0.0%     0.656 +- 0.00218
           0.5         6      57.1%     0.288 +- 0.00902
           0.1         9      82.0%      0.13 +- 0.00773  min, 1se
    >>> path.model().coef_.shape
    (3, 13)
    """

    lambda1: Floats
    coef: Floats
    certificate: Floats
    n_iter: Floats
    data_coef: Floats
    intercept: Floats
    explained: Floats
    deviance: Floats | None = None
    deviance_error: Floats | None = None

    @property
    def n_features(self) -> Ints:
        """Count the features of each solution."""
        return np.asarray(self.coef.any(axis=1).sum(axis=1))

    @property
    def lambda_min(self) -> float:
        """Return the lambda1 whose held-out deviance is the smallest."""
        return float(self.lambda1[self._place("min")])

    @property
    def lambda_1se(self) -> float:
        """Return the largest lambda1 whose held-out deviance is within one standard error of the smallest."""
        return float(self.lambda1[self._place("1se")])

    def model(self, lambda1: float | str | None = None) -> LinearModel:
        """Take one solution, on the scale of the data.

        Parameters
        ----------
        lambda1 : float, "min", "1se" or None, default=None
            Its lambda1, the nearest of the grid; "min" has the smallest held-out deviance, "1se" the fewest
            features within one standard error of it. None is "1se" with ``cv``, else the last.

        Returns
        -------
        LinearModel
            Coefficients and intercepts.
        """
        if lambda1 is None:
            place = len(self.lambda1) - 1 if self.deviance is None else self._place("1se")
        elif isinstance(lambda1, str):
            place = self._place(lambda1)
        else:
            place = int(np.argmin(np.abs(self.lambda1 - lambda1)))
        return LinearModel(float(self.lambda1[place]), self.data_coef[place], self.intercept[place])

    def plot(self, ax: Any = None) -> Any:
        """Plot the held-out deviance against lambda1, or without ``cv`` the coefficients.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default on a new figure.

        Returns
        -------
        matplotlib Axes
            Where it was drawn.
        """
        ax = extra("matplotlib.pyplot").subplots()[1] if ax is None else ax
        if self.deviance is None:
            used = self.coef.any(axis=(0, 1))
            ax.plot(self.lambda1, self.coef[:, :, used].reshape(len(self.lambda1), -1))
            ax.set_ylabel("Coefficient, standardised")
        else:
            ax.errorbar(self.lambda1, self.deviance, self.deviance_error, fmt=".", ecolor="0.7")
            for name in ("min", "1se"):
                place = self._place(name)
                label = f"{name}: {self.n_features[place]} features"
                ax.axvline(self.lambda1[place], linestyle="--" if name == "min" else ":", label=label)
            ax.set_ylabel("Held-out deviance")
            ax.legend(frameon=False)
        ax.set_xscale("log")
        ax.set_xlabel(r"$\lambda_1$")
        return ax

    def __str__(self) -> str:
        header = "   lambda1  features  explained"
        lines = [header if self.deviance is None else header + "  deviance"]
        for place, value in enumerate(self.lambda1):
            line = f"{value:10.4g}{self.n_features[place]:10d}{self.explained[place]:11.1%}"
            if self.deviance is not None and self.deviance_error is not None:
                chosen = [name for name in ("min", "1se") if self._place(name) == place]
                line += (
                    f"{self.deviance[place]:10.3g} +- {self.deviance_error[place]:<7.3g}  {', '.join(chosen)}"
                )
            lines.append(line.rstrip())
        return "\n".join(lines)

    def _place(self, name: str) -> int:
        if self.deviance is None or self.deviance_error is None:
            raise InputError("no deviance was held out: call regularization_path with ", Setting("cv", 10))
        if name not in ("min", "1se"):
            raise InputError(Setting("lambda1", name), " is no solution: take 'min', '1se' or a number")
        best = int(np.argmin(self.deviance))
        if name == "min":
            return best
        return int(np.argmax(self.deviance <= self.deviance[best] + self.deviance_error[best]))


@dataclass(frozen=True)
class Solved:
    """A path as it was solved on some of the samples, and on the scale of the data."""

    data: TrainingData
    grid: Floats
    """lambda1 as the user takes it."""
    per_sample: Floats
    """lambda1 of the mean loss and of columns with a standard deviation of one, whatever the samples are."""
    results: list[SolverResult]
    coef: Floats
    intercept: Floats

    def predictions(self, X: Any) -> list[Floats]:
        """Predict any samples at each lambda1."""
        used = np.flatnonzero(self.coef.any(axis=(0, 1)))
        n_lambdas, n_targets, _ = self.coef.shape
        products = dense(X[:, used]) @ self.coef[:, :, used].reshape(-1, len(used)).T
        return list(products.reshape(-1, n_lambdas, n_targets).transpose(1, 0, 2) + self.intercept[:, None])


def solve_path(
    selector: LinearSelector,
    inputs: Inputs,
    loss: str,
    lambda1: Any,
    n_lambdas: int,
    per_sample: Floats | None = None,
) -> Solved:
    """Solve for a grid of lambda1, each time from where the last solution ended."""
    data = selector._training_data(inputs, selector._coding(loss, inputs.y), loss)
    others = Unpenalised.make(selector._model(data), selector._kept(inputs), data.design)
    model = selector._within_limit(others.model)
    scale = model.largest_lambda1() if model.relative else 1.0
    mean, size = _target_scale(inputs, data, selector.standardize)
    n = data.n_samples
    unit = n if not selector.standardize else np.sqrt(n) / np.sqrt((size**2).mean())
    if per_sample is not None:
        grid = per_sample * unit / scale
    elif lambda1 is None:
        grid = path_grid(model.largest_lambda1() / scale, model.lambda1, n_lambdas)
    else:
        grid = np.sort(np.asarray(lambda1, dtype=np.float64))[::-1]
    fits = model.fit_along(grid * scale) or fit_path(model, grid * scale)
    found = [fit.result for fit in fits]
    results = [replace(one, coef=others.coefficients(one.coef, one.free)) for one in found]
    coef, shift = _on_scale_of_data(inputs, np.stack([one.coef.T for one in results]), selector.standardize)
    coef = coef * size[:, None]
    if data.datafit is None:
        intercept = mean - (coef @ shift)
    elif data.datafit.has_intercept:
        intercept = np.stack([one.free[0] for one in results if one.free is not None]) - coef @ shift
    else:
        intercept = np.zeros(coef.shape[:2])
    return Solved(data, grid, grid * scale / unit, results, coef, intercept)


def _target_scale(inputs: Inputs, data: TrainingData, standardize: bool) -> tuple[Floats, Floats]:
    """Return what was taken off each target and by what it was divided; nothing where it has a likelihood."""
    n_targets = data.Y.shape[1] if data.datafit is None else data.datafit.n_targets
    if data.datafit is not None or not standardize:
        return np.zeros(n_targets), np.ones(n_targets)
    Y, weights = target_matrix(inputs.y, data.coding, False), _values(inputs)
    mean = np.average(Y, axis=0, weights=weights)
    return mean, np.sqrt(weights @ (Y - mean) ** 2)


def _on_scale_of_data(inputs: Inputs, coef: Floats, standardize: bool) -> tuple[Floats, Floats]:
    """Divide coefficients by the lengths of the centred columns; return the means of the columns as well."""
    means, scaled = np.zeros(coef.shape[2]), np.zeros_like(coef)
    if not standardize:
        return coef, means
    used = np.flatnonzero(coef.any(axis=(0, 1)))
    F, weights = dense(inputs.coded.X[:, used]).astype(np.float64), _values(inputs)
    means[used] = np.average(F, axis=0, weights=weights)
    scaled[:, :, used] = coef[:, :, used] / np.sqrt(weights @ (F - means[used]) ** 2)
    return scaled, means


def _values(inputs: Inputs) -> Floats:
    return np.ones(inputs.X.shape[0]) if inputs.weights is None else inputs.weights.values


def explained(solved: Solved, inputs: Inputs, loss: str, centred: bool) -> Floats:
    """Compute the share of the deviance without features that each solution explains."""
    f = _evaluation(loss, inputs, solved, _values(inputs))
    null = f.value(np.zeros((inputs.X.shape[0], f.n_targets)))
    if centred or loss != "squared":
        null = float(null_solution(Loss(f, solved.data.F[:, :0]), RowGroups(1.0)).objective[0])
    whole = max(null - f.smallest, np.finfo(float).tiny)
    return np.array([1 - (f.value(eta) - f.smallest) / whole for eta in solved.predictions(inputs.coded.X)])


def held_out(
    selector: LinearSelector, inputs: Inputs, loss: str, whole: Solved, weights: Any, cv: Any
) -> tuple[Floats, Floats]:
    """Cross-validate a path: the mean deviance of held-out samples, and its standard error.

    As cv.glmnet does: each part is solved for the same lambda1 of the mean loss; for Cox, the deviance of a
    part is that of all samples less that of the others.
    """
    own = np.ones(inputs.X.shape[0]) if weights is None else np.asarray(weights, np.float64)
    rows, sizes = [], []
    for train, test in _splits(inputs, loss, whole.data.kind, cv):
        left = own.copy()
        left[test] = 0.0
        missing = np.setdiff1d(np.arange(len(own)), np.union1d(train, test))
        left[missing] = 0.0
        part = solve_path(selector, inputs.weighed(left), loss, None, 0, whole.per_sample)
        if part.coef.shape != whole.coef.shape:
            raise InputError("a class is in one part only: give ", Setting("cv"), " fewer parts")
        every = own.copy()
        every[missing] = 0.0
        both = [_evaluation(loss, inputs, whole, values) for values in (every, left)]
        etas = part.predictions(inputs.coded.X)
        counted = own[test] * (inputs.y["event"][test] if loss == "cox" else 1.0)
        all_samples, others = ([2 * (f.value(eta) - f.smallest) for eta in etas] for f in both)
        sizes.append(counted.sum())
        rows.append((np.array(all_samples) - np.array(others)) / max(sizes[-1], np.finfo(float).tiny))
    table, shares = np.array(rows), np.array(sizes) / np.sum(sizes)
    mean = shares @ table
    return mean, np.sqrt(shares @ (table - mean) ** 2 / max(len(table) - 1, 1))


def _splits(inputs: Inputs, loss: str, kind: Any, cv: Any) -> list[Split]:
    if not isinstance(cv, Integral):
        return list(check_cv(cv).split(inputs.X, inputs.y))
    if not 2 <= int(cv) <= inputs.X.shape[0]:
        raise InputError(Setting("cv", cv), f" must be from 2 to {inputs.X.shape[0]}, the number of samples")
    return ALONE.folds(inputs.y, "survival" if loss == "cox" else kind, int(cv), 0)


def _evaluation(loss: str, inputs: Inputs, solved: Solved, weights: Floats) -> Datafit:
    """Make the loss of all samples, by weights of which some may be zero."""
    if loss == "squared":
        return Squared(target_matrix(inputs.y, solved.data.coding, False), weights)
    return make_datafit(loss, inputs.y, weights)
