"""`serve`: a hardened judge behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from judgeaudit.cli import _out

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register the verb on the application."""
    app.command("serve")(_serve)


def _serve(
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG", help="File of a hardened judge (hardened.toml).")
    ],
    *,
    host: Annotated[
        str, typer.Option(help="Address to listen on; another than this machine needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0: any free one.")] = 8099,
    token_env: Annotated[
        str, typer.Option(help="Variable of the environment that holds the bearer token.")
    ] = "JUDGEAUDIT_SERVE_TOKEN",  # noqa: S107 - a name, not a token
    concurrency: Annotated[int, typer.Option(min=1, help="Requests answered at once.")] = 4,
    queue: Annotated[int, typer.Option(min=0, help="Requests that may wait; more get 429.")] = 16,
    max_bytes: Annotated[int, typer.Option(min=1024, help="Largest body; more gets 413.")] = 2
    << 20,
    seconds: Annotated[float, typer.Option(min=0.1, help="Seconds an answer may take.")] = 300.0,
    grace: Annotated[
        float, typer.Option(min=0.0, help="Seconds to drain after SIGTERM or Ctrl-C.")
    ] = 600.0,
    ledger: Annotated[
        Path | None,
        typer.Option(help="File of the requests. Default: CONFIG with the ending .requests.jsonl."),
    ] = None,
) -> None:
    """Serve a hardened judge as an OpenAI-compatible endpoint: /v1/models, /v1/chat/completions.

    What is judged is the last user message, a trajectory as JSON; or a whole prompt, as an audit
    sends it. Without a verdict the content is null and `refusal` says why. SIGTERM drains.
    """
    import asyncio

    from judgeaudit.serving.app import Rules
    from judgeaudit.serving.running import serve

    rules = Rules(
        host=host,
        port=port,
        token=os.environ.get(token_env) or None,
        concurrency=concurrency,
        queue=queue,
        most_bytes=max_bytes,
        seconds=seconds,
    )
    kept = ledger or config.with_suffix(".requests.jsonl")
    code = asyncio.run(serve(config, rules, kept, say=_out.aside, grace=grace))
    raise typer.Exit(code)
