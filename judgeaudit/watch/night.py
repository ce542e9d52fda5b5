"""One thrifty night: ask frozen anchors in looks, and only the wordings whose prompts changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

import numpy as np

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import AuditSpec
from judgeaudit.stats._types import IntArray1D, Undefined
from judgeaudit.stats.exchange import Blocks, changed
from judgeaudit.stats.multiplicity import holm
from judgeaudit.stats.thrift import SPENT, look
from judgeaudit.watch.anchors import Anchors, facts_of, prompts_of
from judgeaudit.watch.causes import Cause, causes_of, changed_values
from judgeaudit.watch.night_result import Asked, Ending, LookSeen, NightResult, Reworded
from judgeaudit.watch.sides import Side, load

__all__ = ["ask", "look_folder"]

_COMPARED: Final = 0.9
"""Share of the anchors that must be comparable; below it nothing passes."""


def look_folder(out: Path, k: int) -> Path:
    """Return the folder of a look, from 0."""
    return out / f"look{k + 1}"


def ask(
    anchors: Anchors, spec: AuditSpec, out: Path, *, show: Literal["auto", "quiet"] = "quiet"
) -> NightResult:
    """Ask one night; the same choices go on with a night that was stopped.

    Parameters
    ----------
    anchors : Anchors
        The frozen design.
    spec : AuditSpec
        The choices of the baseline's audit; protocol, items and folder are this night's own.
    out : path
        Folder of the night; each look is a run in it.
    show : {"auto", "quiet"}
        Progress.

    Returns
    -------
    NightResult
    """
    from judgeaudit.preparing import load_corpus

    _own_folder(anchors, out)
    there = {
        i.key
        for i in load_corpus(spec.model_copy(update={"limit": None, "only_items": None})).items
    }
    missing = [k for k in anchors.keys if k not in there]
    if len(missing) == len(anchors.keys):
        raise ConfigError(
            "has none of the frozen anchors",
            where=spec.data or spec.corpus,
            mend="Give the corpus of the baseline, or freeze anchors of this one",
        )
    others, changed_at = _changed_wordings(anchors, spec, there, out)
    night = _Night(anchors, spec, tuple(missing), others)
    # a night that looks at wordings, too, spends half of its false alarms there
    alpha = anchors.alpha / 2 if changed_at else anchors.alpha
    for k, end in enumerate(anchors.ends):
        keys = [key for key in anchors.keys[anchors.begin_of(k) : end] if key in there]
        if not keys:
            continue
        more = tuple(changed_at) if k == 0 else ()
        done = audit.run(_of_look(spec, anchors, keys, more, look_folder(out, k)), show=show)
        if done.interrupted:
            return night.ended("interrupted", "stopped: the same command goes on")
        if done.in_batches:
            said = "the provider has calls in batches: the same command goes on"
            return night.ended("inconclusive", said)
        night.sides.append(load(look_folder(out, k)))
        if not night.seen and not done.facts.n_answered:
            return night.ended("broken", "no call was answered: nothing can be decided")
        if k == 0:
            night.reworded = _reworded(anchors, night.sides[0], changed_at)
        night.seen.append(_seen(anchors, night.sides, k, alpha * SPENT[k]))
        if night.seen[-1].outcome != "undecided" or any(r.moved for r in night.reworded):
            break
    return night.ended(*_verdict(anchors, night.seen, night.reworded))


def _own_folder(anchors: Anchors, out: Path) -> None:
    """Refuse a folder that is another run's, or no folder: a night has one of its own."""
    mend = "Give the night a folder of its own, --out nights/today"
    baseline = Path(anchors.baseline)
    of_baseline = baseline if baseline.is_dir() else baseline.parent
    if (out / audit.LEDGER).exists() or (
        out.is_dir() and of_baseline.is_dir() and baseline.exists() and out.samefile(of_baseline)
    ):
        raise ConfigError("holds a run, which is no night", where=str(out), mend=mend)
    if out.exists() and not out.is_dir():
        raise ConfigError("is a file, not a folder", where=str(out), mend=mend)


