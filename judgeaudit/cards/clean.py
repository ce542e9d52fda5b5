"""Text from a model, a dataset or a user, made harmless before it enters a card.

Escaping for a format (HTML, Markdown) is that format's work. What happens here is what no format
can mend later: characters that cannot be written as UTF-8, that steer a terminal or turn the
reading direction, texts of a megabyte, and credentials.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from judgeaudit.core.hashing import sha256_text

__all__ = ["HIDDEN", "LIMIT", "clean", "clean_tree", "one_line", "shorten"]

LIMIT: Final = 2000
"""Longest text on a card, in characters; a longer one is cut, with a mark."""

HIDDEN: Final = "[hidden]"
"""What stands in the place of a credential."""

_MAX_DEPTH: Final = 20

# Controls, format characters (bidi among them), lone surrogates, line and paragraph separators.
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_KEPT: Final = frozenset("\n\t")
_JOINERS: Final = frozenset("\u200c\u200d")
_ASCII_END: Final = 0x80
_INT_END: Final = 2**63
_HOLDS_TEXT: Final = (str, Mapping, list, tuple)

_SECRET_KEY: Final = re.compile(
    r"api[-_]?key|authori[sz]ation|secret|passw|credential|cookie|bearer"
    r"|(?:access|auth|refresh|session|id)[-_]?token|^token$|(?:^|[-_])sas$",
    re.IGNORECASE,
)
_USERINFO: Final = re.compile(r"(?<=://)[^/?#\s]+@")
_SECRET_QUERY: Final = re.compile(
    r"([?&](?:[^=&#\s]*(?:key|token|secret|sig|passw)[^=&#\s]*)=)[^&#\s]+", re.IGNORECASE
)


def _joiner_is_wanted(text: str, at: int) -> bool:
    """Say whether a joiner stands inside a script that uses it (Persian, Hindi, emoji)."""
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    return bool(before) and ord(before) >= _ASCII_END and bool(after) and ord(after) >= _ASCII_END


def _visible(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    out = []
    for at, char in enumerate(text):
        hidden = unicodedata.category(char) in _INVISIBLE or ord(char) & 0xFFFE == 0xFFFE
        if char in _JOINERS and _joiner_is_wanted(text, at):
            hidden = False
        out.append(f"[U+{ord(char):04X}]" if hidden and char not in _KEPT else char)
    return "".join(out)


def clean(text: str) -> str:
    r"""Make a text writable, visible and short; cleaning twice changes nothing more.

    Parameters
    ----------
    text : str
        Any text, lone surrogates and NUL included.

    Returns
    -------
    str
        At most `LIMIT` characters of valid UTF-8; invisible ones are spelt out, credentials in
        addresses hidden.

    Examples
    --------
    >>> clean("gpt\u202eevil\x1b[2J")
    'gpt[U+202E]evil[U+001B][2J'
    >>> clean("http://me:key@host/v1?api_key=abc")
    'http://[hidden]@host/v1?api_key=[hidden]'
    """
    # A credential that straddles the limit must still be seen whole, so hide before cutting.
    head = text[: 2 * LIMIT]
    head = _USERINFO.sub(f"{HIDDEN}@", head)
    head = _SECRET_QUERY.sub(rf"\g<1>{HIDDEN}", head)
    seen = _visible(head.replace("\r\n", "\n"))
    if len(text) <= 2 * LIMIT and len(seen) <= LIMIT:
        return seen
    mark = f" … [cut: {len(text):,} characters, sha256 {sha256_text(text)[:16]}]"
    return seen[: LIMIT - len(mark)] + mark


def clean_tree(value: Any, *, depth: int = 0) -> Any:
    """Clean every text in a JSON-like value, keys included; values under secret keys are hidden.

    Parameters
    ----------
    value : JSON-like
        Nested mappings, sequences and scalars. Floats are rounded to 12 significant digits, so
        that the last bit of a sum does not change a card's bytes.

    Raises
    ------
    ValueError
        If the value is nested deeper than 20 levels, or holds something that is not JSON.
    """
    if depth > _MAX_DEPTH:
        raise ValueError(f"nested deeper than {_MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        return _clean_mapping(value, depth)
    if isinstance(value, list | tuple):
        return [clean_tree(v, depth=depth + 1) for v in value]
    return clean(value) if isinstance(value, str) else _clean_scalar(value)


def _clean_mapping(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, inner in value.items():
        name = base = clean(str(key))
        count = 2
        while name in out:
            name, count = f"{base} ({count})", count + 1
        secret = isinstance(inner, _HOLDS_TEXT) and _SECRET_KEY.search(name) is not None
        out[name] = HIDDEN if secret else clean_tree(inner, depth=depth + 1)
    return out


def _clean_scalar(value: object) -> bool | int | float | None:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a number that JSON can hold")
        return float(f"{value:.12g}") + 0.0
    if isinstance(value, int) and abs(value) >= _INT_END:
        raise ValueError("a whole number beyond 64 bits")
    if value is None or isinstance(value, bool | int):
        return value
    raise ValueError(f"a value of type {type(value).__name__}")


def one_line(text: str) -> str:
    r"""Fold all white space to single blanks.

    Examples
    --------
    >>> one_line("a\n\n b")
    'a b'
    """
    return " ".join(text.split())


def shorten(text: str, width: int) -> str:
    """Cut a text for a narrow place; the whole of it stands elsewhere on the card.

    Examples
    --------
    >>> shorten("abcdefgh", 5)
    'abcd…'
    """
    text = one_line(text)
    return text if len(text) <= width else text[: width - 1] + "…"
