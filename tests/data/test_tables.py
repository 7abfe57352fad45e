"""Text tables as people write them, and what is done with their columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

import infused
from infused.data import load_data

X = np.array([[1.5, -2.0], [0.25, 1e-7], [3.0, 4.0], [-1.0, 0.5]])


def write(path, content, encoding="utf-8"):
    path.write_bytes(content.encode(encoding))
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_separator_and_line_ends_are_found_out(tmp_path, separator, end):
    rows = [["first", "second", "kind"]] + [
        [*map(repr, row.tolist()), "xy"[j % 2]] for j, row in enumerate(X)
    ]
    path = write(tmp_path / "t.csv", end.join(separator.join(row) for row in rows) + end)
    data = load_data(path, target="kind")
    np.testing.assert_array_equal(data.X, X)
    assert data.feature_names == ("first", "second")


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_decimal_commas(tmp_path, separator):
    path = write(tmp_path / "t.csv", "a;b;kind\n1,5;2;x\n-0,25;3,125;y\n4;5;x\n".replace(";", separator))
    data = load_data(path, target="kind")
    np.testing.assert_array_equal(data.X, [[1.5, 2], [-0.25, 3.125], [4, 5]])
    assert "numbers were read with decimal commas" in data.notes


def test_commas_in_texts_are_no_decimal_signs_beside_points(tmp_path):
    path = write(tmp_path / "t.csv", "a;b;kind\n1.5;2;1,2\n0.25;3;2,3\n4;5;1,2\n")
    np.testing.assert_array_equal(load_data(path, target="kind").X, [[1.5, 2], [0.25, 3], [4, 5]])


@pytest.mark.parametrize("spelling", ["\t", "\\t", "tab", "Tab"])
def test_separator_can_be_spelled(tmp_path, spelling):
    path = write(tmp_path / "t.csv", "a,b\tc\tkind\n1\t2\tx\n3\t5\ty\n4\t5\tx\n")
    assert load_data(path, target="kind", separator=spelling).feature_names == ("a,b", "c")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "cp1252"])
def test_encodings(tmp_path, encoding):
    path = write(tmp_path / "t.csv", "größe,kind\n1.5,süß\n2.5,bitter\n9.5,süß\n", encoding)
    asked = {} if encoding.startswith("utf-8") else {"encoding": encoding}
    data = load_data(path, target="kind", **asked)
    assert data.feature_names == ("größe",)
    assert data.y.tolist() == ["süß", "bitter", "süß"]


def test_no_header(tmp_path):
    path = write(tmp_path / "t.csv", "5.1,3.5,x\n4.9,3.0,y\n4.7,3.2,x\n")
    data = load_data(path, target=-1, header=False)
    assert data.feature_names == ("column_0", "column_1") and data.target_name == "column_2"
    assert data.n_samples == 3


@pytest.mark.parametrize("names", ["0,1,2", "1,2,3", "400.5,401,402.25,403,404,405.5", "9,8,7,6.5,5,4,3"])
def test_numbers_can_be_names(tmp_path, names):
    n = names.count(",") + 1
    rows = np.random.default_rng(0).standard_normal((4, n))
    body = "".join(",".join(map(repr, row.tolist())) + f",{'xy'[j % 2]}\n" for j, row in enumerate(rows))
    data = load_data(write(tmp_path / "t.csv", f"{names},kind\n{body}"), target="kind")
    assert data.feature_names == tuple(names.split(","))


def test_quoted_line_breaks(tmp_path):
    """In a header and in a cell; such a file is no ragged file."""
    path = write(tmp_path / "t.csv", '"two\nlines",note,kind\n1.5,"a\nb",x\n2.5,"a\nb",y\n3.5,c,x\n')
    data = load_data(path, target="kind", one_hot=True)
    assert data.feature_names == ("two\nlines", "note=a\nb", "note=c")


def test_line_breaks_across_blocks(tmp_path):
    """A block of the parser ends inside a quoted cell."""
    cell = '"' + "word\n" * 60_000 + '"'
    path = write(tmp_path / "t.csv", "a,note,kind\n" + f"1.5,{cell},x\n2.5,short,y\n" * 8)
    assert load_data(path, target="kind", drop=["note"]).n_samples == 16


def test_a_row_longer_than_a_block(tmp_path):
    """The sample shows short rows; a later one exceeds the block that they suggest."""
    path = write(
        tmp_path / "t.csv", "a,note,kind\n" + "1.5,s,x\n2.5,s,y\n" * 100_000 + f"1.5,{'l' * 3_000_000},x\n"
    )
    assert load_data(path, target="kind", drop=["note"]).n_samples == 200_001


def test_many_columns_and_a_header_longer_than_the_sample(tmp_path):
    n = 6_000
    names = [f"{'a name that goes on and on, ' * 9}{j}".replace(",", " and") for j in range(n)]
    values = np.random.default_rng(0).integers(0, 9, (3, n))
    lines = [",".join([*names, "kind"])] + [
        ",".join([*map(str, row), "xyx"[j]]) for j, row in enumerate(values)
    ]
    data = load_data(write(tmp_path / "t.csv", "\n".join(lines)), target="kind")
    np.testing.assert_array_equal(data.X, values)
    assert data.feature_names == tuple(names)


def test_spellings_of_missing_and_truth(tmp_path):
    path = write(tmp_path / "t.csv", "a,b,c,kind\n1,true,?,x\nNA,False,2,y\nnan,TRUE,,x\n4,false,NULL,y\n")
    data = load_data(path, target="kind", impute="zero")
    gap = np.nan
    np.testing.assert_array_equal(data.X, [[1, 1, gap], [gap, 0, 2], [gap, 1, gap], [4, 0, gap]])


def test_spaces_around_labels_and_texts_do_not_count(tmp_path):
    path = write(tmp_path / "t.csv", "a, t, kind\n1.5, u , x\n2.5,u,x\n3.5, v, y\n4.5,v,y \n")
    data = load_data(path, target="kind", one_hot=True)
    assert data.y.tolist() == ["x", "x", "y", "y"] and data.feature_names == ("a", "t=u", "t=v")


def test_none_is_a_class(tmp_path):
    path = write(tmp_path / "t.csv", "a,kind\n1.5,None\n2.5,mild\n3.5,None\n")
    assert load_data(path, target="kind").y.tolist() == ["None", "mild", "None"]


def test_separator_at_the_end_of_lines(tmp_path):
    data = load_data(write(tmp_path / "t.csv", "a,kind,\n1.5,x,\n2.5,y,\n3.5,x,\n"), target="kind")
    assert data.feature_names == ("a",)
    assert "empty column" in data.notes[0]


@pytest.mark.parametrize(
    ("impute", "a", "b"),
    [("mean", 3.0, 2.0), ("median", 2.0, 1.0), ("most-frequent", 1.0, 1.0), ("zero", 0.0, 0.0)],
)
@pytest.mark.parametrize("sparse", [False, True])
def test_impute(tmp_path, impute, a, b, sparse):
    holes = np.array([[1, 1, 7], [np.nan, 1, 8], [1, np.nan, 9], [3, 4, 1], [7, np.nan, 1.0]])
    path = tmp_path / "t.npz"
    if sparse:
        path = tmp_path / "t.mat"
        scipy.io.savemat(path, {"X": sp.csc_matrix(holes), "Y": [0, 1, 0, 1, 1]})
    else:
        np.savez(path, X=holes, y=[0, 1, 0, 1, 1])
    data = load_data(path, impute=impute)
    F, groups, _ = data.coded()
    filled = F.toarray() if sparse else F[:, [np.flatnonzero(groups == j)[0] for j in range(3)]]
    assert (filled[1, 0], filled[2, 1], filled[4, 1]) == (a, b, b)
    np.testing.assert_array_equal(filled[:, 2], holes[:, 2])
    words = "zero" if impute == "zero" else f"the {impute.replace('-', ' ')}"
    assert data.notes == (f"3 missing values filled by {words} in: 'feature_0', 'feature_1'",)


def test_one_hot(tmp_path):
    path = write(tmp_path / "t.csv", "a,town,b,kind\n1.5,Rome,2,x\n2.5,Bonn,2,y\n3.5,,2,x\n4.5,Rome,3,y\n")
    data = load_data(path, target="kind", one_hot=True, impute="median")
    assert data.feature_names == ("a", "town=Bonn", "town=Rome", "b")
    np.testing.assert_array_equal(data.X[:, 1:3], [[0, 1], [1, 0], [0, 0], [0, 1]])
    assert "'town' became 2 0/1 columns" in data.notes
    zero = load_data(path, target="kind", one_hot=True, impute="zero")
    np.testing.assert_array_equal(zero.X[2, 1:3], [0, 0])


def test_one_hot_makes_columns_of_categories_alone_and_none_of_a_few_rows(tmp_path):
    rows = [
        f"{50 + j % 17} kg,town{j % 4 if j > 2 else 10 + j},0{1 + j % 9}.03.2021,{j % 2}" for j in range(300)
    ]
    path = write(tmp_path / "t.csv", "\n".join(["weight,town,day,kind", *rows]) + "\n")
    data = load_data(path, target="kind", one_hot=True)
    assert data.feature_names == ("weight", *(f"town=town{j}" for j in range(4)), "day (weekday)")
    assert "3 levels of 'town' with fewer than 5 samples left out" in data.notes


def test_words_of_free_text_are_counted(tmp_path):
    texts = [
        "quick to use, well made",
        "broke after some weeks, cheap cheap thing",
        "love it, very well made",
    ]
    frame = pd.DataFrame({"a": np.arange(60) % 7, "review": [f"{texts[j % 3]} {'q' * j}" for j in range(60)]})
    frame.assign(bad=np.arange(60) % 3 == 1).to_csv(tmp_path / "t.csv", index=False)
    left = load_data(tmp_path / "t.csv", target="bad")
    assert left.feature_names == ("a",) and "--text counts its words" in " ".join(left.notes)
    data = load_data(tmp_path / "t.csv", target="bad", text="review")
    cheap = data.feature_names.index("review: cheap")
    np.testing.assert_array_equal(data.X[:3, cheap], [0, 2, 0])
    assert not any("qq" in name for name in data.feature_names), "a word of one row"
    selection = infused.select(tmp_path / "t.csv", "bad", text="review", k=1, keep=["review: broke"])
    path = write(tmp_path / "new.csv", 'review,a\n"It BROKE, it broke",1\n,2\n')
    assert selection.apply(path)["review: broke"].tolist() == [2, 0]


def test_keep_and_drop(tmp_path):
    content = "id,n,t,b,kind\n" + "".join(f"{90 - j},{j},word,{j * j % 3},{'xy'[j % 2]}\n" for j in range(8))
    path = write(tmp_path / "t.csv", content)
    assert load_data(path, target="kind", drop="t").notes[-1] == (
        "left out as identifiers, because every row has its own value: 'id', 'n'"
    )
    kept = load_data(path, target="kind", drop=["t", 3], use=["id", "n"])
    assert kept.feature_names == ("id", "n")
    assert kept.notes[0] == "left out as asked: 't', 'b'"
    assert load_data(path, target="-1", drop=["t", "id", "n"]).feature_names == ("b",)


def test_numbers_that_are_no_identifiers(tmp_path):
    """Unique whole numbers with an ordinary name, fractions named like an identifier, the gene ID1."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "weight": rng.permutation(20),
            "sample": rng.standard_normal(20),
            "ID1": rng.permutation(20),
            "width": rng.permutation(20),
            "year": np.arange(1990, 2010),
            "kind": ["x", "y"] * 10,
        }
    )
    table.to_parquet(tmp_path / "t.parquet")
    assert load_data(tmp_path / "t.parquet", target="kind").n_features == 5