@dataclass
class _Night:
    """What is known of a night so far."""

    anchors: Anchors
    spec: AuditSpec
    missing: tuple[str, ...]
    unchanged: tuple[str, ...]
    seen: list[LookSeen] = field(default_factory=list)
    sides: list[Side] = field(default_factory=list)
    reworded: tuple[Reworded, ...] = ()

    def ended(self, outcome: Ending, sentence: str) -> NightResult:
        sides = self.sides
        costs = [s.facts.cost for s in sides if s.facts.cost is not None]
        return NightResult(
            outcome=outcome,
            sentence=sentence,
            drift=self.anchors.drift,
            alpha=self.anchors.alpha,
            looks=tuple(self.seen),
            reworded=self.reworded,
            causes=self._causes(outcome),
            asked=Asked(
                calls=sum(s.facts.n_answered for s in sides),
                anchors=sum(s.verdicts.n_items for s in sides),
                with_verdict=sum(int((s.verdicts.counts("base").valid > 0).sum()) for s in sides),
                frozen=len(self.anchors.anchors),
                unchanged=self.unchanged,
                in_batches=self.spec.batch,
                cost=sum(costs) if costs else None,
            ),
        )

    def _causes(self, outcome: Ending) -> tuple[Cause, ...]:
        if not self.seen:
            return ()
        # what is not decided is not called noise
        decided = outcome in {"pass", "fail"}
        return causes_of(self._facts(), moved=outcome == "fail") if decided else self._facts()

    def _facts(self) -> tuple[Cause, ...]:
        sides = self.sides
        texts, labels = _other_items(self.anchors, sides)
        now = facts_of(sides[0]) | {
            "served": sorted({s for x in sides for s in x.facts.served_models}),
            "fingerprints": sorted({s for x in sides for s in x.fingerprints}),
        }
        items = {
            "text of items": sorted(texts),
            "labels of items": sorted(labels),
            "items that are gone": list(self.missing),
        }
        wordings = [r.condition for r in self.reworded]
        facts = changed_values(self.anchors.facts, now, items, wordings=wordings)
        return facts + _prompts(self.anchors, sides, texts, facts)


def _of_look(
    spec: AuditSpec, anchors: Anchors, keys: list[str], more: tuple[str, ...], folder: Path
) -> AuditSpec:
    listed = _list_items(folder, keys)
    return spec.model_copy(
        update={
            "only_items": listed,
            "limit": None,
            "preset": "nightly",
            "base_repeats": anchors.calls,
            "repeats": 1,
            "conditions": ("base", *more),
            "control_items": 0,
            "wordings": 1,
            "until": None,
            "out": folder,
        }
    )


def _list_items(folder: Path, keys: list[str]) -> Path:
    from judgeaudit.corpora.listed import write_keys

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "items.txt"
    write_keys(path, keys)
    return path


def _changed_wordings(
    anchors: Anchors, spec: AuditSpec, there: set[str], out: Path
) -> tuple[tuple[str, ...], dict[str, int]]:
    """Plan all conditions of the baseline, without asking; say whose prompts are others now."""
    keys = [k for k in anchors.keys[: anchors.ends[0]] if k in there]
    wanted = tuple(c for c, known in anchors.wordings.items() if known)
    if not keys or not wanted:
        return (), {}
    ready = audit.prepare(_of_look(spec, anchors, keys, wanted, look_folder(out, 0)))
    plan, now = ready.plan, dict[str, dict[str, str]]()
    for cell in plan.planned_cells():
        item, column = plan.place(cell)
        now.setdefault(column.condition.id, {})[item.key] = plan.prompt_sha256(cell)
    found = {
        c: sum(now.get(c, {}).get(k, p) != p for k, (p, _, _) in anchors.wordings[c].items())
        for c in wanted
    }
    return tuple(c for c, n in found.items() if not n), {c: n for c, n in found.items() if n}


