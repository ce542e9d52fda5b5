"""From a model's answer to a policy as data: read, written as TOML, validated, never trusted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.records import Draft, Policy
from judgeaudit.core.rooms import room
from judgeaudit.policy._toml import read_text
from judgeaudit.policy.questions import json_objects

__all__ = ["Drafted", "draft_schema", "draft_table", "read_draft", "with_draft_table"]

_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_REFUSAL = re.compile(
    r"\A\W*(?:(?:i['’]?m|i am) (?:very |so )?sorry|sorry,|i apologi[sz]e|"
    r"i (?:can['’]?t|cannot|won['’]?t|will not|am (?:not able|unable) to))\b",
    re.IGNORECASE,
)
_TABLE = re.compile(r"^\[draft\][^\n]*\n(?:(?!\[)[^\n]*\n?)*", re.MULTILINE)
_RULES: Final = ("threshold", "burden", "default")


@dataclass(frozen=True, slots=True)
class Drafted:
    """A draft that is valid as data; whether it is right only a person can say.

    Parameters
    ----------
    policy : Policy
        With its unconfirmed draft table.
    toml : str
        The file's text.
    assumed : tuple of str
        Rules that the model says it had to choose, for the text does not state them.
    """

    policy: Policy
    toml: str
    assumed: tuple[str, ...]


def draft_schema() -> dict[str, Any]:
    """Return the JSON Schema of a draft, for servers that can hold a model to one."""
    path = room("policies") / "templates" / "review" / "draft.schema.json"
    schema: dict[str, Any] = json.loads(read_text(path))
    return schema


def read_draft(answer: str, draft: Draft) -> Drafted:
    """Read a model's answer as a policy.

    Parameters
    ----------
    answer : str
        The answer as it came.
    draft : Draft
        Who drafted it from what.

    Raises
    ------
    PolicyError
        If the answer is a refusal, holds no JSON object, or the object is no policy; the message
        names the key and can be shown to the model.
    """
    from judgeaudit.policy.loading import parse_policy

    text = _THINKING.sub("", answer)
    found = [o for o in json_objects(text) if "norms" in o or "policy" in o]
    if not found:
        if _REFUSAL.match(text):
            said = " ".join(text.split())[:160]
            raise PolicyError(f"the model refused: {said!r}", mend="Ask another model")
        said = " ".join(text.split())[:80]
        raise PolicyError(
            f"the answer holds no policy as JSON; it begins {said!r}"
            if said
            else "the answer is empty",
            mend="Ask a larger model, or write the policy as data by hand",
        )
    data = found[-1]
    inner = data.get("policy")
    if isinstance(inner, dict) and "norms" not in data:
        data = {**inner, "assumed": data.get("assumed", inner.get("assumed", []))}
    said_so = data.pop("assumed", [])
    assumed = tuple(r for r in _RULES if isinstance(said_so, list) and r in said_so)
    data.pop("draft", None)
    toml = _toml(data, assumed) + "\n" + draft_table(draft)
    return Drafted(parse_policy(toml, "the draft"), toml, assumed)


# ---- writing TOML ----------------------------------------------------------------------


def _toml(data: Mapping[str, Any], assumed: tuple[str, ...]) -> str:
    """Write the data of a policy as TOML; what is of a wrong type is written as it is."""
    lines = [
        "# Drafted by a model from a text, and not to be used before a person has confirmed it:",
        "# judgeaudit policy confirm FILE --by NAME",
        "",
    ]
    tables = {"norms", "definitions", *_RULES}
    lines += [f"{_key(k)} = {_value(v)}" for k, v in data.items() if k not in tables]
    for rule in _RULES:
        if rule in data:
            note = "  # assumed by the model: the text does not say" if rule in assumed else ""
            lines += ["", f"[{rule}]{note}", *_pairs(data[rule], rule)]
    for definition in _list(data.get("definitions"), "definitions"):
        lines += ["", "[[definitions]]", *_pairs(definition, "definitions")]
    for norm in _list(data.get("norms"), "norms"):
        exceptions = norm.get("exceptions", [])
        action = norm.get("action")
        simple = {k: v for k, v in norm.items() if k not in ("exceptions", "action")}
        # an empty or missing text says what the default says
        lines += ["", "[[norms]]", *_pairs({k: v for k, v in simple.items() if v != ""}, "norms")]
        if action is not None:
            lines += ["[norms.action]", *_pairs(action, "norms.action")]
        for exception in _list(exceptions, "norms.exceptions"):
            lines += ["[[norms.exceptions]]", *_pairs(exception, "norms.exceptions")]
    return "\n".join(lines) + "\n"


def _list(value: object, where: str) -> Iterable[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
        raise PolicyError("must be a list of objects", where=f"the draft, {where}")
    return value


def _pairs(value: object, where: str) -> list[str]:
    if not isinstance(value, dict):
        raise PolicyError(f"must be an object, not {value!r}", where=f"the draft, {where}")
    return [f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None]


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    text = "" if value is None else str(value)
    # models write stray line ends, and a full stop behind a title; neither means anything
    text = " ".join(text.split()).rstrip(" .;:,")
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(clean, ensure_ascii=False).replace("\x7f", "\\u007f")


def draft_table(draft: Draft) -> str:
    """Write the `[draft]` table."""
    data = draft.model_dump(mode="json")
    return "[draft]\n" + "".join(f"{k} = {_value(v)}\n" for k, v in data.items())


def with_draft_table(toml: str, draft: Draft) -> str:
    """Return the text of a policy's file with its `[draft]` table replaced; the rest as it is.

    Raises
    ------
    PolicyError
        If there is no such table.
    """
    text, n = _TABLE.subn(lambda _: draft_table(draft), toml, count=1)
    if n != 1:
        raise PolicyError(
            "the [draft] table cannot be found",
            mend="Write it as a table of its own: a line [draft], then its keys",
        )
    return text
