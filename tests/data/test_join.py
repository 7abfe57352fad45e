"""A target in a second file, features in rows, and sheets by name: the right rows come together, or none."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from infused.cli import main
from infused.data import DataError, load_data, load_features
from infused.exceptions import InputError
from tests.extras import biff

N = 60
rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(N, 4)).round(3), columns=list("abcd"))
y = np.where(X["a"] > 0, "u", "v")
SAMPLES = [f"s{j:02d}" for j in range(N)]
MIXED = rng.permutation(N)
PHENOTYPES = pd.DataFrame({"sample": np.array(SAMPLES)[MIXED], "kind": y[MIXED], "age": MIXED % 50})


@pytest.fixture
def features(tmp_path):
    path = tmp_path / "x.csv"
    X.assign(sample=SAMPLES).to_csv(path, index=False)
    return path


def second(tmp_path, table):
    path = tmp_path / "y.csv"
    table.to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("names", "options", "words"),
    [
        ({}, {"target": "kind"}, "by 'sample'"),
        ({}, {"target": "kind", "join": "sample"}, "by 'sample'"),
        ({"sample": "Name"}, {"target": "kind"}, "by 'sample' and its 'Name'"),
    ],
)
def test_rows_are_joined_by_the_key_of_both_files(tmp_path, features, names, options, words):
    file = second(tmp_path, PHENOTYPES.rename(columns=names))
    data = load_data(features, target_file=file, **options)
    np.testing.assert_array_equal(data.y, y)
    assert data.feature_names == tuple("abcd")
    assert data.notes[0] == f"the target of '{file}' was joined {words}"


def test_beside_a_key_one_column_is_the_target(tmp_path, features):
    data = load_data(features, target_file=second(tmp_path, PHENOTYPES[["sample", "kind"]]))
    np.testing.assert_array_equal(data.y, y)


def test_numbers_are_keys_however_they_are_written(tmp_path):
    path = tmp_path / "x.csv"
    X.assign(patient_id=range(100, 100 + N)).to_csv(path, index=False)
    table = pd.DataFrame({"kind": y, "patient_id": [f"{100 + j}.0" for j in range(N)]})[::-1]
    data = load_data(path, target_file=second(tmp_path, table), target="kind")
    np.testing.assert_array_equal(data.y, y)


def test_several_rows_may_share_a_target(tmp_path, features):
    twice = pd.concat([X.assign(sample=SAMPLES)] * 2)
    twice.to_csv(features, index=False)
    data = load_data(features, target_file=second(tmp_path, PHENOTYPES), target="kind")
    np.testing.assert_array_equal(data.y, [*y, *y])


def test_what_does_not_match_is_refused(tmp_path, features):
    other = PHENOTYPES.assign(sample=["zz", *PHENOTYPES["sample"][1:]])
    with pytest.raises(DataError, match=r"lacks 's\d\d', so 1 row of .* would have no target"):
        load_data(features, target_file=second(tmp_path, other), target="kind")
    repeated = PHENOTYPES.assign(sample=[PHENOTYPES["sample"][1], *PHENOTYPES["sample"][1:]])
    with pytest.raises(DataError, match="more than once"):
        load_data(features, target_file=second(tmp_path, repeated), target="kind", join="sample")
    with pytest.raises(DataError, match="no such column; did you mean 'sample'"):
        load_data(features, target_file=second(tmp_path, PHENOTYPES), target="kind", join="smple")
    with pytest.raises(InputError, match="join='sample' has no meaning"):
        load_data(features, target="a", join="sample")


def test_keys_without_a_value_in_common_are_refused(tmp_path, features):
    other = pd.DataFrame({"patient_id": [f"p{j}" for j in range(N)], "kind": y})
    with pytest.raises(DataError, match=r"'sample' of .* and 'patient_id' of .* have no values in common"):
        load_data(features, target_file=second(tmp_path, other), target="kind")


def test_rows_without_features_are_counted(tmp_path, features):
    X.assign(sample=SAMPLES)[:50].to_csv(features, index=False)
    data = load_data(features, target_file=second(tmp_path, PHENOTYPES), target="kind")
    np.testing.assert_array_equal(data.y, y[:50])
    assert data.notes[0].endswith(
        "joined by 'sample'; 10 rows of it left out, as there are no features for them"
    )


def test_without_a_key_rows_are_joined_by_position(tmp_path, features):
    data = load_data(features, target_file=second(tmp_path, pd.DataFrame({"kind": y})))
    np.testing.assert_array_equal(data.y, y)
    assert "joined by position" in data.notes[0]


def test_genes_in_rows_are_turned(tmp_path):
    table = X.T.set_axis(SAMPLES, axis=1)
    table.insert(0, "gene", X.columns)
    path, file = tmp_path / "genes.csv", second(tmp_path, PHENOTYPES)
    table.to_csv(path, index=False)
    data = load_data(path, target_file=file, target="kind", transpose=True)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, y)
    assert data.feature_names == tuple("abcd")
    np.testing.assert_array_equal(load_features(path, ["c", "a"], data.options).X, X[["c", "a"]])
    with pytest.raises(DataError, match=r"features are in rows, turn them with transpose=True"):
        load_data(path, target_file=second(tmp_path, pd.DataFrame({"kind": y})))


def test_a_target_among_the_rows(tmp_path):
    table = X.T.set_axis(SAMPLES, axis=1)
    table.insert(0, "gene", X.columns)
    table = pd.concat([table, pd.DataFrame([["kind", *y]], columns=table.columns)])
    path = tmp_path / "genes.csv"
    table.to_csv(path, index=False)
    with pytest.raises(DataError, match=r"'kind' is no column but a row: .* transpose=True"):
        load_data(path, target="kind")
    data = load_data(path, target="kind", transpose=True)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, y)


def test_arrays_are_turned_too(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, X=X.to_numpy().T, y=y)
    np.testing.assert_array_equal(load_data(path, transpose=True).X, X)


def test_sheets_by_name_and_by_position(tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as writer:
        pd.DataFrame({"remark": ["see the other sheet"]}).to_excel(writer, sheet_name="about", index=False)
        X.assign(kind=y).to_excel(writer, sheet_name="data", index=False)
    for sheet in ("data", 1, "1", -1):
        data = load_data(path, target="kind", sheet=sheet)
        np.testing.assert_array_equal(data.X, X)
        assert data.notes == ()
    with pytest.raises(DataError, match="sheet='dta': no such sheet; did you mean 'data'"):
        load_data(path, target="kind", sheet="dta")
    with pytest.raises(DataError, match=r"no such column \('about' was read, the first of 2 sheets"):
        load_data(path, target="kind")


def test_old_workbooks(tmp_path):
    pytest.importorskip("xlrd")
    path = tmp_path / "book.xls"
    path.write_bytes(
        biff([["a", "town", "kind"], [1.5, "Rome", 0], [2, None, 1], [-3, "Bonn", 0], [4, "Rome", 1]])
    )
    data = load_data(path, target="kind")
    np.testing.assert_array_equal(data.X[:, 0], [1.5, 2, -3, 4])
    assert data.levels[1] == ("Bonn", "Rome") and data.kind == "classes"
    path.write_bytes(b"\xd0\xcf\x11\xe0")
    with pytest.raises(DataError, match="could not be read as an Excel file"):
        load_data(path, target="kind")


def test_a_workbook_of_another_kind_is_refused_with_what_to_do(tmp_path):
    path = tmp_path / "book.ods"
    path.write_bytes(b"PK")
    with pytest.raises(DataError, match=r"save it as \.xlsx"):
        load_data(path, target="kind")


def test_several_targets_must_be_numbers(tmp_path):
    frame = X.assign(p=X.iloc[:, 0] * 2, q=-X.iloc[:, 1], word=y)
    frame.to_csv(tmp_path / "t.csv", index=False)
    data = load_data(tmp_path / "t.csv", target=["p", "q"], drop="word")
    assert (data.kind, data.target_name, data.feature_names) == ("real", "p and q", tuple(X.columns))
    np.testing.assert_array_equal(data.y, frame[["p", "q"]])
    np.testing.assert_array_equal(load_data((X, frame[["p", "q"]])).y, data.y)
    with pytest.raises(DataError, match="several targets must be numbers, but 'word' holds text"):
        load_data(tmp_path / "t.csv", target=("p", "word"))
    with pytest.raises(InputError, match="give values as a pair"):
        load_data(tmp_path / "t.csv", target=list(y))


def test_several_targets_on_the_command_line(tmp_path, capsys):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(80, 6)), columns=list("uvwxyz"))
    frame.assign(a=frame.u * 2 + frame.v, b=frame.w - frame.v).to_csv(tmp_path / "t.csv", index=False)
    command = ["select", str(tmp_path / "t.csv"), "-t", "a", "-t", "b", "-k", "3", "--json"]
    assert main(command) == 0
    record = json.loads(capsys.readouterr().out)
    assert {one["name"] for one in record["selected"]} == {"u", "v", "w"}
    assert record["request"]["reading"]["target"] == ["a", "b"]
    assert main([*command, "--method", "mrmr"]) == 2
    assert "mrmr takes one target, but 'a and b' has 2 columns" in capsys.readouterr().err


def test_the_logarithm_of_a_target(tmp_path):
    frame = X.assign(cost=np.exp(X.iloc[:, 0]))
    data = load_data(frame, target="cost", log_target=True)
    assert (data.kind, data.target_name) == ("real", "log(1 + cost)")
    np.testing.assert_allclose(data.y, np.log1p(frame["cost"]))
    with pytest.raises(DataError, match="not negative, but 'cost' has -"):
        load_data(frame.assign(cost=-frame["cost"]), target="cost", log_target=True)
    with pytest.raises(DataError, match="'kind' holds none"):
        load_data(X.assign(kind=y), target="kind", log_target=True)
