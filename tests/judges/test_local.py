"""The embedded judge as far as it needs no weights."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import importlib.util
import os
import re
import sys
import tempfile

import pytest
from judge_world import PROMPT, call

from judgeaudit.core.errors import ConfigError, PermanentError
from judgeaudit.core.records import JudgeSpec, JudgeTemplate
from judgeaudit.judges import local
from judgeaudit.judges._formats import VERDICT_GRAMMAR
from judgeaudit.judges._local_grammar import answer_tokens, grammar_for
from judgeaudit.judges._local_probability import _read
from judgeaudit.judges._local_worker import Served, Worker
from judgeaudit.judges.base import JUDGES
from judgeaudit.judges.local import LocalJudge, local_spec

TEMPLATE = JudgeTemplate(
    id="t", system="{{ policy }}", user="{{ trajectory }}", answer=("verdict",)
)
NOT_A_MODEL = b"GGUF" + bytes(5000)
needs_engine = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None, reason="the extra `local` is not installed"
)


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """Return a file that looks like a model and is none."""
    monkeypatch.setenv("JUDGEAUDIT_MODELS", str(tmp_path / "models"))
    path = tmp_path / "broken.gguf"
    path.write_bytes(NOT_A_MODEL)
    return path


# ---- the spec -------------------------------------------------------------------------------


def test_the_default_is_identified_by_weights_template_and_decoding():
    spec = local_spec(template=TEMPLATE)
    assert ("local", "smollm2-135m", "t", TEMPLATE.sha256, "grammar", True) == (
        spec.backend,
        spec.model,
        spec.template_id,
        spec.template_sha256,
        spec.output_format,
        spec.sends_seed,
    )
    assert spec.weights_sha256 is not None
    assert spec.weights_sha256.startswith("b179c9523d0e6a0f")
    assert spec.api_base is None


def test_the_default_decoding_leaves_the_models_distribution_as_it_is():
    assert local_spec(template=TEMPLATE).decoding == {
        "temperature": 1.0,
        "top_p": 1.0,
        "max_tokens": 24,
        "extra_body": {"grammar": VERDICT_GRAMMAR, "min_p": 0.0, "top_k": 0},
    }


def test_what_the_user_decides_wins_and_makes_another_judge():
    decoding = {"temperature": 0, "extra_body": {"top_k": 5}}
    spec = local_spec(template=TEMPLATE, decoding=decoding)
    assert spec.decoding["temperature"] == 0
    assert spec.decoding["extra_body"] == {"grammar": VERDICT_GRAMMAR, "min_p": 0.0, "top_k": 5}
    assert decoding == {"temperature": 0, "extra_body": {"top_k": 5}}
    assert spec.sha256 != local_spec(template=TEMPLATE).sha256


def test_a_file_of_ones_own_is_identified_by_its_hash(broken):
    spec = local_spec(str(broken), template=TEMPLATE)
    assert spec.weights_sha256 == hashlib.sha256(NOT_A_MODEL).hexdigest()


def test_an_unknown_model_is_told_when_it_is_named():
    with pytest.raises(ConfigError, match="unknown local model 'llama'"):
        local_spec("llama", template=TEMPLATE)


# ---- grammars -------------------------------------------------------------------------------


def as_regex(grammar: str) -> str:
    """Turn the part of GBNF that our grammars use into a regular expression."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.splitlines())

    def convert(rule: str) -> str:
        token = re.compile(r'"((?:[^"\\]|\\.)*)"|(field-\d+)|(\[(?:[^\]\\]|\\.)+\])|(\s+)|(.)')
        out = ""
        for text, name, char_class, blank, other in token.findall(rule):
            if name:
                out += f"(?:{convert(rules[name])})"
            elif char_class:
                out += char_class
            elif not blank:
                out += other or re.escape(text.replace(r"\"", '"'))
        return out

    return convert(rules["root"])


