"""Several judges in one run: side by side, each with its own end; what is shared is shared."""

from __future__ import annotations

import asyncio
import gc
import warnings
from pathlib import Path

import pytest
from loopback import BEHAVIOURS, Answer, Loopback, hash_verdict
from typer.testing import CliRunner

from judgeaudit import audit, panel
from judgeaudit.cli.main import app
from judgeaudit.core.errors import ConfigError, JudgeError, QuotaExhaustedError
from judgeaudit.engine.control import Controls, RunControl
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.verify import faults

ALL = {"preset": "quick", "limit": 4, "concurrency": 4}
N = 68


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def nothing_is_left_open():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        warnings.simplefilter("error", RuntimeWarning)
        yield
        gc.collect()


def at(server, name="a", **own):
    return {"judge": f"direct:{name}", "api_base": server.api_base, **own}


def empty_after(k):
    def behaviour(body, n, nth):
        return (BEHAVIOURS["quota"] if n > k else hash_verdict)(body, n, nth)

    return behaviour


def whole(folder):
    with Ledger.open_readonly(folder / "ledger.sqlite") as view:
        assert [] == faults(view)
        return view.n_answered


def test_one_that_is_out_of_credit_stops_alone_and_goes_on_later(tmp_path):
    with Loopback(empty_after(10)) as poor, Loopback(hash_verdict, latency=0.02) as rich:
        judges = [at(poor, "poor", concurrency=1), at(rich, "rich")]
        ended = panel.run(judges, **ALL, out=tmp_path)
        one, two = ended.ends
        assert isinstance(one.error, QuotaExhaustedError)
        assert (3, 3, 0) == (ended.exit_code, one.exit_code, two.exit_code)
        assert N == two.result.facts.n_answered == rich.n_requests
        assert (tmp_path / "direct-rich" / "card.json").is_file()
        assert 11 == poor.n_requests
        assert 10 == whole(tmp_path / "direct-poor")
        assert not (tmp_path / "direct-poor" / "card.json").exists()
        poor.behaviour = hash_verdict
        again = panel.run(judges, **ALL, out=tmp_path)
        assert 0 == again.exit_code
        assert 11 + N - 10 == poor.n_requests
        assert N == rich.n_requests


@pytest.mark.slow
def test_each_ledger_and_card_is_that_of_an_audit_of_its_own(tmp_path):
    with Loopback(hash_verdict) as server:
        ended = panel.run(
            [at(server, "a"), at(server, "b")],
            **ALL,
            out=tmp_path / "both",
            created="2030-01-01T00:00:00Z",
        )
        for end in ended.ends:
            alone = audit.run(
                judge=end.judge.partition(" ")[0], api_base=server.api_base, **ALL,
                out=tmp_path / "alone" / end.folder.name, created="2030-01-01T00:00:00Z",
            )  # fmt: skip
            assert alone.scores == end.result.scores
            # and it is the same run to the single audit: nobody is asked again
            before = server.n_requests
            audit.run(
                judge=alone.facts.judge.backend + ":" + alone.facts.judge.model,
                api_base=server.api_base,
                **ALL,
                out=end.folder,
            )
            assert before == server.n_requests
    assert ["direct-a", "direct-b"] == sorted(e.folder.name for e in ended.ends)


def test_judges_of_one_provider_share_its_window(tmp_path):
    with Loopback(hash_verdict, latency=0.02) as server:
        panel.run([at(server, "a"), at(server, "b"), at(server, "c")], **ALL, out=tmp_path)
        assert 4 == server.most_in_flight
        assert 3 * N == server.n_requests


def test_limits_that_are_stated_for_one_are_its_own(tmp_path):
    with Loopback(hash_verdict, latency=0.02) as server:
        judges = [at(server, "a", concurrency=2), at(server, "b", concurrency=3)]
        panel.run(judges, **ALL, out=tmp_path)
        assert 5 == server.most_in_flight


