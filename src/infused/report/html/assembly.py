"""What the pages share: sections of charts, embedded data, and a policy that lets nothing else run."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from infused.report.html.charts import Chart

__all__ = ["SHOWN_AT_FIRST", "Section", "asset", "embedded", "fill", "there"]

SHOWN_AT_FIRST = 6  # small charts; a button shows the others


@dataclass(frozen=True)
class Section:
    """A heading, words and charts."""

    id: str
    title: str
    charts: list[Chart]
    before: str = ""
    after: str = ""
    small: bool = False
    """Many small charts side by side, the first few of them shown."""

    def html(self) -> str:
        """The section; its charts are empty places until the page's script draws them."""
        numbers = [f"{n + 1}. " if self.small else "" for n in range(len(self.charts))]
        hidden = [self.small and n >= SHOWN_AT_FIRST for n in range(len(self.charts))]
        cards = "".join(_card(*each) for each in zip(self.charts, numbers, hidden, strict=True))
        heading = f'<h2 id="{self.id}-title">{escape(self.title)}</h2>'
        charts = f'<div class="charts{" small" * self.small}">{cards}</div>' if cards else ""
        inside = f"{heading}{self.before}{charts}{self.after}"
        return f'<section id="{self.id}" aria-labelledby="{self.id}-title">{inside}</section>'

    def link(self) -> str:
        """For the bar above the page."""
        return f'<a href="#{self.id}">{escape(self.title)}</a>'


def there(*charts: Chart | None) -> list[Chart]:
    """Those that have something to show."""
    return [chart for chart in charts if chart is not None]


def _card(chart: Chart, number: str, hidden: bool) -> str:
    kinds = " ".join(["card", *["wide"] * chart.wide, *["extra"] * hidden])
    caption = f"<p>{escape(chart.caption)}</p>" if chart.caption else ""
    title, said = escape(chart.title), escape(f"Chart: {chart.title}. {chart.caption}")
    return (
        f'<figure class="{kinds}"><figcaption><h3 title="{title}">{number}{title}</h3>{caption}</figcaption>'
        f'<div class="chart" id="chart-{chart.id}" role="img" aria-label="{said}" '
        f'style="height:{chart.height}px"></div></figure>'
    )


def fill(
    template: str, *, style: str, script: str, payload: dict[str, Any], charts: list[Chart], **texts: str
) -> str:
    """A page from a template: style, scripts and data inside, and a policy that names the scripts.

    plotly.js is inlined as it is (4.8 MB). Packed as base64 and unpacked by the browser it would take 2 MB,
    but a page that unpacks a blob and runs it is what mail filters reject, and older browsers fail on it.

    Parameters
    ----------
    template : str
        The name of an asset with ``$policy``, ``$style``, ``$theme``, ``$payload``, ``$script``, ``$library``
        and one place for each of ``texts``.
    style, script : str
        The page's own; the script that draws the charts is added.
    payload : dict
        For the page's script; ``charts`` are added.
    charts : list of Chart
    **texts : str
        HTML.
    """
    from plotly.offline import get_plotlyjs

    theme, library = asset("theme.js"), _as_script(get_plotlyjs())
    script += asset("charts.js")
    return Template(asset(template)).substitute(
        policy=_policy([theme, script, library]),
        style=style,
        theme=theme,
        payload=embedded({**payload, "charts": [_drawing(chart) for chart in charts]}),
        script=script,
        library=library,
        **texts,
    )


def _drawing(chart: Chart) -> dict[str, Any]:
    return {"id": f"chart-{chart.id}", "data": chart.data, "layout": {**chart.layout, "height": chart.height}}


def embedded(payload: Any) -> str:
    """JSON that can stand in a script element: no character of it ends the element or opens a comment."""
    plain = json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<\u2028\u2029":
        plain = plain.replace(character, f"\\u{ord(character):04x}")
    return plain


def _as_script(code: str) -> str:
    """Code that can stand in a script element; inside strings and patterns ``<\\/`` means ``</``."""
    return code.replace("</script", "<\\/script").replace("\r\n", "\n")


def _policy(scripts: list[str]) -> str:
    """Only these scripts run, and nothing is fetched; plotly writes styles, which are therefore allowed."""
    hashes = [base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() for code in scripts]
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "connect-src 'none'; base-uri 'none'; form-action 'none'"
    )


def asset(name: str) -> str:
    """The text of a file that comes with the package."""
    return (files("infused.report") / "assets" / name).read_text(encoding="utf-8")
