"""Judges on this machine: a small language model on the CPU, without a key, asked through LiteLLM.

The default is so small that it judges badly; it is there so that the harness can be tried on a real
model. What was measured, and why it is served as it is: `docs/decisions/0701-embedded-default.md`.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any, Final

from judgeaudit.core.errors import (
    ConfigError,
    JudgeError,
    PermanentError,
)
from judgeaudit.core.records import (
    Call,
    GuardFormat,
    JudgePrompt,
    JudgeSpec,
    JudgeTemplate,
    Message,
    Reply,
)
from judgeaudit.judges._checks import check_decoding
from judgeaudit.judges._door import ATTEMPT_SECONDS
from judgeaudit.judges._guards import GUARDS
from judgeaudit.judges._local_grammar import answer_tokens, grammar_for
from judgeaudit.judges._local_prefix import Prefixes
from judgeaudit.judges._local_worker import TOO_LONG, Served, Worker
from judgeaudit.judges._weights import DEFAULT_MODEL, PACKAGED, Found, find, is_path, packaged
from judgeaudit.judges.base import JUDGES
from judgeaudit.judges.via_litellm import LiteLLMJudge

__all__ = ["CONTEXT", "LocalJudge", "engine_version", "local_spec", "usable_cores"]

CONTEXT: Final = 8192
"""Tokens that a prompt and its answer may have together, if the model allows as many."""

_MOST_WORKERS: Final = 8
_DEATHS: Final = 3
_EXTRA: Final = "pip install 'judgeaudit[local]' (in a clone: pip install '.[local]')"
_OFFER: Final = (
    "To see the harness without a model, name a scripted judge: --judge scripted:noisy "
    "(its verdicts are invented)"
)
_FOLDER: Final = "judgeaudit-local-"
_OWNER: Final = "owner.lock"


def local_spec(
    model: str | None = None,
    *,
    template: JudgeTemplate,
    decoding: dict[str, Any] | None = None,
    form: GuardFormat | None = None,
) -> JudgeSpec:
    """Name a judge on this machine.

    Parameters
    ----------
    model : str, optional
        "smollm2-135m" (default), or the path of a GGUF file.
    template : JudgeTemplate
        How it is asked. "verdict_only" suits small models: a rationale costs as much as a prompt.
    decoding : dict, optional
        Parameters that win over the defaults: temperature 1 and no truncation of the
        distribution, so that the model's own probabilities decide, and repeats show its jitter.
        At temperature 0 repeats are copies of each other.
    form : str, optional
        Of a guard model: it answers in its own form instead of by a grammar.

    Returns
    -------
    JudgeSpec
        With the hash of the weights; a known model need not be on this machine for that.

    Raises
    ------
    ConfigError
        An unknown model, or no GGUF file at the path.
    """
    model = model or DEFAULT_MODEL
    weights_sha256 = find(model).sha256 if is_path(model) else packaged(model).sha256
    own = dict(decoding or {})
    body: dict[str, Any] = {"min_p": 0.0, "top_k": 0}
    if form is None:
        body = {"grammar": grammar_for(template.answer), **body}
    body |= own.pop("extra_body", None) or {}
    return JudgeSpec(
        backend="local",
        model=model,
        template_id=template.id,
        template_sha256=template.sha256,
        output_format=form or "grammar",
        decoding={
            "temperature": 1.0,
            "top_p": 1.0,
            "max_tokens": GUARDS[form].tokens if form else answer_tokens(template.answer),
            **own,
            "extra_body": body,
        },
        sends_seed=True,
        weights_sha256=weights_sha256,
    )


def engine_version() -> str | None:
    """Return the version of the extra that runs models, or None where it is not installed."""
    if importlib.util.find_spec("xllamacpp") is None:
        return None
    try:
        return importlib.metadata.version("xllamacpp")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def usable_cores() -> int:
    """Return how many calls this machine can work on at once; each takes one core."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, min(cores, _MOST_WORKERS))


