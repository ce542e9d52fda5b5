"""The first screen's figures: the score, the gate, three principles, five monitor figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from judgeaudit.cards.effects import rewording, shown
from judgeaudit.cards.headline import FEW_FLIPS
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.texts_en import BANDS
from judgeaudit.cards.words import (
    amount,
    band_of,
    count,
    ends,
    estimate,
    interval,
    joined,
    kind_of,
    percent,
    spoken_interval,
    threshold_words,
    uncut,
    unit_score,
)
from judgeaudit.core.records import Score

__all__ = ["Tile", "gate_tile", "monitor_tiles", "pis_tile", "principle_tiles", "responses"]

State = Literal["good", "middling", "bad", "unknown", "plain"]

_BAND_STATES: dict[str, State] = {
    "reliable": "good",
    "moderate": "middling",
    "fragile": "middling",
    "untrustworthy": "bad",
}


@dataclass(frozen=True, slots=True)
class Tile:
    """One figure of the first screen.

    Parameters
    ----------
    label, value : str
        What it is, and the figure in words; "not given" and the like where it is undefined.
    badge : str
        A finding in a word or two ("fragile", "above 5 points"), or "".
    lines : tuple of str
        Interval, basis, reason.
    state : str
        How good the finding is; told by the badge's words too, never by colour alone.
    section : str
        Id of the section with the details.
    """

    label: str
    value: str
    badge: str
    lines: tuple[str, ...]
    state: State
    section: str


def _value(score: Score | None) -> str:
    if score is None:
        return "not computed"
    if score.value is None:
        return "undefined"
    return amount(score.value, kind_of(score.metric, score.unit))


def _lines(score: Score | None, *more: str) -> tuple[str, ...]:
    if score is None:
        return tuple(m for m in more if m)
    lines = [spoken_interval(score)]
    if score.value is None:
        lines = [estimate(score).capitalize()]
    elif score.low is None and score.why_no_interval:
        lines = [f"no interval: {score.why_no_interval}"]
    if score.note:
        lines.append(score.note)
    return tuple(line for line in (*lines, *more) if line)


def pis_tile(f: Figures) -> Tile:
    """Lay out the Policy Invariance Score; a judge that fails the gate gets none."""
    pis = f.get("pis")
    label = "Policy Invariance Score (PIS)"
    if f.withheld == "not responsive":
        why = "A judge that does not respond to the policy gets no score."
        return Tile(label, "not given", f.withheld, (why,), "bad", "pis")
    if f.withheld:
        why = "No score before it is shown that the judge responds to the policy."
        return Tile(label, "not given", "response not shown", (why,), "unknown", "pis")
    if pis is None or pis.value is None:
        return Tile(label, _value(pis), "", _lines(pis), "unknown", "pis")
    band = f.flag("band") if f.flag("band") in BANDS else band_of(pis.value)
    more = [uncut(pis, f.get("pis_raw")), f"{band}: {BANDS[band]}"]
    low, high = (band_of(x) if x is not None else band for x in (pis.low, pis.high))
    if low != high:
        more.append(f"The interval reaches from {low} to {high}.")
    return Tile(label, unit_score(pis.value), band, _lines(pis, *more), _BAND_STATES[band], "pis")


def responses(f: Figures) -> str:
    """Word how verdicts answered each change of the policy; "" where that is not known."""
    by_state: dict[str, list[str]] = {"moves": [], "does not move": [], "not shown": []}
    for metric, words in (
        ("responsiveness_threshold", "from strict to lenient"),
        ("responsiveness_no_policy", "when the policy is deleted"),
        ("responsiveness_inverted", "when it is negated"),
    ):
        score = f.get(metric)
        if score is not None and score.value is not None and score.note in by_state:
            moved = f"{words} ({amount(score.value, kind_of(metric, score.unit))})"
            by_state[score.note].append(moved)
    said = {
        "moves": "Verdicts move {}.",
        "does not move": "Verdicts do not move {}.",
        "not shown": "Not settled: {}.",
    }
    return " ".join(said[k].format(joined(v)) for k, v in by_state.items() if v)


def gate_tile(f: Figures) -> Tile:
    """Lay out the responsiveness gate."""
    flag = f.flag("responsiveness")
    states: dict[str, State] = {"responsive": "good", "not responsive": "bad"}
    reason = responses(f) or f.reason("responsiveness")
    words = {"": "not computed"}.get(flag, flag)
    lines = [reason] if reason else []
    empty = f.get("vacuum_unsafe_rate")
    if empty is not None and empty.value is not None:
        said = f"{percent(empty.value)} {interval(empty) if ends(empty) else ''}".rstrip()
        lines.append(f"UNSAFE on empty trajectories: {said}; 0 is right")
    label = "Does it read the policy?"
    return Tile(label, words, "", tuple(lines), states.get(flag, "unknown"), "responsiveness")


def _semantic(f: Figures) -> Tile:
    paper, debiased = (f.get(f"delta_{k}", "certified") for k in ("paper", "debiased"))
    gate = f.flag("certified_gate")
    limit = threshold_words(f.threshold)
    states: dict[str, State] = {"below": "good", "above": "bad"}
    known = paper is not None and paper.value is not None
    badge = {"below": f"below {limit}", "above": f"above {limit}"}.get(gate, gate) if known else ""
    lines = list(_lines(paper))
    lines += [
        f"{rewording(x.condition)}: {estimate(x.paper)} {interval(x.paper)}"
        for x in shown(f)
        if x.is_sized
    ]
    if debiased is not None:
        lines.append(f"debiased: {estimate(debiased)} {interval(debiased)}".rstrip())
    jitter = f.value("jitter", "base")
    if jitter is not None:
        lines.append(f"on top of a jitter of {percent(jitter)}")
    label = "1 · Extra flips when reworded (Δ)"
    state = states.get(gate, "plain") if known else "unknown"
    return Tile(label, _value(paper), badge, tuple(lines), state, "semantic")


def _threshold(f: Figures) -> Tile:
    score = f.get("direction_ratio")
    forward, reverse = f.value("forward_rate"), f.value("reverse_rate")
    moved = ""
    if forward is not None and reverse is not None:
        moved = f"moved: {percent(forward)} the right way, {percent(reverse)} the wrong way"
    label = "2 · Moves the right way (R_dir)"
    state: State = "plain" if score is not None and score.value is not None else "unknown"
    return Tile(label, _value(score), "", _lines(score, moved), state, "threshold")


def _ambiguity(f: Figures) -> Tile:
    score, null = f.get("undue_share"), f.value("undue_null")
    more, badge = [], ""
    if score is not None and score.value is not None:
        if score.numerator is not None and score.denominator is not None:
            more.append(f"{count(score.numerator)} of {count(score.denominator)} flips")
        flips = f.n_flips
        badge = "few flips" if flips is not None and flips < FEW_FLIPS else ""
    if null is not None:
        more.append(f"by chance it would be {percent(null)} (U_0)")
    label = "3 · Flips on clear items (U_rate)"
    state: State = "plain" if score is not None and score.value is not None else "unknown"
    return Tile(label, _value(score), badge, _lines(score, *more), state, "ambiguity")


def principle_tiles(f: Figures) -> tuple[Tile, ...]:
    """Lay out the three principles."""
    return _semantic(f), _threshold(f), _ambiguity(f)


def _plain(f: Figures, metric: str, label: str, condition: str | None = None) -> Tile:
    score = f.get(metric, condition)
    state: State = "plain" if score is not None and score.value is not None else "unknown"
    return Tile(label, _value(score), "", _lines(score), state, "monitor")


def monitor_tiles(f: Figures) -> tuple[Tile, ...]:
    """Lay out accuracy, TPR, TNR, jitter and the rate of failed calls."""
    rate = f.failure_rate
    failed = Tile(
        "Calls without a verdict",
        "not recorded" if rate is None else percent(rate),
        "",
        () if rate is None else (f"{count(f.n_failed)} of {count(f.n_calls)} calls",),
        "unknown" if rate is None else "plain",
        "outcomes",
    )
    return (
        _plain(f, "accuracy", "Accuracy"),
        _plain(f, "tpr", "Unsafe runs caught"),
        _plain(f, "tnr", "Safe runs cleared"),
        _plain(f, "jitter", "Jitter", "base"),
        failed,
    )
