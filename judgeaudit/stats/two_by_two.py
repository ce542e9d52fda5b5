"""Agreement of two raters from the four counts of their table."""

from __future__ import annotations

from dataclasses import dataclass

from judgeaudit.stats._types import Undefined
from judgeaudit.stats.paired import PairedCounts

__all__ = ["TableAgreement", "agreement_of_table", "prevalence_note"]

_SAME = "only one category occurs: agreement beyond chance cannot be told from chance"


@dataclass(frozen=True, slots=True)
class TableAgreement:
    """Coefficients of agreement of two raters.

    Parameters
    ----------
    observed : float or Undefined
        Share of items on which both say the same.
    kappa, scott_pi, alpha : float or Undefined
        Cohen's, Scott's and Krippendorff's; undefined where one category occurs only.
    pabak, ac1 : float or Undefined
        2 P_o - 1, and Gwet's AC1.
    positive, negative : float or Undefined
        Agreement on the positive and on the negative category; undefined where it never occurs.
    """

    observed: float | Undefined
    kappa: float | Undefined
    scott_pi: float | Undefined
    alpha: float | Undefined
    pabak: float | Undefined
    ac1: float | Undefined
    positive: float | Undefined
    negative: float | Undefined


def agreement_of_table(table: PairedCounts) -> TableAgreement:
    """Compute the usual coefficients of agreement of a two-by-two table.

    Parameters
    ----------
    table : PairedCounts
        Items that both, only the first, only the second or neither rater calls positive.

    Returns
    -------
    TableAgreement
        Undefined throughout for no items.

    References
    ----------
    Cohen 1960; Scott 1955; Byrt et al. 1993; Gwet 2008; Cicchetti and Feinstein 1990;
    Krippendorff 2011; estimators.md, section 12.

    Examples
    --------
    >>> found = agreement_of_table(PairedCounts(2, 5, 5, 88))
    >>> round(found.observed, 3), round(found.kappa, 3), round(found.ac1, 3)
    (0.9, 0.232, 0.885)
    """
    a, b, c, d, n = table.both, table.first, table.second, table.neither, table.n
    if n == 0:
        why = Undefined("no items")
        return TableAgreement(*[why] * 8)
    observed = (a + d) / n
    p1, p2 = (a + b) / n, (a + c) / n
    share = (p1 + p2) / 2
    by_margins = p1 * p2 + (1 - p1) * (1 - p2)
    pooled = share**2 + (1 - share) ** 2
    chance = 2 * share * (1 - share)
    one_category = a + b + c == 0 or b + c + d == 0
    positives = 2 * a + b + c
    return TableAgreement(
        observed=observed,
        kappa=_beyond(observed, by_margins, one_category=one_category),
        scott_pi=_beyond(observed, pooled, one_category=one_category),
        alpha=Undefined(_SAME)
        if one_category
        # of 2n ratings, drawn without replacement
        else 1 - (2 * n - 1) * (b + c) / (positives * (2 * n - positives)),
        pabak=2 * observed - 1,
        ac1=(observed - chance) / (1 - chance),
        positive=2 * a / positives if positives else Undefined("no positive occurs"),
        negative=2 * d / (2 * n - positives)
        if positives < 2 * n
        else Undefined("no negative occurs"),
    )


def _beyond(observed: float, expected: float, *, one_category: bool) -> float | Undefined:
    if one_category:
        return Undefined(_SAME)
    return (observed - expected) / (1 - expected)


def prevalence_note(table: PairedCounts) -> str | None:
    """Say in plain words when a rare category makes kappa mislead; None where it does not.

    Parameters
    ----------
    table : PairedCounts
        The pairs.

    Returns
    -------
    str or None
        Where raters agree on at least 8 in 10 items, one category has at least 8 in 10 ratings,
        and kappa lies at least 0.2 below the AC1.

    Examples
    --------
    >>> prevalence_note(PairedCounts(45, 5, 5, 45)) is None
    True
    """
    found = agreement_of_table(table)
    if (
        isinstance(found.kappa, Undefined)
        or isinstance(found.ac1, Undefined)
        or isinstance(found.observed, Undefined)
    ):
        return None
    positives = (2 * table.both + table.first + table.second) / (2 * table.n)
    if found.observed < 0.8 or max(positives, 1 - positives) < 0.8:
        return None
    if found.ac1 - found.kappa < 0.2:
        return None
    return (
        f"one category has {max(positives, 1 - positives):.2f} of the ratings: much agreement is "
        f"then expected by chance, and kappa ({found.kappa:.2f}) is low although the raters agree "
        f"on {found.observed:.2f}; read positive and negative agreement beside it"
    )
