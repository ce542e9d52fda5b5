"""A real OpenAI-compatible HTTP server on 127.0.0.1 whose every fault is chosen by the test.

In a test::

    with Loopback(hash_verdict) as server:  # or Loopback("hash"), or any Behaviour
        ...  # talk to server.api_base
    assert server.n_requests == 8

In a process of its own (prints the address, stops by itself)::

    python tests/support/loopback.py --port 0 --behaviour hash

`GET /stats` tells another process what was counted, `GET /prompts` each prompt's requests. Standard library only.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import socket
import struct
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Self

from loopback_answers import (
    BEHAVIOURS,
    MODEL,
    Answer,
    Behaviour,
    Seen,
    always,
    completion,
    error,
    every,
    first,
    hash_verdict,
    in_turn,
    prompt_key,
    says,
    seeded_verdict,
    verdict_of,
)

__all__ = [
    "BEHAVIOURS",
    "MODEL",
    "Answer",
    "Behaviour",
    "Loopback",
    "Seen",
    "always",
    "completion",
    "error",
    "every",
    "first",
    "hash_verdict",
    "in_turn",
    "prompt_key",
    "says",
    "seeded_verdict",
    "verdict_of",
]


class Loopback:
    """The server: a context manager that runs in a thread of its own.

    Parameters
    ----------
    behaviour : Behaviour or str
        What to do with a chat request; a name of `BEHAVIOURS` will do. May be changed while
        the server runs.
    latency : float
        Seconds before each chat answer, beside the answer's own delay.
    key : str, optional
        If given, requests without `Authorization: Bearer <key>` get 401.
    models : tuple of str
        What `/v1/models` lists.
    """

    def __init__(
        self,
        behaviour: Behaviour | str = hash_verdict,
        *,
        latency: float = 0.0,
        key: str | None = None,
        models: tuple[str, ...] = (MODEL,),
        port: int = 0,
        keep: bool = True,
    ) -> None:
        self.behaviour: Behaviour = (
            BEHAVIOURS[behaviour] if isinstance(behaviour, str) else behaviour
        )
        self.latency = latency
        self.key = key
        self.models = models
        self.port = port
        self.keep = keep
        self.seen: list[Seen] = []
        self.n_requests = 0
        self.n_other = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.by_prompt: Counter[str] = Counter()
        self.trouble: list[BaseException] = []
        self._ready = threading.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name="loopback", daemon=True)

    @property
    def url(self) -> str:
        """Address of the server, without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def api_base(self) -> str:
        """Address to give to OpenAI-compatible clients."""
        return f"{self.url}/v1"

    @property
    def stats(self) -> dict[str, int]:
        """What was counted so far."""
        return {
            "requests": self.n_requests,
            "prompts": len(self.by_prompt),
            "most_of_one_prompt": max(self.by_prompt.values(), default=0),
            "in_flight": self.in_flight,
            "most_in_flight": self.most_in_flight,
            "other": self.n_other,
        }

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(10) or self._stop is None:
            raise RuntimeError(f"the loopback server did not start: {self.trouble}")
        return self

    def __exit__(self, kind: object, *_exc: object) -> None:
        self.close()
        if self.trouble and kind is None:
            raise RuntimeError("the loopback server's own code failed") from self.trouble[0]

    def close(self) -> None:
        """Stop listening, cut what hangs, end the thread."""
        if self._loop is not None and self._stop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as exc:  # noqa: BLE001 - carried over to the test's own thread
            self.trouble.append(exc)
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._accept, "127.0.0.1", self.port, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client went away, or the test is over
        except Exception as exc:  # noqa: BLE001 - carried over to the test's own thread
            self.trouble.append(exc)
        finally:
            self._tasks.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serve one request; say whether the connection stays open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ", 2)
        path = target.partition("?")[0]
        headers = {
            k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)
        }
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        if method != "POST" or not path.endswith("/chat/completions"):
            return await self._send(reader, writer, self._side_door(path))
        try:
            body = json.loads(raw)
        except ValueError:
            return await self._send(reader, writer, error(400, "body is not JSON", None))
        self.n_requests += 1
        key = prompt_key(body)
        self.by_prompt[key] += 1
        n, k = self.n_requests, self.by_prompt[key]
        if self.keep:
            self.seen.append(Seen(path, headers, body, key))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self.key is not None and headers.get("authorization") != f"Bearer {self.key}":
                answer = BEHAVIOURS["401"](body, n, k)
            else:
                answer = self.behaviour(body, n, k)
            await asyncio.sleep(self.latency + answer.delay)
            return await self._send(reader, writer, answer)
        finally:
            self.in_flight -= 1

    def _side_door(self, path: str) -> Answer:
        if path.endswith("/models"):
            listed = [{"id": m, "object": "model", "owned_by": "loopback"} for m in self.models]
            return Answer(body={"object": "list", "data": listed})
        if path == "/stats":
            return Answer(body=dict(self.stats))
        if path == "/prompts":
            return Answer(body=dict(self.by_prompt))
        self.n_other += 1
        return error(404, f"no such path: {path}", None)

    async def _send(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Answer
    ) -> bool:
        if answer.fault == "hang":
            await reader.read()  # until the client gives up, or the server is closed
            return False
        if answer.fault == "reset":
            # no linger: the kernel sends RST instead of FIN
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
        text = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
        payload = text.encode("utf-8", "surrogatepass")
        lines = [
            f"HTTP/1.1 {answer.status} X",
            "content-type: application/json",
            f"content-length: {len(payload)}",
            *(f"{k}: {v}" for k, v in answer.headers.items()),
        ]
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
        if answer.fault == "cut":
            writer.write(payload[: len(payload) // 2])
            await writer.drain()
            return False
        if answer.fault == "drip":
            for byte in payload:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(answer.drip_seconds)
            return True
        writer.write(payload)
        await writer.drain()
        return True


def main() -> int:
    """Serve until the time is over or a signal ends the process."""
    cli = argparse.ArgumentParser(description=__doc__)
    cli.add_argument("--port", type=int, default=0, help="0: any free port")
    cli.add_argument("--behaviour", choices=sorted(BEHAVIOURS), default="hash")
    cli.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    cli.add_argument("--key", help="refuse requests without this bearer key")
    cli.add_argument("--seconds", type=float, default=3600.0, help="stop after this time")
    cli.add_argument("--url-file", type=Path, help="also write the address here")
    args = cli.parse_args()
    server = Loopback(
        args.behaviour, latency=args.latency, key=args.key, port=args.port, keep=False
    )
    with server, contextlib.suppress(KeyboardInterrupt):
        print(server.api_base, flush=True)
        if args.url_file:
            args.url_file.write_text(server.api_base, encoding="utf-8")
        time.sleep(args.seconds)
    print(json.dumps(server.stats), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
