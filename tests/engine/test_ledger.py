from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from engine_world import POLICY, make_meta, make_plan, open_ledger

from judgeaudit.core.errors import LedgerError
from judgeaudit.core.records import Reply, Verdict
from judgeaudit.core.table import NOT_CALLED, SAFE, UNSAFE
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.verify import broken_links
from judgeaudit.engine.writer import Answer, Failure

ODD = "half a pair \ud83d, a NUL \x00, two lines\u2028and 한국어"


def answer(call, label="SAFE", **reply):
    verdict = Verdict(outcome="verdict", label=label, confidence=0.5, rationale=ODD)
    return Answer(call, Reply(**{"text": ODD, **reply}), verdict, 2, 0.25)


def other(call, outcome):
    return Answer(call, Reply(text=None), Verdict(outcome=outcome, note="n"), 1, 0.1)


@pytest.fixture
def plan():
    return make_plan(3)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.sqlite"


def test_what_is_written_is_read_back_word_for_word(path, plan):
    with open_ledger(path, plan) as ledger:
        ledger.append([answer(5, served_model="m", request_id="r", reasoning=ODD, cost=0.5)])
    with Ledger.open_readonly(path) as view:
        (row,) = [r for r in view.rows() if r["outcome"]]
        call = plan.call(5)
        assert (call.item, call.condition, call.repeat, call.prompt_sha256) == (
            row["item"],
            row["condition"],
            row["repeat"],
            row["prompt_sha256"],
        )
        assert (row["text"], row["rationale"], row["reasoning"]) == (ODD, ODD, ODD)
        assert tuple(
            row[k]
            for k in [
                "position",
                "label",
                "confidence",
                "attempts",
                "seconds",
                "cost",
                "served_model",
                "request_id",
            ]
        ) == (5, "SAFE", 0.5, 2, 0.25, 0.5, "m", "r")
        assert make_meta(plan) == view.meta
        assert broken_links(view) == []


@pytest.mark.parametrize("n", [1, 2, 3, 63, 64, 65, 127, 150])
@pytest.mark.parametrize("long", [False, True])
def test_batches_of_any_size_are_read_back_row_by_row(path, n, long):
    plan = make_plan(12)
    texts = {k: f"{k} {ODD} " + "x" * (300_000 if long and k % 11 == 0 else k) for k in range(n)}
    rows = [answer(k, ("SAFE", "UNSAFE")[k % 2], text=texts[k]) for k in texts]
    rows += [Failure(n + k, "timeout", None, f"c{k}", f"late {k}", 1) for k in range(n % 70)]
    assert plan.n_calls >= len(rows)
    with open_ledger(path, plan) as ledger:
        ledger.append(rows)
    with Ledger.open_readonly(path) as view:
        held = {r["position"]: r for r in view.rows() if r["outcome"]}
        told = [(f["call"], f["code"], f["message"]) for f in view.failures()]
        assert {k: (t, ("SAFE", "UNSAFE")[k % 2]) for k, t in texts.items()} == {
            k: (r["text"], r["label"]) for k, r in held.items() if r["outcome"] == "verdict"
        }
        assert [(n + k, f"c{k}", f"late {k}") for k in range(n % 70)] == told
        assert broken_links(view) == []


def test_the_table_holds_outcomes_errors_and_what_was_not_called(path, plan):
    rows = [
        answer(0, "SAFE"),
        answer(1, "UNSAFE"),
        other(2, "refusal"),
        other(3, "unparseable"),
        Failure(4, "server", 500, None, "boom", 3),
        Failure(5, "server", 500, None, "boom", 3),
        answer(5, "SAFE"),
    ]
    with open_ledger(path, plan) as ledger:
        ledger.append(rows)
        table = ledger.table()
    found = {}
    for k in range(plan.n_calls):
        call = plan.call(k)
        i = table.items.index(call.item)
        j = table.columns.index((call.condition, call.wording))
        found[k] = int(table.codes[i, j, call.repeat])
    expected = {0: SAFE, 1: UNSAFE, 2: 2, 3: 4, 4: 6, 5: SAFE}
    assert {k: expected.get(k, NOT_CALLED) for k in range(plan.n_calls)} == found
    assert table.items == ("toy//0", "toy//1", "toy//2")
    assert table.clusters.tolist() == [0, 0, 1]
    assert table.gold.tolist() == [SAFE, UNSAFE, SAFE]
    assert table.ambiguous.tolist() == [-1, 0, 1]
    assert dict(table.strata) == {"domain": ("mail", "bank", "mail")}


