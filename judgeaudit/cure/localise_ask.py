"""Asks rounds of questions about a run's items through the engine: limits, retries, ledgers.

Each round has a ledger of its own, with the guarantees of the run's. What is asked in a round
follows from the answers of those before it. An answer that any earlier session was given is known
by item, text and repeat, and is not asked again: so the same command goes on where it was stopped,
one with a larger budget goes on from there, and no answer is paid twice.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from judgeaudit.core.clock import now_utc
from judgeaudit.core.errors import LedgerError
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
from judgeaudit.cure.rounds_ask import Seat, StoppedError, begun
from judgeaudit.engine.control import RunControl
from judgeaudit.engine.estimate import make_estimate
from judgeaudit.engine.identity import RunMeta
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.plan import Column, Plan
from judgeaudit.engine.progress import Progress
from judgeaudit.engine.view import LedgerView
from judgeaudit.policy.prompts import build_prompt
from judgeaudit.review.questions import items_of

__all__ = ["InLedgers", "Prompts", "StoppedError"]

_SHA: Final = 32
_LONG: Final = 60

Place = tuple[str, str, int]
"""Item, condition and repeat: which draw of which answer."""


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
        self._view, self._folder = view, folder
        self._seat = Seat(view, folder, spec, most=calls, progress=progress, control=control)
        self._items, self._prompts = items_of(view), Prompts(view)
        self._base = view.meta.protocol.reference
        depth = {r["repeat"] for r in view.rows(condition=self._base.id)}
        # repeats of the run were seen already: what is asked here is fresh
        self._first = max(view.meta.protocol.repeats, *(n + 1 for n in depth))
        self._asked: dict[tuple[str, str], int] = defaultdict(lambda: self._first)
        self._known: dict[Place, tuple[str, Label | None]] = {}
        self._last = 0
        for path in sorted(folder.glob("round-*.sqlite")):
            if not begun(path):
                continue
            self._know(path)
            self._last = max(self._last, int(path.stem.rpartition("-")[2]))
        self._fresh = not self._known

    @property
    def paid(self) -> int:
        """Calls that were answered so far, all sessions together."""
        return len(self._known)

    def price(self, questions: Sequence[Question], before: Sequence[Question] = ()) -> int:
        """Count the calls among questions of the next round whose answer is not known yet.

        Parameters
        ----------
        questions : sequence of Question
            The questions.
        before : sequence of Question
            Those that stand before them in the round.
        """
        items = {q.flip.item for q in questions}
        taken = Counter(self._of(q) for q in before if q.flip.item in items)
        new = 0
        for q in questions:
            of = self._of(q)
            new += (*of, self._asked[of] + taken[of]) not in self._known
            taken[of] += 1
        return new

    async def __call__(self, questions: Sequence[Question]) -> Sequence[Label | None]:
        """Ask a round, or read what an earlier session was answered."""
        places: list[Place] = []
        for q in questions:
            of = self._of(q)
            places.append((*of, self._asked[of]))
            self._asked[of] += 1
        new = [k for k, place in enumerate(places) if place not in self._known]
        for k in set(range(len(places))).difference(new):
            self._prove(questions[k], places[k])
        if new:
            await self._pay([questions[k] for k in new], [places[k] for k in new])
        return [self._known[p][1] if p in self._known else None for p in places]

    async def _pay(self, questions: Sequence[Question], places: Sequence[Place]) -> None:
        self._last += 1
        plan, meta = self._plan(questions, places)
        path = self._folder / f"round-{self._last:04d}.sqlite"
        judge = self._seat.judge(self._items.values(), fresh=self._fresh)
        ledger = Ledger.open(path, meta, plan)
        try:
            await self._seat.ask(judge, plan, ledger)
            self._take(ledger)
        finally:
            # one without an answer is no round
            ledger.discard()

    def _know(self, path: Path) -> None:
        """Take the answers of an earlier session."""
        with LedgerView(path) as view:
            mine, run = view.meta, self._view.meta
            if (
                mine.extra.get("asked_about") != self._view.plan_sha256
                or mine.judge != run.judge
                or mine.template != run.template
            ):
                raise LedgerError(
                    "this ledger belongs to another run, or to another search",
                    where=str(path),
                    mend="Move it away; the same command then asks anew what is missing",
                )
            self._take(view)

    def _take(self, view: LedgerView) -> None:
        """Read the label of each call; None for one that gave no verdict, whatever it gave."""
        for r in view.rows():
            if r["outcome"] is None:
                continue  # planned, and not answered: it is asked again
            label = r["label"] if r["outcome"] == "verdict" else None
            self._known[r["item"], r["condition"], r["repeat"]] = (r["prompt_sha256"], label)

    def _prove(self, question: Question, place: Place) -> None:
        """Prove that a known answer is one to the very prompt that would be sent."""
        _, rendering = _column(question, self._base)
        if self._prompts(self._items[place[0]], rendering).sha256 != self._known[place][0]:
            raise LedgerError(
                f"an answer about {place[0]!r} was given to another text of {place[1]!r}",
                where=str(self._folder),
                mend="Move the folder away, and ask anew",
            )

    def _of(self, question: Question) -> tuple[str, str]:
        return question.flip.item, _column(question, self._base)[0].id

    async def aclose(self) -> None:
        """Close the judge, on the loop on which it was asked."""
        await self._seat.aclose()

    def _plan(self, questions: Sequence[Question], places: Sequence[Place]) -> tuple[Plan, RunMeta]:
        """Lay out a round."""
        run = self._view.meta
        items = tuple(sorted({q.flip.item: self._items[q.flip.item] for q in questions}.values(),
                             key=lambda i: i.key))  # fmt: skip
        texts: dict[str, tuple[Condition, Rendering]] = {}
        for q in questions:
            condition, rendering = _column(q, self._base)
            texts.setdefault(condition.id, (condition, rendering))
        columns = tuple(Column(c, r.wording, r) for c, r in texts.values())
        row = {item.key: k for k, item in enumerate(items)}
        col = {c.condition.id: k for k, c in enumerate(columns)}
        cells, repeats, size = [], [], 0
        digests = bytearray(_SHA * len(items) * len(columns))
        for key, id_, repeat in places:
            cell = row[key] * len(columns) + col[id_]
            prompt = self._prompts(self._items[key], columns[col[id_]].rendering)
            digests[_SHA * cell : _SHA * (cell + 1)] = bytes.fromhex(prompt.sha256)
            size += sum(len(m.content) for m in prompt.messages)
            cells.append(cell)
            repeats.append(repeat)
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
            judge=self._seat.judge_spec,
            cells=np.array(cells, dtype=np.int64)[order],
            repeats=np.array(repeats, dtype=np.int64)[order],
            digests=bytes(digests),
            estimate=make_estimate(
                {"localise": len(cells)},
                tokens=-(-size // 4),
                counted=False,
                decoding=self._seat.judge_spec.decoding,
                price=self._seat.price,
            ),
            prompt_of=self._prompts,
        )
        meta = RunMeta(
            protocol=protocol,
            judge=self._seat.judge_spec,
            policy=run.policy,
            renderings=tuple(c.rendering for c in columns),
            corpus=run.corpus,
            template=run.template,
            versions=versions(),
            created=now_utc(),
            extra={
                "localise": self._last,
                "asked_about": self._view.plan_sha256,
                **_kept(run.extra),
            },
        )
        return plan, meta


def _kept(extra: dict[str, Any]) -> dict[str, Any]:
    return {k: extra[k] for k in ("retry_truncated", "confidence") if k in extra}


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
