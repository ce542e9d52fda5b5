"""Use for, not for, do next: by rules, on planted judges of real runs and on hand-made ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from card_runs import BRITTLE, CASES, QUIET, facts, numbers, run, s

from judgeaudit import cards
from judgeaudit.cards.advice import advice
from judgeaudit.cards.korean import korean
from judgeaudit.cards.lookup import Figures

PUBLISHED = Path(__file__).resolve().parents[2] / "judge_cards" / "published"


def advised(card):
    return advice(Figures(card.facts, card.scores))


def planted(name: str):
    path = min((PUBLISHED / name).rglob("card.json"))
    return advised(cards.from_json(path.read_text("utf-8")))


@pytest.mark.parametrize(
    ("name", "use", "avoid", "then"),
    [
        (
            "scripted-always_safe",
            "one answer to everything",
            "whatever it was asked",
            "raw replies",
        ),
        ("scripted-brittle_t4", "A first look", "differently worded policies", "flips under T4"),
        ("scripted-brittle_t4", "A first look", "worded policies", "freeze the policy's text"),
        ("scripted-fails_to_parse", "A first look", "passes unseen", "Mend the calls"),
        ("scripted-fails_to_parse", "A first look", "whether it answers (shown)", "of your own"),
        ("scripted-fails_to_parse", "A first look", "8 safe items cannot rule out 31%", "36"),
        ("scripted-ignores_policy", "before it is shown", "do not depend on the", "more items"),
        ("scripted-noisy", "A first look", "do not tell", "majority of several calls"),
        ("local-smollm2-135m", "being right", "Clearing items unseen", "more items than 8"),
        ("control", "being right", "Stopping items by itself", "more items"),
    ],
)
def test_planted_judges_get_their_lines(name, use, avoid, then):
    found = planted(name)
    assert use in found.use[-1]
    assert any(avoid in line for line in found.avoid), found.avoid
    assert any(then in line for line in found.then), found.then


def test_a_script_is_no_model_whatever_it_scores():
    assert planted("scripted-quiet").use[0].startswith("Trying out the audit")


def test_a_good_judge_may_watch_and_is_no_permission():
    found = advised(CASES["good"]().card())
    assert found.use == (
        "Monitoring items like these under this policy, if the error rates below can be borne.",
    )
    assert found.avoid == ()


@pytest.mark.parametrize(
    ("most", "told"),
    [(0.21, ("Clearing items unseen: it misses 10% of 30 unsafe items",)), (0.19, ())],
)
def test_the_bound_decides_not_the_estimate(most, told):
    scores = [x for x in numbers(QUIET, pis=(0.9, 0.7, 1.0)) if x.metric != "missed_bound"]
    scores += [s("missed_bound", None, 0.1, 0.0, most, n_items=30)]
    found = advised(run(scores).card())
    assert tuple(line[:54] for line in found.avoid) == tuple(t[:54] for t in told)


def test_no_error_seen_is_not_no_error():
    scores = [x for x in numbers(QUIET) if x.metric != "false_alarm_bound"]
    none = s("false_alarm_bound", None, 0.0, 0.0, 0.312, n_items=8)
    found = advised(run([*scores, none]).card())
    expected = "Stopping items by itself: 8 safe items cannot rule out 31% false alarms (0 seen)."
    assert expected in found.avoid


def test_what_is_missing_allows_nothing():
    found = advised(run([]).card())
    assert found.use[0].startswith("Nothing")


def test_a_suspect_run_is_mended_first():
    found = advised(run(numbers(BRITTLE), {"placebo": "suspect"}).card())
    assert found.use == ("Nothing yet: the run itself cannot be trusted.",)
    assert found.then[0].startswith("Find the drift or the cache")


def test_clusters_wanted_follow_from_the_width():
    wide = numbers(QUIET, width=0.2)
    found = advised(run(wide, {"certified_gate": "inconclusive"}).card())
    # 48 clusters, half a width of 20 points against a threshold of 5: 16 times as many
    assert any("Audit about 770 groups of items (clusters) instead of 48" in x for x in found.then)


def test_more_items_are_not_asked_for_where_one_rewording_already_condemns():
    flags = {"certified_gate": "inconclusive"}
    found = advised(run(numbers(BRITTLE), flags).card())
    expected = "reject it: T4 (exceptions in front) alone is above the threshold of 5 points."
    assert [x for x in found.then if x.endswith(expected)]
    assert not [x for x in found.then if x.startswith("Audit")]


def test_a_corpus_that_is_too_small_is_said_to_be():
    own = facts().corpus.model_copy(update={"name": "mine"})
    flags = {"certified_gate": "inconclusive"}
    wide = numbers(QUIET, width=0.2)

    def told(**more):
        return advised(run(wide, flags, corpus=own, **more).card()).then[-1]

    assert told().endswith("This corpus has 48: you need one of your own.")
    part = {"command": "judgeaudit audit --corpus mine --limit 60"}
    assert told(extra=part).endswith("more than 5 verdicts in 100.")
    # of the sample it is known, whatever part was audited
    assert "This corpus has 36" in planted("scripted-quiet").then[0]


def test_every_line_is_korean(any_run):
    lines = [x for part in advised(any_run.card()) for x in part]
    for name in PUBLISHED.glob("*/*/card.json"):
        card = cards.from_json(name.read_text("utf-8"))
        lines += [x for part in advised(card) for x in part]
    assert [x for x in lines if korean(x) == x] == []
