"""A history of nights: what is kept, what is refused, and when it raises an alarm."""

from __future__ import annotations

import json

import pytest
from history_world import GOLD, night
from watch_world import asked, cli, corpus, imported, judge

from judgeaudit import audit
from judgeaudit.cards import write
from judgeaudit.core.errors import ConfigError, LedgerError
from judgeaudit.watch import GateRules, History
from judgeaudit.watch.monitor import watch
from judgeaudit.watch.rehearse import rehearse
from judgeaudit.watch.rules import Bar, Regression
from judgeaudit.watch.sides import load


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Ten quiet nights, then one on which 6 of 60 verdicts are turned."""
    home = tmp_path_factory.mktemp("nights")
    history = History(home / "store")
    for k in range(10):
        history.add(load(night(home, f"n{k}", waver=(k, k + 10, 30))))
    history.add(load(night(home, "n10", turned=range(40, 46), waver=(30,))))
    return history


def test_a_quiet_judge_raises_no_alarm_and_a_change_does(store):
    found = watch(store)
    assert (1, 60, 11) == (found.baseline, found.n_anchors, found.first_alarm)
    quiet, last = found.nights[:10], found.nights[10]
    assert ["" for _ in quiet] == [n.alarm for n in quiet]
    assert "moved and worse" == last.alarm
    assert pytest.approx(6 / 60 - 2 / 3 / 60, abs=0.01) == last.worse
    assert last.worse_low < last.worse < last.worse_high
    assert "no fact of any night differs" in found.why


def test_the_command_exits_by_what_it_shows(store, tmp_path):
    assert 1 == cli("history", "check", "--store", store.folder).exit_code
    shown = cli("history", "show", "--store", store.folder)
    assert 0 == shown.exit_code
    assert "ALARM (moved and worse)" in shown.stdout
    made = json.loads(cli("history", "show", "--store", store.folder, "--json").stdout)
    assert 11 == made["first_alarm"]
    assert cli("history", "show", "--store", store.folder, "--md").stdout.startswith("## History")
    gone = cli("history", "check", "--store", tmp_path)
    assert isinstance(gone.exception, ConfigError)


def test_baselines_are_pinned_and_expire(tmp_path):
    history = History(tmp_path / "store")
    for k in range(3):
        history.add(load(night(tmp_path, f"n{k}", turned=range(k))))
    assert 1 == history.baseline().night
    assert 0 == cli("history", "pin", 3, "--store", history.folder, "--note", "new model").exit_code
    assert (3, "new model", "") == (
        (b := history.baseline()).night, b.note, b.expired,
    )  # fmt: skip
    assert [3] == [n.number for n in watch(history).nights]
    # no night since: nothing is decided, and nothing passes
    assert 4 == cli("history", "check", "--store", history.folder).exit_code
    assert 0 == cli("history", "expire", "--store", history.folder).exit_code
    assert history.baseline() is None
    assert all(b.expired for b in history.baselines())
    assert 4 == cli("history", "check", "--store", history.folder).exit_code
    with pytest.raises(ConfigError, match="no baseline"):
        history.expire()
    with pytest.raises(ConfigError, match="Nights are 1 to 3"):
        history.pin(9)
    with pytest.raises(ConfigError, match="no baseline is pinned"):
        rehearse(history, GateRules(regression=(Regression(check="errors"),)))


def test_what_is_no_night_of_this_history_is_refused(tmp_path):
    history = History(tmp_path / "store")
    first = night(tmp_path, "a")
    history.add(load(first))
    with pytest.raises(ConfigError, match="is night 1 already"):
        history.add(load(first))
    said = dict.fromkeys(GOLD, "SSS")
    relabelled = imported(tmp_path / "b", said, GOLD | {"i00": "UNSAFE"})
    with pytest.raises(ConfigError, match="another label"):
        history.add(load(relabelled))
    short = imported(tmp_path / "c", dict.fromkeys(GOLD, "SS"), GOLD)
    with pytest.raises(ConfigError, match="another protocol"):
        history.add(load(short))
    others = imported(tmp_path / "d", {"x": "SSS"}, {"x": "SAFE"})
    with pytest.raises(ConfigError, match="none of this history's anchors"):
        history.add(load(others))
    (tmp_path / "card").mkdir()
    write(audit.card(first), tmp_path / "card")
    card = load(tmp_path / "card" / "card.json")
    with pytest.raises(ConfigError, match="is a card"):
        history.add(card)
    assert 1 == len(history.nights())


def test_a_file_that_is_no_history(tmp_path):
    (tmp_path / "history.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(LedgerError, match="cannot be read as a history"):
        History(tmp_path).nights()


@pytest.mark.slow
def test_a_served_model_that_changes_in_mid_history_is_named(tmp_path):
    data = corpus(tmp_path / "items.jsonl", 40)
    history = History(tmp_path / "store")
    for k in range(2):
        out = asked(judge(waver=0.03, seed=k), data, tmp_path / f"n{k}")
        history.add(load(out))
    other = judge(wrong=lambda k: k % 5 == 0, waver=0.03, seed=7, model="loopback-2")
    history.add(load(asked(other, data, tmp_path / "n2")))
    found = watch(history)
    assert 3 == found.first_alarm
    assert "since night 3 another served model" in found.why
    newer = corpus(tmp_path / "newer.jsonl", 40, changed=frozenset({3}))
    other_texts = load(asked(judge(), newer, tmp_path / "n3"))
    with pytest.raises(ConfigError, match="another text"):
        history.add(other_texts)


def test_a_gate_is_rehearsed(store, tmp_path):
    rules = GateRules(
        bar=(Bar(metric="accuracy", at_least=0.5),),
        regression=(Regression(check="verdicts"), Regression(check="errors", margin=0.2)),
    )
    found = rehearse(store, rules, deals=200)
    assert (1, 10, 200) == (found.baseline, len(found.nights), found.redealt)
    assert "fail" == found.nights[-1].outcome
    assert "fail" not in {n.outcome for n in found.nights[:-1]}
    # nothing changed between calls that were dealt out again
    assert found.low <= 0.05
    config = tmp_path / "gate.toml"
    config.write_text('[[regression]]\ncheck = "errors"\n', encoding="utf-8")
    done = cli("gate", "--rehearse", store.folder, "--config", config)
    assert 0 == done.exit_code
    assert "10 nights after night 1" in done.stdout
    assert "stated 5% at most" in done.stdout


def test_a_rehearsal_agrees_with_the_gate_itself(tmp_path):
    """What it says of a night is what the gate says of that run."""
    from judgeaudit.watch import gate

    rules = GateRules(regression=(Regression(check="verdicts"), Regression(check="errors")))
    history = History(tmp_path / "store")
    folders = [
        night(tmp_path, "a"), night(tmp_path, "b", turned=range(8)), night(tmp_path, "c", waver=(1,)),
    ]  # fmt: skip
    for folder in folders:
        history.add(load(folder))
    told = [n.outcome for n in rehearse(history, rules, deals=10).nights]
    assert told == [gate(f, rules, baseline=folders[0]).outcome for f in folders[1:]]
