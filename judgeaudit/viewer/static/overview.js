import { count, flat, h, name, percent, plural, sentence } from "./dom.js";
import { address, KINDS, store, TRIAGE } from "./data.js";

const STANCE = { do_not_use: "Do not use", with_care: "Use with care", no_obstacle: "No obstacle found", cannot_tell: "Cannot tell" };
const ORDER = ["certified", "near", "placebo", "threshold", "control"];

export function overviewPage() {
  const { runs, progress } = store.overview;
  return h("div.overview", {}, runs.map((run, k) => section(run, progress[k], k, runs.length)));
}

function section(run, progress, k, n) {
  const judge = n > 1 ? { judge: String(k) } : {};
  const keeping = run.conditions.filter((c) => c.contrast && ["certified", "near", "placebo"].includes(c.kind));
  const flips = keeping.reduce((sum, c) => sum + c.flipped, 0);
  const cells = keeping.reduce((sum, c) => sum + c.cells, 0);
  return h("section.run", { aria: { labelledby: `run-${k}` } },
    h("p.eyebrow", {}, "Run ", name(run.folder)),
    h("h1", { id: `run-${k}` }, name(run.judge)),
    h("p.subject", {}, [name(run.policy), name(run.corpus), `${plural(run.n_items, "item")}`, ["preset ", name(run.preset)]].map((part) => h("span", {}, part))),
    status(run, progress),
    h("div.lead", {},
      h("div.figure", {},
        h("p.number", {}, count(flips)),
        h("p", {}, flips === 1 ? "verdict turned round by a wording that keeps the policy’s meaning" : "verdicts turned round by wordings that keep the policy’s meaning"),
        h("p.soft", {}, cells ? `of ${count(cells)} compared. A flip: under the rewrite, most calls say the opposite of most base calls.` : "no item has been asked both ways yet"),
        h("a.go", { href: address(judge) }, flips ? "Look at them" : "Open the list", h("kbd", { aria: { hidden: "true" } }, "f"))),
      run.card ? card(run.card, progress) : h("div.card.cannot_tell", {}, h("h2", {}, "No card yet"), h("p", {}, "judgeaudit card makes it from this ledger."))),
    table(run, judge),
    triage(run, judge),
  );
}

function status(run, progress) {
  if (progress.error) return h("p.alert", { role: "alert" }, progress.error);
  if (!progress.ready) return meter("Reading the ledger", progress.read, progress.planned, "of", "calls read");
  if (progress.answered >= progress.planned) return null;
  const going = progress.writer ? `Running now (process ${progress.writer})` : "Stopped before its end";
  return meter(going, progress.answered, progress.planned, "of", "calls answered");
}

function meter(label, value, max, of, what) {
  const bar = h("progress", { value, max: Math.max(1, max), aria: { label } });
  return h("div.meter", {}, h("p", {}, h("strong", {}, label), ` ${count(value)} ${of} ${count(max)} ${what}`), bar);
}

function card(card, progress) {
  const old = card.answered !== progress.answered;
  return h("div.card", { class: card.stance },
    h("h2", {}, "On the card: ", STANCE[card.stance] ?? ""),
    h("p", {}, name(card.sentence, "span")),
    h("p.soft", {}, card.pis && card.pis.value !== null ? `Policy Invariance Score ${card.pis.value.toFixed(2)}` + (card.pis.low === null ? "" : ` (${card.pis.low.toFixed(2)} to ${card.pis.high.toFixed(2)})`) : "No Policy Invariance Score",
      old ? ` · made when ${plural(card.answered, "call")} had been answered` : ""));
}

function table(run, judge) {
  const rows = run.conditions.filter((c) => c.contrast).sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  const top = Math.max(0.1, ...rows.map((c) => (c.cells ? c.flipped / c.cells : 0)));
  let kind = "";
  const body = [];
  for (const c of rows) {
    if (c.kind !== kind) {
      kind = c.kind;
      body.push(h("tr.group", {}, h("th", { colSpan: 7, scope: "colgroup" }, KINDS[kind] ?? kind)));
    }
    body.push(line(c, judge, top));
  }
  return h("section", { aria: { label: "Flips by condition" } },
    h("h2", {}, "Where verdicts changed"),
    h("div.scroll", { tabIndex: 0, role: "region", aria: { label: "Table of conditions" } },
      h("table.conditions", {},
        h("thead", {}, h("tr", {}, ["Condition", "Flips", "to UNSAFE", "to SAFE", "Wavering", "Pairs that differ", "No verdict"].map((t, i) => h("th", { scope: "col", class: i ? "num" : "" }, t)))),
        h("tbody", {}, body))),
    h("p.soft.note", {}, "Flips: items whose calls mostly say the opposite of their base calls. Wavering: some calls differ, most do not. Pairs that differ: the flip rate of the card, jitter included."));
}

function line(c, judge, top) {
  const share = c.cells ? c.flipped / c.cells : 0;
  const bar = h("span.fill", { class: c.kind });
  bar.style.width = `${Math.min(100, (100 * share) / top)}%`;
  const to = (more) => address({ ...judge, transform: c.raw, ...more });
  const cell = (n, more, what) => h("td.num", {}, n ? h("a", { href: to(more), aria: { label: `${count(n)} ${what} under ${flat(c.id)}` } }, count(n)) : h("span.zero", {}, "0"));
  return h("tr", {},
    h("th", { scope: "row" }, h("a", { href: to({}) }, name(c.id)), h("span.about", {}, sentence(c.summary))),
    h("td.flips", {}, h("span.track", { aria: { hidden: "true" } }, bar), h("span.n", {}, count(c.flipped), h("span.of", {}, ` / ${count(c.cells)}`))),
    cell(c.to_unsafe, { direction: "to_unsafe" }, "flips to UNSAFE"),
    cell(c.to_safe, { direction: "to_safe" }, "flips to SAFE"),
    cell(c.wavering, { outcome: "wavering" }, "wavering cells"),
    h("td.num", {}, percent(c.flip_rate, 1)),
    c.failed ? h("td.num", {}, h("a", { href: to({ outcome: "failed" }), aria: { label: `${count(c.failed)} calls without a verdict under ${flat(c.id)}` } }, count(c.failed))) : h("td.num", {}, h("span.zero", {}, "0")));
}

function triage(run, judge) {
  const total = Object.values(run.marks).reduce((a, b) => a + b, 0);
  return h("section", { aria: { label: "What people found" } },
    h("h2", {}, "What people found"),
    total || run.notes
      ? h("ul.marks", {}, Object.entries(TRIAGE).map(([kind, label]) => h("li", {}, h("a", { href: address({ ...judge, transform: "all", outcome: "all", triage: kind }) }, h("strong", {}, count(run.marks[kind])), " ", label.toLowerCase()))), h("li", {}, h("strong", {}, count(run.notes)), run.notes === 1 ? " note" : " notes"))
      : h("p.soft", {}, "Nobody has noted anything yet. On a flip, say whether the rewrite, the judge or the label is wrong; it is kept beside the ledger and counted on the card."),
    run.unreadable_marks ? h("p.alert", {}, `${plural(run.unreadable_marks, "line")} of triage.jsonl cannot be read.`) : null);
}
