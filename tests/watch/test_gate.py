"""`gate`: pass, fail, inconclusive or refused, with the exit codes that are documented."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from loopback import Loopback
from watch_world import LAYOUT, cli, corpus, imported

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError, JudgeAuditError
from judgeaudit.watch import GateRules, gate, read_rules
from judgeaudit.watch.rules import Bar, Regression

GOLD = {f"i{k:03d}": "UNSAFE" if k % 2 else "SAFE" for k in range(200)}
RIGHT = {k: ("U" if g == "UNSAFE" else "S") * 3 for k, g in GOLD.items()}


def flipped(which, letters=3):
    """Return right verdicts, but for some items."""
    return {
        k: ("S" if v[0] == "U" else "U") * letters if int(k[1:]) in which else v
        for k, v in RIGHT.items()
    }


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    home = tmp_path_factory.mktemp("runs")
    return {
        "base": imported(home / "base", RIGHT, GOLD),
        "same": imported(home / "same", RIGHT, GOLD),
        "worse": imported(home / "worse", flipped(range(12)), GOLD),
        "one": imported(home / "one", {k: v for k, v in RIGHT.items() if v[0] == "S"}, GOLD),
        "few": imported(
            home / "few", {k: v if k < "i020" else "EEE" for k, v in RIGHT.items()}, GOLD
        ),
    }


def code(*args):
    """Exit code of the real command, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "judgeaudit", *map(str, args)],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


ACCURATE = '[[bar]]\nmetric = "accuracy"\nat_least = 0.9\n'


def test_unchanged_passes_and_says_what_it_could_have_found(runs):
    found = gate(runs["same"], read_rules(None, baseline=True), baseline=runs["base"])
    assert ("pass", 0) == (found.outcome, found.exit_code)
    assert ["verdicts", "errors"] == [c.name for c in found.checks]
    assert all(0 < c.detectable < 0.1 for c in found.checks)
    assert all(c.more_items is None for c in found.checks)
    assert ["noise"] == [c.kind for c in found.causes]


def test_worse_fails_by_exact_tests(runs):
    found = gate(runs["worse"], read_rules(None, baseline=True), baseline=runs["base"])
    assert ("fail", 1) == (found.outcome, found.exit_code)
    verdicts, errors = found.checks
    # 12 items turned over, each with a chance of 1/20 if its six calls had been dealt at random
    assert pytest.approx(20.0**-12, rel=1e-6) == errors.p_value
    # ... or 1/10, for it could have turned either way
    assert pytest.approx(10.0**-12, rel=1e-6) == verdicts.p_value
    assert pytest.approx(0.06) == errors.value
    assert errors.low < 0.06 < errors.high


def test_getting_better_is_no_error_but_a_change(runs):
    found = gate(runs["base"], read_rules(None, baseline=True), baseline=runs["worse"])
    assert {"verdicts": "fail", "errors": "pass"} == {c.name: c.outcome for c in found.checks}


def test_absolute_bars(runs):
    rules = GateRules(
        bar=(
            Bar(metric="accuracy", at_least=0.9),
            Bar(metric="fnr", at_most=0.001),
            Bar(metric="tpr", at_most=0.5),
            Bar(metric="pis", at_least=0.5),
        )
    )
    found = gate(runs["same"], rules)
    assert ["pass", "inconclusive", "fail", "inconclusive"] == [c.outcome for c in found.checks]
    assert found.checks[3].why.startswith("undefined: ")
    assert pytest.approx(1 - 2 * 0.05 / 4) == found.checks[0].level
    assert found.checks[1].more_items > 1000
    assert found.exit_code == 1


def test_more_items_do_decide_it(tmp_path):
    """The gate is asked how many more items it wants; with them, it decides."""
    rules = GateRules(bar=(Bar(metric="accuracy", at_least=0.85),))

    def made(name, n):
        gold = {f"i{k:04d}": "UNSAFE" if k % 2 else "SAFE" for k in range(n)}
        said = {k: "SU"[(g == "UNSAFE") ^ (int(k[1:]) % 10 == 0)] for k, g in gold.items()}
        return gate(imported(tmp_path / name, said, gold), rules).checks[0]

    few = made("few", 60)
    assert "inconclusive" == few.outcome
    assert "pass" == made("many", 60 + round(1.1 * few.more_items)).outcome


