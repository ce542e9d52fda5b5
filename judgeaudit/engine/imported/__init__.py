"""Import of verdicts: a table of any tool becomes a run, and the judge is not asked again."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from judgeaudit.core.errors import ConfigError
from judgeaudit.engine.imported.choices import Choices
from judgeaudit.engine.imported.rows import Row

__all__ = ["Choices", "Imported", "import_verdicts"]


@dataclass(frozen=True, slots=True)
class Imported:
    """What was imported.

    Parameters
    ----------
    folder : Path
        Folder of the run; `audit.score` and `audit.card` take it.
    columns : dict of str to str
        Role -> column of the table.
    guessed : frozenset of str
        Roles whose column was guessed from its name.
    conditions : dict of str to str
        What the table calls a condition -> what it is.
    n_rows, n_items, n_calls : int
        Rows of the table, items and calls of the run.
    sha256 : str
        Hash of the file.
    not_pooled : tuple of str
        Certified conditions that are scored but not pooled, for no certificate of theirs is there.
    notes : tuple of str
        What was left out, and what is uneven.
    format : str
        Whose output the file is; `table` for a plain table.
    recognised : bool
        Whether the format was recognised, not named.
    """

    folder: Path
    columns: dict[str, str]
    guessed: frozenset[str]
    conditions: dict[str, str]
    n_rows: int
    n_items: int
    n_calls: int
    sha256: str
    not_pooled: tuple[str, ...]
    notes: tuple[str, ...]
    format: str = "table"
    recognised: bool = False


def import_verdicts(
    file: Path | str | Sequence[Path | str],
    *,
    out: Path | str,
    created: str | None = None,
    **choices: Any,
) -> Imported:
    """Make a run of a table of verdicts, so that a judge is audited without being asked again.

    Parameters
    ----------
    file : path or sequence of path
        CSV, TSV, JSONL, a JSON list or Parquet; or the output of a tool whose format is known
        (see `formats`), in one file or several; with `format="inspect"` a log of Inspect AI, or a
        folder of them.
    out : path
        Folder of the run; must be new or empty.
    created : str, optional
        Time of the import, ISO 8601; the clock's by default.
    **choices
        Columns and meanings, see `Choices`: `item="id", condition="wording",
        map=["paraphrase=T2"], label={"harmful": "UNSAFE"}`.

    Returns
    -------
    Imported
        With the columns that were guessed.

    Raises
    ------
    ConfigError
        If a choice is not known, or a column cannot be told.
    CorpusError
        At the first row that is not right: file, line, and what would mend it.
    LedgerError
        If the folder holds something, or cannot be written. Nothing is left half-written.
    """
    from judgeaudit.core.clock import now_utc
    from judgeaudit.engine.imported import opening, writing
    from judgeaudit.engine.imported.columns import find_columns
    from judgeaudit.engine.imported.reading import read_rows
    from judgeaudit.engine.probabilities import MARK, WHOLE
    from judgeaudit.engine.votes import votes_extra

    folder = Path(out)
    writing.refuse_taken(folder)
    files = [file] if isinstance(file, str | Path) else list(file)
    opened = opening.opened([str(f) for f in files], _choices(choices))
    source, sheet, said = opened.source, opened.sheet, opened.choices
    columns = find_columns(sheet, said, guess=not opened.is_format)
    world = writing.world_of(said)
    read = read_rows(sheet, columns, said, list(world.conditions))
    if opened.guesses_verdict and not {"verdict", "reply"} & choices.keys():
        _any_verdict(read.rows, columns.of, source.place)
    judge = writing.judge_spec(said, world)
    plan, notes = writing.layout(read, world, judge, said)
    told = _told(plan.protocol.conditions, world, said)
    notes = [*opened.notes, *read.notes, *notes, *told[1]]
    extra: dict[str, Any] = {
        "command": _command(opened.names, choices),
        "imported": {
            "file": source.name,
            "sha256": source.sha256,
            "rows": len(sheet.rows),
            **({"format": opened.format} if opened.is_format else {}),
            "columns": {
                **columns.of,
                **({"wide": list(said.wide)} if said.wide else {}),
                **({"strata": list(said.strata)} if said.strata else {}),
                **({"raters": list(said.rater)} if said.rater else {}),
            },
            "conditions": read.names,
            "assume_certified": said.assume_certified,
            "decoding_stated": bool(said.decoding),
            **opened.facts,
        },
    }
    if said.p_unsafe is not None:
        extra |= {MARK: said.p_source, WHOLE: said.p_whole}
    extra |= votes_extra(plan.items)
    meta = writing.run_meta(
        source, plan, world, said, extra=extra, notes=notes, created=created or now_utc()
    )
    writing.write_ledger(folder, plan, meta, read.rows)
    return Imported(
        folder=folder,
        columns=dict(columns.of),
        guessed=columns.guessed,
        conditions=read.names,
        n_rows=len(sheet.rows),
        n_items=len(plan.items),
        n_calls=plan.n_calls,
        sha256=source.sha256,
        not_pooled=told[0],
        notes=tuple(notes),
        format=opened.format,
        recognised=opened.is_format and "format" not in choices,
    )


def _any_verdict(rows: Sequence[Row], columns: Mapping[str, str], place: str) -> None:
    """Refuse a file in which the field that is taken for the verdict holds none."""
    if any(r.verdict.outcome == "verdict" for r in rows):
        return
    field = columns.get("verdict", columns.get("reply", ""))
    first = next((r.reply.text for r in rows if r.reply.text), None)
    seen = f", such as {first!r:.80}" if first else ""
    raise ConfigError(
        f"no verdict can be read from {field!r}{seen}",
        where=place,
        mend="Name the field that holds the verdict, and what its words mean: --verdict FIELD "
        "--label true=SAFE --label false=UNSAFE",
    )


def _told(conditions: Any, world: Any, said: Choices) -> tuple[tuple[str, ...], list[str]]:
    """Say which rewrites are not pooled, and which are on the user's word."""
    sure = {r.condition for r in world.renderings if r.certified}
    bare = tuple(c.id for c in conditions if c.kind == "certified" and c.id not in sure)
    if said.assume_certified and bare:
        return (), [f"{', '.join(bare)}: pooled on the word of whoever imported the verdicts."]
    return bare, []


def _choices(given: dict[str, Any]) -> Choices:
    known = [f.name for f in fields(Choices) if f.init]
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ConfigError(f"unknown choice {name!r}{hint}", mend=f"Known: {', '.join(known)}")
    return Choices(**given)


def _command(files: Sequence[str], given: dict[str, Any]) -> str:
    """Word the command that repeats the import; paths are cut to their last part."""
    import shlex

    from judgeaudit.engine.imported.choices import flag_of

    words = ["judgeaudit", "import", *(f"…/{file}" for file in files), "--out", "RUN"]
    for name, value in given.items():
        if value is None or value is False or value in ((), []):
            continue
        flag = flag_of(name)
        if value is True:
            words.append(flag)
        elif isinstance(value, Mapping):
            words += [w for k, v in value.items() for w in (flag, f"{k}={v}")]
        elif isinstance(value, list | tuple):
            words += [w for v in value for w in (flag, str(v))]
        elif name in {"prompt", "rewrites"} or (name == "policy" and "/" in str(value)):
            words += [flag, f"…/{Path(str(value)).name}"]
        else:
            words += [flag, str(value)]
    return " ".join(w if w.startswith("…") else shlex.quote(w) for w in words)
