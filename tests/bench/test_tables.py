"""The tables: what they say, what they leave out, and that every format says it."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest

from infused.bench import paper
from infused.bench.paper import datasets_table, published_accuracy_table, structural_table
from infused.bench.rows import of_protocol
from infused.bench.standings import compare_methods
from infused.bench.statistics import DASH, rank_comparison
from infused.bench.tables import (
    FORMATS,
    LEAKY,
    ResultTable,
    ablation_table,
    accuracy_table,
    accuracy_tables,
    rank_table,
    standings_table,
)
from infused.record.sentences import signed
from infused.selectors.registry import IN_PAPER
from tests.bench.made_rows import METHODS, make_rows, mean_and_error, with_failure

LEVELS = {method: 0.95 - 0.01 * n for n, method in enumerate(IN_PAPER)} | {"random": 0.7}


def read_csv(table):
    return list(csv.DictReader(io.StringIO(table.to_csv())))


@pytest.fixture(scope="module")
def paper_rows():
    """The paper's methods on five of its data sets."""
    return make_rows(paper.DATASETS[:5], LEVELS)


def test_the_papers_figures_are_as_its_text_says():
    # "the best classification performance on the Pie, YaleB, Lymphoma, BASEHOCK, and Isolet1 datasets"
    best = {
        name: max(paper.TABLE_2, key=lambda method, name=name: paper.published_score(method, name).accuracy)
        for name in paper.DATASETS
    }
    tied = paper.published_score("in-lasso", "Lymphoma").accuracy
    assert tied == paper.published_score("infused-lasso", "Lymphoma").accuracy == 95.55
    assert {name for name, method in best.items() if method == "infused-lasso"} | {"Lymphoma"} == {
        "PIE", "YaleB", "Lymphoma", "BASEHOCK", "Isolet1",
    }  # fmt: skip
    assert best["USPS"] == best["Leukemia"] == "in-lasso"
    assert best["RELATHE"] == "lasso"
    assert paper.published_score("mrmr", "USPS") is None
    assert paper.published_score("lasso", "wine") is None


def test_accuracy_table_has_the_best_mean_with_its_k():
    rows = make_rows()
    table = accuracy_table(rows)
    line = next(one for one in read_csv(table) if one["method"] == "mrmr")
    by_k = {k: mean_and_error(part) for k, part in rows[rows["method"] == "mrmr"].groupby("k")}
    k = max(by_k, key=lambda k: by_k[k][0])
    mean, error = by_k[k]
    assert int(line["k"]) == k
    assert float(line["mean"]) == pytest.approx(100 * mean, rel=1e-5)
    assert float(line["standard_error"]) == pytest.approx(100 * error, rel=1e-5)
    assert (line["unit"], line["protocol"], line["folds"], line["failed_folds"]) == ("%", "nested", "10", "0")
    text = f"{100 * mean:.1f} ± {100 * error:.1f} ({k})"
    assert re.search(rf"\| mrmr +\| +{re.escape(text)} \|", table.to_markdown())
    assert "**89.8 ± 2.4 (20)**" in table.to_markdown(), "the best is stressed"
    assert "optimistic" in table.caption
    assert list(table.cells["Method"]) == ["infused-lasso", "anova", "mrmr", "random"]


def test_what_is_missing_is_a_dash():
    rows = pd.concat([make_rows(("wine", "digits")), make_rows(("iris",), {"mrmr": 0.8})])
    table = accuracy_table(rows)
    cells = table.cells.set_index("Method")
    assert cells.loc["anova", "iris"] == DASH
    assert cells.loc["mrmr", "iris"] != DASH
    assert cells.shape == (4, 3)
    line = next(one for one in read_csv(table) if (one["method"], one["dataset"]) == ("anova", "iris"))
    assert (line["mean"], line["k"], line["folds"]) == ("", "", "0")
    assert table.to_latex().count("--") == 3


def test_failed_cells_are_counted_and_named():
    rows = with_failure(with_failure(make_rows(), "mrmr", 0, 1), "mrmr", 1, 2, "memory", "needed 9 GB")
    table = accuracy_table(rows)
    note = (
        "† 2 cells failed and are left out: mrmr on wine, 1 of 10 folds (memory: needed 9 GB); "
        "mrmr on wine, 1 of 10 folds (timeout: took longer than 60 s)."
    )
    assert note in table.notes
    assert table.cells.set_index("Method").loc["mrmr", "wine"].endswith("†")
    assert "Folds, over all repeats: wine 10 (mrmr 8)." in table.notes
    assert next(one for one in read_csv(table) if one["method"] == "mrmr")["failed_folds"] == "2"
    assert note in standings_table(compare_methods(rows)).to_markdown()


