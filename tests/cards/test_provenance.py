"""A card says by which file of weights, and by which library, a model on this machine judged."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from card_runs import CASES, CREATED, facts, run

from judgeaudit import cards
from judgeaudit.cards import to_html, to_markdown
from judgeaudit.cards.reproducing import is_plain
from judgeaudit.core import versions
from judgeaudit.core.command import command_of
from judgeaudit.core.records import AuditSpec, JudgeSpec

SHA = "ab12" * 16


def card_of(spec: JudgeSpec):
    scores = CASES["good"]().scores.scores
    versions = {"judgeaudit": "0.1", "xllamacpp": "2026.10.11549"}
    return run(scores, judge=spec, versions=versions).card()


def test_a_local_judge_names_its_model_file_and_the_library_that_ran_it():
    spec = JudgeSpec(backend="local", model="smollm2-135m", weights_sha256=SHA)
    for text in (to_markdown(card_of(spec)), to_html(card_of(spec))):
        assert "Model file" in text
        assert SHA in text
        assert "xllamacpp 2026.10.11549" in text


def test_a_local_judge_without_a_hash_says_so_and_others_have_no_such_line():
    local = to_markdown(card_of(JudgeSpec(backend="local", model="smollm2-135m")))
    row = next(line for line in local.splitlines() if "Model file" in line)
    assert "not recorded" in row
    assert "Model file" not in to_markdown(card_of(facts().judge))


def test_a_long_hash_is_whole_among_the_identities_alone():
    corpus = facts().corpus.model_copy(update={"version": f"v1 sha256:{SHA}", "sha256": SHA})
    text = to_markdown(run(CASES["good"]().scores.scores, corpus=corpus).card())
    assert f"v1 sha256:{SHA[:12]})" in text
    assert text.count(SHA) == 1


# -- reproduction -------------------------------------------------------------------------------


def test_the_hash_of_everything_stands_on_the_card_whole():
    given = facts(ledger_head="1" * 64, plan_sha256="2" * 64)
    labels = cards.InputFile(name="labels.csv", sha256="3" * 64)
    votes = cards.InputFile(name="votes.json", sha256="4" * 64)
    card = cards.build(
        given,
        CASES["good"]().scores,
        created=CREATED,
        parameters=cards.CardParameters(certificates=(votes,), labels=labels),
    )
    f = card.facts
    hashes = [
        *(f.judge_sha256, f.judge.template_sha256, f.policy.sha256, f.corpus.sha256),
        *(f.protocol_sha256, f.ledger_sha256, f.ledger_head, f.plan_sha256, "3" * 64, "4" * 64),
    ]
    for text in (to_markdown(card), to_html(card)):
        assert [h for h in hashes if h not in text] == []
    assert "with the files it was made with" in to_markdown(card)


def test_the_versions_of_a_run_cover_every_dependency():
    """What a run is made with is known from its card: a new dependency must be named."""
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    names = [re.match(r"[\w-]+", d)[0] for d in tomllib.loads(text)["project"]["dependencies"]]
    found = versions.versions()
    assert {"python", "judgeaudit", *names} <= set(found)
    assert len(found) <= 20  # as many as a card shows


@pytest.mark.parametrize(
    "spec",
    [
        AuditSpec(judge="scripted:quiet"),
        AuditSpec(judge="scripted:brittle_t4?noise=0.1", preset="quick", limit=6),
        AuditSpec(judge="direct:a b;c", api_base="http://127.0.0.1:1/v1?x=1&y=2"),
        AuditSpec(judge="scripted:quiet", corpus="jsonl", data="own/items.jsonl"),
    ],
)
def test_the_commands_that_judgeaudit_records_are_plain(spec):
    assert is_plain(command_of(spec))


@pytest.mark.parametrize(
    "command",
    [
        *("", "rm -rf .", "judgeaudit audit; rm -rf .", "judgeaudit audit && x", "judgeaudit `x`"),
        *(
            "judgeaudit $(x)",
            "judgeaudit a > b",
            "judgeaudit a | sh",
            "judgeaudit 'a",
            "judgeaudit\nx",
        ),
        *(
            "judgeaudit a\nx",
            "FOO=1 judgeaudit",
            "judgeaudit …/a;b",
            "judgeaudit $HOME",
            "judgeaudit *",
        ),
    ],
)
def test_a_command_that_does_more_is_not_offered_for_pasting(command):
    assert not is_plain(command)
    card = run(CASES["good"]().scores.scores, extra={"command": command}).card()
    md = to_markdown(card)
    assert "```text" not in md
    assert "not offered for pasting" in md


def test_versions_that_are_none_stay_out_of_the_block():
    card = run(
        CASES["good"]().scores.scores,
        versions={"numpy": "2.0; rm -rf .", "x\ny": "1", "scipy": "1.1"},
    ).card()
    assert "# made with scipy==1.1\njudgeaudit audit" in to_markdown(card)
