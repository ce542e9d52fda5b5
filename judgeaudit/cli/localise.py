"""`localise`: which words of a rewrite flip the verdicts of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register the verb on the application."""
    app.command("localise")(_localise)


def _localise(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder of a run, or its ledger.sqlite.")
    ],
    *,
    condition: Annotated[
        list[str] | None,
        typer.Option(help="Rewrite to trace; may be repeated. Default: the one with most flips."),
    ] = None,
    calls: Annotated[
        int, typer.Option(help="Calls at most, all sessions together; about 80 a flip.")
    ] = 2000,
    policy: Annotated[
        str | None, typer.Option(help="File of the run's policy, if it does not ship.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be asked, and ask nobody.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    concurrency: Annotated[int | None, typer.Option(help="Calls in flight at most.")] = None,
    attempts: Annotated[int, typer.Option(help="Requests a call at most.")] = 5,
    attempt_seconds: Annotated[float, typer.Option(help="Seconds a request may take.")] = 120.0,
    requests_per_minute: Annotated[
        float | None, typer.Option(help="Requests a minute at most.")
    ] = None,
    budget_usd: Annotated[
        float | None, typer.Option(help="US dollars it may cost, all sessions together.")
    ] = None,
    budget_tokens: Annotated[int | None, typer.Option(help="Tokens it may use.")] = None,
    prices: Annotated[Path | None, typer.Option(help="TOML file of prices.")] = None,
) -> None:
    """Trace the flips of a run to the smallest edits behind them; the same command resumes.

    Each flip is first asked again, so that jitter is not traced. Then texts between the two are
    asked, each of which reads back as the same policy. Writes localise.json, .html and .md into
    the run's folder; calls are kept in ledgers below RUN/localise.
    """
    from judgeaudit import audit
    from judgeaudit.cli import _out
    from judgeaudit.core.choosing import spec_from
    from judgeaudit.core.command import flag_of
    from judgeaudit.cure.localise import localise, plan_localising
    from judgeaudit.cure.localise_kept import fuller, kept_for
    from judgeaudit.cure.localise_page import write_localised
    from judgeaudit.cure.localise_words import of_localised, of_planned
    from judgeaudit.engine.ledger import Ledger

    chosen = {
        "concurrency": concurrency,
        "attempts": attempts,
        "attempt_seconds": attempt_seconds,
        "requests_per_minute": requests_per_minute,
        "budget_usd": budget_usd,
        "budget_tokens": budget_tokens,
        "prices": prices,
    }
    folder = audit.folder_of(run)
    with Ledger.open_readonly(run / audit.LEDGER if run.is_dir() else run) as view:
        judge = view.meta.judge
        name = judge.model if judge.backend == "litellm" else f"{judge.backend}:{judge.model}"
        spec = spec_from(
            {"judge": name} | {k: v for k, v in chosen.items() if v is not None}, flag_of
        )
        plan = plan_localising(
            view, folder, conditions=tuple(condition or ()), policy=policy, calls=calls
        )
        said = of_planned(plan)
        if dry_run:
            typer.echo(said)
            return
        traced = frozenset(t.edits.condition.id for t in plan.targets)
        kept = kept_for(folder, view.plan_sha256, traced, calls)
        if kept is None:
            _out.aside(said)
            found = localise(view, plan, spec, show="auto")
        else:
            found = kept
    if found is None:
        _out.aside("interrupted: what was answered is kept; the same command goes on")
        raise typer.Exit(130)
    kept = kept or fuller(folder, found)
    if kept is not None:
        found = kept
        _out.aside(
            f"kept: what stands in {folder} was found with --calls {kept.calls_most} and says more"
        )
    written = () if kept is not None else write_localised(found, folder)
    if as_json:
        typer.echo(found.model_dump_json(indent=1))
    else:
        typer.echo(of_localised(found))
        if written:
            typer.echo(f"wrote {', '.join(p.name for p in written)} in {folder}")
        typer.echo(f"judgeaudit card {folder} puts it on the card")
    if found.items and all(i.status == "unresolved" for i in found.items):
        raise typer.Exit(3)
