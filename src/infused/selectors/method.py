"""A method: a selector's id with its parameters; and the one place where it is made ready for data."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from infused._runtime.messages import suggestion
from infused._typing import TargetKind
from infused.exceptions import InputError, Setting
from infused.selectors.registry import id_of, make_selector, selector_info

__all__ = [
    "Method",
    "canonical_json",
    "defaults_of",
    "plain",
    "prepared",
    "told_target",
    "typed_value",
    "with_groups",
]

#: Parameters that a request gives apart from the method.
APART = ("n_features_to_select", "n_jobs")


@dataclass(frozen=True)
class Method:
    """A selector by its id (or the dotted path to its class), with the parameters that were given.

    Examples
    --------
    >>> from infused.selectors.method import Method
    >>> Method.parse("lasso:lambda1=0.1:target=label")
    Method(id='lasso', parameters={'lambda1': 0.1, 'target': 'label'})
    >>> str(Method("mrmr", {"n_bins": 10}))
    'mrmr:n_bins=10'
    """

    id: str
    parameters: dict[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.id, canonical_json(self.parameters)))

    @classmethod
    def parse(cls, text: str) -> Method:
        """From an id, with parameters after colons."""
        parts = text.split(":")  # a path to a class may have a colon of its own
        pairs = [part.partition("=") for part in parts if "=" in part]
        id = ":".join(part for part in parts if "=" not in part)
        if not id or not all(name and value for name, _, value in pairs):
            raise InputError(f"{text!r} is no method: give an id, or one like lasso:lambda1=0.1")
        method = cls(id, {name.strip(): typed_value(value.strip()) for name, _, value in pairs})
        try:
            canonical_json(method.parameters)
        except (TypeError, ValueError) as error:
            raise InputError(f"{text!r}: give numbers or words, like lasso:lambda1=0.1") from error
        return method

    @classmethod
    def given(cls, what: Any) -> Method:
        """From a method, a text, or a selector of ours that is not fitted."""
        if isinstance(what, cls):
            return what
        if isinstance(what, str):
            return cls.parse(what)
        if isinstance(what, type) or not hasattr(what, "get_params"):
            raise InputError(Setting("method", what), " is neither an id nor a selector")
        id = id_of(type(what))
        usual, own = defaults_of(id), what.get_params(deep=False)
        changed = {name: value for name, value in own.items() if name in usual and value is not usual[name]}
        return cls(id, {name: _in_words(value) for name, value in changed.items() if name not in APART})

    def __str__(self) -> str:
        words = [
            f"{name}={value if isinstance(value, str) else repr(value)}" for name, value in self._items()
        ]
        return ":".join([self.id, *words])

    def _items(self) -> list[tuple[str, Any]]:
        return sorted(self.parameters.items())

    def check(self) -> None:
        """Raise unless there is such a method and it takes these parameters."""
        takes = defaults_of(self.id)
        for name in self.parameters:
            if name in APART:
                raise InputError(f"{self.id} cannot have ", Setting(name), " of its own: give it apart")
            if name not in takes:
                raise InputError(
                    f"{self.id} does not take ", Setting(name), suggestion(name, list(takes)) or _taken(takes)
                )
        _validated(make_selector(self.id, **self.parameters))


def _in_words(value: Any) -> Any:
    """A parameter as a record can hold it: a selector inside another one by its id and parameters."""
    if isinstance(value, list | tuple) and any(hasattr(one, "get_params") for one in value):
        return [_in_words(one) for one in value]
    if isinstance(value, type) or not (hasattr(value, "get_params") and hasattr(value, "fit")):
        return value
    inside, number = Method.given(value), getattr(value, "n_features_to_select", None)
    own = {} if number is None else {"n_features_to_select": number}
    return str(Method(inside.id, {**inside.parameters, **own}))


def prepared(
    method: Method,
    k: int | float | None,
    kind: TargetKind,
    *,
    grid_shape: tuple[int, int] | None = None,
    seed: int | None = 0,
    n_jobs: int | None = None,
) -> Any:
    """A selector of k features, with everything that follows from the data and not from the user.

    Parameters
    ----------
    method : Method
    k : int, float or None
        How many features; None for as many as the method finds.
    kind : {"classes", "real"}
        What the target holds: a method that is told nothing else takes it as that.
    grid_shape : tuple of int, optional
        Rows and columns of the picture whose pixels are the features, listed row by row; for
        ``fusion="grid"``.
    seed : int, optional
        For what is drawn at random, where the method's own parameters do not say.
    n_jobs : int, optional

    Returns
    -------
    selector
        Of scikit-learn's kind, not fitted.
    """
    takes, parameters = defaults_of(method.id), dict(method.parameters)
    if kind == "real" and not selector_info(method.id).regression:
        raise InputError(f"{method.id} needs classes, but the target is real: take another, such as lasso")
    if takes.get("target") == "auto" and parameters.get("target", "auto") == "auto":
        parameters |= told_target(selector_info(method.id).load(), kind, parameters)
    fusion = parameters.get("fusion")  # may be an array of edges
    if isinstance(fusion, str) and fusion == "grid" and parameters.get("grid_shape") is None:
        if grid_shape is None:
            raise InputError(
                Setting("fusion", "grid"), " needs the shape of the pictures: give ", Setting("grid")
            )
        parameters["grid_shape"] = grid_shape
    if "random_state" in takes:
        parameters.setdefault("random_state", seed)
    if "n_jobs" in takes and n_jobs is not None:
        parameters["n_jobs"] = n_jobs
    return _validated(make_selector(method.id, n_features_to_select=k, **parameters))


def told_target(selector: Any, kind: TargetKind, parameters: Mapping[str, Any]) -> dict[str, str]:
    """The parameter that says what the target is, in a selector's own words, where y is known already.

    A part of the samples could look otherwise. The paper's formulation takes classes as numbers.
    """
    constraints = getattr(selector, "_parameter_constraints", {}).get("target", ())
    known = {word for one in constraints for word in getattr(one, "options", ())}
    words = ("real",) if kind == "real" else ("onehot", "classes")
    if kind == "classes" and parameters.get("formulation") == "paper":
        return {}
    return next(({"target": word} for word in words if word in known), {})


def with_groups(selector: Any, groups: Any) -> Any:
    """The selector, told which columns make one variable; None where each is one of its own."""
    if groups is None:
        return selector
    takes = selector.get_params(deep=False) if hasattr(selector, "get_params") else {}
    if "groups" not in takes:
        raise InputError(
            f"{type(selector).__name__} takes no groups of columns, which categories and gaps need: make a "
            "feature of each value with ",
            Setting("one_hot", True),
            ", or take another method",
        )
    if takes["groups"] is not None:
        raise InputError(Setting("groups"), " cannot be given where the data have categories or gaps")
    return selector.set_params(groups=groups)


def defaults_of(id: str) -> dict[str, Any]:
    """The parameters that a method's constructor takes, and their defaults."""
    info = selector_info(id)
    parameters = inspect.signature(info.load()).parameters.values()
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    takes = {p.name: None if p.default is p.empty else p.default for p in parameters if p.kind in named}
    return {**takes, **info.fixed}


