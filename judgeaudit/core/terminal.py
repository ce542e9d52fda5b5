"""Make untrusted text harmless in a terminal."""

from __future__ import annotations

import unicodedata

__all__ = ["plain"]

_KEEP = {"\n", "\t"}
# Zl and Zp end a line where lines are counted
_SHOWN_AS_ESCAPES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def plain(text: str, *, limit: int | None = None) -> str:
    r"""Show control, bidi and surrogate characters as escapes, so that they do nothing.

    Parameters
    ----------
    text : str
        Text from a model, a dataset, a file or a server.
    limit : int, optional
        Longest result in characters; what is cut is marked.

    Examples
    --------
    >>> plain("\x1b[31mred")
    '\\x1b[31mred'
    """
    if limit is not None and len(text) > limit:
        text = f"{text[:limit]}… [{len(text) - limit} characters cut]"
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if c in _KEEP or unicodedata.category(c) not in _SHOWN_AS_ESCAPES else _escape(c)
        for c in text
    )


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
