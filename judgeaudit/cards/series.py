"""Figures by night as small SVG: lines with bands, a bar that they may reach, and marked nights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup, escape

from judgeaudit.cards.plots import ticks

__all__ = ["Line", "Moment", "Series", "drawn", "standing_alone"]

_WIDTH: Final = 720
_HEIGHT: Final = 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 20, 30, 30
_MOST_DOTS: Final = 120

_STYLE: Final = (
    ".plot text{font:12px system-ui,sans-serif;fill:#565b64}.plot .title{font-size:14px;"
    "font-weight:600;fill:#1b1d21}.tick{stroke:#d9dad4}.zero{stroke:#565b64}.band{fill:#2f5ea8;"
    "opacity:.18}.first{fill:none;stroke:#2f5ea8;stroke-width:2}.second{fill:none;stroke:#b3483f;"
    "stroke-width:2;stroke-dasharray:6 3}.dot.first{fill:#2f5ea8}.dot.second{fill:#b3483f}"
    ".bar{stroke:#ab2326;stroke-dasharray:5 4}.moment{stroke:#855300;stroke-dasharray:2 3}"
    ".alarm{fill:#ab2326}@media(prefers-color-scheme:dark){.plot text{fill:#a9adb5}"
    ".plot .title{fill:#e9e9e6}.tick{stroke:#373a41}.zero{stroke:#a9adb5}.band{fill:#8db4f0}"
    ".first{stroke:#8db4f0}.second{stroke:#ff938b}.dot.first{fill:#8db4f0}"
    ".dot.second{fill:#ff938b}.bar{stroke:#ff938b}.moment{stroke:#e8b75c}.alarm{fill:#ff938b}}"
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line; None breaks it. `css` is "first" or "second"."""

    css: str
    values: Sequence[float | None]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()


@dataclass(frozen=True, slots=True)
class Moment:
    """A night that is marked by a line across, with its number in the table of moments."""

    at: int
    mark: str


@dataclass(frozen=True, slots=True)
class Series:
    """One plot over nights.

    Parameters
    ----------
    title, description : str
        Printed above where it stands alone, and read out to those who do not see it.
    nights : sequence of int
        Their numbers.
    lines : sequence of Line
        Values of each night.
    number : callable
        Words a tick.
    span : (float, float)
        Least range of the axis.
    bar : float, optional
        A value that is drawn across.
    alarms : sequence of int
        Positions in `nights` with an alarm.
    moments : sequence of Moment
        Positions with something else to mark.
    ends : (str, str)
        Words below the first and the last night.
    """

    title: str
    description: str
    nights: Sequence[int]
    lines: Sequence[Line]
    number: Callable[[float], str]
    span: tuple[float, float]
    bar: float | None = None
    alarms: Sequence[int] = ()
    moments: Sequence[Moment] = ()
    ends: tuple[str, str] = ("", "")


