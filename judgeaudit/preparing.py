"""Everything of an audit before its first call: load, render, plan."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from judgeaudit.core.command import extra_of, folder_of_choices
from judgeaudit.core.records import AuditSpec, Item, JudgePrompt, JudgeSpec, Rendering
from judgeaudit.core.versions import versions

if TYPE_CHECKING:
    from judgeaudit.corpora.base import Corpus
    from judgeaudit.engine.estimate import Price
    from judgeaudit.engine.identity import RunMeta
    from judgeaudit.engine.plan import Plan
    from judgeaudit.engine.settling import Settled
    from judgeaudit.engine.ways import Way

__all__ = ["LEDGER", "Prepared", "load_corpus", "prepare", "settle", "settled"]

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
    from judgeaudit.engine import choices
    from judgeaudit.engine.batch.choices import check_choices
    from judgeaudit.engine.identity import RunMeta
    from judgeaudit.engine.plan import build_plan
    from judgeaudit.engine.presets import PRESETS, make_protocol
    from judgeaudit.engine.too_long import fitted
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
    template = load_judge_template(choice.template_of(spec))
    folder = spec.out or folder_of_choices(spec)
    judge, settled = choices.judge_and_settled(spec, template, folder / LEDGER, settled)
    check_choices(spec, judge)
    drawn = choice.items_for(spec.judge, PRESETS[protocol.preset].items)
    corpus = load_corpus(spec, None if spec.only_items else drawn)

    corpus, shortened = fitted(spec, judge, template, renderings, corpus)

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
        extra=extra_of(spec)
        | drafted(policy)
        | choices.told(judge, template, settled, corpus)
        | shortened,
    )
    return Prepared(spec, judge, corpus, plan, meta, folder, price, settled)


def load_corpus(spec: AuditSpec, drawn: int | None = None) -> Corpus:
    """Load the items that the choices name.

    Parameters
    ----------
    spec : AuditSpec
        The choices.
    drawn : int, optional
        Items to draw where they set no limit.
    """
    from judgeaudit.corpora import load

    return load(
        spec.corpus,
        data=spec.data,
        subset=spec.subset,
        limit=spec.limit or drawn,
        seed=spec.seed,
        labels=spec.labels,
        assume_ambiguity=spec.assume_ambiguity,
        revision=spec.revision,
        only=spec.only_items,
    )


def settle(ready: Prepared) -> Prepared:
    """Ask the judge what it accepts, where the choices leave that open; see `engine.settling`."""
    from judgeaudit.engine.ways import Blocking, at_once

    return at_once(settled(ready, Blocking()))


async def settled(ready: Prepared, way: Way) -> Prepared:
    """Do as `settle` does, in either way of telling a story."""
    from judgeaudit.engine.choices import asettled_for
    from judgeaudit.engine.settling import is_open

    if ready.settled is not None or not is_open(ready.spec):
        return ready
    found = await way.talk(lambda: asettled_for(ready.spec, ready.judge, ready.settled))
    return await way.aside(lambda: prepare(ready.spec, settled=found))
