"""Answers that were recorded elsewhere, played back: no model, no key, no network.

The file is JSON Lines, one answer a line, in any order::

    {"item": "rjudge/Web/17", "condition": "base", "repeat": 0, "text": "Verdict: SAFE"}
    {"item": "rjudge/Web/17", "condition": "T4", "repeat": 1, "text": null, "refusal": "I can't."}

`item` (an item's key, dataset/subset/id), `condition`, `repeat` (from 0) and `wording` (0 if left
out) say which call is answered; `text` and the other fields of `Reply` are all optional but `text`.
`to_line` writes such a line.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import Field, ValidationError

from judgeaudit.core.errors import ConfigError, PermanentError
from judgeaudit.core.records import Call, JudgePrompt, JudgeSpec, Reply
from judgeaudit.judges._text import short, storable
from judgeaudit.judges.base import JUDGES

__all__ = ["CallKey", "ReplayJudge", "read_replies", "replay_spec", "to_line"]

CallKey = tuple[str, str, int, int]
"""(item, condition, wording, repeat)."""

_TEXTS: Final = ("text", "refusal", "reasoning")


class _Line(Reply):
    """One line of a file: which call, and its reply."""

    item: str
    condition: str
    wording: int = Field(default=0, ge=0)
    repeat: int = Field(ge=0)


@JUDGES.register("replay")
class ReplayJudge:
    """A judge that answers from a recording.

    Parameters
    ----------
    spec : JudgeSpec
        `model` is the path of the file. If `weights_sha256` is given (see `replay_spec`), the
        file must have that hash: another recording is another judge.
    replies : mapping of (item, condition, wording, repeat) to Reply, optional
        Answers instead of a file; then `model` is only a name.

    Raises
    ------
    ConfigError
        The file is missing, empty, damaged or another one, or answers a call twice; says where.
    """

    def __init__(self, spec: JudgeSpec, replies: Mapping[CallKey, Reply] | None = None) -> None:
        self._spec = spec
        if replies is None:
            raw = _read(Path(spec.model))
            found = hashlib.sha256(raw).hexdigest()
            if spec.weights_sha256 not in {None, found}:
                raise ConfigError(
                    f"this recording has another hash: {found[:12]}, not "
                    f"{(spec.weights_sha256 or '')[:12]}",
                    where=spec.model,
                    mend="Give the recording that the run began with, or begin another run",
                )
            replies = _parse(raw, spec.model)
        self._replies = dict(replies)

    def __repr__(self) -> str:
        return f"ReplayJudge({self._spec.model!r}, {len(self._replies)} answers)"

    @property
    def spec(self) -> JudgeSpec:
        """Identity of the judge."""
        return self._spec

    async def ask(self, prompt: JudgePrompt, call: Call) -> Reply:
        """Return the recorded answer of a call; the prompt is not compared.

        Raises
        ------
        PermanentError
            If no answer to this call was recorded.
        """
        del prompt
        key = (call.item, call.condition, call.wording, call.repeat)
        try:
            return self._replies[key]
        except KeyError:
            raise PermanentError(
                f"no answer is recorded for item {call.item!r}, condition {call.condition!r}, "
                f"wording {call.wording}, repeat {call.repeat}",
                where=self._spec.model,
                mend="Record it, or audit only what was recorded",
            ) from None

    async def aclose(self) -> None:
        """Do nothing: there is nothing to release."""


def replay_spec(path: Path | str, **fields: Any) -> JudgeSpec:
    """Return the spec of a recording, bound to the file's content by hash.

    Parameters
    ----------
    path : path
        The recording.
    **fields
        Other fields of `JudgeSpec`, such as the template that was used.

    Raises
    ------
    ConfigError
        If the file cannot be read.
    """
    digest = hashlib.sha256(_read(Path(path))).hexdigest()
    return JudgeSpec(backend="replay", model=str(path), weights_sha256=digest, **fields)


def read_replies(path: Path | str) -> dict[CallKey, Reply]:
    """Read a recording.

    Raises
    ------
    ConfigError
        The file is missing, empty or damaged, or answers a call twice; says where.
    """
    return _parse(_read(Path(path)), str(path))


def to_line(call: Call, reply: Reply) -> str:
    """Write an answer as one line of a recording, line break included."""
    key = {k: getattr(call, k) for k in ("item", "condition", "wording", "repeat")}
    return json.dumps(key | reply.model_dump(mode="json", exclude_defaults=True)) + "\n"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as exc:
        raise ConfigError(
            f"cannot read the recording: {exc.strerror or exc}",
            where=str(path),
            mend="Write the judge as replay:FILE",
        ) from None


def _parse(raw: bytes, where: str) -> dict[CallKey, Reply]:
    out: dict[CallKey, Reply] = {}
    at: dict[CallKey, int] = {}
    # split at line feeds only: other line separators may stand inside of a JSON string
    for n, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        key, reply = _entry(line, f"{where}:{n}")
        if key in out:
            raise ConfigError(
                f"the call {key} is answered twice, in lines {at[key]} and {n}",
                where=where,
                mend="Keep one of them",
            )
        out[key], at[key] = reply, n
    if not out:
        raise ConfigError("the recording is empty", where=where)
    return out


def _entry(line: bytes, where: str) -> tuple[CallKey, Reply]:
    try:
        data = json.loads(line.decode("utf-8"))
        if not isinstance(data, dict):
            raise ConfigError("not a JSON object", where=where)
        for name in _TEXTS:
            if isinstance(data.get(name), str):
                data[name] = storable(data[name])
        entry = _Line.model_validate(data)
    except ValidationError as exc:
        first = exc.errors()[0]
        field = ".".join(str(p) for p in first["loc"]) or "the line"
        raise ConfigError(f"{field}: {short(first['msg'], 120)}", where=where) from None
    except (ValueError, RecursionError) as exc:
        raise ConfigError(f"not JSON in UTF-8: {short(str(exc), 120)}", where=where) from None
    fields = entry.model_dump(exclude={"item", "condition", "wording", "repeat"})
    return (entry.item, entry.condition, entry.wording, entry.repeat), Reply(**fields)
