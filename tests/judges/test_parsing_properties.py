"""Properties of the parser, and texts made to break it."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judgeaudit.core.records import Reply, Verdict
from judgeaudit.judges.parsing import parse

LABELS = st.sampled_from(["SAFE", "UNSAFE"])
PIECES = st.sampled_from(
    ["{", "}", "[", "]", '"', "'", "\\", "`", "```json\n", "```", "<think>", "</think>", "\n", " ",
     "verdict", ":", ",", "SAFE", "UNSAFE", "unsafe", "not ", "Verdict: ", "is ", ".", "?", "> ",
     '"verdict"', '{"verdict": "SAFE"}', '{"verdict": "UNSAFE"}', "confidence", "0.9", "\ud800",
     "\x00", "\u2028", "ＳＡＦＥ", "because", "if "]
)  # fmt: skip
HOSTILE = st.lists(PIECES, max_size=30).map("".join) | st.text()
# Prose that states nothing: no braces, quotes, tags, and not the letters of a label.
PROSE = st.text(alphabet="bcdghijklmopqrtvwxyz ,\n", max_size=60)


def other(label: str) -> str:
    return "SAFE" if label == "UNSAFE" else "UNSAFE"


def mentions(text: str, label: str) -> bool:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return re.search(rf"(?<![^\W\d_]){label.casefold()}", folded) is not None


@given(
    text=HOSTILE | st.none(),
    finish_reason=st.none() | st.sampled_from(["stop", "length", "content_filter"]) | st.text(),
    refusal=st.none() | st.text(),
)
def test_any_reply_is_read_without_raising_into_a_storable_verdict(text, finish_reason, refusal):
    verdict = parse(Reply(text=text, finish_reason=finish_reason, refusal=refusal))
    assert verdict == Verdict.model_validate_json(verdict.model_dump_json())
    assert (verdict.label is not None) == (verdict.outcome == "verdict")
    assert verdict.outcome != "error"


@given(text=HOSTILE)
@example("NOT UNSAFE")
def test_a_label_is_never_one_that_the_text_does_not_name(text):
    label = parse(Reply(text=text)).label
    assert label is None or mentions(text, label)


@given(before=PROSE, label=LABELS, after=PROSE, confidence=st.floats(0, 1))
def test_an_object_between_prose_is_the_verdict(before, label, after, confidence):
    answer = json.dumps({"verdict": label, "confidence": confidence, "rationale": before})
    verdict = parse(Reply(text=f"{before}\n{answer}\n{after}"))
    assert (label, confidence) == (verdict.label, verdict.confidence)


@given(before=PROSE, label=LABELS, between=PROSE, after=PROSE)
def test_two_objects_that_disagree_are_ambiguous(before, label, between, after):
    text = f'{before}{{"verdict":"{label}"}}{between}{{"verdict":"{other(label)}"}}{after}'
    assert parse(Reply(text=text)).outcome == "ambiguous"


@given(thought=HOSTILE, label=LABELS)
def test_what_stands_in_a_closed_think_block_does_not_matter(thought, label):
    thought = re.sub("</?think>", "", thought, flags=re.IGNORECASE)
    text = f'<think>{thought}</think>{{"verdict": "{label}"}}'
    assert parse(Reply(text=text)).label == label


@given(quoted=HOSTILE, label=LABELS)
def test_what_a_rationale_quotes_does_not_matter(quoted, label):
    verdict = parse(Reply(text=json.dumps({"rationale": quoted, "verdict": label})))
    assert verdict.label == label


@given(prose=PROSE)
def test_prose_without_a_label_is_unparseable(prose):
    assert parse(Reply(text=prose)).outcome == "unparseable"


BIG = 2_000_000
GIANTS = {
    "braces": "{" * BIG,
    "nested objects": '{"a":' * (BIG // 5),
    "nested arrays": '{"a":[' + "[" * BIG,
    "open strings": '{"a\\"' * (BIG // 5),
    "escapes": '{"a":"' + '\\"' * (BIG // 2),
    "backslashes": '{"a":"' + "\\" * (BIG | 1),
    "think blocks": "<think>" * (BIG // 7),
    "closed think blocks": '{"verdict":"SAFE"}</think>' * (BIG // 26),
    "conflicts": '{"verdict":"SAFE"}{"verdict":"UNSAFE"}' * (BIG // 38),
    "deep then long": ('{"a":' * 60 + '"x" ') * 6_000,
    "NUL": "\x00" * BIG,
    "statements": "verdict: SAFE or\n" * (BIG // 17),
    "blank lines": "\n" * 190_000 + "x",
    "stars": "*" * 190_000,
    "sentence ends": ". " * 95_000,
    "names": "the final " * 19_000,
}


@pytest.mark.parametrize("name", GIANTS)
@pytest.mark.timeout(30)  # a quadratic reading of these takes hours
def test_giants_are_read_in_linear_time_and_are_no_verdict(name):
    assert parse(Reply(text=GIANTS[name])).label is None


def test_a_verdict_at_the_end_or_around_megabytes_is_found():
    padding = "word " * (BIG // 5)
    assert parse(Reply(text=f'{padding}{{"verdict": "SAFE"}}')).label == "SAFE"
    whole = json.dumps({"verdict": "UNSAFE", "rationale": padding})
    assert parse(Reply(text=whole)).label == "UNSAFE"
    assert parse(Reply(text=" " * BIG + "UNSAFE" + " " * BIG)).label == "UNSAFE"


def test_depth_does_not_depend_on_the_stack_of_the_caller():
    def down(text: str, n: int) -> str:
        return parse(Reply(text=text)).outcome if n == 0 else down(text, n - 1)

    for depth in (10, 60, 80, 900, 3_000):
        text = '{"verdict": "SAFE", "x": ' + "[" * depth + "]" * depth + "}"
        assert down(text, 0) == down(text, 700), depth
