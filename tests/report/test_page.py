"""The page as text: self-contained, escaped, small, and with the sections that have something to say."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from jinja2 import UndefinedError

from infused import select
from infused.data import ReadOptions
from infused.record.sentences import number_sentences, result_sentences
from infused.report.figures import record_coefficients
from infused.report.html.charts import label, shortened
from infused.report.html.feature_charts import (
    distribution_charts,
    heat_chart,
    network_chart,
    network_layout,
    picture_chart,
)
from infused.report.html.page import PAPER, render_template
from infused.report.html.selection import MOST_ROWS, citations, render_report
from infused.report.html.selection_charts import (
    coefficient_chart,
    convergence_chart,
    explained_chart,
    number_chart,
)
from infused.selectors.choose.number import NumberCurve
from tests.record import records

MEGABYTE = 1e6
OUTSIDE = {"src", "href", "action", "data", "poster", "srcset", "background"}


class Reader(HTMLParser):
    """The tags of a page, its texts, and the contents of its scripts."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts, self.scripts, self.headings = [], [], [], []
        self._open = ""
        self.feed(page)
        self.policy = next(found["content"] for tag, found in self.tags if "http-equiv" in found)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._open = tag

    def handle_data(self, text):
        if self._open == "script":
            self.scripts.append((self.tags[-1][1], text))
        elif self._open == "h2":
            self.headings.append(text)
        self.texts.append(text)

    def handle_endtag(self, tag):
        self._open = ""


@pytest.fixture(scope="module")
def page():
    return Reader(render_report(records.digits_record()))


def payload_of(reader):
    return json.loads(next(code for found, code in reader.scripts if found.get("id") == "payload"))


def test_nothing_is_loaded_from_elsewhere(page):
    links = [value for _, found in page.tags for name, value in found.items() if name in OUTSIDE]
    assert links, "there are links inside the page"
    assert all(value.startswith("#") for value in links)
    assert not {tag for tag, _ in page.tags} & {"link", "iframe", "object", "embed", "base", "img"}


def test_only_the_scripts_of_the_page_may_run(page):
    assert "default-src 'none'" in page.policy
    assert "connect-src 'none'" in page.policy
    assert "unsafe-inline" not in page.policy.split("script-src")[1].split(";")[0]
    code = [text for found, text in page.scripts if found.get("type") != "application/json"]
    assert len(code) == 3
    for text in code:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in page.policy
    handlers = [name for _, found in page.tags for name in found if name.startswith("on")]
    assert not handlers


def test_the_table_has_every_feature_by_rank(page):
    record, payload = records.digits_record(), payload_of(page)
    assert sorted(payload["names"]) == sorted(record.features.names)
    assert payload["names"][: payload["selected"]] == [feature.name for feature in record.selected]
    assert payload["groups"] == [feature.group for feature in record.selected]
    for figure in ("alone", "unique"):
        expected = [getattr(feature, figure) for feature in record.selected]
        np.testing.assert_allclose(payload[figure], expected, rtol=1e-3)
    np.testing.assert_allclose(payload["coefficients"], [f.coefficients for f in record.selected], rtol=1e-3)


def test_sections_without_data_are_left_out(page):
    sections = ["What they explain", "Picture", "Redundancy", "Best features by class", "Technical details"]
    assert page.headings == ["Features", *sections, "Reproduce and cite"]
    record = replace(
        records.diabetes_record(), convergence=None, coefficient_names=(), redundancy=None, scatters=()
    )
    record = replace(record, selected=tuple(replace(f, coefficients=None) for f in record.selected))
    assert Reader(render_report(record)).headings == [
        "Features",
        "What they explain",
        "Technical details",
        "Reproduce and cite",
    ]


def test_nothing_selected_still_makes_a_page():
    record = records.cells_record()
    empty = replace(record, selected=(), redundancy=None, distributions=())
    reader = Reader(render_report(empty))
    assert payload_of(reader)["selected"] == 0
    assert reader.headings == ["Features", "Technical details", "Reproduce and cite"]
    assert "No feature was selected" in " ".join(reader.texts)


