"""One plan of calls worked out: items, power, precision, price and time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from judgeaudit.core.errors import ConfigError
from judgeaudit.engine.pilot import CallCost
from judgeaudit.planning.answer import Layout, Option
from judgeaudit.stats import planning as numbers

__all__ = ["Ask", "cautious", "curve", "option", "recommended"]

_TEST: Final = {
    True: "exact McNemar test, single-shot triple",
    False: "exact test by convolution",
}


@dataclass(frozen=True, slots=True)
class Ask:
    """What all plans that are compared share; as of `plan`."""

    jitter: float
    effect: float | None
    within: float | None
    items: int | None
    alpha: float
    power: float
    design_effect: float
    layout: Layout
    cost: CallCost
    in_flight: int
    simulations: int
    seed: int

    def half(self, items: int, K: int, L: int) -> float:
        """Return the half-width to expect of the pooled excess flip rate."""
        return numbers.half_width(
            items,
            self.jitter,
            K,
            L,
            conditions=self.layout.certified,
            delta=self.effect or 0.0,
            design_effect=self.design_effect,
        )


def _rng(ask: Ask, *key: int) -> Any:
    import numpy as np

    return np.random.default_rng([ask.seed, *key])


def option(ask: Ask, K: int, L: int) -> Option:
    """Work one plan out."""
    sims, rng = ask.simulations, _rng(ask, 1, K, L) if ask.simulations else None
    alpha, power = ask.alpha, ask.power
    need = within = shown = simulated = None
    if ask.items is None and ask.effect is not None:
        need = numbers.needed_items(
            ask.jitter, ask.effect, K, L, rng=rng, alpha=alpha, power=power, simulations=sims
        )
    if ask.items is None and ask.within is not None:
        within = _within(ask, K, L)
    items = ask.items or max(need.n if need else 0, within or 0, 2)
    if ask.items is not None:
        shown = numbers.smallest_effect(
            items, ask.jitter, K, L, rng=rng, alpha=alpha, power=power, simulations=sims
        )
    if need and ask.effect and ask.simulations:
        simulated = _simulated(ask, need.n, K, L)
    calls = ask.layout.calls(items, K, L)
    cost = ask.cost
    return Option(
        K=K,
        L=L,
        test=_TEST[(K, L) == (2, 1)],
        statistic=numbers.statistic_of(L),
        items=items,
        items_for_effect=need.n if need else None,
        items_within=within,
        bracket=(need.low, need.high) if need else None,
        power=need.power if need else None,
        power_simulated=simulated,
        detectable=shown.effect if shown else None,
        half_width=ask.half(items, K, L),
        calls=calls,
        cost_least=None if cost.least is None else cost.least * calls,
        cost_most=None if cost.most is None else cost.most * calls,
        hours=None if cost.seconds is None else cost.seconds * calls / ask.in_flight / 3600,
    )


def _within(ask: Ask, K: int, L: int) -> int:
    assert ask.within is not None
    try:
        return numbers.items_within(
            ask.within,
            ask.jitter,
            K,
            L,
            conditions=ask.layout.certified,
            delta=ask.effect or 0.0,
            design_effect=ask.design_effect,
        )
    except ValueError as error:
        raise ConfigError(str(error), mend="Ask for less precision (--within)") from None


def _simulated(ask: Ask, n: int, K: int, L: int) -> float:
    """Simulate the power once more, with draws of its own."""
    assert ask.effect is not None
    rng, sims = _rng(ask, 2, K, L), 5 * ask.simulations
    if (K, L) == (2, 1):
        return numbers.triple_power(
            n, ask.jitter, ask.effect, rng, alpha=ask.alpha, simulations=sims
        )
    return numbers.power_at(
        n, ask.jitter, ask.effect, K, L, alpha=ask.alpha, rng=rng, simulations=sims
    )


def recommended(ask: Ask, options: Sequence[Option]) -> int:
    """Pick the fewest calls among the plans that define both excess flip rates.

    For given items: the smallest effect shown, where all plans cost what they cost.
    """
    order = range(len(options))
    both = [k for k in order if options[k].L >= 2] or list(order)
    if ask.items is None:
        return min(both, key=lambda k: options[k].calls)
    # the design's default where it is on offer: beyond it, more items beat more calls
    return next((k for k in both if (options[k].K, options[k].L) == (5, 2)), both[0])


def cautious(ask: Ask, best: Option, jitter: float) -> int | None:
    """Items at the upper limit of the pilot's jitter; closed forms, so on the safe side."""
    if jitter > 0.25 or (ask.effect or 0) > 1 - 2 * jitter:
        return None
    found = 0
    if ask.effect is not None:
        found = numbers.needed_items(
            jitter,
            ask.effect,
            best.K,
            best.L,
            alpha=ask.alpha,
            power=ask.power,
            rng=_rng(ask, 3) if ask.simulations else None,
            simulations=ask.simulations,
        ).n
    if ask.within is not None:
        found = max(
            found,
            numbers.items_within(
                ask.within,
                jitter,
                best.K,
                best.L,
                conditions=ask.layout.certified,
                delta=ask.effect or 0.0,
                design_effect=ask.design_effect,
            ),
        )
    return found


def curve(ask: Ask, best: Option) -> tuple[tuple[int, float, float], ...]:
    """Half-width and power of the recommended plan by items; power needs simulation."""
    effect = ask.effect or best.detectable or (ask.within and 1.5 * ask.within)
    if not ask.simulations or not effect:
        return ()
    shares = (0.25, 0.4, 0.6, 0.8, 1.0, 1.3, 1.7, 2.2)
    sizes = sorted({max(4, round(best.items * share)) for share in shares})
    rng = _rng(ask, 4)
    return tuple(
        (
            n,
            ask.half(n, best.K, best.L),
            numbers.power_at(
                n,
                ask.jitter,
                float(effect),
                best.K,
                best.L,
                alpha=ask.alpha,
                rng=rng,
                simulations=2 * ask.simulations,
            ),
        )
        for n in sizes
    )
