"""Frozen dataclasses as plain JSON values, and back with every field checked against its type."""

from __future__ import annotations

import dataclasses
import types
from functools import cache
from math import isfinite
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

__all__ = ["decode", "encode"]

Record = TypeVar("Record")
SCALARS = {int: "a whole number", float: "a finite number", str: "text", bool: "true or false"}

LARGEST = 2**63  # no count is beyond

_fields = cache(get_type_hints)


def encode(value: Any) -> Any:
    """A dataclass tree as dictionaries and lists."""
    if dataclasses.is_dataclass(value):
        return {field.name: encode(getattr(value, field.name)) for field in _recorded(value)}
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    return value


def decode(kind: type[Record], value: Any, where: str = "") -> Record:
    """The inverse of :func:`encode`; a ValueError names the place where a value does not fit its type."""
    result: Record = _decode(kind, value, where)
    return result


def _decode(kind: Any, value: Any, where: str) -> Any:
    if kind is Any:
        return value
    if kind in SCALARS:
        return _scalar(kind, value, where)
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind, value, where)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _one_of(inner, value, where)
    if origin is tuple:
        return _tuple(inner, value, where)
    if origin is dict:
        _require(isinstance(value, dict), where, "an object")
        return {key: _decode(inner[1], item, f"{where}.{key}") for key, item in value.items()}
    raise TypeError(f"{where}: {kind!r} is no type of a record")


def _scalar(kind: Any, value: Any, where: str) -> Any:
    if type(value) is int:
        _require(abs(value) < LARGEST, where, "a number in the range of computers")
    if kind is float and type(value) is int:
        return float(value)
    _require(type(value) is kind and (kind is not float or isfinite(value)), where, SCALARS[kind])
    return value


def _dataclass(kind: Any, value: Any, where: str) -> Any:
    _require(isinstance(value, dict), where, "an object")
    hints = {field.name: _fields(kind)[field.name] for field in _recorded(kind)}
    inside = f"{where}." if where else ""
    for name in value.keys() - hints.keys():
        raise ValueError(f"{inside}{name} is not known")
    # What has a default may be absent: it was added after the text was written.
    needed = {field.name for field in _recorded(kind) if _has_no_default(field)}
    for name in needed - value.keys():
        raise ValueError(f"{inside}{name} is missing")
    return kind(**{name: _decode(hints[name], item, f"{inside}{name}") for name, item in value.items()})


def _recorded(kind: Any) -> list[dataclasses.Field[Any]]:
    """The fields that a record holds; the others belong to the process."""
    return [field for field in dataclasses.fields(kind) if field.metadata.get("recorded", True)]


def _has_no_default(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return field.default is missing and field.default_factory is missing


def _one_of(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and types.NoneType in kinds:
        return None
    others = [kind for kind in kinds if kind is not types.NoneType]
    # A whole number fits float too, so the exact type goes first.
    chosen = type(value) if type(value) in others else others[-1]
    return _decode(chosen, value, where)


def _tuple(inner: tuple[Any, ...], value: Any, where: str) -> Any:
    _require(isinstance(value, list), where, "a list")
    if inner[-1] is Ellipsis:
        return tuple(_decode(inner[0], item, f"{where}[{n}]") for n, item in enumerate(value))
    _require(len(value) == len(inner), where, f"a list of {len(inner)}")
    return tuple(
        _decode(kind, item, f"{where}[{n}]") for n, (kind, item) in enumerate(zip(inner, value, strict=True))
    )


def _require(holds: bool, where: str, wanted: str) -> None:
    if not holds:
        raise ValueError(f"{where or 'the file'} should be {wanted}")
