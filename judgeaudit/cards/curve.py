"""A curve as small SVG that stands alone in a file: power and precision by number of items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import escape

from judgeaudit.cards.plots import ticks

__all__ = ["power_curve"]

_WIDTH: Final = 640
_HEIGHT: Final = 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 24, 44, 48

_STYLE: Final = (
    "text{font:13px system-ui,sans-serif;fill:#222}.g{stroke:#ccc}.w{stroke:#a33;"
    "stroke-dasharray:5 4}.p{fill:none;stroke:#15638f;stroke-width:2}circle{fill:#15638f}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.g{stroke:#444}}"
)


def power_curve(
    points: Sequence[tuple[int, float, float]], *, wanted: float, title: str, description: str
) -> str:
    """Draw the power of finding an effect by the number of items, with each half-width.

    Parameters
    ----------
    points : sequence of (int, float, float)
        Items, half-width of the interval, power; items ascending.
    wanted : float
        The power that was asked for, drawn as a dashed line.
    title, description : str
        Printed above, and read out to those who do not see it.

    Returns
    -------
    str
        One `<svg>` document.
    """
    most = max(n for n, _, _ in points) * 1.05

    def x(n: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * n / most

    def y(power: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - power)

    body = [f'<text x="{_LEFT}" y="20">{escape(title)}</text>']
    for t in (0.0, 0.25, 0.5, 0.75, 1.0):
        body.append(_line("g", _LEFT, _WIDTH - _RIGHT, y(t), y(t)))
        body.append(f'<text x="{_LEFT - 8}" y="{y(t) + 4:.1f}" text-anchor="end">{t:.0%}</text>')
    body += [
        f'<text x="{x(t):.1f}" y="{_HEIGHT - 26}" text-anchor="middle">{t:,.0f}</text>'
        for t in ticks(0, most)
    ]
    body.append(f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 8}" text-anchor="end">items</text>')
    body.append(_line("w", _LEFT, _WIDTH - _RIGHT, y(wanted), y(wanted)))
    path = " ".join(f"{x(n):.1f},{y(power):.1f}" for n, _, power in points)
    body.append(f'<polyline class="p" points="{path}"/>')
    for n, half, power in points:
        words = f"{n:,} items: power {power:.0%}, ±{100 * half:.1f} points"
        body.append(
            f'<circle cx="{x(n):.1f}" cy="{y(power):.1f}" r="4"><title>{escape(words)}</title>'
            f"</circle>"
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(description)}"><style>{_STYLE}</style>{"".join(body)}</svg>\n'
    )


def _line(css: str, x1: float, x2: float, y1: float, y2: float) -> str:
    return f'<line class="{css}" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}"/>'
