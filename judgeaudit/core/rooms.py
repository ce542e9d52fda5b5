"""Find the data rooms (`policies`, `transforms`, `judge_cards`) wherever the package lives."""

from __future__ import annotations

from pathlib import Path

from judgeaudit.core.errors import ConfigError

__all__ = ["ROOMS", "room"]

ROOMS = ("policies", "transforms", "judge_cards")
_PACKAGE = Path(__file__).resolve().parent.parent


def room(name: str) -> Path:
    """Return the folder of a data room.

    In a wheel the rooms lie in `judgeaudit/_rooms/`; in a checkout (and an editable install)
    beside the package, where a `pyproject.toml` stands.

    Raises
    ------
    ConfigError
        If the room is not known or not shipped.
    """
    if name not in ROOMS:
        raise ConfigError(f"unknown data room {name!r}", mend=f"The rooms are {', '.join(ROOMS)}")
    shipped = _PACKAGE / "_rooms" / name
    if shipped.is_dir():
        return shipped
    beside = _PACKAGE.parent / name
    if beside.is_dir() and (_PACKAGE.parent / "pyproject.toml").is_file():
        return beside
    raise ConfigError(
        f"the data room {name!r} is missing from this installation",
        where=str(_PACKAGE),
        mend="Reinstall judgeaudit",
    )
