"""`policy sheet`, `policy certify`, and what an audit makes of the certificates."""

from __future__ import annotations

from pathlib import Path

import pytest
from raters import careful, careless, vote_file
from typer.testing import CliRunner

from judgeaudit import audit
from judgeaudit.cli.policy import app
from judgeaudit.core.errors import PolicyError
from judgeaudit.policy.rating import load_sheet

RUN = {"judge": "scripted:quiet", "preset": "quick", "limit": 6, "control_items": 2}


def run(*args: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(a) for a in args])
    if isinstance(result.exception, Exception) and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert code == result.exit_code, result.output
    return result.output


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    """A sheet with the votes of three careful raters, certified."""
    folder = tmp_path / "sheet"
    out = run("sheet", "agent_safety", "-o", folder)
    assert "6 rewrites, 3 planted wrong" in out
    sheet = load_sheet(folder)
    files = [vote_file(tmp_path, sheet, r) for r in ("ann", "bo", "cy")]
    said = run("certify", folder, *files)
    assert "First-pass rate: 6 of 6 = 1.00 [0.61, 1.00] (Wilson)" in said
    assert "ann: passed 3 of 3" in said
    return folder


def evidence(card) -> dict[str, tuple[str, bool | None]]:
    return {r.condition: (r.evidence, r.passed) for r in card.facts.renderings}


def test_certificates_reach_the_card(rated, tmp_path):
    result = audit.run(**RUN, out=tmp_path / "run", certificates=(rated / "certificates.json",))
    found = evidence(result.card)
    assert ("human", True) == found["T1"] == found["T2"] == found["T4"]
    assert ("structural", True) == found["base"]
    assert "structural_only" not in {w.code for w in result.card.warnings}
    page = (tmp_path / "run" / "card.md").read_text(encoding="utf-8")
    assert "human raters: passed, 3 raters, unanimous on each of six dimensions" in page


@pytest.mark.slow
def test_certificates_made_after_the_run_need_no_new_call(rated, tmp_path):
    before = audit.run(**RUN, out=tmp_path / "run")
    assert ("structural", True) == evidence(before.card)["T1"]
    held = (rated / "certificates.json",)
    assert ("human", True) == evidence(audit.card(tmp_path / "run", certificates=held))["T1"]
    again = audit.run(**RUN, out=tmp_path / "run", certificates=held)
    assert ("human", True) == evidence(again.card)["T1"]
    assert before.facts.requests == again.facts.requests


def test_a_rewrite_that_people_failed_is_scored_and_not_pooled(tmp_path):
    run("sheet", "agent_safety", "-o", tmp_path / "s", "--condition", "T2", "--condition", "T4")
    sheet = load_sheet(tmp_path / "s")

    def says(pair, dimension):
        if (pair.condition, pair.planted, dimension) == ("T2", None, "scope"):
            return "no"
        return careful(pair, dimension)

    files = [vote_file(tmp_path, sheet, r, says) for r in ("ann", "bo", "cy")]
    out = run("certify", tmp_path / "s", *files, code=1)
    assert "T2 wording 0: FAILED" in out
    assert "scope: kept by 0 of 3 raters (3 no, 0 unsure)" in out
    assert "First-pass rate: 1 of 2 = 0.50" in out
    held = (tmp_path / "s" / "certificates.json",)
    result = audit.run(**RUN, out=tmp_path / "run", certificates=held)
    assert ("human", False) == evidence(result.card)["T2"]
    assert "T2" == result.scores.flags["not_certified"]
    assert "uncertified" in {w.code for w in result.card.warnings}


def test_a_failed_attention_check_is_reported(tmp_path):
    run("sheet", "agent_safety", "-o", tmp_path / "s", "--condition", "T2")
    sheet = load_sheet(tmp_path / "s")
    files = [vote_file(tmp_path, sheet, r) for r in ("ann", "bo")]
    files.append(vote_file(tmp_path, sheet, "cy", careless))
    out = run("certify", tmp_path / "s", *files, code=1)
    assert "cy: FAILED 3 of 3" in out
    assert "votes do not count" in out
    assert "T2 wording 0: open, 2 of 3 raters" in out


def test_votes_that_do_not_match_write_nothing(rated, tmp_path):
    (rated / "certificates.json").unlink()
    path = tmp_path / "votes-ann.csv"
    path.write_text(path.read_text(encoding="utf-8").replace('"yes"', '"si"', 1), encoding="utf-8")
    with pytest.raises(PolicyError, match="none was taken"):
        run("certify", rated, path)
    assert not (rated / "certificates.json").exists()


def test_a_sheet_needs_something_to_rate(tmp_path):
    with pytest.raises(PolicyError, match="nothing to rate"):
        run("sheet", "-o", tmp_path)


def test_another_policy_leaves_the_certificates_void(rated, tmp_path):
    from judgeaudit.policy import policy_path

    text = policy_path("agent_safety").read_text(encoding="utf-8")
    mine = tmp_path / "mine.toml"
    mine.write_text(text.replace("20 US dollars", "30 US dollars"), encoding="utf-8")
    held = (rated / "certificates.json",)
    ready = audit.prepare(audit.choose(None, {**RUN, "policy": str(mine), "certificates": held}))
    assert all(r.has_void for r in ready.meta.renderings if r.condition in ("T1", "T2", "T4"))
    from judgeaudit.cli import _words

    assert "evidence void for T1: the text changed" in _words.of_plan(ready)
    result = audit.run(ready)
    assert ("structural", True) == evidence(result.card)["T1"]
