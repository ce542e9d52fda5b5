"""A card as Markdown and as one HTML file, from the templates in `judge_cards/templates`."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from judgeaudit.cards.assemble import cleaned
from judgeaudit.cards.clean import one_line
from judgeaudit.cards.layout import Cell
from judgeaudit.cards.model import JudgeCard
from judgeaudit.cards.view import View, view
from judgeaudit.core.errors import CardError
from judgeaudit.core.rooms import room

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

__all__ = ["LANGUAGES", "Language", "md_cell", "md_code", "md_text", "to_html", "to_markdown"]

Language = Literal["en", "ko"]
"""Languages that a card is shown in."""

LANGUAGES: Final = ("en", "ko")

# Everything that can start markup in CommonMark or on GitHub: links, references, mathematics,
# mentions, emoji and bare addresses among it.
_MD_ACTIVE: Final = re.compile(
    r"[\\`*_\[\]#|~$&<>]|:(?=//|[\w+-]+:)|@(?=\w)|(?<=\bwww)\.", re.IGNORECASE
)
# GitHub looks for mentions after it has read entities, so only another character keeps a card that
# is pasted into a thread from calling strangers
_MD_ENTITIES: Final = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    ":": "&#58;",
    "@": "\N{FULLWIDTH COMMERCIAL AT}",
}
_MD_START: Final = re.compile(r"^(?:([-+=])|(\d+)([.)]))(?=\s|$|[-=])")


def md_text(text: str) -> str:
    r"""Escape a text so that Markdown shows it as it is, on one line.

    Examples
    --------
    >>> md_text("a|b <b> [x](http://e.x)")
    'a\\|b &lt;b&gt; \\[x\\](http&#58;//e.x)'
    """
    text = _MD_ACTIVE.sub(lambda m: _MD_ENTITIES.get(m[0], f"\\{m[0]}"), one_line(text))
    return _MD_START.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", text)


def md_code(text: str) -> str:
    """Show an untrusted text as a code span, where nothing is markup.

    A vertical bar would end a table's cell even there, so it becomes the full-width one.

    Examples
    --------
    >>> md_code("a`b|c")
    '``a`b｜c``'
    """
    text = one_line(text).replace("|", "\N{FULLWIDTH VERTICAL LINE}")
    if not text:
        return "–"
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def md_cell(cell: Cell) -> str:
    """Show a cell: untrusted text as code, our own words escaped."""
    return md_code(cell.text) if cell.raw else md_text(cell.text)


def md_block(text: str) -> str:
    """Show an untrusted text of several lines as a fenced block."""
    fence = "`" * max(3, max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    return f"{fence}text\n{text}\n{fence}"


def _templates() -> Path:
    return room("judge_cards") / "templates"


@cache
def _environment(folder: Path, *, html: bool) -> ImmutableSandboxedEnvironment:
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    env = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(folder, encoding="utf-8"),
        autoescape=html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    env.filters.update(md=md_text, code=md_code, cell=md_cell, block=md_block)
    return env


def _rendered(
    card: JudgeCard, name: str, *, html: bool, language: Language = "en", up: str = ""
) -> str:
    from jinja2 import TemplateError
    from markupsafe import Markup

    if language not in LANGUAGES:
        raise CardError(
            f"a card is not shown in {str(language)[:20]!r}", mend=f"Give {' or '.join(LANGUAGES)}"
        )
    laid: View = view(cleaned(card))
    say: Callable[[str], str] = str
    if language == "ko":
        from judgeaudit.cards.korean import in_korean, korean

        laid, say = in_korean(laid), korean
    folder = _templates()
    try:
        css = (folder / "card.css").read_text(encoding="utf-8") if html else ""
        return (
            _environment(folder, html=html)
            .get_template(name)
            .render(
                v=laid,
                say=say,
                language=language,
                up=up,
                css=Markup(css),  # noqa: S704  # ours, shipped beside the template
                css_sha256=base64.b64encode(hashlib.sha256(css.encode()).digest()).decode(),
            )
        )
    except (TemplateError, OSError) as e:
        raise CardError(
            f"the card's template cannot be used: {e}",
            where=str(folder / name),
            mend="Reinstall judgeaudit",
        ) from e


def to_markdown(card: JudgeCard, *, language: Language = "en") -> str:
    """Render a card as Markdown that reads well on GitHub.

    Parameters
    ----------
    card : JudgeCard
        What is shown.
    language : {"en", "ko"}
        Language of the card's own words; a sentence that is not translated stays English.

    Raises
    ------
    CardError
        If the template is missing or broken.
    """
    text = _rendered(card, "card.md.j2", html=False, language=language)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def to_html(card: JudgeCard, *, language: Language = "en", up: str = "") -> str:
    """Render a card as one HTML file that needs no network and runs no script.

    The policy in its head allows nothing but its own style sheet, known by hash.

    Parameters
    ----------
    card : JudgeCard
        What is shown.
    language : {"en", "ko"}
        Language of the card's own words; a sentence that is not translated stays English.
    up : str
        Address of the index that the page belongs to, such as "../../index.html"; none without.

    Raises
    ------
    CardError
        If the template is missing or broken.
    """
    return _rendered(card, "card.html.j2", html=True, language=language, up=up)
