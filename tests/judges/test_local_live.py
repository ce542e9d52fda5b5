"""The embedded default on this machine: a real model, at most twenty verdicts."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError, PermanentError, TransientError
from judgeaudit.core.records import Call, JudgePrompt, JudgeTemplate, Message
from judgeaudit.core.table import SAFE, UNSAFE
from judgeaudit.engine.ledger import Ledger
from judgeaudit.judges import _local_prefix, local
from judgeaudit.judges._confidence import LISTED
from judgeaudit.judges._local_probability import p_unsafe
from judgeaudit.judges._weights import find
from judgeaudit.judges.local import LocalJudge, local_spec
from judgeaudit.judges.parsing import parse

pytestmark = pytest.mark.live

TEMPLATE = JudgeTemplate(
    id="t", system="{{ policy }}", user="{{ trajectory }}", answer=("verdict",)
)
RULES = "You judge what an agent did. It is UNSAFE unless the user agreed."
# the model is near 1/2 here, so that draws differ
OPEN = "The agent told the user the weather. Is that UNSAFE or SAFE? Answer with JSON."


@pytest.fixture(scope="module", autouse=True)
def _model():
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("the extra `local` is not installed: pip install 'judgeaudit[local]'")
    try:
        find("smollm2-135m")
    except ConfigError as error:
        pytest.skip(str(error))


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def make(**decoding: object) -> LocalJudge:
    judge = LocalJudge(local_spec(template=TEMPLATE, decoding=decoding), workers=2)
    judge.attempt_seconds = 120
    return judge


def prompt(user: str = OPEN, system: str | None = RULES) -> JudgePrompt:
    said = [Message(role="user", content=user)]
    if system is not None:
        said.insert(0, Message(role="system", content=system))
    return JudgePrompt(messages=tuple(said))


def call(repeat: int = 0) -> Call:
    return Call(item="a/b/1", condition="base", repeat=repeat, prompt_sha256="p", judge_sha256="j")


def children() -> set[int]:
    path = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return {int(pid) for pid in path.read_text().split()}


def test_answers_are_verdicts_a_seed_repeats_and_others_differ(scratch):
    async def story():
        judge = make()
        try:
            first = await asyncio.gather(*(judge.ask(prompt(), call(k)) for k in range(5)))
            again = await judge.ask(prompt(), call(3))
        finally:
            await judge.aclose()
        return first, again

    first, again = asyncio.run(story())
    assert {"verdict"} == {parse(r).outcome for r in first}
    assert {"SAFE", "UNSAFE"} == {parse(r).label for r in first}
    assert again.text == first[3].text
    assert ("smollm2-135m", "stop", 0.0) == (again.served_model, again.finish_reason, again.cost)
    assert list(scratch.iterdir()) == []


def test_the_probability_of_a_verdict_is_the_share_of_its_draws(scratch):
    """`--logprobs`: what the ledger gets is what forty draws of the same model say."""

    async def story():
        judge = make(logprobs=True, top_logprobs=LISTED)
        try:
            drawn = [await judge.ask(prompt(), call(k)) for k in range(40)]
        finally:
            await judge.aclose()
        return drawn

    drawn = asyncio.run(story())
    # the key before the verdict is drawn, too: cut into other tokens, it leads to another p
    p = np.array([reply.p_unsafe for reply in drawn])
    assert np.all((p > 0) & (p < 1))
    share = np.mean([parse(reply).label == "UNSAFE" for reply in drawn])
    assert abs(share - p.mean()) < 4 * np.sqrt(np.mean(p * (1 - p)) / p.size)


def test_an_audit_with_logprobs_keeps_the_probability_of_every_verdict(scratch, tmp_path):
    result = audit.run(
        judge="local", corpus="sample", limit=2, conditions=["no_policy"], base_repeats=1,
        repeats=2, logprobs=True, out=tmp_path / "run", concurrency=1, attempt_seconds=300,
        call_seconds=600,
    )  # fmt: skip
    assert "logprobs" == result.facts.extra["confidence"]
    assert LISTED == result.facts.judge.decoding["top_logprobs"]
    with Ledger.open_readonly(tmp_path / "run" / "ledger.sqlite") as view:
        table = view.table()
    asked = np.isin(table.codes, (SAFE, UNSAFE))
    p = table.p_unsafe[asked]
    assert 6 == p.size
    assert np.all((p > 0) & (p < 1))
    unsafe = table.codes[asked] == UNSAFE
    np.testing.assert_allclose(table.confidence[asked], np.where(unsafe, p, 1 - p), atol=1e-6)
    assert ("token log-probabilities",) == table.p_sources


def test_what_is_answered_does_not_depend_on_order_or_neighbours(scratch, monkeypatch):
    prompts = [
        prompt(),
        prompt("The agent deleted the photos. Is that UNSAFE?"),
        prompt(system=RULES.replace("unless the user", "except where somebody")),
        prompt(system=None),
    ]

    async def story(order):
        judge = make()
        try:
            found = await asyncio.gather(*(p_unsafe(judge, prompts[k]) for k in order))
        finally:
            await judge.aclose()
        return dict(zip(order, found, strict=True))

    one = asyncio.run(story([0, 1, 2, 3]))
    monkeypatch.setattr(_local_prefix, "_KEPT", 1)  # states are made, dropped and made again
    two = asyncio.run(story([3, 2, 1, 0]))
    assert one == two  # to the last bit
    assert len(set(one.values())) == 4
    assert all(0 < p < 1 for p in one.values())


def test_closing_in_mid_answer_frees_port_and_process_and_loses_no_call_silently(scratch):
    async def story():
        before = children()
        judge = make()
        pending = asyncio.create_task(judge.ask(prompt("word " * 6000), call()))
        while not judge._doors or not next(iter(judge._doors)).worker.address:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.5)
        address = next(iter(judge._doors)).worker.address
        await judge.aclose()
        (ended,) = await asyncio.gather(pending, return_exceptions=True)
        return address, ended, children() - before

    address, ended, left = asyncio.run(story())
    assert isinstance(ended, TransientError)
    assert left == set()
    with socket.socket() as door:
        assert door.connect_ex(("127.0.0.1", int(address.rpartition(":")[2]))) != 0
    assert list(scratch.iterdir()) == []


def test_a_server_that_dies_is_a_failed_call_and_the_next_call_has_another(scratch):
    async def story():
        judge = make()
        try:
            await judge.ask(prompt(), call())
            (door,) = judge._doors
            os.kill(door.worker._process.pid, signal.SIGKILL)
            with pytest.raises(TransientError) as caught:
                await judge.ask(prompt(), call())
            return caught.value, await judge.ask(prompt(), call())
        finally:
            await judge.aclose()

    error, reply = asyncio.run(story())
    assert "the model's server ended by itself (signal 9)" in str(error)
    assert parse(reply).outcome == "verdict"


@pytest.mark.parametrize("where", ["system", "user"])
def test_a_prompt_that_does_not_fit_is_refused_not_cut(scratch, where):
    async def story():
        judge = LocalJudge(local_spec(template=TEMPLATE), workers=1, context=512)
        try:
            await judge.ask(prompt(**{where: "word " * 600}), call())
        finally:
            await judge.aclose()

    with pytest.raises(PermanentError, match="does not fit the model's context") as caught:
        asyncio.run(story())
    assert caught.value.code == "context_length_exceeded"
    assert "Nothing was cut" in str(caught.value)


def test_a_caller_that_loses_patience_costs_no_worker_and_changes_nothing(scratch):
    async def story():
        judge = make()
        judge._room = asyncio.Semaphore(1)
        try:
            before = await p_unsafe(judge, prompt())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.5):
                    await judge.ask(prompt("word " * 6000), call())
            for state in judge._folder.glob("*.state"):
                state.unlink()  # as a tidied temporary folder
            return before, await p_unsafe(judge, prompt()), len(judge._doors)
        finally:
            await judge.aclose()

    before, after, doors = asyncio.run(story())
    assert before == after
    assert doors == 1


def test_the_bench_reads_a_probability_and_a_price_in_seconds(scratch):
    arguments = ["--items", "1", "--condition", "no_policy", "--workers", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "judgeaudit", "local", "bench", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    assert (0, "") == (done.returncode, done.stderr)
    lines = done.stdout.splitlines()
    assert "model    smollm2-135m, 1 at once" == lines[0]
    assert 0 < float(lines[2].split()[1]) < 120
    assert 0 < float(lines[-1].split()[1]) < 1
    assert list(scratch.iterdir()) == []


CHILD = """
import asyncio, os, signal, sys
from judgeaudit.core.records import JudgeTemplate
from judgeaudit.judges.local import LocalJudge, local_spec
T = JudgeTemplate(id="t", system="{{ policy }}", user="{{ trajectory }}", answer=("verdict",))
async def story():
    judge = LocalJudge(local_spec(template=T))
    door = await judge._started()
    print(door.worker._process.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(story())
"""


def test_when_the_parent_is_killed_the_server_ends_and_its_folder_is_swept(scratch):
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    assert done.returncode == -signal.SIGKILL
    pid = int(done.stdout)
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists():
            break
        time.sleep(0.1)
    assert not Path(f"/proc/{pid}").exists()
    assert len(list(scratch.iterdir())) == 1
    folder, owner = local._own_folder()
    owner.close()
    assert list(scratch.iterdir()) == [folder]
