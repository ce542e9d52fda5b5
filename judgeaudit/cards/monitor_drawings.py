"""Plots of the monitor's sections, the flow between policies, and the score over its weights."""

from __future__ import annotations

from typing import Final

from judgeaudit.cards.layout import Plot, table
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.planes import Axis, Corner, Curve, Flow, Spot, flow, plane, regions, triangle
from judgeaudit.cards.words import (
    BAND_EDGES,
    count,
    ends,
    interval,
    percent,
    percent_tick,
    unit_score,
)
from judgeaudit.core.records import Score
from judgeaudit.metrics.pis import SCALE, WEIGHTS

__all__ = ["flow_plots", "ranking_plots", "reliability_plots", "risk_plots", "weight_plots"]

_BINS: Final = 10
_DIGITS: Final = 8
_MOST: Final = 60
"""Points of a curve that are drawn at most: a card from a stranger may hold any number."""


def _short(n: float) -> str:
    """Word a count for a narrow place; the table has it in full.

    Examples
    --------
    >>> _short(38), _short(1234), _short(45_678_901)
    ('38', '1k', '46M')
    """
    if n < 1000:
        return f"{n:.0f}"
    return f"{n / 1000:.0f}k" if n < 999_500 else f"{n / 1e6:.0f}M"


def reliability_plots(f: Figures) -> tuple[Plot, ...]:
    """Draw how often UNSAFE is true against how likely the judge held it, bin by bin."""
    spots, rows, said = [], [], []
    for k in range(1, _BINS + 1):
        s = f.get("reliability", stratum=f"bin {k}")
        if s is None or s.value is None:
            continue
        at, low, high = (s.detail.get(name) for name in ("mean_p", "bin_low", "bin_high"))
        if at is None or low is None or high is None:
            continue
        n = s.denominator if s.denominator is not None else float(s.n_items)
        lo, hi = ends(s) or (None, None)
        spots.append(Spot(at, s.value, lo, hi, _short(n), (low + high) / 2))
        span = f"{low:g} to {high:g}"
        rows.append((span, count(n), percent(at), percent(s.value), interval(s)))
        said.append(f"bin {span}: {percent(s.value)} of {count(n)} {interval(s)}")
    if not spots:
        return ()
    title = "Reliability: probability against truth"
    svg = plane(
        "reliability",
        f"{title}: {'; '.join(said)}.",
        x=Axis(0.0, 1.0, percent_tick, "probability of UNSAFE, by the judge"),
        y=Axis(0.0, 1.0, percent_tick, "share that is UNSAFE"),
        curves=[Curve(((0.0, 0.0), (1.0, 1.0)), "chance")],
        spots=spots,
    )
    caption = (
        "Items by the judge's probability, with intervals; under each bin, its items. On the "
        "dashed line it is as sure as it should be; below it, it sees more harm than there is."
    )
    head = ("Probability", "Items", "Mean probability", "UNSAFE", "Interval")
    data = table("Bins of the reliability diagram", head, rows, folded=True)
    return (Plot("plot-reliability", title, caption, svg, table=data),)


def _points(s: Score | None, start: str) -> list[tuple[float, float]]:
    """Read a curve from the companions of a score, in order; nothing that is no number."""
    if s is None or s.value is None:
        return []
    found = []
    for name, y in s.detail.items():
        x = name.removeprefix(start)
        if x == name or y is None or not x.replace(".", "", 1).isdecimal():
            continue
        if len(x) <= _DIGITS and float(x) <= 1 and 0 <= y <= 1:
            found.append((float(x), y))
    found = sorted(dict(found).items())[:_MOST]
    return found if found and found[-1][0] > 0 else []


def ranking_plots(f: Figures) -> tuple[Plot, ...]:
    """Draw the ROC curve near the origin: what is caught at false positive rates of use."""
    s = f.get("partial_auroc")
    points = _points(s, "tpr_at_")
    if len(points) < 2:
        return ()
    most = points[-1][0]
    spots, said = [], []
    for rate in ("0.01", "0.05"):
        at = f.get("tpr_at_fpr", stratum=f"fpr {rate}")
        if at is None or at.value is None or float(rate) > most:
            continue
        lo, hi = ends(at) or (None, None)
        spots.append(Spot(float(rate), at.value, lo, hi, style="ring"))
        said.append(f"at most {percent(float(rate))}: {percent(at.value)} {interval(at)}")
    told = [p for p in points if any(abs(p[0] - x) < 1e-9 for x in (0.0, 0.01, 0.02, 0.05, most))]
    line = "; ".join(f"{percent(x)}: {percent(y)}" for x, y in told)
    title = "Unsafe items caught at small false alarm rates (ROC)"
    svg = plane(
        "roc",
        f"{title}: {'; '.join([line, *said])}.",
        x=Axis(0.0, most, percent_tick, "safe items flagged (FPR)"),
        y=Axis(0.0, 1.0, percent_tick, "unsafe items caught (TPR)"),
        curves=[Curve(((0.0, 0.0), (most, most)), "chance"), Curve(tuple(points))],
        spots=spots,
    )
    caption = (
        "The part of the curve a monitor runs in; straight between the thresholds that occur. The "
        "dashed line is chance."
    )
    key = (("ring", "at a threshold, with its interval"),) if spots else ()
    rows = [(percent(x), percent(y)) for x, y in points]
    data = table("Points of the ROC curve", ("FPR", "TPR"), rows, folded=True)
    return (Plot("plot-roc", title, caption, svg, key, data),)


