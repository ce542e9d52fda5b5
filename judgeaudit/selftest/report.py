"""What the self-test says: for people, and as a page for the docs."""

from __future__ import annotations

from collections.abc import Sequence

from judgeaudit.selftest.running import Result
from judgeaudit.selftest.simulate import Row
from judgeaudit.selftest.worlds import WORLDS

__all__ = ["page", "text"]

_HEAD = ("number", "worst bias", "of", "where", "least coverage", "wanted", "where", "interval")


def text(result: Result, *, every: bool = False) -> str:
    """Lay the result out for a terminal: the worst cell of each number, or every cell."""
    lines = [*_engine(result), ""]
    rows = [_HEAD, *([_cell(r) for r in result.rows] if every else _worst(result.rows))]
    widths = [max(len(r[k]) for r in rows) for k in range(len(_HEAD))]
    lines += ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
    return "\n".join([*lines, "", *_verdict(result)])


def _engine(result: Result) -> list[str]:
    if not result.checks:
        return []
    width = max(len(c.judge) for c in result.checks)
    return [
        f"{'ok  ' if c.passed else 'FAIL'}  {c.judge:<{width}}  {c.name}: {c.said}"
        for c in result.checks
    ]


def _verdict(result: Result) -> list[str]:
    lines = [f"FAIL  {c.judge}: {c.name}: {c.said}" for c in result.broken]
    lines += [
        f"FAIL  {r.name} is biased: {r.mean:.4f} where {r.truth:.4f} was planted ({_where(r)})"
        for r in result.biased
    ]
    lines += [
        f"FAIL  {r.name} rejects {r.coverage:.3f} of the time ({_where(r)})"
        if r.is_test
        else f"FAIL  {r.name} covers {r.coverage:.3f}, wanted {r.floor:g} ({_where(r)})"
        for r in result.uncovered
    ]
    if lines:
        return [*lines, f"\n{len(lines)} findings: do not trust this instrument."]
    n = len({r.name for r in result.rows})
    judges = len({r.judge for r in result.rows})
    return [f"All {n} numbers hold on {judges} planted judges (seed {result.seed})."]


def _where(r: Row) -> str:
    return f"{r.judge}, {r.n} items"


def _groups(rows: Sequence[Row]) -> dict[str, list[Row]]:
    out: dict[str, list[Row]] = {}
    for r in rows:
        out.setdefault(r.name, []).append(r)
    return out


def _worst(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Pick, for each number, the cell with the largest bias and the one with the least coverage."""
    out: list[tuple[str, ...]] = []
    for name, cells in _groups(rows).items():
        valued = [r for r in cells if r.bias is not None and r.defined]
        bias = max(valued, key=lambda r: abs(r.bias or 0) / (r.error or 1), default=None)
        judged = [r for r in cells if r.coverage is not None and r.floor is not None]
        sign = -1 if cells[0].is_test else 1
        cover = min(judged, key=lambda r: sign * (r.coverage or 0), default=None)
        out.append((name, *_bias(bias), *_coverage(cover)))
    return out


def _bias(r: Row | None) -> tuple[str, str, str]:
    if r is None or r.bias is None:
        return "", "", ""
    return f"{r.bias:+.4f}", f"{r.truth:.4f} ±{r.error:.4f}", _where(r)


def _coverage(r: Row | None) -> tuple[str, str, str, str]:
    if r is None or r.coverage is None:
        return "", "", "", ""
    wanted = f"at most {r.floor:g}" if r.is_test else f"{r.floor:g}"
    return f"{r.coverage:.3f} of {r.intervals}", wanted, _where(r), r.method


def _cell(r: Row) -> tuple[str, ...]:
    return (f"{r.name}", *_bias(r), *_coverage(r))


_INTRO = """# Coverage of every interval of a card

Made by `{command}`; not written by hand. {audits} audits of each planted judge at each
number of items, new items each time, K = 5 base calls and L = 2 calls a condition, scored as any
audit is. The truth is the expectation over a million items, from planted chances alone. Nominal
level .95. One Monte-Carlo standard error of a coverage of .95 is {noise:.3f}.

An interval is wanted to cover .93 or more, the adjusted t .905 at 30 items and .928 from 60 on, as
the design's own table has it; bounds always; a test of size .05 rejects a true null at most so
often. A figure that misses by more than three standard errors is marked **!**. A planted judge
that is flagged on the card is shown by judge only. Findings beyond noise: {n_found}.

Planted judges:

{judges}

## Least coverage of each number over all planted judges

{worst}

## By planted judge

Coverage of the numbers on the front of a card; mean width in brackets.

{by_judge}
"""

_FRONT = (
    ("jitter", "base"),
    ("unsafe_rate", "base"),
    ("flip_rate", "certified"),
    ("delta_paper", "certified"),
    ("delta_paper", "T4"),
    ("delta_debiased", "certified"),
    ("delta_debiased", "T4"),
    ("direction_ratio", None),
    ("undue_share", None),
    ("undue_clear", "certified"),
    ("pis", None),
    ("accuracy", None),
)


def page(result: Result, command: str) -> str:
    """Write the result as a page for the docs."""
    audits = max((r.audits for r in result.rows), default=0)
    return _INTRO.format(
        command=command,
        audits=audits,
        noise=(0.95 * 0.05 / audits) ** 0.5 if audits else 0.0,
        n_found=len(result.biased) + len(result.uncovered) + len(result.broken),
        judges="\n".join(
            f"- `{name}`: {w.summary}"
            for name, w in WORLDS.items()
            if any(r.judge == name for r in result.rows)
        ),
        worst=_worst_table(result.rows),
        by_judge=_judge_table(result.rows),
    )


def _worst_table(rows: Sequence[Row]) -> str:
    sizes = sorted({r.n for r in rows})
    lines = [
        f"| number | {' | '.join(f'n = {n}' for n in sizes)} | interval |",
        f"|---|{'---|' * len(sizes)}---|",
    ]
    for name, cells in _groups(rows).items():
        found, method = [], ""
        for n in sizes:
            judged = [
                r for r in cells if r.n == n and r.coverage is not None and r.floor is not None
            ]
            sign = -1 if cells[0].is_test else 1
            least = min(judged, key=lambda r: sign * (r.coverage or 0), default=None)
            found.append("" if least is None else f"{_marked(least)} {least.judge}")
            method = method if least is None else least.method
        if any(found):
            lines.append(f"| {name} | {' | '.join(found)} | {method} |")
    return "\n".join(lines)


def _marked(r: Row) -> str:
    assert r.coverage is not None
    return f"{r.coverage:.3f}{' **!**' if r.fails_to_cover else ''}"


def _judge_table(rows: Sequence[Row]) -> str:
    by = {(r.judge, r.n, r.metric, r.condition): r for r in rows if r.treatment == "exclude"}
    names = [f"{m} {c}" if c else m for m, c in _FRONT]
    lines = [f"| judge | n | {' | '.join(names)} |", f"|---|---|{'---|' * len(names)}"]
    for judge, n in dict.fromkeys((r.judge, r.n) for r in rows):
        cells = []
        for metric, condition in _FRONT:
            r = by.get((judge, n, metric, condition))
            known = r is not None and r.coverage is not None and r.width is not None
            cells.append(f"{_marked(r)} ({r.width:.2f})" if r is not None and known else "")
        lines.append(f"| {judge} | {n} | {' | '.join(cells)} |")
    return "\n".join(lines)
