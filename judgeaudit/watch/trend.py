"""A history as a page, a plot and a table: evidence, confidence sequence, rates, and why."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import TYPE_CHECKING, Any, Final

from judgeaudit.cards.clean import clean, shorten
from judgeaudit.cards.numbers import csv_cell
from judgeaudit.cards.series import Line, Moment, Series, drawn, standing_alone
from judgeaudit.cards.words import percent_tick, points_tick
from judgeaudit.core.errors import ConfigError
from judgeaudit.watch.monitor import FACTS, NightSeen, Watched, watch

if TYPE_CHECKING:
    from markupsafe import Markup

    from judgeaudit.watch.store import Baseline, History

__all__ = ["Told", "tell", "to_csv", "to_html", "to_svg"]

_MOST: Final = 6.0
"""Evidence beyond 10 to the power of this is drawn here."""

_LEAST: Final = -2.0


@dataclass(frozen=True, slots=True)
class _Changed:
    """A fact that differs from the night before."""

    mark: str
    night: int
    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Told:
    """A history, read once."""

    found: Watched
    changed: tuple[_Changed, ...]
    baselines: tuple[Baseline, ...]


def tell(history: History, *, alpha: float = 0.05) -> Told:
    """Read what a page of a history shows.

    Raises
    ------
    ConfigError
        If it holds no night.
    """
    found = watch(history, alpha=alpha)
    if not found.nights:
        raise ConfigError("holds no night", where=history.where)
    by_number = {n.number: n for n in history.nights()}
    changed: list[_Changed] = []
    for one, two in zip(found.nights, found.nights[1:], strict=False):
        for key, words in FACTS.items():
            before, after = (
                by_number[one.number].facts.get(key),
                by_number[two.number].facts.get(key),
            )
            if before != after:
                mark = changed[-1].mark if changed and changed[-1].night == two.number else ""
                mark = mark or _letter(len({c.mark for c in changed}))
                ends = _fact(before), _fact(after)
                changed.append(_Changed(mark, two.number, words, *_apart(before, after, ends)))
    return Told(found, tuple(changed), tuple(history.baselines()))


def _letter(k: int) -> str:
    """Name marks as columns of a sheet are named.

    Examples
    --------
    >>> _letter(0), _letter(25), _letter(26)
    ('A', 'Z', 'AA')
    """
    out = ""
    k += 1
    while k:
        k, rest = divmod(k - 1, 26)
        out = chr(ord("A") + rest) + out
    return out


def _fact(value: Any) -> str:
    if isinstance(value, list):
        return shorten(clean(", ".join(map(str, value)) or "not stated"), 80)
    return shorten(clean(str(value or "not stated")), 16)


def _apart(before: Any, after: Any, ends: tuple[str, str]) -> tuple[str, str]:
    """Of texts by condition, name those that differ."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return ends
    other = [k for k in dict.fromkeys([*before, *after]) if before.get(k) != after.get(k)]
    return "", shorten(clean(", ".join(other)), 80)


def _said(found: Watched) -> tuple[str, str]:
    if found.baseline is None:
        return "No baseline is pinned: nothing is decided.", ""
    if len(found.nights) < 2:
        return f"No night since the baseline, night {found.baseline}: nothing is decided.", ""
    if found.first_alarm is None:
        return f"No alarm since the baseline, night {found.baseline}.", "yes"
    return f"Changed: first alarm on night {found.first_alarm}.", "no"


def _log(x: float) -> float:
    return min(max(log10(x), _LEAST), _MOST) if x > 0 else _LEAST


def _power(x: float) -> str:
    """Word a tick of the evidence; places between powers of ten have none."""
    if x != round(x):
        return ""
    return f"{10.0**x:g}" if x < 4 else f"10^{x:.0f}"


def _series(told: Told) -> list[tuple[Series, str, tuple[tuple[str, str], ...]]]:
    nights, alpha = told.found.nights, told.found.alpha
    numbers = [n.number for n in nights]
    place = {n: k for k, n in enumerate(numbers)}
    moments = tuple(
        Moment(place[n], mark) for mark, n in dict.fromkeys((c.mark, c.night) for c in told.changed)
    )
    common: dict[str, Any] = {
        "nights": numbers,
        "alarms": tuple(k for k, n in enumerate(nights) if n.alarm),
        "moments": moments,
        "ends": (_end(nights[0], told.found.baseline), _end(nights[-1])),
    }
    alarms = [str(n.number) for n in nights if n.alarm]
    said = f"Alarms on nights {_list(alarms)}." if alarms else "No alarm."
    marked = (("alarm", "alarm"),) * bool(alarms) + (("moment", "a fact changed"),) * bool(moments)
    last = nights[-1]
    evidence = Series(
        "Evidence of a change",
        f"Evidence by night, on a logarithmic scale. Last night: moved {last.evidence_moved:.3g}, "
        f"worse {last.evidence_worse:.3g}; an alarm at {2 / alpha:g}. {said}",
        lines=(
            Line("first", [_log(n.evidence_moved) for n in nights]),
            Line("second", [_log(n.evidence_worse) for n in nights]),
        ),
        number=_power,
        span=(-1.0, log10(2 / alpha) + 0.4),
        bar=log10(2 / alpha),
        **common,
    )
    worse = [n.worse for n in nights]
    words = "no estimate" if last.worse is None else _interval(last)
    sequence = Series(
        "Worse by",
        f"By how much more is wrong than on the baseline's night, with a confidence sequence. "
        f"Last night: {words}. {said}",
        lines=(
            Line("first", worse, [n.worse_low for n in nights], [n.worse_high for n in nights]),
        ),
        number=points_tick,
        span=(-0.02, 0.05),
        **common,
    )
    rates = Series(
        "Rates",
        f"Shares of base calls by night. Last night: wrong {_percent(last.error_rate)}, UNSAFE "
        f"{_percent(last.unsafe_rate)}. {said}",
        lines=(
            Line("first", [n.error_rate for n in nights]),
            Line("second", [n.unsafe_rate for n in nights]),
        ),
        number=percent_tick,
        span=(0.0, 0.1),
        **common,
    )
    return [
        (
            evidence,
            (
                f"E-values, gathered since the baseline. Each reaches {2 / alpha:g}, "
                f"ever, by chance with {alpha / 2:.1%} at most."
            ),
            (
                ("first", "verdicts moved"),
                ("second", "more are wrong"),
                ("bar", "bar of an alarm"),
                *marked,
            ),
        ),
        (
            sequence,
            (
                f"Percentage points. The band is a confidence sequence: it holds for all nights "
                f"together, with {1 - alpha:.0%} confidence. It speaks of these anchors."
            ),
            (("first", "estimate"), ("band", "confidence sequence"), *marked),
        ),
        (
            rates,
            "Of base calls, averaged over anchors.",
            (("first", "wrong"), ("second", "UNSAFE"), *marked),
        ),
    ]


