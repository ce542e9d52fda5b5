"""`harden`: mend a judge, and show what it is worth on items that nothing was chosen on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judgeaudit.cli import _out

if TYPE_CHECKING:
    from judgeaudit.core.records import AuditSpec
    from judgeaudit.cure.harden import HardenPlan

__all__ = ["add_to"]

_WHO = "Judge (instead of a RUN)"
_HOW = "How"
_RUN = "Run"


def add_to(app: typer.Typer) -> None:
    """Register the verb on the application."""
    app.command("harden")(_harden)


def _harden(
    run: Annotated[
        Path | None,
        typer.Argument(metavar="[RUN]", help="Folder of a run of the judge as it is."),
    ] = None,
    *,
    judge: Annotated[
        str | None, typer.Option(help="Audit this judge first.", rich_help_panel=_WHO)
    ] = None,
    api_base: Annotated[str | None, typer.Option(help="Its server.", rich_help_panel=_WHO)] = None,
    logprobs: Annotated[
        bool | None,
        typer.Option("--logprobs", help="Ask for log-probabilities.", rich_help_panel=_WHO),
    ] = None,
    corpus: Annotated[
        str | None, typer.Option(help="On these items.", rich_help_panel=_WHO)
    ] = None,
    data: Annotated[str | None, typer.Option(help="Their file.", rich_help_panel=_WHO)] = None,
    subset: Annotated[str | None, typer.Option(help="Their subset.", rich_help_panel=_WHO)] = None,
    limit: Annotated[int | None, typer.Option(help="So many.", rich_help_panel=_WHO)] = None,
    assume_ambiguity: Annotated[
        str | None, typer.Option(help="As of `audit`.", rich_help_panel=_WHO)
    ] = None,
    preset: Annotated[str | None, typer.Option(help="Protocol.", rich_help_panel=_WHO)] = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            help="canonical, normalise, panel, abstain, threshold, examples or two_stage (repeat "
            "the flag). Default: all that can be tried.",
            rich_help_panel=_HOW,
        ),
    ] = None,
    train: Annotated[
        float, typer.Option(help="Share of clusters to choose on.", rich_help_panel=_HOW)
    ] = 0.5,
    seed: Annotated[int, typer.Option(help="Seed of the split.", rich_help_panel=_HOW)] = 0,
    panel: Annotated[
        int,
        typer.Option(min=1, max=20, help="Wordings beside the incoming one.", rich_help_panel=_HOW),
    ] = 2,
    examples: Annotated[
        int, typer.Option(min=2, max=20, help="Worked examples.", rich_help_panel=_HOW)
    ] = 4,
    alpha: Annotated[
        float,
        typer.Option(
            min=1e-6,
            max=0.5,
            help="Chance that any candidate is said to be better though none is.",
            rich_help_panel=_HOW,
        ),
    ] = 0.05,
    policy: Annotated[
        str | None,
        typer.Option(help="The policy, or its file where it is your own.", rich_help_panel=_HOW),
    ] = None,
    template: Annotated[
        str | None,
        typer.Option(help="File of the prompt template, if your own.", rich_help_panel=_HOW),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the candidates' runs; the same command resumes them. Default: "
            "RUN/hardened.",
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
        typer.Option(min=1, help="Requests that all candidates may make.", rich_help_panel=_RUN),
    ] = None,
    budget_usd: Annotated[
        float | None,
        typer.Option(help="US dollars that each candidate may cost.", rich_help_panel=_RUN),
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
        Path | None, typer.Option("-o", "--report", help="Also write a page with plots here.")
    ] = None,
) -> None:
    """Mend a judge: candidates are made on one half of the clusters and audited on the other.

    Before and after with intervals, corrected for choosing; the winner, if one is shown better, is
    written to hardened.toml. Exits 0 also where no candidate is shown better.
    """
    from judgeaudit.audit import folder_of
    from judgeaudit.cli._outputs import check_folder, check_page
    from judgeaudit.core.choosing import spec_from
    from judgeaudit.core.command import flag_of
    from judgeaudit.core.errors import ConfigError
    from judgeaudit.cure import harden as cure
    from judgeaudit.cure.harden_words import of_hardened, page
    from judgeaudit.cure.seeds import check_seed
    from judgeaudit.engine.ledger import Ledger

    base = {
        "judge": judge,
        "api_base": api_base,
        "logprobs": logprobs,
        "corpus": corpus,
        "data": data,
        "subset": subset,
        "limit": limit,
        "assume_ambiguity": assume_ambiguity,
        "preset": preset,
    }
    given: dict[str, object] = {k: v for k, v in base.items() if v is not None}
    if (run is None) == (judge is None):
        raise ConfigError(
            "harden needs either a RUN or --judge",
            mend="Name the folder of a run, or the judge, which is then audited first",
        )
    if run is not None and given:
        raise ConfigError(f"{flag_of(next(iter(given)))} goes with --judge", mend="Leave it out")
    check_seed(seed)
    if out is None and run is not None:
        out = folder_of(run) / "hardened"
    made = None if out is None else out / "hardened.toml"
    check_page(report, (policy, template, prices, data, run, made))
    if out is not None:
        check_folder(out)
    bounds = {
        "concurrency": concurrency,
        "attempt_seconds": attempt_seconds,
        "budget_calls": budget_calls,
        "budget_usd": budget_usd,
        "prices": prices,
    }
    limits = spec_from({k: v for k, v in bounds.items() if v is not None}, flag_of)
    if run is None:
        run = _audited_first(given, limits, policy, template, out, dry_run=dry_run)
    spec = cure.HardenSpec(
        out=out or run / "hardened",
        strategies=tuple(strategy or ()),
        train=train,
        seed=seed,
        panel=panel,
        examples=examples,
        alpha=alpha,
        policy=policy,
        template=template,
        limits=limits,
    )
    with Ledger.open_readonly(cure.ledger_of(run)) as view:
        plan = cure.plan_hardening(view, spec)
        _out.aside(_plan_words(plan))
        if dry_run:
            return
        found = cure.harden(plan, show="auto", note=lambda text: _out.aside(f"\n{text}"))
    if report is not None:
        report.parent.mkdir(parents=True, exist_ok=True)
        report.write_text(page(found), encoding="utf-8")
        _out.aside(f"report   {report}")
    # ASCII escapes: a name with half a surrogate pair or a terminal's controls stays a text
    as_text = json.dumps(found.model_dump(mode="json"), indent=1) if as_json else ""
    typer.echo(as_text or of_hardened(found, md=md))
    if found.winner is not None:
        _out.aside(f"\nconfig   {spec.out / 'hardened.toml'}")


def _audited_first(
    given: dict[str, object],
    limits: AuditSpec,
    policy: str | None,
    template: str | None,
    out: Path | None,
    *,
    dry_run: bool,
) -> Path:
    from judgeaudit import audit
    from judgeaudit.core.choosing import spec_from
    from judgeaudit.core.command import flag_of, folder_of_choices

    own = {k: getattr(limits, k) for k in limits.model_fields_set if k != "budget_calls"}
    named = {k: v for k, v in (("policy", policy), ("template", template)) if v is not None}
    spec = spec_from({**given, **own, **named}, flag_of)
    spec = spec.model_copy(update={"out": folder_of_choices(spec) if out is None else out / "base"})
    ready = audit.prepare(spec)
    _out.aside(f"first    {ready.plan.n_calls:,} calls of {spec.judge} as it is, in {spec.out}")
    if dry_run:
        raise typer.Exit
    result = audit.run(ready, show="auto")
    if result.exit_code:
        raise typer.Exit(result.exit_code)
    return result.folder


def _plan_words(plan: HardenPlan) -> str:
    lines = [
        f"split    {len(plan.train)} items to choose on, {len(plan.held_out)} held out",
        f"calls    {plan.requests:,} requests to make, {plan.known:,} answers known from the run",
    ]
    for made, planned in zip(plan.candidates.made, plan.planned, strict=True):
        new = planned.requests - planned.known
        lines.append(f"  {made.config.name:<10} {new:>7,} requests: {made.what}")
    lines += [f"  {s.strategy:<10} not tried: {s.why}" for s in plan.candidates.skipped]
    before = plan.answered
    if before:
        lines.append(f"before   {before:,} verdicts of these are there already")
    lines.append(f"runs     {plan.spec.out}")
    return "\n".join(lines)
