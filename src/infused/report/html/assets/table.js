// The table: search, sorting, pages. Names reach the page by textContent only.
"use strict";
(() => {
  const ROWS = 20, ROWS_ON_PAPER = 200;
  const payload = JSON.parse(document.getElementById("payload").textContent);
  const byId = (id) => document.getElementById(id);

  // ---- table ----
  const places = payload.names.map((_, n) => n);
  const lowered = payload.names.map((name) => name.toLowerCase());
  const strongest = payload.coefficients.map((row) =>
    row.reduce((best, b, n) => (best < 0 || Math.abs(b ?? 0) > Math.abs(row[best] ?? 0) ? n : best), -1));
  const state = { query: "", only: payload.selected > 0, key: "rank", down: false, page: 0, rows: ROWS };
  let ordered = places;

  const known = (values) => values.filter((value) => value !== null);

  function number(value, digits = 4) {
    if (value === null || value === undefined) return "–";
    const size = Math.abs(value);
    const text = size === 0 ? "0" : size >= 1e6 || size < 1e-3 ? value.toExponential(2)
      : size >= 1000 ? Math.round(value).toLocaleString("en") : value.toPrecision(digits);
    return text.replaceAll("-", "−");
  }

  const percent = (value) => (value === null || value === undefined ? "–"
    : `${(100 * value).toFixed(1).replace(/^-0\.0$/, "0.0").replace("-", "−")}%`);
  const signed = (value) => (value > 0 ? "+" : "") + number(value, 3);
  const top = (n) => (n < payload.selected ? payload.coefficients[n][strongest[n]] ?? null : null);
  const columns = [
    { key: "rank", title: "Rank", value: (n) => n + 1, text: (n) => String(n + 1), numeric: true },
    { key: "name", title: "Feature", value: (n) => lowered[n], text: (n) => payload.names[n] },
    { key: "direction", title: payload.titles.direction, value: (n) => payload.directions[n] || null,
      text: (n) => payload.directions[n] || "–", present: payload.directions.some(Boolean) },
    share("alone"),
    share("unique"),
    share("frequency"),
    ...payload.others.map(other),
    { key: "group", title: payload.titles.group, value: (n) => payload.groups[n] ?? null,
      text: (n) => String(payload.groups[n] ?? "–"), numeric: true, present: known(payload.groups).length > 0 },
    { key: "score", title: "Score", value: (n) => payload.scores[n], text: (n) => number(payload.scores[n]),
      numeric: true, high: true, present: known(payload.scores).length > 0 },
    { key: "coefficient", title: payload.coefficientNames.length > 1 ? "Largest coefficient" : "Coefficient", short: "Coefficient",
      value: (n) => (top(n) === null ? null : Math.abs(top(n))), text: coefficientText, numeric: true, high: true,
      present: payload.coefficientNames.length > 0 },
  ].filter((column) => column.present !== false);

  // A percentage with a bar below it, which 100% fills.
  function share(key) {
    const values = payload[key];
    return { key, title: payload.titles[key], value: (n) => values[n] ?? null, text: (n) => percent(values[n]), numeric: true, high: true,
      bar: (n) => Math.min(1, Math.max(0, values[n] ?? 0)), present: known(values).length > 0 };
  }

  // A column that few selections have: numbers to sort by, and what they say.
  function other({ key, values, texts, high }) {
    return { key, title: payload.titles[key], value: (n) => values[n] ?? null, text: (n) => texts[n] || "–", numeric: true, high };
  }

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
      const head = element("th", { role: "columnheader", scope: "col", class: `${column.key} ${column.numeric ? "number" : ""}` });
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
      const drawn = column.key === "name" && n < payload.distributions;
      const text = drawn ? element("button", { type: "button", class: "link", title: "Show its distribution" }, column.text(n))
        : element("span", {}, column.text(n));
      cell.append(text);
      if (column.bar && column.value(n) !== null) {
        const bar = element("span", { class: "track", "aria-hidden": "true" });
        bar.append(element("span"));
        bar.firstChild.style.width = `${100 * column.bar(n)}%`;
        cell.append(bar);
      }
      row.append(cell);
    }
    if (n < payload.distributions) {
      row.classList.add("drawn");
      row.addEventListener("click", () => showDistribution(n));
    }
    return row;
  }

  function showDistribution(n) {
    const figure = byId(`chart-distribution${n}`).closest("figure");
    if (figure.classList.contains("extra")) figure.closest("section").querySelector(".more")?.click();
    document.querySelector("figure.chosen")?.classList.remove("chosen");
    figure.classList.add("chosen");
    figure.scrollIntoView({ block: "center" });
  }

  function showTechnical() {
    const shown = byId("table").classList.toggle("technical");
    byId("technical-columns").setAttribute("aria-pressed", String(shown));
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
  const technical = columns.some(({ key }) => key === "score" || key === "coefficient");
  if (technical) byId("technical-columns").addEventListener("click", showTechnical);
  else byId("technical-columns").remove();
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

  // ---- paper: all that is selected ----
  let before = null;
  addEventListener("beforeprint", () => {
    before = { ...state };
    Object.assign(state, { rows: ROWS_ON_PAPER, page: 0 });
    show();
  });
  addEventListener("afterprint", () => {
    Object.assign(state, before);
    show();
  });
})();
