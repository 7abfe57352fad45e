"""The page in a real browser: it draws, sorts, searches, and asks no one for anything."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

import infused
from infused import explain
from infused.report.html.selection import render_report
from tests.record import records

playwright = pytest.importorskip(
    "playwright.sync_api", reason="Playwright is not installed: pip install playwright"
)

CHROMIUM = next(
    (path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH: apt-get install chromium")

SWITCHES = (
    "--no-sandbox --headless --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
#: Where axe-core is (npm pack axe-core): axe.min.js.
AXE = os.environ.get("INFUSED_AXE")
BARS = """(figure) => [...document.querySelectorAll(`td.${figure} .track span`)].map(
  (bar) => (100 * bar.offsetWidth) / bar.parentElement.offsetWidth)"""
LABELS = """() => [...document.querySelectorAll("#chart-distribution0 .ytick text")].filter((text) => {
  const place = text.getBoundingClientRect(), chart = text.closest(".chart").getBoundingClientRect();
  return getComputedStyle(text).display !== "none" && place.width > 0 && place.left >= chart.left;
}).map((text) => text.textContent)"""
TYPE_AND_MEASURE = """() => {
  const field = document.getElementById("search");
  return ["e", "en", "_9", "5", "_7", "1_", "zz", "9", "p", ""].map((text) => {
    const start = performance.now();
    field.value = text;
    field.dispatchEvent(new Event("input"));
    document.body.offsetHeight;  // the layout is part of the answer
    return performance.now() - start;
  });
}"""


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=SWITCHES.split())
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name in ("digits", "cells", "diabetes", "hostile", "large", "halved"):
        page = render_report(getattr(records, f"{name}_record")())
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    for data, feature in (("breast-cancer", "worst area"), ("diabetes", "bmi")):
        explain(data, feature).report(folder / f"{feature}.html")
    return folder


@pytest.fixture
def open_page(browser, folder):
    """Opens a page and says at the end whether it complained or asked for anything but itself."""

    @contextmanager
    def opened(name, width=1280, expected="nothing", **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        page = context.new_page()
        complaints, requests = [], []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        address = (folder / f"{name}.html").as_uri()
        page.goto(address)
        page.wait_for_selector("html[data-ready=true]", timeout=60_000)
        yield page
        assert requests and {one for one in requests if not one.startswith("data:")} == {address}
        assert not [text for text in complaints if expected not in text]
        context.close()

    return opened


def names(page):
    return page.locator("td.name").all_inner_texts()


def numbers(page, column):
    return [float(text.strip("%")) for text in page.locator(f"td.{column}").all_inner_texts()]


def shown_charts(page):
    """Charts on the page once what is folded is open."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    return page.locator(".chart:visible").count()


def drawn_charts(page):
    """Charts that hold marks: lines, dots, bars or the picture of a heat map."""
    marks = ".trace path, .heatmaplayer image"
    return sum(chart.locator(marks).count() > 0 for chart in page.locator(".chart").all())


def test_each_section_shows_its_own_further_charts(open_page, folder):
    X, y = make_friedman1(200, 8, random_state=0)
    found = infused.select((X, y), k=7, method="hsic-lasso", stability=0, folds=0)
    found.report(folder / "relation.html")
    with open_page("relation") as page:

        def shown():
            parts = ("relation", "distributions")
            return [page.locator(f"#{part} .chart:visible").count() for part in parts]

        assert shown() == [6, 6]
        page.locator("#relation .more").click()
        assert shown() == [7, 6]
        page.locator("tbody tr").nth(6).click()  # opens the distribution of that feature
        assert shown() == [7, 7] and page.locator(".more").count() == 0


