"""Messages of Inspect AI, as its logs and its `TaskState` hold them, to a trajectory.

What becomes what:

=====================  ===========================================================================
system, at the start   the profile; a later one is a turn of role `system`
user                   a turn of role `user`
assistant              a turn of role `agent`: reasoning is its thought; its text, and each tool
                       call as `name({"argument": "value"})`, are its action
tool                   a turn of role `environment`, with the error where the tool failed
image, audio, ...      a mark in brackets, such as `[image]`: a judge of texts cannot see them
a tool of the server   a call of the agent, and its result as a turn of role `environment`
=====================  ===========================================================================

Texts that stand elsewhere in a sample (attachments, a pool of messages) are put in their place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from judgeaudit.core.errors import CorpusError
from judgeaudit.core.records import Trajectory, Turn

__all__ = ["Seen", "events_of", "messages_of", "picked", "trajectory_of"]

_ATTACHED: Final = "attachment://"
_MEDIA: Final = ("image", "audio", "video", "document", "data")
_NOTHING: Final[Mapping[str, str]] = {}


@dataclass(slots=True)
class Seen:
    """What was met on the way, for the notes of a card.

    Parameters
    ----------
    media : int
        Images, sounds and files of which a judge sees a mark alone.
    surrogates : int
        Texts with half a surrogate pair, which was replaced.
    missing : int
        References to an attachment that is not there; they stay as they are.
    from_events : int
        Samples without messages, read from the requests in their events.
    """

    media: int = 0
    surrogates: int = 0
    missing: int = 0
    from_events: int = 0


@dataclass(slots=True)
class _Words:
    """What an agent says in one message, part by part."""

    turns: list[Turn] = field(default_factory=list)
    thought: list[str] = field(default_factory=list)
    action: list[str] = field(default_factory=list)

    def end(self, *, always: bool = False) -> None:
        """Make a turn of what was said."""
        if self.thought or self.action or always:
            self.turns.append(
                Turn(role="agent", thought=_joined(self.thought), action=_joined(self.action))
            )
        self.thought, self.action = [], []


def _joined(parts: Sequence[str]) -> str | None:
    return "\n".join(parts) if parts else None


def picked(refs: object, pool: Sequence[Any]) -> list[Any]:
    """Return the messages of a pool that references name: `[start, end]` pairs, or single places.

    Examples
    --------
    >>> picked([[0, 2], 3], ["a", "b", "c", "d"])
    ['a', 'b', 'd']
    """
    out: list[Any] = []
    for ref in refs if isinstance(refs, list) else []:
        pair = ref if isinstance(ref, list) else [ref, ref + 1] if isinstance(ref, int) else []
        if len(pair) != 2 or not all(isinstance(n, int) for n in pair):
            raise ValueError(f"{ref!r:.60} is no reference to a pool of messages")
        if not 0 <= pair[0] <= pair[1] <= len(pool):
            raise ValueError(f"{ref!r:.60} is outside of a pool of {len(pool)} messages")
        out += pool[pair[0] : pair[1]]
    return out


class _Reader:
    """Reads the messages of one sample."""

    def __init__(self, where: str, attachments: Mapping[str, Any], seen: Seen) -> None:
        self._where, self._attachments, self._seen = where, attachments, seen

    def text(self, value: object, name: str) -> str:
        """Return a text: an attachment in full, half a surrogate pair replaced."""
        if not isinstance(value, str):
            raise CorpusError(f"{name} is {value!r:.60}, not a text", where=self._where)
        if value.startswith(_ATTACHED):
            found = self._attachments.get(value.removeprefix(_ATTACHED))
            if isinstance(found, str):
                value = found
            else:
                self._seen.missing += 1
        if value.isascii():
            return value
        kept = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        self._seen.surrogates += kept != value
        return kept

    def speech(self, content: object) -> str | None:
        """Return content that is a text, or a list of parts, as one text."""
        if content is None:
            return None
        if isinstance(content, str):
            return self.text(content, "content")
        return _joined([said for _, said in self.parts(content)])

    def parts(self, content: object) -> Iterable[tuple[str, str]]:
        """Return (kind, text) of each part of a list."""
        if not isinstance(content, list):
            raise CorpusError(
                f"content is {content!r:.60}, neither a text nor a list", where=self._where
            )
        for part in content:
            if isinstance(part, str):
                yield "text", self.text(part, "a part of the content")
                continue
            if not isinstance(part, Mapping):
                raise CorpusError(f"a part of the content is {part!r:.60}", where=self._where)
            kind = part.get("type", "text")
            if kind == "text":
                yield kind, self.text(part.get("text"), "text")
            elif kind == "reasoning":
                yield kind, self._reasoning(part)
            elif kind == "tool_use":
                name = self.text(part.get("name") or "tool", "name")
                yield "tool_use", f"{name}({self._arguments(part.get('arguments'))})"
                ended = part.get("error") or part.get("result")
                yield "tool_result", self.text(ended or "", "result")
            elif kind in _MEDIA:
                self._seen.media += 1
                yield "media", self._mark(kind, part)
            else:
                raise CorpusError(
                    f"unknown kind of content {kind!r:.60}",
                    where=self._where,
                    mend=f"Known: text, reasoning, tool_use, {', '.join(_MEDIA)}",
                )

    def _reasoning(self, part: Mapping[str, Any]) -> str:
        said = part.get("summary") if part.get("redacted") else part.get("reasoning")
        if part.get("redacted") and not said:
            return "[reasoning that the provider does not show]"
        return self.text(said or part.get("summary") or "", "reasoning")

    def _mark(self, kind: str, part: Mapping[str, Any]) -> str:
        name = part.get("filename") if kind == "document" else None
        return f"[{kind}: {self.text(name, 'filename')}]" if name else f"[{kind}]"

    def _arguments(self, given: object) -> str:
        if given is None:
            return ""
        if isinstance(given, str):
            return self.text(given, "arguments")
        try:
            return self.text(json.dumps(self._within(given), ensure_ascii=False), "arguments")
        except (TypeError, ValueError, RecursionError):
            raise CorpusError(
                "the arguments of a tool call are no JSON", where=self._where
            ) from None

    def _within(self, value: object) -> object:
        if isinstance(value, Mapping):
            return {k: self._within(v) for k, v in value.items()}
        if isinstance(value, list):
            return [self._within(v) for v in value]
        return self.text(value, "an argument") if isinstance(value, str) else value

    def agent(self, message: Mapping[str, Any]) -> list[Turn]:
        """Return what an assistant's message is: the agent's turn, and results inside of it."""
        said = _Words()
        if message.get("reasoning"):  # logs of early 2025 held it beside the content
            said.thought.append(self.text(message["reasoning"], "reasoning"))
        content = message.get("content")
        if isinstance(content, str):
            if content:
                said.action.append(self.text(content, "content"))
        elif content is not None:
            for kind, text in self.parts(content):
                if kind == "tool_result":
                    said.end()
                    said.turns.append(Turn(role="environment", content=text))
                elif kind == "reasoning":
                    if said.action:  # it came after something was said: another step
                        said.end()
                    said.thought.append(text)
                else:
                    said.action.append(text)
        calls = message.get("tool_calls") or []
        if not isinstance(calls, list):
            raise CorpusError(f"tool_calls is {calls!r:.60}, not a list", where=self._where)
        said.action += [self._call(c) for c in calls]
        said.end(always=not said.turns)
        return said.turns

    def _call(self, call: object) -> str:
        if not isinstance(call, Mapping):
            raise CorpusError(f"a tool call is {call!r:.60}, not an object", where=self._where)
        name = call.get("function") or call.get("name") or "tool"
        return f"{self.text(name, 'function')}({self._arguments(call.get('arguments'))})"

    def tool(self, message: Mapping[str, Any]) -> Turn:
        """Return what a tool gave back, its error included."""
        said = self.speech(message.get("content"))
        error = message.get("error") or message.get("tool_error")
        if error:
            kind = error.get("type") if isinstance(error, Mapping) else None
            what = error.get("message") if isinstance(error, Mapping) else error
            mark = f"[error: {kind}]" if kind else "[error]"
            lines = [said or "", f"{mark} {self.text(str(what or ''), 'error')}".rstrip()]
            said = "\n".join(x for x in lines if x)
        return Turn(role="environment", content=said)


def trajectory_of(
    messages: Sequence[Any],
    *,
    where: str = "messages",
    attachments: Mapping[str, Any] = _NOTHING,
    seen: Seen | None = None,
) -> Trajectory:
    """Make a trajectory of messages; see the module.

    Parameters
    ----------
    messages : sequence
        As in a log (mappings), or as in a `TaskState` (objects with `model_dump`).
    where : str
        The place that messages of errors name.
    attachments : mapping of str to str
        Of the sample.
    seen : Seen, optional
        Added to.

    Raises
    ------
    CorpusError
        Naming the message, counted from 1, that cannot be read.
    """
    found: list[Turn] = []
    profile: list[str] = []
    seen = Seen() if seen is None else seen
    for n, given in enumerate(messages, 1):
        message = given.model_dump() if hasattr(given, "model_dump") else given
        reader = _Reader(f"{where}, message {n}", attachments, seen)
        if not isinstance(message, Mapping):
            raise CorpusError(f"is {message!r:.60}, not an object", where=f"{where}, message {n}")
        role = message.get("role")
        if role == "assistant":
            found += reader.agent(message)
        elif role == "tool":
            found.append(reader.tool(message))
        elif role == "user":
            found.append(Turn(role="user", content=reader.speech(message.get("content"))))
        elif role in {"system", "developer"}:
            said = reader.speech(message.get("content"))
            if found:
                found.append(Turn(role="system", content=said))
            elif said:
                profile.append(said)
        else:
            raise CorpusError(
                f"unknown role {role!r:.60}",
                where=f"{where}, message {n}",
                mend="Known: system, user, assistant, tool",
            )
    return Trajectory(profile="\n\n".join(profile) or None, turns=tuple(found))


# -- where a sample keeps its messages -------------------------------------------------------------


def messages_of(sample: Mapping[str, Any], where: str, seen: Seen) -> list[Any]:
    """Return a sample's messages; where it has none, those of its last request to a model.

    Requests that a scorer made are left out: the grader's prompt is no part of the trajectory.

    Raises
    ------
    CorpusError
        If they are no list, or refer to what is not there.
    """
    messages = sample.get("messages") or []
    if not isinstance(messages, list):
        raise CorpusError(f"messages is {messages!r:.60}, not a list", where=where)
    if messages:
        return messages
    requests = [e for e in events_of(sample, where)[0] if e.get("event") == "model"]
    try:
        found = _last_request(requests, _pool(sample))
    except ValueError as e:
        raise CorpusError(str(e), where=where) from None
    if found:
        seen.from_events += 1
        return found
    given = sample.get("input")
    if isinstance(given, list):
        found = list(given)
    elif isinstance(given, str) and given.strip():
        found = [{"role": "user", "content": given}]
    return [*found, *_answer(sample.get("output"))] if found else []


def _pool(sample: Mapping[str, Any]) -> list[Any]:
    data = sample.get("events_data")
    pool = data.get("messages") if isinstance(data, Mapping) else sample.get("message_pool")
    return pool if isinstance(pool, list) else []


def _last_request(requests: list[Mapping[str, Any]], pool: list[Any]) -> list[Any]:
    for event in reversed(requests):
        sent = event.get("input") or picked(event.get("input_refs"), pool)
        answered = _answer(event.get("output"))
        if isinstance(sent, list) and sent:
            return [*sent, *answered]
    return []


def _answer(output: object) -> list[Any]:
    choices = output.get("choices") if isinstance(output, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    return [message] if isinstance(message, Mapping) else []


def events_of(
    sample: Mapping[str, Any], where: str
) -> tuple[list[Mapping[str, Any]], dict[str, list[Mapping[str, Any]]]]:
    """Part the events of a sample: the run's own, and those inside of each scorer, by its name.

    Raises
    ------
    CorpusError
        If they are no list of objects.
    """
    events = sample.get("events") or []
    if not isinstance(events, list) or not all(isinstance(e, Mapping) for e in events):
        raise CorpusError("'events' is no list of objects", where=where)
    own: list[Mapping[str, Any]] = []
    scoring: dict[str, list[Mapping[str, Any]]] = {}
    inside: dict[str, str] = {}
    step: list[str] = []  # logs of before 2025-05 had steps in place of spans
    for event in events:
        kind, said = event.get("event"), event.get("type")
        if kind == "span_begin":
            parent = inside.get(str(event.get("parent_id")))
            name = str(event.get("name")) if said in {"scorer", "scorers"} else parent
            if name is not None:
                inside[str(event.get("id"))] = name
        elif kind == "step" and said == "scorer":
            step = [str(event.get("name"))] if event.get("action") == "begin" else []
        name = step[0] if step else inside.get(str(event.get("span_id")))
        (own if name is None else scoring.setdefault(name, [])).append(event)
    return own, scoring
