"""`site`: pages over many cards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("site")(_site)


def _site(
    folder: Annotated[
        Path,
        typer.Argument(metavar="CARDS", help="Folder that holds <judge>/<date>/card.json."),
    ],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the site.")] = Path("site"),
    title: Annotated[str, typer.Option(help="Name of the site.")] = "Judge Cards",
    base_url: Annotated[
        str, typer.Option(help="Address where it will stand; its feeds name it.")
    ] = "",
) -> None:
    """Build a site of cards: index, comparison, history of each judge, feeds.

    It is static and works from a folder. Cards are ranked only with those that share policy,
    texts, corpus and protocol.
    """
    from judgeaudit.cards import site
    from judgeaudit.cli import _out

    built = site.build(folder, out, title=title, base_url=base_url)
    for name in built.rewritten:
        _out.aside(f"judgeaudit: {name}: not the file's own bytes (cleaned, or of an older layout)")
    cards = f"{built.n_cards} card{'s' if built.n_cards != 1 else ''}"
    groups = f"{built.n_groups} group{'s' if built.n_groups != 1 else ''}"
    typer.echo(f"{built.index}: {cards} in {groups} that may be compared")
