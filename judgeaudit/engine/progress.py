"""What a person sees of a run: a bar on a terminal, rare plain lines elsewhere, or nothing."""

from __future__ import annotations

import sys
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, Protocol, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

__all__ = [
    "BarProgress",
    "LineProgress",
    "Progress",
    "ProgressMode",
    "SilentProgress",
    "make_progress",
    "printable",
]

ProgressMode = Literal["auto", "bar", "plain", "quiet"]


def printable(text: str, most: int = 300) -> str:
    r"""Return text that cannot move a terminal's cursor, colour it or break the line.

    Examples
    --------
    >>> printable("a\x1b[2Jb\n")
    'a\\x1b[2Jb\\n'
    """
    out = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return out if len(out) <= most else out[: most - 1] + "…"


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


class Progress(Protocol):
    """What a run tells; called from the run's thread, `note` also from a signal handler."""

    def begin(self, planned: int, answered: int) -> None:
        """Start, with so many calls planned and so many answered already."""
        ...

    def count(self, outcome: str, cost: float | None) -> None:
        """Count one call that has just been committed."""
        ...

    def note(self, line: str) -> None:
        """Say one line."""
        ...

    def end(self) -> None:
        """Stop; the last state stays to be read."""
        ...


class SilentProgress:
    """Says nothing."""

    def begin(self, planned: int, answered: int) -> None:
        """Say nothing."""

    def count(self, outcome: str, cost: float | None) -> None:
        """Say nothing."""

    def note(self, line: str) -> None:
        """Say nothing."""

    def end(self) -> None:
        """Say nothing."""


class _Counting:
    """Counts, rate, time left and cost; what is shown decides a subclass."""

    def __init__(self) -> None:
        self.planned = 0
        self.before = 0
        self.done = 0
        self.outcomes: Counter[str] = Counter()
        self.cost: float | None = 0.0
        self.began = time.monotonic()

    def begin(self, planned: int, answered: int) -> None:
        """Start, with so many calls planned and so many answered already."""
        self.planned, self.before = planned, answered
        self.began = time.monotonic()

    def count(self, outcome: str, cost: float | None) -> None:
        """Count one call."""
        self.done += 1
        self.outcomes[outcome] += 1
        if outcome != "error":
            self.cost = None if cost is None or self.cost is None else self.cost + cost

    @property
    def failures(self) -> str:
        """Outcomes without a verdict, in words."""
        bad = sorted((k, n) for k, n in self.outcomes.items() if k != "verdict" and n)
        return ", ".join(f"{n:,} {k}" for k, n in bad)

    def status(self) -> str:
        """Say rate, time left, cost and failures in one line."""
        spent = max(time.monotonic() - self.began, 1e-9)
        rate = self.done / spent
        words = [f"{rate:.1f}/s"]
        left = self.planned - self.before - self.done
        if self.done and left > 0:
            words.append(f"{_duration(left / rate)} left")
        if self.cost:
            words.append(f"${self.cost:.4f}")
        if self.failures:
            words.append(self.failures)
        return ", ".join(words)


class LineProgress(_Counting):
    """Plain lines for logs: at every tenth of the run, but at most one a second, or every 30 s.

    Parameters
    ----------
    stream : TextIO, optional
        Where to write; standard error by default.
    """

    _RARELY = 30.0
    _AT_MOST = 1.0

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__()
        self._stream = stream or sys.stderr
        self._last = time.monotonic()
        self._tenth = 0
        self._said = -1

    def begin(self, planned: int, answered: int) -> None:
        """Say how much there is to do."""
        super().begin(planned, answered)
        self._last = self.began
        self._tenth = answered * 10 // planned if planned else 10
        had = f" ({answered:,} answered before)" if answered else ""
        self.note(f"asking {planned - answered:,} of {planned:,} calls{had}")

    def count(self, outcome: str, cost: float | None) -> None:
        """Count one call, and say a line if it is time."""
        super().count(outcome, cost)
        tenth = (self.before + self.done) * 10 // self.planned if self.planned else 10
        since = time.monotonic() - self._last
        if since >= self._RARELY or (tenth > self._tenth and since >= self._AT_MOST):
            self._tenth = tenth
            self._say()

    def _say(self) -> None:
        self._last, self._said = time.monotonic(), self.done
        self.note(f"{self.before + self.done:,}/{self.planned:,} calls, {self.status()}")

    def note(self, line: str) -> None:
        """Say one line."""
        _write(self._stream, line)

    def end(self) -> None:
        """Say how far it got, unless that was said just now."""
        if self._said != self.done:
            self._say()


class BarProgress(_Counting):
    """A bar on a terminal, redrawn four times a second.

    Parameters
    ----------
    stream : TextIO, optional
        Where to draw; standard error by default.
    """

    _EVERY = 0.25

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__()
        self._stream = stream or sys.stderr
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self._shown = 0.0

    def begin(self, planned: int, answered: int) -> None:
        """Draw the bar."""
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichBar

        super().begin(planned, answered)
        self._bar = RichBar(
            BarColumn(bar_width=None),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f}", markup=False),
            TextColumn("{task.fields[status]}", markup=False),
            console=Console(file=self._stream, highlight=False, markup=False),
            auto_refresh=False,
            expand=True,
        )
        self._task = self._bar.add_task("", total=planned, completed=answered, status="")
        self._bar.start()

    def count(self, outcome: str, cost: float | None) -> None:
        """Count one call, and redraw if it is time."""
        super().count(outcome, cost)
        now = time.monotonic()
        if now - self._shown >= self._EVERY:
            self._shown = now
            self._draw()

    def _draw(self) -> None:
        bar, task = self._bar, self._task
        if bar is not None and task is not None:
            done = self.before + self.done
            with suppress(OSError, ValueError):
                bar.update(task, completed=done, status=self.status(), refresh=True)

    def note(self, line: str) -> None:
        """Say one line above the bar."""
        if self._bar is None:
            _write(self._stream, line)
        else:
            with suppress(OSError, ValueError):
                self._bar.console.print(printable(line))

    def end(self) -> None:
        """Draw the last state and leave it standing."""
        self._draw()
        if self._bar is not None:
            with suppress(OSError, ValueError):
                self._bar.stop()
            self._bar = None


def _write(stream: TextIO, line: str) -> None:
    # a closed pipe or a narrow encoding must not end a run that costs money
    with suppress(OSError, ValueError):
        # one write a line: a signal handler may come in between
        stream.write(printable(line) + "\n")
        stream.flush()


def make_progress(mode: ProgressMode = "auto", stream: TextIO | None = None) -> Progress:
    """Choose how a run is shown: a bar on a terminal, plain lines elsewhere.

    Parameters
    ----------
    mode : {"auto", "bar", "plain", "quiet"}
        "auto" looks whether `stream` is a terminal.
    stream : TextIO, optional
        Standard error by default, so that output proper can be piped.
    """
    stream = stream or sys.stderr
    if mode == "quiet":
        return SilentProgress()
    if mode == "bar" or (mode == "auto" and stream.isatty()):
        return BarProgress(stream)
    return LineProgress(stream)
