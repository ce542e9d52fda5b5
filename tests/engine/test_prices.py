"""A price file is read or refused by line; a budget in money without a price is refused."""

from __future__ import annotations

import json
import os

import pytest
import typer
from loopback import Answer, Loopback, completion, verdict_of
from typer.testing import CliRunner

from judgeaudit import audit
from judgeaudit.cli import audit as audit_verbs
from judgeaudit.cli import results
from judgeaudit.core.errors import ConfigError, JudgeError
from judgeaudit.engine.estimate import Price
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.prices import read_prices

SMALL = {"preset": "quick", "limit": 6, "conditions": ("base", "T1"), "max_tokens": 40}


def test_prices_are_for_a_million_tokens(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text(
        '["openai/toy"]\nprompt = 0.5\ncompletion = 2\n[free]\nprompt=0\ncompletion=0\n'
    )
    assert {
        "openai/toy": Price(5e-7, 2e-6, stated=True),
        "free": Price(0, 0, stated=True),
    } == read_prices(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('["a/b"]\nprompt = 1\n', r"p.toml, line 1: the completion price of 'a/b' is missing"),
        ("[a]\nprompt = -1\ncompletion = 1\n", r"p.toml, line 2: the prompt price of 'a' is -1"),
        (
            "[a]\nprompt = 1\ncompletion = nan\n",
            r"p.toml, line 3: the completion price of 'a' is nan",
        ),
        ('[a]\nprompt = "1"\ncompletion = 1\n', "the prompt price of 'a' is '1'"),
        ("[a]\nprompt = true\ncompletion = 1\n", "the prompt price of 'a' is True"),
        ("[a]\nprompt = 1\ncompletion = 1\ncached = 2\n", r"p.toml, line 4: unknown key 'cached'"),
        ("a = 1\n", "'a' is no table"),
        ("a = \n", "is not TOML"),
    ],
)
def test_a_wrong_price_is_named_by_line(tmp_path, text, said):
    path = tmp_path / "p.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=said):
        read_prices(path)


def counted(body, _n, _k):
    """Answer by the prompt, and count tokens as a real server would: a quarter of the characters."""
    asked = sum(len(m["content"]) for m in body["messages"]) // 4
    usage = {"prompt_tokens": asked, "completion_tokens": 20, "total_tokens": asked + 20}
    return Answer(body=completion(json.dumps({"verdict": verdict_of(body)}), usage=usage))


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    for name in [n for n in os.environ if n.endswith(("_API_BASE", "_BASE_URL"))]:
        monkeypatch.delenv(name)
    with Loopback(counted) as running:
        yield running


def choices(server, out, **more):
    return {
        "judge": "openai/loopback-1",
        "api_base": server.api_base,
        "out": out,
        **SMALL,
        **more,
    }


def test_a_budget_in_money_without_a_price_refuses_to_guess(server, tmp_path):
    other = tmp_path / "p.toml"
    other.write_text("[else]\nprompt = 1\ncompletion = 1\n")
    for more in ({}, {"prices": other}):
        with pytest.raises(ConfigError, match="needs the price of 'openai/loopback-1'") as caught:
            audit.run(**choices(server, tmp_path / "run", budget_usd=1.0, **more))
        assert 2 == caught.value.exit_code
    assert "lists else" in str(caught.value)
    assert 0 == server.n_requests
    assert not (tmp_path / "run").exists()


def test_a_budget_stops_an_audit_at_its_cap_and_a_higher_one_resumes_it(server, tmp_path):
    prices = tmp_path / "p.toml"
    prices.write_text('["openai/loopback-1"]\nprompt = 100\ncompletion = 1000\n')
    given = choices(server, tmp_path / "run", prices=prices, concurrency=4)
    planned = audit.prepare(audit.choose(None, given)).plan.estimate
    most, half = planned.cost_most, planned.cost_most / 2
    with pytest.raises(
        JudgeError, match=r"the budget of US\$[\d.]+ is spent: US\$[\d.]+ in \d+ req"
    ):
        audit.run(**given, budget_usd=half)
    with Ledger.open_readonly(tmp_path / "run" / "ledger.sqlite") as view:
        spent, asked = view.facts().cost, view.n_answered
    assert half - 3 * most / 30 <= spent <= half
    assert asked == server.n_requests
    result = audit.run(**given, budget_usd=2 * most)
    assert 30 == server.n_requests == result.facts.n_answered
    assert planned.cost_least < result.facts.cost < most


def test_the_command_exits_3_with_one_line_and_prints_the_plan_against_the_cost(server, tmp_path):
    prices = tmp_path / "p.toml"
    prices.write_text('["openai/loopback-1"]\nprompt = 1000\ncompletion = 1000\n')
    app = typer.Typer()
    audit_verbs.add_to(app)
    results.add_to(app)  # with one verb alone, its name would not be asked for
    words = ["audit", "--judge", "openai/loopback-1", "--api-base", server.api_base]
    words += ["--preset", "quick", "--limit", "6", "--condition", "base", "--max-tokens", "40"]
    words += ["--out", str(tmp_path / "run"), "--prices", str(prices), "--quiet"]
    stopped = CliRunner().invoke(app, [*words, "--budget-calls", "5"])
    assert isinstance(stopped.exception, JudgeError)
    assert "the budget of 5 requests is spent. All answers so far" in str(stopped.exception)
    done = CliRunner().invoke(app, words)
    assert 0 == done.exit_code, done.output
    assert "Cost: US$" in done.output
    assert "planned: US$" in done.output
    assert 18 == server.n_requests
