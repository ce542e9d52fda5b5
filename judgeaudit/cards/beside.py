"""Whether the pages that lie beside a card's JSON are what the JSON gives."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from judgeaudit.cards.badge import to_badge
from judgeaudit.cards.numbers import to_csv, to_latex
from judgeaudit.cards.render import to_html, to_markdown

if TYPE_CHECKING:
    from judgeaudit.cards.model import JudgeCard

__all__ = ["stale"]

_UP: Final = re.compile(rb'<nav class="up"><a href="((?:\.\./){1,20}index\.html)">')


def _made(card: JudgeCard, suffix: str, held: bytes) -> str:
    if suffix.endswith("html"):
        # a site's own copy has one line more: the way back to the site's index
        up = _UP.search(held)
        where = up[1].decode() if up else ""
        return to_html(card, language="ko" if suffix.startswith("ko") else "en", up=where)
    if suffix.endswith("md"):
        return to_markdown(card, language="ko" if suffix.startswith("ko") else "en")
    return {"svg": to_badge, "tex": to_latex, "csv": to_csv}[suffix](card)


_SUFFIXES: Final = ("html", "md", "ko.html", "ko.md", "svg", "tex", "csv")


def stale(path: Path, card: JudgeCard) -> tuple[str, ...]:
    """Name the files beside a card that are not what it gives.

    Parameters
    ----------
    path : Path
        The card's JSON; pages of the same name lie beside it ("card.html" beside "card.json").
    card : JudgeCard
        What it holds.

    Returns
    -------
    tuple of str
        Names of the files that differ; a page that is not there is no fault.
    """
    found = []
    for suffix in _SUFFIXES:
        page = path.with_name(f"{path.stem}.{suffix}")
        if not page.is_file():
            continue
        held = page.read_bytes()
        if held != _made(card, suffix, held).encode("utf-8"):
            found.append(page.name)
    return tuple(found)
