"""Write a card's files, all or none, each whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from judgeaudit.cards.badge import to_badge
from judgeaudit.cards.hub import to_hub
from judgeaudit.cards.jsonio import to_json
from judgeaudit.cards.model import JudgeCard
from judgeaudit.cards.numbers import to_csv, to_latex
from judgeaudit.cards.render import to_html, to_markdown
from judgeaudit.core.errors import CardError, ConfigError
from judgeaudit.core.registry import Registry

__all__ = ["ALL_FORMATS", "FORMATS", "CardFormat", "file_of", "write", "write_text"]

FORMATS: Final[dict[str, Callable[[JudgeCard], str]]] = {
    "json": to_json,
    "md": to_markdown,
    "html": to_html,
    "hf": to_hub,
    "badge": to_badge,
    "latex": to_latex,
    "csv": to_csv,
}
"""Format to the function that makes its text; of ours."""


class CardFormat(Protocol):
    """Makes a card's text; may name its file in an attribute `filename`."""

    def __call__(self, card: JudgeCard, /) -> str:
        """Return the text."""
        ...


ALL_FORMATS: Final[Registry[CardFormat]] = Registry("card format", None, "judgeaudit.card_formats")
"""Ours, and those of entry points."""

for _name, _make in FORMATS.items():
    ALL_FORMATS.register(_name)(_make)

_FILES: Final = {"hf": "README.md", "badge": "card.svg", "latex": "card.tex"}
_WRITTEN: Final = ("json", "md", "html")


def file_of(form: str) -> str:
    """Return the name of the file that a format is written to.

    Raises
    ------
    ConfigError
        If the format is not known, or names a file that is none.
    """
    theirs = getattr(ALL_FORMATS[form], "filename", None)
    if theirs is None:
        return _FILES.get(form, f"card.{form}")
    if not isinstance(theirs, str) or Path(theirs).name != theirs or theirs in {"", ".", ".."}:
        raise ConfigError(f"the card format {form!r} names the file {theirs!r:.60}")
    return theirs


def _write_new(path: Path, text: str) -> None:
    # O_EXCL: never write through a link that somebody else put there.
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    with os.fdopen(handle, "wb") as f:
        f.write(text.encode("utf-8"))
        f.flush()
        os.fsync(f.fileno())


def write(card: JudgeCard, folder: Path | str) -> dict[str, Path]:
    """Write `card.json`, `card.md` and `card.html`.

    All texts are made and written beside their place first, then renamed over it: a full disk or
    a kill leaves the former card, never half of one.

    Parameters
    ----------
    card : JudgeCard
        The card.
    folder : path
        Where the files go; made if it is not there.

    Returns
    -------
    dict of str to Path
        "json", "md", "html" to the files.

    Raises
    ------
    CardError
        If the folder cannot be made or written, or the disk is full.
    """
    folder = Path(folder)
    targets = {suffix: folder / f"card.{suffix}" for suffix in _WRITTEN}
    _write_all({targets[suffix]: FORMATS[suffix](card) for suffix in _WRITTEN}, folder)
    return targets


def write_text(text: str, path: Path) -> Path:
    """Write one file, whole or not at all; its folder is made if it is not there.

    Raises
    ------
    CardError
        If it cannot be written, or the disk is full.
    """
    _write_all({path: text}, path.parent)
    return path


def _write_all(texts: dict[Path, str], folder: Path) -> None:
    fresh = {path: path.with_name(f".{path.name}.{os.getpid()}.tmp") for path in texts}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            fresh[path].unlink(missing_ok=True)
            _write_new(fresh[path], text)
        for path, made in fresh.items():
            made.replace(path)
    except OSError as e:
        error = CardError(
            f"the card cannot be written: {e.strerror or e}",
            where=str(folder),
            mend="Give a folder on a disk with room that you may write to",
        )
        if e.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            error.exit_code = 3  # as everywhere: a full disk is no mistake of the user's
        raise error from e
    finally:
        for path in fresh.values():
            try:
                path.unlink(missing_ok=True)
            except OSError:
                continue
