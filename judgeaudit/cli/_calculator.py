"""What a calculator takes and says: numbers checked one by one, an answer with its source."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judgeaudit.core.errors import ConfigError

if TYPE_CHECKING:
    from judgeaudit.stats import Interval, Undefined

__all__ = [
    "CLUSTERS",
    "EXACT",
    "NUMBERS",
    "Answer",
    "JsonFlag",
    "Level",
    "chance",
    "events_of",
    "limits_of",
    "real",
    "say",
    "whole",
]

NUMBERS = {"ignore_unknown_options": True}
"""Settings of a verb whose arguments are numbers: -1 is a number, and gets an answer as such."""

EXACT = "Clopper and Pearson 1934, Biometrika 26"
CLUSTERS = "trials must be independent: related items (variants of one scenario) count as one"

_COUNTED = 10**15  # whole numbers above this are read by nobody digit by digit

Value = float | int | str | None


@dataclass(frozen=True)
class Answer:
    """An answer with its formula and source.

    Parameters
    ----------
    calculator : str
        The verb.
    given : mapping
        What was asked, as it was understood.
    found : mapping of str to value
        Names in plain words; the first is the answer.
    formula, source : str
        How it is computed, and who says so.
    notes : sequence of str
        What must be read with it.
    """

    calculator: str
    given: Mapping[str, Any]
    found: Mapping[str, Value | Undefined]
    formula: str
    source: str
    notes: Sequence[str | None] = field(default=())


def _fail(name: str, text: object, wanted: str) -> ConfigError:
    return ConfigError(f"{name} is {str(text)!r}", mend=f"It must be {wanted}")


def _number(name: str, text: object, wanted: str) -> float:
    try:
        value = float(str(text).strip())
    except ValueError:
        raise _fail(name, text, wanted) from None
    if not math.isfinite(value):
        raise _fail(name, text, wanted)
    return value


def whole(name: str, least: int = 0) -> Callable[[object], int]:
    """Make a parser of whole numbers from `least` on; 1e6 is one, too."""
    wanted = f"a whole number, {least} or more"

    def parse(text: object) -> int:
        try:
            exact: int | None = int(str(text))
        except ValueError:
            value = _number(name, text, wanted)
            exact = int(value) if value == int(value) else None
        if exact is None or not least <= exact <= 10**15:
            raise _fail(
                name,
                text,
                wanted if exact is None or exact < least else f"{wanted}, and at most 1e15",
            )
        return exact

    return parse


def chance(name: str, *, zero: bool = True, one: bool = True) -> Callable[[object], float]:
    """Make a parser of numbers between 0 and 1, with or without the ends."""
    ends = {
        (True, True): "a number from 0 to 1",
        (False, True): "a number above 0, up to 1",
        (True, False): "a number from 0 to below 1",
        (False, False): "a number between 0 and 1",
    }[zero, one]
    wanted = f"{ends} (0.05, not 5 or 5%)"

    def parse(text: object) -> float:
        value = _number(name, text, wanted)
        if not 0 <= value <= 1 or (value == 0 and not zero) or (value == 1 and not one):
            raise _fail(name, text, wanted)
        return value

    return parse


def real(
    name: str, least: float = -math.inf, most: float = math.inf, *, above: bool = False
) -> Callable[[object], float]:
    """Make a parser of numbers within limits."""
    if math.isinf(least):
        wanted = "a number"
    elif above:
        wanted = f"a number above {least:g}"
    else:
        wanted = f"a number, {least:g} or more"
    if not math.isinf(most):
        wanted = f"a number from {least:g} to {most:g}"

    def parse(text: object) -> float:
        value = _number(name, text, wanted)
        if not least <= value <= most or (above and value == least):
            raise _fail(name, text, wanted)
        return value

    return parse


def events_of(x: int, n: int, *, events: str = "X", trials: str = "N", least: int = 1) -> None:
    """Refuse more events than trials, and no trials.

    Raises
    ------
    ConfigError
        If the two numbers cannot be events and trials.
    """
    if n < least:
        raise ConfigError(f"{trials} is {n}", mend="Without a trial there is nothing to compute")
    if x > n:
        raise ConfigError(
            f"{events} is {x} and {trials} is {n}",
            mend="There cannot be more events than trials",
        )


def limits_of(interval: Interval | Undefined) -> dict[str, Value | Undefined]:
    """Put an interval's limits, or the reason why there are none, into an answer."""
    from judgeaudit.stats import Undefined as Missing

    if isinstance(interval, Missing):
        return {"lower limit": interval, "upper limit": interval}
    return {"lower limit": interval.low, "upper limit": interval.high}


Level = Annotated[
    float,
    typer.Option(
        "--level",
        parser=chance("--level", zero=False, one=False),
        metavar="P",
        help="Confidence level.",
    ),
]
JsonFlag = Annotated[bool, typer.Option("--json", help="As JSON, with all digits.")]


def say(answer: Answer, *, as_json: bool) -> None:
    """Print an answer, as text or as JSON."""
    from judgeaudit.stats import Undefined as Missing

    notes = [n for n in answer.notes if n]
    if as_json:
        why = {k: v.reason for k, v in answer.found.items() if isinstance(v, Missing)}
        typer.echo(
            json.dumps(
                {
                    "calculator": answer.calculator,
                    "given": dict(answer.given),
                    "found": {
                        k: None if isinstance(v, Missing) else v for k, v in answer.found.items()
                    },
                    **({"why_undefined": why} if why else {}),
                    "formula": answer.formula,
                    "source": answer.source,
                    "notes": notes,
                },
                indent=1,
                ensure_ascii=False,
                allow_nan=False,
            )
        )
        return
    width = max(len(name) for name in (*answer.found, "formula"))
    lines = [f"{name:<{width}}  {_shown(value, name)}" for name, value in answer.found.items()]
    lines += [
        "",
        f"{'formula':<{width}}  {answer.formula}",
        f"{'source':<{width}}  {answer.source}",
    ]
    lines += [f"{'note':<{width}}  {note}" for note in notes]
    typer.echo("\n".join(lines))


def _shown(value: Value | Undefined, name: str = "") -> str:
    from judgeaudit.stats import Undefined as Missing

    if isinstance(value, Missing):
        return f"none: {value.reason}"
    if value is None or isinstance(value, str):
        return value or "none"
    if isinstance(value, int) and abs(value) <= _COUNTED:
        return f"{value:,}"
    if value == 0 and name == "p":
        # no test gives certainty: the number is smaller than a float can be
        return f"below {sys.float_info.min:.0e}"
    return f"{value:.6g}"
