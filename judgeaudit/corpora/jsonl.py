"""A user's own trajectories: JSONL, a JSON list, or parquet with the same fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, get_args

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.core.records import Item, Label, LabelSource, Role, Trajectory
from judgeaudit.corpora import _clusters, _read, _records
from judgeaudit.corpora.base import CORPORA, CorpusRequest, Draft

__all__ = ["JsonLines", "item_of"]

_FIELDS: Final = (
    "id", "trajectory", "label", "label_source", "ambiguous", "cluster", "dataset", "subset",
    "strata",
)  # fmt: skip
_LIKE_RJUDGE: Final = ("id", "profile", "contents", "label", "label_source", "ambiguous")
_ROLES: Final[tuple[Role, ...]] = get_args(Role)
_LABELS: Final[dict[str, Label]] = {"SAFE": "SAFE", "UNSAFE": "UNSAFE"}
_SOURCES: Final[tuple[LabelSource, ...]] = ("human", "author", "model", "rule")
_MEND: Final = 'Say who assigned the label: "label_source": "human" (or author, model, rule)'


@CORPORA.register("jsonl")
class JsonLines:
    """A user's own trajectories.

    One record an item::

        {"id": "run-17",
         "trajectory": {"profile": "You are a shop's assistant.",
                        "turns": [{"role": "user", "content": "Refund order 8, please."},
                                  {"role": "agent", "thought": "…", "action": "refund(order=8)"},
                                  {"role": "environment", "content": "done"}]},
         "label": "SAFE", "label_source": "human"}

    ======================  ======================================================================
    `id`                    text or whole number, once in a (dataset, subset)
    `trajectory.turns`      roles system, user, agent, environment; an agent has `thought` and
                            `action`, the others `content`; each may be null
    `trajectory.profile`    optional: the agent's system profile
    `label`                 SAFE or UNSAFE, in any case; null for an unlabelled item
    `label_source`          human, author, model or rule: who assigned the label
    `ambiguous`             optional: true or false; null or absent: not known
    `cluster`               optional: items of one source; default: the first user message
    `dataset`, `subset`     optional: "jsonl" and "default"
    `strata`                optional: texts to break figures down by; never shown to a judge
    ======================  ======================================================================

    A record with `contents` in place of `trajectory` is read as an R-Judge-like one: `profile`,
    `contents`, `label` as 1 (unsafe) or 0, `ambiguous` as 1 or 0; it needs a `label_source` too.
    Its other fields are not used.
    """

    title = "Own trajectories"
    license = ""
    needs = "a JSONL or JSON file of items (see `judgeaudit corpus show jsonl`)"

    def read(self, request: CorpusRequest) -> Draft:
        """Read all records; `subset` keeps those of one subset."""
        if request.data is None:
            raise ConfigError("no data is given", mend=f"Give --data: {self.needs}")
        if Path(request.data).is_dir():
            raise CorpusError("is a folder, not a file", where=request.data)
        source = _read.open_source(request.data, request.revision)
        ids: dict[tuple[str, str], _records.Ids] = {}
        unused: Counter[str] = Counter()
        items = []
        for where, record in _read.records(source):
            if "contents" in record and "trajectory" not in record:
                unused.update(k for k in record if k not in _LIKE_RJUDGE)
                items.append(_rjudge_like(record, where, ids))
            else:
                items.append(item_of(record, where, ids))
        subsets = sorted({i.subset for i in items})
        if request.subset is not None:
            items = [i for i in items if i.subset == request.subset]
            if not items:
                raise CorpusError(
                    f"no items of subset {request.subset!r}",
                    where=request.data,
                    mend=f"The subsets are {', '.join(subsets)}",
                )
        notes = ["Items are clustered by their field 'cluster', else by the first user message."]
        if unused:
            notes.append(f"Fields not used: {', '.join(sorted(unused))}.")
        return Draft(
            items=tuple(items),
            subset=request.subset,
            version=f"sha256:{source.sha256}",
            ambiguity_source=_flags(items),
            notes=tuple(notes),
        )


def _flags(items: list[Item]) -> str:
    missing = sum(i.ambiguous is None for i in items)
    if missing == len(items):
        return "none: the file has no field 'ambiguous'; import labels (item_id, rater, label)"
    words = "the file's own field 'ambiguous'"
    return f"{words}; {missing} of {len(items)} items have none" if missing else words


def item_of(
    record: Mapping[str, Any], where: str, ids: dict[tuple[str, str], _records.Ids]
) -> Item:
    """Read one record in the documented form.

    Parameters
    ----------
    record : mapping
        The parsed record.
    where : str
        Its place, for messages.
    ids : dict
        The ids seen so far by (dataset, subset); added to.

    Raises
    ------
    CorpusError
        Naming the field that does not fit.
    """
    surplus = [k for k in record if k not in _FIELDS]
    if surplus:
        raise CorpusError(
            f"unknown field {surplus[0]!r}", where=where, mend=f"Known: {', '.join(_FIELDS)}"
        )
    dataset, subset, name, where = _key(record, where, ids)
    raw = _records.field(record, "trajectory", where)
    if not isinstance(raw, dict):
        raise CorpusError(f"trajectory is {raw!r:.60}, not an object", where=where)
    surplus = [k for k in raw if k not in {"profile", "turns"}]
    if surplus:
        raise CorpusError(
            f"unknown field {surplus[0]!r} in trajectory", where=where, mend="Known: profile, turns"
        )
    trajectory = Trajectory(
        profile=_records.optional_text(raw.get("profile"), "profile", where),
        turns=_records.turns_of(_records.field(raw, "turns", where), where, roles=_ROLES),
    )
    label = _label(_records.field(record, "label", where), where)
    ambiguous = record.get("ambiguous")
    if ambiguous is not None and not isinstance(ambiguous, bool):
        raise CorpusError(
            f"ambiguous is {ambiguous!r:.60}; it must be true, false or null", where=where
        )
    cluster = _records.optional_text(record.get("cluster"), "cluster", where)
    return Item(
        dataset=dataset,
        subset=subset,
        id=name,
        cluster=cluster or _clusters.by_opening(dataset, trajectory),
        trajectory=trajectory,
        label=label,
        label_source=_label_source(record, label, where),
        ambiguous=ambiguous,
        strata=_strata(record.get("strata"), where),
    )


def _rjudge_like(
    record: Mapping[str, Any], where: str, ids: dict[tuple[str, str], _records.Ids]
) -> Item:
    dataset, subset, name, where = _key({"id": _records.field(record, "id", where)}, where, ids)
    trajectory = _records.trajectory_of(record, where)
    label = _records.label_01(record, where)
    return Item(
        dataset=dataset,
        subset=subset,
        id=name,
        cluster=_clusters.by_opening(dataset, trajectory),
        trajectory=trajectory,
        label=label,
        label_source=_label_source(record, label, where),
        ambiguous=_records.flag_01(record, "ambiguous", where),
    )


def _key(
    record: Mapping[str, Any], where: str, ids: dict[tuple[str, str], _records.Ids]
) -> tuple[str, str, str, str]:
    names = []
    for name, default in (("dataset", "jsonl"), ("subset", "default")):
        value = record.get(name)
        given = default if value is None else _records.text(value, name, where)
        if not given.strip() or not given.isprintable():
            raise CorpusError(f"{name} is {given!r:.60}: blank or not printable", where=where)
        names.append(given)
    dataset, subset = names
    taken = ids.setdefault((dataset, subset), _records.Ids())
    name = taken.take(_records.field(record, "id", where), where)
    return dataset, subset, name, f"{where} (id {name})"


def _label(value: object, where: str) -> Label | None:
    if value is None:
        return None
    label = _LABELS.get(value.strip().upper()) if isinstance(value, str) else None
    if label is None:
        raise CorpusError(
            f"label is {value!r:.60}; it must be SAFE, UNSAFE or null (unlabelled)", where=where
        )
    return label


def _label_source(record: Mapping[str, Any], label: Label | None, where: str) -> LabelSource:
    value = record.get("label_source")
    if label is None:
        if value is not None and value != "unlabelled":
            raise CorpusError(f"label_source is {value!r:.60}, but there is no label", where=where)
        return "unlabelled"
    if value is None:
        raise CorpusError("the label has no label_source", where=where, mend=_MEND)
    source = next((s for s in _SOURCES if s == value), None)
    if source is None:
        raise CorpusError(f"label_source is {value!r:.60}", where=where, mend=_MEND)
    return source


def _strata(value: object, where: str) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise CorpusError(f"strata is {value!r:.60}, not an object of texts", where=where)
    # a table gives every row every name; a null there says nothing
    return {
        _records.text(k, "a name in strata", where): _records.text(v, f"strata.{k}", where)
        for k, v in value.items()
        if v is not None
    }
