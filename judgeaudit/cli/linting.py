"""`policy lint`: what makes a policy hard to judge by."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register this verb on the application."""
    app.command("lint")(_lint)


def _lint(
    policies: Annotated[
        list[str] | None,
        typer.Argument(metavar="[POLICY]...", help="Names or TOML files; default: all that ship."),
    ] = None,
) -> None:
    """Warn of what makes a policy hard to judge by. Exit code 1 if anything serious is found."""
    from judgeaudit.core.terminal import plain
    from judgeaudit.policy import policy_names
    from judgeaudit.policy.linting import lint_file

    serious = 0
    for name in policies or policy_names():
        policy, problems = lint_file(name)
        for p in problems:
            print(plain(f"{p.where}: {p.severity}: {p.id}: {p.message}"))
        n = sum(p.severity == "serious" for p in problems)
        serious += n
        print(f"{policy.id}: {n} serious, {len(problems) - n} cautions")
    if serious:
        raise typer.Exit(1)
