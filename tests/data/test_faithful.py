"""What is read equals what was written, in every type and format, or is refused with what decides."""

from __future__ import annotations

import json
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.io
import scipy.sparse as sp
from pyarrow import parquet

import infused
from infused import open_columns
from infused.data import DataError, load_data
from infused.data.written import date_formats, unit_of
from infused.exceptions import InputError
from infused.workflow import Selection
from tests.data.writers import COLUMNS, decimals, framed

BIG = 2**53 + 1  # float64 has no odd whole numbers from here on
WHOLE = [BIG, BIG + 1, BIG + 2] * 4
WITH_GAP = [*WHOLE[:-1], None]
LONG = [10**30 + j for j in (1, 2, 3)] * 4
CLOSE = [Decimal(f"0.1234567890123456789{j}") for j in (1, 2, 3)] * 4
OTHER = [j * 0.5 for j in range(12)]
KINDS = ["x", "y"] * 6
X = np.array(OTHER)[:, None]


every_column = pytest.mark.parametrize("make", COLUMNS.values(), ids=COLUMNS.keys())


def refused(source, *words, **options):
    with pytest.raises(InputError) as caught:
        load_data(source, **{"target": "y"} | options)
    assert len(str(caught.value).splitlines()) == 1
    for word in words:
        assert word in str(caught.value), str(caught.value)


@every_column
def test_large_whole_numbers_as_a_feature(make):
    frame = framed(make(WHOLE), b=OTHER, y=KINDS)
    refused(frame, "'a'", "whole numbers beyond 2^53", "use=['a']", "drop=['a']")
    assert load_data(frame, target="y", use="a").X[:, 0].tolist() == [float(v) for v in WHOLE]
    small = load_data(framed(make([1, 2, 3] * 4), b=OTHER, y=KINDS), target="y")
    assert small.X[:, 0].tolist() == [1, 2, 3] * 4


@every_column
def test_large_whole_numbers_as_labels(make):
    found = load_data(framed(make(WHOLE), b=OTHER), target="a")
    assert found.y.tolist() == WHOLE and found.kind == "classes"


@every_column
def test_labels_stay_apart_where_one_is_missing(make):
    if make is COLUMNS["int64"]:
        pytest.skip("there are no gaps in it")
    found = load_data(framed(make(WITH_GAP), b=OTHER), target="a")
    assert found.y.tolist() == WHOLE[:-1]
    assert found.notes == ("left out 1 row without a value of the target 'a'",)


@every_column
def test_large_whole_numbers_as_codes(make):
    found = load_data(framed(make(WHOLE), b=OTHER, y=KINDS), target="y", as_category="a")
    assert found.levels == (tuple(map(str, WHOLE[:3])), None)


@every_column
def test_measured_targets_are_not_rounded(make):
    """Forty different ones are measured values, unless somebody says otherwise."""
    frame = framed(make([BIG + 2 * j for j in range(40)]), b=[j % 7 for j in range(40)])
    refused(frame, "the target 'a'", "whole numbers beyond 2^53", "task='classification'", target="a")


@pytest.mark.parametrize("make", [pl.Series, pa.array, lambda v: pd.Series(v, dtype=object)])
def test_a_series_as_labels(make):
    assert load_data((X, make(WHOLE))).y.tolist() == WHOLE
    assert load_data((X, make(WITH_GAP))).y.tolist() == WHOLE[:-1]
    assert load_data((X, make(decimals(WITH_GAP)))).y.tolist() == WHOLE[:-1]


def test_labels_beyond_64_bits():
    for y in (
        pd.Series(LONG, dtype=object),
        pa.array(decimals(LONG)),
        pl.Series(LONG, dtype=pl.Int128),
        pl.Series(decimals(LONG)),
    ):
        assert load_data((X, y)).y.tolist() == [str(v) for v in LONG]


def test_masked_whole_numbers():
    masked = np.ma.masked_array(WHOLE, [False] * 11 + [True])
    assert load_data((X, masked)).y.tolist() == WHOLE[:-1]
    refused((masked[:, None], KINDS), "X of the pair", "2^53", target=None)
    few = np.ma.masked_array([[3], [5], [9]] * 4, [[False]] * 11 + [[True]])
    np.testing.assert_array_equal(load_data((few, KINDS)).X[:, 0], [3, 5, 9] * 3 + [3, 5, np.nan])


