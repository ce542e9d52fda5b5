"""One progress for several runs: their counts together, their notes with a name."""

from __future__ import annotations

from collections.abc import Sequence

from judgeaudit.engine.progress import Progress

__all__ = ["Joint", "Member"]


class Joint:
    """Begins once all have begun or ended, and ends with the last.

    Parameters
    ----------
    inner : Progress
        What shows it.
    names : sequence of str
        Of the runs.
    """

    def __init__(self, inner: Progress, names: Sequence[str]) -> None:
        self._inner = inner
        self._awaited = set(names)
        self._running = set(names)
        self._planned = self._before = 0
        self._held: list[tuple[str, float | None]] = []
        self._begun = False

    def of(self, name: str) -> Member:
        """Return the progress of one run."""
        return Member(self, name)

    def gone(self, name: str) -> None:
        """Take note that a run is over, whether it began or not."""
        self._running.discard(name)
        self._heard(name)
        if not self._running and self._begun:
            self._inner.end()

    def begin(self, name: str, planned: int, answered: int) -> None:
        """Take note of what a run has to do."""
        self._planned += planned
        self._before += answered
        self._heard(name)

    def count(self, outcome: str, cost: float | None) -> None:
        """Count one call of any run."""
        if self._begun:
            self._inner.count(outcome, cost)
        else:
            self._held.append((outcome, cost))

    def note(self, line: str) -> None:
        """Say one line."""
        self._inner.note(line)

    def _heard(self, name: str) -> None:
        self._awaited.discard(name)
        if self._awaited or self._begun or not self._planned:
            return
        self._begun = True
        self._inner.begin(self._planned, self._before)
        held, self._held = self._held, []
        for outcome, cost in held:
            self._inner.count(outcome, cost)


class Member:
    """The progress of one run of several.

    Parameters
    ----------
    joint : Joint
        Of all.
    name : str
        Stands in front of its notes.
    """

    def __init__(self, joint: Joint, name: str) -> None:
        self._joint, self._name = joint, name

    def begin(self, planned: int, answered: int) -> None:
        """Say how much there is to do."""
        self._joint.begin(self._name, planned, answered)

    def count(self, outcome: str, cost: float | None) -> None:
        """Count one call."""
        self._joint.count(outcome, cost)

    def note(self, line: str) -> None:
        """Say one line, with the name."""
        self._joint.note(f"{self._name}: {line}")

    def end(self) -> None:
        """Do nothing: the last run of all ends it."""
