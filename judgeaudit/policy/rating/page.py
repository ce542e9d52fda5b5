"""The rating sheet as one page that works from a file, without a server or a network."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.rooms import room
from judgeaudit.policy.rating.marking import side_by_side
from judgeaudit.policy.rating.records import CHOICES, DIMENSIONS, QUESTIONS, Sheet
from judgeaudit.policy.rating.tables import VOTE_COLUMNS

__all__ = ["page"]


def _folder() -> Path:
    return room("policies") / "templates" / "rating"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def page(sheet: Sheet) -> str:
    """Render the sheet as one HTML file.

    It holds nothing of conditions, transforms or planted rewrites. Its content security policy
    allows its own style and its own script, by hash, and nothing else. The votes that it saves
    carry the sha256 of the texts that it showed, computed from the page itself.

    Raises
    ------
    PolicyError
        If the template is missing or broken.
    """
    from jinja2 import FileSystemLoader, StrictUndefined, TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment
    from markupsafe import Markup

    folder = _folder()
    try:
        css = (folder / "sheet.css").read_text(encoding="utf-8")
        script = (folder / "sheet.js").read_text(encoding="utf-8")
        env = ImmutableSandboxedEnvironment(
            loader=FileSystemLoader(folder, encoding="utf-8"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        return env.get_template("sheet.html.j2").render(
            sheet=sheet.name,
            columns=",".join(VOTE_COLUMNS),
            questions=[(d, *QUESTIONS[d]) for d in DIMENSIONS],
            choices=CHOICES,
            pairs=[
                {
                    "id": p.id,
                    "language": p.language,
                    "texts": list(
                        zip(
                            ("Original", "Rewrite"),
                            side_by_side(p.original, p.rewrite),
                            strict=True,
                        )
                    ),
                }
                for p in sheet.pairs
            ],
            # ours, shipped beside the template
            css=Markup(css),  # noqa: S704
            script=Markup(script),  # noqa: S704
            css_hash=_hash(css),
            script_hash=_hash(script),
        )
    except (TemplateError, OSError) as e:
        raise PolicyError(
            f"the template of the rating sheet cannot be used: {e}",
            where=str(folder),
            mend="Reinstall judgeaudit",
        ) from e
