"""What of scikit-learn is private, or differs between the releases that infused runs with.

The private names are what its own estimators are made of: how a parameter is declared, and what checks it
before ``fit``. They have no public home. A release that moves one of them is met here, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sklearn
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.fixes import parse_version
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

from infused._runtime.callbacks import told

__all__ = ["L1_PENALTY", "Interval", "StrOptions", "check_sample_weight", "fit_context", "output_container"]

#: How `LogisticRegression` is asked for an l1 penalty. Before 1.8 a ratio counts only beside
#: ``penalty="elasticnet"``, which liblinear does not have; since 1.8 ``penalty`` is deprecated.
L1_PENALTY: dict[str, Any] = (
    {"l1_ratio": 1.0} if parse_version(sklearn.__version__) >= parse_version("1.8") else {"penalty": "l1"}
)


def output_container(selector: Any) -> str:
    """What ``transform`` is to return: "default", "pandas" or "polars"."""
    container: str = _get_output_config("transform", estimator=selector)["dense"]
    return container


def fit_context(fit: Callable[..., Any]) -> Callable[..., Any]:
    """What every ``fit`` runs in: its parameters are checked first, and callbacks are told how far it is."""
    decorated: Callable[..., Any] = _fit_context(prefer_skip_nested_validation=True)(told(fit))
    return decorated
