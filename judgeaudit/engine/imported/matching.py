"""A user's pattern on the texts of a column, in a process of its own that can be stopped.

Python's `re` backtracks: a pattern such as `(a+)+b` takes years over forty letters, and nothing but
a signal stops it. Which patterns do so cannot be told from their form without refusing good ones,
so a pattern is given seconds, not a look.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from judgeaudit.core.errors import ConfigError, CorpusError

__all__ = ["SECONDS", "compiled", "kept_parts"]

SECONDS: Final = 10.0
"""What a pattern may take for all texts of a column, and a millisecond more for each text."""

# one line a text, written before the next one is begun: what is missing names the text that hung
_CHILD: Final = """
import json, re, sys
pattern, texts = json.load(sys.stdin)
fits = re.compile(pattern).search
for text in texts:
    found = fits(text) if text else None
    print(json.dumps((found[1] or "").strip() if found else None if text else ""), flush=True)
"""


def compiled(name: str, pattern: str) -> str:
    """Check that a pattern is one, and has one group.

    Parameters
    ----------
    name : str
        The column, for messages.
    pattern : str
        A regular expression of Python's.

    Raises
    ------
    ConfigError
        If it is none.
    """
    try:
        made = re.compile(pattern)
    except (re.error, OverflowError, RecursionError, MemoryError) as e:
        raise ConfigError(f"--field {name}: {pattern!r:.80} is no pattern ({e})") from None
    if made.groups != 1:
        raise ConfigError(
            f"--field {name}: {pattern!r} has {made.groups} groups",
            mend="Put what is to be kept in one pair of brackets: ~_r([0-9]+)_",
        )
    return pattern


def kept_parts(
    path: str,
    pattern: str,
    texts: Sequence[str],
    places: Sequence[str],
    *,
    seconds: float = SECONDS,
) -> list[str]:
    """Return the part of each text that the pattern's group fits; an empty text stays empty.

    Parameters
    ----------
    path : str
        Where the texts stand in a record, for messages.
    pattern : str
        With one group.
    texts, places : sequence of str
        The texts, and where each stands.
    seconds : float
        What all of them may take.

    Raises
    ------
    ConfigError
        If it takes longer.
    CorpusError
        If a text does not fit.
    """
    try:
        done = subprocess.run(  # noqa: S603  # ours, in this interpreter
            [sys.executable, "-I", "-S", "-c", _CHILD],
            input=json.dumps([pattern, list(texts)]).encode(),
            capture_output=True,
            timeout=seconds + len(texts) / 1000,
            check=True,
        )
    except subprocess.TimeoutExpired as e:
        n = min((e.stdout or b"").count(b"\n"), len(texts) - 1)
        raise ConfigError(
            f"the pattern {pattern!r:.80} takes more than {seconds:g} seconds on {path}, "
            f"which is {texts[n]!r:.60}",
            where=places[n],
            mend="Leave out a repetition within a repetition, such as the inner + of (a+)+",
        ) from None
    except (OSError, subprocess.CalledProcessError) as e:
        raise ConfigError(f"the pattern {pattern!r:.80} cannot be tried ({e!s:.200})") from None
    found: list[str | None] = [json.loads(line) for line in done.stdout.splitlines()]
    for text, part, where in zip(texts, found, places, strict=True):
        if part is None:
            raise CorpusError(
                f"{path} is {text!r:.60}, which {pattern!r} does not fit",
                where=where,
                mend="Let the pattern take it, too; (|x) takes a text without x for an empty cell",
            )
    return [part or "" for part in found]
