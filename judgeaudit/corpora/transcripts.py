"""Transcripts as they are kept: OpenAI chat and Responses, Anthropic Messages, OpenTelemetry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.core.records import Item, Trajectory
from judgeaudit.corpora import _clusters, _read, _records
from judgeaudit.corpora._dialects import FIELDS, Dialect, parts_of, signs_of
from judgeaudit.corpora._events import Event, Seen, trajectory_of_events
from judgeaudit.corpora._items import ITEM_TYPES, events_of_items
from judgeaudit.corpora._messages import events_of_messages
from judgeaudit.corpora._spans import Span, is_spans, spans_of
from judgeaudit.corpora._traces import events_of_trace
from judgeaudit.corpora.base import CORPORA, CorpusRequest, Draft

__all__ = ["Reader", "Transcript", "Transcripts", "read_transcripts"]

_DATASET: Final = "transcripts"
_OTHER_SIGNALS: Final = frozenset({"resourceLogs", "resourceMetrics"})
_CONVERSATION: Final = "gen_ai.conversation.id"


@dataclass(frozen=True, slots=True)
class Transcript:
    """One transcript, and where it came from.

    Parameters
    ----------
    where : str
        Its place, for messages.
    id : str
        Its field `id`, of spans the trace; else the number of its record.
    dialect : str
        How it is written.
    trajectory : Trajectory
        What a judge may see of it.
    record : mapping
        The whole record, from which a user may name a label; of a trace the attributes of its
        first span.
    group : str, optional
        What names the conversation it is a part of.
    """

    where: str
    id: str
    dialect: Dialect
    trajectory: Trajectory
    record: Mapping[str, Any]
    group: str | None = None


class Reader:
    """Reads transcripts of one dialect, or of any."""

    title = ""
    license = ""
    needs = "a JSONL or JSON file of transcripts"
    dialect: Dialect | None = None

    def read(self, request: CorpusRequest) -> Draft:
        """Read all transcripts of a file; see `CorpusReader.read`."""
        if request.data is None:
            raise ConfigError("no data is given", mend=f"Give --data: {self.needs}")
        if Path(request.data).is_dir():
            raise CorpusError("is a folder, not a file", where=request.data)
        source = _read.open_source(request.data, request.revision)
        found, notes = read_transcripts(source, self.dialect)
        kinds = sorted({t.dialect for t in found})
        if request.subset is not None:
            found = [t for t in found if t.dialect == request.subset]
            if not found:
                raise CorpusError(
                    f"no items of subset {request.subset!r}",
                    where=request.data,
                    mend=f"The subsets are {', '.join(kinds)}",
                )
        return Draft(
            items=tuple(_item(t) for t in found),
            subset=request.subset,
            version=f"sha256:{source.sha256}",
            ambiguity_source="none: transcripts have no ambiguity flags; import labels "
            "(item_id, rater, label)",
            notes=(
                "Transcripts carry no labels; `judgeaudit corpus convert` takes them from a field.",
                "Items are clustered by their conversation, else by the first user message.",
                *notes,
            ),
        )


@CORPORA.register("transcripts")
class Transcripts(Reader):
    """Transcripts of agents, each record's dialect told from its form.

    ======================  ======================================================================
    `openai_chat`           `messages` with `tool_calls` and roles `tool`, `developer`, ...
    `openai_responses`      `input` and `output` (or `items`) of the Responses API
    `anthropic_messages`    `messages` with content blocks, `system` beside them
    `otel_spans`            OpenTelemetry GenAI spans, OTLP JSON or one span a line; a trace is
                            one trajectory
    ======================  ======================================================================

    Each is a corpus of that name, too, which refuses records of another dialect. Instructions
    become the profile, reasoning an agent's thought, what it says and calls its action, and what
    tools give back turns of the environment. Nothing else of a record is shown to a judge, and no
    label is taken: name its field with `judgeaudit corpus convert`.
    """

    title = "Transcripts (OpenAI, Anthropic, OpenTelemetry)"


@CORPORA.register("openai_chat")
class OpenAIChat(Reader):
    """Chat transcripts of OpenAI's form; see `transcripts`."""

    title = "OpenAI chat transcripts"
    dialect = "openai_chat"


@CORPORA.register("openai_responses")
class OpenAIResponses(Reader):
    """Inputs and outputs of OpenAI's Responses API; see `transcripts`."""

    title = "OpenAI Responses transcripts"
    dialect = "openai_responses"


@CORPORA.register("anthropic_messages")
class AnthropicMessages(Reader):
    """Transcripts of Anthropic's Messages API; see `transcripts`."""

    title = "Anthropic Messages transcripts"
    dialect = "anthropic_messages"


@CORPORA.register("otel_spans")
class OTelSpans(Reader):
    """OpenTelemetry GenAI spans, a trajectory a trace; see `transcripts`."""

    title = "OpenTelemetry GenAI spans"
    dialect = "otel_spans"


def _item(t: Transcript) -> Item:
    return Item(
        dataset=_DATASET,
        subset=t.dialect,
        id=t.id,
        cluster=t.group or _clusters.by_opening(_DATASET, t.trajectory),
        trajectory=t.trajectory,
    )