def _list(numbers: Sequence[str]) -> str:
    shown = ", ".join(numbers[:12])
    return f"{shown} and {len(numbers) - 12} more" if len(numbers) > 12 else shown


def _end(n: NightSeen, baseline: int | None = None) -> str:
    day = shorten(clean(n.ended), 40)[:10]
    if n.number == baseline:
        return f"night {n.number}, the baseline{f', {day}' if day else ''}"
    return f"night {n.number}{f', {day}' if day else ''}"


def _percent(x: float | None) -> str:
    return "none" if x is None else f"{x:.1%}"


def _interval(n: NightSeen) -> str:
    if n.worse is None:
        return "none"
    if n.worse_low is None or n.worse_high is None:
        return f"{100 * n.worse:+.1f} points"
    return f"{100 * n.worse:+.1f} points [{100 * n.worse_low:+.1f}, {100 * n.worse_high:+.1f}]"


@dataclass(frozen=True, slots=True)
class _Plot:
    title: str
    caption: str
    svg: Markup
    key: tuple[tuple[str, str], ...]


def to_html(told: Told, *, title: str = "Has the judge changed?") -> str:
    """Write a history as one HTML file that needs no network and runs no script."""
    from judgeaudit.cards.site.pages import page

    found = told.found
    said, stance = _said(found)
    rows = [
        (
            str(n.number),
            shorten(clean(n.ended), 40),
            shorten(clean(n.run), 80),
            f"{n.n_anchors:,}",
            _percent(n.error_rate),
            _percent(n.unsafe_rate),
            _interval(n),
            f"{n.evidence_moved:.3g}",
            f"{n.evidence_worse:.3g}",
            n.alarm or "–",
        )
        for n in found.nights
    ]
    n = len(found.nights)
    return page(
        "history.html.j2",
        site=title,
        title=shorten(clean(title), 120),
        lead=f"{n} night{'' if n == 1 else 's'} since the baseline, {found.n_anchors:,} anchors.",
        said=said,
        stance=stance,
        why=shorten(clean(found.why), 1000),
        plots=[_Plot(s.title, caption, drawn(s), key) for s, caption, key in _series(told)],
        moments=told.changed,
        baselines=[
            {
                "night": b.night,
                "pinned": shorten(clean(b.pinned), 40),
                "expired": shorten(clean(b.expired), 40),
                "note": shorten(clean(b.note), 200),
            }
            for b in told.baselines
        ],
        head=(
            *("Night", "Ended", "Run", "Anchors", "Wrong", "UNSAFE", "Worse by"),
            *("Moved", "Worse", "Alarm"),
        ),
        rows=rows,
        promise=f"Chance of a false alarm, ever: {found.alpha:.0%} at most.",
    )


def to_svg(told: Told, *, title: str = "Has the judge changed?") -> str:
    """Write the plots of a history as one SVG document."""
    return standing_alone([s for s, _, _ in _series(told)], shorten(clean(title), 80))


def to_csv(told: Told) -> str:
    """Write a history as a table; a text that a spreadsheet would compute gets an apostrophe."""
    columns = (
        *("number", "ended", "run", "n_anchors", "unsafe_rate", "error_rate"),
        *("worse", "worse_low", "worse_high", "evidence_moved", "evidence_worse", "alarm"),
    )
    changed: dict[int, list[str]] = {}
    for c in told.changed:
        ends = f": {c.before} -> {c.after}" if c.before else f": {c.after}"
        changed.setdefault(c.night, []).append(f"{c.what}{ends}")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*columns, "changed"))
    for n in told.found.nights:
        cells = [getattr(n, name) for name in columns]
        written = [
            "" if v is None else repr(v) if isinstance(v, int | float) else csv_cell(clean(v))
            for v in cells
        ]
        writer.writerow([*written, csv_cell("; ".join(changed.get(n.number, [])))])
    return out.getvalue()
