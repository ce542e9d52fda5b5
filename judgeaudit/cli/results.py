"""`score` and `correct`: what a run that was made says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register these verbs on the application."""
    app.command("score")(_score)
    app.command("correct")(_correct)


_RunFolder = Annotated[
    Path, typer.Argument(metavar="RUN", help="Folder of a run, or its ledger.sqlite.")
]


_Certificates = Annotated[
    list[Path] | None,
    typer.Option(help="Certificates made since (repeat the flag)."),
]


def _score(
    run: _RunFolder,
    *,
    certificates: _Certificates = None,
    as_json: Annotated[bool, typer.Option("--json", help="All scores as JSON.")] = False,
) -> None:
    """Score a run again from its ledger, and print the numbers."""
    from judgeaudit import audit

    scores = audit.score(run, certificates=certificates or ())
    if as_json:
        typer.echo(scores.model_dump_json(indent=1).encode())
        return
    from judgeaudit.cli import _words

    typer.echo(_words.of_scores(scores))


def _correct(
    run: _RunFolder,
    *,
    labels: Annotated[
        Path | None, typer.Option(help="CSV, JSONL or Parquet: item_id, label.")
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD=MEANING", help="What a label means: 1=UNSAFE (repeat)."),
    ] = None,
    verdict: Annotated[
        str, typer.Option(help="Which base verdict of an item counts: first, or majority.")
    ] = "first",
    se: Annotated[float | None, typer.Option(help="Sensitivity, from elsewhere.")] = None,
    sp: Annotated[float | None, typer.Option(help="Specificity, from elsewhere.")] = None,
    draw: Annotated[
        int | None, typer.Option(help="Draw so many items for people to label, and stop.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of that draw.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Correct the UNSAFE rate of the judge with human labels on a random few items.

    `--draw 100` prints the items to label as a CSV; labels chosen otherwise do not count.
    """
    from judgeaudit import audit
    from judgeaudit.core.errors import ConfigError

    if (draw is None) == (labels is None):
        raise ConfigError(
            "correct needs either --labels or --draw",
            mend="Draw items with --draw 100, let people fill in the labels, give them as --labels",
        )
    if labels is None:
        from judgeaudit.engine.ledger import Ledger
        from judgeaudit.review.correcting import draw as drawing

        with Ledger.open_readonly(run / audit.LEDGER if run.is_dir() else run) as view:
            typer.echo(drawing(view, draw or 0, seed).encode(), nl=False)
        return
    found = audit.correct(
        run, labels, which=verdict, words=label or (), sensitivity=se, specificity=sp
    )
    from judgeaudit.cli import _words
    from judgeaudit.core.records import ScoreSet

    made = ScoreSet(scores=found)
    typer.echo(made.model_dump_json(indent=1) if as_json else _words.of_corrected(made))
