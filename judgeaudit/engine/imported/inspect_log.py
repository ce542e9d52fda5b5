"""A scorer of Inspect AI as a judge: its scores in a log become a table of verdicts.

A score that is no verdict stays one that is none: a NaN, a sample without a score and a run that
ended in an error are outcomes. What a value means is for the user to say (`--label C=SAFE`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from judgeaudit.core.errors import ConfigError, CorpusError, unknown_name
from judgeaudit.core.hashing import sha256_text
from judgeaudit.corpora._eval_file import LogFile, listed, open_logs
from judgeaudit.corpora._inspect_messages import Seen, events_of, messages_of, trajectory_of
from judgeaudit.corpora._read import Source
from judgeaudit.corpora._sheet import Sheet
from judgeaudit.corpora.inspect_log import said_of, task_of
from judgeaudit.engine.imported.choices import Choices
from judgeaudit.engine.imported.inspect_facts import asked_of, known_of
from judgeaudit.judges._text import short, storable

__all__ = ["Scored", "read_scores"]

_OWN: Final = (
    *("sample", "epoch", "sample_epoch", "value", "outcome", "explanation", "answer"),
    *("task", "log", "model"),
)
_DEEPEST: Final = 4
# older releases scored an answer without a grade as incorrect; its words are still there
_NO_GRADE: Final = "Grade not found in model output"
_UNSCORED: Final = {"grader_failed": "unparseable", "invalid_response_format": "unparseable"}


@dataclass(frozen=True, slots=True)
class _LogSheet(Sheet):
    """A table whose rows are called by sample and epoch."""

    names: tuple[str, ...] = ()

    def where(self, row: int) -> str:
        """Name the place of a row."""
        return f"{self.place}, {self.names[row]}"

    def at(self, row: int) -> str:
        """Name a row inside a sentence."""
        return self.names[row]


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of one scorer, as a table, and what is known of who gave them.

    Parameters
    ----------
    sheet : Sheet
        One row a sample and epoch: `sample`, `epoch`, `sample_epoch`, `value`, `outcome`,
        `explanation`, `answer`, `task`, `log`, `model`, and what the log says beside it as
        `sample.target`, `metadata.*`, `scores.*` (of all scorers), `score.*` (of this one's
        metadata), `task_args.*`.
    source : Source
        The file, or a list of the files of a folder.
    choices : Choices
        With the columns and the judge's name filled in where the user left them open.
    facts : dict
        For the ledger: logs, versions, scorer, its options, the models it asked.
    notes : tuple of str
        Sentences for the card.
    """

    sheet: Sheet
    source: Source
    choices: Choices
    facts: dict[str, Any]
    notes: tuple[str, ...]


def read_scores(data: str, choices: Choices) -> Scored:
    """Read the scores of one scorer off a log, or a folder of logs.

    Parameters
    ----------
    data : str
        An `.eval` or `.json` log, or a folder of them.
    choices : Choices
        `scorer` names the scorer, or one key of a score that is a mapping (`safety.harm`).

    Raises
    ------
    CorpusError
        If a log cannot be read.
    ConfigError
        If it is not clear which scorer is meant, or there is none of that name.
    """
    logs = open_logs(data)
    reader = _Reader(choices.scorer)
    for log in logs:
        reader.read(log)
    return reader.scored(logs, choices)


