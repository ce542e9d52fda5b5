"""`stats asr`: an attack success rate, never without its budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from judgeaudit.cli import _calculator as calc
from judgeaudit.cli._calculator import NUMBERS, Answer, JsonFlag, Level
from judgeaudit.core.errors import ConfigError

if TYPE_CHECKING:
    from judgeaudit.cli._calculator import Value
    from judgeaudit.stats import Undefined

__all__ = ["add_to"]

_LEARNS = (
    "if attempts depend on earlier ones (an attacker who learns), they are no independent trials: "
    "give each campaign as --campaign X/N, and each budget on its own"
)


def add_to(app: typer.Typer) -> None:
    """Register the verb."""
    app.command("asr", context_settings=NUMBERS)(_asr)


def _campaign(text: str) -> tuple[int, int]:
    head, slash, tail = text.partition("/")
    if not slash:
        raise ConfigError(f"--campaign is {text!r}", mend="Write successes/attempts: 3/50")
    x, n = calc.whole("--campaign")(head), calc.whole("--campaign")(tail)
    calc.events_of(x, n, events="--campaign: successes", trials="attempts")
    return x, n


def _first(text: str) -> tuple[int, int]:
    """Read 17/50 (first success at attempt 17 of 50) or -/50 (none in 50)."""
    head, slash, tail = text.partition("/")
    if not slash:
        raise ConfigError(
            f"--first is {text!r}",
            mend="Write the attempt that succeeded first, and how many were made: 17/50, or -/50",
        )
    made = calc.whole("--first", 1)(tail)
    at = 0 if head.strip() == "-" else calc.whole("--first", 1)(head)
    calc.events_of(at, made, events="--first: the attempt", trials="attempts")
    return at, made


def _asr(
    x: Annotated[
        int | None,
        typer.Argument(parser=calc.whole("X"), metavar="[X]", help="Attempts that succeeded."),
    ] = None,
    n: Annotated[
        int | None, typer.Argument(parser=calc.whole("N"), metavar="[N]", help="Attempts.")
    ] = None,
    *,
    queries: Annotated[
        int | None,
        typer.Option(
            parser=calc.whole("--queries", 1),
            metavar="N",
            help="Budget: queries to the target an attempt.",
        ),
    ] = None,
    categories: Annotated[
        int | None,
        typer.Option(
            parser=calc.whole("--categories", 1),
            metavar="N",
            help="Budget: risk categories that were attacked.",
        ),
    ] = None,
    campaign: Annotated[
        list[str] | None,
        typer.Option(
            metavar="X/N",
            help="A campaign of attempts that learn from each other (repeat the flag).",
        ),
    ] = None,
    first: Annotated[
        list[str] | None,
        typer.Option(
            metavar="F/N",
            help="A campaign by its first success: 17/50, or -/50 for none (repeat the flag).",
        ),
    ] = None,
    budget: Annotated[
        list[str] | None,
        typer.Option(metavar="N", help="With --first: attempts a campaign (repeat the flag)."),
    ] = None,
    level: Level = 0.95,
    as_json: JsonFlag = False,
) -> None:
    """Attack success rate with Wilson's interval, and the budget that it holds for."""
    if queries is None or categories is None:
        raise ConfigError(
            "an attack success rate without its budget says nothing",
            mend="Add --queries and --categories",
        )
    ways = (x is not None) + bool(campaign) + bool(first)
    if ways != 1 or (x is None) != (n is None):
        raise ConfigError(
            "asr needs X and N, or --campaign X/N several times, or --first F/N several times",
            mend="Give one of them",
        )
    if budget and not first:
        raise ConfigError("--budget goes with --first", mend="Give each campaign as --first F/N")
    if first:
        answer = _per_budget(first, budget or (), queries, categories, level)
    else:
        pairs = [_campaign(text) for text in campaign or ()]
        answer = _rate(pairs, (x or 0, n or 0), queries, categories, level)
    calc.say(answer, as_json=as_json)


def _rate(
    campaigns: list[tuple[int, int]],
    plain: tuple[int, int],
    queries: int,
    categories: int,
    level: float,
) -> Answer:
    from judgeaudit.stats.rare import attack_success, rule_of_three_words

    if not campaigns:
        calc.events_of(*plain)
    rows = campaigns or [plain]
    x, n = sum(r[0] for r in rows), sum(r[1] for r in rows)
    found = attack_success(
        [r[0] for r in rows], [r[1] for r in rows], adaptive=bool(campaigns), level=level
    )
    budget: dict[str, Value] = {"attempts": n, "queries an attempt": queries}
    budget |= {"queries": n * queries, "categories": categories}
    if campaigns:
        budget["campaigns"] = len(campaigns)
    ways = "over the effective number of attempts (design effect of campaigns)"
    return Answer(
        "asr",
        {"x": x, "n": n, "queries": queries, "categories": categories, "level": level},
        {
            "attack success rate": found.rate,
            **calc.limits_of(found.interval),
            **{f"budget: {k}": v for k, v in budget.items()},
        },
        f"x/n; Wilson's interval {ways if campaigns else 'of x in n'}",
        "Wilson 1927, JASA 22" + ("; Korn and Graubard 1998" if campaigns else ""),
        (
            found.warning if campaigns else _LEARNS,
            rule_of_three_words(0, n, level=level) if x == 0 and not campaigns else None,
            "another budget is another rate: compare rates of equal budgets only",
        ),
    )


def _per_budget(
    first: list[str], budgets: list[str] | tuple[()], queries: int, categories: int, level: float
) -> Answer:
    import numpy as np

    from judgeaudit.stats.rare import by_budget

    pairs = [_first(text) for text in first]
    at = np.array([p[0] for p in pairs], dtype=np.int64)
    made = np.array([p[1] for p in pairs], dtype=np.int64)
    asked = [calc.whole("--budget", 1)(b) for b in budgets] or [int(made.max())]
    found: dict[str, Value | Undefined] = {}
    for row in by_budget(at, made, sorted(set(asked)), level=level):
        name = f"within {row.budget:,} attempts"
        found[name] = row.succeeded / row.campaigns if row.campaigns else None
        found |= {f"{name}: {k}": v for k, v in calc.limits_of(row.interval).items()}
        found[f"{name}: campaigns"] = row.campaigns
    found |= {"budget: queries an attempt": queries, "budget: categories": categories}
    return Answer(
        "asr",
        {"first": first, "queries": queries, "categories": categories, "level": level},
        found,
        "share of campaigns with a success within the budget; Wilson's interval over campaigns",
        "Wilson 1927, JASA 22",
        (
            "campaigns are the trials: attempts within one depend on each other",
            "a campaign that gave up before a budget says nothing of it and is left out there",
        ),
    )
