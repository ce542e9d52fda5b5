"""Questions that are asked after a run, about its verdicts: planned, kept and resumed like a run.

Each source has a ledger of its own below the run's folder, with the guarantees of the run's. Its
two labels stand for the two answers: SAFE is filed for True, UNSAFE for False, and a call's
confidence is the probability of True, where the server told log-probabilities.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

import numpy as np

from judgeaudit.core.clock import now_utc
from judgeaudit.core.errors import ConfigError, TransientError, unknown_name
from judgeaudit.core.hashing import sha256_of, sha256_text
from judgeaudit.core.records import (
    AuditSpec,
    Condition,
    JudgeSpec,
    JudgeTemplate,
    Protocol,
    Rendering,
    Reply,
    Verdict,
)
from judgeaudit.core.versions import versions
from judgeaudit.engine.choices import judge_of, limits_of, price_of
from judgeaudit.engine.estimate import Price, make_estimate
from judgeaudit.engine.failures import UNREACHABLE
from judgeaudit.engine.identity import RunMeta
from judgeaudit.engine.plan import Column, Plan
from judgeaudit.engine.progress import ProgressMode
from judgeaudit.engine.summary import RunSummary
from judgeaudit.engine.view import LedgerView
from judgeaudit.judges import _choice as choice
from judgeaudit.judges._confidence import LISTED, LOGPROBS
from judgeaudit.judges._reach import check_reachable
from judgeaudit.review.questions import Question, Source, asking_of, questions_of

__all__ = [
    "ANSWERS",
    "Asked",
    "answers_of",
    "ask_after",
    "judge_for",
    "ledger_of",
    "read_truth",
]

ANSWERS: Final = {"SAFE": "True", "UNSAFE": "False"}
"""What the two labels of a ledger of answers stand for."""

_SAID: Final = re.compile(r"\A[\s*_`\"']{0,20}(true|false)\b", re.IGNORECASE)
_HELD: Final = ("response_format", "extra_body")
_GRAMMAR: Final = 'root ::= "True" | "False"'


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer.

    Parameters
    ----------
    said : bool, optional
        True or False; None where the answer was neither.
    p_true : float, optional
        Probability of True; None where the server told none.
    """

    said: bool | None
    p_true: float | None


def ledger_of(folder: Path, source: Source) -> Path:
    """Return where the answers of a source are kept below a run's folder."""
    return folder / "confidence" / source / "ledger.sqlite"


# ---- who is asked, and the plan -------------------------------------------------------


def judge_for(
    view: LedgerView, source: Source, judge: str | None = None, api_base: str | None = None
) -> JudgeSpec:
    """Name who is asked: the run's own judge, or for entailment any other.

    Raises
    ------
    ConfigError
        If that judge cannot tell log-probabilities, or another judge is named for a question that
        only the run's own can answer.
    """
    if source not in get_args(Source):
        raise ConfigError(unknown_name("source", source, list(get_args(Source))))
    asking = asking_of(source)
    if judge is not None and source != "entailment":
        raise ConfigError(
            f"--judge does not go with {source}: only the run's own judge knows of itself",
            mend="Leave it out; it belongs to entailment",
        )
    named = {
        "template_id": source,
        "template_sha256": sha256_of({"system": asking.system, "user": asking.user}),
    }
    if judge is None:
        own = view.meta.judge
    else:
        template = JudgeTemplate(id=source, system=asking.system, user=asking.user)
        own = choice.judge_spec(AuditSpec(judge=judge, api_base=api_base), template)
    if own.backend not in {"litellm", "direct", "local"}:
        raise ConfigError(
            f"a judge of the backend {own.backend!r} cannot be asked {source}",
            mend="It takes a model behind a server, or the embedded one",
        )
    decoding = {k: v for k, v in own.decoding.items() if k not in _HELD} | LOGPROBS
    if own.backend == "local":
        body = {"grammar": _GRAMMAR, "min_p": 0.0, "top_k": 0}
        decoding |= {"extra_body": body, "top_logprobs": LISTED, "max_tokens": 4}
    return own.model_copy(update={**named, "decoding": decoding, "output_format": _form(own)})


def _form(judge: JudgeSpec) -> str:
    return "grammar" if judge.backend == "local" else "plain"


