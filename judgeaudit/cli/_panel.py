"""Several judges audited side by side, and how progress is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from judgeaudit.core.seats import Seat
    from judgeaudit.engine.progress import ProgressMode

__all__ = ["progress", "side_by_side"]


def progress(*, quiet: bool, plain: bool) -> ProgressMode:
    """Say how progress is shown."""
    return "quiet" if quiet else "plain" if plain else "auto"


def side_by_side(seats: Sequence[Seat], *, plan_only: bool, quiet: bool, plain: bool) -> NoReturn:
    """Audit several judges side by side, and end."""
    from judgeaudit import panel
    from judgeaudit.cli import _out, _words
    from judgeaudit.core.terminal import plain as harmless

    ready = panel.gather(seats)
    shown = _out.ascii_only if plain else str
    plans = "\n\n".join(_words.of_plan(one) for one in ready.ready)
    if plan_only:
        _out.conclude(shown(plans), 0)
    if not quiet:
        _out.aside(shown(plans))
    ended = panel.run(ready, show=progress(quiet=quiet, plain=plain))
    told = [
        f"== {harmless(end.judge)}\n{_words.of_result(end.result)}"
        for end in ended.ends
        if end.result is not None
    ]
    if told:
        typer.echo(shown("\n\n".join(told)))
    for end in ended.ends:
        if end.error is not None:
            _out.aside(harmless(f"judgeaudit: {end.judge}: {end.error}"))
    raise typer.Exit(ended.exit_code)
