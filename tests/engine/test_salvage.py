"""Damaged files: what can be read is saved, and what cannot is named exactly."""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
import struct

import pytest
from engine_world import PromptJudge, ask_all, make_meta, make_plan, open_ledger

from judgeaudit.core.errors import LedgerError
from judgeaudit.core.records import Reply, Verdict
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.salvage import salvage
from judgeaudit.engine.verify import faults
from judgeaudit.engine.writer import Answer, Failure

PAGE = 4096
LABELS = ("SAFE", "UNSAFE")


def answer(call):
    label = LABELS[call % 2]
    verdict = Verdict(outcome="verdict", label=label)
    text = json.dumps({"verdict": label, "rationale": "words " * 60})
    return Answer(call, Reply(text=text, request_id=f"r{call}", prompt_tokens=9), verdict, 1, 0.2)


@pytest.fixture
def plan():
    return make_plan(24)


@pytest.fixture
def path(tmp_path, plan):
    """Return a ledger of 300 answers and 10 failures in batches of ten."""
    path = tmp_path / "run.sqlite"
    with open_ledger(path, plan) as ledger:
        for k in range(0, 300, 10):
            ledger.append([answer(j) for j in range(k, k + 10)])
        ledger.append([Failure(k, "server", 503, None, "busy", 2) for k in range(290, 300)])
    return path


def root(path, table):
    db = sqlite3.connect(path)
    (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    db.close()
    return page


def leaves(path, table):
    """Return the leaf pages of a table whose root is an inner page, left to right."""
    data = path.read_bytes()

    def below(page):
        at = (page - 1) * PAGE
        kind = data[at]
        if kind == 0x0D:
            return [page]
        (n,) = struct.unpack(">H", data[at + 3 : at + 5])
        children = []
        for k in range(n):
            (cell,) = struct.unpack(">H", data[at + 12 + 2 * k : at + 14 + 2 * k])
            children += struct.unpack(">I", data[at + cell : at + cell + 4])
        children += struct.unpack(">I", data[at + 8 : at + 12])
        return [leaf for child in children for leaf in below(child)]

    return below(root(path, table))


def spoil(path, pages, fill=b"\xa5"):
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * PAGE)
            file.write(fill * PAGE)


def saved(path):
    with Ledger.open_readonly(path) as view:
        assert faults(view) == []
        return {r["position"]: r for r in view.rows() if r["outcome"]}


def test_a_whole_ledger_is_saved_whole_and_proved(path, tmp_path):
    found = salvage(path, tmp_path / "new")
    assert (300, 300, 0, 0, []) == (
        found.saved,
        found.intact,
        found.lost_answers,
        found.lost_failures,
        found.batches,
    )
    with Ledger.open_readonly(path) as a, Ledger.open_readonly(tmp_path / "new") as b:
        assert a.content_sha256() == b.content_sha256()
        assert a.head() == b.head()
        assert a.facts().requests == b.facts().requests


@pytest.mark.parametrize("fill", [b"\0", b"\xa5"])
def test_lost_words_are_named_and_their_verdicts_kept(path, tmp_path, fill):
    whole = saved(path)
    pages = leaves(path, "replies")
    spoil(path, [pages[1], pages[4]], fill)
    found = salvage(path, tmp_path / "new")
    kept = saved(tmp_path / "new")
    assert whole.keys() == kept.keys()
    assert 0 < len(found.wordless) < 60
    for k, row in kept.items():
        assert whole[k]["label"] == row["label"]
        if k in found.wordless:
            assert (None, "the words of this answer were lost with a damaged file") == (
                row["text"],
                row["note"],
            )
        else:
            assert whole[k]["text"] == row["text"]
    assert 0 == found.lost_answers
    assert 300 > found.intact > 200
    assert json.loads((tmp_path / "new.salvage.json").read_text())["wordless"] == found.wordless


def test_lost_verdicts_are_read_again_from_their_words(path, tmp_path):
    whole = saved(path)
    spoil(path, [leaves(path, "verdicts")[1]])
    found = salvage(path, tmp_path / "new")
    kept = saved(tmp_path / "new")
    assert whole.keys() == kept.keys()
    assert 0 < len(found.read_again)
    assert all(whole[k]["label"] == kept[k]["label"] for k in whole)
    assert all("read again from the saved words" in kept[k]["note"] for k in found.read_again)
    assert all(kept[k]["prompt_tokens"] is None for k in found.read_again)


