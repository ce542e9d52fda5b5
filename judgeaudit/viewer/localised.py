"""The explorer's page of words: what `judgeaudit localise` found in a run, read only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from judgeaudit.cards.localised import read_localised
from judgeaudit.cure.localise_page import STYLE, to_html
from judgeaudit.viewer.texts import name

if TYPE_CHECKING:
    from judgeaudit.viewer.explorer import Explorer

__all__ = ["SHEET", "page"]

SHEET: Final = ("localise.css", STYLE.encode())
"""The page's style sheet: the explorer allows none inside of a page."""

_NONE: Final = Markup(
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Words</title>'
    '<link rel="stylesheet" href="/static/localise.css"></head><body><h1>Words</h1>'
    "<p>Nobody has traced the flips of {} yet: <code>judgeaudit localise RUN</code> asks which "
    "words of a rewrite do it.</p></body></html>\n"
)


def page(explorer: Explorer, number: int) -> bytes:
    """Return the page of a run, with the way back and to the other runs.

    Parameters
    ----------
    explorer : Explorer
        What is shown.
    number : int
        Of the run.

    Raises
    ------
    ConfigError, CardError
        If there is no such run, or what lies beside it is no such record.
    """
    run = explorer.run(number)
    found = read_localised(run.path.parent)
    if found is None:
        html = str(_NONE.format(_shown(run.path.parent.name)))
    else:
        html = to_html(found, stylesheet="/static/localise.css")
    ways = [Markup('<a href="/">Overview</a>')]
    ways += [
        Markup('<a href="/localised?run={}">{}</a>').format(k, _shown(other.path.parent.name))
        for k, other in enumerate(explorer.runs)
        if k != number
    ]
    back = Markup("<body>\n<nav>{}</nav>").format(Markup(" · ").join(ways))
    return html.replace("<body>", str(back), 1).encode("utf-8", "backslashreplace")


def _shown(folder: str) -> str:
    return str(name(folder))