def test_a_hostile_name_adds_no_tag():
    reader = Reader(render_report(records.hostile_record()))
    assert not {tag for tag, _ in reader.tags} & {"img", "svg", "b", "i"}
    assert len([tag for tag, _ in reader.tags if tag == "script"]) == 4
    assert records.IMG in "".join(reader.texts)
    payload = payload_of(reader)
    assert set(records.HOSTILE[:9]) <= set(payload["names"])
    raw = next(code for found, code in reader.scripts if found.get("id") == "payload")
    assert not set(raw) & set("<\u2028\u2029")


def test_labels_of_charts_are_escaped():
    assert label("<b>&amp;</b>") == "&lt;b&gt;&amp;amp;&lt;/b&gt;"
    record = records.hostile_record()
    charts = [
        explained_chart(record),
        heat_chart(record),
        picture_chart(record),
        *distribution_charts(record),
    ]
    text = json.dumps([chart.data for chart in charts]) + json.dumps([chart.layout for chart in charts])
    assert "&lt;img" in text
    assert set(re.findall(r"<[^>]*>", text)) <= {"<br>", "<extra>", "</extra>"}


def test_the_library_can_stand_in_a_page():
    """With its licence beside it, and without anything that would end or change a script element."""
    assets = files("infused.report.html") / "assets"
    code = (assets / "plotly-cartesian.min.js").read_text(encoding="utf-8")
    assert not re.search(r"</script|<!--|\r", code, re.IGNORECASE)
    assert "MIT License" in (assets / "plotly-LICENSE.txt").read_text(encoding="utf-8")
    used = {trace["type"] for chart in payload_of_every_page() for trace in chart["data"]}
    assert used == {"bar", "heatmap", "scatter"}
    for kind in used:
        assert f'moduleType:"trace",name:"{kind}"' in code


def payload_of_every_page():
    pages = [records.digits_record(), records.cells_record(), records.diabetes_record()]
    return [chart for record in pages for chart in payload_of(Reader(render_report(record)))["charts"]]


def test_a_page_takes_about_one_and_a_half_megabytes():
    assert len(render_report(records.digits_record()).encode()) < 1.7 * MEGABYTE


def test_a_template_that_misses_a_word_is_an_error():
    with pytest.raises(UndefinedError, match="'border' is undefined"):
        render_template("notebook.html")


@pytest.mark.parametrize("name", ["g" * 20, "g" * 300, "\N{GREEK SMALL LETTER LAMDA}" * 300, "a<b&c " * 50])
def test_a_page_with_10_000_features_stays_under_3_mb(name):
    record = records.large_record()
    names = tuple(f"{n:05d}{name}{n:05d}" for n in range(len(record.features.names)))
    chosen = tuple(replace(feature, name=names[feature.index]) for feature in record.selected)
    long = replace(record, selected=chosen, features=replace(record.features, names=names))
    assert len(render_report(long).encode()) < 3 * MEGABYTE


def test_more_features_than_the_table_holds():
    n = MOST_ROWS + 500
    features = replace(
        records.cells_record().features,
        names=tuple(f"f{i}" for i in range(n)),
        scores=tuple(float(n - i) for i in range(n)),
        ranks=tuple(range(1, n + 1)),
    )
    record = records.cells_record()
    reader = Reader(
        render_report(replace(record, features=features, data=replace(record.data, n_features=n)))
    )
    assert payload_of(reader)["names"][-1] == f"f{MOST_ROWS - 1}"
    assert "The table holds the best 10,000 features" in " ".join(reader.texts)


def test_sentences_say_what_was_selected():
    record = records.cells_record()
    said = result_sentences(record)
    led = ", ".join(feature.name for feature in record.selected[:3])
    whole = "Top 8 of 30 features for predicting diagnosis (569 samples)"
    assert said.startswith(f"{whole}, ranked by InFusedLasso: {led} and 5 more.")
    assert said.endswith("of strongly correlated features (|r| >= 0.8).")
    failed = replace(record, convergence=replace(record.convergence, converged=False))
    assert result_sentences(failed).endswith("The solver did not converge: treat the order with care.")
    for wanted, words in ((0.25, ""), ("auto", ""), (None, "Chosen by the method.")):
        assert number_sentences(replace(record, request=replace(record.request, k=wanted))) == words
    assert "for predicting progression (442 samples)" in result_sentences(records.diabetes_record())


