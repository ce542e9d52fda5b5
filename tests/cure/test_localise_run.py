"""`localise` on a real run: a server with faults, a kill, a resumed search, and what it writes."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from cure_world import N, corpus, faulty, turns, wordy
from loopback import Loopback
from typer.testing import CliRunner

from judgeaudit import audit
from judgeaudit.cards.localised import FILE, read_localised
from judgeaudit.cli.main import app
from judgeaudit.core.errors import CardError, ConfigError, LedgerError
from judgeaudit.core.records.localised import Localised
from judgeaudit.cure.localise_page import to_html, to_markdown
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.lock import RunLock


def told(*args, code=0):
    result = CliRunner().invoke(app, [str(a) for a in args])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert code == result.exit_code, result.output
    return result


def judged(server, tmp_path, **more):
    return audit.run(
        judge="direct:toy",
        api_base=server.api_base,
        corpus="jsonl",
        data=str(corpus(tmp_path / "own.jsonl")),
        conditions=("base", "T2"),
        base_repeats=3,
        repeats=1,
        out=tmp_path / "run",
        **more,
    ).folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Audit once, and localise once in a copy; the server stays."""
    tmp_path = tmp_path_factory.mktemp("cure")
    with Loopback(wordy) as server:
        folder = judged(server, tmp_path)
        done = tmp_path / "done"
        shutil.copytree(folder, done)
        before = server.n_requests
        printed = told("localise", done, "--calls", 1500).stdout
        yield folder, done, server, (printed, server.n_requests - before)


@pytest.fixture
def run(made, tmp_path):
    folder, _, server, _ = made
    return shutil.copytree(folder, tmp_path / "run"), server


@pytest.fixture
def done(made, tmp_path):
    return shutil.copytree(made[1], tmp_path / "done")


def test_the_word_is_named_with_share_direction_and_calls(made):
    _, folder, server, (out, calls) = made
    found = read_localised(folder)
    (section,) = found.sections
    (cause,) = section.named
    flips = sum(map(turns, range(1, N + 1)))
    assert ("T2", ("N3.words",), flips) == (section.condition, cause.edits, cause.part.n)
    assert flips / 2 == cause.part.to_safe == cause.part.to_unsafe
    assert 0 < cause.part.low < 1 == cause.part.high
    assert found.calls == calls == sum(i.calls for i in found.items)
    assert "N3: 'must not follow' -> 'is prohibited from following'" in out
    # an answer is paid once: the same command asks nothing more
    before = server.n_requests
    told("localise", folder, "--calls", 1500)
    assert before == server.n_requests
    assert found == read_localised(folder)


def test_every_text_that_was_asked_is_certified_and_bound_to_the_run(done):
    folder = done
    rounds = sorted(folder.glob("localise/*/round-*.sqlite"))
    with Ledger.open_readonly(folder / "ledger.sqlite") as view:
        plan = view.plan_sha256
    for path in rounds:
        with Ledger.open_readonly(path) as view:
            assert plan == view.meta.extra["asked_about"]
            for r in view.meta.renderings:
                assert r.certified, r.condition
    assert len(rounds) > 2


def test_a_dry_run_says_what_it_would_ask_and_asks_nobody(run):
    folder, server = run
    before = server.n_requests
    out = told("localise", folder, "--dry-run", "--calls", 160).stdout
    assert before == server.n_requests
    assert f"T2: 16 of {N} items flip; 8 edits between the two texts" in out
    assert "2 of the 16 flips are drawn" in out
    assert not (folder / FILE).exists()


