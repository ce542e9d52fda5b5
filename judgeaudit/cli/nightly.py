"""`nightly`: freeze anchors once, then ask each night as little as decides it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judgeaudit.cli import _out

if TYPE_CHECKING:
    from judgeaudit.watch.store import History

__all__ = ["add_to"]

app = typer.Typer(no_args_is_help=True)

_Anchors = Annotated[Path, typer.Option(help="File of the frozen anchors.")]
_Json = Annotated[bool, typer.Option("--json", help="As JSON.")]
_Store = Annotated[
    str | None, typer.Option(help="History that the night is added to: a folder, or an address.")
]


def add_to(main: typer.Typer) -> None:
    """Register these verbs on the application."""
    main.add_typer(
        app, name="nightly", help="Has my judge changed? With as few calls as decide it."
    )


@app.command("freeze")
def _freeze(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The baseline: a full audit.")],
    *,
    anchors: _Anchors = Path("anchors.json"),
    drift: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="Worsening that must be found, as a share.")
    ] = 0.06,
    power: Annotated[
        float, typer.Option(min=0.5, max=0.99, help="Chance that it is found on one night.")
    ] = 0.9,
    alpha: Annotated[
        float, typer.Option(min=1e-6, max=0.5, help="Chance of a false alarm a night.")
    ] = 0.05,
    calls: Annotated[
        int, typer.Option("-K", "--base-repeats", min=1, help="Base calls an anchor.")
    ] = 1,
    items: Annotated[
        int | None, typer.Option(min=1, help="So many anchors, instead of as many as needed.")
    ] = None,
    store: _Store = None,
    as_json: _Json = False,
) -> None:
    """Choose the anchors of all nights to come from a baseline run, and write them down.

    As many as the wanted power needs, by simulation on the run's own items.
    """
    from judgeaudit.cli._reports_paths import distinct, inputs_of, writable
    from judgeaudit.watch.anchors import freeze, written
    from judgeaudit.watch.keeping import ready
    from judgeaudit.watch.sides import load
    from judgeaudit.watch.thrift_words import of_anchors

    writable("--anchors", anchors)
    distinct({"--anchors": anchors}, inputs_of(run))
    history = None if store is None else ready(store)
    made = freeze(run, drift=drift, power=power, alpha=alpha, calls=calls, items=items)
    anchors.write_text(written(made) + "\n", encoding="utf-8")
    if history is not None:
        first = made.keys[: made.ends[0]]
        history.add(load(run), only=first, nightly=True)
    if as_json:
        typer.echo(written(made))
    else:
        typer.echo(f"{of_anchors(made)}\nwritten to {anchors}")


@app.command("run")
def _run(
    *,
    anchors: _Anchors = Path("anchors.json"),
    config: Annotated[
        Path | None,
        typer.Option(help="Choices of the baseline's audit. Default: audit.toml, if there."),
    ] = None,
    judge: Annotated[list[str] | None, typer.Option(help="As of `audit`.")] = None,
    api_base: Annotated[list[str] | None, typer.Option(help="As of `audit`.")] = None,
    policy: Annotated[str | None, typer.Option(help="As of `audit`.")] = None,
    corpus: Annotated[str | None, typer.Option(help="As of `audit`.")] = None,
    data: Annotated[str | None, typer.Option(help="As of `audit`.")] = None,
    subset: Annotated[str | None, typer.Option(help="As of `audit`.")] = None,
    seed: Annotated[int | None, typer.Option(help="As of the baseline.")] = None,
    batch: Annotated[
        bool | None,
        typer.Option(
            "--batch/--no-batch", help="Each look in the provider's batches, at a lower price."
        ),
    ] = None,
    budget_usd: Annotated[float | None, typer.Option(help="US dollars a look may cost.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the night. Default: nights/ and today (UTC).")
    ] = None,
    store: _Store = None,
    junit: Annotated[Path | None, typer.Option(help="Also write JUnit XML here.")] = None,
    as_json: _Json = False,
    md: Annotated[bool, typer.Option("--md", help="As Markdown.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Ask one night: exit 0 pass, 1 changed, 4 inconclusive, 3 no call was answered.

    Base calls on the first look's anchors; more anchors only while it is undecided; other wordings
    only where their prompts are not the baseline's. The same command goes on with a night that was
    stopped; one that ended is only read.
    """
    flags = {**locals(), "condition": None, "certificates": None}
    flags["out"] = None
    from judgeaudit.cli._chosen import chosen
    from judgeaudit.cli._reports_paths import distinct, writable
    from judgeaudit.core.clock import now_utc
    from judgeaudit.core.terminal import plain
    from judgeaudit.watch.anchors import read_anchors, written
    from judgeaudit.watch.keeping import ready
    from judgeaudit.watch.night import ask
    from judgeaudit.watch.outputs import junit_of_night
    from judgeaudit.watch.thrift_words import of_night

    folder = out or Path("nights") / now_utc()[:10]
    distinct({"--junit": junit}, [*_read_by(folder, anchors, config, policy, data)])
    if junit is not None and junit.is_dir():
        writable("--junit", junit)
    frozen, spec = read_anchors(anchors), chosen(flags)
    # before the first call: a night is paid for
    history = None if store is None else ready(store)
    found = ask(frozen, spec, folder, show="quiet" if quiet else "auto")
    # the verdict first: no file and no store may keep it from being read
    _out.say(written(found) if as_json else of_night(found, md=md))
    troubles = _saved(folder / "night.json", written(found) + "\n")
    if junit is not None:
        troubles += _saved(junit, junit_of_night(found, of_night(found)))
    if history is not None and found.outcome in {"pass", "fail", "inconclusive"} and found.looks:
        troubles += _added(history, folder, frozen.keys[: frozen.ends[0]])
    for said in troubles:
        _out.aside(f"judgeaudit: {plain(said)}")
    # a change is never hidden by a store that failed; a night that is not kept is never a pass
    kept = {"fail", "broken", "interrupted"}
    raise typer.Exit(3 if troubles and found.outcome not in kept else found.exit_code)


def _read_by(
    folder: Path, anchors: Path, config: Path | None, *texts: str | None
) -> Iterator[Path]:
    """Yield the files that a night reads or keeps, which no report may replace."""
    yield from (anchors, config or Path("audit.toml"), folder / "night.json")
    yield from (Path(text) for text in texts if text)


def _saved(path: Path, text: str) -> list[str]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        said = f"{path}: cannot be written ({error.strerror or error})"
        return [f"{said}. Give the same command again: nothing is asked twice"]
    return []


def _added(history: History, folder: Path, keys: tuple[str, ...]) -> list[str]:
    from judgeaudit.core.errors import JudgeAuditError
    from judgeaudit.watch.night import look_folder
    from judgeaudit.watch.sides import load
    from judgeaudit.watch.store import AlreadyThereError

    store = history.where
    try:
        # of every night the same calls, whatever they led to: only so is the history's test exact
        number = history.add(load(look_folder(folder, 0)), only=keys, nightly=True)
    except AlreadyThereError as there:
        _out.aside(f"not added to {store}: {there}")
    except (JudgeAuditError, OSError) as error:
        said = f"the night was not added to {store}: {error}"
        return [f"{said}. Mend it and give the same command: nothing is asked twice"]
    else:
        _out.aside(f"night {number} of {store}")
    return []
