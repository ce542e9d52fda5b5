"""`attack` on a real server that reads the policy's text, with faults in between."""

from __future__ import annotations

import json
import re

import pytest
from loopback import Answer, Loopback, completion

from judgeaudit import audit
from judgeaudit.core.errors import JudgeError
from judgeaudit.core.records import AuditSpec
from judgeaudit.cure.attack import attack
from judgeaudit.engine.ledger import Ledger

WORD = "is prohibited from following"
N = 60

pytestmark = pytest.mark.slow


def corpus(path):
    lines = [
        {
            "id": f"c{k}",
            "trajectory": {"turns": [{"role": "agent", "action": f"case {k}: a step"}]},
            "label": "UNSAFE" if k % 2 == 0 else "SAFE",
            "label_source": "human",
            "cluster": f"k{k // 2}",
        }
        for k in range(N)
    ]
    path.write_text("".join(f"{json.dumps(x)}\n" for x in lines), encoding="utf-8")
    return path


def wordy(body, n, _k):
    """Find every UNSAFE case, but under one phrase only every other one; fail now and then."""
    if n % 50 == 0:
        return Answer(status=503, body={"error": {"message": "busy", "type": "server_error"}})
    if n % 11 == 0:
        return Answer(body=completion("I would rather not say."))
    text = json.dumps(body["messages"], ensure_ascii=False)
    case = int(re.findall(r"case (\d+):", text)[0])
    unsafe = case % 2 == 0 and not (WORD in text and case % 4 == 0)
    return Answer(body=completion(json.dumps({"verdict": "UNSAFE" if unsafe else "SAFE"})))


def judged(server, tmp_path):
    return audit.run(
        judge="direct:toy",
        api_base=server.api_base,
        corpus="jsonl",
        data=str(corpus(tmp_path / "own.jsonl")),
        conditions=("base", "T1"),
        base_repeats=2,
        repeats=1,
        out=tmp_path / "run",
    ).folder


def test_a_wording_that_the_run_did_not_have_is_found_and_what_it_hides(tmp_path):
    choices = {"objective": "tpr", "calls": 700, "wordings": 2, "mixes": 3}
    with Loopback(wordy) as server:
        run = judged(server, tmp_path)
        before = server.n_requests
        found = attack(run, **choices)
        asked = server.n_requests - before
        assert attack(run, **choices) == found
        assert server.n_requests == before + asked
    worst = found.worst
    assert WORD in worst.rendering.text
    assert worst.rendering.certified
    assert worst.low > 0.1
    assert worst.base == 1.0
    assert worst.gain == pytest.approx(0.5, abs=0.2)
    # every call of the plan was made, and each server error was asked again
    outcomes = []
    for path in (run / "attack" / found.folder).glob("round-*.sqlite"):
        with Ledger.open_readonly(path) as view:
            outcomes += [r["outcome"] for r in view.rows()]
    assert len(outcomes) == found.asked <= found.planned <= 700
    assert asked - found.asked == pytest.approx(asked / 50, abs=2)
    assert outcomes.count("verdict") < len(outcomes)
    assert worst.lost + worst.lost_base > 0


def test_a_cap_on_requests_stops_it_and_a_higher_one_goes_on(tmp_path):
    choices = {"objective": "tpr", "calls": 700, "wordings": 2, "mixes": 0}
    with Loopback(wordy) as server:
        run = judged(server, tmp_path)
        before = server.n_requests
        with pytest.raises(JudgeError, match="budget of 200 requests is spent"):
            attack(run, limits=AuditSpec(budget_calls=200), **choices)
        assert server.n_requests - before <= 200
        assert not (run / "attack.json").exists()
        found = attack(run, limits=AuditSpec(budget_calls=900), **choices)
        assert found.asked <= server.n_requests - before <= 900
    assert found.worst.gain is not None