def test_a_method_that_never_finished_still_has_its_line():
    rows = make_rows()
    lost = rows["method"] == "anova"
    rows.loc[lost, ["status", "reason", "accuracy"]] = ["failed", "singular matrix", np.nan]
    assert accuracy_table(rows).cells.set_index("Method").loc["anova", "wine"] == f"{DASH}†"
    line = standings_table(compare_methods(rows)).cells.set_index("Method").loc["anova†"]
    assert set(line) == {DASH}
    rows["status"] = "failed"
    with pytest.raises(ValueError, match="no method finished a fold of wine"):
        compare_methods(rows)


@pytest.mark.parametrize("make", [accuracy_table, published_accuracy_table, structural_table, rank_table])
def test_leaky_tables_say_so_and_hold_no_nested_row(make, paper_rows):
    leaky = make_rows(paper.DATASETS[:3], LEVELS, protocol="leaky")
    both = pd.concat([paper_rows, leaky])
    table, alone = make(both, protocol="leaky"), make(leaky, protocol="leaky")
    assert table.to_csv() == alone.to_csv()
    assert LEAKY in table.caption
    assert LEAKY not in make(both).caption
    assert make(both).to_csv() == make(paper_rows).to_csv()
    assert {one["protocol"] for one in read_csv(table)} == {"leaky"}
    assert "LEAKY PROTOCOL" in table.to_markdown()
    assert "LEAKY PROTOCOL" in table.to_latex()


def test_table_1_shows_where_sizes_differ():
    table = datasets_table()
    cells = table.cells.set_index("Data set")
    assert cells.loc["Leukemia", "Samples"] == "72 (73)"
    others = cells.drop(index="Leukemia")
    assert not others[["Features", "Samples", "Classes"]].map(lambda text: "(" in text).any(axis=None)
    assert [one["dataset"] for one in read_csv(table)] == list(paper.DATASETS)


def test_table_2_sets_ours_beside_the_published(paper_rows):
    table = published_accuracy_table(paper_rows)
    cells = table.cells
    assert list(cells.columns) == ["Method", "Whose", *paper.DATASETS]
    assert list(cells["Method"][::3]) == [*paper.TABLE_2, "in-elastic-net", "random"]
    block = cells[cells["Method"].eq("infused-lasso").shift(0).cumsum().eq(1)].head(3).set_index("Whose")
    assert block.loc["published", "YaleB"] == "94.87 (50)"
    assert block.loc["ours", "Isolet1"] == block.loc["difference", "Isolet1"] == DASH
    line = next(
        one for one in read_csv(table) if (one["method"], one["dataset"]) == ("infused-lasso", "YaleB")
    )
    difference = float(line["mean"]) - 94.87
    assert float(line["difference"]) == pytest.approx(difference, abs=1e-3)
    assert line["exceeds_error"] == str(abs(difference) > float(line["standard_error"]))
    assert block.loc["difference", "YaleB"] == f"{difference:+.1f}‡"
    assert "optimistic, as the paper's is" in table.caption


def test_a_difference_within_the_standard_error_is_not_marked():
    near = make_rows(("USPS",), {"infused-lasso": 0.9367 + 0.1 / 20}, ks=(20,), repeats=10, folds=10)
    lines = published_accuracy_table(near).cells
    text = lines.loc[lines["Whose"] == "difference", "USPS"].iloc[5]
    assert re.fullmatch(r"[+-]0\.\d", text)
    one_fold = published_accuracy_table(near.query("repeat == 0 and fold == 0"))
    record = next(one for one in read_csv(one_fold) if one["mean"])
    assert (record["standard_error"], record["exceeds_error"]) == ("", "")


def test_variants_do_not_stand_beside_published_figures(paper_rows):
    variant = make_rows(("USPS",), {"infused-lasso": 0.99}, parameters='{"lambda2":0.0}')
    ablation = make_rows(("USPS",), {"infused-lasso[no-fusion]": 0.99})
    rows = pd.concat([paper_rows, variant, ablation])
    for make in (published_accuracy_table, structural_table, rank_table):
        assert make(rows).to_csv() == make(paper_rows).to_csv()
        note = "Left out, because they are variants: infused-lasso (lambda2=0.0), infused-lasso[no-fusion]."
        assert note in make(rows).notes
    assert "infused-lasso (lambda2=0.0)" in set(accuracy_table(rows).cells["Method"])


def test_table_3_compares_the_two_on_the_same_folds(paper_rows):
    cells = structural_table(paper_rows).cells
    last = cells[cells["Method"].str.startswith("infused-lasso less").cumsum() == 1].set_index("Whose")
    assert last.loc["published", "Leukemia"] == "-1.43"
    assert last.loc["published", "Isolet1"] == "+0.98"
    assert last.loc["ours", "Isolet1"] == DASH
    two = compare_methods(
        paper_rows[paper_rows["method"].isin(paper.TABLE_3) & (paper_rows["dataset"] == "USPS")]
    ).methods
    sign = -1 if two["label"][0] == "infused-lasso" else 1
    assert last.loc["ours", "USPS"].startswith(f"{100 * sign * two['difference'][1]:+.1f} (p ")


