// What the server is asked, and what the address says.

export const FILTERS = ["transform", "direction", "outcome", "clarity", "label", "dataset", "category", "judge", "triage", "sort", "q"];

export const store = { overview: null, write: "", noteLimit: 4000 };

export async function api(path, params = {}, signal = undefined) {
  const query = new URLSearchParams();
  for (const [k, v] of Object.entries(params)) if (v !== "" && v !== null && v !== undefined) query.set(k, v);
  const answer = await fetch(`/api/${path}?${query}`, { credentials: "same-origin", signal });
  return read(answer);
}

async function read(answer) {
  if (answer.status === 403) throw new Error("This page was opened without its token. Open the address that judgeaudit view printed in the terminal.");
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error ?? `the server answered ${answer.status}`);
  return said;
}

export async function triage(run, cell, kind, note) {
  const answer = await fetch("/api/triage", {
    method: "POST",
    credentials: "same-origin",
    headers: { "Content-Type": "application/json", "X-Judgeaudit-Write": store.write },
    body: JSON.stringify({ run, cell, kind, note }),
  });
  return read(answer);
}

export async function loadOverview() {
  const said = await api("overview");
  store.overview = said;
  store.write = said.write;
  store.noteLimit = said.note_limit;
  return said;
}

/** The address as a state: which page, which filters, which flip. */
export function state() {
  const query = new URLSearchParams(location.search);
  const filters = {};
  for (const f of FILTERS) if (query.get(f)) filters[f] = query.get(f);
  const flip = /^(\d+)\.(\d+)$/.exec(query.get("flip") ?? "");
  return {
    view: query.get("view") === "flips" ? "flips" : "overview",
    filters,
    flip: flip ? { run: Number(flip[1]), cell: Number(flip[2]) } : null,
  };
}

export function address(filters = {}, flip = null, view = "flips") {
  const query = new URLSearchParams();
  if (view === "flips") query.set("view", "flips");
  for (const f of FILTERS) if (filters[f]) query.set(f, filters[f]);
  if (flip) query.set("flip", `${flip.run}.${flip.cell}`);
  const said = query.toString();
  return said ? `/?${said}` : "/";
}

export const KINDS = {
  reference: "Reference",
  placebo: "Placebo",
  certified: "Certified rewrite",
  near: "Near rewrite",
  threshold: "Threshold moved",
  control: "Control",
};

export const MEANING = {
  placebo: "The text is the same: any change is noise of the judge or its server.",
  certified: "The rewrite keeps the policy’s meaning: the verdict should not change.",
  near: "The rewrite is close in meaning: the verdict should hardly ever change.",
  threshold: "The bar was moved on purpose: a change may be right.",
  control: "The policy was taken away or turned round: a judge that reads it should change.",
};

export const TRIAGE = {
  rewrite: "The rewrite is wrong",
  judge: "The judge is wrong",
  label: "The label is wrong",
};
