"""What scores are called and how they are shown: the larger the better inside, as known to people outside."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

__all__ = ["MEASURES", "Measure", "error_text", "measure", "number", "score_text", "shown", "signed", "unit"]


@dataclass(frozen=True)
class Measure:
    """How a score is shown."""

    words: str
    """What it is called after "the mean"."""
    factor: float = 1.0
    """By what it is multiplied to be shown; an error, which is stored negated, by a negative number."""
    unit: str = ""
    format: str = ".3f"
    error_format: str = ""
    """Of standard errors, where it is another."""


def _percentage(words: str) -> Measure:
    return Measure(words, 100.0, "%", ".1f")


MEASURES = {
    "accuracy": _percentage("accuracy"),
    "balanced_accuracy": _percentage("balanced accuracy"),
    "roc_auc": Measure("ROC AUC"),
    "average_precision": Measure("average precision"),
    "f1": _percentage("macro F1"),
    "r2": Measure("R²"),
    "mae": Measure("absolute error", -1.0, "", ".4g", ".2g"),
}


def measure(name: str) -> Measure:
    """How a score is shown; of scikit-learn's scorers those that begin with "neg" are errors.

    >>> measure("neg_root_mean_squared_error").words
    'root mean squared error'
    """
    if name in MEASURES:
        return MEASURES[name]
    if name.startswith("neg_"):
        return Measure(name.removeprefix("neg_").replace("_", " "), -1.0, "", ".4g", ".2g")
    return Measure(name.replace("_", " "))


def unit(name: str) -> tuple[float, str]:
    """By what a score is multiplied to be shown, and its sign."""
    how = measure(name)
    return how.factor, how.unit


def shown(value: float, name: str) -> float:
    """A score in the unit in which people know it."""
    return measure(name).factor * value + 0.0  # no zero with a minus sign


def number(value: float, name: str) -> str:
    """A score as it is shown, without its unit: one decimal of a percentage, three of an R².

    >>> number(0.954, "accuracy"), number(0.5, "r2"), number(-1234.56, "mae")
    ('95.4', '0.500', '1235')
    """
    text = f"{shown(value, name):{measure(name).format}}"
    return text.removeprefix("-") if float(text) == 0 else text


def error_text(error: float, name: str) -> str:
    """A standard error, which has no direction."""
    how = measure(name)
    return f"{abs(how.factor * error):{how.error_format or how.format}}"


def score_text(mean: float, error: float, name: str) -> str:
    """A mean with its standard error, where there is one.

    >>> score_text(0.954, 0.012, "accuracy")
    '95.4 ± 1.2'
    """
    return number(mean, name) if isnan(error) else f"{number(mean, name)} ± {error_text(error, name)}"


def signed(value: float, name: str) -> str:
    """A difference of scores with its sign."""
    text = number(value, name)
    return text if text.startswith("-") else f"+{text}"
