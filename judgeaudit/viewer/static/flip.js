// One flip: what changed in the text, what was said, and what a person makes of it.
import { add, count, fill, flat, h, name, percent, say, sentence, words } from "./dom.js";
import { address, api, KINDS, MEANING, store, TRIAGE, triage } from "./data.js";
import { lean, verdict } from "./list.js";

const wide = matchMedia("(min-width: 760px)");
const prefer = { mode: null, folded: true };

export function flipPage(d, filters, changed) {
  const run = store.overview.runs[d.run];
  const from = lean(d.base), to = lean(d.there);
  return h("article.detail", { aria: { labelledby: "flip-title" } },
    place(d, filters),
    h("header.head", {},
      h("p.eyebrow", {}, h("span.cond", { class: d.kind }, name(d.condition), d.wording ? `·${d.wording + 1}` : ""), h("span", {}, KINDS[d.kind] ?? d.kind), store.overview.runs.length > 1 ? name(run.judge) : null),
      h("h1", { id: "flip-title", tabIndex: -1 }, name(d.item)),
      h("p.soft", {}, sentence(d.summary), d.summary ? ". " : "", MEANING[d.kind] ?? "")),
    change(d, from, to),
    triagePanel(d, changed),
    wording(d),
    replies(d),
    trajectory(d),
    others(d, filters),
    facts(d, filters, run));
}

function place(d, filters) {
  const p = d.place;
  const link = (to, label, key, rel) => (to ? h("a.button", { href: address(filters, to), rel, title: `${label} flip` }, label, h("kbd", { aria: { hidden: "true" } }, key)) : h("span.button.off", { aria: { hidden: "true" } }, label, h("kbd", {}, key)));
  return h("nav.place", { aria: { label: "Neighbours" } },
    h("a.back", { href: address(filters) }, "← ", p.total === null ? "List" : `All ${count(p.total)}`),
    h("span.where", {}, p.n === null ? "not in this list" : `${count(p.n + 1)} of ${count(p.total)}`),
    link(p.previous, "Previous", "k", "prev"), link(p.next, "Next", "j", "next"));
}

function change(d, from, to) {
  const side = (title, counts, lead, jitter, extra) => h("div.side", { class: lead.toLowerCase() },
    h("h2", {}, title), h("p.big", {}, verdict(lead)), dots(counts, extra),
    h("p.soft", {}, jitter === null ? (counts[0] + counts[1] ? "one call: jitter not known" : "no verdict") : `jitter ${percent(jitter)}`, h("span.unseen", {}, " of pairs of these calls disagree")));
  const right = d.label === null ? null : [from === d.label, to === d.label];
  const cause = d.kind === "placebo" ? "noise" : ["certified", "near"].includes(d.kind) ? "the wording" : "this condition";
  const what = d.label === null ? "The item has no label: who is right is for people to say."
    : from === to ? `Most calls agree on both sides; the label is ${d.label}.`
    : right[0] && !right[1] ? `The label is ${d.label}: ${cause} turned a right verdict into a wrong one.`
    : right[1] && !right[0] ? `The label is ${d.label}: ${cause} turned a wrong verdict into a right one.`
    : `The label is ${d.label}.`;
  return h("section.change", { aria: { label: "What changed" } },
    h("div.pair", {}, side("Base text", d.base, from, d.jitter.base, 0), h("span.bigarrow", { aria: { hidden: "true" } }, "→"), side(name(d.condition), d.there, to, d.jitter.there, d.failed)),
    h("p.what", {}, what),
    h("dl.quick", {},
      h("div", {}, h("dt", {}, "Pairs that differ"), h("dd", {}, percent(d.share))),
      h("div", {}, h("dt", {}, "Label"), h("dd", {}, d.label ? [verdict(d.label), h("span.soft", {}, ` by ${({ human: "people", author: "the authors", model: "a model", rule: "a rule", unknown: "nobody said whom" })[d.label_source] ?? d.label_source}`)] : "none")),
      h("div", {}, h("dt", {}, "Item"), h("dd", {}, d.ambiguous === null ? "ambiguity not known" : d.ambiguous ? "ambiguous" : "clear"))));
}

function dots([safe, unsafe], failed) {
  const n = safe + unsafe + failed, most = 24;
  const dot = (kind) => h("i", { class: kind });
  const row = n <= most ? [...Array(safe).fill("safe"), ...Array(unsafe).fill("unsafe"), ...Array(failed).fill("none")].map(dot) : [];
  const parts = [safe ? `${count(safe)} SAFE` : null, unsafe ? `${count(unsafe)} UNSAFE` : null, failed ? `${count(failed)} without a verdict` : null].filter(Boolean).join(", ");
  return h("p.dots", {}, h("span.marksrow", { aria: { hidden: "true" } }, row), h("span", {}, parts || "not asked yet"));
}

