"""Asks the rounds of an attack through the engine, each into a ledger of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from judgeaudit.core.clock import now_utc
from judgeaudit.core.errors import ConfigError, LedgerError
from judgeaudit.core.records import (
    AuditSpec,
    Item,
    JudgePrompt,
    JudgeTemplate,
    Protocol,
    Rendering,
)
from judgeaudit.core.table import Counts
from judgeaudit.core.versions import versions
from judgeaudit.cure.attack_search import Answers, Round
from judgeaudit.cure.attack_space import Wordings
from judgeaudit.cure.rounds_ask import Seat, StoppedError
from judgeaudit.engine.control import RunControl
from judgeaudit.engine.identity import RunMeta
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.plan import Plan, build_plan
from judgeaudit.engine.progress import Progress
from judgeaudit.engine.view import LedgerView
from judgeaudit.policy.prompts import build_prompt

__all__ = ["Asking", "StoppedError", "template_of_run"]

_KEPT = ("retry_truncated", "confidence")


def template_of_run(view: LedgerView, items: Mapping[str, Item]) -> JudgeTemplate:
    """Return the template that a run's prompts were made of, proven on one of them.

    Raises
    ------
    LedgerError
        If a prompt cannot be rebuilt as it was sent.
    """
    meta = view.meta
    system, _, user = meta.template.removeprefix("[system]\n").partition("\n\n[user]\n")
    template = JudgeTemplate(id="run", system=system, user=user.removesuffix("\n"))
    texts = {(r.condition, r.wording): r for r in meta.renderings}
    reference = meta.protocol.reference.id
    for row in view.rows(condition=reference):
        item, text = items[row["item"]], texts[reference, row["wording"]]
        key = f"{meta.protocol.seed}/{item.key}"
        made = build_prompt(template, text, item.trajectory, fence_key=key)
        if made.sha256 == row["prompt_sha256"]:
            return template
        break
    raise LedgerError(
        "the run's prompts cannot be rebuilt as they were sent",
        where=str(view.path),
        mend="Audit the judge anew with this version, then attack that run",
    )


class Asking:
    """Asks rounds about a run's items.

    Parameters
    ----------
    view : LedgerView
        The run that is attacked; its judge is asked.
    space : Wordings
        The texts.
    folder : Path
        Of the ledgers.
    spec : AuditSpec
        Limits and budget, over all rounds and sessions.
    items : mapping of str to Item
        Its items.
    template : JudgeTemplate
        Its prompt template.
    most : int
        Calls at most, for the bar.
    progress, control
        As of `run_plan`.
    """

    def __init__(
        self,
        view: LedgerView,
        space: Wordings,
        folder: Path,
        spec: AuditSpec,
        *,
        items: Mapping[str, Item],
        template: JudgeTemplate,
        most: int,
        progress: Progress,
        control: RunControl,
    ) -> None:
        self._view, self._items, self._template = view, items, template
        self._space, self._folder = space, folder
        self._seat = Seat(view, folder, spec, most=most, progress=progress, control=control)
        self._keys = view.table().items
        self._place = {key: k for k, key in enumerate(self._keys)}
        # repeats of the run were seen already: what is asked here is fresh
        self._repeat = 1 + max((int(r["repeat"]) for r in view.rows()), default=0)
        self._round = 0
        self.asked = 0

    def path(self, number: int) -> Path:
        """Return where a round is kept."""
        return self._folder / f"round-{number:02d}.sqlite"

    async def __call__(self, asked: Round) -> Answers:
        """Ask a round, or read what an earlier session was answered."""
        self._round += 1
        plan, meta = self._plan(asked)
        path = self.path(self._round)
        if path.exists() and self.path(self._round + 1).exists():
            # later rounds follow from what this one holds, also from its failures
            with LedgerView(path) as view:
                Ledger.check_same_run(view, meta, plan)
                return self._read(view, asked)
        path.parent.mkdir(parents=True, exist_ok=True)
        ledger = Ledger.open(path, meta, plan)
        try:
            # nobody knocks before: the ledger stands, and the first call finds out
            judge = self._seat.judge((self._items[k] for k in self._keys), fresh=False)
            await self._seat.ask(judge, plan, ledger)
            return self._read(ledger, asked)
        except ConfigError:
            if self._round == 1:
                ledger.discard()
            raise
        finally:
            ledger.close()

    async def aclose(self) -> None:
        """Close the judge, on the loop on which it was asked."""
        await self._seat.aclose()

    def _plan(self, asked: Round) -> tuple[Plan, RunMeta]:
        run = self._view.meta
        texts = [self._space.texts[a] for a in asked.arms]
        base = run.protocol.reference
        conditions = tuple({c.id: c for c in (base, *(t.condition for t in texts))}.values())
        renderings = (self._space.base, *(t.rendering for t in texts))
        protocol = Protocol(
            preset="attack",
            base_repeats=asked.base_repeats,
            repeats=asked.repeats,
            conditions=conditions,
            wordings=1 + max(r.wording for r in renderings),
            seed=run.protocol.seed,
        )
        seed, template = run.protocol.seed, self._template

        def prompt_of(item: Item, rendering: Rendering) -> JudgePrompt:
            return build_prompt(
                template, rendering, item.trajectory, fence_key=f"{seed}/{item.key}"
            )

        plan = build_plan(
            [self._items[self._keys[k]] for k in asked.items],
            renderings,
            protocol,
            self._seat.judge_spec,
            prompt_of,
            price=self._seat.price,
        )
        plan = replace(plan, repeats=plan.repeats + self._repeat)
        self._repeat += max(asked.base_repeats, asked.repeats)
        meta = RunMeta(
            protocol=protocol,
            judge=self._seat.judge_spec,
            policy=run.policy,
            renderings=renderings,
            corpus=run.corpus,
            template=run.template,
            versions=versions(),
            created=now_utc(),
            extra={
                "attack": asked.stage,
                "asked_about": self._view.plan_sha256,
                **{k: run.extra[k] for k in _KEPT if k in run.extra},
            },
        )
        return plan, meta

    def _read(self, view: LedgerView, asked: Round) -> Answers:
        """Count the outcomes; a call without a verdict is counted as failed, never as a label."""
        base = self._space.base
        columns = {(base.condition, base.wording): 0}
        for k, arm in enumerate(asked.arms, start=1):
            text = self._space.texts[arm]
            columns[text.condition.id, text.rendering.wording] = k
        counts = np.zeros((3, len(columns), len(self._keys)), dtype=np.int64)
        for row in view.rows():
            at = columns[row["condition"], row["wording"]], self._place[row["item"]]
            self.asked += 1
            if row["outcome"] != "verdict":
                counts[2, *at] += 1
                continue
            counts[1, *at] += 1
            counts[0, *at] += row["label"] == "UNSAFE"
        made = [Counts(*counts[:, k]) for k in range(len(columns))]
        return Answers(made[0], dict(zip(asked.arms, made[1:], strict=True)))
