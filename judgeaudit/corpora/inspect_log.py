"""Logs of Inspect AI as trajectories: `.eval` and `.json`, one or a folder of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, get_args
from urllib.parse import parse_qsl

from judgeaudit.core.errors import ConfigError, CorpusError, unknown_name
from judgeaudit.core.records import Item, Label, LabelSource, Trajectory
from judgeaudit.corpora import _records
from judgeaudit.corpora._eval_file import LogFile, listed, open_logs
from judgeaudit.corpora._inspect_messages import Seen, messages_of, trajectory_of
from judgeaudit.corpora.base import CORPORA, CorpusRequest, Draft

__all__ = [
    "InspectLogs",
    "found_in",
    "item_of_sample",
    "said_of",
    "task_of",
    "trajectory_of_messages",
]

_OPTIONS: Final = ("gold", "label", "source", "strata")
_SOURCES: Final = tuple(s for s in get_args(LabelSource) if s not in {"unlabelled", "unknown"})
_LABELS: Final[dict[str, Label]] = {"SAFE": "SAFE", "UNSAFE": "UNSAFE"}
_MEND_GOLD: Final = (
    "Say which field is the true label, what its words mean and who assigned it: "
    "'RUN.eval?gold=metadata.harmful&label=true:UNSAFE&label=false:SAFE&source=human'"
)


def trajectory_of_messages(messages: Sequence[Any]) -> Trajectory:
    """Make a trajectory of the messages of an Inspect `TaskState`, `EvalSample` or log.

    For a scorer of your own that wants to see what an audit's judge sees: call it on
    `state.messages`. It needs no Inspect.

    Parameters
    ----------
    messages : sequence
        Inspect's chat messages, or mappings of the same fields.

    Raises
    ------
    CorpusError
        Naming the message that cannot be read.

    Examples
    --------
    >>> made = trajectory_of_messages([{"role": "user", "content": "Hello!"}])
    >>> made.turns[0].role, made.turns[0].content
    ('user', 'Hello!')
    """
    return trajectory_of(messages)


@dataclass(frozen=True, slots=True)
class _Choices:
    """What the address says beside the path."""

    path: str
    gold: str | None = None
    words: Mapping[str, Label] = field(default_factory=dict)
    source: LabelSource = "unlabelled"
    strata: tuple[str, ...] = ()


@CORPORA.register("inspect")
class InspectLogs:
    """Logs of Inspect AI.

    `--data` is an `.eval` or `.json` log, or a folder of them. Each sample of each epoch is an
    item; epochs of a sample, and the same sample in several logs of a task, share a cluster. The
    messages of a sample are its trajectory: system prompt, user, agent (reasoning as thought, text
    and tool calls as action), tools.

    A log holds no label that could be taken for the truth: items are unlabelled unless the address
    says which field holds it, after a question mark::

        RUN.eval?gold=metadata.harmful&label=true:UNSAFE&label=false:SAFE&source=human

    =========  ====================================================================================
    `gold`     `metadata.FIELD`, `scores.SCORER`, `scores.SCORER.KEY`, or `target`
    `label`    `WORD:SAFE`, `WORD:UNSAFE` or `WORD:none`; `safe` and `unsafe` are known
    `source`   who assigned them: human, author, model or rule
    `strata`   a field to break figures down by (repeat it); never shown to a judge
    =========  ====================================================================================
    """

    title = "Inspect AI logs"
    license = ""
    needs = "an .eval or .json log of Inspect AI, or a folder of them"

    def read(self, request: CorpusRequest) -> Draft:
        """Read all samples; `subset` keeps those of one task."""
        if request.data is None:
            raise ConfigError("no data is given", mend=f"Give --data: {self.needs}")
        choices = _choices(request.data)
        logs = open_logs(choices.path, request.revision)
        subsets = _subsets(logs)
        seen, told, notes = Seen(), Counter[str](), []
        items: list[Item] = []
        for log, subset in zip(logs, subsets, strict=True):
            if not log.complete:
                notes.append(
                    f"{log.source.name}: the run did not finish; its samples so far are read."
                )
            if request.subset is None or subset == request.subset:
                items += _items(log, subset, choices, seen, told)
        if request.subset is not None and request.subset not in subsets:
            raise CorpusError(
                f"no log of task {request.subset!r}",
                where=choices.path,
                mend=f"The tasks are {', '.join(sorted(set(subsets)))}",
            )
        if not items:
            raise CorpusError("no sample has any message", where=choices.path)
        notes.append("Items are clustered by the sample of the task: its epochs share a cluster.")
        return Draft(
            items=tuple(items),
            subset=request.subset,
            version=f"sha256:{listed(logs).sha256}",
            ambiguity_source="Inspect logs have no ambiguity flags",
            notes=(*notes, *_notes(told, seen)),
        )


def _notes(told: Counter[str], seen: Seen) -> Iterator[str]:
    for what, n in told.items():
        yield f"Samples {what}: {n}."
    for n, what in (
        (seen.from_events, "Samples without messages, read from their last request"),
        (seen.media, "Images, sounds and files, of which a judge sees a mark in brackets"),
        (seen.missing, "Texts that refer to an attachment which the log does not hold"),
        (seen.surrogates, "Texts with half a surrogate pair, which is replaced by U+FFFD"),
    ):
        if n:
            yield f"{what}: {n}."


def task_of(log: LogFile) -> str:
    """Return the name of a log's task, as a part of an item's key."""
    named = log.head["eval"].get("task")
    task = named if isinstance(named, str) and named.strip() else "task"
    return _records.text(task, "task", log.place).strip().replace("/", ".")


def _subsets(logs: list[LogFile]) -> list[str]:
    """Name the subset of each log: its task, with the file's name where a task has several."""
    tasks = [task_of(log) for log in logs]
    many = Counter(tasks)
    return [
        task if many[task] == 1 else f"{task}@{Path(log.source.name).stem}"
        for log, task in zip(logs, tasks, strict=True)
    ]


