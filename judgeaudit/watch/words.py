"""What `compare`, `gate` and `history` say: plain text, and Markdown tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from judgeaudit.core.terminal import plain
from judgeaudit.watch.causes import Cause
from judgeaudit.watch.changes import Change, Comparison
from judgeaudit.watch.deciding import Check
from judgeaudit.watch.gating import GateResult
from judgeaudit.watch.monitor import Watched
from judgeaudit.watch.rehearse import Rehearsal

__all__ = [
    "causes_in_words",
    "markdown",
    "number",
    "of_comparison",
    "of_gate",
    "of_history",
    "of_rehearsal",
    "page",
]

Table = tuple[Sequence[str], Sequence[Sequence[str]]]

_LONGEST: Final = 4000

_WORDS: Final = {
    "verdicts_moved": "base verdicts moved",
    "difference_unsafe": "UNSAFE verdicts",
    "difference_missed": "missed violations",
    "difference_false_alarms": "false alarms",
}


def number(x: float | None) -> str:
    """Write a figure."""
    return "-" if x is None else f"{x:.3f}"


def _signed(x: float | None) -> str:
    return "-" if x is None else f"{x:+.3f}"


def _ends(low: float | None, high: float | None) -> str:
    return "none" if low is None or high is None else f"[{low:+.3f}, {high:+.3f}]"


def _text(table: Table) -> list[str]:
    head, rows = table
    every = [list(head), *map(list, rows)]
    widths = [max(len(r[k]) for r in every) for k in range(len(head))]
    return ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in every]


def markdown(table: Table) -> list[str]:
    """Lay out a table in Markdown; cells are plain text, whoever wrote it."""
    head, rows = table

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(_cell(c) for c in cells) + " |"

    return [line(head), "|" + "---|" * len(head), *map(line, rows)]


def _cell(text: str) -> str:
    for mark in "\\`*_[]<>|#!&":
        text = text.replace(mark, f"\\{mark}" if mark not in "<>&" else _ENTITY[mark])
    return text.replace("\n", " ")


_ENTITY: Final = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def _of_change(c: Change) -> tuple[str, ...]:
    named = _WORDS.get(c.metric, c.metric)
    where = f" {c.condition}" if c.condition and c.metric not in _WORDS else ""
    if c.value is None:
        return f"{named}{where}", "-", "-", f"none: {c.why_undefined}", "", "", ""
    p = "-" if c.p_adjusted is None else f"{c.p_adjusted:.3g}"
    return (
        f"{named}{where}",
        number(c.before),
        number(c.after),
        _signed(c.value),
        _ends(c.low, c.high),
        p,
        "moved" if c.moved else "",
    )


def causes_in_words(causes: Sequence[Cause]) -> list[str]:
    """Write causes, one a line."""
    out = []
    for c in causes:
        arrow = f": {c.before or 'nothing'} -> {c.after or 'nothing'}" if c.before else ""
        arrow = arrow or (f": {c.after}" if c.after else "")
        out.append(f"{c.kind}: {c.what}{arrow}")
    return out


def of_comparison(found: Comparison, *, md: bool = False) -> str:
    """Say what moved between two runs, and why."""
    table = (
        ("", "first", "second", "change", "interval", "p (Holm)", ""),
        [_of_change(c) for c in found.changes],
    )
    apart = [
        f"{n:,} items only in the {which}"
        for n, which in ((found.n_only_first, "first"), (found.n_only_second, "second"))
        if n
    ]
    items = f"{found.n_common:,} common items" if found.n_common else "printed scores"
    head = f"{found.verdict}: {', '.join([items, *apart])}"
    tests = sorted({c.decided_by for c in found.changes if c.decided_by})
    tail = [
        f"Chance that any is said to have moved though nothing did: {found.alpha:.0%} at most.",
        "Corrected over all by Holm; figures without a test have intervals that are wider for it.",
        f"Decided by: {'; '.join(tests) or 'nothing'}.",
        *([f"Not compared: {', '.join(found.untested)}."] if found.untested else []),
    ]
    return page("Compared", head, table, ("Why", causes_in_words(found.causes)), tail, md=md)


def _of_check(c: Check) -> tuple[str, ...]:
    more = "-" if c.more_items is None else f"{c.more_items:,}"
    return (
        c.outcome,
        c.name,
        number(c.value) if c.kind == "bar" else _signed(c.value),
        _ends(c.low, c.high),
        c.bar,
        "-" if c.p_adjusted is None else f"{c.p_adjusted:.3g}",
        number(c.detectable),
        more,
        c.why,
    )


def of_gate(found: GateResult, *, md: bool = False) -> str:
    """Say what a gate decided."""
    head = ("", "what", "value", "interval", "bar", "p (Holm)", "detectable", "more items", "why")
    tail = [
        f"False alarms: at most {found.false_alarm_rate:.0%}, all bars together.",
        f"Detectable: with {found.power:.0%} power. More items: to decide it, if the value stays.",
        f"{found.n_verdicts:,} of {found.n_planned:,} planned calls ended in a verdict.",
    ]
    table = (head, [_of_check(c) for c in found.checks])
    said = f"{found.outcome}: {found.sentence}"
    return page(
        "Gate", said, table, ("Since the baseline", causes_in_words(found.causes)), tail, md=md
    )


def of_history(found: Watched, *, md: bool = False) -> str:
    """Say what a history shows, night by night."""
    head = (
        "night",
        "ended",
        "anchors",
        "UNSAFE",
        "wrong",
        "worse by",
        "interval",
        "moved",
        "worse",
    )
    bar = 2 / found.alpha
    rows = [
        (
            str(n.number),
            n.ended or "-",
            f"{n.n_anchors:,}",
            number(n.unsafe_rate),
            number(n.error_rate),
            _signed(n.worse),
            _ends(n.worse_low, n.worse_high),
            f"{n.evidence_moved:.3g}",
            f"{n.evidence_worse:.3g}{f'  ALARM ({n.alarm})' if n.alarm else ''}",
        )
        for n in found.nights
    ]
    new = [f"night {n.number}: another {w}" for n in found.nights for w in n.new]
    if found.baseline is None:
        said = "no baseline is pinned: nothing is decided"
    elif len(found.nights) < 2:
        said = f"no night since the baseline, night {found.baseline}: nothing is decided"
    elif found.first_alarm is None:
        said = f"no alarm since the baseline, night {found.baseline}"
    else:
        said = f"changed: first alarm on night {found.first_alarm}; {found.why}"
    tail = [
        f"Evidence (moved, worse) is an e-value: an alarm at {bar:g}.",
        f"Chance of a false alarm, ever: {found.alpha:.0%} at most. Intervals hold for all nights.",
    ]
    return page("History", said, (head, rows), ("New facts", new), tail, md=md)


def of_rehearsal(found: Rehearsal, *, md: bool = False) -> str:
    """Say how often a gate would have cried wolf."""
    rows = [
        (str(n.number), n.outcome, ", ".join(n.failed) or "-", ", ".join(n.undecided) or "-")
        for n in found.nights
    ]
    counts = {
        o: sum(n.outcome == o for n in found.nights) for o in ("pass", "fail", "inconclusive")
    }
    said = (
        f"{len(found.nights)} nights after night {found.baseline}: {counts['pass']} would pass, "
        f"{counts['fail']} fail, {counts['inconclusive']} stay inconclusive"
    )
    tail = ["Whether a failure of a real night was a false alarm the history does not know."]
    if found.false_alarms is not None:
        tail.append(
            f"With calls dealt out again between the nights, so that nothing changed: checks of "
            f"base verdicts fail on {found.false_alarms:.1%} {_share(found)} of {found.redealt:,}; "
            f"stated {found.stated:.0%} at most."
        )
    head = ("night", "outcome", "failed", "undecided")
    return page("Rehearsal", said, (head, rows), ("", []), tail, md=md)


def _share(found: Rehearsal) -> str:
    if found.low is None or found.high is None:
        return ""
    return f"[{found.low:.1%}, {found.high:.1%}]"


def page(
    title: str,
    said: str,
    table: Table,
    listed: tuple[str, list[str]],
    tail: list[str],
    *,
    md: bool,
) -> str:
    """Lay out what was found: a sentence, a table, a list, and what to know of it."""
    said = plain(said, limit=_LONGEST)
    clean = table[0], [[plain(c, limit=_LONGEST) for c in row] for row in table[1]]
    name, lines = listed[0], [plain(x, limit=_LONGEST) for x in listed[1]]
    rows = markdown(clean) if md else _text(clean)
    mark = "- " if md else "  "
    shown = [f"{mark}{_cell(x) if md else x}" for x in lines]
    parts = [[f"## {title}", "", _cell(said)] if md else [said]]
    if table[1]:
        parts.append(rows)
    if shown:
        parts.append([f"**{name}**", "", *shown] if md else [f"{name}:", *shown])
    parts.append([plain(t, limit=_LONGEST) for t in tail])
    return "\n\n".join("\n".join(p) for p in parts)
