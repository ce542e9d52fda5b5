"""What hardening found, in words: plain text, Markdown, and a page with plots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from markupsafe import Markup, escape

from judgeaudit.cards.clean import clean, shorten
from judgeaudit.cards.render import md_text
from judgeaudit.cure.harden_plot import pareto
from judgeaudit.cure.harden_records import Candidate, Figure, Hardened

__all__ = [
    "boxed",
    "cell",
    "framed",
    "headline",
    "markdown_table",
    "of_hardened",
    "page",
    "safe",
]

_INVARIANT: Final = "invariant by construction: wording discarded"
_HEAD: Final = ("figure", "before", "after", "change", "p (corrected)")
_KEPT: Final = {
    "kept": "a loss of accuracy beyond the practical threshold is ruled out",
    "open": "a loss of accuracy beyond the practical threshold is not ruled out",
    "lower": "accuracy is shown to be lower",
    "not known": "what it costs in accuracy is not known",
}

_STYLE: Final = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "color:#222;background:#fff}table{border-collapse:collapse;margin:.5rem 0 1.5rem}"
    "td,th{padding:.2rem .8rem .2rem 0;text-align:left;border-bottom:1px solid #ddd;"
    "vertical-align:top}td{font-variant-numeric:tabular-nums}.why{color:#666}h2{margin-top:2rem}"
    "p,li,h1,h2{overflow-wrap:anywhere}tbody th{font-weight:400}.box{overflow-x:auto}"
    ".box:focus-visible{outline:2px solid #15638f}.box svg{display:block;width:100%;"
    "min-width:36rem;max-width:44rem}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}td,th{border-color:#444}"
    ".why{color:#999}}"
)


def headline(found: Hardened) -> str:
    """Say in one sentence what came of it."""
    tried = f"{len(found.candidates)} tried on {found.n_held_out} held-out clusters"
    if found.winner is None:
        return f"No candidate is shown better than the judge as it is ({tried})."
    best = next(c for c in found.candidates if c.name == found.winner)
    excess = best.figure("excess flips")
    assert excess is not None
    text = (
        f"{safe(best.name, 80)} flips less: excess flips {_points(excess.before)} before, "
        f"{_points(excess.after)} after ({tried}, p {_p(excess.p_adjusted)} corrected); "
        f"{_KEPT[best.accuracy]}."
    )
    return f"{text} It is {_INVARIANT}." if best.invariant else text


def of_hardened(found: Hardened, *, md: bool = False) -> str:
    """Word it all.

    Parameters
    ----------
    found : Hardened
        What was found.
    md : bool
        As Markdown.
    """
    said = headline(found)
    lines = [cell(said) if md else said, ""]
    lines += _about(found, md=md)
    for c in found.candidates:
        name = _shown(c.name, md)
        lines += ["", f"### {name}" if md else name, *([""] if md else [])]
        lines += _remarks(c, md=md)
        rows = [_row(f) for f in c.figures]
        lines += markdown_table(rows) if md else _text(rows)
    if found.skipped:
        lines += ["", "Not tried:" if md else "not tried", *([""] if md else [])]
        mark = "- " if md else "  "
        lines += [f"{mark}{_shown(s.strategy, md)}: {_shown(s.why, md)}" for s in found.skipped]
    return "\n".join(lines)


def _facts(found: Hardened) -> list[tuple[str, str]]:
    ranked = ", ".join(f"{w.wording} {_points(w.excess)}" for w in found.wordings)
    sizes = (
        f"{found.n_train} to choose on ({found.n_train_items} items), {found.n_held_out} held "
        f"out ({found.n_held_out_items} items), split by seed {found.seed}"
    )
    n = max(1, len(found.candidates))
    levels = (
        f"95% before and after; of changes {1 - found.alpha / n:.1%}, corrected for {n} "
        "candidates, of PIS and balanced accuracy 95%"
    )
    return [
        ("judge", found.judge),
        ("policy", found.policy),
        ("corpus", found.corpus),
        ("clusters", sizes),
        ("wordings", f"excess flips on the former: {ranked}" if ranked else "none certified"),
        ("intervals", levels),
    ]


def _about(found: Hardened, *, md: bool) -> list[str]:
    if md:
        return [f"- **{name}** {cell(text)}" for name, text in _facts(found)]
    return [f"{name:<10}{safe(text)}" for name, text in _facts(found)]


def _remarks(c: Candidate, *, md: bool) -> list[str]:
    under = ", ".join(c.conditions)
    said = [
        c.what,
        f"shown better: {'yes' if c.shown_better else 'no'}; {_KEPT[c.accuracy]}",
        f"follows the policy: {c.responsive}",
        f"excess flips and PIS under {under}" if under else "under no condition",
        f"{c.asked:,} requests made, {c.reused:,} answers known from the run",
    ]
    if c.invariant:
        said.insert(1, _INVARIANT)
    if md:
        return [*(f"- {cell(s)}" for s in said), ""]
    return [f"  {safe(s)}" for s in said]


def _row(f: Figure) -> tuple[str, ...]:
    number = _numbers(f.unit)
    why = f.why or ""
    change = "-" if f.change is None else number(f.change, signed=True)
    if f.low is not None and f.high is not None:
        change += f" [{number(f.low, signed=True)}, {number(f.high, signed=True)}]"
        change += f", {why}" if why else ""
    elif why:
        change = f"{change}: {why}" if f.change is not None else why
    return (
        f.name,
        _interval(f.before, f.before_low, f.before_high, f.unit),
        _interval(f.after, f.after_low, f.after_high, f.unit),
        change,
        _p(f.p_adjusted) if f.p_adjusted is not None else "",
    )


class _numbers:  # noqa: N801 - a function with a unit
    def __init__(self, unit: str) -> None:
        self.unit = unit

    def __call__(self, x: float, *, signed: bool = False) -> str:
        sign = "+" if signed else ""
        if self.unit == "fraction":
            return f"{100 * x:{sign}.1f}%"
        if self.unit == "US dollars":
            return f"{x:{sign}.6f}"
        if self.unit == "tokens":
            return f"{x:{sign},.0f}"
        return f"{x:{sign}.2f}"


def _interval(value: float | None, low: float | None, high: float | None, unit: str) -> str:
    if value is None:
        return "-"
    number = _numbers(unit)
    if low is None or high is None:
        return number(value)
    return f"{number(value)} [{number(low)}, {number(high)}]"


def _points(x: float | None) -> str:
    return "-" if x is None else f"{100 * x:+.1f} points"


def _p(x: float | None) -> str:
    if x is None:
        return "-"
    return "< 0.001" if x < 0.001 else f"{x:.3f}"


def _text(rows: Sequence[Sequence[str]]) -> list[str]:
    every = [list(_HEAD), *([safe(c) for c in r] for r in rows)]
    widths = [max(len(r[k]) for r in every) for k in range(len(_HEAD))]
    return [
        "  " + "  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in every
    ]


def markdown_table(rows: Sequence[Sequence[str]], head: Sequence[str] = _HEAD) -> list[str]:
    """Lay out a table; untrusted cells do no harm."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell(c) for c in cells) + " |"

    return [line(head), "|" + "---|" * len(head), *map(line, rows)]


