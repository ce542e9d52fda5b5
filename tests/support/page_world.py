"""Pages of their own in the Chromium of this machine: widths, axe, console, requests."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

BROWSER = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")
RULES = "{runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']}"


class Looker:
    """A tab that opens a file, looks at it at three widths, and writes down what must not happen."""

    def __init__(self, tab, source):
        self.tab, self.bad, self._source = tab, [], source
        tab.on("console", lambda m: self.bad.append(m.text))
        tab.on("pageerror", lambda e: self.bad.append(str(e)))
        tab.on("dialog", lambda d: (self.bad.append(d.message), d.dismiss()))
        tab.on("request", self._asked)

    def _asked(self, request):
        if request.url[:5] not in ("file:", "data:"):
            self.bad.append(request.url)

    def look(self, path: Path) -> None:
        self.tab.goto(path.as_uri())
        for width in (390, 820, 1280):
            self.tab.set_viewport_size({"width": width, "height": 900})
            wide = self.tab.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, (path.name, width)
            self.tab.evaluate(self._source)
            seen = self.tab.evaluate(f"axe.run(document, {RULES})")["violations"]
            told = [(v["id"], v["nodes"][0]["html"][:200]) for v in seen]
            assert [] == told, (path.name, width, told)


@contextmanager
def looker(scheme):
    playwright = pytest.importorskip("playwright.sync_api")
    axe = pytest.importorskip("axe_playwright_python")
    source = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        made = Looker(browser.new_context(color_scheme=scheme, bypass_csp=True).new_page(), source)
        yield made
        browser.close()
    assert [] == made.bad
