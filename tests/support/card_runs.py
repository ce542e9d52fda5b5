"""Hand-made runs from which the card tests build cards."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from judgeaudit import cards
from judgeaudit.core.hashing import sha256_text
from judgeaudit.core.records import (
    Certificate,
    Condition,
    CorpusFacts,
    JudgeSpec,
    PolicyFacts,
    Protocol,
    Rendering,
    RunFacts,
    Score,
    ScoreSet,
)

CREATED = "2026-11-30T12:00:00Z"

KINDS = {
    "base": "reference",
    "T0": "placebo",
    "T1": "certified",
    "T2": "certified",
    "T4": "certified",
    "T3": "near",
    "strict": "threshold",
    "lenient": "threshold",
    "no_policy": "control",
    "inverted": "control",
    "vacuum": "control",
}


def s(
    metric: str,
    condition: str | None,
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    **more: Any,
) -> Score:
    """Make a score; the reasons for what is missing are filled in."""
    if value is None:
        more.setdefault("why_undefined", "no verdict moved")
    if low is None:
        more.setdefault("why_no_interval", "not defined here")
    else:
        more.setdefault("level", 0.95)
        more.setdefault("method", "adjusted t over clusters")
    more.setdefault("n_items", 60)
    more.setdefault("n_clusters", 48)
    return Score(metric=metric, condition=condition, value=value, low=low, high=high, **more)


def rendering(condition: str, *, certified: bool = True, text: str | None = None) -> Rendering:
    """Make a rendering with a structural certificate."""
    text = text or f"policy under {condition}"
    base = sha256_text("policy under base")
    sha = sha256_text(text)
    return Rendering(
        policy_id="agent_safety",
        policy_sha256="p" * 64,
        condition=condition,
        text=text,
        sha256=sha,
        certificate=Certificate(
            rendering_sha256=sha, base_sha256=base, evidence="structural", passed=True
        )
        if certified
        else None,
    )


def facts(**changes: Any) -> RunFacts:
    """Make a run's facts: 60 items, default protocol, all calls answered."""
    conditions = tuple(
        Condition(id=c, kind=k, summary=f"what {c} does")  # type: ignore[arg-type]
        for c, k in KINDS.items()
    )
    given: dict[str, Any] = {
        "judge": JudgeSpec(
            backend="litellm",
            model="openai/some-judge",
            api_base="http://127.0.0.1:8000/v1",
            template_id="default",
            template_sha256="a" * 64,
            output_format="plain",
            decoding={"temperature": 0.0, "max_tokens": 400},
        ),
        "policy": PolicyFacts(
            id="agent_safety",
            title="Agent safety policy",
            sha256="b" * 64,
            n_norms=7,
            n_exceptions=5,
            source="written for judgeaudit",
        ),
        "renderings": tuple(rendering(c) for c in KINDS if c not in ("no_policy", "vacuum")),
        "corpus": CorpusFacts(
            name="sample",
            title="Bundled sample",
            version="1",
            license="Apache-2.0",
            sha256="c" * 64,
            n_items=60,
            n_clusters=48,
            n_unsafe=30,
            n_safe=30,
            n_ambiguous=12,
            label_source="human",
            ambiguity_source="three raters, unanimous or not",
        ),
        "protocol": Protocol(
            preset="default", base_repeats=5, repeats=2, conditions=conditions, control_items=40
        ),
        "n_planned": 1380,
        "n_answered": 1380,
        "outcomes": {
            c: {"verdict": 300 if c == "base" else 80 if k == "control" else 120}
            for c, k in KINDS.items()
        },
        "served_models": {"some-judge": 1380},
        "requests": 1391,
        "prompt_tokens": 1_800_000,
        "completion_tokens": 12_345,
        "cost": 1.27,
        "seconds": 272.0,
        "started": "2026-11-30T11:50:00Z",
        "ended": "2026-11-30T11:54:32Z",
        "ledger_sha256": "d" * 64,
        "versions": {"judgeaudit": "0.1.0", "python": "3.11.9"},
        "extra": {"command": "judgeaudit audit --corpus sample --judge openai/some-judge"},
    }
    return RunFacts(**{**given, **changes})