def test_table_and_charts_answer(open_page):
    record = records.digits_record()
    with open_page("digits") as page:
        assert names(page) == [feature.name for feature in record.selected]
        assert drawn_charts(page) == shown_charts(page) == 14
        page.get_by_role("button", name="Show all 12").click()
        assert drawn_charts(page) == shown_charts(page) == 20

        for figure, title in (("alone", "Explains alone"), ("unique", "Adds to the others")):
            heading = page.get_by_role("columnheader", name=title)
            heading.get_by_role("button").click()
            assert heading.get_attribute("aria-sort") == "descending"
            assert numbers(page, figure) == sorted(numbers(page, figure), reverse=True)
            heading.get_by_role("button").click()
            assert heading.get_attribute("aria-sort") == "ascending"
            assert numbers(page, figure) == sorted(numbers(page, figure))
            assert page.locator("th[aria-sort=none]").count() == 6
            filled = np.array(page.evaluate(BARS, figure))
            shares = np.clip(numbers(page, figure), 0, 100)
            assert np.abs(filled - shares).max() < 5, "100% fills a bar"

        page.get_by_role("button", name="All (64)").click()
        page.get_by_label("Search by name").fill("PIXEL_3 7")
        assert names(page) == ["pixel_3_7"]
        assert page.locator("#status").inner_text() == "1 of 64 match"


def test_the_keyboard_is_enough_to_search_sort_and_turn_pages(open_page):
    with open_page("cells") as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.locator("#search").focus()
        page.keyboard.type("worst")
        found = names(page)
        assert found and all("worst" in name for name in found)
        page.keyboard.press("Control+A")
        page.keyboard.press("Delete")
        for _ in range(5):  # past Selected, All and the technical columns to the second heading
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.locator("th[aria-sort=ascending]").inner_text().startswith("Feature")
        assert names(page) == sorted(names(page))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "3px"

        page.locator("#every").press("Enter")
        first = names(page)
        assert len(first) == 20
        page.locator("#next").press("Enter")
        assert len(names(page)) == 10
        assert page.locator("#page").inner_text() == "Page 2 of 2"
        assert sorted(first + names(page)) == sorted(records.cells_data().feature_names)
        assert page.locator("#next").is_disabled()


def test_a_hostile_name_stays_text(open_page):
    record = records.hostile_record()
    with open_page("hostile", expected="Content Security Policy") as page:
        page.get_by_role("button", name="Show all 9").click()
        # A name of 300 letters must not widen a phone's screen either.
        page.set_viewport_size({"width": 390, "height": 844})
        page.wait_for_timeout(300)
        width = page.evaluate("document.documentElement.scrollWidth")
        texts = page.evaluate(
            "[...document.querySelectorAll('td.name > :first-child')].map((cell) => cell.textContent)"
        )
        drawn = page.evaluate("[...document.querySelectorAll('.chart text')].map((text) => text.textContent)")
        assert width == 390
        assert texts[:1] == [record.selected[0].name]
        assert records.IMG in texts
        assert any("<img src=" in text for text in drawn), "the label shows the name, shortened"
        assert {"<b>bold</b>", "&lt;i&gt;", "%{x} $x^2$", "@accent"} <= set(drawn)
        place = [feature.name for feature in record.selected].index("<b>bold</b>")
        page.locator("#chart-scores .point").nth(place).hover(force=True)
        assert page.locator(".hovertext").first.text_content().startswith("<b>bold</b>")
        assert page.locator("img, a[href^=http], .chart svg a, main script").count() == 0
        assert page.locator(".chart tspan[style*=bold]").count() == 0
        # Even markup that some future mistake lets through runs nothing and fetches nothing.
        markup = "<details open ontoggle=window.__hacked=3>"
        page.evaluate("(markup) => document.body.insertAdjacentHTML('beforeend', markup)", markup)
        page.wait_for_timeout(100)
        assert page.evaluate("window.__hacked") is None
        assert page.evaluate("fetch('https://example.org').then(() => 'sent', () => 'blocked')") == "blocked"


def test_dark_follows_the_system_and_the_toggle_is_remembered(open_page):
    ground = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.querySelector('#chart-scores .xtick text')).fill"
    with open_page("diabetes", color_scheme="dark") as page:
        dark = page.evaluate(ground), page.evaluate(ink)
        button = page.locator("#theme")
        assert button.get_attribute("aria-pressed") == "true"
        button.click()
        light = page.evaluate(ground), page.evaluate(ink)
        assert light[0] != dark[0]
        assert light[1] != dark[1], "charts change with the page"
        page.reload()
        page.wait_for_selector("html[data-ready=true]")
        assert (page.evaluate(ground), page.evaluate(ink)) == light
        assert drawn_charts(page) == shown_charts(page)


