"""Judges that are a Python function: `callable:package.module:name`, `callable:file.py:name`.

The function is told what it names among its parameters, and answers with a label, a text, or a
dict; it may be a coroutine function. What it raises is a failure, and what else it returns is one,
too: never a verdict. See `docs/decisions/0814-functions-and-endpoints.md`.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import importlib.util
import inspect
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from judgeaudit.core.errors import ConfigError, JudgeError, PermanentError, TransientError
from judgeaudit.core.hashing import sha256_of
from judgeaudit.core.records import Call, JudgePrompt, JudgeSpec, Reply
from judgeaudit.judges._door import ATTEMPT_SECONDS
from judgeaudit.judges._said import reply_of
from judgeaudit.judges._text import Scrubber, short
from judgeaudit.judges.base import JUDGES

__all__ = ["CallableJudge", "function_spec", "given"]

_FORM: Final = "Write callable:package.module:function, or callable:path/to/file.py:function"
_TOLD: Final = ("messages", "policy", "trajectory", "seed")

Function = Callable[..., Any]

_GIVEN: Final[dict[str, Function]] = {}


def given(function: Function) -> str:
    """Name a function that stands in the caller's hands, so that a spec can name it, too.

    Returns
    -------
    str
        `callable:module:name`, for `AuditSpec.judge`; good in this process.
    """
    home = getattr(function, "__module__", None) or type(function).__module__
    own = getattr(function, "__qualname__", None) or type(function).__qualname__
    name = f"{home}:{own}"
    _GIVEN[name] = function
    return f"callable:{name}"


def function_spec(model: str, version: str | None = None, **fields: Any) -> JudgeSpec:
    """Return the spec of a judge that is a function, bound to its source by hash.

    Parameters
    ----------
    model : str
        "package.module:function", or "path/to/file.py:function".
    version : str, optional
        What tells it from others; hashed together with the source. Needed where the source does
        not tell all: closures, bound methods, objects that are called.
    **fields
        Other fields of `JudgeSpec`.

    Raises
    ------
    ConfigError
        If it cannot be found, or neither source nor version tells which function it is.
    """
    found = _identity(model, _found(model), version)
    told = {} if version is None else {"version": version}
    return JudgeSpec(backend="callable", model=model, weights_sha256=found, decoding=told, **fields)


@JUDGES.register("callable")
class CallableJudge:
    """A judge that is a Python function.

    Parameters
    ----------
    spec : JudgeSpec
        As of `function_spec`; `decoding` may hold its version.

    Raises
    ------
    ConfigError
        The function cannot be found, or is another one than that of the spec.
    """

    def __init__(self, spec: JudgeSpec) -> None:
        self._spec = spec
        self._function = _found(spec.model)
        version = spec.decoding.get("version")
        found = _identity(spec.model, self._function, version)
        if spec.weights_sha256 not in {None, found}:
            raise ConfigError(
                "the function is another one than that of the run: its source or version changed",
                where=f"callable:{spec.model}",
                mend="Bring the old one back, or begin a new run",
            )
        self._names = _names(self._function, spec.model)
        self._coroutine = inspect.iscoroutinefunction(self._function)
        self._scrub = Scrubber()
        self.attempt_seconds = ATTEMPT_SECONDS

    def __repr__(self) -> str:
        return f"CallableJudge({self._spec.model!r})"

    @property
    def spec(self) -> JudgeSpec:
        """Identity of the judge."""
        return self._spec

    async def ask(self, prompt: JudgePrompt, call: Call) -> Reply:
        """Call the function once; see `Judge.ask`.

        Raises
        ------
        TransientError
            It raised `TimeoutError` or `ConnectionError`, or took longer than `attempt_seconds`
            (a plain function then goes on in its thread, unheard).
        PermanentError
            It raised anything else, or returned what is no answer.
        """
        messages = [m.model_dump() for m in prompt.messages]
        told = {
            "messages": messages,
            "policy": prompt.policy,
            "trajectory": prompt.trajectory,
            "seed": call.seed,
        }
        positional = () if self._names else (messages,)
        named = {name: told[name] for name in self._names}
        started = time.perf_counter()
        limit = asyncio.timeout(self.attempt_seconds)
        failure: JudgeError
        try:
            async with limit:
                said = await self._call(positional, named)
        except JudgeError as error:
            error.where = error.where or self._where
            failure = error
        except Exception as error:  # noqa: BLE001 - a function raises what it likes
            failure = self._failed(error, late=limit.expired())
        else:
            seconds = time.perf_counter() - started
            return reply_of(said, seconds, self._where, self._scrub.answer)
        raise failure

    async def aclose(self) -> None:
        """Do nothing: there is nothing to release."""

    @property
    def _where(self) -> str:
        return f"callable:{self._spec.model}"

    async def _call(self, positional: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if self._coroutine:
            return await self._function(*positional, **named)
        said = await _in_thread(lambda: self._function(*positional, **named))
        # an object whose __call__ is a coroutine function, or a function that returns one
        return await said if inspect.isawaitable(said) else said

    def _failed(self, error: Exception, *, late: bool) -> JudgeError:
        if late:
            what = f"no answer within {self.attempt_seconds:g} s"
            return TransientError(what, where=self._where, code="timeout")
        words = self._scrub.message(" ".join(str(error).split()))
        what = f"it raised {type(error).__name__}" + (f": {short(words)}" if words else "")
        if isinstance(error, TimeoutError | ConnectionError):
            code = "timeout" if isinstance(error, TimeoutError) else "connection"
            return TransientError(what, where=self._where, code=code)
        return PermanentError(what, where=self._where, code="raised")


async def _in_thread(run: Callable[[], Any]) -> Any:
    """Run in a thread of its own that nobody waits for at the end of the process."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def tell(said: Any, error: BaseException | None) -> None:
        if done.done():  # given up on
            return
        if error is None:
            done.set_result(said)
        elif isinstance(error, StopIteration) or not isinstance(error, Exception):
            # no future carries these
            done.set_exception(RuntimeError(f"{type(error).__name__}: {error}"))
        else:
            done.set_exception(error)

    def work() -> None:
        said: Any = None
        failed: BaseException | None = None
        try:
            said = run()
        except BaseException as error:  # noqa: BLE001 - handed over, whatever it is
            failed = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(tell, said, failed)

    threading.Thread(target=work, name="judgeaudit-callable", daemon=True).start()
    return await done


