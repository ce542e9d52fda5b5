"""Scores and provenance become a Judge Card in several formats.

>>> from judgeaudit import cards
>>> card = cards.build(facts, scores, created="2026-11-30T00:00:00Z")  # doctest: +SKIP
>>> cards.write(card, Path("runs/demo"))  # doctest: +SKIP
"""

from judgeaudit.cards.assemble import build
from judgeaudit.cards.files import write
from judgeaudit.cards.jsonio import from_json, schema, to_json
from judgeaudit.cards.model import (
    SCHEMA_VERSION,
    CardFacts,
    CardWarning,
    Headline,
    JudgeCard,
    RenderingFacts,
    Software,
)
from judgeaudit.cards.render import to_html, to_markdown

__all__ = [
    "SCHEMA_VERSION",
    "CardFacts",
    "CardWarning",
    "Headline",
    "JudgeCard",
    "RenderingFacts",
    "Software",
    "build",
    "from_json",
    "schema",
    "to_html",
    "to_json",
    "to_markdown",
    "write",
]