function triagePanel(d, changed) {
  let kind = d.triage?.kind ?? null, note = d.triage?.note ?? "";
  const status = h("span.saved", { role: "status" }, d.triage ? `Noted ${d.triage.time.slice(0, 16).replace("T", " ")} UTC` : "");
  const area = h("textarea", { id: "note", rows: 2, maxLength: store.noteLimit, placeholder: "A note (Ctrl+Enter saves it)", aria: { label: "Note" } });
  area.value = note;
  const save = h("button.button", { type: "button", disabled: true, on: { click: () => keep() } }, "Save note");
  const buttons = Object.entries(TRIAGE).map(([k, label], i) => h("button.pick", { type: "button", data: { kind: k }, aria: { pressed: String(kind === k) }, on: { click: () => { kind = kind === k ? null : k; keep(); } } }, h("span", {}, label), h("kbd", { aria: { hidden: "true" } }, String(i + 1))));
  area.addEventListener("input", () => { save.disabled = area.value === note; });
  area.addEventListener("keydown", (e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); keep(); } });
  area.addEventListener("blur", () => { if (area.value !== note) keep(); });
  async function keep() {
    const wanted = kind, text = area.value;
    for (const b of buttons) b.setAttribute("aria-pressed", String(b.dataset.kind === wanted));
    status.textContent = "Saving …";
    try {
      const said = await triage(d.run, d.cell, wanted, text);
      note = text;
      d.triage = said.triage;
      save.disabled = area.value === note;
      status.textContent = wanted || note ? "Saved beside the ledger" : "Taken back";
      changed(said.row, d.run);
    } catch (error) {
      status.textContent = `Not saved: ${error.message}`;
      save.disabled = false;
    }
  }
  return h("section.triage", { aria: { label: "What went wrong" } },
    h("h2", {}, "Who is wrong?"),
    h("div.picks", { role: "group", aria: { label: "Who is wrong?" } }, buttons),
    h("div.noting", {}, area, h("p", {}, save, status)));
}

function wording(d) {
  const t = d.texts;
  const section = h("section.wording", { aria: { labelledby: "h-wording" } });
  if (!t.known) return add(section, [h("h2", { id: "h-wording" }, "The policy texts"), h("p.soft", {}, "They are not in this ledger: its verdicts were imported.")]);
  const body = h("div.texts");
  const mode = () => prefer.mode ?? (wide.matches ? "two" : "one");
  const button = (value, label) => h("button", { type: "button", data: { mode: value }, aria: { pressed: String(mode() === value) }, on: { click: () => { prefer.mode = value; draw(); } } }, label);
  const modes = [button("two", "Side by side"), button("one", "One text")];
  const fold = h("button", { type: "button", aria: { pressed: String(!prefer.folded) }, on: { click: () => { prefer.folded = !prefer.folded; draw(); } } }, "Whole text");
  function draw() {
    for (const b of modes) b.setAttribute("aria-pressed", String(b.dataset.mode === mode()));
    fold.setAttribute("aria-pressed", String(!prefer.folded));
    fill(body, t.identical ? h("p.same", {}, "The two texts are the same, character for character.") : null, rows(d, mode(), prefer.folded));
  }
  draw();
  return add(section, [
    h("div.title", {}, h("h2", { id: "h-wording" }, "What changed in the policy"), h("div.modes", { role: "group", aria: { label: "How texts are shown" } }, modes, fold)),
    t.moved ? h("p.soft", {}, "Norms also changed places: the base text is shown in the order of the other, so that only words are marked.") : null,
    t.marked === "words" ? null : h("p.soft", {}, t.marked === "lines" ? "These texts are too long to be compared word by word: whole lines are marked." : "These texts are too long to be compared."),
    body]);
}

function rows(d, mode, folded) {
  const all = d.texts.rows, out = [];
  if (mode === "two") out.push(h("div.row.names", {}, h("h3", {}, "Base text"), h("h3", {}, name(d.condition))));
  for (let k = 0; k < all.length; ) {
    let end = k;
    while (end < all.length && !all[end][0]) end += 1;
    const keepHead = k === 0 ? 0 : 1, keepTail = end === all.length ? 0 : 1;
    if (folded && end - k > keepHead + keepTail + 2) {
      for (let i = k; i < k + keepHead; i += 1) out.push(row(all[i], mode, d));
      const hidden = all.slice(k + keepHead, end - keepTail);
      const lines = hidden.filter(([, left]) => left.some(([, s]) => String(s).trim())).length;
      const button = h("button.fold", { type: "button", on: { click: () => { const made = hidden.map((r) => row(r, mode, d)); button.replaceWith(...made); made[0].tabIndex = -1; made[0].focus(); } } }, `${count(lines)} ${lines === 1 ? "line" : "lines"} the same`);
      out.push(button);
      k = end - keepTail;
      for (; k < end; k += 1) out.push(row(all[k], mode, d));
    } else for (; k < end; k += 1) out.push(row(all[k], mode, d));
    if (k < all.length) { out.push(row(all[k], mode, d)); k += 1; }
  }
  return out;
}

