"""What all prompts of a condition begin with is read once, without any answer depending on it.

llama.cpp can go on from where an earlier prompt began alike, which saves half of the work here.
But numbers then depend on *where* the reading was interrupted (measured: probabilities move by up
to .1), so on what was asked before. Here the cut is always at the same place: the end of the system
message. The model's state there is made from nothing, stored, and loaded before each call, so what
a call answers is a function of its prompt and its seed alone: not of order, neighbours or a kill.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from typing import Final

from judgeaudit.core.errors import JudgeError, PermanentError
from judgeaudit.core.hashing import sha256_text
from judgeaudit.core.records import JudgePrompt
from judgeaudit.judges._local_worker import Worker
from judgeaudit.judges._text import storable

__all__ = ["Prefixes"]

_KEPT: Final = 32
_MARK: Final = "\u2042"


class Prefixes:
    """States of the model after a system message, kept as files in the judge's private folder."""

    def __init__(self) -> None:
        self._saved: OrderedDict[str, int] = OrderedDict()
        self._locks: dict[str, asyncio.Lock] = {}

    async def load(self, worker: Worker, prompt: JudgePrompt) -> None:
        """Bring a worker into the state from which this prompt is read.

        Parameters
        ----------
        worker : Worker
            Idle.
        prompt : JudgePrompt
            If it does not begin with a system message that others can share, the state is empty.

        Raises
        ------
        JudgeError
            As of `Worker.request`.
        """
        first = prompt.messages[0]
        shared = storable(first.content) if first.role == "system" else ""
        if not shared or len(prompt.messages) < 2:
            await self._empty(worker)
            return
        name = f"{sha256_text(shared)}.state"
        # two workers that need the same state at once: one makes it
        async with self._locks.setdefault(name, asyncio.Lock()):
            if name not in self._saved and not await self._make(worker, shared, name):
                await self._empty(worker)
                return
            self._saved.move_to_end(name)
            try:
                await self._restore(worker, name)
            except PermanentError:  # the file is gone: temporary folders get tidied
                del self._saved[name]
                await self._make(worker, shared, name)
                await self._restore(worker, name)

    async def _make(self, worker: Worker, system: str, name: str) -> bool:
        text = await asyncio.to_thread(_beginning, worker, system)
        if not text:
            return False
        reading = {"prompt": text, "n_predict": 0, "cache_prompt": False, "id_slot": 0}
        await asyncio.to_thread(worker.request, "/completion", reading)
        told = await asyncio.to_thread(worker.request, "/slots/0?action=save", {"filename": name})
        self._saved[name] = int(told["n_saved"])
        while len(self._saved) > _KEPT:
            oldest, _ = self._saved.popitem(last=False)
            if not self._locks[oldest].locked():
                del self._locks[oldest]
            with contextlib.suppress(OSError):
                (worker.served.folder / oldest).unlink()
        return True

    async def _empty(self, worker: Worker) -> None:
        await asyncio.to_thread(worker.request, "/slots/0?action=erase", {})

    async def _restore(self, worker: Worker, name: str) -> None:
        told = await asyncio.to_thread(
            worker.request, "/slots/0?action=restore", {"filename": name}
        )
        if told.get("n_restored") != self._saved.get(name):
            raise JudgeError(f"the state {name} was not restored whole", code="local_state")


def _beginning(worker: Worker, system: str) -> str:
    """Return what every prompt with this system message begins with, as the model reads it.

    Empty where the model's chat template leaves the user's message out or changes it.
    """
    messages = [{"role": "system", "content": system}, {"role": "user", "content": _MARK}]
    text = str(worker.request("/apply-template", {"messages": messages})["prompt"])
    return text.rpartition(_MARK)[0]