def test_judges_of_two_providers_are_asked_side_by_side(tmp_path):
    """Each server answers its second request only once the other has had one, too."""
    servers = []

    def together(body, n, k):
        other = servers[1] if body["model"] == "a" else servers[0]
        # a run after the other would never let this be
        return hash_verdict(body, n, k) if n < 2 or other.n_requests else Answer(fault="hang")

    with Loopback(together, latency=0.2) as one, Loopback(together, latency=0.2) as two:
        servers += [one, two]
        ended = panel.run(
            [at(one, "a"), at(two, "b")], **ALL, out=tmp_path, attempts=1, attempt_seconds=5.0
        )
    assert 0 == ended.exit_code
    assert [N, N] == [e.result.facts.n_answered for e in ended.ends]


def test_one_retry_after_holds_all_judges_of_a_provider(tmp_path):
    """While one judge is told to wait, the other of the same server does not ask either."""
    asked_while_shut = []
    shut = []

    def limiting(body, n, k):
        import time

        now = time.monotonic()
        if shut and now < shut[0] + 0.9:
            asked_while_shut.append(body["model"])
        if body["model"] == "a" and n > 8 and not shut:
            shut.append(now)
            return Answer(
                status=429, headers={"retry-after": "1"}, body={"error": {"message": "slow"}}
            )
        return hash_verdict(body, n, k)

    with Loopback(limiting, latency=0.05) as server:
        judges = [at(server, "a", concurrency=1), at(server, "b", concurrency=1)]
        ended = panel.run(judges, **ALL, out=tmp_path)
    assert 0 == ended.exit_code
    assert shut
    # at most the request that was on its way to the server when the 429 left it
    assert len(asked_while_shut) <= 2


def test_a_budget_for_all_is_spent_by_all_together_also_over_sessions(tmp_path):
    with Loopback(hash_verdict) as server:
        judges = [at(server, "a"), at(server, "b")]
        ended = panel.run(judges, **ALL, out=tmp_path, budget_calls=50)
        assert 50 == server.n_requests
        assert 3 == ended.exit_code
        assert all("budget of 50 requests is spent" in str(e.error) for e in ended.ends)
        panel.run(judges, **ALL, out=tmp_path, budget_calls=80)
        assert 80 == server.n_requests
    kept = sum(whole(tmp_path / f"direct-{n}") for n in "ab")
    assert 80 == kept


def test_a_budget_of_one_is_its_own(tmp_path):
    with Loopback(hash_verdict) as one, Loopback(hash_verdict) as two:
        ended = panel.run([at(one, "a", budget_calls=20), at(two, "b")], **ALL, out=tmp_path)
    assert (20, N) == (one.n_requests, two.n_requests)
    assert [3, 0] == [e.exit_code for e in ended.ends]


def test_a_mistake_in_one_keeps_all_from_being_asked(tmp_path):
    with Loopback(hash_verdict) as server:
        with pytest.raises(ConfigError, match="api-base"):
            panel.run([at(server), "direct:nowhere"], **ALL, out=tmp_path)
        assert 0 == server.n_requests


