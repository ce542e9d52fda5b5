"""`nightly` through the command line, over HTTP: what is asked, how it ends, and what is named."""

from __future__ import annotations

import json
import re

import pytest
from loopback import Answer, Loopback, completion, error
from loopback_batch import BatchServer
from watch_world import cli, corpus, judge

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError
from judgeaudit.corpora.listed import read_keys, write_keys
from judgeaudit.policy import policy_path
from judgeaudit.watch import History
from judgeaudit.watch.anchors import read_anchors

N = 80
ASKED = ("--judge", "direct:loopback-1", "--corpus", "jsonl", "--quiet")


class World:
    """One server for all nights, a baseline over HTTP, and frozen anchors."""

    def __init__(self, server, home):
        self.server, self.home = server, home
        self.data = corpus(home / "items.jsonl", N)
        self.config = home / "once.toml"
        self.config.write_text("attempts = 1\n")
        self.anchors, self.store = home / "anchors.json", home / "store"
        audit.run(
            judge="direct:loopback-1",
            api_base=server.api_base,
            corpus="jsonl",
            data=str(self.data),
            out=home / "full",
            conditions=("base", "T2", "strict"),
            base_repeats=3,
            repeats=2,
        )
        self.frozen = cli(
            *("nightly", "freeze", home / "full", "--anchors", self.anchors),
            *("--drift", 0.15, "--store", self.store),
        )

    def night(self, name, behaviour, *more, data=None):
        self.server.behaviour = behaviour
        before = self.server.n_requests
        done = cli(
            *("nightly", "run", "--anchors", self.anchors, "--api-base", self.server.api_base),
            *("--data", data or self.data, "--out", self.home / name, *ASKED, *more),
        )
        path = self.home / name / "night.json"
        found = json.loads(path.read_text()) if path.exists() else None
        return done, found, self.server.n_requests - before


def kinds(found):
    return [(c["kind"], c["what"]) for c in found["causes"]]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with Loopback(judge(waver=0.04, seed=1)) as server:
        yield World(server, tmp_path_factory.mktemp("nightly"))


def test_anchors_are_frozen_and_foretold(world):
    assert 0 == world.frozen.exit_code, world.frozen.output
    assert re.search(
        r"\d+ anchors of 80 items, drawn by labels, and whether verdicts under T2 were split",
        world.frozen.stdout,
    )
    made = read_anchors(world.anchors)
    quiet, drifted = made.foretold
    assert (0.0, 0.15) == (quiet.planted, drifted.planted)
    assert drifted.fails >= 0.9
    assert quiet.passes >= 0.9
    assert quiet.fails <= 0.05
    # each stands for the items of its stratum: together, for the corpus
    assert pytest.approx(N) == sum(a.weight for a in made.anchors)
    # the first of its history, whatever nights came since
    assert str(world.home / "full") == History(world.store).nights()[0].run


def test_pure_noise_passes_and_is_named_noise(world):
    done, found, requests = world.night("quiet", judge(waver=0.04, seed=2), "--store", world.store)
    assert 0 == done.exit_code, done.output
    assert "pass: no change is shown, and one by 15 points is ruled out" in done.stdout
    assert ["noise"] == [kind for kind, _ in kinds(found)]
    # no wording was asked again, for no prompt changed
    assert ["T2", "strict"] == found["asked"]["unchanged"]
    assert requests == found["asked"]["calls"] == sum(x["calls"] for x in found["looks"][-1:])
    assert requests <= len(read_anchors(world.anchors).anchors)
    nights = History(world.store).nights()
    assert read_anchors(world.anchors).ends[0] == int((nights[-1].valid > 0).sum())
    again, _, more = world.night("quiet", judge(waver=0.04, seed=3), "--store", world.store)
    assert (0, 0) == (again.exit_code, more)
    assert "is night 2 already" in again.stderr


def test_a_served_model_that_changed_fails_early(world):
    other = judge(wrong=lambda k: k % 4 == 0, waver=0.04, seed=3, model="loopback-2")
    done, found, requests = world.night("other", other)
    assert 1 == done.exit_code
    assert [("judge", "served model")] == kinds(found)
    assert "audit in full" in done.stdout
    assert requests < N


def test_swaps_behind_the_same_name_fail_and_are_unexplained(world):
    swapped = judge(wrong=lambda k: k % 10 < 2, waver=0.04, seed=4)
    done, found, _ = world.night("swaps", swapped)
    assert 1 == done.exit_code
    assert ["unexplained"] == [kind for kind, _ in kinds(found)]


