"""The history of a judge: its figures by date, drawn with their intervals."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup, escape

from judgeaudit.cards.site.reading import Sited
from judgeaudit.cards.site.rows import FIGURES, Cell, Figure, cell
from judgeaudit.cards.words import percent_tick, points_tick, unit_score

__all__ = ["TRENDS", "Trend", "trends"]

TRENDS: Final = tuple(f for f in FIGURES if f.id in ("pis", "delta", "accuracy", "jitter"))
_WIDTH, _HEIGHT = 340, 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 16, 12, 26


@dataclass(frozen=True, slots=True)
class Trend:
    """One figure over time; `cells` are those of the cards, in their order."""

    figure: Figure
    svg: Markup
    cells: tuple[Cell, ...]


def _day(when: dt.datetime) -> str:
    return "undated" if when.year == 1 else when.strftime("%Y-%m-%d")


def _tick(figure: Figure, x: float) -> str:
    if figure.id == "pis":
        return unit_score(x)
    return points_tick(x) if figure.id == "delta" else percent_tick(x)


def _span(figure: Figure, cells: Sequence[Cell]) -> tuple[float, float]:
    if figure.id != "delta":
        return 0.0, 1.0
    seen = [abs(x) for c in cells for x in (c.value, c.low, c.high) if x is not None]
    # whole tens of points, so that the ticks are round
    edge = min(1.0, max(1, -(-int(100 * max(seen, default=0.1) + 0.999) // 10)) / 10)
    return -edge, edge


def _places(cards: Sequence[Sited]) -> list[float]:
    times = [c.when.timestamp() if c.when.year > 1 else 0.0 for c in cards]
    first, last = min(times), max(times)
    room = _WIDTH - _LEFT - _RIGHT
    n = len(cards)
    if last - first < 1 or first == 0.0:  # one moment, or none known: their order is all there is
        return [_LEFT + room * (k + 0.5) / n for k in range(n)]
    inset = 10
    return [_LEFT + inset + (room - 2 * inset) * (t - first) / (last - first) for t in times]


def _drawn(figure: Figure, cards: Sequence[Sited], cells: Sequence[Cell]) -> Markup:
    low, high = _span(figure, cells)

    def y(v: float) -> float:
        inner = _HEIGHT - _TOP - _BOTTOM
        return _TOP + inner * (1 - (min(max(v, low), high) - low) / (high - low))

    parts = []
    for tick in (low, (low + high) / 2, high):
        at, zero = y(tick), " zero" if tick == 0 else ""
        parts.append(
            f'<line class="tick{zero}" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" '
            f'y1="{at:.1f}" y2="{at:.1f}"/>'
            f'<text class="num" x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">'
            f"{_tick(figure, tick)}</text>"
        )
    places = _places(cards)
    before: tuple[float, float, str] | None = None
    for card, c, x in zip(cards, cells, places, strict=True):
        setup = card.card.facts.judge_sha256
        if c.value is None:
            parts.append(
                f'<text class="num why" x="{x:.1f}" y="{_HEIGHT - _BOTTOM - 6}" '
                f'text-anchor="middle">none</text>'
            )
            before = None
            continue
        at = y(c.value)
        if before is not None and before[2] == setup:
            parts.append(
                f'<line class="path" x1="{before[0]:.1f}" y1="{before[1]:.1f}" '
                f'x2="{x:.1f}" y2="{at:.1f}"/>'
            )
        if c.low is not None and c.high is not None:
            parts.append(
                f'<line class="iv" x1="{x:.1f}" x2="{x:.1f}" '
                f'y1="{y(c.low):.1f}" y2="{y(c.high):.1f}"/>'
            )
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{at:.1f}" r="4"/>')
        before = (x, at, setup)
    first, last = _day(cards[0].when), _day(cards[-1].when)
    if first == last:
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        parts.append(_label(first, middle, "middle"))
    else:
        parts += [_label(first, _LEFT, "start"), _label(last, _WIDTH - _RIGHT, "end")]
    said = "; ".join(
        f"{_day(c.when)}: {v.text} {v.interval}".rstrip() for c, v in zip(cards, cells, strict=True)
    )
    return Markup(  # noqa: S704  # numbers, our own words, and one escaped text
        f'<svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(f"{figure.label}: {said}")}">{"".join(parts)}</svg>'
    )


def _label(text: str, x: float, anchor: str) -> str:
    return (
        f'<text class="num" x="{x:.1f}" y="{_HEIGHT - 6}" text-anchor="{anchor}">'
        f"{escape(text)}</text>"
    )


def trends(cards: Sequence[Sited]) -> tuple[Trend, ...]:
    """Draw the figures of cards that may be compared, the oldest first.

    A line joins two cards only if the judge was set up alike: same model, prompt, format, decoding.
    """
    found = []
    for figure in TRENDS:
        cells = tuple(cell(c, figure) for c in cards)
        found.append(Trend(figure, _drawn(figure, cards, cells), cells))
    return tuple(found)
