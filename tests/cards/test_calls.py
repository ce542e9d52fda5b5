"""One account of calls, and failures that hang on the wording."""

from __future__ import annotations

import pytest
from card_runs import BRITTLE, KINDS, QUIET, numbers, run

from judgeaudit.cards.calls import account, failing, worst_failing
from judgeaudit.cards.lookup import Figures
from judgeaudit.stats.two_rates import fisher


def made(failed, base=300, **more):
    """60 items, 5 base calls and 2 a condition; `failed` by condition."""
    counts = {}
    for c in KINDS:
        total = base if c == "base" else 120
        bad = failed.get(c, {})
        counts[c] = {"verdict": total - sum(bad.values()), **bad}
    total = sum(sum(x.values()) for x in counts.values())
    scores = more.pop("scores", numbers(QUIET))
    flags = more.pop("flags", {})
    return run(scores, flags, **{"n_planned": total, "n_answered": total, **more}, outcomes=counts)


def figures(r):
    card = r.card()
    return Figures(card.facts, card.scores)


REWORDED = {c: {"unparseable": 30, "truncated": 6} for c in ("T1", "T2", "T4")}


def test_the_account_adds_up():
    told = account(figures(made(REWORDED)))
    assert told == (
        "1,500 planned, 1,500 answered: 1,392 with a verdict, 108 without (90 unparseable and "
        "18 truncated)"
    )
    assert account(figures(made({}))).endswith("1,500 with a verdict, 0 without")


def test_failures_under_rewordings_become_the_headline():
    r = made({"base": {"refusal": 3}, **REWORDED})
    got = r.card().headline
    assert (got.code, got.stance) == ("wording_decides_answer", "do_not_use")
    assert "108 of 360 calls end without a verdict under the rewordings T1, T2 and T4, and" in (
        got.sentence
    )
    assert "Calls without a verdict" in r.md
    assert "depends on wording" in r.md


def test_a_shown_effect_on_verdicts_comes_first_and_the_failures_stay_a_warning():
    r = made(REWORDED, scores=numbers(BRITTLE, pis=(0.3, 0.1, 0.38)), flags={"band": "fragile"})
    assert r.card().headline.code != "wording_decides_answer"
    (told,) = [w for w in r.card().warnings if w.code == "wording_decides_answer"]
    assert told.severity == "serious"


def test_even_failures_are_no_finding():
    even = {c: {"unparseable": 12} for c in ("T1", "T2", "T4", "T3")}
    f = figures(made({"base": {"unparseable": 30}, **even}))
    assert failing(f)
    assert worst_failing(f) is None


def test_a_difference_within_the_threshold_is_no_finding():
    few = {c: {"unparseable": 5} for c in ("T1", "T2", "T4")}
    f = figures(made(few))
    assert failing(f)[0].p < 0.05
    assert worst_failing(f) is None


def test_broken_lines_are_not_the_judges_doing():
    f = figures(made({c: {"error": 36} for c in ("T1", "T2", "T4")}))
    assert {x.n for x in failing(f)} == {0}
    assert worst_failing(f) is None


@pytest.mark.parametrize("change", [{"n_planned": 1600}, {"base": 299}])
def test_a_run_with_missing_calls_is_not_tested(change):
    assert failing(figures(made(REWORDED, **change))) == []


def test_p_values_are_fishers_after_holms_correction():
    found = {x.condition: x for x in failing(figures(made({"T4": {"refusal": 12}})))}
    raw = fisher(12, 120, 0, 300)
    assert found["T4"].p == pytest.approx(len(found) * raw)
    assert found["T1"].p == 1.0


def test_fishers_test_is_silent_enough_where_items_differ():
    """The claim of `failing`: items that always fail make the test more cautious, not less."""
    import numpy as np

    rng = np.random.default_rng(5)
    rejected, rounds = 0, 400
    chance = np.where(np.arange(24) < 8, 0.9, 0.05)
    for _ in range(rounds):
        base, other = rng.binomial(3, chance).sum(), rng.binomial(6, chance).sum()
        rejected += fisher(int(other), 144, int(base), 72) <= 0.05
    assert rejected / rounds <= 0.05