def risk_plots(f: Figures) -> tuple[Plot, ...]:
    """Draw the share of wrong verdicts among the most confident ones, by how many are kept."""
    s = f.get("aurc")
    points = _points(s, "risk_at_")
    if s is None or len(points) < 2:
        return ()
    top = max(0.1, *(y for _, y in points))
    error = s.detail.get("chance")
    curves = [Curve(tuple(points))]
    if error is not None and error <= 1:
        top = max(top, error)
        curves.insert(0, Curve(((0.0, error), (1.0, error)), "chance"))
    quarter = [p for p in points if any(abs(p[0] - x) < 1e-9 for x in (0.25, 0.5, 0.75, 1.0))]
    said = "; ".join(f"{percent(x)} kept: {percent(y)} wrong" for x, y in quarter)
    title = "Risk and coverage"
    svg = plane(
        "risk",
        f"{title}: {said}.",
        x=Axis(0.0, 1.0, percent_tick, "verdicts kept, most confident first"),
        y=Axis(0.0, min(1.0, 1.08 * top), percent_tick, "wrong among those kept"),
        curves=curves,
    )
    caption = (
        "It should rise to the right: the surest verdicts err least. The dashed line is the error "
        "rate of all, which confidence without meaning would give throughout."
    )
    rows = [(percent(x), percent(y)) for x, y in points]
    head = ("Kept", "Wrong among those kept")
    data = table("Points of the risk-coverage curve", head, rows, folded=True)
    return (Plot("plot-risk", title, caption, svg, table=data),)


def flow_plots(f: Figures) -> tuple[Plot, ...]:
    """Draw where verdicts go from the strict to the lenient policy; nothing if shares do not fit.

    Both shares and both moves must rest on the same items, or the four parts are no whole.
    """
    forward, reverse = f.get("forward_rate"), f.get("reverse_rate")
    strict, lenient = (f.get("unsafe_rate", c) for c in ("strict", "lenient"))
    scores = (forward, reverse, strict, lenient)
    values = [s.value for s in scores if s is not None and s.value is not None]
    if len(values) < len(scores) or len({s.n_items for s in scores if s is not None}) > 1:
        return ()
    fall, rise, before, after = values
    parts = Flow(before - fall, fall, rise, 1 - before - rise)
    fits = abs(parts.upper + rise - after) < 0.005
    if not fits or min(parts.upper, parts.lower) < -1e-9:
        return ()
    title = "Verdicts from strict to lenient"
    words = (
        ("stays-unsafe", "stay UNSAFE", max(0.0, parts.upper), "–"),
        ("falls", "UNSAFE → SAFE, the right way", fall, interval(forward)),
        ("rises", "SAFE → UNSAFE, the wrong way", rise, interval(reverse)),
        ("stays-safe", "stay SAFE", max(0.0, parts.lower), "–"),
    )
    ends_of = (
        (f"strict: {percent(before)} UNSAFE", f"{percent(1 - before)} SAFE"),
        (f"lenient: {percent(after)}", percent(1 - after)),
    )
    said = "; ".join(f"{word} {percent(v)}" for _, word, v, _ in words)
    svg = flow("flow", parts, ends_of, f"{title}: {said}.")
    caption = "Each verdict under the strict policy beside one under the lenient, all pairs."
    key = tuple((css, f"{word}: {percent(v)}") for css, word, v, _ in words)
    rows = [(word, percent(v), shown) for _, word, v, shown in words]
    head = ("Verdicts", "Share of pairs", "Interval")
    return (Plot("plot-flow", title, caption, svg, key, table(title, head, rows, folded=True)),)


def weight_plots(f: Figures) -> tuple[Plot, ...]:
    """Draw the score over all weights of its three parts, by band."""
    parts = (
        f.value("delta_paper", "certified"),
        f.value("direction_ratio"),
        f.value("undue_share"),
    )
    delta, right, undue = parts
    if f.withheld or f.value("pis") is None or delta is None or right is None or undue is None:
        return ()
    values = (1 - SCALE * delta, 1 - SCALE * (1 - right), 1 - SCALE * undue)
    found = regions(values, BAND_EDGES, "untrustworthy")
    names = ("flips", "direction", "undue")
    shown = [unit_score(min(1.0, max(0.0, v))) for v in values]
    corners = [Corner(n, v) for n, v in zip(names, shown, strict=True)]
    title = "The score over all weights"
    said = "; ".join(f"{name} under {percent(area)} of weights" for name, area, _ in found)
    alone = "; ".join(f"{n} alone {v}" for n, v in zip(names, shown, strict=True))
    svg = triangle(
        "weights",
        (corners[0], corners[1], corners[2]),
        found,
        WEIGHTS,
        f"{title}: {said}; {alone}.",
    )
    caption = (
        "The weights 0.4, 0.3 and 0.3 are a choice (the dot). In a corner one part has all the "
        "weight: excess flips on top, wrong direction left, undue flips right. Sampling error is "
        "not drawn."
    )
    key = tuple((f"range {name}", f"{name}: {percent(area)} of weights") for name, area, _ in found)
    rows = [(name, percent(area)) for name, area, _ in found]
    rows += [(f"{n} alone", v) for n, v in zip(names, shown, strict=True)]
    data = table(title, ("Band or corner", "Share of weights, or score"), rows, folded=True)
    return (Plot("plot-weights", title, caption, svg, key, data),)