@JUDGES.register("local")
class LocalJudge:
    """A language model on this machine's CPU.

    Each of its workers is a llama.cpp server in a process of its own, on 127.0.0.1, with one
    thread; they are started when they are first needed. What a call answers depends on its prompt
    and its seed alone.

    Parameters
    ----------
    spec : JudgeSpec
        As of `local_spec`. Where it has no hash of the weights, that of the file is filled in.
    workers : int, optional
        Calls worked on at once; others wait. By default as many as there are cores to use.
    context : int
        Tokens that prompt and answer may have together.

    Raises
    ------
    ConfigError
        The extra or the weights are missing (says how to get them), the weights are others than
        those of the spec, or a decoding parameter is none. No other judge takes its place.
    """

    def __init__(
        self, spec: JudgeSpec, *, workers: int | None = None, context: int = CONTEXT
    ) -> None:
        if engine_version() is None:
            raise ConfigError(
                "the embedded judge needs the package xllamacpp, which is not installed",
                where=f"local:{spec.model}",
                mend=f"Install it with `{_EXTRA}`{_then_fetch(spec.model)}. {_OFFER}",
            )
        check_decoding(spec)
        found = _found(spec)
        if spec.weights_sha256 not in {None, found.sha256}:
            raise ConfigError(
                f"the weights at {found.path} are not those of this judge: sha256 {found.sha256}, "
                f"not {spec.weights_sha256}",
                where=f"local:{spec.model}",
                mend="Bring the file back, or begin a new run",
            )
        self._spec = spec.model_copy(update={"weights_sha256": found.sha256})
        self._alias = re.sub(r"[^\w.-]+", "-", found.name) or "model"
        self._path = found.path
        self._context = context
        self._room = asyncio.Semaphore(workers or usable_cores())
        self._prefixes = Prefixes()
        self._idle: list[_Door] = []
        self._doors: set[_Door] = set()
        self._folder: Path | None = None
        self._owner: IO[bytes] | None = None
        self._deaths = 0
        self._closed = False
        self._attempt_seconds = ATTEMPT_SECONDS

    def __repr__(self) -> str:
        return f"LocalJudge({self._spec.model!r})"

    @property
    def spec(self) -> JudgeSpec:
        """Identity of the judge."""
        return self._spec

    @property
    def attempt_seconds(self) -> float:
        """Wall-clock limit of one request, in seconds, once a worker is free for it."""
        return self._attempt_seconds

    @attempt_seconds.setter
    def attempt_seconds(self, seconds: float) -> None:
        self._attempt_seconds = seconds

    async def ask(self, prompt: JudgePrompt, call: Call) -> Reply:
        """Ask once; see `Judge.ask`.

        Raises
        ------
        PermanentError
            The model cannot be loaded, or the prompt does not fit its context (code
            "context_length_exceeded"): nothing is ever cut.
        TransientError
            The server ended by itself; another one is started for the next call.
        """
        async with self._worker() as door:
            await self._prefixes.load(door.worker, prompt)
            return await door.ask(prompt, call, self._attempt_seconds)

    @asynccontextmanager
    async def prepared(self, prompt: JudgePrompt) -> AsyncIterator[Worker]:
        """Lend a worker that is in the state from which this prompt is read; see `ask`."""
        async with self._worker() as door:
            await self._prefixes.load(door.worker, prompt)
            yield door.worker

    async def probe(self) -> Reply:
        """Start a worker and ask it one short question; see `ProbedJudge.probe`."""
        hello = Message(role="user", content="Answer with one word: SAFE")
        call = Call(item="", condition="", repeat=0, prompt_sha256="", judge_sha256="")
        try:
            return await self.ask(JudgePrompt(messages=(hello,)), call)
        except PermanentError as error:
            raise ConfigError(error.what, where=error.where, mend=error.mend) from None

    async def aclose(self) -> None:
        """End the workers, whatever they are doing, and remove what they stored."""
        self._closed = True
        doors, self._doors, self._idle = self._doors, set(), []
        await asyncio.gather(*(door.close() for door in doors))
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        if self._owner is not None:
            self._owner.close()

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[_Door]:
        """Lend a worker, started if need be, to one call."""
        async with self._room:
            door = self._idle.pop() if self._idle else await self._started()
            try:
                yield door
            except JudgeError as error:
                if door.worker.alive:
                    raise
                raise self._died(door, error) from None
            else:
                self._deaths = 0
            finally:
                if door.worker.alive and not self._closed:
                    self._idle.append(door)

    async def _started(self) -> _Door:
        if self._closed:
            raise PermanentError("this judge is closed", where=f"local:{self._spec.model}")
        if self._folder is None:
            self._folder, self._owner = _own_folder()
        served = Served(self._path, self._alias, self._context, self._folder)
        worker = Worker(served)
        door = _Door(worker, self._spec)
        self._doors.add(door)
        try:
            await asyncio.to_thread(worker.start)
            door.open()
        except BaseException:
            # also where the caller lost patience: no child is left that nobody knows of
            self._doors.discard(door)
            await asyncio.shield(asyncio.to_thread(worker.end))
            raise
        return door

    def _died(self, door: _Door, error: JudgeError) -> JudgeError:
        self._doors.discard(door)
        self._deaths += 1
        if self._closed:
            return error
        last = door.worker.obituary()
        if self._deaths < _DEATHS:
            return last
        return PermanentError(
            f"{last.what}, {self._deaths} times in a row",
            where=last.where,
            mend="Check that there is memory for the model, or give another one",
        )


