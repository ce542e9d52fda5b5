"""Why two runs may differ: each cause is read off the facts of both, none is guessed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from judgeaudit.cards.differences import differences
from judgeaudit.core.hashing import canonical_json
from judgeaudit.core.records._base import Record
from judgeaudit.watch.sides import Side

__all__ = ["Cause", "CauseKind", "causes_of", "changed_facts", "changed_values"]

CauseKind = Literal["judge", "data", "policy", "protocol", "unexplained", "noise"]


class Cause(Record):
    """One thing that differs between two runs, or that nothing does.

    Parameters
    ----------
    kind : str
        "judge", "data", "policy" or "protocol": a fact that differs; "unexplained": verdicts
        moved though no fact did; "noise": no more moved than repeats of one prompt do.
    what : str
        The fact ("served model", "fingerprint", "prompt template", "wording T2", ...).
    before, after : str
        Its values; "" where it has none.
    """

    kind: CauseKind
    what: str
    before: str = ""
    after: str = ""


def _set(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "not stated"


_JUDGE = {
    "backend": "backend",
    "model": "model asked for",
    "api_base": "endpoint",
    "template_id": "prompt template",
    "template_sha256": "prompt template's text",
    "output_format": "answer format",
    "sends_seed": "seeds sent",
    "weights_sha256": "weights",
}


def _judge(a: Side, b: Side) -> Iterator[Cause]:
    one, two = a.facts.judge, b.facts.judge
    for name, words in _JUDGE.items():
        x, y = getattr(one, name), getattr(two, name)
        if x != y:
            yield Cause(kind="judge", what=words, before=_cut(x), after=_cut(y))
    for d in differences(dict(one.decoding), dict(two.decoding)):
        yield Cause(
            kind="judge", what=f"parameter {d.path}", before=_said(d.old), after=_said(d.new)
        )
    if a.facts.dropped_parameters != b.facts.dropped_parameters:
        yield Cause(
            kind="judge",
            what="parameters that the server refused",
            before=_set(a.facts.dropped_parameters),
            after=_set(b.facts.dropped_parameters),
        )
    x, y = set(a.facts.served_models), set(b.facts.served_models)
    if x != y:
        yield Cause(kind="judge", what="served model", before=_set(x), after=_set(y))
    # a card does not hold them
    known = a.table is not None and b.table is not None
    if known and a.fingerprints != b.fingerprints:
        yield Cause(
            kind="judge",
            what="fingerprint of the served model",
            before=_set(a.fingerprints),
            after=_set(b.fingerprints),
        )


def _said(value: object) -> str:
    if isinstance(value, (dict, list, str, int, float, bool)) or value is None:
        return _cut(canonical_json(value))
    return str(value)


def _cut(value: object) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _data(a: Side, b: Side) -> Iterator[Cause]:
    one, two = a.facts.corpus, b.facts.corpus
    # the version of an imported corpus is the hash of its table, verdicts included
    imported = all("imported" in s.facts.extra for s in (a, b))
    for name in ("name", "subset", "version", "label_source"):
        if name == "version" and imported:
            continue
        x, y = getattr(one, name), getattr(two, name)
        if x != y:
            what = "corpus" if name == "name" else f"corpus {name.replace('_', ' ')}"
            yield Cause(kind="data", what=what, before=_cut(x), after=_cut(y))
    x, y = (_said(s.facts.extra.get("too_long")) for s in (a, b))
    if x != y:
        yield Cause(kind="data", what="trajectories cut as too long", before=x, after=y)
    if a.table is None or b.table is None:
        if one.sha256 != two.sha256:
            yield Cause(kind="data", what="items", before=one.sha256[:12], after=two.sha256[:12])
        return
    mine, theirs = set(a.table.items), set(b.table.items)
    if mine != theirs:
        yield Cause(
            kind="data",
            what="set of items",
            before=f"{len(mine - theirs)} only there",
            after=f"{len(theirs - mine)} only there",
        )
    both = mine & theirs
    texts = [k for k in both if a.trajectories.get(k) != b.trajectories.get(k)]
    if texts:
        yield Cause(kind="data", what="text of items", after=_some(texts))
    gold = dict(zip(a.table.items, a.table.gold.tolist(), strict=True))
    labels = [
        k
        for k, g in zip(b.table.items, b.table.gold.tolist(), strict=True)
        if k in both and gold[k] != g
    ]
    if labels:
        yield Cause(kind="data", what="labels of items", after=_some(labels))


def _some(keys: list[str]) -> str:
    shown = ", ".join(sorted(keys)[:3])
    return f"{len(keys)} of them ({_cut(shown)}{', ...' if len(keys) > 3 else ''})"


def _policy(a: Side, b: Side) -> Iterator[Cause]:
    one, two = a.facts.policy, b.facts.policy
    if one.id != two.id or one.language != two.language:
        yield Cause(
            kind="policy",
            what="policy",
            before=f"{one.id} ({one.language})",
            after=f"{two.id} ({two.language})",
        )
    elif one.sha256 != two.sha256:
        yield Cause(
            kind="policy",
            what="content of the policy",
            before=one.sha256[:12],
            after=two.sha256[:12],
        )
    moved = _differ(a.texts, b.texts)
    if moved:
        yield Cause(kind="policy", what="wordings", after=", ".join(moved))


def _differ(a: Mapping[str, str], b: Mapping[str, str]) -> list[str]:
    return [k for k in dict.fromkeys([*a, *b]) if a.get(k) != b.get(k)]


def _protocol(a: Side, b: Side) -> Iterator[Cause]:
    one, two = (s.protocol.model_dump(mode="json", exclude={"seed", "preset"}) for s in (a, b))
    for d in differences(one, two):
        yield Cause(kind="protocol", what=d.path, before=_said(d.old), after=_said(d.new))


def changed_facts(a: Side, b: Side) -> tuple[Cause, ...]:
    """Name every fact in which two runs differ.

    Returns
    -------
    tuple of Cause
        Judge, data, policy, protocol; empty where nothing differs.
    """
    return (*_judge(a, b), *_data(a, b), *_policy(a, b), *_protocol(a, b))


def changed_values(
    before: Mapping[str, Any],
    now: Mapping[str, Any],
    items: Mapping[str, list[str]],
    *,
    wordings: list[str],
) -> tuple[Cause, ...]:
    """Name the facts in which a night differs from a baseline that was kept as plain values.

    Parameters
    ----------
    before, now : mapping
        Of `anchors.facts_of`.
    items : mapping of str to list of str
        What differs of the data, and the keys of those items.
    wordings : list of str
        Conditions whose prompts are others.
    """
    out = []
    for d in differences(dict(before["judge"]), dict(now["judge"])):
        what = _JUDGE.get(d.path, d.path.replace("decoding.", "parameter "))
        out.append(Cause(kind="judge", what=what, before=_said(d.old), after=_said(d.new)))
    for key, what in (
        ("served", "served model"),
        ("fingerprints", "fingerprint of the served model"),
    ):
        if before[key] != now[key]:
            out.append(
                Cause(kind="judge", what=what, before=_set(before[key]), after=_set(now[key]))
            )
    if before["corpus"] != now["corpus"]:
        for d in differences(dict(before["corpus"]), dict(now["corpus"])):
            what = f"corpus {d.path}"
            out.append(Cause(kind="data", what=what, before=_said(d.old), after=_said(d.new)))
    out += [Cause(kind="data", what=w, after=_some(keys)) for w, keys in items.items() if keys]
    one, two = before["policy"], now["policy"]
    if one["id"] != two["id"]:
        out.append(Cause(kind="policy", what="policy", before=one["id"], after=two["id"]))
    elif one["sha256"] != two["sha256"]:
        ends = one["sha256"][:12], two["sha256"][:12]
        what = "content of the policy"
        out.append(Cause(kind="policy", what=what, before=ends[0], after=ends[1]))
    moved = [*(["base"] if before["base text"] != now["base text"] else []), *wordings]
    if moved:
        out.append(Cause(kind="policy", what="wordings", after=", ".join(moved)))
    return tuple(out)


def causes_of(facts: tuple[Cause, ...], *, moved: bool) -> tuple[Cause, ...]:
    """Add what facts alone do not say: that nothing explains a change, or that there is none.

    Parameters
    ----------
    facts : tuple of Cause
        Of `changed_facts`.
    moved : bool
        Whether anything moved by more than chance.
    """
    if not moved:
        said = "what moved is no more than calls of one prompt do among themselves"
        return (*facts, Cause(kind="noise", what=said))
    if not facts:
        said = "the judge answers otherwise under the same name, prompt and parameters"
        return (Cause(kind="unexplained", what=said),)
    return facts
