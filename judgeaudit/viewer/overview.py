"""The first page: what the runs are, what rewording did, and where to look."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from judgeaudit.engine.triage import KINDS
from judgeaudit.viewer.flips import FLIPPED, UNANSWERED, WAVERING
from judgeaudit.viewer.texts import name

if TYPE_CHECKING:
    from judgeaudit.viewer.explorer import Explorer, Run

__all__ = ["overview"]

_MOST_VALUES: Final = 200
_MOST_CARD: Final = 20_000_000
_MOST_SENTENCE: Final = 2_000


def overview(explorer: Explorer) -> dict[str, Any]:
    """Return all that the first page and the filters show."""
    for run in explorer.runs:
        if run.ready:
            run.refresh()
    return {
        "progress": explorer.progress(),
        "runs": [_run(run) for run in explorer.runs],
        "facets": _facets(explorer),
    }


def _run(run: Run) -> dict[str, Any]:
    meta = run.source.meta
    marks = Counter(m.kind for m in run.marks.values())
    return {
        "folder": name(run.path.parent.name or str(run.path.parent)),
        "file": name(run.path),
        "judge": name(f"{meta.judge.backend}:{meta.judge.model}"),
        "policy": name(meta.policy.title or meta.policy.id),
        "corpus": name(meta.corpus.title or meta.corpus.name),
        "preset": name(meta.protocol.preset),
        "created": name(meta.created),
        "n_items": len(run.index.items.keys),
        "label_source": meta.corpus.label_source,
        "conditions": [_condition(run, c.id) for c in meta.protocol.conditions
                       if any(c.id == k.condition for k in run.index.columns)],
        "marks": {kind: marks[kind] for kind in KINDS},
        "notes": sum(bool(m.note.strip()) for m in run.marks.values()),
        "unreadable_marks": run.unreadable_marks,
        "card": _card(run),
    }  # fmt: skip


def _condition(run: Run, condition: str) -> dict[str, Any]:
    """Count what became of the cells of a condition, and its flip rate as the card has it."""
    index, flips, items = run.index, run.flips, run.index.items
    known = index.conditions[condition]
    mine = [k for k, c in enumerate(index.contrasts) if index.columns[c].condition == condition]
    outcome, shift = flips.outcome[:, mine], flips.shift[:, mine]
    flipped = outcome == FLIPPED
    on = {
        which: int(flipped[items.ambiguous == code].sum())
        for which, code in (("clear", 0), ("ambiguous", 1), ("unknown", -1))
    }
    columns = [k for k, c in enumerate(index.columns) if c.condition == condition]
    return {
        "id": name(condition),
        "raw": condition[:2000],
        "kind": known.kind,
        "summary": name(known.summary),
        "contrast": bool(mine),
        "cells": int((outcome != UNANSWERED).sum()),
        "flipped": int(flipped.sum()),
        "to_unsafe": int((flipped & (shift > 0)).sum()),
        "to_safe": int((flipped & (shift < 0)).sum()),
        "wavering": int((outcome == WAVERING).sum()),
        "on": on,
        "failed": int(index.counts.failed[:, columns].sum()),
        "calls": int(index.counts.valid[:, columns].sum() + index.counts.failed[:, columns].sum()),
        "flip_rate": _pair_rate(run, columns) if mine else None,
    }


def _pair_rate(run: Run, columns: list[int]) -> float | None:
    """Mean over items of the share of (base call, condition call) pairs that differ."""
    counts, base = run.index.counts, run.index.base
    b_unsafe, b = (a[:, base].sum(axis=1).astype(float) for a in (counts.unsafe, counts.valid))
    c_unsafe, c = (a[:, columns].sum(axis=1).astype(float) for a in (counts.unsafe, counts.valid))
    there = (b > 0) & (c > 0)
    if not there.any():
        return None
    p, q = b_unsafe[there] / b[there], c_unsafe[there] / c[there]
    return float(np.mean(p * (1 - q) + (1 - p) * q))


def _facets(explorer: Explorer) -> dict[str, Any]:
    datasets: Counter[str] = Counter()
    strata: dict[str, Counter[str]] = {}
    for run in explorer.runs:
        datasets.update(run.index.items.datasets)
        for known in run.index.items.strata:
            for key, value in known.items():
                strata.setdefault(key, Counter())[value] += 1
    return {
        "dataset": [[v[:400], name(v), n] for v, n in datasets.most_common(_MOST_VALUES)],
        "category": [
            {
                "name": name(key),
                "values": [
                    [f"{key}={v}"[:400], name(v), n] for v, n in found.most_common(_MOST_VALUES)
                ],
            }
            for key, found in sorted(strata.items())
        ],
    }


def _card(run: Run) -> dict[str, Any] | None:
    """Return the headline of the card beside the ledger, if there is one that can be read.

    Only looked at, not validated: checking a card costs more than all the rest of this page.
    """
    path = run.path.with_name("card.json")
    try:
        if path.stat().st_size > _MOST_CARD:
            return None
        card = json.loads(path.read_text(encoding="utf-8"))
        pis = [s for s in card["scores"]["scores"] if (s["metric"], s["stratum"]) == ("pis", None)]
        return {
            "sentence": str(card["headline"]["sentence"])[:_MOST_SENTENCE],
            "stance": name(card["headline"]["stance"]),
            "answered": int(card["facts"]["n_answered"]),
            "pis": {k: _number(pis[0][k]) for k in ("value", "low", "high")} if pis else None,
        }
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
