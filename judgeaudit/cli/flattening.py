"""`flatten`: files of other tools become one table that `import` and `jury` read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register the verb on the application."""
    app.command("flatten")(_flatten)


def _flatten(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="CSV, TSV, Parquet, JSONL, JSON lists, and JSON objects with a record a key.",
        ),
    ],
    *,
    out: Annotated[Path, typer.Option(help="The table, a CSV; must be new.")],
    field: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PATH",
            help="A column and where it stands: risk=scores.risk (repeat the flag). @file, @row "
            "and @key are the file's name, the record's number and its key. NAME=PATH~REGEX keeps "
            "the pattern's one group. Without the flag: every field.",
        ),
    ] = None,
    join: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COLUMN,COLUMN",
            help="A column of several others' texts, such as an id (repeat the flag).",
        ),
    ] = None,
    pivot: Annotated[
        str | None,
        typer.Option(
            metavar="BY=VALUE",
            help="One row an item, with a column of VALUE for each text of BY: judge=score.",
        ),
    ] = None,
    numbered: Annotated[
        bool,
        typer.Option(
            "--numbered", help="With --pivot: columns VALUE_1, VALUE_2, ... in the rows' order."
        ),
    ] = False,
) -> None:
    """Write nested records of other tools as one table, for `import` and `jury --table`.

    Nothing is reckoned or guessed: texts are moved into columns. What a path or a pattern does not
    fit is refused with its place.
    """
    from judgeaudit.core.terminal import plain
    from judgeaudit.engine.imported import flattening

    made = flattening.flatten(
        files, out=out, field=field or (), join=join or (), pivot=pivot, numbered=numbered
    )
    lines = [
        f"columns  {', '.join(map(repr, made.columns))}",
        f"read     {made.n_records} records of {made.n_files} files",
        f"table    {made.path}, {made.n_rows} rows (now: judgeaudit import, judgeaudit jury)",
    ]
    typer.echo(plain("\n".join(lines)))