def _plan(
    view: LedgerView,
    source: Source,
    questions: list[Question],
    judge: JudgeSpec,
    price: Price | None,
) -> tuple[Plan, RunMeta]:
    asking = asking_of(source)
    seed = view.meta.protocol.seed
    condition = Condition(id=source, kind="reference", summary=f"asked afterwards: {source}")
    protocol = Protocol(
        preset=source, base_repeats=1, repeats=1, conditions=(condition,), seed=seed
    )
    of = view.meta.policy
    columns = tuple(
        Column(
            condition,
            number,
            Rendering(
                policy_id=of.id,
                policy_sha256=of.sha256,
                condition=source,
                wording=number,
                text=asking.user,
                sha256=sha256_text(asking.user),
            ),
        )
        for number in sorted({q.number for q in questions})
    )
    items = tuple(sorted({q.item.key: q.item for q in questions}.values(), key=lambda i: i.key))
    row = {item.key: k for k, item in enumerate(items)}
    col = {column.wording: k for k, column in enumerate(columns)}
    prompts = {(q.item.key, q.number): q.prompt for q in questions}
    cells = np.array(
        [row[q.item.key] * len(columns) + col[q.number] for q in questions], dtype=np.int64
    )
    digests = bytearray(32 * len(items) * len(columns))
    for cell, q in zip(cells.tolist(), questions, strict=True):
        digests[32 * cell : 32 * (cell + 1)] = bytes.fromhex(q.prompt.sha256)
    order = np.random.default_rng(seed).permutation(cells.size)
    size = sum(len(m.content) for q in questions for m in q.prompt.messages)
    plan = Plan(
        items=items,
        columns=columns,
        protocol=protocol,
        judge=judge,
        cells=cells[order],
        repeats=np.zeros(cells.size, dtype=np.int64),
        digests=bytes(digests),
        estimate=make_estimate(
            {source: len(questions)},
            tokens=-(-size // 4),
            counted=False,
            decoding=judge.decoding,
            price=price,
        ),
        prompt_of=lambda item, rendering: prompts[item.key, rendering.wording],
    )
    meta = RunMeta(
        protocol=protocol,
        judge=judge,
        policy=of,
        renderings=tuple(c.rendering for c in columns),
        corpus=view.meta.corpus,
        template=f"[system]\n{asking.system}\n\n[user]\n{asking.user}\n",
        versions=versions(),
        created=now_utc(),
        extra={"question": source, "answers": ANSWERS, "asked_about": view.plan_sha256},
    )
    return plan, meta


def read_truth(reply: Reply) -> Verdict:
    """Read an answer of True or False, and the probability of True beside it.

    Examples
    --------
    >>> read_truth(Reply(text="**True**", p_true=0.9))
    Verdict(outcome='verdict', label='SAFE', confidence=0.9, rationale=None, note=None)
    >>> read_truth(Reply(text="It depends.")).outcome
    'unparseable'
    """
    said = _SAID.match(reply.text or "")
    if said is not None:
        label = "SAFE" if said[1].lower() == "true" else "UNSAFE"
        return Verdict(outcome="verdict", label=label, confidence=reply.p_true)
    if reply.refusal or reply.finish_reason == "content_filter":
        return Verdict(outcome="refusal")
    return Verdict(outcome="truncated" if reply.finish_reason == "length" else "unparseable")


def ask_after(
    view: LedgerView,
    folder: Path,
    source: Source,
    spec: AuditSpec,
    *,
    other: bool = False,
    show: ProgressMode = "quiet",
) -> RunSummary:
    """Ask the questions of a source, or go on where an earlier session stopped.

    Parameters
    ----------
    view : LedgerView
        The run, read only.
    folder : Path
        The run's folder; answers are kept below it.
    source : {"p_true", "p_ik", "entailment"}
        What is asked.
    spec : AuditSpec
        Limits and budget, over all sessions together; its judge is asked where `other` says so.
    other : bool
        Whether another judge than the run's own answers.
    show : {"auto", "bar", "plain", "quiet"}
        Progress, on standard error.

    Raises
    ------
    JudgeAuditError
        If it cannot begin or go on; what was answered is kept.
    """
    from judgeaudit.engine.choices import budget_of
    from judgeaudit.engine.door import run_plan_sync
    from judgeaudit.engine.ledger import Ledger
    from judgeaudit.engine.progress import make_progress

    named = (spec.judge, spec.api_base) if other else (None, None)
    judge = judge_for(view, source, *named)
    price = price_of(spec, judge)
    plan, meta = _plan(view, source, questions_of(view, source), judge, price)
    path = ledger_of(folder, source)
    fresh = not path.exists()
    if fresh and not other:
        _check_there(judge)
    asked = judge_of(judge, (), spec.attempt_seconds, fresh=fresh and other)
    with Ledger.open(path, meta, plan) as ledger:
        try:
            return run_plan_sync(
                plan,
                asked,
                ledger,
                limits=limits_of(spec, judge),
                progress=make_progress(show),
                budget=budget_of(spec, ledger, price),
                price=price,
                parse=read_truth,
            )
        except ConfigError:
            ledger.discard()
            raise


def _check_there(judge: JudgeSpec) -> None:
    """Find out whether the run's own judge is still there.

    Raises
    ------
    TransientError
        It is not: its address was right once, so that is an outage and no mistake.
    """
    try:
        check_reachable(judge)
    except ConfigError as error:
        raise TransientError(
            error.what,
            where=error.where,
            mend="Start the server that the run asked, and run the same command again",
            code=UNREACHABLE,
        ) from None


def answers_of(folder: Path, source: Source) -> dict[tuple[str, int], Asked] | None:
    """Return what was answered, by item and number of the question; None where nobody asked."""
    path = ledger_of(folder, source)
    if not path.exists():
        return None
    with LedgerView(path) as view:
        return {
            (row["item"], row["wording"]): Asked(
                None if row["label"] is None else row["label"] == "SAFE", row["confidence"]
            )
            for row in view.rows()
            if row["outcome"] is not None
        }
