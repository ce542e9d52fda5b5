"""What a terminal says of a plan and of a result: short, and with thousands apart."""

from __future__ import annotations

import re

import pytest

from judgeaudit import audit
from judgeaudit.cli import _words
from judgeaudit.policy import load_policy, policy_path
from judgeaudit.policy.loading import is_edited


def test_every_count_of_a_plan_has_its_thousands_apart(tmp_path):
    ready = audit.prepare(audit.choose(None, {"judge": "scripted:quiet", "out": tmp_path}))
    said = _words.of_plan(ready).replace(str(tmp_path), "")
    assert ready.plan.n_calls > 1000
    assert f"{ready.plan.n_calls:,} calls" in said
    assert not re.search(r"\d{4}", said)


@pytest.fixture(scope="module")
def dull(tmp_path_factory):
    """An audit of a judge that always answers the same: most figures have no value."""
    out = tmp_path_factory.mktemp("run")
    return audit.run(judge="scripted:always_safe", preset="quick", limit=4, out=out)


def test_a_reason_is_short_in_the_terminal_and_whole_on_the_card(dull):
    pis = dull.scores.find("pis")
    assert pis is not None
    assert len(pis.why_undefined or "") > 60
    said = _words._estimate(pis)
    assert said.startswith("cannot be estimated because: ")
    assert len(said) <= 90
    assert "[0.00, 1.00]" not in _words.of_result(dull)
    for form in ("card.md", "card.html"):
        assert "[0.00, 1.00]" not in (dull.folder / form).read_text("utf-8")


def test_a_void_figure_is_void_in_the_terminal_too(dull):
    lines = [x.split("  ") for x in _words.of_result(dull).splitlines() if x.startswith("  ")]
    said = {x[1]: x[-1].strip() for x in lines}
    for name in ("PIS", "excess flips (paper)", "excess flips (debiased)", "R_dir", "U_rate"):
        assert said[name] == "void: nothing moved", name
    assert "%" in said["accuracy"]


def test_no_shown_interval_of_a_rate_lies_below_zero(dull):
    for line in _words.of_scores(dull.scores).splitlines():
        assert not re.search(r"\[−[\d.]+%", line), line
        assert not re.search(r", \d{3,}\.\d%\]", line), line


def test_a_score_that_is_cut_at_zero_says_what_was_cut(tmp_path, dull):
    cut = audit.run(
        judge="scripted:brittle_t4?flips=0.9", preset="quick", limit=30, out=tmp_path / "run"
    )
    pis, raw = cut.scores.find("pis"), cut.scores.find("pis_raw")
    assert pis is not None
    assert raw is not None
    assert pis.value == 0.0
    assert raw.value is not None
    assert raw.value < -0.5
    line = next(x for x in _words.of_result(cut).splitlines() if x.startswith("  PIS"))
    assert f"(cut at 0; uncut −{-raw.value:.2f} [−" in line
    assert "cut at 0" not in _words.of_result(dull)


def test_an_edited_policy_does_not_pass_for_the_one_that_ships(tmp_path):
    text = policy_path("agent_safety").read_text(encoding="utf-8")
    old = load_policy("agent_safety")
    clause = next(e.when for n in old.norms for e in n.exceptions)
    mine = tmp_path / "mine.toml"
    mine.write_text(text.replace(clause, f"{clause} in writing", 1), encoding="utf-8")
    said = "edited: not the agent_safety that ships"
    made = {}
    for name, policy in (("edited", str(mine)), ("shipped", "agent_safety")):
        choices = {"judge": "scripted:quiet", "preset": "quick", "limit": 4, "policy": policy}
        ready = audit.prepare(audit.choose(None, {**choices, "out": tmp_path / name}))
        made[name] = ready
        assert (name == "edited") == (said.replace("edited", "EDITED", 1) in _words.of_plan(ready))
        audit.run(ready)
        page = (tmp_path / name / "card.md").read_text("utf-8").replace("\\", "")
        first, _, _ = page.partition("## ")
        assert (name == "edited") == (said in first)
        row = next(x for x in page.splitlines() if x.startswith("| Policy |"))
        assert (name == "edited") == (said in row)
        assert "edited_policy:" not in page
    assert made["edited"].meta.policy.id == made["shipped"].meta.policy.id == "agent_safety"
    assert not [k for k in made["edited"].meta.identity() if "edited" in k]


def test_a_policy_that_ships_in_another_language_is_not_edited():
    assert not is_edited(load_policy("agent_safety", language="ko"))
    own = load_policy("agent_safety").model_copy(update={"id": "mine"})
    assert not is_edited(own)