def test_rounding_is_accepted_on_request(tmp_path):
    path = write(tmp_path / "t.csv", f"big,kind\n{2**53 + 1},x\n5,y\n6,x\n")
    assert load_data(path, target="kind", use=["big"]).X[0, 0] == 2.0**53


def test_constant_columns_are_kept(tmp_path):
    data = load_data(
        write(tmp_path / "t.csv", "a,b,c,kind\n1,7,2,x\n1,8,2,y\n1,9,2,x\n1,9,2,y\n"), target="kind"
    )
    assert data.n_features == 3


@pytest.mark.parametrize(
    ("values", "kind", "dtype"),
    [
        (["u", "v"] * 15, "classes", "U"),
        ([True, False] * 15, "classes", "i"),
        ([1.0, 2.0] * 15, "classes", "i"),
        (list(range(20)) * 2, "classes", "i"),
        (list(range(20)) + [0] * 10, "real", "f"),  # counts, most of them zero
        (list(range(0, 63, 3)) * 10, "real", "f"),
        ([*range(30)] * 10, "classes", "i"),
        ([0.5, 1.0] * 15, "real", "f"),
    ],
)
def test_the_rule_of_the_task(tmp_path, values, kind, dtype):
    pd.DataFrame({"a": np.random.default_rng(0).standard_normal(len(values)), "y": values}).to_parquet(
        tmp_path / "t.parquet"
    )
    data = load_data(tmp_path / "t.parquet", target="y")
    assert (data.kind, data.y.dtype.kind) == (kind, dtype)
    assert (
        [float(v) for v in data.y] == [float(v) for v in values]
        if dtype != "U"
        else data.y.tolist() == values
    )


