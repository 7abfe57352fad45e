"""Docstrings to scikit-learn's standard: numpydoc validates them, and they say what the code does."""

from __future__ import annotations

import doctest
import importlib
import inspect
import sys
from functools import cache, cached_property

import numpy as np
import pandas as pd
import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

from infused.selectors.base import documented
from infused.selectors.linear.path import RegularizationPath
from infused.selectors.registry import available_selectors, selector_info

EXCLUDED = {
    "ES01",  # no extended summary: a line or a formula is often enough
    "RT02",  # a name beside the type: ``self : object`` is scikit-learn's way
}
# As in scikit-learn: what a method goes with, and how it is used, is shown by its class.
EXCLUDED_OF_METHODS = EXCLUDED | {"SA01", "EX01"}

SPACES = ("infused", "infused.data", "infused.report", "infused.bench", "infused.exceptions")
MODULES = ("bench", "data", "exceptions", "report")  # their names are listed by themselves
PUBLIC = [
    f"{space}.{name}"
    for space in SPACES
    for name in importlib.import_module(space).__all__
    if not (space == "infused" and name in MODULES)
]
OURS = [id for id in available_selectors() if selector_info(id).where.startswith("infused.")]


def found(name):
    space, _, last = name.rpartition(".")
    return getattr(importlib.import_module(space), last)


def path_of(thing):
    return f"{thing.__module__}.{thing.__qualname__}"


def own_members(cls):
    """Public methods and properties that are written in this package, with the path of each."""
    kinds = (classmethod, staticmethod, property, cached_property)
    for name, value in inspect.getmembers_static(cls):
        owner = next(kind for kind in cls.__mro__ if name in vars(kind))
        ours = owner.__module__.startswith("infused") and not name.startswith("_")
        if ours and (inspect.isfunction(value) or isinstance(value, kinds)):
            yield f"{path_of(owner)}.{name}", getattr(cls, name)


def documented_parts(thing):
    """The thing itself and, of a class, its members."""
    return [(path_of(thing), thing), *(own_members(thing) if inspect.isclass(thing) else ())]


def takes_inherited_message(thing):
    """An error that is made as the error above it is, where its parameters are described."""
    return inspect.isclass(thing) and issubclass(thing, Exception) and "__init__" not in vars(thing)


@cache
def complaints(path, excluded):
    return tuple(f"{path}: {code} {text}" for code, text in validate(path)["errors"] if code not in excluded)


def all_complaints(thing):
    excluded = EXCLUDED | ({"PR01"} if takes_inherited_message(thing) else set())
    lines = list(complaints(path_of(thing), frozenset(excluded)))
    for path, _ in documented_parts(thing)[1:]:
        lines += complaints(path, frozenset(EXCLUDED_OF_METHODS))
    return lines


@pytest.mark.parametrize("name", PUBLIC)
def test_numpydoc_finds_nothing_wrong_with_a_public_name(name):
    assert not all_complaints(found(name))


@pytest.mark.parametrize("id", OURS)
def test_numpydoc_finds_nothing_wrong_with_a_selector(id):
    assert not all_complaints(selector_info(id).load())


def test_numpydoc_finds_nothing_wrong_with_a_path():
    assert not all_complaints(RegularizationPath)


def stated_defaults(thing):
    """The defaults that a docstring states, by parameter; its names are those of the module."""
    names = vars(sys.modules[thing.__module__])
    for parameter in NumpyDocString(inspect.getdoc(thing))["Parameters"]:
        _, stated, text = parameter.type.partition("default=")
        for name in parameter.name.split(", "):
            yield name.lstrip("*"), eval(text, names) if stated else inspect.Parameter.empty


def differing_defaults(path, thing):
    if not callable(thing) or takes_inherited_message(thing):
        return
    stated = dict(stated_defaults(thing))
    for name, parameter in inspect.signature(thing).parameters.items():
        # A function has no literal: there words say what is done by default.
        literal = parameter.default is parameter.empty or not callable(parameter.default)
        if name != "self" and literal and stated[name] != parameter.default:
            yield f"{path}: {name}={parameter.default!r}, but {stated[name]!r} is stated"


@pytest.mark.parametrize("name", PUBLIC)
def test_stated_defaults_are_those_of_the_signature(name):
    assert not [line for part in documented_parts(found(name)) for line in differing_defaults(*part)]


@pytest.mark.parametrize("id", OURS)
def test_stated_defaults_are_those_of_the_constructor(id):
    kind = selector_info(id).load()
    assert set(dict(stated_defaults(kind))) == set(kind().get_params())
    assert not list(differing_defaults(path_of(kind), kind))


@pytest.mark.parametrize("id", OURS)
def test_a_selector_has_the_attributes_that_it_describes(id):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(30, 6)), columns=list("abcdef"))
    selector = selector_info(id).load()(n_features_to_select=2).fit(X, np.arange(30) % 3)
    described = {attribute.name for attribute in NumpyDocString(inspect.getdoc(selector))["Attributes"]}
    # of the paper's formulation, of groups, of "auto", of categories, of blocks
    where_asked_for = {"lambda3_limit_", "group_names_", "number_curve_", "coef_names_", "block_factors_"}
    set_by_fit = {name for name in vars(selector) if name.endswith("_") and not name.startswith("_")}
    assert described - where_asked_for == set_by_fit


@pytest.mark.parametrize("id", OURS)
def test_a_selector_says_what_it_computes(id):
    doc = inspect.getdoc(selector_info(id).load())
    assert ":math:" in doc or ".. math::" in doc
    assert "%(" not in doc  # no placeholder is left


@cache
def names_of_examples(module):
    return {test.name for test in doctest.DocTestFinder().find(sys.modules[module]) if test.examples}


def module_of(path):
    while path not in sys.modules:
        path = path.rpartition(".")[0]
    return path


@pytest.mark.parametrize("name", PUBLIC)
def test_every_example_is_run(name):  # by test_package, module by module
    for path, part in documented_parts(found(name)):
        if ">>>" in inspect.getdoc(part):
            assert path in names_of_examples(module_of(path))


class Described:
    """A base.

    Parameters
    ----------
    a : int
        First.

    Attributes
    ----------
    a_ : int
        Fitted.

    Notes
    -----
    b : no parameter
    """


def test_placeholders_take_what_a_base_says_and_the_indentation_of_their_line():
    @documented()
    class Own(Described):
        """Own.

        %(a)s
          %(attributes)s
        """

    assert inspect.getdoc(Own) == "Own.\n\na : int\n    First.\n  a_ : int\n      Fitted."


def test_an_unknown_placeholder_fails_where_the_class_is_made():
    for name in ("lambda9", "b"):
        with pytest.raises(KeyError, match=name):
            documented(Described)(type("Wrong", (), {"__doc__": f"%(a)s\n%({name})s\n"}))


def test_a_class_without_a_docstring_stays_so():  # as all do under python -OO
    class Bare:
        pass

    assert documented()(Bare) is Bare
    assert Bare.__doc__ is None
