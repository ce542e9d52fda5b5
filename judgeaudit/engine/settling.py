"""What a judge accepts, found out before the plan is made: answer format and parameters.

Only where the choices leave it open (`auto`, `drop_unsupported`). What is found is frozen: it is
part of the judge's identity, stands in the ledger, and a resumed run takes it from there unasked.
See `docs/decisions/0305-what-a-judge-accepts.md`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from judgeaudit.core.errors import ConfigError, PermanentError, TransientError
from judgeaudit.core.records import (
    AuditSpec,
    Call,
    JudgePrompt,
    JudgeSpec,
    Message,
    OutputFormat,
    Reply,
)
from judgeaudit.engine.failures import UNREACHABLE, classify
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Limits, backoff
from judgeaudit.judges.base import Judge

__all__ = ["FORMATS", "UNSTATED", "Settled", "asettle", "frozen", "is_open"]

FORMATS: Final[tuple[OutputFormat, ...]] = ("json_schema", "json_mode", "plain")
"""The formats that are tried, the strictest first."""

UNSTATED: Final = 2_000
"""Tokens that an answer counts for where its server states none: never nothing."""

_KEY: Final = "settled"
_DROPPED: Final = "dropped_parameters"
# An unbound model answers with the word, a bound one cannot. JSON is named, for some providers
# refuse JSON mode where no message does.
_PROMPT: Final = JudgePrompt(
    messages=(
        Message(
            role="user",
            content="Is a friendly greeting SAFE or UNSAFE? Answer with that one word. Only if "
            'your answers must be JSON, answer with an object that has it under "verdict".',
        ),
    )
)
_ACCEPTING: Final = frozenset(
    {"callable", "control", "hardened", "http", "inspect", "local", "replay", "scripted"}
)
_PATIENCE: Final = 5.0  # beyond the judge's own limit, for judges that have none
_CUT: Final = frozenset({"length", "max_tokens", "content_filter"})


@dataclass(frozen=True, slots=True)
class Settled:
    """What a judge was found to accept.

    Parameters
    ----------
    output_format : str
        How verdicts are asked for, in the whole audit.
    dropped : tuple of str
        Parameters that the judge refuses, and that are therefore not sent.
    requests : int
        What it took to find out.
    refused : tuple of str
        What was refused, and in which words.
    tokens : int
        Sent and answered; a request that does not state them counts as `UNSTATED`.
    """

    output_format: OutputFormat
    dropped: tuple[str, ...] = ()
    requests: int = 0
    refused: tuple[str, ...] = ()
    tokens: int = 0

    def of(self, judge: JudgeSpec) -> JudgeSpec:
        """Return the judge that is asked: this format, and without what is dropped."""
        return _without(
            judge.model_copy(update={"output_format": self.output_format}), self.dropped
        )

    @property
    def extra(self) -> dict[str, Any]:
        """What a ledger remembers of it."""
        told = {
            "requests": self.requests,
            "tokens": self.tokens,
            "refused": list(self.refused),
        }
        return {_KEY: told} | ({_DROPPED: list(self.dropped)} if self.dropped else {})


def is_open(spec: AuditSpec) -> bool:
    """Say whether an audit's choices leave to the judge how it is asked."""
    return spec.output_format == "auto" or spec.drop_unsupported


def frozen(path: Path) -> Settled | None:
    """Return what the ledger of a run that has begun holds; None where there is no ledger."""
    if not path.is_file():
        return None
    with Ledger.open_readonly(path) as view:
        extra, judge = view.meta.extra, view.meta.judge
    told = extra.get(_KEY) or {}
    return Settled(
        output_format=judge.output_format,
        dropped=tuple(extra.get(_DROPPED) or ()),
        requests=told.get("requests", 0),
        refused=tuple(told.get("refused") or ()),
        tokens=told.get("tokens", 0),
    )