def test_the_task_can_be_said(tmp_path):
    path = write(tmp_path / "t.csv", "a,y\n1.5,1\n2.5,0.5\n9.5,1\n7.5,0.5\n")
    assert load_data(path, target="y").kind == "real"
    classes = load_data(path, target="y", task="classification")
    assert classes.y.tolist() == ["1.0", "0.5", "1.0", "0.5"]
    path = write(tmp_path / "u.csv", "a,y\n1.5,1\n2.5,0\n9.5,1\n")
    assert load_data(path, target="y", task="regression").y.dtype == np.float64


def test_doubtful_targets_are_noted(tmp_path):
    y = np.repeat(np.arange(30), np.random.default_rng(3).permutation(np.geomspace(3, 400, 30).astype(int)))
    pd.DataFrame({"a": np.sqrt(np.arange(len(y))), "y": y}).to_csv(tmp_path / "t.csv", index=False)
    data = load_data(tmp_path / "t.csv", target="y")
    assert any("30 whole numbers of 'y' were taken as classes" in note for note in data.notes)
    assert "use --task regression" in data.notes[-1]
    for name, values in {"affairs": [0, 1, 2, 3, 7, 12], "visits": range(6)}.items():
        table = pd.DataFrame({"a": np.sqrt(np.arange(120)), name: np.tile(values, 20)})
        table.to_csv(tmp_path / "c.csv", index=False)
        data = load_data(tmp_path / "c.csv", target=name)
        assert (
            data.kind == "classes" and f"6 whole numbers of '{name}' were taken as classes" in data.notes[-1]
        )
        table.rename(columns={name: "y"}).assign(y=np.arange(120) % 6).to_csv(tmp_path / "c.csv", index=False)
        assert load_data(tmp_path / "c.csv", target="y").notes == ()
    path = write(tmp_path / "u.csv", "a,y\n1.5,u\n2.5,u\n9.5,v\n")
    assert load_data(path, target="y").notes == ("1 class of 'y' with one sample only: 'v'",)