@pytest.mark.parametrize(
    ("judges", "more", "said"),
    [
        (["scripted:quiet", "scripted:quiet"], {}, "twice"),
        ([], {}, "no judge"),
        ([{"limit": 3}], {}, "no name"),
        (["scripted:quiet", "scripted:noisy"], {"executor": "ray"}, "one judge at a time"),
        ([{"judge": "scripted:quiet", "limt": 3}], {}, "limt"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, judges, more, said):
    with pytest.raises(ConfigError, match=said):
        panel.run(judges, **{**ALL, **more}, out=tmp_path)
    assert [] == list(tmp_path.iterdir())


def test_an_interrupt_drains_all_and_the_same_call_goes_on(tmp_path):
    control = Controls([RunControl(), RunControl()])

    def stopping(body, n, k):
        if n == 12:
            control.interrupt()
        return hash_verdict(body, n, k)

    with Loopback(stopping, latency=0.02) as server:
        judges = [at(server, "a"), at(server, "b")]
        ended = asyncio.run(panel.arun(judges, **ALL, out=tmp_path, control=control))
        assert 130 == ended.exit_code
        assert server.n_requests == sum(whole(e.folder) for e in ended.ends) < 2 * N
        ended = asyncio.run(panel.arun(judges, **ALL, out=tmp_path))
        assert (0, 2 * N) == (ended.exit_code, server.n_requests)


def test_cancelled_it_keeps_what_was_answered_and_closes_everything(tmp_path):
    async def story():
        task = asyncio.create_task(panel.arun(judges, **ALL, out=tmp_path))
        await asyncio.to_thread(far.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert {asyncio.current_task()} == asyncio.all_tasks()
        return await panel.arun(judges, **ALL, out=tmp_path)

    import threading

    far = threading.Event()

    def telling(body, n, k):
        if n == 20:
            far.set()
        return hash_verdict(body, n, k)

    with Loopback(telling, latency=0.02) as server:
        judges = [at(server, "a"), at(server, "b")]
        ended = asyncio.run(story())
        assert 0 == ended.exit_code
        assert 2 * N <= server.n_requests <= 2 * N + 4


def test_on_the_command_line_the_one_that_stopped_is_named(tmp_path):
    with Loopback(empty_after(10)) as poor, Loopback(hash_verdict) as rich:
        flags = ["--judge", "direct:poor", "--api-base", poor.api_base, "--judge", "direct:rich"]
        flags += ["--api-base", rich.api_base, "--preset", "quick", "--limit", "4"]
        done = CliRunner().invoke(app, ["audit", *flags, "--out", str(tmp_path)])
    assert 3 == done.exit_code
    assert "judgeaudit: direct:poor at" in done.output
    assert "== direct:rich at" in done.output
    assert "10 of 68 answers are in" in done.output
    assert (tmp_path / "direct-rich" / "card.html").is_file()


def test_the_file_may_name_judges_with_limits_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Loopback(hash_verdict, latency=0.02) as one, Loopback(hash_verdict, latency=0.02) as two:
        Path("audit.toml").write_text(
            'preset = "quick"\nlimit = 4\nout = "both"\n'
            f'[[judges]]\njudge = "direct:a"\napi_base = "{one.api_base}"\nconcurrency = 2\n'
            f'[[judges]]\njudge = "direct:b"\napi_base = "{two.api_base}"\nconcurrency = 5\n'
        )
        done = CliRunner().invoke(app, ["audit", "-q"])
        assert 0 == done.exit_code, done.output
        assert (2, 5) == (one.most_in_flight, two.most_in_flight)
    assert ["direct-a", "direct-b"] == sorted(p.name for p in Path("both").iterdir())
    with pytest.raises(ConfigError, match="several judges"):
        audit.choose()
    Path("audit.toml").write_text('[[judges]]\njudge = "direct:a"\nconcurency = 2\n')
    failed = CliRunner().invoke(app, ["audit"])
    assert isinstance(failed.exception, ConfigError)
    assert "of judge 1. Did you mean 'concurrency'" in str(failed.exception)


def test_judges_of_one_name_are_told_apart_by_their_addresses(tmp_path):
    with Loopback(hash_verdict) as one, Loopback(hash_verdict) as two:
        ready = panel.gather([at(one), at(two)], **ALL, out=tmp_path)
        names = [p.folder.name for p in ready.ready]
        other_way = panel.gather([at(two), at(one)], **ALL, out=tmp_path)
    assert 2 == len(set(names))
    assert all(n.startswith("direct-a-") for n in names)
    assert names == [p.folder.name for p in other_way.ready][::-1]


def test_every_end_of_a_judge_is_told(tmp_path):
    with Loopback("503") as broken, Loopback(hash_verdict) as fine:
        judges = [at(broken, "a"), at(fine, "b")]
        ended = panel.run(judges, **ALL, out=tmp_path, attempts=2, call_seconds=5.0)
    assert isinstance(ended.ends[0].error, JudgeError)
    assert [3, 0] == [e.exit_code for e in ended.ends]
