"""Files of verdicts opened: a plain table, or the output of a tool whose format is known."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from judgeaudit.core.errors import ConfigError
from judgeaudit.corpora._read import Source, digest_of, open_source
from judgeaudit.corpora._sheet import Sheet, read_sheet
from judgeaudit.engine.imported.choices import Choices
from judgeaudit.engine.imported.formats import TABLE, found_format, sheet_of
from judgeaudit.engine.imported.formats.base import INSPECT, agreed, kept

__all__ = ["Opened", "opened"]


@dataclass(frozen=True, slots=True)
class Opened:
    """A table of verdicts, and what is to be done with it.

    Parameters
    ----------
    source : Source
        The file; of several, their names and one hash over all.
    names : tuple of str
        The files' names.
    sheet : Sheet
        The rows that are kept.
    choices : Choices
        What the user said, filled in by the format.
    format : str
        The format's name; `table` for a plain table.
    notes : tuple of str
        Sentences for the card.
    facts : dict
        What the format says beside the rows, for the ledger.
    """

    source: Source
    names: tuple[str, ...]
    sheet: Sheet
    choices: Choices
    format: str
    notes: tuple[str, ...]
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def is_format(self) -> bool:
        """Whether the file is some tool's output."""
        return self.format != TABLE

    @property
    def guesses_verdict(self) -> bool:
        """Whether the format takes one of several fields for the verdict; a log's scorer is one."""
        return self.format not in {TABLE, INSPECT}


@dataclass(frozen=True, slots=True)
class _Several(Source):
    """Several files as one; their bytes are not kept together."""

    whole: str = ""

    @property
    def sha256(self) -> str:
        """Hash over the files' names and bytes."""
        return self.whole


def opened(files: Sequence[str], said: Choices) -> Opened:
    """Read files of verdicts into one table.

    Parameters
    ----------
    files : sequence of str
        Paths; several only of a format, such as one file for each wording.
    said : Choices
        What the user said.

    Raises
    ------
    ConfigError, CorpusError
        If they cannot be read; the message names file and place.
    """
    if not files:
        raise ConfigError("no file is given", mend="Name the file of verdicts")
    if said.format is None and files[0].endswith(".eval"):
        said = dataclasses.replace(said, format=INSPECT)
    if said.format == INSPECT:
        return _of_inspect(files, said)
    sources = [open_source(f) for f in files]
    source = _one(sources)
    name = found_format(sources, said.format)
    if name == TABLE:
        if len(sources) > 1:
            raise ConfigError(
                f"{len(sources)} plain tables are not put together",
                where=sources[1].place,
                mend="Give one, or bring them into one with `judgeaudit flatten`",
            )
        sheet, notes = kept(read_sheet(source, said.separator), said)
        return Opened(source, (source.name,), sheet, said, name, tuple(notes))
    sheet, full, made = sheet_of(name, sources, said)
    sheet, notes = kept(sheet, said)
    judge = agreed(sheet, made)
    if said.judge is None and judge:
        full = dataclasses.replace(full, judge=judge)
    return Opened(source, tuple(s.name for s in sources), sheet, full, name, (*made.notes, *notes))


def _one(sources: Sequence[Source]) -> Source:
    first = sources[0]
    if len(sources) == 1:
        return first
    names = ", ".join(s.name for s in sources)
    return _Several(names, names, b"", None, digest_of(sources))


def _of_inspect(files: Sequence[str], said: Choices) -> Opened:
    from judgeaudit.engine.imported.inspect_log import read_scores

    if len(files) > 1:
        raise ConfigError(
            f"{len(files)} logs of Inspect AI are named one by one",
            where=files[1],
            mend="Name the folder that holds them",
        )
    scored = read_scores(files[0], said)
    sheet, notes = kept(scored.sheet, said)
    return Opened(
        scored.source,
        (scored.source.name,),
        sheet,
        scored.choices,
        INSPECT,
        (*scored.notes, *notes),
        {INSPECT: scored.facts},
    )
