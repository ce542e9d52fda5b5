"""Plots as small SVG: sharp at any width, readable on a phone, dark where the page is dark.

Horizontal places are percentages of the width and text keeps its size, so nothing shrinks on a
narrow screen. Colours are classes that the page's style sheet fills (see
`docs/decisions/0601-plots-are-hand-made-svg.md`). An undefined figure is written out, never drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from markupsafe import Markup, escape

from judgeaudit.cards.clean import shorten
from judgeaudit.cards.words import BAND_EDGES

__all__ = ["Mark", "Row", "Stack", "gauge", "intervals", "stacked", "svg", "ticks"]

MarkStyle = Literal["dot", "ring", "bar"]

_WORDS: Final = 20
_TRACK: Final = 22
_ROW: Final = 50
_TOP: Final = 2
_AXIS: Final = 18
_LABEL: Final = 30


@dataclass(frozen=True, slots=True)
class Mark:
    """One estimate with its interval; `value` None draws nothing."""

    value: float | None
    low: float | None = None
    high: float | None = None
    style: MarkStyle = "dot"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a plot: a label, a figure in words, and the marks; `why` if undefined."""

    label: str
    text: str
    marks: tuple[Mark, ...]
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Stack:
    """One stacked bar: (style class, share) parts that add up to at most 1."""

    label: str
    text: str
    parts: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class _Scale:
    lo: float
    hi: float

    def __call__(self, x: float) -> str:
        share = (min(max(x, self.lo), self.hi) - self.lo) / (self.hi - self.lo)
        return f"{100 * share:.2f}%"

    def width(self, a: float, b: float) -> str:
        return f"{100 * (min(b, self.hi) - max(a, self.lo)) / (self.hi - self.lo):.2f}%"


def ticks(lo: float, hi: float, most: int = 5) -> list[float]:
    """Choose round places for an axis.

    Examples
    --------
    >>> ticks(-0.02, 0.17)
    [0.0, 0.05, 0.1, 0.15]
    """
    raw = (hi - lo) / most
    power = 10 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw - 1e-12)
    first, last = math.ceil(lo / step - 1e-9), math.floor(hi / step + 1e-9)
    return [round(k * step, 10) for k in range(first, last + 1)]


def svg(name: str, height: int, description: str, body: Sequence[str]) -> Markup:
    """Put a plot together; its parts are made of numbers and escaped text only."""
    head = (
        f'<svg class="plot {name}" xmlns="http://www.w3.org/2000/svg" width="100%" '
        f'height="{height}" role="img" aria-label="{escape(description)}">'
    )
    return Markup(head + "".join(body) + "</svg>")  # noqa: S704


def _text(x: str, y: int, css: str, text: str, anchor: str = "start") -> str:
    end = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text class="{css}" x="{x}" y="{y}"{end}>{escape(text)}</text>'


def _label(y: int, label: str) -> str:
    """Write a row's label; what follows a colon or stands in brackets goes where room is scarce."""
    label = shorten(label, _LABEL)
    at = min((k for k in (label.find(": "), label.find(" (")) if k > 0), default=len(label))
    more = f'<tspan class="more">{escape(label[at:])}</tspan>' if label[at:] else ""
    return f'<text class="lab" x="0" y="{y}">{escape(label[:at])}{more}</text>'


def _line(css: str, x1: str, x2: str, y1: int, y2: int) -> str:
    return f'<line class="{css}" x1="{x1}" x2="{x2}" y1="{y1}" y2="{y2}"/>'


def _axis(scale: _Scale, bottom: int, number: Callable[[float], str]) -> list[str]:
    out = []
    for t in ticks(scale.lo, scale.hi):
        share = (t - scale.lo) / (scale.hi - scale.lo)
        anchor = "start" if share < 0.06 else "end" if share > 0.94 else "middle"
        out.append(_text(scale(t), bottom + 14, "num", number(t), anchor))
    return out


def _track(scale: _Scale, top: int, zone: tuple[float, float] | None) -> list[str]:
    """Draw what lies under one row's marks, clear of the row's words."""
    out = []
    if zone is not None:
        x, width = scale(zone[0]), scale.width(*zone)
        out.append(f'<rect class="zone" x="{x}" y="{top}" width="{width}" height="{_TRACK}"/>')
    for t in ticks(scale.lo, scale.hi):
        css = "zero" if t == 0 and scale.lo < 0 else "tick"
        out.append(_line(css, scale(t), scale(t), top, top + _TRACK))
    return out