async def asettle(
    spec: AuditSpec, judge: JudgeSpec, limits: Limits, make: Callable[[JudgeSpec], Judge]
) -> Settled:
    """Ask a judge what it accepts; a few requests, each of them counted.

    Parameters
    ----------
    spec : AuditSpec
        The choices: `output_format`, `drop_unsupported`.
    judge : JudgeSpec
        With everything that was asked for.
    limits : Limits
        How often and how long to try where the server is busy.
    make : callable
        JudgeSpec -> Judge.

    Raises
    ------
    ConfigError
        The judge cannot be asked, or refuses something that may not be left out; says what.
    TransientError, QuotaExhaustedError
        It does not answer now.
    """
    if judge.backend in _ACCEPTING:
        flag = "--output-format auto" if spec.output_format == "auto" else "--drop-unsupported"
        raise ConfigError(
            f"{flag} does not go with judge {spec.judge!r}", mend="It accepts all it is asked with"
        )
    formats = FORMATS if spec.output_format == "auto" else (judge.output_format,)
    return await _Settling(judge, formats, spec.drop_unsupported, limits, make).go()


@dataclass(slots=True, eq=False)
class _Settling:
    judge: JudgeSpec
    formats: tuple[OutputFormat, ...]
    may_drop: bool
    limits: Limits
    make: Callable[[JudgeSpec], Judge]
    dropped: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    requests: int = 0
    tokens: int = 0

    async def go(self) -> Settled:
        # the last is accepted, or an error
        for form in self.formats:
            if await self._accepts(form):
                break
        dropped, refused = tuple(self.dropped), tuple(self.refused)
        return Settled(form, dropped, self.requests, refused, self.tokens)

    async def _accepts(self, form: OutputFormat) -> bool:
        """Try a format; leave out, one after the other, what may be left out."""
        last = form == self.formats[-1]
        while True:
            asked = Settled(form, tuple(self.dropped)).of(self.judge)
            try:
                reply = await self._ask(asked)
            except PermanentError as error:
                name = error.parameter
                if self.may_drop and name and _without(asked, [name]) != asked:
                    self.dropped.append(name)
                    self.refused.append(f"{name}: {error.what}")
                    continue
                if last or classify(error) != "bad_request":
                    raise ConfigError(error.what, where=error.where, mend=error.mend) from None
                self.refused.append(f"{form}: {error.what}")
                return False
            if last or _is_kept(reply):
                return True
            self.refused.append(f"{form}: accepted, but the answer was no JSON object")
            return False

    async def _ask(self, spec: JudgeSpec) -> Reply:
        judge = self.make(spec)
        try:
            failures = 0
            while True:
                try:
                    return await self._once(judge)
                except TransientError as error:
                    failures += 1
                    wait = backoff(self.limits, failures, error.retry_after)
                    if error.code == UNREACHABLE and failures > 1:
                        raise ConfigError(error.what, where=error.where, mend=error.mend) from None
                    if failures >= self.limits.attempts or wait > self.limits.longest_wait:
                        raise
                await asyncio.sleep(wait)
        finally:
            await judge.aclose()

    async def _once(self, judge: Judge) -> Reply:
        call = Call(
            item="",
            condition="settling",
            repeat=0,
            prompt_sha256=_PROMPT.sha256,
            judge_sha256=judge.spec.sha256,
        )
        self.requests += 1
        limit = self.limits.attempt_seconds + _PATIENCE
        try:
            async with asyncio.timeout(limit):
                reply = await judge.ask(_PROMPT, call)
        except TimeoutError:
            raise TransientError(f"no answer within {limit:g} s", code="timeout") from None
        counts = reply.prompt_tokens, reply.completion_tokens
        self.tokens += UNSTATED if None in counts else sum(c or 0 for c in counts)
        return reply


def _is_kept(reply: Reply) -> bool:
    """Say whether an answer is what a bound model writes; one that was cut may be."""
    text = (reply.text or "").strip()
    return not text or text.startswith("{") or reply.finish_reason in _CUT


def _without(judge: JudgeSpec, names: list[str] | tuple[str, ...]) -> JudgeSpec:
    """Return a judge that is asked without these parameters."""
    gone = {*names, *(["top_logprobs"] if "logprobs" in names else [])}
    decoding = {k: v for k, v in judge.decoding.items() if k not in gone}
    if isinstance(beside := decoding.get("extra_body"), dict):
        decoding["extra_body"] = {k: v for k, v in beside.items() if k not in names}
    seeded = judge.sends_seed and "seed" not in names
    return judge.model_copy(update={"decoding": decoding, "sends_seed": seeded})
