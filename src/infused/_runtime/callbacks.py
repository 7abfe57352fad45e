"""Selectors tell scikit-learn's callbacks how far a fit is, where the installed version has them (1.9)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from infused._runtime.progress import Overall, current, reporting

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
except ImportError:

    class CallbackSupport:  # type: ignore[no-redef]
        """Nothing: this version of scikit-learn has no callbacks."""


__all__ = ["CallbackSupport", "told"]

STEPS = 100  # tasks that a fit is told as


def told(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A ``fit`` that tells the callbacks of its estimator, if it has any, as a hundred equal tasks."""

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
