"""Audit a candidate on held-out clusters, by the same engine, ledger and scorer as any judge."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from judgeaudit.core.hashing import sha256_of
from judgeaudit.core.records import AuditSpec, Call, Item, JudgePrompt, Rendering, Reply
from judgeaudit.core.table import VerdictTable
from judgeaudit.core.versions import versions
from judgeaudit.corpora.base import Corpus
from judgeaudit.engine.plan import Plan, build_plan
from judgeaudit.engine.view import LedgerView
from judgeaudit.judges._confidence import saved_probability
from judgeaudit.judges._hardening import HardenedConfig, write_config
from judgeaudit.preparing import LEDGER, Prepared

__all__ = ["Costs", "Planned", "Source", "costs_of", "known_replies", "plan_candidate", "spent_on"]

_FIELDS = (
    *("text", "finish_reason", "refusal", "reasoning", "served_model", "system_fingerprint"),
    *("request_id", "prompt_tokens", "completion_tokens", "cost", "attempts"),
)


@dataclass(frozen=True, slots=True)
class Source:
    """The run that is hardened: its ledger, its items, and what it answered."""

    view: LedgerView
    items: Mapping[str, Item]
    table: VerdictTable
    replies: Mapping[str, Reply]
    template: str | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """A candidate's audit before its first call.

    Parameters
    ----------
    ready : Prepared
        The audit.
    requests : int
        Requests that it takes, those that are known included.
    known : int
        Of these, answers that the run has already.
    """

    ready: Prepared
    requests: int
    known: int


def known_replies(view: LedgerView) -> dict[str, Reply]:
    """Return the answers of a run by the identity of their calls."""
    judge = view.meta.judge.sha256
    out: dict[str, Reply] = {}
    for row in view.rows():
        if row["outcome"] is None:
            continue
        call = Call(
            item=row["item"],
            condition=row["condition"],
            wording=row["wording"],
            repeat=row["repeat"],
            prompt_sha256=row["prompt_sha256"],
            judge_sha256=judge,
        )
        fields: dict[str, Any] = {k: row[k] for k in _FIELDS if row[k] is not None}
        out[call.id] = Reply(
            **{"text": None, **fields},
            seconds=float(row["seconds"] or 0.0),
            **saved_probability(row["extra"]),
        )
    return out


def plan_candidate(
    source: Source, config: HardenedConfig, keys: Collection[str], folder: Path, spec: AuditSpec
) -> Planned:
    """Plan the audit of a candidate on some items of the run; asks nobody anything.

    Conditions, repeats, texts and order are those of the run, so that it is compared like with
    like; the same command resumes it.

    Parameters
    ----------
    source : Source
        The run.
    config : HardenedConfig
        The candidate; written into the folder.
    keys : collection of str
        The items.
    folder : Path
        Of the candidate's run.
    spec : AuditSpec
        Limits.
    """
    from judgeaudit.core.clock import now_utc
    from judgeaudit.engine import choices
    from judgeaudit.engine.identity import RunMeta
    from judgeaudit.judges._hardened_spec import hardened_spec, template_of
    from judgeaudit.policy.prompts import build_prompt, vacuum_trajectory

    path = folder / "hardened.toml"
    write_config(config, path)
    judge, template = hardened_spec(str(path)), template_of(config)
    meta = source.view.meta
    items = tuple(source.items[k] for k in sorted(keys))
    corpus = _part_of(source.view, items)
    seed = meta.protocol.seed

    def prompt_of(item: Item, rendering: Rendering) -> JudgePrompt:
        return build_prompt(template, rendering, item.trajectory, fence_key=f"{seed}/{item.key}")

    own = spec.model_copy(update={"judge": f"hardened:{path}", "seed": seed, "out": folder})
    price = choices.price_of(own, judge)
    plan = build_plan(
        *(items, meta.renderings, meta.protocol, judge, prompt_of),
        vacuum=vacuum_trajectory,
        price=price,
    )
    told = choices.told(judge, template, None, corpus)
    made = RunMeta(
        protocol=meta.protocol,
        judge=judge,
        policy=meta.policy,
        renderings=meta.renderings,
        corpus=corpus.facts,
        template=template.text,
        versions=versions(),
        created=now_utc(),
        extra={"command": "judgeaudit harden", "hardened_from": source.view.plan_sha256} | told,
    )
    ready = Prepared(own, judge, corpus, plan, made, folder, price)
    requests, known = _count(source, ready.plan, str(path))
    return Planned(ready, requests, known)


def _part_of(view: LedgerView, items: tuple[Item, ...]) -> Corpus:
    facts = view.meta.corpus
    unsafe = sum(i.label == "UNSAFE" for i in items)
    safe = sum(i.label == "SAFE" for i in items)
    flags = [i.ambiguous for i in items if i.ambiguous is not None]
    note = (
        f"Held out: {len(items)} of {facts.n_items} items, in clusters on which nothing about this "
        "judge was chosen."
    )
    return Corpus(
        items,
        facts.model_copy(
            update={
                "sha256": sha256_of([i.model_dump(mode="json") for i in items]),
                "n_items": len(items),
                "n_clusters": len({i.cluster for i in items}),
                "n_unsafe": unsafe,
                "n_safe": safe,
                "n_unlabelled": len(items) - unsafe - safe,
                "n_ambiguous": sum(flags) if flags else None,
                "notes": (*facts.notes, note),
            }
        ),
    )


def _count(source: Source, plan: Plan, path: str) -> tuple[int, int]:
    """Count requests, and those whose answer the run has."""
    from judgeaudit.judges._hardened_spec import hardened_spec
    from judgeaudit.judges.hardened import HardenedJudge

    judge = HardenedJudge(hardened_spec(path))
    own = judge.inner.spec.sha256
    each = [judge.requests(c.rendering.text) for c in plan.columns]
    width, total, known = len(plan.columns), 0, 0
    for position in range(plan.n_calls):
        n, same = each[int(plan.cells[position]) % width]
        total += n
        if same:
            call = plan.call(position).model_copy(update={"judge_sha256": own})
            known += call.id in source.replies
    return total, known


@dataclass(frozen=True, slots=True)
class Costs:
    """What each answered call of a run took; arrays of one length, NaN where it is not known.

    Parameters
    ----------
    item : array of int
        Position of the call's item in the table.
    tokens, seconds, cost : array of float
        Sent and answered; of all parts together; US dollars.
    """

    item: np.ndarray
    tokens: np.ndarray
    seconds: np.ndarray
    cost: np.ndarray


def costs_of(view: LedgerView, items: tuple[str, ...]) -> Costs:
    """Read what the calls of a run on some items took."""
    place = {key: k for k, key in enumerate(items)}
    rows = []
    for row in view.rows():
        if row["outcome"] is None or row["item"] not in place:
            continue
        sent, got = row["prompt_tokens"], row["completion_tokens"]
        tokens = float("nan") if sent is None or got is None else sent + got
        cost = float("nan") if row["cost"] is None else row["cost"]
        rows.append((place[row["item"]], tokens, _seconds(row), cost))
    array = np.array(rows, dtype=np.float64).reshape(-1, 4)
    return Costs(array[:, 0].astype(np.int64), array[:, 1], array[:, 2], array[:, 3])


def _seconds(row: Mapping[str, Any]) -> float:
    return float("nan") if row["seconds"] is None else float(row["seconds"])


def spent_on(folder: Path) -> tuple[int, int]:
    """Count what earlier sessions of a candidate's audit used.

    Returns
    -------
    requests : int
        Made, by all parts of all calls, failed ones too.
    answered : int
        Calls with an answer.
    """
    from judgeaudit.engine.ledger import Ledger

    path = ledger_of(folder)
    if not path.is_file():
        return 0, 0
    requests = answered = 0
    with Ledger.open_readonly(path) as view:
        for row in view.rows():
            if row["outcome"] is None:
                continue
            answered += 1
            parts = json.loads(row["reasoning"] or "{}").get("members", ())
            requests += sum(not part.get("again") for part in parts)
        # one request at least was made in each attempt that failed
        requests += sum(f["attempts"] for f in view.failures())
    return requests, answered


def ledger_of(folder: Path) -> Path:
    """Return where a run's answers lie, given its folder or its ledger."""
    return folder / LEDGER if folder.is_dir() else folder
