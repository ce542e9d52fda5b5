"""The choices of an audit: from a file, from keywords, or both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from judgeaudit.core.records import AuditSpec

__all__ = ["choose", "spec_from"]

Spell = Callable[[str], str]
"""From a key to the way its author wrote it, for messages: `limit=`, or `flag_of`."""


def choose(
    config: Path | None = None,
    choices: dict[str, Any] | None = None,
    spell: Spell = "{}=".format,
) -> AuditSpec:
    """Gather the choices of an audit from a file and from keywords; keywords win.

    Parameters
    ----------
    config : path, optional
        A TOML file; without it `audit.toml` in the current folder is read where there is one.
    choices : dict, optional
        Keys of `AuditSpec`.
    spell : callable
        How a key is spelt in messages.

    Raises
    ------
    ConfigError
        Naming file, line and key.
    """
    from judgeaudit.core.toml import read_toml, record_from

    path = config or Path("audit.toml")
    data: dict[str, Any] = {}
    if config is not None or path.is_file():
        data, text = read_toml(path)
        record_from(AuditSpec, data, text=text, path=path)
    return spec_from({**data, **(choices or {})}, spell)


def spec_from(choices: dict[str, Any], spell: Spell = "{}=".format) -> AuditSpec:
    """Check the choices of an audit that were given as keywords.

    Raises
    ------
    ConfigError
        Naming the choice.
    """
    from judgeaudit.core.toml import record_from

    return record_from(AuditSpec, choices, spell=spell)
