"""`compare`, `gate` and `history`: what changed, and whether it passes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, TypeVar

import typer

from judgeaudit.cli import _out
from judgeaudit.cli._reports import Reports

if TYPE_CHECKING:
    from pydantic import BaseModel

    from judgeaudit.watch.gating import GateResult
    from judgeaudit.watch.webhook import Target

T = TypeVar("T", bound="BaseModel")
T_contra = TypeVar("T_contra", contravariant=True)

__all__ = ["add_to", "history"]


class Words(Protocol[T_contra]):
    """What says a result in words; its first line alone is the answer."""

    def __call__(self, found: T_contra, *, md: bool = False) -> str:
        """Say it, as text or as Markdown."""
        ...


history = typer.Typer(no_args_is_help=True)

_Json = Annotated[bool, typer.Option("--json", help="As JSON.")]
_Md = Annotated[bool, typer.Option("--md", help="As Markdown.")]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print one line.")]
_Plain = Annotated[
    bool, typer.Option("--plain", help="ASCII only, for logs; there is no colour or frame anyway.")
]
_Alpha = Annotated[
    float,
    typer.Option(min=1e-6, max=0.5, help="Chance of a false alarm, all figures together."),
]
_Store = Annotated[
    str, typer.Option(help="Folder of the history, or an address (s3://bucket/nights).")
]
_Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run, or its ledger.")]


def add_to(app: typer.Typer) -> None:
    """Register these verbs on the application."""
    app.command("compare")(_compare)
    app.command("gate")(_gate)
    app.add_typer(
        history, name="history", help="Keep nights of a judge, and watch whether it changes."
    )


def _compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="Folder of a run, or a card.json.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="A later one.")],
    *,
    alpha: _Alpha = 0.05,
    as_json: _Json = False,
    md: _Md = False,
    quiet: _Quiet = False,
    plain: _Plain = False,
) -> None:
    """Compare two runs on common items: what moved, by more than chance, and why.

    Exits 0 whatever moved; `gate` decides. Runs of different protocols, or without a common item,
    are refused.
    """
    from judgeaudit.watch.changes import compare
    from judgeaudit.watch.words import of_comparison

    found = compare(first, second, alpha=alpha)
    _out.say(_told(found, of_comparison, as_json=as_json, md=md, quiet=quiet, plain=plain))


def _gate(
    run: Annotated[
        Path | None, typer.Argument(metavar="[RUN]", help="Folder of a run, or its ledger.")
    ] = None,
    *,
    baseline: Annotated[
        Path | None, typer.Option(help="Run (or card.json) to hold it against.")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="gate.toml; without it, a baseline's verdicts and errors are checked."),
    ] = None,
    rehearse: Annotated[
        str | None,
        typer.Option(metavar="HISTORY", help="No run: try the gate on the nights of a history."),
    ] = None,
    as_json: _Json = False,
    md: _Md = False,
    junit: Annotated[Path | None, typer.Option(help="Also write JUnit XML here.")] = None,
    sarif: Annotated[Path | None, typer.Option(help="Also write SARIF 2.1.0 here.")] = None,
    jsonl: Annotated[Path | None, typer.Option(help="Also write JSON lines here.")] = None,
    prometheus: Annotated[
        Path | None, typer.Option(help="Also write Prometheus text here.")
    ] = None,
    markdown: Annotated[Path | None, typer.Option(help="Also write Markdown here.")] = None,
    webhook: Annotated[
        str | None,
        typer.Option(
            metavar="URL|FILE",
            help="Also post the result as JSON, or write it to a file. env:NAME takes the address "
            "from a variable.",
        ),
    ] = None,
    webhook_token_env: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Variable that holds the webhook's bearer token."),
    ] = None,
    github: Annotated[
        bool,
        typer.Option(help="Annotate, and add to the step summary ($GITHUB_STEP_SUMMARY)."),
    ] = False,
    quiet: _Quiet = False,
    plain: _Plain = False,
) -> None:
    """Decide bars on a run: exit 0 pass, 1 fail, 4 inconclusive.

    What is undefined never passes. 2: it cannot be decided as asked; 3: no call was answered, or
    it passes but a file that was asked for cannot be written.
    """
    from judgeaudit.core.errors import ConfigError
    from judgeaudit.watch.gating import gate
    from judgeaudit.watch.rules import read_rules
    from judgeaudit.watch.words import of_gate

    if (run is None) == (rehearse is None):
        raise ConfigError("gate needs either a RUN or --rehearse HISTORY", mend="Name one of them")
    if rehearse is not None:
        _rehearse(rehearse, config, as_json=as_json, md=md, quiet=quiet, plain=plain)
        return
    reports = Reports(
        junit=junit,
        jsonl=jsonl,
        prometheus=prometheus,
        sarif=sarif,
        markdown=markdown,
        webhook=webhook,
        token_env=webhook_token_env,
        config=config,
        github=github,
    )
    target = reports.target()
    reports.check(target, run, baseline)
    rules = read_rules(config, baseline=baseline is not None)
    found = gate(run or Path(), rules, baseline=baseline)
    # the verdict first: no file and no receiver may keep it from being read
    _out.say(_told(found, of_gate, as_json=as_json, md=md, quiet=quiet, plain=plain))
    raise typer.Exit(_reported(found, reports, target))


def _reported(found: GateResult, reports: Reports, target: Target | None) -> int:
    """Write what was asked for, say what failed, and return the code to exit with."""
    from judgeaudit.core.terminal import plain
    from judgeaudit.watch.outputs import workflow_commands
    from judgeaudit.watch.webhook import payload, post

    # on standard error, where GitHub reads them too, and a JSON answer stays whole
    if reports.github and (lines := workflow_commands(found).rstrip()):
        _out.aside(lines)
    troubles = reports.write(found, target)
    posted = None if target is None else post(target, payload(found))
    for said in (*troubles, *filter(None, (posted,))):
        _out.aside(f"judgeaudit: {plain(said)}")
    # a regression is never hidden by a full disk; a report that is lacking is never a pass
    return 3 if troubles and found.exit_code != 1 else found.exit_code


def _told(found: T, words: Words[T], *, as_json: bool, md: bool, quiet: bool, plain: bool) -> str:
    """Lay a result out as it was asked for."""
    if as_json:
        return found.model_dump_json(indent=1)
    text = words(found).split("\n", 1)[0] if quiet else words(found, md=md)
    return _out.ascii_only(text) if plain else text


def _rehearse(
    folder: str, config: Path | None, *, as_json: bool, md: bool, quiet: bool, plain: bool
) -> None:
    from judgeaudit.watch.rehearse import rehearse
    from judgeaudit.watch.rules import read_rules
    from judgeaudit.watch.store import History
    from judgeaudit.watch.words import of_rehearsal

    found = rehearse(History(folder), read_rules(config, baseline=True))
    _out.say(_told(found, of_rehearsal, as_json=as_json, md=md, quiet=quiet, plain=plain))


@history.command("add")
def _add(run: _Run, *, store: _Store) -> None:
    """Add a run as a night; the first one's items become the anchors, and it the baseline."""
    from judgeaudit.watch.keeping import lasting
    from judgeaudit.watch.sides import load

    number = lasting(store).add(load(run))
    typer.echo(f"night {number}")


