"""Write the site's files into a folder."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from judgeaudit.cards.clean import clean, one_line, shorten
from judgeaudit.cards.files import write_text
from judgeaudit.cards.render import to_html, to_markdown
from judgeaudit.cards.site import feeds, pages
from judgeaudit.cards.site.reading import groups, read_folder
from judgeaudit.core.errors import CardError, ConfigError

__all__ = ["Built", "build"]

_TITLE: Final = "Judge Cards"
_OURS: Final = ("card.json", "card.md", "card.html", "card.json.sig")
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"'`\\]+")


@dataclass(frozen=True, slots=True)
class Built:
    """What was written.

    Parameters
    ----------
    rewritten : tuple of str
        Cards whose JSON was cleaned or brought to the present layout: not the file's own bytes.
    """

    index: Path
    n_cards: int
    n_groups: int
    rewritten: tuple[str, ...]


def build(folder: Path | str, out: Path | str, *, title: str = _TITLE, base_url: str = "") -> Built:
    """Build the site of all cards below a folder. The same cards give the same bytes.

    Parameters
    ----------
    folder : path
        Holds `<judge>/<date>/card.json`, at any depth. HTML and Markdown are made from the JSON.
    out : path
        Where the site goes; made if it is not there. A folder that holds something else is
        refused. Pages of cards that are gone are removed, other files are left alone.
    title : str
        Name of the site.
    base_url : str
        Where the site will stand, for the feeds; without it their addresses are relative.

    Raises
    ------
    CardError
        If there is no card, or one cannot be read, or the site cannot be written.
    ConfigError
        If `out` holds something that is no site of ours, or `base_url` is no address.
    """
    source, target = Path(folder), Path(out)
    if base_url:
        if not _ADDRESS.fullmatch(base_url):
            raise ConfigError(
                f"{shorten(clean(base_url), 60)!r} is no http address", where="--base-url"
            )
        base_url = base_url.rstrip("/") + "/"
    _check_target(source, target)
    cards = read_folder(source)
    parted = groups(cards)
    name = one_line(shorten(clean(title), 80)) or _TITLE
    texts: dict[str, str] = {}
    for c in cards:
        place = f"cards/{c.id}"
        texts[f"{place}/card.json"] = c.text
        up = f"{'../' * (place.count('/') + 1)}index.html"
        texts[f"{place}/card.html"] = to_html(c.card, up=up)
        texts[f"{place}/card.md"] = to_markdown(c.card)
        if c.signature is not None:
            texts[f"{place}/card.json.sig"] = c.signature
    texts |= pages.history_pages(cards, parted, name)
    texts["compare.html"] = pages.compare_page(parted, name)
    texts["index.html"] = pages.index_page(parted, name)
    texts["feed.xml"] = feeds.atom(cards, name, base_url)
    texts["feed.json"] = feeds.json_feed(cards, name, base_url)
    texts["index.json"] = feeds.index(cards, parted, name)
    for place, text in texts.items():
        write_text(text, target / place)
    _remove_stale(target, set(texts))
    rewritten = tuple(c.id for c in cards if not c.as_given)
    return Built(target / "index.html", len(cards), len(parted), rewritten)


def _check_target(source: Path, target: Path) -> None:
    if not source.is_dir():
        raise CardError("no such folder", where=str(source), mend="Give the folder of the cards")
    here, there = source.resolve(), target.resolve()
    if there == here or there in here.parents or here in there.parents:
        raise ConfigError(
            "the site cannot stand in the folder of the cards, nor around it", where=str(target)
        )
    if target.exists() and not target.is_dir():
        raise ConfigError("not a folder", where=str(target))
    if target.is_dir() and any(target.iterdir()) and not _is_ours(target):
        raise ConfigError(
            "this folder holds something that is no site of judgeaudit",
            where=str(target),
            mend="Give an empty folder with -o",
        )


def _is_ours(target: Path) -> bool:
    try:
        held = json.loads((target / "index.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(held, dict) and str(held.get("format", "")).startswith("judgeaudit-site-")


def _remove_stale(target: Path, kept: set[str]) -> None:
    """Remove pages of cards that are gone; only files of names that we write, in our folders."""
    held = [p for p in (target / "cards").rglob("*") if p.name in _OURS]
    held += (target / "history").glob("*.html")
    for path in held:
        if path.relative_to(target).as_posix() not in kept:
            path.unlink(missing_ok=True)
    for path in sorted((target / "cards").rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink() and not any(path.iterdir()):
            path.rmdir()
