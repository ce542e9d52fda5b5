"""Cost against excess flips, one point a judge: what is dominated, and by whom."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup, escape

from judgeaudit.cards.plots import ticks
from judgeaudit.cure.harden_records import Figure, Hardened

__all__ = ["pareto"]

_WIDTH: Final = 680
_HEIGHT: Final = 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 120, 36, 48
_COSTS: Final = ("tokens a verdict", "requests a verdict")
_STYLE: Final = (
    "text{font:13px system-ui,sans-serif;fill:#222}.g{stroke:#ddd}.z{stroke:#888}"
    ".i{stroke:#15638f;stroke-width:2}.o{stroke:#a33;stroke-width:2}circle{fill:#15638f}"
    "circle.b{fill:#a33}circle.n{fill:none;stroke:#15638f;stroke-width:2}"
    ".f{fill:none;stroke:#15638f;stroke-dasharray:4 4}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.g{stroke:#333}}"
)

Point = tuple[str, float, float, float | None, float | None, str]


def _points(found: Hardened) -> tuple[str, list[Point]]:
    """Return the axis of costs that all have, and a point a judge (the judge as it is first)."""
    for cost in _COSTS:
        points: list[Point] = []
        for c in found.candidates:
            excess, price = c.figure("excess flips"), c.figure(cost)
            if excess is None or price is None or price.after is None or price.before is None:
                continue
            if not points and excess.before is not None and len(_pooled(found)) == 1:
                points.append(_point("as it is", price.before, excess, "b"))
            if excess.after is not None:
                points.append(_point(c.name, price.after, excess, "n" if c.invariant else ""))
        if any(p[5] != "b" for p in points):
            return cost, points
    return _COSTS[-1], []


def _pooled(found: Hardened) -> set[tuple[str, ...]]:
    return {c.conditions for c in found.candidates}


def _point(name: str, cost: float, f: Figure, css: str) -> Point:
    if css == "b":
        return name, cost, f.before or 0.0, f.before_low, f.before_high, css
    return name, cost, f.after or 0.0, f.after_low, f.after_high, css


def pareto(found: Hardened) -> Markup:
    """Draw excess flips, with their intervals, against what a verdict costs.

    Hollow points discard the wording. The judge as it is stands among them where all candidates are
    measured under the same conditions; a panel's own wordings are kept out of its figure.
    """
    axis, points = _points(found)
    if not points:
        return Markup("<p>No candidate has both a cost and excess flips: nothing to draw.</p>")
    most = max(p[1] for p in points) * 1.1 or 1.0
    lows = [p[3] if p[3] is not None else p[2] for p in points]
    highs = [p[4] if p[4] is not None else p[2] for p in points]
    lo, hi = min(0.0, *lows), max(0.05, *highs)

    def x(cost: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * cost / most

    def y(value: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (hi - value) / (hi - lo)

    body = [f'<text x="{_LEFT}" y="18">excess flips, points</text>']
    for t in ticks(lo, hi):
        css = "z" if t == 0 else "g"
        body.append(_line(css, _LEFT, _WIDTH - _RIGHT, y(t), y(t)))
        words = f"{100 * t:+.0f}"
        body.append(f'<text x="{_LEFT - 8}" y="{y(t) + 4:.1f}" text-anchor="end">{words}</text>')
    body += [
        f'<text x="{x(t):.1f}" y="{_HEIGHT - 26}" text-anchor="middle">{t:,.6g}</text>'
        for t in ticks(0, most)
    ]
    end = _WIDTH - _RIGHT
    body.append(f'<text x="{end}" y="{_HEIGHT - 8}" text-anchor="end">{escape(axis)}</text>')
    front = _front(points)
    if len(front) > 1:
        path = " ".join(f"{x(p[1]):.1f},{y(p[2]):.1f}" for p in front)
        body.append(f'<polyline class="f" points="{path}"/>')
    said = []
    for name, cost, value, low, high, css in points:
        words = f"{name}: {100 * value:+.1f} points at {cost:,.4g} {axis}"
        said.append(words)
        if low is not None and high is not None:
            body.append(_line("o" if css == "b" else "i", x(cost), x(cost), y(low), y(high)))
        body.append(
            f'<circle class="{css}" cx="{x(cost):.1f}" cy="{y(value):.1f}" r="5">'
            f"<title>{escape(words)}</title></circle>"
            f'<text x="{x(cost) + 9:.1f}" y="{y(value) + 4:.1f}">{escape(name)}</text>'
        )
    label = escape("; ".join(said))
    return Markup(  # noqa: S704 - numbers and escaped text only
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{label}"><style>{_STYLE}</style>{"".join(body)}</svg>\n'
    )


def _front(points: list[Point]) -> list[Point]:
    """Return the judges that no other one beats in both, cheapest first."""
    best, out = float("inf"), []
    for p in sorted(points, key=lambda p: (p[1], p[2])):
        if p[2] < best:
            best = p[2]
            out.append(p)
    return out


def _line(css: str, x1: float, x2: float, y1: float, y2: float) -> str:
    return f'<line class="{css}" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}"/>'
