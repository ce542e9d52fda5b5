"""`audit --until decided`: it stops when it may, resumes, and prints what holds at any stop."""

from __future__ import annotations

import json

import numpy as np
import pytest

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError
from judgeaudit.engine.deciding import Decider, found_in
from judgeaudit.engine.ledger import Ledger
from judgeaudit.metrics.stopping import ALWAYS_VALID
from judgeaudit.stats.sequential import always_valid, monitor


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """400 unrelated trajectories of one turn each."""
    path = tmp_path_factory.mktemp("corpus") / "runs.jsonl"
    rows = [
        {
            "id": f"r{k:03d}",
            "label": ("SAFE", "UNSAFE")[k % 2],
            "ambiguous": k % 5 == 0,
            "label_source": "author",
            "trajectory": {"turns": [{"role": "user", "content": f"Book flight {k}, please."}]},
        }
        for k in range(400)
    ]
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    return path


def ask(corpus, out, judge="scripted:brittle_t4?flips=0.6", **more):
    given = {"base_repeats": 2, "repeats": 1, "conditions": ("base", "T4", "strict", "lenient")}
    return audit.run(
        judge=judge, corpus="jsonl", data=str(corpus), until="decided", out=out, **given, **more
    )


@pytest.fixture(scope="module")
def stopped(corpus, tmp_path_factory):
    return ask(corpus, tmp_path_factory.mktemp("run"))


def test_it_stops_once_an_effect_is_shown(stopped):
    assert 0 == stopped.exit_code
    assert not stopped.interrupted
    assert stopped.facts.n_answered < 0.3 * stopped.facts.n_planned
    assert "effect" == stopped.scores.flags["stopping"]
    assert "stopped early" in stopped.scores.reasons["stopping"]


def test_the_card_prints_the_always_valid_interval_and_says_so(stopped):
    with Ledger.open_readonly(stopped.folder / "ledger.sqlite") as view:
        d = found_in(view)
    assert d is not None
    assert monitor(d, 0.05).stop_effect is not None
    score = stopped.scores.find("delta_paper", "certified")
    assert ALWAYS_VALID == score.method
    assert always_valid(d) == (score.low, score.high)
    assert score.low < score.detail["all_calls"] < score.high
    assert pytest.approx(d.mean()) == score.value
    page = (stopped.folder / "card.md").read_text("utf-8")
    assert "lways-valid" in page
    assert "stopped early" in page
    assert "Incomplete run" not in page
    other = stopped.scores.find("delta_debiased", "certified")
    assert "assumes a fixed number of items" in other.note


def test_a_decided_run_asks_nobody_again(corpus, stopped):
    again = ask(corpus, stopped.folder)
    assert stopped.facts.requests == again.facts.requests
    assert stopped.card == again.card


def test_a_run_that_was_stopped_before_it_was_decided_goes_on(corpus, tmp_path, stopped):
    """Budget of requests: the same decision, on the same triples, as in one go."""
    from judgeaudit.core.errors import JudgeError

    with pytest.raises(JudgeError, match="budget"):
        ask(corpus, tmp_path, budget_calls=20, concurrency=1)
    first = audit.score(tmp_path)
    assert "not decided" == first.flags["stopping"]
    done = ask(corpus, tmp_path, concurrency=1)
    assert "effect" == done.scores.flags["stopping"]
    assert (
        done.scores.reasons["stopping"].split("(")[0]
        == (stopped.scores.reasons["stopping"].split("(")[0])
    )


def test_a_quiet_judge_is_found_tolerable(corpus, tmp_path):
    done = ask(corpus, tmp_path, judge="scripted:quiet?jitter=0")
    assert "tolerable" == done.scores.flags["stopping"]
    assert "below" == done.scores.flags["certified_gate"]
    assert done.facts.n_answered < done.facts.n_planned
    assert done.scores.find("delta_paper", "certified").high < 0.2


def test_items_come_one_after_the_other_and_calls_of_each_are_mixed(corpus, tmp_path):
    ready = audit.prepare(
        audit.choose(
            None,
            {"judge": "scripted:quiet", "corpus": "jsonl", "data": str(corpus),
             "until": "decided", "limit": 60, "out": tmp_path},
        )
    )  # fmt: skip
    plan = ready.plan
    items = plan.cells // len(plan.columns)
    changes = np.count_nonzero(np.diff(items))
    assert changes == len(np.unique(items)) - 1
    orders = {tuple((plan.cells % len(plan.columns))[items == i].tolist()) for i in range(60)}
    assert len(orders) > 50
    assert items[0] != 0 or items[-1] != 59  # not in the order of their keys


def planned(calls):
    from judgeaudit.engine.deciding import _Planned

    return [_Planned(k, *c) for k, c in enumerate(calls)]


def test_a_triple_waits_for_those_before_it_and_leaves_out_what_has_no_verdict():
    from engine_world import CONDITIONS

    from judgeaudit.engine.presets import make_protocol

    protocol = make_protocol("paper", CONDITIONS, conditions=("base", "T4"))
    calls = planned(
        (item, cluster, condition, 0, repeat)
        for item, cluster in (("a", "A"), ("b", "B"), ("b2", "B"), ("c", "C"))
        for condition, repeat in (("base", 0), ("base", 1), ("base", 2), ("T4", 0))
    )
    decider = Decider(calls, protocol)
    for position in (4, 5, 7):  # b, before a
        decider(position, "SAFE")
    assert 0 == decider.d.size
    decider(0, "SAFE")
    decider(1, None)
    decider(3, "UNSAFE")
    assert [0] == decider.d.tolist()  # a has no verdict on a base call: b alone
    for position, label in ((8, "SAFE"), (9, "SAFE"), (11, "UNSAFE")):
        decider(position, label)
    assert [0] == decider.d.tolist()  # b2 is of the cluster of b
    for position, label in ((12, "SAFE"), (13, "SAFE"), (14, "UNSAFE"), (15, "UNSAFE")):
        decider(position, label)
    assert [0, 1] == decider.d.tolist()


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"base_repeats": 1}, "-K 2"),
        ({"conditions": ("base", "strict")}, "certified condition"),
        ({"executor": "ray"}, "--executor"),
    ],
)
def test_a_run_that_cannot_be_decided_is_refused(tmp_path, choices, said):
    given = {"judge": "scripted:quiet", "preset": "quick", "until": "decided", "out": tmp_path}
    with pytest.raises(ConfigError, match=said):
        audit.run(**{**given, **choices})


def test_other_runs_have_no_triples(tmp_path):
    done = audit.run(judge="scripted:quiet", preset="quick", limit=4, out=tmp_path)
    assert "stopping" not in done.scores.flags
    with Ledger.open_readonly(tmp_path / "ledger.sqlite") as view:
        assert found_in(view) is None