def _mark(scale: _Scale, m: Mark, y: int) -> list[str]:
    if m.value is None:
        return []
    out = []
    if m.style == "bar":
        width = scale.width(0.0, m.value)
        out.append(f'<rect class="bar" x="{scale(0.0)}" y="{y - 6}" width="{width}" height="12"/>')
        out.append(_line("tip", scale(m.value), scale(m.value), y - 6, y + 6))
    if m.low is not None and m.high is not None:
        out.append(_line(f"iv {m.style}", scale(m.low), scale(m.high), y, y))
    if m.style != "bar":
        radius = 5 if m.style == "dot" else 4
        out.append(f'<circle class="{m.style}" cx="{scale(m.value)}" cy="{y}" r="{radius}"/>')
    return out


def _domain(rows: Sequence[Row], least: Sequence[float]) -> _Scale:
    seen = [
        x for r in rows for m in r.marks for x in (m.value, m.low, m.high) if x is not None
    ] + list(least)
    lo, hi = min(seen), max(seen)
    pad = 0.04 * (hi - lo)
    return _Scale(lo - pad if lo < 0 else 0.0, min(hi + pad, 1.0) if hi <= 1 else hi + pad)


def intervals(
    name: str,
    rows: Sequence[Row],
    description: str,
    *,
    number: Callable[[float], str],
    zone: tuple[float, float] | None = None,
    least: Sequence[float] = (0.0, 0.1),
) -> Markup:
    """Draw one row an estimate, with its interval.

    Parameters
    ----------
    name : str
        Style class of the plot, our own word.
    rows : sequence of Row
        From top to bottom.
    description : str
        The plot in words, for those who do not see it.
    number : callable
        Words a tick.
    zone : (float, float), optional
        A shaded range, such as that within the practical threshold.
    least : sequence of float
        Values that the axis holds in any case.

    Returns
    -------
    Markup
        One `<svg>` element.
    """
    scale = _domain(rows, [*least, *(zone or ())])
    bottom = _TOP + _ROW * len(rows)
    body = []
    for k, row in enumerate(rows):
        top = _TOP + _ROW * k
        track = top + _WORDS
        body.append(_label(top + 14, row.label))
        body.append(_text("100%", top + 14, "val", row.text, "end"))
        drawn = [m for m in row.marks if m.value is not None]
        if not drawn:
            body.append(_text("0", track + 15, "why", "cannot be estimated"))
            continue
        body += _track(scale, track, zone)
        for n, mark in enumerate(drawn):
            y = track + (_TRACK // 2 if len(drawn) == 1 else 6 + 10 * n)
            body += _mark(scale, mark, y)
    body += _axis(scale, bottom, number)
    return svg(name, bottom + _AXIS, description, body)


def stacked(name: str, rows: Sequence[Stack], description: str) -> Markup:
    """Draw one stacked bar a row; parts are shares of the whole width.

    Parameters
    ----------
    name : str
        Style class of the plot, our own word.
    rows : sequence of Stack
        From top to bottom.
    description : str
        The plot in words.
    """
    height = 40
    body = []
    for k, row in enumerate(rows):
        top = _TOP + height * k
        body.append(_label(top + 13, row.label))
        body.append(_text("100%", top + 13, "val", row.text, "end"))
        at = 0.0
        for css, share in row.parts:
            if share > 0:
                body.append(
                    f'<rect class="part {css}" x="{100 * at:.2f}%" y="{top + 19}" '
                    f'width="{100 * share:.2f}%" height="13"/>'
                )
            at += share
    return svg(name, _TOP + height * len(rows) + 2, description, body)


def gauge(value: float | None, low: float | None, high: float | None, description: str) -> Markup:
    """Draw the Policy Invariance Score on its bands; without a value, the interval alone.

    Parameters
    ----------
    value, low, high : float, optional
        The score and its interval, 0 to 1.
    description : str
        The gauge in words.
    """
    scale = _Scale(0.0, 1.0)
    edges = [0.0, *(edge for edge, _ in reversed(BAND_EDGES)), 1.0]
    names = ["untrustworthy", *(word for _, word in reversed(BAND_EDGES))]
    body = []
    for name, a, b in zip(names, edges, edges[1:], strict=False):
        body.append(
            f'<rect class="range {name}" x="{scale(a)}" y="14" width="{scale.width(a, b)}" '
            f'height="16"/>'
        )
        anchor, x = ("end", b) if b == 1.0 else ("middle", (a + b) / 2)
        body.append(_text(scale(x), 46, "num", name, anchor))
    if low is not None and high is not None:
        body.append(_line("iv dot", scale(low), scale(high), 22, 22))
        body += [_line("iv dot", scale(x), scale(x), 17, 27) for x in (low, high)]
    if value is not None:
        body.append(f'<circle class="dot" cx="{scale(value)}" cy="22" r="6"/>')
    return svg("gauge", 52, description, body)