class _Reader:
    """Gathers the rows of logs."""

    def __init__(self, wanted: str | None) -> None:
        self._wanted = wanted
        self._rows: list[dict[str, Any]] = []
        self._names: list[str] = []
        self._scorers: Counter[str] = Counter()
        self._graders: dict[str, Counter[str]] = {}
        self._told: Counter[str] = Counter()
        self._logs: list[dict[str, Any]] = []
        self._did: dict[str, set[str]] = {}
        self._scores: list[tuple[Mapping[str, Any], bool]] = []

    def read(self, log: LogFile) -> None:
        """Take the samples of a log."""
        head, n = log.head["eval"], 0
        task, model = task_of(log), head.get("model")
        args = dict(_flat(head.get("task_args"), "task_args"))
        for where, sample in log.samples():
            n += 1
            if sample.get("invalidation"):
                self._told["invalidated by whoever ran them, left out"] += 1
                continue
            name, epoch = sample.get("id"), sample.get("epoch", 1)
            self._watch(sample, where, f"{task}/{name}")
            self._rows.append(
                {
                    "sample": name,
                    "epoch": epoch,
                    "sample_epoch": f"{name}#{epoch}",
                    "task": task,
                    "log": log.source.name,
                    "model": model,
                    **args,
                    **dict(_flat(sample.get("metadata"), "metadata")),
                    **dict(_target(sample.get("target"))),
                }
            )
            shown = str(name) if str(name).isprintable() else repr(name)
            self._names.append(f"{log.source.name}, sample {shown:.60}, epoch {epoch!r:.20}")
        self._logs.append(known_of(log, n))

    def _watch(self, sample: Mapping[str, Any], where: str, name: str) -> None:
        """Note a sample's scores, the models that its scorers asked, and what the agent did."""
        scores = sample.get("scores") or {}
        if not isinstance(scores, Mapping):
            raise CorpusError(f"scores is {scores!r:.60}, no object", where=where)
        self._scores.append((scores, bool(sample.get("error"))))
        self._scorers.update(str(s) for s in scores)
        for scorer, events in events_of(sample, where)[1].items():
            for event in events:
                if event.get("event") == "model":
                    asked = self._graders.setdefault(scorer, Counter())
                    asked[asked_of(event)] += 1
        seen = Seen()
        given = sample.get("attachments")
        attached = given if isinstance(given, Mapping) else {}
        try:
            did = trajectory_of(messages_of(sample, where, seen), attachments=attached).words
        except CorpusError:
            did = where  # what cannot be read is like nothing else
        self._did.setdefault(name, set()).add(sha256_text(storable(did)))

    # -- all rows ---------------------------------------------------------------------------

    def scored(self, logs: list[LogFile], choices: Choices) -> Scored:
        """Return the table of the scorer that is meant."""
        source = listed(logs)
        scorer, key = self._which(source.place)
        for row, (scores, failed) in zip(self._rows, self._scores, strict=True):
            row.update(self._ended(scores, failed, scorer, key))
            for name, value in _others(scores):
                row.setdefault(name, value)
        columns = tuple(dict.fromkeys((*_OWN, *(c for row in self._rows for c in row))))
        sheet = _LogSheet(
            place=source.place,
            columns=columns,
            rows=[tuple(row.get(c) for c in columns) for row in self._rows],
            lines=range(1, len(self._rows) + 1),
            by_line=False,
            names=tuple(self._names),
        )
        graders = self._graders.get(scorer, Counter())
        said = _filled(choices, scorer if key is None else f"{scorer}.{key}", graders)
        facts = {
            "scorer": scorer,
            **({"key": key} if key is not None else {}),
            "asked": dict(sorted(graders.items())),
            "logs": self._logs,
        }
        return Scored(sheet, source, said, facts, tuple(self._notes(said)))

    def _which(self, place: str) -> tuple[str, str | None]:
        if not self._rows:
            raise CorpusError("the log holds no samples", where=place)
        known = sorted(self._scorers)
        if not known:
            raise CorpusError(
                "no sample has a score", where=place, mend="Score the log first (`inspect score`)"
            )
        if self._wanted is None:
            if len(known) > 1:
                raise ConfigError(
                    f"the log has several scorers: {', '.join(known)}",
                    where=place,
                    mend=f"Say which is the judge: --scorer {known[0]}",
                )
            return known[0], None
        fitting = [s for s in known if self._wanted == s or self._wanted.startswith(f"{s}.")]
        if not fitting:
            raise ConfigError(unknown_name("scorer", self._wanted, known), where=place)
        scorer = max(fitting, key=len)
        return scorer, self._wanted[len(scorer) + 1 :] or None

    def _ended(
        self, scores: Mapping[str, Any], failed: bool, scorer: str, key: str | None
    ) -> dict[str, Any]:
        """Say what a sample's score is: a value, or an outcome in its place."""
        score = scores.get(scorer)
        if not isinstance(score, Mapping):
            why = "whose run ended in an error" if failed else "without a score of this scorer"
            self._told[f"{why}, counted as errors"] += 1
            return {"outcome": "error"}
        score = self._original(score)
        value, words = score.get("value"), score.get("explanation")
        row: dict[str, Any] = {
            "explanation": storable(words) if isinstance(words, str) else None,
            "answer": score.get("answer") if isinstance(score.get("answer"), str) else None,
            **dict(_flat(score.get("metadata"), "score")),
        }
        value = self._part(value, scorer, key)
        if value == "I" and isinstance(words, str) and words.startswith(_NO_GRADE):
            self._told["scored as incorrect for want of a grade, counted as unparseable"] += 1
            return row | {"outcome": "unparseable"}
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            reason = score.get("reason") or _legacy_reason(score)
            outcome = _UNSCORED.get(str(reason), "error")
            named = f" ({short(str(reason), 40)})" if reason else ""
            self._told[f"without a value by the scorer{named}, counted as {outcome}"] += 1
            return row | {"outcome": outcome}
        if row["explanation"] is None:
            row["explanation"] = storable(said_of(value))  # the score is what the judge said
        return row | {"value": storable(value) if isinstance(value, str) else value}

    def _original(self, score: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a score as the scorer gave it: what people changed later is not the judge's."""
        history = score.get("history")
        first = history[0] if isinstance(history, list) and history else None
        if not isinstance(first, Mapping):
            return score
        if first.get("provenance") is not None:
            self._told["whose score was added later, not given by the scorer"] += 1
            return score
        self._told["whose score was edited later, read as the scorer gave it"] += 1
        return {**score, **{k: v for k, v in first.items() if v != "UNCHANGED"}}

    def _part(self, value: Any, scorer: str, key: str | None) -> Any:
        if key is None:
            if isinstance(value, Mapping | list):
                keys = list(value) if isinstance(value, Mapping) else list(range(len(value)))
                raise ConfigError(
                    f"the scores of {scorer!r} hold several values: "
                    f"{', '.join(str(k) for k in keys[:12])}",
                    mend=f"Say which is the verdict: --scorer {scorer}.{(keys or ['KEY'])[0]}",
                )
            return value
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, float) and math.isnan(value):
            return value
        else:
            there = ", ".join(map(str, value)) if isinstance(value, Mapping) else repr(value)[:60]
            raise ConfigError(f"the scores of {scorer!r} have no {key!r}; there is {there}")
        if isinstance(value, Mapping | list):
            raise ConfigError(f"{scorer}.{key} is {value!r:.60}, no single value")
        return value

    def _notes(self, choices: Choices) -> Iterator[str]:
        for what, n in self._told.items():
            yield f"Samples {what}: {n}."
        for log in self._logs:
            if log["status"] != "success":
                yield f"{log['file']}: the run's status is {log['status']}."
            if log["planned"] is not None and log["planned"] > log["samples"]:
                missing = log["planned"] - log["samples"]
                yield f"{log['file']}: {missing} of {log['planned']} planned samples are missing."
        if choices.item == "sample":
            changed = sum(len(did) > 1 for did in self._did.values())
            if changed:
                yield (
                    "Samples in which the agent did something else from epoch to epoch: "
                    f"{changed}; their repeats differ by the agent as well as by the judge "
                    "(--item sample_epoch makes each epoch an item)."
                )


