"""How a verdict is asked for on the wire, for each output format of a `JudgeSpec`.

These constants are part of the instrument: a changed one is another judge, so a test pins them.
"""

from __future__ import annotations

from typing import Any, Final

from judgeaudit.core.records import JudgeSpec
from judgeaudit.judges._guards import GUARDS

__all__ = ["VERDICT_GRAMMAR", "VERDICT_SCHEMA", "format_parameters"]

VERDICT_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": ["SAFE", "UNSAFE"]},
        "confidence": {"type": "number"},
        "rationale": {"type": "string"},
    },
    "required": ["verdict", "confidence", "rationale"],
    "additionalProperties": False,
}
"""JSON Schema of an answer. No bounds on numbers: strict modes of some providers refuse them."""

VERDICT_GRAMMAR: Final = 'root ::= "{\\"verdict\\": \\"" ("SAFE" | "UNSAFE") "\\"}"'
"""GBNF of an answer, for llama.cpp servers. Tight: a grammar that allows blanks lets small models
write blanks up to the token cap."""


def format_parameters(spec: JudgeSpec) -> dict[str, Any]:
    """Return the request parameters of a spec's output format; a guard model needs none.

    `response_format` and `extra_body.grammar` in the spec's own decoding win.
    """
    if spec.output_format == "plain" or spec.output_format in GUARDS:
        return {}
    if spec.output_format == "grammar":
        body = dict(spec.decoding.get("extra_body") or {})
        return {"extra_body": {"grammar": VERDICT_GRAMMAR, **body}}
    asked: dict[str, Any] = {"type": "json_object"}
    if spec.output_format == "json_schema":
        schema = {"name": "verdict", "strict": True, "schema": VERDICT_SCHEMA}
        asked = {"type": "json_schema", "json_schema": schema}
    return {"response_format": spec.decoding.get("response_format", asked)}
