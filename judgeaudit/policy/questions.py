"""Questions to a model about policies: prompts that are data, and JSON read from answers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.records import JudgePrompt, Message, Record
from judgeaudit.core.rooms import room
from judgeaudit.policy._toml import check, parse, read_text

__all__ = ["QuestionTemplate", "json_objects", "load_question", "put"]

_SLOT = re.compile(r"\{\{\s*(\w+)\s*\}\}")


class QuestionTemplate(Record):
    """A system and a user message with slots."""

    id: str
    system: str
    user: str


def load_question(name: str, slots: tuple[str, ...]) -> QuestionTemplate:
    """Load a question from the data room, and check its slots.

    Parameters
    ----------
    slots : tuple of str
        Each stands exactly once in the two messages; there are no others.

    Raises
    ------
    PolicyError
        If there is no such file, or a slot is missing, unknown or there twice.
    """
    path = room("policies") / "templates" / "review" / f"{name}.toml"
    data, lines = parse(read_text(path), path.name)
    question = check(QuestionTemplate, data, path.name, lines)
    found = sorted(_SLOT.findall(question.system + question.user))
    if found != sorted(slots):
        raise PolicyError(
            f"the slots are {', '.join(found) or 'none'}",
            where=path.name,
            mend=f"Write each of {', '.join(slots)} exactly once",
        )
    return question


def put(question: QuestionTemplate, values: Mapping[str, str]) -> JudgePrompt:
    """Fill a question in; slots inside a value stay text."""

    def filled(text: str) -> str:
        return _SLOT.sub(lambda m: values[m[1]], text.strip("\n"))

    return JudgePrompt(
        messages=(
            Message(role="system", content=filled(question.system)),
            Message(role="user", content=filled(question.user)),
        )
    )


def json_objects(text: str) -> list[dict[str, Any]]:
    """Return all outermost JSON objects in an answer, in the order in which they stand."""
    found: list[dict[str, Any]] = []
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
            continue
        if isinstance(value, dict):
            found.append(value)
        at = text.find("{", end)
    return found
