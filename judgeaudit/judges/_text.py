"""Text as it comes from strangers: made storable, made short, made free of keys."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Final

__all__ = ["Scrubber", "is_secret_name", "short", "storable"]

_HIDDEN: Final = "[key]"
_SECRET_NAME: Final = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|KEY_ID|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$", re.IGNORECASE
)
_API_KEY_NAME: Final = re.compile(r"API_?KEY$", re.IGNORECASE)
_SHORTEST: Final = 12
_SHORTEST_API_KEY: Final = 8
# For messages only: a trajectory's invented keys must stay what they are.
_LOOKS_LIKE: Final = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|AIza)[-_]?[A-Za-z0-9*][\w*.-]{7,}|(?<=Bearer )\S+", re.IGNORECASE
)


def is_secret_name(name: str) -> bool:
    """Say whether a variable or parameter of this name holds a key."""
    return _SECRET_NAME.search(name) is not None


def storable(text: str) -> str:
    """Replace lone surrogates, which no UTF-8 file or wire can hold, by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def short(text: str, cap: int = 200) -> str:
    """Cut a text at `cap` characters, storable and without NUL."""
    text = text.strip()
    kept = text if len(text) <= cap else text[:cap].rstrip() + "…"
    return storable(kept).replace("\x00", "\ufffd")


class Scrubber:
    """Takes the values of keys out of texts.

    Parameters
    ----------
    environment : mapping
        Where keys stand; names such as `OPENAI_API_KEY`, `AWS_SESSION_TOKEN` count.
    more : iterable of str
        Further values.
    """

    def __init__(
        self, environment: Mapping[str, str] | None = None, more: Iterable[str] = ()
    ) -> None:
        found = set(more)
        for name, value in (os.environ if environment is None else environment).items():
            least = _SHORTEST_API_KEY if _API_KEY_NAME.search(name) else _SHORTEST
            if is_secret_name(name) and len(value.strip()) >= least:
                found.add(value.strip())
        # the longest first: one key may begin like another
        self._values = tuple(sorted(found - {""}, key=lambda v: (-len(v), v)))

    def __repr__(self) -> str:
        return f"Scrubber({len(self._values)} values)"

    def answer(self, text: str) -> str:
        """Take out known keys only; anything else of a judge's answer stays."""
        for value in self._values:
            if value in text:
                text = text.replace(value, _HIDDEN)
        return text

    def message(self, text: str) -> str:
        """Take out known keys, and whatever looks like one."""
        return _LOOKS_LIKE.sub(_HIDDEN, self.answer(text))
