"""An OpenAI-compatible endpoint for a hardened judge; the only module that serves `aiohttp`.

A request waits for one of so many seats, and is refused with 429 where too many wait already. What
came of it is in the ledger before the answer goes out. SIGTERM drains: what is being answered is
answered, what comes is refused with 503.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import json
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from aiohttp import web

from judgeaudit.core.errors import ConfigError, JudgeError, LedgerError, PermanentError
from judgeaudit.cure.hardened import Answer, Hardened
from judgeaudit.cure.hardened_chat import chat_completion, prompt_of_chat
from judgeaudit.serving.asked import Asked, read_request
from judgeaudit.serving.faults import FaultError, fault_of
from judgeaudit.serving.log import RequestLog
from judgeaudit.serving.quiet import quiet_logger

__all__ = ["Endpoint", "Rules"]

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_LOG: Final = logging.getLogger("judgeaudit.serving")
_JSON: Final = "application/json"
_HEADERS: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_BODY_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Rules:
    """Within what an endpoint answers.

    Parameters
    ----------
    host, port
        Where it listens; port 0: any free one.
    token : str, optional
        If given, every request must carry it as a bearer token.
    concurrency : int
        Requests answered at once.
    queue : int
        Requests that may wait beside them; more get 429.
    most_bytes : int
        Of a body; more get 413.
    seconds : float
        For one answer; then 503.
    """

    host: str = "127.0.0.1"
    port: int = 0
    token: str | None = None
    concurrency: int = 4
    queue: int = 16
    most_bytes: int = 2 << 20
    seconds: float = 300.0

    @property
    def on_loopback(self) -> bool:
        """Whether nobody but this machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