def outcomes(failed: dict[str, dict[str, int]], total: int = 120) -> dict[str, dict[str, int]]:
    """Spread failures over the conditions; the rest are verdicts."""
    return {
        c: {"verdict": total - sum(failed.get(c, {}).values()), **failed.get(c, {})} for c in KINDS
    }


def numbers(
    delta: dict[str, float],
    *,
    width: float = 0.03,
    direction: float | None = 0.98,
    moved: tuple[float, float] = (0.41, 0.01),
    undue: float | None = 0.2,
    flips: float = 42,
    pis: tuple[float | None, float | None, float | None] = (0.66, 0.45, 0.83),
    accuracy: tuple[float, float, float] = (0.92, 0.93, 0.91),
    unsafe: float = 0.51,
    jitter: float = 0.06,
) -> list[Score]:
    """Make a whole set of scores around a few figures."""
    out = []
    for c, d in delta.items():
        p = {"p_value": 0.5 if d < 0.03 else 2e-12, "null": "no item changes"}
        p |= {"p_adjusted": 0.9 if d < 0.03 else 8e-12, "p_method": "exact, Holm"}
        out += [
            s("delta_paper", c, d, d - width, d + width, unit="fraction of call pairs"),
            s("delta_debiased", c, d * 0.9, d * 0.9 - width, d * 0.9 + width, **p),
            s("flip_rate", c, d + jitter, unit="fraction of call pairs"),
            s("signed_shift", c, d / 3, d / 3 - width, d / 3 + width),
            s("rms_shift", c, max(0.0, d) ** 0.5),
        ]
    out += [
        s("jitter", "base", jitter, max(0, jitter - 0.03), jitter + 0.03),
        s("direction_ratio", None, direction, *((0.9, 1.0) if direction is not None else ())),
        s("forward_rate", None, moved[0], moved[0] / 2, min(1, moved[0] * 1.3)),
        s("reverse_rate", None, moved[1], 0.0, moved[1] + 0.03),
        s(
            "undue_share",
            None,
            undue,
            *((max(0, undue - 0.12), min(1, undue + 0.14)) if undue is not None else ()),
            numerator=None if undue is None else undue * flips,
            denominator=None if undue is None else flips,
            method="Wilson-Kish",
        ),
        s("undue_null", None, 0.6, unit="fraction of cells"),
        s("undue_clear", None, 0.03, 0.01, 0.06),
        s("undue_ambiguous", None, 0.15, 0.06, 0.25),
        s("undue_risk_ratio", None, 0.2, 0.05, 0.8, unit="ratio"),
        s("pis", None, *pis, method="MOVER", unit="score 0-1"),
        s("responsiveness_no_policy", "no_policy", 0.2, 0.1, 0.3),
        s("responsiveness_inverted", "inverted", 0.3, 0.2, 0.4),
        s("responsiveness_threshold", None, 0.4, 0.3, 0.5),
        s("unsafe_rate", "base", unsafe, max(0, unsafe - 0.1), min(1, unsafe + 0.1)),
        s("unsafe_rate", "strict", min(1, unsafe + 0.2), unsafe, min(1, unsafe + 0.3)),
        s("unsafe_rate", "lenient", max(0, unsafe - 0.2), max(0, unsafe - 0.3), unsafe),
    ]
    for metric, right in (("missed_bound", accuracy[1]), ("false_alarm_bound", accuracy[2])):
        wrong, method = 1 - right, "Clopper-Pearson, one-sided, clusters as trials"
        out.append(s(metric, None, wrong, 0.0, min(1, wrong + 0.1), n_items=30, method=method))
    for metric, v in zip(("accuracy", "tpr", "tnr"), accuracy, strict=True):
        out.append(s(metric, "base", v, max(0, v - 0.1), min(1, v + 0.06), method="Wilson"))
    return out


FLAGS = {
    "responsiveness": "responsive",
    "band": "moderate",
    "placebo": "clean",
    "certified_gate": "below",
    "identified": "identified",
}
REASONS = {
    "responsiveness": "Verdicts move with the threshold and when the policy is negated.",
    "certified_gate": "The bound on excess flips is 4.1 points.",
    "placebo": "The placebo holds 0.",
}
QUIET = {"T0": 0.0, "T1": 0.01, "T2": -0.004, "T4": 0.02, "certified": 0.009, "T3": 0.03}
BRITTLE = {"T0": 0.002, "T1": 0.03, "T2": 0.02, "T4": 0.19, "certified": 0.08, "T3": 0.1}


