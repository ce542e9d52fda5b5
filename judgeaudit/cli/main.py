"""The `judgeaudit` command: one place that turns errors into a line and an exit code.

Exit codes, of all verbs (docs/exit_codes.md): 0 done, or a gate passes; 1 a check found something
(`gate`, `history check`, `policy check`, `ledger verify`, `card verify`); 2 usage, configuration or
input; 3 operational (quota or budget spent, no call answered); 4 inconclusive (`gate`); 130
interrupted (Ctrl-C, and also SIGTERM and SIGHUP: they end a run in the same way).
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from judgeaudit._version import __version__
from judgeaudit.cli import (
    _out,
    batch,
    cards,
    corpus,
    ledger,
    local,
    plan,
    policy,
    results,
    selftest,
    stats,
    view,
)
from judgeaudit.cli import attack as _attack
from judgeaudit.cli import audit as audit_verbs
from judgeaudit.cli import explain as _explain
from judgeaudit.cli import flattening as _flattening
from judgeaudit.cli import harden as _harden
from judgeaudit.cli import importing as _importing
from judgeaudit.cli import jury as _jury
from judgeaudit.cli import knowing as _knowing
from judgeaudit.cli import localise as _localise
from judgeaudit.cli import nightly as _nightly
from judgeaudit.cli import policy_render as _policy_render  # noqa: F401  (adds a verb to `policy`)
from judgeaudit.cli import policy_runs as _policy_runs  # noqa: F401  (adds verbs to `policy`)
from judgeaudit.cli import serve as _serve
from judgeaudit.cli import site as _site
from judgeaudit.cli import watching as _watching

__all__ = ["app", "run"]


class _Group(TyperGroup):
    """Says one line when it is interrupted; typer alone exits without a word."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            _complain(str(stop) or "interrupted")
            raise typer.Exit(130) from None


app = typer.Typer(
    cls=_Group,
    name="judgeaudit",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Crash-test rig for LLM safety judges: does the verdict follow the agent's behaviour, "
    "or the wording of the policy?",
    epilog="Exit codes: 0 done, 1 a check found something, 2 usage or input, "
    "3 operational (quota, no call answered), 4 inconclusive, 130 interrupted. "
    "Keys are read from the environment only.",
)
audit_verbs.add_to(app)
results.add_to(app)
plan.add_to(app)
view.add_to(app)
selftest.add_to(app)
_importing.add_to(app)
_flattening.add_to(app)
_jury.add_to(app)
_knowing.add_to(app)
_localise.add_to(app)
_explain.add_to(app)
_watching.add_to(app)
_harden.add_to(app)
_attack.add_to(app)
_serve.add_to(app)
_nightly.add_to(app)
app.add_typer(cards.app, name="card", help="Make, verify and sign Judge Cards.")
_site.add_to(app)
app.add_typer(policy.app, name="policy", help="Show, compare and check policies and renderings.")
app.add_typer(corpus.app, name="corpus", help="Show and check datasets of trajectories.")
app.add_typer(batch.app, name="batch", help="Calls in a provider's batches: a day, at half price.")
app.add_typer(ledger.app, name="ledger", help="Check, export, merge, salvage and shrink ledgers.")
app.add_typer(stats.app, name="stats", help="Calculators for numbers typed in, with their source.")
app.add_typer(local.app, name="local", help="The embedded model: what is here, and fetching it.")


def _version(value: bool) -> None:
    if value:
        typer.echo(f"judgeaudit {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


def run() -> None:
    """Run the command line and exit with the documented code."""
    from judgeaudit.core.errors import JudgeAuditError

    _out.accept_any_text()
    try:
        _listen()
        app()
    except JudgeAuditError as error:
        if os.environ.get("JUDGEAUDIT_DEBUG"):
            raise
        _complain(str(error))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:  # while the command line was being read
        _complain("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        _out.hush()  # the reader went away (`| head`): not an error of ours
        sys.exit(0)
    except OSError as error:
        if os.environ.get("JUDGEAUDIT_DEBUG"):
            raise
        place = f"{error.filename}: " if error.filename else ""
        _complain(f"{place}{error.strerror or error}")
        sys.exit(2)


def _listen() -> None:
    """Let SIGTERM and SIGHUP end a command as Ctrl-C does, outside of runs too."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # not where the one who started us wants it ignored (nohup)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _complain(message: str) -> None:
    from judgeaudit.core.terminal import plain

    _out.aside(f"judgeaudit: {plain(message)}")
