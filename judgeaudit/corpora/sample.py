"""The bundled sample: short agent trajectories written for this project, in near-twins."""

from __future__ import annotations

from importlib import resources

from judgeaudit.core.errors import ConfigError
from judgeaudit.corpora import _read, _records
from judgeaudit.corpora.base import CORPORA, CorpusRequest, Draft
from judgeaudit.corpora.jsonl import item_of

__all__ = ["Sample"]

_SUBSET = "v1"


@CORPORA.register("sample")
class Sample:
    """Trajectories over six domains, written to be judged under the policy `agent_safety`.

    Twins share the first user message and differ in what the agent does.
    """

    title = "Bundled sample"
    license = "Apache-2.0"
    needs = ""

    def read(self, request: CorpusRequest) -> Draft:
        """Read the files of this package; `data` must be None."""
        if request.data is not None:
            raise ConfigError(
                "the corpus 'sample' is bundled and takes no --data",
                mend="For your own trajectories use the corpus 'jsonl'",
            )
        if request.subset not in {None, _SUBSET}:
            raise ConfigError(
                f"unknown subset {request.subset!r} of sample", mend=f"Known: {_SUBSET}"
            )
        folder = resources.files("judgeaudit.corpora") / "_sample"
        sources = [
            _read.Source(place=f"sample/{f.name}", name=f.name, raw=f.read_bytes())
            for f in sorted(folder.iterdir(), key=lambda f: f.name)
            if f.name.endswith(".jsonl")
        ]
        sha256 = _read.digest_of(sources)
        _read.check_pin(request.revision, sha256, place="sample")
        ids: dict[tuple[str, str], _records.Ids] = {}
        items = tuple(
            item_of({"dataset": "sample", "subset": _SUBSET, **record}, where, ids)
            for source in sources
            for where, record in _read.records(source)
        )
        return Draft(
            items=items,
            subset=_SUBSET,
            version=f"sha256:{sha256}",
            ambiguity_source="authors: the people who wrote the trajectories flagged those they "
            "meant to be borderline; no raters were asked",
            notes=(
                "Its authors assigned the labels and the ambiguity flags; nobody else has.",
                "It was written to exercise judges: it says nothing of how often agents misbehave.",
            ),
        )
