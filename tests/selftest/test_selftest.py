"""The self-test passes a sound instrument, and names the number that a broken one gets wrong."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from judgeaudit import selftest
from judgeaudit.cli.main import app
from judgeaudit.core.errors import ConfigError
from judgeaudit.core.table import VerdictTable
from judgeaudit.metrics import _view
from judgeaudit.selftest.engine import JUDGES, run_engine
from judgeaudit.selftest.simulate import simulate
from judgeaudit.selftest.worlds import CALLS, WORLDS, draw, sample
from judgeaudit.stats import pairs

FEW = ("--items", "60", "--tables-only", "-q")


def run(*words, code):
    done = CliRunner().invoke(app, ["selftest", *FEW, *map(str, words)])
    assert code == done.exit_code, (done.output, done.exception)
    return done.stdout


# -- five estimators that are known to be wrong ------------------------------------------------


def majority_flips(base, other):
    """Compare majority votes: the answer depends on the number of calls."""
    defined = (base.valid >= 1) & (other.valid >= 1)
    return pairs.only(
        ((2 * base.unsafe > base.valid) != (2 * other.unsafe > other.valid)) * 1.0, defined
    )


def any_disagreement(counts):
    """Say 1 where any two of K calls disagree: grows with K."""
    defined = counts.valid >= 2
    return pairs.only(((counts.unsafe > 0) & (counts.unsafe < counts.valid)) * 1.0, defined)


def plug_in(counts):
    """2p(1-p) with the observed p: too small by (K-1)/K."""
    p = pairs.rate(counts)
    return pairs.only(2 * p.values * (1 - p.values), counts.valid >= 2)


def test_majority_votes_are_caught(monkeypatch):
    monkeypatch.setattr(pairs, "flips", majority_flips)
    monkeypatch.setitem(_view._PAIRS, "flips", majority_flips)
    said = run("--judge", "sharpening", "--audits", 40, code=1)
    assert "FAIL  flip_rate certified is biased" in said
    assert "FAIL  delta_paper certified is biased" in said


@pytest.mark.parametrize("broken", [any_disagreement, plug_in])
def test_jitters_that_depend_on_the_number_of_calls_are_caught(monkeypatch, broken):
    monkeypatch.setattr(pairs, "jitter", broken)
    said = run("--judge", "noisy", "--audits", 60, code=1)
    assert "FAIL  jitter base is biased" in said
    assert "FAIL  delta_debiased certified is biased" in said


def test_intervals_that_ignore_clusters_are_caught(monkeypatch):
    alone = property(lambda self: np.arange(self.table.n_items))
    monkeypatch.setattr(_view.View, "clusters", alone)
    said = run("--judge", "clustered", "--audits", 60, code=1)
    assert "FAIL  delta_debiased T4 covers" in said
    assert " is biased" not in said


def test_failures_that_are_dropped_are_caught(monkeypatch):
    whole = VerdictTable.counts

    def dropped(self, condition):
        return dataclasses.replace(whole(self, condition), failed=np.zeros(self.n_items, np.int64))

    monkeypatch.setattr(VerdictTable, "counts", dropped)
    said = run("--judge", "fails_to_parse", "--audits", 30, code=1)
    assert "FAIL  outcome_rate T1 is biased" in said
    assert "[bounds_delta_paper] covers 0" in said


def test_failures_that_are_dropped_are_caught_in_the_engine(monkeypatch, tmp_path):
    """A parser that makes SAFE of what it cannot read."""
    from judgeaudit.core.records import Verdict
    from judgeaudit.judges import parsing

    real = parsing.parse

    def lenient(reply):
        found = real(reply)
        return found if found.label else Verdict(outcome="verdict", label="SAFE")

    monkeypatch.setattr(parsing, "parse", lenient)
    found = {c.name: c for c in run_engine("fails_to_parse", tmp_path / "run")}
    assert not found["answers recorded as given"].passed
    assert not found["outcome_rate counts every failure"].passed


# -- a sound one -------------------------------------------------------------------------------


def test_what_is_sound_passes_and_says_so(tmp_path):
    words = ("--judge", "clustered", "--judge", "fails_to_parse", "--audits", 20)
    said = run(*words, "--out", tmp_path / "c.md", "--keep", tmp_path / "k", code=0)
    assert "numbers hold on 2 planted judges" in said
    page = (tmp_path / "c.md").read_text("utf-8")
    assert "judgeaudit selftest --items 60 --audits 20" in page
    assert "Findings beyond noise: 0" in page
    kept = (tmp_path / "k").read_text("utf-8")
    found = json.loads(run(*words, "--json", "--keep", tmp_path / "k", code=0))
    assert kept == (tmp_path / "k").read_text("utf-8")  # nothing was simulated again
    assert found["passed"]
    assert len(kept.splitlines()) == len(found["rows"])


@pytest.mark.parametrize("judge", ["brittle_t4", "fails_to_parse", "drifting"])
def test_planted_judges_pass_through_the_engine(judge, tmp_path):
    checks = run_engine(judge, tmp_path / "run", seed=1)
    assert [] == [c for c in checks if not c.passed]
    assert len(JUDGES[judge]) + 2 == len(checks)


def test_every_character_that_was_asked_for_is_there():
    assert set(JUDGES) | set(WORLDS) >= {
        *("quiet", "noisy", "brittle_t4", "sharpening", "threshold_blind", "ignores_policy"),
        *("constant", "fails_to_parse", "clustered", "drifting"),
    }


def test_a_drift_in_blocks_would_be_seen():
    """The planted drift is there: without interleaving, late calls differ from early ones."""
    world = WORLDS["drifting"]
    rng = np.random.default_rng(0)
    items = draw(world, 400, rng)
    table, _ = sample(world, items, rng)
    base = table.codes[:, 0, : CALLS["base"]]
    settled = np.isin(items.chances["base"], (0.0, 1.0))
    wrong = np.mean(base[settled] != items.chances["base"][settled, None])
    assert pytest.approx(world.drift / 2, abs=0.03) == wrong


def test_the_same_seed_gives_the_same_rows():
    assert simulate("quiet", 30, 3, seed=4) == simulate("quiet", 30, 3, seed=4)
    assert simulate("quiet", 30, 3, seed=4) != simulate("quiet", 30, 3, seed=5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--judge", "quite"), "did you mean 'quiet'"),
        (("--audits", 1), "2 or more"),
    ],
)
def test_wrong_words_are_refused(words, message):
    done = CliRunner().invoke(app, ["selftest", *FEW, *map(str, words)])
    assert isinstance(done.exception, ConfigError)
    assert message in str(done.exception)


def test_kept_cells_of_another_size_are_refused(tmp_path):
    run("--judge", "quiet", "--audits", 2, "--keep", tmp_path / "k", code=0)
    with pytest.raises(ConfigError, match="of 2 audits, not of 3"):
        selftest.run(selftest.Size((60,), 3), engine=False, keep=tmp_path / "k")
    (tmp_path / "k").write_text("nonsense\n")
    with pytest.raises(ConfigError, match="not a row"):
        selftest.run(selftest.Size((60,), 3), engine=False, keep=tmp_path / "k")


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("n", selftest.FULL.items)
@pytest.mark.parametrize("judge", WORLDS)
def test_every_interval_of_a_card_covers(judge, n):
    """500 audits a cell; fewer where JUDGEAUDIT_AUDITS says so. docs/coverage.md has the table."""
    audits = int(os.environ.get("JUDGEAUDIT_AUDITS", selftest.FULL.audits))
    rows = simulate(judge, n, audits)
    assert [] == [r.name for r in rows if r.is_biased]
    assert [] == [(r.name, r.coverage) for r in rows if r.fails_to_cover]


def test_the_page_of_the_docs_is_made_by_the_command():
    page = (Path(__file__).resolve().parents[2] / "docs/coverage.md").read_text("utf-8")
    assert "Made by `judgeaudit selftest" in page
    for name in WORLDS:
        assert f"- `{name}`: " in page
