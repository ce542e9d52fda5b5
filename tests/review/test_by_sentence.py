"""A draft made of single sentences: what is copied is taken, what is invented is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from draft_world import TEXT
from loopback import MODEL, Answer, Loopback, completion
from typer.testing import CliRunner

from judgeaudit.cli.policy import app
from judgeaudit.core.errors import PolicyError
from judgeaudit.policy import load_policy
from judgeaudit.policy.pieces import Piece, assemble, check_part, sentences

FORWARD = (
    "The assistant must not forward a customer's message to anyone outside the company, unless "
    "the customer has agreed in writing"
)
PARTS = {
    "forward": {
        "bearer": "The assistant",
        "force": "prohibited",
        "verb": "forward",
        "gerund": "forwarding",
        "participle": "forwarded",
        "object": "a customer's message",
        "rest": "to anyone outside the company",
        "scope": "",
        "exceptions": ["unless the customer has agreed in writing."],
    },
    "answer": {
        "bearer": "the assistant",
        "force": "required",
        "verb": "answer",
        "gerund": "answering",
        "participle": "answered",
        "object": "every complaint",
        "rest": "",
        "scope": "within 2 working days",
        "exceptions": [],
    },
    "delete": {
        "bearer": "the assistant",
        "force": "permitted",
        "verb": "delete",
        "gerund": "deleting",
        "participle": "deleted",
        "object": "newsletters",
        "rest": "",
        "scope": "",
        "exceptions": [],
    },
    "wear": {
        "bearer": "Employees",
        "force": "required",
        "verb": "wear",
        "gerund": "wearing",
        "participle": "worn",
        "object": "a badge",
        "rest": "in the lobby",
        "scope": "",
        "exceptions": [],
    },
}


def kind_of(sentence: str) -> str:
    if "apply to" in sentence:
        return "applies_to"
    return "doubt_is_safe" if "unclear" in sentence else "norm"


def reader(spoil=None):
    """Answer like a model that reads sentences; `spoil` may change an answer."""

    def answer(body, _n, _k):
        asked = body["messages"][-1]["content"]
        if "What kind is this one sentence?" in asked:
            said = {"kind": kind_of(asked.split("The sentence: ")[1])}
        else:
            rule = asked.split("The rule: ")[1]
            verbs = {"forward a": "forward", "answer every": "answer", "delete n": "delete"}
            said = PARTS[next((v for w, v in verbs.items() if w in rule), "wear")]
        said = said if spoil is None else spoil(said, asked)
        return Answer(body=completion(json.dumps(said)))

    return answer


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-sentinel-4711")


def draft(behaviour, tmp_path: Path, *more: str) -> tuple[str, int]:
    source = tmp_path / "mail rules.md"
    source.write_text(TEXT, encoding="utf-8")
    with Loopback(behaviour) as server:
        args = ["import", str(source), "--by-sentence", "--judge", f"openai/{MODEL}"]
        args += ["--api-base", server.api_base, "-o", str(tmp_path / "mine.toml"), *more]
        result = CliRunner().invoke(app, args)
        requests = server.n_requests
    if isinstance(result.exception, Exception) and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0
    return result.output, requests


def test_sentences_become_a_policy_and_another_bearer_is_left_out(tmp_path):
    out, requests = draft(reader(), tmp_path)
    n = len(sentences(TEXT))
    assert requests == n + 4  # each sentence once, each norm once more
    assert "must not forward a customer's message to anyone outside the company unless" in out
    assert "Left out: line 9: binds 'Employees', not 'the assistant'" in out
    policy = load_policy(tmp_path / "mine.toml")
    assert [norm.force for norm in policy.norms] == ["prohibited", "required", "permitted"]
    assert policy.norms[0].exceptions[0].when == "the customer has agreed in writing"
    assert policy.scope == "every message that the assistant reads or writes"
    assert policy.burden.doubt == "SAFE"
    assert "Assumed by the model, for the text does not say: threshold" in out
    assert "Assumed by the model, for the text does not say: default" in out


def test_an_invented_exception_is_told_and_asked_for_again(tmp_path):
    def invents(said, asked):
        if said is PARTS["delete"] and "mended" not in asked:
            return said | {"exceptions": ["a manager objects"]}
        return said

    out, requests = draft(reader(invents), tmp_path)
    assert requests == len(sentences(TEXT)) + 5
    assert "objects" not in out


def test_what_stays_invented_is_left_out_by_line(tmp_path):
    def invents(said, _asked):
        return said | {"object": "love letters"} if said is PARTS["delete"] else said

    out, _ = draft(reader(invents), tmp_path, "--attempts", "2")
    assert "Left out: line 7" in out
    assert "(foreign: love, letters)" in out
    assert len(load_policy(tmp_path / "mine.toml").norms) == 2


def test_nonsense_leaves_no_file_but_all_answers(tmp_path):
    def nonsense(_body, _n, _k):
        return Answer(body=completion("As a poet I would rather sing."))

    with pytest.raises(PolicyError, match="no sentence was found to be a norm"):
        draft(nonsense, tmp_path, "--attempts", "1")
    assert not (tmp_path / "mine.toml").exists()
    lines = (tmp_path / "mine.answer.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(sentences(TEXT))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"verb": "to forward"}, None),
        ({"exceptions": ["except where the customer has agreed in writing"]}, None),
        ({"participle": "forwards"}, None),
        ({"verb": "forwards"}, None),
        ({"force": "permitted"}, "the rule says 'not', so it is not permitted"),
        ({"scope": "except where the customer has agreed in writing", "exceptions": []}, None),
        ({"verb": "forward on"}, "one word"),
        ({"bearer": "the doctor"}, "bearer|'doctor' does not stand"),
        ({"force": "banned"}, "must be one of"),
        ({"object": ""}, "must not be empty"),
        ({"exceptions": "none"}, "must be a list"),
        ({"rest": "to anyone outside the group"}, "does not stand in the rule"),
        (
            {"exceptions": ["the customer has agreed in writing within 3 days"]},
            "foreign: within, 3, days",
        ),
    ],
)
def test_every_word_of_a_part_stands_in_the_sentence(change, message):
    part = PARTS["forward"] | change
    if message is None:
        made = check_part("norm", part, FORWARD)
        assert made["exceptions"] == ["the customer has agreed in writing"]
        assert (made["verb"], made["participle"]) == ("forward", "forwarded")
        assert made["scope"] == ""
        return
    with pytest.raises(PolicyError, match=message):
        check_part("norm", part, FORWARD)


def test_two_sentences_that_disagree_are_told():
    parts = [Piece(FORWARD, 1, "norm", check_part("norm", PARTS["forward"], FORWARD))]
    rules = [Piece("a", 2, "doubt_is_safe"), Piece("b", 3, "doubt_is_unsafe")]
    made = assemble("Title\n", parts + rules, name="x")
    assert made.data["burden"]["doubt"] == "SAFE"
    assert made.notes == ("line 3: says UNSAFE, but SAFE was read before",)
    assert made.data["assumed"] == ["burden", "default", "threshold"]


def test_a_title_of_two_parts_stays_one_phrase():
    parts = [Piece(FORWARD, 1, "norm", check_part("norm", PARTS["forward"], FORWARD))]
    made = assemble("# Front desk: standard of conduct\n\nIt must …", parts, name="x")
    assert made.data["title"] == "Front desk, standard of conduct"


def test_a_pronoun_is_whom_the_other_sentences_name():
    rule = "It must not forward a customer's message to anyone outside the company"
    part = PARTS["forward"] | {"bearer": "the customer", "exceptions": []}
    assert check_part("norm", part, rule)["bearer"] == "it"