def test_bars_are_what_each_feature_explains():
    record = records.cells_record()
    alone, unique = explained_chart(record).data
    np.testing.assert_allclose(alone["x"], [100 * feature.alone for feature in record.selected], rtol=1e-3)
    np.testing.assert_allclose(unique["x"], [100 * feature.unique for feature in record.selected], rtol=1e-3)
    assert (alone["type"], unique["xaxis"]) == ("bar", "x2")
    layout = explained_chart(record).layout
    assert layout["xaxis"]["range"] == layout["xaxis2"]["range"] == [0, 100], "100% fills a bar"
    older = replace(record, selected=tuple(replace(one, unique=None) for one in record.selected))
    assert [trace["x"] for trace in explained_chart(older).data] == [alone["x"]], "not known, so not drawn"


def test_what_was_asked_and_what_it_ran_on(page):
    record = records.digits_record()
    words = " ".join(page.texts)
    for pair in (("Method", "infused-lasso"), ("Features asked for", "12"), ("Seed", "0")):
        assert pair in pairwise(text for text in page.texts if text.strip())
    assert "max_iter = 200" in words
    asked = replace(record.request, reading=ReadOptions.make(target="digit", impute="zero"))
    other = Reader(render_report(replace(record, request=replace(asked, source="a.csv", transform="auto"))))
    texts = list(pairwise(text for text in other.texts if text.strip()))
    assert {("Data", "a.csv"), ("Reading", "impute = zero"), ("Transform", "none (auto)")} <= set(texts)


def test_what_to_cite_and_how_to_run_it_again(page):
    words = " ".join(page.texts)
    assert "infused rerun selection.json" in words
    assert records.digits_record().data.fingerprint in words
    assert PAPER in words
    record = records.cells_record()
    assert citations(record) == [PAPER]
    assert citations(replace(record, reference="R. Battiti, 1994.")) == ["R. Battiti, 1994.", PAPER]
    assert citations(replace(record, reference=None)) == [PAPER]


def test_pixels_lie_where_they_belong():
    record = records.digits_record()
    drawn = picture_chart(record).data
    places = {(row, col) for row, line in enumerate(drawn[1]["z"]) for col, z in enumerate(line) if z}
    assert places == {tuple(map(int, feature.name.split("_")[1:])) for feature in record.selected}
    np.testing.assert_allclose(drawn[0]["z"], np.reshape(record.data.mean_picture, (8, 8)), rtol=1e-3)
    by_columns = picture_chart(replace(record, data=replace(record.data, grid_order="columns"))).data
    np.testing.assert_array_equal(by_columns[0]["z"], np.transpose(drawn[0]["z"]))


def test_linked_nodes_lie_closer_than_others():
    rng = np.random.default_rng(0)
    group = np.arange(24) // 6
    weights = np.where(group[:, None] == group, rng.uniform(0.8, 1.0, (24, 24)), 0.0)
    places = network_layout((weights + weights.T) / 2)
    distance = np.linalg.norm(places[:, None] - places[None], axis=2)
    together = group[:, None] == group
    assert distance[together].mean() < 0.5 * distance[~together].mean()
    assert np.abs(places).max() <= 0.5 + 1e-12
    np.testing.assert_array_equal(places, network_layout((weights + weights.T) / 2))


@pytest.mark.parametrize("weights", [np.ones((4, 4)), np.eye(3), np.eye(2), np.ones((2, 2))])
def test_a_layout_of_look_alikes_keeps_them_apart(weights):
    places = network_layout(weights.astype(float))
    distance = np.linalg.norm(places[:, None] - places[None], axis=2)
    assert distance[~np.eye(len(weights), dtype=bool)].min() > 0.1


def test_a_network_needs_an_edge():
    record = records.cells_record()
    assert network_chart(record) is not None
    alone = tuple(map(tuple, np.eye(len(record.selected)).tolist()))
    assert network_chart(replace(record, redundancy=replace(record.redundancy, matrix=alone))) is None
    assert heat_chart(replace(record, redundancy=None)) is None


