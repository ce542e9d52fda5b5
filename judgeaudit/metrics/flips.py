"""Raw flips and the signed shift: how far a condition's verdicts lie from those under base."""

from __future__ import annotations

from judgeaudit.metrics._estimate import Estimate, item_mean, to_score
from judgeaudit.metrics._registry import METRICS, Report
from judgeaudit.metrics._view import CERTIFIED, View
from judgeaudit.stats._types import IntArray1D
from judgeaudit.stats.pairs import ItemValues

__all__ = ["flip_rate", "flips", "shift", "signed_shift"]


def flip_rate(
    values: ItemValues, clusters: IntArray1D, *, level: float = 0.95, why: str = "no item"
) -> Estimate:
    """Share of (base call, condition call) pairs that differ, averaged over items.

    Contains jitter: a judge with no effect whatever has a flip rate equal to its jitter.

    Parameters
    ----------
    values : ItemValues
        Flips of each item (`stats.pairs.flips`), arrays of shape (n_items,).
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    level : float
        Confidence level.
    why : str
        The reason, should no item be defined.

    Returns
    -------
    Estimate
        Fraction of call pairs, 0 to 1, lower is steadier; Wilson's interval over clusters,
        widened to exact bounds.

    References
    ----------
    estimators.md, section 2.
    """
    return item_mean(values, clusters, level=level, why=why, interval="rare")


def signed_shift(
    values: ItemValues, clusters: IntArray1D, *, level: float = 0.95, why: str = "no item"
) -> Estimate:
    """How far a condition moves the UNSAFE rate, averaged over items.

    Parameters
    ----------
    values : ItemValues
        Shift of each item (`stats.pairs.shift`), arrays of shape (n_items,).
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    level : float
        Confidence level.
    why : str
        The reason, should no item be defined.

    Returns
    -------
    Estimate
        -1 to 1, positive where the condition makes the judge say UNSAFE more often; adjusted t.

    References
    ----------
    estimators.md, section 2.
    """
    return item_mean(values, clusters, level=level, why=why)


@METRICS.register("flip_rate")
def flips(view: View) -> Report:
    """Flip rate of each condition against base, and of the certified pool."""
    return Report(
        tuple(
            to_score(
                flip_rate(
                    view.pair("flips", condition),
                    view.clusters,
                    level=view.level,
                    why=view.lack("flips", condition),
                ),
                metric="flip_rate",
                condition=condition,
                unit="fraction of call pairs",
                better="lower",
                excluded=view.excluded(view.members(condition)),
            )
            for condition in (*(c.id for c in view.contrasts), CERTIFIED)
        )
    )


@METRICS.register("signed_shift")
def shift(view: View) -> Report:
    """Signed shift of each condition against base, and of the certified pool."""
    return Report(
        tuple(
            to_score(
                signed_shift(
                    view.pair("shift", condition),
                    view.clusters,
                    level=view.level,
                    why=view.lack("shift", condition),
                ),
                metric="signed_shift",
                condition=condition,
                unit="difference of UNSAFE rates",
                better="neither",
                excluded=view.excluded(view.members(condition)),
            )
            for condition in (*(c.id for c in view.contrasts), CERTIFIED)
        )
    )
