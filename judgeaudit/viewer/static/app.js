// The page: which view, which flip, which keys.
import { count, fill, h, say } from "./dom.js";
import { address, api, loadOverview, state, store, TRIAGE } from "./data.js";
import { overviewPage } from "./overview.js";
import { List } from "./list.js";
import { announce, flipPage } from "./flip.js";

const main = document.getElementById("main");
const live = document.getElementById("live");
const help = document.getElementById("help");
const shortcuts = { on: localStorage.getItem("judgeaudit-keys") !== "off" };
const list = new List((to) => go(to));
const detail = h("div.pane", { id: "pane" });
const split = h("div.panes", {}, list.element, detail);
let shown = null, asked = 0, timer = 0, seen = "";

/** Change the address, and show what it says. */
function go(to, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", to);
  return show({ moved: true });
}

async function show({ moved = false } = {}) {
  const now = state(), turn = ++asked;
  try {
    if (!store.overview || now.view === "overview") await loadOverview();
    if (turn !== asked) return;
    const waiting = store.overview.progress.some((p) => !p.ready && !p.error);
    for (const [id, view] of [["nav-overview", "overview"], ["nav-flips", "flips"]]) {
      const a = document.getElementById(id);
      if (now.view === view) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
    }
    drawLive();
    if (now.view === "overview" || waiting) {
      shown = null;
      split.remove();
      document.title = "Overview · judgeaudit explorer";
      fill(main, overviewPage());
      if (moved) { scrollTo(0, 0); main.focus({ preventScroll: true }); }
    } else await flips(now, turn, moved);
  } catch (error) {
    if (turn === asked && error.name !== "AbortError") fail(error);
  }
  watch();
}

async function flips(now, turn, moved) {
  document.title = "Flips · judgeaudit explorer";
  if (!split.isConnected) fill(main, split);
  split.classList.toggle("one", Boolean(now.flip));
  if (!now.flip) {
    shown = null;
    fill(detail, h("div.hint", {}, h("p", {}, "Choose a flip, or press ", h("kbd", {}, "j"), " for the first.")));
    await list.show(now.filters, null);
    if (moved && turn === asked && innerWidth < 1000) scrollTo(0, 0);
    return;
  }
  const same = shown && shown.run === now.flip.run && shown.cell === now.flip.cell;
  const d = await api("flip", { ...now.filters, ...now.flip });
  if (turn !== asked) return;
  const focus = detail.contains(document.activeElement) || document.activeElement === document.body;
  shown = d;
  document.title = "A flip · judgeaudit explorer";
  fill(detail, flipPage(d, now.filters, (row, run) => list.update(row, run)));
  if (!same) {
    if (innerWidth < 1000) scrollTo(0, 0); else detail.scrollTop = 0;
    if (focus) document.getElementById("flip-title").focus({ preventScroll: true });
    announce(d);
  }
  await list.show(now.filters, now.flip, d.place.n);
}

function fail(error) {
  split.remove();
  shown = null;
  fill(main, h("div.alert.large", { role: "alert" }, h("h1", {}, "This cannot be shown"), h("p", {}, error.message), h("p", {}, h("a", { href: "/" }, "To the overview"))));
}

function drawLive() {
  const parts = store.overview.progress;
  const running = parts.filter((p) => p.writer && p.answered < p.planned);
  const reading = parts.filter((p) => !p.ready && !p.error);
  const sum = (key, of) => of.reduce((a, p) => a + p[key], 0);
  fill(live, reading.length ? h("span.pill", {}, `Reading ${count(sum("read", reading))} of ${count(sum("planned", reading))} calls`)
    : running.length ? h("span.pill.running", {}, `Live: ${count(sum("answered", running))} of ${count(sum("planned", running))} calls`) : null);
}

/** Look again while a run is being read, or goes on. */
function watch() {
  clearTimeout(timer);
  const parts = store.overview?.progress ?? [];
  const reading = parts.some((p) => !p.ready && !p.error);
  if (!reading && !parts.some((p) => p.writer || p.answered < p.planned)) return;
  timer = setTimeout(look, reading ? 150 : 3000);
}

