"""From imported verdicts to a run: what is known of it, and a ledger that is there whole or not."""

from __future__ import annotations

import secrets
import shutil
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from judgeaudit.core.errors import ConfigError, LedgerError
from judgeaudit.core.hashing import sha256_of, sha256_text
from judgeaudit.core.records import (
    Condition,
    CorpusFacts,
    Item,
    JudgeSpec,
    Label,
    PolicyFacts,
    Protocol,
    Rendering,
    Trajectory,
)
from judgeaudit.core.versions import versions
from judgeaudit.engine.estimate import make_estimate
from judgeaudit.engine.identity import RunMeta
from judgeaudit.engine.imported.choices import Choices
from judgeaudit.engine.imported.rows import ItemFacts, Read, Row
from judgeaudit.engine.plan import MOST_CALLS, Column, Plan
from judgeaudit.engine.presets import CONDITION_ORDER
from judgeaudit.engine.writer import Answer, Failure

if TYPE_CHECKING:
    from judgeaudit.corpora._read import Source

__all__ = [
    "LEDGER",
    "World",
    "judge_spec",
    "layout",
    "refuse_taken",
    "run_meta",
    "world_of",
    "write_ledger",
]

LEDGER: Final = "ledger.sqlite"
_UNKNOWN: Final = "not known"
_ERROR: Final = "imported"
"""Class of a call that the table calls an error: which, nobody knows."""


@dataclass(frozen=True, slots=True)
class World:
    """What the user states of the run beside its verdicts: policy, texts, prompt.

    Parameters
    ----------
    conditions : dict of str to Condition
        All there are, by id.
    renderings : tuple of Rendering
        The texts, where a folder of them is given; empty otherwise.
    policy : PolicyFacts
        With an empty hash where it is not known.
    template : str
        The prompt template; empty where it is not known.
    """

    conditions: dict[str, Condition]
    renderings: tuple[Rendering, ...]
    policy: PolicyFacts
    template: str


def world_of(choices: Choices) -> World:
    """Load what the user states: policy, texts and prompt template.

    Raises
    ------
    ConfigError, PolicyError
        If a file cannot be read or used.
    """
    from judgeaudit import policy as policies
    from judgeaudit.policy.rewrites import load_rewrites

    conditions = dict(policies.load_conditions())
    policy = None if choices.policy is None else policies.load_policy(choices.policy)
    facts = PolicyFacts(
        id=_UNKNOWN, title=_UNKNOWN, sha256="", n_norms=None, n_exceptions=None, language=_UNKNOWN
    )
    renderings: tuple[Rendering, ...] = ()
    if policy is not None:
        facts = policies.facts(policy)
    if choices.rewrites is not None:
        own = load_rewrites(Path(choices.rewrites), policy=policy)
        conditions |= {c.id: c for c in own.conditions}
        facts, renderings = own.facts, own.renderings
    template = ""
    if choices.prompt is not None:
        try:
            template = Path(choices.prompt).read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as e:
            why = e.strerror if isinstance(e, OSError) else "it is not UTF-8"
            raise ConfigError(
                f"the prompt template cannot be read ({why})",
                where=str(choices.prompt),
                mend="Give a text file with --prompt, or leave it out",
            ) from None
    return World(conditions, renderings, facts, template)


# -- items, columns, plan -------------------------------------------------------------------------


def _items(read: Read, choices: Choices) -> dict[str, Item]:
    """Make an item of each id; ids that are keys of ours (dataset/subset/id) stay what they are."""
    called = {r.item for r in read.rows}
    ids = [i for i in read.items if i in called]
    ours = all(i.count("/") >= 2 and all(i.split("/", 2)) for i in ids)
    return {id_: _item(id_, read.items[id_], choices, ours=ours) for id_ in ids}


def _item(id_: str, facts: ItemFacts, choices: Choices, *, ours: bool) -> Item:
    dataset, subset, name = id_.split("/", 2) if ours else ("imported", "table", id_)
    votes = {rater: vote for rater, (vote, _) in sorted(facts.votes.items()) if vote}
    gold = facts.gold[0] if facts.gold else _majority(votes)
    flag = facts.ambiguous[0] if facts.ambiguous else None
    if facts.ambiguous is None and len(votes) > 1:
        flag = len(set(votes.values())) > 1
    return Item(
        dataset=dataset,
        subset=subset,
        id=name,
        cluster=facts.cluster[0] if facts.cluster else f"{dataset}/{subset}/{name}",
        trajectory=Trajectory(turns=()),
        label=gold,
        label_source=choices.gold_from if gold else "unlabelled",
        ambiguous=flag,
        strata={name: said for name, (said, _) in facts.strata.items() if said},
        votes=votes,
    )


