"""`stats compare-runs`: two judges, or two dates, from their runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judgeaudit.cli._calculator import JsonFlag, Level

if TYPE_CHECKING:
    from judgeaudit.core.records import Score

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register the verb."""
    app.command("compare-runs")(_compare_runs)


def _compare_runs(
    first: Annotated[Path, typer.Argument(help="Folder or ledger of a run.")],
    second: Annotated[Path, typer.Argument(help="Another run on the same items.")],
    *,
    by: Annotated[
        str | None, typer.Option(help="Compare within each value of this descriptor, too.")
    ] = None,
    level: Level = 0.95,
    as_json: JsonFlag = False,
) -> None:
    """Compare two judges, or two dates, on the items of two runs: first base verdicts.

    Exact McNemar test (clusters: sign flips) and the difference with its interval; with --by
    corrected over categories by Holm and Benjamini-Hochberg.
    """
    from judgeaudit import audit
    from judgeaudit.core.records import ScoreSet
    from judgeaudit.engine.ledger import Ledger
    from judgeaudit.metrics.compared import compared

    tables = []
    for run in (first, second):
        with Ledger.open_readonly(run / audit.LEDGER if run.is_dir() else run) as view:
            tables.append(view.table())
    found = compared(*tables, by=by, level=level)
    if as_json:
        typer.echo(ScoreSet(scores=found).model_dump_json(indent=1))
        return
    typer.echo(_text(found))


def _text(scores: tuple[Score, ...]) -> str:
    from judgeaudit.core.terminal import plain
    from judgeaudit.metrics.compared import DIFFERENCES

    rows = []
    for s in scores:
        where = "" if s.stratum is None else f"  {s.stratum}"
        rows.append((plain(f"{DIFFERENCES[s.metric][0]}{where}"), _line(s)))
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:<{width}}  {text}" for name, text in rows]
    overall = next(s for s in scores if s.stratum is None)
    gone = {k: int(overall.detail[k] or 0) for k in _LEFT_OUT}
    methods = sorted({s.method for s in scores if s.method})
    tests = sorted({s.p_method for s in scores if s.p_method})
    lines += [
        "",
        "Share of the first run less that of the second, by the first base verdict of each item.",
        *(f"Left out: {n} items {_LEFT_OUT[k]}." for k, n in gone.items() if n),
        f"Intervals: {', '.join(methods) or 'none'}. Tests: {', '.join(tests) or 'none'}.",
        f"Null: {next((s.null for s in scores if s.null), 'none')}.",
        _SOURCE,
    ]
    return "\n".join(lines)


_SOURCE = (
    "Source: McNemar 1947; Newcombe 1998, Stat. Med. 17, 2635; Holm 1979; Benjamini and Hochberg "
    "1995."
)
_LEFT_OUT = {
    "without_a_verdict": "without a first base verdict in both",
    "labelled_otherwise": "labelled otherwise by the second run",
    "not_in_both": "that only one run has",
}


def _line(s: Score) -> str:
    if s.value is None:
        return f"none: {s.why_undefined}"
    ends = f"[{s.low:+.3f}, {s.high:+.3f}]" if s.low is not None else f"({s.why_no_interval})"
    corrected = ""
    if s.p_adjusted is not None:
        corrected = f" (Holm {s.p_adjusted:.3g}, BH {s.detail['p_bh']:.3g})"
    return (
        f"{s.value:+.3f} {ends}  p {s.p_value:.3g}{corrected}  only the first "
        f"{int(s.detail['first_only'] or 0)}, only the second "
        f"{int(s.detail['second_only'] or 0)} of {s.n_items}"
    )
