"""The page of `localise`: a policy's text, its words coloured by how much they move verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from markupsafe import Markup, escape

from judgeaudit.cards.clean import clean, one_line
from judgeaudit.cards.files import write_text
from judgeaudit.cards.render import md_text
from judgeaudit.core.terminal import plain
from judgeaudit.cure.localise_words import share_words, summary_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgeaudit.core.records.localised import Cause, Localised, Moved, Section

__all__ = ["STYLE", "coloured", "to_html", "to_markdown", "write_localised"]

STYLE: Final = """\
:root { color-scheme: light dark; --ink: #1b1b1f; --soft: #55555f; --paper: #fff; --line: #d9d9e0;
  --u: 178, 24, 43; --s: 33, 102, 172; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf1; --soft: #a8a8b3; --paper: #17171b;
  --line: #3a3a44; --u: 244, 109, 67; --s: 116, 173, 209; } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line);
  vertical-align: top; }
.num { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.soft { color: var(--soft); }
.scroll { overflow-x: auto; } .scroll:focus-visible { outline: 2px solid; }
h1, h2, p, li { overflow-wrap: anywhere; }
.policy { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid var(--line);
  padding: 1rem; border-radius: .4rem; }
mark { color: inherit; background: none; border-radius: .15rem; border-bottom: 2px solid; }
mark.u { border-color: rgb(var(--u)); } mark.s { border-color: rgb(var(--s)); }
mark.u1 { background: rgba(var(--u), .10); } mark.u2 { background: rgba(var(--u), .2); }
mark.u3 { background: rgba(var(--u), .3); } mark.u4 { background: rgba(var(--u), .42); }
mark.u5 { background: rgba(var(--u), .55); }
mark.s1 { background: rgba(var(--s), .10); } mark.s2 { background: rgba(var(--s), .2); }
mark.s3 { background: rgba(var(--s), .3); } mark.s4 { background: rgba(var(--s), .42); }
mark.s5 { background: rgba(var(--s), .55); }
sup { font-size: .7rem; color: var(--soft); }
"""
_LEVELS: Final = 5
_ITEMS: Final = 200


def write_localised(found: Localised, folder: Path) -> tuple[Path, ...]:
    """Write `localise.json`, `localise.html` and `localise.md` into a run's folder."""
    made = {
        "html": to_html(found),
        "md": to_markdown(found),
        # last: where it lies, the others do, too
        "json": found.model_dump_json(indent=1) + "\n",
    }
    return tuple(write_text(text, folder / f"localise.{form}") for form, text in made.items())


def to_html(found: Localised, *, stylesheet: str | None = None) -> str:
    """Write one page that needs nothing beside it.

    Parameters
    ----------
    found : Localised
        What was found.
    stylesheet : str, optional
        Address of the style sheet, for a server that allows none in the page.
    """
    style = (
        Markup("<style>{}</style>").format(Markup(STYLE))  # noqa: S704  # ours
        if stylesheet is None
        else Markup('<link rel="stylesheet" href="{}">').format(stylesheet)
    )
    title = _said(f"Which words flip the verdicts of {found.judge}")
    parts = [
        Markup(
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            "<title>{}</title>\n{}\n</head>\n<body>\n<main>\n<h1>{}</h1>\n<p>{}</p>\n"
        ).format(title, style, title, _said(_about(found)))
    ]
    parts += [_section(s) for s in found.sections]
    parts.append(_items(found))
    parts.append(Markup("</main>\n</body>\n</html>\n"))
    return str(Markup("").join(parts))


def _said(text: str) -> str:
    return one_line(clean(text))


def _about(found: Localised) -> str:
    return (
        f"Policy {found.policy}, corpus {found.corpus}. {found.calls:,} calls of at most "
        f"{found.calls_most:,}. Every text that was asked reads back as the same policy. Of the "
        f"flips called real at most {found.level:.0%} are expected not to be; a single question "
        f"of a search errs with chance {found.error:.0%}, one of its confirmation with "
        f"{found.sure:.1%}. Intervals are over clusters, at {found.interval_level:.0%}."
    )


def _section(s: Section) -> Markup:
    head = Markup("<h2>{}</h2>\n<p>{}</p>\n<p>{}</p>\n").format(
        _said(s.condition), _said(s.summary), _said(summary_of(s))
    )
    if not s.causes:
        return head
    return Markup("{}{}{}{}").format(head, _causes(s.causes), _text(s), _edits(s.edits))


def _causes(causes: Sequence[Cause]) -> Markup:
    rows = Markup("").join(
        Markup(
            '<tr><td>{}</td><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td>'
            "<td>{}</td><td>{}</td><td>{}</td></tr>\n"
        ).format(
            _cause_words(c),
            share_words(c.part),
            c.part.to_unsafe,
            c.part.to_safe,
            _counted(c.kinds),
            _counted(c.datasets),
            "" if c.named else "may be a wrong search",
        )
        for c in causes
    )
    return Markup(
        "<h3>Smallest edits that flip a verdict</h3>\n"
        '<div class="scroll" tabindex="0" role="group" '
        'aria-label="Smallest edits that flip a verdict">'
        "<table><thead><tr>"
        '<th scope="col">Edits</th><th scope="col" class="num">Share of the flips traced</th>'
        '<th scope="col" class="num">to UNSAFE</th><th scope="col" class="num">to SAFE</th>'
        '<th scope="col">Kind of item</th><th scope="col">Dataset</th><th scope="col">Note</th>'
        "</tr></thead>\n<tbody>\n{}</tbody></table></div>\n"
    ).format(rows)


def _cause_words(c: Cause) -> str:
    if c.whole:
        return "the whole rewrite, and no part of it"
    return _said(" together with ".join(c.names))


def _counted(counts: dict[str, int]) -> str:
    return _said(", ".join(f"{k} {n}" for k, n in counts.items()))


def _text(s: Section) -> Markup:
    return Markup(
        "<h3>The base text</h3>\n<p>Coloured words are those that an edit changes; the deeper the "
        'colour, the more of the flips. <mark class="u u3">Red</mark>: mostly to UNSAFE, '
        '<mark class="s s3">blue</mark>: mostly to SAFE. The number is that of the edit in the '
        'table below.</p>\n<div class="policy">{}</div>\n'
    ).format(coloured(s))


def coloured(s: Section) -> Markup:
    """Return the base text with the words marked that edits change, escaped."""
    marks = [(a, b, k) for k, m in enumerate(s.edits) for a, b in m.spans]
    cuts = sorted({0, len(s.base_text), *(x for a, b, _ in marks for x in (a, b))})
    out: list[Markup | str] = []
    for begin, end in zip(cuts, [*cuts[1:], cuts[-1]], strict=True):
        out += [_mark("\N{CARET}", k, s.edits[k]) for a, b, k in marks if a == b == begin]
        text = plain(s.base_text[begin:end])
        on = [k for a, b, k in marks if a <= begin and end <= b and a < b]
        if on and text.strip():
            top = max(on, key=lambda k: s.edits[k].part.share)
            out.append(_mark(text, top, s.edits[top]))
        else:
            out.append(escape(text))
    return Markup("").join(out)


def _mark(text: str, number: int, m: Moved) -> Markup:
    way = "u" if m.part.to_unsafe >= m.part.to_safe else "s"
    level = max(1, min(_LEVELS, round(m.part.share * _LEVELS)))
    title = _said(f"{m.name}: {share_words(m.part)} of the flips")
    return Markup('<mark class="{0} {0}{1}" title="{2}">{3}<sup>{4}</sup></mark>').format(
        way, level, title, text, number + 1
    )


def _edits(edits: Sequence[Moved]) -> Markup:
    rows = Markup("").join(
        Markup(
            '<tr><td class="num">{}</td><td>{}</td><td class="num">{}</td><td class="num">{}</td>'
            '<td class="num">{}</td><td class="num">{}</td><td>{}</td></tr>\n'
        ).format(
            k,
            _said(m.name),
            share_words(m.part),
            m.alone,
            m.part.to_unsafe,
            m.part.to_safe,
            _change(m),
        )
        for k, m in enumerate(edits, start=1)
    )
    return Markup(
        "<h3>Edits</h3>\n"
        '<div class="scroll" tabindex="0" role="group" aria-label="Edits">'
        '<table><thead><tr><th scope="col" class="num">No.</th>'
        '<th scope="col">Edit</th><th scope="col" class="num">Has a part in</th>'
        '<th scope="col" class="num">Enough alone</th><th scope="col" class="num">to UNSAFE</th>'
        '<th scope="col" class="num">to SAFE</th><th scope="col">Words</th></tr></thead>\n'
        "<tbody>\n{}</tbody></table></div>\n"
    ).format(rows)


def _change(m: Moved) -> Markup:
    before, after = (_said(" … ".join(of)) for of in (m.before, m.after))
    return Markup("<del>{}</del> <ins>{}</ins>").format(before, after)


def _items(found: Localised) -> Markup:
    rows = Markup("").join(
        Markup(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{} to {}</td><td>{}</td>"
            '<td class="num">{}</td></tr>\n'
        ).format(
            _said(i.item),
            _said(i.condition),
            i.kind,
            i.base,
            i.to,
            _said("; or ".join(" + ".join(c) for c in i.causes) or i.why or i.status),
            i.calls,
        )
        for i in found.items[:_ITEMS]
    )
    if not rows:
        return Markup("")
    return Markup(
        "<h2>Items</h2>\n"
        '<div class="scroll" tabindex="0" role="group" aria-label="Items">'
        '<table><thead><tr><th scope="col">Item</th>'
        '<th scope="col">Condition</th><th scope="col">Kind</th><th scope="col">Verdict</th>'
        '<th scope="col">Edits, or why none</th><th scope="col" class="num">Calls</th></tr></thead>'
        "\n<tbody>\n{}</tbody></table></div>\n"
    ).format(rows)


def to_markdown(found: Localised) -> str:
    """Write the same as Markdown, without the coloured text."""
    lines = [f"# {md_text(_said(f'Which words flip the verdicts of {found.judge}'))}", ""]
    lines += [md_text(_said(_about(found))), ""]
    for s in found.sections:
        lines += [f"## {md_text(_said(s.condition))}", "", md_text(_said(summary_of(s))), ""]
        if s.causes:
            lines += [
                "| edits | share of the flips traced | to UNSAFE | to SAFE | kind of item | note |",
                "|---|---|---|---|---|---|",
            ]
            lines += [
                f"| {md_text(_cause_words(c))} | {share_words(c.part)} | {c.part.to_unsafe} | "
                f"{c.part.to_safe} | {md_text(_counted(c.kinds))} | "
                f"{'' if c.named else 'may be a wrong search'} |"
                for c in s.causes
            ]
            lines.append("")
    return "\n".join(lines)
