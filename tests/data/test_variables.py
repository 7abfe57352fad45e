"""What the columns of ordinary tables become: numbers as people write them, categories, gaps, dates."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from infused.coding import GAP, OTHER, Coder, fewest_rows
from infused.data import load_data
from infused.data.written import number


@pytest.mark.parametrize(
    ("text", "decimal", "value"),
    [
        ("$24,000", ".", 24000),
        ("24.000,50 €", ",", 24000.5),
        ("1 234,5", ",", 1234.5),
        ("1'000", ".", 1000),
        ("15.3%", ".", 15.3),
        ("(1,200)", ".", -1200),
        ("- 5", ".", -5),
        ("\u22125", ".", -5),
        ("USD 7", ".", 7),
        ("-1e-3", ".", -0.001),
        ("1,23", ".", None),
        ("12,3456", ".", None),
        ("4o", ".", None),
        ("$", ".", None),
        ("", ".", None),
    ],
)
def test_numbers_as_people_write_them(text, decimal, value):
    assert number(text, decimal) == value


def written(tmp_path, columns, **options):
    path = tmp_path / "t.csv"
    pd.DataFrame(columns).to_csv(path, index=False, sep=options.pop("sep", ","))
    return load_data(path, target="y", **options)


def test_tables_in_other_dialects_hold_the_same_numbers(tmp_path):
    rng = np.random.default_rng(0)
    a, b = rng.integers(1_000, 99_999, 40), rng.integers(0, 1000, 40) / 10
    y = rng.integers(20_000, 90_000, 40)
    us = written(
        tmp_path, {"a": [f"{v:,}" for v in a], "b": [f"{v}%" for v in b], "y": [f"${v:,}" for v in y]}
    )
    comma = [f"{v:.2f}".replace(".", ",") for v in b]
    eu = {"a": [f"{v:,}".replace(",", ".") + ",00" for v in a], "b": comma, "y": [f"{v},00" for v in y]}
    for data in (us, written(tmp_path, eu, sep=";")):
        np.testing.assert_array_equal(data.X, np.column_stack([a, b]))
        np.testing.assert_array_equal(data.y, y)
        assert data.kind == "real" and data.plain
    assert us.notes == ("texts read as numbers: 'a' (" + f"{a[0]:,}" + "), 'b' (" + f"{b[0]}" + "%)",)


def test_spellings_of_gaps_among_numbers(tmp_path):
    cells = [" ?", "n/a", "-", "unknown", "#DIV/0!", "none", *map(str, range(20))]
    data = written(tmp_path, {"a": cells, "y": ["u", "v"] * 13})
    np.testing.assert_array_equal(data.X[:, 0], [np.nan] * 6 + list(range(20)))


def test_texts_that_the_user_calls_missing(tmp_path):
    table = {"a": ["low", *map(str, range(19))], "b": [-999, *range(30, 11, -1)], "y": ["u", "v"] * 10}
    data = written(tmp_path, table, missing=["low", "-999"])
    assert np.isnan(data.X[0]).all() and not np.isnan(data.X[1:]).any()


@pytest.mark.parametrize("cells", [["0", "1", "2", "3+"] * 5, ["01234", "05678", "09876", "04321"] * 5])
def test_levels_that_look_like_numbers(tmp_path, cells):
    pd.DataFrame({"a": cells, "y": ["u", "v"] * 10}).to_parquet(tmp_path / "t.parquet")
    assert load_data(tmp_path / "t.parquet", target="y").levels == (tuple(sorted(set(cells))),)


def test_codes_as_categories(tmp_path):
    table = {"zip": [101, 202, 303, 101] * 5, "y": ["u", "v"] * 10}
    assert written(tmp_path, table).levels is None
    assert written(tmp_path, table, as_category="zip").levels == (("101", "202", "303"),)


@pytest.mark.parametrize(
    ("style", "read"),
    [
        ("%Y-%m-%d", ""),
        ("%Y/%m/%d", ", read year first"),
        ("%d.%m.%Y", ", read day first"),
        ("%m/%d/%Y", ", read month first"),
        ("%d %b %Y", ", read day first"),
    ],
)
def test_dates_become_parts(tmp_path, style, read):
    days = pd.date_range("2023-11-20", periods=60, freq="3D")
    data = written(tmp_path, {"when": days.strftime(style), "y": ["u", "v"] * 30})
    assert data.feature_names == ("when (year)", "when (month)", "when (weekday)")
    np.testing.assert_array_equal(data.X, np.column_stack([days.year, days.month, days.day_of_week + 1]))
    assert data.notes == (f"'when' holds dates{read}, taken by year and month and weekday",)


def test_what_tells_rows_apart_is_left_out(tmp_path):
    table = {
        "id": range(100, 140),
        "name": [f"person {j // 2 * (j % 3)} {j}" for j in range(40)],
        "model": [f"m{j % 25}" for j in range(40)],
        "empty": [None] * 40,
        "a": np.arange(40) % 7,
        "y": ["u", "v"] * 20,
    }
    data = written(tmp_path, table)
    assert data.feature_names == ("a",)
    assert data.notes == (
        "left out, because nearly every row has a text of its own: 'name', 'model'",
        "left out, because every value is missing: 'empty'",
        "left out as an identifier, because every row has its own value: 'id'",
    )
    assert written(tmp_path, table, use=["model", "id"]).feature_names == ("id", "model", "a")


def test_rows_without_a_target_are_left_out(tmp_path):
    data = written(
        tmp_path, {"a": range(10, 0, -1), "y": ["u", None, "v", "NA", "u", "v", "u", "v", "u", "v"]}
    )
    assert data.y.tolist() == ["u", "v", "u", "v", "u", "v", "u", "v"] and data.X[1, 0] == 8
    assert data.notes[0] == "left out 2 rows without a value of the target 'y'"


def columns(values, levels, n_train=None):
    coder = Coder(("v",), (levels,) if levels else None)
    X = np.array(values, dtype=float)[:, None]
    coding = coder.fit(X[:n_train])
    return coding.variables[0], coding.apply(X)


def test_a_category_has_a_column_for_each_level():
    one, coded = columns([0, 1, 2, 0, 1, 2] * 3, ("a", "b", "c"))
    assert one.outcomes == ("a", "b", "c") and not one.pooled
    np.testing.assert_array_equal(coded.F[:3], np.eye(3))
    assert coded.groups.tolist() == [0, 0, 0] and not coded.numeric.any()
    _, two = columns([0, 1] * 9, ("a", "b"))
    np.testing.assert_array_equal(two.F[:, 0], [0, 1] * 9)
    assert two.groups is None


def test_rare_levels_are_pooled_and_gaps_are_a_level():
    values = [0] * 30 + [1] * 30 + [2] * 3 + [3] * 3 + [np.nan] * 20
    one, coded = columns(values, ("a", "b", "c", "d"))
    assert fewest_rows(len(values)) == 5
    assert one.outcomes == ("a", "b", OTHER, GAP) and one.rare == ("c", "d")
    assert coded.F.sum(axis=0).tolist() == [30, 30, 6, 20] and coded.F.sum(axis=1).tolist() == [1] * 86


def test_a_pool_that_is_rare_itself_has_no_column():
    one, coded = columns([0] * 30 + [1] * 30 + [2] + [np.nan] * 20, ("a", "b", "c"))
    assert one.outcomes == ("a", "b", OTHER, GAP)
    assert coded.F.sum(axis=0).tolist() == [30, 30, 20]


def test_levels_that_training_lacks():
    values = [0] * 20 + [1] * 20 + [2] * 3 + [3] * 2 + [4] * 5 + [np.nan]
    pooled, coded = columns(values, ("a", "b", "c", "d", "e"), n_train=45)
    assert pooled.outcomes == ("a", "b", OTHER)
    np.testing.assert_array_equal(coded.F[45:], [[0, 0, 1]] * 6)
    plain, coded = columns([0, 1, 2] * 10 + [3, np.nan], ("a", "b", "c", "d"), n_train=30)
    assert plain.outcomes == ("a", "b", "c")
    np.testing.assert_array_equal(coded.F[30:], np.zeros((2, 3)))


def test_gaps_are_filled_from_training_rows_and_told_where_many():
    values = [1.0, 2.0, 6.0, np.nan, *[1.0] * 3, 100.0]
    one, coded = columns(values, None, n_train=4)
    assert one.fill == 2 and one.indicator
    np.testing.assert_array_equal(coded.F[3:5], [[2, 1], [1, 0]])
    assert coded.groups.tolist() == [0, 0] and coded.numeric.tolist() == [True, False]
    few, coded = columns([np.nan, *range(40)], None)
    assert not few.indicator and coded.groups is None and coded.F[0, 0] == 19.5


def test_fingerprints_tell_levels_and_fillings_apart(tmp_path):
    table = {"t": ["a", "b", "c", "a"] * 5, "n": [None, *range(19)], "y": ["u", "v"] * 10}
    marks = {written(tmp_path, table, impute=how).fingerprint for how in ("mean", "median")}
    renamed = {**table, "t": ["a", "b", "d", "a"] * 5}
    marks.add(written(tmp_path, renamed).fingerprint)
    assert len(marks) == 3
