"""What a user says of an Inspect scorer: where it is, what it takes, what its values mean."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

from judgeaudit.core.errors import ConfigError, unknown_name

__all__ = ["FORM", "MEANINGS", "Target", "read_target"]

FORM: Final = "inspect:FILE.py@SCORER or inspect:package.module@SCORER"

MEANINGS: Final = ("SAFE", "UNSAFE", "refusal", "unparseable", "error")
"""What a value of a scorer can be said to mean."""

_ONCE: Final = (
    *("policy", "key", "model", "base_url", "thoughts"),
    *("unsafe_below", "unsafe_above"),
)
_ARGUMENT: Final = "arg."
_MEND_LABEL: Final = "Say what the values mean: &label=C:SAFE&label=I:UNSAFE"


@dataclass(frozen=True, slots=True)
class Target:
    """A scorer, as the user names it.

    Parameters
    ----------
    place : str
        A file, or a module.
    name : str
        The scorer's factory in it.
    policy : str, optional
        Where the policy's wording goes: a parameter of the factory, or `target`, or `metadata`.
        None: the parameter `policy`.
    words : dict of str to str
        What a value means, by the value in lower case.
    below, above : float, optional
        The value is a number, and UNSAFE below (above) this one.
    key : str, optional
        Which value, of a score that is a mapping or a list.
    model, base_url : str, optional
        The model that grades, as Inspect names it, and its server.
    arguments : dict
        Further arguments of the factory.
    thoughts : {"reasoning", "text"}
        Whether an agent's thoughts are reasoning of its messages, or stand in their text.
    """

    place: str
    name: str
    policy: str | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    below: float | None = None
    above: float | None = None
    key: str | None = None
    model: str | None = None
    base_url: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    thoughts: str = "reasoning"

    @property
    def file(self) -> Path | None:
        """The file, where it is one."""
        return Path(self.place) if self.place.endswith(".py") or "/" in self.place else None

    def meaning(self, value: object) -> str | None:
        """Return what a single value means; None: nobody said."""
        word = str(value).lower() if isinstance(value, bool) else str(value).strip()
        if isinstance(value, float) and value.is_integer():
            word = str(int(value))
        found = self.words.get(word.casefold())
        if found is not None or isinstance(value, bool) or not isinstance(value, int | float):
            return found
        if self.below is not None:
            return "UNSAFE" if value < self.below else "SAFE"
        if self.above is not None:
            return "UNSAFE" if value > self.above else "SAFE"
        return None


def read_target(text: str) -> Target:
    """Read the part of a judge's name behind `inspect:`.

    Raises
    ------
    ConfigError
        Naming the option that cannot be one, or what is missing.

    Examples
    --------
    >>> found = read_target("judge.py@careful?label=C:SAFE&label=I:UNSAFE&arg.partial=false")
    >>> found.place, found.name, found.meaning("I"), found.arguments
    ('judge.py', 'careful', 'UNSAFE', {'partial': False})
    """
    where = f"inspect:{text}"
    spot, _, query = text.partition("?")
    place, at, name = spot.rpartition("@")
    if not at or not place.strip() or not name.isidentifier():
        raise ConfigError("no scorer is named", where=where, mend=f"Write it as {FORM}")
    once: dict[str, str] = {}
    words = {"safe": "SAFE", "unsafe": "UNSAFE"}
    arguments: dict[str, Any] = {}
    for option, value in parse_qsl(query, keep_blank_values=True):
        if option == "label":
            _say(words, value, where)
        elif option.startswith(_ARGUMENT) and option.removeprefix(_ARGUMENT).isidentifier():
            arguments[option.removeprefix(_ARGUMENT)] = _plain(value)
        elif option in _ONCE and option not in once:
            once[option] = value.strip()
        else:
            known = ["label", "arg.NAME", *_ONCE]
            what = f"{option} stands twice" if option in once else None
            raise ConfigError(what or unknown_name("option", option, known), where=where)
    below, above = (_number(once, n, where) for n in ("unsafe_below", "unsafe_above"))
    if below is not None and above is not None:
        raise ConfigError("unsafe_below does not go with unsafe_above", where=where)
    if len(words) == 2 and below is None and above is None:
        raise ConfigError(
            "nobody said what the scorer's values mean", where=where, mend=_MEND_LABEL
        )
    thoughts = once.get("thoughts", "reasoning")
    if thoughts not in {"reasoning", "text"}:
        raise ConfigError(
            unknown_name("place of thoughts", thoughts, ["reasoning", "text"]), where=where
        )
    if "base_url" in once and "model" not in once:
        raise ConfigError(
            "base_url goes with model", where=where, mend="Name the model that grades"
        )
    return Target(
        place=place.strip(),
        name=name,
        policy=once.get("policy"),
        words=words,
        below=below,
        above=above,
        key=once.get("key"),
        model=once.get("model"),
        base_url=once.get("base_url"),
        arguments=arguments,
        thoughts=thoughts,
    )


def _say(words: dict[str, str], text: str, where: str) -> None:
    word, sign, meaning = text.rpartition(":")
    known = {m.casefold(): m for m in MEANINGS}
    if not sign or meaning.strip().casefold() not in known:
        raise ConfigError(
            f"label={text!r:.60} says none of {', '.join(MEANINGS)}", where=where, mend=_MEND_LABEL
        )
    said = known[meaning.strip().casefold()]
    if words.setdefault(word.strip().casefold(), said) != said:
        raise ConfigError(f"{word!r:.40} is said to mean two things", where=where)


def _plain(text: str) -> Any:
    """Read an argument as JSON where it is some, else as the text it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _number(once: Mapping[str, str], name: str, where: str) -> float | None:
    if name not in once:
        return None
    try:
        found = float(once[name])
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise ConfigError(f"{name}={once[name]!r:.40} is no number", where=where)
    return found
