"""Plots in two dimensions as small SVG: curves, a flow, and a triangle of weights.

As in `plots`, horizontal places are percentages of the width and text keeps its size. Shapes that
need a path stand in a box of their own that is stretched with the page, text does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from markupsafe import Markup, escape

from judgeaudit.cards.plots import svg, ticks

__all__ = ["Axis", "Corner", "Curve", "Flow", "Spot", "flow", "plane", "triangle"]

_LEFT: Final = 14.0
_RIGHT: Final = 98.0
_TOP: Final = 26
_FLOOR: Final = 216
_RIBBONS: Final = 150


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: its range, how a tick is worded, and what it measures."""

    low: float
    high: float
    number: Callable[[float], str]
    title: str

    def share(self, x: float) -> float:
        """Place a value between the ends, 0 to 1; what lies beyond stands at the end."""
        return (min(max(x, self.low), self.high) - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Curve:
    """Points joined by straight lines; `style` is a class of ours ("curve", "chance")."""

    points: tuple[tuple[float, float], ...]
    style: str = "curve"


@dataclass(frozen=True, slots=True)
class Spot:
    """One estimate with its interval, and a word below it at `under`, such as its count."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    word: str = ""
    under: float | None = None
    style: str = "dot"


@dataclass(frozen=True, slots=True)
class Flow:
    """Shares that go from one of two states to one of two; they add up to 1.

    Parameters
    ----------
    upper, forward, reverse, lower : float
        What stays in the upper state, falls, rises, and stays in the lower state.
    """

    upper: float
    forward: float
    reverse: float
    lower: float


@dataclass(frozen=True, slots=True)
class Corner:
    """A corner of the triangle: what has all the weight there, and the value at it, in words."""

    label: str
    said: str


def _text(x: float, y: float, text: str, anchor: str = "middle", css: str = "num") -> str:
    end = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text class="{css}" x="{x:.2f}%" y="{y:.0f}"{end}>{escape(text)}</text>'


def _line(css: str, a: tuple[float, float], b: tuple[float, float]) -> str:
    return (
        f'<line class="{css}" x1="{a[0]:.2f}%" y1="{a[1]:.1f}" x2="{b[0]:.2f}%" y2="{b[1]:.1f}"/>'
    )


def plane(
    name: str,
    description: str,
    *,
    x: Axis,
    y: Axis,
    curves: Sequence[Curve] = (),
    spots: Sequence[Spot] = (),
) -> Markup:
    """Draw curves and points over two axes.

    Parameters
    ----------
    name : str
        Style class of the plot, our own word.
    description : str
        The plot in words, for those who do not see it.
    x, y : Axis
        Their titles stand in the plot.
    curves, spots : sequence
        Drawn in this order, points above curves.

    Returns
    -------
    Markup
        One `<svg>` element.
    """

    def at(u: float, v: float) -> tuple[float, float]:
        return _LEFT + (_RIGHT - _LEFT) * x.share(u), _FLOOR - (_FLOOR - _TOP) * y.share(v)

    body = [_text(0, 13, y.title, "start")]
    for t in ticks(y.low, y.high):
        left, height = at(x.low, t)
        body.append(_line("tick", (left, height), (_RIGHT, height)))
        body.append(_text(_LEFT - 1.5, height + 4, y.number(t), "end"))
    below = _FLOOR + 4
    if any(s.word for s in spots):
        below += 14
        body += [
            _text(at(s.x if s.under is None else s.under, y.low)[0], below, s.word)
            for s in spots
            if s.word
        ]
    below += 16
    for t in ticks(x.low, x.high):
        place = at(t, y.low)[0]
        body.append(_line("tick", (place, _FLOOR), (place, _FLOOR + 4)))
        body.append(_text(place, below, x.number(t), "end" if place > _RIGHT - 3 else "middle"))
    body.append(_text(100, below + 17, x.title, "end"))
    for c in curves:
        body += [_line(c.style, at(*a), at(*b)) for a, b in pairwise(c.points)]
    for s in spots:
        place, height = at(s.x, s.y)
        if s.low is not None and s.high is not None:
            body.append(_line(f"iv {s.style}", at(s.x, s.low), at(s.x, s.high)))
        body.append(
            f'<circle class="{s.style}" cx="{place:.2f}%" cy="{height:.1f}" r="4.5"></circle>'
        )
    return svg(name, below + 22, description, body)


def _ribbon(css: str, left: float, right: float, width: float) -> str:
    """Draw a band from one height to another, in a box of 100 by 100."""
    a, b, c, d = left, right, right + width, left + width
    return (
        f'<path class="part {css}" d="M3,{a:.2f} C50,{a:.2f} 50,{b:.2f} 97,{b:.2f} '
        f'L97,{c:.2f} C50,{c:.2f} 50,{d:.2f} 3,{d:.2f} Z"/>'
    )


def flow(
    name: str, moved: Flow, ends: tuple[tuple[str, str], tuple[str, str]], description: str
) -> Markup:
    """Draw how shares of two states go over into one another.

    Parameters
    ----------
    name : str
        Style class of the plot, our own word.
    moved : Flow
        The four shares.
    ends : pair of (str, str)
        What stands above and below the left end, and the right end.
    description : str
        The plot in words.
    """
    up, fall, rise, low = (
        100 * v for v in (moved.upper, moved.forward, moved.reverse, moved.lower)
    )
    bands = [
        ("stays-unsafe", 0.0, 0.0, up),
        ("stays-safe", up + fall + rise, up + rise + fall, low),
        ("falls", up, up + rise, fall),
        ("rises", up + fall, up, rise),
    ]
    body = [
        _text(0, 13, ends[0][0], "start", "val"),
        _text(100, 13, ends[1][0], "end", "val"),
        _stretched(_TOP - 6, _RIBBONS),
        *(_ribbon(*band) for band in bands if band[3] > 0),
        *_bars(0, up + fall),
        *_bars(97, up + rise),
        "</svg>",
        _text(0, _TOP + _RIBBONS + 8, ends[0][1], "start", "val"),
        _text(100, _TOP + _RIBBONS + 8, ends[1][1], "end", "val"),
    ]
    return svg(name, _TOP + _RIBBONS + 14, description, body)


def _stretched(top: int, height: int) -> str:
    """Open a box of 100 by 100 that fills the width."""
    return (
        f'<svg x="0" y="{top}" width="100%" height="{height}" viewBox="0 0 100 100" '
        f'preserveAspectRatio="none" aria-hidden="true">'
    )


def _bars(x: int, upper: float) -> list[str]:
    return [
        f'<rect class="end-unsafe" x="{x}" y="0" width="3" height="{upper:.2f}"/>',
        f'<rect class="end-safe" x="{x}" y="{upper:.2f}" width="3" height="{100 - upper:.2f}"/>',
    ]


Weights = tuple[float, float, float]


def _cut(
    corners: Sequence[Weights], values: Sequence[float], edge: float, *, above: bool
) -> list[Weights]:
    """Keep the part of a polygon where a linear value is above (or below) an edge."""

    def value(w: Weights) -> float:
        return sum(a * b for a, b in zip(w, values, strict=True))

    if not above and all(value(w) >= edge for w in corners):
        return []  # what touches the edge lies above it
    kept: list[Weights] = []
    for a, b in zip(corners, [*corners[1:], *corners[:1]], strict=True):
        va, vb = value(a) - edge, value(b) - edge
        if (va >= 0) == above or va == 0:
            kept.append(a)
        if va * vb < 0:
            t = va / (va - vb)
            kept.append(tuple(p + t * (q - p) for p, q in zip(a, b, strict=True)))  # type: ignore[arg-type]
    return kept


def _place(w: Weights) -> tuple[float, float]:
    """Put weights into a box of 100 by 100: the first corner on top, then left, then right."""
    return 50 * w[0] + 100 * w[2], 100 * (1 - w[0])


def _area(corners: Sequence[Weights]) -> float:
    """Return the share of the whole triangle that a polygon covers."""
    at = [_place(w) for w in corners]
    doubled = sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(at, [*at[1:], *at[:1]], strict=True))
    return abs(doubled) / 10_000


_WHOLE: Final[tuple[Weights, ...]] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def regions(
    values: Weights, edges: Sequence[tuple[float, str]], lowest: str
) -> list[tuple[str, float, list[Weights]]]:
    """Cut the triangle of weights by the bands of a weighted mean.

    Parameters
    ----------
    values : (float, float, float)
        The value where one part has all the weight.
    edges : sequence of (float, str)
        Lower edge and name of each band, the highest first.
    lowest : str
        Name of what lies below the last edge.

    Returns
    -------
    list of (str, float, list)
        Name, share of all weights, corners; bands that no weight gives are left out.

    Examples
    --------
    >>> [(n, round(a, 4)) for n, a, _ in regions((1.0, 0.0, 0.0), ((0.5, "good"),), "bad")]
    [('good', 0.25), ('bad', 0.75)]
    """
    found = []
    rest: list[Weights] = list(_WHOLE)
    for edge, name in edges:
        upper = _cut(rest, values, edge, above=True) if rest else []
        rest = _cut(rest, values, edge, above=False) if rest else []
        if len(upper) > 2 and _area(upper) > 1e-9:
            found.append((name, _area(upper), upper))
    if len(rest) > 2 and _area(rest) > 1e-9:
        found.append((lowest, _area(rest), rest))
    return found


def triangle(
    name: str,
    corners: tuple[Corner, Corner, Corner],
    bands: Sequence[tuple[str, float, list[Weights]]],
    chosen: Weights,
    description: str,
) -> Markup:
    """Draw a weighted mean of three parts over all weights, by its bands.

    Parameters
    ----------
    name : str
        Style class of the plot, our own word.
    corners : three Corner
        On top, on the left, on the right.
    bands : sequence
        From `regions`.
    chosen : (float, float, float)
        The weights that are used, marked.
    description : str
        The plot in words.
    """
    height = 190
    top = 22
    at = _place(chosen)
    body = [_text(50, 13, f"{corners[0].label} {corners[0].said}", "middle", "val")]
    body.append(_stretched(top, height))
    for band, _, shape in bands:
        points = " ".join(f"{x:.2f},{y:.2f}" for x, y in map(_place, shape))
        body.append(f'<polygon class="range {band}" points="{points}"/>')
    body.append('<polygon class="edge" points="50,0 0,100 100,100"/></svg>')
    body.append(
        f'<circle class="dot" cx="{at[0]:.2f}%" cy="{top + height * at[1] / 100:.1f}" r="5.5"/>'
    )
    low = top + height + 16
    body.append(_text(0, low, f"{corners[1].label} {corners[1].said}", "start", "val"))
    body.append(_text(100, low, f"{corners[2].label} {corners[2].said}", "end", "val"))
    return svg(name, low + 6, description, body)
