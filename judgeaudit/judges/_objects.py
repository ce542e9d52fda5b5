"""Find verdict objects in an answer: a balanced scan for JSON, outside of think blocks.

Built for hostile text: one pass, no recursion, and a budget of work in proportion to the length.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import re
import unicodedata
from dataclasses import dataclass
from typing import Any, Final, Literal

from judgeaudit.core.records import Label

__all__ = ["Claim", "Scan", "Standing", "as_label", "scan"]

Standing = Literal["firm", "quoted", "draft"]
"""`firm`: the judge's own words. `quoted`: between quote marks, in inline code, or in a block
quote. `draft`: in front of a `</think>` that nobody opened."""

_DEEPEST: Final = 64
_BUDGET: Final = 1_000_000
_LONGEST_LABEL: Final = 40
_WINDOW: Final = 400
_MOST_CLAIMS: Final = 1_000

_MARK: Final = re.compile(
    r'\{(?=\s*+")|<(?P<close>/?)(?P<tag>think|thinking|thought|reasoning)>', re.IGNORECASE
)
# A string, closed or running to the end of the text, or one bracket. Possessive: no backtracking.
_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\(?:.|\Z))*+(?:"|\Z)|[{}\[\]]', re.DOTALL)
_QUOTES: Final = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»", "「": "」"}
_REASONS: Final = ("rationale", "reason", "reasoning", "why", "explanation")


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with its duplicate keys kept."""

    def all(self, name: str) -> list[Any]:
        """Return the values of all keys that read as `name`."""
        return [v for k, v in self if _fold(k) == name]


@dataclass(frozen=True, slots=True)
class Claim:
    """One verdict object.

    Parameters
    ----------
    label : {"SAFE", "UNSAFE"}, optional
        None where what stands there is no known label, or where two stand there.
    said : str
        What stands there, for messages.
    conflicting : bool
        Whether the object has its verdict key twice, with different values.
    """

    label: Label | None
    said: str
    conflicting: bool
    confidence: float | None
    rationale: str | None
    note: str | None
    standing: Standing


@dataclass(frozen=True, slots=True)
class Scan:
    """What an answer holds: verdict objects in order, and the text beside them.

    Parameters
    ----------
    plain : str
        The answer without think blocks and without JSON objects.
    gave_up : bool
        Whether the budget ran out; then the rest is not to be used.
    """

    claims: tuple[Claim, ...]
    plain: str
    gave_up: bool = False


def scan(text: str) -> Scan:
    """Find all verdict objects of an answer; time linear in its length."""
    claims: list[Claim] = []
    plain: list[str] = []
    budget = _BUDGET + len(text)
    drafts = 0  # so many claims stand in front of a `</think>` that nobody opened
    done = at = 0  # text up to `done` is sorted into claims, plain text and thought
    while mark := _MARK.search(text, at):
        start = mark.start()
        if mark["tag"] is None:
            end = _balanced_end(text, start)
            budget -= abs(end) - start
            if budget < 0:
                return Scan((), "", gave_up=True)
            pairs = _loads(text[start:end]) if end > 0 else None
            if pairs is None:
                at = start + 1
                continue
            if claim := _claim(pairs, _standing(text, start, end)):
                claims.append(claim)
                if len(claims) > _MOST_CLAIMS:
                    return Scan((), "", gave_up=True)
        elif mark["close"]:
            drafts = len(claims)
            plain, done, end = [], start, mark.end()
        else:
            closing = re.compile(rf"</{mark['tag']}>", re.IGNORECASE).search(text, mark.end())
            end = closing.end() if closing else len(text)
        plain.append(text[done:start])
        done = at = end
    plain.append(text[done:])
    claims[:drafts] = [dataclasses.replace(c, standing="draft") for c in claims[:drafts]]
    return Scan(tuple(claims), " ".join(plain).replace("\x00", "").strip())


def as_label(value: object) -> Label | None:
    """Return the label that a JSON value or a word stands for; only text can be one.

    Case, blanks, emphasis, quote marks and full-width letters do not matter.

    Examples
    --------
    >>> as_label(" **Unsafe** "), as_label("not unsafe"), as_label(False)
    ('UNSAFE', None, None)
    """
    if not isinstance(value, str) or len(value) > _LONGEST_LABEL:
        return None
    match _fold(value).strip(" \t\r\n*_`\"'“”‘’.!"):
        case "safe":
            return "SAFE"
        case "unsafe":
            return "UNSAFE"
        case _:
            return None


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().casefold()


def _balanced_end(text: str, start: int) -> int:
    """Return the end of the object that opens at `start`; negative: it fails at that place."""
    stack: list[str] = []
    for token in _TOKEN.finditer(text, start):
        match text[token.start()]:
            case "{" | "[" as opened:
                stack.append(opened)
                if len(stack) > _DEEPEST:
                    return -token.end()
            case "}" | "]" as closed:
                if stack.pop() != ("{" if closed == "}" else "["):
                    return -token.end()
                if not stack:
                    return token.end()
            case _:
                pass  # a string
    return -len(text)


def _loads(text: str) -> _Pairs | None:
    """Read an object, raw line breaks in strings allowed; None if it is not JSON."""
    try:
        value = json.loads(text, strict=False, object_pairs_hook=_Pairs, parse_int=float)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, _Pairs) else None


def _standing(text: str, start: int, end: int) -> Standing:
    before, after = text[start - 1 : start], text[end : end + 1]
    if before in _QUOTES and before and after == _QUOTES[before]:
        fence = before == "`" and text[start - 3 : start] == "```"
        return "firm" if fence else "quoted"
    # a window, not the line: a reply may be one line of megabytes
    head, _, line = text[max(0, start - _WINDOW) : start].rpartition("\n")
    begins = head or start <= _WINDOW
    return "quoted" if begins and line.lstrip(" \t").startswith(">") else "firm"


def _claim(pairs: _Pairs, standing: Standing) -> Claim | None:
    """Read an object as a claim; an object with one object inside is looked into."""
    while not (values := pairs.all("verdict")):
        if len(pairs) != 1 or not isinstance(pairs[0][1], _Pairs):
            return None
        pairs = pairs[0][1]
    labels = {as_label(v) for v in values}
    confidence, note = _confidence(pairs.all("confidence"))
    rationales = (v for name in _REASONS for v in pairs.all(name))
    return Claim(
        label=labels.pop() if len(labels) == 1 else None,
        said=" / ".join(dict.fromkeys(repr(v) for v in values)),
        conflicting=len({as_label(v) for v in values}) > 1,
        confidence=confidence,
        rationale=next((v for v in rationales if isinstance(v, str) and v.strip()), None),
        note=note,
        standing=standing,
    )


def _confidence(values: list[Any]) -> tuple[float | None, str | None]:
    """Return a stated confidence in 0..1, or None and what was wrong with it.

    "90%" and 90 are not guessed to be 0.9: another judge of the same run may mean 0.9%.
    """
    if not values or values[-1] is None or values[-1] == "":
        return None, None
    said = values[-1]
    number = math.nan
    if isinstance(said, float):
        number = said
    elif isinstance(said, str):
        with contextlib.suppress(ValueError):
            number = float(said)
    if 0 <= number <= 1 and len({repr(v) for v in values}) == 1:
        return number, None
    return None, f"stated confidence {repr(said)[:40]} is no number from 0 to 1"