def typed_value(text: str) -> Any:
    """A number, True, False, None or a tuple where the text is one; else the text itself.

    >>> typed_value("0.1"), typed_value("None"), typed_value("label")
    (0.1, None, 'label')
    """
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def canonical_json(content: Any) -> str:
    """One text for one content, whatever the order of its keys; arrays are lists."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_as_list)


def _as_list(value: Any) -> Any:
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars
        return value.tolist()
    raise InputError(f"{value!r} cannot be a parameter here: give numbers, texts or arrays")


def _validated(selector: Any) -> Any:
    """The selector, its parameters checked as scikit-learn's estimators check them."""
    # A selector of somebody's own need not declare what its parameters may be.
    if hasattr(selector, "_validate_params") and hasattr(selector, "_parameter_constraints"):
        try:
            selector._validate_params()
        except ValueError as error:
            raise InputError(str(error)) from error
    return selector


def _taken(takes: Mapping[str, Any]) -> str:
    own = [name for name in takes if name not in (*APART, "random_state", "grid_shape")]
    return f"; it takes {', '.join(own)}" if own else "; it takes no parameters"


def plain(value: Any) -> Any:
    """A parameter as JSON can hold it: arrays as lists, other objects by their text."""
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars
        value = value.tolist()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else repr(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return repr(value)
