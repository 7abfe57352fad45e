// Draws the charts of a page in the colours of its theme, again when the theme, the width or the medium changes.
"use strict";
(() => {
  const { charts } = JSON.parse(document.getElementById("payload").textContent);
  const byId = (id) => document.getElementById(id);
  const root = document.documentElement;
  const COLOUR_KEYS = new Set(["color", "fillcolor", "colorscale"]);
  const drawn = new Map();  // widths by chart

  function palette() {
    const style = getComputedStyle(root);
    return (token) => {
      const values = style.getPropertyValue(`--${token}`).trim().split(/\s+/);
      // Several colours are a scale, evenly spaced.
      return values.length === 1 ? values[0] : values.map((value, n) => [n / (values.length - 1), value]);
    };
  }

  // Replaces @tokens by colours, under keys of colours only: a feature may be called "@accent".
  function coloured(value, colour, key = "") {
    if (Array.isArray(value)) return COLOUR_KEYS.has(key) || typeof value[0] === "object"
      ? value.map((item) => coloured(item, colour, key)) : value;
    if (value !== null && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, coloured(item, colour, name)]));
    }
    return typeof value === "string" && COLOUR_KEYS.has(key) && value.startsWith("@") ? colour(value.slice(1)) : value;
  }

  function template(colour, small) {
    const size = small ? 11 : 12;
    const axis = { gridcolor: colour("grid"), linecolor: colour("line"), zeroline: false, zerolinecolor: colour("zero"),
      ticks: "", ticklabelstandoff: 5, tickfont: { size }, title: { font: { size: 12 }, standoff: 10 }, automargin: true };
    const bar = { thickness: 10, outlinewidth: 0, tickfont: { size: 11 }, title: { font: { size: 11 } } };
    return {
      layout: {
        font: { family: getComputedStyle(document.body).fontFamily, size, color: colour("muted") },
        paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
        margin: small ? { l: 36, r: 8, t: 6, b: 28 } : { l: 52, r: 16, t: 8, b: 44 },
        hoverlabel: { bgcolor: colour("ink"), bordercolor: colour("ink"), font: { color: colour("panel"), size: 12 } },
        legend: { orientation: "h", x: 0, y: 1, yanchor: "bottom", font: { size: 12 } },
        hovermode: "closest", showlegend: false, xaxis: axis, yaxis: axis,
      },
      data: { heatmap: [{ type: "heatmap", colorbar: bar }] },
    };
  }

  // Heat maps name their rows and columns once; a cell says both.
  function named(trace) {
    if (!trace.crossed) return trace;
    const { crossed: { rows, columns }, ...rest } = trace;
    return { ...rest, customdata: rows.map((row) => columns.map((column) => `${row}<br>${column}`)) };
  }

  function draw(chart, colour) {
    const place = byId(chart.id);
    if (!place.offsetParent) return;  // not shown yet
    const small = Boolean(place.closest(".small"));
    const touch = matchMedia("(pointer: coarse)").matches;  // a finger on a chart should scroll the page
    const width = place.clientWidth;
    const layout = { ...coloured(chart.layout, colour), width, template: template(colour, small) };
    const plot = drawn.get(chart.id) === width ? Plotly.react : Plotly.newPlot;  // react leaves the legend where it was
    if (touch) layout.dragmode = false;
    plot(place, chart.data.map((trace) => named(coloured(trace, colour))), layout, { displayModeBar: false, showTips: false });
    drawn.set(chart.id, width);
  }

  function drawAll() {
    const colour = palette();
    for (const chart of charts) draw(chart, colour);
  }

  // One after the other, so that the page answers in between.
  function drawInTurn(n = 0) {
    if (n === charts.length) { root.dataset.ready = "true"; return; }
    draw(charts[n], palette());
    setTimeout(drawInTurn, 0, n + 1);
  }

  function showTheme() {
    const dark = root.dataset.theme === "dark";
    byId("theme").setAttribute("aria-pressed", String(dark));
    byId("theme").textContent = dark ? "Light" : "Dark";
    if (drawn.size) drawAll();
  }

  function showMore(event) {
    event.target.closest("section").classList.add("complete");
    event.target.remove();
    drawAll();
  }

  for (const folded of document.querySelectorAll("details.folded")) folded.addEventListener("toggle", drawAll);
  byId("theme").addEventListener("click", () => window.infusedTheme.toggle());
  for (const button of document.querySelectorAll(".more")) button.addEventListener("click", showMore);
  root.addEventListener("themechange", showTheme);
  showTheme();
  document.addEventListener("DOMContentLoaded", () => drawInTurn());
  let width = innerWidth, waiting = 0;
  addEventListener("resize", () => {
    if (innerWidth === width) return;  // the address bar of a phone comes and goes
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 150);
  });

  // ---- paper: light, and as wide as a sheet ----
  addEventListener("beforeprint", () => {
    root.classList.add("paper");
    for (const folded of document.querySelectorAll("details.folded")) folded.open = true;
    window.infusedTheme.show("light");
    drawAll();
  });
  addEventListener("afterprint", () => {
    root.classList.remove("paper");
    window.infusedTheme.show(window.infusedTheme.current());
    drawAll();
  });
})();
