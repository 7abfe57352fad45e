// The table (search, sorting, pages) and the drawing of the charts. Names reach the page by textContent only.
"use strict";
(() => {
  const ROWS = 20, ROWS_ON_PAPER = 200;
  const payload = JSON.parse(document.getElementById("payload").textContent);
  const byId = (id) => document.getElementById(id);
  const root = document.documentElement;

  // ---- table ----
  const places = payload.names.map((_, n) => n);
  const lowered = payload.names.map((name) => name.toLowerCase());
  const scores = payload.scores.filter((score) => score !== null);
  const lowest = Math.min(0, ...bounds(scores)), highest = Math.max(...bounds(scores));
  const strongest = payload.coefficients.map((row) =>
    row.reduce((best, b, n) => (best < 0 || Math.abs(b ?? 0) > Math.abs(row[best] ?? 0) ? n : best), -1));
  const state = { query: "", only: payload.selected > 0, key: "rank", down: false, page: 0, rows: ROWS };
  let ordered = places;

  function bounds(values) {  // Math.min(...values) runs out of stack on long lists
    let low = Infinity, high = -Infinity;
    for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); }
    return values.length ? [low, high] : [0, 0];
  }

  function number(value, digits = 4) {
    if (value === null || value === undefined) return "–";
    const size = Math.abs(value);
    const text = size === 0 ? "0" : size >= 1e6 || size < 1e-3 ? value.toExponential(2)
      : size >= 1000 ? Math.round(value).toLocaleString("en") : value.toPrecision(digits);
    return text.replaceAll("-", "−");
  }

  const signed = (value) => (value > 0 ? "+" : "") + number(value, 3);
  const top = (n) => (n < payload.selected ? payload.coefficients[n][strongest[n]] ?? null : null);
  const columns = [
    { key: "rank", title: "Rank", value: (n) => n + 1, text: (n) => String(n + 1), numeric: true },
    { key: "name", title: "Feature", value: (n) => lowered[n], text: (n) => payload.names[n] },
    { key: "score", title: "Score", value: (n) => payload.scores[n], text: (n) => number(payload.scores[n]),
      numeric: true, bar: (n) => (payload.scores[n] - lowest) / (highest - lowest || 1), high: true,
      present: scores.length > 0 },
    { key: "coefficient", title: payload.coefficientNames.length > 1 ? "Largest coefficient" : "Coefficient", short: "Coefficient",
      value: (n) => (top(n) === null ? null : Math.abs(top(n))), text: coefficientText, numeric: true, high: true,
      present: payload.coefficientNames.length > 0 },
    { key: "explained", title: "Explained", value: (n) => payload.relevance[n] ?? null,
      text: (n) => (n < payload.selected ? `${(100 * payload.relevance[n]).toFixed(0)}%` : "–"), numeric: true,
      high: true, present: payload.selected > 0 },
    { key: "group", title: "Group", value: (n) => payload.groups[n] ?? null,
      text: (n) => String(payload.groups[n] ?? "–"), numeric: true, present: payload.selected > 0 },
  ].filter((column) => column.present !== false);

  function coefficientText(n) {
    if (top(n) === null) return "–";
    if (payload.coefficientNames.length === 1) return signed(top(n));
    return `${payload.coefficientNames[strongest[n]]}: ${signed(top(n))}`;
  }

  function element(tag, attributes = {}, text = "") {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text) made.textContent = text;
    return made;
  }

  function buildHead() {
    const row = byId("table").tHead.rows[0];
    for (const column of columns) {
      const head = element("th", { role: "columnheader", scope: "col", class: column.numeric ? "number" : "" });
      const button = element("button", { type: "button" }, column.title);
      button.addEventListener("click", () => sortBy(column));
      head.append(button);
      row.append(head);
    }
  }

  function sortBy(column) {
    // A first click shows the largest numbers on top where large is good, and the smallest elsewhere.
    state.down = state.key === column.key ? !state.down : Boolean(column.high);
    state.key = column.key;
    state.page = 0;
    order();
    show();
  }

  function order() {
    const { value } = columns.find((column) => column.key === state.key);
    const sign = state.down ? -1 : 1;
    const keys = places.map(value);
    ordered = [...places].sort((a, b) => {
      if (keys[a] === null || keys[b] === null) return (keys[a] === null) - (keys[b] === null) || a - b;
      return keys[a] < keys[b] ? -sign : keys[a] > keys[b] ? sign : a - b;
    });
  }

  function matching() {
    const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
    return ordered.filter((n) => (!state.only || n < payload.selected) && words.every((word) => lowered[n].includes(word)));
  }

  function show() {
    const found = matching();
    const last = Math.max(0, Math.ceil(found.length / state.rows) - 1);
    state.page = Math.min(state.page, last);
    const from = state.page * state.rows;
    byId("table").tBodies[0].replaceChildren(...found.slice(from, from + state.rows).map(tableRow));
    [...byId("table").tHead.rows[0].cells].forEach((cell, n) => {
      const active = columns[n].key === state.key;
      cell.setAttribute("aria-sort", !active ? "none" : state.down ? "descending" : "ascending");
    });
    const whole = state.only ? payload.selected : payload.names.length;
    const count = found.length.toLocaleString("en");
    byId("status").textContent = found.length === whole
      ? `${count} ${whole === 1 ? "feature" : "features"}` : `${count} of ${whole.toLocaleString("en")} match`;
    byId("page").textContent = `Page ${(state.page + 1).toLocaleString("en")} of ${(last + 1).toLocaleString("en")}`;
    byId("previous").disabled = state.page === 0;
    byId("next").disabled = state.page === last;
    document.querySelector(".pages").hidden = last === 0;
  }

  function tableRow(n) {
    const row = element("tr", { role: "row", class: n < payload.selected ? "" : "other" });
    for (const column of columns) {
      const cell = element("td", { role: "cell", class: `${column.key} ${column.numeric ? "number" : ""}`,
        "data-title": column.short ?? column.title });
      const text = element("span", {}, column.text(n));
      cell.append(text);
      if (column.bar && payload.scores[n] !== null) {
        const bar = element("span", { class: "track", "aria-hidden": "true" });
        bar.append(element("span"));
        bar.firstChild.style.width = `${100 * column.bar(n)}%`;
        cell.append(bar);
      }
      row.append(cell);
    }
    return row;
  }

  function choose(only) {
    state.only = only;
    state.page = 0;
    byId("only").setAttribute("aria-pressed", String(only));
    byId("every").setAttribute("aria-pressed", String(!only));
    show();
  }

  function turn(step) {
    state.page += step;
    show();
  }

  buildHead();
  byId("search").addEventListener("input", (event) => { state.query = event.target.value; state.page = 0; show(); });
  byId("only").addEventListener("click", () => choose(true));
  byId("every").addEventListener("click", () => choose(false));
  byId("previous").addEventListener("click", () => turn(-1));
  byId("next").addEventListener("click", () => turn(1));
  byId("only").textContent = `Selected (${payload.selected.toLocaleString("en")})`;
  byId("every").textContent = `All (${payload.names.length.toLocaleString("en")})`;
  byId("only").disabled = payload.selected === 0;
  order();
  choose(state.only);

  // ---- charts ----
  const COLOUR_KEYS = new Set(["color", "fillcolor", "colorscale"]);
  const drawn = new Set();

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
    const layout = { ...coloured(chart.layout, colour), width: place.clientWidth, template: template(colour, small) };
    if (touch) layout.dragmode = false;
    Plotly.react(place, chart.data.map((trace) => named(coloured(trace, colour))), layout, { displayModeBar: false, showTips: false });
    drawn.add(chart.id);
  }

  function drawAll() {
    const colour = palette();
    for (const chart of payload.charts) draw(chart, colour);
  }

  // One after the other, so that the page answers in between.
  function drawInTurn(n = 0) {
    if (n === payload.charts.length) { root.dataset.ready = "true"; return; }
    draw(payload.charts[n], palette());
    setTimeout(drawInTurn, 0, n + 1);
  }

  function showTheme() {
    const dark = root.dataset.theme === "dark";
    byId("theme").setAttribute("aria-pressed", String(dark));
    byId("theme").textContent = dark ? "Light" : "Dark";
    if (drawn.size) drawAll();
  }

  function showMore() {
    byId("distributions").classList.add("complete");
    byId("more").remove();
    drawAll();
  }

  byId("theme").addEventListener("click", () => window.infusedTheme.toggle());
  byId("more")?.addEventListener("click", showMore);
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

  // ---- paper: light, as wide as a sheet, with the selected features ----
  let before = null;
  addEventListener("beforeprint", () => {
    before = { ...state };
    Object.assign(state, { rows: ROWS_ON_PAPER, page: 0 });
    root.classList.add("paper");
    show();
    window.infusedTheme.show("light");
    drawAll();
  });
  addEventListener("afterprint", () => {
    Object.assign(state, before);
    root.classList.remove("paper");
    show();
    window.infusedTheme.show(window.infusedTheme.current());
    drawAll();
  });
})();
