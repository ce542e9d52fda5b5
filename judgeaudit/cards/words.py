"""Numbers in words: the one place where a figure becomes text.

Percent appears only here. A rounded figure never claims more than the figure: what is not exactly
0 or 1 is not printed as 0% or 100%, and a score is not rounded across a band's edge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from judgeaudit.cards.figures import count, duration, joined, money, p_value
from judgeaudit.cards.unsaid import NO_FIGURE, is_bare_precision, is_no_share, no_share
from judgeaudit.core.records import Score

__all__ = [
    "BAND_EDGES",
    "NO_FIGURE",
    "Kind",
    "Number",
    "amount",
    "band_of",
    "basis",
    "bound",
    "cannot",
    "clipped",
    "count",
    "duration",
    "ends",
    "estimate",
    "interval",
    "is_bare_precision",
    "is_no_share",
    "joined",
    "kind_of",
    "method",
    "money",
    "p_value",
    "percent",
    "percent_tick",
    "points",
    "points_tick",
    "ratio",
    "rough",
    "spoken_interval",
    "test_words",
    "threshold_words",
    "uncut",
    "unit_score",
]

Kind = Literal["share", "points", "distance", "score", "ratio", "decimal", "plain"]
Number = Callable[[float], str]

BAND_EDGES: Final = ((0.85, "reliable"), (0.60, "moderate"), (0.40, "fragile"))
"""Lower edges of the bands of the Policy Invariance Score; below the last: untrustworthy."""

_KINDS: Final[dict[str, Kind]] = {
    "signed_shift": "points",
    "rms_shift": "distance",
    "pis": "score",
    "pis_raw": "score",
    "direction_ratio": "score",
    "responsiveness_threshold": "points",
    "responsiveness_no_policy": "points",
    "responsiveness_inverted": "points",
    "undue_risk_ratio": "ratio",
    "knowledge_gap": "points",
    "knowledge_brier": "plain",
    "calibration_bias": "points",
    "brier": "decimal",
    **dict.fromkeys(("f1", "macro_f1", "category_f1"), "decimal"),
}
_UNITS: Final[tuple[tuple[str, Kind], ...]] = (
    ("ratio", "ratio"),
    ("score", "score"),
    ("fraction", "share"),
    ("share", "share"),
    ("probability", "share"),
    *((start, "decimal") for start in ("coefficient", "chance", "McClish", "mean", "points a")),
)
_SHARES: Final = ("rate", "share", "null", "accuracy", "tpr", "tnr", "jitter")
_FAMILIES: Final = ("undue",)
_REGION: Final = "bounds_delta_paper"
# pis_raw leaves 0 to 1 on both sides: that is what it is shown for
_RANGES: Final[dict[Kind, tuple[float, float]]] = {
    "share": (0.0, 1.0),
    "points": (-1.0, 1.0),
    "distance": (0.0, 1.0),
    "score": (0.0, 1.0),
    "ratio": (0.0, float("inf")),
}
_UNCLIPPED: Final = "pis_raw"
_MINUS: Final = "\N{MINUS SIGN}"


def _signed(text: str) -> str:
    return text.replace("-", _MINUS)


def percent(x: float) -> str:
    """Word a share.

    Examples
    --------
    >>> [percent(v) for v in (0.0, 0.0004, 0.625, 0.9996, 1.0)]
    ['0%', '<0.1%', '62.5%', '>99.9%', '100%']
    """
    if x in (0.0, 1.0):
        return f"{x:.0%}"
    if 0 < x < 0.001:
        return "<0.1%"
    if 0.999 < x < 1:
        return ">99.9%"
    return _signed(f"{100 * x:.1f}%")


def rough(x: float) -> str:
    """Word a share for a sentence, in whole per cent.

    Examples
    --------
    >>> [rough(v) for v in (0.0, 0.004, 0.625, 0.996, 1.0)]
    ['0%', '<1%', '62%', '>99%', '100%']
    """
    if 0 < x < 0.01:
        return "<1%"
    if 0.99 < x < 1:
        return ">99%"
    return _signed(f"{100 * x:.0f}%")


def points(x: float) -> str:
    """Word a signed difference in percentage points.

    Examples
    --------
    >>> points(0.091), points(-0.004), points(0.0), points(0.00002)
    ('+9.1', '−0.4', '0.0', '0.0')
    """
    text = f"{100 * x:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else _signed(text)


def distance(x: float) -> str:
    """Word an unsigned distance in percentage points."""
    return _signed(f"{100 * x:.1f}")


def percent_tick(x: float) -> str:
    """Word a round share at an axis."""
    return f"{100 * x:g}%"


def points_tick(x: float) -> str:
    """Word a round difference at an axis."""
    return _signed(f"{100 * x:+g}") if x else "0"


def threshold_words(x: float) -> str:
    """Word the practical threshold.

    Examples
    --------
    >>> threshold_words(0.05)
    '5 points'
    """
    return f"{100 * x:g} points"


def band_of(x: float) -> str:
    """Return the band in which a Policy Invariance Score lies."""
    return next((name for edge, name in BAND_EDGES if x >= edge), "untrustworthy")


def unit_score(x: float) -> str:
    """Word a score between 0 and 1 with two digits, or as many as keep it on its side.

    Examples
    --------
    >>> unit_score(0.47), unit_score(0.8496), unit_score(0.999), unit_score(1.0)
    ('0.47', '0.8496', '0.999', '1.00')
    """
    text = f"{x:.2f}"
    for digits in range(2, 13):
        text = f"{x:.{digits}f}"
        honest = (float(text) in (0.0, 1.0)) == (x in (0.0, 1.0))
        if honest and band_of(float(text)) == band_of(x):
            break
    return _signed(text)


def ratio(x: float) -> str:
    """Word a ratio."""
    return f"{x:.2f}×" if x < 100 else f"{x:.0f}×"


def plain(x: float) -> str:
    """Word a number of which nothing else is known."""
    return _signed(f"{x:.4g}")


def decimal(x: float) -> str:
    """Word a coefficient with three decimals, as figures of agreement and ranking are given.

    Examples
    --------
    >>> decimal(0.01714), decimal(-0.00949), decimal(1.0)
    ('0.017', '\N{MINUS SIGN}0.009', '1.000')
    """
    text = f"{x:.3f}"
    return _signed("0.000" if text == "-0.000" else text)


_NUMBERS: Final[dict[Kind, Number]] = {
    "share": percent,
    "points": points,
    "distance": distance,
    "score": unit_score,
    "ratio": ratio,
    "decimal": decimal,
    "plain": plain,
}


def kind_of(metric: str, unit: str = "") -> Kind:
    """Say how a metric's numbers are worded; an unknown metric is judged by its unit."""
    if metric.startswith("delta_") or "_delta_" in metric:
        return "points"
    if metric in _KINDS:
        return _KINDS[metric]
    by_unit = next((kind for start, kind in _UNITS if unit.startswith(start)), None)
    if by_unit is not None:
        return by_unit
    return "share" if metric.endswith(_SHARES) or metric.startswith(_FAMILIES) else "plain"


