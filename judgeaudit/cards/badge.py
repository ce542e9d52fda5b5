"""A card as a badge: one small SVG without network, script or style sheet."""

from __future__ import annotations

from typing import Final
from xml.sax.saxutils import escape, quoteattr

from judgeaudit.cards.assemble import cleaned
from judgeaudit.cards.clauses import is_unscored, score_words
from judgeaudit.cards.clean import shorten
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.model import JudgeCard, Stance
from judgeaudit.cards.texts_en import STANCES
from judgeaudit.cards.words import unit_score

__all__ = ["message", "to_badge"]

_LABEL: Final = "policy invariance"
# white on each has a contrast of more than 4.5
_COLOURS: Final[dict[Stance, str]] = {
    "do_not_use": "#a3201b",
    "with_care": "#8a5300",
    "no_obstacle": "#256b2f",
    "cannot_tell": "#57606a",
}
_GREY: Final = "#3b4045"
_FACE: Final = "Verdana,Geneva,DejaVu Sans,sans-serif"
_NARROW: Final = frozenset("ijl.,:;|'![]()ftI1 ")
_PAD: Final = 6


def message(card: JudgeCard) -> str:
    """Word what the badge says: the score with its interval, or why there is none to say.

    A score that the card withholds, or that its headline does not let stand, is not printed.
    """
    f = Figures(card.facts, card.scores)
    pis = f.get("pis")
    stance = card.headline.stance
    if stance == "do_not_use" and card.headline.code != "untrustworthy":
        said = "do not use"
    elif stance == "cannot_tell" or f.withheld or pis is None or pis.value is None:
        said = "cannot tell"
    elif is_unscored(f, pis):
        said = "too few flips"
    else:
        said = score_words(f, pis).removeprefix("PIS ")
        said = said if len(said) <= 40 else unit_score(pis.value)
    serious = sum(w.severity == "serious" for w in card.warnings)
    return said + (f" · {serious} warning{'s' if serious > 1 else ''}" if serious else "")


def _width(text: str) -> int:
    return round(sum(4.2 if c in _NARROW else 7.2 for c in text)) + 2 * _PAD


def to_badge(card: JudgeCard) -> str:
    """Draw a card's badge.

    Returns
    -------
    str
        SVG of one picture with a name: its title tells the judge, the score with its interval,
        the headline and the serious warnings, so that nothing hangs on the colour.
    """
    card = cleaned(card)
    right = message(card)
    left_width, right_width = _width(_LABEL), _width(right)
    total = left_width + right_width
    judge = shorten(card.facts.judge.model, 80) or "unnamed"
    name = f"Policy Invariance Score of {judge}: {right}. {STANCES[card.headline.stance]}"
    told = [card.headline.sentence]
    told += [w.sentence for w in card.warnings if w.severity == "serious"]
    texts = "".join(
        f'<text x="{x:.1f}" y="14" textLength="{w - 2 * _PAD}" lengthAdjust="spacingAndGlyphs">'
        f"{escape(text)}</text>"
        for x, w, text in (
            (left_width / 2, left_width, _LABEL),
            (left_width + right_width / 2, right_width, right),
        )
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="20" '
        f'viewBox="0 0 {total} 20" role="img" aria-label={quoteattr(name)}>'
        f"<title>{escape(name)}</title><desc>{escape(shorten(' '.join(told), 1500))}</desc>"
        f'<rect width="{left_width}" height="20" fill="{_GREY}"/>'
        f'<rect x="{left_width}" width="{right_width}" height="20" '
        f'fill="{_COLOURS[card.headline.stance]}"/>'
        f'<g fill="#ffffff" text-anchor="middle" font-family="{_FACE}" font-size="11">'
        f"{texts}</g></svg>\n"
    )