def test_only_changed_prompts_of_a_changed_policy_are_asked(world):
    policy = world.home / "own.toml"
    text = policy_path("agent_safety").read_text("utf-8")
    policy.write_text(text.replace('title = "', 'title = "Our ', 1), "utf-8")
    done, found, _ = world.night("policy", judge(waver=0.04, seed=5), "--policy", policy)
    assert {"policy", "noise"} == {kind for kind, _ in kinds(found)}, done.output
    assert {"T2", "strict"} == {r["condition"] for r in found["reworded"]}
    assert not any(r["moved"] for r in found["reworded"])
    assert 0 == done.exit_code


def test_a_changed_revision_of_the_data_is_named_and_left_out(world):
    newer = corpus(world.home / "newer.jsonl", N - 1, changed=frozenset(range(0, 20, 5)))
    done, found, _ = world.night("data", judge(waver=0.04, seed=6), data=newer)
    assert "data" in {kind for kind, _ in kinds(found)}, done.output
    assert "text of items" in {what for _, what in kinds(found)}
    assert "judge" not in {kind for kind, _ in kinds(found)}
    assert 1 != done.exit_code


def test_too_few_anchors_are_told_off_and_end_inconclusive(world):
    few = world.home / "few.json"
    made = cli(
        *("nightly", "freeze", world.home / "full", "--anchors", few, "--items", 8),
        *("--drift", 0.05),
    )
    assert "TOO FEW items for a power of 90%" in made.stdout
    world.server.behaviour = judge(waver=0.04, seed=8)
    done = cli(
        *("nightly", "run", "--anchors", few, "--api-base", world.server.api_base, "--md"),
        *("--data", world.data, "--out", world.home / "few", *ASKED),
    )
    assert 4 == done.exit_code
    assert "one by 5 points is not ruled out" in done.stdout
    assert done.stdout.startswith("## Night")


def test_answers_without_a_verdict_never_pass(world):
    done, found, _ = world.night("mute", lambda *_: Answer(body=completion("I cannot say")))
    assert 4 == done.exit_code, done.output
    assert 0 == found["looks"][-1]["anchors"]


def test_a_server_that_is_down_is_an_error_and_no_verdict(world):
    done, found, _ = world.night(
        "down", lambda *_: error(500, "down", None), "--config", world.config
    )
    assert found is None
    assert 3 == done.exception.exit_code


def test_a_night_in_the_providers_batches_ends_as_any_other(world, tmp_path):
    config = tmp_path / "audit.toml"
    config.write_text("batch = true\nbatch_interval = 0.05\n")
    with BatchServer(judge(waver=0.04, seed=9)) as server:
        done = cli(
            *("nightly", "run", "--anchors", world.anchors, "--api-base", server.api_base),
            *("--data", world.data, "--out", tmp_path / "night", *ASKED, "--config", config),
        )
    assert 0 == done.exit_code, done.output
    assert "frozen anchors, in batches" in done.stdout
    found = json.loads((tmp_path / "night/night.json").read_text())
    assert found["asked"]["in_batches"]
    assert found["asked"]["calls"] == len(server.asked)
    assert 0 == len(server.single)
    assert len(found["looks"]) == len(server.batches)


def test_only_listed_items_are_asked(world, tmp_path):
    listed = tmp_path / "items.txt"
    frozen = read_anchors(world.anchors)
    write_keys(listed, frozen.keys[:3])
    run = audit.run(
        judge="scripted:quiet", corpus="jsonl", data=str(world.data), preset="nightly",
        only_items=listed, out=tmp_path / "run",
    )  # fmt: skip
    assert 3 == run.facts.n_answered == run.facts.corpus.n_items
    assert any("3 of 80 items were named in a list" in n for n in run.facts.corpus.notes)
    listed.write_text("nobody\n# a comment\n")
    done = cli("audit", "--corpus", "jsonl", "--data", world.data, "--only-items", listed)
    assert "1 of 1 listed items are not in the corpus: 'nobody'" in str(done.exception)
    done = cli(
        *("audit", "--corpus", "jsonl", "--data", world.data, "--only-items", listed),
        *("--limit", 4),
    )
    assert "a limit of 4 items, and a list" in str(done.exception)
    write_keys(listed, odd := ["a b", " x", '"q"', "#h", "l\nn", "\ud800"])
    assert tuple(odd) == read_keys(listed)


def test_what_cannot_be_used_is_refused(world, tmp_path):
    none = cli("nightly", "run", "--anchors", tmp_path / "none.json", *ASKED)
    assert isinstance(none.exception, ConfigError)
    assert "nightly freeze" in str(none.exception)
    (tmp_path / "bad.json").write_text("{}")
    bad = cli("nightly", "run", "--anchors", tmp_path / "bad.json", *ASKED)
    assert "holds no frozen anchors" in str(bad.exception)
    other = corpus(tmp_path / "other.jsonl", 3)
    other.write_text(other.read_text().replace("run-", "else-"))
    done, _, _ = world.night("gone", judge(), data=other)
    assert "none of the frozen anchors" in str(done.exception)
