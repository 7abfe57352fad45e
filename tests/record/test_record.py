"""The record survives JSON to the last bit, and refuses what it cannot read in one line."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import infused
from infused.exceptions import InfusedError
from infused.record.schema import SCHEMA, RecordError, Request, SelectionRecord
from infused.selectors.method import Method
from tests.record.records import cells_record


def changed(record, **fields):
    content = json.loads(record.to_json())
    for path, value in fields.items():
        *parents, last = path.split("__")
        place = content
        for name in parents:
            place = place[name]
        place[last] = value
    return json.dumps(content)


def test_round_trip_is_exact(record):
    again = SelectionRecord.from_json(record.to_json())
    assert again == record
    assert again.to_json() == record.to_json()
    assert json.loads(record.to_json())["schema"] == SCHEMA == "infused.selection/2"


def test_numbers_keep_their_last_bit_and_their_type(record):
    numbers = (0.1 + 0.2, 5e-324, 1.7976931348623157e308, -0.0, 1.0)
    feature = replace(record.selected[0], coefficients=numbers)
    alone = replace(
        record,
        coefficient_names=tuple("abcde"),
        selected=(feature,),
        redundancy=None,
        coding=record.coding[:1],
    )
    again = SelectionRecord.from_json(alone.to_json()).selected[0].coefficients
    assert [number.hex() for number in again] == [number.hex() for number in numbers]
    for asked in (5, 0.5, 1.0, "auto", None):
        changed_request = replace(record, request=replace(record.request, k=asked))
        back = SelectionRecord.from_json(changed_request.to_json()).request.k
        assert (back, type(back)) == (asked, type(asked))


def test_names_of_every_kind_survive(record):
    names = ["", "é\u2028\u2029", "</script><!--", "a\nb\t\x00", '"\\', "=1+1", "\U0001f9ec"]
    features = replace(record.features, names=tuple(names), scores=(None,) * 7, ranks=tuple(range(1, 8)))
    assert SelectionRecord.from_json(replace(record, features=features).to_json()).features.names == tuple(
        names
    )


def test_parameters_become_plain(record):
    given = {"grid_shape": (8, 8), "a": np.arange(2), "b": np.float64(0.5), "estimator": object}
    request = replace(record.request, method=Method("lasso", given)).recorded()
    text = request.method.parameters.pop("estimator")
    assert isinstance(text, str)
    assert request.method.parameters == {"grid_shape": [8, 8], "a": [0, 1], "b": 0.5}
    assert SelectionRecord.from_json(replace(record, request=request).to_json()).request == request


def test_what_is_not_a_number_is_never_written(record):
    feature = replace(record.selected[0], score=float("nan"))
    with pytest.raises(ValueError):
        replace(record, selected=(feature,)).to_json()


def test_a_newer_schema_is_refused(record):
    with pytest.raises(RecordError, match=r"newer infused \(infused.selection/3\).*upgrade") as caught:
        SelectionRecord.from_json(changed(record, schema="infused.selection/3"))
    assert isinstance(caught.value, InfusedError)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"schema": "other/1"}, "no record of a selection"),
        ({"schema": None}, "no record of a selection"),
        (
            {"schema": "infused.selection/1"},
            "reads infused.selection/2, not infused.selection/1: select again",
        ),
        ({"data__n_samples": "many"}, "data.n_samples should be a whole number"),
        ({"data__n_samples": True}, "data.n_samples should be a whole number"),
        ({"data__grid_shape": [8]}, "data.grid_shape should be a list of 2"),
        ({"data__classes": [{"name": "a"}]}, r"data.classes\[0\].count is missing"),
        ({"timings": [1]}, "timings should be an object"),
        ({"timings": {"select": float("inf")}}, "timings.select should be a finite number"),
        ({"selected": {}}, "selected should be a list"),
        ({"surprise": 1}, "surprise is not known"),
        ({"request": None}, "request should be an object"),
    ],
)
def test_damage_is_named_in_one_line(record, fields, message):
    with pytest.raises(RecordError, match=message) as caught:
        SelectionRecord.from_json(changed(record, **fields))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '{"schema": 1}'])
def test_other_text_is_refused(text):
    with pytest.raises(RecordError):
        SelectionRecord.from_json(text)


def test_a_request_says_what_it_needs():
    with pytest.raises(TypeError):
        Request("data.csv")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("distributions", 0, "counts"), [[1, 2]]),
        (("features", "ranks"), [1]),
        (("selected", 0, "index"), 10**6),
        (("redundancy", "matrix"), [[1.0], [0.5]]),
        (("data", "grid_shape"), [3, -1]),
        (("versions", "numpy"), 10**400),
        (("timings",), {"fit": 10**400}),
    ],
)
def test_fields_that_contradict_each_other_are_named(place, value):
    tree = json.loads(cells_record().to_json())
    inner = tree
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    with pytest.raises(RecordError, match="damaged") as caught:
        SelectionRecord.from_json(json.dumps(tree))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["[" * 200_000, '{"schema": ' * 100_000, "1" * 5000])
def test_brackets_and_digits_without_end_are_no_record(text):
    with pytest.raises(RecordError):
        SelectionRecord.from_json(text)


@cache
def chosen_record():
    """One whose method and number were chosen, and that was looked at again."""
    return infused.select("wine", method="auto", methods=["anova", "random"], k="auto", stability=2).record


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 1e308, -1e308, "\udc80"])
@pytest.mark.parametrize(
    "place",
    [
        ("selected", 0, "alone"),
        ("selected", 0, "unique"),
        ("selected", 0, "wins"),
        ("selected", 0, "name"),
        ("features", "names", 0),
        ("data", "name"),
        ("redundancy", "threshold"),
        ("stability", "threshold"),
        ("stability", "frequencies", 0),
        ("shadows", "by_chance"),
        ("number", "means", 0),
        ("number", "errors", 0),
        ("number", "chance"),
        ("number", "all_features"),
        ("tried", 0, "score"),
        ("tried", 0, "error"),
        ("coding", 0, "origin", "decimal"),
        ("coding", 0, "origin", "how"),
    ],
    ids=str,
)
def test_figures_and_texts_that_nothing_can_show_are_refused(place, value):
    refused(chosen_record(), place, value)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("number", "chosen"), -1),
        (("number", "best"), 10**6),
        (("number", "scoring"), ""),
        (("stability", "frequencies"), []),
        (("redundancy", "matrix"), []),
        (("tried", 0, "n_features"), None),
        (("request", "method", "parameters", "cv"), float("inf")),
        (("request", "method", "parameters", "\udc80"), 1),
    ],
    ids=str,
)
def test_fields_of_a_choice_that_do_not_fit_are_refused(place, value):
    refused(chosen_record(), place, value)


def refused(record, place, value):
    tree = json.loads(record.to_json())
    inner = tree
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    with pytest.raises(RecordError, match="damaged") as caught:
        SelectionRecord.from_json(json.dumps(tree))
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("keep", [True, 3, 1.5, "proline", ["proline"], None])
def test_what_a_method_keeps_may_be_of_any_type(keep):
    """A selector of another package may mean something else by it."""
    record = chosen_record()
    method = replace(record.request.method, parameters={"keep": keep})
    assert infused.Selection(replace(record, request=replace(record.request, method=method))).report()


def test_objectives_at_the_end_of_the_range_are_drawn():
    record = cells_record()
    assert record.convergence is not None
    path = {"path_iterations": (1, 2, 3, 4), "path_objective": (1e308, -1e308, 5e-324, 0.0)}
    page = infused.Selection(replace(record, convergence=replace(record.convergence, **path))).report()
    assert "Distance to the final objective" in page
