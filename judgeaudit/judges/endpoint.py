"""Judges that are an HTTP endpoint of one's own: one POST of JSON a call, one JSON answer.

Without a file the request is `{"messages": [...], "policy": ..., "trajectory": ..., "seed": ...}`,
and the answer `{"verdict": "SAFE" or "UNSAFE", "confidence": 0..1, "rationale": ...}`, or `{"text":
...}` that is read as every judge's words. A TOML file states another form of both::

    url = "http://127.0.0.1:8000/moderate"
    request = { input = "{{ trajectory }}", rules = "{{ policy }}" }
    verdict = "/results/0/flagged"
    labels = { true = "UNSAFE", false = "SAFE" }

See `docs/decisions/0814-functions-and-endpoints.md`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from judgeaudit.core.errors import JudgeError
from judgeaudit.core.records import JudgePrompt, JudgeSpec, Label, Reply
from judgeaudit.core.records._base import Record
from judgeaudit.core.toml import read_toml, record_from
from judgeaudit.judges._checks import check_address
from judgeaudit.judges._said import reply_of
from judgeaudit.judges._text import short, storable
from judgeaudit.judges.base import JUDGES
from judgeaudit.judges.direct import DirectJudge

__all__ = ["KEY_NAME", "EndpointForm", "EndpointJudge", "endpoint_spec"]

KEY_NAME: Final = "JUDGEAUDIT_HTTP_KEY"
"""The environment variable that holds the endpoint's bearer token."""

_SLOT: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_SLOTS: Final = ("messages", "system", "user", "policy", "trajectory", "seed")
_DEFAULT: Final = {name: f"{{{{ {name} }}}}" for name in ("messages", "policy", "trajectory")}
_POINTERS: Final = ("verdict", "text", "confidence", "rationale", "model")


