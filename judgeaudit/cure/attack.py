"""How far whoever words the policy can steer the judge, without changing what it says.

::

    from judgeaudit.cure import attack

    found = attack.attack("runs/mine", calls=2_000)
    print(found.worst.name, found.worst.gain, found.worst.low, found.worst.high)

The worst certified wording is searched for on one part of the clusters, and measured on the other
with fresh calls: nothing is chosen and measured on the same items.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, get_args

import numpy as np

from judgeaudit.core.errors import ConfigError, LedgerError, unknown_name
from judgeaudit.core.hashing import sha256_of
from judgeaudit.core.records import AuditSpec, Item, JudgeTemplate
from judgeaudit.core.records.attacked import FILE, Attack, Attacks, Finalist, Objective, Step
from judgeaudit.core.table import UNSAFE, VerdictTable
from judgeaudit.cure.attack_ask import Asking, StoppedError, template_of_run
from judgeaudit.cure.attack_measure import Measured, measured
from judgeaudit.cure.attack_search import (
    Answers,
    Found,
    Round,
    Schedule,
    Sizes,
    base_calls,
    eligible,
    make_schedule,
    search,
)
from judgeaudit.cure.attack_space import Wordings
from judgeaudit.cure.harden import policy_of_run
from judgeaudit.cure.harden_audit import ledger_of
from judgeaudit.engine.control import RunControl
from judgeaudit.engine.door import in_thread, signals
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.progress import ProgressMode, make_progress
from judgeaudit.engine.view import LedgerView
from judgeaudit.review.questions import items_of
from judgeaudit.stats.splits import part

__all__ = ["AttackPlan", "AttackSpec", "attack", "plan_attack"]

OBJECTIVES: Final[tuple[Objective, ...]] = get_args(Objective)


@dataclass(frozen=True, slots=True)
class AttackSpec:
    """The choices of an attack.

    Parameters
    ----------
    objective : {"excess", "tpr", "fpr"}
        What the wording is to worsen.
    calls : int
        Calls at most, searching and measuring together.
    train : float
        Share of clusters that are searched on; the others are held out.
    seed : int
        Of the split, the order of the items and the mixtures.
    wordings, mixes : int
        Wordings of each of the renderer's conditions, and mixtures of parts.
    finalists : int
        Wordings that are measured on held-out clusters.
    alpha : float
        1 - the level of the intervals, for all finalists together.
    policy : str, optional
        The policy's file, where it is none that ships.
    out : Path, optional
        Folder of the rounds' ledgers.
    limits : AuditSpec
        Concurrency, deadlines; a budget of requests or money beside `calls`.
    """

    objective: Objective = "excess"
    calls: int = 2_000
    train: float = 0.5
    seed: int = 0
    wordings: int = 4
    mixes: int = 12
    finalists: int = 1
    alpha: float = 0.05
    policy: str | None = None
    out: Path | None = None
    limits: AuditSpec = field(default_factory=AuditSpec)


@dataclass(frozen=True, slots=True)
class AttackPlan:
    """Everything before the first call."""

    spec: AttackSpec
    view: LedgerView
    table: VerdictTable
    items: dict[str, Item]
    template: JudgeTemplate
    space: Wordings
    schedule: Schedule
    train: tuple[int, ...]
    held_out: tuple[int, ...]
    folder: Path


def plan_attack(view: LedgerView, spec: AttackSpec) -> AttackPlan:
    """Split, gather the wordings and divide the calls; asks nobody anything.

    Parameters
    ----------
    view : LedgerView
        The run of the judge that is attacked.
    spec : AttackSpec
        The choices.

    Raises
    ------
    ConfigError
        If the run cannot be attacked, or the calls are too few.
    """
    _check(view, spec)
    table, meta = view.table(), view.meta
    policy, _ = policy_of_run(view, spec.policy)
    items = items_of(view)
    template = template_of_run(view, items)
    drawn = part(table.clusters, spec.train, np.random.default_rng(spec.seed), table.gold == UNSAFE)
    if not drawn.any() or drawn.all():
        raise ConfigError(
            "the run has one cluster, so nothing can be held out",
            where=str(view.path),
            mend="Audit more items, of several sources",
        )
    kinds = {c.id: c for c in meta.protocol.conditions}
    reference = meta.protocol.reference.id
    renderings = meta.renderings
    base = next(r for r in renderings if r.condition == reference and r.wording == 0)
    space = Wordings(
        policy,
        base,
        [
            (kinds[r.condition], r)
            for r in renderings
            if r.certified and kinds[r.condition].kind == "certified"
        ],
        wordings=spec.wordings,
        seed=spec.seed,
    )
    fit = eligible(spec.objective, table.gold)
    train = tuple(int(k) for k in np.flatnonzero(drawn & fit))
    held = tuple(int(k) for k in np.flatnonzero(~drawn & fit))
    sizes = Sizes(
        objective=spec.objective,
        whole=len(space.whole),
        mixes=spec.mixes,
        finalists=min(spec.finalists, len(space.whole)),
        train=len(train),
        held_out=len(held),
    )
    schedule = make_schedule(spec.calls, sizes)
    chosen = {
        "plan": view.plan_sha256,
        **{k: getattr(spec, k) for k in ("calls", "train", "seed", "wordings", "mixes")},
        "finalists": spec.finalists,
    }
    home = spec.out or Path(view.path).parent / "attack"
    folder = home / f"{spec.objective}-{sha256_of(chosen)[:8]}"
    return AttackPlan(spec, view, table, items, template, space, schedule, train, held, folder)


def _check(view: LedgerView, spec: AttackSpec) -> None:
    if spec.objective not in OBJECTIVES:
        raise ConfigError(unknown_name("objective", spec.objective, list(OBJECTIVES)))
    if not 0 < spec.train < 1:
        raise ConfigError(f"the share {spec.train} leaves nothing", mend="Give 0.5, for instance")
    for name, least in (("calls", 1), ("wordings", 1), ("mixes", 0), ("finalists", 1), ("seed", 0)):
        if getattr(spec, name) < least:
            raise ConfigError(
                f"{name} is {getattr(spec, name)}", mend=f"It must be {least} or more"
            )
    if view.meta.extra.get("imported") is not None or view.meta.judge.backend == "replay":
        raise ConfigError(
            "the judge of this run cannot be asked anew: its verdicts were imported or replayed",
            where=str(view.path),
            mend="Audit the judge itself, then attack that run",
        )


def attack(run: Path | str | AttackPlan, *, show: ProgressMode = "quiet", **choices: Any) -> Attack:
    """Search for the worst wording, measure it on held-out clusters, and keep what was found.

    `attack.json` beside the run's ledger holds the last attack of each objective.

    Parameters
    ----------
    run : path or AttackPlan
        Folder of a run, or what was planned for it.
    show : {"auto", "bar", "plain", "quiet"}
        Progress, on standard error.
    choices
        Fields of `AttackSpec`.

    Raises
    ------
    JudgeAuditError
        If it cannot begin or go on; what was answered is kept, and the same call goes on.
    """
    if isinstance(run, AttackPlan):
        return _told(run, show)
    with Ledger.open_readonly(ledger_of(Path(run))) as view:
        return _told(plan_attack(view, AttackSpec(**choices)), show)


def _told(plan: AttackPlan, show: ProgressMode) -> Attack:
    spec, schedule = plan.spec, plan.schedule
    control, progress = RunControl(), make_progress(show)
    ask = Asking(
        plan.view,
        plan.space,
        plan.folder,
        spec.limits,
        items=plan.items,
        template=plan.template,
        most=schedule.calls,
        progress=progress,
        control=control,
    )
    rng = np.random.default_rng((spec.seed, 1))
    steps: list[Round] = []

    async def asked(one: Round) -> Answers:
        steps.append(one)
        return await ask(one)

    async def story() -> tuple[Found, Answers] | None:
        try:
            looking = search(
                schedule,
                plan.space,
                spec.objective,
                train=plan.train,
                gold=plan.table.gold,
                rng=rng,
            )
            found = await _driven(looking, asked)
            return found, await asked(_last(plan, found, rng))
        except StoppedError:
            return None
        finally:
            await ask.aclose()

    with signals(control, progress, Limits(attempt_seconds=spec.limits.attempt_seconds)):
        ended = in_thread(story)
    if ended is None:
        raise KeyboardInterrupt("interrupted: the same command goes on")
    made = _record(plan, *ended, steps, ask.asked)
    _keep(plan, made)
    return made


async def _driven(
    looking: Generator[Round, Answers, Found], ask: Callable[[Round], Awaitable[Answers]]
) -> Found:
    wanted = next(looking)
    while True:
        answers = await ask(wanted)
        try:
            wanted = looking.send(answers)
        except StopIteration as end:
            found: Found = end.value
            return found


def _last(plan: AttackPlan, found: Found, rng: np.random.Generator) -> Round:
    """Measure the finalists on all held-out items, or on as many as the calls are enough for."""
    step = plan.schedule.held_out
    drawn = rng.permutation(np.asarray(plan.held_out, dtype=np.int64))[: step.items]
    items = tuple(sorted(int(k) for k in drawn))
    b = base_calls(plan.spec.objective)
    return Round("held_out", found.finalists, items, b * step.repeats, step.repeats)


def _record(
    plan: AttackPlan, found: Found, answers: Answers, steps: list[Round], asked: int
) -> Attack:
    spec, meta, table = plan.spec, plan.view.meta, plan.table
    figures = measured(
        answers,
        found.finalists,
        objective=spec.objective,
        gold=table.gold,
        clusters=table.clusters,
        alpha=spec.alpha,
        seed=spec.seed,
    )
    judge = meta.judge
    return Attack(
        plan_sha256=plan.view.plan_sha256,
        judge=judge.model if judge.backend == "litellm" else f"{judge.backend}:{judge.model}",
        policy=meta.policy.id,
        corpus=meta.corpus.name,
        objective=spec.objective,
        seed=spec.seed,
        share=spec.train,
        alpha=spec.alpha,
        calls=spec.calls,
        planned=plan.schedule.calls,
        asked=asked,
        tried=found.tried,
        rejected=plan.space.rejected,
        n_train=len(set(table.clusters[list(plan.train)].tolist())),
        n_train_items=len(plan.train),
        n_held_out=len(set(table.clusters[list(plan.held_out)].tolist())),
        n_held_out_items=len(plan.held_out),
        steps=tuple(
            Step(
                stage=s.stage,
                wordings=len(s.arms),
                items=len(s.items),
                repeats=s.repeats,
                calls=s.calls,
            )
            for s in steps
        ),
        finalists=tuple(_finalist(plan, a, figures[a], found.naive[a]) for a in found.finalists),
        folder=plan.folder.name,
    )


def _finalist(plan: AttackPlan, arm: int, m: Measured, naive: float | None) -> Finalist:
    text = plan.space.texts[arm]
    known = naive is not None and m.gain is not None
    return Finalist(
        name=text.name,
        edits=text.edits,
        rendering=text.rendering,
        naive=naive,
        shrinkage=(naive or 0.0) - (m.gain or 0.0) if known else None,
        **asdict(m),
    )


def _keep(plan: AttackPlan, made: Attack) -> None:
    path = Path(plan.view.path).parent / FILE
    others: tuple[Attack, ...] = ()
    if path.is_file():
        try:
            before = Attacks.model_validate_json(path.read_bytes())
        except ValueError as e:
            raise LedgerError(
                "this is no record of judgeaudit attack",
                where=str(path),
                mend="Move it away; the same command then writes it anew, and asks nobody",
            ) from e
        others = tuple(
            a
            for a in before.attacks
            if a.plan_sha256 == made.plan_sha256 and a.objective != made.objective
        )
    kept = Attacks(attacks=tuple(sorted((*others, made), key=lambda a: a.objective)))
    temporary = path.with_suffix(".json.part")
    temporary.write_text(kept.model_dump_json(indent=1) + "\n", encoding="utf-8")
    temporary.replace(path)
