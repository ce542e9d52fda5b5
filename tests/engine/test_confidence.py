"""Confidence has one source a run: it is recorded, said on the card, and never mixed."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from judge_world import DOORS, both_doors
from loopback import Answer, Loopback, always, completion, error

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError, LedgerError
from judgeaudit.core.table import CODES, NOT_CALLED, SAFE, UNSAFE, agreement
from judgeaudit.engine.ledger import Ledger
from judgeaudit.judges._logprobs import verdict_probability

N = 6


def token(text, logprob=-0.1, **others):
    listed = [{"token": t, "logprob": p} for t, p in others.pop("top", {}).items()]
    return {"token": text, "logprob": logprob, "bytes": None, "top_logprobs": listed, **others}


def told(*tokens):
    return {"logprobs": {"content": list(tokens)}}


HALF = math.log(0.5)
QUARTER = math.log(0.25)
OBJECT = ['{"', "verdict", '":', ' "']


@pytest.mark.parametrize(
    ("tokens", "p"),
    [
        # the label cut into pieces, as tokenizers do
        ([*map(token, OBJECT), token("UNS", top={"UNS": HALF, "SA": QUARTER}), token("AFE"), token('"}')], 2 / 3),
        ([*map(token, OBJECT), token("SAFE", top={"SAFE": HALF, "UNSAFE": HALF}), token('"}')], 1 / 2),
        # with its quote, with a blank, in other case
        ([token('{"verdict":'), token(' "SAFE', top={' "SAFE': HALF, ' "UN': QUARTER, " null": QUARTER})], 1 / 3),
        ([token(" safe", top={" safe": HALF, " unsafe": HALF}), token(".")], 1 / 2),
        ([token("Verdict"), token(": "), token("UN", top={"UN": HALF, "S": HALF}), token("SAFE")], 1 / 2),
        # the last verdict counts, as it does for the parser
        ([token("Verdict: "), token("SAFE", top={"SAFE": 0.0}), token("\nVerdict: "), token("UNSAFE", top={"UNSAFE": HALF, "SAFE": HALF})], 1 / 2),
        # a reason that speaks of labels is no verdict
        ([*map(token, OBJECT), token("SAFE", top={"SAFE": 0.0}), token('", "rationale": "not UNSAFE"}')], 0.0),
        # the drawn token is not among the likeliest
        ([*map(token, OBJECT), token("UNSAFE", QUARTER, top={"SAFE": HALF})], 1 / 3),
        # alternatives that are no label at all
        ([*map(token, OBJECT), token("SAFE", HALF, top={"maybe": HALF, "S": -1e9, "U": -1e9, "": 0.0})], 0.0),
        ([token("I cannot say")], None),
        ([*map(token, OBJECT), token("SAFE", "high", top={"SAFE": None})], None),
        ([*map(token, OBJECT), token("SAFE", math.nan, top={"UNSAFE": math.nan})], None),
        ([*map(token, OBJECT), token("SAFE", 700.0, top={"UNSAFE": 700.0})], 1 / 2),
        ([7, None, {"token": 3}, {"logprob": 1}], None),
        ([], None),
    ],
)  # fmt: skip
def test_the_probability_of_a_label_among_the_two(tokens, p):
    found = verdict_probability(told(*tokens))
    assert found == ({} if p is None else {"p_unsafe": pytest.approx(p)})


@pytest.mark.parametrize(
    ("tokens", "p"),
    [
        # what the grammar keeps out was never drawn: other case, blanks, other words
        (["SA", {"SA": 0.6, "UN": 0.1, "Un": 0.1, "uns": 0.1, " UNSAFE": 0.05, "S": 0.1}], 1 / 8),
        # a token that holds the quote before the label, and one that holds what is behind it
        (['"SA', {'"SA': 0.3, '"UN': 0.1, '"un': 0.2, "UN": 0.2, '"': 0.2}], 1 / 4),
        (["SAFE", {'SAFE"}': 0.2, "SAFE": 0.4, 'UNSAFE"}': 0.2, "SAFER": 0.0}], 1 / 4),
        (["S", {"S": 0.2, "U": 0.2}], 1 / 2),
        (["UNSAFE", {"Un": 0.9, "UNSAFE": 0.01}], 1.0),
    ],
)
def test_behind_a_grammar_only_what_it_lets_through_counts(tokens, p):
    drawn, top = tokens
    rest = token("SAFE"[len(drawn.strip('"')) :] + '"}')
    before = OBJECT if not drawn.startswith('"') else [*OBJECT[:-1], " "]
    listed = {t: math.log(q) if q else -math.inf for t, q in top.items()}
    choice = told(*map(token, before), token(drawn, listed.get(drawn, -9.0), top=listed), rest)
    assert verdict_probability(choice, "grammar") == {"p_unsafe": pytest.approx(p)}


def test_a_grammar_is_told_by_the_judge_not_by_the_answer(tmp_path):
    """The same bytes: a server that was given a grammar, and one that was not."""
    listed = {"SA": math.log(0.6), "UN": math.log(0.1), "Un": math.log(0.1)}
    answer = completion('{"verdict": "SAFE"}')
    answer["choices"][0] |= told(
        *map(token, OBJECT), token("SA", listed["SA"], top=listed), token('FE"}')
    )
    found = {}
    with Loopback(always(Answer(body=answer))) as server:
        for judge in ("direct:m", "openai/m"):
            for form in ("plain", "grammar"):
                out = tmp_path / f"{judge[:6]}-{form}"
                audit.run(
                    judge=judge, api_base=server.api_base, corpus="sample", limit=1, conditions=["base"],
                    base_repeats=1, repeats=1, send_seed=False, logprobs=True, output_format=form, out=out,
                )  # fmt: skip
                with Ledger.open_readonly(out / "ledger.sqlite") as view:
                    found[judge, form] = view.table().p_unsafe.item()
    for judge in ("direct:m", "openai/m"):
        assert pytest.approx(1 / 7) == found[judge, "grammar"]
        assert pytest.approx(2 / 8) == found[judge, "plain"]


@pytest.mark.parametrize(
    "choice",
    [None, {}, {"logprobs": None}, {"logprobs": []}, told() | {"logprobs": {"content": "x"}}, 7],
)
def test_no_log_probabilities_no_probability(choice):
    assert verdict_probability(choice) == {}


def test_a_long_hostile_answer_is_read_in_one_go():
    tokens = [token('"verdict" ' * 4, top={"SAFE": 0.0}) for _ in range(20_000)]
    assert verdict_probability(told(*tokens)) == {}


def test_agreement_is_the_share_of_repeats_with_the_same_label():
    failed = CODES["refusal"]
    codes = np.array(
        [[[SAFE, UNSAFE, SAFE, failed], [UNSAFE, NOT_CALLED, failed, failed]]], dtype=np.int8
    )
    share = agreement(codes)
    assert share[0, 0, :3].tolist() == pytest.approx([2 / 3, 1 / 3, 2 / 3])
    assert np.isnan(share[0, 0, 3])
    assert np.isnan(share[0, 1]).all()


# -- in a run ------------------------------------------------------------------------------------


def talks(body, n, _k):
    """State 0.9, and tell log-probabilities that say 0.75, if asked."""
    answer = completion('{"verdict": "UNSAFE", "confidence": 0.9}')
    if body.get("logprobs"):
        assert body["top_logprobs"] == 5
        tokens = [*map(token, OBJECT)]
        tokens.append(token("UNSAFE", top={"UNSAFE": math.log(0.6), "SAFE": math.log(0.2)}))
        tokens.append(token('", "confidence": 0.9}'))
        answer["choices"][0]["logprobs"] = {"content": tokens}
    return Answer(body=answer)


@pytest.fixture
def choices(tmp_path):
    return {
        "preset": "quick", "limit": 1, "conditions": ("base",), "base_repeats": N,
        "out": tmp_path / "run", "attempts": 1,
    }  # fmt: skip


def run(server, choices, model=DOORS[1], **more):
    return audit.run(judge=model, api_base=server.api_base, **{**choices, **more})


def confidences(choices):
    with Ledger.open_readonly(choices["out"] / "ledger.sqlite") as view:
        stored = {c if c is None else round(c, 6) for c in (r["confidence"] for r in view.rows())}
        table = view.table().confidence
    return stored, None if table is None else {round(float(c), 3) for c in table.reshape(-1)}


def card_row(result):
    import re

    from judgeaudit.cards import to_markdown

    found = re.search(r"Confidence[^|\n]*\|\s*([^|\n]+)", to_markdown(result.card))
    return found[1].strip() if found else None


@both_doors
def test_stated(choices, model):
    with Loopback(talks) as server:
        result = run(server, choices, model)
        assert "logprobs" not in server.seen[0].body
    assert confidences(choices) == ({0.9}, {0.9})
    assert result.facts.extra["confidence"] == "stated"
    assert card_row(result) == "stated by the judge"


@both_doors
def test_log_probabilities(choices, model):
    with Loopback(talks) as server:
        result = run(server, choices, model, logprobs=True)
    assert confidences(choices) == ({0.75}, {0.75})
    assert result.facts.extra["confidence"] == "logprobs"
    assert card_row(result) == f"log-probabilities of the verdict's token (known for {N} answers)"
    assert [] == [w for w in result.card.warnings if w.code == "confidence_unknown"]


@both_doors
def test_a_provider_that_ignores_the_question_gives_no_confidence_and_the_card_says_so(
    choices, model
):
    def every_second(body, n, k):
        return talks(body if n % 2 else {}, n, k)

    with Loopback(every_second) as server:
        result = run(server, choices, model, logprobs=True, concurrency=1)
    stored, _ = confidences(choices)
    # what the judge stated is there in the text, and is not put in its place
    assert stored == {None, 0.75}
    (said,) = [w.sentence for w in result.card.warnings if w.code == "confidence_unknown"]
    assert f"for {N // 2} verdicts of {N}" in said


def test_share_of_repeats_where_the_prompt_asks_for_no_confidence(choices):
    def turns(body, n, k):
        answer = talks(body, n, k)
        if n % 3 == 0:
            return Answer(body=completion('{"verdict": "SAFE", "confidence": 0.99}'))
        return answer

    with Loopback(turns) as server:
        result = run(server, choices, template="verdict_only", concurrency=1)
    stored, table = confidences(choices)
    assert stored == {None}
    assert table == {round(2 / 3, 3), round(1 / 3, 3)}
    assert card_row(result) == "share of repeats that agree"


def test_sources_are_not_mixed_in_one_ledger(choices):
    with Loopback(talks) as server:
        run(server, choices)
        with pytest.raises(LedgerError, match=r"judge\.decoding\.logprobs: not there → True"):
            run(server, choices, logprobs=True)


def no_logprobs(body, n, k):
    if "top_logprobs" in body and not body.get("logprobs"):
        return error(400, "top_logprobs needs logprobs", "invalid_value")
    if "logprobs" in body:
        answer = error(400, "Unsupported parameter: 'logprobs'", "unsupported_parameter")
        answer.body["error"]["param"] = "logprobs"
        return answer
    return talks(body, n, k)


def test_a_provider_that_refuses_ends_the_run_or_falls_back_for_all_of_it(choices):
    with Loopback(no_logprobs) as server:
        with pytest.raises(ConfigError, match="refuses the parameter logprobs"):
            run(server, choices, logprobs=True)
        assert server.n_requests == 1
        result = run(server, choices, logprobs=True, drop_unsupported=True)
        assert server.n_requests == 1 + 2 + N
    assert result.facts.dropped_parameters == ("logprobs",)
    assert result.facts.extra["confidence"] == "stated"
    assert confidences(choices) == ({0.9}, {0.9})


@pytest.mark.parametrize("judge", ["scripted:quiet", "replay:x.jsonl"])
def test_judges_without_tokens_are_refused(choices, judge):
    with pytest.raises(ConfigError, match="--logprobs does not go with judge"):
        audit.run(judge=judge, **choices, logprobs=True)


def test_the_raw_probability_is_kept_beside_the_answer(choices):
    with Loopback(talks) as server:
        run(server, choices, logprobs=True)
    with Ledger.open_readonly(choices["out"] / "ledger.sqlite") as view:
        kept = {e for (e,) in view.connection.execute("SELECT extra FROM replies")}
    assert {round(json.loads(e)["p_unsafe"], 6) for e in kept} == {0.75}
    # and gives the figures from probabilities, with their source
    jitter = audit.score(choices["out"]).find("soft_jitter", "base")
    assert jitter.value == pytest.approx(2 * 0.75 * 0.25)
    assert "token log-probabilities" in jitter.note


def test_runs_that_do_not_ask_keep_their_folder():
    from judgeaudit.core.command import folder_of_choices

    plain = audit.choose(None, {"judge": "scripted:quiet"})
    assert folder_of_choices(plain) == folder_of_choices(
        plain.model_copy(update={"logprobs": False})
    )
    assert folder_of_choices(plain) != folder_of_choices(
        plain.model_copy(update={"logprobs": True})
    )
