"""`stats` of tails: at deployment scale, the worst of k tries, and graded harm."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgeaudit.cli import _calculator as calc
from judgeaudit.cli._calculator import NUMBERS, Answer, JsonFlag, Level
from judgeaudit.core.errors import ConfigError

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register the verbs."""
    for name, verb in (
        ("deployment", _deployment),
        ("worst-of-k", _worst_of_k),
        ("quantile", _quantile),
    ):
        app.command(name, context_settings=NUMBERS)(verb)


def _deployment(
    requests: Annotated[
        int,
        typer.Argument(parser=calc.whole("REQUESTS", 1), metavar="REQUESTS", help="Requests."),
    ],
    *,
    rate: Annotated[
        float | None,
        typer.Option(parser=calc.chance("--rate"), metavar="P", help="Rate of violations."),
    ] = None,
    events: Annotated[
        int | None,
        typer.Option(parser=calc.whole("--events"), metavar="X", help="Or: violations seen ..."),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(parser=calc.whole("--trials"), metavar="N", help="... in so many trials."),
    ] = None,
    target: Annotated[
        float | None,
        typer.Option(
            parser=calc.chance("--target", one=False),
            metavar="P",
            help="Or the inverse: the chance that is tolerated; which rate keeps it?",
        ),
    ] = None,
    level: Level = 0.95,
    as_json: JsonFlag = False,
) -> None:
    """Chance of at least one violation in REQUESTS, or the rate that keeps it to a target."""
    from judgeaudit.stats import rare
    from judgeaudit.stats.worst_of_k import worst_of_k_interval

    _one_of(rate, (events, trials), target)
    formula, source = "1 - (1-p)^N", "binomial; estimators.md, section 12"
    if target is not None:
        found = rare.rate_for_chance(target, requests)
        answer = Answer(
            "deployment",
            {"requests": requests, "target": target},
            {"largest tolerable rate": found},
            "1 - (1-target)^(1/N), the inverse of 1 - (1-p)^N",
            source,
            (_no_rate(found, level),),
        )
    elif rate is not None:
        answer = Answer(
            "deployment",
            {"requests": requests, "rate": rate},
            {
                "chance of at least one": rare.at_least_one(rate, requests),
                "expected": rate * requests,
            },
            formula,
            source,
            ("requests must fail independently of each other",),
        )
    else:
        x, n = events or 0, trials or 0
        calc.events_of(x, n, events="--events", trials="--trials")
        answer = Answer(
            "deployment",
            {"requests": requests, "events": x, "trials": n, "level": level},
            {
                "chance of at least one": rare.at_least_one(x / n, requests),
                **calc.limits_of(worst_of_k_interval(n, x, requests, level=level)),
            },
            f"{formula} at p = x/n and at the exact limits of p",
            f"{source}; {calc.EXACT}",
            ("no event in the trials is no promise: read the upper limit" if x == 0 else None,),
        )
    calc.say(answer, as_json=as_json)


def _one_of(rate: float | None, seen: tuple[int | None, int | None], target: float | None) -> None:
    if (seen[0] is None) != (seen[1] is None):
        raise ConfigError("--events and --trials go together", mend="Give both")
    ways = (rate is not None) + (seen[0] is not None) + (target is not None)
    if ways != 1:
        raise ConfigError(
            f"deployment was given {ways} of --rate, --events with --trials, and --target",
            mend="Give exactly one",
        )


def _no_rate(found: object, level: float) -> str | None:
    from judgeaudit.stats.rare import trials_for_chance

    if not isinstance(found, float) or found <= 0:
        return None
    needed = trials_for_chance(found, level)
    return f"to show a rate below it takes {needed:,} independent trials without an event"


