"""What `explain` says: in a terminal and as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgeaudit.cards.clean import clean
from judgeaudit.cards.render import md_code, md_text
from judgeaudit.cards.words import p_value, percent
from judgeaudit.core.terminal import plain

if TYPE_CHECKING:
    from judgeaudit.core.records.explained import Explained, Side

__all__ = ["of_explained", "to_markdown"]

_ROWS = 12
_SHOWN = 5


def _verdict(found: Explained) -> str:
    about = (
        f"{found.n_flips} of {found.n_items} items ({found.n_clusters} clusters) flip under "
        f"{', '.join(found.conditions)}."
    )
    if found.auroc is None:
        return f"{about} Nothing can be said of what they have in common: {found.why_not}."
    if found.low is None or found.high is None:
        figure = f"AUROC {found.auroc:.2f}, no interval: {found.why_not}"
    else:
        figure = f"AUROC {found.auroc:.2f} ({found.low:.2f} to {found.high:.2f}; chance is .50)"
    if not found.explains:
        said = f"Nothing explains them: on clusters held out, no better than chance ({figure})."
        if found.standing:
            said += " Single features that stand after the correction are below."
        return f"{about} {said}"
    return f"{about} Features tell them from the others on clusters held out: {figure}."


def _side(side: Side) -> str:
    if side.rate is None:
        return "–"
    ends = (
        ""
        if side.low is None or side.high is None
        else (f" ({percent(side.low)} to {percent(side.high)})")
    )
    return f"{percent(side.rate)}{ends} of {side.items}"


def _cited(found: Explained) -> str:
    n = len(found.rationales)
    if not n:
        return "The judge gave no reasons for both verdicts on any item that flips."
    return (
        f"For {n} items the judge gave reasons for both verdicts. Both name a norm on "
        f"{found.n_both_cite} of them; on {found.n_another} of these it is another norm."
    )


def of_explained(found: Explained) -> str:
    """Lay out what was found."""
    lines = [_verdict(found), ""]
    if found.contrasts:
        rows = [("feature", "flips among those with it", "among those without", "p (Holm)")]
        rows += [
            (c.feature, _side(c.having), _side(c.lacking), p_value(c.p_adjusted))
            for c in found.contrasts[:_ROWS]
        ]
        widths = [max(len(r[k]) for r in rows) for k in range(4)]
        lines += ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)) for r in rows]
        lines.append("")
    lines.append(_cited(found))
    for s in found.rationales[:_SHOWN]:
        lines += [
            "",
            f"{s.item} under {s.condition}",
            f"    {s.base}: {s.base_words}",
            f"    {s.to}: {s.other_words}",
        ]
    return plain("\n".join(line.rstrip() for line in lines))


def to_markdown(found: Explained) -> str:
    """Write the same as Markdown, with all contrasts and all reasons side by side."""
    lines = [f"# {md_text(clean(f'What flips of {found.judge} have in common'))}", ""]
    lines += [md_text(_verdict(found)), ""]
    if found.contrasts:
        lines += [
            "| feature | flips among those with it | among those without | p | p (Holm) |",
            "|---|---|---|---|---|",
        ]
        lines += [
            f"| {md_code(clean(c.feature))} | {_side(c.having)} | {_side(c.lacking)} | "
            f"{md_text(p_value(c.p_value))} | {md_text(p_value(c.p_adjusted))} |"
            for c in found.contrasts
        ]
        lines.append("")
    lines += ["## The judge's own reasons", "", md_text(_cited(found)), ""]
    if found.rationales:
        lines += [
            "| item | condition | base | under the rewrite | norms |",
            "|---|---|---|---|---|",
        ]
        lines += [
            f"| {md_code(clean(s.item))} | {md_text(clean(s.condition))} | "
            f"{s.base}: {md_code(s.base_words)} | {s.to}: {md_code(s.other_words)} | "
            f"{'another' if s.another else 'the same' if s.another is False else 'not both'} |"
            for s in found.rationales
        ]
        lines.append("")
    return "\n".join(lines)
