"""`selftest`: planted judges through the whole instrument, before it is trusted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register the verb on the application."""
    app.command("selftest")(_selftest)


def _selftest(
    *,
    full: Annotated[
        bool, typer.Option("--full", help="30, 120 and 500 items, 500 audits each: long.")
    ] = False,
    judge: Annotated[
        list[str] | None, typer.Option(help="Only this planted judge (repeat the flag).")
    ] = None,
    items: Annotated[
        list[int] | None, typer.Option(help="Items an audit (repeat the flag).")
    ] = None,
    audits: Annotated[int | None, typer.Option(help="Audits a planted judge.")] = None,
    tables_only: Annotated[
        bool, typer.Option("--tables-only", help="Leave the engine out.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of everything.")] = 0,
    every: Annotated[bool, typer.Option("--every", help="Print every cell.")] = False,
    keep: Annotated[
        Path | None, typer.Option(help="Keep finished cells here; the same command goes on.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the tables to this file, as Markdown.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Test the instrument on planted judges: bias and coverage of every published number.

    The quick form takes about a minute. Exit code 1: a number is not what was planted, by name.
    """
    from judgeaudit import selftest
    from judgeaudit.cli import _out
    from judgeaudit.core.errors import ConfigError

    size = selftest.FULL if full else selftest.QUICK
    for name, value in (("audits", audits), *(("items", n) for n in items or ())):
        if value is not None and value < 2:
            raise ConfigError(f"--{name} is {value}", mend="It must be 2 or more")
    size = selftest.Size(
        tuple(items) if items else size.items, size.audits if audits is None else audits
    )
    result = selftest.run(
        size,
        judges=tuple(judge or ()),
        seed=seed,
        engine=not tables_only,
        keep=keep,
        tell=None if quiet else _out.aside,
    )
    if out is not None:
        command = f"judgeaudit selftest{' --full' if full else ''}"
        command += "".join(f" --items {n}" for n in items or ())
        command += "" if audits is None else f" --audits {audits}"
        command += "" if seed == 0 else f" --seed {seed}"
        out.write_text(selftest.page(result, command), encoding="utf-8")
    said = json.dumps(result.as_dict(), indent=1) if as_json else selftest.text(result, every=every)
    _out.conclude(said, 0 if result.passed else 1)