@history.command("show")
def _show(
    *,
    store: _Store,
    alpha: _Alpha = 0.05,
    as_json: _Json = False,
    md: _Md = False,
    quiet: _Quiet = False,
    plain: _Plain = False,
) -> None:
    """Show all nights since the baseline, and whether the judge changed."""
    from judgeaudit.watch.monitor import watch
    from judgeaudit.watch.store import History
    from judgeaudit.watch.words import of_history

    found = watch(History(store), alpha=alpha)
    _out.say(_told(found, of_history, as_json=as_json, md=md, quiet=quiet, plain=plain))


@history.command("check")
def _check(
    *,
    store: _Store,
    alpha: _Alpha = 0.05,
    as_json: _Json = False,
    plain: _Plain = False,
) -> None:
    """Exit 1 if the judge changed since the baseline, 4 without one or a night since, else 0."""
    from judgeaudit.watch.monitor import watch
    from judgeaudit.watch.store import History
    from judgeaudit.watch.words import of_history

    found = watch(History(store), alpha=alpha)
    nothing = found.baseline is None or len(found.nights) < 2
    code = 1 if found.first_alarm is not None else 4 if nothing else 0
    said = _told(found, of_history, as_json=as_json, md=False, quiet=True, plain=plain)
    _out.conclude(said, code)


