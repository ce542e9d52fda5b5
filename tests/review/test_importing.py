"""A text becomes a draft, a person confirms it, and an audit refuses it until then."""

from __future__ import annotations

from pathlib import Path

import pytest
from draft_world import GOOD, TEXT, changed, drafts
from loopback import BEHAVIOURS, MODEL, Loopback, in_turn, says
from typer.testing import CliRunner

from judgeaudit import audit
from judgeaudit.cli.policy import app
from judgeaudit.core.errors import JudgeError, PolicyError
from judgeaudit.policy import load_policy
from judgeaudit.policy.confirming import why_unconfirmed
from judgeaudit.policy.linting import lint


def run(*args: object, code: int = 0, typed: str | None = None) -> str:
    result = CliRunner().invoke(app, [str(a) for a in args], input=typed)
    if isinstance(result.exception, Exception) and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert code == result.exit_code, result.output
    return result.output


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-sentinel-4711")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "rules.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


def draft(server: Loopback, source: Path, *more: object) -> str:
    return run(
        *("import", source, "--judge", f"openai/{MODEL}", "--api-base", server.api_base),
        *("-o", source.with_name("mine.toml"), *more),
    )


@pytest.fixture
def drafted(source: Path) -> Path:
    with Loopback(drafts(GOOD)) as server:
        draft(server, source)
    return source.with_name("mine.toml")


@pytest.mark.slow
def test_a_draft_is_rendered_and_what_is_not_covered_is_shown(source):
    with Loopback(drafts(GOOD)) as server:
        out = draft(server, source)
    assert "1. **Forwarding.** The assistant must not forward a customer's message" in out
    assert "unless the customer has agreed in writing." in out
    assert "line 9, not covered (0.00): Employees wear a badge in the lobby" in out
    assert "newsletters" not in out.partition("---- to be looked at")[2]
    assert "Assumed by the model, for the text does not say: threshold" in out
    assert "Assumed by the model, for the text does not say: default" in out
    assert "Not found in the original" not in out
    assert "Does not read back" not in out
    written = source.with_name("mine.toml").read_text(encoding="utf-8")
    assert "[threshold]  # assumed by the model: the text does not say" in written
    assert "confirmed = false" in written
    assert "sk-sentinel" not in written


def test_what_the_model_made_up_is_shown(source):
    norms = changed()["norms"]
    norms[1]["scope"] = "within 3 working days"
    norms[2]["exceptions"] = [{"id": "star", "when": "a star marks the sender as important"}]
    with Loopback(drafts(changed(norms=norms))) as server:
        out = draft(server, source)
    assert "Not found in the original: exception newsletters.star" in out
    assert "missing: 2" in out


def test_the_prompt_holds_the_text_and_the_schema_goes_along_when_asked(source):
    with Loopback(drafts(GOOD)) as server:
        draft(server, source, "--schema")
    body = server.seen[0].body
    assert TEXT.rstrip() in body["messages"][-1]["content"]
    assert "json_schema" == body["response_format"]["type"]
    assert "norms" in body["response_format"]["json_schema"]["schema"]["properties"]


def test_the_schema_admits_the_draft_and_no_wrong_one():
    import jsonschema

    from judgeaudit.policy.drafting import draft_schema

    check = jsonschema.Draft202012Validator(draft_schema())
    check.validate(GOOD)
    assert not check.is_valid(changed(threshold={"level": "huge"}))
    assert not check.is_valid(changed(norms=[]))


def test_a_model_is_told_what_was_wrong_and_may_mend_it(source):
    wrong = changed(threshold={"level": "huge"})
    with Loopback(in_turn(drafts(wrong), drafts(GOOD))) as server:
        draft(server, source)
        assert 2 == server.n_requests
    told = server.seen[1].body["messages"][-1]["content"]
    assert "Your last answer could not be used" in told
    assert "'huge' is not one of" in told
    assert not source.with_name("mine.answer.txt").exists()


@pytest.mark.parametrize(
    ("behaviour", "words", "requests"),
    [
        (says("Policies are a fascinating subject."), "holds no policy as JSON; it begins", 3),
        (says(""), "the answer is empty", 3),
        (says('{"verdict": "SAFE"}'), "holds no policy as JSON", 3),
        (drafts(changed(norms=[])), "norms", 3),
        (drafts(changed(norms="all")), "must be a list of objects", 3),
        (drafts(changed(burden={"doubt": "MAYBE"})), "'MAYBE' is not one of", 3),
        (drafts(changed(mood="good")), "unknown key 'mood'", 3),
        (drafts(changed(scope="mail. Also fax")), "a sentence ends in it", 3),
        (says("I'm sorry, but I can't help with that."), "the model refused: \"I'm sorry", 1),
        ("refusal", 'the model refused: "I can\'t help with that."', 1),
        (says('{"norms": [{"id"', finish_reason="length"), "cut off by its cap of tokens", 3),
    ],
)
def test_an_answer_that_is_no_policy_is_one_clear_line(source, behaviour, words, requests):
    with Loopback(behaviour) as server:
        with pytest.raises(PolicyError) as e:
            draft(server, source)
        assert requests == server.n_requests
    assert words in str(e.value)
    assert "The last answer is kept in" in str(e.value)
    assert source.with_name("mine.answer.txt").exists()
    assert not source.with_name("mine.toml").exists()


