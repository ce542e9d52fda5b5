"""The paper's confirmation: GEE logistic regression on pairs of calls.

Outcome: the pair disagrees. Regressor: the pair is a cross pair (base call, condition call) or a
base pair. Groups: clusters, with exchangeable working correlation. It tests delta_paper = 0 on the
logit scale. (With the verdict as outcome it would test the signed shift, in which symmetric flips
cancel.) Needs the extra `gee`.
"""

from __future__ import annotations

import importlib.util
import warnings
from dataclasses import dataclass

import numpy as np

from judgeaudit.core.table import Counts
from judgeaudit.stats._types import FloatArray1D, IntArray1D, Undefined
from judgeaudit.stats.bootstrap import MINIMUM_CONTRIBUTING
from judgeaudit.stats.intervals import normal_quantile

__all__ = ["GeeResult", "gee_pairs"]


@dataclass(frozen=True, slots=True)
class GeeResult:
    """Log odds ratio of disagreement, cross pairs against base pairs.

    Parameters
    ----------
    log_odds_ratio : float
        Above 0 where the condition adds disagreement.
    low, high : float
        Wald interval from the robust standard error.
    level : float
        Its confidence level.
    p_value : float
        Two-sided, null: the log odds ratio is 0 (delta_paper = 0).
    n_pairs : int
        Rows of the regression.
    """

    log_odds_ratio: float
    low: float
    high: float
    level: float
    p_value: float
    n_pairs: int


def gee_pairs(
    base: Counts,
    other: Counts,
    clusters: IntArray1D,
    *,
    level: float = 0.95,
) -> GeeResult | Undefined:
    """Fit the regression over the items with two base verdicts and one under the condition.

    Parameters
    ----------
    base, other : Counts
        Under base and under the condition, arrays of shape (n_items,).
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    level : float
        Two-sided confidence level.

    Returns
    -------
    GeeResult or Undefined
        Undefined where statsmodels is missing, where one kind of pair always or never disagrees
        (the odds ratio is then infinite or not defined), where fewer than ten clusters hold a pair
        that disagrees, and where the fit does not converge.

    References
    ----------
    Liang and Zeger 1986, Biometrika 73; estimators.md, section 4.
    """
    if importlib.util.find_spec("statsmodels") is None:
        return Undefined("statsmodels is not installed: pip install 'judgeaudit[gee]'")
    used = (base.valid >= 2) & (other.valid >= 1)
    s, K = base.unsafe[used], base.valid[used]
    t, L, clusters = other.unsafe[used], other.valid[used], clusters[used]
    cross, within = K * L, K * (K - 1) // 2
    cross_apart, within_apart = s * (L - t) + t * (K - s), s * (K - s)
    for name, apart, pairs in (("cross", cross_apart, cross), ("base", within_apart, within)):
        if apart.sum() in (0, pairs.sum()):
            word = "never disagrees" if apart.sum() == 0 else "always disagrees"
            return Undefined(f"a {name} pair {word}")
    contributing = np.unique(clusters[cross_apart + within_apart > 0]).size
    if contributing < MINIMUM_CONTRIBUTING:
        # the robust error rests on clusters: two items alone would give p = .02
        return Undefined(f"fewer than {MINIMUM_CONTRIBUTING} contributing clusters")
    times = np.column_stack((cross_apart, cross - cross_apart, within_apart, within - within_apart))
    outcome = np.repeat(np.tile([1.0, 0.0, 1.0, 0.0], s.size), times.reshape(-1))
    is_cross = np.repeat(np.tile([1.0, 1.0, 0.0, 0.0], s.size), times.reshape(-1))
    groups = np.repeat(clusters, cross + within)
    order = np.argsort(groups, kind="stable")
    return _fit(outcome[order], is_cross[order], groups[order], level)


def _fit(
    outcome: FloatArray1D, is_cross: FloatArray1D, groups: IntArray1D, level: float
) -> GeeResult | Undefined:
    from statsmodels.genmod.cov_struct import Exchangeable
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_estimating_equations import GEE

    design = np.column_stack((np.ones(outcome.size), is_cross))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # non-convergence is read from the result below
        try:
            fit = GEE(outcome, design, groups, family=Binomial(), cov_struct=Exchangeable()).fit(
                maxiter=100
            )
        except (np.linalg.LinAlgError, ValueError, FloatingPointError) as error:
            return Undefined(f"the regression failed: {error}")
    at, spread = float(fit.params[1]), float(fit.bse[1])
    if not fit.converged or not np.isfinite([at, spread]).all() or spread <= 0:
        return Undefined("the regression did not converge")
    half = normal_quantile(0.5 + level / 2) * spread
    return GeeResult(at, at - half, at + half, level, float(fit.pvalues[1]), outcome.size)