@history.command("pin")
def _pin(
    night: Annotated[int, typer.Argument(help="Number of the night.")],
    *,
    store: _Store,
    note: Annotated[str, typer.Option(help="Why.")] = "",
) -> None:
    """Make a night the baseline; monitoring begins anew with it."""
    from judgeaudit.watch.keeping import lasting

    lasting(store).pin(night, note)
    typer.echo(f"night {night} is the baseline")


@history.command("expire")
def _expire(*, store: _Store) -> None:
    """End the baseline; until another is pinned nothing is decided."""
    from judgeaudit.watch.keeping import lasting

    lasting(store).expire()
    typer.echo("no baseline is pinned")


@history.command("list")
def _list(*, store: _Store, as_json: _Json = False) -> None:
    """List all nights, and which of them is or was the baseline."""
    import json

    from judgeaudit.core.terminal import plain
    from judgeaudit.watch.store import History

    kept = History(store)
    nights, baselines = kept.nights(), kept.baselines()
    if as_json:
        rows = [
            {
                "night": n.number,
                "ended": n.ended,
                "run": n.run,
                "anchors": int((n.valid > 0).sum()),
                "served": n.facts.get("served", []),
                "baselines": [
                    {"pinned": b.pinned, "expired": b.expired or None, "note": b.note}
                    for b in baselines
                    if b.night == n.number
                ],
            }
            for n in nights
        ]
        typer.echo(json.dumps(rows, indent=1))
        return
    for n in nights:
        marks = [
            (f"baseline until {b.expired}" if b.expired else "BASELINE")
            + (f" ({b.note})" if b.note else "")
            for b in baselines
            if b.night == n.number
        ]
        served = ", ".join(n.facts.get("served", []))
        words = f"{n.number:>4}  {n.ended or '-':20}  {n.run}  {served}  {'; '.join(marks)}"
        typer.echo(plain(words).rstrip())


@history.command("page")
def _page(
    *,
    store: _Store,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="HTML file, which needs no network.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="The plots alone.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Every night as a row.")] = None,
    title: Annotated[str, typer.Option(help="Printed above.")] = "Has the judge changed?",
    alpha: _Alpha = 0.05,
) -> None:
    """Draw a history: evidence, confidence sequence, rates, alarms, baselines, and what changed."""
    from judgeaudit.cli._reports_paths import distinct, writable
    from judgeaudit.core.errors import ConfigError
    from judgeaudit.watch import trend
    from judgeaudit.watch.store import History

    if out is None and svg is None and csv is None:
        raise ConfigError("nothing to write", mend="Give -o trend.html, --svg FILE or --csv FILE")
    kept = History(store)
    outputs = {"-o": out, "--svg": svg, "--csv": csv}
    for option, path in outputs.items():
        writable(option, path)
    distinct(outputs, [kept.path])
    told = trend.tell(kept, alpha=alpha)
    if out is not None:
        _saved(out, trend.to_html(told, title=title))
    if svg is not None:
        _saved(svg, trend.to_svg(told, title=title))
    if csv is not None:
        _saved(csv, trend.to_csv(told))


def _saved(path: Path, text: str) -> None:
    from judgeaudit.core.errors import DiskError

    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DiskError(
            f"cannot be written ({error.strerror or error})",
            where=str(path),
            mend="Give a file that can be written",
        ) from error
    typer.echo(f"written to {path}")
