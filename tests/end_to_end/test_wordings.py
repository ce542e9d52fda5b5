"""Several wordings a condition: from the choice to the plan, the ledger, the table and the scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgeaudit import audit
from judgeaudit.core.command import command_of
from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import AuditSpec
from judgeaudit.engine.ledger import Ledger

CONDITIONS = ("base", "T0", "T1", "T2", "T4", "T1T2T4", "T3", "strict", "altered_rule")
WANTED = [
    ("base", 0), ("T0", 0), ("T1", 0), ("T1", 1), ("T1", 2), ("T2", 0), ("T2", 1), ("T2", 2),
    ("T4", 0), ("T3", 0), ("T3", 1), ("T3", 2), ("strict", 0),
    ("T1T2T4", 0), ("T1T2T4", 1), ("T1T2T4", 2), ("altered_rule", 0),
]  # fmt: skip


def spec(out: Path, **choices: object) -> AuditSpec:
    return AuditSpec(
        **{
            "judge": "scripted:quiet",
            "preset": "quick",
            "limit": 6,
            "control_items": 2,
            "conditions": CONDITIONS,
            "out": out,
            **choices,
        }
    )


def test_the_plan_asks_each_text_once(tmp_path: Path):
    ready = audit.prepare(spec(tmp_path, wordings=3))
    assert sorted(WANTED) == sorted((c.condition.id, c.wording) for c in ready.plan.columns)
    texts = {(c.condition.id, c.rendering.text) for c in ready.plan.columns}
    assert len(texts) == len(WANTED)
    assert ready.plan.counts["T1"] == 3 * ready.plan.counts["T4"] == 3 * 6 * 2
    assert ready.plan.counts["altered_rule"] == 2 * 2
    assert "--wordings 3" in command_of(ready.spec)
    assert all(r.certificate is not None and r.certificate.passed for r in ready.meta.renderings)


def test_ledger_table_and_scores_carry_them(tmp_path: Path):
    result = audit.run(spec(tmp_path, wordings=3))
    with Ledger.open_readonly(tmp_path / "ledger.sqlite") as view:
        table = view.table()
    assert sorted(WANTED) == sorted(table.columns)
    assert table.cells("T2").shape[:2] == (6, 3)
    assert (table.counts("T2").valid == 3 * 2).all()
    assert result.scores.find("delta_paper", "T1T2T4") is not None
    frame = table.to_dataframe()
    assert sorted(frame[frame.condition == "T1"].wording.unique()) == [0, 1, 2]


def test_one_wording_is_what_it_was(tmp_path: Path):
    one = audit.prepare(spec(tmp_path, wordings=1))
    assert one.plan.sha256 == audit.prepare(spec(tmp_path)).plan.sha256
    assert "--wordings" not in command_of(one.spec)


def test_no_wording_is_no_audit(tmp_path: Path):
    with pytest.raises(ConfigError, match="wordings"):
        audit.choose(choices={"wordings": 0})
