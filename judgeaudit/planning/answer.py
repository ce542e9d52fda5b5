"""What the planner answers: plans of calls, and what each takes or shows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import Protocol
from judgeaudit.stats.planning import Triple

__all__ = ["Answer", "Layout", "Option"]


@dataclass(frozen=True, slots=True)
class Layout:
    """How many calls the conditions of an audit take.

    Parameters
    ----------
    certified : int
        Conditions that are pooled.
    others : int
        All other conditions that every item is asked under, base left out.
    controls : int
        Conditions that some items are asked under.
    control_items : int, optional
        How many; None: all.
    """

    certified: int
    others: int
    controls: int
    control_items: int | None

    @classmethod
    def of(cls, protocol: Protocol) -> Layout:
        """Read it off a protocol; each wording counts as a condition of its own."""
        kinds = [c.kind for c in protocol.conditions]
        worded = protocol.wordings
        certified = kinds.count("certified")
        if not certified:
            raise ConfigError(
                "no certified condition is among the conditions, so there is no effect to plan for"
            )
        others = (
            (worded - 1) * certified
            + worded * kinds.count("near")
            + kinds.count("placebo")
            + kinds.count("threshold")
        )
        return cls(certified, others, kinds.count("control"), protocol.control_items)

    def calls(self, items: int, K: int, L: int) -> int:
        """Count the calls of an audit."""
        under_controls = min(items, self.control_items) if self.control_items else items
        return items * (K + L * (self.certified + self.others)) + under_controls * L * self.controls


@dataclass(frozen=True, slots=True)
class Option:
    """One plan of calls, and what it takes or shows.

    Parameters
    ----------
    K, L : int
        Base calls, and calls under each other condition, an item.
    test, statistic : str
        What is tested.
    items : int
        Items: the larger number of what effect and precision need, or the given one.
    items_for_effect, items_within : int, optional
        Each of both; None where it was not asked for.
    bracket : tuple of int, optional
        Items in closed form, from too few to more than enough.
    power : float, optional
        Claimed power of finding the effect with `items_for_effect`.
    power_simulated : float, optional
        The same by a simulation of its own.
    detectable : float, optional
        Smallest effect of one condition that `items` show with the wanted power.
    half_width : float
        Expected half-width of the 95% interval of the pooled excess flip rate.
    calls : int
        Calls of the whole audit.
    cost_least, cost_most : float, optional
        US dollars.
    hours : float, optional
        With the stated number of calls in flight.
    """

    K: int
    L: int
    test: str
    statistic: str
    items: int
    items_for_effect: int | None
    items_within: int | None
    bracket: tuple[int, int] | None
    power: float | None
    power_simulated: float | None
    detectable: float | None
    half_width: float
    calls: int
    cost_least: float | None
    cost_most: float | None
    hours: float | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What was asked of the planner, and its answer."""

    jitter: float
    jitter_from: str
    jitter_interval: tuple[float, float] | None
    effect: float | None
    within: float | None
    items: int | None
    alpha: float
    power: float
    design_effect: float
    layout: Layout
    options: tuple[Option, ...]
    recommended: int
    cautious_items: int | None
    triple: Triple | None
    curve: tuple[tuple[int, float, float], ...]
    cost_note: str
    simulations: int
    seed: int

    @property
    def best(self) -> Option:
        """The recommended plan."""
        return self.options[self.recommended]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        out = asdict(self)
        out["curve"] = [
            {"items": n, "half_width": half, "power": power} for n, half, power in self.curve
        ]
        return out