def _body(s: Series, top: float = 0.0) -> list[str]:
    seen = [
        v
        for line in s.lines
        for values in (line.values, line.low, line.high)
        for v in values
        if v is not None
    ]
    low, high = min([*seen, s.span[0]]), max([*seen, s.span[1]])
    n = len(s.nights)

    def x(k: int) -> float:
        room = _WIDTH - _LEFT - _RIGHT - 16
        return _LEFT + 8 + (room / 2 if n == 1 else room * k / (n - 1))

    def y(v: float) -> float:
        inner = _HEIGHT - _TOP - _BOTTOM
        return top + _TOP + inner * (1 - (v - low) / (high - low))

    def across(css: str, v: float) -> str:
        at = f"{y(v):.1f}"
        return f'<line class="{css}" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at}" y2="{at}"/>'

    body = []
    for t in ticks(low, high):
        body.append(across("tick zero" if t == 0 else "tick", t))
        body.append(
            f'<text x="{_LEFT - 8}" y="{y(t) + 4:.1f}" text-anchor="end">'
            f"{escape(s.number(t))}</text>"
        )
    for moment in s.moments:
        at = f"{x(moment.at):.1f}"
        ends = top + _TOP - 4, top + _HEIGHT - _BOTTOM
        body.append(
            f'<line class="moment" x1="{at}" x2="{at}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}"/>'
            f'<text x="{at}" y="{top + _TOP - 8:.1f}" text-anchor="middle">'
            f"{escape(moment.mark)}</text>"
        )
    if s.bar is not None:
        body.append(across("bar", s.bar))
    for line in s.lines:
        body += _line(line, x, y)
    for k in s.alarms:
        peak = top + _HEIGHT - _BOTTOM - 14
        body.append(
            f'<path class="alarm" d="M{x(k):.1f} {peak:.1f}l6 11h-12z"><title>'
            f"alarm on night {s.nights[k]}</title></path>"
        )
    foot = top + _HEIGHT - 8
    body.append(f'<text x="{_LEFT}" y="{foot:.1f}">{escape(s.ends[0])}</text>')
    body.append(
        f'<text x="{_WIDTH - _RIGHT}" y="{foot:.1f}" text-anchor="end">{escape(s.ends[1])}</text>'
    )
    return body


def _line(line: Line, x: Callable[[int], float], y: Callable[[float], float]) -> list[str]:
    body = []
    for part in _runs(line.low, line.high):
        there = [f"{x(k):.1f},{y(a):.1f}" for k, a, _ in part]
        back = [f"{x(k):.1f},{y(b):.1f}" for k, _, b in reversed(part)]
        if len(part) == 1:  # a band of one night has no area
            k, a, b = part[0]
            body.append(
                f'<line class="{line.css}" x1="{x(k):.1f}" x2="{x(k):.1f}" y1="{y(a):.1f}" '
                f'y2="{y(b):.1f}"/>'
            )
        else:
            body.append(f'<polygon class="band" points="{" ".join([*there, *back])}"/>')
    for part in _runs(line.values, line.values):
        if len(part) > 1:
            points = " ".join(f"{x(k):.1f},{y(v):.1f}" for k, v, _ in part)
            body.append(f'<polyline class="{line.css}" points="{points}"/>')
        if len(line.values) <= _MOST_DOTS or len(part) == 1:
            body += [
                f'<circle class="dot {line.css}" cx="{x(k):.1f}" cy="{y(v):.1f}" r="3"/>'
                for k, v, _ in part
            ]
    return body


def _runs(
    one: Sequence[float | None], two: Sequence[float | None]
) -> list[list[tuple[int, float, float]]]:
    """Cut where a value is missing."""
    runs: list[list[tuple[int, float, float]]] = [[]]
    for k, (a, b) in enumerate(zip(one, two, strict=True)):
        if a is None or b is None:
            runs.append([])
        else:
            runs[-1].append((k, a, b))
    return [r for r in runs if r]


def drawn(s: Series) -> Markup:
    """Draw a plot for a page, whose style sheet colours it."""
    return Markup(  # noqa: S704  # numbers, our own words, and escaped text
        f'<svg class="plot series" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(s.description)}">{"".join(_body(s))}</svg>'
    )


def standing_alone(plots: Sequence[Series], title: str) -> str:
    """Put plots below one another into one SVG document with a style of its own.

    Parameters
    ----------
    plots : sequence of Series
        From top to bottom.
    title : str
        Printed above.
    """
    head, step = 30, _HEIGHT + 26
    body = [f'<text class="title" x="8" y="20">{escape(title)}</text>']
    for k, s in enumerate(plots):
        top = head + k * step
        body.append(f'<text class="title" x="8" y="{top + 16}">{escape(s.title)}</text>')
        body += _body(s, top + 20)
    said = " ".join(s.description for s in plots)
    return (
        f'<svg class="plot" xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {_WIDTH} {head + len(plots) * step}" role="img" '
        f'aria-label="{escape(said)}"><style>{_STYLE}</style>{"".join(body)}</svg>\n'
    )
