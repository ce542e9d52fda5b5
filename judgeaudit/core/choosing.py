"""The choices of an audit: from a file, from keywords, or both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import AuditSpec

__all__ = ["Spell", "choose", "read_choices", "spec_from"]

_FILE: Final = Path("audit.toml")

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
    data, judges = read_choices(config)
    if judges is not None:
        raise ConfigError(
            "the file names several judges, and this takes one",
            where=str(config or _FILE),
            mend="Several judges go with `judgeaudit audit` and `panel.run`",
        )
    return spec_from({**data, **(choices or {})}, spell)


def read_choices(config: Path | None = None) -> tuple[dict[str, Any], list[Any] | None]:
    """Return the choices of a file, checked, and its tables `[[judges]]`, where it has any.

    Parameters
    ----------
    config : path, optional
        The file; without it `audit.toml` in the current folder is read where there is one.

    Raises
    ------
    ConfigError
        Naming file, line and key.
    """
    from judgeaudit.core.toml import read_toml, record_from

    path = config or _FILE
    if config is None and not path.is_file():
        return {}, None
    data, text = read_toml(path)
    judges = data.pop("judges", None)
    record_from(AuditSpec, data, text=text, path=path)
    if judges is None:
        return data, None
    if not isinstance(judges, list) or not all(isinstance(t, dict) for t in judges):
        raise ConfigError(
            "the key 'judges' holds no tables", where=str(path), mend="Write [[judges]] above each"
        )
    for k, table in enumerate(judges, 1):
        record_from(AuditSpec, table, path=path, spell=f"key {{!r}} of judge {k}".format)
    return data, judges


def spec_from(choices: dict[str, Any], spell: Spell = "{}=".format) -> AuditSpec:
    """Check the choices of an audit that were given as keywords.

    Raises
    ------
    ConfigError
        Naming the choice.
    """
    from judgeaudit.core.toml import record_from

    return record_from(AuditSpec, choices, spell=spell)
