"""Differences between the releases of Python and scikit-learn that infused runs with."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import sklearn
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval as Interval
from sklearn.utils._param_validation import StrOptions as StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.fixes import parse_version
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

from infused._runtime.progress import Overall, current, reporting
from infused._runtime.threads import cached_property as cached_property

#: Names of other packages that are used from here only.
__all__ = ["CallbackSupport", "Interval", "StrOptions", "cached_property", "check_sample_weight"]

#: How `LogisticRegression` is asked for an l1 penalty. Before 1.8 a ratio counts only beside
#: ``penalty="elasticnet"``, which liblinear does not have; since 1.8 ``penalty`` is deprecated.
L1_PENALTY: dict[str, Any] = (
    {"l1_ratio": 1.0} if parse_version(sklearn.__version__) >= parse_version("1.8") else {"penalty": "l1"}
)


def output_container(selector: Any) -> str:
    """Return the container that ``transform`` makes: "default", "pandas" or "polars"."""
    container: str = _get_output_config("transform", estimator=selector)["dense"]
    return container


def fit_context(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a ``fit``: check its parameters first, and tell callbacks how far it is."""
    decorated: Callable[..., Any] = _fit_context(prefer_skip_nested_validation=True)(told(fit))
    return decorated


try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
except ImportError:

    class CallbackSupport:  # type: ignore[no-redef]
        """Nothing: this version of scikit-learn has no callbacks."""


STEPS = 100  # tasks that a fit is told as


def told(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a ``fit`` to tell the callbacks of its estimator, if it has any, as a hundred equal tasks."""

    @wraps(fit)
    def wrapper(selector: Any, X: Any, y: Any = None, *args: Any, **kwargs: Any) -> Any:
        if not getattr(selector, "_skl_callbacks", None):
            return fit(selector, X, y, *args, **kwargs)
        task = selector._init_callback_context(max_subtasks=STEPS)
        task.call_on_fit_task_begin(estimator=selector, X=X, y=y)
        steps, above = _Steps(task, selector, X, y), current()
        overall = Overall(steps)

        def report(fraction: float, message: str) -> bool | None:
            go_on = above is None or above(fraction, message) is not False
            return overall(fraction, message) is not False and go_on

        with reporting(report):
            result = fit(selector, X, y, *args, **kwargs)
        overall.finish()
        task.call_on_fit_task_end(estimator=selector, X=X, y=y, reconstruction_attributes=dict)
        return result

    return wrapper


class _Steps:
    """Ends one task after the other, as many as a fraction tells; a callback may ask to stop."""

    def __init__(self, task: Any, selector: Any, X: Any, y: Any):
        self._task, self._of = task, {"estimator": selector, "X": X, "y": y}
        self._done = 0

    def __call__(self, fraction: float, message: str) -> bool:
        stop = False
        while self._done < int(fraction * STEPS + 1e-9):
            part = self._task.subcontext(task_name=message)
            part.call_on_fit_task_begin(**self._of)
            stop |= part.call_on_fit_task_end(**self._of)
            self._done += 1
        return not stop


def split_gains(model: Any, n_features: int) -> Any:
    """Return what the splits on each feature gain, over all trees of histogram-based boosting."""
    gains = np.zeros(n_features)
    for trees in model._predictors:
        for tree in trees:
            splits = tree.nodes[tree.nodes["is_leaf"] == 0]
            np.add.at(gains, splits["feature_idx"], splits["gain"])
    return gains
