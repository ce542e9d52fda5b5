"""`serve`: a hardened judge behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from judgeaudit.cli import _out
from judgeaudit.core.errors import ConfigError

__all__ = ["add_to"]


_TOKEN_ENV: Final = "JUDGEAUDIT_SERVE_TOKEN"  # noqa: S105 - a name, not a token


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
        str | None,
        typer.Option(
            help="Variable of the environment that holds the bearer token; it must be set. "
            f"Default: {_TOKEN_ENV}, if that is set."
        ),
    ] = None,
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
        token=_token(token_env),
        concurrency=concurrency,
        queue=queue,
        most_bytes=max_bytes,
        seconds=seconds,
    )
    kept = ledger or config.with_suffix(".requests.jsonl")
    code = asyncio.run(serve(config, rules, kept, say=_out.aside, grace=grace))
    raise typer.Exit(code)


def _token(named: str | None) -> str | None:
    """Read the token; who names a variable means to have one, so it is never left out silently."""
    variable = _TOKEN_ENV if named is None else named
    token = os.environ.get(variable)
    if token is None and named is None:
        return None
    if token is None or not token.strip():
        raise ConfigError(
            f"the variable {variable!r} of the environment "
            + ("is not set" if token is None else "is blank: that is no token"),
            where="--token-env",
            mend="Put a token of 16 characters or more into it, or leave it out",
        )
    return token.strip()
