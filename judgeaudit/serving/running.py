"""Serve a hardened judge until somebody says stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from judgeaudit.core.errors import ConfigError

if TYPE_CHECKING:
    from judgeaudit.judges._hardening import HardenedConfig
    from judgeaudit.serving.app import Endpoint, Rules

__all__ = ["check_judge", "check_rules", "serve"]

_SHORTEST_TOKEN = 16


def check_rules(rules: Rules) -> None:
    """Refuse to be reached from elsewhere by anybody.

    Raises
    ------
    ConfigError
        A host that is not this machine, without a token; or a token that can be guessed.
    """
    if rules.token is not None and len(rules.token) < _SHORTEST_TOKEN:
        raise ConfigError(
            f"the token has {len(rules.token)} characters",
            mend=f"Take {_SHORTEST_TOKEN} at least, drawn at random",
        )
    if not rules.on_loopback and rules.token is None:
        raise ConfigError(
            f"the host {rules.host!r} can be reached from elsewhere, and no token is set",
            mend="Put a token into the environment (--token-env), or leave --host out",
        )


def check_judge(config: HardenedConfig) -> None:
    """Refuse a judge inside that answers about items of an audit alone.

    Raises
    ------
    ConfigError
        Every request would fail: its items are told it beforehand, or its answers are recorded.
    """
    from judgeaudit.judges._hardened_spec import base_of
    from judgeaudit.judges.base import JUDGES

    backend = base_of(config).backend
    # as a PlantedJudge: it has to learn the items first
    if backend == "replay" or hasattr(JUDGES[backend], "learn"):
        raise ConfigError(
            f"the judge inside, {config.base.judge!r}, knows the items of an audit alone, so it "
            "could answer no request",
            where=f"base.judge of {config.name!r}",
            mend="Serve a hardened judge whose inside is a model",
        )


async def serve(
    config: Path, rules: Rules, ledger: Path, *, say: Callable[[str], None], grace: float = 600.0
) -> int:
    """Serve until SIGTERM or SIGINT, then drain; a second one drops what is left.

    Parameters
    ----------
    config : path
        File of the hardened judge.
    rules : Rules
        Where, and within what.
    ledger : path
        Of its requests.
    say : callable
        Told where it listens.
    grace : float
        Seconds to drain.

    Returns
    -------
    int
        0 where everything that was begun was answered, else 130.

    Raises
    ------
    JudgeAuditError
        If it cannot begin.
    """
    from judgeaudit.cure.hardened import load
    from judgeaudit.serving.app import Endpoint
    from judgeaudit.serving.log import RequestLog

    check_rules(rules)
    judge = load(config)
    check_judge(judge.config)
    endpoint = Endpoint(judge, RequestLog(ledger, judge.identity), rules)
    try:
        try:
            await endpoint.start()
        except OSError as e:
            raise ConfigError(
                f"cannot listen on {rules.host}, port {rules.port} ({e.strerror or e})",
                mend="Choose another --port, or 0 for any that is free",
            ) from None
        return await _until_stopped(endpoint, say, grace)
    finally:
        await endpoint.aclose()


async def _until_stopped(endpoint: Endpoint, say: Callable[[str], None], grace: float) -> int:
    loop = asyncio.get_running_loop()
    stop, now = asyncio.Event(), asyncio.Event()

    def told() -> None:
        (now if stop.is_set() else stop).set()

    signals = (signal.SIGTERM, signal.SIGINT)
    for number in signals:
        loop.add_signal_handler(number, told)
    try:
        host = endpoint.rules.host
        shown = f"[{host}]" if ":" in host else host
        say(f"serving {endpoint.judge.name} at http://{shown}:{endpoint.port}/v1")
        await stop.wait()
        say(f"draining: {endpoint.inside} requests are being answered")
        draining = asyncio.create_task(endpoint.drain(grace))
        hurried = asyncio.create_task(now.wait())
        await asyncio.wait({draining, hurried}, return_when=asyncio.FIRST_COMPLETED)
        done = draining.done() and draining.result()
        for task in (draining, hurried):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        return 0 if done else 130
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