def _shown(text: str, md: bool) -> str:
    return cell(text) if md else safe(text)


def safe(text: str, width: int = 600) -> str:
    """Make a stranger's text visible, writable, one line and short."""
    return shorten(clean(text), width)


def cell(text: str) -> str:
    """Make a text harmless in Markdown."""
    return md_text(safe(text))


def page(found: Hardened) -> str:
    """Make a page of its own: what was found, the plot of costs against excess flips, tables."""
    drawn = tuple(c.model_copy(update={"name": safe(c.name, 24)}) for c in found.candidates)
    body = [
        Markup("<h1>A judge before and after hardening</h1><p>{}</p>").format(headline(found)),
        Markup('<div class="box" tabindex="0" role="group" aria-label="Costs and excess flips">')
        + pareto(found.model_copy(update={"candidates": drawn}))
        + Markup("</div>"),
        Markup("<ul>{}</ul>").format(
            Markup("").join(
                Markup("<li><b>{}</b> {}</li>").format(name, safe(text))
                for name, text in _facts(found)
            )
        ),
        *(_section(c) for c in found.candidates),
    ]
    body += [
        Markup('<p class="why">Not tried: {}: {}</p>').format(s.strategy, safe(s.why))
        for s in found.skipped
    ]
    return framed(f"Hardening {found.judge}", Markup("").join(body))


def framed(title: str, body: Markup) -> str:
    """Make a page that loads nothing and runs nothing."""
    style = Markup(_STYLE)  # noqa: S704 - ours
    return str(
        Markup(
            '<!doctype html><html lang="en"><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
            "style-src 'unsafe-inline'; img-src data:\">"
            # a browser would ask for a favicon of its own accord
            '<link rel="icon" href="data:,">'
            "<title>{}</title><style>{}</style><main>{}</main></html>\n"
        ).format(safe(title, 140), style, body)
    )


def boxed(label: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """Lay out a table that scrolls by itself in a narrow window, and by the keyboard.

    Parameters
    ----------
    label : str
        What it shows, for who does not see it.
    head : sequence of str
        Of the columns.
    rows : iterable of sequence of str
        The first cell of each is its head; a stranger's words do no harm.
    """
    body = Markup("").join(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            safe(first), Markup("").join(Markup("<td>{}</td>").format(safe(c)) for c in rest)
        )
        for first, *rest in rows
    )
    heads = Markup("").join(Markup('<th scope="col">{}</th>').format(h) for h in head)
    return Markup(
        '<div class="box" tabindex="0" role="group" aria-label="{}">'
        "<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>"
    ).format(label, heads, body)


def _section(c: Candidate) -> Markup:
    name = safe(c.name, 80)
    said = Markup("<br>").join(escape(s.strip()) for s in _remarks(c, md=False))
    return Markup('<h2>{}</h2><p class="why">{}</p>{}').format(
        name, said, boxed(f"Figures of {name}", _HEAD, map(_row, c.figures))
    )