@dataclass(slots=True, eq=False)
class Endpoint:
    """A hardened judge that answers chat completions.

    Parameters
    ----------
    judge : Hardened
        Who answers; closed with the endpoint.
    log : RequestLog
        Of its requests.
    rules : Rules
        Within what.
    """

    judge: Hardened
    log: RequestLog
    rules: Rules = field(default_factory=Rules)
    port: int = 0
    draining: bool = False
    inside: int = 0
    _seats: asyncio.Semaphore = field(init=False)
    _idle: asyncio.Event = field(init=False)
    _runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Begin to listen; `port` is then the one that is used.

        Raises
        ------
        OSError
            If that port or host cannot be used.
        """
        self._seats = asyncio.Semaphore(self.rules.concurrency)
        self._idle = asyncio.Event()
        self._idle.set()
        app = web.Application(
            client_max_size=self.rules.most_bytes, middlewares=[self._said_in_openais_shape]
        )
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/v1/models/{model}", self._model)
        app.router.add_post("/v1/chat/completions", self._completions)
        self._runner = web.AppRunner(
            app,
            access_log=None,
            logger=quiet_logger(),
            # a compressed body is refused, so nothing is to be unpacked
            auto_decompress=False,
            keepalive_timeout=15.0,
            shutdown_timeout=1.0,
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.rules.host, self.rules.port)
        await site.start()
        self.port = int(self._runner.addresses[0][1])

    async def drain(self, seconds: float = 600.0) -> bool:
        """Refuse what comes, and wait for what is being answered.

        Returns
        -------
        bool
            Whether all of it was answered within the time.
        """
        self.draining = True
        try:
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True

    async def aclose(self) -> None:
        """Stop to listen, drop what is left, and close judge and ledger."""
        if self._runner is not None:
            await self._runner.cleanup()
        await self.judge.aclose()
        self.log.close()

    # ---- requests ------------------------------------------------------------------------

    @web.middleware
    async def _said_in_openais_shape(
        self, request: web.Request, handler: Handler
    ) -> web.StreamResponse:
        try:
            self._check(request)
            response = await handler(request)
        except web.HTTPRequestEntityTooLarge:
            response = self._refused(self._too_large())
        except web.HTTPException as error:
            code = "not_found" if error.status == 404 else "method_not_allowed"
            message = f"{request.method} {request.path[:80]!r} is not served here"
            response = self._refused(FaultError(error.status, message, code=code))
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - the client gets an answer, the log the reason
            fault = fault_of(error)
            if fault.status == 500:
                _LOG.exception("a request failed")
            elif isinstance(error, JudgeError):
                _LOG.warning("%s: %s", fault.message, " ".join(str(error).split())[:500])
            response = self._refused(fault)
        if not response.prepared:
            response.headers.update(_HEADERS)
        return response

    def _check(self, request: web.Request) -> None:
        token = self.rules.token
        if token is not None:
            scheme, _, given = request.headers.get("Authorization", "").partition(" ")
            raw = given.strip().encode("utf-8", "surrogateescape")
            if scheme.lower() != "bearer" or not hmac.compare_digest(raw, token.encode()):
                raise FaultError(
                    401,
                    "no or a wrong bearer token",
                    code="invalid_api_key",
                    headers={"WWW-Authenticate": "Bearer"},
                )
        elif not _is_this_machine(request.headers.get("Host", "")):
            # a page of another name that had it point here
            raise FaultError(400, "this server answers to this machine only", code="wrong_host")
        # by its announced length, so that nobody waits for a body that is not wanted
        if (request.content_length or 0) > self.rules.most_bytes:
            raise self._too_large()

    def _too_large(self) -> FaultError:
        message = f"the body is larger than {self.rules.most_bytes:,} bytes"
        return FaultError(413, message, code="request_too_large", headers={"Connection": "close"})

    def _refused(self, fault: FaultError) -> web.Response:
        headers = {**fault.headers}
        if self.draining:
            headers["Connection"] = "close"
        return web.Response(
            status=fault.status, body=fault.body(), content_type=_JSON, headers=headers
        )

    async def _models(self, _request: web.Request) -> web.Response:
        return _json({"object": "list", "data": [self._card()]})

    async def _model(self, request: web.Request) -> web.Response:
        named = request.match_info["model"]
        if named not in {self.judge.name, "hardened"}:
            raise FaultError(
                404, f"there is no model {named[:80]!r} here", code="model_not_found", param="model"
            )
        return _json(self._card())

    def _card(self) -> dict[str, Any]:
        return {
            "id": self.judge.name,
            "object": "model",
            "created": 0,
            "owned_by": "judgeaudit",
            "sha256": self.judge.identity,
            "strategy": self.judge.config.strategy,
            "invariant_by_construction": self.judge.config.discards,
        }

    async def _completions(self, request: web.Request) -> web.StreamResponse:
        if request.content_type != _JSON:
            # what a web page can send without asking is no JSON by its type
            raise FaultError(400, f"the body must be {_JSON}", code="invalid_content_type")
        body = await _body(request)
        began = time.monotonic()
        row: dict[str, Any] = {"event": "request", "bytes": len(body)}
        try:
            asked = read_request(body, self.judge.name)
            answer = await self._seated(asked, row)
        except Exception as error:
            fault = fault_of(error)
            row |= {"status": fault.status, "code": fault.code}
            await self._kept(row, began)
            raise
        row |= _told(answer) | {"status": 200}
        await self._kept(row, began)
        made = chat_completion(self.judge, answer)
        if asked.ignored:
            made["judgeaudit"]["ignored"] = list(asked.ignored)
        if asked.stream:
            return await _streamed(request, made, usage=asked.usage_at_end)
        return _json(made)

    async def _seated(self, asked: Asked, row: dict[str, Any]) -> Answer:
        """Answer once there is a seat; refuse at once where too many wait."""
        if self.draining:
            raise FaultError(
                503,
                "this server is shutting down",
                "server_error",
                "shutting_down",
                headers={"Retry-After": "5"},
            )
        if self.inside >= self.rules.concurrency + self.rules.queue:
            raise FaultError(
                429,
                f"{self.inside} requests are here already",
                "rate_limit_error",
                "rate_limit_exceeded",
                headers={"Retry-After": "1"},
            )
        prompt = prompt_of_chat(self.judge, asked.messages)
        row["prompt_sha256"] = prompt.sha256
        self.inside += 1
        self._idle.clear()
        try:
            async with asyncio.timeout(self.rules.seconds), self._seats:
                return await self.judge.ask(prompt, draw=asked.draw)
        except ConfigError as e:
            # the prompt was read already: it is the judge that cannot be used, not the request
            raise PermanentError(e.what, where=e.where, mend=e.mend) from None
        finally:
            self.inside -= 1
            if not self.inside:
                self._idle.set()

    async def _kept(self, row: dict[str, Any], began: float) -> None:
        row["seconds"] = round(time.monotonic() - began, 6)
        try:
            await asyncio.to_thread(self.log.append, row)
        except LedgerError as error:
            _LOG.error("%s", error)
            # an answer that nobody could prove later is not given
            raise FaultError(
                503, "the ledger cannot be written", "server_error", "ledger_unwritable"
            ) from None


async def _body(request: web.Request) -> bytes:
    packed = request.headers.get("Content-Encoding", "identity").strip().lower()
    if packed not in {"", "identity"}:
        raise FaultError(415, "the body must not be compressed", code="unsupported_encoding")
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            return await request.read()
    except TimeoutError:
        raise FaultError(400, "the body did not come in time", code="slow_body") from None
    except web.HTTPException:
        raise
    except Exception:  # noqa: BLE001 - cut off, or cut into wrong chunks: all of them the client's
        raise FaultError(400, "the body did not come whole", code="broken_body") from None


def _is_this_machine(host: str) -> bool:
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return name.lower() == "localhost"


def _told(answer: Answer) -> dict[str, Any]:
    """Return what a ledger keeps of an answer: no text of a trajectory or of a policy."""
    return {
        "outcome": answer.outcome,
        "label": answer.label,
        "abstains": answer.abstains,
        "p_unsafe": answer.p_unsafe,
        "said": answer.said,
        "members": [
            {k: m.get(k) for k in ("wording", "outcome", "label", "p_unsafe") if k in m}
            for m in answer.members
        ],
        "served_model": answer.served_model,
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "cost": answer.cost,
    }


def _json(value: dict[str, Any]) -> web.Response:
    return web.Response(body=_bytes(value), content_type=_JSON)


def _bytes(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


async def _streamed(
    request: web.Request, made: dict[str, Any], *, usage: bool
) -> web.StreamResponse:
    """Send an answer as server-sent events; it is known whole before the first one goes out."""
    response = web.StreamResponse(
        headers={**_HEADERS, "Content-Type": "text/event-stream", "X-Accel-Buffering": "no"}
    )
    with contextlib.suppress(ConnectionError):  # who hung up needs no answer; the ledger has it
        await _events(request, response, made, usage=usage)
    return response


async def _events(
    request: web.Request, response: web.StreamResponse, made: dict[str, Any], *, usage: bool
) -> None:
    await response.prepare(request)
    head = {k: made[k] for k in ("id", "created", "model", "system_fingerprint")}
    head["object"] = "chat.completion.chunk"
    message = made["choices"][0]["message"]

    async def send(delta: dict[str, Any], finish: str | None, **more: Any) -> None:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        await response.write(b"data: " + _bytes({**head, "choices": [choice], **more}) + b"\n\n")

    await send({"role": "assistant", "content": ""}, None)
    if message["content"] is not None:
        await send({"content": message["content"]}, None)
    else:
        await send({"refusal": message["refusal"]}, None)
    await send({}, "stop", judgeaudit=made["judgeaudit"])
    if usage:
        last = {**head, "choices": [], "usage": made["usage"]}
        await response.write(b"data: " + _bytes(last) + b"\n\n")
    await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
