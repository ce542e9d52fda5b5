"""Presets: how many calls an item is asked under which conditions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from judgeaudit.core.errors import ConfigError, unknown_name
from judgeaudit.core.records import Condition, Protocol

__all__ = ["CONDITION_ORDER", "PRESETS", "Preset", "make_protocol"]

CONDITION_ORDER: Final = (
    *("base", "T0", "T1", "T2", "T4", "T3", "strict", "lenient"),
    *("no_policy", "inverted", "vacuum"),
)
"""Order of the known conditions in a protocol; others follow, sorted by id."""


@dataclass(frozen=True, slots=True)
class Preset:
    """One named layout of calls.

    Parameters
    ----------
    base_repeats : int
        K, calls an item under `base`.
    repeats : int
        L, calls an item under each other condition.
    conditions : tuple of str
        Condition ids.
    control_items : int, optional
        Items on which the controls are asked; None: all.
    items : int, optional
        Items drawn from the corpus unless the user names a number; None: all.
    """

    base_repeats: int
    repeats: int
    conditions: tuple[str, ...]
    control_items: int | None
    items: int | None = None


PRESETS: Final[dict[str, Preset]] = {
    "quick": Preset(
        base_repeats=3,
        repeats=2,
        conditions=("base", "T1", "T2", "T4", "strict", "lenient", "no_policy", "inverted"),
        control_items=8,
        # half as many for the embedded model: see judges/_choice.items_for
        items=16,
    ),
    "default": Preset(base_repeats=5, repeats=2, conditions=CONDITION_ORDER, control_items=40),
    # the published layout: 3 base calls and 5 rewrites, 8 calls an item (arXiv 2605.06161)
    "paper": Preset(
        base_repeats=3,
        repeats=1,
        conditions=("base", "T1", "T2", "T4", "strict", "lenient"),
        control_items=None,
    ),
    # has anything moved? base calls alone, of anchors that `judgeaudit nightly` names
    "nightly": Preset(base_repeats=1, repeats=1, conditions=("base",), control_items=None),
}


def _pick(ids: Iterable[str], known: dict[str, Condition]) -> tuple[Condition, ...]:
    wanted = set(ids)
    for name in sorted(wanted):
        if name not in known:
            raise ConfigError(unknown_name("condition", name, list(known)))
    place = {name: k for k, name in enumerate(CONDITION_ORDER)}
    order = sorted(wanted, key=lambda name: (place.get(name, len(place)), name))
    return tuple(known[name] for name in order)


def make_protocol(
    preset: str,
    available: Iterable[Condition],
    *,
    seed: int = 0,
    base_repeats: int | None = None,
    repeats: int | None = None,
    conditions: Sequence[str] | None = None,
    add: Sequence[str] = (),
    drop: Sequence[str] = (),
    control_items: int | None = None,
    wordings: int = 1,
    headline_treatment: str = "exclude",
    practical_threshold: float = 0.05,
    level: float = 0.95,
) -> Protocol:
    """Lay out an audit from a preset and what the user wants changed of it.

    Parameters
    ----------
    preset : {"quick", "default", "paper", "nightly"}
        Where to start from.
    available : iterable of Condition
        All conditions there are (the bundled transforms and the user's own).
    seed : int
        Orders the calls and picks the items of the controls.
    base_repeats, repeats, control_items : int, optional
        K, L and the number of items for the controls, where they differ from the preset's. No
        item for the controls (0) leaves the controls out.
    conditions : sequence of str, optional
        Exactly these conditions instead of the preset's; `base` is always among them.
    add, drop : sequence of str
        Conditions to add to, and to leave out of, the preset's.
    wordings : int
        Wordings of each condition, where the renderings offer several.
    headline_treatment, practical_threshold, level
        See `Protocol`.

    Returns
    -------
    Protocol
        Conditions stand in the order of `CONDITION_ORDER`.

    Raises
    ------
    ConfigError
        If the preset or a condition is unknown, `base` is dropped, or a number is below 1.

    Examples
    --------
    >>> base = Condition(id="base", kind="reference")
    >>> make_protocol("paper", [base], conditions=["base"], base_repeats=2).base_repeats
    2
    """
    if preset not in PRESETS:
        raise ConfigError(unknown_name("preset", preset, list(PRESETS)))
    start = PRESETS[preset]
    known = {c.id: c for c in available}
    for name in drop:
        if name not in known:
            raise ConfigError(unknown_name("condition", name, list(known)))
    ids = (set(start.conditions if conditions is None else conditions) | set(add)) - set(drop)
    if "base" in drop:
        raise ConfigError("condition 'base' cannot be dropped: all others are compared with it")
    numbers = {
        "base_repeats": start.base_repeats if base_repeats is None else base_repeats,
        "repeats": start.repeats if repeats is None else repeats,
        "control_items": start.control_items if control_items is None else control_items,
        "wordings": wordings,
    }
    for name, value in numbers.items():
        least = 0 if name == "control_items" else 1
        if value is not None and value < least:
            raise ConfigError(f"{name} is {value}", mend=f"It must be {least} or more")
    if not 0 < level < 1:
        raise ConfigError(f"level is {level}", mend="It must lie between 0 and 1, as in 0.95")
    if numbers["control_items"] == 0:
        ids = {i for i in ids if i not in known or known[i].kind != "control"}
        numbers["control_items"] = None
    return Protocol(
        preset=preset,
        base_repeats=numbers["base_repeats"] or 1,
        repeats=numbers["repeats"] or 1,
        conditions=_pick(ids | {"base"}, known),
        wordings=wordings,
        control_items=numbers["control_items"],
        seed=seed,
        headline_treatment=headline_treatment,
        practical_threshold=practical_threshold,
        level=level,
    )
