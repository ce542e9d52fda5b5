"""The facts of a run that a card prints beside its scores."""

from __future__ import annotations

import json
import math
import sqlite3
from typing import TYPE_CHECKING, Any

from judgeaudit.core.records import RunFacts
from judgeaudit.engine import triage
from judgeaudit.engine.votes import VOTES

if TYPE_CHECKING:
    from judgeaudit.engine.view import LedgerView

__all__ = ["run_facts"]

_OUTCOMES = """
SELECT o.condition, coalesce(v.outcome, 'error'), count(*)
FROM calls c JOIN cells e ON e.id = c.cell JOIN columns o ON o.id = e.col
LEFT JOIN verdicts v ON v.call = c.position
WHERE v.call IS NOT NULL OR c.position IN (SELECT call FROM failures)
GROUP BY o.id, 2 ORDER BY o.id, 2
"""

_SUMS = """
SELECT count(*), count(prompt_tokens), sum(prompt_tokens),
       count(completion_tokens), sum(completion_tokens), count(cost),
       coalesce(sum(attempts), 0)
FROM verdicts
"""

_FINGERPRINTS = """
SELECT count(DISTINCT s.fingerprint) FROM verdicts v JOIN served s ON s.id = v.served
GROUP BY s.model ORDER BY count(*) DESC, s.model LIMIT 1
"""

_BATCHES = """
SELECT json_extract(extra, '$.batch_id') AS batch, count(*) FROM replies
WHERE extra IS NOT NULL GROUP BY batch HAVING batch IS NOT NULL ORDER BY batch
"""


def run_facts(view: LedgerView, db: sqlite3.Connection, judge_note: str | None) -> RunFacts:
    """Gather outcomes, tokens, cost, time and provenance from a ledger.

    Tokens and cost are None as soon as one answer does not state them: a sum over some would
    look like the sum over all.
    """
    meta = view.meta
    outcomes: dict[str, dict[Any, int]] = {}
    for condition, outcome, n in db.execute(_OUTCOMES):
        counts = outcomes.setdefault(condition, {})
        counts[outcome] = counts.get(outcome, 0) + n
    n, n_prompt, prompt, n_completion, completion, n_cost, requests = db.execute(_SUMS).fetchone()
    # added up here: SQLite's own sum of floats depends on its version
    costs = (c for (c,) in db.execute("SELECT cost FROM verdicts WHERE cost IS NOT NULL"))
    cost = math.fsum(costs)
    (failed_requests,) = db.execute("SELECT coalesce(sum(attempts), 0) FROM failures").fetchone()
    served = {
        str(model): count
        for model, count in db.execute(
            "SELECT CAST(s.model AS TEXT), count(*) FROM verdicts v "
            "JOIN served s ON s.id = v.served WHERE s.model IS NOT NULL GROUP BY 1 ORDER BY 1"
        )
    }
    # a session that was killed lasted at least until its last commit
    spans = [t for (t,) in db.execute("SELECT max(elapsed) FROM batches GROUP BY session")]
    started, ended = db.execute(
        "SELECT (SELECT min(started) FROM sessions), (SELECT max(committed_at) FROM batches)"
    ).fetchone()
    versions = dict(meta.versions)
    for (text,) in db.execute("SELECT versions FROM sessions ORDER BY id"):
        for name, version in json.loads(text).items():
            seen = versions.get(name)
            if seen is None:
                versions[name] = version
            elif version not in seen.split(", "):
                versions[name] = f"{seen}, {version}"
    if n == 0:
        cost_note = "no call was answered"
    elif n_cost < n:
        cost_note = f"the price of {n - n_cost:,} of {n:,} answered calls is not known"
    else:
        cost_note = "sum over answered calls; what failed requests cost is not known"
    return RunFacts(
        judge=meta.judge,
        judge_note=judge_note,
        policy=meta.policy,
        renderings=meta.renderings,
        corpus=meta.corpus,
        protocol=meta.protocol,
        n_planned=view.n_planned,
        n_answered=n,
        outcomes=outcomes,
        served_models=served,
        failures=dict(
            db.execute("SELECT class, count(*) FROM failures GROUP BY class ORDER BY class")
        ),
        # those beside the plan too, which found out what the judge accepts
        requests=requests + failed_requests + (meta.extra.get("settled") or {}).get("requests", 0),
        prompt_tokens=prompt if n and n_prompt == n else None,
        completion_tokens=completion if n and n_completion == n else None,
        cost=cost if n and n_cost == n else None,
        cost_note=cost_note,
        seconds=round(math.fsum(spans), 3) if spans else None,
        started=started,
        ended=ended,
        dropped_parameters=tuple(meta.extra.get("dropped_parameters") or ()),
        ledger_sha256=view.content_sha256(),
        ledger_head=view.head(),
        plan_sha256=view.plan_sha256,
        versions=versions,
        extra={k: v for k, v in meta.extra.items() if k != VOTES} | _told(view, db),
    )


def _told(view: LedgerView, db: sqlite3.Connection) -> dict[str, Any]:
    """Return what the answers, and people's notes beside them, add to the run's own facts."""
    told: dict[str, Any] = {}
    if batches := dict(db.execute(_BATCHES).fetchall()):
        # how many answers came in which of the provider's batches
        told["batches"] = batches
    # of the model that answered most, for two models differ in them anyway
    prints = db.execute(_FINGERPRINTS).fetchone()
    if prints is not None and prints[0] > 1:
        told["fingerprints"] = prints[0]
    if view.meta.extra.get("confidence") == "logprobs":
        told["n_confidence"] = db.execute("SELECT count(confidence) FROM verdicts").fetchone()[0]
    if found := triage.summary(view):
        told["triage"] = found
    return told
