"""A method: a selector's id with its parameters; and the one place where it is made ready for data."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite, prod
from typing import Any

from infused._runtime.messages import quoted, suggestion
from infused._typing import TargetKind
from infused.exceptions import InputError, Setting
from infused.selectors.registry import SelectorInfo, available_selectors, id_of, selector_info

#: Parameters that a request gives apart from the method.
APART = ("n_features_to_select", "n_jobs")

DEEPEST = 3  # methods inside methods
MOST_METHODS = 10_000  # that a grid of parameters makes

#: What stands between brackets and commas in a text that is a value, and what stands before no bracket there:
#: an expression, which a parser would nest as deep as it is long, is none.
CALLED = re.compile(r"""[\])\w'".]\s*[\[(]""")
ATOM = re.compile(
    r"""\s*(?:[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|'[^'\\]*'|"[^"\\]*"|True|False|None)?\s*"""
)


@dataclass(frozen=True)
class Method:
    """A selector by its id, with the parameters that were given.

    An id is one of the registry. A dotted path to a class is code that would be imported, so it counts only
    where the caller allows it, by ``allow_imports=True`` or with a selector of that class. No record holds
    that, and no text can say it.

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
    allow_imports: bool = field(default=False, compare=False, repr=False, metadata={"recorded": False})

    def __hash__(self) -> int:
        return hash((self.id, canonical_json(self.parameters)))

    @classmethod
    def parse(cls, text: str, *, allow_imports: bool = False) -> Method:
        """Read an id, with parameters after colons."""
        parts = text.split(":")  # a path to a class may have a colon of its own
        pairs = [part.partition("=") for part in parts if "=" in part]
        id = ":".join(part for part in parts if "=" not in part)
        if not id or not all(name and value for name, _, value in pairs):
            raise InputError(f"{text!r} is no method: give an id, or one like lasso:lambda1=0.1")
        parameters = {name.strip(): typed_value(value.strip()) for name, _, value in pairs}
        method = cls(id, parameters, allow_imports)
        try:
            canonical_json(method.parameters)
        except (TypeError, ValueError) as error:
            raise InputError(f"{text!r}: give numbers or words, like lasso:lambda1=0.1") from error
        return method

    @classmethod
    def given(cls, what: Any, *, allow_imports: bool = False) -> Method:
        """Take a method, a text, or a selector that is not fitted; who gives a selector allows its class."""
        if isinstance(what, cls):
            return what
        if isinstance(what, str):
            return cls.parse(what, allow_imports=allow_imports)
        if isinstance(what, type) or not hasattr(what, "get_params"):
            raise InputError(Setting("method", what), " is neither an id nor a selector")
        id = id_of(type(what))
        method = cls(id, {}, allow_imports=id not in available_selectors())
        usual, own = method.takes, what.get_params(deep=False)
        changed = {name: value for name, value in own.items() if name in usual and value is not usual[name]}
        return method.having({name: value for name, value in changed.items() if name not in APART})

    def __str__(self) -> str:
        own = sorted(self.parameters.items())
        words = [f"{name}={value if isinstance(value, str) else repr(value)}" for name, value in own]
        return ":".join([self.id, *words])

    @property
    def info(self) -> SelectorInfo:
        """Look it up in the registry."""
        return selector_info(self.id, allow_imports=self.allow_imports)

    @property
    def takes(self) -> dict[str, Any]:
        """Return the parameters of its constructor, with their defaults."""
        return defaults_of(self.id, allow_imports=self.allow_imports)

    @property
    def inside(self) -> list[Method]:
        """List the methods that a parameter of it names."""
        given = self.parameters.get(self.info.inside)
        several = given if self.info.inside == "methods" else [given]
        return [] if given is None else methods_in(several, allow_imports=self.allow_imports)

    def having(self, parameters: Mapping[str, Any]) -> Method:
        """Return the same method with more parameters; selectors among these are named by their ids."""
        known = available_selectors()
        others = any(id not in known for value in parameters.values() for id in _ids_in(value))
        words = {name: _in_words(value) for name, value in parameters.items()}
        return replace(
            self, parameters={**self.parameters, **words}, allow_imports=self.allow_imports or others
        )

    def make(self, more: Mapping[str, Any] | None = None) -> Any:
        """Make the selector, with further parameters."""
        told = {**self.parameters, **(more or {})}
        if self.allow_imports and told.get(self.info.inside) is not None:  # it does not parse texts by itself
            told[self.info.inside] = self.inside if self.info.inside == "methods" else self.inside[0]
        return self.info.make(told)

    def check(self, depth: int = 0) -> None:
        """Raise unless there is such a method, it takes these parameters, and so do the methods inside it.

        Only a selector of ours is made, to check what its parameters are: the code of others has to wait
        until the data were read.
        """
        if depth > DEEPEST:
            raise InputError(f"{self.id} is inside too many other methods: give one that stands alone")
        takes = self.takes
        for name in self.parameters:
            if name in APART and not depth:
                raise InputError(f"{self.id} cannot have ", Setting(name), " of its own: give it apart")
            if name not in takes:
                raise InputError(
                    f"{self.id} does not take ", Setting(name), suggestion(name, list(takes)) or _taken(takes)
                )
        for method in self.inside:
            method.check(depth + 1)
        if self.info.ours:
            _validated(self.make())

    def check_recorded(self) -> None:
        """Refuse parameters that no record of ours holds: other values than numbers, texts and lists."""
        for name, value in self.parameters.items():
            if not _is_plain(value) and not (name == self.info.inside and isinstance(value, Mapping)):
                raise InputError(
                    f"the record gives {self.id} an object as ", Setting(name), ", not numbers or texts"
                )


def methods_in(methods: Any, *, allow_imports: bool = False) -> list[Method]:
    """Read methods from ids, texts with parameters and selectors, or from a mapping of ids to grids.

    >>> [str(one) for one in methods_in({"anova": {}, "lasso": {"lambda1": [0.05, 0.2]}})]
    ['anova', 'lasso:lambda1=0.05', 'lasso:lambda1=0.2']
    """
    if isinstance(methods, Mapping):
        found = list(_from_grids(methods, allow_imports))
    elif isinstance(methods, Iterable):
        several = [methods] if isinstance(methods, str) else methods
        found = [Method.given(one, allow_imports=allow_imports) for one in several]
    else:
        raise InputError(Setting("methods", methods), " is no list of methods, nor a mapping of ids to grids")
    return list(dict.fromkeys(found))


def _from_grids(grids: Mapping[Any, Any], allow_imports: bool) -> Iterator[Method]:
    from sklearn.model_selection import ParameterGrid

    for id, grid in grids.items():
        if not (isinstance(id, str) and isinstance(grid, Mapping)):
            raise InputError(
                Setting("methods"), f" gives no grid of {quoted(id)}: map an id to lists of its parameters"
            )
        values = {name: _several(value) for name, value in grid.items()}
        if prod(len(some) for some in values.values()) > MOST_METHODS:
            raise InputError(Setting("methods"), f" has a grid of {quoted(id)} of more than {MOST_METHODS:,}")
        for parameters in ParameterGrid(values):
            yield Method(id, parameters, allow_imports)


def _ids_in(value: Any) -> Iterator[str]:
    """List the id of a selector, and those of the selectors inside it."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from _ids_in(one)
    elif _is_method(value) and not isinstance(value, Method):
        yield id_of(type(value))
        for one in value.get_params(deep=False).values():
            yield from _ids_in(one)