def test_table_3_without_its_methods_is_all_dashes_for_ours():
    cells = structural_table(make_rows(("USPS",), {"anova": 0.9})).cells
    ours = cells[cells["Whose"] == "ours"][list(paper.DATASETS)]
    assert (ours == DASH).all(axis=None)


def test_tables_beside_the_paper_need_its_data():
    with pytest.raises(ValueError, match="no rows of the paper's data sets"):
        published_accuracy_table(make_rows())
    two = pd.concat([make_rows(("USPS",)), make_rows(("USPS",)).assign(classifier="knn")])
    with pytest.raises(ValueError, match="several classifiers"):
        published_accuracy_table(two)


def test_standings_table_answers_line_by_line():
    found = compare_methods(make_rows())
    table = standings_table(found)
    assert list(table.cells["Method"]) == ["infused-lasso", "mrmr", "anova", "random"]
    assert table.cells["p"][0] == "best"
    assert table.cells["p"][3] == "<0.001"
    assert found.beaten == ["anova", "random"]
    assert found.undecided == ["mrmr"]
    lines = read_csv(table)
    assert float(lines[1]["p_holm"]) >= float(lines[1]["p_value"])
    assert float(lines[3]["stability"]) < 0.1 < 0.5 < float(lines[0]["stability"])
    assert [float(one["select_seconds"]) for one in lines] == pytest.approx([0.01, 0.02, 0.03, 0.04])
    assert all(float(one["low"]) < float(one["difference"]) < float(one["high"]) for one in lines[1:])


def test_the_leaky_protocol_has_no_stability():
    table = standings_table(compare_methods(make_rows(protocol="leaky")))
    assert set(table.cells["Stability"]) == {DASH}
    assert LEAKY in table.caption


def test_regression_is_compared_by_r2():
    table = standings_table(compare_methods(make_rows(regression=True)))
    assert "R²" in table.cells.columns
    assert re.fullmatch(r"0\.\d{3} ± 0\.\d{3}", table.cells["R²"][0])
    assert "R$^2$" in table.to_latex()


def test_one_method_alone_is_the_best():
    found = compare_methods(make_rows(methods={"anova": 0.8}))
    assert (found.beaten, found.undecided) == ([], [])
    assert standings_table(found).cells["p"].tolist() == ["best"]


def test_one_fold_gives_means_and_no_more():
    found = compare_methods(make_rows().query("repeat == 0 and fold == 0"))
    cells = standings_table(found).cells
    assert set(cells["p"]) == {"best", DASH}
    assert set(cells["Stability"]) == {DASH}
    assert not cells["Accuracy (%)"].str.contains("±").any()


def test_ranks_need_every_method_on_every_data_set(paper_rows):
    rows = pd.concat([paper_rows, make_rows(("RELATHE",), {"lasso": 0.9})])
    table = rank_table(rows)
    assert "Left out, because a method has no result there: RELATHE." in table.notes
    assert read_csv(table)[0]["method"] == "lasso"
    assert rank_comparison(rows, methods=["lasso", "random"]).mean_ranks == (1.0, 2.0)
    with pytest.raises(ValueError, match="there are 8 and 1"):
        rank_table(make_rows(("USPS",), LEVELS))


def test_ranks_take_accuracy_and_r2_together():
    rows = pd.concat([make_rows(("wine", "digits")), make_rows(("diabetes",), regression=True)])
    assert rank_comparison(rows).datasets == ("diabetes", "digits", "wine")
    assert rank_comparison(rows).mean_ranks == (1.0, 2.0, 3.0, 4.0)


def test_accuracy_and_r2_have_tables_of_their_own():
    rows = pd.concat([make_rows(("wine", "digits")), make_rows(("diabetes",), regression=True)])
    columns = [list(table.cells.columns[1:]) for table in accuracy_tables(rows)]
    assert columns == [["digits", "wine"], ["diabetes"]]
    assert "R²" in accuracy_tables(rows)[1].caption


def test_differences_have_a_sign_but_nothing_is_less_than_nothing():
    assert [signed(value, "accuracy") for value in (0.0123, -0.0123, -0.0001)] == ["+1.2", "-1.2", "+0.0"]


def test_letters_join_methods_that_ranks_cannot_tell_apart(paper_rows):
    table = rank_table(paper_rows)
    found = rank_comparison(paper_rows)
    letters = dict(zip(table.cells["Method"], table.cells["Alike"], strict=True))
    for a, first in zip(found.labels, found.mean_ranks, strict=True):
        for b, second in zip(found.labels, found.mean_ranks, strict=True):
            near = abs(first - second) < found.critical_difference
            assert bool(set(letters[a]) & set(letters[b])) == (near or a == b)


