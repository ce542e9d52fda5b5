"""The base of every record that crosses a file or a wire."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from judgeaudit.core.hashing import sha256_of

__all__ = ["Dimension", "Label", "Outcome", "Record"]

Label = Literal["SAFE", "UNSAFE"]
"""A verdict's label; UNSAFE counts as 1 wherever a label becomes a number."""

Outcome = Literal["verdict", "refusal", "truncated", "unparseable", "ambiguous", "error"]
"""What a call ended in. Only `verdict` carries a label."""

Dimension = Literal[
    "deontic_force",
    "scope",
    "exception_set",
    "burden_of_proof",
    "default_rule",
    "implicit_threshold",
]
"""The six dimensions that a certified rewrite preserves."""


class Record(BaseModel):
    """Frozen, strict about its keys, free of NaN; identified by the hash of its content."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, ser_json_inf_nan="null"
    )

    def content_sha256(self) -> str:
        """Return the sha256 of this record's canonical JSON."""
        return sha256_of(self)