def _is_method(value: Any) -> bool:
    if isinstance(value, type):
        return False
    return isinstance(value, Method) or (hasattr(value, "get_params") and hasattr(value, "fit"))


def _in_words(value: Any) -> Any:
    """Return a parameter as a record can hold it: a selector inside another by its id and parameters.

    Of several, among which one is chosen, each is told without a number of features of its own.
    """
    if isinstance(value, Method):
        return str(value)
    if isinstance(value, list | tuple) and any(map(_is_method, value)):
        return [str(Method.given(one)) if _is_method(one) else one for one in value]
    if not _is_method(value):
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
    """Make a selector of k features, with everything that follows from the data and not from the user.

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
    takes, parameters = method.takes, dict(method.parameters)
    if kind == "survival" and not takes_survival(method.info.load()):
        raise InputError(
            f"{method.id} does not take times and events: take anova or a linear method, such as lasso"
        )
    if kind == "real" and not method.info.regression:
        raise InputError(f"{method.id} needs classes, but the target is real: take another, such as lasso")
    if takes.get("target") == "auto" and parameters.get("target", "auto") == "auto":
        parameters |= told_target(method.info.load(), kind, parameters)
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
    return _validated(method.make({**parameters, "n_features_to_select": k}))


def takes_survival(selector: Any) -> bool:
    """Return whether the y of a selector, or of its class, may hold times and events."""
    return bool(getattr(selector, "_takes_survival", False))


def told_target(selector: Any, kind: TargetKind, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameter that says what the target is, in a selector's own words, where y is known.

    A part of the samples could look otherwise. The paper's formulation takes classes as numbers.
    """
    if kind == "survival":
        return {}
    constraints = getattr(selector, "_parameter_constraints", {}).get("target", ())
    known = {word for one in constraints for word in getattr(one, "options", ())}
    words = ("real",) if kind == "real" else ("onehot", "classes")
    if kind == "classes" and parameters.get("formulation") == "paper":
        return {}
    return next(({"target": word} for word in words if word in known), {})


