"""Asks rounds of questions about a run's items through the engine: limits, retries, ledgers.

Each round has a ledger of its own, with the guarantees of the run's. What is asked in a round
follows from the answers of those before it; so the same command goes on where it was stopped, and
no answer is paid twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np

from judgeaudit.core.clock import now_utc
from judgeaudit.core.errors import ConfigError, LedgerError
from judgeaudit.core.hashing import sha256_text
from judgeaudit.core.records import (
    AuditSpec,
    Condition,
    Item,
    JudgePrompt,
    JudgeTemplate,
    Label,
    Protocol,
    Rendering,
)
from judgeaudit.core.versions import versions
from judgeaudit.cure.localise_rounds import Question
from judgeaudit.engine.budget import Amount, Budget, Caps, spent_before
from judgeaudit.engine.choices import judge_of, limits_of, price_of
from judgeaudit.engine.control import RunControl
from judgeaudit.engine.door import run_plan_closing
from judgeaudit.engine.estimate import make_estimate
from judgeaudit.engine.identity import RunMeta
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.plan import Column, Plan
from judgeaudit.engine.progress import Progress
from judgeaudit.engine.view import LedgerView
from judgeaudit.judges.base import Judge
from judgeaudit.policy.prompts import build_prompt
from judgeaudit.review.questions import items_of

__all__ = ["InLedgers", "Prompts", "StoppedError"]

_SHA: Final = 32
_LONG: Final = 60


class StoppedError(Exception):
    """The user interrupted a round; what was answered is kept."""


class _OneBar:
    """Shows all rounds as one run, against the calls that they may take at most."""

    def __init__(self, inner: Progress, most: int) -> None:
        self._inner, self._most, self._begun = inner, most, False

    def begin(self, planned: int, answered: int) -> None:
        """Start at the first round that is asked."""
        del planned
        if not self._begun:
            self._inner.begin(self._most, answered)
        self._begun = True

    def count(self, outcome: str, cost: float | None) -> None:
        """Count a call."""
        self._inner.count(outcome, cost)

    def note(self, line: str) -> None:
        """Say a line."""
        self._inner.note(line)

    def end(self) -> None:
        """Go on: another round may follow."""

    def close(self) -> None:
        """Stop."""
        if self._begun:
            self._inner.end()


class Prompts:
    """Rebuilds a run's prompts from its ledger, also for texts that the run did not ask.

    Parameters
    ----------
    view : LedgerView
        The run.

    Raises
    ------
    LedgerError
        If it does not hold what its prompts were made of.
    """

    def __init__(self, view: LedgerView) -> None:
        meta = view.meta
        system, mark, user = meta.template.removeprefix("[system]\n").partition("\n\n[user]\n")
        if not mark:
            raise LedgerError(
                "the run does not hold what its prompts were made of",
                where=str(view.path),
                mend="Only a run that was asked here can be asked more",
            )
        self._template = JudgeTemplate(id="run", system=system, user=user.removesuffix("\n"))
        self._seed, self._path = meta.protocol.seed, view.path

    def __call__(self, item: Item, rendering: Rendering) -> JudgePrompt:
        """Return the prompt of an item under a text."""
        key = f"{self._seed}/{item.key}"
        return build_prompt(self._template, rendering, item.trajectory, fence_key=key)

    def check(self, item: Item, rendering: Rendering, sha256: str) -> None:
        """Prove on one prompt that it is made as it was sent.

        Raises
        ------
        LedgerError
            If it is not.
        """
        if self(item, rendering).sha256 != sha256:
            raise LedgerError(
                f"the prompt of {item.key!r} cannot be rebuilt as it was sent",
                where=str(self._path),
                mend="Ask with the version of judgeaudit that made the run",
            )


class InLedgers:
    """Asks rounds, each into its own ledger below a folder; as `localise_rounds.Ask`.

    Parameters
    ----------
    view : LedgerView
        The run that is asked about.
    folder : Path
        Where the rounds are kept.
    spec : AuditSpec
        Limits and budget of all rounds together; the judge is the run's own.
    calls : int
        Calls at most, for the bar.
    progress, control
        As of `run_plan`.
    """

    def __init__(
        self,
        view: LedgerView,
        folder: Path,
        spec: AuditSpec,
        *,
        calls: int,
        progress: Progress,
        control: RunControl,
    ) -> None:
        self._view, self._folder, self._spec = view, folder, spec
        self._progress, self._control = _OneBar(progress, calls), control
        self._items, self._prompts = items_of(view), Prompts(view)
        self._judge_spec = view.meta.judge
        self._price = price_of(spec, self._judge_spec)
        self._limits = limits_of(
            spec.model_copy(update={"retry_truncated": view.meta.extra.get("retry_truncated")}),
            self._judge_spec,
        )
        depth = {r["repeat"] for r in view.rows(condition=_reference(view).id)}
        # repeats of the run were seen already: what is asked here is fresh
        self._first = max(view.meta.protocol.repeats, *(n + 1 for n in depth))
        self._asked: dict[tuple[str, str, int], int] = defaultdict(lambda: self._first)
        self._judge: Judge | None = None
        self._budget: Budget | None = None
        self._round = 0

    def path(self, number: int) -> Path:
        """Return where a round is kept."""
        return self._folder / f"round-{number:04d}.sqlite"

    async def __call__(self, questions: Sequence[Question]) -> Sequence[Label | None]:
        """Ask a round, or read what an earlier session was answered."""
        self._round += 1
        plan, meta, places = self._plan(questions)
        path = self.path(self._round)
        if path.exists() and self.path(self._round + 1).exists():
            with LedgerView(path) as view:
                Ledger.check_same_run(view, meta, plan)
                return _read(view, places)
        ledger = Ledger.open(path, meta, plan)
        try:
            summary = await run_plan_closing(
                plan,
                self._the_judge(),
                ledger,
                close_judge=False,
                limits=self._limits,
                progress=self._progress,
                control=self._control,
                budget=self._the_budget(),
                price=self._price,
            )
            if summary.interrupted:
                raise StoppedError
            return _read(ledger, places)
        except ConfigError:
            if self._round == 1:
                ledger.discard()
            raise
        finally:
            ledger.close()

    async def aclose(self) -> None:
        """Close the judge, on the loop on which it was asked."""
        self._progress.close()
        if self._judge is not None:
            with suppress(TimeoutError):
                await self._judge.aclose()

    def _the_judge(self) -> Judge:
        if self._judge is None:
            fresh = not self.path(1).exists()
            items = tuple(self._items.values())
            self._judge = judge_of(self._judge_spec, items, self._spec.attempt_seconds, fresh=fresh)
        return self._judge

    def _the_budget(self) -> Budget | None:
        s = self._spec
        caps = Caps(usd=s.budget_usd, tokens=s.budget_tokens, calls=s.budget_calls)
        if caps and self._budget is None:
            used = Amount()
            for path in sorted(self._folder.glob("round-*.sqlite")):
                with LedgerView(path) as view:
                    used += spent_before(view, self._price)
            self._budget = Budget(caps, used)
        return self._budget

    def _plan(
        self, questions: Sequence[Question]
    ) -> tuple[Plan, RunMeta, list[tuple[str, str, int]]]:
        """Lay out a round; return, too, where the answer to each question will stand."""
        run = self._view.meta
        items = tuple(sorted({q.flip.item: self._items[q.flip.item] for q in questions}.values(),
                             key=lambda i: i.key))  # fmt: skip
        texts: dict[str, tuple[Condition, Rendering]] = {}
        made = []
        for q in questions:
            condition, rendering = _column(q, _reference(self._view))
            texts.setdefault(condition.id, (condition, rendering))
            made.append((q.flip.item, condition.id))
        columns = tuple(Column(c, r.wording, r) for c, r in texts.values())
        row = {item.key: k for k, item in enumerate(items)}
        col = {c.condition.id: k for k, c in enumerate(columns)}
        places: list[tuple[str, str, int]] = []
        cells, repeats, size = [], [], 0
        digests = bytearray(_SHA * len(items) * len(columns))
        for key, id_ in made:
            place = (key, id_, columns[col[id_]].wording)
            cell = row[key] * len(columns) + col[id_]
            prompt = self._prompts(self._items[key], columns[col[id_]].rendering)
            digests[_SHA * cell : _SHA * (cell + 1)] = bytes.fromhex(prompt.sha256)
            size += sum(len(m.content) for m in prompt.messages)
            cells.append(cell)
            repeats.append(self._asked[place])
            places.append((key, id_, self._asked[place]))
            self._asked[place] += 1
        protocol = Protocol(
            preset="localise",
            base_repeats=1,
            repeats=1,
            conditions=tuple(c.condition for c in columns),
            seed=run.protocol.seed,
        )
        order = np.random.default_rng(run.protocol.seed).permutation(len(cells))
        plan = Plan(
            items=items,
            columns=columns,
            protocol=protocol,
            judge=self._judge_spec,
            cells=np.array(cells, dtype=np.int64)[order],
            repeats=np.array(repeats, dtype=np.int64)[order],
            digests=bytes(digests),
            estimate=make_estimate(
                {"localise": len(cells)},
                tokens=-(-size // 4),
                counted=False,
                decoding=self._judge_spec.decoding,
                price=self._price,
            ),
            prompt_of=self._prompts,
        )
        meta = RunMeta(
            protocol=protocol,
            judge=self._judge_spec,
            policy=run.policy,
            renderings=tuple(c.rendering for c in columns),
            corpus=run.corpus,
            template=run.template,
            versions=versions(),
            created=now_utc(),
            extra={
                "localise": self._round,
                "asked_about": self._view.plan_sha256,
                **_kept(run.extra),
            },
        )
        return plan, meta, places


def _kept(extra: dict[str, Any]) -> dict[str, Any]:
    return {k: extra[k] for k in ("retry_truncated", "confidence") if k in extra}


def _reference(view: LedgerView) -> Condition:
    return next(c for c in view.meta.protocol.conditions if c.kind == "reference")


def _column(question: Question, base: Condition) -> tuple[Condition, Rendering]:
    edits = question.flip.edits
    rendering = edits.rendering(question.subset)
    if not question.subset:
        return base, rendering
    if question.subset == edits.everything:
        return edits.condition, rendering
    keys = "+".join(edits.ordered(question.subset))
    id_ = f"{edits.condition.id}:{keys}"
    if len(id_) > _LONG:
        id_ = f"{edits.condition.id}:{len(question.subset)} edits {sha256_text(keys)[:12]}"
    summary = f"of {edits.condition.id} only {keys}"
    condition = Condition(id=id_, kind=edits.condition.kind, summary=summary)
    return condition, rendering.model_copy(update={"condition": id_})


def _read(view: LedgerView, places: Sequence[tuple[str, str, int]]) -> list[Label | None]:
    """Return the label of each call; None for a call that gave no verdict, whatever it gave."""
    labels: dict[tuple[str, str, int], Label | None] = {
        (r["item"], r["condition"], r["repeat"]): r["label"] if r["outcome"] == "verdict" else None
        for r in view.rows()
    }
    return [labels[p] for p in places]
