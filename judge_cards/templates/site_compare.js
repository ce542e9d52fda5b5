"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const cards = new Map(data.cards.map((c) => [c.id, c]));
  const WHAT = ["policy", "texts of the policy", "corpus", "protocol"];
  const MOST = 8;
  let chosen = [];

  // Everything a card says enters as text, never as markup.
  function make(name, what = {}, ...inside) {
    const e = document.createElement(name);
    for (const [k, v] of Object.entries(what)) e.setAttribute(k, v);
    e.append(...inside);
    return e;
  }

  function drawn(figure, scale) {
    const [, , value, low, high] = figure;
    const svg = (name, what) => {
      const e = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [k, v] of Object.entries(what)) e.setAttribute(k, v);
      return e;
    };
    const x = (v) => (5 + 120 * (v - scale[0]) / (scale[1] - scale[0])).toFixed(1);
    const bar = svg("svg", { class: "bar", viewBox: "0 0 130 14", "aria-hidden": "true" });
    bar.append(svg("line", { class: "axis", x1: 5, x2: 125, y1: 7, y2: 7 }));
    if (scale[0] < 0) bar.append(svg("line", { class: "axis", x1: x(0), x2: x(0), y1: 1, y2: 13 }));
    if (low !== null) bar.append(svg("line", { class: "iv", x1: x(low), x2: x(high), y1: 7, y2: 7 }));
    bar.append(svg("circle", { class: "dot", cx: x(value), cy: 7, r: 4 }));
    return bar;
  }

  function scaleOf(k) {
    const all = chosen.flatMap((c) => c.figures[k].slice(2)).filter((v) => v !== null);
    const low = Math.min(0, ...all), high = Math.max(low < 0 ? 0 : 1, ...all);
    const edge = Math.max(-low, high, 0.1);
    return low < 0 ? [-edge, edge] : [0, high];
  }

  function apart(k) {
    const known = chosen.map((c) => c.figures[k]).filter((f) => f[3] !== null);
    if (known.length < 2) return "";
    const low = Math.max(...known.map((f) => f[3])), high = Math.min(...known.map((f) => f[4]));
    if (known.length < chosen.length) return low > high ? "some apart; some not known" : "some not known";
    return low > high ? (known.length > 2 ? "not all overlap" : "apart") : "overlap";
  }

  function differing() {
    const first = chosen[0].identity;
    return WHAT.filter((_, k) => chosen.some((c) => c.identity[k] !== first[k] || !c.identity[k]))
      .filter((what, _, all) => what !== "texts of the policy" || !(all.includes("policy") || all.includes("protocol")));
  }

  function notes(alike, other) {
    const box = byId("notes");
    box.replaceChildren();
    if (chosen.length < 2) return;
    const note = make("div", { class: `note ${alike ? "yes" : "no"}` });
    note.append(make("p", {}, alike
      ? "These cards may be compared: same policy, texts, items and protocol."
      : `These cards must not be ranked: they differ in ${other.join(" and ")}. Each of these moves every figure, so a difference need not come from the judge.`));
    const versions = new Set(chosen.map((c) => c.about.judgeaudit));
    const list = make("ul");
    if (versions.size > 1) list.append(make("li", {}, `Made by judgeaudit ${[...versions].join(" and ")}: a release may compute a figure otherwise; its changelog says so.`));
    for (const c of chosen) for (const text of c.cautions) list.append(make("li", {}, make("bdi", {}, c.judge), `: ${text}`));
    if (list.childNodes.length) note.append(list);
    box.append(note);
  }

  function line(label, cells, last) {
    const tr = make("tr", {}, make("th", { scope: "row" }, label));
    for (const c of cells) tr.append(make("td", {}, ...[c].flat()));
    if (last !== null) tr.append(make("td", {}, last));
    return tr;
  }

  function table(alike) {
    const shown = alike && chosen.length > 1;
    const head = make("tr", {}, make("th", { scope: "col" }, "Card"));
    for (const c of chosen) {
      head.append(make("th", { scope: "col" }, make("a", { href: c.href }, make("bdi", {}, c.judge)), make("span", { class: "soft" }, c.id)));
    }
    if (shown) head.append(make("th", { scope: "col" }, "Intervals"));
    const body = make("tbody"), end = shown ? "" : null;
    const badge = (c) => make("span", { class: `badge ${c.stance}` }, c.stance_words);
    body.append(line("Verdict", chosen.map(badge), end));
    body.append(line("In a sentence", chosen.map((c) => c.sentence), end));
    body.append(line("Does it read the policy?", chosen.map((c) => c.gate), end));
    data.figures.forEach((figure, k) => {
      const scale = scaleOf(k);
      const cells = chosen.map((c) => {
        const f = c.figures[k];
        if (f[2] === null) return make("span", { class: "soft" }, f[0]);
        const said = [make("span", { class: "figure" }, f[0]), make("span", { class: "soft" }, f[1])];
        return shown ? [...said, drawn(f, scale)] : said;
      });
      body.append(line(figure.label, cells, shown ? apart(k) : null));
    });
    const span = chosen.length + (shown ? 2 : 1);
    body.append(make("tr", { class: "head" }, make("th", { scope: "rowgroup", colspan: span }, "How it was measured")));
    for (const name of Object.keys(chosen[0].about)) {
      const values = chosen.map((c) => c.about[name]);
      body.append(line(name, values, shown ? (new Set(values).size > 1 ? "differ" : "same") : null));
    }
    const caption = make("caption", {}, "Cards side by side");
    return make("table", { class: "side" }, caption, make("thead", {}, head), body);
  }

  function show() {
    const place = byId("across");
    const other = chosen.length > 1 ? differing() : [];
    const alike = other.length === 0 && new Set(chosen.map((c) => c.group)).size < 2;
    notes(alike, other);
    place.hidden = chosen.length === 0;
    place.replaceChildren(...(chosen.length ? [table(alike)] : []));
    byId("told").textContent = chosen.length === 0 ? "Choose two cards or more."
      : chosen.length === 1 ? "One card: choose another to compare it with." : `${chosen.length} cards side by side.`;
    for (const box of document.querySelectorAll("#choices input")) {
      box.checked = chosen.some((c) => c.id === box.value);
      box.disabled = !box.checked && chosen.length >= MOST;
    }
  }

  function given() {
    const inHash = new URLSearchParams(location.hash.slice(1)), inQuery = new URLSearchParams(location.search);
    const wanted = [...inHash.getAll("card"), ...(location.hash ? [] : inQuery.getAll("card"))];
    return [...new Set(wanted)].map((id) => cards.get(id)).filter((c) => c !== undefined).slice(0, MOST);
  }

  function changed(box) {
    chosen = chosen.filter((c) => c.id !== box.value);
    if (box.checked) chosen.push(cards.get(box.value));
    location.replace(`#${chosen.map((c) => `card=${encodeURIComponent(c.id)}`).join("&")}`);
    show();
  }

  for (const c of data.cards) {
    const box = make("input", { type: "checkbox", value: c.id });
    box.addEventListener("change", () => changed(box));
    const words = make("span", {}, make("bdi", {}, c.judge), make("span", { class: "soft" }, `${c.id} · ${data.groups[c.group]}`));
    byId("choices").append(make("li", {}, make("label", {}, box, words)));
  }
  byId("choose").hidden = false;
  window.addEventListener("hashchange", () => { chosen = given(); show(); });
  chosen = given();
  show();
})();
