"use strict";
(() => {
  const body = document.body, form = document.getElementById("sheet");
  const rater = document.getElementById("rater"), said = document.getElementById("said");
  const fields = [...form.querySelectorAll("fieldset[data-dimension]")];
  const keep = "judgeaudit-rating-" + body.dataset.sheet;
  let asked = "", saved = true;

  const K = new Uint32Array(64), H0 = new Uint32Array(8);
  for (let n = 2, k = 0; k < 64; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) { prime = false; break; }
    if (!prime) continue;
    const part = (x) => Math.floor((x - Math.floor(x)) * 4294967296) >>> 0;
    if (k < 8) H0[k] = part(Math.sqrt(n));
    K[k++] = part(Math.cbrt(n));
  }
  // the page must hash what it shows, also where a browser keeps its own hashing from files
  function sha256(text) {
    const bytes = new TextEncoder().encode(text), size = bytes.length;
    const data = new Uint8Array(((size + 72) >> 6) << 6), view = new DataView(data.buffer);
    data.set(bytes); data[size] = 0x80;
    view.setUint32(data.length - 8, Math.floor(size / 536870912));
    view.setUint32(data.length - 4, (size << 3) >>> 0);
    const h = new Uint32Array(H0), w = new Uint32Array(64);
    const turn = (x, n) => (x >>> n) | (x << (32 - n));
    for (let at = 0; at < data.length; at += 64) {
      for (let i = 0; i < 16; i++) w[i] = view.getUint32(at + 4 * i);
      for (let i = 16; i < 64; i++) {
        const a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3))
          + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10));
      }
      let [a, b, c, d, e, f, g, z] = h;
      for (let i = 0; i < 64; i++) {
        const t1 = (z + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
        const t2 = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        z = g; g = f; f = e; e = (d + t1) | 0; d = c; c = b; b = a; a = (t1 + t2) | 0;
      }
      [a, b, c, d, e, f, g, z].forEach((v, i) => { h[i] += v; });
    }
    return [...h].map((v) => v.toString(16).padStart(8, "0")).join("");
  }

  const chosen = (field) => field.querySelector("input:checked");
  const open = () => fields.filter((f) => !chosen(f));
  function progress() {
    const left = open().length;
    document.getElementById("progress").textContent =
      `${fields.length - left} of ${fields.length} questions answered.`;
    return left;
  }
  function remember() {
    saved = false;
    try {
      const votes = {};
      for (const f of fields) { const c = chosen(f); if (c) votes[c.name] = c.value; }
      localStorage.setItem(keep, JSON.stringify({ rater: rater.value, votes }));
    } catch { /* the browser keeps nothing for files: the votes stay on the page */ }
  }
  function recall() {
    try {
      const old = JSON.parse(localStorage.getItem(keep) || "null");
      if (!old) return;
      rater.value = String(old.rater || "");
      for (const f of fields) for (const i of f.querySelectorAll("input"))
        if (old.votes && old.votes[i.name] === i.value) i.checked = true;
    } catch { /* as above */ }
  }
  function show(field) {
    field.scrollIntoView({ block: "center" });
    field.querySelector("input").focus();
  }
  const quoted = (cell) => '"' + String(cell).replaceAll('"', '""') + '"';
  function table(name) {
    const rows = [body.dataset.columns.split(",")];
    for (const article of form.querySelectorAll("article[data-pair]")) {
      const [a, b] = ["original", "rewrite"].map((side) =>
        sha256(article.querySelector(`.text[data-side="${side}"]`).textContent));
      for (const f of article.querySelectorAll("fieldset[data-dimension]")) {
        const c = chosen(f);
        if (c) rows.push([body.dataset.sheet, name, article.dataset.pair, a, b, f.dataset.dimension, c.value]);
      }
    }
    return "\ufeff" + rows.map((r) => r.map(quoted).join(",")).join("\r\n") + "\r\n";
  }
  function save() {
    const name = rater.value.trim().normalize("NFC");
    for (const f of fields) f.classList.remove("open");
    if (!/^[\p{L}\p{N}][\p{L}\p{N}_ .@-]{0,63}$/u.test(name)) {
      said.textContent = "Write your name or code first: letters, digits, blanks and . _ @ - only, a letter or digit first.";
      rater.focus();
      return;
    }
    const left = open();
    if (left.length === fields.length) { said.textContent = "There is no vote yet."; return; }
    const state = left.map((f) => f.closest("article").dataset.pair + f.dataset.dimension).join();
    if (left.length && asked !== state) {
      asked = state;
      left[0].classList.add("open");
      show(left[0]);
      said.textContent = `${left.length} questions are open. Answer them, or press Save again to save what there is.`;
      return;
    }
    const address = URL.createObjectURL(new Blob([table(name)], { type: "text/csv;charset=utf-8" }));
    const link = document.createElement("a");
    link.href = address;
    link.download = `votes-${body.dataset.sheet}-${name.replace(/[^\p{L}\p{N}]+/gu, "-")}.csv`;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
    saved = true;
    // the next rater at this machine must not see these votes
    if (!left.length) try { localStorage.removeItem(keep); } catch { /* nothing was kept */ }
    said.textContent = `Saved as ${link.download}. Send that file to whoever gave you this sheet.`;
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", () => { progress(); remember(); });
  document.getElementById("save").addEventListener("click", save);
  document.getElementById("next").addEventListener("click", () => {
    const left = open();
    if (left.length) show(left[0]); else said.textContent = "No question is open.";
  });
  window.addEventListener("beforeunload", (event) => { if (!saved) event.preventDefault(); });
  recall();
  progress();
})();