@pytest.mark.parametrize(
    ("answer", "fits", "fits_not"),
    [
        (
            ["verdict"],
            ['{"verdict": "SAFE"}', '{"verdict": "UNSAFE"}'],
            ['{"verdict":  "SAFE"}', '{"verdict": "MAYBE"}', '{"verdict": "SAFE"} '],
        ),
        (
            ["verdict", "confidence", "rationale"],
            [
                '{"verdict": "SAFE", "confidence": 0.95, "rationale": "It asked first."}',
                '{"verdict": "UNSAFE", "confidence": 1, "rationale": "é"}',
            ],
            [
                '{"verdict": "SAFE"}',
                '{"verdict": "SAFE", "confidence": 1.5, "rationale": "x"}',
                '{"verdict": "SAFE", "confidence": 2, "rationale": "x"}',
                '{"verdict": "SAFE", "confidence": 1, "rationale": "a \\" b"}',
                '{"verdict": "SAFE", "confidence": 1, "rationale": ""}',
                '{"verdict": "SAFE", "confidence": 1, "rationale": "' + "x" * 241 + '"}',
            ],
        ),
        (
            ["rationale", "verdict"],
            ['{"rationale": "x", "verdict": "SAFE"}'],
            ['{"verdict": "SAFE", "rationale": "x"}'],
        ),
    ],
)
def test_a_grammar_allows_the_answer_and_nothing_else(answer, fits, fits_not):
    pattern = re.compile(as_regex(grammar_for(answer)))
    assert [text for text in fits if not pattern.fullmatch(text)] == []
    assert [text for text in fits_not if pattern.fullmatch(text)] == []


def test_the_cap_on_tokens_is_above_the_longest_answer_written_letter_by_letter():
    assert answer_tokens(["verdict"]) > len('{"verdict": "UNSAFE"}')
    longest = '{"verdict": "UNSAFE", "confidence": 0.95, "rationale": "' + "x" * 240 + '"}'
    assert answer_tokens(["verdict", "confidence", "rationale"]) > len(longest)


# ---- what is missing ------------------------------------------------------------------------


def test_without_the_extra_it_is_told_how_to_get_it_and_what_else_there_is(monkeypatch, tmp_path):
    monkeypatch.setenv("JUDGEAUDIT_MODELS", str(tmp_path))
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ConfigError) as caught:
        JUDGES["local"](local_spec(template=TEMPLATE))
    said = str(caught.value)
    assert "pip install 'judgeaudit[local]'" in said
    assert "then `judgeaudit local fetch smollm2-135m`" in said
    assert "--judge scripted:noisy (its verdicts are invented)" in said


@needs_engine
def test_without_weights_it_is_told_how_to_get_them(monkeypatch, tmp_path):
    monkeypatch.setenv("JUDGEAUDIT_MODELS", str(tmp_path))
    with pytest.raises(ConfigError) as caught:
        JUDGES["local"](local_spec(template=TEMPLATE))
    said = str(caught.value)
    assert "are not on this machine" in said
    assert "judgeaudit local fetch smollm2-135m" in said
    assert "--judge scripted:noisy" in said


@needs_engine
def test_a_decoding_parameter_that_is_none_is_told_before_anything_starts(broken):
    spec = local_spec(str(broken), template=TEMPLATE, decoding={"seed": 1})
    with pytest.raises(ConfigError, match="'seed' cannot be a decoding parameter"):
        LocalJudge(spec)


@needs_engine
def test_weights_that_changed_since_the_run_began_are_refused(broken):
    spec = local_spec(str(broken), template=TEMPLATE)
    broken.write_bytes(NOT_A_MODEL + b"x")
    with pytest.raises(ConfigError, match="are not those of this judge"):
        LocalJudge(spec)


@needs_engine
def test_a_spec_without_a_hash_gets_that_of_the_file(broken):
    judge = LocalJudge(JudgeSpec(backend="local", model=str(broken)))
    assert judge.spec.weights_sha256 == hashlib.sha256(NOT_A_MODEL).hexdigest()


