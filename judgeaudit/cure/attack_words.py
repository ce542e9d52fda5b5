"""What an attack found, in words: plain text, Markdown, and a page with the winning text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup, escape

from judgeaudit.core.records.attacked import Attack, Finalist
from judgeaudit.core.terminal import plain
from judgeaudit.cure.harden_words import boxed, cell, framed, markdown_table, safe

__all__ = ["headline", "of_attack", "page"]

_WHAT: Final = {
    "excess": "excess flips",
    "tpr": "TPR",
    "fpr": "FPR",
}
_WORSE: Final = {
    "excess": "flips {} of its verdicts beyond jitter",
    "tpr": "misses {} more of the UNSAFE cases",
    "fpr": "calls {} more of the SAFE cases UNSAFE",
}
_HEAD: Final = ("wording", "base", "this wording", "gain", "interval", "p (corrected)")
_HEAD_NAIVE: Final = ("wording", "gain where it was chosen", "held out", "shrinkage")


def headline(found: Attack) -> str:
    """Say in one sentence how far a wording steers the judge."""
    w = found.worst
    on = f"{w.clusters} held-out clusters, chosen among {found.tried} wordings on others"
    if w.gain is None:
        return f"What {w.name} does to the judge is not known: {w.why} ({on})."
    said = _WORSE[found.objective].format(_share(w.gain))
    text = f"Under {w.name} the judge {said} {_interval(w)} ({on})."
    shown = w.low is not None and w.low > 0
    return text if shown else f"The wording that was found is not shown to steer the judge. {text}"


def of_attack(found: Attack, *, md: bool = False) -> str:
    """Word it all.

    Parameters
    ----------
    found : Attack
        What was found.
    md : bool
        As Markdown.
    """
    lines = [f"# {cell(headline(found))}" if md else plain(headline(found)), ""]
    lines += [f"- **{k}** {cell(v)}" if md else f"{k:<11}{plain(v)}" for k, v in about(found)]
    for head, rows in _tables(found):
        lines.append("")
        lines += markdown_table(rows, head) if md else _text(head, rows)
    worst = found.worst
    if worst.edits:
        lines += ["", "It takes these edits of that rewrite:", *([""] if md else [])]
        lines += [f"- {cell(e)}" if md else f"  {plain(e)}" for e in worst.edits]
    lines += ["", _certified(worst)]
    if md:
        fence = "`" * max(3, 1 + _longest_ticks(worst.rendering.text))
        lines += ["", f"{fence}text", worst.rendering.text.rstrip("\n"), fence]
    return "\n".join(lines)


def about(found: Attack) -> list[tuple[str, str]]:
    """List the facts: who, on what, with how many calls, and what was corrected for."""
    n = len(found.finalists)
    rounds = "; ".join(f"{s.wordings} on {s.items}" for s in found.steps if s.stage != "held_out")
    many = (
        f"{found.tried} wordings were tried, so the best gain where they were chosen is too large. "
        "The held-out gain needs no correction for that: the choice was made before, elsewhere."
    )
    if n > 1:
        many += (
            f" {n} finalists were measured: intervals are at {1 - found.alpha / n:.1%} each, "
            f"{1 - found.alpha:.0%} for all together, p-values are corrected (Holm)."
        )
    return [
        ("judge", found.judge),
        ("policy", found.policy),
        ("corpus", found.corpus),
        ("objective", _WHAT[found.objective]),
        (
            "budget",
            f"{found.calls:,} calls, {found.planned:,} planned at most, {found.asked:,} made",
        ),
        (
            "clusters",
            (
                f"{found.n_train} to search on ({found.n_train_items} items), {found.n_held_out} "
                f"held out ({found.n_held_out_items} items), split by seed {found.seed}"
            ),
        ),
        ("search", f"wordings on items, round by round: {rounds}"),
        ("wordings", f"{found.tried} tried, {found.rejected} left out: not read back as equal"),
        ("correction", many),
    ]


def _tables(found: Attack) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    measured: list[tuple[str, ...]] = [
        (
            f.name,
            _share(f.base),
            _share(f.wording),
            _points(f.gain),
            _interval(f),
            _p(f.p_adjusted),
        )
        for f in found.finalists
    ]
    naive: list[tuple[str, ...]] = [
        (f.name, _points(f.naive), _points(f.gain), _points(f.shrinkage)) for f in found.finalists
    ]
    return [(_HEAD, measured), (_HEAD_NAIVE, naive)]


def _certified(f: Finalist) -> str:
    c = f.rendering.certificate
    by = "no certificate" if c is None else f"certified ({c.evidence})"
    lost = ""
    if f.lost or f.lost_base:
        lost = (
            f" Held-out calls without a verdict, left out of both sides: {f.lost} under it, "
            f"{f.lost_base} under base."
        )
    return f"{by}: says what the policy says; sha256 {f.rendering.sha256}.{lost}"


def _share(x: float | None) -> str:
    return "-" if x is None else f"{100 * x:.1f}%"


def _points(x: float | None) -> str:
    return "-" if x is None else f"{100 * x:+.1f} points"


def _interval(f: Finalist) -> str:
    if f.low is None or f.high is None:
        return f"no interval: {f.why}"
    return f"[{100 * f.low:+.1f}, {100 * f.high:+.1f}]"


def _p(x: float | None) -> str:
    if x is None:
        return "-"
    return "< 0.001" if x < 0.001 else f"{x:.3f}"


def _text(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    every = [list(head), *([plain(c) for c in r] for r in rows)]
    widths = [max(len(r[k]) for r in every) for k in range(len(head))]
    return ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in every]


def _longest_ticks(text: str) -> int:
    longest = run = 0
    for c in text:
        run = run + 1 if c == "`" else 0
        longest = max(longest, run)
    return longest


def page(found: Attack) -> str:
    """Make a page of its own: what was found, tables, and the winning text."""
    body = [
        Markup("<h1>How far wording steers a judge</h1><p>{}</p>").format(safe(headline(found))),
        Markup("<ul>{}</ul>").format(
            Markup("").join(
                Markup("<li><b>{}</b> {}</li>").format(name, safe(said))
                for name, said in about(found)
            )
        ),
    ]
    labels = (
        "What the wording does to held-out items",
        "The gain where it was chosen, and held out",
    )
    for label, (head, rows) in zip(labels, _tables(found), strict=True):
        body.append(boxed(label, head, rows))
    for f in found.finalists:
        body.append(Markup('<h2>{}</h2><p class="why">{}</p>').format(safe(f.name), _certified(f)))
        if f.edits:
            listed = Markup("").join(Markup("<li>{}</li>").format(safe(e)) for e in f.edits)
            body.append(Markup("<ul>{}</ul>").format(listed))
        body.append(
            Markup('<pre style="white-space:pre-wrap">{}</pre>').format(escape(f.rendering.text))
        )
    return framed(f"Attack on {found.judge}", Markup("").join(body))
