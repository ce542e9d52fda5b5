"""A real Chromium, spoken to over its debugging socket."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp

BROWSER = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run", "--disable-dev-shm-usage"),
    *("--remote-debugging-port=0", "--remote-debugging-address=127.0.0.1"),
)


class Tab:
    """One tab."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.n = 0
        self.events: list[dict[str, Any]] = []
        self.dialogs: list[str] = []

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        self.n += 1
        asked = self.n
        await self.socket.send_json({"id": asked, "method": method, "params": params})
        while True:
            message = await self._next()
            if message.get("id") == asked:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    async def open(self, page: Path) -> None:
        self.events = []
        await self.call("Page.navigate", url=page.as_uri())
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(await self._next())

    async def _next(self) -> dict[str, Any]:
        message = json.loads((await self.socket.receive(60)).data)
        if message.get("method") == "Page.javascriptDialogOpening":
            # "leave this page?" holds up everything until it is answered
            self.dialogs.append(message["params"]["type"])
            self.n += 1
            answer = {"method": "Page.handleJavaScriptDialog", "params": {"accept": True}}
            await self.socket.send_json({"id": self.n, **answer})
        return message

    async def run(self, expression: str) -> Any:
        made = await self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in made, made
        return made["result"].get("value")

    async def click(self, selector: str) -> None:
        """Click with the mouse on the middle of an element."""
        place = await self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        at = {"x": place[0], "y": place[1], "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            await self.call("Input.dispatchMouseEvent", type=kind, **at)

    async def type(self, text: str) -> None:
        await self.call("Input.insertText", text=text)


@contextmanager
def chromium(folder: Path) -> Iterator[str]:
    """Start a browser with a profile of its own; yield its debugging port."""
    log = folder / "browser.log"
    with log.open("wb") as err:
        browser = subprocess.Popen(
            [str(BROWSER), *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"],
            stderr=err,
            stdout=subprocess.DEVNULL,
        )
    try:
        for _ in range(300):
            found = re.search(r"ws://127\.0\.0\.1:(\d+)/", log.read_text(errors="replace"))
            if found:
                break
            time.sleep(0.1)
        else:
            raise AssertionError(log.read_text(errors="replace")[-2000:])
        yield found[1]
    finally:
        browser.terminate()
        browser.wait()


@asynccontextmanager
async def tab(port: str, downloads: Path) -> AsyncIterator[Tab]:
    """Open a tab that saves downloads into a folder."""
    async with aiohttp.ClientSession() as session:
        async with session.put(f"http://127.0.0.1:{port}/json/new?about:blank") as r:
            address = (await r.json())["webSocketDebuggerUrl"]
        async with session.ws_connect(address, max_msg_size=0) as socket:
            made = Tab(socket)
            for domain in ("Page", "Log", "Network", "Runtime"):
                await made.call(f"{domain}.enable")
            await made.call(
                "Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads)
            )
            yield made


async def downloaded(folder: Path, name: str) -> Path:
    """Wait until a download is whole."""
    for _ in range(100):
        there = os.listdir(folder)  # noqa: PTH208
        if name in there and not any(n.endswith(".crdownload") for n in there):
            return folder / name
        await asyncio.sleep(0.1)
    raise AssertionError(f"no download {name}: {sorted(there)}")
