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
from judgeaudit.core.command import extra_of, folder_of_choices
from judgeaudit.core.errors import ConfigError, JudgeError
from judgeaudit.core.records import AuditSpec, Item, JudgePrompt, JudgeSpec, Rendering
from judgeaudit.core.versions import versions

if TYPE_CHECKING:
    from judgeaudit.cards import JudgeCard
    from judgeaudit.cards.verify import Verified
    from judgeaudit.core.records import RunFacts, Score, ScoreSet
    from judgeaudit.corpora.base import Corpus
    from judgeaudit.engine.estimate import Estimate, Price
    from judgeaudit.engine.identity import RunMeta
    from judgeaudit.engine.imported import Imported
    from judgeaudit.engine.plan import Plan
    from judgeaudit.engine.progress import ProgressMode
    from judgeaudit.engine.settling import Settled
    from judgeaudit.engine.summary import RunSummary
    from judgeaudit.engine.view import LedgerView

__all__ = [
    "CHOICES",
    "AuditResult",
    "Prepared",
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
LEDGER: Final = "ledger.sqlite"


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything of an audit that is known before the first call."""

    spec: AuditSpec
    judge: JudgeSpec
    corpus: Corpus
    plan: Plan
    meta: RunMeta
    folder: Path
    price: Price | None = None
    settled: Settled | None = None


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


def prepare(spec: AuditSpec, *, now: str | None = None, settled: Settled | None = None) -> Prepared:
    """Load, render and plan an audit; asks nobody anything.

    Parameters
    ----------
    spec : AuditSpec
        The choices.
    now : str, optional
        Time of preparation, ISO 8601; the clock's by default.
    settled : Settled, optional
        What the judge accepts, see `settle`; a run that has begun holds it itself.

    Raises
    ------
    ConfigError, PolicyError, CorpusError
        If something cannot be used; the message says what, where, and how to mend it.
    """
    from judgeaudit import policy as policies
    from judgeaudit.core.clock import now_utc
    from judgeaudit.corpora import load
    from judgeaudit.engine import choices
    from judgeaudit.engine.batch.choices import check_choices
    from judgeaudit.engine.identity import RunMeta
    from judgeaudit.engine.plan import build_plan
    from judgeaudit.engine.presets import PRESETS, make_protocol
    from judgeaudit.judges import _choice as choice
    from judgeaudit.policy.confirming import refuse_unconfirmed
    from judgeaudit.policy.prompts import build_prompt, load_judge_template
    from judgeaudit.review.texts import certified, drafted, own_conditions, own_texts

    own = own_texts(spec)
    policy = (
        policies.load_policy(spec.policy, language=spec.language) if own is None else own.policy
    )
    if policy is not None and not spec.unconfirmed:
        refuse_unconfirmed(policy)
    protocol = make_protocol(
        spec.preset or "default",
        policies.load_conditions().values() if own is None else own.conditions,
        seed=spec.seed,
        base_repeats=spec.base_repeats,
        repeats=spec.repeats,
        conditions=spec.conditions if own is None else own_conditions(own, spec),
        control_items=spec.control_items,
        wordings=spec.wordings,
    )
    if own is not None:
        facts = own.facts
        renderings = tuple(r for r in own.renderings if r.condition in protocol.ids)
    else:
        assert policy is not None
        facts = policies.facts(policy)
        renderings = policies.render_all(policy, protocol, language=spec.language)
    renderings = certified(renderings, spec.certificates)
    template = load_judge_template(spec.template or choice.template_for(spec.judge, spec.language))
    folder = spec.out or folder_of_choices(spec)
    judge, settled = choices.judge_and_settled(spec, template, folder / LEDGER, settled)
    check_choices(spec, judge)
    corpus = load(
        spec.corpus,
        data=spec.data,
        subset=spec.subset,
        limit=spec.limit or choice.items_for(spec.judge, PRESETS[protocol.preset].items),
        seed=spec.seed,
        labels=spec.labels,
        assume_ambiguity=spec.assume_ambiguity,
        revision=spec.revision,
    )

    def prompt_of(item: Item, rendering: Rendering) -> JudgePrompt:
        fence_key = f"{spec.seed}/{item.key}"
        return build_prompt(template, rendering, item.trajectory, fence_key=fence_key)

    price = choices.price_of(spec, judge)
    vacuum = policies.vacuum_trajectory
    plan = build_plan(
        *(corpus.items, renderings, protocol, judge, prompt_of),
        vacuum=vacuum,
        price=price,
        by_item=spec.until is not None,
    )
    meta = RunMeta(
        protocol=protocol,
        judge=judge,
        policy=facts,
        renderings=renderings,
        corpus=corpus.facts,
        template=template.text,
        versions=versions(),
        created=now or now_utc(),
        extra=extra_of(spec) | drafted(policy) | choices.told(judge, template, settled, corpus),
    )
    return Prepared(spec, judge, corpus, plan, meta, folder, price, settled)


def settle(ready: Prepared) -> Prepared:
    """Ask the judge what it accepts, where the choices leave that open; see `engine.settling`."""
    from judgeaudit.engine.choices import settled_for

    found = settled_for(ready.spec, ready.judge, ready.settled)
    return prepare(ready.spec, settled=found) if found else ready


def run(
    spec: AuditSpec | Prepared | None = None,
    *,
    show: ProgressMode = "quiet",
    created: str | None = None,
    **more: Any,
) -> AuditResult:
    """Audit a judge, or continue an audit that was stopped.

    Parameters
    ----------
    spec : AuditSpec or Prepared, optional
        All choices at once; or give them as keywords, see `AuditSpec`.
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
    from judgeaudit.engine.kept import say_kept

    given = spec.model_dump(exclude_unset=True) if isinstance(spec, AuditSpec) else {}
    ready = spec if isinstance(spec, Prepared) else prepare(spec_from({**given, **more}))
    try:
        return _run(settle(ready), show, created)
    except JudgeError as error:
        say_kept(error, ready.folder / LEDGER)
        raise


def _run(ready: Prepared, show: ProgressMode, created: str | None) -> AuditResult:
    from judgeaudit.engine import choices
    from judgeaudit.engine.batch.manifest import refuse_calls_in_batches
    from judgeaudit.engine.door import run_plan_sync
    from judgeaudit.engine.ledger import Ledger
    from judgeaudit.engine.progress import make_progress

    spec = ready.spec
    limits, progress = choices.limits_of(spec, ready.judge), make_progress(show)
    path, plan = ready.folder / LEDGER, ready.plan
    if not spec.batch:
        refuse_calls_in_batches(ready.folder)
    if spec.until is None and (spec.batch or spec.executor == "ray"):
        from judgeaudit.engine.batch.story import run_in_batches
        from judgeaudit.engine.executors import run_on_ray

        away = run_in_batches if spec.batch else run_on_ray
        summary = away(plan, ready.meta, path, spec, limits=limits, progress=progress)
        with Ledger.open_readonly(path) as view:
            return _finish(view, ready, created, summary)
    fresh = not path.exists()
    judge = choices.judge_of(ready.judge, ready.corpus.items, spec.attempt_seconds, fresh=fresh)
    with Ledger.open(path, ready.meta, plan) as ledger:
        try:
            summary = run_plan_sync(
                plan,
                judge,
                ledger,
                limits=limits,
                progress=progress,
                budget=choices.budget_of(spec, ledger, ready.price),
                price=ready.price,
                decide=choices.decide_of(spec, ready.plan, ledger),
            )
        except ConfigError:
            # a mistyped model must not leave a ledger that refuses the right one
            ledger.discard()
            raise
        return _finish(ledger, ready, created, summary)


def import_verdicts(file: Path | str, *, out: Path | str, **choices: Any) -> Imported:
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
        run, created=given.card.created, confidence=given.card.parameters.confidence, **files
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
