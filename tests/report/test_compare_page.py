"""The comparison page as text: an honest answer first, and the same care as with the report."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

import infused
from infused.bench.standings import compare_methods, verdict
from infused.bench.tables import LEAKY
from infused.report.html.comparison import (
    differences_chart,
    method_stability_chart,
    render_comparison,
    scores_chart,
    time_chart,
)
from tests.bench.made_rows import METHODS, make_rows, with_failure
from tests.report.test_page import OUTSIDE, Reader

COMMAND = "infused compare wine.csv --target 'a <b>' -k 5,10,20 --folds 5"
HOSTILE = "<img src=x onerror=alert(1)>"


def alike(**more):
    """Four methods that differ by chance alone."""
    return make_rows(methods=dict.fromkeys(METHODS, 0.8), noise=0.08, **more)


def test_the_answer_names_the_best_and_what_it_beats():
    assert verdict(compare_methods(make_rows())) == (
        "infused-lasso has the best mean accuracy, 89.8 ± 2.4%, with 20 of 40 features; the smallest k "
        "within one standard error is 5. It is significantly better than anova and random (Holm-adjusted "
        "p < 0.05), but not than mrmr."
    )


def test_the_answer_claims_nothing_that_chance_could_do():
    said = verdict(compare_methods(alike()))
    p = compare_methods(alike()).methods["p_holm"].min()
    assert p > 0.05
    assert "No method, not even random features, is significantly worse than " in said
    assert f"smallest Holm-adjusted p = {p:.2f}" in said
    without = alike()
    assert "not even" not in verdict(compare_methods(without[without["method"] != "random"]))


def test_the_answer_when_all_others_are_worse():
    said = verdict(compare_methods(make_rows(methods={"mrmr": 0.9, "anova": 0.7, "random": 0.5})))
    assert said.endswith(
        "It is significantly better than anova and random, every other method here (Holm-adjusted p < 0.05)."
    )


def test_random_features_are_never_recommended():
    found = compare_methods(make_rows(methods={"anova": 0.7, "random": 0.8}))
    assert found.recommended is None
    assert verdict(found).startswith("No method beats chance: random features have the best mean accuracy")
    assert compare_methods(make_rows()).recommended["label"] == "infused-lasso"


def test_what_is_no_better_than_no_features_is_not_recommended():
    none = make_rows(methods={"majority class": 0.75}, noise=0.0).query("k == 5").assign(k=0)
    good = compare_methods(pd.concat([make_rows(methods={"anova": 0.9, "random": 0.6}), none]))
    assert "The majority class alone reaches" in verdict(good) and good.recommended["label"] == "anova"
    poor = compare_methods(pd.concat([make_rows(methods={"anova": 0.75, "random": 0.7}, noise=0.05), none]))
    assert "No method is significantly better than the majority class alone" in verdict(poor)
    assert poor.recommended is None


def test_all_features_are_not_called_random_ones():
    rows = alike(n_features=20)
    rows.loc[(rows["method"] == "random") & (rows["k"] == 20), "accuracy"] += 0.01
    found = compare_methods(rows)
    assert found.methods.set_index("label").loc["random", "k"] == 20
    said = verdict(found)
    assert "not even random" not in said and "random features are at their best with all 20." in said


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (make_rows(methods={"anova": 0.8}), "There is no other method to compare it with."),
        (make_rows().query("repeat == 0 and fold == 0"), "Significance needs at least two folds."),
        (make_rows(ks=(7,)), "with 7 of 40 features, the only k that was tried."),
        (make_rows(noise=0.0), "no smaller k comes within one standard error."),
        (make_rows(protocol="leaky"), "neither this score nor any difference can be trusted."),
        (make_rows(regression=True), "has the best mean R², 0.4"),
    ],
    ids=["alone", "one fold", "one k", "no spread", "leaky", "real"],
)
def test_the_answer_fits_what_there_is(rows, words):
    assert words in verdict(compare_methods(rows))


@pytest.fixture(scope="module")
def page():
    return Reader(
        render_comparison(
            compare_methods(with_failure(make_rows(), "mrmr", 0, 1)), command=COMMAND, notes=["A note."]
        )
    )


def test_the_page_holds_table_charts_and_command(page):
    words = " ".join(page.texts)
    assert page.headings == [
        "Methods", "How many features", "Significance", "Stability and time", "Reproduce and cite",
    ]  # fmt: skip
    assert COMMAND in words
    assert "A note." in words
    assert "mrmr on wine, 1 of 10 folds (timeout: took longer than 60 s)" in words
    assert "optimistic" in words
    payload = json.loads(next(code for found, code in page.scripts if found.get("id") == "payload"))
    assert [one["id"] for one in payload["charts"]] == [
        "chart-scores", "chart-differences", "chart-stability", "chart-time",
    ]  # fmt: skip
    assert LEAKY not in words


def test_nothing_is_loaded_from_elsewhere(page):
    links = [value for _, found in page.tags for name, value in found.items() if name in OUTSIDE]
    assert links
    assert all(value.startswith("#") for value in links)
    targets = {found["id"] for _, found in page.tags if "id" in found}
    assert {value[1:] for value in links} <= targets
    assert not {tag for tag, _ in page.tags} & {"link", "iframe", "object", "embed", "base", "img"}
    assert "unsafe-inline" not in page.policy.split("script-src")[1].split(";")[0]
    assert len([1 for tag, _ in page.tags if tag == "script"]) == 4


def test_a_leaky_page_is_marked_everywhere():
    reader = Reader(render_comparison(compare_methods(make_rows(protocol="leaky"))))
    assert " ".join(reader.texts).count("LEAKY PROTOCOL") == 2, "above the figures, and below the table"
    titles = [found["title"] for tag, found in reader.tags if tag == "h3" and "title" in found]
    assert titles and all(title.startswith("Leaky: ") for title in titles)
    both = pd.concat([make_rows(), make_rows(protocol="leaky")])
    with pytest.raises(ValueError, match="cannot be mixed"):
        compare_methods(both)
    assert "LEAKY" not in render_comparison(compare_methods(both, protocol="nested"))


def test_hostile_names_add_no_tag():
    rows = make_rows((HOSTILE,), {HOSTILE: 0.9, "random": 0.5}).assign(machine=HOSTILE)
    rows = with_failure(rows, "random", 0, 0, reason=HOSTILE)
    html = render_comparison(compare_methods(rows), HOSTILE, command=HOSTILE, notes=[HOSTILE])
    reader = Reader(html)
    assert not {tag for tag, _ in reader.tags} & {"img", "svg"}
    assert len([1 for tag, _ in reader.tags if tag == "script"]) == 4
    charts = [
        chart(compare_methods(rows))
        for chart in (scores_chart, differences_chart, method_stability_chart, time_chart)
    ]
    drawn = json.dumps([chart.data for chart in charts]) + json.dumps([chart.layout for chart in charts])
    assert set(re.findall(r"<[^>]*>", drawn)) <= {"<br>", "<extra>", "</extra>"}


def test_charts_hold_the_numbers_of_the_table():
    found = compare_methods(make_rows())
    curves = {trace["name"]: trace for trace in scores_chart(found).data if "name" in trace}
    front = curves.pop("Pareto front")
    assert list(front["x"]) == [5, 10, 20] and set(front["marker"]["size"]) <= {12, 18}
    assert list(curves) == found.methods["label"].tolist(), "the best first"
    mean = found.curves[found.curves["label"] == "anova"]["mean"]
    np.testing.assert_allclose(curves["anova"]["y"], 100 * mean, rtol=1e-5)
    bars = differences_chart(found).data
    assert [one["y"] for one in bars] == [[1, 2], [0]], "worse ones, then those not told apart"
    x, reach = bars[1]["x"][0], bars[1]["error_x"]
    row = found.methods.iloc[1]
    np.testing.assert_allclose(
        [x, x - reach["arrayminus"][0], x + reach["array"][0]],
        100 * row[["difference", "low", "high"]].astype(float),
        rtol=1e-4,
    )
    np.testing.assert_allclose(
        method_stability_chart(found).data[0]["x"], found.methods["stability"], rtol=1e-4
    )
    np.testing.assert_allclose(time_chart(found).data[0]["x"], [0.01, 0.02, 0.03, 0.04])


def test_charts_without_data_are_left_out():
    one = compare_methods(make_rows().query("repeat == 0 and fold == 0"))
    assert differences_chart(one) is None
    assert method_stability_chart(one) is None
    single = scores_chart(compare_methods(make_rows(ks=(7,))))
    assert single.title == "Mean accuracy with 7 features"
    assert len(single.data[0]["x"]) == 4


def with_references(rows):
    """The rows, and what all 40 features and the majority class reach."""
    folds = rows[(rows["method"] == "random") & (rows["k"] == rows["k"].min())]
    whole = folds.assign(method="all features", k=40, accuracy=folds["accuracy"] + 0.2, selected=None)
    none = folds.assign(method="majority class", k=0, accuracy=0.4, selected=None)
    return pd.concat([rows, whole, none], ignore_index=True)


def test_lines_that_coincide_are_all_seen():
    """What is drawn later has gaps and open marks, and its own pattern."""
    same = make_rows(methods=dict.fromkeys(["lasso", "mrmr", "anova"], 0.9), noise=0.0)
    found = compare_methods(with_references(pd.concat([same, make_rows(methods={"random": 0.5}, noise=0.0)])))
    assert found.tied == ["anova", "lasso", "mrmr"]
    lines = [trace for trace in scores_chart(found).data if trace.get("fill") is None]
    drawn = {trace["name"]: trace for trace in lines}
    assert drawn["anova"]["y"] == drawn["lasso"]["y"] == drawn["mrmr"]["y"]
    patterns = [drawn[name]["line"]["dash"] for name in ("anova", "lasso", "mrmr")]
    assert len(set(patterns)) == 3 and patterns[0] == "solid"
    assert all("open" in drawn[name]["marker"]["symbol"] for name in ("lasso", "mrmr"))
    assert verdict(found).startswith("anova, lasso and mrmr have the same best mean accuracy")
    assert len(set(drawn["all features"]["y"])) == 1 and drawn["majority class"]["y"] == [40.0, 40.0]


def test_references_stand_below_the_methods():
    found = compare_methods(with_references(make_rows()))
    page = render_comparison(found)
    names = re.findall(r'<td class="name"[^>]*>(.*?)</td>', page)
    assert names[-2:] == ["all features", "majority class"] and names[0] == "infused-lasso"
    assert page.count('<tr class="other">') == 2 and page.count('<tr class="best">') == 1
    assert "Majority class</dt><dd>40.0%" in page
    assert "The majority class alone reaches 40.0%." in verdict(found)


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        (0.3, "Using all 40 features is significantly better ("),
        (-0.1, "Using all 40 features is significantly worse ("),
    ],
)
def test_does_dropping_features_cost_anything(gain, words):
    rows = make_rows(noise=0.005)
    best = rows[(rows["method"] == "infused-lasso") & (rows["k"] == 20)]
    whole = best.assign(method="all features", k=40, accuracy=best["accuracy"] + gain, selected=None)
    assert words in verdict(compare_methods(pd.concat([rows, whole])))
    even = best.assign(method="all features", k=40, selected=None)
    assert "Using all 40 features makes no significant difference (" in verdict(
        compare_methods(pd.concat([rows, even]))
    )


def test_the_axis_fits_the_curves_and_a_far_baseline_is_given_in_words():
    found = infused.compare("wine", methods=["anova"], k=[2, 4, 8], folds=3)
    chart = scores_chart(found.standings)
    chance = found.standings.references.set_index("method")["mean"].min()
    heights = [y for trace in chart.data for y in trace["y"] if y is not None]
    assert min(heights) > 100 * chance + 10
    assert f"Beyond the axis: majority class, {100 * chance:.1f}%." in chart.caption
