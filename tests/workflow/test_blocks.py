"""Kinds of features: from names, mappings and files; a penalty for each, their share, and who is missing."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import infused
from infused import AutoSelector
from infused.cli import main
from infused.data import DataError, load_data
from infused.exceptions import InputError
from infused.selectors.choose.auto import factors_to_try

N = 120
OPTIONS = {"k": 6, "method": "lasso", "stability": 0, "folds": 0}


def tables(seed=0):
    """Clinical, RNA and protein features of the same samples: four proteins matter, and the age."""
    random = np.random.default_rng(seed)
    clinical = pd.DataFrame({"age": random.normal(60, 10, N), "sex": random.choice(["f", "m"], N)})
    rna = pd.DataFrame(random.normal(size=(N, 150)), columns=[f"rna_{j}" for j in range(150)])
    protein = pd.DataFrame(random.normal(size=(N, 12)), columns=[f"prot_{j}" for j in range(12)])
    signal = 0.05 * clinical["age"] + 0.5 * protein.iloc[:, :4].sum(axis=1)
    return clinical, rna, protein, signal + 1.2 * random.normal(size=N)


@pytest.fixture(scope="module")
def table():
    clinical, rna, protein, y = tables()
    return pd.concat([clinical, rna, protein], axis=1).assign(y=y)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Clinical data with the target, and two files in another order: one lacks samples, one has more."""
    monkeypatch.chdir(tmp_path)
    clinical, rna, protein, y = tables()
    ids = [f"S{j:03d}" for j in range(N)]
    clinical.assign(sample=ids, y=y).to_csv("clinical.csv", index=False)
    rna.assign(sample=ids).iloc[::-1].iloc[:-2].to_csv("rna.csv", index=False)
    protein.loc[N] = 0.0
    protein.assign(sample=[*ids, "S999"]).sample(frac=1, random_state=0).to_csv(
        "protein.tsv", sep="\t", index=False
    )
    return tmp_path


def test_the_factors_are_all_equal_or_set_one_block_apart():
    for n in (1, 2, 3, 5):
        found = [tuple(one) for one in factors_to_try(n)]
        assert found[0] == (1.0,) * n and len(set(found)) == len(found) == (1, 1, 5, 13, 17, 21)[n]
        assert all(min(one) == 1 and len(set(one)) <= 2 and max(one) in (1, 2, 4) for one in found)


def test_blocks_by_prefix_mapping_and_position_are_the_same(table):
    names = [name for name in table if name.startswith("prot_")]
    given = (
        ["rna_", "prot_"],
        {"rna": "rna_", "prot": names},
        {"rna": ["rna_"], "prot": list(range(152, 164))},
        ["rna=rna_", "prot=prot_"],
    )
    for blocks in given:
        data = load_data(table, target="y", blocks=blocks)
        assert data.blocks == ("other",) * 2 + ("rna",) * 150 + ("prot",) * 12
    assert load_data(table, target="y").blocks is None
    assert data.take(["prot_3", "age"]).blocks == ("prot", "other")
    once = load_data(table, target="y", one_hot=True, blocks={"clinical": ["age", "sex"]})
    assert dict(zip(once.feature_names, once.blocks, strict=True))["sex=f"] == "clinical"


def test_the_informative_block_gets_the_smallest_penalty(table):
    selection = infused.select(table, "y", blocks=["rna_", "prot_"], **OPTIONS)
    shares = {one.name: one for one in selection.record.blocks}
    assert shares["prot"].factor == 1 < shares["rna"].factor
    assert shares["prot"].n_selected == 4 + sum(f[5:] > "3" for f in selection.features if f[:5] == "prot_")
    assert shares["prot"].unique > 0.2 > shares["rna"].unique
    assert sum(one.n_selected for one in shares.values()) == 6
    assert selection.table["block"].tolist() == [
        "prot" if name[:4] == "prot" else "rna" if name[:3] == "rna" else "other"
        for name in selection.features
    ]
    assert selection.record.method_name == "Lasso" and len(selection.record.tried) == 13
    said = str(selection)
    assert f"Blocks: other {shares['other'].n_selected} of 2 features, penalty x" in said
    page = selection.report()
    assert "What each kind of features contributes" in page and "prot" in selection._repr_html_()


def test_what_is_lost_without_a_block_is_its_definition(table):
    table = table.drop(columns="sex")
    selection = infused.select(table, "y", blocks=["rna_", "prot_"], **OPTIONS)
    y = table["y"] - table["y"].mean()

    def loss(names):
        X = table[names]
        X = (X - X.mean()) / X.std(ddof=0)
        b = np.linalg.solve(X.T @ X + np.eye(X.shape[1]), X.T @ y)
        return ((y - X @ b) ** 2).sum() + (b**2).sum()

    names = selection.features
    for one in selection.record.blocks:
        own = set(selection.table.loc[selection.table["block"] == one.name, "feature"])
        lost = (loss([name for name in names if name not in own]) - loss(names)) / (y**2).sum()
        assert one.unique == pytest.approx(lost, abs=1e-9)


