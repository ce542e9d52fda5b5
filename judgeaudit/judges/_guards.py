"""Guard models: the form in which each answers, read as that model writes it and in no other way.

A guard was trained to one form. What is not in it, whole and from the first character, is no
verdict: a quotation of the trajectory, a second opinion, half an answer. See
`docs/decisions/0813-guard-models.md`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from judgeaudit.core.records import Label, Verdict
from judgeaudit.judges._text import short

__all__ = ["GUARDS", "Guard"]

_CAP: Final = 4_000
_B: Final = r"[ \t\r\n]{0,20}"

Read = Callable[[str, bool], Verdict | None]
"""(answer without blanks around it, whether it was cut) -> what it says; None: not in this form."""


@dataclass(frozen=True, slots=True)
class Guard:
    """How a guard model is asked, and what it answers.

    Parameters
    ----------
    name : str
        As the user names it.
    template : str
        The judge template that puts the policy where this guard takes its own.
    read : callable
        Answer -> Verdict.
    places : tuple of pattern
        Where its verdict begins in an answer, for log-probabilities.
    words : tuple of two tuples of str
        Words that mean SAFE and words that mean UNSAFE there, in capitals.
    tokens : int
        Room for an answer, where the user states none and the model runs on this machine.
    """

    name: str
    template: str
    read: Read
    places: tuple[re.Pattern[str], ...]
    words: tuple[tuple[str, ...], tuple[str, ...]]
    tokens: int = 64


def _verdict(label: Label, note: str | None = None, rationale: str | None = None) -> Verdict:
    said = short(rationale, _CAP) if rationale else None
    return Verdict(outcome="verdict", label=label, note=note, rationale=said or None)


def _without(note: str) -> Verdict:
    return Verdict(outcome="unparseable", note=note)


def _ambiguous(note: str) -> Verdict:
    return Verdict(outcome="ambiguous", note=note)


# ---- Llama Guard 2, 3, 4: "safe", or "unsafe" and a line of categories -------------------

_CODE: Final = r"[A-Z]{1,3}\d{1,3}"
_LLAMA: Final = re.compile(
    rf"(?P<label>safe|unsafe)(?:[ \t]*\r?\n\s{{0,20}}(?P<codes>{_CODE}(?:[ \t]*,[ \t]*{_CODE})*))?",
    re.IGNORECASE,
)
_LLAMA_CUT: Final = re.compile(rf"unsafe[ \t]*\r?\n\s{{0,20}}{_CODE}", re.IGNORECASE)


def _llama_guard(text: str, cut: bool) -> Verdict | None:
    if cut:
        # its first line is ended, and so decided; "safe" alone may have gone on
        return _verdict("UNSAFE", "cut after the verdict") if _LLAMA_CUT.match(text) else None
    found = _LLAMA.fullmatch(text)
    if found is None:
        return None
    codes = found["codes"]
    if found["label"].lower() == "unsafe":
        return _verdict("UNSAFE", None if codes else "names no category", codes)
    return _ambiguous(f"safe, and yet of {codes}") if codes else _verdict("SAFE")


# ---- ShieldGemma, Granite Guardian: yes or no to one guideline ---------------------------

# What may follow the word: an end, a mark or a line. "Yes or No" and "No doubt" say nothing.
_SHIELD: Final = re.compile(
    r"[*_\"']{0,3}(?P<word>yes|no)[*_\"']{0,3}(?P<end>\Z|[ \t]*(?:[.,:;!—–-]|\r?\n))", re.IGNORECASE
)
_THOUGHT: Final = re.compile(r"\A<think>.*?</think>\s*", re.DOTALL)
_GRANITE: Final = re.compile(
    r"<score>\s{0,20}(?P<score>yes|no)\s{0,20}</score>"
    r"|(?P<word>yes|no)(?:\s{0,20}<confidence>\s{0,20}(?P<sure>\w{1,12})\s{0,20}</confidence>)?",
    re.IGNORECASE,
)


def _violates(word: str) -> Label:
    return "UNSAFE" if word.lower() == "yes" else "SAFE"


def _shieldgemma(text: str, cut: bool) -> Verdict | None:
    found = _SHIELD.match(text)
    if found is None or (cut and not found["end"]):
        return None
    return _verdict(_violates(found["word"]), rationale=text[found.end() :].strip())


def _granite(text: str, cut: bool) -> Verdict | None:
    found = _GRANITE.fullmatch(_THOUGHT.sub("", text, count=1))
    if found is None or (cut and not (found["score"] or found["sure"])):
        return None
    note = f"confidence in words: {found['sure']}" if found["sure"] else None
    return _verdict(_violates(found["score"] or found["word"]), note)


# ---- WildGuard: three lines; Qwen3Guard: two or three ------------------------------------

_YES_NO: Final = r"[ \t]{0,8}(yes|no|n/a)[ \t]*"
_WILD: Final = re.compile(
    rf"Harmful request:{_YES_NO}\r?\nResponse refusal:{_YES_NO}\r?\nHarmful response:{_YES_NO}",
    re.IGNORECASE,
)
_QWEN: Final = re.compile(
    r"Safety:[ \t]{0,8}(?P<label>Safe|Unsafe|Controversial)[ \t]*\r?\n"
    r"Categories:[ \t]{0,8}(?P<kinds>[^\r\n]{1,400})(?:\r?\nRefusal:[ \t]{0,8}(?:Yes|No)[ \t]*)?",
    re.IGNORECASE,
)


def _wildguard(text: str, cut: bool) -> Verdict | None:
    found = None if cut else _WILD.fullmatch(text)
    if found is None:
        return None
    request, refusal, response = (said.lower() for said in found.groups())
    if response == "n/a":
        return _without("Harmful response: n/a")
    note = f"harmful request: {request}, refusal: {refusal}"
    return _verdict(_violates(response), note)


def _qwen3guard(controversial: Label | None) -> Read:
    def read(text: str, cut: bool) -> Verdict | None:
        found = None if cut else _QWEN.fullmatch(text)
        if found is None:
            return None
        said, kinds = found["label"].lower(), found["kinds"].strip()
        if said == "controversial":
            if controversial is None:
                return _ambiguous(f"Controversial: {short(kinds)}")
            note = f"Controversial, which counts as {controversial} here"
            return _verdict(controversial, note, kinds)
        if said == "safe":
            named = kinds.lower() != "none"
            return _ambiguous(f"safe, and yet {short(kinds)}") if named else _verdict("SAFE")
        return _verdict("UNSAFE", None, kinds)

    return read


# ---- JSON: gpt-oss-safeguard, NemoGuard --------------------------------------------------

_FENCED: Final = re.compile(r"\A```(?:json)?[ \t]*\r?\n(.*)\n```\Z", re.DOTALL)


class _TwiceError(ValueError):
    """A key that stands twice in one object."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise _TwiceError
    return dict(pairs)


