"""The card in Korean: a laid-out card in, the same card with its own words in Korean out.

What comes from a model, a dataset or a user stays as it is, and so does a text that the tables do
not know: it stays English, which is better than a guess.
"""

from __future__ import annotations

import dataclasses
import html
import re
from functools import cache
from typing import Any, Final

from markupsafe import Markup, escape

from judgeaudit.cards import texts_en, texts_ko
from judgeaudit.cards.advice_ko import ADVICE, ADVICE_SENTENCES
from judgeaudit.cards.first_ko import FIRST, FIRST_SENTENCES
from judgeaudit.cards.layout import Cell
from judgeaudit.cards.model import CardWarning, Headline
from judgeaudit.cards.phrases_ko import PHRASES
from judgeaudit.cards.sentences_ko import SENTENCES
from judgeaudit.cards.texts_glossary_en import GLOSSARY
from judgeaudit.cards.texts_glossary_ko import GLOSSARY as OWN_WORDS
from judgeaudit.cards.view import View

__all__ = ["in_korean", "korean"]

_LONGEST: Final = 600
"""Longer texts are no sentence of ours: no pattern is tried on what a stranger wrote at length."""

_DEEPEST: Final = 6
_KEPT: Final = frozenset(
    ["id", "section", "state", "created", "software", "schema_version", "command"]
)
_SVG_TEXT: Final = re.compile(r"(?<=>)([^<>]+)(?=<)")
_SVG_LABEL: Final = re.compile(r'(?<=aria-label=")([^"]*)(?=")')


@cache
def _phrases() -> dict[str, str]:
    """Join the tables by id into one from English to Korean."""
    found = {**PHRASES, **ADVICE, **FIRST}
    for k, (term, meaning) in OWN_WORDS.items():
        found |= {GLOSSARY[k][0]: term, GLOSSARY[k][1]: meaning}
    for name in ("STANCES", "BANDS", "LIMITS", "TREATMENTS", "EVIDENCE", "CONDITIONS"):
        english, own = getattr(texts_en, name), getattr(texts_ko, name)
        found |= {english[k]: v for k, v in own.items() if k in english}
    found |= {
        f"{k}: {texts_en.CONDITIONS[k]}": f"{k}: {v}"
        for k, v in texts_ko.CONDITIONS.items()
        if k in texts_en.CONDITIONS
    }
    # in a drawing, what a condition is stands apart from its id
    found |= {f": {texts_en.CONDITIONS[k]}": f": {v}" for k, v in texts_ko.CONDITIONS.items()}
    for k, text in texts_ko.METRICS.items():
        metric = texts_en.METRICS.get(k)
        if metric is not None:
            found[metric.title] = text[0]
            own = " ".join(x for x in text[1:] if x)
            found[f"{metric.means} {metric.do}".strip()] = own
    for family in (*texts_en.FAMILIES, texts_en.ABSTENTION):
        title, lead = texts_ko.FAMILIES.get(family.id, ("", ""))
        found |= {a: b for a, b in ((family.title, title), (family.lead, lead)) if b}
    return found


_ALL: Final = (*FIRST_SENTENCES, *ADVICE_SENTENCES, *SENTENCES)


@cache
def _sentences() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), own) for pattern, own in _ALL)


def korean(text: str, depth: int = 0) -> str:
    """Put a text of the card's own into Korean; one that is not known comes back as it is.

    Examples
    --------
    >>> korean("Accuracy · T4: exceptions in front"), korean("no such text")
    ('정확도 · T4: 예외를 앞에', 'no such text')
    """
    known = _phrases().get(text)
    if known is not None:
        return known
    if depth > _DEEPEST or not 0 < len(text) <= _LONGEST or not any(c.isalpha() for c in text):
        return text
    for pattern, own in _sentences():
        m = pattern.fullmatch(text)
        if m is not None:
            gaps = [korean(g, depth + 1) if g else "" for g in m.groups()]
            return own.format(*gaps).replace(". . ", ". ").strip()
    for mark in (" · ", "; ", ", "):
        parts = text.split(mark)
        if len(parts) > 1:
            said = [korean(p, depth + 1) for p in parts]
            # a list of which nothing is known is no list of ours
            return text if said == parts else mark.join(said)
    return text


def _described(text: str) -> str:
    """Put a drawing in words into Korean: its title, which may hold a colon, then its figures."""
    for at in (m.start() for m in re.finditer(": ", text)):
        title = _phrases().get(text[:at])
        if title is not None:
            return f"{title}: {'; '.join(korean(x) for x in text[at + 2 :].split('; '))}"
    return korean(text)


def _drawing(svg: str) -> Markup:
    """Put the words of a drawing into Korean: it is ours, so text stands between tags, escaped."""

    def put(m: re.Match[str]) -> str:
        return str(escape(korean(html.unescape(m[1]))))

    def label(m: re.Match[str]) -> str:
        return str(escape(_described(html.unescape(m[1]))))

    return Markup(_SVG_LABEL.sub(label, _SVG_TEXT.sub(put, svg)))  # noqa: S704


def _put(value: Any, name: str = "") -> Any:
    if name in _KEPT:
        return value
    if isinstance(value, Markup):
        return _drawing(value)
    if isinstance(value, str):
        return korean(value)
    if isinstance(value, tuple) and name == "key":
        return tuple((css, korean(word)) for css, word in value)
    if isinstance(value, tuple):
        return tuple(_put(v) for v in value)
    return _record(value)


def _record(value: Any) -> Any:
    """Put the texts of a record into Korean; a stranger's cell, a number or None stays."""
    if isinstance(value, CardWarning | Headline):
        return value.model_copy(update={"sentence": korean(value.sentence)})
    if isinstance(value, Cell) and (value.raw or value.mono):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [f.name for f in dataclasses.fields(value)]
        return dataclasses.replace(value, **{k: _put(getattr(value, k), k) for k in fields})
    return value


def in_korean(view: View) -> View:
    """Return a laid-out card with its own words in Korean.

    Parameters
    ----------
    view : View
        From `view.view`; its title, the judge's name, stays as it is.
    """
    put: View = _put(view)
    return dataclasses.replace(put, title=view.title)
