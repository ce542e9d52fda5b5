"""Accuracy of judges without labels: Dawid and Skene's model for two labels, by EM.

It takes judges to err independently of each other given the true label. Judges of one kind share
their errors; what they share, the model takes for truth. The figures say what would follow from
independence, and are no substitute for labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats._types import FloatArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.intervals import t_quantile

__all__ = ["Latent", "latent_accuracy"]

Float2D = NDArray[np.float64]
Bool2D = NDArray[np.bool_]

_INDEPENDENT: Final = (
    "judges are taken to err independently given the truth; errors that they share pass for truth, "
    "and make all of them look better than they are"
)
_UPRIGHT: Final = (
    "which label is which is settled by taking judges to be better than chance on average"
)
_EDGE: Final = 1e-6
_STEPS: Final = 2000
_CLOSE: Final = 1e-9
_ALIKE: Final = 1e-3
_GROUPS: Final = 40
_RANDOM_STARTS: Final = 6
_DEPENDENT: Final = 0.03


@dataclass(frozen=True, slots=True)
class Latent:
    """Accuracy of each judge against a label that nobody saw.

    Parameters
    ----------
    prevalence : float
        Share of UNSAFE items.
    sensitivity, specificity, accuracy : array of float, shape (n_judges,)
        Chance that a judge says UNSAFE of an UNSAFE item, SAFE of a SAFE one, and either.
    intervals : tuple of Interval or Undefined
        Of the accuracies; delete-a-group jackknife over clusters. They hold under the model only.
    posterior : array of float, shape (n_items,)
        Chance that each item is UNSAFE, given all verdicts; the prevalence where there is none.
    converged : bool
        Whether EM came to rest.
    steps : int
        Steps of EM from the best start.
    starts, starts_alike : int
        Starts, and those that ended in the same likelihood.
    dependence : float
        Largest gap between how often two judges both say UNSAFE and how often the model has it;
        0 by construction for three judges without gaps.
    caveats : tuple of str
        Plain sentences that must stand with the figures.
    """

    prevalence: float
    sensitivity: FloatArray1D
    specificity: FloatArray1D
    accuracy: FloatArray1D
    intervals: tuple[Interval | Undefined, ...]
    posterior: FloatArray1D
    converged: bool
    steps: int
    starts: int
    starts_alike: int
    dependence: float
    caveats: tuple[str, ...]


@dataclass(slots=True)
class _Fit:
    share: float
    hit: FloatArray1D  # P(says UNSAFE | UNSAFE)
    alarm: FloatArray1D  # P(says UNSAFE | SAFE)
    posterior: FloatArray1D
    likelihood: float
    steps: int
    converged: bool


def _expect(yes: Float2D, no: Float2D, fit: _Fit) -> tuple[FloatArray1D, float]:
    one = np.log(fit.share) + yes @ np.log(fit.hit) + no @ np.log1p(-fit.hit)
    zero = np.log1p(-fit.share) + yes @ np.log(fit.alarm) + no @ np.log1p(-fit.alarm)
    both = np.logaddexp(one, zero)
    return np.exp(one - both), float(both.sum())


def _maximise(yes: Float2D, no: Float2D, posterior: FloatArray1D) -> _Fit:
    def rate(weight: FloatArray1D) -> FloatArray1D:
        top, bottom = weight @ yes, weight @ (yes + no)
        return np.clip((top + _EDGE) / (bottom + 2 * _EDGE), _EDGE, 1 - _EDGE)

    share = float(np.clip(posterior.mean(), _EDGE, 1 - _EDGE))
    return _Fit(share, rate(posterior), rate(1 - posterior), posterior, -np.inf, 0, False)


def _em(yes: Float2D, no: Float2D, posterior: FloatArray1D) -> _Fit:
    fit = _maximise(yes, no, posterior)
    before = -np.inf
    for step in range(1, _STEPS + 1):
        posterior, likelihood = _expect(yes, no, fit)
        fit = _maximise(yes, no, posterior)
        fit.likelihood, fit.steps = likelihood, step
        if likelihood - before <= _CLOSE * len(yes):
            fit.converged = True
            break
        before = likelihood
    return fit


def _upright(fit: _Fit) -> _Fit:
    """Name the classes so that judges, on average, are better than chance."""
    if float(np.mean(fit.hit - fit.alarm)) >= 0:
        return fit
    return _Fit(
        *(1 - fit.share, fit.alarm, fit.hit, 1 - fit.posterior),
        fit.likelihood,
        fit.steps,
        fit.converged,
    )


def latent_accuracy(
    chances: Float2D,
    there: Bool2D,
    clusters: IntArray1D,
    *,
    seed: int = 0,
    level: float = 0.95,
) -> Latent | Undefined:
    """Estimate how accurate judges are from their verdicts alone.

    Parameters
    ----------
    chances : array of float, shape (n_items, n_judges)
        Verdicts, 0 or 1, or shares of repeats: a judge counts once on an item, for its own repeats
        are anything but independent.
    there : array of bool, shape (n_items, n_judges)
        Where a judge has a verdict.
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    seed : int
        Seed of the random starts.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Latent or Undefined
        Undefined for fewer than three judges (two leave the model open), and where a judge, or
        all, always say the same.

    References
    ----------
    Dawid and Skene 1979, Applied Statistics 28; Hui and Walter 1980, Biometrics 36 (what is
    identified); decision note 0534.
    """
    used = there.any(axis=1)
    yes = np.where(there, chances, 0.0)[used]
    no = np.where(there, 1 - chances, 0.0)[used]
    if (why := _not_identified(yes, no)) is not None:
        return Undefined(why)
    n = len(yes)
    votes = (yes + no).sum(axis=1)
    majority = np.clip(yes.sum(axis=1) / votes, 0.02, 0.98)
    rng = np.random.default_rng(seed)
    by_judge = [
        np.where(yes[:, j] + no[:, j] > 0, yes[:, j], majority) for j in range(yes.shape[1])
    ]
    starts = [majority, *by_judge, *(rng.random(n) for _ in range(_RANDOM_STARTS))]
    fits = [_upright(_em(yes, no, start)) for start in starts]
    best = max(fits, key=lambda f: f.likelihood)
    alike = sum(best.likelihood - f.likelihood <= _ALIKE * max(1.0, n / 100) for f in fits)
    accuracy = _accuracy(best)
    posterior = np.full(len(chances), best.share)
    posterior[used] = best.posterior
    gap = _dependence(yes, no, best)
    return Latent(
        prevalence=best.share,
        sensitivity=best.hit,
        specificity=1 - best.alarm,
        accuracy=accuracy,
        intervals=_jackknife(yes, no, clusters[used], best, level),
        posterior=posterior,
        converged=best.converged,
        steps=best.steps,
        starts=len(fits),
        starts_alike=alike,
        dependence=gap,
        caveats=_caveats(best, yes.shape[1], alike, len(fits), gap),
    )


def _not_identified(yes: Float2D, no: Float2D) -> str | None:
    if yes.shape[1] < 3:
        return "fewer than three judges: nothing tells which of two that differ is right"
    if not len(yes):
        return "no item has a verdict"
    overlapping = ((yes + no) > 0).sum(axis=1)
    if (overlapping >= 2).sum() == 0:
        return "no item was judged by two judges"
    constant = (yes.sum(axis=0) <= 0) | (no.sum(axis=0) <= 0)
    if constant.any():
        number = int(np.count_nonzero(constant))
        return f"{number} of {yes.shape[1]} judges always say the same (or nothing)"
    return None


def _accuracy(fit: _Fit) -> FloatArray1D:
    return np.asarray(fit.share * fit.hit + (1 - fit.share) * (1 - fit.alarm))


def _dependence(yes: Float2D, no: Float2D, fit: _Fit) -> float:
    """Compare pairs of judges with what the model expects of them, on items that both have."""
    there, worst = (yes + no) > 0, 0.0
    for a in range(yes.shape[1]):
        for b in range(a):
            both = there[:, a] & there[:, b]
            if not both.any():
                continue
            seen = float(np.mean(yes[both, a] * yes[both, b]))
            share = float(fit.posterior[both].mean())
            made = share * fit.hit[a] * fit.hit[b] + (1 - share) * fit.alarm[a] * fit.alarm[b]
            worst = max(worst, abs(seen - float(made)))
    return worst


def _jackknife(
    yes: Float2D, no: Float2D, clusters: IntArray1D, best: _Fit, level: float
) -> tuple[Interval | Undefined, ...]:
    index = np.unique(clusters, return_inverse=True)[1].reshape(-1)
    groups = min(_GROUPS, int(index.max()) + 1)
    judges = yes.shape[1]
    if groups < 3:
        return tuple(Undefined("fewer than three clusters") for _ in range(judges))
    order = np.random.default_rng(0).permutation(int(index.max()) + 1) % groups
    group = order[index]
    found = []
    for g in range(groups):
        keep = group != g
        found.append(_accuracy(_upright(_em(yes[keep], no[keep], best.posterior[keep]))))
    parts = np.array(found)
    error = np.sqrt((groups - 1) / groups * np.sum((parts - parts.mean(axis=0)) ** 2, axis=0))
    centre = np.clip(_accuracy(best), _EDGE, 1 - _EDGE)
    half = t_quantile(0.5 + level / 2, groups - 1) * error / (centre * (1 - centre))
    logit = np.log(centre / (1 - centre))
    name = "delete-a-group jackknife over clusters, under the model"
    out: list[Interval | Undefined] = []
    for m, h in zip(logit.tolist(), half.tolist(), strict=True):
        out.append(Interval(_expit(m - h), _expit(m + h), level, name))
    return tuple(out)


def _expit(x: float) -> float:
    return 1 / (1 + math.exp(-min(700.0, max(-700.0, x))))


def _caveats(fit: _Fit, judges: int, alike: int, starts: int, gap: float) -> tuple[str, ...]:
    said = [_INDEPENDENT, _UPRIGHT]
    if judges == 3:
        said.append("three judges: any verdicts fit the model, so nothing can speak against it")
    elif gap > _DEPENDENT + len(fit.posterior) ** -0.5:
        said.append(
            f"two judges agree on UNSAFE {gap:.3f} more or less often than independent ones would"
        )
    if not fit.converged:
        said.append(f"EM had not come to rest after {fit.steps} steps")
    if alike < starts:
        said.append(f"{starts - alike} of {starts} starts ended elsewhere; the likeliest is shown")
    skewed = np.abs(np.concatenate([fit.hit, fit.alarm]) - 0.5) > 0.5 - 10 * _EDGE
    if skewed.any():
        said.append("a rate lies on its border, 0 or 1, where intervals are too narrow")
    return tuple(said)
