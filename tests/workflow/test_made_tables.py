"""Right answers on tables of the kinds that people have."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.answers import CASES, answer

MADE = [case for case in CASES if case.table is not None]


@pytest.mark.parametrize("case", MADE, ids=lambda case: case.name)
def test_the_answer_respects_what_is_known(case):
    found = answer(case, Path())
    assert case.check(found), (case.words, found)


def test_every_kind_of_table_is_there():
    assert len(CASES) >= 20 and len(MADE) >= 8
