"""Standard output and standard error as they may be: narrow, full, or with nobody at the end."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import Final

import typer

__all__ = ["accept_any_text", "ascii_only", "aside", "conclude", "hush", "say"]

_LATIN: Final = str.maketrans(
    {"–": "-", "—": "-", "−": "-", "…": "...", "×": "x", "→": "->", "≤": "<=", "≥": ">=", "·": "-"}
)


def accept_any_text() -> None:
    """Show characters that the terminal's encoding lacks as escapes, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def aside(text: str) -> None:
    """Say something on standard error; that nobody can read it is no reason to stop."""
    with suppress(OSError):
        typer.echo(text, err=True)


def ascii_only(text: str) -> str:
    r"""Write a text in the letters that every log shows.

    Examples
    --------
    >>> ascii_only("0.1 – 0.2 … 판")
    '0.1 - 0.2 ... \\ud310'
    """
    return text.translate(_LATIN).encode("ascii", "backslashreplace").decode()


def say(text: str) -> None:
    """Print the end of a story, to whoever still reads it."""
    try:
        typer.echo(text)
    except BrokenPipeError:
        hush()
    except OSError as error:
        if error.errno != errno.EIO:  # a terminal that was closed: nobody reads any more
            raise
        hush()


def conclude(text: str, code: int) -> None:
    """Print the end of a story and exit; the code is the story's, whoever reads it.

    Raises
    ------
    typer.Exit
        Always, unless standard output cannot be written for another reason than a closed pipe.
    """
    say(text)
    raise typer.Exit(code)


def hush() -> None:
    """Send standard output nowhere: the reader went away, and Python would complain at its end."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
