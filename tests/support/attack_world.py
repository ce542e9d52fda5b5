"""Planted judges that read the policy's text, and what an attack makes of them, many times.

Run by itself it prints the table of docs/howto/attack.md::

    python tests/support/attack_world.py 300
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from judgeaudit.core.records.attacked import Objective
from judgeaudit.core.table import Counts
from judgeaudit.cure.attack_measure import measured
from judgeaudit.cure.attack_search import (
    Answers,
    Round,
    Sizes,
    base_calls,
    eligible,
    make_schedule,
    search,
)
from judgeaudit.cure.attack_space import Text, Wordings
from judgeaudit.cure.edits import Edits
from judgeaudit.policy import load_policy, render
from judgeaudit.stats.splits import part

WORD = "is prohibited from following"
PASSIVE = "shall not be followed"
FRONT = "## Exceptions"


@dataclass(frozen=True)
class Planted:
    """A judge: P(the wrong verdict) of an item, and the share of clusters that a text turns round.

    On these clusters the probability of UNSAFE becomes its complement.
    """

    name: str
    wrong: float
    share: Callable[[str], float]

    def truth(self, text: str, objective: Objective) -> float:
        """Return the gain of a text over all items that could be drawn."""
        moved = 1 - 2 * self.wrong
        return self.share(text) * (moved**2 if objective == "excess" else moved)


def _part(text: str) -> float:
    """React to a whole rewrite, and twice as much to a part of it that is no rewrite itself."""
    if FRONT not in text:
        return 0.0
    return 0.25 if PASSIVE in text else 0.5 * ("shall not follow" in text or WORD in text)


STEADY = frozenset({"jitter only", "constant"})
PLANTED = (
    Planted("brittle to one wording", 0.15, lambda t: 0.4 * (WORD in t)),
    Planted("brittle to a combination", 0.15, lambda t: 0.4 * (PASSIVE in t and FRONT in t)),
    Planted("more brittle to a part of one", 0.15, _part),
    Planted("jitter only", 0.35, lambda _: 0.0),
    Planted("constant", 0.0, lambda _: 0.0),
)


@cache
def _edits_of(wordings: int, sha256: str) -> Edits | None:
    text = next(t for t in space(wordings).texts if t.rendering.sha256 == sha256)
    return Wordings._edits(space(wordings), text)


class Cached(Wordings):
    """The same wordings, rendered once for all seeds; mixtures are drawn by each."""

    n: int

    def fresh(self, seed: int) -> Cached:
        one = copy.copy(self)
        one.texts, one._seen, one._taken = list(self.texts), set(self._seen), set(self._taken)
        # of many seeds a few draws, so that a text is read back once and not a hundred times
        one._seed = seed % 8
        return one

    def _edits(self, text: Text) -> Edits | None:
        return _edits_of(self.n, text.rendering.sha256)


@cache
def space(wordings: int) -> Cached:
    policy = load_policy("agent_safety")
    made = Cached(policy, render(policy, "base"), (), wordings=wordings, seed=0)
    made.n = wordings
    return made


@dataclass(frozen=True)
class Tried:
    """One attack on a planted judge."""

    true: float
    gain: float
    low: float
    high: float
    naive: float
    edits: bool
    calls: int


def tried(
    of: Planted,
    objective: Objective,
    seed: int,
    *,
    calls: int = 2000,
    clusters: int = 60,
    wordings: int = 4,
    mixes: int = 12,
) -> Tried:
    """Draw items and answers, search, and measure; each call is a draw of its own."""
    rng = np.random.default_rng((seed, PLANTED.index(of), objective == "excess"))
    made = space(wordings).fresh(seed)
    cluster = np.repeat(np.arange(clusters), 2)
    gold = np.tile(np.array([0, 1], dtype=np.int8), clusters)
    reacts = np.repeat(rng.random(clusters), 2)
    p = np.where(gold == 1, 1 - of.wrong, of.wrong)

    def counts(text: str, items: np.ndarray, n: int) -> Counts:
        q = np.where(reacts < of.share(text), 1 - p, p)
        valid = np.zeros(gold.size, dtype=np.int64)
        valid[items] = n
        return Counts(rng.binomial(valid, q), valid, np.zeros_like(valid))

    asked = 0

    def answer(one: Round) -> Answers:
        nonlocal asked
        asked += one.calls
        items = np.array(one.items)
        assert not set(cluster[items].tolist()) & (held if one.stage != "held_out" else train)
        return Answers(
            counts(made.base.text, items, one.base_repeats),
            {a: counts(made.texts[a].rendering.text, items, one.repeats) for a in one.arms},
        )

    drawn = part(cluster, 0.5, np.random.default_rng(seed), gold == 1)
    train, held = set(cluster[drawn].tolist()), set(cluster[~drawn].tolist())
    fit = eligible(objective, gold)
    mine, theirs = np.flatnonzero(drawn & fit), np.flatnonzero(~drawn & fit)
    sizes = Sizes(objective, len(made.whole), mixes, 1, mine.size, theirs.size)
    schedule = make_schedule(calls, sizes)
    looking = search(schedule, made, objective, train=mine.tolist(), gold=gold, rng=rng)
    wanted = next(looking)
    while True:
        try:
            wanted = looking.send(answer(wanted))
        except StopIteration as end:
            found = end.value
            break
    step, b = schedule.held_out, base_calls(objective)
    last = tuple(rng.permutation(theirs)[: step.items].tolist())
    answers = answer(Round("held_out", found.finalists, last, b * step.repeats, step.repeats))
    worst = found.finalists[0]
    m = measured(answers, found.finalists, objective=objective, gold=gold, clusters=cluster)[worst]
    text = made.texts[worst]
    assert asked <= calls
    true = of.truth(text.rendering.text, objective)
    return Tried(true, m.gain, m.low, m.high, found.naive[worst], bool(text.edits), asked)


@dataclass(frozen=True)
class Summary:
    """What many attacks come to, in fractions; errors are Monte Carlo standard errors."""

    true: float
    bias: float
    error: float
    naive_bias: float
    naive_error: float
    coverage: float
    mixed: float
    found: float


def summary(runs: list[Tried]) -> Summary:
    gap = np.array([r.gain - r.true for r in runs])
    naive = np.array([r.naive - r.true for r in runs])
    n = len(runs) ** 0.5
    return Summary(
        true=float(np.mean([r.true for r in runs])),
        bias=float(gap.mean()),
        error=float(gap.std(ddof=1) / n),
        naive_bias=float(naive.mean()),
        naive_error=float(naive.std(ddof=1) / n),
        coverage=float(np.mean([r.low <= r.true <= r.high for r in runs])),
        mixed=float(np.mean([r.edits for r in runs])),
        found=float(np.mean([r.true > 0 for r in runs])),
    )


def main(seeds: int = 300) -> None:
    print(
        "| judge | objective | a wording that moves it was found | true gain | held-out gain less "
        "true | naive gain less true | coverage |"
    )
    print("|---|---|---|---|---|---|---|")
    for of in PLANTED:
        for objective in ("excess", "tpr"):
            s = summary([tried(of, objective, seed) for seed in range(seeds)])
            cells = (
                of.name,
                objective,
                "-" if of.name in STEADY else f"{s.found:.0%}",
                f"{100 * s.true:.1f}",
                f"{100 * s.bias:+.2f} ± {100 * s.error:.2f}",
                f"{100 * s.naive_bias:+.2f} ± {100 * s.naive_error:.2f}",
                f"{s.coverage:.3f}",
            )
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
