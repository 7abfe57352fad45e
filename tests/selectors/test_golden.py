"""Answers stay what they were, unless a change is meant to change them."""

from __future__ import annotations

import json

import pytest

from infused.selectors.registry import selector_version
from tests.selectors.golden import FILE, VERSIONS, answer, cases, digests, key, same, with_new_versions

RECORDED = json.loads(FILE.read_text())
ANEW = "record it with python -m tests.selectors.golden"


@pytest.mark.parametrize("case", cases(), ids=lambda case: key(*case))
def test_the_answer_is_the_recorded_one(case):
    assert key(*case) in RECORDED, ANEW
    recorded, found = RECORDED[key(*case)], answer(*case)
    assert found["selected"] == recorded["selected"]
    assert same(found, recorded), (found["coefficients"], recorded["coefficients"])


def test_nothing_is_recorded_that_is_not_asked():
    assert set(RECORDED) == {key(*case) for case in cases()}


def test_a_version_has_one_set_of_answers():
    """Who changes what is recorded raises the number of the selector."""
    versions = json.loads(VERSIONS.read_text())
    for id, digest in digests(RECORDED).items():
        assert versions.get(id, {}).get(selector_version(id)) == digest, f"{id}: {ANEW}"


def test_other_answers_under_an_old_number_are_refused():
    changed = {name: dict(answer) for name, answer in RECORDED.items()}
    changed["wine lasso"]["selected"] = changed["wine lasso"]["selected"][::-1]
    with pytest.raises(SystemExit, match="lasso answers otherwise: raise its number"):
        with_new_versions(json.loads(VERSIONS.read_text()), changed)
