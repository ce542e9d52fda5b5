"""A card as a model card of the Hugging Face hub: `model-index` metadata before the Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from judgeaudit.cards.assemble import cleaned
from judgeaudit.cards.clean import shorten
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.model import JudgeCard
from judgeaudit.cards.render import to_markdown
from judgeaudit.cards.texts_en import METRICS
from judgeaudit.cards.voiding import is_void_metric, void
from judgeaudit.cards.words import is_bare_precision, is_no_share
from judgeaudit.core.records import Score

__all__ = ["metadata", "to_hub"]

_WITHHELD: Final = frozenset({"pis", "pis_raw"})
_MOST: Final = 200


def _metric(s: Score) -> dict[str, Any]:
    known = METRICS.get(s.metric)
    name = known.title if known else s.metric
    where = ", ".join(x for x in (s.condition, s.stratum) if x)
    args = {
        key: value
        for key, value in (
            ("condition", s.condition),
            ("stratum", s.stratum),
            ("treatment", s.treatment),
            ("low", s.low),
            ("high", s.high),
            ("level", s.level),
            ("method", s.method or None),
            ("why_no_interval", s.why_no_interval),
            ("n_items", s.n_items),
            ("n_clusters", s.n_clusters),
            ("unit", s.unit or None),
            ("note", s.note),
        )
        if value is not None
    }
    return {
        "type": shorten(s.metric, 60) or "unnamed",
        "name": shorten(f"{name} ({where})" if where else name, _MOST),
        "value": s.value,
        "args": {k: shorten(v, _MOST) if isinstance(v, str) else v for k, v in args.items()},
    }


def metadata(card: JudgeCard) -> dict[str, Any]:
    """Return the metadata of a model card.

    Undefined figures, and a score that the card withholds, are not results: the hub would show
    them as numbers. Serious warnings and the headline stand in the metadata too.
    """
    f = Figures(card.facts, card.scores)
    facts = card.facts
    model = shorten(facts.judge.model, 90) or "unnamed"
    corpus = facts.corpus
    dataset = {
        "type": shorten(corpus.name, 90) or "unnamed",
        "name": shorten(corpus.title or corpus.name, 90) or "unnamed",
        "args": {"sha256": shorten(corpus.sha256, 80), "n_items": corpus.n_items},
    }
    if corpus.subset:
        dataset["config"] = shorten(corpus.subset, 90)
    task = {
        "type": "text-classification",
        "name": shorten(f"Judging agent runs under the policy {facts.policy.id}", 120),
    }
    shown = [
        s
        for s in card.scores.scores
        if s.value is not None
        and s.treatment == facts.protocol.headline_treatment
        and not (f.withheld and s.metric in _WITHHELD)
        and not (is_void_metric(s.metric) and void(f))
        and not is_bare_precision(s)
        and not is_no_share(s)
    ]
    serious = [w.code for w in card.warnings if w.severity == "serious"]
    out: dict[str, Any] = {
        "tags": ["judgeaudit", "judge-card", "llm-as-a-judge", "safety"],
        "pipeline_tag": "text-classification",
        "judgeaudit": {
            "schema_version": card.schema_version,
            "software": f"{card.software.name} {card.software.version}",
            "created": card.created,
            "headline": card.headline.sentence,
            "stance": card.headline.stance,
            "serious_warnings": serious,
            "judge_sha256": facts.judge_sha256,
            "protocol_sha256": facts.protocol_sha256,
            "ledger_sha256": facts.ledger_sha256,
        },
    }
    if shown:  # the hub refuses a result without a metric
        result = {"task": task, "dataset": dataset, "metrics": [_metric(s) for s in shown]}
        out["model-index"] = [{"name": model, "results": [result]}]
    return out


def _scalar(value: object) -> str:
    """Write a scalar in the JSON form, which YAML reads as the same value."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _yaml(value: Any, indent: int) -> list[str]:
    pad = "  " * indent
    lines: list[str] = []
    if isinstance(value, Mapping):
        pairs = [(f"{pad}{_key(k)}:", v) for k, v in value.items()]
    else:
        pairs = [(f"{pad}-", v) for v in value]
    for head, inner in pairs:
        if isinstance(inner, Mapping | list | tuple):
            if not inner:
                lines.append(f"{head} {'{}' if isinstance(inner, Mapping) else '[]'}")
                continue
            lines.append(head)
            lines += _yaml(inner, indent + 1)
        else:
            lines.append(f"{head} {_scalar(inner)}")
    return lines


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() else _scalar(name)


def to_hub(card: JudgeCard) -> str:
    """Render a card as a README.md of the Hugging Face hub.

    Returns
    -------
    str
        YAML metadata between two lines of dashes, then the card's Markdown.
    """
    card = cleaned(card)
    head: Sequence[str] = _yaml(metadata(card), 0)
    return "\n".join(["---", *head, "---", "", to_markdown(card)])
