"""Scores and provenance become a Judge Card in several formats.

>>> from judgeaudit import cards
>>> card = cards.build(facts, scores, created="2026-11-30T00:00:00Z")  # doctest: +SKIP
>>> cards.write(card, Path("runs/demo"))  # doctest: +SKIP
"""

from judgeaudit.cards.assemble import build, reworded
from judgeaudit.cards.badge import to_badge
from judgeaudit.cards.files import ALL_FORMATS, FORMATS, CardFormat, file_of, write, write_text
from judgeaudit.cards.hub import to_hub
from judgeaudit.cards.jsonio import from_json, schema, to_json
from judgeaudit.cards.model import (
    SCHEMA_VERSION,
    CardFacts,
    CardParameters,
    CardWarning,
    Headline,
    InputFile,
    JudgeCard,
    RenderingFacts,
    Software,
)
from judgeaudit.cards.numbers import to_csv, to_latex
from judgeaudit.cards.render import LANGUAGES, to_html, to_markdown

__all__ = [
    "ALL_FORMATS",
    "FORMATS",
    "LANGUAGES",
    "SCHEMA_VERSION",
    "CardFacts",
    "CardFormat",
    "CardParameters",
    "CardWarning",
    "Headline",
    "InputFile",
    "JudgeCard",
    "RenderingFacts",
    "Software",
    "build",
    "file_of",
    "from_json",
    "reworded",
    "schema",
    "to_badge",
    "to_csv",
    "to_html",
    "to_hub",
    "to_json",
    "to_latex",
    "to_markdown",
    "write",
    "write_text",
]