@dataclass(frozen=True)
class Run:
    """What `build` is given, and what is made of it, once."""

    facts: RunFacts
    scores: ScoreSet

    def fresh(self) -> cards.JudgeCard:
        """Build the card anew."""
        return cards.build(self.facts, self.scores, created=CREATED)

    @functools.cached_property
    def _card(self) -> cards.JudgeCard:
        return self.fresh()

    @functools.cached_property
    def html(self) -> str:
        """The card as HTML."""
        return cards.to_html(self._card)

    @functools.cached_property
    def md(self) -> str:
        """The card as Markdown."""
        return cards.to_markdown(self._card)

    def card(self) -> cards.JudgeCard:
        """Return the card."""
        return self._card


def run(
    scores: list[Score],
    flags: dict[str, str] | None = None,
    reasons: dict[str, str] | None = None,
    **changes: Any,
) -> Run:
    """Make a run of scores, flags and changed facts."""
    return Run(
        facts(**changes),
        ScoreSet(
            scores=tuple(scores),
            flags={**FLAGS, **(flags or {})},
            reasons={**REASONS, **(reasons or {})},
        ),
    )


@functools.cache
def good() -> Run:
    """A judge without a fault to find."""
    scores = numbers(QUIET, undue=0.05, flips=60, pis=(0.9, 0.71, 0.97))
    return run(scores, {"band": "reliable"})


@functools.cache
def fragile() -> Run:
    """A judge that the place of exceptions moves."""
    scores = numbers(BRITTLE, undue=0.3, pis=(0.47, 0.22, 0.68), accuracy=(0.84, 0.78, 0.9))
    return run(scores, {"band": "fragile", "certified_gate": "above"})


@functools.cache
def always_safe() -> Run:
    """A judge that says SAFE to everything: no flips, no PIS."""
    scores = numbers(
        dict.fromkeys(QUIET, 0.0),
        direction=None,
        moved=(0.0, 0.0),
        undue=None,
        pis=(None, 0.0, 1.0),
        accuracy=(0.5, 0.0, 1.0),
        unsafe=0.0,
        jitter=0.0,
    )
    return run(
        scores,
        {"responsiveness": "not responsive", "band": "undefined"},
        {"responsiveness": "No verdict moved with the threshold, without or against the policy."},
        served_models={"smollm2-135m": 1380},
        judge=JudgeSpec(backend="local", model="smollm2-135m", weights_sha256="e" * 64),
        judge_note="A very small model that runs on this machine; it judges badly.",
        cost=None,
    )


@functools.cache
def failed() -> Run:
    """A judge of which 27 of 30 calls failed."""
    return run(
        [s("accuracy", "base", 1.0, 0.44, 1.0, n_items=3, n_clusters=3)],
        {"responsiveness": "not shown", "band": "undefined", "identified": "not identified"},
        {"responsiveness": "Too few verdicts to say whether the policy moves them."},
        n_planned=30,
        n_answered=30,
        outcomes={
            "base": {"verdict": 2, "error": 20, "refusal": 3},
            "T1": {"verdict": 1, "error": 4},
        },
    )


@functools.cache
def no_ambiguity() -> Run:
    """A run on a corpus without ambiguity labels."""
    why = "the corpus has no ambiguity labels"
    scores = [
        s(x.metric, x.condition, None, why_undefined=why)
        if x.metric.startswith("undue") or x.metric == "pis"
        else x
        for x in numbers(QUIET)
    ]
    base = facts().corpus
    corpus = base.model_copy(update={"n_ambiguous": None, "ambiguity_source": why})
    return run(scores, {"band": "undefined"}, corpus=corpus)


@functools.cache
def incomplete() -> Run:
    """A run stopped at three quarters, of a floating name whose model changed."""
    return run(
        numbers(QUIET),
        n_answered=1000,
        served_models={"some-judge-2026-03-17": 600, "some-judge-2026-09-01": 400},
        dropped_parameters=("temperature",),
        renderings=tuple(rendering(c, certified=c != "T4") for c in KINDS),
    )


CASES: dict[str, Callable[[], Run]] = {
    "good": good,
    "fragile": fragile,
    "always_safe": always_safe,
    "failed": failed,
    "no_ambiguity": no_ambiguity,
    "incomplete": incomplete,
}