def test_facts_hold_the_chains_head_the_plan_and_how_often_the_server_changed(path, plan):
    def from_(k, model, fingerprint):
        return answer(k, served_model=model, system_fingerprint=fingerprint)

    with open_ledger(path, plan) as ledger:
        ledger.append([from_(0, "m", "fp1"), from_(1, "m", "fp1"), from_(2, "n", "fp9")])
        facts = ledger.facts()
        # two models, one configuration each
        assert "fingerprints" not in facts.extra
        assert (ledger.head(), plan.sha256) == (facts.ledger_head, facts.plan_sha256)
        ledger.append([from_(3, "m", "fp2")])
        later = ledger.facts()
    assert later.extra["fingerprints"] == 2
    assert facts.ledger_head != later.ledger_head


def test_facts_count_outcomes_requests_and_money(path, plan):
    rows = [
        answer(0, cost=0.5, prompt_tokens=10, completion_tokens=1, served_model="m"),
        answer(1, cost=0.25, prompt_tokens=10, completion_tokens=1, served_model="m"),
        Failure(2, "server", 500, None, "boom", 3),
    ]
    with open_ledger(path, plan) as ledger:
        ledger.append(rows)
        facts = ledger.facts("a note")
        assert (plan.n_calls, 2, 7) == (facts.n_planned, facts.n_answered, facts.requests)
        assert (
            facts.cost,
            facts.prompt_tokens,
            facts.completion_tokens,
            facts.served_models,
        ) == (0.75, 20, 2, {"m": 2})
        counts = [n for c in facts.outcomes.values() for n in c.items()]
        assert sum(n for k, n in counts if k == "verdict") == 2
        assert sum(n for k, n in counts if k == "error") == 1
        assert (
            facts.judge_note,
            facts.policy,
            facts.versions,
        ) == ("a note", POLICY, {"judgeaudit": "0"})
        assert ledger.content_sha256() == facts.ledger_sha256
        ledger.append([answer(3, cost=None)])
        later = ledger.facts()
    assert (later.cost, later.prompt_tokens) == (None, None)
    assert later.cost_note == "the price of 1 of 3 answered calls is not known"


def test_the_content_hash_ignores_order_and_transport_but_no_answer(path, tmp_path, plan):
    def content(name, rows):
        with open_ledger(tmp_path / name, plan) as ledger:
            for row in rows:
                ledger.append([row])
            return ledger.content_sha256()

    one, two = answer(0), answer(1, "UNSAFE")
    moved = two._replace(attempts=9, seconds=7.0)
    plain = content("a", [one, two])
    assert plain == content("b", [moved, one])
    assert plain == content("c", [Failure(0, "server", 500, None, "x", 1), one, two])
    assert plain != content("d", [one, answer(1, "SAFE")])
    assert plain != content("e", [one, answer(1, "UNSAFE", text="other words")])
    assert plain != content("f", [one])
    assert content("g", [one]) != content("h", [one, Failure(1, "server", 500, None, "x", 1)])