def test_several_targets_are_not_rounded():
    refused((X, pd.DataFrame({"a": WHOLE, "b": OTHER})), "'a'", "2^53", target=None)
    y = pd.DataFrame({"a": pd.array([1, None, 3] * 4, dtype="Int64"), "b": OTHER})
    assert load_data((X, y)).y.shape == (8, 2)


@pytest.mark.parametrize(
    "make",
    [
        lambda v: pa.array(v, pa.decimal128(30, 22)),
        lambda v: pa.array(v, pa.decimal256(60, 22)),
        lambda v: pl.Series(v),
        lambda v: pd.Series(v, dtype=object),
    ],
)
def test_decimals_that_float64_cannot_tell_apart(make):
    refused(
        framed(make(CLOSE), b=OTHER, y=KINDS), "'a'", "decimals that float64 cannot tell apart", "use=['a']"
    )
    refused(framed(make(CLOSE), b=OTHER), "the target 'a'", "cannot tell apart", target="a")


def test_large_decimals_with_fractions_are_no_whole_labels():
    halves = [Decimal(BIG) + Decimal("0.5"), Decimal(BIG)] * 6
    refused(pa.table({"a": halves, "b": OTHER}), "the target 'a'", "2^53", target="a")


@pytest.mark.parametrize("scale", [1, 2, 4, 10])
def test_decimals_are_the_nearest_floats(scale):
    """pyarrow's own cast of 0.1, as a decimal, is 0.1 and one unit in the last place."""
    random = np.random.default_rng(scale)
    values = [Decimal(int(n)).scaleb(-scale) for n in random.integers(-(10**9), 10**9, 400)]
    for column in (pa.array(values), pl.Series(values), pd.Series(values, dtype=object)):
        found = load_data(framed(column, y=["u", "v"] * 200), target="y")
        assert found.X[:, 0].tolist() == [float(v) for v in values]
        assert load_data(framed(column, b=range(400)), target="a", use="b").y.tolist() == [
            float(v) for v in values
        ]


def csv(values, **options):
    lines = ["a;b;y", *(f"{a};{j % 5};{kind}" for j, (a, kind) in enumerate(zip(values, KINDS, strict=True)))]
    return ".csv", "\n".join(lines).encode(), options


def json_lines(values):
    rows = ({"a": a, "b": j % 5, "y": kind} for j, (a, kind) in enumerate(zip(values, KINDS, strict=True)))
    return ".jsonl", "\n".join(json.dumps(row) for row in rows).encode(), {}


def arff(values, kind="numeric"):
    head = f"@relation t\n@attribute a {kind}\n@attribute b numeric\n@attribute y {{x, y}}\n@data\n"
    rows = (f"{a},{j % 5},{kind}" for j, (a, kind) in enumerate(zip(values, KINDS, strict=True)))
    return ".arff", (head + "\n".join(rows)).encode(), {}


def sheet(values):
    return ".xlsx", pd.DataFrame({"a": values, "b": [j % 5 for j in range(12)], "y": KINDS}), {}


def stored(tmp_path, suffix, content, options):
    path = tmp_path / f"t{suffix}"
    if isinstance(content, pd.DataFrame):
        content.to_excel(path, index=False)
    else:
        path.write_bytes(content)
    return path, options


@pytest.mark.parametrize("values", [WHOLE, LONG, [BIG, 1.5, 7] * 4, [BIG, "", 7] * 4], ids=str)
@pytest.mark.parametrize("write", [csv, json_lines, arff, sheet])
def test_large_whole_numbers_in_text_files(tmp_path, write, values):
    values = [None if v == "" else v for v in values] if write in (json_lines, sheet) else values
    values = ["?" if v == "" else v for v in values] if write is arff else values
    if write is sheet:
        values = [str(v) if v is not None else v for v in values]  # a spreadsheet has floats
    path, options = stored(tmp_path, *write(values))
    refused(path, "'a'", "whole numbers beyond 2^53", "use=['a']", **options)
    assert load_data(path, target="y", use="a", **options).n_features == 2