def _majority(votes: dict[str, Label]) -> Label | None:
    """Return what most raters say; a tie says nothing."""
    cast = Counter(votes.values())
    if cast["SAFE"] == cast["UNSAFE"]:
        return None
    return "UNSAFE" if cast["UNSAFE"] > cast["SAFE"] else "SAFE"


def _ordered(ids: set[str]) -> list[str]:
    place = {name: k for k, name in enumerate(CONDITION_ORDER)}
    return sorted(ids, key=lambda c: (place.get(c, len(place)), c))


def _columns(read: Read, world: World) -> tuple[Column, ...]:
    pairs = {(r.condition, r.wording) for r in read.rows}
    texts = {(r.condition, r.wording): r for r in world.renderings}
    out = []
    for condition in _ordered({c for c, _ in pairs}):
        for wording in sorted(w for c, w in pairs if c == condition):
            unknown = Rendering(
                policy_id=world.policy.id,
                policy_sha256=world.policy.sha256,
                condition=condition,
                wording=wording,
                text="",
                sha256=sha256_text(""),
            )
            rendering = texts.get((condition, wording), unknown)
            out.append(Column(world.conditions[condition], wording, rendering))
    return tuple(out)


def _protocol(rows: list[Row], columns: tuple[Column, ...]) -> tuple[Protocol, list[str]]:
    """State the layout that the table has; uneven numbers of calls are said in a note."""
    depth = Counter((r.item, r.condition, r.wording) for r in rows)
    by: dict[str, list[int]] = {}
    for (_, condition, _), n in depth.items():
        by.setdefault(condition, []).append(n)
    others = [n for c, found in by.items() if c != "base" for n in found]
    conditions = tuple(dict.fromkeys(c.condition for c in columns))
    made = Protocol(
        preset="imported",
        base_repeats=max(by.get("base", [1])),
        repeats=max(others, default=1),
        conditions=conditions,
        wordings=max(Counter(c.condition.id for c in columns).values()),
    )
    uneven = [
        f"{c.id} {min(by[c.id])} to {max(by[c.id])}"
        for c in conditions
        if min(by[c.id]) < max(by[c.id])
    ]
    notes = [f"Calls an item differ: {', '.join(uneven)}."] if uneven else []
    spread = {c.id: len(by[c.id]) for c in conditions}
    if len(set(spread.values())) > 1:
        few = ", ".join(f"{c} {n}" for c, n in spread.items())
        notes.append(f"Not every item was asked under every condition (cells: {few}).")
    return made, notes


def layout(read: Read, world: World, judge: JudgeSpec, choices: Choices) -> tuple[Plan, list[str]]:
    """Lay the calls out as a plan, in the order of the file.

    Raises
    ------
    ConfigError
        If there are more calls than a run can hold.
    """
    if len(read.rows) > MOST_CALLS:
        raise ConfigError(f"{len(read.rows)} calls are more than the {MOST_CALLS} a run can hold")
    by_id = _items(read, choices)
    items = tuple(sorted(by_id.values(), key=lambda i: i.key))
    at = {item.key: k for k, item in enumerate(items)}
    columns = _columns(read, world)
    place = {(c.condition.id, c.wording): k for k, c in enumerate(columns)}
    protocol, notes = _protocol(read.rows, columns)
    width = len(columns)
    cells = np.fromiter(
        (at[by_id[r.item].key] * width + place[r.condition, r.wording] for r in read.rows),
        dtype=np.int64,
        count=len(read.rows),
    )
    plan = Plan(
        items=items,
        columns=columns,
        protocol=protocol,
        judge=judge,
        cells=cells,
        repeats=np.fromiter((r.repeat for r in read.rows), dtype=np.int64, count=len(read.rows)),
        # no prompt is known: zeros, as for a cell without calls
        digests=bytes(32 * len(items) * width),
        estimate=make_estimate(
            Counter(r.condition for r in read.rows),
            tokens=0,
            counted=False,
            decoding={},
            price=None,
        ),
        prompt_of=_no_prompt,
    )
    return plan, notes


