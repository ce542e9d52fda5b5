"""From flags, by name, and a file to the choices of an audit, or of several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgeaudit.core.records import AuditSpec
    from judgeaudit.core.seats import Seat

__all__ = ["chosen", "several"]


def several(flags: dict[str, Any]) -> tuple[Seat, ...]:
    """Return the judges that the flags of `audit`, by name, and its file name, each with all."""
    from judgeaudit.core.choosing import read_choices
    from judgeaudit.core.command import flag_of
    from judgeaudit.core.errors import ConfigError
    from judgeaudit.core.seats import Seat, seats_of

    named, bases = flags["judge"] or [], flags["api_base"] or []
    data, tables = read_choices(flags["config"])
    if named or tables is None:
        if len(bases) > 1 and len(bases) != len(named):
            raise ConfigError(
                f"--api-base is given {len(bases)} times, for {len(named) or 1} judges",
                mend="Give one each, in the order of the judges, or one for all",
            )
        if len(named) < 2:
            return (Seat(chosen(flags)),)
        tables = [{"judge": name} for name in named]
        for table, base in zip(tables, bases if len(bases) > 1 else (), strict=False):
            table["api_base"] = base
    elif len(bases) > 1:
        raise ConfigError("--api-base is given twice", mend="State addresses in [[judges]]")
    given = _given({**flags, "judge": None, "api_base": bases[0] if len(bases) == 1 else None})
    # a flag wins over what the file says of one judge, too
    tables = [{k: v for k, v in table.items() if k not in given} for table in tables]
    return seats_of(tables, {**data, **given}, flag_of)


def chosen(flags: dict[str, Any]) -> AuditSpec:
    """Return the choices that the flags of `audit`, by name, and its file make together."""
    from judgeaudit import audit
    from judgeaudit.core.command import flag_of

    one = {k: _only(k, flags.get(k)) for k in ("judge", "api_base")}
    return audit.choose(flags["config"], _given({**flags, **one}), flag_of)


def _only(name: str, value: list[str] | str | None) -> str | None:
    """Return the value of a flag that may be repeated, where one judge is asked for."""
    from judgeaudit.core.command import flag_of
    from judgeaudit.core.errors import ConfigError

    if not isinstance(value, list):
        return value
    if len(value) > 1:
        raise ConfigError(f"{flag_of(name)} is given {len(value)} times, and this takes one")
    return value[0] if value else None


def _given(flags: dict[str, Any]) -> dict[str, Any]:
    from judgeaudit import audit

    given = {k: v for k, v in flags.items() if k in audit.CHOICES and v is not None}
    if flags["condition"]:
        given["conditions"] = tuple(flags["condition"])
    if flags["certificates"]:
        given["certificates"] = tuple(flags["certificates"])
    return given
