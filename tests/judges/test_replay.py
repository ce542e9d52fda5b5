"""A recording is played back call by call, and a bad one is refused by line."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from judge_world import PROMPT, call

from judgeaudit.core.errors import ConfigError, PermanentError
from judgeaudit.core.records import JudgeSpec, Reply
from judgeaudit.judges.replay import ReplayJudge, read_replies, replay_spec, to_line

LINE = '{"item": "a/b/1", "condition": "base", "repeat": 0, "text": "SAFE"}'


def write(folder: Path, data: str | bytes) -> Path:
    path = folder / "answers.jsonl"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def test_what_was_recorded_comes_back(tmp_path):
    recorded = {
        call(): Reply(text="SAFE", finish_reason="stop", prompt_tokens=3, seconds=0.5, cost=0.01),
        call(repeat=1): Reply(text=None, refusal="no"),
        call(condition="T4", wording=2): Reply(text="안전 \u2028 \x00 🙂"),
    }
    path = write(tmp_path, "".join(to_line(c, r) for c, r in recorded.items()))
    judge = ReplayJudge(replay_spec(path))
    for asked, reply in recorded.items():
        assert asyncio.run(judge.ask(PROMPT, asked)) == reply
    assert judge.spec.weights_sha256


def test_a_call_that_was_not_recorded_is_named(tmp_path):
    judge = ReplayJudge(replay_spec(write(tmp_path, LINE)))
    with pytest.raises(PermanentError, match="item 'a/b/1', condition 'T4', wording 0, repeat 3"):
        asyncio.run(judge.ask(PROMPT, call(condition="T4", repeat=3)))


def test_a_mapping_will_do_instead_of_a_file():
    spec = JudgeSpec(backend="replay", model="by hand")
    judge = ReplayJudge(spec, {("a/b/1", "base", 0, 0): Reply(text="UNSAFE")})
    assert asyncio.run(judge.ask(PROMPT, call())).text == "UNSAFE"


def test_bom_crlf_blank_lines_and_odd_separators_are_read(tmp_path):
    second = json.dumps(
        {"item": "ä\u2028/b/2", "condition": "base", "repeat": 0, "text": "x\u2029\u0085y"},
        ensure_ascii=False,
    )
    path = write(tmp_path, f"\ufeff{LINE}\r\n\r\n  \n{second}\r\n")
    replies = read_replies(path)
    assert [("a/b/1", "base", 0, 0), ("ä\u2028/b/2", "base", 0, 0)] == list(replies)
    assert replies["ä\u2028/b/2", "base", 0, 0].text == "x\u2029\u0085y"


def test_lone_surrogates_are_made_storable(tmp_path):
    path = write(tmp_path, LINE.replace("SAFE", "\\ud800SAFE"))
    (reply,) = read_replies(path).values()
    assert reply.model_dump_json()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "recording is empty"),
        ("\n \n", "recording is empty"),
        ("\ufeff", "recording is empty"),
        (f"{LINE}\n{{", ":2: not JSON"),
        (b"\xff\xfe", ":1: not JSON"),
        ("[1]", ":1: not a JSON object"),
        ("null", ":1: not a JSON object"),
        ("[" * 100_000, ":1: not JSON"),
        (f"{LINE}\n\n{LINE}", "answered twice, in lines 1 and 3"),
        (LINE.replace('"text": "SAFE"', '"txt": "SAFE"'), ":1: text: Field required"),
        (LINE.replace("}", ', "verdict": "SAFE"}'), ":1: verdict: Extra inputs"),
        (LINE.replace('"repeat": 0', '"repeat": -1'), ":1: repeat: Input should be greater"),
        (LINE.replace('"repeat": 0', '"repeat": "x"'), ":1: repeat: Input should be a valid int"),
        (LINE.replace('"SAFE"', "5"), ":1: text: Input should be a valid string"),
        (LINE.replace("}", ', "cost": NaN}'), ":1: cost: Input should be a finite number"),
    ],
)
def test_a_damaged_recording_is_refused_with_its_line(data, message, tmp_path):
    path = write(tmp_path, data)
    with pytest.raises(ConfigError, match=message) as caught:
        ReplayJudge(JudgeSpec(backend="replay", model=str(path)))
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["missing.jsonl", ""])
def test_a_file_that_is_not_there_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"cannot read the recording.*replay:FILE"):
        ReplayJudge(JudgeSpec(backend="replay", model=name))


def test_another_recording_under_the_same_name_is_another_judge(tmp_path):
    path = write(tmp_path, LINE)
    spec = replay_spec(path)
    write(tmp_path, LINE.replace("SAFE", "UNSAFE"))
    with pytest.raises(ConfigError, match="another hash"):
        ReplayJudge(spec)
    assert replay_spec(path).sha256 != spec.sha256