def with_groups(selector: Any, groups: Any) -> Any:
    """Tell a selector which columns make one variable; None where each is one of its own."""
    if groups is None:
        return selector
    takes = selector.get_params(deep=False) if hasattr(selector, "get_params") else {}
    if "groups" not in takes:
        raise InputError(
            f"{type(selector).__name__} takes no groups of columns, which categories and missing "
            "values need: make a "
            "feature of each value with ",
            Setting("one_hot", True),
            ", or take another method",
        )
    if takes["groups"] is not None:
        raise InputError(
            Setting("groups"), " cannot be given where the data have categories or missing values"
        )
    return selector.set_params(groups=groups)


def defaults_of(id: str, *, allow_imports: bool = False) -> dict[str, Any]:
    """Return the parameters that a method's constructor takes, and their defaults."""
    info = selector_info(id, allow_imports=allow_imports)
    parameters = inspect.signature(info.load()).parameters.values()
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    takes = {p.name: None if p.default is p.empty else p.default for p in parameters if p.kind in named}
    return {**takes, **info.fixed}


def typed_value(text: str) -> Any:
    """Read a number, True, False, None or a tuple of them where the text is one; else it is a word.

    >>> typed_value("0.1"), typed_value("None"), typed_value("label")
    (0.1, None, 'label')
    """
    if CALLED.search(text) or not all(map(ATOM.fullmatch, re.split(r"[\]\[(),]", text))):
        return text
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def canonical_json(content: Any) -> str:
    """Write one text for one content, whatever the order of its keys; arrays are lists."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_as_list)


def _as_list(value: Any) -> Any:
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars
        return value.tolist()
    raise InputError(f"{value!r} cannot be a parameter here: give numbers, texts or arrays")


def _validated(selector: Any) -> Any:
    """Check the parameters of a selector as scikit-learn's estimators check them."""
    # A selector of somebody's own need not declare what its parameters may be.
    if hasattr(selector, "_validate_params") and hasattr(selector, "_parameter_constraints"):
        try:
            selector._validate_params()
        except ValueError as error:
            raise InputError(str(error)) from error
    return selector


def _is_plain(value: Any, depth: int = 0) -> bool:
    if isinstance(value, Mapping):
        return depth == 0 and all(_is_plain(one, DEEPEST) for pair in value.items() for one in pair)
    if isinstance(value, list | tuple):
        return depth <= DEEPEST and all(_is_plain(one, depth + 1) for one in value)
    return value is None or isinstance(value, bool | int | float | str)


def _several(values: Any) -> list[Any]:
    return [values] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)


def _taken(takes: Mapping[str, Any]) -> str:
    own = [name for name in takes if name not in (*APART, "random_state", "grid_shape")]
    return f"; it takes {', '.join(own)}" if own else "; it takes no parameters"


def plain(value: Any) -> Any:
    """Return a parameter as JSON can hold it: arrays as lists, other objects by their text."""
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
