"""`attack`: search for the certified wording that steers a judge most, and measure it elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judgeaudit.cli import _out

if TYPE_CHECKING:
    from judgeaudit.cure.attack import AttackPlan

__all__ = ["add_to"]

_HOW = "How"
_RUN = "Run"


def add_to(app: typer.Typer) -> None:
    """Register the verb on the application."""
    app.command("attack")(_attack)


def _attack(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder of a run of the judge to attack.")
    ],
    *,
    objective: Annotated[
        str,
        typer.Option(
            help="excess (most excess flips), tpr (lowest TPR) or fpr (highest FPR).",
            rich_help_panel=_HOW,
        ),
    ] = "excess",
    calls: Annotated[
        int,
        typer.Option(min=1, help="Calls at most, measuring included.", rich_help_panel=_HOW),
    ] = 2_000,
    train: Annotated[
        float, typer.Option(help="Share of clusters to search on.", rich_help_panel=_HOW)
    ] = 0.5,
    seed: Annotated[
        int, typer.Option(min=0, help="Of the split and the search.", rich_help_panel=_HOW)
    ] = 0,
    wordings: Annotated[
        int,
        typer.Option(min=1, max=50, help="Wordings of each rewrite.", rich_help_panel=_HOW),
    ] = 4,
    mixes: Annotated[
        int,
        typer.Option(
            min=0, max=200, help="Parts of the worst rewrites to try.", rich_help_panel=_HOW
        ),
    ] = 12,
    finalists: Annotated[
        int,
        typer.Option(min=1, max=20, help="Wordings to measure held out.", rich_help_panel=_HOW),
    ] = 1,
    alpha: Annotated[
        float,
        typer.Option(
            min=1e-6,
            max=0.5,
            help="1 - level of the intervals, for all finalists together.",
            rich_help_panel=_HOW,
        ),
    ] = 0.05,
    policy: Annotated[
        str | None,
        typer.Option(help="The policy, or its file where it is your own.", rich_help_panel=_HOW),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the ledgers; the same command resumes. Default: RUN/attack.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(help="Calls in flight at most.", rich_help_panel=_RUN)
    ] = None,
    attempt_seconds: Annotated[
        float, typer.Option(help="Seconds a request may take.", rich_help_panel=_RUN)
    ] = 120.0,
    budget_calls: Annotated[
        int | None,
        typer.Option(min=1, help="Requests at most, repeated ones too.", rich_help_panel=_RUN),
    ] = None,
    budget_usd: Annotated[
        float | None, typer.Option(help="US dollars at most.", rich_help_panel=_RUN)
    ] = None,
    prices: Annotated[
        Path | None, typer.Option(help="TOML file of prices.", rich_help_panel=_RUN)
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Plan, and ask nobody.", rich_help_panel=_RUN)
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    md: Annotated[bool, typer.Option("--md", help="As Markdown.")] = False,
    report: Annotated[
        Path | None, typer.Option("-o", "--report", help="Also write a page here.")
    ] = None,
) -> None:
    """Search for the wording that steers a judge most, without changing what the policy says.

    Certified wordings only. It is chosen on one part of the clusters and measured on the other.
    attack.json beside the ledger holds the result. Exits 0 whatever is found.
    """
    from judgeaudit.cli._outputs import check_folder, check_page
    from judgeaudit.core.choosing import spec_from
    from judgeaudit.core.command import flag_of
    from judgeaudit.core.records.attacked import FILE
    from judgeaudit.cure import attack as cure
    from judgeaudit.cure.attack_words import of_attack, page
    from judgeaudit.cure.harden_audit import ledger_of
    from judgeaudit.engine.ledger import Ledger

    check_page(report, (policy, prices, run, ledger_of(run).parent / FILE))
    if out is not None:
        check_folder(out)
    bounds = {
        "concurrency": concurrency,
        "attempt_seconds": attempt_seconds,
        "budget_calls": budget_calls,
        "budget_usd": budget_usd,
        "prices": prices,
    }
    spec = cure.AttackSpec(
        objective=objective,  # type: ignore[arg-type]  # checked where it is planned
        calls=calls,
        train=train,
        seed=seed,
        wordings=wordings,
        mixes=mixes,
        finalists=finalists,
        alpha=alpha,
        policy=policy,
        out=out,
        limits=spec_from({k: v for k, v in bounds.items() if v is not None}, flag_of),
    )
    with Ledger.open_readonly(ledger_of(run)) as view:
        plan = cure.plan_attack(view, spec)
        _out.aside(_plan_words(plan))
        if dry_run:
            return
        found = cure.attack(plan, show="auto")
    if report is not None:
        report.parent.mkdir(parents=True, exist_ok=True)
        report.write_text(page(found), encoding="utf-8")
        _out.aside(f"report   {report}")
    typer.echo(found.model_dump_json(indent=1) if as_json else of_attack(found, md=md))


def _plan_words(plan: AttackPlan) -> str:
    schedule, space = plan.schedule, plan.space
    names = {"whole": "search", "mixed": "mixtures", "held_out": "held out"}
    lines = [
        f"split    {len(plan.train)} items to search on, {len(plan.held_out)} held out",
        f"wordings {len(space.whole)} certified rewrites, at most {plan.spec.mixes} of their parts",
        f"calls    {schedule.calls:,} at most, of a budget of {plan.spec.calls:,}",
    ]
    lines += [
        f"  {names[r.stage]:<9}{r.calls:>6,}: base and {r.arms} wordings on {r.items} items"
        + (f", {r.repeats} times" if r.repeats > 1 else "")
        for r in schedule.rounds
    ]
    return "\n".join([*lines, f"ledgers  {plan.folder}"])