def _items(
    log: LogFile, subset: str, choices: _Choices, seen: Seen, told: Counter[str]
) -> list[Item]:
    items: list[tuple[str, str, int, Item]] = []
    raw: dict[str, object] = {}
    for where, sample in log.samples():
        if sample.get("invalidation"):
            told["invalidated by whoever ran them, left out"] += 1
            continue
        made = item_of_sample(sample, where, task=task_of(log), subset=subset, seen=seen)
        if made is None:
            told["without any text, left out"] += 1
            continue
        if sample.get("error"):
            told["whose run ended in an error, judged as far as they go"] += 1
        if type(raw.setdefault(made.id, sample["id"])) is not type(sample["id"]):
            raise CorpusError(
                f"ids {sample['id']!r:.60} and {raw[made.id]!r:.60} are one item key",
                where=where,
                mend="Give each sample an id of its own",
            )
        labelled = _labelled(made, sample, where, choices)
        items.append((where, made.id, _epoch(sample, where), labelled))
    several = len({epoch for _, _, epoch, _ in items}) > 1
    taken = _records.Ids()
    out = []
    for where, name, epoch, item in items:
        key = taken.take(f"{name}#{epoch}" if several else name, where)
        out.append(item.model_copy(update={"id": key}))
    return out


def item_of_sample(
    sample: Mapping[str, Any], where: str, *, task: str, subset: str, seen: Seen
) -> Item | None:
    """Make an unlabelled item of a sample; None where it holds no text.

    Raises
    ------
    CorpusError
        Naming the message that cannot be read.
    """
    attachments = sample.get("attachments") or {}
    if not isinstance(attachments, Mapping):
        raise CorpusError("'attachments' is no object", where=where)
    name = _records.Ids().take(_records.field(sample, "id", where), where)
    trajectory = trajectory_of(
        messages_of(sample, where, seen), where=where, attachments=attachments, seen=seen
    )
    texts = (part for t in trajectory.turns for part in (t.content, t.thought, t.action))
    if not any(part and part.strip() for part in texts):
        return None
    return Item(
        dataset="inspect",
        subset=subset,
        id=name,
        cluster=f"inspect:{task}:{name}",
        trajectory=trajectory,
    )