def amount(x: float, kind: Kind) -> str:
    """Word a number with its unit, to stand alone."""
    return f"{_NUMBERS[kind](x)} points" if kind in ("points", "distance") else _NUMBERS[kind](x)


def cannot(why: str | None) -> str:
    """Word an undefined figure.

    Examples
    --------
    >>> cannot("no verdict moved")
    'cannot be estimated because: no verdict moved'
    """
    return f"{NO_FIGURE} because: {why}" if why else NO_FIGURE


def estimate(score: Score | None) -> str:
    """Word a score's value, or why it has none."""
    if score is None:
        return "not computed in this run"
    if score.value is None and score.treatment == _REGION and score.low is not None:
        return "anywhere in the range"
    if score.value is None:
        return cannot(score.why_undefined)
    if is_no_share(score):
        return no_share(score.value)
    if is_bare_precision(score):
        assert score.low is not None
        return f"at least {percent(score.low)}"
    return amount(score.value, kind_of(score.metric, score.unit))


def clipped(x: float, kind: Kind) -> float:
    """Bring the end of an interval into the range of its quantity: a bound on a rate is no rate.

    Examples
    --------
    >>> clipped(-0.499, "share"), clipped(4.452, "points"), clipped(4.452, "plain")
    (0.0, 1.0, 4.452)
    """
    low, high = _RANGES.get(kind, (x, x))
    return min(max(x, low), high)