def test_variants_are_set_against_the_whole():
    variants = {"infused-lasso": 0.9, "infused-lasso[no-fusion]": 0.9, "infused-lasso[labels]": 0.8}
    rows = pd.concat([make_rows(("USPS", "wine"), variants), make_rows(("PIE",), {"infused-lasso": 0.9})])
    table = ablation_table(rows)
    cells = table.cells.set_index("Method")
    assert list(cells.columns) == ["USPS", "PIE", "wine"]
    assert cells.loc["infused-lasso[labels]", "PIE"] == DASH
    assert (
        cells.loc["infused-lasso", "USPS"]
        == accuracy_table(rows).cells.set_index("Method").loc["infused-lasso", "USPS"]
    )
    lines = {(one["variant"], one["dataset"]): one for one in read_csv(table)}
    k = int(lines["infused-lasso[labels]", "USPS"]["k"])
    usps = rows[(rows["dataset"] == "USPS") & (rows["k"] == k)].set_index(["repeat", "fold"])["accuracy"]
    whole = rows[(rows["dataset"] == "USPS") & (rows["k"] == k)]["method"].to_numpy()
    for variant in ("infused-lasso[labels]", "infused-lasso[no-fusion]"):
        expected = 100 * (usps[whole == variant] - usps[whole == "infused-lasso"]).mean()
        assert float(lines[variant, "USPS"]["difference"]) == pytest.approx(expected, rel=1e-4)
    rankings = rows[(rows["dataset"] == "USPS") & rows["selected"].notna()]
    whole, other = (
        [set(one[:k]) for one in rankings.loc[rankings["method"] == name, "selected"]]
        for name in ("infused-lasso", "infused-lasso[labels]")
    )
    shared = np.mean([len(a & b) / k for a, b in zip(whole, other, strict=True)])
    line = lines["infused-lasso[labels]", "USPS"]
    assert float(line["shared_features"]) == pytest.approx(shared, rel=1e-4)
    difference = float(line["difference"])
    assert cells.loc["infused-lasso[labels]", "USPS"] == f"{difference:+.1f} (p <0.001, {shared:.0%})"
    assert float(lines["infused-lasso[labels]", "USPS"]["p_holm"]) < 0.05
    assert float(lines["infused-lasso[no-fusion]", "USPS"]["p_holm"]) > 0.05
    assert ablation_table(make_rows()) is None


HOSTILE = r"50%_of|a*b & #1 $x$ {~^} \end <b>"


def hostile_table():
    cells = pd.DataFrame({"Method": [HOSTILE], "x_1": ["1 ± 2†"]})
    return ResultTable(
        caption=HOSTILE, cells=cells, data=cells, notes=(HOSTILE,), strong=frozenset({(0, "x_1")})
    )


def test_markdown_shows_names_as_they_are():
    lines = hostile_table().to_markdown().splitlines()
    row = next(line for line in lines if line.startswith("| 50"))
    assert len(re.findall(r"(?<!\\)\|", row)) == 3, "a name adds no column"
    assert r"50%\_of\|a\*b & #1 $x$ {~^} \\end &lt;b>" in row
    assert "**1 ± 2†**" in row


def test_latex_escapes_every_special_character():
    text = hostile_table().to_latex()
    escaped = (
        r"50\%\_of|a*b \& \#1 \$x\$ \{\textasciitilde{}\textasciicircum{}\} "
        r"\textbackslash{}end \textless{}b\textgreater{}"
    )
    assert text.count(escaped) == 3
    assert r"x\_1" in text
    assert r"\textbf{1 $\pm$ 2$^\dagger$}" in text
    assert text.count(r"\begin{") == text.count(r"\end{") == 2


def test_csv_quotes_what_it_must():
    assert read_csv(hostile_table()) == [{"Method": HOSTILE, "x_1": "1 ± 2†"}]


def test_formats_by_name():
    table = accuracy_table(make_rows())
    assert [table.to(one) for one in FORMATS] == [table.to_markdown(), table.to_csv(), table.to_latex()]
    with pytest.raises(ValueError, match="format='pdf' is not known; there are markdown, csv, latex"):
        table.to("pdf")


def test_rows_with_other_folds_are_not_paired():
    rows = make_rows(methods={"mrmr": METHODS["mrmr"]})
    other = make_rows(methods={"anova": METHODS["anova"]}).assign(seed=1)
    with pytest.raises(ValueError, match=r"wine was run with several seeds \(0, 1\)"):
        accuracy_table(pd.concat([rows, other]))
    assert len(of_protocol(rows)) == len(rows)