@pytest.mark.parametrize("name", ["visits", "LengthOfStay", "age_years"])
def test_a_name_that_says_what_was_counted_decides(tmp_path, name):
    """Of any number of rows, and with the option that says otherwise."""
    values = np.arange(24)
    for times in (1, 50):
        table = pd.DataFrame({"a": np.sqrt(np.arange(24 * times)), "y": np.tile(values, times)})
        table.to_csv(tmp_path / "t.csv", index=False)
        if times > 1:
            assert load_data(tmp_path / "t.csv", target="y").kind == "classes"
        table.rename(columns={"y": name}).to_csv(tmp_path / "t.csv", index=False)
        assert load_data(tmp_path / "t.csv", target=name).kind == "real"
    assert load_data(tmp_path / "t.csv", target=name, task="classification").kind == "classes"


@pytest.mark.parametrize("per_class", [8, 10])
def test_the_kind_does_not_depend_on_the_number_of_rows(tmp_path, per_class):
    y = np.repeat(np.arange(1, 41), per_class)
    pd.DataFrame({"a": np.sqrt(np.arange(len(y))), "subject": y}).to_csv(tmp_path / "t.csv", index=False)
    data = load_data(tmp_path / "t.csv", target="subject")
    assert data.kind == "classes" and data.notes == ()


