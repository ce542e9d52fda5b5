"""`audit`, `score` and `card`: run an audit, and read what a run holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["add_to"]

_WHAT = "What is judged"
_WHO = "The judge"
_HOW = "The protocol"
_RUN = "The run"


def add_to(app: typer.Typer) -> None:
    """Register these verbs on the application."""
    app.command("audit")(_audit)
    app.command("score")(_score)
    app.command("card")(_card)
    app.command("correct")(_correct)


def _audit(
    *,
    config: Annotated[
        Path | None,
        typer.Option(help="Read choices from this file; flags win. Default: audit.toml, if there."),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            help="LiteLLM model string (openai/gpt-5.4-mini), or backend:model "
            "(local:smollm2-135m, scripted:brittle_t4, replay:FILE). Default: local.",
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
        typer.Option(help="plain, json_mode, json_schema or grammar.", rich_help_panel=_WHO),
    ] = None,
    send_seed: Annotated[
        bool | None,
        typer.Option(
            help="Send a seed, derived from (item, condition, repeat).", rich_help_panel=_WHO
        ),
    ] = None,
    policy: Annotated[
        str | None, typer.Option(help="Policy name or file.", rich_help_panel=_WHAT)
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
    choices = dict(locals())
    from judgeaudit import audit
    from judgeaudit.cli import _out, _words

    flags: dict[str, Any] = {
        name: value
        for name, value in choices.items()
        if name in audit.CHOICES and value is not None
    }
    if condition:
        flags["conditions"] = tuple(condition)
    if certificates:
        flags["certificates"] = tuple(certificates)
    spec = audit.choose(config, flags)
    if plan_only:
        typer.echo(_words.of_plan(audit.prepare(spec)))
        return
    ready = audit.prepare(spec)
    if not quiet:
        _out.aside(_words.of_plan(ready))
    result = audit.run(ready, show="quiet" if quiet else "auto")
    _out.conclude(_words.of_result(result), result.exit_code)


_RunFolder = Annotated[
    Path, typer.Argument(metavar="RUN", help="Folder of a run, or its ledger.sqlite.")
]


_Certificates = Annotated[
    list[Path] | None,
    typer.Option(help="Certificates made since (repeat the flag)."),
]


def _score(
    run: _RunFolder,
    *,
    certificates: _Certificates = None,
    as_json: Annotated[bool, typer.Option("--json", help="All scores as JSON.")] = False,
) -> None:
    """Score a run again from its ledger, and print the numbers."""
    from judgeaudit import audit

    scores = audit.score(run, certificates=certificates or ())
    if as_json:
        typer.echo(scores.model_dump_json(indent=1).encode())
        return
    from judgeaudit.cli import _words

    typer.echo(_words.of_scores(scores))


def _card(
    run: _RunFolder,
    *,
    certificates: _Certificates = None,
    form: Annotated[
        str, typer.Option("--format", help="json, md, html, or all (written into the folder).")
    ] = "all",
    out: Annotated[
        Path | None, typer.Option(help="Folder to write to; default: the run's own.")
    ] = None,
    created: Annotated[
        str | None,
        typer.Option(help="Time to print on the card; default: when the run ended."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="Human labels on a random few items: adds a section (see `correct`)."),
    ] = None,
) -> None:
    """Make the Judge Card of a run again from its ledger alone."""
    from judgeaudit import audit, cards
    from judgeaudit.core.errors import ConfigError, unknown_name

    card = audit.card(run, created=created, certificates=certificates or (), labels=labels)
    if form == "all":
        for path in cards.write(card, out or audit.folder_of(run)).values():
            typer.echo(str(path))
        return
    forms = {"json": cards.to_json, "md": cards.to_markdown, "html": cards.to_html}
    if form not in forms:
        raise ConfigError(unknown_name("format", form, [*forms, "all"]))
    # bytes: these files are UTF-8, whatever the terminal is
    typer.echo(forms[form](card).encode(), nl=False)


def _correct(
    run: _RunFolder,
    *,
    labels: Annotated[
        Path | None, typer.Option(help="CSV, JSONL or Parquet: item_id, label.")
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD=MEANING", help="What a label means: 1=UNSAFE (repeat)."),
    ] = None,
    verdict: Annotated[
        str, typer.Option(help="Which base verdict of an item counts: first, or majority.")
    ] = "first",
    se: Annotated[float | None, typer.Option(help="Sensitivity, from elsewhere.")] = None,
    sp: Annotated[float | None, typer.Option(help="Specificity, from elsewhere.")] = None,
    draw: Annotated[
        int | None, typer.Option(help="Draw so many items for people to label, and stop.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of that draw.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Correct the UNSAFE rate of the judge with human labels on a random few items.

    `--draw 100` prints the items to label as a CSV; labels chosen otherwise do not count.
    """
    from judgeaudit import audit
    from judgeaudit.core.errors import ConfigError

    if (draw is None) == (labels is None):
        raise ConfigError(
            "correct needs either --labels or --draw",
            mend="Draw items with --draw 100, let people fill in the labels, give them as --labels",
        )
    if labels is None:
        from judgeaudit.engine.ledger import Ledger
        from judgeaudit.review.correcting import draw as drawing

        with Ledger.open_readonly(run / audit.LEDGER if run.is_dir() else run) as view:
            typer.echo(drawing(view, draw or 0, seed).encode(), nl=False)
        return
    found = audit.correct(
        run, labels, which=verdict, words=label or (), sensitivity=se, specificity=sp
    )
    from judgeaudit.cli import _words
    from judgeaudit.core.records import ScoreSet

    made = ScoreSet(scores=found)
    typer.echo(made.model_dump_json(indent=1) if as_json else _words.of_corrected(made))
