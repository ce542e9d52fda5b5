"""`stats`: calculators for numbers typed in, each with its formula and source."""

from __future__ import annotations

from typing import Annotated

import typer

from judgeaudit.cli import _calculator as calc
from judgeaudit.cli import _stats_attacks, _stats_pairs, _stats_runs, _stats_tails
from judgeaudit.cli._calculator import NUMBERS, Answer, JsonFlag, Level

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

_X = Annotated[int, typer.Argument(parser=calc.whole("X"), metavar="X", help="Events.")]
_N = Annotated[int, typer.Argument(parser=calc.whole("N"), metavar="N", help="Trials.")]


@app.command("upper-bound", context_settings=NUMBERS)
def upper_bound(x: _X, n: _N, *, level: Level = 0.95, as_json: JsonFlag = False) -> None:
    """Exact one-sided bounds of a rate from X events in N trials."""
    from judgeaudit.stats import intervals
    from judgeaudit.stats.rare import rule_of_three_words

    calc.events_of(x, n)
    zero = "; without events 1 - (1-level)^(1/n)" if x == 0 else ""
    calc.say(
        Answer(
            "upper-bound",
            {"x": x, "n": n, "level": level},
            {
                "upper bound": intervals.clopper_pearson_upper(x, n, level=level),
                "lower bound": intervals.clopper_pearson_lower(x, n, level=level),
                "rate seen": x / n,
            },
            "upper: BetaInv(level; x+1, n-x), lower: BetaInv(1-level; x, n-x+1); each one-sided"
            + zero,
            calc.EXACT,
            (rule_of_three_words(x, n, level=level), calc.CLUSTERS),
        ),
        as_json=as_json,
    )


@app.command("interval", context_settings=NUMBERS)
def interval(x: _X, n: _N, *, level: Level = 0.95, as_json: JsonFlag = False) -> None:
    """Exact two-sided interval of a rate from X events in N trials (Clopper-Pearson)."""
    from judgeaudit.stats.intervals import clopper_pearson

    calc.events_of(x, n)
    calc.say(
        Answer(
            "interval",
            {"x": x, "n": n, "level": level},
            {"rate": x / n, **calc.limits_of(clopper_pearson(x, n, level=level))},
            "BetaInv(a/2; x, n-x+1) to BetaInv(1-a/2; x+1, n-x), a = 1-level; two-sided",
            calc.EXACT,
            (calc.CLUSTERS,),
        ),
        as_json=as_json,
    )


@app.command("wilson", context_settings=NUMBERS)
def wilson(x: _X, n: _N, *, level: Level = 0.95, as_json: JsonFlag = False) -> None:
    """Wilson's score interval of a rate from X events in N trials."""
    from judgeaudit.stats import intervals

    calc.events_of(x, n)
    calc.say(
        Answer(
            "wilson",
            {"x": x, "n": n, "level": level},
            {"rate": x / n, **calc.limits_of(intervals.wilson(x, n, level=level))},
            "[p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)] / (1 + z²/n), p = x/n",
            "Wilson 1927, JASA 22; Brown, Cai and DasGupta 2001, Stat. Sci. 16",
            (calc.CLUSTERS,),
        ),
        as_json=as_json,
    )


@app.command("rule-of-three", context_settings=NUMBERS)
def rule_of_three(n: _N, *, level: Level = 0.95, as_json: JsonFlag = False) -> None:
    """Say what no event in N trials still allows: about 3/N, and exactly."""
    from judgeaudit.stats import rare
    from judgeaudit.stats.intervals import clopper_pearson_upper

    calc.events_of(0, n)
    rule, exact = rare.rule_of_three(n, level=level), clopper_pearson_upper(0, n, level=level)
    calc.say(
        Answer(
            "rule-of-three",
            {"n": n, "level": level},
            {
                "rule of three": rule,
                "exact bound": exact,
                "rule over exact, less 1": rule / exact - 1 if isinstance(rule, float) else rule,
            },
            "3/n at 95%, else -ln(1-level)/n; exact: 1 - (1-level)^(1/n)",
            f"Hanley and Lippman-Hand 1983, JAMA 249; exact: {calc.EXACT}",
            (rare.rule_of_three_words(0, n, level=level), "quote the exact bound, not the rule"),
        ),
        as_json=as_json,
    )


@app.command("sample-size", context_settings=NUMBERS)
def sample_size(
    rate: Annotated[
        float,
        typer.Argument(parser=calc.chance("RATE", zero=False), metavar="RATE", help="The rate."),
    ],
    *,
    relative_error: Annotated[
        float | None,
        typer.Option(
            parser=calc.real("--relative-error", 1e-6, 10),
            metavar="E",
            help="Half-width of the interval over the rate; without it: to see one event.",
        ),
    ] = None,
    z: Annotated[
        float | None,
        typer.Option(
            parser=calc.real("--z", 0, above=True),
            metavar="Z",
            help="Normal quantile instead of the level's exact one (tables take 1.96).",
        ),
    ] = None,
    level: Level = 0.95,
    as_json: JsonFlag = False,
) -> None:
    """Items for a rate with a wanted relative error, or to see one event at all."""
    from judgeaudit.stats.intervals import normal_quantile
    from judgeaudit.stats.rare import trials_for_chance
    from judgeaudit.stats.single_shot import rate_items

    see = trials_for_chance(rate, level)
    if relative_error is None:
        calc.say(
            Answer(
                "sample-size",
                {"rate": rate, "level": level},
                {"items to see one event": see},
                "smallest n with 1 - (1-rate)^n >= level",
                "binomial; so many items without an event also bound the rate below this one",
                ("for a rate to be estimated, not only seen: add --relative-error 0.2",),
            ),
            as_json=as_json,
        )
        return
    quantile = normal_quantile(0.5 + level / 2) if z is None else z
    calc.say(
        Answer(
            "sample-size",
            {"rate": rate, "relative_error": relative_error, "level": level, "z": quantile},
            {
                "items": rate_items(rate, relative_error, z=quantile),
                "before rounding up": quantile**2 * (1 - rate) / (relative_error**2 * rate),
                "items to see one event": see,
            },
            "ceil(z² (1-p) / (e² p)), z the normal quantile of the two-sided level",
            "estimators.md, section 9 (normal approximation)",
            (calc.CLUSTERS,),
        ),
        as_json=as_json,
    )


_stats_tails.add_to(app)
_stats_attacks.add_to(app)
_stats_pairs.add_to(app)
_stats_runs.add_to(app)
