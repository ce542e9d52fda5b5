// The list of flips, and what it is narrowed by.
import { add, count, fill, flat, h, icon, name, percent, plural } from "./dom.js";
import { address, api, KINDS, store, TRIAGE } from "./data.js";

const CHOICES = {
  direction: [["", "Both directions"], ["to_unsafe", "to UNSAFE"], ["to_safe", "to SAFE"]],
  outcome: [["", "Flipped"], ["wavering", "Wavering"], ["any_flip", "Flipped or wavering"], ["same", "Unchanged"], ["unanswered", "Not answered"], ["failed", "Some call without a verdict"], ["all", "Everything"]],
  clarity: [["", "Clear and ambiguous"], ["clear", "Clear items"], ["ambiguous", "Ambiguous items"], ["unknown", "Ambiguity not known"]],
  label: [["", "Any label"], ["SAFE", "Labelled SAFE"], ["UNSAFE", "Labelled UNSAFE"], ["none", "Without a label"]],
  triage: [["", "Noted or not"], ["unmarked", "Not looked at yet"], ["marked", "Noted"], ["rewrite", TRIAGE.rewrite], ["judge", TRIAGE.judge], ["label", TRIAGE.label]],
  sort: [["", "Most pairs that differ first"], ["plan", "In the order of items"]],
};
const LABELS = { transform: "Wording", direction: "Direction", outcome: "What happened", clarity: "Items", label: "Label", dataset: "Dataset", category: "Category", judge: "Judge", triage: "Notes", sort: "Order" };

/** The list: keeps what was loaded, and asks for more as it is scrolled. */
export class List {
  constructor(go) {
    this.go = go;
    this.filters = {};
    this.reset();
    this.element = h("section.list", { aria: { label: "List of flips" } });
    this.controls = h("div.controls");
    this.summary = h("p.summary", { role: "status" });
    this.rows = h("ol.rows");
    this.more = h("button.more", { type: "button", on: { click: () => this.forward() } }, "Show more");
    this.earlier = h("button.more", { type: "button", on: { click: () => this.backward() } }, "Show earlier ones");
    this.changed = h("button.stale", { type: "button", hidden: true, on: { click: () => this.reload() } }, "New answers came in. Update the list");
    this.body = h("div.body", {}, this.earlier, this.rows, this.more);
    add(this.element, [this.controls, this.changed, this.body]);
    new IntersectionObserver((seen) => { if (seen.some((s) => s.isIntersecting)) this.forward(); }, { root: null, rootMargin: "400px" }).observe(this.more);
  }

  reset() {
    this.loaded = []; this.start = 0; this.next = null; this.total = 0; this.key = null; this.busy = null;
  }

  async show(filters, flip, n = null) {
    const key = JSON.stringify(filters);
    this.filters = filters;
    if (key !== this.key) {
      this.reset();
      this.key = key;
      this.drawControls();
      fill(this.rows);
      this.element.classList.add("busy");
      await this.load({ start: n === null ? 0 : Math.max(0, n - 10) }, "new");
      this.element.classList.remove("busy");
    }
    this.select(flip);
  }

  async reload() {
    this.key = null;
    this.changed.hidden = true;
    await this.show(this.filters, this.current);
  }

  async load(where, how) {
    const key = this.key;
    const said = await api("flips", { ...this.filters, ...where });
    if (key !== this.key) return;
    this.total = said.total;
    if (how === "before") {
      const fresh = said.rows.slice(0, this.start - said.start);
      this.loaded = [...fresh, ...this.loaded];
      this.rows.prepend(...fresh.map((r) => this.row(r)));
      this.start = said.start;
    } else {
      if (how === "new") { this.loaded = []; this.start = said.start; }
      this.loaded.push(...said.rows);
      this.next = said.next;
      this.rows.append(...said.rows.map((r) => this.row(r)));
    }
    this.earlier.hidden = this.start === 0;
    this.more.hidden = this.next === null;
    this.drawSummary();
    this.select(this.current);
  }

  async forward() {
    if (this.next === null || this.busy) return;
    this.busy = this.load({ after: this.next }, "after");
    try { await this.busy; } finally { this.busy = null; }
  }

  async backward() {
    if (this.start === 0 || this.busy) return;
    this.busy = this.load({ start: Math.max(0, this.start - 50) }, "before");
    try { await this.busy; } finally { this.busy = null; }
  }

