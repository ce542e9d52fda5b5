"""Every value of a transcript and of a tool's output replaced by junk: read, or refused in a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tool_world import sample
from transcript_world import CHAT, otlp, span, text

from judgeaudit.core.errors import CorpusError, JudgeAuditError
from judgeaudit.corpora import transcripts
from judgeaudit.corpora._read import Source
from judgeaudit.engine.imported.choices import Choices
from judgeaudit.engine.imported.formats import sheet_of

JUNK = (None, 7, "", [], {}, [[]], [None], {"a": {}}, {"type": []}, 2**80, True, "\ud800")

ANTHROPIC = {"system": [{"type": "text", "text": "Y"}], "messages": [
    {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "W"}, {"type": "tool_use", "id": "t", "name": "r", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "x"}]}]},
]}  # fmt: skip
RESPONSES = {"input": [
    {"role": "user", "content": [{"type": "input_text", "text": "b"}]},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "c"}]},
    {"type": "function_call", "call_id": "c", "name": "b", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "x"}]},
]}  # fmt: skip
SPANS = otlp(
    span(0, 1, gen_ai__input__messages=[text("user", "x")], gen_ai__output__messages="[]"),
    span(2, 3, **{"gen_ai.prompt.0.role": "user", "gen_ai.completion.0.tool_calls.0.name": "n"}),
    span(4, 5, gen_ai__operation__name="execute_tool", gen_ai__tool__name="f"),
    span(6, 7, events=[("gen_ai.choice", {"message": "{}"})]),
)
PROMPTFOO = {
    "results": {
        "results": json.loads(
            (Path(__file__).parent / "tool_outputs" / "promptfoo.json").read_text()
        )["results"]["results"][:1]
    }
}
EVALS = [
    {"spec": {"completion_fns": ["g"], "eval_name": "e", "run_id": "r"}},
    {"sample_id": "s", "type": "sampling", "data": {"sampled": ["SAFE"]}},
    {"sample_id": "s", "type": "metrics", "data": {"choice": "SAFE"}},
]
LM_EVAL = [sample(0, [["SAFE"]], doc={"text": "x"})]


def places(value, path=()):
    """Yield the path of every value within a value."""
    yield path
    pairs = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in pairs:
        yield from places(inner, (*path, key))


def replaced(value, path, junk):
    """Return the value with another one at a path."""
    if not path:
        return junk
    made = value.copy()
    made[path[0]] = replaced(value[path[0]], path[1:], junk)
    return made


def tried(value, read, every=1):
    """Read a value with junk at every place; return how often it was read and refused."""
    fine, said = 0, []
    for n, path in enumerate(places(value)):
        for junk in JUNK[n % every :: every]:
            raw = json.dumps(replaced(value, path, junk)).encode()
            try:
                read(Source("f.json", "f.json", raw))
                fine += 1
            except JudgeAuditError as e:
                said.append(str(e))
    assert [] == [s for s in said if "\n" in s or len(s) > 2000]
    return fine, len(said)


@pytest.mark.parametrize("record", [CHAT, ANTHROPIC, RESPONSES, SPANS])
def test_transcripts(record):
    fine, refused = tried([record, {"id": "b", "input": "x"}], transcripts.read_transcripts, 3)
    assert min(fine, refused) > 20


@pytest.mark.parametrize(
    ("name", "value"), [("promptfoo", PROMPTFOO), ("openai_evals", EVALS), ("lm_eval", LM_EVAL)]
)
def test_outputs(name, value):
    said = Choices(one_condition="base")
    fine, refused = tried(value, lambda source: sheet_of(name, [source], said))
    assert min(fine, refused) > 5


def test_a_list_of_promptfoo_results_that_is_none_is_refused():
    raw = json.dumps({"results": {"results": ["x"]}}).encode()
    with pytest.raises(CorpusError, match="result 1: is not an object"):
        sheet_of("promptfoo", [Source("f", "f", raw)], Choices(one_condition="base"))