def _base(sides: list[Side], keys: tuple[str, ...]) -> tuple[IntArray1D, IntArray1D]:
    """Return tonight's base calls, aligned with keys: UNSAFE ones, and all with a verdict."""
    found: dict[str, tuple[int, int]] = {}
    for side in sides:
        counts = side.verdicts.counts("base")
        rows = zip(side.verdicts.items, counts.unsafe.tolist(), counts.valid.tolist(), strict=True)
        found |= {key: (u, v) for key, u, v in rows}
    pairs = np.array([found.get(k, (0, 0)) for k in keys], dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _other_items(anchors: Anchors, sides: list[Side]) -> tuple[set[str], set[str]]:
    """Return the anchors whose text, and whose label, is another tonight."""
    frozen = {a.key: a for a in anchors.anchors}
    texts, labels = set(), set()
    for side in sides:
        for key, gold in zip(side.verdicts.items, side.verdicts.gold.tolist(), strict=True):
            if side.trajectories.get(key, "") != frozen[key].trajectory:
                texts.add(key)
            if gold != frozen[key].gold:
                labels.add(key)
    return texts, labels


def _seen(anchors: Anchors, sides: list[Side], k: int, alpha: float) -> LookSeen:
    end = anchors.ends[k]
    sample = anchors.sample().part(slice(0, end))
    unsafe, valid = _base(sides, anchors.keys[:end])
    texts, labels = _other_items(anchors, sides)
    same = np.array([key not in texts and key not in labels for key in anchors.keys[:end]])
    # what is another item now says nothing of the judge
    found = look(
        sample.part(same),
        unsafe[same],
        valid[same],
        drift=anchors.drift,
        alpha=alpha,
        last=end == anchors.ends[-1],
    )
    outcome = found.outcome
    if outcome == "pass" and found.n_compared < _COMPARED * end:
        outcome = "undecided"
    return LookSeen(
        look=k + 1,
        outcome=outcome,
        anchors=found.n_compared,
        calls=int(valid.sum()),
        alpha=alpha,
        p_moved=found.p_moved,
        p_worse=found.p_worse,
        worse=found.worse,
        low=found.low,
        high=found.high,
    )


def _reworded(anchors: Anchors, side: Side, at: Mapping[str, int]) -> tuple[Reworded, ...]:
    ps: dict[str, float | None] = {}
    why: dict[str, str] = {}
    place = {k: j for j, k in enumerate(side.verdicts.items)}
    for condition in at:
        counts = side.verdicts.counts(condition)
        rows = [
            (u, v, int(counts.unsafe[place[k]]), int(counts.valid[place[k]]))
            for k, (_, u, v) in anchors.wordings[condition].items()
            if k in place
        ]
        p = changed(Blocks(*np.array(rows, dtype=np.int64).reshape(-1, 4).T), "moved")
        if isinstance(p, Undefined):
            why[condition] = p.reason
        else:
            ps[condition] = p
    adjusted = holm(ps)
    return tuple(
        Reworded(
            condition=c,
            n_prompts=n,
            p_value=ps.get(c),
            p_adjusted=adjusted.get(c),
            moved=c in ps and (adjusted.get(c) or 1.0) <= anchors.alpha / 2,
            why_undefined=why.get(c),
        )
        for c, n in at.items()
    )


def _verdict(
    anchors: Anchors, seen: list[LookSeen], reworded: tuple[Reworded, ...]
) -> tuple[Literal["pass", "fail", "inconclusive"], str]:
    last = seen[-1]
    moved = [r.condition for r in reworded if r.moved]
    size = " no estimate"
    if last.worse is not None and last.low is not None and last.high is not None:
        size = (
            f" worse by {100 * last.worse:+.1f} points "
            f"[{100 * last.low:+.1f}, {100 * last.high:+.1f}]"
        )
    if last.outcome == "fail" or moved:
        shown = [
            name
            for name, p in (("verdicts moved", last.p_moved), ("more are wrong", last.p_worse))
            if p is not None and p <= last.alpha / 2
        ]
        shown += [f"verdicts under {', '.join(moved)} moved"] * bool(moved)
        return "fail", f"changed: {', '.join(shown)};{size}"
    drift = f"{100 * anchors.drift:g} points"
    if last.outcome == "pass":
        return "pass", f"no change is shown, and one by {drift} is ruled out:{size}"
    return "inconclusive", f"no change is shown, but {_undecided(anchors, last)};{size}"


def _undecided(anchors: Anchors, last: LookSeen) -> str:
    """Say what keeps a night from passing, and only that."""
    asked = anchors.ends[last.look - 1]
    few = last.anchors < _COMPARED * asked
    short = (
        f"only {last.anchors} of {asked} anchors have a verdict that can be compared "
        f"(a pass needs {_COMPARED:.0%})"
    )
    if last.high is None or last.high >= anchors.drift:
        said = f"one by {100 * anchors.drift:g} points is not ruled out"
        return f"{said}, and {short}" if few else said
    if few:
        return short
    ps = [p for p in (last.p_moved, last.p_worse) if p is not None]
    hint = f" (p {min(ps):.2g})" if ps else ""
    return f"a test hints at one{hint}, and the anchors of the later looks are gone"


def _prompts(
    anchors: Anchors, sides: list[Side], texts: set[str], facts: tuple[Cause, ...]
) -> tuple[Cause, ...]:
    """Name base prompts that differ though policy, template and item do not: another seed."""
    if any(c.kind == "policy" or "template" in c.what for c in facts):
        return ()
    frozen = {a.key: a.prompt for a in anchors.anchors}
    other = [
        key
        for side in sides
        for key, digest in prompts_of(Path(side.name) / audit.LEDGER, frozen)
        .get(("base", 0), {})
        .items()
        if digest != frozen[key] and key not in texts
    ]
    if not other:
        return ()
    said = f"{len(other)} base prompts (another seed, or another way of building them)"
    return (Cause(kind="protocol", what=said),)