async function look() {
  if (document.hidden) return watch();
  try {
    const before = JSON.stringify(store.overview.progress.map((p) => [p.version, p.ready]));
    const reading = store.overview.progress.some((p) => !p.ready && !p.error);
    const now = state();
    if (reading) {
      store.overview.progress = await api("progress");
      if (store.overview.progress.every((p) => p.ready || p.error)) return show();
      if (now.view === "overview" || !split.isConnected) fill(main, overviewPage());
    } else {
      await loadOverview();
      const after = JSON.stringify(store.overview.progress.map((p) => [p.version, p.ready]));
      if (after !== before) {
        if (now.view === "overview") refreshed();
        else if (seen !== after) list.changed.hidden = false;
        seen = after;
      }
    }
    drawLive();
  } catch (error) {
    fill(live, h("span.pill.gone", { title: error.message }, "The explorer has ended"));
  }
  watch();
}

/** Draw the overview anew without taking away the place of whoever reads it. */
function refreshed() {
  const at = document.activeElement?.getAttribute?.("href"), top = scrollY;
  fill(main, overviewPage());
  if (at) [...main.querySelectorAll("a")].find((a) => a.getAttribute("href") === at)?.focus({ preventScroll: true });
  scrollTo(0, top);
}

const KEYS = [
  ["j", "next flip"], ["k", "previous flip"], ["o", "overview"], ["f", "list of flips"], ["/", "search"],
  ["1", TRIAGE.rewrite.toLowerCase()], ["2", TRIAGE.judge.toLowerCase()], ["3", TRIAGE.label.toLowerCase()], ["n", "write a note"], ["?", "this help"], ["Esc", "leave a field, close this help"],
];

function openHelp() {
  const box = h("input", { type: "checkbox", id: "keys-on", checked: shortcuts.on, on: { change: (e) => { shortcuts.on = e.target.checked; localStorage.setItem("judgeaudit-keys", shortcuts.on ? "on" : "off"); } } });
  fill(help, h("h2", { id: "help-title" }, "Keys"),
    h("dl.keys", {}, KEYS.map(([key, what]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)))),
    h("p", {}, box, h("label", { htmlFor: "keys-on" }, " Single keys do something")),
    h("p", {}, h("button.button", { type: "button", on: { click: () => help.close() } }, "Close")));
  if (!help.open) help.showModal();
}

async function step(which) {
  const now = state();
  if (now.view !== "flips") return go(address({}));
  if (shown?.place?.[which]) return go(address(now.filters, shown.place[which]), { replace: true });
  if (!now.flip && list.loaded.length) return go(address(now.filters, list.loaded[0]));
  if (shown) say(which === "next" ? "This was the last one" : "This was the first one");
}

addEventListener("keydown", (e) => {
  const field = e.target.closest?.("input:not([type=checkbox]), textarea, select");
  if (e.key === "Escape" && field) return field.blur();
  if (!shortcuts.on && e.key !== "?") return;
  if (e.ctrlKey || e.metaKey || e.altKey || field || help.open || e.defaultPrevented) return;
  const pick = { 1: "rewrite", 2: "judge", 3: "label" }[e.key];
  const work = { j: () => step("next"), k: () => step("previous"), o: () => go("/"), f: () => go(address(state().filters)), "?": openHelp,
    "/": () => (state().view === "flips" && !split.classList.contains("one") ? Promise.resolve() : innerWidth < 1000 || state().view !== "flips" ? go(address(state().filters)) : Promise.resolve()).then(() => document.getElementById("q")?.focus()),
    n: () => document.getElementById("note")?.focus() }[e.key] ?? (pick ? () => document.querySelector(`.pick[data-kind=${pick}]`)?.click() : null);
  if (!work) return;
  e.preventDefault();
  work();
});

addEventListener("click", (e) => {
  const a = e.target.closest?.("a[href]");
  if (!a || e.defaultPrevented || e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey || a.hasAttribute("download")) return;
  const to = new URL(a.href);
  if (to.origin !== location.origin || to.pathname !== "/" || to.hash) return;
  e.preventDefault();
  go(to.pathname + to.search, { replace: Boolean(a.rel) });
});

addEventListener("popstate", () => show({ moved: true }));
document.getElementById("help-button").addEventListener("click", openHelp);

// the token has done its work: the cookie has it now, and the address can be shared
const first = new URL(location.href);
if (first.searchParams.has("token")) {
  first.searchParams.delete("token");
  history.replaceState(null, "", first.pathname + first.search);
}
show();
