"""`policy render`: policies under conditions, in every language in which they exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from judgeaudit.cli.policy import app

if TYPE_CHECKING:
    from pathlib import Path

__all__: list[str] = []


@app.command("render")
def _render(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[POLICY]...", help="Names, or paths of TOML files."),
    ] = None,
    *,
    all_: Annotated[
        bool, typer.Option("--all", help="Every policy that ships, in every language.")
    ] = False,
    condition: Annotated[
        list[str] | None,
        typer.Option(help="Only these conditions (repeat the flag). Default: every one."),
    ] = None,
    wording: Annotated[int, typer.Option(min=0, help="Which of a transform's wordings.")] = 0,
) -> None:
    """Print policies under every condition, each text with its certificate.

    Exit code 1 if a rendering does not say what it is meant to say.
    """
    from judgeaudit.core.errors import ConfigError
    from judgeaudit.policy import load_conditions, load_policy, policy_names, render
    from judgeaudit.policy.loading import policy_files

    if bool(names) == all_:
        raise ConfigError(
            "give policies, or --all" if not names else "give policies or --all, not both",
            mend=f"Those that ship: {', '.join(policy_names())}",
        )
    conditions = load_conditions()
    failed = 0
    chosen: list[str | Path] = [*(names or policy_files())]
    for name in chosen:
        policy = load_policy(name)
        for id_ in condition or conditions:
            r = render(policy, id_, language=policy.language, wording=wording)
            certificate = r.certificate
            assert certificate is not None
            verdict = "passed" if certificate.passed else "FAILED"
            print(f"===== {policy.id} / {id_} / {policy.language} / {verdict} =====\n")
            for finding in certificate.findings:
                print(f"{finding.dimension}: {finding.where}: {finding.what}")
            print(r.text)
            failed += not certificate.passed
    if failed:
        raise typer.Exit(1)
