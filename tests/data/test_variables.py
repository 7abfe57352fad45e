"""What the columns of ordinary tables become: numbers as people write them, categories, gaps, dates."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from infused.coding import GAP, OTHER, Coder, fewest_rows
from infused.data import DataError, load_data
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
        ("10\u00a0000", ".", 10000),
        ("10.9K", ".", 10900),
        ("€110,5M", ",", 110.5e6),
        ("$1.2B", ".", 1.2e9),
        ("10 kg", ".", 10),
        ("1,234.5 lbs.", ".", 1234.5),
        ("18.9 km/kg", ".", 18.9),
        ("25 °C", ".", 25),
        ("10880.50-", ".", -10880.5),
        ("12A", ".", None),
        ("7B", ".", None),
        ("1.2K3", ".", None),
        ("5 e3 K", ".", None),
        ("12 Elm Street", ".", None),
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
    assert data.notes == (f"'when' holds dates{read}, taken by year, month and weekday",)


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


def test_words_behind_numbers_are_units(tmp_path):
    rng = np.random.default_rng(0)
    numbers = rng.integers(1, 90, (3, 40))
    table = {
        "weight": [f"{v} kg" for v in numbers[0]],
        "views": [f"{v}.5K" for v in numbers[1]],
        "term": [f"{(36, 60)[v % 2]} months" for v in numbers[2]],
        "y": ["u", "v"] * 20,
    }
    table["price"] = [f"{v}\u00a0{v % 9}00" for v in numbers[0]]
    data = written(tmp_path, table)
    assert f"'price' ({table['price'][0].replace(chr(160), ' ')})" in data.notes[0]  # not as an escape
    table.pop("price")
    data = written(tmp_path, table)
    expected = [numbers[0], numbers[1] * 1000 + 500, np.where(numbers[2] % 2, 60, 36)]
    np.testing.assert_array_equal(data.X, np.column_stack(expected))
    assert [one.unit for one in data.origins] == ["kg", "", "month"]
    mixed = {**table, "weight": [f"{v} {('kg', 'g')[v % 2]}" for v in numbers[0]]}
    with pytest.raises(DataError, match="'weight' holds numbers in several units"):
        written(tmp_path, mixed)


def test_few_words_behind_numbers_are_classes_of_a_target(tmp_path):
    data = written(tmp_path, {"a": np.arange(40) % 7, "y": [f"{(36, 60)[j % 2]} months" for j in range(40)]})
    assert data.kind == "classes" and set(data.y) == {"36 months", "60 months"}


@pytest.mark.parametrize("letters", ["ABCDEF", ("Elm", "Oak", "Pine", "Main")])
def test_names_that_begin_with_a_number_are_no_numbers(tmp_path, letters):
    seats = [f"{row} {letter}" for row in range(1, 13) for letter in letters]
    data = written(tmp_path, {"seat": [*seats, *seats], "y": ["u", "v"] * len(seats)}, use="seat")
    assert data.levels == (tuple(sorted(seats)),)


@pytest.mark.parametrize(
    ("style", "zone"), [("%Y-%m-%d %H:%M:%S", "Z"), ("%m/%d/%Y %I:%M %p", ""), ("%d.%m.%Y %H:%M", "")]
)
def test_hours_of_dates_are_kept(tmp_path, style, zone):
    times = pd.date_range("2023-11-20", periods=60, freq="5h")
    data = written(tmp_path, {"when": times.strftime(style) + zone, "y": ["u", "v"] * 30})
    assert data.feature_names[-1] == "when (hour)"
    np.testing.assert_array_equal(data.X[:, -1], times.hour)
    assert data.notes[0].endswith("taken by month, weekday and hour")
    frame = pd.DataFrame({"when": times, "y": ["u", "v"] * 30})
    np.testing.assert_array_equal(load_data(frame, target="y").X, data.X)


def test_a_time_of_day_that_there_is_not_is_no_date(tmp_path):
    times = [f"2023-11-{day:02d} {hour}:00" for day in range(1, 21) for hour in (9, 25)]
    data = written(tmp_path, {"when": times, "a": np.arange(40) % 7, "y": ["u", "v"] * 20})
    assert data.feature_names == ("a",)


def test_numbers_that_may_mean_a_missing_value_are_pointed_out(tmp_path):
    rng = np.random.default_rng(0)
    table = {
        "co": np.where(np.arange(300) % 9 == 0, -200, rng.uniform(0, 12, 300).round(1)),
        "days": np.where(np.arange(300) % 3 > 0, 999, rng.integers(0, 28, 300)),
        "temperature": rng.integers(-20, 35, 300),
        "children": rng.poisson(1.0, 300),
        "dose": rng.choice([0, 100, 200, 300, 400, 500], 300),
        "rating": rng.choice([-1, 1], 300),
        "limited": np.where(np.arange(300) % 4 == 0, 1, rng.choice(np.arange(6) / 40, 300)),
        "road": np.where(np.arange(300) % 4 == 0, 24, rng.integers(1, 9, 300)),
        "y": ["u", "v"] * 150,
    }
    data = written(tmp_path, table)
    assert [note.partition(": ")[0] for note in data.notes] == [
        "-200 stands apart from all other values of 'co'",
        "999 stands apart from all other values of 'days'",
    ]
    assert "use --missing=-200 (missing=['-200'])" in data.notes[0]
    mended = written(tmp_path, table, missing=["-200", "999"])
    assert [note.partition(" ")[2] for note in mended.notes] == [
        "missing values filled by the median in: 'co', 'days'"
    ]


def test_too_many_levels_are_left_out_and_used_with_the_rare_ones_pooled(tmp_path):
    n = 3000
    surnames = [f"name {j // 6 if j < 600 else j}" for j in range(n)]  # 100 of six rows, the rest of one
    table = {
        "country": [f"c{j % 190}" for j in range(n)],
        "surname": surnames,
        "a": np.arange(n) % 7,
        "y": ["u", "v"] * (n // 2),
    }
    data = written(tmp_path, table)
    assert data.feature_names == ("a",)
    assert "too many levels" in data.notes[0] and "'country'" in data.notes[0]
    used = written(tmp_path, table, use=["country", "surname"])
    assert used.feature_names == ("country", "surname", "a")
    first, second, _ = used.coding.variables
    assert len(first.levels) == 190 and not first.pooled
    assert len(second.levels) == 100 and second.pooled and second.pool_column


def test_levels_that_are_all_rare_have_a_bounded_number_of_columns():
    codes = np.repeat(np.arange(3000.0), np.arange(3000) % 3 + 2)
    levels = tuple(f"v{j}" for j in range(3000))
    (variable,) = Coder(("v",), (levels,)).fit(codes[:, None]).variables
    assert len(variable.levels) <= 256


def test_categorical_columns_are_named(tmp_path):
    table = {"kind": list("pqrs") * 10, "a": np.arange(40) % 7, "y": ["u", "v"] * 20}
    assert "categorical column, selected as one feature: 'kind'" in written(tmp_path, table).notes
    table["size"] = list("lmlmm") * 8
    several = "categorical columns, each selected as one feature: 'kind', 'size'"
    assert several in written(tmp_path, table).notes


def test_free_text_is_named_as_such(tmp_path):
    table = {
        "review": [f"the room number {j} was very clean and quiet" for j in range(40)],
        "a": np.arange(40) % 7,
        "y": ["u", "v"] * 20,
    }
    assert "because it is free text" in written(tmp_path, table).notes[0]


def test_rows_that_repeat_others_are_counted(tmp_path):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)), columns=list("abc"))
    table["y"] = ["u", "v"] * 10
    assert written(tmp_path, table).notes == ()
    assert written(tmp_path, pd.concat([table, table[:2]])).notes == (
        "2 rows repeat an earlier one in every feature and the target",
    )
    many = written(tmp_path, pd.concat([table, table[:3]]))  # is said once, as a hint
    assert many.notes == () and many.hints[0].startswith("3 of 23 rows repeat an earlier one")
    other = table[:3].assign(y=["v", "u", "v"])
    assert written(tmp_path, pd.concat([table, other])).notes == ()
