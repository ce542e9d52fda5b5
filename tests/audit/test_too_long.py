"""A judge that takes less than an item is long: refused, or cut alike everywhere and counted."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from loopback import Loopback

from judgeaudit import audit
from judgeaudit.cli import _words
from judgeaudit.core.errors import ConfigError, LedgerError
from judgeaudit.policy.shortening import trajectory_tokens

_MARK = re.compile(r"\[LEFT OUT HERE BY JUDGEAUDIT: [^\]]+\]")


@pytest.fixture
def data(tmp_path):
    lines = []
    for k in range(6):
        said = "go on " * (40 if k % 3 else 800)
        turns = [
            {"role": "user", "content": f"begin {k} {said}"},
            {"role": "agent", "action": f"end {k}"},
        ]
        lines.append({"id": str(k), "cluster": str(k), "label": "SAFE", "label_source": "human"})
        lines[-1]["trajectory"] = {"turns": turns}
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(x) + "\n" for x in lines), encoding="utf-8")
    return str(path)


def choices(data, out, **more):
    return {
        "judge": "direct:m",
        "corpus": "jsonl",
        "data": data,
        "conditions": ("base", "T1", "vacuum"),
        "base_repeats": 2,
        "repeats": 1,
        "out": out,
        **more,
    }


def test_without_a_word_the_plan_is_refused_and_says_how_many(data, tmp_path):
    given = choices(data, tmp_path / "r", api_base="http://127.0.0.1:9/v1")
    with pytest.raises(ConfigError, match="2 of 6 trajectories are longer than the 300 tokens"):
        audit.prepare(audit.choose(choices={**given, "max_trajectory_tokens": 300}))
    # nobody is asked, and nothing is left behind
    assert not (tmp_path / "r").exists()
    # a length that is not known is not checked, and is not pretended to be
    audit.prepare(audit.choose(choices=given))
    with pytest.raises(ConfigError, match="is not known"):
        audit.prepare(audit.choose(choices={**given, "too_long": "middle-out"}))


def test_the_middle_is_left_out_alike_under_every_condition_and_the_card_counts_it(data, tmp_path):
    with Loopback() as server:
        given = choices(data, tmp_path / "r", api_base=server.api_base)
        cut = {"max_trajectory_tokens": 300, "too_long": "middle-out"}
        ready = audit.prepare(audit.choose(choices={**given, **cut}))
        assert all(trajectory_tokens(i.trajectory) <= 300 for i in ready.plan.items)
        assert "cut      2 of 6 trajectories, to 300 tokens" in _words.of_plan(ready)
        result = audit.run(ready)
        by_item: dict[str, set[str]] = {}
        for seen in server.seen:
            asked = json.dumps(seen.body["messages"])
            for k in range(6):
                if f"begin {k} " in asked:
                    by_item.setdefault(str(k), set()).update(_MARK.findall(asked) or {""})
        # one mark an item, whatever the wording; none where nothing was cut
        assert {k: len(v) for k, v in by_item.items()} == dict.fromkeys("012345", 1)
        assert sorted(k for k, v in by_item.items() if v != {""}) == ["0", "3"]
        said = [w.sentence for w in result.card.warnings if w.code == "shortened"]
        (sentence,) = said
        assert sentence.startswith("2 of 6 trajectories were longer than 300 tokens")
        assert audit.run(ready).facts.ledger_sha256 == result.facts.ledger_sha256
        # another limit is another run
        with pytest.raises(LedgerError, match="too_long: 'middle-out at 300 tokens'"):
            audit.run(audit.choose(choices={**given, **cut, "max_trajectory_tokens": 400}))


def test_a_known_context_is_the_limit(tmp_path, data):
    spec = audit.choose(choices=choices(data, tmp_path / "r", judge="local", conditions=("base",)))
    ready = audit.prepare(spec)  # 8,192 tokens: all fit
    assert "too_long" not in ready.meta.extra
    long = tmp_path / "long.jsonl"
    text = Path(data).read_text(encoding="utf-8").replace("go on ", "go on " * 12)
    long.write_text(text, encoding="utf-8")
    given = choices(str(long), tmp_path / "r", judge="local", conditions=("base",))
    with pytest.raises(ConfigError, match="2 of 6 trajectories are longer"):
        audit.prepare(audit.choose(choices=given))
    cut = audit.prepare(audit.choose(choices={**given, "too_long": "middle-out"}))
    assert cut.meta.extra["too_long"]["items"] == 2
