"""What a ledger refuses: another run's choices, and files that are none."""

from __future__ import annotations

import sqlite3

import pytest
from engine_world import POLICY, SPEC, make_meta, make_plan, open_ledger

from judgeaudit.core.errors import LedgerError
from judgeaudit.core.hashing import sha256_text
from judgeaudit.core.records import Reply, Verdict
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.writer import Answer

ODD = "half a pair \ud83d, a NUL \x00, two lines\u2028and 한국어"


def answer(call, label="SAFE", **reply):
    verdict = Verdict(outcome="verdict", label=label, confidence=0.5, rationale=ODD)
    return Answer(call, Reply(**{"text": ODD, **reply}), verdict, 2, 0.25)


@pytest.fixture
def plan():
    return make_plan(3)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.sqlite"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"repeats": 3}, "protocol.repeats: 2 → 3"),
        ({"seed": 9}, "protocol.seed: 0 → 9"),
        ({"drop": ["T4"]}, r"protocol.conditions: \['base', 'T1', 'T2', 'T4'.*condition T4.kind"),
        (
            {"spec": SPEC.model_copy(update={"decoding": {"temperature": 0.0, "top_p": 1}})},
            (
                "judge.decoding.max_tokens: 50 → not there; judge.decoding.temperature: 1.0 → 0.0; "
                "judge.decoding.top_p: not there → 1"
            ),
        ),
        ({"spec": SPEC.model_copy(update={"model": "else"})}, "judge.model: 'hash' → 'else'"),
    ],
)
def test_another_plan_is_refused_with_what_differs(path, plan, change, said):
    open_ledger(path, plan).close()
    with pytest.raises(LedgerError, match=f"belongs to another run: .*{said}"):
        open_ledger(path, make_plan(3, **change))
    open_ledger(path, plan).close()


def test_another_policy_corpus_or_template_is_refused_with_what_differs(path, plan):
    open_ledger(path, plan).close()
    meta = make_meta(plan)
    policy = POLICY.model_copy(update={"sha256": sha256_text("q")})
    corpus = meta.corpus.model_copy(update={"sha256": sha256_text("c")})
    changed = meta.renderings[1].model_copy(update={"sha256": sha256_text("r")})
    renderings = (meta.renderings[0], changed, *meta.renderings[2:])
    for change, said in (
        ({"policy": policy}, r"policy.sha256: '\w+' → '\w+'"),
        ({"corpus": corpus}, r"corpus.sha256: '\w+' → '\w+'"),
        ({"template": "new"}, r"template.sha256: '\w+' → '\w+'"),
        ({"renderings": renderings}, r"rendering T1/0.sha256: '\w+' → '\w+'"),
    ):
        with pytest.raises(LedgerError, match=said):
            Ledger.open(path, make_meta(plan, **change), plan)


def test_another_prompt_or_other_items_are_named(path, plan):
    meta = make_meta(plan)
    open_ledger(path, plan).close()
    bigger = make_plan(4)
    with pytest.raises(LedgerError, match=r"items: 1 are new \('toy//3'\)"):
        Ledger.open(path, meta, bigger)
    # the same items, but the prompt of one cell is not what it was
    bent = make_plan(3)
    digests = bytearray(bent.digests)
    digests[0] ^= 1
    object.__setattr__(bent, "digests", bytes(digests))
    with pytest.raises(LedgerError, match=r"prompts: 1 of \d+ differ, the first for item 'toy//0'"):
        Ledger.open(path, meta, bent)


def test_better_words_for_a_title_do_not_stop_a_resume(path, plan):
    open_ledger(path, plan).close()
    worded = POLICY.model_copy(update={"title": "A better title"})
    conditions = tuple(
        c.model_copy(update={"summary": "New words."}) for c in plan.protocol.conditions
    )
    protocol = plan.protocol.model_copy(update={"conditions": conditions, "preset": "mine"})
    Ledger.open(path, make_meta(plan, policy=worded, protocol=protocol), plan).close()


def test_files_that_are_no_ledger_are_named_and_left_alone(path, plan):
    path.write_bytes(b"judge,label\n" * 100)
    with pytest.raises(LedgerError, match="not an SQLite database"):
        open_ledger(path, plan)
    with pytest.raises(LedgerError, match="not an SQLite database"):
        Ledger.open_readonly(path)
    assert path.read_bytes() == b"judge,label\n" * 100
    path.unlink()
    foreign = sqlite3.connect(path)
    foreign.execute("CREATE TABLE theirs (x)")
    foreign.close()
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="not a judgeaudit ledger"):
        open_ledger(path, plan)
    assert before == path.read_bytes()
    with pytest.raises(LedgerError, match="there is no ledger here"):
        Ledger.open_readonly(path.with_name("none"))
    path.write_bytes(b"")
    with pytest.raises(LedgerError, match="empty: no run was recorded"):
        Ledger.open_readonly(path)
    open_ledger(path, plan).close()
    assert [path.name] == [p.name for p in path.parent.iterdir()]


def test_a_newer_format_and_a_cut_file_are_named(path, plan):
    with open_ledger(path, plan) as ledger:
        ledger.append([answer(k) for k in range(plan.n_calls)])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2 // 4096 * 4096])
    for attempt in (lambda: open_ledger(path, plan), lambda: Ledger.open_readonly(path)):
        with pytest.raises(LedgerError, match="damaged or cut short"):
            attempt()
    path.write_bytes(whole)
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    for attempt in (lambda: open_ledger(path, plan), lambda: Ledger.open_readonly(path)):
        with pytest.raises(LedgerError, match="written by a newer judgeaudit"):
            attempt()
