"""The built documents in Chromium: three widths, light and dark, axe, keyboard, no request."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from chaos_world import LONG

BROWSER = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
NEEDED = ("sphinx", "myst_parser", "furo")
MISSING = [name for name in NEEDED if find_spec(name) is None]
pytestmark = [
    pytest.mark.slow,
    # every page is looked at six times: a quarter of an hour of a busy machine
    pytest.mark.timeout(1800),
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine (set CHROMIUM)"),
    pytest.mark.skipif(bool(MISSING), reason=f"{MISSING} not installed (extra `docs`)"),
]
ROOT = Path(__file__).resolve().parents[2]
AXE = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
# with `preload` axe itself would fetch the style sheets, which a page of a folder may not
RULES = (
    "{runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'],"
    "resultTypes: ['violations'], preload: false}"
)
WIDTHS = (390, 820, 1280)
SCHEMES = ("light", "dark")
# made alike from one template: a few stand for all, each is still opened once
ALIKE = "decisions"
LOOKED_AT = 5


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build as CI does: a warning is an error."""
    out = tmp_path_factory.mktemp("docs") / "html"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    done = subprocess.run(
        [*command, str(ROOT / "docs"), str(out)], capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stderr[-4000:]
    return out


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


class Visit:
    """A window that writes down all that must not happen."""

    def __init__(self, browser, folder, width=1280, scheme="light"):
        self.folder, self.bad = folder, []
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme
        )
        self.page = self.context.new_page()
        self.page.on("console", lambda m: self.bad.append(f"console: {m.text}"))
        self.page.on("pageerror", lambda e: self.bad.append(f"error: {e}"))
        self.page.on("request", self._asked)

    def _asked(self, request):
        if not request.url.startswith((f"{self.folder.as_uri()}/", "data:")):
            self.bad.append(f"request: {request.url}")

    def open(self, name):
        self.page.goto((self.folder / name).as_uri())

    def wide(self):
        return self.page.evaluate("document.documentElement.scrollWidth - innerWidth")

    def faults(self):
        found = self.page.evaluate(f"axe.run(document, {RULES})")["violations"]
        return [
            (v["id"], v["impact"], [n["html"][:150] for n in v["nodes"][:3]])
            for v in found
            if v["impact"] in ("serious", "critical", "moderate")
        ]


@pytest.fixture
def visit(chromium, built):
    made = []

    def go(**how):
        made.append(Visit(chromium, built, **how))
        return made[-1]

    yield go
    bad = [b for v in made for b in v.bad]
    for v in made:
        v.context.close()
    assert [] == bad


def names(built):
    found = sorted(p.relative_to(built).as_posix() for p in built.rglob("*.html"))
    assert len(found) > 60
    return found


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_and_every_page_fits(visit, built, scheme):
    """JUDGEAUDIT_SLOW=full runs axe on all of them; the short form on every third."""
    v, found, alike = visit(scheme=scheme), [], 0
    for n, name in enumerate(names(built)):
        alike += name.startswith(ALIKE)
        whole = (not name.startswith(ALIKE) or alike <= LOOKED_AT) and (LONG or n % 3 == 0)
        v.open(name)
        if whole:
            v.page.evaluate(AXE)
        for width in WIDTHS:
            v.page.set_viewport_size({"width": width, "height": 900})
            # what scrolls is found again a frame after the window has changed
            v.page.evaluate("new Promise(r => requestAnimationFrame(() => setTimeout(r)))")
            if (wide := v.wide()) > 0:
                found.append((name, scheme, width, f"{wide} px too wide"))
            if whole:
                found += [(name, scheme, width, *fault) for fault in v.faults()]
    assert [] == found


@pytest.mark.parametrize("width", WIDTHS)
def test_the_keyboard_reaches_the_navigation_and_one_sees_where_it_is(visit, width):
    v = visit(width=width)
    v.open("tutorial.html")
    v.page.keyboard.press("Tab")
    assert "Skip to content" == v.page.evaluate("document.activeElement.textContent.trim()")
    places = {}
    for _ in range(40):
        v.page.keyboard.press("Tab")
        # drawers slide in
        v.page.wait_for_timeout(30 if places else 400)
        text, outline, left, right = v.page.evaluate(
            "(() => { const e = document.activeElement, b = e.getBoundingClientRect();"
            "return [e.textContent.trim() || e.ariaLabel || e.tagName,"
            "getComputedStyle(e).outlineStyle, b.left, b.right] })()"
        )
        places[text] = (outline, left, right)
        if text == "Mend a judge, and use the mended one":
            break
    else:
        raise AssertionError(places)
    v.page.wait_for_timeout(400)
    left, right = v.page.evaluate(
        "(() => { const b = document.activeElement.getBoundingClientRect();"
        "return [b.left, b.right] })()"
    )
    assert 0 <= left < right <= width
    assert "none" not in {outline for outline, _, _ in places.values()}
    v.page.keyboard.press("Enter")
    v.page.wait_for_url("**/howto/harden.html")
    assert "Mend a judge" in v.page.locator("h1").inner_text()


def test_the_search_finds_verbs_without_a_server(visit):
    v = visit()
    v.open("search.html")
    v.page.locator(".sidebar-search").fill("harden")
    v.page.keyboard.press("Enter")
    v.page.get_by_text("Search finished").wait_for()
    assert v.page.locator("#search-results a[href*='howto/harden.html']").count()


def test_the_front_page_works_without_a_script(chromium, built):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((built / "index.html").as_uri())
    page.locator("article a", has_text="tutorial").first.click()
    assert "ten minutes" in page.locator("h1").inner_text()
    context.close()
