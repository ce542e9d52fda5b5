"""`audit`, `score` and `card`: run an audit, and read what a run holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from judgeaudit.core.records import AuditSpec

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
        str | None,
        typer.Option(
            help="LiteLLM model string (openai/gpt-5.4-mini), or backend:model (direct:<name> for "
            "a server at --api-base, local:smollm2-135m, scripted:brittle_t4, replay:FILE). "
            "Default: local.",
            rich_help_panel=_WHO,
        ),
    ] = None,
    api_base: Annotated[
        str | None,
        typer.Option(help="Root of an OpenAI-compatible server.", rich_help_panel=_WHO),
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
        typer.Option(help="sample, rjudge, assebench or jsonl (your own).", rich_help_panel=_WHAT),
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
    preset: Annotated[
        str | None, typer.Option(help="quick, default or paper.", rich_help_panel=_HOW)
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
) -> None:
    """Audit a judge: plan the calls, make them, score them, write the Judge Card.

    Without a key or a flag, a small model on this machine judges the bundled sample.
    """
    spec = chosen(dict(locals()))
    from judgeaudit import audit
    from judgeaudit.cli import _out, _words
    from judgeaudit.judges._choice import split_judge

    if not quiet and split_judge(spec.judge)[0] == "litellm":
        typer.echo("loading LiteLLM, which takes some seconds", err=True)
    if plan_only:
        typer.echo(_words.of_plan(audit.prepare(spec)))
        return
    ready = audit.settle(audit.prepare(spec))
    if not quiet:
        _out.aside(_words.of_plan(ready))
    result = audit.run(ready, show="quiet" if quiet else "auto")
    _out.conclude(_words.of_result(result), result.exit_code)


def chosen(flags: dict[str, Any]) -> AuditSpec:
    """Return the choices that the flags of `audit`, by name, and its file make together."""
    from judgeaudit import audit
    from judgeaudit.core.command import flag_of

    given = {k: v for k, v in flags.items() if k in audit.CHOICES and v is not None}
    if flags["condition"]:
        given["conditions"] = tuple(flags["condition"])
    if flags["certificates"]:
        given["certificates"] = tuple(flags["certificates"])
    return audit.choose(flags["config"], given, flag_of)
