"""`jury`: several judges on common items."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register the verb on the application."""
    app.command("jury")(_jury)


def _jury(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUN RUN [RUN...]", help="Folders of runs, one a judge."),
    ] = None,
    *,
    table: Annotated[
        Path | None,
        typer.Option(help="Instead of runs: a table with a column a judge, a row an item."),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column of a judge in --table (repeat the flag)."),
    ] = None,
    gold: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of the true label in --table.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column in --table of what items share."),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD=MEANING", help="What a label means: 1=UNSAFE (repeat)."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the split into halves.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="All figures as JSON.")] = False,
) -> None:
    """Compare several judges on common items, and try them as a panel.

    Accuracy of each and of their majority, what a panel gains over the best one (chosen on other
    items), agreement of each two, overlap of their errors and flips, and accuracy without labels.
    Nobody is asked again.
    """
    from judgeaudit.core.errors import ConfigError
    from judgeaudit.review.jury import jury_of_runs, jury_of_table

    if (table is None) == (not runs):
        raise ConfigError(
            "jury needs either runs or --table",
            mend="Name the folders of two runs or more, or a table with --judge COLUMN twice",
        )
    if table is None:
        stray = [f for f, v in (("--judge", judge), ("--gold", gold), ("--cluster", cluster)) if v]
        if stray or label:
            raise ConfigError(f"{(stray or ['--label'])[0]} goes with --table", mend="Leave it out")
        found = jury_of_runs(runs or (), seed=seed)
    else:
        found = jury_of_table(
            table, judge or (), gold=gold, cluster=cluster, words=label or (), seed=seed
        )
    if as_json:
        typer.echo(found.model_dump_json(indent=1).encode())
        return
    from judgeaudit.cli import _words

    typer.echo(_words.of_jury(found))