def test_an_empty_run_is_operational(tmp_path):
    with Loopback("quota") as server:
        data = corpus(tmp_path / "items.jsonl", 4)
        with pytest.raises(JudgeAuditError):
            audit.run(
                judge="direct:loopback-1", api_base=server.api_base, corpus="jsonl",
                data=str(data), out=tmp_path / "run", **LAYOUT,
            )  # fmt: skip
    returned, out, _ = code(
        "gate", tmp_path / "run", "--config", write(tmp_path / "g.toml", ACCURATE)
    )
    assert 3 == returned
    assert "broken: No call of the run was answered" in out


def test_all_calls_failed_is_operational(tmp_path):
    data = corpus(tmp_path / "items.jsonl", 2)
    with Loopback("500") as server:
        with pytest.raises(JudgeAuditError) as stopped:
            audit.run(
                judge="direct:loopback-1", api_base=server.api_base, corpus="jsonl",
                data=str(data), out=tmp_path / "run", attempts=1, **LAYOUT,
            )  # fmt: skip
        assert server.n_requests
    assert 3 == stopped.value.exit_code
    done = cli("gate", tmp_path / "run", "--config", write(tmp_path / "g.toml", ACCURATE))
    assert 3 == done.exit_code


def test_one_class_only_never_passes_what_it_cannot_show(runs, tmp_path):
    bars = '[[bar]]\nmetric = "tnr"\nat_least = 0.5\n[[bar]]\nmetric = "fnr"\nat_most = 0.5\n'
    returned, out, _ = code("gate", runs["one"], "--config", write(tmp_path / "g.toml", bars))
    assert 4 == returned
    assert "1 of 2 bars pass, 0 fail, 1 inconclusive" in out
    assert "undefined: no item is labelled UNSAFE" in out


def test_most_calls_without_a_verdict_do_not_pass(runs, tmp_path):
    bars = '[[bar]]\nmetric = "accuracy"\nat_least = 0.3\n'
    returned, out, _ = code("gate", runs["few"], "--config", write(tmp_path / "g.toml", bars))
    assert 4 == returned
    assert "only 60 of 600 planned calls ended in a verdict" in out


def test_other_protocols_are_refused(runs, tmp_path):
    short = imported(tmp_path / "short", {k: v[:2] for k, v in RIGHT.items()}, GOLD)
    returned, out, err = code("gate", short, "--baseline", runs["base"])
    assert (2, "") == (returned, out)
    assert "different protocols" in err
    assert "base_repeats" in err


def test_a_missing_run(tmp_path):
    returned, _, err = code("gate", tmp_path / "nowhere", "--baseline", tmp_path)
    assert 2 == returned
    assert "nowhere" in err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no bar"),
        ("[[bar]]\nmetric = 'pis'\n", "needs at_least or at_most"),
        ("[[bar]]\nmetric = 'pis'\nat_lest = 0.1\n", "Did you mean 'at_least'"),
        ("false_alarm_rate = 2\n", "less than 0.5"),
        ("[[regression]]\nmetric = 'pss'\n", "did you mean 'pis'"),
        ("[[regression]]\nmetric = 'unsafe_rate'\n", "no worse side"),
        ("[[regression]]\ncheck = 'errors'\nmetric = 'pis'\n", "one of them"),
        ("[[regression]]\ncheck = 'errors'\ntolerate = 0.2\n", "below margin"),
    ],
)
def test_what_is_wrong_in_gate_toml_is_named(tmp_path, text, words):
    with pytest.raises(ConfigError, match=words):
        read_rules(write(tmp_path / "gate.toml", text), baseline=True)


def test_bars_need_what_they_are_held_against(runs, tmp_path):
    config = write(tmp_path / "g.toml", "[[regression]]\ncheck = 'errors'\n")
    with pytest.raises(ConfigError, match="no baseline was given"):
        read_rules(config, baseline=False)
    with pytest.raises(ConfigError, match="needs bars"):
        read_rules(None, baseline=False)
    with pytest.raises(ConfigError, match="did you mean 'accuracy'"):
        gate(runs["base"], GateRules(bar=(Bar(metric="acuracy", at_least=0.1),)))


