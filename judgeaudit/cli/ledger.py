"""`ledger`: look into the answers of a run, check, export, merge, save and shrink them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from judgeaudit.engine.view import LedgerView

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

_LEDGER = "ledger.sqlite"

_Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run, or its ledger.sqlite.")]
_New = Annotated[Path, typer.Option("--out", help="New ledger file; must not exist.")]


def _path(run: Path) -> Path:
    return run / _LEDGER if run.is_dir() else run


@app.command()
def info(
    run: _Run, *, as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False
) -> None:
    """Say what a ledger holds: calls, answers, failures, requests, tokens, cost, models."""
    from judgeaudit.core.terminal import plain
    from judgeaudit.engine.view import LedgerView

    with LedgerView(_path(run)) as view:
        found = _info(view)
    if as_json:
        typer.echo(json.dumps(found, indent=1))
        return
    width = max(map(len, found))
    for name, value in found.items():
        typer.echo(plain(f"{name:<{width}}  {_said(value)}"))


def _info(view: LedgerView) -> dict[str, Any]:
    from judgeaudit.engine.lock import holder

    facts = view.facts()
    size = view.path.stat().st_size
    outcomes: dict[str, int] = {}
    for counts in facts.outcomes.values():
        for outcome, n in counts.items():
            outcomes[outcome] = outcomes.get(outcome, 0) + n
    return {
        "ledger": str(view.path),
        "judge": f"{facts.judge.backend}:{facts.judge.model}",
        "planned": facts.n_planned,
        "answered": facts.n_answered,
        "outcomes": outcomes,
        "failures": facts.failures,
        "requests": facts.requests,
        "prompt tokens": facts.prompt_tokens,
        "completion tokens": facts.completion_tokens,
        "cost in USD": facts.cost,
        "cost note": facts.cost_note,
        "served models": facts.served_models,
        "started": facts.started,
        "last commit": facts.ended,
        "seconds": facts.seconds,
        "bytes": size,
        "bytes an answer": round(size / facts.n_answered) if facts.n_answered else None,
        "content sha256": facts.ledger_sha256,
        "chain head": view.head(),
        "written by process": holder(view.path),
    }


def _said(value: Any) -> str:
    if value is None:
        return "not known"
    if isinstance(value, dict):
        return ", ".join(f"{n:,} {k}" for k, n in value.items()) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)


@app.command()
def verify(run: _Run) -> None:
    """Check a ledger: its file, texts, counts and hash chain. Exit code 1 if something is wrong."""
    from judgeaudit.core.terminal import plain
    from judgeaudit.engine.verify import faults
    from judgeaudit.engine.view import LedgerView

    with LedgerView(_path(run)) as view:
        found = faults(view)
        n, planned, head = view.n_answered, view.n_planned, view.head()
    for line in found:
        typer.echo(plain(line))
    if found:
        typer.echo(
            f"not whole: {len(found):,} faults; judgeaudit ledger salvage saves what is left"
        )
        raise typer.Exit(1)
    typer.echo(f"whole: {n:,} of {planned:,} calls answered; head of the hash chain {head}")


@app.command()
def export(
    run: _Run,
    *,
    out: Annotated[Path, typer.Option(help="File to write; - for standard output (jsonl).")],
    form: Annotated[
        str | None, typer.Option("--format", help="jsonl or parquet; default: by the file's name.")
    ] = None,
    item: Annotated[str | None, typer.Option(help="Only the calls of this item.")] = None,
    condition: Annotated[str | None, typer.Option(help="Only this condition.")] = None,
) -> None:
    """Write one row a planned call, answers word for word, as JSON lines or Parquet."""
    import sys

    from judgeaudit.engine import export as exporting
    from judgeaudit.engine.view import LedgerView

    with LedgerView(_path(run)) as view:
        if str(out) == "-":
            exporting.write_lines(view.rows(item=item, condition=condition), sys.stdout)
            return
        n = exporting.export(view, out, form or _by_name(out), item=item, condition=condition)
    typer.echo(f"{n:,} rows: {out}")


def _by_name(out: Path) -> str:
    from judgeaudit.core.errors import ConfigError

    forms = {".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}
    if out.suffix not in forms:
        raise ConfigError(
            f"the name does not say what to write: {out.name}",
            mend="Let it end in .jsonl or .parquet, or give --format jsonl or parquet",
        )
    return forms[out.suffix]


@app.command()
def merge(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Folders of runs, or their ledgers.")
    ],
    *,
    out: _New,
) -> None:
    """Merge runs of one plan that were made on several machines into a new ledger."""
    from judgeaudit.engine.merge import merge as merging
    from judgeaudit.engine.view import LedgerView

    merging([_path(run) for run in runs], out)
    with LedgerView(out) as view:
        typer.echo(f"{view.n_answered:,} of {view.n_planned:,} calls answered: {out}")


@app.command()
def salvage(
    run: _Run,
    *,
    out: Annotated[
        Path | None,
        typer.Option(help="New ledger file; default: in its place, the damaged one beside it."),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(help="A whole ledger of the same plan, where the plan itself is damaged."),
    ] = None,
) -> None:
    """Save all that a damaged ledger still holds, and say what is missing."""
    from judgeaudit.core.terminal import plain
    from judgeaudit.engine.replace import salvage_in_place
    from judgeaudit.engine.salvage import salvage as saving

    path = _path(run)
    whole = None if plan is None else _path(plan)
    if out is None:
        found, old = salvage_in_place(path, plan=whole)
        last = f"{path} (the damaged file: {old}; what is missing: {path}.salvage.json)"
    else:
        found = saving(path, out, plan=whole)
        last = f"{out} (what is missing: {out}.salvage.json)"
    for line in found.lines():
        typer.echo(plain(line))
    typer.echo(last)


@app.command()
def compact(run: _Run) -> None:
    """Write a ledger's file anew without gaps; every row and the hash chain stay as they are."""
    from judgeaudit.engine.compact import compact as compacting

    before, after = compacting(_path(run))
    typer.echo(f"{before:,} bytes before, {after:,} after: {_path(run)}")
