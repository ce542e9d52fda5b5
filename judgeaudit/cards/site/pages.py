"""The site's pages, from the templates `judge_cards/templates/site*`."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from judgeaudit._version import __version__
from judgeaudit.cards.site.reading import Group, Sited
from judgeaudit.cards.site.rows import FIGURES, INDEX, compared, row
from judgeaudit.cards.site.trend import trends
from judgeaudit.cards.texts_en import STANCES
from judgeaudit.core.errors import CardError
from judgeaudit.core.rooms import room

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

__all__ = ["compare_page", "history_page", "history_pages", "index_page", "page", "script_data"]

_HOSTILE_IN_SCRIPT: Final = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def script_data(tree: Any) -> Markup:
    """Write JSON for a data block in a page: nothing in it can end the block or open a comment."""
    text = json.dumps(tree, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for char, escaped in _HOSTILE_IN_SCRIPT.items():
        text = text.replace(char, escaped)
    return Markup(text)  # noqa: S704  # no character that means anything to HTML is left


@cache
def _environment(folder: Path) -> ImmutableSandboxedEnvironment:
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(folder, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def page(name: str, *, script: str = "", up: str = "", **what: Any) -> str:
    """Fill a template: one page, its style and script known by hash in its policy."""
    from jinja2 import TemplateError

    folder = room("judge_cards") / "templates"
    try:
        css = (folder / "site.css").read_text(encoding="utf-8")
        code = (folder / script).read_text(encoding="utf-8") if script else ""
        return (
            _environment(folder)
            .get_template(name)
            .render(
                css=Markup(css),  # noqa: S704  # ours, shipped beside the template
                css_sha256=_hash(css),
                script=Markup(code),  # noqa: S704  # ours as well
                script_sha256=_hash(code) if code else "",
                up=up,
                version=__version__,
                **what,
            )
        )
    except (TemplateError, OSError) as e:
        raise CardError(
            f"the site's template cannot be used: {e}",
            where=str(folder / name),
            mend="Reinstall judgeaudit",
        ) from e


def index_page(parted: Sequence[Group], title: str) -> str:
    """Make the index: every card, group by group."""
    by_id = {f.id: f for f in FIGURES}
    return page(
        "site_index.html.j2",
        script="site_index.js",
        site=title,
        n_cards=sum(len(g.cards) for g in parted),
        figures=[by_id[k] for k in INDEX],
        groups=[(g, [row(c) for c in g.cards]) for g in parted],
        stances=STANCES,
    )


def compare_page(parted: Sequence[Group], title: str) -> str:
    """Make the page that lays chosen cards side by side."""
    data = {
        "figures": [{"id": f.id, "label": f.label, "better": f.better} for f in FIGURES],
        "groups": {g.id: g.short for g in parted},
        "cards": [compared(c, g) for g in parted for c in g.cards],
    }
    return page(
        "site_compare.html.j2", script="site_compare.js", site=title, data=script_data(data)
    )


def history_page(held: Sequence[Sited], parted: Sequence[Group], title: str) -> str:
    """Make the history of one judge: its cards by date, in the groups that may be compared."""
    by_id = {f.id: f for f in FIGURES}
    ids = {c.id for c in held}
    parts = []
    for group in parted:
        mine = sorted((c for c in group.cards if c.id in ids), key=lambda c: (c.when, c.id))
        if mine:
            parts.append((group, trends(mine), [row(c) for c in mine]))
    return page(
        "site_history.html.j2",
        up="../",
        site=title,
        judge=held[0].judge,
        n_cards=len(held),
        figures=[by_id[k] for k in INDEX],
        parts=parts,
    )


def history_pages(cards: Sequence[Sited], parted: Sequence[Group], title: str) -> dict[str, str]:
    """Make the history of every judge, by its file's name."""
    by_judge: dict[str, list[Sited]] = {}
    for card in cards:
        by_judge.setdefault(card.judge_id, []).append(card)
    return {
        f"history/{name}.html": history_page(held, parted, title)
        for name, held in sorted(by_judge.items())
    }