def test_offline_is_one_clear_line(source):
    with pytest.raises(JudgeError, match="no server answers at http") as e:
        run(
            *("import", source, "--judge", f"openai/{MODEL}"),
            *("--api-base", "http://127.0.0.1:9/v1", "-o", source.with_name("mine.toml")),
        )
    assert 3 == e.value.exit_code


@pytest.mark.parametrize(
    ("name", "words"), [("401", "Incorrect API key"), ("quota", "no credit left"), ("500", "500")]
)
def test_a_server_that_does_not_answer_is_one_clear_line(source, name, words):
    with Loopback(BEHAVIOURS[name]) as server, pytest.raises(JudgeError, match=words):
        draft(server, source)


@pytest.mark.parametrize(
    ("text", "words"),
    [(b" \n", "the text is empty"), (b"\xff\xfe", "not UTF-8"), (b"a\0b", "is no text")],
)
def test_a_file_that_is_no_text_is_refused_before_anybody_is_asked(source, text, words):
    source.write_bytes(text)
    with Loopback(drafts(GOOD)) as server:
        with pytest.raises(PolicyError, match=words):
            draft(server, source)
        assert 0 == server.n_requests


def test_nothing_is_overwritten(source, drafted):
    with Loopback(drafts(GOOD)) as server, pytest.raises(PolicyError, match="there already"):
        draft(server, source)
    with pytest.raises(PolicyError, match="no TOML file"):
        run("import", source, "--judge", "x/y", "-o", source)


# ---- confirming ----


def audited(path: Path, **more: object):
    choices = {"judge": "scripted:quiet", "preset": "quick", "limit": 6, "control_items": 2}
    return audit.choose(None, {**choices, "policy": str(path), **more})


def test_an_audit_refuses_a_draft_unless_told_otherwise(drafted, tmp_path):
    with pytest.raises(PolicyError, match=r"drafted by litellm:openai/\S+ and confirmed by nobody"):
        audit.prepare(audited(drafted))
    result = audit.run(audited(drafted, unconfirmed=True, out=tmp_path / "run"))
    serious = {w.code for w in result.card.warnings if w.severity == "serious"}
    assert "unconfirmed_policy" in serious
    assert "confirmed by nobody" in result.card.facts.policy.source


def test_a_person_confirms_by_typing_its_id(source, drafted):
    before = load_policy(drafted)
    out = run("confirm", drafted, "--by", "Ann Lee", "--source", source, typed="mail_rules\n")
    assert "not covered (0.00): Employees wear a badge" in out
    assert "Confirmed by Ann Lee" in out
    after = load_policy(drafted)
    assert why_unconfirmed(after) is None
    assert before.sha256 == after.sha256
    assert "confirmed by Ann Lee" in audit.prepare(audited(drafted)).meta.policy.source
    assert "confirmed already, by Ann Lee" in run("confirm", drafted, "--by", "Bo")


def test_another_word_confirms_nothing(drafted):
    text = drafted.read_text(encoding="utf-8")
    assert "Not confirmed." in run("confirm", drafted, "--by", "Ann", typed="yes\n", code=1)
    run("confirm", drafted, "--by", "Ann", typed="", code=1)
    assert text == drafted.read_text(encoding="utf-8")


def test_a_later_change_voids_a_confirmation(drafted):
    run("confirm", drafted, "--by", "Ann", "--yes")
    text = drafted.read_text(encoding="utf-8")
    drafted.write_text(text.replace("2 working days", "9 working days"), encoding="utf-8")
    assert "changed after Ann confirmed it" == why_unconfirmed(load_policy(drafted))
    with pytest.raises(PolicyError, match="changed after Ann confirmed it"):
        audit.prepare(audited(drafted))
    run("confirm", drafted, "--by", "Bo", "--yes")
    assert why_unconfirmed(load_policy(drafted)) is None


def test_a_draft_cannot_be_confirmed_by_a_flag_alone(drafted):
    text = drafted.read_text(encoding="utf-8")
    drafted.write_text(text.replace("confirmed = false", "confirmed = true"), encoding="utf-8")
    with pytest.raises(PolicyError, match="a draft is confirmed by `judgeaudit policy confirm`"):
        load_policy(drafted)


def test_confirming_keeps_the_rest_of_the_file(drafted):
    before = drafted.read_text(encoding="utf-8").partition("[draft]")[0]
    run("confirm", drafted, "--by", 'Ann "A" Lee', "--yes")
    assert before == drafted.read_text(encoding="utf-8").partition("[draft]")[0]
    made = load_policy(drafted).draft
    assert made is not None
    assert 'Ann "A" Lee' == made.confirmed_by


def test_the_wrong_original_is_refused(drafted, tmp_path):
    other = tmp_path / "other.md"
    other.write_text(TEXT + "\nMore.\n", encoding="utf-8")
    with pytest.raises(PolicyError, match="not the text that the policy was drafted from"):
        run("confirm", drafted, "--by", "Ann", "--source", other, "--yes")


def test_what_no_model_drafted_needs_no_confirmation():
    from judgeaudit.policy import policy_path

    with pytest.raises(PolicyError, match="nothing to confirm"):
        run("confirm", policy_path("agent_safety"), "--by", "Ann", "--yes")
    assert why_unconfirmed(load_policy("agent_safety")) is None


def test_a_draft_without_faults_passes_the_linter(drafted):
    assert () == lint(load_policy(drafted))
