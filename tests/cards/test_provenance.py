"""A card says by which file of weights, and by which library, a model on this machine judged."""

from __future__ import annotations

from card_runs import CASES, facts, run

from judgeaudit.cards import to_html, to_markdown
from judgeaudit.core.records import JudgeSpec

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
