"""Answers stay what they were, unless a change is meant to change them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.selectors.golden import FILE, answer, cases, key

RECORDED = json.loads(FILE.read_text())


@pytest.mark.parametrize("case", cases(), ids=lambda case: key(*case))
def test_the_answer_is_the_recorded_one(case):
    recorded, found = RECORDED[key(*case)], answer(*case)
    assert found["selected"] == recorded["selected"]
    if recorded["coefficients"] is not None:
        np.testing.assert_allclose(found["coefficients"], recorded["coefficients"], rtol=1e-5, atol=1e-9)


def test_nothing_is_recorded_that_is_not_asked():
    assert set(RECORDED) == {key(*case) for case in cases()}