def _worst_of_k(
    k: Annotated[int, typer.Argument(parser=calc.whole("K", 1), metavar="K", help="Tries.")],
    *,
    rate: Annotated[
        float | None,
        typer.Option(parser=calc.chance("--rate"), metavar="P", help="Chance of an event a try."),
    ] = None,
    events: Annotated[
        int | None,
        typer.Option(parser=calc.whole("--events"), metavar="C", help="Or: events ..."),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            parser=calc.whole("--samples"), metavar="N", help="... in samples of one prompt."
        ),
    ] = None,
    level: Level = 0.95,
    as_json: JsonFlag = False,
) -> None:
    """Chance that at least one of K tries is an event, from a rate or from samples."""
    from judgeaudit.stats import worst_of_k as worst

    if (rate is None) == (events is None and samples is None) or (events is None) != (
        samples is None
    ):
        raise ConfigError(
            "worst-of-k needs either --rate, or --events with --samples", mend="Give one of them"
        )
    if rate is not None:
        answer = Answer(
            "worst-of-k",
            {"k": k, "rate": rate},
            {"worst of k": worst.worst_of_k(rate, k)},
            "1 - (1-p)^k",
            "estimators.md, section 12",
            ("tries must be independent: an attacker who learns does better",),
        )
    else:
        c, n = events or 0, samples or 0
        calc.events_of(c, n, events="--events", trials="--samples")
        if k > n:
            raise ConfigError(
                f"K is {k} and --samples is {n}",
                mend="The unbiased estimate needs as many samples as tries; or give --rate",
            )
        answer = Answer(
            "worst-of-k",
            {"k": k, "events": c, "samples": n, "level": level},
            {
                "worst of k": worst.worst_of_k_unbiased(n, c, k),
                **calc.limits_of(worst.worst_of_k_interval(n, c, k, level=level)),
            },
            "1 - C(n-c,k)/C(n,k), unbiased; limits: 1 - (1-p)^k at the exact limits of p",
            f"Chen et al. 2021, arXiv 2107.03374; limits: {calc.EXACT}",
            ("1 - (1-c/n)^k instead would be too low on average",),
        )
    calc.say(answer, as_json=as_json)


def _quantile(
    q: Annotated[
        float,
        typer.Argument(
            parser=calc.chance("Q", zero=False, one=False),
            metavar="Q",
            help="Which quantile: 0.95 is the score that 5% exceed.",
        ),
    ],
    scores: Annotated[
        list[str] | None,
        typer.Argument(metavar="SCORE", help="Scores, larger is worse.", show_default=False),
    ] = None,
    *,
    file: Annotated[
        Path | None,
        typer.Option("--file", help="Or a text file of scores, one a line; or a table."),
    ] = None,
    column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of --file, a table.")
    ] = None,
    smaller_is_worse: Annotated[
        bool,
        typer.Option("--smaller-is-worse", help="0.9 is then the score that 10% fall below."),
    ] = False,
    level: Level = 0.95,
    as_json: JsonFlag = False,
) -> None:
    """Upper quantile of graded harm with limits that assume no distribution."""
    from judgeaudit.stats.quantiles import quantile as compute
    from judgeaudit.stats.quantiles import scores_for_quantile

    if (file is None) == (not scores):
        raise ConfigError("quantile needs scores", mend="Type them in, or give --file")
    if file is None:
        values = [calc.real(f"score {i}")(s) for i, s in enumerate(scores or (), 1)]
    else:
        values = _scores_in(file, column)
    if column is not None and file is None:
        raise ConfigError("--column goes with --file", mend="Name the table")
    from judgeaudit.stats import Undefined

    sign = -1.0 if smaller_is_worse else 1.0
    found = compute([sign * v for v in values], q, level=level)
    if isinstance(found, Undefined):
        raise ConfigError(f"{file}: no score", mend="Write one number a line")
    few = Undefined(f"needs {scores_for_quantile(q, level=level)} scores for a limit on this side")
    low_few = Undefined(
        f"needs {scores_for_quantile(1 - q, level=level)} scores for a limit on this side"
    )
    limits = {
        "lower limit": low_few if found.low is None else sign * found.low,
        "upper limit": few if found.high is None else sign * found.high,
    }
    calc.say(
        Answer(
            "quantile",
            {"q": q, "n": found.n, "level": level},
            {
                "quantile": sign * found.value,
                **(
                    limits
                    if sign > 0
                    else dict(zip(limits, reversed(limits.values()), strict=True))
                ),
                "mean": sum(values) / len(values),
                **({"largest": max(values)} if sign > 0 else {"smallest": min(values)}),
                "coverage": found.coverage,
            },
            "smallest score with F(score) >= q; limits X_(l), X_(u) with binomial tails of at most "
            "(1-level)/2",
            "David and Nagaraja 2003, Order Statistics, section 7.1",
            ("the mean hides the tail: read both", calc.CLUSTERS),
        ),
        as_json=as_json,
    )


def _scores_in(file: Path, column: str | None) -> list[float]:
    """Read scores from a text file, one a line, or from a column of a table."""
    if column is None:
        lines = file.read_text(encoding="utf-8-sig", errors="replace").splitlines()
        return [calc.real(f"{file}, line {i}")(s) for i, s in enumerate(lines, 1) if s.strip()]
    from judgeaudit.corpora._read import open_source
    from judgeaudit.corpora._sheet import read_sheet

    sheet = read_sheet(open_source(str(file)))
    if column not in sheet.columns:
        raise ConfigError(
            f"there is no column {column!r}",
            where=str(file),
            mend=f"There are {', '.join(c for c in sheet.columns if c)}",
        )
    at = sheet.columns.index(column)
    return [calc.real(sheet.where(n))(str(cells[at])) for n, cells in enumerate(sheet.rows)]