def test_a_reply_is_never_taken_twice_and_nothing_is_rewritten(path, plan):
    with open_ledger(path, plan) as ledger:
        ledger.append([answer(0)])
        with pytest.raises(LedgerError):
            ledger.append([answer(0, "UNSAFE")])
    db = sqlite3.connect(path)
    for sql in ("UPDATE verdicts SET label = 'UNSAFE'", "DELETE FROM replies"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            db.execute(sql)
    with pytest.raises(sqlite3.IntegrityError):
        db.execute(
            "INSERT INTO verdicts SELECT 1, batch, 'refusal', 'SAFE', NULL, 1, 1, NULL, NULL, NULL, "
            "served FROM verdicts"
        )
    db.close()


def test_the_chain_tells_where_a_row_was_changed(path, plan):
    with open_ledger(path, plan) as ledger:
        for k in range(4):
            ledger.append([answer(k)])
        head = ledger.head()
    db = sqlite3.connect(path)
    db.execute("DROP TRIGGER replies_no_update")
    db.execute("UPDATE replies SET text = 'SAFE' WHERE call = 2")
    db.commit()
    db.close()
    with Ledger.open_readonly(path) as view:
        (said,) = broken_links(view)
        assert said.startswith("batch 3 of ")
        assert head == view.head()


def test_the_chain_covers_labels_and_settings(path, plan):
    with open_ledger(path, plan) as ledger:
        ledger.append([answer(0)])
    db = sqlite3.connect(path)
    db.execute("UPDATE items SET label = 'UNSAFE' WHERE id = 0")
    db.commit()
    db.close()
    with Ledger.open_readonly(path) as view:
        assert len(broken_links(view)) == 1


def test_a_rerun_asks_only_what_has_no_answer(path, plan):
    with open_ledger(path, plan) as ledger:
        assert plan.n_calls == ledger.open_positions().size
        ledger.append([answer(0), answer(7), Failure(3, "server", 500, None, "boom", 3)])
    with open_ledger(path, plan) as ledger:
        never_failed = [k for k in range(plan.n_calls) if k not in {0, 3, 7}]
        assert ledger.open_positions().tolist() == [*never_failed, 3]
        ledger.append([answer(1)])
        assert broken_links(ledger) == []
    with Ledger.open_readonly(path) as view:
        assert view.n_answered == 3


def test_it_is_read_while_it_is_written(path, plan):
    with open_ledger(path, plan) as ledger, Ledger.open_readonly(path) as view:
        assert view.n_answered == 0
        ledger.append([answer(0)])
        assert view.n_answered == 1
        rows = view.rows()
        next(rows)
        ledger.append([answer(1)])
        assert plan.n_calls - 1 == len(list(rows))


def test_a_reader_does_not_stand_in_the_way_of_a_resume(path, plan):
    open_ledger(path, plan).close()
    with Ledger.open_readonly(path) as view:
        rows = view.rows()
        next(rows)
        with open_ledger(path, plan) as ledger:
            ledger.append([answer(0)])
            assert view.n_answered == 1
    # the view kept the -wal; the next writer folds it in
    open_ledger(path, plan).close()
    assert [path.name] == [p.name for p in path.parent.iterdir()]


def test_rows_are_paged_filtered_and_complete(path, monkeypatch, plan):
    monkeypatch.setattr("judgeaudit.engine.view._PAGE", 7)
    with open_ledger(path, plan) as ledger:
        ledger.append([answer(k) for k in range(plan.n_calls)])
        assert list(range(plan.n_calls)) == [r["position"] for r in ledger.rows()]
        mine = list(ledger.rows(item="toy//1", condition="base"))
        assert [(r["item"], r["condition"]) for r in mine] == [("toy//1", "base")] * 3
        assert {0, 1, 2} == {r["repeat"] for r in mine}
        assert plan.n_calls - 10 == len(list(ledger.rows(start=10)))


@pytest.fixture
def public_folder():
    """Return a folder that another user may read but not write."""
    if os.getuid() != 0:
        pytest.skip("needs another user to read as, so it needs root")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


READER = """
import os, sys
from pathlib import Path
from judgeaudit.engine.ledger import Ledger
os.setuid(65534)
with Ledger.open_readonly(Path(sys.argv[1])) as view:
    print(view.n_answered)
"""


@pytest.mark.parametrize("died", [False, True])
def test_it_is_read_from_a_folder_that_cannot_be_written(public_folder, plan, died):
    """A run that was killed leaves a -wal behind: its answers are read too."""
    tmp_path = public_folder
    with open_ledger(tmp_path / "l.sqlite", plan) as ledger:
        ledger.append([answer(0)])
        folder = tmp_path / "copy"
        folder.mkdir()
        if died:
            for suffix in ("", "-wal"):
                shutil.copy(tmp_path / f"l.sqlite{suffix}", folder / f"l.sqlite{suffix}")
    if not died:
        shutil.copy(tmp_path / "l.sqlite", folder / "l.sqlite")
    before = sorted(p.name for p in folder.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", READER, str(folder / "l.sqlite")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("1\n", "")
    assert before == sorted(p.name for p in folder.iterdir())


def test_a_run_that_could_not_begin_leaves_nothing_behind(path, plan):
    ledger = open_ledger(path, plan)
    ledger.append([Failure(0, "authentication", 401, None, "bad key", 1)])
    ledger.discard()
    assert not list(path.parent.iterdir())
    with open_ledger(path, plan) as ledger:
        ledger.append([answer(0)])
        ledger.discard()
    assert [path.name] == [p.name for p in path.parent.iterdir()]
