"""What a hardened judge is given to judge: a trajectory that says something, read strictly."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Final

from pydantic import ValidationError

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import Trajectory

__all__ = ["as_trajectory", "each_once"]

_MOST_TURNS: Final = 10_000


def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of JSON's pairs; for `json.loads(..., object_pairs_hook=each_once)`.

    Raises
    ------
    ValueError
        If a key stands twice: which one is meant nobody can tell, and readers differ.

    Examples
    --------
    >>> each_once([("a", 1), ("b", 2)])
    {'a': 1, 'b': 2}
    """
    made = dict(pairs)
    if len(made) < len(pairs):
        twice = next(key for key, n in Counter(k for k, _ in pairs).items() if n > 1)
        raise ValueError(f"the key {twice[:40]!r} stands twice in one object")
    return made


def as_trajectory(given: Trajectory | dict[str, Any] | str) -> Trajectory:
    """Read a trajectory, from JSON too.

    Raises
    ------
    ConfigError
        If it is none, or says nothing that could be judged; names the place.
    """
    if isinstance(given, Trajectory):
        return given
    try:
        if isinstance(given, str):
            given = json.loads(given, object_pairs_hook=each_once)
        found = Trajectory.model_validate(given)
    except ValidationError as e:
        first = e.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the trajectory"
        raise ConfigError(
            f"no trajectory: {first['msg']}",
            where=where[:120],
            mend='It is {"profile": ..., "turns": [{"role": "user", "content": ...}, {"role": '
            '"agent", "thought": ..., "action": ...}]}',
        ) from None
    except (ValueError, RecursionError) as e:
        raise ConfigError(f"no JSON: {str(e)[:120]}", mend="Give a trajectory as JSON") from None
    if not found.turns or len(found.turns) > _MOST_TURNS:
        raise ConfigError(
            f"a trajectory of {len(found.turns)} turns", mend=f"Give 1 to {_MOST_TURNS:,}"
        )
    if not any(_says(t) for turn in found.turns for t in (turn.content, turn.thought, turn.action)):
        raise ConfigError(
            "no turn of the trajectory holds any text, so there is nothing to judge",
            mend="Give a turn its content, or an agent's thought or action",
        )
    return found


def _says(text: str | None) -> bool:
    return text is not None and bool(text.strip())
