"""`plan`: how many items and repeats an audit needs, or what given ones can show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from judgeaudit.core.records import Protocol
    from judgeaudit.engine.pilot import CallCost
    from judgeaudit.planning import Answer

__all__ = ["add_to"]

_KNOWN = "What is known of the judge"
_WANTED = "What is wanted"
_COST = "Price and time"


def add_to(app: typer.Typer) -> None:
    """Register the verb on the application."""
    app.command("plan")(_plan)


def _plan(
    *,
    pilot: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            help="Folder of a run on some items: jitter, clusters, price and time are its own.",
            rich_help_panel=_KNOWN,
        ),
    ] = None,
    jitter: Annotated[
        float | None,
        typer.Option(
            help="Assumed share of repeats that disagree, 0 to 0.25.", rich_help_panel=_KNOWN
        ),
    ] = None,
    design_effect: Annotated[
        float | None,
        typer.Option(
            help="How much clusters widen an interval, as a factor on its variance.",
            rich_help_panel=_KNOWN,
        ),
    ] = None,
    effect: Annotated[
        float | None,
        typer.Option(
            help="Excess flip rate to find under one condition, 0.05 for 5 points.",
            rich_help_panel=_WANTED,
        ),
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(
            help="Wanted half-width of the pooled interval, 0.02 for ±2 points.",
            rich_help_panel=_WANTED,
        ),
    ] = None,
    items: Annotated[
        int | None,
        typer.Option(help="Items there are: what can they show?", rich_help_panel=_WANTED),
    ] = None,
    base_repeats: Annotated[
        int | None,
        typer.Option("-K", "--base-repeats", help="Base calls an item.", rich_help_panel=_WANTED),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option("-L", "--repeats", help="Calls a condition.", rich_help_panel=_WANTED),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="Conditions that are asked: quick, default or paper.", rich_help_panel=_WANTED
        ),
    ] = None,
    power: Annotated[
        float, typer.Option(help="Chance of finding the effect.", rich_help_panel=_WANTED)
    ] = 0.8,
    alpha: Annotated[
        float, typer.Option(help="Size of the one-sided test.", rich_help_panel=_WANTED)
    ] = 0.05,
    judge: Annotated[
        str | None,
        typer.Option(
            help="Price the calls of this judge; further choices come from audit.toml.",
            rich_help_panel=_COST,
        ),
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(help="TOML file of prices, as for audit.", rich_help_panel=_COST),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(help="Seconds a call takes, for the time.", rich_help_panel=_COST),
    ] = None,
    concurrency: Annotated[
        int, typer.Option(help="Calls in flight, for the time.", rich_help_panel=_COST)
    ] = 16,
    simulate: Annotated[
        int, typer.Option(help="Simulated audits a step; 0: closed forms alone.")
    ] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the simulation.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the plot to this file, as SVG.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Say how many items and repeats an audit needs, or what given items can show.

    From a pilot run or from an assumed jitter; nobody is asked anything.
    """
    from judgeaudit import planning
    from judgeaudit.core.errors import ConfigError

    for name, value in (("concurrency", concurrency), ("simulate", simulate)):
        least = 1 if name == "concurrency" else 0
        if value < least:
            raise ConfigError(f"--{name} is {value}", mend=f"It must be {least} or more")
    if prices is not None and judge is None and pilot is None:
        raise ConfigError("--prices names no judge", mend="Add --judge or --pilot")
    layouts: tuple[tuple[int, int], ...] = planning.LAYOUTS
    if base_repeats is not None or repeats is not None:
        layouts = ((base_repeats or 5, 2 if repeats is None else repeats),)
    protocol, cost = _judge(judge, preset, prices, seconds)
    answer = planning.plan(
        jitter=jitter,
        pilot=pilot,
        effect=effect,
        within=within,
        items=items,
        layouts=layouts,
        protocol=protocol,
        cost=cost,
        prices=prices if judge is None else None,
        in_flight=concurrency,
        alpha=alpha,
        power=power,
        design_effect=design_effect,
        simulations=simulate,
        seed=seed,
    )
    if out is not None:
        _draw(answer, out)
    if as_json:
        typer.echo(json.dumps(answer.as_dict(), indent=1))
        return
    from judgeaudit.cli import _plan_words

    typer.echo(_plan_words.of_answer(answer))
    if out is not None:
        typer.echo(f"\nPlot: {out}")


def _judge(
    judge: str | None, preset: str | None, prices: Path | None, seconds: float | None
) -> tuple[Protocol | None, CallCost | None]:
    """Lay the audit of a named judge out, to learn its conditions and the price of a call."""
    from judgeaudit.engine.pilot import CallCost

    if judge is None:
        protocol = None
        if preset is not None:
            from judgeaudit.engine.presets import make_protocol
            from judgeaudit.policy import load_conditions

            protocol = make_protocol(preset, load_conditions().values())
        note = "no judge and no pilot was named"
        return protocol, None if seconds is None else CallCost(seconds=seconds, note=note)
    from judgeaudit import audit

    choices: dict[str, Any] = {"judge": judge}
    choices |= {k: v for k, v in (("preset", preset), ("prices", prices)) if v is not None}
    ready = audit.prepare(audit.choose(None, choices))
    planned, n = ready.plan.estimate, ready.plan.n_calls
    note = f"{planned.cost_note}, mean of {n:,} calls on {ready.corpus.facts.name}"
    return ready.meta.protocol, CallCost(
        least=None if planned.cost_least is None else planned.cost_least / n,
        most=None if planned.cost_most is None else planned.cost_most / n,
        seconds=seconds,
        note=note,
    )


def _draw(answer: Answer, out: Path) -> None:
    from judgeaudit.cards.curve import power_curve
    from judgeaudit.cli import _plan_words
    from judgeaudit.core.errors import ConfigError

    if not answer.curve:
        raise ConfigError("the plot is made by simulation", mend="Leave --simulate 0 out")
    title = _plan_words.title(answer)
    rows = "; ".join(f"{n} items {power:.0%}" for n, _, power in answer.curve)
    svg = power_curve(
        answer.curve, wanted=answer.power, title=title, description=f"{title}: {rows}"
    )
    out.write_text(svg, encoding="utf-8")
