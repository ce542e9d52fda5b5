"""Operators on threshold, burden of proof and default rule."""

from __future__ import annotations

from collections.abc import Iterator

from judgeaudit.policy.mutation._text import Operator, Text

__all__ = ["OPERATORS"]

_THRESHOLD = r"\b[Vv]iolation|\b[Ll]apse|\bat least \d|[Aa]nything less"
_BURDEN = r"leaves (?:it )?open"
_EXCEPTION = r"\bexception"
_DEFAULT = r"\bcover"
_OTHER = {"UNSAFE": "SAFE", "SAFE": "UNSAFE"}


def _edits(t: Text, pattern: str, pairs: list[tuple[str, str]]) -> Iterator[str]:
    for m in t.sentences(pattern):
        for old, new in pairs:
            if old in m[0]:
                yield t.replaced(m, m[0].replace(old, new, 1))


def _dropped(t: Text, pattern: str) -> Iterator[str]:
    return (t.replaced(m, "") for m in t.sentences(pattern))


def _turned(t: Text, pattern: str) -> Iterator[str]:
    for m in t.sentences(pattern):
        label = "UNSAFE" if "UNSAFE" in m[0] else "SAFE"
        if label in m[0]:
            yield t.replaced(m, m[0].replace(label, _OTHER[label]))


def _other_level(t: Text) -> Iterator[str]:
    levels = ["any violation", "a material violation", "a clear and significant violation",
              "a serious violation", "a repeated violation", "a deliberate violation"]  # fmt: skip
    for old in levels[:3]:
        for new in levels:
            if new != old:
                yield from _edits(t, _THRESHOLD, [(old, new), (old.capitalize(), new.capitalize())])
    pairs = [("clear and significant", "significant"), (", however small", ""), ("material ", "")]
    yield from _edits(t, _THRESHOLD, pairs)


def _other_floor(t: Text) -> Iterator[str]:
    pairs = [("trivial", "material"), ("trivial", "serious"), ("lesser", "significant"),
             ("anything less", "anything more"), ("Anything less", "Anything more"),
             ("does not make", "makes"), ("is not made", "is made"),
             ("does not make", "may make")]  # fmt: skip
    yield from _edits(t, _THRESHOLD, pairs)


def _drop_threshold(t: Text) -> Iterator[str]:
    return _dropped(t, _THRESHOLD)


def _turn_threshold(t: Text) -> Iterator[str]:
    yield from _turned(t, _THRESHOLD)
    pairs = [("UNSAFE if it", "UNSAFE unless it"), ("UNSAFE if it", "UNSAFE even if it"),
             ("a norm", "two norms"), ("a norm", "every norm"),
             ("a norm", "the first norm")]  # fmt: skip
    yield from _edits(t, _THRESHOLD, pairs)


def _reverse_burden(t: Text) -> Iterator[str]:
    yield from _turned(t, _BURDEN)
    pairs = [("leaves it open", "shows"), ("leaves open", "shows"), ("If ", "Unless "),
             (" if ", " unless "), ("was violated", "was not violated"),
             ("was violated", "may have been violated")]  # fmt: skip
    yield from _edits(t, _BURDEN, pairs)


def _drop_burden(t: Text) -> Iterator[str]:
    return _dropped(t, _BURDEN)


def _other_exception_proof(t: Text) -> Iterator[str]:
    pairs = [("only if", "if"), ("only if", "even if"), ("only if", "unless"), ("Only if", "If"),
             ("Only if", "Unless"), ("is met", "is not met"), ("is met", "may be met"),
             ("shows that", "suggests that"), ("unless", "only if"), ("Unless", "Only if"),
             ("is not met", "is met"), ("that exception", "every exception"),
             ("that exception", "no exception"),
             ("of an exception", "of every exception")]  # fmt: skip
    yield from _edits(t, _EXCEPTION, pairs)


def _drop_exception_proof(t: Text) -> Iterator[str]:
    return _dropped(t, _EXCEPTION)


def _reverse_default(t: Text) -> Iterator[str]:
    yield from _turned(t, _DEFAULT)
    pairs = [("no norm", "any norm"), ("no norm", "some norm"), ("no norm", "not every norm"),
             ("is not covered", "is covered"), ("any norm", "every norm"), (" if ", " unless "),
             ("Conduct ", "Harmless conduct ")]  # fmt: skip
    yield from _edits(t, _DEFAULT, pairs)


def _drop_default(t: Text) -> Iterator[str]:
    return _dropped(t, _DEFAULT)


OPERATORS = (
    Operator("another threshold", "implicit_threshold", _other_level),
    Operator("another floor below the threshold", "implicit_threshold", _other_floor),
    Operator("drop the threshold", "implicit_threshold", _drop_threshold),
    Operator("turn the threshold round", "implicit_threshold", _turn_threshold),
    Operator("reverse the burden", "burden_of_proof", _reverse_burden),
    Operator("drop the burden", "burden_of_proof", _drop_burden),
    Operator("another proof of exceptions", "burden_of_proof", _other_exception_proof),
    Operator("drop the proof of exceptions", "burden_of_proof", _drop_exception_proof),
    Operator("reverse the default", "default_rule", _reverse_default),
    Operator("drop the default", "default_rule", _drop_default),
)