def _filled(choices: Choices, scorer: str, graders: Counter[str]) -> Choices:
    """Fill in the columns of a log where the user named none."""
    item = choices.item or "sample"
    own: dict[str, Any] = {"item": item, "judge": choices.judge}
    if choices.repeat is None and not choices.count_repeats and not choices.wide:
        own["repeat"] = "epoch"
    if choices.cluster is None and item == "sample_epoch":
        own["cluster"] = "sample"
    if not choices.wide:
        own |= {
            "verdict": choices.verdict or "value",
            "outcome": choices.outcome or "outcome",
            "reply": choices.reply or "explanation",
        }
    if choices.judge is None:
        asked = ", ".join(sorted(graders))
        own["judge"] = short(f"{scorer} ({asked})" if asked else scorer, 200)
    return replace(choices, **own)


def _legacy_reason(score: Mapping[str, Any]) -> object:
    metadata = score.get("metadata")
    return metadata.get("unscored_reason") if isinstance(metadata, Mapping) else None


def _target(target: object) -> Iterator[tuple[str, Any]]:
    if isinstance(target, list) and len(target) == 1:
        target = target[0]
    if isinstance(target, str):
        yield "sample.target", storable(target).strip()


def _others(scores: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, score in scores.items():
        if isinstance(score, Mapping):
            yield from _flat({name: score.get("value")}, "scores")


def _flat(value: object, name: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Return each single value in nested mappings, by its dotted name; NaN is an empty cell."""
    if isinstance(value, Mapping) and depth < _DEEPEST:
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{storable(str(key))}", depth + 1)
    elif isinstance(value, str):
        yield name, storable(value)
    elif isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        yield name, value