def test_what_is_read_again_has_the_confidence_of_the_runs_own_source(plan, tmp_path):
    path = tmp_path / "run.sqlite"
    verdict = Verdict(outcome="verdict", label="SAFE", confidence=0.75)
    text = json.dumps({"verdict": "SAFE", "confidence": 0.9, "rationale": "words " * 60})
    # the server told a probability of every other answer
    told = [Reply(text=text, p_unsafe=0.25), Reply(text=text)]
    with Ledger.open(path, make_meta(plan, extra={"confidence": "logprobs"}), plan) as ledger:
        for k in range(0, 300, 10):
            rows = [Answer(j, told[j % 2], verdict, 1, 0.2) for j in range(k, k + 10)]
            ledger.append(rows)
    spoil(path, [leaves(path, "verdicts")[1]])
    found = salvage(path, tmp_path / "new")
    kept = saved(tmp_path / "new")
    assert 1 < len(found.read_again)
    for k in found.read_again:
        assert kept[k]["confidence"] == (0.75 if k % 2 == 0 else None)


def test_where_verdict_and_words_are_lost_the_call_is_asked_again_and_nothing_else(
    path, tmp_path, plan
):
    spoil(path, [leaves(path, "verdicts")[0], *leaves(path, "replies")[:12]])
    found = salvage(path, tmp_path / "new")
    kept = saved(tmp_path / "new")
    gone = set(range(300)) - kept.keys()
    assert 0 < len(gone) == found.lost_answers
    assert gone <= set(found.unreadable)
    # told by batch, and all of it
    told = sum(
        int(line.split(": ")[1].split(" of ")[0]) for line in found.batches if "missing" in line
    )
    assert len(gone) + len(found.read_again) == told
    judge = PromptJudge()
    ask_all(tmp_path / "new", plan, judge)
    assert plan.n_calls - len(kept) == judge.requests


@pytest.mark.parametrize("pages_cut", [1, 3, 10])
def test_a_file_that_was_cut_short_is_saved_up_to_the_cut(path, tmp_path, pages_cut):
    whole = saved(path)
    data = path.read_bytes()
    path.write_bytes(data[: -pages_cut * PAGE - 100])
    with pytest.raises(LedgerError, match="damaged or cut short"):
        Ledger.open_readonly(path)
    found = salvage(path, tmp_path / "new")
    kept = saved(tmp_path / "new")
    assert len(kept) == found.saved
    assert all(whole[k]["label"] == kept[k]["label"] for k in kept)
    assert 300 - found.saved == found.lost_answers
    assert path.read_bytes() == data[: -pages_cut * PAGE - 100]


def test_batches_that_are_lost_cost_no_answer(path, tmp_path):
    spoil(
        path,
        [root(path, "batches")]
        if len(leaves(path, "batches")) == 1
        else leaves(path, "batches")[:1],
    )
    found = salvage(path, tmp_path / "new")
    assert 300 == found.saved
    assert found.batches
    assert 300 == len(saved(tmp_path / "new"))


def test_a_damaged_plan_needs_a_ledger_of_the_same_plan(path, tmp_path, plan):
    whole = saved(path)
    spoil(path, [leaves(path, "calls")[0]])
    with pytest.raises(
        LedgerError, match=r"says what was planned is damaged.*give its ledger as --plan"
    ):
        salvage(path, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    open_ledger(tmp_path / "other", make_plan(24, seed=3)).close()
    with pytest.raises(LedgerError, match="it is of another plan"):
        salvage(path, tmp_path / "new", plan=tmp_path / "other")
    open_ledger(tmp_path / "fresh", plan).close()
    salvage(path, tmp_path / "new", plan=tmp_path / "fresh")
    assert whole == saved(tmp_path / "new")


def test_a_changed_text_is_no_plan(path, tmp_path):
    db = sqlite3.connect(path)
    db.execute("UPDATE parts SET body = 'x' WHERE id = 2")
    db.commit()
    db.close()
    with pytest.raises(LedgerError, match="text 2 is not what its hash says"):
        salvage(path, tmp_path / "new")


def test_what_is_no_ledger_any_more_is_said(path, tmp_path):
    spoil(path, [1])
    with pytest.raises(LedgerError, match="no ledger, or its beginning is lost"):
        salvage(path, tmp_path / "new")
    with pytest.raises(LedgerError, match="No such file"):
        salvage(tmp_path / "none", tmp_path / "new")


@pytest.mark.parametrize("seed", range(6))
def test_damage_anywhere_never_makes_an_answer_of_its_own(path, tmp_path, seed):
    """Random pages are lost: each answer that comes out is one that went in, or it is told."""
    whole = saved(path)
    pages = path.stat().st_size // PAGE
    dice = random.Random(seed)
    first = root(path, "sessions")
    spoil(path, [dice.randrange(first, pages + 1) for _ in range(6)], dice.choice([b"\0", b"\xff"]))
    found = None
    said = r"planned is damaged|where its tables are"
    with contextlib.suppress(LedgerError):
        found = salvage(path, tmp_path / "new")
    if found is None:
        with pytest.raises(LedgerError, match=said):
            salvage(path, tmp_path / "new")
        return
    kept = saved(tmp_path / "new")
    assert len(kept) == found.saved
    assert all(whole[k]["label"] == row["label"] for k, row in kept.items())
    assert len(whole) - len(kept) <= found.lost_answers or found.batches
