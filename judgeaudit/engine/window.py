"""How many requests a provider is given at once, and how many a minute: logic without a clock.

The window follows the congestion control of TCP (Jacobson 1988; Vegas: Brakmo & Peterson 1995):
it doubles a round at first, then grows by one a round; it is halved where the provider says that
there were too many, and stands still or shrinks where answers take much longer than at their best.
"""

from __future__ import annotations

import statistics
from collections import deque
from typing import Final, Literal

__all__ = ["Bucket", "End", "Window"]

End = Literal["answered", "limited", "failed", "other"]
"""How a request ended: answered; 429; a server's trouble (5xx, timeout, cut connection); or in a
way that says nothing of how busy the provider is (a bad request, a request that was dropped)."""

_FIRST: Final = 16
_AFTER_LIMIT: Final = 0.5
_AFTER_FAILURE: Final = 0.7
_AFTER_SLOWNESS: Final = 0.85
_SLOW: Final = 1.7
_TOO_SLOW: Final = 2.5
_SLOW_BY_SECONDS: Final = 0.05
_OWN_WORK: Final = 0.003
_ROUNDS_KEPT: Final = 32
_FEWEST_A_ROUND: Final = 8


class Window:
    """Requests in flight at most; told of every request's end.

    - `limited` halves it, `failed` takes three tenths. Requests that were in flight at a cut
      belong to the load before it: their failures do not cut again.
    - An answer widens it where the window was the bound: by one until the first cut (so
      it doubles a round), afterwards by one a round.
    - A round is as many answers as the window is wide. If its median latency is over 1.7 times the
      best round's, the window stands still; over 2.5 times, it loses 15%. Differences under 50 ms,
      or under 3 ms a request in flight, are noise: answers that come together queue for this
      process, which says nothing of the provider.

    Parameters
    ----------
    most : int
        Never more than this.
    adaptive : bool
        False: always `most`.
    first : int
        Width at the start.
    """

    def __init__(self, most: int, *, adaptive: bool = True, first: int = _FIRST) -> None:
        self.most = most
        self._adaptive = adaptive
        self._width = float(min(most, first) if adaptive else most)
        self._starting = True
        self._standing = False
        self._round: list[float] = []
        self._round_length = max(self.width, _FEWEST_A_ROUND)
        self._medians: deque[float] = deque(maxlen=_ROUNDS_KEPT)
        self.cuts = 0

    @property
    def width(self) -> int:
        """Requests that may be in flight now; at least 1."""
        return int(self._width)

    def ended(self, end: End, seconds: float, *, cuts: int, full: bool) -> None:
        """Take note of a request's end.

        Parameters
        ----------
        end : End
            How it ended.
        seconds : float
            How long it took.
        cuts : int
            `cuts` when it began.
        full : bool
            Whether as many requests were in flight as the window allows.
        """
        if not self._adaptive or end == "other":
            return
        if end == "answered":
            self._answered(seconds, full=full)
        elif cuts == self.cuts:
            self._cut(_AFTER_LIMIT if end == "limited" else _AFTER_FAILURE)

    def _answered(self, seconds: float, *, full: bool) -> None:
        if full and not self._standing:
            step = 1.0 if self._starting else 1.0 / self._width
            self._width = min(float(self.most), self._width + step)
        self._round.append(seconds)
        if len(self._round) >= self._round_length:
            self._close_round()

    def _close_round(self) -> None:
        median = statistics.median(self._round)
        self._medians.append(median)
        best = min(self._medians)
        slower = median - best > max(_SLOW_BY_SECONDS, _OWN_WORK * self._round_length)
        self._standing = slower and median > _SLOW * best
        self._begin_round()
        if slower and median > _TOO_SLOW * best:
            self._cut(_AFTER_SLOWNESS)

    def _cut(self, factor: float) -> None:
        self._width = max(1.0, self._width * factor)
        self._starting = False
        self._begin_round()
        self.cuts += 1

    def _begin_round(self) -> None:
        self._round.clear()
        self._round_length = max(self.width, _FEWEST_A_ROUND)


class Bucket:
    """So much a minute, evenly: a leaky bucket that holds one second's worth.

    In any 60 seconds no more than `per_minute` passes, as far as the amounts were known before.

    Parameters
    ----------
    per_minute : float
        The limit.
    """

    def __init__(self, per_minute: float) -> None:
        self._deepest = max(1.0, per_minute // 60)
        # what a full bucket lets through at once comes on top of what runs in; the last factor
        # keeps rounding on the safe side
        self._per_second = max(per_minute - self._deepest + 1, 1e-6) / 60 * (1 - 1e-9)
        self._level = self._deepest
        self._at: float | None = None

    def take(self, now: float, amount: float) -> float:
        """Take an amount; return how many seconds to wait before using it.

        Whoever comes later waits longer, so that callers need not queue. An amount that is more
        than the bucket holds waits for a full one.
        """
        if self._at is not None:
            self._level += (now - self._at) * self._per_second
        self._level = min(self._level, self._deepest)
        self._at = now
        wait = (min(amount, self._deepest) - self._level) / self._per_second
        self._level -= amount
        return max(0.0, wait)

    def correct(self, more: float) -> None:
        """Take so much more (or, negative, give back) once an amount is really known."""
        self._level = min(self._deepest, self._level - more)
