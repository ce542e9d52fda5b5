"""What a plan is asked for: checked, completed from a pilot, and answered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import Protocol
from judgeaudit.engine.pilot import CallCost
from judgeaudit.planning.answer import Answer, Layout
from judgeaudit.planning.options import Ask, cautious, curve, option, recommended
from judgeaudit.stats import planning as numbers

if TYPE_CHECKING:
    from judgeaudit.engine.pilot import Pilot

__all__ = ["LAYOUTS", "plan"]

LAYOUTS: Final = ((2, 1), (3, 1), (3, 2), (4, 2), (5, 2), (5, 5))
"""Pairs (K, L) that are compared where the user names none; the first is the single-shot triple."""


def plan(
    *,
    jitter: float | None = None,
    pilot: Path | str | None = None,
    effect: float | None = None,
    within: float | None = None,
    items: int | None = None,
    layouts: Sequence[tuple[int, int]] = LAYOUTS,
    protocol: Protocol | None = None,
    cost: CallCost | None = None,
    prices: Path | None = None,
    in_flight: int = 16,
    alpha: float = 0.05,
    power: float = 0.8,
    design_effect: float | None = None,
    simulations: int = 200,
    seed: int = 0,
) -> Answer:
    """Plan an audit: what a wanted effect or precision needs, or what given items can show.

    Parameters
    ----------
    jitter : float, optional
        Assumed jitter, 0 to 0.25; with `pilot` it is measured.
    pilot : path, optional
        Folder or ledger of a run on some items.
    effect : float, optional
        Excess flip rate of one condition that is to be found; the protocol's practical threshold
        where neither it, nor `within`, nor `items` is given.
    within : float, optional
        Half-width wanted of the 95% interval of the pooled excess flip rate.
    items : int, optional
        Items there are: the question is then what they show.
    layouts : sequence of (int, int)
        Pairs (K, L) to compare.
    protocol : Protocol, optional
        Conditions of the audit; the pilot's, or those of the default preset.
    cost : CallCost, optional
        What a call costs and takes; the pilot's where it is left out.
    prices : path, optional
        Stated prices for the tokens of the pilot, see `engine.prices`.
    in_flight : int
        Calls in flight, for the time.
    alpha, power : float
        Size of the one-sided test and wanted power.
    design_effect : float, optional
        See `stats.planning.half_width`; the pilot's, or 1.
    simulations : int
        Simulated audits a step; 0: closed forms alone.
    seed : int
        Seed of the simulation.

    Returns
    -------
    Answer

    Raises
    ------
    ConfigError
        If a number is out of range, or neither jitter nor pilot is given.
    """
    run = None if pilot is None else _pilot(pilot, prices)
    _check(jitter, run, effect=effect, within=within, items=items, alpha=alpha, power=power)
    known = jitter if jitter is not None else (run.jitter if run else 0.0)
    protocol = protocol or (run.protocol if run else _default_protocol())
    if effect is None and within is None and items is None:
        effect = protocol.practical_threshold
    ask = Ask(
        jitter=known,
        effect=effect,
        within=within,
        items=items,
        alpha=alpha,
        power=power,
        design_effect=design_effect or (run.design_effect if run else 1.0),
        layout=Layout.of(protocol),
        cost=cost or (run.cost if run else CallCost(note="no judge and no pilot was named")),
        in_flight=in_flight,
        simulations=simulations,
        seed=seed,
    )
    _check_model(ask, [*layouts])
    options = tuple(option(ask, K, L) for K, L in layouts)
    best = recommended(ask, options)
    careful = None
    if run and run.high is not None and jitter is None and items is None:
        careful = cautious(ask, options[best], run.high)
    measured = jitter is None and run is not None
    ends = (run.low, run.high) if measured and run else None
    return Answer(
        jitter=known,
        jitter_from=f"measured on {run.n_items} items of the pilot"
        if measured and run
        else "assumed",
        jitter_interval=None if ends is None or None in ends else ends,  # type: ignore[arg-type]
        effect=effect,
        within=within,
        items=items,
        alpha=alpha,
        power=power,
        design_effect=ask.design_effect,
        layout=ask.layout,
        options=options,
        recommended=best,
        cautious_items=careful,
        triple=None if effect is None else numbers.triple(known, effect, alpha=alpha, power=power),
        curve=curve(ask, options[best]),
        cost_note=ask.cost.note,
        simulations=simulations,
        seed=seed,
    )


def _pilot(path: Path | str, prices: Path | None) -> Pilot:
    from judgeaudit.engine.pilot import read_pilot
    from judgeaudit.engine.prices import read_prices
    from judgeaudit.engine.view import LedgerView

    ledger = Path(path) / "ledger.sqlite" if Path(path).is_dir() else Path(path)
    with LedgerView(ledger) as view:
        stated = {} if prices is None else read_prices(prices)
        judge = view.meta.judge
        price = stated.get(judge.model) or stated.get(f"{judge.backend}:{judge.model}")
        if prices is not None and price is None:
            raise ConfigError(
                f"no price of {judge.model!r}, the judge of the pilot",
                where=str(prices),
                mend=f"It lists {', '.join(sorted(stated)) or 'none'}",
            )
        return read_pilot(view, price)


def _default_protocol() -> Protocol:
    from judgeaudit.engine.presets import make_protocol
    from judgeaudit.policy import load_conditions

    return make_protocol("default", load_conditions().values())


def _check(
    jitter: float | None,
    run: Pilot | None,
    *,
    effect: float | None,
    within: float | None,
    items: int | None,
    alpha: float,
    power: float,
) -> None:
    if jitter is None and run is None:
        raise ConfigError(
            "how much the judge disagrees with itself is not known",
            mend="Name a pilot run (--pilot RUN), or assume a jitter (--jitter 0.05)",
        )
    for name, value in (
        ("effect", effect),
        ("within", within),
        ("alpha", alpha),
        ("power", power),
    ):
        if value is not None and not 0 < value < 1:
            raise ConfigError(
                f"{name} is {value:g}", mend="Give a fraction between 0 and 1: 0.05 is 5 points"
            )
    if items is not None and items < 2:
        raise ConfigError(f"items is {items}", mend="Give 2 or more")


def _check_model(ask: Ask, layouts: Sequence[tuple[int, int]]) -> None:
    if not 0 <= ask.jitter <= 0.25:
        raise ConfigError(
            f"the jitter is {ask.jitter:.3g}; plans are known from 0 to 0.25",
            mend="A judge that disagrees with itself more often than that is better steadied "
            "(temperature, prompt) before it is audited; --jitter 0.25 gives the nearest plan",
        )
    most = 1 - 2 * ask.jitter
    if ask.effect is not None and ask.effect > most:
        raise ConfigError(
            f"an effect of {ask.effect:g} cannot come on top of a jitter of {ask.jitter:.3g}",
            mend=f"It is {most:.3g} where every item flips",
        )
    if not layouts:
        raise ConfigError("no plan of calls is given")
    for K, L in layouts:
        if not (2 <= K <= 50 and 1 <= L <= 50):
            raise ConfigError(
                f"K = {K} and L = {L} cannot be planned for",
                mend="K is 2 to 50 base calls, L is 1 to 50 calls a condition",
            )
