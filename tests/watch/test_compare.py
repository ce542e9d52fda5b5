"""`compare`: what moved between two real runs, and which fact is named for it."""

from __future__ import annotations

import json
import shutil

import pytest
from watch_world import LAYOUT, N, asked, cli, corpus, imported, judge

from judgeaudit.core.errors import ConfigError, JudgeAuditError
from judgeaudit.watch import compare


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return corpus(tmp_path_factory.mktemp("data") / "items.jsonl")


@pytest.fixture(scope="module")
def monday(data, tmp_path_factory):
    return asked(judge(waver=0.05, seed=1), data, tmp_path_factory.mktemp("runs") / "monday")


def kinds(found):
    """Causes without the address: each server of these tests has a port of its own."""
    return [(c.kind, c.what) for c in found.causes if c.what != "endpoint"]


def row(found, metric, condition=None):
    return next(c for c in found.changes if (c.metric, c.condition) == (metric, condition))


def test_pure_noise_is_named_noise(monday, data, tmp_path):
    found = compare(monday, asked(judge(waver=0.05, seed=2), data, tmp_path / "b"))
    assert "no change shown" == found.verdict
    assert [
        ("noise", "what moved is no more than calls of one prompt do among themselves")
    ] == kinds(found)
    assert not any(c.moved for c in found.changes)
    assert (N, 0, 0) == (found.n_common, found.n_only_first, found.n_only_second)


def test_a_served_model_that_changed_is_named(monday, data, tmp_path):
    other = judge(wrong=lambda k: k % 2 == 0 and k < 32, waver=0.05, seed=3, model="loopback-2")
    found = compare(monday, asked(other, data, tmp_path / "b"))
    assert "changed" == found.verdict
    assert [("judge", "served model")] == kinds(found)
    cause = next(c for c in found.causes if c.what == "served model")
    assert ("loopback-1", "loopback-2") == (cause.before, cause.after)
    moved = row(found, "verdicts_moved", "base")
    assert moved.moved
    assert moved.p_value <= moved.p_adjusted <= 0.05
    assert row(found, "tpr").moved
    assert row(found, "tpr").value < -0.3
    assert not row(found, "tnr").moved


def test_the_same_name_with_another_fingerprint_and_other_verdicts(monday, data, tmp_path):
    other = judge(wrong=lambda k: k % 4 == 0, waver=0.05, seed=3, fingerprint="fp_new")
    found = compare(monday, asked(other, data, tmp_path / "b"))
    assert [("judge", "fingerprint of the served model")] == kinds(found)


def test_a_judge_that_changed_behind_its_name_is_left_unexplained(data, tmp_path):
    """Swaps: as many items went wrong as came right, so every rate stays as it was."""
    a = asked(
        judge(wrong=lambda k: k in {0, 1, 2, 3, 4, 5}, waver=0.02, seed=1), data, tmp_path / "a"
    )
    kept = json.loads((a / "card.json").read_text())["facts"]["judge"]["api_base"]
    b = asked(
        judge(wrong=lambda k: k in {10, 11, 12, 13, 14, 15}, waver=0.02, seed=2),
        data,
        tmp_path / "b",
    )
    found = compare(a, b)
    assert kept
    assert row(found, "verdicts_moved", "base").moved
    assert not row(found, "difference_unsafe", "base").moved
    assert not row(found, "accuracy").moved
    # the endpoint is all that differs
    assert [] == kinds(found)
    assert ["endpoint"] == [c.what for c in found.causes]


def test_without_any_fact_that_differs_a_change_is_unexplained(tmp_path):
    gold = {f"i{k:02d}": "UNSAFE" if k % 2 else "SAFE" for k in range(30)}
    right = {k: ("U" if g == "UNSAFE" else "S") * 3 for k, g in gold.items()}
    turned = {k: ("S" if v[0] == "U" else "U") * 3 if k < "i10" else v for k, v in right.items()}
    found = compare(imported(tmp_path / "a", right, gold), imported(tmp_path / "b", turned, gold))
    assert "changed" == found.verdict
    assert ["unexplained"] == [c.kind for c in found.causes]


