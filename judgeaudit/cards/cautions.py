"""Warnings and limits: what a reader must know before relying on a figure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qsl

from judgeaudit.cards.calls import lost_words
from judgeaudit.cards.clean import shorten
from judgeaudit.cards.findings import (
    Found,
    figures_at_risk,
    gate,
    moved,
    reacting,
    small,
    unanswered,
    voided,
    weakest,
)
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.model import CardWarning, Severity
from judgeaudit.cards.served import served_as_asked
from judgeaudit.cards.texts_en import LIMITS
from judgeaudit.cards.words import clipped, count, duration, joined, points, threshold_words
from judgeaudit.core.records import JudgeSpec

__all__ = ["limits", "open_words", "warnings"]

_FAILURES_SAID: Final = 0.05
_FAILURES_SERIOUS: Final = 0.20
_STRUCTURAL: Final = (
    "Rewordings were checked by a program that reads their structure back; no person confirmed "
    "that the meaning is unchanged."
)
_STUB_RATE: Final = 200
_STUB_CALLS: Final = 100
_FLOATING: Final = re.compile(r"(?:^|[-/:@_])(?:latest|preview|default|auto)$", re.IGNORECASE)
_MEND: Final = re.compile(r"[;:,] import labels\b.*", re.DOTALL)  # the card words it itself
_LOCAL_BACKENDS: Final = frozenset({"scripted", "replay", "imported", "control", "hardened"})


def _name(text: str) -> str:
    return f"“{shorten(text, 80)}”"


def _planted(f: Figures) -> Found:
    if f.is_scripted:
        what = "This judge is a script with a planted behaviour, made to test the audit; no model."
        yield "scripted", "serious", what
    if f.facts.judge_note:
        yield "judge_note", "caution", f.facts.judge_note


def _imported(f: Figures) -> Found:
    said = f.facts.extra.get("imported")
    if not isinstance(said, dict):
        return
    facts = f.facts
    unknown = [
        name
        for name, known in (
            ("the judge's name", facts.judge.model != "not known"),
            ("prompts", bool(facts.judge.template_sha256)),
            ("the policy's text", bool(facts.policy.sha256)),
            ("the wordings", bool(facts.renderings)),
            ("decoding", bool(facts.judge.decoding)),
            ("the order of calls", False),
        )
        if not known
    ]
    origin = f"{_name(str(said.get('file')))} (sha256 {str(said.get('sha256'))[:12]})"
    verb = "are" if len(unknown) > 1 else "is"
    what = f"Verdicts were imported from {origin}, nobody was asked here: {joined(unknown)} {verb}"
    yield "imported", "caution", f"{what} not known."
    if f.balanced is not None and f.balanced.high < 0.5:
        what = "Worse than chance is often a table read the other way round: look again at what "
        what += "each word means as a verdict (--label) and as a label (--gold-label)."
        yield "swapped", "caution", what
    if said.get("assume_certified"):
        what = "Rewrites are pooled on the word of whoever imported them; no certificate was seen."
        yield "assumed_certified", "serious", what


def _incomplete(f: Figures) -> Found:
    planned, answered = f.facts.n_planned, f.facts.n_answered
    if f.flag("stopping"):
        yield "stopping", "note", f.reason("stopping")
    if answered < planned and f.flag("stopping") not in {"effect", "tolerable"}:
        yield (
            "incomplete",
            "serious",
            f"Incomplete run: {count(answered)} of {count(planned)} planned calls were answered.",
        )


def _shortened(f: Figures) -> Found:
    if isinstance(cut := f.facts.extra.get("too_long"), dict):
        n, of, limit = (count(int(cut[k])) for k in ("items", "of", "limit"))
        what = f"{n} of {of} trajectories were longer than {limit} tokens: the judge was shown "
        yield "shortened", "caution", what + "their beginning and end, with the middle left out."


def _failures(f: Figures) -> Found:
    rate = f.failure_rate
    if rate is not None and rate > _FAILURES_SAID:
        severity: Severity = "serious" if rate > _FAILURES_SERIOUS else "caution"
        yield "failures", severity, lost_words(f)
    if f.flag("identified").startswith("not"):
        fallback = "Calls without a verdict could turn the finding on rewording either way."
        yield "not_identified", "caution", open_words(f) or fallback


def open_words(f: Figures) -> str:
    """Word how far calls without a verdict leave the finding on rewording open."""
    region = f.get("delta_paper", "certified", treatment="bounds_delta_paper")
    if region is None or region.low is None or region.high is None:
        return f.reason("identified")
    if region.low == region.high:
        return ""
    low, high = (points(clipped(x, "points")) for x in (region.low, region.high))
    span = f"between {low} and {high} points"
    tau = threshold_words(f.threshold)
    if f.flag("identified").startswith("not"):
        return (
            f"Whatever the calls without a verdict would have said, excess flips lie {span}, on "
            f"both sides of the threshold of {tau}: they leave the finding open."
        )
    return (
        f"Whatever the calls without a verdict would have said, excess flips lie {span}, on one "
        f"side of the threshold of {tau}."
    )


def _placebo(f: Figures) -> Found:
    if f.flag("placebo") not in ("", "clean", "not run"):
        yield (
            "placebo",
            "serious",
            f.reason("placebo")
            or "The placebo is not clean: identical prompts gave different verdicts by more than "
            "jitter, so drift of the model or a cache may have made the effects below.",
        )


def _asked(judge: JudgeSpec) -> str | None:
    """Return the model that was asked; of a scorer of Inspect the one that grades, if named."""
    if judge.backend != "inspect":
        return judge.model
    return dict(parse_qsl(judge.model.partition("?")[2])).get("model")


def _served(f: Figures) -> Found:
    judge, served = f.facts.judge, f.facts.served_models
    names = sorted(n for n in served if n)
    if len(names) > 1:
        listed = joined([_name(n) for n in names[:4]])
        more = f" and {count(len(names) - 4)} more" if len(names) > 4 else ""
        yield (
            "served_changed",
            "serious",
            f"The served model changed during the run: {listed}{more}.",
        )
    prints = f.facts.extra.get("fingerprints")
    if isinstance(prints, int) and prints > 1:
        yield (
            "fingerprints_changed",
            "caution",
            (
                f"The server named {count(prints)} configurations of itself (system "
                f"fingerprints) during the run."
            ),
        )
    if judge.backend in {*_LOCAL_BACKENDS, "callable", "http"}:
        return
    asked = _asked(judge)
    if asked is None:
        return
    other = [n for n in names if served_as_asked(asked, n) == "other"]
    if other and len(names) == 1:
        yield (
            "served_differs",
            "caution",
            f"Asked for {_name(asked)}, served as {_name(other[0])}.",
        )
    dated = any(served_as_asked(asked, n) == "dated" for n in names)
    if dated or _FLOATING.search(asked) or f.facts.extra.get("floating_alias"):
        yield (
            "floating_alias",
            "caution",
            f"{_name(asked)} is a name that the provider can point to another snapshot.",
        )
    if f.n_calls and not names and f.n_failed < f.n_calls:
        yield "served_unknown", "note", "The server did not say which model answered."


def _rewrites(f: Figures) -> Found:
    by_condition: dict[str, list[bool]] = {}
    doubted: list[str] = []
    humans = models = 0
    for r in f.facts.renderings:
        by_condition.setdefault(r.condition, []).append(r.evidence != "none" and bool(r.passed))
        humans += r.evidence == "human"
        models += r.evidence == "model"
        if any(o.evidence == "model" and not o.passed for o in r.others):
            doubted.append(r.condition)
    if f.facts.extra.get("unconfirmed_policy"):
        yield "unconfirmed_policy", "serious", "No person has confirmed the policy a model drafted."
    if doubted:
        names = joined(list(dict.fromkeys(doubted))[:8])
        said = f"A model's second opinion sees a change of meaning in {names}; nothing rests on it."
        yield "model_doubts", "caution", said
    wanted = f.conditions("certified")
    bare = [c for c in wanted if not all(by_condition.get(c, [False]))]
    if bare:
        yield (
            "uncertified",
            "serious",
            (
                f"Not certified as keeping the policy's meaning: {joined(bare[:8])}. Flips under "
                f"{'them' if len(bare) > 1 else 'it'} may be right answers to a changed rule."
            ),
        )
    elif models:
        yield "model_certificate", "caution", "Some rewrites rest on votes by a model, not people."
    elif wanted and not humans:
        yield (
            "structural_only",
            "note",
            _STRUCTURAL,
        )


_SOURCES: Final[dict[str, tuple[Severity, str]]] = {
    "author": ("caution", "Labels{flags} were assigned by the authors of the items."),
    "model": ("caution", "Labels were assigned by a model: accuracy is agreement with it."),
    "rule": ("note", "Labels follow from a rule, not from raters."),
    "unknown": ("caution", "Who assigned the labels is not stated."),
    "unlabelled": ("caution", "The items have no labels: accuracy cannot be estimated."),
}


def _no_ambiguity(f: Figures) -> str:
    """Word why undue flips are not known, and how to mend it."""
    said = _MEND.sub("", f.facts.corpus.ambiguity_source.removeprefix("none: ")).strip(" .")
    what = f"Undue flips and PIS are not known, for {said or 'no item has an ambiguity label'}"
    if f.is_imported:
        return f"{what}."
    return f"{what}: give raters' labels (item_id, rater, label) with --labels FILE."


def _labels(f: Figures) -> Found:
    corpus = f.facts.corpus
    if corpus.label_source in _SOURCES:
        severity, sentence = _SOURCES[corpus.label_source]
        flags = " and ambiguity flags" if corpus.n_ambiguous is not None else ""
        yield f"labels_{corpus.label_source}", severity, sentence.format(flags=flags)
    if f.flag("control_group"):
        yield "no_control_group", "serious", f.reason("control_group")
    if corpus.n_ambiguous is None:
        yield "no_ambiguity", "caution", _no_ambiguity(f)


def _transport(f: Figures) -> Found:
    dropped = f.facts.dropped_parameters
    if dropped:
        yield (
            "dropped_parameters",
            "caution",
            f"Not accepted by the model, so not sent: {joined([_name(d) for d in dropped[:8]])}.",
        )
    known = f.facts.extra.get("n_confidence")
    if isinstance(known, int) and known < f.n_calls - f.n_failed:
        yield (
            "confidence_unknown",
            "caution",
            (
                f"The server told log-probabilities for {count(known)} verdicts of "
                f"{count(f.n_calls - f.n_failed)}: the others have no confidence."
            ),
        )
    protocol = f.facts.protocol
    if protocol.repeats < 2:
        yield (
            "one_call",
            "note",
            (
                "One call an item and condition: a change of verdict cannot be told from a "
                "change of noise."
            ),
        )
    if f.facts.cost is None and f.facts.judge.backend not in {*_LOCAL_BACKENDS, "local"}:
        note = f" ({f.facts.cost_note})" if f.facts.cost_note else ""
        yield "cost_unknown", "note", f"The cost of the run is not known{note}."


def _too_quick(f: Figures) -> Found:
    """Ask whether a model was there at all: none answers hundreds of calls a second for free."""
    facts = f.facts
    if facts.judge.backend in _LOCAL_BACKENDS or facts.prompt_tokens or facts.completion_tokens:
        return
    if facts.seconds is None or facts.n_answered < _STUB_CALLS or f.is_imported:
        return
    if facts.n_answered > _STUB_RATE * facts.seconds:
        what = (
            f"{count(facts.n_answered)} calls took {duration(facts.seconds)}, and no tokens were "
            f"reported: look whether a model answered, or a stub or a cache."
        )
        yield "too_quick", "caution", what


def _left_out(f: Figures) -> Found:
    missing = f.scores.flags.get("not_called")
    if missing:
        yield "not_called", "caution", f"Planned, but without a call: {shorten(missing, 200)}."
    unknown = f.scores.flags.get("not_in_protocol")
    if unknown:
        yield "not_in_protocol", "note", f"Not of the protocol, left out: {shorten(unknown, 200)}."


def _triage(f: Figures) -> Found:
    """Say what people noted who looked at flips in the explorer."""
    said = f.facts.extra.get("triage")
    if not isinstance(said, dict):
        return
    n = {k: v for k in ("rewrite", "judge", "label") if isinstance(v := said.get(k), int) and v > 0}
    if not n:
        return
    who = joined([f"the {kind} is wrong in {count(k)}" for kind, k in n.items()])
    total = sum(n.values())
    changes = "change" if total == 1 else "changes"
    what = f"People looked at {count(total)} {changes} of verdict, not drawn at random: {who}."
    yield "triage", "caution" if n.keys() & {"rewrite", "label"} else "note", what


_CHECKS: Final[tuple[Callable[[Figures], Found], ...]] = (
    _planted,
    _imported,
    _incomplete,
    _shortened,
    _failures,
    _placebo,
    _served,
    _rewrites,
    _left_out,
    voided,
    unanswered,
    moved,
    reacting,
    gate,
    _too_quick,
    _labels,
    small,
    weakest,
    figures_at_risk,
    _triage,
    _transport,
)
_ORDER: Final[dict[Severity, int]] = {"serious": 0, "caution": 1, "note": 2}


def warnings(figures: Figures) -> tuple[CardWarning, ...]:
    """List what must be known first, the most serious first.

    Parameters
    ----------
    figures : Figures
        Facts and scores; anything may be missing.
    """
    found = [
        CardWarning(code=code, severity=severity, sentence=sentence)
        for check in _CHECKS
        for code, severity, sentence in check(figures)
    ]
    return tuple(sorted(found, key=lambda w: _ORDER[w.severity]))


def limits(figures: Figures) -> tuple[str, ...]:
    """List what the card does not show, whatever its figures say."""
    out = [LIMITS[k] for k in ("scope", "judge", "labels", "adversary")]
    if figures.flag("calibration") in {"", "not known"}:
        out.append(LIMITS["calibration"])
    if not any(r.evidence == "human" for r in figures.facts.renderings):
        out.append(LIMITS["human"])
    run = {c.id for c in figures.facts.protocol.conditions}
    missing = [c for c in ("no_policy", "inverted", "vacuum") if c not in run]
    if missing:
        out.append(LIMITS["controls"].format(missing=joined(missing)))
    out.append(LIMITS["permission"])
    return tuple(out)
