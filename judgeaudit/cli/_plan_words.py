"""What the command line says of a plan of calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from judgeaudit.cards import words

if TYPE_CHECKING:
    from judgeaudit.planning import Answer, Option

__all__ = ["of_answer", "title"]

_BAR: Final = 40


def title(answer: Answer) -> str:
    """Say what the plot shows."""
    best = answer.best
    effect = _shown_effect(answer)
    what = "" if effect is None else f" of finding {_points(effect)} points"
    return f"power{what}, K = {best.K}, L = {best.L}, jitter {words.percent(answer.jitter)}"


def of_answer(answer: Answer) -> str:
    """Lay a whole answer out."""
    return "\n".join([*_asked(answer), "", *_table(answer), "", *_said(answer), *_plot(answer)])


def _points(x: float) -> str:
    return f"{100 * x:.3g}"


def _shown_effect(answer: Answer) -> float | None:
    return answer.effect or answer.best.detectable or (answer.within and 1.5 * answer.within)


def _asked(answer: Answer) -> list[str]:
    layout, ends = answer.layout, answer.jitter_interval
    interval = "" if ends is None else f" [{words.percent(ends[0])}, {words.percent(ends[1])}]"
    lines = [f"jitter   {words.percent(answer.jitter)}{interval}, {answer.jitter_from}"]
    if answer.design_effect > 1:
        lines.append(
            f"clusters {answer.design_effect:.2f} times the variance of unrelated items: "
            f"counted in ±points"
        )
    if answer.effect is not None:
        lines.append(
            f"effect   {_points(answer.effect)} points under one condition, found with power "
            f"{words.rough(answer.power)} (one-sided exact test at {words.percent(answer.alpha)})"
        )
    if answer.within is not None:
        lines.append(f"within   ±{_points(answer.within)} points, 95% interval of the pool")
    controls = ""
    if layout.controls:
        on = "all" if layout.control_items is None else f"{layout.control_items}"
        controls = f", {layout.controls} controls on {on} items"
    lines.append(
        f"asked    base (K calls), {layout.certified} certified and {layout.others} other "
        f"conditions (L calls each){controls}"
    )
    return lines


def _table(answer: Answer) -> list[str]:
    given = answer.items is not None
    head = ["", "K", "L", "items", "±points"]
    head += ["shows" if given else "power", "calls", "price", "time", "test"]
    rows = [head]
    for k, option in enumerate(answer.options):
        found = _shows(option) if given else _power(option)
        rows.append(
            [
                "*" if k == answer.recommended else "",
                str(option.K),
                str(option.L),
                f"{option.items:,}",
                _points(option.half_width),
                found,
                f"{option.calls:,}",
                _price(option),
                _time(option),
                _test(option),
            ]
        )
    widths = [max(len(r[c]) for r in rows) for c in range(len(head))]
    return [
        "  ".join(
            cell.ljust(w) if c in (0, len(head) - 1) else cell.rjust(w)
            for c, (cell, w) in enumerate(zip(r, widths, strict=True))
        ).rstrip()
        for r in rows
    ]


def _shows(option: Option) -> str:
    return "nothing" if option.detectable is None else f"{_points(option.detectable)} points"


def _power(option: Option) -> str:
    if option.items_for_effect is None:
        return "-"
    found = option.power_simulated if option.power_simulated is not None else option.power
    if found is not None and option.items == option.items_for_effect:
        return words.rough(found)
    least = "" if option.bracket is None else f"{option.bracket[0]:,} to {option.bracket[1]:,}"
    return f"over {words.rough(found)}" if found is not None else f"needs {least}"


def _price(option: Option) -> str:
    if option.cost_least is None:
        return "not known"
    if option.cost_least == 0 and not option.cost_most:
        return "none"
    if option.cost_most is None:
        return f"from {words.money(option.cost_least)}"
    low, high = words.money(option.cost_least), words.money(option.cost_most)
    return low if low == high else f"{low} to {high}"


def _time(option: Option) -> str:
    return "not known" if option.hours is None else words.duration(3600 * option.hours)


def _test(option: Option) -> str:
    if (option.K, option.L) == (2, 1):
        return "exact McNemar, paper's rate"
    return "exact, debiased rate" if option.L >= 2 else "exact, paper's rate"


def _said(answer: Answer) -> list[str]:
    best = answer.best
    if answer.items is not None:
        shows = (
            "no effect at all"
            if best.detectable is None
            else (
                f"an effect of {_points(best.detectable)} points under one condition, with power "
                f"{words.rough(answer.power)}"
            )
        )
        sentence = (
            f"* {best.items:,} items with K = {best.K}, L = {best.L} show {shows}; the pool is "
            f"known to ±{_points(best.half_width)} points."
        )
    else:
        why = "fewest calls that show both excess flip rates"
        if len(answer.options) == 1:
            why = "the plan asked for"
        sentence = (
            f"* {why}: {best.items:,} items, K = {best.K}, L = {best.L}, {best.calls:,} calls."
        )
    lines = [sentence]
    if answer.cautious_items is not None:
        lines.append(
            f"If the jitter is at the upper end of its interval: {answer.cautious_items:,} items."
        )
    if answer.triple is not None and answer.items is None:
        t = answer.triple
        lines.append(
            f"Single-shot triples: Connor's formula {t.n_connor_one_sided:,} items (power "
            f"{words.rough(t.power_exact_at_connor)}), exact {t.n_exact_one_sided:,}."
        )
    if answer.cost_note:
        lines.append(f"Price: {answer.cost_note}.")
    return lines


def _plot(answer: Answer) -> list[str]:
    if not answer.curve:
        return []
    lines = ["", title(answer)]
    for n, half, power in answer.curve:
        bar = "#" * round(_BAR * power)
        lines.append(f"{n:>8,} items {bar:<{_BAR}} {power:>4.0%}  ±{_points(half)}")
    return lines
