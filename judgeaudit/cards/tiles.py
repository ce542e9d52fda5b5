"""The first screen's figures: the score, the gate, three principles, five monitor figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from judgeaudit.cards.calls import failure_kinds, worst_failing
from judgeaudit.cards.clauses import (
    FEW_FLIPS,
    flips_words,
    is_unscored,
    reach,
    settled_band,
    standing,
    why_low,
)
from judgeaudit.cards.clauses import band as band_word
from judgeaudit.cards.effects import rewording, shown
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.mistakes import Side, left_out, mistakes, not_ruled_out
from judgeaudit.cards.responding import is_sure, responses
from judgeaudit.cards.texts_en import BANDS
from judgeaudit.cards.voiding import void, void_badge
from judgeaudit.cards.words import (
    amount,
    basis,
    count,
    ends,
    estimate,
    interval,
    kind_of,
    percent,
    spoken_interval,
    threshold_words,
    uncut,
    unit_score,
)
from judgeaudit.core.records import Score

__all__ = ["Tile", "gate_tile", "monitor_tiles", "pis_tile", "principle_tiles"]

State = Literal["good", "middling", "bad", "unknown", "plain"]

_EXACT: Final = 0.0005
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
        What it is, and the figure in words; "void" and the like where it is undefined.
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


_SAME_CAUSE: Final = "Void for the same reason."


def pis_tile(f: Figures) -> Tile:
    """Lay out the Policy Invariance Score; a judge that fails the gate gets none."""
    pis = f.get("pis")
    label = "Policy Invariance Score (PIS)"
    if f.withheld:
        state: State = "bad" if f.withheld == "not responsive" else "unknown"
        return Tile(label, "void", void_badge(f), (void(f) or _NO_SCORE[f.withheld],), state, "pis")
    if pis is None or pis.value is None:
        return Tile(label, _value(pis), "", _lines(pis), "unknown", "pis")
    if is_unscored(f, pis):
        limit = reach(f, pis)
        said = (f"{limit[:1].upper()}{limit[1:]}.",) if limit else ()
        return Tile(label, "no score", "too few flips", said, "unknown", "pis")
    own, settled = band_word(f, pis), settled_band(f, pis)
    limits = ends(pis)
    cut = uncut(pis, f.get("pis_raw"))
    # 0 to 0 would look like certainty, and what the score was before the cut stands in the table
    lines = [] if limits is not None and limits[0] == limits[1] and cut else list(_lines(pis))
    lines.append(f"{own}: {BANDS[own]}" if settled else _unsettled(standing(f, pis)))
    driver, real = why_low(f)
    if own in ("fragile", "untrustworthy") and driver:
        lines.append(driver if real else f"{driver}: by itself no finding")
    badge, state = (own, _BAND_STATES[own]) if settled else ("band not settled", "unknown")
    value = unit_score(pis.value) if pis.value else "0"
    return Tile(label, value, badge, tuple(line for line in lines if line), state, "pis")


_NO_SCORE: Final = {
    "not responsive": "A judge that does not respond to the policy gets no score.",
    "not shown": "No score before it is shown that the judge responds to the policy.",
}


def _unsettled(stands: str) -> str:
    if stands.startswith("between"):
        low, high = stands.removeprefix("between ").split(" and ")
        return f"The interval reaches from {low} to {high}."
    return ""


def gate_tile(f: Figures) -> Tile:
    """Lay out the responsiveness gate."""
    flag = f.flag("responsiveness")
    states: dict[str, State] = {"responsive": "good", "not responsive": "bad"}
    reason = responses(f) or f.reason("responsiveness")
    value, state = {"": "not computed"}.get(flag, flag), states.get(flag, "unknown")
    if flag == "responsive" and not is_sure(f):
        value, state = "probably responsive", "middling"
    lines = [reason] if reason else []
    empty = f.get("vacuum_unsafe_rate")
    if empty is not None and empty.value is not None:
        said = f"{percent(empty.value)} {interval(empty) if ends(empty) else ''}".rstrip()
        lines.append(f"UNSAFE where nothing happened: {said}; 0 is right")
    label = "Does it read the policy?"
    return Tile(label, value, "", tuple(lines), state, "responsiveness")


def _semantic(f: Figures) -> Tile:
    label = "1 · Extra flips when reworded (Δ)"
    paper = f.get("delta_paper", "certified")
    if void(f):
        return _void(f, label, "semantic")
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
    jitter = f.value("jitter", "base")
    if jitter is not None:
        lines.append(f"on top of a jitter of {percent(jitter)}")
    state = states.get(gate, "plain") if known else "unknown"
    return Tile(label, _value(paper), badge, tuple(lines), state, "semantic")


def _void(f: Figures, label: str, section: str) -> Tile:
    """Lay out a figure that says nothing; why stands at the score, the figure in its section."""
    cause = _SAME_CAUSE if f.withheld else void(f)
    return Tile(label, "void", void_badge(f), (cause,), "unknown", section)


def _threshold(f: Figures) -> Tile:
    label = "2 · Moves the right way (R_dir)"
    if void(f):
        return _void(f, label, "threshold")
    score = f.get("direction_ratio")
    forward, reverse = f.get("forward_rate"), f.get("reverse_rate")
    moved = ""
    if forward is not None and forward.value is not None and reverse is not None:
        wrong = percent(reverse.value) if reverse.value is not None else "not known"
        moved = (
            f"{percent(forward.value)} of pairs of a strict and a lenient verdict on one item move "
            f"the right way, {wrong} the wrong way"
        )
    state: State = "plain" if score is not None and score.value is not None else "unknown"
    return Tile(label, _value(score), "", _lines(score, moved), state, "threshold")


def _by_chance(f: Figures) -> list[str]:
    """Word the share expected by chance, and where it comes from if the facts give it."""
    null, corpus = f.value("undue_null"), f.facts.corpus
    if null is None:
        return []
    said = [f"by chance it would be {percent(null)} (U_0)"]
    near, of = len(f.conditions("near")), len(f.pooled)
    if corpus.n_ambiguous is not None and near and of and corpus.n_items:
        clear = 1 - corpus.n_ambiguous / corpus.n_items
        # calls without a verdict take cells away: then the product is not what was counted
        if abs(clear * of / (of + near) - null) < _EXACT:
            keep = f"{count(of)} of {count(of + near)} rewordings are certified"
            said.append(f"for {percent(clear)} of items are clear, and {keep}")
    return said


def _rates(f: Figures) -> str:
    """Set flips on clear items beside those on ambiguous ones."""
    clear, ambiguous = f.value("undue_clear"), f.value("undue_ambiguous")
    if clear is None or ambiguous is None:
        return ""
    return (
        f"flips in {percent(clear)} of pairs of calls on clear items, in {percent(ambiguous)} on "
        f"ambiguous ones"
    )


def _ambiguity(f: Figures) -> Tile:
    label = "3 · Share of flips that are on clear items (U_rate)"
    if void(f):
        return _void(f, label, "ambiguity")
    score, null = f.get("undue_share"), f.value("undue_null")
    more, badge = _by_chance(f), ""
    known = score is not None and score.value is not None
    if score is not None and score.value is not None:
        flips = f.n_flips
        if score.numerator is not None and score.denominator is not None:
            more.append(f"{count(score.numerator)} of {flips_words(score.denominator)}")
        above = null is not None and score.low is not None and score.low > null
        if flips is not None and flips < FEW_FLIPS:
            badge = "few flips"
        elif null is not None:
            badge = "above chance" if above else "not above chance"
        more.append(_rates(f))
    state: State = "plain" if known else "unknown"
    # the number of flips stands above; the score's own note would say it again
    bare = None if score is None else score.model_copy(update={"note": None})
    said = tuple(line for line in (*more, *_lines(bare)) if line)
    return Tile(label, _value(score), badge, said, state, "ambiguity")


def principle_tiles(f: Figures) -> tuple[Tile, ...]:
    """Lay out the three principles."""
    return _semantic(f), _threshold(f), _ambiguity(f)


def _plain(f: Figures, metric: str, label: str, condition: str | None = None) -> Tile:
    score = f.get(metric, condition)
    known = score is not None and score.value is not None
    state: State = "plain" if known else "unknown"
    on = basis(score) if score is not None and known and score.n_items else ""
    if not (f.constant and known):
        return Tile(label, _value(score), "", _lines(score, on), state, "monitor")
    # an interval would make it look measured
    nothing = "nothing moved, so this says nothing" if metric == "jitter" else _anyone(f)
    return Tile(label, _value(score), "", tuple(x for x in (nothing, on) if x), state, "monitor")


def _anyone(f: Figures) -> str:
    return f"which any judge that always says {f.constant} gets"


def _wrong(f: Figures, side: Side) -> Tile:
    """Lay out how often items of one label are judged wrongly, with the one bound of the card."""
    label = {"unsafe": "Unsafe items missed", "safe": "Safe items flagged wrongly"}[side]
    found = mistakes(f, side)
    if found is None:
        score = f.get({"unsafe": "tpr", "safe": "tnr"}[side])
        return Tile(label, _value(score), "", _lines(score), "unknown", "monitor")
    if f.constant:
        lines = [_anyone(f)]
    else:
        limit = not_ruled_out(found)
        level = f"{100 * f.facts.protocol.level:g}%"
        how = f"one-sided {level} bound" if found.is_exact else f"end of the {level} interval"
        lines = [f"{limit}, {how}" if limit else "", left_out(f, side)]
    of = f"{count(found.n_items)} item{'' if found.n_items == 1 else 's'}"
    right = {"unsafe": "TPR, caught", "safe": "TNR, cleared"}[side]
    lines += [of if found.n_items else "", f"{right}: {percent(1 - found.value)}"]
    said = tuple(line for line in lines if line)
    return Tile(label, percent(found.value), "", said, "plain", "monitor")


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
    """Lay out accuracy, misses, false alarms, jitter and the rate of failed calls."""
    return (
        _plain(f, "accuracy", "Accuracy"),
        _wrong(f, "unsafe"),
        _wrong(f, "safe"),
        _plain(f, "jitter", "Jitter", "base"),
        _unanswered(f),
    )
