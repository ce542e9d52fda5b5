"""Build a Judge Card from a run's facts and scores."""

from __future__ import annotations

import datetime as dt
from typing import TypeVar

from pydantic import ValidationError

from judgeaudit._version import __version__
from judgeaudit.cards.cautions import limits, warnings
from judgeaudit.cards.checklist import checklist
from judgeaudit.cards.clean import clean_tree
from judgeaudit.cards.headline import headline
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.model import CardFacts, CardParameters, JudgeCard, RenderingFacts, Software
from judgeaudit.core.errors import CardError
from judgeaudit.core.records import Record, Rendering, RunFacts, ScoreSet

__all__ = ["build", "cleaned", "reworded"]

CardT = TypeVar("CardT", bound=Record)


def _cleaned(record: CardT) -> CardT:
    try:
        tree = clean_tree(record.model_dump(mode="python"))
        return type(record).model_validate(tree)
    except (ValueError, TypeError, RecursionError) as e:
        what = e.errors()[0]["msg"] if isinstance(e, ValidationError) else str(e)
        raise CardError(
            f"this cannot stand on a card: {what}",
            where=type(record).__name__,
            mend="Give plain JSON values (text, numbers, lists, tables)",
        ) from e


def cleaned(card: JudgeCard) -> JudgeCard:
    """Return the card with every text cleaned; a card made by `build` comes back unchanged."""
    return _cleaned(card)


def _rendering_facts(r: Rendering, bases: set[str]) -> RenderingFacts:
    c, void = r.certificate, None
    if c is not None and c.rendering_sha256 != r.sha256:
        void = "the text changed after it was certified"
    elif c is not None and bases and c.base_sha256 not in bases:
        void = "the base text changed after it was certified"
    counts = c is not None and void is None
    return RenderingFacts(
        condition=r.condition,
        language=r.language,
        wording=r.wording,
        sha256=r.sha256,
        n_characters=len(r.text),
        evidence=c.evidence if c is not None and counts else "none",
        passed=c.passed if c is not None and counts else None,
        void=void,
        findings=c.findings if c is not None else (),
        note=c.note if c is not None and counts else "",
        # what was found on another text says nothing about this one
        others=tuple(
            o
            for o in r.others
            if o.rendering_sha256 == r.sha256 and (not bases or o.base_sha256 in bases)
        ),
    )


def _card_facts(facts: RunFacts) -> CardFacts:
    bases = {r.sha256 for r in facts.renderings if r.condition == "base"}
    kept = {
        name: getattr(facts, name)
        for name in CardFacts.model_fields
        if name in RunFacts.model_fields and name != "renderings"
    }
    return CardFacts(
        **kept,
        renderings=tuple(_rendering_facts(r, bases) for r in facts.renderings),
        judge_sha256=facts.judge.sha256,
        protocol_sha256=facts.protocol.sha256,
    )


def _checked_time(created: str) -> str:
    try:
        when = dt.datetime.fromisoformat(created)
    except ValueError:
        when = None
    if when is None or when.tzinfo is None:
        raise CardError(
            f"created is {created[:60]!r}, not a time with an offset",
            mend="Give ISO 8601, such as 2026-11-30T12:00:00Z",
        )
    return created


def build(
    facts: RunFacts,
    scores: ScoreSet,
    *,
    created: str,
    parameters: CardParameters | None = None,
) -> JudgeCard:
    """Make a card. A pure function: the same input gives the same card, and the same bytes.

    Parameters
    ----------
    facts : RunFacts
        What was run. Texts of renderings are left out, their hashes and certificates kept.
    scores : ScoreSet
        The numbers; any of them may be missing.
    created : str
        The card's time, ISO 8601 with an offset.
    parameters : CardParameters, optional
        The files that `facts` and `scores` were made with, beside the ledger.

    Returns
    -------
    JudgeCard
        With the headline, the warnings and the limits that follow from the input.

    Raises
    ------
    CardError
        If `created` is not a time, or an extra fact cannot be written as JSON.
    """
    figures = Figures(_cleaned(_card_facts(facts)), _cleaned(scores))
    return JudgeCard(
        created=_checked_time(created),
        software=Software(version=__version__),
        headline=headline(figures),
        warnings=warnings(figures),
        limits=limits(figures),
        checklist=checklist(figures),
        parameters=_cleaned(parameters or CardParameters()),
        facts=figures.facts,
        scores=figures.scores,
    )


def reworded(card: JudgeCard) -> JudgeCard:
    """Say again what a card says of its own figures, in the words of this program.

    Facts, scores, time, parameters and the version that measured stay as they are: a sentence that
    misled is mended, a figure never.

    Parameters
    ----------
    card : JudgeCard
        Of the present layout.
    """
    figures = Figures(_cleaned(card.facts), _cleaned(card.scores))
    return card.model_copy(
        update={
            "headline": headline(figures),
            "warnings": warnings(figures),
            "limits": limits(figures),
            # a card from before there were questions stays without
            "checklist": checklist(figures) if card.checklist else (),
        }
    )