def test_many_values_with_holes_are_measured(tmp_path):
    y = np.random.default_rng(0).gamma(2.0, 50.0, 40_000).astype(int)
    pd.DataFrame({"a": np.sqrt(np.arange(len(y))), "pm2.5": y}).to_csv(tmp_path / "t.csv", index=False)
    data = load_data(tmp_path / "t.csv", target="pm2.5")
    assert data.kind == "real" and data.notes == (), "beyond doubt"
    y = np.random.default_rng(0).gamma(2.0, 10.0, 400).astype(int)
    pd.DataFrame({"a": np.sqrt(np.arange(len(y))), "y": y}).to_csv(tmp_path / "u.csv", index=False)
    data = load_data(tmp_path / "u.csv", target="y")
    assert data.kind == "real" and "use --task classification" in data.notes[-1]


def test_target_files(tmp_path):
    features = write(tmp_path / "x.csv", "a,b\n1.5,2\n2.5,2\n9.5,3\n")
    write(tmp_path / "y.csv", "kind\nu\nv\nu\n")
    write(tmp_path / "z.csv", "who,kind\n1,u\n2,v\n3,u\n")
    write(tmp_path / "n.txt", "1\n2\n1\n")
    np.savez(tmp_path / "y.npz", anything=[1, 2, 1])
    for options, y in [
        ({"target_file": tmp_path / "y.csv"}, ["u", "v", "u"]),
        ({"target_file": tmp_path / "z.csv", "target": "kind"}, ["u", "v", "u"]),
        ({"target_file": tmp_path / "y.npz"}, [1, 2, 1]),
    ]:
        data = load_data(features, **options)
        assert data.y.tolist() == y and data.feature_names == ("a", "b")
    unnamed = load_data(
        write(tmp_path / "w.csv", "1.5\n2.5\n9.5\n"), target_file=tmp_path / "n.txt", header=False
    )
    assert unnamed.y.tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    "body",
    ["1, u\n2, v\n?, u\n", "1,'u'\n2,'v'\n?,'u'\n", '1,"u"\n2,"v"\n?,"u"\n', "1,u\n% aside\n2,v\n?,u\n\n"],
)
def test_arff_as_people_write_it(tmp_path, body):
    header = "% about\n@RELATION 'a b'\n@Attribute\t'x \\' y'   REAL\n@attribute kind{u, v}\n\n@Data\n"
    data = load_data(write(tmp_path / "t.arff", header + body), target="kind", impute="mean")
    assert data.feature_names == ("x ' y",)
    np.testing.assert_array_equal(data.coded().F[:, 0], [1, 2, 1.5])
    assert data.y.tolist() == ["u", "v", "u"]
