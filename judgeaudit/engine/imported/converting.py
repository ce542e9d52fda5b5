"""Transcripts as items with labels, in the documented form that the corpus `jsonl` reads."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from judgeaudit.core.errors import ConfigError, CorpusError, unknown_name
from judgeaudit.corpora import transcripts
from judgeaudit.corpora._clusters import by_opening
from judgeaudit.corpora._dialects import FIELDS
from judgeaudit.corpora._paths import NOTHING, scalars, walk
from judgeaudit.corpora._read import open_source
from judgeaudit.corpora._records import Ids
from judgeaudit.corpora.base import CORPORA
from judgeaudit.engine.imported.choices import NONE, SKIP, meanings, pairs_of
from judgeaudit.engine.imported.values import is_blank, name_of, text_of, word

__all__ = ["Converted", "convert"]

_DATASET: Final = "transcripts"
_SOURCES: Final = ("human", "author", "model", "rule")
_SEEN: Final = tuple(f for f in FIELDS if f != "id")
"""Fields whose content a judge sees: a label is never one of these."""
_SPOKEN: Final = (
    *("gen_ai.input.", "gen_ai.output.", "gen_ai.prompt", "gen_ai.completion"),
    *("gen_ai.system_instructions", "gen_ai.tool.call."),
)


@dataclass(frozen=True, slots=True)
class Converted:
    """What was written.

    Parameters
    ----------
    path : Path
        The items, JSONL.
    n_items, n_left_out : int
        Items written, and transcripts left out by `--label WORD=skip`.
    labels : dict of str to int
        How many items are SAFE, UNSAFE and unlabelled.
    notes : tuple of str
        What was not taken over.
    """

    path: Path
    n_items: int
    n_left_out: int
    labels: dict[str, int]
    notes: tuple[str, ...]


def convert(
    name: str,
    file: Path | str,
    *,
    out: Path | str,
    id_field: str | None = None,
    label_field: str | None = None,
    label: Sequence[str] = (),
    label_source: str | None = None,
    cluster_field: str | None = None,
    strata: Sequence[str] = (),
) -> Converted:
    """Write transcripts as items, with labels from the field that the user names.

    Parameters
    ----------
    name : str
        A corpus of transcripts: `transcripts`, `openai_chat`, ...
    file : path
        The transcripts.
    out : path
        The items, JSONL; must be new.
    id_field, label_field, cluster_field : str, optional
        Where in a record the id, the label and the cluster stand (`metadata.name`).
    label : sequence of str
        `true=SAFE`: what a word of the label's field means; `none` for no label, `skip` to leave
        such transcripts out.
    label_source : str, optional
        Who assigned the labels: human, author, model or rule. Needed with `label_field`.
    strata : sequence of str
        `NAME=FIELD`, a text to break figures down by.

    Raises
    ------
    ConfigError
        If a choice does not fit.
    CorpusError
        If a transcript cannot be read; the message names its place. Nothing is written.
    """
    path = Path(out)
    if path.exists():
        raise ConfigError("there is something here already", where=str(path), mend="Name a new one")
    reader = CORPORA[name]()
    if not isinstance(reader, transcripts.Reader):
        raise ConfigError(
            f"{name!r} is no corpus of transcripts",
            mend="Give transcripts, openai_chat, openai_responses, "
            "anthropic_messages or otel_spans",
        )
    _check(label_field, label, label_source)
    words = meanings(pairs_of("label", label), (SKIP, NONE))
    groups = [(n.strip(), f) for n, f in pairs_of("strata", strata)]
    found, notes = transcripts.read_transcripts(open_source(str(file)), reader.dialect)
    for flag, field in (
        ("--id-field", id_field), ("--label-field", label_field),
        ("--cluster-field", cluster_field), *(("--strata", f) for _, f in groups),
    ):  # fmt: skip
        if field is not None:
            _known(field, flag, found)
    ids, used, lines, left = Ids(), set[str](), list[str](), 0
    counts: Counter[str] = Counter()
    for t in found:
        meaning = _meaning(t, label_field, words, used)
        if meaning == SKIP:
            left += 1
            continue
        item = {
            "id": t.id if id_field is None else ids.take(walk_to(t, id_field, "the id"), t.where),
            "dataset": _DATASET,
            "subset": t.dialect,
            "trajectory": t.trajectory.model_dump(mode="json"),
            "label": meaning,
            **({"label_source": label_source} if meaning else {}),
            "cluster": _cluster(t, cluster_field),
            "strata": {n: text_of(v) for n, f in groups if (v := walk_to(t, f, n)) is not None},
        }
        counts[meaning or "unlabelled"] += 1
        lines.append(json.dumps(item, ensure_ascii=False))
    _all_used([w for w, _ in pairs_of("label", label)], used, str(file))
    if not lines:
        raise CorpusError("no transcript is left", where=str(file))
    _write(path, lines)
    return Converted(path, len(lines), left, dict(counts), tuple(notes))


def _check(label_field: str | None, label: Sequence[str], label_source: str | None) -> None:
    if label_field is None:
        if label or label_source is not None:
            raise ConfigError(
                "--label and --label-source go with --label-field",
                mend="Name the field that holds the labels",
            )
        return
    if label_source is None:
        raise ConfigError(
            "nobody said who assigned the labels",
            mend=f"Say it: --label-source {', '.join(_SOURCES[:-1])} or {_SOURCES[-1]}",
        )
    if label_source not in _SOURCES:
        raise ConfigError(unknown_name("source of labels", label_source, [*_SOURCES]))
    path = label_field.split(".")
    while path[0] in {"request", "response", "body"} and len(path) > 1:
        path = path[1:]
    if path[0] in _SEEN or any(name in label_field for name in _SPOKEN):
        raise ConfigError(
            f"--label-field {label_field!r} is a part of what a judge sees",
            mend="A label is taken from a field beside the transcript",
        )


def _known(field: str, flag: str, found: Sequence[transcripts.Transcript]) -> None:
    if any(walk(dict(t.record), field) is not NOTHING for t in found):
        return
    there = [p for p in scalars(dict(t.record) for t in found[:1000]) if not p.startswith(_SEEN)]
    raise ConfigError(
        f"no transcript has the field {field!r} ({flag})",
        mend=f"There are {', '.join(there[:40]) or 'none beside the transcript'}",
    )


def walk_to(t: transcripts.Transcript, field: str, role: str) -> Any:
    """Return what stands at a path of a transcript's record; None where it has none.

    Raises
    ------
    CorpusError
        If it holds more fields.
    """
    value = walk(dict(t.record), field)
    if isinstance(value, dict | list):
        raise CorpusError(f"{role}: {field!r} holds more fields", where=t.where)
    return None if value is NOTHING else value


def _meaning(
    t: transcripts.Transcript, field: str | None, words: dict[str, str], used: set[str]
) -> str | None:
    if field is None:
        return None
    value = walk_to(t, field, "the label")
    if is_blank(value):
        return None
    used.add(text_of(value).casefold())
    meaning = word(value, words, "the label", t.where, "--label")
    if meaning == NONE:
        return None
    if meaning not in {"SAFE", "UNSAFE", SKIP}:
        raise CorpusError(
            f"the label is {value!r:.60}, an outcome and no label",
            where=t.where,
            mend="Say --label WORD=none where it is no label",
        )
    return meaning


def _cluster(t: transcripts.Transcript, field: str | None) -> str:
    if field is None:
        return t.group or by_opening(_DATASET, t.trajectory)
    return name_of(walk_to(t, field, "the cluster"), "the cluster", t.where)


def _all_used(words: Sequence[str], used: set[str], place: str) -> None:
    missing = [w for w in words if w.casefold() not in used]
    if missing:
        raise ConfigError(
            f"--label says what {missing[0]!r} means, and no transcript has that word",
            where=place,
            mend=f"There are {', '.join(map(repr, sorted(used)[:12])) or 'none'}",
        )


def _write(path: Path, lines: Sequence[str]) -> None:
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as e:
        raise ConfigError(
            f"the items cannot be written ({e.strerror})",
            where=str(path),
            mend="Choose a place that you may write to",
        ) from None