def test_files_are_joined_and_missing_samples_are_named(files):
    blocks = {"rna": "rna.csv", "protein": files / "protein.tsv"}
    data = load_data("clinical.csv", target="y", blocks=blocks)
    assert data.n_samples == N - 2 and data.n_features == 164
    assert data.blocks == ("clinical",) * 2 + ("rna",) * 150 + ("protein",) * 12
    notes = " ".join(data.notes)
    assert "left out 2 samples that 'rna.csv' lacks: 'S000', 'S001'" in notes
    assert "protein.tsv' that 'clinical.csv' lacks: 'S999'" in notes
    clinical, rna, protein, y = tables()
    whole = pd.concat([clinical, rna, protein], axis=1).iloc[2:]
    np.testing.assert_allclose(data.X[:, 2:], whole.iloc[:, 2:].to_numpy())
    np.testing.assert_allclose(data.y, y[2:])
    groups = np.arange(N) // 4
    assert load_data("clinical.csv", target="y", blocks=blocks, sample_groups=groups).samples.n_groups == 30


def test_a_selection_of_files_is_repeated_from_its_record(files):
    selection = infused.select(
        "clinical.csv", "y", blocks={"rna": "rna.csv", "protein": "protein.tsv"}, keep="clinical", **OPTIONS
    )
    assert selection.features[:2] == ["age", "sex"]
    assert selection.record.blocks[0].factor == 0 and selection.record.blocks[0].n_selected == 2
    folder = selection.save(files / "out")[0].parent
    kept = infused.Selection.load(folder)
    assert kept.record == selection.record
    again = infused.rerun(kept)
    assert again.same_data and again.again.record.selected == selection.record.selected
    assert again.again.record.blocks == selection.record.blocks
    assert (folder / "selected.csv").read_text().splitlines()[0].count("block") == 1


def test_the_command_line_takes_blocks(files, capsys):
    words = [
        "select",
        "clinical.csv",
        "-t",
        "y",
        "--blocks",
        "rna=rna.csv",
        "--blocks",
        "protein=protein.tsv",
    ]
    words += [
        "--keep",
        "clinical",
        "-k",
        "6",
        "--method",
        "lasso",
        "--stability",
        "0",
        "--folds",
        "0",
        "--json",
    ]
    assert main(words) == 0
    record = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in record["blocks"]] == ["clinical", "rna", "protein"]
    assert record["request"]["reading"]["blocks"] == {"rna": ["rna.csv"], "protein": ["protein.tsv"]}


def test_columns_of_one_name_are_told_apart(files):
    pd.read_csv("rna.csv").rename(columns={"rna_0": "age"}).to_csv("rna.csv", index=False)
    data = load_data("clinical.csv", target="y", blocks={"rna": "rna.csv"})
    assert data.feature_names[:3] == ("age", "sex", "rna_age") and data.blocks[2] == "rna"


def test_a_method_without_a_penalty_says_so(table):
    selection = infused.select(table, "y", blocks="rna_", k=3, method="anova", stability=0, folds=0)
    assert any(note.startswith("the blocks share one penalty") for note in selection.record.data.notes)
    assert [one.factor for one in selection.record.blocks] == [None, None]


def test_the_estimator_takes_labels_and_mappings(table):
    X, y = table.drop(columns=["y", "sex"]), table["y"]
    labels = [name.partition("_")[0] for name in X]
    auto = AutoSelector(["lasso"], 5, blocks=labels, random_state=0).fit(X, y)
    members = {kind: [name for name in X if name.startswith(kind)] for kind in ("rna", "prot")}
    again = AutoSelector(["lasso", "anova"], 5, blocks={**members, "age": ["age"]}, random_state=0).fit(X, y)
    assert auto.block_factors_["prot"] < auto.block_factors_["rna"]
    assert again.block_factors_ == auto.block_factors_
    assert len(auto.candidates_["method"]) == 13 and len(again.candidates_["method"]) == 14
    assert auto.selector_.penalty_factors.tolist() == [auto.block_factors_[label] for label in labels]
    assert not hasattr(AutoSelector(["anova"], 5, random_state=0).fit(X, y), "block_factors_")


WRONG = {
    "no such": ({"blocks": "dna_"}, "blocks='dna_': no such feature"),
    "twice": ({"blocks": {"a": "rna_", "b": "rna_1"}}, "blocks= has 'rna_1' in both 'a' and 'b'"),
    "empty": ({"blocks": {"a": []}}, "blocks= gives no features for 'a'"),
    "none": ({"blocks": []}, "blocks= names no block"),
    "budget": (
        {"blocks": "rna_", "costs": {"age": 1}, "max_cost": 1},
        "max_cost=1 cannot be combined with blocks=",
    ),
    "no file": ({"blocks": {"a": "absent.csv"}}, "'absent.csv' cannot be opened"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_blocks_are_one_clear_line(case, table):
    options, message = WRONG[case]
    with pytest.raises(InputError) as error:
        infused.select(table, "y", k=2, method="lasso", **options)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_wrong_files_are_one_clear_line(files):
    rna = pd.read_csv("rna.csv")
    pd.concat([rna, rna.iloc[:1]]).to_csv("rna.csv", index=False)
    with pytest.raises(DataError, match=r"'sample' of 'rna\.csv' has 'S119' more than once"):
        load_data("clinical.csv", target="y", blocks={"rna": "rna.csv"}, join="sample")
    rna.drop(columns="sample").to_csv("rna.csv", index=False)
    with pytest.raises(
        DataError, match=r"'rna\.csv' has 118 rows and 'clinical\.csv' 120, and no column tells"
    ):
        load_data("clinical.csv", target="y", blocks={"rna": "rna.csv"})
    rna.assign(sample=[f"T{j}" for j in range(len(rna))]).to_csv("rna.csv", index=False)
    with pytest.raises(DataError, match=r"has no sample of 'clinical\.csv'|no values in common"):
        load_data("clinical.csv", target="y", blocks={"rna": "rna.csv"})