def test_large_fractions_in_text_files_are_floats(tmp_path):
    values = ["1e20", "123456789012345678.5", "1.5e300", "-2e17", "9007199254740992", "7"] * 2
    path, options = stored(tmp_path, *csv(values))
    assert load_data(path, target="y", **options).X[:, 0].tolist() == [float(v) for v in values]


@pytest.mark.parametrize("write", [json_lines, arff])
def test_labels_that_lost_digits_are_refused(tmp_path, write):
    path, _ = stored(tmp_path, *write(LONG))
    refused(path, "the target 'a'", "beyond 2^53", target="a")


def test_nominal_attributes_of_large_numbers_stay_apart(tmp_path):
    path, _ = stored(tmp_path, *arff(WHOLE, "{" + ",".join(map(str, WHOLE[:3])) + "}"))
    assert load_data(path, target="a").y.tolist() == [str(v) for v in WHOLE]


def test_more_than_twenty_large_labels_in_a_text_file(tmp_path):
    labels = [10**20 + j % 25 * 123_456_789 for j in range(250)]
    rows = "\n".join(f"{j % 7},{label}" for j, label in enumerate(labels))
    (tmp_path / "t.csv").write_text(f"b,a\n{rows}\n")
    refused(tmp_path / "t.csv", "'a'", "2^53", "task='classification'", target="a")
    found = load_data(tmp_path / "t.csv", target="a", task="classification")
    assert found.y.tolist() == [str(label) for label in labels]


@pytest.mark.parametrize("line", [f"{BIG} 1:2", f"1 1:{BIG}", f"1 1:-{BIG} 2:3 # {BIG}"])
def test_large_whole_numbers_in_svmlight(tmp_path, line):
    (tmp_path / "t.svm").write_text(f"{line}\n2 1:5.5\n1 1:7\n2 1:1e300\n")
    refused(tmp_path / "t.svm", "t.svm", "2^53", target=None)
    (tmp_path / "t.svm").write_text("1 1:1e20\n2 1:5.5\n1 1:9007199254740992\n2 1:1e300\n")
    assert load_data(tmp_path / "t.svm").n_features == 1


def test_large_whole_numbers_read_column_by_column(tmp_path):
    for name, column in (("int", pa.array(WHOLE)), ("decimal", pa.array(decimals(WHOLE)))):
        path = tmp_path / f"{name}.parquet"
        parquet.write_table(pa.table({"a": column, "y": column}), path)
        found = open_columns(path, "y")
        assert found.y.tolist() == WHOLE
        with pytest.raises(DataError, match=r"'a'.*2\^53"):
            np.asarray(found.X)
    tenths = [Decimal(j).scaleb(-1) for j in range(12)]
    parquet.write_table(pa.table({"a": tenths, "y": WITH_GAP}), path)
    with pytest.raises(DataError, match=r"the target 'y'.*2\^53"):
        open_columns(path, "y")
    parquet.write_table(pa.table({"a": tenths}), path)
    found = np.asarray(open_columns(path).X)
    assert found[:, 0].tolist() == [float(v) for v in tenths]
    zarr = pytest.importorskip("zarr")
    made = zarr.open_group(str(tmp_path / "zarr"), mode="w")
    made.create_array("X", shape=(12, 1), dtype="int64", chunks=(12, 1))[:] = np.array(WHOLE)[:, None]
    with pytest.raises(DataError, match=r"2\^53"):
        np.asarray(open_columns(tmp_path / "zarr").X)


def test_large_whole_numbers_in_arrays(tmp_path):
    large = np.array(WHOLE)[:, None]
    scipy.io.savemat(tmp_path / "t.mat", {"X": large, "Y": np.arange(12) % 2})
    refused(tmp_path / "t.mat", "t.mat", "2^53", target=None)
    refused((sp.csr_array(large), KINDS), "X of the pair", "2^53", target=None)