@pytest.mark.slow
def test_failures_are_retried_or_left_out_and_never_a_verdict(tmp_path):
    with Loopback(wordy) as server:
        folder = judged(server, tmp_path)
        port = server.port
    with Loopback(faulty, port=port):
        told("localise", folder, "--attempts", 4, "--concurrency", 1)
    found = read_localised(folder)
    (section,) = found.sections
    assert [("N3.words",)] == [c.edits for c in section.named]
    outcomes = set()
    for path in folder.glob("localise/*/round-*.sqlite"):
        with Ledger.open_readonly(path) as view:
            outcomes |= {r["outcome"] for r in view.rows()}
    assert {"verdict", "unparseable"} == outcomes


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_stopped_it_goes_on_and_ends_as_if_it_had_not_been(run, how):
    folder, server = run
    server.latency = 0.01
    command = [sys.executable, "-m", "judgeaudit", "localise", str(folder), "--concurrency", "2"]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while len(list(folder.glob("localise/*/round-*.sqlite"))) < 2:
        assert time.monotonic() < end
        assert child.poll() is None
        time.sleep(0.02)
    os.kill(child.pid, how)
    assert child.wait() == (130 if how == signal.SIGINT else -how)
    assert not (folder / FILE).exists()
    server.latency = 0.0
    told("localise", folder)
    killed = read_localised(folder)
    for path in sorted(folder.glob("localise/*/*"), reverse=True):
        path.unlink()
    told("localise", folder)
    again = read_localised(folder)
    assert [i for i in killed.items if i not in again.items] == [
        i for i in again.items if i not in killed.items
    ]
    assert killed == again


def test_a_smaller_budget_asks_nobody_and_replaces_no_fuller_result(done, made):
    before = made[2].n_requests
    files = [done / f"localise.{form}" for form in ("json", "html", "md")]
    old = [p.read_bytes() for p in files]
    for calls in (1, 80):
        result = told("localise", done, "--calls", calls)
        assert "N3: 'must not follow' -> 'is prohibited from following'" in result.stdout
        assert "found with --calls 1500" in result.stderr
    assert old == [p.read_bytes() for p in files]
    assert before == made[2].n_requests


def test_raising_the_budget_goes_on_and_pays_no_answer_twice(run):
    folder, server = run
    before = server.n_requests
    told("localise", folder, "--calls", 300)
    first = read_localised(folder)
    paid = server.n_requests - before
    assert first.calls == paid <= 300
    told("localise", folder, "--calls", 320)
    second = read_localised(folder)
    assert len(second.items) > len(first.items)
    assert [p.name for p in folder.glob("localise/*")] == [
        next(folder.glob("localise/*/round-0001.sqlite")).parent.name
    ]
    # the flips that were traced before cost nothing again
    assert second.calls == server.n_requests - before <= 320
    new = {i.item for i in second.items} - {i.item for i in first.items}
    assert second.calls - first.calls <= sum(i.calls for i in second.items if i.item in new) + 40
    seen = set()
    for path in folder.glob("localise/*/round-*.sqlite"):
        with Ledger.open_readonly(path) as view:
            rows = [(r["item"], r["condition"], r["repeat"]) for r in view.rows()]
        assert rows
        assert seen.isdisjoint(rows)
        seen.update(rows)
    assert len(seen) == second.calls
    told("localise", folder, "--calls", 320)
    assert second == read_localised(folder)
    assert second.calls == server.n_requests - before


def test_a_ledger_that_a_kill_left_empty_is_no_round(done, made):
    before, found = made[2].n_requests, read_localised(done)
    *_, last = sorted(done.glob("localise/*/round-*.sqlite"))
    number = int(last.stem.rpartition("-")[2]) + 1
    empty = last.with_name(f"round-{number:04d}.sqlite")
    empty.touch()
    told("localise", done, "--calls", 1500)
    assert found == read_localised(done)
    assert before == made[2].n_requests
    # its place is taken by the next round
    shutil.copy(last, empty)
    last.write_bytes(b"")
    empty.unlink()
    told("localise", done, "--calls", 1500)
    assert last.stat().st_size
    assert found == read_localised(done)