function row([changed, left, right], mode, d) {
  const piece = (tag) => ([marked, text]) => (typeof text === "object" ? long(text, d.run, `policy/${tag === "del" ? d.columns[0] : d.columns[1]}`) : marked ? h(tag, {}, words(text)) : h("span", {}, words(text)));
  if (mode === "two") return h("div.row", { class: changed ? "changed" : "" }, h("div", { dir: "auto" }, left.map(piece("del"))), h("div", { dir: "auto" }, right.map(piece("ins"))));
  if (!changed) return h("div.row.one", { dir: "auto" }, left.map(piece("del")));
  return h("div.row.one.changed", { dir: "auto" }, weave(left, right).map(([tag, text]) => (typeof text === "object" ? long(text, d.run, `policy/${tag === "del" ? d.columns[0] : d.columns[1]}`) : tag ? h(tag, {}, words(text)) : h("span", {}, words(text)))));
}

/** One line out of two: what is the same once, removed and added words where they stood. */
function weave(left, right) {
  const out = [];
  let i = 0, j = 0;
  while (i < left.length || j < right.length) {
    while (i < left.length && left[i][0]) out.push(["del", left[i++][1]]);
    while (j < right.length && right[j][0]) out.push(["ins", right[j++][1]]);
    if (i < left.length && j < right.length) {
      if (left[i][1] !== right[j][1]) { out.push(["del", left[i][1]], ["ins", right[j][1]]); } else out.push(["", left[i][1]]);
      i += 1; j += 1;
    } else if (i < left.length) out.push(["del", left[i++][1]]);
    else if (j < right.length) out.push(["ins", right[j++][1]]);
  }
  return out;
}

function replies(d) {
  const columns = [["Base text", d.replies.base, lean(d.there)], [name(d.condition), d.replies.there, lean(d.base)]];
  return h("section.replies", { aria: { labelledby: "h-replies" } }, h("h2", { id: "h-replies" }, "What the judge said"),
    h("div.columns", {}, columns.map(([title, list, other], k) => column(title, list, other, d, k))));
}

function column(title, list, other, d, k) {
  const shown = h("div.reply", { id: `reply-${k}` });
  // the reply that contradicts the other side is the one to read first
  const first = Math.max(0, list.findIndex((r) => r.label && r.label !== other));
  const tabs = list.map((r, i) => h("button.try", { type: "button", class: (r.label ?? "none").toLowerCase(), aria: { pressed: "false", controls: `reply-${k}` }, on: { click: () => pick(i) } }, h("span", {}, `${i + 1}`), h("span.unseen", {}, ` of ${list.length}: `), r.label ?? r.outcome ?? (r.failure ? "failed" : "open")));
  function pick(i) {
    tabs.forEach((t, j) => t.setAttribute("aria-pressed", String(i === j)));
    fill(shown, reply(list[i], d));
  }
  if (list.length) pick(first);
  else fill(shown, h("p.soft", {}, "No call is planned here."));
  return h("div.column", {}, h("h3", {}, title), list.length > 1 ? h("div.tries", { role: "group", aria: { label: "Calls" } }, tabs) : null, shown);
}

function reply(r, d) {
  if (r.outcome === null) return h("p.soft", {}, r.failure ? ["The call failed: ", name([r.failure[0], r.failure[1], r.failure[2]].filter(Boolean).join(" · "))] : "Not answered yet.");
  const what = (field) => `reply/${r.position}/${field}`;
  return [
    h("p.said", {}, verdict(r.label ?? "none"), r.label ? null : h("strong", {}, ` ${r.outcome}`), r.confidence === null ? null : h("span.soft", {}, ` confidence ${percent(r.confidence)}`)),
    r.rationale ? h("blockquote", { dir: "auto" }, long(r.rationale, d.run, what("rationale"))) : null,
    r.refusal ? h("div.block", {}, h("h4", {}, "Refusal"), long(r.refusal, d.run, what("refusal"))) : null,
    r.reasoning ? h("details", {}, h("summary", {}, "Its reasoning"), long(r.reasoning, d.run, what("reasoning"))) : null,
    r.text === null ? h("p.soft", {}, "The reply holds no text.") : h("details", { open: !r.rationale }, h("summary", {}, "Word for word"), long(r.text, d.run, what("text"), "pre")),
    h("p.small", {}, [r.served ? name(r.served) : null, r.committed_at ? name(r.committed_at) : null, r.finish_reason ? ["finish: ", name(r.finish_reason)] : null, r.note ? name(r.note) : null].filter(Boolean).map((x) => h("span", {}, x)))];
}

