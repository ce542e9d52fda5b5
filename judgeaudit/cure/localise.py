"""Which words did it: from a run's flips to the smallest edits behind them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from judgeaudit._version import __version__
from judgeaudit.core.errors import ConfigError, unknown_name
from judgeaudit.core.hashing import sha256_of, stable_seed
from judgeaudit.core.records import AuditSpec, Condition, Item, Label, Policy
from judgeaudit.core.records.localised import Localised
from judgeaudit.cure.edits import Edits, edits_between
from judgeaudit.cure.localise_ask import InLedgers, Prompts, StoppedError
from judgeaudit.cure.localise_gather import searched, section
from judgeaudit.cure.localise_rounds import CALLS_A_FLIP, LEVEL, Flip, Rounds
from judgeaudit.cure.localise_search import ERROR, SURE
from judgeaudit.engine.control import RunControl
from judgeaudit.engine.door import in_thread, signals
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.lock import RunLock
from judgeaudit.engine.progress import ProgressMode, make_progress
from judgeaudit.engine.view import LedgerView
from judgeaudit.review.questions import items_of

__all__ = ["Planned", "localise", "plan_localising", "run_policy"]

_KINDS: Final = {True: "ambiguous", False: "clear", None: "unknown"}


@dataclass(slots=True)
class Target:
    """One condition whose flips are traced."""

    edits: Edits
    flips: list[Flip]
    n_compared: int


@dataclass(slots=True)
class Planned:
    """What is to be asked.

    Parameters
    ----------
    targets : tuple of Target
        Conditions with their flips.
    begun : tuple of Flip
        Flips that the budget is enough for, drawn at random.
    calls : int
        Calls at most.
    folder : Path
        Where rounds are kept.
    others : dict of str to int
        Conditions that are left alone, with their flips.
    """

    targets: tuple[Target, ...]
    begun: tuple[Flip, ...]
    calls: int
    folder: Path
    others: dict[str, int]


def run_policy(view: LedgerView, named: Path | str | None = None) -> Policy:
    """Return the policy of a run as data.

    Parameters
    ----------
    view : LedgerView
        The run.
    named : path or str, optional
        Where it is, if it does not ship.

    Raises
    ------
    ConfigError
        If it is not the policy that the run was made with.
    """
    from judgeaudit.policy import load_policy
    from judgeaudit.policy.loading import policy_names

    facts = view.meta.policy
    mend = "Give the policy's file with --policy"
    if named is None and facts.id not in policy_names():
        raise ConfigError(f"the policy {facts.id!r} does not ship", mend=mend)
    policy = load_policy(named if named is not None else facts.id, language=facts.language)
    if policy.sha256 != facts.sha256:
        raise ConfigError(
            f"{str(named or facts.id)!r} is not the policy that this run was made with: its hash "
            f"is {policy.sha256[:12]}, the run's {facts.sha256[:12]}",
            mend=mend,
        )
    return policy


def plan_localising(
    view: LedgerView,
    folder: Path,
    *,
    conditions: Sequence[str] = (),
    policy: Path | str | None = None,
    calls: int = 2000,
) -> Planned:
    """Find the flips of a run, and choose which of them the budget is enough for.

    Parameters
    ----------
    view : LedgerView
        The run.
    folder : Path
        Its folder.
    conditions : sequence of str
        Conditions to trace; by default the certified or near one with most flips.
    policy : path or str, optional
        The run's policy, if it does not ship.
    calls : int
        Calls at most, all sessions together.

    Raises
    ------
    ConfigError
        If a condition is not in the run or is meant to move verdicts, or nothing can be asked.
    """
    if calls < 1:
        raise ConfigError(f"a budget of {calls} calls asks nothing", mend="Give --calls 2000")
    if view.meta.judge.backend == "replay":
        raise ConfigError(
            "a replayed judge answers nothing that was not asked before",
            mend="Localise a run of a judge that can be asked",
        )
    stated = run_policy(view, policy)
    known = {
        c.id: c
        for c in view.meta.protocol.conditions
        if c.kind in ("certified", "near") and c.side == "policy"
    }
    for id_ in conditions:
        if id_ not in known:
            raise ConfigError(unknown_name("condition of this run", id_, list(known)))
    verdicts = _verdicts(view)
    items = items_of(view)
    flips = {
        id_: _flipped(verdicts, c, view.meta.protocol.reference.id) for id_, c in known.items()
    }
    chosen = tuple(conditions) or tuple(
        sorted((i for i in known if flips[i][1]), key=lambda i: -len(flips[i][1]))[:1]
    )
    targets = tuple(_target(view, stated, known[i], flips[i], items) for i in dict.fromkeys(chosen))
    drawn = [f for t in targets for f in t.flips]
    drawn.sort(key=lambda f: stable_seed("localise", view.meta.protocol.seed, f.item, f.to))
    # not the budget: whoever raises it goes on from what is there
    named = {"conditions": sorted(chosen), "plan": view.plan_sha256}
    return Planned(
        targets,
        tuple(drawn[: max(1, calls // CALLS_A_FLIP)]),
        calls,
        folder / "localise" / sha256_of(named)[:8],
        {i: len(f[1]) for i, f in flips.items() if i not in chosen},
    )


def _verdicts(view: LedgerView) -> dict[str, dict[str, Counter[Label]]]:
    """Count the labels of each item under each condition, in its first wording."""
    out: dict[str, dict[str, Counter[Label]]] = defaultdict(lambda: defaultdict(Counter))
    for row in view.rows():
        if row["outcome"] == "verdict" and row["wording"] == 0:
            out[row["item"]][row["condition"]][row["label"]] += 1
    return out


def _majority(counts: Counter[Label]) -> Label | None:
    safe, unsafe = counts["SAFE"], counts["UNSAFE"]
    return None if safe == unsafe else "UNSAFE" if unsafe > safe else "SAFE"


def _flipped(
    verdicts: dict[str, dict[str, Counter[Label]]], condition: Condition, base: str
) -> tuple[int, dict[str, Label]]:
    """Count items with a verdict under both; return those that differ, with the base verdict."""
    compared, out = 0, {}
    for key, by in sorted(verdicts.items()):
        before, after = _majority(by[base]), _majority(by[condition.id])
        if before is None or after is None:
            continue
        compared += 1
        if before != after:
            out[key] = before
    return compared, out


def _target(
    view: LedgerView,
    policy: Policy,
    condition: Condition,
    flips: tuple[int, dict[str, Label]],
    items: dict[str, Item],
) -> Target:
    texts = {(r.condition, r.wording): r for r in view.meta.renderings}
    base, rewrite = texts[view.meta.protocol.reference.id, 0], texts[condition.id, 0]
    edits = edits_between(policy, base, rewrite, condition)
    prompts = Prompts(view)
    compared, by_item = flips
    for text in (base, rewrite):
        for row in view.rows(condition=text.condition):
            if row["wording"] == 0:
                prompts.check(items[row["item"]], text, row["prompt_sha256"])
                break
    made = [
        Flip(key, items[key].cluster, items[key].dataset, _KINDS[items[key].ambiguous], edits, to)
        for key, to in by_item.items()
    ]
    return Target(edits, made, compared)


def localise(
    view: LedgerView,
    plan: Planned,
    spec: AuditSpec,
    *,
    show: ProgressMode = "quiet",
) -> Localised | None:
    """Ask, or go on where an earlier session stopped, and gather what was found.

    Parameters
    ----------
    view : LedgerView
        The run.
    plan : Planned
        What to ask.
    spec : AuditSpec
        Limits and budget, over all sessions together.
    show : {"auto", "bar", "plain", "quiet"}
        Progress, on standard error.

    Returns
    -------
    Localised or None
        None where it was interrupted; the same choices go on.

    Raises
    ------
    JudgeAuditError
        If it cannot begin or go on; what was answered is kept.
    """
    plan.folder.mkdir(parents=True, exist_ok=True)
    # two at a time would pay for the same answers
    lock = RunLock(plan.folder / "search")
    try:
        return _searched(view, plan, spec, show)
    finally:
        lock.release()


def _searched(
    view: LedgerView, plan: Planned, spec: AuditSpec, show: ProgressMode
) -> Localised | None:
    control, progress = RunControl(), make_progress(show)
    ask = InLedgers(view, plan.folder, spec, calls=plan.calls, progress=progress, control=control)
    rounds = Rounds(plan.begun, ask, plan.calls - ask.paid, ask.price)

    async def story() -> bool:
        try:
            await rounds.run()
        except StoppedError:
            return False
        finally:
            await ask.aclose()
        return True

    with signals(control, progress, Limits(attempt_seconds=spec.attempt_seconds)):
        if not in_thread(story):
            return None
    return gathered(view, plan, rounds, ask.paid)


def gathered(view: LedgerView, plan: Planned, rounds: Rounds, paid: int | None = None) -> Localised:
    """Say what the rounds found; `paid` are the calls of all sessions."""
    meta, level = view.meta, view.meta.protocol.level
    begun = {id(f) for f in plan.begun}
    return Localised(
        version=__version__,
        judge=f"{meta.judge.backend}:{meta.judge.model}",
        policy=meta.policy.id,
        corpus=meta.corpus.name,
        plan_sha256=view.plan_sha256,
        calls=rounds.calls if paid is None else paid,
        calls_most=plan.calls,
        rounds=rounds.rounds,
        level=LEVEL,
        error=ERROR,
        sure=SURE,
        interval_level=level,
        sections=tuple(
            section(
                t.edits,
                [f for f in t.flips if id(f) in begun],
                t.n_compared,
                len(t.flips),
                level=level,
            )
            for t in plan.targets
        ),
        items=tuple(searched(f) for f in sorted(plan.begun, key=lambda f: f.item)),
    )