@needs_engine
def test_a_file_that_is_no_model_ends_in_one_error_and_leaves_nothing(
    broken, tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    judge = LocalJudge(local_spec(str(broken), template=TEMPLATE))

    async def story() -> None:
        try:
            await judge.ask(PROMPT, call())
        finally:
            await judge.aclose()

    with pytest.raises(PermanentError, match="the model cannot be loaded") as caught:
        asyncio.run(story())
    assert caught.value.where == "local:broken"
    assert list(tmp_path.glob("judgeaudit-local-*")) == []


@needs_engine
def test_a_closed_judge_starts_nothing(broken):
    judge = LocalJudge(local_spec(str(broken), template=TEMPLATE))

    async def story() -> None:
        await judge.aclose()
        await judge.aclose()
        await judge.ask(PROMPT, call())

    with pytest.raises(PermanentError, match="this judge is closed"):
        asyncio.run(story())


def test_a_worker_that_is_ended_before_it_starts_does_not_start(tmp_path):
    worker = Worker(Served(tmp_path / "m.gguf", "m", 512, tmp_path))
    worker.end()
    with pytest.raises(PermanentError, match="closed before it was started"):
        worker.start()
    assert not worker.alive


# ---- the machine ----------------------------------------------------------------------------


def test_folders_of_judges_that_were_killed_are_removed_and_others_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("judgeaudit-local-dead", "judgeaudit-local-lives", "judgeaudit-other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "owner.lock").touch()
    with (tmp_path / "judgeaudit-local-lives" / "owner.lock").open("rb") as owner:
        fcntl.flock(owner, fcntl.LOCK_EX)
        made, held = local._own_folder()
    with held:
        left = {p.name for p in tmp_path.iterdir()}
    assert {"judgeaudit-local-lives", "judgeaudit-other", made.name} == left
    assert made.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {}),
        ({"HTTP_PROXY": "http://p:1"}, {"no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}),
        (
            {"http_proxy": "http://p:1", "NO_PROXY": "corp"},
            {"no_proxy": "corp,127.0.0.1", "NO_PROXY": "corp,127.0.0.1"},
        ),
        (
            {"ALL_PROXY": "http://p:1", "no_proxy": "127.0.0.1,corp"},
            {"no_proxy": "127.0.0.1,corp", "NO_PROXY": "127.0.0.1,corp"},
        ),
    ],
)
def test_a_proxy_is_not_asked_for_the_model_on_this_machine(monkeypatch, before, after):
    for name in ("http_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in before.items():
        monkeypatch.setenv(name, value)
    # set once by monkeypatch, so that what the call sets is undone at the end
    for name in after:
        monkeypatch.setenv(name, before.get(name, ""))
    local._keep_proxies_off_loopback()
    assert after == {n: os.environ[n] for n in ("no_proxy", "NO_PROXY") if n in os.environ}


def test_as_many_calls_at_once_as_there_are_cores_to_use():
    assert 1 <= local.usable_cores() <= len(os.sched_getaffinity(0))


def test_naming_the_judge_loads_neither_litellm_nor_the_engine():
    import subprocess

    code = (
        "import sys; from judgeaudit.judges.local import local_spec, LocalJudge, engine_version; "
        "engine_version(); print([m for m in ('litellm', 'xllamacpp', 'openai') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


# ---- probabilities --------------------------------------------------------------------------


def told(*tokens: tuple[str, dict[str, float]]) -> dict:
    content = [
        {"token": t, "top_logprobs": [{"token": k, "logprob": v} for k, v in top.items()]}
        for t, top in tokens
    ]
    return {"choices": [{"logprobs": {"content": content}}]}


def test_the_probability_is_read_at_the_verdict_and_shared_by_the_two_words_alone():
    from math import log

    answer = told(
        ('{"', {}),
        ("verdict", {"UNSAFE": log(0.9)}),
        ('": "', {}),
        ("UN", {"UN": log(0.1), "SA": log(0.2), "S": log(0.1), "Maybe": log(0.6), "": log(0.1)}),
    )
    assert abs(_read(answer) - 0.25) < 1e-12


def test_no_verdict_is_no_probability():
    with pytest.raises(PermanentError, match="no verdict"):
        _read(told(('{"', {}), ("x", {"UN": -1.0})))
