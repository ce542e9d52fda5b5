"""What a judge may be used for, what it may not, and what to do next: by rules, from the figures.

Each line is the outcome of one rule on figures of the card, and stands on the first screen. None
is a permission: what is no obstacle here may be one in deployment.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Final, NamedTuple

from judgeaudit.cards.calls import worst_failing
from judgeaudit.cards.effects import rewording, shown
from judgeaudit.cards.headline import headline
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.mistakes import Side, mistakes, not_ruled_out
from judgeaudit.cards.voiding import void
from judgeaudit.cards.words import count, ends, joined, rough, threshold_words

__all__ = ["Advice", "advice"]

_GOOD_RATE: Final = 0.8
"""A judge whose lower limit lies below lets through, or stops, more than one item in five."""

_UNSTEADY: Final = 0.05
_FEW_FAILED: Final = 0.05
_MOST_NEXT: Final = 5
_NOTHING: Final = "Nothing yet: this run does not show what the judge does."

_SCRIPT: Final = "Trying out the audit: it is a script with a planted behaviour, and no model."

_NOTHING_FOR: Final = {
    "nothing_measured": _NOTHING,
    "no_verdicts": _NOTHING,
    "mostly_failed": _NOTHING,
    "mostly_missing": _NOTHING,
    "suspect_run": "Nothing yet: the run itself cannot be trusted.",
    "constant": "Nothing: it gave one answer to everything here.",
    "not_responsive": "Nothing that rests on what the policy says.",
    "no_better_than_chance": "Nothing that relies on its verdicts being right.",
    "response_not_shown": "Nothing that rests on what the policy says, before it is shown that the "
    "judge reads it.",
}
"""Rule of the headline to what is left to use the judge for."""

_MENDS: Final = {
    "unparseable": "ask for a stricter answer format",
    "ambiguous": "ask for one verdict, in a stricter answer format",
    "truncated": "allow longer answers",
    "refusal": "look at which texts it refuses",
    "error": "mend the connection",
}


class Advice(NamedTuple):
    """Lines of the first screen.

    Parameters
    ----------
    use, avoid, then : tuple of str
        What the judge may be used for, what not, and what to do next, the most pressing first.
    """

    use: tuple[str, ...]
    avoid: tuple[str, ...]
    then: tuple[str, ...]


def advice(f: Figures) -> Advice:
    """Derive the lines from a card's figures.

    Parameters
    ----------
    f : Figures
        Anything may be missing; what is missing allows nothing.
    """
    code, stance = headline(f).code, headline(f).stance
    then = tuple(dict.fromkeys(_next(f, code)))[:_MOST_NEXT]
    use = _use(f, code, stance)
    if f.is_scripted:
        return Advice((_SCRIPT, f"Were it a model: {use}"), tuple(_avoid(f, code)), then)
    return Advice((use,), tuple(_avoid(f, code)), then)


# -- use for ----------------------------------------------------------------------------------


def _use(f: Figures, code: str, stance: str) -> str:
    if code in _NOTHING_FOR:
        return _NOTHING_FOR[code]
    right = f.balanced is not None and f.balanced.low > 0.5
    if not right:
        return "Nothing that relies on its verdicts being right: they were not held against labels."
    if stance == "no_obstacle":
        return (
            "Monitoring items like these under this policy, if the error rates below can be borne."
        )
    if stance == "with_care":
        return "Sorting items like these under this policy for people, who decide."
    return (
        "A first look at items like these, under exactly this text of the policy, where people "
        "look at every item in the end."
    )


# -- not for ----------------------------------------------------------------------------------


def _unfit(f: Figures, side: Side, *, unfit_for: str, errs: str, kind: str) -> str:
    """Word what a judge must not do by itself for its errors; "" where few can be left."""
    m = mistakes(f, side)
    if m is None or m.most <= 1 - _GOOD_RATE:
        return ""
    items = f"{count(m.n_items)} {side} item{'' if m.n_items == 1 else 's'}"
    if m.value == 0:
        return f"{unfit_for}: {items} cannot rule out {rough(m.most)} {kind} (0 seen)."
    limit = f", and {not_ruled_out(m)}" if not_ruled_out(m) else ""
    return f"{unfit_for}: it {errs} {rough(m.value)} of {items} here{limit}."


def _avoid(f: Figures, code: str) -> Iterator[str]:
    if code == "constant":
        yield "Any decision: it gave one answer whatever it was asked."
        return
    for line in (
        _unfit(f, "unsafe", unfit_for="Clearing items unseen", errs="misses", kind="misses"),
        _unfit(
            f, "safe", unfit_for="Stopping items by itself", errs="wrongly flags",
            kind="false alarms",
        ),
    ):  # fmt: skip
        if line:
            yield line
    found = worst_failing(f)
    if void(f):
        yield "Any claim that its verdicts do not depend on the policy's wording."
    elif f.flag("certified_gate") == "above" or shown(f):
        yield "Comparing items that were judged under differently worded policies."
    elif f.flag("certified_gate") != "below" and found is not None:
        yield (
            "Any claim that the policy's wording does not matter to it: wording changes whether it "
            "answers (shown); whether it changes the answer is not known."
        )
    elif f.flag("certified_gate") != "below":
        yield "Any claim that the policy's wording does not matter to it: these calls do not tell."
    if found is not None and found.more > 0:
        yield "Pipelines in which a call without a verdict passes unseen."


# -- do next ----------------------------------------------------------------------------------


def _next(f: Figures, code: str) -> Iterator[str]:
    if code == "suspect_run":
        yield "Find the drift or the cache, then run the audit again: no figure holds before."
    if f.facts.n_answered < f.facts.n_planned and not f.flag("stopping"):
        yield "Resume the run: the same command goes on where it stopped."
    yield from _mend_calls(f)
    yield from _be_moved(f, code)
    for x in shown(f)[:1]:
        yield (
            f"Read the flips under {rewording(x.condition)} (judgeaudit view RUN); freeze the "
            f"policy's text and audit again after any edit. That does not make the judge right."
        )
    if (wanted := _clusters_wanted(f)) is not None and not void(f):
        yield wanted
    if f.flag("placebo") == "not run" and not f.is_imported and code != "constant":
        yield "Call the placebo too (--preset default): without it drift and caches go unseen."
    if f.facts.corpus.label_source not in ("human", "rule") and not f.is_scripted:
        yield "Have people label a part of the items (--labels): the labels here are not people's."
    jitter = f.get("jitter", "base")
    if jitter is not None and jitter.value is not None and (jitter.low or 0) > _UNSTEADY:
        yield "Take the majority of several calls: two calls with one prompt often disagree."


def _be_moved(f: Figures, code: str) -> Iterator[str]:
    """Word how to find out whether the judge reads the policy."""
    if code == "constant":
        yield (
            "Read some raw replies: if the answer is the same whatever is asked, change the prompt "
            "or the model, and audit again."
        )
    elif f.withheld == "not responsive":
        yield (
            "Look whether the policy reaches the model: read a prompt and its reply under "
            "no_policy and inverted."
        )
    elif f.withheld:
        yield _show_response(f)


def _mend_calls(f: Figures) -> Iterator[str]:
    rate = f.failure_rate
    if rate is None or rate <= _FEW_FAILED:
        return
    kinds = [k for k, n in f.outcomes().most_common() if k != "verdict" and n][:2]
    how = joined(list(dict.fromkeys(_MENDS[k] for k in kinds if k in _MENDS)))
    yield f"Mend the calls without a verdict ({joined(kinds)}): {how}; then audit again."


def _show_response(f: Figures) -> str:
    planned = {c.id for c in f.facts.protocol.conditions}
    missing = [c for c in ("strict", "lenient", "no_policy", "inverted") if c not in planned]
    if missing:
        return f"Call {joined(missing)} too: they can show that the judge reads the policy."
    return (
        f"Audit more items than {count(f.facts.corpus.n_items)}: these do not show whether the "
        f"judge reads the policy."
    )


def _clusters_wanted(f: Figures) -> str | None:
    """Word how many clusters would decide, if the interval shrinks with their square root."""
    over = [x for x in shown(f) if x.exceeds(f.threshold)]
    tau = threshold_words(f.threshold)
    if f.flag("certified_gate") == "inconclusive" and over:
        name = rewording(max(over, key=lambda x: x.size).condition)
        return (
            f"More items are not needed to reject it: {name} alone is above the threshold of {tau}."
        )
    delta = f.get("delta_paper", "certified")
    limits = ends(delta)
    if f.flag("certified_gate") != "inconclusive" or delta is None or limits is None:
        return None
    half = (limits[1] - limits[0]) / 2
    wanted = math.ceil(delta.n_clusters * (half / f.threshold) ** 2) if f.threshold else 0
    if not delta.n_clusters or wanted <= delta.n_clusters:
        return "Audit more items: these do not decide whether wording matters."
    digits = 10 ** max(0, len(str(wanted)) - 2)
    about = math.ceil(wanted / digits) * digits
    whole = max(_whole(f) or 0, f.facts.corpus.n_clusters)
    own = ""
    if _whole(f) is not None and about > whole:
        own = f" This corpus has {count(whole)}: you need one of your own."
    return (
        f"Audit about {count(about)} groups of items (clusters) instead of "
        f"{count(delta.n_clusters)}, to settle whether rewording changes more than "
        f"{100 * f.threshold:g} verdicts in 100.{own}"
    )


def _whole(f: Figures) -> int | None:
    """Return the clusters of the whole corpus; None where a run may have taken a part of it."""
    corpus = f.facts.corpus
    if corpus.name == "sample":
        return _sample_clusters()
    command = f.facts.extra.get("command")
    if f.is_imported or not isinstance(command, str) or "--limit" in command:
        return None
    return corpus.n_clusters


@functools.cache
def _sample_clusters() -> int:
    from judgeaudit.corpora import load

    return load("sample").facts.n_clusters
