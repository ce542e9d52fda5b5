"""What `nightly` says of frozen anchors, and of a night."""

from __future__ import annotations

from judgeaudit.watch.anchors import Anchors
from judgeaudit.watch.night_result import NightResult
from judgeaudit.watch.words import causes_in_words, number, page

__all__ = ["of_anchors", "of_night"]


def _points(x: float) -> str:
    return f"{100 * x:g} points"


def of_anchors(made: Anchors) -> str:
    """Say what was frozen, and what its nights will do."""
    ends = ", ".join(f"{e:,}" for e in made.ends)
    quiet, drifted = made.foretold
    lines = [
        f"{len(made.anchors):,} anchors of {made.n_items:,} items, drawn by {made.chosen_by}",
        f"asked in looks that end at {ends} anchors, {made.calls} base call(s) each",
        f"false alarms: {made.alpha:.0%} of nights at most",
        (
            f"a worsening by {_points(made.drift)} is found on {drifted.fails:.0%} of "
            f"{drifted.nights:,} simulated nights, with {drifted.calls:.0f} calls on average"
        ),
        (
            f"without a change {quiet.passes:.0%} of nights pass, {quiet.fails:.1%} fail, with "
            f"{quiet.calls:.0f} calls on average"
        ),
    ]
    if drifted.fails < made.power or quiet.passes < made.power:
        lines.append(
            f"TOO FEW items for a power of {made.power:.0%}: give a larger --drift, more base "
            "calls (-K), or a larger corpus"
        )
    return "\n".join(lines)


def of_night(found: NightResult, *, md: bool = False) -> str:
    """Say how a night ended, and what it cost."""
    head = ("look", "", "anchors", "p moved", "p worse", "worse by", "interval", "spends")
    rows = [
        (
            str(s.look),
            s.outcome,
            f"{s.anchors:,}",
            number(s.p_moved),
            number(s.p_worse),
            "-" if s.worse is None else f"{s.worse:+.3f}",
            "none" if s.low is None or s.high is None else f"[{s.low:+.3f}, {s.high:+.3f}]",
            f"{s.alpha:.1%}",
        )
        for s in found.looks
    ]
    a = found.asked
    price = "" if not a.cost else f", {a.cost:.4f} US dollars"
    where = f"on {a.anchors:,} of {a.frozen:,} frozen anchors"
    short = "" if a.with_verdict == a.anchors else f"; {a.with_verdict:,} of these got a verdict"
    means = "Pass" if found.outcome == "pass" else "A pass would mean"
    tail = [
        f"Calls: {a.calls:,}, {where}{', in batches' if a.in_batches else ''}{price}{short}.",
        f"False alarms: {found.alpha:.0%} of nights at most, all looks together.",
        f"{means}: a worsening by {_points(found.drift)} is ruled out.",
    ]
    if a.unchanged:
        kept = "stand" if found.outcome != "fail" else "NO LONGER stand: audit in full"
        tail.append(
            f"Not asked again, their prompts being the same: {', '.join(a.unchanged)}; "
            f"the baseline's figures of them {kept}."
        )
    for r in found.reworded:
        said = f"undefined: {r.why_undefined}" if r.why_undefined else f"p {number(r.p_adjusted)}"
        tail.append(
            f"{r.condition}: {r.n_prompts} prompts changed, asked again; verdicts "
            f"{'moved' if r.moved else 'did not move by more than chance'} ({said})."
        )
    said = f"{found.outcome}: {found.sentence}"
    listed = ("Since the baseline", causes_in_words(found.causes))
    return page("Night", said, (head, rows), listed, tail, md=md)
