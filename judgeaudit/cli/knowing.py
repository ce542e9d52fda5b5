"""`ask-confidence` and `confidence`: what the judge of a run knows of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["add_to"]

_Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run, or its ledger.sqlite.")]


def add_to(app: typer.Typer) -> None:
    """Register these verbs on the application."""
    app.command("ask-confidence")(_ask)
    app.command("confidence")(_confidence)


def _ask(
    run: _Run,
    *,
    source: Annotated[
        str,
        typer.Option(
            help="p_true: is your verdict correct, asked of each base verdict; p_ik: will it be, "
            "asked of each item before judging; entailment: does one reason entail another."
        ),
    ],
    judge: Annotated[
        str | None,
        typer.Option(help="Who compares reasons (entailment only); default: the run's own judge."),
    ] = None,
    api_base: Annotated[
        str | None, typer.Option(help="Root of an OpenAI-compatible server, with --judge.")
    ] = None,
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
    budget_calls: Annotated[
        int | None, typer.Option(help="Requests it may make, retries included.")
    ] = None,
    prices: Annotated[Path | None, typer.Option(help="TOML file of prices.")] = None,
) -> None:
    """Ask the judge of a run about its own verdicts; the same command resumes.

    Answers are kept in a ledger of their own, RUN/confidence/SOURCE/ledger.sqlite.
    """
    from judgeaudit import audit
    from judgeaudit.core.choosing import spec_from
    from judgeaudit.engine.ledger import Ledger
    from judgeaudit.review.followup import ask_after, judge_for, ledger_of

    folder = audit.folder_of(run)
    chosen = {
        "judge": judge,
        "api_base": api_base,
        "concurrency": concurrency,
        "attempts": attempts,
        "attempt_seconds": attempt_seconds,
        "requests_per_minute": requests_per_minute,
        "budget_usd": budget_usd,
        "budget_tokens": budget_tokens,
        "budget_calls": budget_calls,
        "prices": prices,
    }
    with Ledger.open_readonly(run / audit.LEDGER if run.is_dir() else run) as view:
        judge_for(view, source, judge, api_base)  # type: ignore[arg-type]
        own = {"judge": f"{view.meta.judge.backend}:{view.meta.judge.model}"}
        if view.meta.judge.backend == "litellm":
            own = {"judge": view.meta.judge.model}
        given = {k: v for k, v in chosen.items() if v is not None}
        spec = spec_from(own | given)
        summary = ask_after(
            view,
            folder,
            source,  # type: ignore[arg-type]
            spec,
            other=judge is not None,
            show="auto",
        )
    done = summary.answered_before + summary.answered
    print(f"{done:,} of {summary.planned:,} answers are in {ledger_of(folder, source)}")  # type: ignore[arg-type]
    if summary.interrupted:
        raise typer.Exit(130)
    if not done:
        raise typer.Exit(3)


def _confidence(
    run: _Run,
    *,
    entailment: Annotated[
        str,
        typer.Option(
            help="How reasons are compared: lexical (a rule of words, no model), or asked (see "
            "ask-confidence --source entailment)."
        ),
    ] = "lexical",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Compare the sources of confidence: do they tell the judge's errors, are they calibrated.

    Stated, log-probabilities, share of repeats, P(True), P(IK), P(IK) learnt from the items' words,
    and semantic entropy of the reasons: each by itself, never mixed; over all and by dataset.
    """
    from judgeaudit import audit
    from judgeaudit.core.records import ScoreSet
    from judgeaudit.core.terminal import plain
    from judgeaudit.engine.ledger import Ledger
    from judgeaudit.review.knowing import knowledge_of_run

    with Ledger.open_readonly(run / audit.LEDGER if run.is_dir() else run) as view:
        found = knowledge_of_run(view, audit.folder_of(run), entailment=entailment)
    if as_json:
        made = ScoreSet(scores=found.scores, reasons=found.missing)
        typer.echo(made.model_dump_json(indent=1))
        return
    from judgeaudit.cards.words import estimate, interval

    for metric, title in (
        ("knowledge_auroc", "Tells right verdicts from wrong ones (AUROC, .5 is nothing)"),
        ("knowledge_gap", "Confidence less the share of right verdicts (above 0: overconfident)"),
        ("knowledge_brier", "Brier score (lower is better)"),
    ):
        print(title)
        for s in found.scores:
            if s.metric == metric:
                print(plain(f"    {s.stratum:<42}{estimate(s)} {interval(s)}"))
    for name, why in found.missing.items():
        print(plain(f"not there: {name}: {why}"))
