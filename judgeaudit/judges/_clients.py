"""Who still uses the HTTP clients that LiteLLM shares, so that the last one closes them.

LiteLLM keeps its clients in one cache for the whole process, with the event loop in their names.
So they are counted and closed loop by loop: a loop in another thread keeps its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import weakref
from typing import Any, Final

from judgeaudit.judges._litellm import litellm_library

__all__ = ["let_go", "take"]

_Users = weakref.WeakSet[Any]
_USERS: Final[weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Users]] = (
    weakref.WeakKeyDictionary()
)


def take(user: object) -> None:
    """Note that `user` sends requests in the running loop."""
    users = _USERS.get(loop := asyncio.get_running_loop())
    if users is None:
        users = _USERS.setdefault(loop, weakref.WeakSet())
    users.add(user)


async def let_go(user: object) -> None:
    """Note that `user` is done; the last of a loop closes the clients of that loop."""
    users = _USERS.get(asyncio.get_running_loop())
    if users is None or user not in users:
        return
    users.discard(user)
    if users:
        return
    # all are out of the cache before the first is closed: closing waits, and a call that starts
    # in the meantime must not be handed a client that is about to go
    for client in _taken_out():
        with contextlib.suppress(Exception):
            done = (getattr(client, "aclose", None) or client.close)()
            if inspect.isawaitable(done):
                await done


def _taken_out() -> list[Any]:
    litellm = litellm_library()
    cache = litellm.in_memory_llm_clients_cache
    ending = cache.update_cache_key_with_event_loop("")
    names = [name for name in list(cache.cache_dict) if name.endswith(ending)]
    clients = [cache.cache_dict.get(name) for name in names]
    for name in names:
        cache.delete_cache(name)
    shared = getattr(litellm, "base_llm_aiohttp_handler", None)  # of one route, for all loops
    session = getattr(shared, "client_session", None)
    if getattr(session, "_loop", None) is asyncio.get_running_loop():
        clients.append(shared)
    return [c for c in clients if hasattr(c, "aclose") or hasattr(c, "close")]
