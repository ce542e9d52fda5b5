"""Clauses of the headline: what rewording does, and what makes a score low."""

from __future__ import annotations

from typing import Final

from judgeaudit.cards.effects import rewording, shown
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.texts_en import BANDS
from judgeaudit.cards.words import (
    band_of,
    bound,
    count,
    ends,
    interval,
    points,
    rough,
    unit_score,
)
from judgeaudit.core.records import Score

__all__ = [
    "FEW_FLIPS",
    "band",
    "flips_words",
    "is_unscored",
    "reach",
    "score_clause",
    "score_words",
    "settled_band",
    "shown_condition",
    "standing",
    "why_low",
    "wording_clause",
]

FEW_FLIPS: Final = 10
"""Below this number of flips, U_share and PIS rest on too little; said on the card."""

_GOOD_DIRECTION: Final = 0.9
_UNSTEADY: Final = 0.05
_WEIGHTS: Final = {"delta": 0.4, "direction": 0.3, "undue": 0.3}


def flips_words(n: float) -> str:
    """Word a number of flips: an item's flips are averaged over its pairs of calls.

    Examples
    --------
    >>> flips_words(1.0), flips_words(8), flips_words(8.94)
    ('1 flip', '8 flips', 'about 8.9 flips')
    """
    if n == 1:
        return "1 flip"
    return f"{'' if float(n).is_integer() else 'about '}{count(n)} flips"


def _tau(f: Figures) -> str:
    return f"{100 * f.threshold:g}"


def _more(figure: str) -> str:
    return f"{figure.replace('+', '')} more verdicts in 100 than asking twice does"


def wording_clause(f: Figures) -> str:
    """Word what rewording does; the paper's figure, for only that one counts flips in 100."""
    delta = f.get("delta_paper", "certified")
    if delta is None or delta.value is None:
        return "the effect of rewording the policy cannot be estimated"
    figure = f"{points(delta.value)} {interval(delta) if ends(delta) else ''}".rstrip()
    gate = f.flag("certified_gate")
    if gate == "above":
        return f"rewording the policy with its meaning kept changes {_more(figure)}"
    if gate == "below" and delta.high is not None and delta.high < 0:
        limit = bound(delta).removesuffix(" points")
        return (
            f"rewording the policy steadies its verdicts rather than turning them ({figure} in "
            f"100 beyond jitter{f', {limit}' if limit else ''})"
        )
    if gate == "below":
        return (
            f"rewording the policy hardly changes its verdicts ({figure} in 100 beyond jitter, "
            f"below the practical threshold of {_tau(f)})"
        )
    return (
        f"it is not settled whether rewording the policy changes more than {_tau(f)} verdicts in "
        f"100 (the practical threshold) beyond jitter ({figure})"
    )


def shown_condition(f: Figures) -> str:
    """Word the certified condition that is shown to change verdicts the most; "" if none is."""
    found = shown(f)
    if not found:
        return ""
    first = found[0]
    where = f"the rewording {rewording(first.condition)}"
    if first.is_sized:
        return f"{where} changes {_more(f'{points(first.size)} {interval(first.paper)}')}"
    return f"{where} changes its verdicts by more than chance allows{first.how_many}"


def _penalties(f: Figures) -> dict[str, float]:
    delta, direction, undue = (
        f.value("delta_paper", "certified"),
        f.value("direction_ratio"),
        f.value("undue_share"),
    )
    out = {}
    if delta is not None:
        out["delta"] = _WEIGHTS["delta"] * delta
    if direction is not None:
        out["direction"] = _WEIGHTS["direction"] * (1 - direction)
    if undue is not None:
        out["undue"] = _WEIGHTS["undue"] * undue
    return out


def _undue_words(f: Figures, undue: Score) -> tuple[str, bool]:
    """Blame clear items only where flips fall on them more often than chance alone would put them.

    The score counts the share as it is; chance is no part of its formula. So a judge that flips at
    random, or rather on ambiguous items, is marked down for the few flips that it has.
    """
    assert undue.value is not None
    null, n = f.value("undue_null"), f.n_flips
    share = f"{rough(undue.value)} of {'its flips' if n is None else flips_words(n)}"
    lowers = f"what lowers it most is the share of flips that are on clear items ({share})"
    if null is None:
        return lowers, False
    if undue.low is not None and undue.low > null:
        by_chance = f"where chance alone would put {rough(null)}"
        return f"{share} fall on clear items, {by_chance}", True
    lowers = f"{lowers}, {{}}{_unsteady(f)}"
    if undue.value <= null:
        said = f"no more than chance alone would put there ({rough(null)})"
        return lowers.format(said), False
    said = f"not shown to be above what chance would put there ({rough(null)})"
    return lowers.format(said), False