  select(flip) {
    this.current = flip;
    const id = flip ? `${flip.run}.${flip.cell}` : "";
    for (const a of this.rows.querySelectorAll("a[aria-current]")) if (a.dataset.id !== id) a.removeAttribute("aria-current");
    const here = id ? this.rows.querySelector(`a[data-id="${CSS.escape(id)}"]`) : null;
    if (here) {
      here.setAttribute("aria-current", "true");
      if (this.body.clientHeight && this.body.scrollHeight > this.body.clientHeight) {
        const box = here.getBoundingClientRect(), frame = this.body.getBoundingClientRect();
        if (box.top < frame.top || box.bottom > frame.bottom) this.body.scrollTop += box.top - frame.top - frame.height / 3;
      }
      const left = this.loaded.length - this.loaded.findIndex((r) => `${r.run}.${r.cell}` === id);
      if (left < 5) this.forward();
    }
  }

  update(row, run) {
    const id = `${run}.${row.cell}`;
    const k = this.loaded.findIndex((r) => `${r.run}.${r.cell}` === id);
    if (k < 0) return;
    this.loaded[k] = { ...this.loaded[k], ...row, run };
    const old = this.rows.querySelector(`a[data-id="${CSS.escape(id)}"]`)?.parentElement;
    old?.replaceWith(this.row(this.loaded[k]));
    this.select(this.current);
  }

  row(r) {
    const from = lean(r.base), to = lean(r.there);
    const href = address(this.filters, r);
    const many = store.overview.runs.length > 1;
    return h("li", {}, h("a.flip", { href, data: { id: `${r.run}.${r.cell}` } },
      h("span.top", {}, h("span.cond", { class: r.kind }, name(r.condition), r.wording ? `·${r.wording + 1}` : ""),
        h("span.way", {}, verdict(from), h("span.arrow", { role: "img", aria: { label: "to" } }, "→"), verdict(to)),
        h("span.share", { title: "pairs of calls that differ" }, r.share === null ? "" : percent(r.share), h("span.unseen", {}, " of pairs differ"))),
      h("span.line", {}, h("span.item", {}, name(r.item)), h("span.small", {},
        h("span", {}, r.label ? `label ${r.label}` : "no label"),
        r.ambiguous === null ? null : h("span", {}, r.ambiguous ? "ambiguous" : "clear"),
        r.failed ? h("span", {}, `${count(r.failed)} without a verdict`) : null,
        many ? h("span", {}, name(store.overview.runs[r.run].judge)) : null,
        r.mark && (r.mark.kind || r.mark.note) ? h("span.marked", {}, r.mark.kind ? TRIAGE[r.mark.kind].replace("The ", "").replace(" is", "") : "note") : null))));
  }

  drawSummary() {
    const what = { "": "flip", wavering: "wavering cell", any_flip: "flip or wavering cell", same: "unchanged cell", unanswered: "unanswered cell", failed: "cell with a failed call", all: "cell" }[this.filters.outcome ?? ""] ?? "cell";
    const many = { "flip or wavering cell": "flips and wavering cells", "cell with a failed call": "cells with a failed call" }[what] ?? `${what}s`;
    fill(this.summary, h("strong", {}, plural(this.total, what, many)), this.filters.transform ? null : " where the meaning was kept");
    this.empty?.remove();
    if (this.total) return;
    this.empty = h("div.empty", {}, h("p", {}, h("strong", {}, "Nothing matches.")), h("p.soft", {}, Object.keys(this.filters).length ? "Take away a filter, or look at everything." : "No wording that keeps the meaning turned a verdict round. Wavering cells and other conditions may still be worth a look."), h("a.button", { href: address({ transform: "all", outcome: "any_flip" }) }, "Flips and wavering under all conditions"));
    this.rows.after(this.empty);
  }

