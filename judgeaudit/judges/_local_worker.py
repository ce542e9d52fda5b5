"""A model served by a child process, as its parent sees it: start, ask, end."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import secrets
import select
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from judgeaudit.core.errors import PermanentError, TransientError
from judgeaudit.judges._text import short

__all__ = ["BATCH", "START_SECONDS", "TOO_LONG", "Served", "Worker"]

START_SECONDS: Final = 180.0
"""How long loading a model may take."""

BATCH: Final = 256
"""Tokens read at once. Another size gives other numbers; this is the fastest measured, and bounds
how long a dropped request goes on."""

TOO_LONG: Final = (
    "Nothing was cut: leave the item out, or serve a model with a longer context yourself and "
    "name it with --api-base"
)
"""What mends a prompt that does not fit."""

_SCRIPT: Final = Path(__file__).with_name("_local_server.py")
_END_SECONDS: Final = 5.0
_CONTROL_SECONDS: Final = 900.0
# libgomp reads these when it is loaded, so they are set for the child before it starts. Spinning
# threads on a busy machine cost thirty times the time.
_QUIET_THREADS: Final = {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "0"}


@dataclass(frozen=True, slots=True)
class Served:
    """What a worker serves.

    Parameters
    ----------
    path : Path
        The GGUF file.
    alias : str
        Name under which it is asked for.
    context : int
        Tokens that prompt and answer may have together.
    folder : Path
        Where states of the model are kept; private to this judge.
    """

    path: Path
    alias: str
    context: int
    folder: Path


class Worker:
    """One child process with one model and one sequence at a time.

    Not safe for concurrent requests: its owner asks it one at a time.
    """

    def __init__(self, served: Served) -> None:
        self.served = served
        self.key = secrets.token_hex(16)
        self.address = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None
        self._guard = threading.Lock()
        self._ended = False
        self._reaper: weakref.finalize[..., Worker] | None = None

    # -- life ---------------------------------------------------------------------------------

    def start(self, seconds: float = START_SECONDS) -> None:
        """Start the child and wait until it answers; blocking.

        Raises
        ------
        PermanentError
            If it cannot be started, cannot load the model or is not ready in time.
        """
        deadline = time.monotonic() + seconds
        with self._guard:
            if self._ended:
                raise PermanentError("closed before it was started", where=self._where())
            said = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
            try:
                process = _spawn(said)
            except OSError as error:
                said.close()
                raise PermanentError(
                    f"no process could be started: {error}", where=self._where()
                ) from None
            self._process, self._said = process, said
            self._reaper = weakref.finalize(self, _reap, process, said)
        told = {
            "path": str(self.served.path),
            "alias": self.served.alias,
            "context": self.served.context,
            "folder": str(self.served.folder),
            "key": self.key,
            "batch": BATCH,
        }
        answer = _converse(process, told, deadline)
        if "address" not in answer:
            why = answer.get("error") or self._why_it_ended(process, deadline)
            self.end()
            raise PermanentError(
                f"the model cannot be loaded: {why}",
                where=self._where(),
                mend="Check that the file is a complete model that this llama.cpp knows, and "
                "that there is memory for it",
            )
        self.address = answer["address"]
        self._wait_until_ready(deadline)

    def _wait_until_ready(self, deadline: float) -> None:
        while True:
            try:
                self.request("/v1/models", seconds=10)
            except TransientError:
                if not self.alive or time.monotonic() > deadline:
                    self.end()
                    raise
                time.sleep(0.05)
            else:
                return

    @property
    def alive(self) -> bool:
        """Whether the child runs."""
        return self._process is not None and self._process.poll() is None and not self._ended

    def end(self) -> None:
        """End the child, whatever it is doing; blocking, a few seconds at most. May be repeated."""
        with self._guard:
            self._ended = True
            if self._reaper is not None:
                self._reaper()

    def obituary(self) -> TransientError:
        """Say that the child died, which asking again (a new child) may mend."""
        code = None if self._process is None else self._process.poll()
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        return TransientError(
            f"the model's server ended by itself ({how})", where=self._where(), code="connection"
        )

    def _why_it_ended(self, process: subprocess.Popen[bytes], deadline: float) -> str:
        if process.poll() is None and time.monotonic() >= deadline:
            return "it was not ready in time"
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        said = b""
        with contextlib.suppress(ValueError):  # closed: ended from elsewhere
            if self._said is not None:
                self._said.seek(0)
                said = self._said.read()[-2000:]
        lines = said.decode("utf-8", "replace").strip().splitlines()
        return short(lines[-1], 300) if lines else f"it ended with code {process.returncode}"

    def _where(self) -> str:
        return f"local:{self.served.alias}"

    # -- requests -----------------------------------------------------------------------------

    def request(
        self,
        route: str,
        body: Mapping[str, Any] | None = None,
        seconds: float = _CONTROL_SECONDS,
    ) -> dict[str, Any]:
        """Make one request to the server; blocking. Verdicts are not asked for here.

        Raises
        ------
        PermanentError
            The request is refused; code "context_length_exceeded" where it is too long.
        TransientError
            The server is loading, gone or cut the connection.
        """
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        asked = urllib.request.Request(self.address + route, data=data, headers=headers)  # noqa: S310
        # no proxy of the environment: this never leaves the machine
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(asked, timeout=seconds) as response:
                found = json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refusal(error.code, error.read()) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            if not self.alive:
                raise self.obituary() from None
            raise TransientError(
                f"the model's server did not answer: {error}",
                where=self._where(),
                code="connection",
            ) from None
        return found if isinstance(found, dict) else {}

    def _refusal(self, status: int, body: bytes) -> PermanentError | TransientError:
        try:
            told = json.loads(body)["error"]
            said, kind = str(told["message"]), str(told["type"])
        except (ValueError, KeyError, TypeError):
            said, kind = short(body.decode("utf-8", "replace"), 200), ""
        if kind == "exceed_context_size_error":
            return PermanentError(
                f"the prompt does not fit the model's context: {said}",
                where=self._where(),
                mend=TOO_LONG,
                status=status,
                code="context_length_exceeded",
            )
        error = TransientError if status >= 500 else PermanentError
        return error(
            f"HTTP {status}: {said}", where=self._where(), status=status, code=kind or None
        )


def _spawn(said: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-P", str(_SCRIPT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=said,
        env={**os.environ, **_QUIET_THREADS},
        start_new_session=True,
    )


def _converse(
    process: subprocess.Popen[bytes], told: dict[str, Any], deadline: float
) -> dict[str, str]:
    """Tell the child its configuration and return what it answers; nothing if it does not."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(told).encode() + b"\n")
        process.stdin.flush()
    except OSError:  # it is gone already
        return {}
    ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
    try:
        found = json.loads(process.stdout.readline() if ready else b"")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _reap(process: subprocess.Popen[bytes], said: IO[bytes]) -> None:
    """Let the child end, else make it, and collect it."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        process.wait(timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
    said.close()