def dated(tmp_path, cells, **options):
    path = tmp_path / "t.csv"
    pd.DataFrame(
        {"when": cells, "b": [j / 8 for j in range(len(cells))], "y": ["u", "v"] * (len(cells) // 2)}
    ).to_csv(path, index=False)
    return load_data(path, target="y", **options)


FIRSTS = [f"01/{month:02}/2020" for month in range(1, 13)] * 2


def test_an_ambiguous_date_is_said_with_the_option_that_decides(tmp_path):
    """Day first, the first of each month; month first, twelve days in January."""
    found = dated(tmp_path, FIRSTS)
    assert found.feature_names[:-1] == ("when (weekday)",)
    assert found.notes == (
        "'when' holds dates, read month first (as in 01/01/2020, day first would fit as well: say which with "
        "--dates), taken by weekday",
    )
    right = dated(tmp_path, FIRSTS, dates="day-first")
    assert right.feature_names[:-1] == ("when (month)", "when (weekday)")
    assert right.X[:12, 0].tolist() == list(range(1, 13))
    assert right.notes == ("'when' holds dates, read day first, taken by month and weekday",)
    with pytest.raises(InputError, match=r"dates='year-first'.*day-first"):
        dated(tmp_path, FIRSTS, dates="year-first")


@pytest.mark.parametrize("sign", "/.-")
@pytest.mark.parametrize("order", ["day", "month"])
def test_one_number_above_twelve_decides(tmp_path, sign, order):
    """Also against what the option says, which is for dates that leave it open."""
    style = sign.join(["%d", "%m", "%Y"] if order == "day" else ["%m", "%d", "%Y"])
    days = pd.to_datetime(
        [f"2020-{month:02}-03" for month in (*range(1, 13), *range(1, 12))] + ["2020-12-13"]
    )
    for options in ({}, {"dates": "day-first"}, {"dates": "month-first"}):
        found = dated(tmp_path, days.strftime(style), **options)
        assert found.X[:, 0].tolist() == [*range(1, 13)] * 2
        assert found.notes == (f"'when' holds dates, read {order} first, taken by month and weekday",)


def test_dates_that_are_none(tmp_path):
    """The 30th of February is no day in March, and 20 is no year."""
    for cells in (["01/02/20", "03/04/21"], ["30.02.2020", "28.02.2020"], ["2020-02-30", "2020-02-28"]):
        assert date_formats(pa.array(cells)) == []
        assert dated(tmp_path, cells * 12).levels[0] == tuple(sorted(cells))


def test_other_data_are_read_in_the_recorded_order(tmp_path):
    table = pd.DataFrame({"when": FIRSTS, "y": [int(j % 12 > 5) for j in range(24)]})
    table.to_csv(tmp_path / "t.csv", index=False)
    found = infused.select(tmp_path / "t.csv", "y", k=1, method="anova", dates="day-first", stability=0)
    assert found.features == ["when (month)"]
    record = Selection.load(found.save(tmp_path / "out", report=False)[0].parent)
    new = pd.DataFrame({"when": ["02/11/2021", "02/12/2021"]})
    assert record.apply(new)["when (month)"].tolist() == [11, 12]
    with pytest.raises(InputError, match="'when' holds '02/13/2021'"):
        record.apply(pd.DataFrame({"when": ["02/13/2021"]}))


def test_the_option_on_the_command_line(tmp_path, monkeypatch, capsys):
    from infused.cli import main

    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame(
        {"when": FIRSTS, "b": [j % 3 for j in range(24)], "y": [int(j % 12 > 5) for j in range(24)]}
    )
    table.to_csv("t.csv", index=False)
    asked = ["select", "t.csv", "-t", "y", "-k", "1", "-m", "anova", "--stability", "0", "--no-report"]
    assert main(asked) == 0
    assert "say which with --dates" in " ".join(capsys.readouterr().err.split())
    assert main([*asked, "--dates", "day-first", "--force"]) == 0
    said = capsys.readouterr()
    assert "when (month)" in said.out and "read day first" in said.err
    assert main([*asked, "--dates", "first", "--force"]) == 2
    assert "--dates first" in capsys.readouterr().err


MIXED = {
    "two currencies": ["$5", "€5", "$6", "€7"],
    "a currency and a percentage": ["$5", "5%", "$6", "7%"],
    "percentages and shares": ["50%", "0.5", "25%", "0.1"],
    "a sign and another country's": ["$5", "7 AUD", "$6", "8 AUD"],
}
mixed_units = pytest.mark.parametrize("cells", MIXED.values(), ids=MIXED.keys())


def priced(cells):
    return pd.DataFrame({"price": cells * 6, "b": range(24), "y": ["u", "v"] * 12})


@mixed_units
def test_numbers_in_several_units_are_refused(cells):
    table = priced(cells)
    options = {"use": ["b"]}
    refused(
        table, "'price'", "several units", repr(cells[0]), repr(cells[1]), "use=['price']",
        "as_category=['price']", "drop=['price']", **options,
    )  # fmt: skip
    assert load_data(table, target="y", use=["b", "price"]).X[0, 0] == float(cells[0].strip("$%"))
    found = load_data(table, target="y", as_category="price", **options)
    assert found.levels[0] == tuple(sorted(cells)) and len(set(found.X[:, 0])) == 4


@mixed_units
def test_a_target_in_several_units_is_refused(cells):
    table = priced(cells).assign(price=[cell.replace("5", f"5{j}") for j in range(6) for cell in cells])
    refused(table, "the target 'price'", "several units", "task='classification'", target="price", use="b")
    found = load_data(priced(cells), target="price", use="b", task="classification")
    assert sorted(set(found.y)) == sorted(cells)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["$5", "6 USD", "7", "usd 8"], [5, 6, 7, 8]),
        (["50%", "0", "0%", "12.5 %"], [50, 0, 0, 12.5]),
        (["5 €", "EUR 6", "7€", "(8 EUR)"], [5, 6, 7, -8]),
    ],
)
def test_numbers_in_one_unit(cells, values):
    assert load_data(priced(cells), target="y", use="b").X[:4, 0].tolist() == values


