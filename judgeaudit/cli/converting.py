"""`corpus convert`: transcripts become labelled items."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register the verb on the application of `corpus`."""
    app.command("convert")(_convert)


def _convert(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="transcripts, or the name of one dialect.")
    ],
    *,
    data: Annotated[Path, typer.Option(help="File of transcripts.")],
    out: Annotated[Path, typer.Option(help="The items, JSONL; must be new.")],
    id_field: Annotated[
        str | None, typer.Option(metavar="FIELD", help="Where the id stands; default: id.")
    ] = None,
    label_field: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Where the label stands, such as metadata.secure."),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD=MEANING",
            help="What a word there means: true=SAFE, unsure=none, n/a=skip (repeat the flag).",
        ),
    ] = None,
    label_source: Annotated[
        str | None, typer.Option(help="Who assigned the labels: human, author, model or rule.")
    ] = None,
    cluster_field: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="What transcripts of one source share, such as a task."),
    ] = None,
    strata: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FIELD", help="Break figures down by it (repeat the flag)."),
    ] = None,
) -> None:
    """Write transcripts as items that the corpus jsonl reads, with labels from a field you name.

    What a judge sees is picked by a white list; the label is never a part of it.
    """
    from judgeaudit.core.terminal import plain
    from judgeaudit.engine.imported.converting import convert

    made = convert(
        name,
        data,
        out=out,
        id_field=id_field,
        label_field=label_field,
        label=label or (),
        label_source=label_source,
        cluster_field=cluster_field,
        strata=strata or (),
    )
    counts = ", ".join(f"{n} {word}" for word, n in sorted(made.labels.items()))
    left = f"; {made.n_left_out} left out" if made.n_left_out else ""
    lines = [
        f"items  {made.path}, {made.n_items} items: {counts}{left}",
        *(f"note   {note}" for note in made.notes),
        f"now    judgeaudit audit --corpus jsonl --data {made.path}",
    ]
    typer.echo(plain("\n".join(lines)))
