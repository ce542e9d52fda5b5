"""How a request that brought no answer ends: one of our errors, or a content filter's reply."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from judgeaudit.core.errors import JudgeError, TransientError
from judgeaudit.core.records import Reply
from judgeaudit.judges._faults import Facts, read_fault, retry_after
from judgeaudit.judges._text import Scrubber, short

__all__ = ["Ending"]


@dataclass(frozen=True, slots=True)
class Ending:
    """Words the failures of one judge.

    Parameters
    ----------
    model : str
        The judge's model.
    where : str
        Model and address.
    address : str
        Where requests go, in words.
    key_name : str, optional
        The environment variable that holds the key.
    scrub : Scrubber
        Takes keys out of what others say.
    """

    model: str
    where: str
    address: str
    key_name: str | None
    scrub: Scrubber

    def of(self, facts: Facts, seconds: float) -> JudgeError | Reply:
        """Return the error that a failure is, or the reply that a content filter's stop is."""
        fault = read_fault(facts, self.key_name, self.address)
        # scrubbed before it is cut: half a key would not be known as one
        said = short(self.scrub.message(" ".join(facts.message.split())), 300).rstrip(".")
        if fault.kind is None:
            return Reply(text=None, finish_reason=fault.what, refusal=said or None, seconds=seconds)
        wait = retry_after(facts.headers, dt.datetime.now(dt.UTC))
        return fault.kind(
            self.scrub.message(fault.what) + (f": {said}" if fault.quotes and said else ""),
            where=self.model if self.address in fault.what else self.where,
            mend=fault.mend,
            status=facts.status,
            code=fault.code,
            retry_after=wait if fault.kind is TransientError else None,
            parameter=fault.parameter,
        )

    def late(self, limit: float) -> TransientError:
        """Return the error of a request that took longer than its limit in seconds."""
        return TransientError(f"no answer within {limit:g} s", where=self.where, code="timeout")

    def unreadable(self, what: str) -> TransientError:
        """Return the error of an answer that is no answer."""
        return TransientError(what, where=self.where, code="unreadable_body")
