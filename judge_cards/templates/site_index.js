"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const bodies = [...document.querySelectorAll("#cards tbody")];
  const rows = [...document.querySelectorAll("#cards tr.card")];
  const heads = [...document.querySelectorAll("#cards thead th")];
  const find = byId("find"), stance = byId("stance"), group = byId("group");
  const compare = byId("compare"), told = byId("told");
  const order = new Map(rows.map((row, k) => [row, k]));
  const STANCES = ["no_obstacle", "with_care", "cannot_tell", "do_not_use"];
  let sort = "", down = false, words = "", picked = new Set();

  const head = (id) => heads.find((h) => h.dataset.sort === id);

  // A figure that is not known is last in either direction.
  function key(row, id) {
    if (id === "judge") return row.dataset.judge.toLowerCase();
    if (id === "stance") return STANCES.indexOf(row.dataset.stance);
    if (id === "created") return Number(row.dataset.created);
    const cell = row.children[heads.indexOf(head(id)) + 1];
    return "value" in cell.dataset ? Number(cell.dataset.value) : null;
  }

  function compareKeys(a, b) {
    if (a === null || b === null) return (a === null) - (b === null);
    const way = a < b ? -1 : a > b ? 1 : 0;
    return down ? -way : way;
  }

  function arrange() {
    for (const h of heads) {
      if (sort && h.dataset.sort === sort) h.setAttribute("aria-sort", down ? "descending" : "ascending");
      else h.removeAttribute("aria-sort");
    }
    for (const body of bodies) {
      const held = rows.filter((row) => row.parentNode === body);
      held.sort((a, b) => (sort && compareKeys(key(a, sort), key(b, sort))) || order.get(a) - order.get(b));
      body.append(...held);
    }
  }

  function filter() {
    let seen = 0;
    const wanted = find.value.trim().toLowerCase();
    for (const body of bodies) {
      let here = 0;
      for (const row of rows) {
        if (row.parentNode !== body) continue;
        row.hidden = Boolean((wanted && !row.dataset.words.includes(wanted)) ||
          (stance.value && row.dataset.stance !== stance.value) || (group.value && body.id !== group.value));
        here += row.hidden ? 0 : 1;
      }
      body.hidden = here === 0;
      seen += here;
    }
    return seen;
  }

  function say() {
    const seen = rows.filter((row) => !row.hidden).length;
    const figure = sort && !["judge", "stance", "created"].includes(sort);
    const by = sort ? `, sorted by ${head(sort).textContent.trim()} within each group` : "";
    told.textContent = `${seen} of ${rows.length} cards${by}.` +
      (figure ? " Where intervals overlap, the order shows no difference." : "");
  }

  function choose() {
    const ids = [...picked];
    compare.textContent = ids.length ? `Compare ${ids.length} card${ids.length > 1 ? "s" : ""}` : "Compare: choose cards";
    compare.setAttribute("aria-disabled", String(ids.length === 0));
    compare.href = "compare.html" + (ids.length ? `#${ids.map((id) => `card=${encodeURIComponent(id)}`).join("&")}` : "");
  }

  function keep() {
    const p = new URLSearchParams();
    if (find.value.trim()) p.set("find", find.value.trim());
    if (stance.value) p.set("stance", stance.value);
    if (group.value) p.set("group", group.value);
    if (sort) p.set("sort", (down ? "-" : "") + sort);
    words = p.toString();
    if (words !== location.hash.slice(1)) location.replace(`#${words}`);
  }

  function restore() {
    if (location.hash.slice(1) === words) return;
    const p = new URLSearchParams(location.hash.slice(1));
    find.value = (p.get("find") || "").slice(0, 200);
    for (const [box, name] of [[stance, "stance"], [group, "group"]]) {
      const given = p.get(name) || "";
      box.value = [...box.options].some((o) => o.value === given) ? given : "";
    }
    const by = p.get("sort") || "";
    down = by.startsWith("-");
    sort = heads.some((h) => h.dataset.sort && h.dataset.sort === by.replace(/^-/, "")) ? by.replace(/^-/, "") : "";
    arrange();
    filter();
    say();
  }

  for (const h of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = h.textContent;
    h.replaceChildren(button);
    button.addEventListener("click", () => {
      const id = h.dataset.sort;
      // what is better comes first; a second click turns it round, a third restores the order
      const first = h.dataset.better === "higher" || id === "created";
      if (sort !== id) { sort = id; down = first; }
      else if (down === first) down = !down;
      else sort = "";
      arrange(); say(); keep();
    });
  }
  for (const row of rows) {
    const box = row.querySelector(".pick input");
    box.checked = false;
    box.addEventListener("change", () => {
      picked[box.checked ? "add" : "delete"](row.dataset.id);
      choose();
    });
  }
  for (const box of [find, stance, group]) box.addEventListener("input", () => { filter(); say(); keep(); });
  window.addEventListener("hashchange", restore);
  for (const hidden of document.querySelectorAll(".tools, .pick")) hidden.hidden = false;
  choose();
  words = null;
  restore();
})();
