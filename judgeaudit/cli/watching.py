"""`compare`, `gate` and `history`: what changed, and whether it passes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judgeaudit.cli import _out

if TYPE_CHECKING:
    from judgeaudit.watch.gating import GateResult

__all__ = ["add_to", "history"]

history = typer.Typer(no_args_is_help=True)

_Json = Annotated[bool, typer.Option("--json", help="As JSON.")]
_Md = Annotated[bool, typer.Option("--md", help="As Markdown.")]
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
) -> None:
    """Compare two runs on common items: what moved, by more than chance, and why.

    Exits 0 whatever moved; `gate` decides. Runs of different protocols, or without a common item,
    are refused.
    """
    from judgeaudit.watch.changes import compare
    from judgeaudit.watch.words import of_comparison

    found = compare(first, second, alpha=alpha)
    typer.echo(found.model_dump_json(indent=1) if as_json else of_comparison(found, md=md))


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
    jsonl: Annotated[Path | None, typer.Option(help="Also write JSON lines here.")] = None,
    prometheus: Annotated[
        Path | None, typer.Option(help="Also write Prometheus text here.")
    ] = None,
    github: Annotated[
        bool,
        typer.Option(help="Annotate, and add to the step summary ($GITHUB_STEP_SUMMARY)."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print one line.")] = False,
) -> None:
    """Decide bars on a run: exit 0 pass, 1 fail, 4 inconclusive.

    What is undefined never passes. 2: it cannot be decided as asked; 3: no call was answered.
    """
    from judgeaudit.core.errors import ConfigError
    from judgeaudit.watch.gating import gate
    from judgeaudit.watch.rules import read_rules
    from judgeaudit.watch.words import of_gate

    if (run is None) == (rehearse is None):
        raise ConfigError("gate needs either a RUN or --rehearse HISTORY", mend="Name one of them")
    if rehearse is not None:
        _rehearse(rehearse, config, as_json=as_json, md=md)
        return
    rules = read_rules(config, baseline=baseline is not None)
    found = gate(run or Path(), rules, baseline=baseline)
    _write(found, junit=junit, jsonl=jsonl, prometheus=prometheus)
    text = found.model_dump_json(indent=1) if as_json else of_gate(found, md=md)
    if quiet and not as_json:
        text = f"{found.outcome}: {found.sentence}"
    if github:
        from judgeaudit.watch.outputs import workflow_commands

        summary = os.environ.get("GITHUB_STEP_SUMMARY")
        if summary:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(of_gate(found, md=True) + "\n")
        # on standard error, where GitHub reads them too, and a JSON answer stays whole
        _out.aside(workflow_commands(found).rstrip())
    _out.conclude(text, found.exit_code)


def _rehearse(folder: str, config: Path | None, *, as_json: bool, md: bool) -> None:
    from judgeaudit.watch.rehearse import rehearse
    from judgeaudit.watch.rules import read_rules
    from judgeaudit.watch.store import History
    from judgeaudit.watch.words import of_rehearsal

    found = rehearse(History(folder), read_rules(config, baseline=True))
    typer.echo(found.model_dump_json(indent=1) if as_json else of_rehearsal(found, md=md))


def _write(
    found: GateResult, *, junit: Path | None, jsonl: Path | None, prometheus: Path | None
) -> None:
    from judgeaudit.watch import outputs

    for path, make in (
        (junit, outputs.junit),
        (jsonl, outputs.json_lines),
        (prometheus, outputs.prometheus),
    ):
        if path is not None:
            path.write_text(make(found), encoding="utf-8")


@history.command("add")
def _add(run: _Run, *, store: _Store) -> None:
    """Add a run as a night; the first one's items become the anchors, and it the baseline."""
    from judgeaudit.watch.sides import load
    from judgeaudit.watch.store import History

    number = History(store).add(load(run))
    typer.echo(f"night {number}")


@history.command("show")
def _show(*, store: _Store, alpha: _Alpha = 0.05, as_json: _Json = False, md: _Md = False) -> None:
    """Show all nights since the baseline, and whether the judge changed."""
    from judgeaudit.watch.monitor import watch
    from judgeaudit.watch.store import History
    from judgeaudit.watch.words import of_history

    found = watch(History(store), alpha=alpha)
    typer.echo(found.model_dump_json(indent=1) if as_json else of_history(found, md=md))


@history.command("check")
def _check(*, store: _Store, alpha: _Alpha = 0.05, as_json: _Json = False) -> None:
    """Exit 1 if the judge changed since the baseline, 4 without one or a night since, else 0."""
    from judgeaudit.watch.monitor import watch
    from judgeaudit.watch.store import History
    from judgeaudit.watch.words import of_history

    found = watch(History(store), alpha=alpha)
    nothing = found.baseline is None or len(found.nights) < 2
    code = 1 if found.first_alarm is not None else 4 if nothing else 0
    said = of_history(found).split("\n", 1)[0]
    _out.conclude(found.model_dump_json(indent=1) if as_json else said, code)


@history.command("pin")
def _pin(
    night: Annotated[int, typer.Argument(help="Number of the night.")],
    *,
    store: _Store,
    note: Annotated[str, typer.Option(help="Why.")] = "",
) -> None:
    """Make a night the baseline; monitoring begins anew with it."""
    from judgeaudit.watch.store import History

    History(store).pin(night, note)
    typer.echo(f"night {night} is the baseline")


@history.command("expire")
def _expire(*, store: _Store) -> None:
    """End the baseline; until another is pinned nothing is decided."""
    from judgeaudit.watch.store import History

    History(store).expire()
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
    from judgeaudit.core.errors import ConfigError
    from judgeaudit.watch import trend
    from judgeaudit.watch.store import History

    if out is None and svg is None and csv is None:
        raise ConfigError("nothing to write", mend="Give -o trend.html, --svg FILE or --csv FILE")
    told = trend.tell(History(store), alpha=alpha)
    if out is not None:
        _saved(out, trend.to_html(told, title=title))
    if svg is not None:
        _saved(svg, trend.to_svg(told, title=title))
    if csv is not None:
        _saved(csv, trend.to_csv(told))


def _saved(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    typer.echo(f"written to {path}")
