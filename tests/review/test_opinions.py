"""A model's second opinion: asked in both orders, stored as a model's, and never a gate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from loopback import BEHAVIOURS, MODEL, Answer, Loopback, completion
from typer.testing import CliRunner

from judgeaudit import audit
from judgeaudit.cli.policy import app
from judgeaudit.core.errors import JudgeError, PolicyError
from judgeaudit.policy import load_policy
from judgeaudit.policy.opinions import (
    OpinionFile,
    opinion_certificates,
    opinion_prompt,
    read_opinion,
)
from judgeaudit.policy.rating import (
    DIMENSIONS,
    load_certificates,
    make_sheet,
    pairs_of_policy,
)

SAME = dict.fromkeys(DIMENSIONS, "same")


def run(*args: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(a) for a in args])
    if isinstance(result.exception, Exception) and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert code == result.exit_code, result.output
    return result.output


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-sentinel-4711")


def texts(body) -> tuple[str, str]:
    """Return the two versions that a request shows."""
    user = body["messages"][-1]["content"]
    cut = [part.split("\n", 1)[1] for part in user.split("<<< ")[1:]]
    first, second = (part.split("\nVERSION ")[0] for part in cut)
    return first, second


def agreeable(_body, _n, _k) -> Answer:
    return Answer(body=completion(json.dumps(SAME)))


def one_sided(body, _n, _k) -> Answer:
    """See a change of force only where the rewrite comes first."""
    first, _ = texts(body)
    base, _ = pairs_of_policy(load_policy("agent_safety"))
    said = SAME if first == base.text.rstrip() else SAME | {"deontic_force": "different"}
    return Answer(body=completion(json.dumps(said)))


def ask(server: Loopback, out: Path, *more: object, code: int = 0) -> str:
    return run(
        *("opinion", "agent_safety", "--judge", f"openai/{MODEL}", "--api-base", server.api_base),
        *("-o", out, "--condition", "T2", "--condition", "T4", *more),
        code=code,
    )


def test_each_pair_is_asked_once_in_each_order(tmp_path):
    with Loopback(agreeable) as server:
        out = ask(server, tmp_path / "o.json")
    asked = [texts(s.body) for s in server.seen]
    assert 2 * (2 + 3) == len(asked) == len(set(asked))
    assert set(asked) == {(b, a) for a, b in asked}
    assert "it noticed 0 of 3 wrong rewrites planted to test it" in out
    assert "T2 wording 0: no doubt" in out


def test_it_is_stored_as_a_model_and_never_as_human(tmp_path):
    with Loopback(agreeable) as server:
        ask(server, tmp_path / "o.json")
    held = load_certificates(tmp_path / "o.json")
    assert {"T2", "T4"} == {p.condition for p, _ in held}
    assert {("model", True)} == {(c.evidence, c.passed) for _, c in held}
    assert all("noticed 0 of 3 wrong rewrites planted" in c.note for _, c in held)
    assert "sk-sentinel" not in (tmp_path / "o.json").read_text(encoding="utf-8")


def test_orders_that_disagree_are_a_doubt(tmp_path):
    with Loopback(one_sided) as server:
        out = ask(server, tmp_path / "o.json")
    assert "T2 wording 0: DOUBTS" in out
    assert "called same with the original first, different with the rewrite first" in out


def test_a_doubt_is_on_the_card_and_gates_nothing(tmp_path):
    with Loopback(one_sided) as server:
        ask(server, tmp_path / "o.json")
    choices = {"judge": "scripted:quiet", "preset": "quick", "limit": 6, "control_items": 2}
    result = audit.run(**choices, out=tmp_path / "run", certificates=(tmp_path / "o.json",))
    facts = {r.condition: r for r in result.card.facts.renderings}
    assert ("structural", True) == (facts["T2"].evidence, facts["T2"].passed)
    assert [("model", False)] == [(o.evidence, o.passed) for o in facts["T2"].others]
    assert () == facts["T1"].others
    assert "not_certified" not in result.scores.flags
    said = next(w.sentence for w in result.card.warnings if w.code == "model_doubts")
    assert "T2 and T4" in said
    assert "votes by a model: failed" in (tmp_path / "run" / "card.md").read_text(encoding="utf-8")


def test_a_bare_opinion_certifies_nothing(tmp_path):
    """A text of the user's own with nothing but a model's word stays uncertified."""
    base, rated = pairs_of_policy(load_policy("agent_safety"), ["T2"])
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "base.md").write_text(base.text, encoding="utf-8")
    (folder / "T2.md").write_text(rated[0][0].text, encoding="utf-8")
    with Loopback(agreeable) as server:
        run(
            *("opinion", "--rewrites", folder, "--judge", f"openai/{MODEL}"),
            *("--api-base", server.api_base, "-o", tmp_path / "o.json"),
        )
    ready = audit.prepare(
        audit.choose(
            None,
            {
                "judge": "scripted:quiet",
                "rewrites": folder,
                "certificates": (tmp_path / "o.json",),
            },
        )
    )
    by = {r.condition: r for r in ready.meta.renderings}
    assert not by["T2"].certified
    assert ["model"] == [c.evidence for c in by["T2"].others]


def test_what_failed_is_asked_again_and_answers_are_kept(tmp_path):
    def at_first(body, n, k):
        return agreeable(body, n, k) if n <= 4 else BEHAVIOURS["429"](body, n, k)

    with Loopback(at_first) as server:
        out = ask(server, tmp_path / "o.json")
        assert 10 == server.n_requests
        assert "6 questions are open, the first:" in out
        server.behaviour = agreeable
        again = ask(server, tmp_path / "o.json")
        assert 16 == server.n_requests
    assert "questions are open" not in again
    assert 2 == len(load_certificates(tmp_path / "o.json"))


def test_nonsense_is_no_opinion(tmp_path):
    with Loopback("hash") as server:
        out = ask(server, tmp_path / "o.json")
    assert "T2 wording 0: no opinion" in out
    assert "the answer holds no opinion on all six dimensions" in out
    assert () == load_certificates(tmp_path / "o.json")


def test_no_server_is_one_clear_line(tmp_path):
    with pytest.raises(JudgeError, match="no server answers at http"):
        run(
            *("opinion", "agent_safety", "--judge", f"openai/{MODEL}"),
            *("--api-base", "http://127.0.0.1:9/v1", "-o", tmp_path / "o.json"),
        )
    assert not (tmp_path / "o.json").exists()


def test_opinions_of_another_model_are_not_mixed(tmp_path):
    with Loopback(agreeable) as server:
        ask(server, tmp_path / "o.json")
        with pytest.raises(PolicyError, match="opinions of another model"):
            ask(server, tmp_path / "o.json", "--temperature", "0")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (json.dumps(SAME), dict.fromkeys(DIMENSIONS, "yes")),
        ("", None),
        ('{"scope": "same"}', None),
        (json.dumps(SAME | {"scope": "kind of"}), None),
        (f"<think>{json.dumps(SAME)}</think> I refuse.", None),
        (
            f"First {json.dumps(SAME)}, but in the end {json.dumps(SAME | {'scope': 'Different'})}",
            dict.fromkeys(DIMENSIONS, "yes") | {"scope": "no"},
        ),
    ],
)
def test_reading_an_answer(text, read):
    assert read == read_opinion(text)


def test_a_text_cannot_fill_a_slot():
    base, rated = pairs_of_policy(load_policy("agent_safety"))
    pair = make_sheet(base, rated, policy=load_policy("agent_safety")).pairs[0]
    evil = pair.model_copy(update={"original": "{{ second }}"})
    said = opinion_prompt(evil, "original_first").messages[-1].content
    assert "VERSION A BEGINS\n{{ second }}\nVERSION A ENDS" in said


def test_a_model_that_notices_what_is_planted_says_so(tmp_path):
    def knowing(body, _n, _k):
        first, second = texts(body)
        planted = {p.rewrite.rstrip() for p in sheet.pairs if p.planted is not None}
        wrong = first in planted or second in planted
        return Answer(body=completion(json.dumps(SAME | ({"scope": "different"} if wrong else {}))))

    policy = load_policy("agent_safety")
    base, rated = pairs_of_policy(policy, ["T2", "T4"])
    sheet = make_sheet(base, rated, policy=policy)
    with Loopback(knowing) as server:
        out = ask(server, tmp_path / "o.json")
    assert "it noticed 3 of 3 wrong rewrites" in out
    file = OpinionFile.model_validate_json((tmp_path / "o.json").read_text(encoding="utf-8"))
    assert [True, True] == [c.passed for _, c in opinion_certificates(file)]