def _unsteady(f: Figures) -> str:
    """Word that verdicts flip by themselves: then flips fall where items are, by chance."""
    jitter = f.get("jitter", "base")
    limits = ends(jitter)
    if jitter is None or jitter.value is None or limits is None or limits[0] <= _UNSTEADY:
        return ""
    span = f"[{rough(limits[0])}, {rough(limits[1])}]"
    return f"; it is unsteady by itself (jitter {rough(jitter.value)} {span})"


def why_low(f: Figures) -> tuple[str, bool]:
    """Word the largest of the three penalties, and say whether it is shown to be real."""
    parts = _penalties(f)
    largest = max(parts, key=lambda k: parts[k], default="")
    direction, undue = f.get("direction_ratio"), f.get("undue_share")
    if largest == "direction" and direction is not None and direction.value is not None:
        wrong = rough(1 - direction.value)
        real = direction.high is not None and direction.high < _GOOD_DIRECTION
        return f"{wrong} of the verdicts that a moved threshold moves go the wrong way", real
    if largest == "undue" and undue is not None and undue.value is not None:
        return _undue_words(f, undue)
    if largest == "delta" and parts["delta"] > 0:
        return "what lowers it most is the excess of flips under rewording", False
    return "", False


def band(f: Figures, pis: Score) -> str:
    """Return the band of the estimate, which its interval may leave."""
    flagged = f.flag("band")
    assert pis.value is not None
    return flagged if flagged in BANDS else band_of(pis.value)


def settled_band(f: Figures, pis: Score) -> str:
    """Return the band where the whole interval lies in it; "" where it does not, or is missing."""
    own = band(f, pis)
    shown_ends = ends(pis)
    # what a score cut at 0 would be is the interval to go by: 0 to 0 is no certainty
    raw_ends = ends(f.get("pis_raw")) if pis.value == 0 else None
    both = raw_ends or shown_ends
    if both is None or any(band_of(x) != own for x in both):
        return ""
    return own


def standing(f: Figures, pis: Score) -> str:
    """Word the band: its name, "between X and Y" where the interval spans several.

    Parameters
    ----------
    f : Figures
        Of the card.
    pis : Score
        With a value.
    """
    if settled := settled_band(f, pis):
        return settled
    shown_ends = ends(pis)
    if shown_ends is None:
        return "band not settled, for there is no interval"
    raw_ends = ends(f.get("pis_raw")) if pis.value == 0 else None
    low, high = (band_of(x) for x in (raw_ends or shown_ends))
    return f"between {low} and {high}" if low != high else "band not settled"


def is_unscored(f: Figures, pis: Score) -> bool:
    """Say whether the score rests on so few flips that its value would mislead.

    Parameters
    ----------
    f : Figures
        Of the card.
    pis : Score
        With a value.
    """
    flips = f.n_flips
    return flips is not None and flips < FEW_FLIPS and not settled_band(f, pis)


def reach(f: Figures, pis: Score) -> str:
    """Word from where to where the interval of a score reaches; "" without one."""
    limits = ends(pis)
    if limits is None:
        return ""
    if limits[0] == limits[1] and (raw := ends(f.get("pis_raw"))) is not None:
        limits = (min(max(x, 0.0), 1.0) for x in raw)  # type: ignore[assignment]
    low, high = limits
    return f"the interval reaches from {unit_score(low)} to {unit_score(high)}"


def score_words(f: Figures, pis: Score) -> str:
    """Word the score with its interval, or that there is none for want of flips."""
    assert pis.value is not None
    if is_unscored(f, pis):
        return f"PIS not given: too few flips, {reach(f, pis)}".removesuffix(", ")
    limits = ends(pis)
    # 0 to 0 would look like certainty; what the score was before the cut stands in the table
    span = f" {interval(pis)}" if limits is not None and limits[0] != limits[1] else ""
    return f"PIS {unit_score(pis.value) if pis.value else '0'}{span}"


def score_clause(f: Figures, pis: Score) -> str:
    """Word the score with its interval and its band, where there is one."""
    said = score_words(f, pis)
    return said if is_unscored(f, pis) else f"{said}, {standing(f, pis)}"
