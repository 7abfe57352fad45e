"""What the pages share: templates that escape every name, embedded data, and a strict policy."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from infused import __version__
from infused._runtime.messages import extra
from infused.record.sentences import Sentence, gravity
from infused.report.html.charts import Chart

PAPER = (
    'L. Bai, L. Cui, Y. Wang, P. S. Yu, E. R. Hancock, "Fused Lasso for Feature Selection using Structural '
    'Information".'
)
PACKAGE = "infused.report.html"  # has the templates and the assets
SHOWN_AT_FIRST = 6  # small charts; a button shows the others

Pair = tuple[str, str]
"""A name and a value."""


@dataclass(frozen=True)
class Section:
    """A heading, words and charts; where there are neither charts nor pairs, there is no section."""

    id: str
    title: str
    charts: list[Chart]
    note: str = ""
    legend: tuple[str, ...] = ()
    """Names of classes, in the colours of the series."""
    pairs: tuple[Pair, ...] = ()
    """What stands below the charts."""
    small: bool = False
    """Many small charts side by side, the first few of them shown."""
    folded: bool = False
    """Whether a reader has to open it."""


def render_page(
    template: str,
    *,
    sections: list[Section],
    verdict: Sequence[Sentence],
    scripts: tuple[str, ...] = (),
    payload: dict[str, Any] | None = None,
    **words: Any,
) -> str:
    """Render a page from its template, with style, scripts and data inside.

    plotly.js is inlined as it is (1.5 MB). Packed as base64 and unpacked by the browser it would take less,
    but a page that unpacks a blob and runs it is what mail filters reject, and older browsers fail on it.

    Parameters
    ----------
    template : str
        One that extends page.html.
    sections : list of Section
        Those without charts and pairs are left out.
    verdict : sequence of Sentence
        What the box at the top says.
    scripts : tuple of str, default=()
        Assets that the page has beside the one that draws the charts.
    payload : dict, default=None
        For these scripts; the charts are added.
    **words : dict
        What the template asks for; all of it is escaped.
    """
    shown = [section for section in sections if section.charts or section.pairs]
    charts = [chart for section in shown for chart in section.charts]
    script = "".join(_asset(name) for name in (*scripts, "charts.js"))
    theme, library = _asset("theme.js"), _asset("plotly-cartesian.min.js")
    return render_template(
        template,
        policy=_policy(theme, script, library),
        style=_asset("page.css"),
        theme=theme,
        script=script,
        library=library,
        payload=embedded({**(payload or {}), "charts": [_drawing(chart) for chart in charts]}),
        sections=shown,
        verdict=verdict,
        gravity=gravity(verdict),
        shown_at_first=SHOWN_AT_FIRST,
        version=__version__,
        **words,
    )


def render_template(template: str, **words: Any) -> str:
    """Render a template with its words, every one of them escaped."""
    return str(_templates().get_template(template).render(words))


@cache
def _templates() -> Any:
    jinja2 = extra("jinja2")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(PACKAGE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["options"] = _options
    return environment


def _options(text: str) -> Any:
    """Escape a text, and keep options of the command line on one line."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"(?<!\S)(--[a-z][a-z-]*)", r"<code>\1</code>", str(escape(text))))


def _drawing(chart: Chart) -> dict[str, Any]:
    return {"id": f"chart-{chart.id}", "data": chart.data, "layout": {**chart.layout, "height": chart.height}}


def embedded(payload: Any) -> str:
    """Write JSON that can stand in a script element: no character ends the element or opens a comment."""
    plain = json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<\u2028\u2029":
        plain = plain.replace(character, f"\\u{ord(character):04x}")
    return plain


def _policy(*scripts: str) -> str:
    """Let only these scripts run, and nothing be fetched; plotly writes styles, which are allowed."""
    hashes = [base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() for code in scripts]
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "connect-src 'none'; base-uri 'none'; form-action 'none'"
    )


def _asset(name: str) -> str:
    """Read a file that comes with the package."""
    return (files(PACKAGE) / "assets" / name).read_text(encoding="utf-8")
