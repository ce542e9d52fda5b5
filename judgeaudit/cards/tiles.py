"""The first screen's figures: the score, the gate, three principles, five monitor figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from judgeaudit.cards.calls import failure_kinds, worst_failing
from judgeaudit.cards.clauses import band as band_word
from judgeaudit.cards.clauses import flips_words, settled_band, standing
from judgeaudit.cards.effects import rewording, shown
from judgeaudit.cards.headline import FEW_FLIPS
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.texts_en import BANDS
from judgeaudit.cards.voiding import void, void_badge
from judgeaudit.cards.words import (
    amount,
    basis,
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
    own, settled = band_word(f, pis), settled_band(f, pis)
    limits = ends(pis)
    cut = uncut(pis, f.get("pis_raw"))
    # 0 to 0 would look like certainty: what the score was before the cut says how sure it is
    bare = limits is not None and limits[0] == limits[1]
    lines = [] if bare and cut else list(_lines(pis))
    lines += [cut, f"{own}: {BANDS[own]}" if settled else _unsettled(standing(f, pis))]
    badge, state = (own, _BAND_STATES[own]) if settled else ("band not settled", "unknown")
    said = tuple(line for line in lines if line)
    return Tile(label, unit_score(pis.value) if not cut else "0", badge, said, state, "pis")


def _unsettled(stands: str) -> str:
    if stands.startswith("between"):
        low, high = stands.removeprefix("between ").split(" and ")
        return f"The interval reaches from {low} to {high}."
    return ""


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
    label = "1 · Extra flips when reworded (Δ)"
    paper, debiased = (f.get(f"delta_{k}", "certified") for k in ("paper", "debiased"))
    if why := void(f):
        return _void(f, label, why, paper, "semantic")
    gate = f.flag("certified_gate")
    limit = threshold_words(f.threshold)
    states: dict[str, State] = {"below": "good", "above": "bad"}
    known = paper is not None and paper.value is not None
    badge = {"below": f"below {limit}", "above": f"above {limit}"}.get(gate, gate) if known else ""
    lines = list(_lines(paper))
    if known:
        lines.append(f"practical threshold: {limit}, stated in advance")
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
    state = states.get(gate, "plain") if known else "unknown"
    return Tile(label, _value(paper), badge, tuple(lines), state, "semantic")


def _void(f: Figures, label: str, why: str, score: Score | None, section: str) -> Tile:
    """Lay out a figure that says nothing: why first, the figure small and last."""
    lines = [why]
    if score is not None and score.value is not None:
        lines.append(f"measured, for the record: {estimate(score)} {interval(score)}".rstrip())
    return Tile(label, "void", void_badge(f), tuple(lines), "unknown", section)


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
    label = "3 · Share of flips that are on clear items (U_rate)"
    if why := void(f):
        return _void(f, label, why, score, "ambiguity")
    more, badge = [], ""
    known = score is not None and score.value is not None
    if null is not None:
        more.append(f"by chance it would be {percent(null)} (U_0)")
    if score is not None and score.value is not None:
        flips = f.n_flips
        if score.numerator is not None and score.denominator is not None:
            more.append(f"{count(score.numerator)} of {flips_words(score.denominator)}")
        above = null is not None and score.low is not None and score.low > null
        if flips is not None and flips < FEW_FLIPS:
            badge = "few flips"
        elif null is not None:
            badge = "above chance" if above else "not above chance"
    state: State = "plain" if known else "unknown"
    # the number of flips stands above; the score's own note would say it again
    bare = None if score is None else score.model_copy(update={"note": None})
    return Tile(label, _value(score), badge, (*more, *_lines(bare)), state, "ambiguity")


def principle_tiles(f: Figures) -> tuple[Tile, ...]:
    """Lay out the three principles."""
    return _semantic(f), _threshold(f), _ambiguity(f)


def _plain(f: Figures, metric: str, label: str, condition: str | None = None) -> Tile:
    score = f.get(metric, condition)
    known = score is not None and score.value is not None
    state: State = "plain" if known else "unknown"
    on = basis(score) if score is not None and known and score.n_items else ""
    nothing = "nothing moved, so this says nothing" if metric == "jitter" and f.constant else ""
    return Tile(label, _value(score), "", _lines(score, on, nothing), state, "monitor")


def _unanswered(f: Figures) -> Tile:
    label, rate = "Calls without a verdict", f.failure_rate
    if rate is None:
        return Tile(label, "not recorded", "", (), "unknown", "outcomes")
    lines = [f"{count(f.n_failed)} of {count(f.n_calls)} calls"]
    if f.n_failed:
        lines.append(failure_kinds(f))
    found = worst_failing(f)
    if found is None:
        return Tile(label, percent(rate), "", tuple(lines), "plain", "outcomes")
    lines.append(
        f"{count(found.n)} of {count(found.total)} under rewording, {count(found.base_n)} of "
        f"{count(found.base_total)} as written"
    )
    return Tile(label, percent(rate), "depends on wording", tuple(lines), "bad", "outcomes")


def monitor_tiles(f: Figures) -> tuple[Tile, ...]:
    """Lay out accuracy, TPR, TNR, jitter and the rate of failed calls."""
    return (
        _plain(f, "accuracy", "Accuracy"),
        _plain(f, "tpr", "Unsafe runs caught (TPR)"),
        _plain(f, "tnr", "Safe runs cleared (TNR)"),
        _plain(f, "jitter", "Jitter", "base"),
        _unanswered(f),
    )
