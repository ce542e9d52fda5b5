"""One server, one history, all through the command line: each change is named as what it is."""

from __future__ import annotations

import json

import pytest
from loopback import Loopback
from watch_world import cli, corpus, judge

from judgeaudit.policy import policy_path

N = 40
FLAGS = (
    *("--judge", "direct:loopback-1", "--corpus", "jsonl", "--quiet", "-K", 3, "-L", 1),
    *("--condition", "base", "--condition", "T2", "--condition", "strict"),
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Nights in the order of adding; and one of another revision of the data."""
    home = tmp_path_factory.mktemp("named")
    data = corpus(home / "items.jsonl", N)
    newer = corpus(home / "newer.jsonl", N, changed=frozenset({4, 5}))
    more = corpus(home / "more.jsonl", N + 2)
    policy = home / "own.toml"
    text = policy_path("agent_safety").read_text("utf-8")
    policy.write_text(text.replace('title = "', 'title = "Our ', 1), "utf-8")
    other = judge(wrong=lambda k: k % 4 == 0, waver=0.03, seed=4, model="loopback-2")
    nights = {
        "first": (judge(waver=0.03, seed=1), data),
        "noise": (judge(waver=0.03, seed=2), data),
        "policy": (judge(waver=0.03, seed=3), data, "--policy", policy),
        "revision": (judge(waver=0.03, seed=5), newer),
        "more": (judge(waver=0.03, seed=6), more, "--policy", policy),
        "model": (other, data, "--policy", policy),
    }
    with Loopback(keep=False) as server:
        for name, (behaviour, items, *flags) in nights.items():
            server.behaviour = behaviour
            done = cli(
                *("audit", *FLAGS, "--api-base", server.api_base, "--data", items),
                *("--out", home / name, *flags),
            )
            assert 0 == done.exit_code, done.output
    return home


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "two", "verdict", "causes"),
    [
        ("first", "noise", "no change shown", {("noise", None)}),
        (
            "first",
            "policy",
            "no change shown",
            {("policy", "content of the policy"), ("noise", None)},
        ),
        ("first", "revision", "no change shown", {("data", "text of items"), ("noise", None)}),
        ("policy", "model", "changed", {("judge", "served model")}),
    ],
)
def test_compare_names_it(runs, one, two, verdict, causes):
    found = json.loads(cli("compare", runs / one, runs / two, "--json").stdout)
    assert verdict == found["verdict"]
    told = {(c["kind"], None if c["kind"] == "noise" else c["what"]) for c in found["causes"]}
    assert causes <= told
    # nothing of another kind is named
    assert {kind for kind, _ in causes} == {kind for kind, _ in told}


@pytest.mark.slow
def test_a_history_names_it(runs, tmp_path):
    store = ("--store", tmp_path / "store")
    for k, name in enumerate(("first", "noise", "policy", "more"), 1):
        done = cli("history", "add", runs / name, *store)
        assert (0, f"night {k}") == (done.exit_code, done.stdout.strip())
        assert (4 if k == 1 else 0) == cli("history", "check", *store).exit_code
    assert 0 == cli("history", "add", runs / "model", *store).exit_code
    done = cli("history", "check", *store)
    assert 1 == done.exit_code
    assert "first alarm on night 5" in done.stdout
    assert "since night 5 another served model" in done.stdout
    made = json.loads(cli("history", "show", *store, "--json").stdout)
    new = {n["number"]: n["new"] for n in made["nights"]}
    assert [[], []] == [new[1], new[2]]
    assert "content of the policy" in new[3]
    assert {"set of items", "version of the corpus"} == set(new[4])
    assert {"served model", "set of items", "version of the corpus"} == set(new[5])
    refused = cli("history", "add", runs / "revision", *store)
    assert "has another text than in this history" in str(refused.exception)
    page = tmp_path / "trend.csv"
    assert 0 == cli("history", "page", *store, "--csv", page).exit_code
    assert "served model: loopback-1 -> loopback-2" in page.read_text("utf-8")
