"""When to stop asking: a run that cannot succeed must not burn its plan."""

from __future__ import annotations

from typing import Final

from judgeaudit.core.errors import ConfigError, JudgeAuditError, JudgeError, TransientError
from judgeaudit.engine.failures import UNREACHABLE, classify, describe
from judgeaudit.engine.limits import Limits

__all__ = ["RESUME", "Breaker"]

RESUME: Final = "All answers so far are kept; run the same command again to go on"

_SETTINGS_STATUS: Final = frozenset({401, 403, 404})
_SETTINGS_CODE: Final = frozenset(
    {UNREACHABLE, "invalid_api_key", "missing_key", "model_not_found", "unsupported_parameter"}
)
_OF_THE_ITEM: Final = frozenset({"context_too_long", "content_filter"})


class Breaker:
    """Watches the ends of calls and says when a run should stop.

    - The first call is asked alone (`docs/decisions/0006-probe-is-the-first-call.md`): if it
      fails, and not because of its item, the run stops.
    - While nothing has been answered, `give_up_after` permanent failures of one kind stop it.
    - Later, as many failures in a row as could be in flight at once, and at least
      `give_up_after`, stop it; failures that are an item's own (too long a prompt, a content
      filter) do not count.

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
        of_the_item = classify(error) in _OF_THE_ITEM
        if of_the_item and self._answered:
            return None
        first = self.untried
        self._in_a_row += 1
        n, least = self._in_a_row, self._limits.give_up_after
        if first and not of_the_item:
            return self._at_first(error)
        if not self._answered and n <= least:
            self._reasons.add(_reason(error))
        lasting = not isinstance(error, TransientError)
        if not self._answered and lasting and n >= least and len(self._reasons) == 1:
            return _stop(f"the first {n} calls all failed in the same way", error)
        if n >= max(least, self._limits.concurrency):
            return _stop(f"{n} calls in a row failed", error)
        return None

    def _at_first(self, error: Exception) -> JudgeAuditError:
        stop = _stop("the first call failed", error)
        if not self._fresh or not isinstance(error, JudgeError):
            return stop
        if error.status in _SETTINGS_STATUS or error.code in _SETTINGS_CODE:
            mend = error.mend or "Check the address, the key and the name of the model"
            return ConfigError(stop.what, mend=mend)
        return stop


def _reason(error: Exception) -> tuple[object, ...]:
    if isinstance(error, JudgeError) and (error.status or error.code):
        return classify(error), error.status, error.code
    return classify(error), describe(error)


def _stop(what: str, error: Exception) -> JudgeError:
    status = error.status if isinstance(error, JudgeError) else None
    told = describe(error) if status is None else f"{status}, {describe(error)}"
    mend = error.mend if isinstance(error, JudgeError) and error.mend else RESUME
    return JudgeError(f"{what}: {told}", mend=mend, status=status)