def ends(score: Score | None) -> tuple[float, float] | None:
    """Return the interval as it is shown: within the quantity's range, and beside a value only.

    The scores keep the interval as it was computed.
    """
    if score is None or score.low is None or score.high is None:
        return None
    if score.value is None and score.treatment != _REGION:
        return None
    if score.metric == _UNCLIPPED:
        return score.low, score.high
    kind = kind_of(score.metric, score.unit)
    return clipped(score.low, kind), clipped(score.high, kind)


def interval(score: Score | None) -> str:
    """Word a score's interval in brackets, or why it has none; empty without a score."""
    if score is None:
        return ""
    shown = ends(score)
    if is_no_share(score) or (shown is None and score.value is None):
        return "–"
    if shown is None:
        return f"none: {score.why_no_interval}" if score.why_no_interval else "none"
    number = _NUMBERS[kind_of(score.metric, score.unit)]
    return f"[{number(shown[0])}, {number(shown[1])}]"


def spoken_interval(score: Score | None) -> str:
    """Word an interval as text: "95% interval 0.20 to 0.74"; empty where there is none."""
    shown = ends(score)
    if score is None or shown is None:
        return ""
    number = _NUMBERS[kind_of(score.metric, score.unit)]
    level = f"{100 * score.level:g}% interval" if score.level is not None else "interval"
    return f"{level} {number(shown[0])} to {number(shown[1])}"


def bound(score: Score | None) -> str:
    """Word the gate bound of a movement, "at most 6.1 points"; empty where none is known."""
    if score is None or score.value is None:
        return ""
    upper = score.detail.get("gate_upper", score.detail.get("upper"))
    if upper is None:
        return ""
    return f"at most {points(clipped(upper, 'points')).removeprefix('+')} points"


def basis(score: Score) -> str:
    """Word what a number rests on: items, clusters, numerator and denominator, exclusions."""
    parts = []
    if score.n_items:
        one = score.n_items == 1
        parts.append(f"{count(score.n_items)} {'item' if one else 'items'}")
    if score.n_clusters and score.n_clusters != score.n_items:
        one = score.n_clusters == 1
        parts.append(f"{count(score.n_clusters)} {'cluster' if one else 'clusters'}")
    mean = score.denominator == score.n_items  # of items, so its parts say nothing more
    if score.numerator is not None and score.denominator is not None and not mean:
        parts.append(f"{count(score.numerator)} of {count(score.denominator)}")
    left_out = {k: v for k, v in sorted(score.excluded.items()) if v}
    if left_out:
        parts.append("left out: " + ", ".join(f"{count(v)} {k}" for k, v in left_out.items()))
    return ", ".join(parts) or "not stated"


def uncut(pis: Score | None, raw: Score | None) -> str:
    """Word what a score that was cut at 0 would be: 0 [0, 0] looks like certainty, and is none.

    Parameters
    ----------
    pis, raw : Score or None
        The Policy Invariance Score, and the same before the cut.

    Returns
    -------
    str
        "cut at 0; uncut −1.27 [−1.67, −0.52]", or "" where nothing was cut off.
    """
    if pis is None or pis.value != 0 or raw is None or raw.value is None or raw.value >= 0:
        return ""
    span = f" {interval(raw)}" if ends(raw) is not None else ""
    return f"cut at 0; uncut {estimate(raw)}{span}"


def test_words(score: Score) -> str:
    """Word a score's p-value, and the adjusted one beside it; "" without a test."""
    if score.p_value is None:
        return ""
    adjusted = f" ({p_value(score.p_adjusted)} adjusted)" if score.p_adjusted is not None else ""
    return p_value(score.p_value) + adjusted


def method(score: Score) -> str:
    """Word how the interval and the test were made, and how failures were treated."""
    parts = [score.method] if score.method else []
    if score.level is not None and ends(score) is not None:
        parts.append(f"{100 * score.level:g}%")
    if limit := bound(score):
        parts.append(f"gate bound: {limit}")
    if score.p_value is not None:
        null = f", null: {score.null}" if score.null else ""
        by = f", {score.p_method}" if score.p_method else ""
        parts.append(f"{test_words(score)}{by}{null}")
    if score.treatment != "exclude":
        parts.append(f"failures: {score.treatment}")
    return "; ".join(parts) or "none stated"
