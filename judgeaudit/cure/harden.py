"""Mend a judge: make candidates on one half of the clusters, audit them on the other.

::

    from judgeaudit.cure import harden

    found = harden.harden("runs/mine", out="hardened")
    print(found.verdict)

Nothing is chosen and tested on the same items; what it comes to is corrected for choosing. That no
candidate is shown to be better is an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import AuditSpec, Policy
from judgeaudit.core.table import UNSAFE, only_items
from judgeaudit.cure.harden_audit import (
    Planned,
    Source,
    costs_of,
    known_replies,
    ledger_of,
    plan_candidate,
    spent_on,
)
from judgeaudit.cure.harden_candidates import (
    Candidates,
    Made,
    Training,
    base_judge,
    make_candidates,
)
from judgeaudit.cure.harden_compare import EXCESS, Side, compare, decided
from judgeaudit.cure.harden_export import export
from judgeaudit.cure.harden_records import Candidate, Hardened
from judgeaudit.cure.seeds import check_seed
from judgeaudit.judges._hardening import HardenedConfig, split_wording
from judgeaudit.judges.hardened import Known, knowing
from judgeaudit.stats.splits import part

if TYPE_CHECKING:
    from judgeaudit.engine.progress import ProgressMode
    from judgeaudit.engine.view import LedgerView

__all__ = ["NONE", "HardenPlan", "HardenSpec", "harden", "ledger_of", "plan_hardening"]

NONE: Final = "no candidate is shown better"
_FILE: Final = "hardened.toml"


@dataclass(frozen=True, slots=True)
class HardenSpec:
    """The choices of a hardening.

    Parameters
    ----------
    out : Path
        Folder of the candidates' runs.
    strategies : tuple of str
        Which are tried; all that can be where it is empty.
    train : float
        Share of clusters that choices rest on; the others are held out.
    seed : int
        Of the split.
    panel, examples : int
        Wordings of a panel beside the incoming one, and worked examples.
    alpha : float
        Chance that any candidate is said to be better though none is.
    policy, template : str, optional
        The policy's or the prompt template's file, where it is none that ships.
    limits : AuditSpec
        Concurrency, deadlines and budget. The budget is one for all candidates together.
    """

    out: Path
    strategies: tuple[str, ...] = ()
    train: float = 0.5
    seed: int = 0
    panel: int = 2
    examples: int = 4
    alpha: float = 0.05
    policy: str | None = None
    template: str | None = None
    limits: AuditSpec = field(default_factory=AuditSpec)


@dataclass(frozen=True, slots=True)
class HardenPlan:
    """Everything before the first call."""

    spec: HardenSpec
    source: Source
    train: tuple[str, ...]
    held_out: tuple[str, ...]
    candidates: Candidates
    planned: tuple[Planned, ...]

    @property
    def requests(self) -> int:
        """Requests that must be made: all less those whose answer the run has."""
        return sum(p.requests - p.known for p in self.planned)

    @property
    def answered(self) -> int:
        """Verdicts of candidates that earlier sessions have."""
        return sum(spent_on(p.ready.folder)[1] for p in self.planned)

    @property
    def known(self) -> int:
        """Answers that the run has already."""
        return sum(p.known for p in self.planned)


def plan_hardening(view: LedgerView, spec: HardenSpec) -> HardenPlan:
    """Split, choose and plan; asks nobody anything.

    Parameters
    ----------
    view : LedgerView
        The run of the judge as it is.
    spec : HardenSpec
        The choices.

    Raises
    ------
    ConfigError
        If the run cannot be hardened, or its judge not be asked again.
    """
    from judgeaudit.review.questions import items_of

    _check(view, spec)
    table, items = view.table(), items_of(view)
    positive = table.gold == UNSAFE
    drawn = part(table.clusters, spec.train, np.random.default_rng(spec.seed), positive)
    if not drawn.any() or drawn.all():
        raise ConfigError(
            "the run has one cluster, so nothing can be held out",
            where=str(view.path),
            mend="Audit more items, of several sources",
        )
    policy, named = policy_of_run(view, spec.policy)
    base = base_judge(view.meta.judge, spec.template)
    train = [k for k in range(table.n_items) if drawn[k]]
    keys = tuple(table.items[k] for k in train)
    training = Training(
        table=only_items(table, train),
        items=[items[k] for k in keys],
        meta=view.meta,
        policy=policy,
        policy_name=named,
        base=base,
        panel=spec.panel,
        examples=spec.examples,
        seed=spec.seed,
    )
    candidates = make_candidates(spec.strategies, training)
    held = tuple(table.items[k] for k in range(table.n_items) if not drawn[k])
    source = Source(view, items, table, known_replies(view), spec.template)
    planned = tuple(
        plan_candidate(source, made.config, held, spec.out / made.config.name, _limits(spec, made))
        for made in candidates.made
    )
    return HardenPlan(spec, source, keys, held, candidates, planned)


def _limits(spec: HardenSpec, made: Made) -> AuditSpec:
    """Give a call of several requests the time of as many."""
    n, own = made.config.calls, spec.limits
    return own.model_copy(
        update={
            "attempt_seconds": own.attempt_seconds * n,
            "call_seconds": own.call_seconds * n,
            # requests are counted where they are made
            "budget_calls": None,
        }
    )


def _check(view: LedgerView, spec: HardenSpec) -> None:
    check_seed(spec.seed)
    if not 0 < spec.train < 1:
        raise ConfigError(f"the share {spec.train} leaves nothing", mend="Give 0.5, for instance")
    if view.meta.extra.get("imported") is not None:
        raise ConfigError(
            "these verdicts were imported: their judge cannot be asked again",
            where=str(view.path),
            mend="Audit the judge itself, then harden that run",
        )
    if view.n_answered == 0:
        raise ConfigError("no call of this run was answered", where=str(view.path))


def policy_of_run(view: LedgerView, given: str | None) -> tuple[Policy, str]:
    """Return the policy of a run, and what it is called; a ConfigError where it is another."""
    from judgeaudit.policy import load_policy, policy_names

    facts = view.meta.policy
    named = given or facts.id
    if given is None and named not in policy_names(facts.language):
        raise ConfigError(
            f"the run's policy {named!r} is none that ships",
            where=str(view.path),
            mend="Give its file as --policy",
        )
    policy = load_policy(named, language=facts.language)
    if policy.sha256 != facts.sha256:
        raise ConfigError(
            f"the policy {named!r} is another one than the run's",
            where=str(view.path),
            mend="Give the file that the run was made with as --policy",
        )
    return policy, named


def harden(
    run: Path | str | HardenPlan,
    *,
    out: Path | str | None = None,
    show: ProgressMode = "quiet",
    note: Callable[[str], None] = lambda _: None,
    **choices: object,
) -> Hardened:
    """Mend a judge, and say whether any mended one is shown to be better.

    Parameters
    ----------
    run : path or HardenPlan
        Folder of a run of the judge as it is, or what was planned for it.
    out : path, optional
        Folder of the candidates' runs; the same one goes on.
    show : {"auto", "bar", "plain", "quiet"}
        Progress, on standard error.
    note : callable
        Told of each candidate before it is asked.
    choices
        Other fields of `HardenSpec`.

    Raises
    ------
    JudgeAuditError
        If it cannot begin or go on; what was answered is kept, and the same call goes on.
    """
    if isinstance(run, HardenPlan):
        return _told(run, show, note)
    from judgeaudit.engine.ledger import Ledger

    path = ledger_of(Path(run))
    spec = HardenSpec(out=Path(out or path.parent / "hardened"), **choices)  # type: ignore[arg-type]
    with Ledger.open_readonly(path) as view:
        return _told(plan_hardening(view, spec), show, note)


def _told(plan: HardenPlan, show: ProgressMode, note: Callable[[str], None]) -> Hardened:
    spec = plan.spec
    left = _left(plan)
    with knowing(Known(plan.source.replies, left)) as known:
        candidates = []
        for number, made in enumerate(plan.candidates.made):
            note(f"{made.strategy}: {made.what}")
            candidates.append(_audited(plan, number, show, known))
    settled = decided(
        candidates, alpha=spec.alpha, margin=plan.source.view.meta.protocol.practical_threshold
    )
    return _concluded(plan, settled)


def _left(plan: HardenPlan) -> int | None:
    """Return how many requests may still be made, all sessions together."""
    cap = plan.spec.limits.budget_calls
    if cap is None:
        return None
    spent = [spent_on(p.ready.folder) for p in plan.planned]
    if not any(answered for _, answered in spent) and plan.requests > cap:
        raise ConfigError(
            f"{plan.requests:,} requests are planned, and --budget-calls is {cap:,}",
            mend="Raise it, or name fewer strategies (--strategy)",
        )
    return max(0, cap - sum(requests for requests, _ in spent))


def _audited(plan: HardenPlan, number: int, show: ProgressMode, known: Known) -> Candidate:
    from judgeaudit import audit
    from judgeaudit.engine.ledger import Ledger
    from judgeaudit.review.texts import uncertified

    made, planned, before = plan.candidates.made[number], plan.planned[number], known.asked
    result = audit.run(planned.ready, show=show)
    if result.interrupted:
        raise KeyboardInterrupt("interrupted: the same command goes on")
    source, meta = plan.source, plan.source.view.meta
    place = [k for k, key in enumerate(source.table.items) if key in set(plan.held_out)]
    held = only_items(source.table, place)
    with Ledger.open_readonly(ledger_of(planned.ready.folder)) as view:
        after = Side(
            view.table(),
            costs_of(view, view.table().items),
            planned.requests / planned.ready.plan.n_calls,
        )
    figures, responsive, _ = compare(
        Side(held, costs_of(source.view, held.items), 1.0),
        after,
        meta.protocol,
        uncertified=uncertified(meta, meta.renderings),
        kept_out=kept_out(made.config),
        n_candidates=len(plan.planned),
        alpha=plan.spec.alpha,
    )
    certified = [c.id for c in meta.protocol.conditions if c.kind == "certified"]
    return Candidate(
        name=made.config.name,
        strategy=made.strategy,
        what=made.what,
        invariant=made.config.discards,
        conditions=tuple(c for c in certified if c not in kept_out(made.config)),
        figures=figures,
        shown_better=False,
        accuracy="not known",
        responsive=responsive,
        folder=str(planned.ready.folder),
        config=str(planned.ready.folder / _FILE),
        asked=known.asked - before,
        reused=planned.known,
    )


def kept_out(config: HardenedConfig) -> frozenset[str]:
    """Return the conditions that a panel is not measured under: those of its own wordings."""
    if config.discards:
        return frozenset()
    return frozenset(split_wording(w)[0] for w in config.wordings if w not in {"incoming", "base"})


def _concluded(plan: HardenPlan, candidates: Sequence[Candidate]) -> Hardened:
    better = [c for c in candidates if c.shown_better]

    def rank(c: Candidate) -> tuple[float, float]:
        excess, requests = c.figure(EXCESS), c.figure("requests a verdict")
        return (
            excess.after if excess is not None and excess.after is not None else 1.0,
            requests.after if requests is not None and requests.after is not None else 0.0,
        )

    winner = min(better, key=rank) if better else None
    meta, spec = plan.source.view.meta, plan.spec
    clusters = {key: i.cluster for key, i in plan.source.items.items()}
    judge = meta.judge
    found = Hardened(
        judge=judge.model if judge.backend == "litellm" else f"{judge.backend}:{judge.model}",
        policy=meta.policy.id,
        corpus=meta.corpus.name,
        run=str(plan.source.view.path),
        verdict=NONE if winner is None else winner.name,
        winner=None if winner is None else winner.name,
        seed=spec.seed,
        share=spec.train,
        n_train=len({clusters[k] for k in plan.train}),
        n_train_items=len(plan.train),
        n_held_out=len({clusters[k] for k in plan.held_out}),
        n_held_out_items=len(plan.held_out),
        alpha=spec.alpha,
        practical_threshold=meta.protocol.practical_threshold,
        wordings=plan.candidates.wordings,
        candidates=tuple(candidates),
        skipped=plan.candidates.skipped,
    )
    if winner is not None:
        made = next(m for m in plan.candidates.made if m.config.name == winner.name)
        export(made.config, found, winner, plan.spec.out / _FILE)
    return found