class _Door:
    """A worker, and the LiteLLM judge that asks it."""

    def __init__(self, worker: Worker, spec: JudgeSpec) -> None:
        self.worker = worker
        self._spec = spec
        self._judge: LiteLLMJudge | None = None

    def open(self) -> None:
        """Set the way to the worker up, once it has an address."""
        _keep_proxies_off_loopback()
        spec, served = self._spec, self.worker.served
        body = {**spec.decoding.get("extra_body", {}), "cache_prompt": True, "id_slot": 0}
        inner = spec.model_copy(
            update={
                "backend": "litellm",
                "model": f"openai/{served.alias}",
                "api_base": f"{self.worker.address}/v1",
                "decoding": {**spec.decoding, "extra_body": body},
            }
        )
        self._judge = LiteLLMJudge(inner, api_key=self.worker.key)

    async def ask(self, prompt: JudgePrompt, call: Call, seconds: float) -> Reply:
        """Ask through LiteLLM, and say of failures where they really were."""
        assert self._judge is not None
        self._judge.attempt_seconds = seconds
        where = f"local:{self._spec.model}"
        try:
            reply = await self._judge.ask(prompt, call)
        except JudgeError as error:
            error.where = where
            if error.code == "context_length_exceeded":
                error.mend = TOO_LONG
            raise
        # nobody is paid for it: the price is known, and it is nothing
        return reply.model_copy(update={"cost": 0.0})

    async def close(self) -> None:
        """End the worker."""
        await asyncio.to_thread(self.worker.end)
        if self._judge is not None:
            await self._judge.aclose()


def _found(spec: JudgeSpec) -> Found:
    try:
        return find(spec.model)
    except ConfigError as error:
        if is_path(spec.model) or spec.model not in PACKAGED:
            raise
        raise ConfigError(error.what, where=error.where, mend=f"{error.mend}. {_OFFER}") from None


def _then_fetch(model: str) -> str:
    with contextlib.suppress(ConfigError):
        find(model)
        return ""
    return "" if is_path(model) else f", then `judgeaudit local fetch {model}`"


def _keep_proxies_off_loopback() -> None:
    """Make sure that a proxy set in the environment is not asked for 127.0.0.1."""
    names = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
    if not any(os.environ.get(name) for name in names):
        return
    # clients read one of the two names, and not the same one
    listed = [v for n in ("no_proxy", "NO_PROXY") if (v := os.environ.get(n, "").strip())]
    if "127.0.0.1" not in ",".join(listed):
        listed.append("127.0.0.1")
    os.environ["no_proxy"] = os.environ["NO_PROXY"] = ",".join(dict.fromkeys(listed))


def _own_folder() -> tuple[Path, IO[bytes]]:
    """Make a private folder for states, and remove those of judges that were killed.

    A lock on a file in it, which the system drops when a process dies, tells the one from the
    other.
    """
    import fcntl  # not on Windows, where only this judge is missing

    for old in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
        with contextlib.suppress(OSError), (old / _OWNER).open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(old, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=_FOLDER))
    owner = (folder / f"new-{_OWNER}").open("wb")
    fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
    # only now can others find it, when it is locked
    (folder / f"new-{_OWNER}").rename(folder / _OWNER)
    return folder, owner