def read_transcripts(
    source: _read.Source, dialect: Dialect | None = None
) -> tuple[list[Transcript], list[str]]:
    """Read all transcripts of a file.

    Parameters
    ----------
    source : Source
        JSONL, a JSON list, one JSON object, or a table with a column of them.
    dialect : str, optional
        The only dialect accepted; told record by record where it is left out.

    Returns
    -------
    tuple of list of Transcript, and list of str
        The transcripts, and sentences for the card.

    Raises
    ------
    CorpusError
        At the first record that is no transcript, or one of another dialect.
    """
    located = _read.records(source, odd_numbers=True)
    seen, notes = Seen(), list[str]()
    kept = [r for r in located if is_spans(r.value) or not r.value.keys() & _OTHER_SIGNALS]
    n_others = len(located) - len(kept)
    if n_others:
        located = kept
        notes.append(f"{n_others} records of logs or metrics are left out; spans alone are read.")
        if not located:
            raise CorpusError(
                "holds logs or metrics and no spans",
                where=source.place,
                mend="Export traces (resourceSpans)",
            )
    if all("role" in r.value or str(r.value.get("type")) in ITEM_TYPES for r in located):
        # the whole file is one list of messages
        whole = {"id": source.name.rpartition(".")[0], "messages": [r.value for r in located]}
        located = [_read.Located(source.place, whole)]
    elif len(located) > 1 and not parts_of(located[0].value) and not is_spans(located[0].value):
        notes.append(f"The first record of {source.name} is no transcript and was left out.")
        located = located[1:]
    ids = _records.Ids()
    found: list[Transcript] = []
    spans = [r for r in located if is_spans(r.value)]
    if spans:
        _expect(dialect, "otel_spans", spans[0].where)
        found += _traces(spans_of(spans), ids, seen, notes, source)
    for n, record in enumerate(located, 1):
        if not is_spans(record.value):
            found.append(_transcript(record, n, ids, seen, dialect))
    return found, [*notes, *seen.notes()]


def _expect(wanted: Dialect | None, kind: Dialect, where: str) -> None:
    if wanted not in {None, kind}:
        raise CorpusError(
            f"is written as {kind}, not as {wanted}", where=where, mend="Use the corpus transcripts"
        )


def _transcript(
    located: _read.Located, n: int, ids: _records.Ids, seen: Seen, wanted: Dialect | None
) -> Transcript:
    where, record = located
    parts = parts_of(record)
    if not parts:
        there = ", ".join(map(repr, list(record)[:20])) or "nothing"
        raise CorpusError(
            f"is no transcript that is known; it has {there}",
            where=where,
            mend="Known are 'messages', 'input' and 'output', 'resourceSpans'; your own form goes "
            "into the corpus jsonl",
        )
    seen.ignore(record, FIELDS)
    signs = signs_of(parts)
    first = next(iter(signs), wanted or "openai_chat")
    if wanted is not None and signs and wanted not in signs:
        _expect(wanted, first, where)
    given = record.get("id")
    name = ids.take(given if isinstance(given, str | int) else f"record-{n}", where)
    place = f"{where} (id {name})"
    events = [e for field, value in parts for e in _events(field, value, place, seen)]
    return Transcript(where, name, wanted or first, trajectory_of_events(events, place), record)


def _events(name: str, value: Any, where: str, seen: Seen) -> Iterator[Event]:
    if name in {"system", "instructions"}:
        texts = [value] if isinstance(value, str) else [
            p.get("text") if isinstance(p, dict) else p for p in value
        ]  # fmt: skip
        for text in texts:
            yield Event("system", _records.optional_text(text, name, where))
    elif name == "messages" and not any(
        isinstance(m, dict) and str(m.get("type")) in ITEM_TYPES for m in value
    ):
        yield from events_of_messages(value, where, seen)
    else:
        yield from events_of_items(value, where, seen)


def _traces(
    spans: Sequence[Span], ids: _records.Ids, seen: Seen, notes: list[str], source: _read.Source
) -> Iterator[Transcript]:
    by_trace: dict[str, list[Span]] = {}
    for span in spans:
        by_trace.setdefault(span.trace, []).append(span)
    silent = 0
    for trace, own in by_trace.items():
        where = f"{source.place}, trace {trace}"
        events = events_of_trace(own, seen)
        if not events:
            silent += 1
            continue
        first = min(own, key=lambda s: (bool(s.parent), s.start))
        talks = {str(v) for s in own if (v := s.attributes.get(_CONVERSATION))}
        yield Transcript(
            where,
            ids.take(trace, where),
            "otel_spans",
            trajectory_of_events(events, where),
            {"trace": trace, "attributes": first.attributes, "resource": first.resource},
            f"{_DATASET}:conversation:{talks.pop()}" if len(talks) == 1 else None,
        )
    if silent == len(by_trace):
        raise CorpusError(
            f"none of the {silent} traces carries messages",
            where=source.place,
            mend="Capturing content is off by default: set "
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT, or your SDK's switch for it",
        )
    if silent:
        are = "trace carries" if silent == 1 else "traces carry"
        notes.append(f"{silent} {are} no messages and {'is' if silent == 1 else 'are'} left out.")