def _object(text: str) -> dict[str, Any] | Verdict | None:
    """Return the object that an answer is, whole; or the outcome of one that says a thing twice."""
    fenced = _FENCED.match(text)
    try:
        made = json.loads(fenced[1] if fenced else text, object_pairs_hook=_once)
    except _TwiceError:
        return _ambiguous("one object says a thing twice")
    except (ValueError, RecursionError):
        return None
    return made if isinstance(made, dict) else None


def _safeguard(text: str, cut: bool) -> Verdict | None:
    text = _THOUGHT.sub("", text, count=1)
    if text in {"0", "1"}:
        return None if cut else _verdict("UNSAFE" if text == "1" else "SAFE")
    made = _object(text)
    if not isinstance(made, dict):
        return made
    said = made.get("violation")
    if not isinstance(said, int) or said not in (0, 1):
        return None
    told = made.get("rationale")
    return _verdict("UNSAFE" if said else "SAFE", None, told if isinstance(told, str) else None)


def _nemoguard(text: str, cut: bool) -> Verdict | None:
    del cut  # an object that was cut is none
    made = _object(text)
    if not isinstance(made, dict):
        return made
    labels: Mapping[str, Label] = {"safe": "SAFE", "unsafe": "UNSAFE"}
    said = made.get("Response Safety")
    if not isinstance(said, str) or said.strip().lower() not in labels:
        # of the user's message alone: the agent's conduct is what is judged
        return _without("no Response Safety") if "User Safety" in made else None
    kinds = made.get("Safety Categories")
    user = made.get("User Safety")
    note = f"user safety: {short(user, 20)}" if isinstance(user, str) else None
    label = labels[said.strip().lower()]
    return _verdict(label, note, kinds if isinstance(kinds, str) else None)


# ---- the guards --------------------------------------------------------------------------


def _at(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(p, re.IGNORECASE) for p in patterns)


_LABELS: Final = (("SAFE",), ("UNSAFE",))
_YES: Final = (("NO",), ("YES",))
_QWEN_AT: Final = _at(rf"\A{_B}Safety:{_B}(?=safe|unsafe|controversial)")

GUARDS: Final[Mapping[str, Guard]] = {
    guard.name: guard
    for guard in (
        Guard("llama-guard", "llama_guard", _llama_guard, _at(rf"\A{_B}(?=safe|unsafe)"), _LABELS),
        Guard(
            *("shieldgemma", "shieldgemma", _shieldgemma),
            *(_at(rf"\A{_B}[*_\"']{{0,3}}(?=yes|no)"), _YES, 256),
        ),
        Guard(
            *("wildguard", "wildguard", _wildguard),
            *(_at(rf"Harmful response:{_B}(?=yes|no)"), _YES),
        ),
        Guard(
            *("granite-guardian", "granite_guardian", _granite),
            *(_at(rf"<score>{_B}(?=yes|no)", rf"\A{_B}(?=yes|no)"), _YES, 512),
        ),
        Guard("qwen3guard", "qwen3guard", _qwen3guard(None), _QWEN_AT, _LABELS, 128),
        Guard(
            *("qwen3guard-strict", "qwen3guard", _qwen3guard("UNSAFE"), _QWEN_AT),
            *((("SAFE",), ("UNSAFE", "CONTROVERSIAL")), 128),
        ),
        Guard(
            *("qwen3guard-loose", "qwen3guard", _qwen3guard("SAFE"), _QWEN_AT),
            *((("SAFE", "CONTROVERSIAL"), ("UNSAFE",)), 128),
        ),
        Guard(
            *("gpt-oss-safeguard", "gpt_oss_safeguard", _safeguard),
            *(_at(rf'"violation"{_B}:{_B}(?=[01])', rf"\A{_B}(?=[01])"), (("0",), ("1",)), 1024),
        ),
        Guard(
            *("nemoguard", "nemoguard", _nemoguard),
            *(_at(rf'"Response Safety"{_B}:{_B}"{_B}(?=safe|unsafe)'), _LABELS, 128),
        ),
    )
}
"""By the name of the form, `JudgeSpec.output_format`."""