def test_a_card_as_baseline_decides_figures_but_no_verdicts(runs):
    made = audit.card(runs["base"])
    from judgeaudit.cards import write as write_card

    folder = runs["base"].parent / "card"
    folder.mkdir(exist_ok=True)
    write_card(made, folder)
    rules = GateRules(
        regression=(Regression(check="verdicts"), Regression(metric="accuracy", margin=0.2))
    )
    found = gate(runs["same"], rules, baseline=folder / "card.json")
    assert ["inconclusive", "pass"] == [c.outcome for c in found.checks]
    assert "a card holds no verdicts" in found.checks[0].why
    worse = GateRules(regression=(Regression(metric="accuracy", margin=0.2),))
    bad = imported(runs["base"].parent / "bad", flipped(range(60)), GOLD)
    assert 1 == gate(bad, worse, baseline=folder / "card.json").exit_code


def test_a_tolerated_worsening_passes(runs):
    strict = GateRules(regression=(Regression(metric="accuracy", margin=0.15),))
    kind = GateRules(regression=(Regression(metric="accuracy", margin=0.15, tolerate=0.1),))
    assert "fail" == gate(runs["worse"], strict, baseline=runs["base"]).outcome
    assert "pass" == gate(runs["worse"], kind, baseline=runs["base"]).outcome


def test_outputs_for_machines(runs, tmp_path):
    from xml.etree import ElementTree as ET

    summary = tmp_path / "summary.md"
    done = cli(
        "gate", runs["worse"], "--baseline", runs["base"], "--junit", tmp_path / "j.xml",
        "--jsonl", tmp_path / "g.jsonl", "--prometheus", tmp_path / "g.prom", "--github", "--quiet",
        env={"GITHUB_STEP_SUMMARY": str(summary)},
    )  # fmt: skip
    assert 1 == done.exit_code
    assert "fail: 0 of 2 bars pass, 2 fail, 0 inconclusive." == done.stdout.strip()
    suite = ET.parse(tmp_path / "j.xml").getroot()[0]
    assert ("2", "2", "0") == tuple(suite.get(k) for k in ("tests", "failures", "errors"))
    assert 2 == len(suite.findall("testcase/failure"))
    rows = [json.loads(x) for x in (tmp_path / "g.jsonl").read_text().splitlines()]
    assert ["check", "check", "gate"] == [r["record"] for r in rows]
    assert 1 == rows[-1]["exit_code"]
    prom = (tmp_path / "g.prom").read_text()
    assert 'judgeaudit_gate_outcome{outcome="fail"} 1' in prom
    assert 'judgeaudit_gate_calls{state="planned"} 600' in prom
    assert summary.read_text().startswith("## Gate")
    assert 2 == done.stderr.count("::error title=judgeaudit ")


def test_a_hostile_name_breaks_no_output():
    from xml.etree import ElementTree as ET

    from judgeaudit.watch import Check, GateResult, outputs
    from judgeaudit.watch.words import of_gate

    name = 'x"\n::error::| <b>\u2028\x1b[31m&]]>'
    check = Check(name=name, kind="bar", outcome="fail", bar="at most 1", why=name)
    found = GateResult(
        run="r", baseline=None, outcome="fail", sentence="s", false_alarm_rate=0.05, power=0.8,
        checks=(check,), n_answered=1, n_planned=1, n_verdicts=1,
    )  # fmt: skip
    assert len(ET.fromstring(outputs.junit(found))[0]) == 1
    assert 1 == len(outputs.workflow_commands(found).splitlines())
    assert 2 == len(outputs.json_lines(found).splitlines())
    assert "\x1b" not in of_gate(found) + outputs.prometheus(found) + outputs.junit(found)
    assert "<b>" not in of_gate(found, md=True)


def test_needs_a_run_or_a_history():
    done = cli("gate")
    assert isinstance(done.exception, ConfigError)
