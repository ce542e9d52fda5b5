"""`view`: the explorer of flips, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register the verb on the application."""
    app.command("view")(_view)


def _view(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Folders of runs, or their ledgers; one a judge."),
    ],
    *,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0: any free one.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
) -> None:
    """Show every flip in the browser: both texts, both replies, the trajectory; take notes.

    Serves this machine alone, until Ctrl-C. A run in progress is shown as it goes on. Ledgers are
    only read; notes are kept in triage.jsonl beside them, and the card counts them.
    """
    from judgeaudit import audit
    from judgeaudit.cli import _out
    from judgeaudit.viewer import Explorer
    from judgeaudit.viewer.server import Server

    explorer = Explorer([run / audit.LEDGER if run.is_dir() else run for run in runs])
    try:
        with Server(explorer, port) as server:
            explorer.load()
            typer.echo(server.url)
            _out.aside("Only this machine can open it. Ctrl-C ends it.")
            if browser:
                _open(server.url)
            server.serve_forever(poll_interval=0.2)
    finally:
        explorer.close()


def _open(url: str) -> None:
    import threading
    import webbrowser

    # some browsers hold up whoever starts them
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