  drawControls() {
    const focused = this.controls.contains(document.activeElement) ? document.activeElement.name : null;
    const open = this.controls.querySelector("details")?.open ?? false;
    const search = h("input", { type: "search", name: "q", id: "q", value: this.filters.q ?? "", placeholder: "Items, trajectories, replies, notes", autocomplete: "off", spellcheck: false, maxLength: 400, aria: { label: "Search" } });
    const form = h("form.search", { role: "search", on: { submit: (e) => { e.preventDefault(); this.set("q", search.value); } } }, icon("M7 2.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9ZM10.300 10.300 14 14"), search, h("kbd", { aria: { hidden: "true" } }, "/"));
    search.addEventListener("search", () => { if (search.value !== (this.filters.q ?? "")) this.set("q", search.value); });
    const extra = this.extra();
    const hidden = extra.filter(([f]) => this.filters[f]).length;
    const details = h("details.extra", { open: open }, h("summary", {}, "More filters", hidden ? h("span.badge", {}, count(hidden)) : null), h("div.grid", {}, extra.map(([f, options]) => this.choice(f, options))));
    const active = Object.entries(this.filters).filter(([f]) => f !== "sort");
    fill(this.controls, form,
      h("div.grid", {}, this.choice("transform", this.transforms()), this.choice("outcome", CHOICES.outcome), this.choice("direction", CHOICES.direction)),
      details,
      active.length ? h("p.chips", {}, active.map(([f, v]) => h("button.chip", { type: "button", aria: { label: `Remove the filter ${flat(this.said(f, v))}` }, on: { click: () => this.set(f, "") } }, name(this.said(f, v)), h("span", { aria: { hidden: "true" } }, " ×"))), active.length > 1 ? h("a.clear", { href: address({}) }, "Clear all") : null) : null,
      h("div.foot", {}, this.summary, h("p.export", {}, h("span", {}, "Export"), ["csv", "jsonl"].map((form) => h("a", { href: this.exported(form), download: `flips.${form}`, aria: { label: `Export this list as ${form.toUpperCase()}` } }, form.toUpperCase())))));
    if (focused) this.controls.querySelector(`[name="${CSS.escape(focused)}"]`)?.focus();
  }

  exported(form) {
    return `/api/export?${new URLSearchParams({ ...this.filters, format: form })}`;
  }

  set(filter, value) {
    const filters = { ...this.filters, [filter]: value };
    if (!value) delete filters[filter];
    this.go(address(filters));
  }

  extra() {
    const { facets, runs } = store.overview;
    const out = [["clarity", CHOICES.clarity], ["label", CHOICES.label]];
    if (facets.dataset.length > 1) out.push(["dataset", [["", "All datasets"], ...facets.dataset.map(([v, s, n]) => [v, `${flat(s)} (${count(n)})`])]]);
    if (facets.category.length) out.push(["category", [["", "All categories"], ...facets.category.map((c) => [flat(c.name), c.values.map(([v, s, n]) => [v, `${flat(s)} (${count(n)})`])])]]);
    if (runs.length > 1) out.push(["judge", [["", "All judges"], ...runs.map((r, k) => [String(k), `${flat(r.judge)} · ${flat(r.folder)}`])]]);
    return [...out, ["triage", CHOICES.triage], ["sort", CHOICES.sort]];
  }

  transforms() {
    const seen = new Map();
    for (const run of store.overview.runs) for (const c of run.conditions) if (c.contrast && !seen.has(c.raw)) seen.set(c.raw, c);
    const groups = new Map();
    for (const c of seen.values()) groups.set(c.kind, [...(groups.get(c.kind) ?? []), [c.raw, flat(c.id)]]);
    return [["", "That keep the meaning"], ["all", "All conditions"], ...[...groups].map(([kind, list]) => [KINDS[kind] ?? kind, [...(list.length > 1 ? [[`kind:${kind}`, `All: ${(KINDS[kind] ?? kind).toLowerCase()}`]] : []), ...list]])];
  }

  choice(filter, options) {
    const value = this.filters[filter] ?? "";
    const option = ([v, label]) => h("option", { value: v, selected: v === value }, label);
    const select = h("select", { name: filter, id: `f-${filter}`, on: { change: (e) => this.set(filter, e.target.value) } },
      options.map((o) => (Array.isArray(o[1]) ? h("optgroup", { label: o[0] }, o[1].map(option)) : option(o))));
    if (value && select.value !== value) select.append(h("option", { value, selected: true }, flat(value)));
    return h("p.choice", { class: value ? "set" : "" }, h("label", { htmlFor: `f-${filter}` }, LABELS[filter]), select);
  }

  said(filter, value) {
    if (filter === "q") return `“${value}”`;
    const options = filter === "transform" ? this.transforms() : CHOICES[filter] ?? Object.fromEntries(this.extra())[filter] ?? [];
    for (const o of options.flatMap((o) => (Array.isArray(o[1]) ? o[1] : [o]))) if (o[0] === value) return filter === "transform" && !value.startsWith("kind:") && value !== "all" ? `${LABELS.transform} ${o[1]}` : o[1];
    return value;
  }
}

/** What most of [SAFE, UNSAFE] calls say. */
export const lean = ([safe, unsafe]) => (safe + unsafe === 0 ? "none" : safe > unsafe ? "SAFE" : unsafe > safe ? "UNSAFE" : "split");

export function verdict(what) {
  const label = { none: "no verdict", split: "split" }[what] ?? what;
  return h("span.v", { class: what.toLowerCase() }, label);
}
