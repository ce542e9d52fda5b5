"""Several judges in one run: each with a ledger, a breaker and a card of its own.

::

    from judgeaudit import panel

    ended = panel.run(["scripted:quiet", "scripted:brittle_t4"], preset="quick", out="both")
    for end in ended.ends:
        print(end.judge, end.error or end.result.card.headline.sentence)

They are asked side by side, on one event loop. Judges of one provider are held by one Retry-After.
Limits and budget that are stated for all hold for all: limits for each provider, the budget for the
run; what is stated for one judge is that judge's own. See
`docs/decisions/0409-several-judges.md`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from judgeaudit.audit import AuditResult, tell
from judgeaudit.core.errors import ConfigError, JudgeAuditError
from judgeaudit.core.seats import Seat, seats_of
from judgeaudit.preparing import LEDGER, Prepared, prepare, settled

if TYPE_CHECKING:
    from judgeaudit.engine.budget import Amount, Budget
    from judgeaudit.engine.control import Controls
    from judgeaudit.engine.joint import Joint
    from judgeaudit.engine.progress import ProgressMode
    from judgeaudit.engine.shared import Shared

__all__ = ["End", "Panel", "PanelResult", "arun", "gather", "run"]

_LIMITS: Final = frozenset({"concurrency", "adaptive", "requests_per_minute", "tokens_per_minute"})
_BUDGET: Final = frozenset({"budget_usd", "budget_tokens", "budget_calls"})


@dataclass(frozen=True, slots=True)
class Panel:
    """The judges of a run, each with its audit prepared; nobody has been asked."""

    seats: tuple[Seat, ...]
    ready: tuple[Prepared, ...]


@dataclass(frozen=True, slots=True)
class End:
    """What came of one judge.

    Parameters
    ----------
    judge : str
        Its name.
    folder : Path
        Its run.
    result : AuditResult, optional
        Where its audit came to a card.
    error : JudgeAuditError, optional
        Why it stopped, else.
    """

    judge: str
    folder: Path
    result: AuditResult | None = None
    error: JudgeAuditError | None = None

    @property
    def exit_code(self) -> int:
        """That of an audit of this judge alone."""
        if self.error is not None:
            return self.error.exit_code
        return self.result.exit_code if self.result is not None else 3


@dataclass(frozen=True, slots=True)
class PanelResult:
    """What came of all judges, in the order in which they were named."""

    ends: tuple[End, ...]

    @property
    def exit_code(self) -> int:
        """130 if one was interrupted; else 2 if one needs mending, 3 if one must go on, 0."""
        codes = {end.exit_code for end in self.ends}
        return next((code for code in (130, 2, 3) if code in codes), 0)


def gather(judges: Sequence[str | Mapping[str, Any]] | Sequence[Seat], **choices: Any) -> Panel:
    """Load, render and plan the audits of several judges; asks nobody anything.

    Parameters
    ----------
    judges : sequence
        Names, or tables of choices with a key `judge`, which win over `choices`.
    choices
        For all, see `AuditSpec`; `out` is a folder of folders, one a judge.

    Raises
    ------
    JudgeAuditError
        If one of them cannot be used: then none is asked.
    """
    named = [j for j in judges if not isinstance(j, Seat)]
    seats = tuple(j for j in judges if isinstance(j, Seat)) + (
        seats_of(named, choices) if named or not judges else ()
    )
    for seat in seats:
        if seat.spec.batch or seat.spec.executor != "local":
            what = "batches" if seat.spec.batch else f"the executor {seat.spec.executor!r}"
            raise ConfigError(f"{what}: one judge at a time", mend="Audit the judges one by one")
    return Panel(seats, tuple(prepare(seat.spec) for seat in seats))


def run(
    judges: Panel | Sequence[str | Mapping[str, Any]],
    *,
    show: ProgressMode = "quiet",
    created: str | None = None,
    **choices: Any,
) -> PanelResult:
    """Audit several judges side by side, or continue audits that were stopped.

    Parameters
    ----------
    judges, choices
        As of `gather`.
    show : {"auto", "bar", "plain", "quiet"}
        Progress of all together, on standard error.
    created : str, optional
        The cards' time; by default that of each one's last committed answer.

    Returns
    -------
    PanelResult
        A judge that failed or is out of credit is an end among others: those go on.

    Raises
    ------
    JudgeAuditError
        If the audits cannot begin.
    """
    from judgeaudit.engine.control import Controls, RunControl
    from judgeaudit.engine.door import in_thread, signals
    from judgeaudit.engine.limits import Limits
    from judgeaudit.engine.progress import make_progress

    panel = judges if isinstance(judges, Panel) else gather(judges, **choices)
    control = Controls([RunControl() for _ in panel.seats])
    longest = Limits(attempt_seconds=max(s.spec.attempt_seconds for s in panel.seats))
    with signals(control, make_progress(show), longest):
        return in_thread(lambda: arun(panel, show=show, created=created, control=control))


async def arun(
    judges: Panel | Sequence[str | Mapping[str, Any]],
    *,
    show: ProgressMode = "quiet",
    created: str | None = None,
    control: Controls | None = None,
    **choices: Any,
) -> PanelResult:
    """Audit several judges on the caller's own event loop; as `run`, and as `audit.arun`.

    Parameters
    ----------
    judges, show, created, choices
        As of `run`.
    control : Controls, optional
        Drains or stops all runs; one `RunControl` a judge, to stop one alone.
    """
    from judgeaudit.engine.joint import Joint
    from judgeaudit.engine.progress import make_progress
    from judgeaudit.engine.ways import OnLoop

    way = OnLoop()
    panel = (
        judges if isinstance(judges, Panel) else await way.aside(lambda: gather(judges, **choices))
    )
    names = _names(panel)
    told = Joint(make_progress(show), names)
    story = _Story(panel, names, told, created, control)
    return await story.go()


@dataclass(slots=True, eq=False)
class _Story:
    panel: Panel
    names: list[str]
    told: Joint
    created: str | None
    control: Controls | None

    async def go(self) -> PanelResult:
        """Ask all, side by side; what befalls one is its own end."""
        from judgeaudit.engine.ways import OnLoop

        way = OnLoop()
        found = [await self._settled(k) for k in range(len(self.names))]
        ready = [f if isinstance(f, Prepared) else None for f in found]
        shared = await way.aside(lambda: self._shared(ready))
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._one(k, f, shared[k])) for k, f in enumerate(found)]
        except BaseExceptionGroup as several:
            # none of the kinds that are ends: a bug, told as it would be of one judge
            raise several.exceptions[0] from None
        return PanelResult(tuple(t.result() for t in tasks))

    async def _settled(self, k: int) -> Prepared | JudgeAuditError:
        from judgeaudit.engine.ways import OnLoop

        try:
            return await settled(self.panel.ready[k], OnLoop())
        except JudgeAuditError as error:
            return error

    async def _one(self, k: int, ready: Prepared | JudgeAuditError, shared: Shared) -> End:
        from judgeaudit.engine.ways import OnLoop

        name, folder = self.names[k], self.panel.ready[k].folder
        try:
            if isinstance(ready, JudgeAuditError):
                return End(name, folder, error=ready)
            result = await tell(ready, OnLoop(), self.told.of(name), self.created, shared)
            return End(name, folder, result)
        except JudgeAuditError as error:
            self.told.note(f"{name} stops: {error}")
            return End(name, folder, error=error)
        finally:
            self.told.gone(name)

    def _shared(self, ready: Sequence[Prepared | None]) -> list[Shared]:
        """Say what each judge shares: the gate of its provider, and what was stated for all."""
        from judgeaudit.engine.choices import limits_of
        from judgeaudit.engine.limits import Gate
        from judgeaudit.engine.shared import Shared
        from judgeaudit.engine.throttle import Throttle
        from judgeaudit.judges._choice import provider_of

        gates: dict[str, Gate] = {}
        throttles: dict[str, Throttle] = {}
        budget, out = self._budget(ready), []
        for k, (seat, one) in enumerate(zip(self.panel.seats, ready, strict=True)):
            control = None if self.control is None else self.control.each[k]
            provider = None if one is None else provider_of(one.judge)
            gate = None if provider is None else gates.setdefault(provider, Gate())
            throttle = None
            if provider is not None and one is not None and not seat.own & _LIMITS:
                throttle = throttles.get(provider)
                if throttle is None:
                    throttle = Throttle(limits_of(one.spec, one.judge), gate=gate)
                    throttles[provider] = throttle
            common = None if seat.own & _BUDGET else budget
            out.append(Shared(control, throttle, gate, common))
        return out

    def _budget(self, ready: Sequence[Prepared | None]) -> Budget | None:
        """Return the budget that was stated for all, less what was used before."""
        from judgeaudit.engine.budget import Amount, Budget, Caps

        under = [
            (seat, one)
            for seat, one in zip(self.panel.seats, ready, strict=True)
            if not seat.own & _BUDGET
        ]
        if not under:
            return None
        spec = under[0][0].spec
        caps = Caps(usd=spec.budget_usd, tokens=spec.budget_tokens, calls=spec.budget_calls)
        if not caps:
            return None
        used = Amount()
        for _, one in under:
            used += Amount() if one is None else _used(one)
        return Budget(caps, used)


def _used(ready: Prepared) -> Amount:
    from judgeaudit.engine.budget import spent_before, spent_settling
    from judgeaudit.engine.ledger import Ledger

    path = ready.folder / LEDGER
    if not path.is_file():
        return spent_settling(ready.meta.extra, ready.price)
    with Ledger.open_readonly(path) as view:
        return spent_before(view, ready.price)


def _names(panel: Panel) -> list[str]:
    names = [seat.name for seat in panel.seats]
    return [
        n if names.count(n) == 1 else f"{n} ({ready.folder.name})"
        for n, ready in zip(names, panel.ready, strict=True)
    ]