def _no_prompt(*_: object) -> NoReturn:
    raise ConfigError("the prompts of imported verdicts are not known: nobody can be asked again")


# -- what is known --------------------------------------------------------------------------------


def judge_spec(choices: Choices, world: World) -> JudgeSpec:
    """State who was asked, as far as the user said so."""
    return JudgeSpec(
        backend="imported",
        model=choices.judge or _UNKNOWN,
        template_id=_UNKNOWN if choices.prompt is None else Path(choices.prompt).name,
        template_sha256=sha256_text(world.template) if world.template else "",
        decoding=choices.decoded(),
    )


def _corpus(
    source: Source, items: tuple[Item, ...], choices: Choices, notes: list[str]
) -> CorpusFacts:
    flags = [i.ambiguous for i in items if i.ambiguous is not None]
    n_unsafe = sum(i.label == "UNSAFE" for i in items)
    n_safe = sum(i.label == "SAFE" for i in items)
    return CorpusFacts(
        name="imported",
        title=f"verdicts imported from {source.name}",
        version=f"sha256:{source.sha256}",
        license="",
        sha256=sha256_of([i.model_dump(mode="json") for i in items]),
        n_items=len(items),
        n_clusters=len({i.cluster for i in items}),
        n_unsafe=n_unsafe,
        n_safe=n_safe,
        n_unlabelled=len(items) - n_unsafe - n_safe,
        n_ambiguous=sum(flags) if flags else None,
        label_source=choices.gold_from if n_unsafe + n_safe else "unlabelled",
        ambiguity_source=_flagged(choices, stated=bool(flags)),
        notes=tuple(notes),
    )


def _flagged(choices: Choices, *, stated: bool) -> str:
    if not stated:
        return "the imported table has no ambiguity flags"
    if choices.rater and choices.ambiguous is None:
        return "raters: an item is ambiguous where its raters in the imported table disagree"
    return "stated in the imported table"


def run_meta(
    source: Source,
    plan: Plan,
    world: World,
    choices: Choices,
    *,
    extra: dict[str, Any],
    notes: list[str],
    created: str,
) -> RunMeta:
    """State what the run is."""
    shown = {c.condition.id for c in plan.columns}
    return RunMeta(
        protocol=plan.protocol,
        judge=plan.judge,
        policy=world.policy,
        renderings=tuple(r for r in world.renderings if r.condition in shown),
        corpus=_corpus(source, plan.items, choices, notes),
        template=world.template,
        versions=versions(),
        created=created,
        extra=extra,
    )


# -- the ledger -----------------------------------------------------------------------------------


def write_ledger(out: Path, plan: Plan, meta: RunMeta, rows: list[Row]) -> None:
    """Write the run's folder: made beside it under another name, and moved when it is whole.

    Raises
    ------
    LedgerError
        If a run stands there already, or the folder cannot be written.
    """
    from judgeaudit.engine.ledger import Ledger

    refuse_taken(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        side = out.parent / f".{out.name}.{secrets.token_hex(4)}"
        side.mkdir()
    except OSError as e:
        raise LedgerError(
            f"the folder cannot be made ({e.strerror})",
            where=str(out),
            mend="Choose an output folder that you may write to",
        ) from e
    try:
        with Ledger.open(side / LEDGER, meta, plan) as ledger:
            ledger.append(
                Failure(n, _ERROR, None, None, "an error, says the imported table", 0)
                if r.verdict.outcome == "error"
                else Answer(n, r.reply, r.verdict, 0, 0.0)
                for n, r in enumerate(rows)
            )
        for left in side.iterdir():
            if left.name != LEDGER:
                left.unlink()
        with suppress(FileNotFoundError):
            out.rmdir()  # empty, or it would have been refused
        side.replace(out)
    except OSError as e:
        raise LedgerError(f"the run cannot be written ({e.strerror})", where=str(out)) from e
    finally:
        shutil.rmtree(side, ignore_errors=True)


def refuse_taken(out: Path) -> None:
    """Refuse a folder that holds anything.

    Raises
    ------
    LedgerError
        If it is a file or is not empty.
    """
    try:
        taken = out.exists() and (not out.is_dir() or any(out.iterdir()))
    except OSError as e:
        raise LedgerError(f"the folder cannot be read ({e.strerror})", where=str(out)) from e
    if taken:
        raise LedgerError(
            "there is something here already", where=str(out), mend="Name a new folder with --out"
        )