def test_paper_is_light_and_complete(open_page):
    with open_page("cells", width=390, color_scheme="dark") as page:
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        boxes = page.evaluate(
            "[...document.querySelectorAll('main *')].map((e) => e.getBoundingClientRect().right)"
        )
        assert max(boxes) <= 390, "nothing is cut on a phone"
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("html").get_attribute("data-theme") == "light"
        assert drawn_charts(page) == page.locator(".chart").count() == 14, (
            "also those that the screen had not shown"
        )
        widest = page.evaluate(
            "Math.max(...[...document.querySelectorAll('.main-svg')].map((svg) => svg.clientWidth))"
        )
        assert widest <= 680
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
        assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_10_000_features_answer_as_quickly_as_150(open_page):
    with open_page("large") as page:
        selected = median(page.evaluate(TYPE_AND_MEASURE))
        page.get_by_role("button", name="All (10,000)").click()
        everything = median(page.evaluate(TYPE_AND_MEASURE))
        assert page.locator("tbody tr").count() == 20, "only what is seen is in the page"
        assert everything < 15 * max(selected, 1.0)
        page.get_by_label("Search by name").fill("probe_1234")
        assert sorted(names(page))[0].endswith("_probe_1234")
        assert drawn_charts(page) == shown_charts(page)


NAMES_AND_NUMBERS = """() => {
  const tops = (cell) => [...cell.firstChild.getClientRects()].map((box) => Math.round(box.top));
  const lines = (cell) => new Set(tops(cell)).size;
  const cells = (kind) => [...document.querySelectorAll(`#table td.${kind}`)];
  return {
    widths: cells("name").map((cell) => cell.offsetWidth),
    numbers: ["alone", "unique", "frequency"].flatMap(cells).map(lines),
    page: document.documentElement.scrollWidth <= innerWidth,
  };
}"""


@pytest.mark.parametrize("name", ["cells", "digits", "halved"])
def test_names_have_room_and_numbers_stay_on_a_line(open_page, name):
    with open_page(name, width=1400) as page:
        for width, media in ((1400, "screen"), (800, "screen"), (720, "screen"), (720, "print")):
            page.set_viewport_size({"width": width, "height": 900})
            if media == "print":
                page.emulate_media(media="print")
                page.evaluate("dispatchEvent(new Event('beforeprint'))")
            found = page.evaluate(NAMES_AND_NUMBERS)
            assert min(found["widths"]) >= 170, width
            assert set(found["numbers"]) == {1} and found["page"], width


def test_labels_of_bars_never_vanish(browser, tmp_path):
    """Levels with long names, and the missing values below them, in charts as narrow as on a phone."""
    record = records.cells_record()
    levels = (*(f"Southampton number {n}" for n in range(12)), "(missing)")
    found = replace(
        record.distributions[0],
        levels=levels,
        edges=tuple(n - 0.5 for n in range(14)),
        counts=((1,) * 13, (2,) * 13),
    )
    path = tmp_path / "levels.html"
    path.write_text(render_report(replace(record, distributions=(found,) * 3)), encoding="utf-8")
    for width in (390, 1280):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=true]", timeout=60_000)
        shown = page.evaluate(LABELS)
        assert len(shown) == 13 and shown[-1] == "(missing)"
        page.close()


@pytest.mark.parametrize("name", ["worst area", "bmi"])
def test_the_page_of_a_feature_draws_and_fits_a_phone(open_page, name):
    for width, scheme in ((390, "dark"), (1280, "light")):
        with open_page(name, width=width, color_scheme=scheme) as page:
            assert drawn_charts(page) == shown_charts(page) == 3
            assert page.evaluate("document.documentElement.scrollWidth") == width
            assert page.locator("h1").inner_text() == name


@pytest.mark.skipif(AXE is None, reason="INFUSED_AXE names no axe.min.js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["digits", "cells", "diabetes", "halved", "worst area", "bmi"])
def test_axe_finds_nothing(open_page, name, scheme):
    with open_page(
        name, width=390 if scheme == "dark" else 1280, color_scheme=scheme, bypass_csp=True
    ) as page:
        page.evaluate(Path(AXE).read_text(encoding="utf-8"))
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        assert not [(one["impact"], one["id"], one["nodes"][0]["html"]) for one in found]