def test_two_at_a_time_do_not_pay_for_the_same_answers(done, made):
    before = made[2].n_requests
    lock = RunLock(next(done.glob("localise/*")) / "search")
    with pytest.raises(LedgerError, match="another run is writing"):
        told("localise", done, "--calls", 1600)
    lock.release()
    assert before == made[2].n_requests


def test_what_a_ledger_of_another_search_holds_is_refused(done):
    first, *_ = sorted(done.glob("localise/*/round-*.sqlite"))
    shutil.copy(done / "ledger.sqlite", first)
    with pytest.raises(LedgerError, match="belongs to another run"):
        told("localise", done, "--calls", 1500)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--condition", "T9"), "unknown condition of this run 'T9'"),
        (("--condition", "base"), "unknown condition of this run 'base'"),
        (("--calls", "0"), "asks nothing"),
        (("--budget-usd", "nan"), "--budget-usd"),
        (("--policy", "finance"), "is not the policy that this run was made with"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(run, args, message):
    folder, _ = run
    with pytest.raises(ConfigError, match=re.escape(message)):
        told("localise", folder, *args)


def test_the_page_colours_the_words_and_escapes_what_is_not_ours(done):
    folder = done
    found = read_localised(folder)
    page = (folder / "localise.html").read_text("utf-8")
    assert page == to_html(found)
    assert re.search(r'<mark class="u u5" title="N3: [^"]*">must not follow ?<sup>1</sup>', page)
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert "N3" in (folder / "localise.md").read_text("utf-8")
    evil = '<script>alert(1)</script>\x1b[2J" onmouseover="x'
    data = json.loads(found.model_dump_json())
    data["judge"] = data["items"][0]["item"] = evil
    data["sections"][0]["base_text"] = evil + data["sections"][0]["base_text"]
    data["sections"][0]["edits"][0]["name"] = data["sections"][0]["causes"][0]["names"][0] = evil
    hostile = Localised.model_validate(data)
    for text in (to_html(hostile), to_markdown(hostile)):
        assert "<script" not in text
        assert "\x1b" not in text
        assert 'onmouseover="x' not in text or "\\" in text
    assert 'title="' + evil[:5] not in to_html(hostile)


def test_a_record_that_is_none_is_said_to_be_none(run):
    folder, _ = run
    assert read_localised(folder) is None
    (folder / FILE).write_text('{"schema_version": 2}', encoding="utf-8")
    with pytest.raises(CardError, match="no record of judgeaudit localise"):
        read_localised(folder)


def test_a_judge_that_no_longer_flips_is_jitter_and_nothing_is_found(tmp_path):
    with Loopback(wordy) as server:
        folder = judged(server, tmp_path)
        port = server.port

    def steady(body, n, k):
        text = json.dumps(body).replace("is prohibited from following", "must not follow")
        return wordy(json.loads(text), n, k)

    with Loopback(steady, port=port):
        out = told("localise", folder).stdout
    assert "Nothing found: 16 of 16 flips were asked again, and none came back" in out
    assert not read_localised(folder).found


def test_the_card_has_a_section_and_is_verified_with_it_and_without(done):
    old = (done / "card.json").read_bytes()
    assert b"Which words flip verdicts" not in (done / "card.html").read_bytes()
    told("card", "verify", done / "card.json")
    told("card", done)
    assert old != (done / "card.json").read_bytes()
    for name in ("card.html", "card.md"):
        page = (done / name).read_text("utf-8")
        assert "Which words flip verdicts" in page
        assert "is prohibited from following" in page
        assert "100% (16 of 16)" in page
    told("card", "verify", done / "card.json")
    data = json.loads((done / FILE).read_text("utf-8"))
    data["sections"][0]["causes"][0]["part"]["n"] = 15
    (done / FILE).write_text(json.dumps(data), encoding="utf-8")
    told("card", "verify", done / "card.json", code=1)
    data["plan_sha256"] = "0" * 64
    (done / FILE).write_text(json.dumps(data), encoding="utf-8")
    told("card", done)
    assert old == (done / "card.json").read_bytes()
