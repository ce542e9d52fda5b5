"""Limits of a run: how many calls at once, how long, how often; and one gate for all waits."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from judgeaudit.core.errors import ConfigError

__all__ = ["Gate", "Limits", "backoff", "hands", "spread"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds within which a judge is asked. Times in seconds.

    Parameters
    ----------
    concurrency : int
        Calls in flight at most.
    attempts : int
        Requests a call at most; 1: never retry.
    attempt_seconds : float
        Wall-clock deadline of one request.
    call_seconds : float
        Wall-clock deadline of a call with all its waits, from its first request on.
    backoff_first, backoff_most : float
        Wait after the first failure; it doubles with each failure up to the second number, and
        a random half of it is left out.
    longest_wait : float
        A server that asks for a longer wait than this (Retry-After) stops the run.
    give_up_after : int
        Failures in a row after which a run stops, see `Breaker`.
    adaptive : bool
        Whether fewer calls than `concurrency` are in flight while the provider is slow, failing
        or refusing, see `Window`.
    requests_per_minute, tokens_per_minute : float, optional
        Rates that the provider allows, retries included, prompt and answer together.
    watch_seconds : float
        Age at which the oldest call in flight is named.
    retry_truncated : int, optional
        A truncated answer is asked for once more with this cap on its tokens.

    Raises
    ------
    ConfigError
        If a bound is not positive.
    """

    concurrency: int = 16
    attempts: int = 6
    attempt_seconds: float = 120.0
    call_seconds: float = 900.0
    backoff_first: float = 0.5
    backoff_most: float = 60.0
    longest_wait: float = 600.0
    give_up_after: int = 20
    adaptive: bool = True
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    watch_seconds: float = 30.0
    retry_truncated: int | None = None

    def __post_init__(self) -> None:
        """Check that every bound is positive."""
        for name in self.__slots__:
            value = getattr(self, name)
            if isinstance(value, bool):
                continue
            if value is not None and not value > 0:
                raise ConfigError(f"{name} is {value}", mend="It must be more than 0")


_NARROW: Final = 16


def hands(concurrency: int) -> int:
    """Return how many calls are worked on at once, of which `concurrency` are in flight at most.

    Where many are in flight, up to as many again: while some wait for the disk to take their
    answers, others are asked. Up to 16 none: a kill then costs no more than was in flight.

    Examples
    --------
    >>> hands(8), hands(16), hands(24), hands(64)
    (8, 16, 32, 112)
    """
    return concurrency + max(0, concurrency - _NARROW)


# waits need no reproducible or secret randomness, only to differ between calls
_random = random.Random()  # noqa: S311


def spread(floor: float) -> float:
    """Return a random extra wait, so that calls held by one Retry-After do not all start at once.

    Up to a tenth of the wait, and at least up to a quarter of a second.
    """
    return _random.uniform(0, max(0.25, floor / 10))


def backoff(limits: Limits, failures: int, retry_after: float | None) -> float:
    """Return the wait before the next attempt, in seconds.

    `max(u * min(backoff_most, backoff_first * 2**(failures - 1)), retry_after + spread)` with u
    uniform in (1/2, 1): Retry-After is a floor.

    Parameters
    ----------
    failures : int
        Failed attempts of this call so far, from 1.
    retry_after : float, optional
        What the server asked for.
    """
    grown: float = min(limits.backoff_most, limits.backoff_first * 2.0 ** min(failures - 1, 32))
    wait = grown * _random.uniform(0.5, 1)
    if retry_after is not None and retry_after > 0:
        wait = max(wait, retry_after + spread(retry_after))
    return wait


class Gate:
    """Holds all calls to a provider while one Retry-After runs.

    Give the same gate to all judges that one provider serves.
    """

    def __init__(self) -> None:
        self._opens = 0.0

    def hold(self, seconds: float) -> None:
        """Keep the gate shut for so long from now; a longer hold stays."""
        self._opens = max(self._opens, time.monotonic() + seconds)

    @property
    def shut_for(self) -> float:
        """Seconds until the gate opens; 0 while it is open."""
        return max(0.0, self._opens - time.monotonic())

    async def passed(self, pause: Callable[[float], Awaitable[None]]) -> None:
        """Return once the gate is open; waits with `pause`, each caller a little longer."""
        while (left := self.shut_for) > 0:
            await pause(left + spread(left))
