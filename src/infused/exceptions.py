"""Errors and warnings that a user can act on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = [
    "InfusedError",
    "InputError",
    "MemoryBudgetError",
    "MissingExtraError",
    "OperationCancelledError",
    "PrecisionError",
    "ScreeningWarning",
    "Setting",
    "TargetWarning",
    "UnboundedObjectiveError",
    "UnboundedObjectiveWarning",
]


@dataclass(frozen=True)
class Setting:
    """A parameter that a message names, and the value that it has or should have.

    Messages hold settings as they are, not as text: Python spells ``impute='median'``, the command line
    ``--impute median``.

    Parameters
    ----------
    name : str
        The parameter.
    value : object, default=None
        Its value; None where the name alone says it.

    See Also
    --------
    InputError : Takes them as parts of its message.

    Examples
    --------
    >>> from infused.exceptions import Setting
    >>> print(Setting("impute", "median"), Setting("target"))
    impute='median' target=
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        return f"{self.name}={'' if self.value is None else repr(self.value)}"


class InfusedError(Exception):
    """Base of every error that infused raises on its own account.

    See Also
    --------
    InputError : What a user can mend.
    OperationCancelledError : What a user asked for.

    Examples
    --------
    >>> import infused
    >>> from infused.exceptions import InfusedError
    >>> try:
    ...     infused.make_selector("mrrm")
    ... except InfusedError as error:
    ...     print(error)
    there is no selector 'mrrm'; did you mean 'mrmr'?
    """


class InputError(InfusedError, ValueError):
    """What was given cannot be used as it is: one line that says what to change.

    Every error that a user can mend is one, and nothing else is: any other exception is a mistake of ours.

    Parameters
    ----------
    *parts : str or Setting
        The message, in pieces.

    Attributes
    ----------
    parts : tuple of str or Setting
        The message, in pieces.

    See Also
    --------
    Setting : A parameter that a message names.

    Examples
    --------
    >>> from infused.exceptions import InputError, Setting
    >>> print(InputError("3 values are missing: fill them with ", Setting("impute", "median")))
    3 values are missing: fill them with impute='median'
    """

    def __init__(self, *parts: str | Setting):
        super().__init__(*parts)
        self.parts = parts

    def __str__(self) -> str:
        return self.told(str)

    def told(self, spell: Callable[[Setting], str]) -> str:
        """Return the message on one line, with settings spelled as wanted.

        Parameters
        ----------
        spell : callable
            From a setting to its text.

        Returns
        -------
        str
            The message.
        """
        text = "".join(part if isinstance(part, str) else spell(part) for part in self.parts)
        return " ".join(text.splitlines())


class MissingExtraError(InputError, ImportError):
    """A package that this needs is not installed; the message names the extra that brings it.

    See Also
    --------
    InputError : What it is one of.

    Examples
    --------
    >>> from infused.exceptions import MissingExtraError
    >>> issubclass(MissingExtraError, ImportError)
    True
    """


class MemoryBudgetError(InputError, MemoryError):
    """The result would not fit in the memory budget; nothing was allocated.

    See Also
    --------
    infused.config_context : Sets the budget.

    Examples
    --------
    >>> import infused
    >>> from infused.exceptions import MemoryBudgetError
    >>> try:
    ...     with infused.config_context(memory_budget="16B"):
    ...         infused.feature_distributions([[0.0, 1.0], [2.0, 3.0]])
    ... except MemoryBudgetError as error:
    ...     print(str(error).partition(":")[0])
    A dense array of 2 x 2 distributions needs 32 B, more than the memory budget of 16 B
    """


class OperationCancelledError(InfusedError):
    """The progress callback returned False, so the computation stopped.

    See Also
    --------
    infused.structural_information : Takes such a callback.

    Examples
    --------
    >>> import infused
    >>> from infused.exceptions import OperationCancelledError
    >>> X, y = [[0.0, 1.0], [2.0, 3.0]], [0, 1]
    >>> try:
    ...     infused.structural_information(X, y, progress=lambda fraction, message: False)
    ... except OperationCancelledError:
    ...     print("stopped")
    stopped
    """


class PrecisionError(InputError):
    """A forced route cannot reach the requested tolerance on these distributions.

    See Also
    --------
    infused.structural_information : With ``route="auto"`` it takes one that can.

    Examples
    --------
    >>> import infused
    >>> from infused.exceptions import PrecisionError
    >>> X, y = [[0.0, 1.0], [2.0, 3.0]], [0, 1]
    >>> try:
    ...     infused.structural_information(X, y, route="separable", tol=1e-300)
    ... except PrecisionError as error:
    ...     print("take another route")
    take another route
    """


class UnboundedObjectiveError(InputError):
    """The published objective has no minimum for this lambda3.

    Parameters
    ----------
    message : str
        Says so, and what to do.
    limit : float
        The largest lambda3 that has one.

    See Also
    --------
    infused.InFusedLasso : Raises it with ``formulation="paper"`` and ``unbounded="raise"``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import InFusedLasso
    >>> from infused.exceptions import UnboundedObjectiveError
    >>> selector = InFusedLasso(formulation="paper", lambda_scale="absolute", lambda3=1.0)
    >>> try:
    ...     selector.fit(*load_wine(return_X_y=True))
    ... except UnboundedObjectiveError as error:
    ...     print(0 < error.limit < 1)
    True
    """

    def __init__(self, message: str, limit: float):
        super().__init__(message)
        self.limit = limit

    def __reduce__(self) -> tuple[type[UnboundedObjectiveError], tuple[str, float]]:
        return type(self), (str(self), self.limit)


class UnboundedObjectiveWarning(UserWarning):
    """Algorithm 1 was run on an objective that has no minimum, as asked.

    See Also
    --------
    infused.InFusedLasso : Warns so with ``unbounded="iterate"``.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import load_wine
    >>> from infused import InFusedLasso
    >>> from infused.exceptions import UnboundedObjectiveWarning
    >>> selector = InFusedLasso(
    ...     formulation="paper", lambda_scale="absolute", lambda3=1.0, unbounded="iterate", max_iter=5
    ... )
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", UnboundedObjectiveWarning)
    ...     selector.fit(*load_wine(return_X_y=True)).unbounded_
    True
    """


class ScreeningWarning(UserWarning):
    """U of all features would not fit in the memory budget, so the first rounds ran without it.

    See Also
    --------
    infused.InFusedLasso : Its ``n_features_screened_`` says how many features that dropped.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from infused import InFusedLasso, config_context
    >>> from infused.exceptions import ScreeningWarning
    >>> X, y = np.random.default_rng(0).normal(size=(20, 200)), [0, 1] * 10
    >>> with warnings.catch_warnings(), config_context(memory_budget="500KB"):
    ...     warnings.simplefilter("ignore", ScreeningWarning)
    ...     selector = InFusedLasso(n_features_to_select=5).fit(X, y)
    >>> selector.n_features_screened_ > 0
    True
    """


class TargetWarning(UserWarning):
    """A target of many whole numbers could be classes or measured values; the message says what was taken.

    See Also
    --------
    infused.InFusedLasso : Its parameter ``target`` says it instead.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import load_diabetes
    >>> from infused import Lasso
    >>> from infused.exceptions import TargetWarning
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", TargetWarning)
    ...     selector = Lasso(n_features_to_select=3).fit(*load_diabetes(return_X_y=True))
    >>> print(str(caught[0].message).partition(";")[0])
    y holds 214 different whole numbers in 442 samples, which are taken as measured values
    """
