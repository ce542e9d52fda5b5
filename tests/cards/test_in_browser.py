"""The page in a real browser: no sideways scrolling, no request, nothing in the console."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import aiohttp
import pytest
from card_hostile import HOSTILE, hostile_run
from card_plots import drawn_run
from card_runs import CASES

from judgeaudit import cards

BROWSER = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine (set CHROMIUM)"),
]
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run", "--disable-dev-shm-usage"),
    *("--remote-debugging-port=0", "--remote-debugging-address=127.0.0.1"),
)
VIEWS = [(w, scheme) for w in (320, 360, 390, 700, 820, 1280) for scheme in ("light", "dark")]
LOOK = """(() => {
  const wide = document.documentElement.scrollWidth - window.innerWidth;
  const clash = [];
  for (const svg of document.querySelectorAll('svg')) {
    const frame = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll('text')];
    for (const t of texts) {
      const b = t.getBoundingClientRect();
      if (b.right > frame.right + 2 || b.left < frame.left - 2) clash.push('out: ' + t.textContent);
      for (const u of texts) {
        if (u === t) break;
        const c = u.getBoundingClientRect();
        if (b.left < c.right - 1 && c.left < b.right - 1 && b.top < c.bottom - 3
            && c.top < b.bottom - 3) clash.push(t.textContent + ' / ' + u.textContent);
      }
    }
  }
  const styled = getComputedStyle(document.querySelector('main')).maxWidth;
  return JSON.stringify({wide, clash, styled});
})()"""


class Tab:
    """One tab of a browser, spoken to over its debugging socket."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.n = 0
        self.events: list[dict] = []

    async def call(self, method: str, **params):
        self.n += 1
        await self.socket.send_json({"id": self.n, "method": method, "params": params})
        while True:
            message = json.loads((await self.socket.receive()).data)
            if message.get("id") == self.n:
                return message["result"]
            self.events.append(message)

    async def wait_for(self, event: str) -> None:
        while not any(e.get("method") == event for e in self.events):
            self.events.append(json.loads((await self.socket.receive()).data))


async def look(port: str, pages: list[Path]) -> tuple[list[dict], list[dict]]:
    found = []
    async with aiohttp.ClientSession() as session:
        async with session.put(f"http://127.0.0.1:{port}/json/new?about:blank") as r:
            address = (await r.json())["webSocketDebuggerUrl"]
        async with session.ws_connect(address, max_msg_size=0) as socket:
            tab = Tab(socket)
            for domain in ("Page", "Log", "Network", "Runtime"):
                await tab.call(f"{domain}.enable")
            everything: list[dict] = []
            for page in pages:
                for width, scheme in VIEWS:
                    await tab.call(
                        "Emulation.setDeviceMetricsOverride",
                        width=width,
                        height=900,
                        deviceScaleFactor=1,
                        mobile=width < 500,
                    )
                    feature = {"name": "prefers-color-scheme", "value": scheme}
                    await tab.call("Emulation.setEmulatedMedia", features=[feature])
                    everything += tab.events
                    tab.events = []
                    await tab.call("Page.navigate", url=page.as_uri())
                    await tab.wait_for("Page.loadEventFired")
                    got = await tab.call("Runtime.evaluate", expression=LOOK)
                    view = {"page": page.parent.name, "width": width, "scheme": scheme}
                    found.append({**view, **json.loads(got["result"]["value"])})
            return found, [*everything, *tab.events]


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    made = {n: run() for n, run in CASES.items()}
    made["drawn"] = drawn_run()
    made |= {f"hostile_{n}": hostile_run(HOSTILE[n]) for n in ("huge", "close", "bidi")}
    pages = [cards.write(r.card(), folder / n)["html"] for n, r in sorted(made.items())]
    log = folder / "log"
    with log.open("wb") as err:
        browser = subprocess.Popen(
            [str(BROWSER), *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"],
            stderr=err,
            stdout=subprocess.DEVNULL,
        )
    try:
        port = _port(log)
        return asyncio.run(look(port, pages))
    finally:
        browser.terminate()
        browser.wait()


def _port(log: Path) -> str:
    for _ in range(300):
        found = re.search(r"ws://127\.0\.0\.1:(\d+)/", log.read_text(errors="replace"))
        if found:
            return found[1]
        time.sleep(0.1)
    raise AssertionError(log.read_text(errors="replace")[-2000:])


def test_no_page_scrolls_sideways(seen):
    assert [v for v in seen[0] if v["wide"] > 0] == []
    assert len(seen[0]) == (len(CASES) + 4) * len(VIEWS)


def test_words_in_plots_do_not_collide(seen):
    assert [v for v in seen[0] if v["clash"]] == []


def test_the_style_sheet_passes_its_own_policy(seen):
    assert {v["styled"] for v in seen[0]} == {"1160px"}


def test_the_console_is_empty(seen):
    noisy = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
    assert [e for e in seen[1] if e.get("method") in noisy] == []


def test_nothing_is_asked_of_a_network(seen):
    asked = {
        e["params"]["request"]["url"].split(":", 1)[0]
        for e in seen[1]
        if e.get("method") == "Network.requestWillBeSent"
    }
    assert asked <= {"file", "data"}
    assert "file" in asked
