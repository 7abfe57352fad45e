"""Which options a method takes, and what they are called in Python."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from infused._runtime.literals import typed_value
from infused.cli.errors import CommandError

__all__ = ["OWN_OPTIONS", "defaults_of", "method_parameters", "recorded_parameters", "spelled"]

#: Parameters that have an option of their own in the command line.
OWN_OPTIONS = {
    "n_features_to_select": "-k",
    "lambda1": "--lambda1",
    "lambda2": "--lambda2",
    "lambda3": "--lambda3",
    "formulation": "--formulation",
    "fusion": "--fusion",
    "grid_shape": "--grid",
    "random_state": "--seed",
    "n_jobs": "--jobs",
}
#: What the command line takes for every method, whether the method needs it or not.
COMMON = ("n_features_to_select", "grid_shape", "random_state", "n_jobs")


def defaults_of(method: str) -> dict[str, Any]:
    """The parameters that a method's constructor takes, and their defaults."""
    from infused.selectors.registry import selector_info

    parameters = inspect.signature(selector_info(method).load()).parameters.values()
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {p.name: None if p.default is p.empty else p.default for p in parameters if p.kind in named}


def method_parameters(method: str, options: Mapping[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """The parameters that options and ``--set`` give; an error for one that the method does not take."""
    takes = defaults_of(method)
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in takes:
            raise CommandError(f"{method} does not take {spelled(name)}: {_what_it_takes(takes)}")
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not (name and equals):
            raise CommandError(f"--set {setting!r}: give a name and a value, like n_bins=10")
        if name in OWN_OPTIONS:
            raise CommandError(f"--set {setting!r}: use {OWN_OPTIONS[name]} instead")
        if name not in takes:
            raise CommandError(f"{method} does not take {name!r}: {_what_it_takes(takes)}")
        given[name] = typed_value(text)
    return given


def recorded_parameters(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of the method, so that a rerun does not depend on defaults that may change.

    The number of threads is left out: it belongs to the machine, and does not change the result.
    """
    every = {**defaults_of(method), **given}
    return {name: value for name, value in every.items() if name not in ("n_features_to_select", "n_jobs")}


def spelled(name: str) -> str:
    """A parameter as the command line spells it."""
    return OWN_OPTIONS.get(name, f"--set {name}=...")


def _what_it_takes(takes: Mapping[str, Any]) -> str:
    own = [spelled(name) for name in takes if name not in COMMON]
    return f"it takes {', '.join(own)}" if own else "it takes no parameters"