function trajectory(d) {
  const t = d.trajectory;
  const parts = [["thought", "Thought"], ["action", "Action"], ["content", ""]];
  return h("section.trajectory", { aria: { labelledby: "h-trajectory" } }, h("h2", { id: "h-trajectory" }, "The trajectory"),
    t.profile ? h("details", {}, h("summary", {}, "Profile of the agent"), long(t.profile, d.run, `turn/${Math.floor(d.cell / width(d))}/profile`)) : null,
    t.turns.length ? h("ol.turns", {}, t.turns.map((turn, n) => h("li", { class: ["user", "agent", "environment", "system"].includes(turn.role) ? turn.role : "" },
      h("p.role", {}, name(turn.role)),
      h("div.saids", {}, parts.filter(([f]) => turn[f]).map(([f, label]) => h("div.part", { class: f, dir: "auto" }, label ? h("h3", {}, label) : null, long(turn[f], d.run, `turn/${Math.floor(d.cell / width(d))}/${n}/${f}`))), parts.some(([f]) => turn[f]) ? null : h("p.soft", {}, "(no text)"))))) : h("p.soft", {}, "It is not in this ledger."));
}

const width = (d) => d.width;

function others(d, filters) {
  return h("section.others", { aria: { labelledby: "h-others" } }, h("h2", { id: "h-others" }, "The same item under other conditions"),
    h("ul", {}, d.others.map((o) => h("li", { class: o.here ? "here" : "" }, o.contrast && !o.here
      ? h("a", { href: address(filters, { run: d.run, cell: o.cell }) }, inside(o)) : h("span", { aria: { current: o.here ? "true" : undefined } }, inside(o))))));
}

const inside = (o) => [h("span.cond", { class: o.kind }, name(o.condition), o.wording ? `·${o.wording + 1}` : ""), verdict(lean(o.there)), h("span.counts", {}, o.there[0] + o.there[1] ? `${o.there[0]} : ${o.there[1]}` : "–", h("span.unseen", {}, " calls SAFE to UNSAFE"))];

function facts(d, filters, run) {
  const link = new URL(address(filters, d), location.href).href;
  const copied = h("span.saved", { role: "status" });
  const copy = h("button.button", { type: "button", on: { click: async () => { try { await navigator.clipboard.writeText(link); copied.textContent = "Copied"; } catch { copied.textContent = link; } } } }, "Copy link to this flip");
  const line = (term, value) => (value === null || value === "" ? null : h("div", {}, h("dt", {}, term), h("dd", {}, value)));
  return h("section.facts", { aria: { labelledby: "h-facts" } }, h("h2", { id: "h-facts" }, "About this item"),
    h("dl", {}, line("Dataset", [name(d.dataset), d.subset ? [" · ", name(d.subset)] : null]), line("Id", name(d.name)), line("Cluster", name(d.cluster)),
      Object.entries(d.strata).map(([k, v]) => h("div", {}, h("dt", {}, name(k)), h("dd", {}, name(v)))),
      line("Judge", name(run.judge)), line("Ledger", name(run.file)), line("Prompt sha256", d.prompt_sha256 ? h("code", {}, d.prompt_sha256) : null)),
    h("p", {}, copy, copied));
}

/** A text that may be far too long to show at once. */
export function long(value, run, what, tag = "div") {
  const text = typeof value === "string" ? value : value.text;
  const box = h(`${tag}.long`, {}, words(text));
  if (tag === "pre") box.tabIndex = 0;
  const cut = typeof value !== "string";
  const lines = text.split("\n").length;
  if (!cut && text.length < 1800 && lines < 28) return box;
  box.classList.add("clamped");
  const more = h("button.more", { type: "button" });
  let end = text.length, length = cut ? value.length : text.length, open = false;
  const label = () => (!open ? `Show all ${count(length)} characters` : end < length ? `Show more (${count(length - end)} characters are left)` : "Show less");
  more.textContent = label();
  more.addEventListener("click", async () => {
    if (!open) { open = true; box.classList.remove("clamped"); }
    else if (end < length && what) {
      more.disabled = true;
      try {
        const next = await api("text", { run, what, start: end });
        add(box, words(next.text));
        end = next.end;
        length = next.length;
      } catch (error) { say(error.message); }
      more.disabled = false;
    } else { open = false; box.classList.add("clamped"); box.scrollIntoView({ block: "nearest" }); }
    more.textContent = label();
  });
  if (cut) end = value.end;
  return h("div.cut", {}, box, more);
}

export const announce = (d) => say(`${d.place.n === null ? "" : `${d.place.n + 1} of ${d.place.total}: `}${flat(d.condition)}, ${flat(d.item)}, ${lean(d.base)} to ${lean(d.there)}`);
