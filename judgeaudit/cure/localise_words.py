"""What `localise` says in a terminal, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgeaudit.cards.words import percent
from judgeaudit.core.terminal import plain

if TYPE_CHECKING:
    from judgeaudit.core.records.localised import Localised, Section, Share
    from judgeaudit.cure.localise import Planned

__all__ = ["of_localised", "of_planned", "share_words", "summary_of"]

_ROWS = 12


def of_planned(plan: Planned) -> str:
    """Say what will be asked at most."""
    lines = [
        f"{t.edits.condition.id}: {len(t.flips)} of {t.n_compared} items flip; "
        f"{len(t.edits.edits)} edits between the two texts"
        for t in plan.targets
    ]
    if not plan.targets:
        lines.append("no item flips under a certified or near condition")
    n = sum(len(t.flips) for t in plan.targets)
    if len(plan.begun) < n:
        lines.append(f"{len(plan.begun)} of the {n} flips are drawn: the budget holds no more")
    lines.append(f"calls  at most {plan.calls:,}")
    others = ", ".join(f"{k} {v}" for k, v in plan.others.items() if v)
    if others:
        lines.append(f"flips under other conditions, left alone (--condition): {others}")
    lines.append(f"kept in {plan.folder}")
    return plain("\n".join(lines))


def share_words(share: Share) -> str:
    """Write a share with its count and its interval."""
    counted = f"{share.n} of {share.of}"
    if share.low is None or share.high is None:
        return f"{percent(share.share)} ({counted}; no interval: {share.method})"
    return f"{percent(share.share)} ({percent(share.low)} to {percent(share.high)}; {counted})"


def summary_of(section: Section) -> str:
    """Say in a sentence or two what was found under a condition."""
    if not section.n_flips:
        return "No item flips under this condition."
    begun = f"{section.n_begun} of {section.n_flips} flips were asked again"
    if not section.named:
        if section.n_begun == section.n_gone:
            return f"Nothing found: {begun}, and none came back. It was jitter."
        return (
            f"Nothing found: {begun}; {section.n_gone} did not come back, {section.n_unresolved} "
            f"could not be traced, {section.n_budget} were left when the budget ended."
        )
    first = section.named[0]
    what = (
        "the whole rewrite, and no part of it"
        if first.whole
        else " together with ".join(first.names)
    )
    return (
        f"{begun}; {section.n_real} came back and were traced. Most often it is {what}: "
        f"{share_words(first.part)} of them."
    )


def of_localised(found: Localised) -> str:
    """Lay out what was found."""
    lines: list[str] = []
    for s in found.sections:
        lines += [f"{s.condition}: {summary_of(s)}", ""]
        if s.causes:
            rows = [
                ("edits", "share of the flips", "to UNSAFE", "to SAFE", "clear", "ambiguous", "")
            ]
            rows += [
                (
                    "the whole rewrite" if c.whole else " + ".join(c.names),
                    share_words(c.part),
                    str(c.part.to_unsafe),
                    str(c.part.to_safe),
                    str(c.kinds.get("clear", 0)),
                    str(c.kinds.get("ambiguous", 0)),
                    "" if c.named else "may be a wrong search",
                )
                for c in s.causes[:_ROWS]
            ]
            widths = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
            lines += ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)) for r in rows]
            if len(s.causes) > _ROWS:
                lines.append(f"and {len(s.causes) - _ROWS} more")
            lines.append("")
    lines.append(
        f"{found.calls:,} calls of at most {found.calls_most:,} in {found.rounds} rounds. Of the "
        f"flips called real, at most {percent(found.level)} are expected not to be; a question of "
        f"a search errs with chance {percent(found.error)}, one of its confirmation with "
        f"{percent(found.sure)}."
    )
    return plain("\n".join(line.rstrip() for line in lines))
