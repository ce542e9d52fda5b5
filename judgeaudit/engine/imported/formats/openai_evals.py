"""OpenAI evals: the recorder's JSONL log of `oaieval`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from judgeaudit.core.errors import CorpusError
from judgeaudit.corpora._read import Source
from judgeaudit.engine.imported.formats.base import FORMATS, Asked, Place, Rows, first_of, lines_of

__all__ = ["OpenAIEvals"]

_INVALID: Final = "__invalid__"
"""What a graded eval writes where it could not read the grader's choice."""


@FORMATS.register("openai_evals")
class OpenAIEvals:
    """The event log of OpenAI evals (spec, sampling, match, metrics, error, final_report).

    An item is a sample; the eval's name is the condition, so give one file for each wording. Of a
    model-graded eval the verdict is the grader's `choice`; of others the last thing sampled, read
    as a judge's answer. Each `metrics` (`match`) event of a sample is one of its repeats. A sample
    without one is an error; a choice that could not be read is unparseable.
    """

    title = "OpenAI evals log (oaieval --record_path)"

    def recognises(self, source: Source) -> bool:
        """See `VerdictFormat.recognises`."""
        first = first_of(source)
        spec = first.get("spec")
        if isinstance(spec, dict):
            return "eval_name" in spec or "run_id" in spec
        return {"run_id", "event_id", "sample_id", "type", "data"} <= first.keys()

    def read(self, sources: Sequence[Source], asked: Asked) -> Rows:
        """See `VerdictFormat.read`."""
        logs = [_log(source) for source in sources]
        chosen = any(
            e["type"] == "metrics" and "choice" in e["data"] for _, own in logs for e in own
        )
        by_choice = asked.verdict == "choice" or (
            asked.verdict is None and asked.reply is None and chosen
        )
        head = (asked.verdict or "").partition(".")[0]
        kind = "metrics" if by_choice or head == "metrics" else "match"
        found = [row for spec, events in logs for row in _rows(spec, events, kind)]
        counts: Counter[tuple[str, str]] = Counter()
        for _, row in found:
            key = row["eval"], row["sample_id"]
            row["repeat"] = counts[key]
            counts[key] += 1
            if by_choice and row["choice"] == _INVALID:
                row["outcome"] = "unparseable"
        roles = {
            "item": "sample_id",
            "condition": "eval",
            "repeat": "repeat",
            "reply": "sampled",
            "outcome": "outcome",
        }
        if by_choice:
            roles["verdict"] = "choice"
        return Rows(found, roles, one=("model",), judge="model")


def _log(source: Source) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    spec: dict[str, Any] = {}
    events = []
    for where, record in lines_of(source):
        if isinstance(record.get("spec"), dict):
            spec = record["spec"]
        elif "type" in record and "sample_id" in record:
            data = record.get("data")
            told = data if isinstance(data, dict) else {}
            events.append({**record, "data": told, "where": where})
        elif "final_report" not in record:
            raise CorpusError("is no event of an OpenAI evals log", where=where)
    return spec, events


def _texts(sampled: object) -> list[str | None]:
    """Return what was sampled, one text a completion."""
    found = sampled if isinstance(sampled, list) else [sampled]
    return [t if isinstance(t, str) else None for t in found] or [None]


def _rows(spec: dict[str, Any], events: Sequence[dict[str, Any]], kind: str) -> Iterator[Place]:
    models = spec.get("completion_fns") or spec.get("model_name") or ""
    model = ", ".join(map(str, models)) if isinstance(models, list) else str(models)
    by_sample: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        by_sample.setdefault(str(event["sample_id"]), []).append(event)
    for sample, own in by_sample.items():
        common = {
            "sample_id": sample,
            "eval": str(spec.get("eval_name") or spec.get("base_eval") or "eval"),
            "model": model,
            "spec": spec,
            "outcome": None,
            "choice": None,
        }
        answers = [(e["where"], {**common, **more}) for e, more in _judged(own, kind)] or _unjudged(
            own, common, kind
        )
        for where, row in answers:
            yield Place(where, row)


def _judged(
    own: Sequence[dict[str, Any]], kind: str
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    last: object = None
    for event in own:
        if event["type"] == "sampling":
            last = event["data"].get("sampled")
        elif event["type"] == kind:
            data = event["data"]
            text = _texts(data.get("sampled", last))[0]
            yield event, {kind: data, "sampled": text, "choice": data.get("choice")}


def _unjudged(
    own: Sequence[dict[str, Any]], common: dict[str, Any], kind: str
) -> list[tuple[str, dict[str, Any]]]:
    """Make rows of a sample of which nothing says how it was judged: an error, unless it answered.

    What an eval sampled is an answer where answers are read; where grades are, a sample without
    one has none.
    """
    failed = [e for e in own if e["type"] == "error"]
    sampled = [e for e in own if e["type"] == "sampling"]
    if kind == "match" and sampled and not failed:
        return [
            (e["where"], {**common, "sampled": text})
            for e in sampled
            for text in _texts(e["data"].get("sampled"))
        ]
    where = (failed or own)[-1]["where"]
    return [(where, {**common, "sampled": None, "outcome": "error"})]
