"""`audit`, `score` and `card`: run an audit, and read what a run holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgeaudit.cli._chosen import chosen, several
from judgeaudit.cli._panel import progress, side_by_side

__all__ = ["add_to", "audit", "chosen"]

_WHAT = "What is judged"
_WHO = "The judge"
_HOW = "The protocol"
_RUN = "The run"


def add_to(app: typer.Typer) -> None:
    """Register these verbs on the application."""
    app.command("audit")(audit)


def audit(
    *,
    config: Annotated[
        Path | None,
        typer.Option(help="Read choices from this file; flags win. Default: audit.toml, if there."),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            help="LiteLLM model string (openai/gpt-5.4-mini), or backend:model (direct:<name> for "
            "a server at --api-base, local:smollm2-135m, scripted:brittle_t4, replay:FILE, "
            "callable:module:function), or http://ADDRESS of an endpoint of your own. "
            "Default: local. Repeat the flag to audit several side by side, each in a folder of "
            "its own below --out.",
            rich_help_panel=_WHO,
        ),
    ] = None,
    api_base: Annotated[
        list[str] | None,
        typer.Option(
            help="Root of an OpenAI-compatible server; of several judges one each, in their order, "
            "or one for all.",
            rich_help_panel=_WHO,
        ),
    ] = None,
    template: Annotated[
        str | None,
        typer.Option(help="Judge prompt template: a name or a file.", rich_help_panel=_WHO),
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(help="Sampling temperature sent.", rich_help_panel=_WHO)
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Cap on an answer's tokens.", rich_help_panel=_WHO)
    ] = None,
    output_format: Annotated[
        str | None,
        typer.Option(
            help="plain, json_mode, json_schema or grammar; auto: the strictest of the first three "
            "that the judge accepts.",
            rich_help_panel=_WHO,
        ),
    ] = None,
    judge_format: Annotated[
        str | None,
        typer.Option(
            help="For guard models, the form of their answers: llama-guard, shieldgemma, "
            "wildguard, granite-guardian, qwen3guard (-strict, -loose), gpt-oss-safeguard or "
            "nemoguard. Chooses the template, too.",
            rich_help_panel=_WHO,
        ),
    ] = None,
    judge_version: Annotated[
        str | None,
        typer.Option(
            help="For callable: judges, what tells this one from another with the same source.",
            rich_help_panel=_WHO,
        ),
    ] = None,
    drop_unsupported: Annotated[
        bool | None,
        typer.Option(
            "--drop-unsupported",
            help="Leave out parameters that the judge refuses, and say so on the card.",
            rich_help_panel=_WHO,
        ),
    ] = None,
    send_seed: Annotated[
        bool | None,
        typer.Option(
            help="Send a seed, derived from (item, condition, repeat).", rich_help_panel=_WHO
        ),
    ] = None,
    logprobs: Annotated[
        bool | None,
        typer.Option(
            "--logprobs",
            help="Ask for log-probabilities, and read confidence from the verdict's token.",
            rich_help_panel=_WHO,
        ),
    ] = None,
    policy: Annotated[
        str | None, typer.Option(help="Policy name or file.", rich_help_panel=_WHAT)
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            help="Language of the policy, and of the prompt around it: en or ko. Default: en.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    too_long: Annotated[
        str | None,
        typer.Option(
            help="What becomes of trajectories longer than the judge takes: refuse (default), or "
            "middle-out (their middle is left out, with a mark).",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    max_trajectory_tokens: Annotated[
        int | None,
        typer.Option(
            help="The longest trajectory shown whole, in tokens (characters / 4).",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    rewrites: Annotated[
        Path | None,
        typer.Option(
            help="Folder of your own texts, one a condition (base.md, T1.md, ...); --policy then "
            "names what they are read back against.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    certificates: Annotated[
        list[Path] | None,
        typer.Option(
            help="Certificates by people, or a model's opinions (repeat the flag).",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    unconfirmed: Annotated[
        bool | None,
        typer.Option(
            "--unconfirmed",
            help="Use a policy that a model drafted and nobody confirmed.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(
            help="sample, rjudge, assebench, jsonl (your own) or transcripts.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            help="File or folder of the corpus, or hub:OWNER/NAME/PATH.", rich_help_panel=_WHAT
        ),
    ] = None,
    subset: Annotated[
        str | None, typer.Option(help="Subset of the corpus.", rich_help_panel=_WHAT)
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="Use this many items (seeded).", rich_help_panel=_WHAT)
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="Raters' labels: item_id, rater, label.", rich_help_panel=_WHAT),
    ] = None,
    assume_ambiguity: Annotated[
        str | None,
        typer.Option(
            help="Named assumption where a corpus has no ambiguity flags (none).",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    revision: Annotated[
        str | None,
        typer.Option(help="Pinned revision of a corpus on a hub.", rich_help_panel=_WHAT),
    ] = None,
    only_items: Annotated[
        Path | None,
        typer.Option(help="File of item keys, one a line: ask only these.", rich_help_panel=_WHAT),
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="quick, default, paper or nightly.", rich_help_panel=_HOW)
    ] = None,
    base_repeats: Annotated[
        int | None,
        typer.Option("-K", "--base-repeats", help="Base calls an item.", rich_help_panel=_HOW),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option("-L", "--repeats", help="Calls a condition an item.", rich_help_panel=_HOW),
    ] = None,
    condition: Annotated[
        list[str] | None,
        typer.Option(
            help="Use these conditions instead of the preset's (repeat the flag).",
            rich_help_panel=_HOW,
        ),
    ] = None,
    wordings: Annotated[
        int | None,
        typer.Option(
            help="Texts under each certified or near condition (default 1).",
            rich_help_panel=_HOW,
        ),
    ] = None,
    control_items: Annotated[
        int | None, typer.Option(help="Items under the controls.", rich_help_panel=_HOW)
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            help="decided: stop as soon as an effect is shown, or one beyond the practical "
            "threshold is ruled out.",
            rich_help_panel=_HOW,
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of order and subsets.", rich_help_panel=_HOW)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the run. The same choices resume it.", rich_help_panel=_RUN),
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(help="Calls in flight at most.", rich_help_panel=_RUN)
    ] = None,
    attempts: Annotated[
        int | None, typer.Option(help="Requests a call at most.", rich_help_panel=_RUN)
    ] = None,
    attempt_seconds: Annotated[
        float | None, typer.Option(help="Seconds a request may take.", rich_help_panel=_RUN)
    ] = None,
    call_seconds: Annotated[
        float | None,
        typer.Option(help="Seconds a call may take, retries included.", rich_help_panel=_RUN),
    ] = None,
    adaptive: Annotated[
        bool | None,
        typer.Option(
            "--adaptive/--no-adaptive",
            help="Fewer calls in flight while the provider is slow, failing or refusing.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    requests_per_minute: Annotated[
        float | None, typer.Option(help="Requests a minute at most.", rich_help_panel=_RUN)
    ] = None,
    tokens_per_minute: Annotated[
        float | None,
        typer.Option(
            help="Tokens a minute at most, sent and answered together.", rich_help_panel=_RUN
        ),
    ] = None,
    budget_usd: Annotated[
        float | None,
        typer.Option(
            help="US dollars the run may cost, all its sessions together.", rich_help_panel=_RUN
        ),
    ] = None,
    budget_tokens: Annotated[
        int | None,
        typer.Option(help="Tokens it may use, sent and answered.", rich_help_panel=_RUN),
    ] = None,
    budget_calls: Annotated[
        int | None,
        typer.Option(help="Requests it may make, retries included.", rich_help_panel=_RUN),
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            help="TOML file of prices: a table a model, prompt and completion in US dollars for "
            "a million tokens.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    retry_truncated: Annotated[
        int | None,
        typer.Option(
            help="Ask once more for an answer that was cut, with this cap on its tokens.",
            rich_help_panel=_HOW,
        ),
    ] = None,
    executor: Annotated[
        str | None,
        typer.Option(
            help="local, or ray (needs judgeaudit[ray]): several processes or machines that "
            "share the folder of the run.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Workers on Ray.", rich_help_panel=_RUN)
    ] = None,
    batch: Annotated[
        bool | None,
        typer.Option(
            "--batch/--no-batch",
            help="Make the calls in the provider's batches: within a day, at a lower price "
            "(OpenAI-compatible servers with /files and /batches).",
            rich_help_panel=_RUN,
        ),
    ] = None,
    batch_wait: Annotated[
        bool | None,
        typer.Option(
            "--batch-wait/--no-batch-wait",
            " /--no-wait",
            help="Stay until the batches are over (default), or submit, look once and end.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    batch_interval: Annotated[
        float | None,
        typer.Option(help="Seconds between two looks (default 60).", rich_help_panel=_RUN),
    ] = None,
    batch_requests: Annotated[
        int | None,
        typer.Option(help="Requests in a batch file at most.", rich_help_panel=_RUN),
    ] = None,
    plan_only: Annotated[
        bool,
        typer.Option("--plan", help="Count and price the calls, and stop.", rich_help_panel=_RUN),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=_RUN)
    ] = False,
    plain: Annotated[
        bool,
        typer.Option(
            "--plain", help="No bar and no colour, ASCII only: for logs.", rich_help_panel=_RUN
        ),
    ] = False,
) -> None:
    """Audit a judge: plan the calls, make them, score them, write the Judge Card.

    Without a key or a flag, a small model on this machine judges the bundled sample.
    """
    seats = several(dict(locals()))
    from judgeaudit import audit
    from judgeaudit.cli import _out, _words
    from judgeaudit.judges._choice import split_judge

    if not quiet and any(split_judge(s.spec.judge)[0] == "litellm" for s in seats):
        typer.echo("loading LiteLLM, which takes some seconds", err=True)
    shown = _out.ascii_only if plain else str
    if len(seats) > 1:
        side_by_side(seats, plan_only=plan_only, quiet=quiet, plain=plain)
    spec = seats[0].spec
    if plan_only:
        typer.echo(shown(_words.of_plan(audit.prepare(spec))))
        return
    ready = audit.settle(audit.prepare(spec))
    if not quiet:
        _out.aside(shown(_words.of_plan(ready)))
    result = audit.run(ready, show=progress(quiet=quiet, plain=plain))
    _out.conclude(shown(_words.of_result(result)), result.exit_code)
