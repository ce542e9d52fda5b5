"""What an audit does in batches, and what its verbs do: told over a run's folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from judgeaudit.core.errors import ConfigError, JudgeAuditError, LedgerError, TransientError
from judgeaudit.core.records import AuditSpec
from judgeaudit.engine.batch.codec import Codec
from judgeaudit.engine.batch.ingest import Desk, Taken, take_in
from judgeaudit.engine.batch.manifest import Book, Entry, Manifest
from judgeaudit.engine.batch.rounds import BatchRun, drop_answered, fetch, write_open
from judgeaudit.engine.batch.server import Batch, Server
from judgeaudit.engine.batch.submit import submit
from judgeaudit.engine.budget import Caps
from judgeaudit.engine.choices import price_of
from judgeaudit.engine.estimate import Price
from judgeaudit.engine.failures import UNREACHABLE
from judgeaudit.engine.identity import RunMeta
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.plan import Plan
from judgeaudit.engine.progress import Progress, SilentProgress
from judgeaudit.engine.summary import RunSummary
from judgeaudit.engine.view import LedgerView

__all__ = [
    "Look",
    "bind",
    "cancel",
    "ingest",
    "looks",
    "run_in_batches",
    "submit_all",
    "write",
]

_LEDGER: Final = "ledger.sqlite"


def run_in_batches(
    plan: Plan,
    meta: RunMeta,
    path: Path,
    spec: AuditSpec,
    *,
    limits: Limits,
    progress: Progress,
) -> RunSummary:
    """Make the open calls of a plan in batches.

    Parameters
    ----------
    plan, meta, path
        The run, and its ledger.
    spec : AuditSpec
        The budget and the prices, and how to wait.
    limits : Limits
        Tries, and seconds of a request.
    progress : Progress
        Told what happens.

    Returns
    -------
    RunSummary
        What was done now, and how many calls are with the server.

    Raises
    ------
    JudgeAuditError
        As of `BatchRun.go`. What was answered is kept, what was submitted is remembered.
    """
    codec = Codec(plan.judge)
    with Ledger.open(path, meta, plan) as ledger:
        book = _begin(ledger, codec, price_of(spec, plan.judge))
        try:
            with Server(codec, limits, progress.note) as server:
                return BatchRun(
                    plan=plan,
                    desk=Desk(ledger, book, codec, progress),
                    server=server,
                    limits=limits,
                    caps=_caps(spec),
                    interval=spec.batch_interval,
                    most_requests=spec.batch_requests,
                    wait=spec.batch_wait,
                ).go()
        except (ConfigError, TransientError) as error:
            lost = isinstance(error, TransientError) and error.code == UNREACHABLE
            begun = ledger.n_answered or any(e.sent for e in book.entries)
            if begun or not (lost or isinstance(error, ConfigError)):
                raise
            # a mistyped model or address must not leave files that refuse the right one
            book.forget()
            ledger.discard()
            raise ConfigError(error.what, where=error.where, mend=error.mend) from None


def write(plan: Plan, meta: RunMeta, path: Path, spec: AuditSpec) -> list[Entry]:
    """Write the open calls of a plan into batch files; asks nobody anything.

    Parameters
    ----------
    plan, meta, path, spec
        As of `run_in_batches`.

    Returns
    -------
    list of Entry
        The new batches; those that were written before are not among them.

    Raises
    ------
    JudgeAuditError
        As of `write_open`.
    """
    codec = Codec(plan.judge)
    with Ledger.open(path, meta, plan) as ledger:
        book = _begin(ledger, codec, price_of(spec, plan.judge))
        desk = Desk(ledger, book, codec, SilentProgress())
        drop_answered(desk)
        return write_open(plan, desk, caps=_caps(spec), most_requests=spec.batch_requests)


def submit_all(run: Path, note: Callable[[str], None]) -> list[Entry]:
    """Submit the batches of a run that the server does not have; return those it has.

    Raises
    ------
    JudgeAuditError
        If there is none, or the server fails or refuses.
    """
    limits = Limits()
    with Ledger.reopen(run / _LEDGER) as ledger:
        book, codec = _again(run, ledger)
        drop_answered(Desk(ledger, book, codec, _Notes(note)))
        with Server(codec, limits, note) as server:
            for entry in book.entries:
                if not entry.over:
                    submit(book, entry, server, limits, note)
    return [e for e in book.entries if e.sent]


@dataclass(frozen=True, slots=True)
class Look:
    """A batch, and what the server says of it now; None where it was not asked or did not say."""

    entry: Entry
    batch: Batch | None
    trouble: str = ""


def looks(run: Path, note: Callable[[str], None]) -> list[Look]:
    """Ask the server how far the batches of a run are; changes nothing.

    Raises
    ------
    JudgeAuditError
        If the run has none, or its ledger or manifest cannot be read.
    """
    with LedgerView(run / _LEDGER) as view:
        book, codec = _again(run, view)
    found = []
    with Server(codec, Limits(attempts=2), note) as server:
        for entry in book.entries:
            if entry.over or entry.batch_id is None:
                found.append(Look(entry, None))
                continue
            try:
                found.append(Look(entry, server.look(entry.batch_id)))
            except JudgeAuditError as error:
                found.append(Look(entry, None, error.what))
    return found


def ingest(
    run: Path, files: Sequence[Path], note: Callable[[str], None] | None = None
) -> tuple[list[tuple[str, Taken]], list[Entry]]:
    """Take in what batches brought: from the server, or from files that were fetched by hand.

    Parameters
    ----------
    run : Path
        Folder of the run.
    files : sequence of Path
        Output files and error files; none: ask the server.
    note : callable, optional
        Told what happens on the way.

    Returns
    -------
    tuple
        What each source held, by name; and the batches that are still with the server.

    Raises
    ------
    JudgeAuditError
        If the run has no batches, or the server or a file cannot be read.
    """
    out = []
    progress = _Notes(note)
    with Ledger.reopen(run / _LEDGER) as ledger:
        book, codec = _again(run, ledger)
        desk = Desk(ledger, book, codec, progress)
        if files:
            entries = [e for e in book.entries if e.state != "dropped"]
            taken = take_in(desk, entries, files)
            out.append((", ".join(f.name for f in files), taken))
        else:
            limits = Limits()
            with Server(codec, limits, progress.note) as server:
                for entry in book.entries:
                    if entry.state == "submitted" and entry.batch_id is not None:
                        batch, taken = fetch(desk, server, entry)
                        if batch.over:
                            out.append((f"batch {entry.name} ({batch.status})", taken))
    return out, [e for e in book.entries if e.sent]


def cancel(run: Path, name: str | None, note: Callable[[str], None]) -> list[str]:
    """Cancel the batches of a run, or one; say what became of each.

    What the server has is cancelled there, also while another process waits for it; a batch that
    was never submitted is dropped here.

    Raises
    ------
    JudgeAuditError
        If there is none of that name, or the server refuses.
    """
    with LedgerView(run / _LEDGER) as view:
        book, codec = _again(run, view)
    wanted = [e for e in book.entries if name is None or e.name == name]
    if name is not None and not wanted:
        raise _unknown(book, name)
    lines = []
    with Server(codec, Limits(), note) as server:
        for entry in wanted:
            if entry.state == "submitted" and entry.batch_id is not None:
                batch = server.cancel(entry.batch_id)
                lines.append(f"batch {entry.name} ({batch.id}): {batch.status}")
    unsent = [e.name for e in wanted if not e.over and not e.sent]
    if unsent:
        with Ledger.reopen(run / _LEDGER):
            book = Book.read(run)
            for entry in book.entries:
                if entry.name in unsent and not entry.over and not entry.sent:
                    book.put(entry.model_copy(update={"state": "dropped"}))
                    lines.append(f"batch {entry.name}: dropped, it was never submitted")
    lines += [
        f"batch {e.name}: it may have been submitted; judgeaudit batch submit finds out"
        for e in wanted
        if e.state == "submitting"
    ]
    return lines or ["there is nothing to cancel"]


def bind(run: Path, name: str, batch_id: str | None) -> Entry:
    """Tell which batch on the server a file was submitted as, or that it was not.

    Raises
    ------
    ConfigError
        If there is no such batch, or all that it brought is in the ledger.
    """
    with Ledger.reopen(run / _LEDGER):
        book = Book.read(run)
        entry = next((e for e in book.entries if e.name == name), None)
        if entry is None:
            raise _unknown(book, name)
        if entry.over:
            raise ConfigError(f"batch {name} is over", where=str(run))
        if batch_id is None:
            state = "uploaded" if entry.file_id else "written"
            return book.put(entry.model_copy(update={"state": state, "batch_id": None}))
        return book.put(entry.model_copy(update={"state": "submitted", "batch_id": batch_id}))


class _Notes(SilentProgress):
    """Passes notes on, and counts nothing."""

    def __init__(self, told: Callable[[str], None] | None) -> None:
        self._told = told

    def note(self, line: str) -> None:
        """Pass a line on."""
        if self._told is not None:
            self._told(line)


def _unknown(book: Book, name: str) -> ConfigError:
    known = ", ".join(e.name for e in book.entries) or "none"
    return ConfigError(f"there is no batch {name!r}; known: {known}", where=str(book.folder))


def _caps(spec: AuditSpec) -> Caps:
    return Caps(usd=spec.budget_usd, tokens=spec.budget_tokens, calls=spec.budget_calls)


def _begin(ledger: Ledger, codec: Codec, price: Price | None) -> Book:
    fresh = Manifest(
        plan_sha256=ledger.plan_sha256,
        judge_sha256=ledger.meta.judge.sha256,
        address=codec.address,
        prompt_price=None if price is None else price.prompt,
        completion_price=None if price is None else price.completion,
    )
    try:
        return Book.begin(ledger.path.parent, fresh)
    except LedgerError:
        ledger.discard()  # if it was made just now: it would refuse the settings that fit
        raise


def _again(run: Path, view: LedgerView) -> tuple[Book, Codec]:
    """Return the book of a run whose ledger is open, and its codec."""
    book = Book.read(run)
    codec = Codec(view.meta.judge)
    Book.begin(
        run,
        book.manifest.model_copy(
            update={
                "plan_sha256": view.plan_sha256,
                "judge_sha256": view.meta.judge.sha256,
                "address": codec.address,
            }
        ),
    )
    return book, codec
