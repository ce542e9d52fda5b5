"""What a section says of its figures before they are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from judgeaudit.cards.calls import failing, failing_words, worst_failing
from judgeaudit.cards.effects import alike
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.responding import responses
from judgeaudit.cards.texts_en import FLAGS
from judgeaudit.cards.unsaid import is_no_share, is_rough_share
from judgeaudit.cards.voiding import VOID_FAMILIES, void
from judgeaudit.cards.words import bound, clipped, count, threshold_words, unit_score
from judgeaudit.metrics.pis import SCALE

__all__ = ["failure_notes", "notes_of"]


def _sides(f: Figures) -> str:
    """Word why the placebo has two p-values; "" where it has one or none."""
    tests = [
        f.get(m, c) for c in f.conditions("placebo") for m in ("delta_debiased", "delta_paper")
    ]
    if not f.reason("placebo") or all(s is None or s.p_value is None for s in tests):
        return ""
    return (
        "The table's p-values are one-sided: they ask whether there is more disagreement than "
        "chance makes, and so is the placebo's there. Its check above asks on both sides, more or "
        "less, and its p is twice the smaller tail, at most 1."
    )


def _two_tests(f: Figures) -> str:
    """Word by which p-value a rewording counts as shown; "" without any such test."""
    tests = [f.get("delta_paper", c) for c in f.pooled]
    if not any(s is not None and s.p_adjusted is not None for s in tests):
        return ""
    alpha = f"{1 - f.facts.protocol.level:.2g}"
    return (
        f"A rewording counts as shown to move verdicts where the smaller of its two adjusted "
        f"p-values (of both kinds of excess), doubled for there being two, is at most {alpha}."
    )


def _weighing(f: Figures) -> str:
    """Word how far the score depends on the weights of its three parts."""
    parts = (
        f.value("delta_paper", "certified"),
        f.value("direction_ratio"),
        f.value("undue_share"),
    )
    delta, right, undue = parts
    if f.value("pis") is None or delta is None or right is None or undue is None:
        return ""
    # a weighted mean lies between the worst part alone and the best part alone
    alone = [clipped(1 - SCALE * x, "score") for x in (delta, 1 - right, undue)]
    low, high = unit_score(min(alone)), unit_score(max(alone))
    return f"By the weights given to its three parts the score could lie from {low} to {high}."


def _gate_words(f: Figures) -> str:
    """Word where rewording stands against the practical threshold."""
    gate, tau = f.flag("certified_gate"), threshold_words(f.threshold)
    delta = f.get("delta_paper", "certified")
    limit, level = bound(delta), 100 * f.facts.protocol.level
    said = ""
    if limit:
        said = (
            f" The gate bound, {limit}, decides what is below: it is the upper end of the "
            f"{level:g}% interval, or what so few clusters could have missed, if that is larger. "
            f"The interval's lower end decides what is above."
        )
    if delta is not None and delta.value is not None and gate in ("above", "below"):
        return (
            f"Pooled, the excess flips are shown to be {gate} the practical threshold of {tau}."
            f"{said}"
        )
    if delta is not None and delta.value is not None and gate:
        return (
            f"Pooled, these calls do not decide whether the excess is above the practical "
            f"threshold of {tau}.{said}"
        )
    return f.reason("certified_gate")


def _flagged(f: Figures) -> str:
    """Word who said which items are ambiguous."""
    if f.facts.corpus.n_ambiguous is None:
        return ""
    by = {
        "human": "people's labels",
        "author": "the authors of the items",
        "model": "a model",
        "rule": "a rule",
    }.get(f.facts.corpus.label_source, "somebody who is not named")
    n = f.facts.corpus.n_ambiguous
    items = f"{count(n)} {'item is' if n == 1 else 'items are'} flagged ambiguous"
    return f"{items} by {by}; the others count as clear."


def _chance(f: Figures) -> str:
    """Word how the share of flips on clear items stands to chance."""
    share, null = f.get("undue_share"), f.value("undue_null")
    if share is None or share.value is None or null is None:
        return ""
    if share.low is not None and share.low > null:
        return "More of the flips fall on clear items than chance alone would put there."
    return (
        "It is not shown that more of the flips fall on clear items than chance alone would put "
        "there; the score counts their share all the same."
    )


def _treatments(f: Figures) -> str:
    """Explain a figure with failures counted as flips that lies outside the sharp bounds."""
    region = f.get("delta_paper", "certified", treatment="bounds_delta_paper")
    if region is None or region.low is None or region.high is None:
        return ""
    for treatment in ("as_flip_asym", "as_flip_sym"):
        s = f.get("delta_paper", "certified", treatment=treatment)
        if s is not None and s.value is not None and not region.low <= s.value <= region.high:
            return (
                "Excess flips with failed calls counted as flips may lie outside the range that "
                "any verdicts of those calls could have given: a call without a verdict differs "
                "from both SAFE and UNSAFE there, which no verdict does. It answers another "
                "question, namely how often the outcome changes."
            )
    return ""


def failure_notes(f: Figures) -> list[str]:
    """Word what calls without a verdict do to the findings, and how they hang on the wording."""
    found, tested = worst_failing(f), failing(f)
    said = []
    if found is not None:
        said.append(
            f"The wording decides whether there is a verdict: {failing_words(f, found)}. Null: no "
            f"item's chance of a call without a verdict differs between the texts; corrected for "
            f"{count(len(tested))} tests."
        )
    elif tested and f.n_failed:
        least = min(tested, key=lambda x: x.p)
        said.append(
            f"It is not shown that the wording decides whether there is a verdict; the strongest "
            f"sign: {failing_words(f, least)}."
        )
    return [*said, _treatments(f)]


_NOT_KNOWN_WHERE: Final = (
    "Which calls to add is not known: parts of the uncertainty came out outside 0 to 100%."
)
_METHOD_SHARES: Final = (
    "Where a share came out outside 0 to 100% it is no share, and is not printed: clusters whose "
    "items differ more than others do (matched pairs), or too few of them, make that; then the "
    "other shares are rough too."
)


def _shares(f: Figures) -> list[str]:
    """Word what a section on variances may say where some of its shares are none."""
    odd = [s for s in f.scores.scores if is_no_share(s)]
    rough = any(s.metric == "precision_share" and is_rough_share(s) for s in odd)
    where = _NOT_KNOWN_WHERE if rough else f.reason(FLAGS["variance"])
    return [where, _METHOD_SHARES if odd else ""]


def _of_pis(f: Figures) -> list[str]:
    withheld = "No score is given to a judge that was not shown to respond to the policy."
    return [withheld if f.withheld else _weighing(f)]


_NOTES: Final[dict[str, Callable[[Figures], list[str]]]] = {
    "ambiguity": lambda f: [_flagged(f), "" if void(f) else _chance(f)],
    "pis": _of_pis,
    "responsiveness": lambda f: [responses(f) or f.reason("responsiveness")],
    "semantic": lambda f: [
        *(_gate_words(f), f.reason("placebo"), _sides(f)),
        *(_two_tests(f), alike(f)),
    ],
    "variance": _shares,
}


def notes_of(f: Figures, family: str) -> list[str]:
    """Word what was found, in the units of the card; empty texts where nothing is to be said."""
    if family in _NOTES:
        said = _NOTES[family](f)
        return [void(f), *said] if family in VOID_FAMILIES else said
    return [f.reason(FLAGS[family])] if family in FLAGS else []
