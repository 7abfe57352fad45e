"""The comparison page in a real browser: it draws on any width, and asks no one for anything."""

from __future__ import annotations

import pytest

from infused.bench.standings import compare_methods
from infused.report.html.comparison import render_comparison
from tests.bench.made_rows import make_rows
from tests.report.test_browser import CHROMIUM, SWITCHES, drawn_charts, playwright, shown_charts
from tests.report.test_compare_page import COMMAND, HOSTILE

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH: apt-get install chromium")

MANY = {f"method-{n}": 0.9 - 0.005 * n for n in range(12)} | {"random": 0.6}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("comparisons")
    kinds = {
        "few": (make_rows(), {"command": COMMAND}),
        "many": (make_rows(("spectra",), MANY, ks=(5, 10, 50), repeats=1), {}),
        "leaky": (make_rows(protocol="leaky"), {}),
        "hostile": (make_rows((HOSTILE,), {HOSTILE: 0.9, "@accent": 0.8, "$x^2$": 0.7}), {"title": HOSTILE}),
    }
    for name, (rows, more) in kinds.items():
        (folder / f"{name}.html").write_text(
            render_comparison(compare_methods(rows), **more), encoding="utf-8"
        )
    return folder


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=SWITCHES.split())
        yield browser
        browser.close()


@pytest.mark.parametrize(
    ("name", "width", "charts"), [("few", 1280, 4), ("many", 390, 4), ("leaky", 1280, 3), ("hostile", 390, 4)]
)
def test_every_chart_is_drawn_and_nothing_is_asked_for(pages, chromium, name, width, charts):
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme="dark")
    page = context.new_page()
    complaints, requests = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    address = (pages / f"{name}.html").as_uri()
    page.goto(address)
    page.wait_for_selector("html[data-ready=true]", timeout=60_000)
    assert drawn_charts(page) == shown_charts(page) == charts
    assert page.evaluate("document.documentElement.scrollWidth") == width
    if name == "many":
        page.set_viewport_size({"width": 1280, "height": 900})
        page.wait_for_timeout(400)
        ends = [f"#chart-scores {part}').getBoundingClientRect()" for part in (".legend", ".gridlayer")]
        legend, plot = (page.evaluate(f"document.querySelector('{end}.toJSON()") for end in ends)
        assert legend["bottom"] <= plot["top"] + 1  # the legend does not lie on the curves
    if name == "few":
        _check_theme_and_paper(page)
    if name == "hostile":
        texts = page.evaluate("[...document.querySelectorAll('.chart text')].map((one) => one.textContent)")
        assert {"@accent", "$x^2$"} <= set(texts)
        assert page.locator("img, main script").count() == 0
    assert {one for one in requests if not one.startswith("data:")} == {address}
    assert complaints == []
    context.close()


def _check_theme_and_paper(page):
    """The button changes page and charts; paper is light."""
    ground = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.querySelector('#chart-scores .xtick text')).fill"
    dark = page.evaluate(ground), page.evaluate(ink)
    page.locator("#theme").click()
    light = page.evaluate(ground), page.evaluate(ink)
    assert light[0] != dark[0]
    assert light[1] != dark[1]
    page.locator("#theme").click()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("html").get_attribute("data-theme") == "light"
    widest = page.evaluate(
        "Math.max(...[...document.querySelectorAll('.main-svg')].map((svg) => svg.clientWidth))"
    )
    assert widest <= 680
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(ground) == dark[0]
