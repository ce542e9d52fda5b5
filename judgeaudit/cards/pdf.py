"""A card as PDF: its HTML, printed by a browser that is installed already."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from judgeaudit.cards.model import JudgeCard
from judgeaudit.cards.render import to_html
from judgeaudit.core.errors import CardError
from judgeaudit.core.terminal import plain

__all__ = ["BROWSERS", "find_browser", "write_pdf"]

BROWSERS: Final = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("microsoft-edge", "msedge"),
)
"""Names under which a browser that can print is looked for on PATH, in this order."""

_SECONDS: Final = 120.0
_MEND: Final = (
    "Install Chromium or Chrome, name one with --browser, or print card.html from any browser"
)
_FLAGS: Final = (
    *("--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-extensions", "--disable-sync", "--disable-component-update"),
    *("--disable-background-networking", "--no-default-browser-check", "--no-pdf-header-footer"),
    # the page asks for nothing, and its policy forbids scripts; the browser asks nobody either
    *("--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9"),
)


def find_browser(named: str | None = None) -> str:
    """Return the browser that will print.

    Parameters
    ----------
    named : str, optional
        A program on PATH, or its file.

    Raises
    ------
    CardError
        If there is none; the message says what would do.
    """
    for name in (named,) if named else BROWSERS:
        found = shutil.which(name)
        if found:
            return found
    if named:
        raise CardError(f"there is no browser {named!r}", where="--browser", mend=_MEND)
    raise CardError("no browser is installed that could print a PDF", mend=_MEND)


def _printed(command: list[str], seconds: float) -> tuple[int | None, str]:
    """Run a browser; end it with its children when its time is over."""
    with tempfile.TemporaryFile() as said:
        browser = subprocess.Popen(  # noqa: S603  # the user's own browser, without a shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,
        )
        code: int | None = None
        try:
            code = browser.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            # its helpers are of its own session: none of them outlives the printing
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(browser.pid, signal.SIGKILL)
            browser.wait()
        said.seek(0)
        lines = said.read(100_000).decode("utf-8", "replace").strip().splitlines()
    return code, lines[-1] if lines else ""


def write_pdf(
    card: JudgeCard, path: Path, *, browser: str | None = None, seconds: float = _SECONDS
) -> Path:
    """Print a card's HTML into a PDF.

    The bytes are the browser's own and carry the time of printing: unlike the other formats, the
    same card does not give the same file.

    Parameters
    ----------
    card : JudgeCard
        The card.
    path : Path
        The file; replaced whole or not at all.
    browser : str, optional
        Chromium, Chrome or Edge; by default the first on PATH.
    seconds : float
        Longest time to wait.

    Raises
    ------
    CardError
        If there is no browser, it does not print, or the file cannot be written.
    """
    program = find_browser(browser)
    path = Path(path)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="judgeaudit-", ignore_cleanup_errors=True) as held:
            page, made = Path(held) / "card.html", Path(held) / "card.pdf"
            page.write_bytes(to_html(card).encode("utf-8"))
            command = [program, *_FLAGS, f"--user-data-dir={held}/profile"]
            if os.geteuid() == 0:
                command.append("--no-sandbox")  # as root it does not start otherwise
            code, said = _printed([*command, f"--print-to-pdf={made}", page.as_uri()], seconds)
            if not made.is_file() or made.read_bytes()[:5] != b"%PDF-":
                why = f"gave up after {seconds:g} s" if code is None else f"exit code {code}"
                raise CardError(
                    f"printed nothing ({why}): {plain(said, limit=200) or 'it said nothing'}",
                    where=program,
                    mend=_MEND,
                )
            shutil.copyfile(made, fresh)
        fresh.replace(path)
    except OSError as e:
        raise CardError(f"the card cannot be printed: {e.strerror or e}", where=str(path)) from e
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
    return path
