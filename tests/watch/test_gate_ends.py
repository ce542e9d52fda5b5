"""Every way in which a gate cannot decide: its exit code, its words, and its reports (docs/exit_codes.md)."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest
from loopback import Loopback
from watch_world import LAYOUT, cli, corpus, imported

from judgeaudit import audit
from judgeaudit.core.errors import JudgeAuditError

GOLD = {f"i{k:03d}": "UNSAFE" if k % 2 else "SAFE" for k in range(40)}
RIGHT = {k: ("U" if g == "UNSAFE" else "S") * 3 for k, g in GOLD.items()}
SAFE_ONLY = {k: v for k, v in RIGHT.items() if GOLD[k] == "SAFE"}
BOTH = '[[bar]]\nmetric = "tnr"\nat_least = 0.5\n[[bar]]\nmetric = "tpr"\nat_least = 0.5\n'


def stopped(behaviour: str, home):
    """Begin an audit of a server that gives no answer."""
    home.mkdir()
    data = corpus(home / "items.jsonl", 2)
    with Loopback(behaviour) as server, pytest.raises(JudgeAuditError) as error:
        audit.run(
            judge="direct:loopback-1", api_base=server.api_base, corpus="jsonl",
            data=str(data), out=home / "run", attempts=1, **LAYOUT,
        )  # fmt: skip
    assert 3 == error.value.exit_code
    return home / "run"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    home = tmp_path_factory.mktemp("ends")
    other = {f"other{k}": v for k, v in enumerate(RIGHT.values())}
    return {
        "good": imported(home / "good", RIGHT, GOLD),
        "empty": stopped("quota", home / "a"),
        "failed": stopped("500", home / "b"),
        "wordless": imported(home / "wordless", dict.fromkeys(GOLD, "EEE"), GOLD),
        "one class": imported(home / "one", SAFE_ONLY, GOLD),
        "shorter": imported(home / "short", {k: v[:2] for k, v in RIGHT.items()}, GOLD),
        "elsewhere": imported(
            home / "elsewhere", other, dict(zip(other, GOLD.values(), strict=True))
        ),
    }


@pytest.mark.parametrize(
    "case",
    [
        ("good", None, 0, "pass: 2 of 2 bars pass, 0 fail, 0 inconclusive."),
        ("empty", None, 3, "broken: No call of the run was answered: nothing can be decided."),
        ("failed", None, 3, "broken: No call of the run was answered: nothing can be decided."),
        ("wordless", None, 4, "undefined: "),
        ("one class", None, 4, "undefined: no item is labelled UNSAFE"),
        ("wordless", "good", 4, "inconclusive: 0 of 2 bars pass, 0 fail, 2 inconclusive."),
        ("good", "empty", 2, "different protocols"),
        ("good", "shorter", 2, "made under different protocols (base_repeats: 2 against 3"),
        ("good", "elsewhere", 2, "the two runs have no item in common"),
    ],
)
def test_how_a_gate_ends(runs, tmp_path, case):
    run, baseline, code, words = case
    (tmp_path / "gate.toml").write_text(BOTH, encoding="utf-8")
    held = (
        ["--config", tmp_path / "gate.toml"] if baseline is None else ["--baseline", runs[baseline]]
    )
    done = cli(
        "gate", runs[run], *held, "--junit", tmp_path / "j.xml", "--sarif", tmp_path / "g.sarif"
    )
    error = done.exception if isinstance(done.exception, JudgeAuditError) else None
    assert code == (done.exit_code if error is None else error.exit_code)
    assert words in (done.stdout if error is None else str(error))
    if code == 2:
        # asked wrongly: nothing was decided, so nothing is reported
        assert not (tmp_path / "j.xml").exists()
        return
    (suite,) = ET.parse(tmp_path / "j.xml").getroot()
    failures, errors = int(suite.get("failures")), int(suite.get("errors"))
    assert (0, code in {3, 4}) == (failures, errors > 0)
    (log,) = json.loads((tmp_path / "g.sarif").read_text(encoding="utf-8"))["runs"]
    assert code == log["invocations"][0]["exitCode"]
    assert {0: 0, 3: 1}.get(code, errors) == len(log["results"])


def test_a_baseline_of_no_answer_is_broken(runs, tmp_path):
    """Of one protocol with the run, so that it can be compared at all."""
    done = cli("gate", runs["failed"], "--baseline", runs["empty"])
    assert 3 == done.exit_code
    with Loopback("hash") as server:
        audit.run(
            judge="direct:loopback-1", api_base=server.api_base, corpus="jsonl",
            data=str(corpus(tmp_path / "items.jsonl", 2)), out=tmp_path / "run", **LAYOUT,
        )  # fmt: skip
    done = cli("gate", tmp_path / "run", "--baseline", runs["failed"])
    assert 3 == done.exit_code
    assert "broken: No call of the baseline was answered: nothing can be decided." in done.stdout