def _epoch(sample: Mapping[str, Any], where: str) -> int:
    epoch = sample.get("epoch", 1)
    if isinstance(epoch, bool) or not isinstance(epoch, int) or epoch < 1:
        raise CorpusError(f"epoch is {epoch!r:.60}, no whole number from 1", where=where)
    return epoch


# -- what the user says is the truth ---------------------------------------------------------------


def _labelled(item: Item, sample: Mapping[str, Any], where: str, choices: _Choices) -> Item:
    strata = {}
    for path in choices.strata:
        value = found_in(sample, path, where)
        if value is not None:
            strata[path] = _records.text(said_of(value), path, where)
    if choices.gold is None:
        return item.model_copy(update={"strata": strata}) if strata else item
    value = found_in(sample, choices.gold, where)
    label: Label | None = None
    if value is not None:
        word = said_of(value).casefold()
        if word not in choices.words:
            raise CorpusError(
                f"{choices.gold} is {said_of(value)!r:.60}, and nobody said what that means",
                where=where,
                mend=f"Add &label={said_of(value)[:30]}:UNSAFE (or SAFE, or none) to the address",
            )
        label = _LABELS.get(choices.words[word])
    return item.model_copy(
        update={
            "label": label,
            "label_source": choices.source if label else "unlabelled",
            "strata": strata,
        }
    )


def found_in(sample: Mapping[str, Any], path: str, where: str) -> object:
    """Return what stands at `metadata.FIELD`, `scores.SCORER[.KEY]` or `target`; None: nothing.

    Names may hold dots themselves: the longest that is there is taken.

    Raises
    ------
    CorpusError
        If what is there is neither a text, a number nor a flag.
    """
    room, _, rest = path.partition(".")
    value: object = sample.get(room)
    if room == "scores" and isinstance(value, Mapping):
        value = {k: v.get("value") for k, v in value.items() if isinstance(v, Mapping)}
    while rest and isinstance(value, Mapping):
        names = [n for n in value if rest == n or rest.startswith(f"{n}.")]
        if not names:
            return None
        name = max(names, key=len)
        value, rest = value[name], rest[len(name) + 1 :]
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if rest or value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124
        return None
    if not isinstance(value, str | int | float):
        raise CorpusError(
            f"{path} is {value!r:.60}, no single value", where=where, mend="Name a field of it"
        )
    return value


def said_of(value: object) -> str:
    """Write a value as the word a user names it by: true, 1, harmful."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value).strip()


def _choices(data: str) -> _Choices:
    """Part an address into the path and what is said after a question mark.

    Raises
    ------
    ConfigError
        Naming the option that cannot be one.
    """
    if "?" not in data or (not data.startswith("hub:") and Path(data).exists()):
        return _Choices(data)
    path, _, query = data.rpartition("?")
    given: dict[str, list[str]] = {name: [] for name in _OPTIONS}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in given:
            raise ConfigError(unknown_name("option", name, list(_OPTIONS)), where=data)
        given[name].append(value.strip())
    words: dict[str, Any] = {"safe": "SAFE", "unsafe": "UNSAFE"}
    for text in given["label"]:
        word, sign, meaning = text.rpartition(":")
        if not sign or meaning.upper() not in {*_LABELS, "NONE"}:
            raise ConfigError(
                f"label={text!r:.60} is not of the form WORD:SAFE", where=data, mend=_MEND_GOLD
            )
        words[word.strip().casefold()] = meaning.upper()
    if not given["gold"]:
        if given["label"] or given["source"]:
            raise ConfigError("no field is named as gold", where=data, mend=_MEND_GOLD)
        return _Choices(path, strata=tuple(given["strata"]))
    source = next((s for s in _SOURCES if given["source"][-1:] == [s]), None)
    room = given["gold"][-1].partition(".")[0]
    if source is None or room not in {"metadata", "scores", "target"}:
        wrong = "nobody says who assigned the labels" if source is None else f"gold={room!r:.60}"
        raise ConfigError(wrong, where=data, mend=_MEND_GOLD)
    return _Choices(path, given["gold"][-1], words, source, tuple(given["strata"]))
