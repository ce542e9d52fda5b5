"""`batch`: the calls of an audit in a provider's batches, step by step.

`judgeaudit audit --batch` takes all these steps by itself.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judgeaudit.cli import audit as audit_verbs

if TYPE_CHECKING:
    from judgeaudit.engine.batch.story import Look

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

_Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")]
_LEFT_OUT = frozenset({"plan_only", "quiet", "batch", "batch_wait", "batch_interval"})


def _as_audit(verb: Any) -> Any:
    """Give a verb the flags of `audit`, but for those that only say how to wait."""
    flags = inspect.signature(audit_verbs.audit, eval_str=True).parameters.values()
    kept = [p for p in flags if p.name not in _LEFT_OUT]
    verb.__signature__ = inspect.Signature(kept, return_annotation=None)
    verb.__annotations__ = {p.name: p.annotation for p in kept} | {"return": None}
    return verb


@app.command()
@_as_audit
def write(**flags: Any) -> None:
    """Write the open calls of an audit as batch files into its folder; makes none of them.

    Takes the choices of `judgeaudit audit`. Send the files with `batch submit`; or by hand, and
    tell with `batch bind` what the provider calls them.
    """
    from judgeaudit import audit
    from judgeaudit.cli import _out, _words
    from judgeaudit.core.terminal import plain
    from judgeaudit.engine.batch.story import write as writing

    ready = audit.settle(audit.prepare(audit_verbs.chosen(flags | {"batch": True})))
    _out.aside(_words.of_plan(ready))
    written = writing(ready.plan, ready.meta, ready.folder / audit.LEDGER, ready.spec)
    for e in written:
        path = ready.folder / "batch" / f"{e.name}.jsonl"
        typer.echo(plain(f"{path}: {e.n:,} requests, {e.size:,} bytes, sha256 {e.sha256}"))
    if not written:
        typer.echo("every open call is in a batch file already, or answered")
    else:
        typer.echo(plain(f"judgeaudit batch submit {ready.folder}"))


@app.command()
def submit(run: _Run) -> None:
    """Send the batch files of a run that the provider does not have yet."""
    from judgeaudit.core.terminal import plain
    from judgeaudit.engine.batch.story import submit_all

    sent = submit_all(_folder(run), _aside)
    for e in sent:
        typer.echo(plain(f"{e.name}  {e.batch_id}  {e.status}  {e.n} calls"))
    if not sent:
        typer.echo("there is nothing to submit")


@app.command()
def status(run: _Run) -> None:
    """Say how far the batches of a run are; changes nothing."""
    from judgeaudit.core.terminal import plain
    from judgeaudit.engine.batch.story import looks

    for look in looks(_folder(run), _aside):
        typer.echo(plain(_said(look)))


def _said(look: Look) -> str:
    e, batch = look.entry, look.batch
    line = f"{e.name}  {e.n} calls  "
    if batch is None:
        known = {"ended": "taken in", "dropped": "dropped", "submitting": "perhaps submitted"}
        line += known.get(e.state, "not submitted" if e.batch_id is None else "submitted")
        line += f" ({e.batch_id}, {e.status})" if e.batch_id else ""
        return f"{line}: {look.trouble}" if look.trouble else line
    line += f"{batch.id}  {batch.status}, {batch.done} of {e.n} done"
    if batch.over:
        line += "; judgeaudit batch ingest takes it in"
    return "\n".join([line, *(f"      {code or 'error'}: {said}" for code, said in batch.errors)])


@app.command()
def ingest(
    run: _Run,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="Output and error files that you fetched by hand; without: ask the provider.",
        ),
    ] = None,
    *,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes on the way.")] = False,
) -> None:
    """Take what batches brought into the ledger of a run; each answer once."""
    from judgeaudit.core.terminal import plain
    from judgeaudit.engine.batch.story import ingest as taking

    folder = _folder(run)
    found, waiting = taking(folder, files or (), None if quiet else _aside)
    for name, taken in found:
        for line in taken.lines():
            typer.echo(plain(f"{name}: {line}"))
    for e in waiting:
        typer.echo(plain(f"{e.name}: {e.n} calls are with the provider ({e.status})"))
    if not found and not waiting:
        typer.echo("no batch is with the provider")
    typer.echo(plain(f"judgeaudit card {folder} makes the card"))
    if any(taken.n_refused or taken.torn for _, taken in found):
        raise typer.Exit(1)


@app.command()
def cancel(
    run: _Run,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One batch, such as 0001; default: all.")
    ] = None,
) -> None:
    """Cancel batches at the provider, and drop those that were never submitted."""
    from judgeaudit.core.terminal import plain
    from judgeaudit.engine.batch.story import cancel as cancelling

    for line in cancelling(_folder(run), name, _aside):
        typer.echo(plain(line))


@app.command()
def bind(
    run: _Run,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A batch file, such as 0001.")],
    batch_id: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="The provider's id; without: it was not submitted."),
    ] = None,
) -> None:
    """Tell which of the provider's batches a file was submitted as, by hand or in a lost try."""
    from judgeaudit.core.terminal import plain
    from judgeaudit.engine.batch.story import bind as binding

    entry = binding(_folder(run), name, batch_id)
    typer.echo(plain(f"{entry.name}  {entry.batch_id or 'not submitted'}"))


def _aside(line: str) -> None:
    from judgeaudit.cli import _out
    from judgeaudit.core.terminal import plain

    _out.aside(plain(line))


def _folder(run: Path) -> Path:
    return run if run.is_dir() else run.parent
