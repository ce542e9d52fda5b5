"""`explain`: what the items have in common whose verdict flips."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register the verb on the application."""
    app.command("explain")(_explain)


def _explain(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder of a run, or its ledger.sqlite.")
    ],
    *,
    condition: Annotated[
        list[str] | None,
        typer.Option(help="Rewrite to look at; may be repeated. Default: all certified ones."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the folds and of the random signs.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Compare the items whose verdict flips with all others; asks nobody.

    Single features with Holm's correction, and a model of all of them that is checked on clusters
    it was not fitted on: where that is no better than chance, nothing explains the flips. The
    judge's own reasons for the two verdicts stand side by side. Writes explain.json and .md.
    """
    from judgeaudit import audit
    from judgeaudit.cards.files import write_text
    from judgeaudit.cure.explain import explain, path_of
    from judgeaudit.cure.explain_words import of_explained, to_markdown
    from judgeaudit.engine.ledger import Ledger

    with Ledger.open_readonly(run / audit.LEDGER if run.is_dir() else run) as view:
        found = explain(view, tuple(condition or ()), seed=seed)
    path = path_of(audit.folder_of(run))
    written = [
        write_text(to_markdown(found), path.with_suffix(".md")),
        write_text(found.model_dump_json(indent=1) + "\n", path),
    ]
    if as_json:
        typer.echo(found.model_dump_json(indent=1))
        return
    typer.echo(of_explained(found))
    typer.echo(f"wrote {', '.join(p.name for p in written)} in {path.parent}")
