"""R-Judge: agent records with human consensus labels (Yuan et al. 2024, arXiv 2401.10019)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.core.records import Item
from judgeaudit.corpora import _clusters, _read, _records
from judgeaudit.corpora.base import CORPORA, CorpusRequest, Draft

__all__ = ["RJudge"]

_DATASET: Final = "rjudge"
_FOLDERS: Final = {"benign.json": 0, "harmful.json": 1}
_FILES: Final = {"rjudge.json": "agentauditor", "rjudgedata.json": "v1"}
_SUBSETS: Final = ("full", "agentauditor", "v1")
_LOOKED_FOR: Final = (
    "<Category>/benign.json and <Category>/harmful.json (subset full), rjudge.json (subset "
    "agentauditor), rjudgedata.json (subset v1), here or one folder below"
)


@CORPORA.register(_DATASET)
class RJudge:
    """R-Judge in the three layouts that are about: full by category, AgentAuditor's, first release.

    The folder names benign and harmful, `goal` (the benchmark's own judge prompt), `scenario` and
    `risk_description` stay out of what a judge sees.
    """

    title = "R-Judge"
    license = "CC BY-NC-SA (as stated by its authors): non-commercial; not bundled"
    needs = "a folder with <Category>/{benign,harmful}.json, or one JSON file"

    def read(self, request: CorpusRequest) -> Draft:
        """Read one layout; see `CorpusReader.read`."""
        if request.data is None:
            raise ConfigError(
                "R-Judge is not bundled (its licence is non-commercial)",
                mend=f"Give --data: {self.needs}",
            )
        if request.subset is not None and request.subset not in _SUBSETS:
            raise ConfigError(
                f"unknown subset {request.subset!r} of R-Judge",
                mend=f"Known: {', '.join(_SUBSETS)}",
            )
        place = request.data
        hub = place.startswith(_read.HUB_PREFIX)
        files = [place] if hub or not Path(place).is_dir() else self._find(Path(place), request)
        one = len(files) == 1
        sources = [_read.open_source(f, request.revision if one else None) for f in files]
        sha256 = sources[0].sha256 if one else _read.digest_of(sources)
        if not one:
            _read.check_pin(request.revision, sha256, place=place)
        subset, items = _items(sources)
        if request.subset not in {None, subset}:
            raise CorpusError(
                f"the data has the layout of subset {subset!r}, not {request.subset!r}",
                where=place,
            )
        return Draft(
            items=items,
            subset=subset,
            version=f"sha256:{sha256}",
            ambiguity_source="none: R-Judge has no ambiguity field in any copy and no raters' "
            "labels; import labels (item_id, rater, label) to get flags",
            notes=(
                "Items are clustered by the first user message; the null message is one of them.",
                "Labels are a consensus of human annotators, as published.",
            ),
        )

    def _find(self, folder: Path, request: CorpusRequest) -> list[str]:
        """Find the files of the layout wanted, here or one folder below."""
        found: dict[str, list[Path]] = {}
        for base in (folder, *sorted(p for p in folder.iterdir() if p.is_dir())):
            for name, subset in _FILES.items():
                if (base / name).is_file():
                    found.setdefault(f"{subset} ({base / name})", [base / name])
            parts = sorted(p for name in _FOLDERS for p in base.glob(f"*/{name}"))
            own = [base / name for name in _FOLDERS if (base / name).is_file()]
            if own and base == folder:
                found["full"] = own
            elif parts:
                found.setdefault(f"full ({base})", parts)
        wanted = {k: v for k, v in found.items() if request.subset in {None, k.split(" ")[0]}}
        if not wanted:
            raise CorpusError(
                f"no R-Judge data{f' of subset {request.subset}' if request.subset else ''}",
                where=str(folder),
                mend=f"Looked for {_LOOKED_FOR}",
            )
        if len(wanted) > 1:
            raise CorpusError(
                f"several copies of R-Judge: {'; '.join(wanted)}",
                where=str(folder),
                mend="Choose one with --subset, or give its own path",
            )
        return [str(p) for p in wanted.popitem()[1]]


def _items(sources: list[_read.Source]) -> tuple[str, tuple[Item, ...]]:
    ids = _records.Ids()
    items = []
    subset: str | None = None
    for source in sources:
        for where, record in _read.records(source):
            own = _layout(record, source)
            if subset not in {None, own}:
                raise CorpusError(
                    f"the record has the fields of subset {own!r}, those before it of {subset!r}",
                    where=where,
                )
            subset = own
            items.append(_item(record, where, subset, ids, source))
    return subset or _SUBSETS[0], tuple(items)


def _layout(record: Mapping[str, Any], source: _read.Source) -> str:
    if "attack_type" in record or source.name in _FOLDERS:
        return "full"
    return "v1" if "category" in record else "agentauditor"


def _item(
    record: Mapping[str, Any], where: str, subset: str, ids: _records.Ids, source: _read.Source
) -> Item:
    name = ids.take(_records.field(record, "id", where), where)
    where = f"{where} (id {name})"
    label = _records.label_01(record, where)
    strata = {
        k: _records.text(record[k], k, where) for k in ("category", "attack_type") if k in record
    }
    told = _FOLDERS.get(source.name)
    if subset == "full" and source.path is not None and told is not None:
        if told != (label == "UNSAFE"):
            raise CorpusError(
                f"label is {record['label']}, but the file is called {source.name}", where=where
            )
        strata["category"] = source.path.resolve().parent.name
    trajectory = _records.trajectory_of(record, where)
    return Item(
        dataset=_DATASET,
        subset=subset,
        id=name,
        cluster=_clusters.by_first_user(_DATASET, trajectory),
        trajectory=trajectory,
        label=label,
        label_source="human",
        strata=strata,
    )