def test_units_of_numbers():
    told = {"$5": "USD", "US$ 5": "USD", "5 chf": "CHF", "5 %": "%", "£5": "GBP", "5": "", "CHF": "CHF"}
    assert {text: unit_of(text) for text in told} == told


@pytest.mark.parametrize(
    ("before", "after", "fits"),
    [
        ("$5", "$7", True),
        ("$5", "7", True),
        ("$5", "€7", False),
        ("5%", "0.07", False),
        ("5%", "0", True),
        ("5", "7%", False),
        ("5", "$7", False),
    ],
)
def test_other_data_are_read_in_the_recorded_unit(before, after, fits):
    cells = [before.replace("5", str(j)) for j in range(1, 25)]
    table = pd.DataFrame({"price": cells, "y": [int(j > 12) for j in range(24)]})
    found = infused.select(table, "y", k=1, method="anova", stability=0, use="price")
    new = pd.DataFrame({"price": [after]})
    if fits:
        assert found.apply(new)["price"].tolist() == [float(after.strip("$%"))]
    else:
        with pytest.raises(InputError, match=f"'price' holds '{after.replace('$', '.')}' where numbers"):
            found.apply(new)


def test_other_data_are_not_rounded():
    table = pd.DataFrame({"a": range(24), "y": [int(j > 12) for j in range(24)]})
    found = infused.select(table, "y", k=1, method="anova", stability=0, use="a")
    plain = infused.select(table.assign(a=table["a"] * 0.5), "y", k=1, method="anova", stability=0)
    for cell in (BIG, str(BIG), Decimal(BIG)):
        new = pd.DataFrame({"a": [cell]})
        with pytest.raises(InputError, match="'a' of the data frame has numbers that float64 cannot hold"):
            plain.apply(new)
        assert found.apply(new)["a"].tolist() == [float(BIG)], "as the rounding was accepted"


def test_no_noise():
    """A cast that loses something would warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refused(pa.table({"a": decimals(LONG), "b": OTHER, "y": KINDS}), "'a'", "2^53")


def test_a_record_with_a_format_of_its_own_is_refused():
    table = pd.DataFrame({"when": FIRSTS, "y": [int(j % 12 > 5) for j in range(24)]})
    found = infused.select(table, "y", k=1, method="anova", dates="day-first", stability=0)
    tree = json.loads(found.record.to_json())
    tree["coding"][0]["origin"]["format"] = "(%d"
    with pytest.raises(InputError, match=r"coding\[0\].origin has a way to read"):
        type(found.record).from_json(json.dumps(tree))