def test_network_and_groups_agree():
    """Thick lines join exactly the pairs of one group, and every node has its name."""
    record = records.cells_record()
    by_name = {trace.get("name"): trace for trace in network_chart(record).data}
    thick, nodes = by_name["same redundancy group"], by_name[None]
    place = {pair: n for n, pair in enumerate(zip(nodes["x"], nodes["y"], strict=True))}
    ends = [place[pair] for pair in zip(thick["x"], thick["y"], strict=True) if pair[0] is not None]
    linked = {frozenset(pair) for pair in zip(ends[::2], ends[1::2], strict=True)}
    groups = [one.group for one in record.selected]
    assert linked == {
        frozenset((i, j))
        for i in range(len(groups))
        for j in range(i)
        if groups[i] is not None and groups[i] == groups[j]
    }
    assert nodes["text"] == [shortened(one.name, 14) for one in record.selected]


def test_a_flat_objective_draws_no_convergence():
    record = records.cells_record()
    flat = replace(record.convergence, path_objective=(1.0,) * 5, path_iterations=(1, 2, 3, 4, 5))
    assert convergence_chart(replace(record, convergence=flat)) is None


def luminance(colour):
    channels = np.array([int(colour[n : n + 2], 16) for n in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    light, dark = sorted([luminance(one), luminance(other)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_colours_have_the_contrast_of_wcag_aa(page, theme):
    style = page.texts[next(n for n, text in enumerate(page.texts) if "--ground" in text)]
    block = re.findall(r"\{[^}]*--ground[^}]*\}", style)[theme]
    colour = dict(re.findall(r"--(\w+): (#\w{6})[;\s]", block))
    for text in ("ink", "muted", "accent"):
        for ground in ("panel", "ground"):
            assert contrast(colour[text], colour[ground]) >= 4.5, (text, ground)
    assert contrast(colour["panel"], colour["accent"]) >= 4.5, "the pressed button"
    for mark in ("accent", "mark", "quiet", *(f"series{n}" for n in range(6))):
        assert contrast(colour[mark], colour["panel"]) >= 3, mark
    for node in ("quiet", "accent", *(f"series{n}" for n in range(6))):
        assert contrast(colour["onmark"], colour[node]) >= 3, node


def test_one_selected_feature_is_spoken_of_as_one():
    record = records.cells_record()
    one = replace(
        record, selected=record.selected[:1], redundancy=None, distributions=record.distributions[:1]
    )
    one = replace(one, request=replace(record.request, k=1))
    reader = Reader(render_report(one))
    words = " ".join(reader.texts)
    name = record.selected[0].name
    one_of = "One of 30 features was selected for predicting diagnosis (569 samples) by InFusedLasso"
    assert f"{one_of}: {name}." in words
    assert "What the selected feature explains" in words
    assert reader.headings == [
        "Features",
        "What they explain",
        "Redundancy",
        "Best features by class",
        "Technical details",
        "Reproduce and cite",
    ]


def test_group_counts_agree():
    """In the tile, the sentence, the table and below the charts."""
    record = records.cells_record()
    page = render_report(record)
    groups = {one.group for one in record.selected} - {None}
    words = "one group" if len(groups) == 1 else f"{len(groups)} groups"
    assert words in result_sentences(record)
    assert f"<dt>Redundancy groups</dt><dd>{len(groups)}</dd>" in page
    assert set(payload_of(Reader(page))["groups"]) - {None} == groups == set(range(1, len(groups) + 1))
    assert page.count("<dt>Group ") == len(groups)


@pytest.fixture(scope="module")
def curve():
    return NumberCurve(
        scoring="roc_auc", n_folds=5, ks=(1, 2, 3, 5, 8), means=(0.7, 0.8, 0.88, 0.9, 0.89),
        errors=(0.05, 0.04, 0.03, 0.02, 0.02), chance=0.5, all_features=0.85, best=5, chosen=3,
    )  # fmt: skip


def test_the_curve_of_the_number(curve):
    record = replace(records.cells_record(), number=curve)
    chart = number_chart(record)
    by_name = {trace.get("name"): trace for trace in chart.data}
    assert by_name["first k of the ranking"]["y"] == list(curve.means)
    assert by_name["chosen: 3"]["x"] == [3] and by_name["chosen: 3"]["y"] == [0.88]
    assert by_name["all 30 features"]["y"] == [0.85, 0.85] and by_name["majority class"]["y"] == [0.5, 0.5]
    band = chart.data[0]
    assert band["y"][0] == 0.75 and band["y"][-1] == 0.65
    page = render_report(record)
    assert number_sentences(record) == (
        "3 is the smallest number within one standard error of the best ROC AUC, 0.900 ± 0.020 with 5. "
        "Tried: 1, 2, 3, 5 and 8."
    )
    assert (
        "predict diagnosis: ROC AUC 0.880 ± 0.030 (all 30 features 0.850, the majority class 0.500)" in page
    )
    tiles = re.findall("<dt>(.*?)</dt>", page.partition('class="facts"')[2].partition("</dl>")[0])
    assert tiles.index("ROC AUC") < tiles.index("Samples")
    assert "Solver" not in tiles, "which is a technical detail"
    assert number_chart(records.cells_record()) is None


def test_an_error_is_drawn_as_it_is(curve):
    record = records.diabetes_record()
    errors = replace(
        curve, scoring="mae", means=(-60.0, -55.0, -50.0, -45.0, -46.0), chance=-70.0, all_features=None
    )
    chart = number_chart(replace(record, number=errors))
    assert chart.data[1]["y"] == [60.0, 55.0, 50.0, 45.0, 46.0]
    assert "mean of the target" in {trace.get("name") for trace in chart.data}


def test_findings_stand_at_the_top():
    record = records.digits_record()
    data = replace(record.data, notes=("left out: <b>",), warnings=("possible leakage",))
    page = render_report(replace(record, data=data))
    head = page[: page.index('id="features"')]
    assert "<li>Left out: &lt;b&gt;</li>" in head
    box = head[head.index('class="verdict warning"') :]
    assert box.index('<div class="warning"><dt>Warning</dt><dd>Possible leakage.</dd>') < box.index(
        "Top 12 of"
    )


def test_levels_of_categories_are_bars():
    record = records.digits_record()
    found = replace(record.distributions[0], levels=tuple("abc"), edges=(-0.5, 0.5, 1.5, 2.5))
    counts = tuple((1, 2, 3) for _ in found.counts)
    few = replace(
        record,
        data=replace(record.data, classes=record.data.classes[:2]),
        distributions=(replace(found, counts=counts[:2]),),
    )
    chart = distribution_charts(few)[0]
    assert [trace["type"] for trace in chart.data] == ["bar", "bar"]
    assert chart.layout["yaxis"]["ticktext"] == ["a", "b", "c"]
    assert chart.data[0]["y"] == [0, 1, 2] and chart.data[0]["orientation"] == "h"


def test_two_values_are_two_bars():
    record = records.digits_record()
    found = replace(record.distributions[0], levels=None, edges=(-0.5, 0.5, 1.5), counts=((3, 1), (1, 3)))
    few = replace(record, data=replace(record.data, classes=record.data.classes[:2]), distributions=(found,))
    chart = distribution_charts(few)[0]
    assert [(trace["type"], trace["x"]) for trace in chart.data] == [
        ("bar", [75.0, 25.0]), ("bar", [25.0, 75.0]),
    ]  # fmt: skip
    assert chart.layout["yaxis"]["ticktext"] == ["0", "1"]


def test_coefficients_of_categories_are_named_by_their_level():
    rng = np.random.default_rng(0)
    sex, site = rng.choice(["f", "m"], 90), rng.choice(["a", "b", "c"], 90)
    frame = pd.DataFrame({"dose": rng.normal(size=90), "sex": sex, "site": site})
    y = np.asarray(2 * frame["dose"] + (sex == "m") + (site == "b"))
    found = select((frame, y), k=3, method="lasso", stability=0, folds=0, costs={"dose": 2.0})
    assert sorted(record_coefficients(found.record).features) == ["dose", "sex=m"]
    chart = coefficient_chart(found.record)
    assert chart.caption.endswith(
        "A category of several levels has several coefficients, which are not shown."
    )
    costs = payload_of(Reader(found.report()))["others"]
    assert [one["key"] for one in costs] == ["cost"] and sorted(costs[0]["texts"]) == ["0", "0", "2"]