def test_a_changed_policy_text_is_named(monday, data, tmp_path):
    policy = tmp_path / "own.toml"
    from judgeaudit.policy import policy_path

    text = policy_path("agent_safety").read_text("utf-8")
    policy.write_text(text.replace('title = "', 'title = "Our ', 1), "utf-8")
    found = compare(
        monday, asked(judge(waver=0.05, seed=2), data, tmp_path / "b", policy=str(policy))
    )
    assert "policy" in {c.kind for c in found.causes}
    assert "data" not in {c.kind for c in found.causes}
    assert "judge" not in {kind for kind, _ in kinds(found)}


def test_a_changed_revision_of_the_data_is_named(monday, tmp_path):
    newer = corpus(tmp_path / "items.jsonl", N - 2, changed=frozenset({4, 5, 6}))
    found = compare(monday, asked(judge(waver=0.05, seed=2), newer, tmp_path / "b"))
    told = {c.what: c for c in found.causes if c.kind == "data"}
    assert {"set of items", "text of items"} <= set(told)
    assert told["text of items"].after.startswith("3 of them")
    assert {"data", "noise"} == {kind for kind, _ in kinds(found)}
    assert (N - 2, 2, 0) == (found.n_common, found.n_only_first, found.n_only_second)


def test_changed_parameters_and_prompt_are_the_judge(monday, data, tmp_path):
    found = compare(
        monday,
        asked(judge(waver=0.05, seed=2), data, tmp_path / "b", temperature=0.7, max_tokens=99),
    )
    named = {what for kind, what in kinds(found) if kind == "judge"}
    assert {"parameter temperature", "parameter max_tokens"} == named


def test_other_protocols_are_refused_by_name(monday, data, tmp_path):
    b = asked(
        judge(),
        data,
        tmp_path / "b",
        base_repeats=2,
        conditions=("base", "T1", "strict", "lenient"),
    )
    with pytest.raises(ConfigError, match=r"different protocols .*base_repeats: 3 against 2"):
        compare(monday, b)
    done = cli("compare", monday, b)
    assert 0 != done.exit_code
    assert 2 == done.exception.exit_code


def test_runs_without_a_common_item_are_refused(tmp_path):
    a = imported(tmp_path / "a", {"x": "SS"}, {"x": "SAFE"})
    b = imported(tmp_path / "b", {"y": "SS"}, {"y": "SAFE"})
    with pytest.raises(ConfigError, match="no item in common"):
        compare(a, b)


def test_a_folder_that_holds_no_run(tmp_path):
    with pytest.raises(JudgeAuditError):
        compare(tmp_path, tmp_path)


def test_cards_are_compared_by_what_they_print(monday, data, tmp_path):
    b = asked(judge(wrong=lambda k: k % 4 == 0, seed=3, model="loopback-2"), data, tmp_path / "b")
    card = tmp_path / "only" / "card.json"
    card.parent.mkdir()
    shutil.copy(b / "card.json", card)
    found = compare(monday, card)
    assert 0 == found.n_common
    assert ("judge", "served model") in kinds(found)
    assert row(found, "tpr").moved
    assert row(found, "tpr").p_value is None
    assert row(found, "tpr").level > 0.99


def test_text_json_and_markdown(monday, data, tmp_path):
    b = asked(judge(waver=0.05, seed=2), data, tmp_path / "b")
    text = cli("compare", monday, b)
    assert 0 == text.exit_code
    assert f"no change shown: {N} common items" in text.stdout
    made = json.loads(cli("compare", monday, b, "--json").stdout)
    assert LAYOUT["base_repeats"] == 3
    assert "no change shown" == made["verdict"]
    md = cli("compare", monday, b, "--md").stdout
    assert md.startswith("## Compared")
    assert "| base verdicts moved |" in md


def test_everything_looked_at_is_corrected_together(monday, data, tmp_path):
    found = compare(monday, asked(judge(waver=0.05, seed=9), data, tmp_path / "b"))
    tested = [c for c in found.changes if c.p_value is not None]
    looked = [c for c in found.changes if c.value is not None]
    least = min(tested, key=lambda c: c.p_value)
    assert pytest.approx(min(1.0, least.p_value * len(looked))) == least.p_adjusted
