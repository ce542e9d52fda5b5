"""What a history keeps of a run, as plain values."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from judgeaudit.watch.sides import Side

__all__ = ["now", "packed"]


def now() -> str:
    """Return the time, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def packed(side: Side, only: Collection[str] | None, *, nightly: bool) -> dict[str, Any]:
    """Return all that is kept of a run, as plain values."""
    table, facts = side.verdicts, side.facts
    counts = table.counts(side.view().base)
    scores = [] if nightly else [s for s in side.scores().scores if s.stratum is None]
    columns = (table.gold, counts.unsafe, counts.valid, counts.failed)
    rows = zip(table.items, *(c.tolist() for c in columns), strict=True)
    return {
        "ended": facts.ended or "",
        "added": now(),
        "run": side.name,
        "ledger_sha256": facts.ledger_sha256,
        "ledger_head": facts.ledger_head,
        "facts": _facts(side),
        "protocol": "base calls on frozen anchors"
        if nightly
        else side.protocol.model_dump_json(exclude={"seed", "preset", "level"}),
        "scores": [s.model_dump(mode="json") for s in scores],
        "items": [
            [key, side.trajectories.get(key, ""), *row]
            for key, *row in rows
            if only is None or key in only
        ],
    }


def _facts(side: Side) -> dict[str, Any]:
    f = side.facts
    return {
        "judge": f.judge.sha256,
        "model": f.judge.model,
        "served": sorted(f.served_models),
        "fingerprints": sorted(side.fingerprints),
        "policy": f.policy.sha256,
        "texts": dict(sorted(side.texts.items())),
        "corpus": f.corpus.sha256,
        # that of an imported corpus is the hash of its table, verdicts included
        "corpus_version": "" if "imported" in f.extra else f.corpus.version,
        "planned": f.n_planned,
        "answered": f.n_answered,
        "cost": f.cost,
    }