class EndpointForm(Record):
    """What an endpoint is sent, and where its answer states what.

    Parameters
    ----------
    request : dict
        The JSON that is sent. A text that is one slot, such as "{{ messages }}", becomes its
        value; slots inside of a longer text are filled in. Slots: messages (a list of role and
        content), system, user (the messages' texts), policy, trajectory, seed.
    verdict, text, confidence, rationale, model : str, optional
        JSON pointers (RFC 6901) into the answer; `text` is read as a judge's own words.
    labels : dict of str to {"SAFE", "UNSAFE"}
        What the value at `verdict` means, where it is neither SAFE nor UNSAFE; `true`, `false`
        and numbers are spelled as in JSON. A value that is not listed is no verdict.
    """

    request: dict[str, Any] = Field(default_factory=lambda: dict(_DEFAULT))
    verdict: str | None = None
    text: str | None = None
    confidence: str | None = None
    rationale: str | None = None
    model: str | None = None
    labels: dict[str, Label] = Field(default_factory=dict)

    @field_validator(*_POINTERS)
    @classmethod
    def _is_pointer(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith("/"):
            raise ValueError("a JSON pointer begins with /, such as /result/verdict")
        return value

    @field_validator("request")
    @classmethod
    def _knows_its_slots(cls, value: dict[str, Any]) -> dict[str, Any]:
        found = {slot for text in _texts(value) for slot in _SLOT.findall(text)}
        if unknown := sorted(found - set(_SLOTS)):
            raise ValueError(f"unknown slot {unknown[0]!r}; the slots are {', '.join(_SLOTS)}")
        whole = found & {"messages", "user"}
        if not whole and not {"policy", "trajectory"} <= found:
            raise ValueError("it does not hold policy and trajectory, or the messages")
        return value


class _File(EndpointForm):
    url: str


def endpoint_spec(named: str, **fields: Any) -> JudgeSpec:
    """Return the spec of an endpoint: its address, and the form of request and answer.

    Parameters
    ----------
    named : str
        An address, or the path of a TOML file.
    **fields
        Other fields of `JudgeSpec`.

    Raises
    ------
    ConfigError
        An address that is none or holds a password, or a file that cannot be used.
    """
    form, url = EndpointForm(), named
    if not named.startswith(("http://", "https://")):
        path = Path(named)
        data, text = read_toml(path)
        read = record_from(_File, data, text=text, path=path)
        form, url = EndpointForm(**read.model_dump(exclude={"url"})), read.url
    check_address(JudgeSpec(backend="http", model="endpoint", api_base=url))
    parts, told = urlsplit(url), form.model_dump(exclude_defaults=True)
    return JudgeSpec(
        backend="http",
        model=f"{parts.netloc}{parts.path}".rstrip("/"),
        api_base=url,
        decoding={"form": told} if told else {},
        **fields,
    )


@JUDGES.register("http")
class EndpointJudge(DirectJudge):
    """A judge that is an HTTP endpoint.

    What it says of failures is heard as that of any server: status, Retry-After, deadlines,
    redirects, bodies that are none.

    Parameters
    ----------
    spec : JudgeSpec
        As of `endpoint_spec`: `api_base` is the whole address, `decoding` holds
        an `EndpointForm` as "form" where it is not the documented one.
    **options
        As of `DirectJudge`.

    Raises
    ------
    ConfigError
        An address or a form that cannot be used.
    """

    key_name = KEY_NAME
    path = ""

    def __init__(self, spec: JudgeSpec, **options: Any) -> None:
        super().__init__(spec, **options)
        self._form = EndpointForm.model_validate(spec.decoding.get("form", {}))

    def body(self, prompt: JudgePrompt, seed: int) -> dict[str, Any]:
        """Return what is sent for a prompt."""
        told: dict[str, Any] = {
            "messages": [{"role": m.role, "content": storable(m.content)} for m in prompt.messages],
            "policy": _or_none(prompt.policy),
            "trajectory": _or_none(prompt.trajectory),
            "seed": seed,
        }
        for role in ("system", "user"):
            said = [storable(m.content) for m in prompt.messages if m.role == role]
            told[role] = "\n\n".join(said) or None
        filled: dict[str, Any] = _filled(self._form.request, told)
        if self._spec.sends_seed and "seed" not in filled:
            filled["seed"] = seed
        return filled

    def _reply(self, body: Any, seconds: float, request_id: str | None) -> JudgeError | Reply:
        form = self._form
        said: Any = body
        if form.verdict is not None or form.text is not None:
            wanted = {name: getattr(form, name) for name in _POINTERS}
            said = {k: _at(body, p) for k, p in wanted.items() if p is not None}
        if isinstance(said, dict) and form.labels:
            said = {**said, **{k: self._label(said[k]) for k in ("verdict", "label") if k in said}}
        try:
            reply = reply_of(said, seconds, self._where, self._scrub)
        except JudgeError as error:
            return self._ending.unreadable(f"{error.what} ({short(json.dumps(body), 120)})")
        return reply.model_copy(update={"request_id": request_id})

    def _label(self, value: Any) -> Any:
        spelled = value if isinstance(value, str) else json.dumps(value)
        # what is not listed stays what it is: no label, and so no verdict
        return self._form.labels.get(spelled, {"unknown": value})

    async def _models(self) -> list[str]:
        return []


def _or_none(text: str | None) -> str | None:
    return None if text is None else storable(text)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, Mapping) else value
    return [t for v in inner for t in _texts(v)] if isinstance(value, Mapping | list) else []


def _filled(value: Any, told: Mapping[str, Any]) -> Any:
    """Put values into slots; one pass over the form's own texts, values are never looked at."""
    if isinstance(value, Mapping):
        return {k: _filled(v, told) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(v, told) for v in value]
    if not isinstance(value, str):
        return value
    if (whole := _SLOT.fullmatch(value)) is not None:
        return told[whole[1]]

    def text(found: re.Match[str]) -> str:
        said = told[found[1]]
        return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)

    return _SLOT.sub(text, value)


def _at(body: Any, pointer: str) -> Any:
    """Follow a JSON pointer; None where nothing is there."""
    here = body
    for part in pointer[1:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(here, dict):
            here = here.get(key)
        elif isinstance(here, list) and key.isascii() and key.isdigit() and len(key) < 9:
            here = here[int(key)] if int(key) < len(here) else None
        else:
            return None
    return here
