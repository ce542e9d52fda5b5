"""When to stop asking: a run that cannot succeed must not burn its plan."""

from __future__ import annotations

from typing import Final

from judgeaudit.core.errors import ConfigError, JudgeAuditError, JudgeError, TransientError
from judgeaudit.engine.failures import UNREACHABLE, classify, describe
from judgeaudit.engine.limits import Limits

__all__ = ["RESUME", "Breaker"]

RESUME: Final = "All answers so far are kept; run the same command again to go on"

_HOPELESS_STATUS: Final = frozenset({401, 404})
_HOPELESS_CODE: Final = frozenset(
    {UNREACHABLE, "invalid_api_key", "missing_key", "model_not_found", "unsupported_parameter"}
)


class Breaker:
    """Watches the ends of calls and says when a run should stop.

    Parameters
    ----------
    limits : Limits
        `give_up_after` and `concurrency`.
    fresh : bool
        Whether the ledger holds no answer yet: then a server that cannot be reached, a refused
        key or an unknown model is a mistake in the settings, not an outage.
    """

    def __init__(self, limits: Limits, *, fresh: bool) -> None:
        self._limits = limits
        self._fresh = fresh
        self._answered = False
        self._in_a_row = 0
        self._reasons: set[tuple[object, ...]] = set()

    @property
    def untried(self) -> bool:
        """Whether no call of this session has ended yet."""
        return not self._answered and self._in_a_row == 0

    def answered(self) -> None:
        """Note a call that was answered."""
        self._answered = True
        self._in_a_row = 0

    def failed(self, error: Exception) -> JudgeAuditError | None:
        """Note a call that ended in an error; return why the run must stop, or None."""
        first = self.untried
        self._in_a_row += 1
        n = self._in_a_row
        status = error.status if isinstance(error, JudgeError) else None
        code = error.code if isinstance(error, JudgeError) else None
        if first and (status in _HOPELESS_STATUS or code in _HOPELESS_CODE):
            return self._hopeless(error)
        if not self._answered and n <= self._limits.give_up_after:
            told = (status, code) if status or code else (describe(error),)
            self._reasons.add((classify(error), *told))
        lasting = not isinstance(error, TransientError)
        alike = not self._answered and lasting and len(self._reasons) == 1
        if alike and n >= self._limits.give_up_after:
            return _stop(f"the first {n} calls all failed in the same way", error)
        if n >= max(self._limits.give_up_after, self._limits.concurrency):
            return _stop(f"{n} calls in a row failed", error)
        return None

    def _hopeless(self, error: Exception) -> JudgeAuditError:
        stop = _stop("the first call failed", error)
        if not self._fresh:
            return stop
        return ConfigError(
            stop.what,
            mend=(error.mend if isinstance(error, JudgeError) else None)
            or "Check the address, the key and the name of the model",
        )


def _stop(what: str, error: Exception) -> JudgeError:
    status = error.status if isinstance(error, JudgeError) else None
    told = describe(error) if status is None else f"{status}, {describe(error)}"
    mend = error.mend if isinstance(error, JudgeError) and error.mend else RESUME
    return JudgeError(f"{what}: {told}", mend=mend, status=status)
