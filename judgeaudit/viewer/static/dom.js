// Elements from values. Text only ever enters a page as text: nothing here reads HTML.

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const MOST_MARKS = 500;
const COUNT = new Intl.NumberFormat("en");

export const count = (n) => COUNT.format(n);
export const plural = (n, one, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;
export const percent = (x, digits = 0) => (x === null || x === undefined ? "–" : `${(100 * x).toFixed(digits)}%`);

/** Make an element: props are properties, `data`, `aria` and `on` are maps, children are values. */
export function h(tag, props = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const el = document.createElement(name || "div");
  if (classes.length) el.className = classes.join(" ");
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null) continue;
    if (key === "on") for (const [e, f] of Object.entries(value)) el.addEventListener(e, f);
    else if (key === "aria") for (const [a, v] of Object.entries(value)) { if (v !== undefined && v !== null) el.setAttribute(`aria-${a}`, v); }
    else if (key === "data") Object.assign(el.dataset, value);
    else if (key === "class") { if (value) el.classList.add(...value.split(" ")); }
    else if (key in el && key !== "role" && key !== "for" && key !== "scope") el[key] = value;
    else el.setAttribute(key, value);
  }
  add(el, children);
  return el;
}

export function add(el, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    el.append(child instanceof Node ? child : String(child));
  }
  return el;
}

export function fill(el, ...children) {
  el.replaceChildren();
  return add(el, children);
}

/** A stranger's text as nodes: what would be invisible, or steer the text around it, is spelt out. */
export function words(text) {
  const said = String(text ?? "").replaceAll("\r\n", "\n");
  if (!INVISIBLE.test(said.replaceAll("\n", ""))) return [said];
  const out = [];
  let plain = "", last = "", times = 0, marks = 0;
  const flush = () => {
    if (times) {
      const code = "U+" + last.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      if (plain) out.push(plain);
      plain = "";
      out.push(h("span.ctl", { title: "an invisible character" }, code + (times > 1 ? ` ×${count(times)}` : "")));
      marks += 1;
    }
    times = 0;
  };
  let before = "";
  for (const char of said) {
    const joins = (char === "\u200c" || char === "\u200d") && before > "\x7f";
    if (char === "\n" || char === "\t" || joins || !INVISIBLE.test(char)) {
      flush();
      plain += char;
    } else if (marks >= MOST_MARKS) {
      flush();
      plain += "\ufffd";
    } else if (times && char === last) times += 1;
    else {
      flush();
      last = char;
      times = 1;
    }
    before = char;
  }
  flush();
  if (plain) out.push(plain);
  return out;
}

/** The same as one plain string, for titles, labels and announcements. */
export const flat = (text) => words(text).map((n) => (n instanceof Node ? `[${n.textContent}]` : n)).join("");

/** A name of a stranger's: never wraps the line's direction around itself. */
export const name = (text, tag = "bdi") => h(tag, {}, words(text));

/** A name that begins a line: its first letter is a capital. */
export const sentence = (text) => name(/^[a-z]/.test(text ?? "") ? text[0].toUpperCase() + text.slice(1) : text);

export function icon(path, label) {
  const NS = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  if (label) { svg.setAttribute("role", "img"); svg.setAttribute("aria-label", label); }
  else svg.setAttribute("aria-hidden", "true");
  const p = document.createElementNS(NS, "path");
  p.setAttribute("d", path);
  svg.append(p);
  return svg;
}

export const say = (text) => { document.getElementById("say").textContent = text; };
