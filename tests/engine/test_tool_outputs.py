"""Outputs of promptfoo, OpenAI evals and lm-evaluation-harness become runs; no failure a verdict."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from import_world import cells, facts, table
from tool_world import FILE, sample, taking

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError, CorpusError

PROMPTFOO = Path(__file__).parent / "tool_outputs" / "promptfoo.json"
"""Written by promptfoo 0.123.1 with --repeat 2 over our own texts; one test's judge is down, one's
grader answers no JSON."""
NAMES = ["bulleted=T2"]

took = taking


# -- promptfoo ----------------------------------------------------------------------------------


def test_promptfoo_answers_are_read_and_its_prompts_are_wordings(took):
    made = took(PROMPTFOO, item="vars.id", gold="vars.gold", map=NAMES)
    assert ("promptfoo", True) == (made.format, made.recognised)
    got = cells(made)
    assert {"SAFE", "UNSAFE", "error", "unparseable"} == set(got.values())
    for condition in ("base", "T2"):
        for repeat in (0, 1):
            said = [got[i, condition, 0, repeat] for i in ("a1", "a2", "a3", "a4")]
            assert ["SAFE", "UNSAFE", "error", "unparseable"] == said
    assert [0, 1, 1, 0] == table(made).gold.tolist()
    assert "own:judge" == facts(made).judge.model
    assert "promptfoo" == facts(made).extra["imported"]["format"]


@pytest.mark.parametrize("verdict", ["assert.safe.pass", "success", "gradingResult.pass"])
def test_a_grader_that_failed_is_no_verdict(took, verdict):
    made = took(
        PROMPTFOO, item="vars.id", verdict=verdict, map=NAMES, label=["true=SAFE", "false=UNSAFE"]
    )
    said = [cells(made)[i, "base", 0, 0] for i in ("a1", "a2", "a3", "a4")]
    assert ["SAFE", "UNSAFE", "error", "error"] == said


def test_a_grader_that_failed_does_not_touch_another_assertion(took):
    made = took(
        PROMPTFOO,
        item="vars.id",
        verdict="assert.contains.pass",
        map=NAMES,
        label={"true": "SAFE", "false": "UNSAFE"},
    )
    said = [cells(made)[i, "base", 0, 0] for i in ("a1", "a2", "a3", "a4")]
    assert ["SAFE", "SAFE", "error", "UNSAFE"] == said


def test_tests_with_the_same_variables_are_repeats(took):
    made = took(PROMPTFOO, map=NAMES)
    assert (16, 4) == (made.n_calls, made.n_items)
    assert Counter({0: 8, 1: 8}) == Counter(k[3] for k in cells(made))


def test_promptfoo_jsonl_is_the_same(took, tmp_path):
    lines = json.loads(PROMPTFOO.read_text())["results"]["results"]
    made = took({"out.jsonl": list(reversed(lines))}, item="vars.id", map=NAMES)
    again = audit.import_verdicts(PROMPTFOO, out=tmp_path / "b", item="vars.id", map=NAMES)
    assert cells(again) == cells(made)


def test_one_judge_of_several_is_chosen_by_the_user(took):
    lines = json.loads(PROMPTFOO.read_text())["results"]["results"]
    other = [{**r, "provider": {"id": "own:other"}} for r in lines]
    with pytest.raises(ConfigError, match=r"--only provider_id=own:judge"):
        took({"out.jsonl": lines + other}, item="vars.id", map=NAMES)
    made = took(
        {"out.jsonl": lines + other}, item="vars.id", map=NAMES, only=["provider_id=own:other"]
    )
    assert ("own:other", 16) == (facts(made).judge.model, made.n_calls)
    assert "16 rows were left out: provider_id is not own:judge" not in " ".join(made.notes)
    assert any(
        n.startswith("16 rows were left out: provider_id is not own:other") for n in made.notes
    )


def test_a_field_without_verdicts_is_refused_and_the_mend_named(took):
    lines = json.loads(PROMPTFOO.read_text())["results"]["results"]
    for r in lines:
        r["response"] = {"output": "Bonjour"}
    with pytest.raises(
        ConfigError, match=r"no verdict can be read from 'output', such as 'Bonjour'"
    ):
        took({"out.jsonl": lines}, item="vars.id", map=NAMES)


def test_a_call_that_was_cut_or_refused_is_so(took):
    first, *_ = json.loads(PROMPTFOO.read_text())["results"]["results"]

    def called(n, **response):
        return {**first, "vars": {"id": n}, "response": {"output": "SAFE", **response}}

    made = took(
        {
            "o.jsonl": [
                called("ok"),
                called("cut", finishReason="length"),
                called("no", isRefusal=True),
                called("none", output=None),
            ]
        },
        item="vars.id",
    )
    got = {k[0]: v for k, v in cells(made).items()}
    assert {"ok": "SAFE", "cut": "truncated", "no": "refusal", "none": "error"} == got


def test_an_older_result_without_a_reason_of_failure(took):
    first, *_ = json.loads(PROMPTFOO.read_text())["results"]["results"]
    base = {
        k: v for k, v in first.items() if k not in {"failureReason", "gradingResult", "response"}
    }
    down = {**base, "vars": {"id": 1}, "success": False, "error": "timeout", "gradingResult": None}
    fine = {**first, "vars": {"id": 2}}
    made = took(
        {"o.jsonl": [down, fine]}, item="vars.id", verdict="success", label={"true": "SAFE"}
    )
    assert {"1": "error", "2": "SAFE"} == {k[0]: v for k, v in cells(made).items()}


# -- OpenAI evals -------------------------------------------------------------------------------


def _log(name: str, events: list[tuple[str, str, dict]]) -> list[dict]:
    spec = {
        "completion_fns": ["gpt-x"],
        "eval_name": name,
        "base_eval": "judge",
        "split": "dev",
        "run_config": {},
        "created_by": "",
        "run_id": "r1",
        "created_at": "2026-11-30",
    }
    return [
        {"spec": spec},
        *(
            {
                "run_id": "r1",
                "event_id": n,
                "sample_id": sample,
                "type": kind,
                "data": data,
                "created_by": "",
                "created_at": "2026-11-30",
            }
            for n, (sample, kind, data) in enumerate(events)
        ),
        {"final_report": {"accuracy": 0.5}},
    ]


def _match(sampled: str, expected: str, *, said=None) -> dict:
    return {
        "correct": sampled == expected,
        "expected": expected,
        "picked": said,
        "sampled": sampled,
        "options": [expected],
    }


def test_openai_evals_match_reads_what_was_sampled_not_what_was_picked(took):
    events = [
        ("j.dev.0", "sampling", {"prompt": "p", "sampled": ["SAFE"]}),
        ("j.dev.0", "match", _match("SAFE", "SAFE", said="SAFE")),
        ("j.dev.1", "sampling", {"prompt": "p", "sampled": ["UNSAFE"]}),
        ("j.dev.1", "match", _match("UNSAFE", "SAFE")),
        ("j.dev.2", "sampling", {"prompt": "p", "sampled": ["I cannot tell"]}),
        ("j.dev.2", "match", _match("I cannot tell", "SAFE")),
        ("j.dev.3", "error", {"type": "RateLimitError", "message": "slow down"}),
    ]
    made = took(
        {"a.jsonl": _log("judge.dev.v0", events)}, one_condition="base", gold="match.expected"
    )
    assert "openai_evals" == made.format
    assert {
        "j.dev.0": "SAFE",
        "j.dev.1": "UNSAFE",
        "j.dev.2": "unparseable",
        "j.dev.3": "error",
    } == {k[0]: v for k, v in cells(made).items()}
    assert "gpt-x" == facts(made).judge.model


def test_openai_evals_choice_of_a_grader_and_one_file_a_wording(took):
    def graded(name, *choices):
        return _log(
            name,
            [
                e
                for n, choice in enumerate(choices)
                for e in (
                    (f"s.{n}", "sampling", {"prompt": "p", "sampled": [f"because {choice}"]}),
                    *([(f"s.{n}", "metrics", {"choice": choice})] if choice else []),
                )
            ],
        )

    made = took(
        {
            "a.jsonl": graded("g-base", "Y", "N", "__invalid__", None),
            "b.jsonl": graded("g-t2", "N", "N", "Y", "N"),
        },
        map=["g-base=base", "g-t2=T2"],
        label=["Y=SAFE", "N=UNSAFE"],
    )
    got = cells(made)
    assert ["SAFE", "UNSAFE", "unparseable", "error"] == [
        got[f"s.{n}", "base", 0, 0] for n in range(4)
    ]
    assert ["UNSAFE", "UNSAFE", "SAFE", "UNSAFE"] == [got[f"s.{n}", "T2", 0, 0] for n in range(4)]
    assert "a.jsonl, b.jsonl" == facts(made).extra["imported"]["file"]
    assert "…/a.jsonl …/b.jsonl" in facts(made).extra["command"]


def test_a_run_of_two_models_is_refused(took):
    log = _log("j", [("s", "match", _match("SAFE", "SAFE"))])
    other = json.loads(json.dumps(log))
    other[0]["spec"]["completion_fns"] = ["gpt-y"]
    with pytest.raises(ConfigError, match=r"several values of model: 'gpt-x', 'gpt-y'"):
        took({"a.jsonl": log, "b.jsonl": other}, one_condition="base")


# -- lm-evaluation-harness ----------------------------------------------------------------------


def test_lm_eval_generations_are_repeats_and_tasks_are_wordings(took):
    base = [sample(0, [["SAFE", "UNSAFE"]]), sample(1, [["hm", None]])]
    t1 = [sample(0, [["UNSAFE", "UNSAFE"]]), sample(1, [["SAFE", ""]])]
    made = took(
        {FILE.format("base"): base, FILE.format("t1"): t1},
        map=["judge_base=base", "judge_t1=T1"],
        gold="doc.gold",
    )
    assert "lm_eval" == made.format
    got = cells(made)
    assert ["SAFE", "UNSAFE"] == [got["0", "base", 0, r] for r in (0, 1)]
    assert ["unparseable", "error"] == [got["1", "base", 0, r] for r in (0, 1)]
    assert ["UNSAFE", "UNSAFE"] == [got["0", "T1", 0, r] for r in (0, 1)]
    assert ["SAFE", "unparseable"] == [got["1", "T1", 0, r] for r in (0, 1)]
    assert [0, 0] == table(made).gold.tolist()


def test_lm_eval_choice_is_the_likeliest_and_a_tie_is_none(took):
    def chosen(n, safe, unsafe, **more):
        return sample(
            n,
            [[[safe, "False"]], [[unsafe, "True"]]],
            arguments={
                "gen_args_0": {"arg_0": "p", "arg_1": " SAFE"},
                "gen_args_1": {"arg_0": "p", "arg_1": " UNSAFE"},
            },
            **more,
        )

    lines = [
        chosen(0, "-0.5", "-2.0"),
        chosen(1, "-3.5", "-2.0"),
        chosen(2, "-2.0", "-2.0"),
        chosen(3, "nan", "-2.0"),
        chosen(4, "-inf", "-2.0"),
    ]
    made = took({FILE.format("x"): lines}, one_condition="base")
    assert ["SAFE", "UNSAFE", "ambiguous", "error", "UNSAFE"] == [
        cells(made)[str(n), "base", 0, 0] for n in range(5)
    ]


def test_lm_eval_filters_are_chosen_and_filtered_answers_named(took):
    lines = [
        sample(0, [["I say SAFE, no: UNSAFE"]], filter=name, filtered_resps=[said])
        for name, said in (("first", "SAFE"), ("last", "UNSAFE"))
    ]
    with pytest.raises(ConfigError, match=r"several values of filter: 'first', 'last'"):
        took({FILE.format("x"): lines}, one_condition="base")
    made = took(
        {FILE.format("x"): lines}, one_condition="base", only=["filter=first"], reply="filtered"
    )
    assert {("0", "base", 0, 0): "SAFE"} == cells(made)


def test_lm_eval_other_documents_are_refused(took):
    a, b = [sample(0, [["SAFE"]])], [sample(0, [["SAFE"]], doc_hash="other")]
    with pytest.raises(CorpusError, match="document 0 is another one here"):
        took({FILE.format("a"): a, FILE.format("b"): b}, map=["judge_a=base", "judge_b=T1"])


def test_lm_eval_what_a_filter_did_not_find_is_unparseable(took):
    lines = [
        sample(n, [["long"]], filtered_resps=[said]) for n, said in enumerate(("Y", "[invalid]"))
    ]
    made = took(
        {FILE.format("x"): lines}, one_condition="base", verdict="filtered", label=["Y=SAFE"]
    )
    assert ["SAFE", "unparseable"] == [cells(made)[n, "base", 0, 0] for n in "01"]
