"""The story through the library: choose, plan, run, resume, score and card from the ledger."""

from __future__ import annotations

import asyncio
import json

import pytest

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError, JudgeAuditError, LedgerError, PolicyError

QUICK = {"judge": "scripted:brittle_t4", "preset": "quick"}


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return audit.run(**QUICK, out=tmp_path_factory.mktemp("run"))


def test_the_quick_preset_asks_sixteen_items(result):
    assert 16 == result.facts.corpus.n_items
    assert 16 * (3 + 5 * 2) + 8 * 2 * 2 == result.facts.n_planned == result.facts.n_answered
    assert 0 == result.exit_code


def test_the_user_may_ask_for_more(tmp_path):
    ready = audit.prepare(audit.choose(None, {**QUICK, "limit": 40, "out": tmp_path}))
    assert 40 == ready.corpus.facts.n_items


def test_the_same_choices_go_on_with_the_same_run_and_ask_nobody(result):
    again = audit.run(**QUICK, out=result.folder)
    assert result.facts.requests == again.facts.requests
    assert result.card == again.card


def test_scores_and_card_come_from_the_ledger_alone(result):
    written = (result.folder / "card.json").read_bytes()
    from judgeaudit import cards

    assert result.scores == audit.score(result.folder)
    assert written == cards.to_json(audit.card(result.folder / "ledger.sqlite")).encode()


def test_it_works_inside_a_running_event_loop(tmp_path):
    async def notebook():
        return audit.run(judge="scripted:quiet", preset="quick", limit=4, out=tmp_path)

    assert 0 == asyncio.run(notebook()).exit_code


def test_default_folders_differ_with_the_choices_and_only_with_them():
    def folder(**choices):
        return audit.prepare(audit.choose(None, {**QUICK, **choices})).folder

    assert folder() == folder(concurrency=3)
    assert folder() != folder(seed=1)


def test_the_command_on_the_card_repeats_the_run(result):
    command = result.facts.extra["command"]
    assert "judgeaudit audit --judge scripted:brittle_t4 --preset quick" == command
    assert str(result.folder) not in (result.folder / "card.json").read_text()


def test_a_policy_in_korean_is_asked_about_in_korean(tmp_path):
    choices = {**QUICK, "policy": "privacy", "language": "ko", "limit": 2}
    asked = audit.run(**choices, out=tmp_path / "a")
    assert asked.exit_code == 0
    assert (asked.facts.policy.language, asked.facts.judge.template_id) == ("ko", "default_ko")
    assert asked.facts.extra["command"].endswith(
        "--policy privacy --language ko --limit 2 --preset quick"
    )
    named = audit.prepare(audit.choose(None, {**choices, "template": "default", "out": tmp_path}))
    assert named.judge.template_id == "default"


def test_choices_come_from_audit_toml_and_keywords_win(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "audit.toml").write_text('judge = "scripted:noisy"\nlimit = 8\n')
    spec = audit.choose(None, {"limit": 9})
    assert ("scripted:noisy", 9) == (spec.judge, spec.limit)


@pytest.mark.parametrize(
    ("choices", "error", "said"),
    [
        ({"judge": "scripted:nobody"}, ConfigError, "brittle_t4"),
        ({"corpus": "rjugde"}, ConfigError, "did you mean 'rjudge'"),
        ({"policy": "agent_safty"}, PolicyError, "did you mean 'agent_safety'"),
        ({"preset": "fast"}, ConfigError, "quick"),
        ({"conditions": ("T9",)}, ConfigError, "unknown condition 'T9'"),
        ({"template": "no_such"}, JudgeAuditError, "verdict_only"),
        ({"api_base": "http://127.0.0.1:1/v1"}, ConfigError, "does not go with judge"),
        ({"limit": 0}, ConfigError, "limit= is 0. It must be 1 or more"),
        ({"colour": "red"}, ConfigError, "unknown colour="),
    ],
)
def test_a_wrong_choice_is_named_with_the_known_ones(tmp_path, choices, error, said):
    out = tmp_path / "run"
    with pytest.raises(error) as caught:
        audit.run(**{**QUICK, "out": out, **choices})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (out / "ledger.sqlite").exists()


def test_a_file_that_is_no_ledger_is_refused(tmp_path):
    (tmp_path / "ledger.sqlite").write_text("hello " * 500)
    with pytest.raises(LedgerError, match="not a judgeaudit ledger"):
        audit.score(tmp_path)


def test_the_card_is_valid_by_its_published_schema(result):
    import jsonschema

    from judgeaudit import cards

    jsonschema.validate(json.loads((result.folder / "card.json").read_text()), cards.schema())
