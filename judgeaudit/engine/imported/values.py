"""Cells to values: ids, repeats, verdicts, flags, probabilities; right, or refused by line."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from judgeaudit.core.errors import CorpusError

__all__ = ["flag", "is_blank", "name_of", "number", "score", "share", "stripped", "text_of", "word"]

_LONGEST: Final = 400
_FLAGS: Final = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def is_blank(value: object) -> bool:
    """Say whether a cell is empty: null, or a text of blanks. NaN is not empty, it is wrong."""
    return value is None or (isinstance(value, str) and not value.strip())


def stripped(value: object) -> object:
    """Return a text without blanks at its ends, and anything else as it is."""
    return value.strip() if isinstance(value, str) else value


def _shown(value: object) -> str:
    return f"{value!r:.60}"


def name_of(value: object, role: str, where: str) -> str:
    """Read a name (an id, a cluster): a text or a whole number.

    Raises
    ------
    CorpusError
        If it is empty, NaN, a fraction, has blanks at an end, or holds what no file can carry.
    """
    if is_blank(value):
        raise CorpusError(f"{role} is empty", where=where, mend="Give each row one")
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise CorpusError(
            f"{role} is {_shown(value)}, neither a text nor a whole number",
            where=where,
            mend="Write it as a text",
        )
    name = str(value)
    if not name.isascii():
        try:
            name.encode("utf-8")
        except UnicodeEncodeError:
            raise CorpusError(
                f"{role} {_shown(name)} holds half a surrogate pair", where=where
            ) from None
    if len(name) > _LONGEST:
        raise CorpusError(
            f"{role} {name[:40]!r}… has {len(name)} characters",
            where=where,
            mend=f"Give it a name of at most {_LONGEST}, or name another column",
        )
    if name != name.strip():
        raise CorpusError(
            f"{role} {name[:40]!r} has blanks at an end", where=where, mend="Write it without"
        )
    if any(unicodedata.category(c) in {"Cc", "Zl", "Zp"} for c in name):
        raise CorpusError(f"{role} {_shown(name)} holds control characters", where=where)
    return name


def text_of(value: object) -> str:
    """Write a cell as the word that a mapping names: 1 for 1 and 1.0, true for True."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return value.strip() if isinstance(value, str) else str(value)


def word(value: object, words: Mapping[str, str], role: str, where: str, flag: str) -> str:
    """Read a label or an outcome by what its word means.

    Raises
    ------
    CorpusError
        If nobody said what the word means; 0 and 1 are not guessed at.
    """
    said = text_of(value)
    found = words.get(said.casefold())
    if found is None:
        shown = said if re.fullmatch(r"[\w.-]{1,40}", said) else repr(said[:40])
        raise CorpusError(
            f"{role} is {_shown(value)}, and nobody said what that means",
            where=where,
            mend=f"Say it: {flag} {shown}=UNSAFE, or SAFE, or an outcome such as unparseable",
        )
    return found


def number(value: object, role: str, where: str) -> int:
    """Read a whole number, 0 or larger; 3.0 is one, 3.5 and NaN are none.

    Raises
    ------
    CorpusError
        If it is anything else.
    """
    found: int | None = None
    if isinstance(value, int) and not isinstance(value, bool):
        found = value
    elif isinstance(value, float) and value.is_integer():
        found = int(value)
    elif isinstance(value, str) and re.fullmatch(r"\s*\d{1,18}(?:\.0+)?\s*", value):
        found = int(value.strip().partition(".")[0])
    if found is None or not 0 <= found < 1 << 62:
        raise CorpusError(
            f"{role} is {_shown(value)}",
            where=where,
            mend="It must be a whole number, 0 or larger",
        )
    return found


def score(value: object, role: str, where: str) -> float:
    """Read a number of any size; a NaN is none.

    Raises
    ------
    CorpusError
        If it is anything else.
    """
    bare = value.strip() if isinstance(value, str) else value
    if isinstance(bare, str) and _NUMBER.fullmatch(bare):
        bare = float(bare)
    if isinstance(bare, bool) or not isinstance(bare, int | float) or not math.isfinite(bare):
        raise CorpusError(
            f"{role} is {_shown(value)}, and is to be a number",
            where=where,
            mend="Say what it means (--label 'n/a=refusal'), or leave such rows out ('n/a=skip')",
        )
    return float(bare)


def flag(value: object, role: str, where: str) -> bool | None:
    """Read a flag, 1 or 0, true or false, yes or no; None where the cell is empty.

    Raises
    ------
    CorpusError
        If it is anything else.
    """
    if is_blank(value):
        return None
    found = _FLAGS.get(text_of(value).casefold())
    if found is None:
        raise CorpusError(
            f"{role} is {_shown(value)}", where=where, mend="It must be 1 or 0, or true or false"
        )
    return found


def share(value: object, *, percent: bool) -> float | str | None:
    """Read a number from 0 to 1.

    Parameters
    ----------
    value : object
        A cell; "87%" is 0.87 whatever `percent` says.
    percent : bool
        Whether a number without a sign is per cent.

    Returns
    -------
    float, str or None
        None for an empty cell; a text says what is wrong: nothing is clipped or guessed.
    """
    if is_blank(value):
        return None
    shown = _shown(value)
    said: Any = value
    signed = False
    if isinstance(value, str):
        bare = value.strip()
        signed = bare.endswith("%")
        bare = bare.removesuffix("%").strip()
        if not _NUMBER.fullmatch(bare):
            return f"{shown} is not a number"
        said = float(bare)
    if isinstance(said, bool) or not isinstance(said, int | float):
        return f"{shown} is not a number"
    if isinstance(said, float) and not math.isfinite(said):
        return f"{shown} is not a number"
    found = said / 100 if signed or percent else float(said)
    if not 0 <= found <= 1:
        top = "100" if percent or signed else "1"
        more = " (say --percent if it is per cent)" if not percent and 1 < said <= 100 else ""
        return f"{shown} is not from 0 to {top}{more}"
    return found
