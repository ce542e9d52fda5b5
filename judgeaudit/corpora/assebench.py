"""ASSEBench: agent records with expert labels and ambiguity flags (arXiv 2506.00641)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.core.records import Item
from judgeaudit.corpora import _clusters, _read, _records
from judgeaudit.corpora.base import CORPORA, CorpusRequest, Draft

__all__ = ["ASSEBench"]

_DATASET: Final = "assebench"
_HUB: Final = "Atarogic/ASSEBench"
_STRATA: Final = ("application_scenario", "risk_type", "failure_mode")


@dataclass(frozen=True, slots=True)
class _Upstream:
    """A file of the release: the word in its name, git blob id, and the paper's counts."""

    word: str
    blob: str
    unsafe: int
    safe: int


# github.com/Astarojth/AgentAuditor-ASSEBench @ e2b78359; counts of the paper's appendix H
_UPSTREAM: Final = {
    "security": _Upstream("security", "59f05f51c9fdaae0d1cc8ff0e7795239098d4d38", 409, 408),
    "safety": _Upstream("safety", "1c147201f6a90f12e6159ac4bac7a9cbb5f1d86c", 806, 670),
    "strict": _Upstream("strict", "c15b12920a912910d28154d755555f0d9e42b17b", 835, 641),
    "lenient": _Upstream("loose", "5de144230f492a389dbc2113a6c62c90575fe9e4", 575, 901),
}
_CLUSTERED: Final = (
    "Items are clustered by the task that opens the first user message: many records share a task "
    "and differ in the tools and the injected text after it."
)
_FILE: Final = re.compile(r"AgentJudge-(\w+)\.\w+")


@CORPORA.register(_DATASET)
class ASSEBench:
    """ASSEBench-Security, -Safety, -Strict and -Lenient (whose file says "loose").

    `risk_description`, `risk_type`, `failure_mode` and `application_scenario` stay out of what a
    judge sees; the last three are strata.
    """

    title = "ASSEBench"
    license = "Apache-2.0 (records derive from datasets with licences of their own)"
    needs = (
        "a file AgentJudge-<subset>.json, a folder that holds such files, or "
        f"{_read.HUB_PREFIX}{_HUB} with a pinned --revision"
    )

    def read(self, request: CorpusRequest) -> Draft:
        """Read one subset; see `CorpusReader.read`."""
        wanted = request.subset
        if wanted is not None and wanted not in _UPSTREAM:
            raise ConfigError(
                f"unknown subset {wanted!r} of ASSEBench", mend=f"Known: {', '.join(_UPSTREAM)}"
            )
        if request.data is None:
            raise ConfigError("ASSEBench is not bundled", mend=f"Give --data: {self.needs}")
        source = _read.open_source(self._file(request.data, wanted), request.revision)
        subset = _subset(source, wanted)
        ids = _records.Ids()
        items = tuple(_item(r, where, subset, ids) for where, r in _read.records(source))
        return Draft(
            items=items,
            subset=subset,
            version=f"sha256:{source.sha256}",
            ambiguity_source=_flags(items),
            notes=(
                *_compared(source, subset, items),
                _CLUSTERED,
                "Labels are those of five human experts, as published.",
            ),
        )

    def _file(self, data: str, wanted: str | None) -> str:
        """Find the file of a subset in a folder or in the dataset's repository on the hub."""
        if data.rstrip("/") == f"{_read.HUB_PREFIX}{_HUB}":
            if wanted is None:
                raise ConfigError(
                    "no subset is given", where=data, mend=f"Known: {', '.join(_UPSTREAM)}"
                )
            return f"{data.rstrip('/')}/dataset/AgentJudge-{_UPSTREAM[wanted].word}.json"
        folder = Path(data)
        if data.startswith(_read.HUB_PREFIX) or not folder.is_dir():
            return data
        bases = (folder, folder / "dataset", folder / "ASSEBench" / "dataset")
        found = {
            subset: path
            for base in reversed(bases)
            for subset, up in _UPSTREAM.items()
            if (path := base / f"AgentJudge-{up.word}.json").is_file()
        }
        if wanted is None and len(found) > 1:
            raise CorpusError(
                f"several subsets: {', '.join(found)}", where=data, mend="Choose one with --subset"
            )
        chosen = found.get(wanted or next(iter(found), ""))
        if chosen is None:
            names = [
                f"AgentJudge-{u.word}.json" for s, u in _UPSTREAM.items() if wanted in {None, s}
            ]
            raise CorpusError(
                "no ASSEBench data" + (f" of subset {wanted}" if wanted else ""),
                where=data,
                mend=f"Looked for {', '.join(names)}, here, in dataset/ and in ASSEBench/dataset/",
            )
        return str(chosen)


def _subset(source: _read.Source, wanted: str | None) -> str:
    match = _FILE.fullmatch(source.name)
    named = next((s for s, u in _UPSTREAM.items() if match and match[1] in {s, u.word}), None)
    if named is None and wanted is None:
        raise ConfigError(
            "the file's name does not tell the subset (AgentJudge-<subset>.json)",
            where=source.place,
            mend=f"Say it with --subset: {', '.join(_UPSTREAM)}",
        )
    if wanted is not None and named not in {None, wanted}:
        raise ConfigError(
            f"subset {wanted!r} is asked for, but the file is that of {named!r}",
            where=source.place,
        )
    return wanted or named or ""


def _item(record: Mapping[str, Any], where: str, subset: str, ids: _records.Ids) -> Item:
    name = ids.take(_records.field(record, "id", where), where)
    where = f"{where} (id {name})"
    trajectory = _records.trajectory_of(record, where)
    strata = {}
    for key in _STRATA:
        value = _records.optional_text(record.get(key), key, where)
        if value:
            # written with and without its full stop
            strata[key] = value.strip().removesuffix(".")
    return Item(
        dataset=_DATASET,
        subset=subset,
        id=name,
        cluster=_clusters.by_task(_DATASET, trajectory),
        trajectory=trajectory,
        label=_records.label_01(record, where),
        label_source="human",
        ambiguous=_records.flag_01(record, "ambiguous", where),
        strata=strata,
    )


def _flags(items: tuple[Item, ...]) -> str:
    missing = sum(i.ambiguous is None for i in items)
    if missing == len(items):
        return "none: this copy of ASSEBench has no field 'ambiguous'"
    words = "experts: the dataset's own flag for borderline records (field 'ambiguous')"
    return f"{words}; {missing} of {len(items)} items have none" if missing else words


def _compared(source: _read.Source, subset: str, items: tuple[Item, ...]) -> tuple[str, ...]:
    """Compare the file with the published one: by bytes, else by the paper's counts."""
    up = _UPSTREAM[subset]
    if source.git_blob == up.blob:
        return ("The file is byte for byte the published one (git blob).",)
    unsafe = sum(i.label == "UNSAFE" for i in items)
    safe = len(items) - unsafe
    told = f"{up.unsafe} unsafe and {up.safe} safe"
    same = "as in the paper" if (unsafe, safe) == (up.unsafe, up.safe) else f"the paper has {told}"
    words = f"it holds {unsafe} unsafe and {safe} safe records, {same}."
    return (f"The file is not byte for byte the published one (git blob); {words}",)
