"""`import`: verdicts of any tool become a run; nobody is asked again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["add_to"]

_WHICH = "Which column is what (guessed from names where not said)"
_MEANS = "What the table's words mean"
_KNOWN = "What is known of the run (stated, not seen)"

_Column = str | None


def add_to(app: typer.Typer) -> None:
    """Register the verb on the application."""
    app.command("import")(_import)


def _column(text: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        metavar="COLUMN", help=text, rich_help_panel=_WHICH
    )
    return option


def _import(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="CSV, TSV, JSONL, a JSON list or Parquet; or what promptfoo, OpenAI evals or "
            "lm-evaluation-harness write, or, with --format inspect, Inspect AI.",
        ),
    ],
    *,
    out: Annotated[Path, typer.Option(help="Folder of the run; new or empty.")],
    scorer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The scorer of the log that is the judge; NAME.KEY for one value of several.",
            rich_help_panel=_WHICH,
        ),
    ] = None,
    item: Annotated[_Column, _column("The item's id.")] = None,
    condition: Annotated[_Column, _column("The condition: base, T1, strict, ...")] = None,
    wording: Annotated[_Column, _column("Number of a condition's wording.")] = None,
    repeat: Annotated[_Column, _column("Number of the call under one condition.")] = None,
    verdict: Annotated[_Column, _column("The judge's label.")] = None,
    outcome: Annotated[_Column, _column("How the call ended: verdict, refusal, ...")] = None,
    reply: Annotated[
        _Column, _column("The judge's answer; without --verdict it is read from there.")
    ] = None,
    gold: Annotated[_Column, _column("The true label.")] = None,
    cluster: Annotated[_Column, _column("Items that share a source share a cluster.")] = None,
    ambiguous: Annotated[_Column, _column("1 where people disagree on the item.")] = None,
    confidence: Annotated[_Column, _column("Stated confidence in the judge's own label.")] = None,
    p_unsafe: Annotated[_Column, _column("Probability of UNSAFE of a call; never guessed.")] = None,
    p_source: Annotated[
        str | None,
        typer.Option(help="Where the probabilities come from.", rich_help_panel=_WHICH),
    ] = None,
    p_whole: Annotated[
        bool,
        typer.Option(
            "--p-whole",
            help="Nothing is sampled before the verdict, so one call's probability tells all.",
            rich_help_panel=_WHICH,
        ),
    ] = False,
    strata: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column that puts items into categories, such as a kind of risk; figures are "
            "broken down by it (repeat the flag).",
            rich_help_panel=_WHICH,
        ),
    ] = None,
    rater: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column that holds one rater's labels (repeat the flag).",
            rich_help_panel=_WHICH,
        ),
    ] = None,
    one_condition: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="Every row was asked under this condition.", rich_help_panel=_WHICH
        ),
    ] = None,
    wide: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column that holds the verdicts of one condition (repeat the flag); instead of "
            "--condition and --verdict.",
            rich_help_panel=_WHICH,
        ),
    ] = None,
    map_: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="NAME=ID",
            help="What the table calls a condition, and which it is: paraphrase=T2; T2/1 for a "
            "second wording (repeat the flag).",
            rich_help_panel=_MEANS,
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Leave this condition out (repeat the flag).",
            rich_help_panel=_MEANS,
        ),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD=MEANING",
            help="What a label means: harmful=UNSAFE, 0=SAFE, n/a=refusal; -1=skip leaves such "
            "rows out (repeat the flag). safe and unsafe are known in any case.",
            rich_help_panel=_MEANS,
        ),
    ] = None,
    gold_label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD=MEANING",
            help="What a word means where true labels and raters' stand, if something else: "
            "1=SAFE, unsure=none (repeat the flag).",
            rich_help_panel=_MEANS,
        ),
    ] = None,
    unsafe_below: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="The verdict is a score, and UNSAFE below this number.",
            rich_help_panel=_MEANS,
        ),
    ] = None,
    unsafe_above: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="The verdict is a score, and UNSAFE above this number.",
            rich_help_panel=_MEANS,
        ),
    ] = None,
    blank: Annotated[
        str | None,
        typer.Option(
            help="What an empty verdict means: unparseable, refusal, truncated, error or skip.",
            rich_help_panel=_MEANS,
        ),
    ] = None,
    count_repeats: Annotated[
        bool,
        typer.Option(
            "--count-repeats",
            help="Rows of one item and condition are its repeats, in the file's order.",
            rich_help_panel=_MEANS,
        ),
    ] = False,
    drop_identical: Annotated[
        bool,
        typer.Option(
            "--drop-identical",
            help="Leave out a row that says again what an earlier one says.",
            rich_help_panel=_MEANS,
        ),
    ] = False,
    percent: Annotated[
        bool,
        typer.Option(
            "--percent",
            help="Confidences and probabilities are per cent: 87 is 0.87.",
            rich_help_panel=_MEANS,
        ),
    ] = False,
    unknown_confidence: Annotated[
        bool,
        typer.Option(
            "--unknown-confidence",
            help="Count a confidence that is no number from 0 to 1 as not stated.",
            rich_help_panel=_MEANS,
        ),
    ] = False,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="Whose output it is: promptfoo, openai_evals, lm_eval, inspect (a log, or a "
            "folder of them), or table for a plain table. Recognised where not said.",
            rich_help_panel=_MEANS,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=VALUE",
            help="Leave out rows with another value in that column (repeat the flag).",
            rich_help_panel=_MEANS,
        ),
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option(help="What stands between cells of a CSV.", rich_help_panel=_MEANS),
    ] = None,
    gold_source: Annotated[
        str | None,
        typer.Option(
            help="Who assigned the true labels: human, author, model, rule, unknown.",
            rich_help_panel=_KNOWN,
        ),
    ] = None,
    assume_certified: Annotated[
        bool,
        typer.Option(
            "--assume-certified",
            help="Pool the rewrites on your word that they keep the policy's meaning; the card "
            "says so.",
            rich_help_panel=_KNOWN,
        ),
    ] = False,
    judge: Annotated[
        str | None, typer.Option(help="Name of the model.", rich_help_panel=_KNOWN)
    ] = None,
    decoding: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="How it was asked: temperature=0 (repeat the flag).",
            rich_help_panel=_KNOWN,
        ),
    ] = None,
    prompt: Annotated[
        Path | None, typer.Option(help="File of the prompt template.", rich_help_panel=_KNOWN)
    ] = None,
    policy: Annotated[
        str | None, typer.Option(help="Policy name or file.", rich_help_panel=_KNOWN)
    ] = None,
    rewrites: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the texts it was given (base.md, T1.md, ...).", rich_help_panel=_KNOWN
        ),
    ] = None,
) -> None:
    """Make a run of a table of verdicts, so that a judge is audited without being asked again.

    `judgeaudit score` and `judgeaudit card` then work on the run. What is not right in the table
    is refused with its line; nothing is guessed silently, and nothing is left half-written.
    """
    given = dict(locals())
    from judgeaudit import audit
    from judgeaudit.core.terminal import plain

    files_, out_ = given.pop("files"), given.pop("out")
    given["map"], given["format"] = given.pop("map_"), given.pop("format_")
    choices = {
        name: value for name, value in given.items() if value or (value == 0 and value is not False)
    }
    made = audit.import_verdicts(files_, out=out_, **choices)
    columns = ", ".join(
        f"{role} = {column!r}{' (guessed)' if role in made.guessed else ''}"
        for role, column in made.columns.items()
    )
    named = ", ".join(k if k == v else f"{k} = {v}" for k, v in made.conditions.items())
    known = " (recognised)" if made.recognised else ""
    lines = [
        *([f"format      {made.format}{known}"] if made.format != "table" else []),
        f"columns     {columns}",
        f"conditions  {named}",
        f"imported    {made.n_calls} calls of {made.n_items} items, {made.n_rows} rows",
        f"sha256      {made.sha256}",
        *(f"note        {note}" for note in made.notes),
    ]
    if made.not_pooled:
        lines.append(
            f"note        {', '.join(made.not_pooled)}: scored but not pooled, for no certificate "
            "was seen; give the texts with --rewrites, or pool on your word: --assume-certified"
        )
    lines.append(f"run         {made.folder} (now: judgeaudit score, judgeaudit card)")
    typer.echo(plain("\n".join(lines)))
