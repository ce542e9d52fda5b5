"""An audit, told in order: choose, load, render, plan, ask, score, card.

::

    from judgeaudit import audit

    result = audit.run(judge="scripted:brittle_t4", preset="quick")
    print(result.card.headline.sentence)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from judgeaudit.core.choosing import choose, spec_from
from judgeaudit.core.errors import ConfigError, JudgeError
from judgeaudit.core.records import AuditSpec
from judgeaudit.preparing import LEDGER, Prepared, prepare, settle, settled

if TYPE_CHECKING:
    from judgeaudit.cards import JudgeCard
    from judgeaudit.cards.verify import Verified
    from judgeaudit.core.records import RunFacts, Score, ScoreSet
    from judgeaudit.engine.control import RunControl
    from judgeaudit.engine.estimate import Estimate
    from judgeaudit.engine.imported import Imported
    from judgeaudit.engine.limits import Limits
    from judgeaudit.engine.progress import Progress, ProgressMode
    from judgeaudit.engine.shared import Shared
    from judgeaudit.engine.summary import RunSummary
    from judgeaudit.engine.view import LedgerView
    from judgeaudit.engine.ways import Way
    from judgeaudit.judges.base import Judge

__all__ = [
    "CHOICES",
    "LEDGER",
    "AuditResult",
    "Prepared",
    "arun",
    "card",
    "choose",
    "correct",
    "import_verdicts",
    "prepare",
    "run",
    "score",
    "settle",
    "verify",
]

CHOICES: Final = tuple(AuditSpec.model_fields)
"""Names of all choices: keys of `audit.toml`, flags of `judgeaudit audit`, keywords of `run`."""


@dataclass(frozen=True, slots=True)
class AuditResult:
    """What an audit ended in.

    Parameters
    ----------
    card : JudgeCard
        The Judge Card.
    scores : ScoreSet
        All numbers.
    facts : RunFacts
        All that is not a number.
    folder : Path
        Where ledger and card lie.
    interrupted : bool
        Whether the run was stopped before its end; the same choices resume it.
    planned : Estimate
        What the plan was thought to cost.
    in_batches : int
        Calls that the provider has in batches; the same choices go on with them.
    """

    card: JudgeCard
    scores: ScoreSet
    facts: RunFacts
    folder: Path
    interrupted: bool
    planned: Estimate
    in_batches: int = 0

    @property
    def exit_code(self) -> int:
        """0 done, or waiting for batches as asked; 130 interrupted, 3 no call answered."""
        if self.interrupted:
            return 130
        return 0 if self.facts.n_answered or self.in_batches else 3


def run(
    spec: AuditSpec | Prepared | None = None,
    *,
    show: ProgressMode = "quiet",
    created: str | None = None,
    **more: Any,
) -> AuditResult:
    """Audit a judge, or continue an audit that was stopped; works in a notebook's cell, too.

    Parameters
    ----------
    spec : AuditSpec or Prepared, optional
        All choices at once; or give them as keywords, see `AuditSpec`. `judge` may be a function
        of your own, too: see `judges.function`.
    show : {"auto", "bar", "plain", "quiet"}
        Progress, on standard error.
    created : str, optional
        The card's time; by default the time of the last committed answer.

    Returns
    -------
    AuditResult
        Also where the run was interrupted.

    Raises
    ------
    JudgeAuditError
        If the audit cannot begin or go on; the message says what was kept in the ledger.
    """
    from judgeaudit.engine.progress import make_progress
    from judgeaudit.engine.ways import Blocking, at_once

    ready = ready_of(spec, more)
    return at_once(tell(ready, Blocking(), make_progress(show), created))


async def arun(
    spec: AuditSpec | Prepared | None = None,
    *,
    show: ProgressMode = "quiet",
    created: str | None = None,
    control: RunControl | None = None,
    **more: Any,
) -> AuditResult:
    """Audit a judge on the caller's own event loop; as `run`.

    Requests are made on the loop that awaits this, and no other loop is started; files are read
    and scores computed in a thread beside it. No signal handler is set.

    Parameters
    ----------
    spec, show, created, more
        As of `run`.
    control : RunControl, optional
        `control.interrupt()` finishes the calls in flight and ends with a card of what is there,
        a second one drops them.

    Returns
    -------
    AuditResult
        Also where the run was interrupted by `control`.

    Raises
    ------
    JudgeAuditError
        As of `run`. Also for what holds a thread for hours: waiting for batches, and Ray.
    CancelledError
        Where the task is cancelled: calls in flight are dropped, what was answered is committed,
        connections and ledger are closed. The same choices go on.
    """
    from judgeaudit.engine.progress import make_progress
    from judgeaudit.engine.shared import Shared
    from judgeaudit.engine.ways import OnLoop

    way = OnLoop()
    ready = await way.aside(lambda: ready_of(spec, more))
    return await tell(ready, way, make_progress(show), created, Shared(control))


def ready_of(spec: AuditSpec | Prepared | None, more: dict[str, Any]) -> Prepared:
    """Return what `run` was given, prepared; keywords win over a spec."""
    if isinstance(spec, Prepared):
        return spec
    if callable(judge := more.get("judge")):
        from judgeaudit.judges.function import given as named

        more = {**more, "judge": named(judge)}
    given = spec.model_dump(exclude_unset=True) if isinstance(spec, AuditSpec) else {}
    return prepare(spec_from({**given, **more}))


async def tell(
    ready: Prepared,
    way: Way,
    progress: Progress,
    created: str | None = None,
    shared: Shared | None = None,
) -> AuditResult:
    """Ask, score and write the card: the story itself, in either way of telling it.

    Parameters
    ----------
    ready : Prepared
        What is known before.
    way : Way
        Whether the caller is blocked, or awaits.
    progress : Progress
        Told of every committed call.
    created : str, optional
        The card's time.
    shared : Shared, optional
        What other audits beside this one use, too.
    """
    from judgeaudit.engine.kept import say_kept
    from judgeaudit.engine.shared import Shared

    try:
        return await _tell(await settled(ready, way), way, progress, created, shared or Shared())
    except JudgeError as error:
        kept = error
        await way.aside(lambda: say_kept(kept, ready.folder / LEDGER))
        raise


async def _tell(
    ready: Prepared, way: Way, progress: Progress, created: str | None, shared: Shared
) -> AuditResult:
    from judgeaudit.engine import choices
    from judgeaudit.engine.batch.manifest import refuse_calls_in_batches
    from judgeaudit.engine.ledger import Ledger

    spec, limits = ready.spec, choices.limits_of(ready.spec, ready.judge)
    path, plan = ready.folder / LEDGER, ready.plan
    if not spec.batch:
        refuse_calls_in_batches(ready.folder)
    if spec.until is None and (spec.batch or spec.executor == "ray"):
        way.check_patience(spec)
        return await way.aside(lambda: _away(ready, limits, progress, created))
    ledgers: list[Ledger] = []

    def begin() -> Judge:
        fresh = not path.exists()
        judge = choices.judge_of(ready.judge, ready.corpus.items, spec.attempt_seconds, fresh=fresh)
        # kept outside: what was opened must be closed also where nobody waits for it any more
        ledgers.append(Ledger.open(path, ready.meta, plan))
        return judge

    try:
        judge = await way.aside(begin)
        ledger = ledgers[0]
        try:
            summary = await way.ask(
                plan,
                judge,
                ledger,
                limits=limits,
                progress=progress,
                control=shared.control,
                throttle=shared.throttle,
                gate=shared.gate,
                budget=shared.budget or choices.budget_of(spec, ledger, ready.price),
                price=ready.price,
                decide=choices.decide_of(spec, plan, ledger),
            )
        except ConfigError:
            # a mistyped model must not leave a ledger that refuses the right one
            await way.aside(ledger.discard)
            raise
        return await way.aside(lambda: _finish(ledger, ready, created, summary))
    finally:
        for opened in ledgers:
            await way.aside(opened.close)


def _away(ready: Prepared, limits: Limits, progress: Progress, created: str | None) -> AuditResult:
    """Tell the part of the story where calls are made elsewhere: in batches, or on Ray."""
    from judgeaudit.engine.batch.story import run_in_batches
    from judgeaudit.engine.executors import run_on_ray
    from judgeaudit.engine.ledger import Ledger

    path = ready.folder / LEDGER
    away = run_in_batches if ready.spec.batch else run_on_ray
    summary = away(ready.plan, ready.meta, path, ready.spec, limits=limits, progress=progress)
    with Ledger.open_readonly(path) as view:
        return _finish(view, ready, created, summary)


def import_verdicts(
    file: Path | str | Sequence[Path | str], *, out: Path | str, **choices: Any
) -> Imported:
    """Make a run of a table of verdicts of any tool; see `engine.imported.import_verdicts`."""
    from judgeaudit.engine.imported import import_verdicts as importing

    return importing(file, out=out, **choices)


def score(run: Path | str, *, certificates: Sequence[Path] = ()) -> ScoreSet:
    """Score a run again from its ledger.

    Parameters
    ----------
    run : path
        Folder of a run, or its ledger file.
    certificates : sequence of path
        Files of certificates on the run's texts, made since.
    """
    from judgeaudit.cards.from_ledger import scores_of
    from judgeaudit.review.texts import certified

    with _open(run) as view:
        return scores_of(view, certified(view.meta.renderings, certificates))


def card(
    run: Path | str, *, created: str | None = None, certificates: Sequence[Path] = (), **more: Any
) -> JudgeCard:
    """Make the Judge Card of a run again, from its ledger alone.

    Parameters
    ----------
    run, certificates
        As for `score`.
    created : str, optional
        The card's time; by default the time of the last committed answer.
    more
        `labels`, `statements`, `confidence`: what stands beside it; see `review.adding.added_to`.
        `localised=False` leaves out what `judgeaudit localise` found.
        `attacked=False` leaves out what `judgeaudit attack` found.
    """
    from judgeaudit.cards.from_ledger import card_of

    with _open(run) as view:
        return card_of(view, created, certificates, folder=folder_of(run), **more)[0]


def verify(
    made: JudgeCard | Path | str, run: Path | str, *, figures: bool = False, **files: Any
) -> Verified:
    """Rebuild a card from its ledger, and say what differs.

    Parameters
    ----------
    made : JudgeCard or path
        The card, or its `card.json`, of this or an older layout.
    run, certificates, labels, statements
        As for `card`; sources of confidence are those that the card names.
    figures : bool
        Compare only numbers and facts.
    """
    from judgeaudit.cards import verify as verifying

    given = verifying.given(made)
    rebuilt = card(
        run,
        created=given.card.created,
        confidence=given.card.parameters.confidence,
        # flips may have been traced since
        localised="localise" in given.card.facts.extra,
        # an attack may have been made since
        attacked="attack" in given.card.facts.extra,
        **files,
    )
    with _open(run) as view:
        return verifying.verified(given, rebuilt, view, figures=figures)


def correct(run: Path | str, labels: Path | str, **more: Any) -> tuple[Score, ...]:
    """Correct the judge's UNSAFE rate with human labels; see `review.correcting.corrected_of`."""
    from judgeaudit.review.correcting import corrected_of

    with _open(run) as view:
        return corrected_of(view, Path(labels), **more)


def folder_of(run: Path | str) -> Path:
    """Return the folder of a run, given it or its ledger."""
    return Path(run) if Path(run).is_dir() else Path(run).parent


def _open(run: Path | str) -> LedgerView:
    from judgeaudit.engine.ledger import Ledger

    return Ledger.open_readonly(Path(run) / LEDGER if Path(run).is_dir() else run)


def _finish(
    view: LedgerView, ready: Prepared, created: str | None, summary: RunSummary
) -> AuditResult:
    from judgeaudit.cards import write
    from judgeaudit.cards.from_ledger import card_of
    from judgeaudit.engine.kept import scoring

    with scoring(ready.folder):
        # a ledger that was begun without certificates does not hold them
        made, scores, facts = card_of(view, created, ready.spec.certificates)
        write(made, ready.folder)
    ended = summary.interrupted, ready.plan.estimate, summary.in_batches
    return AuditResult(made, scores, facts, ready.folder, *ended)
