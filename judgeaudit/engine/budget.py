"""A cap on what a run may use: reserved before each request, settled after it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from judgeaudit.core.errors import ConfigError, JudgeError
from judgeaudit.engine.estimate import Price
from judgeaudit.engine.meter import Forecast

if TYPE_CHECKING:
    from judgeaudit.engine.view import LedgerView

__all__ = ["Amount", "Budget", "BudgetLike", "Caps", "spent_before", "spent_settling"]

_MEND = (
    "All answers so far are kept; raise {flag} and run the same command again to go on: "
    "no answer is paid twice"
)


@dataclass(frozen=True, slots=True)
class Caps:
    """What a run may use in all its sessions together; None: no cap.

    Parameters
    ----------
    usd : float, optional
        US dollars.
    tokens : int, optional
        Tokens sent and answered.
    calls : int, optional
        Requests, retries included.

    Raises
    ------
    ConfigError
        If a cap is not positive.
    """

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None

    def __post_init__(self) -> None:
        """Check that every cap is positive."""
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ConfigError(f"the budget is {value} ({name})", mend="Give more than 0")

    def __bool__(self) -> bool:
        """Whether anything is capped."""
        return not (self.usd is None and self.tokens is None and self.calls is None)


@dataclass(frozen=True, slots=True)
class Amount:
    """What some requests use, or are thought to use."""

    usd: float = 0.0
    tokens: int = 0
    calls: int = 0

    def __add__(self, other: Amount) -> Amount:
        """Return the sum."""
        return Amount(self.usd + other.usd, self.tokens + other.tokens, self.calls + other.calls)

    def __sub__(self, other: Amount) -> Amount:
        """Return the difference."""
        return self + Amount(-other.usd, -other.tokens, -other.calls)

    @classmethod
    def most(cls, forecast: Forecast, price: Price | None) -> Amount:
        """Return what one request may use at most."""
        usd = 0.0
        if price is not None:
            usd = forecast.prompt_most * price.prompt + forecast.answer_most * price.completion
        return cls(usd, forecast.most, 1)


class BudgetLike(Protocol):
    """What the runner needs of a budget; one in another process has the same face."""

    async def reserve(self, want: Amount) -> JudgeError | None:
        """Reserve an amount, or return why nothing more may be asked."""
        ...

    def settle(self, reserved: Amount, used: Amount) -> None:
        """Put what was really used in the place of a reservation."""
        ...


class Budget:
    """Reserves and settles within caps; never lets a request begin that could pass a cap.

    A request that does not fit beside the reservations of others waits until those are settled:
    they are upper bounds, and most of them use less. Only when it does not fit beside what was
    really used is the budget spent. So a cap is passed by at most what requests in flight used
    beyond their bounds, which only answers without a cap on their tokens can.

    Parameters
    ----------
    caps : Caps
        The caps.
    used : Amount
        What earlier sessions of the run used.
    """

    def __init__(self, caps: Caps, used: Amount | None = None) -> None:
        self._caps = caps
        self.used = used or Amount()
        self.reserved = Amount()
        self._waiters: deque[asyncio.Future[None]] = deque()

    async def reserve(self, want: Amount) -> JudgeError | None:
        """Reserve an amount, or return why nothing more may be asked."""
        while True:
            if self._over(self.used + self.reserved + want) is None:
                self.reserved += want
                return None
            over = self._over(self.used + want)
            if over is not None:
                return self._spent(over)
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(future)
            await future

    def settle(self, reserved: Amount, used: Amount) -> None:
        """Put what was really used in the place of a reservation."""
        self.reserved -= reserved
        self.used += used
        if self.reserved.calls == 0:
            self.reserved = Amount()  # sums of floats leave crumbs
        # all of them look again: one that wants little may fit where another does not
        while self._waiters:
            future = self._waiters.popleft()
            if not future.done():
                future.set_result(None)

    def _over(self, total: Amount) -> str | None:
        caps = self._caps
        # a cap of exactly the plan's price must not be missed by the rounding of a sum
        if caps.usd is not None and total.usd > caps.usd * (1 + 1e-9):
            return "usd"
        if caps.tokens is not None and total.tokens > caps.tokens:
            return "tokens"
        if caps.calls is not None and total.calls > caps.calls:
            return "calls"
        return None

    def _spent(self, what: str) -> JudgeError:
        used = self.used
        cap = {
            "usd": f"US${self._caps.usd or 0:.6g}",
            "tokens": f"{self._caps.tokens:,} tokens" if self._caps.tokens else "",
            "calls": f"{self._caps.calls or 0:,} requests",
        }[what]
        so_far = {
            "usd": f": US${used.usd:.6g} in {used.calls:,} requests, and one more may not fit",
            "tokens": f": {used.tokens:,} in {used.calls:,} requests, and one more may not fit",
            "calls": "",
        }[what]
        return JudgeError(
            f"the budget of {cap} is spent{so_far}",
            mend=_MEND.format(flag=f"--budget-{what}"),
            code="budget",
        )


def spent_before(view: LedgerView, price: Price | None) -> Amount:
    """Add up what earlier sessions used, failed requests included.

    Answers whose cost was not recorded are priced by their tokens, and those without tokens as
    the plan's average request: what is not known never counts as nothing.

    Parameters
    ----------
    view : LedgerView
        The run so far.
    price : Price, optional
        For answers without a recorded cost.
    """
    db = view.connection
    n, usd, asked, answered, requests = db.execute(
        "SELECT count(*), total(cost), total(prompt_tokens), total(completion_tokens), "
        "total(attempts) FROM verdicts"
    ).fetchone()
    unpriced, sent, got = db.execute(
        "SELECT count(*), total(prompt_tokens), total(completion_tokens) FROM verdicts "
        "WHERE cost IS NULL AND prompt_tokens IS NOT NULL AND completion_tokens IS NOT NULL"
    ).fetchone()
    (unmetered,) = db.execute(
        "SELECT count(*) FROM verdicts WHERE prompt_tokens IS NULL OR completion_tokens IS NULL"
    ).fetchone()
    (failed,) = db.execute("SELECT total(attempts) FROM failures").fetchone()
    tokens = asked + answered
    metered = n - unmetered
    a_request = tokens / metered if metered else 2000.0
    if price is not None:
        if unpriced:
            usd += sent * price.prompt + got * price.completion
        (blind,) = db.execute(
            "SELECT count(*) FROM verdicts WHERE cost IS NULL AND "
            "(prompt_tokens IS NULL OR completion_tokens IS NULL)"
        ).fetchone()
        usd += blind * a_request * max(price.prompt, price.completion)
    probes = spent_settling(view.meta.extra, price)
    used = tokens + unmetered * a_request
    return Amount(usd, int(used), int(requests + failed)) + probes


def spent_settling(extra: Mapping[str, Any], price: Price | None) -> Amount:
    """Return what it took to find out how a judge can be asked.

    Parameters
    ----------
    extra : mapping
        What a run remembers beside its records.
    price : Price, optional
        Of the judge's tokens.
    """
    told = extra.get("settled") or {}
    requests, tokens = int(told.get("requests", 0)), int(told.get("tokens", 0))
    usd = tokens * max(price.prompt, price.completion) if price is not None else 0.0
    return Amount(usd, tokens, requests)