# ---- which function -----------------------------------------------------------------------


def _found(model: str) -> Function:
    """Find the function that a user names.

    Raises
    ------
    ConfigError
        Saying what is not there.
    """
    home, _, name = model.rpartition(":")
    where = f"callable:{model}"
    if not home or not name:
        raise ConfigError(f"the judge {where!r} names no function", mend=_FORM)
    if (held := _GIVEN.get(model)) is not None:
        return held
    module = _from_file(Path(home), where) if home.endswith(".py") else _imported(home, where)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            public = [n for n, v in vars(module).items() if callable(v) and not n.startswith("_")]
            raise ConfigError(
                f"there is no {name!r} in {home}",
                where=where,
                mend=f"It has {', '.join(sorted(public)[:8]) or 'no function'}. {_FORM}",
            )
    if not callable(found):
        raise ConfigError(f"{name!r} in {home} cannot be called", where=where, mend=_FORM)
    return found  # type: ignore[no-any-return]


def _from_file(path: Path, where: str) -> Any:
    if not path.is_file():
        raise ConfigError("there is no such file", where=where, mend=_FORM)
    # named by its place and content: two files of one name are two modules, and one that changed
    # is not answered for by what it was
    told = str(path.resolve()).encode() + b"\0" + path.read_bytes()
    name = f"_judgeaudit_{hashlib.sha256(told).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    made = importlib.util.spec_from_file_location(name, path)
    assert made is not None
    assert made.loader is not None
    module, load = importlib.util.module_from_spec(made), made.loader.exec_module
    _run(lambda: load(module), where)
    sys.modules[name] = module
    return module


def _imported(name: str, where: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)  # a script's folder is there, a console command's is not
    return _run(lambda: importlib.import_module(name), where)


def _run(load: Callable[[], Any], where: str) -> Any:
    try:
        return load()
    except Exception as error:  # noqa: BLE001 - what a module of theirs dies of is told
        words = short(" ".join(str(error).split()))
        raise ConfigError(
            f"it cannot be imported: {type(error).__name__}: {words}", where=where, mend=_FORM
        ) from None


def _identity(model: str, function: Function, version: object) -> str:
    """Hash what tells this function from others.

    Raises
    ------
    ConfigError
        If the source does not tell, and there is no version.
    """
    source = _source(function)
    if version is None and (source is None or not _told_by_source(function)):
        raise ConfigError(
            "its source does not tell this function from another one",
            where=f"callable:{model}",
            mend="Give a version with --judge-version (judge_version=): a run must not be "
            "continued with another judge",
        )
    return sha256_of({"name": model.rpartition(":")[2], "source": source, "version": version})


def _told_by_source(function: Function) -> bool:
    plain = inspect.isfunction(function) and function.__name__ != "<lambda>"
    return plain and not getattr(function, "__closure__", None)


def _source(function: Function) -> str | None:
    """Return the hash of the file that a function stands in, helpers included; else of its own."""
    own = inspect.unwrap(function) if inspect.isfunction(function) else type(function)
    try:
        path = inspect.getsourcefile(own)
        if path is not None and Path(path).is_file():
            return hashlib.sha256(Path(path).read_bytes()).hexdigest()
        return hashlib.sha256(inspect.getsource(own).encode()).hexdigest()
    except (OSError, TypeError):
        return None


def _names(function: Function, model: str) -> tuple[str, ...]:
    """Return which of the texts a function asks for by name; none: the messages, as its only one.

    Raises
    ------
    ConfigError
        If it asks for what there is not.
    """
    try:
        parameters: Mapping[str, inspect.Parameter] = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ()
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return _TOLD
    wanted = [p for p in parameters.values() if p.kind is not p.VAR_POSITIONAL]
    named = tuple(p.name for p in wanted if p.name in _TOLD and p.kind is not p.POSITIONAL_ONLY)
    missing = [p.name for p in wanted if p.name not in named and p.default is p.empty]
    if not missing:
        return named
    if not named and len(missing) == 1:
        return ()
    raise ConfigError(
        f"it asks for {', '.join(map(repr, missing))}, which no judge is told",
        where=f"callable:{model}",
        mend=f"Its parameters may be {', '.join(_TOLD)}; a single one of any other name gets "
        "the messages",
    )
