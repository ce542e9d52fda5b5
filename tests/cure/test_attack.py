"""`judgeaudit attack`: the schedule, the texts, the search, and the whole story on a real ledger."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

from judgeaudit import audit
from judgeaudit.core.errors import CardError, ConfigError, JudgeAuditError
from judgeaudit.core.records.attacked import Attacks
from judgeaudit.core.table import Counts
from judgeaudit.cure.attack import AttackSpec, attack, plan_attack
from judgeaudit.cure.attack_measure import measured
from judgeaudit.cure.attack_search import Answers, Round, Sizes, gains, make_schedule, search
from judgeaudit.cure.attack_space import Wordings
from judgeaudit.cure.attack_words import headline, of_attack, page
from judgeaudit.engine.ledger import Ledger
from judgeaudit.policy import load_policy, render
from judgeaudit.policy.readback import certify

POLICY = load_policy("agent_safety")
CONDITIONS = ("base", "T1", "T4")
CHOICES = {"calls": 700, "wordings": 1, "mixes": 2}


def counts(unsafe, valid) -> Counts:
    s, k = np.array(unsafe), np.array(valid)
    return Counts(s, k, np.zeros_like(k))


# ---- the schedule -------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", ["excess", "tpr"])
@pytest.mark.parametrize("finalists", [1, 3])
@pytest.mark.parametrize("mixes", [0, 1, 12])
def test_no_schedule_passes_its_budget(objective, finalists, mixes):
    for whole in (1, 3, 17):
        for train, held_out in ((4, 5), (40, 37), (500, 480)):
            sizes = Sizes(objective, whole, mixes, finalists, train, held_out)
            for calls in (1_500, 1_999, 20_000):
                made = make_schedule(calls, sizes)
                assert made.calls == sum(r.calls for r in made.rounds) <= calls
                assert made.held_out.items <= held_out
                assert all(4 <= r.items <= train for r in (*made.whole, *made.mixed))
                # one half at most is for measuring
                assert made.held_out.calls <= calls / 2


def test_too_few_calls_or_items_say_what_would_do():
    sizes = Sizes("excess", 17, 12, 1, 40, 40)
    with pytest.raises(ConfigError, match="300 calls are too few") as caught:
        make_schedule(300, sizes)
    least = int(re.search(r"--calls (\d+)", str(caught.value))[1])
    assert make_schedule(least, sizes).calls <= least
    with pytest.raises(ConfigError, match="3 items to search on and 40 held out"):
        make_schedule(900, Sizes("tpr", 17, 12, 1, 3, 40))
    with pytest.raises(ConfigError, match="nothing to choose among"):
        make_schedule(900, Sizes("tpr", 0, 12, 1, 40, 40))


# ---- the figures --------------------------------------------------------------------------------


def test_gains_are_those_of_the_definitions():
    gold = np.array([1, 0, 1, -1], dtype=np.int8)
    base, other = counts([2, 0, 1, 2], [2, 2, 2, 2]), counts([0, 1, 1, 0], [1, 1, 0, 1])
    excess = gains("excess", base, other, gold)
    assert excess.defined.tolist() == [True, True, False, True]
    assert excess.values.tolist() == [1, 1, 0, 1]
    tpr = gains("tpr", base, other, gold)
    assert tpr.defined.tolist() == [True, False, False, False]
    assert tpr.values[0] == 1.0
    fpr = gains("fpr", base, other, gold)
    assert fpr.defined.tolist() == [False, True, False, False]
    assert fpr.values[1] == 1.0


def test_calls_without_a_verdict_are_left_out_and_counted():
    gold = np.ones(6, dtype=np.int8)
    base = counts([1] * 6, [1] * 6)
    lost = Counts(np.zeros(6, int), np.array([0, 0, 0, 1, 1, 1]), np.array([1, 1, 1, 0, 0, 0]))
    found = measured(
        Answers(base, {0: lost}), [0], objective="tpr", gold=gold, clusters=np.arange(6)
    )[0]
    assert (found.items, found.lost, found.lost_base) == (3, 3, 0)
    assert found.gain == 1.0
    none = Counts(np.zeros(6, int), np.zeros(6, int), np.ones(6, int))
    found = measured(
        Answers(base, {0: none}), [0], objective="tpr", gold=gold, clusters=np.arange(6)
    )[0]
    assert found.gain is None
    assert "no held-out item" in found.why


def test_several_finalists_get_wider_intervals_and_larger_p_values():
    rng = np.random.default_rng(1)
    gold, k = np.ones(60, dtype=np.int8), np.full(60, 3)
    base, one, two = (Counts(rng.binomial(3, p, 60), k, 0 * k) for p in (0.9, 0.6, 0.7))
    answers = Answers(base, {0: one, 1: two})
    more = {"objective": "tpr", "gold": gold, "clusters": np.arange(60) // 2}
    alone, both = measured(answers, [0], **more)[0], measured(answers, [0, 1], **more)
    assert both[0].gain == alone.gain
    assert both[0].low < alone.low < alone.high < both[0].high
    assert (alone.level, both[0].level) == (0.95, 0.975)
    assert both[0].p_adjusted >= both[0].p_value == alone.p_value


# ---- the texts ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_text_that_may_be_asked_reads_back_as_the_policy():
    base = render(POLICY, "base")
    space = Wordings(POLICY, base, (), wordings=2, seed=0)
    whole = len(space.whole)
    made = space.mixed((whole - 1, 0), 6)
    assert len(made) == 6
    assert {t.rendering.sha256 for t in space.texts} != {base.sha256}
    assert len({t.rendering.sha256 for t in space.texts}) == len(space.texts)
    assert len({(t.condition.id, t.rendering.wording) for t in space.texts}) == len(space.texts)
    for text in space.texts:
        assert text.condition.kind == "certified"
        again = certify(text.rendering.text, POLICY, base_text=base.text, kind="certified")
        assert again.passed, text.name
        assert again.rendering_sha256 == text.rendering.certificate.rendering_sha256
    assert all(space.texts[a].edits for a in made)
    # the same seed makes the same texts: a run that goes on asks what it asked
    twin = Wordings(POLICY, base, (), wordings=2, seed=0)
    twin.mixed((whole - 1, 0), 6)
    assert [t.rendering for t in twin.texts] == [t.rendering for t in space.texts]


def test_a_text_that_says_something_else_is_never_asked():
    base = render(POLICY, "base")
    strict = render(POLICY, "strict")
    forged = render(POLICY, "T1")
    forged = forged.model_copy(update={"text": forged.text.replace("must not", "may", 1)})
    t1 = next(c for c in make_conditions() if c.id == "T1")
    # a certificate is bound to the text's hash; one that did not pass is none
    bare = forged.model_copy(update={"sha256": "0" * 64})
    voided = strict.model_copy(update={"condition": "T1", "certificate": None})
    space = Wordings(POLICY, base, [(t1, bare), (t1, voided)], wordings=1, seed=0)
    assert space.rejected == 2
    assert not {bare.text, strict.text} & {t.rendering.text for t in space.texts}


def make_conditions():
    from judgeaudit.policy.transforms import load_conditions

    return tuple(load_conditions().values())


# ---- the search ---------------------------------------------------------------------------------


class Four:
    """Four rewrites, and two mixtures of the worst."""

    whole = (0, 1, 2, 3)

    def mixed(self, worst, most):
        self.worst = tuple(worst)
        return (4, 5)[:most]


def test_the_search_finds_the_worst_and_asks_training_items_alone():
    sizes = Sizes("tpr", 4, 2, 1, 20, 20)
    gold = np.ones(60, dtype=np.int8)
    space, schedule = Four(), make_schedule(900, sizes)
    rate = {0: 1.0, 1: 0.5, 2: 0.75, 3: 1.0, 4: 0.25, 5: 0.6}
    looking = search(
        schedule,
        space,
        "tpr",
        train=range(20),
        gold=gold,
        rng=np.random.default_rng(0),
    )
    seen: list[Round] = []

    def answer(one: Round) -> Answers:
        seen.append(one)
        valid = np.zeros(60, dtype=int)
        valid[list(one.items)] = 100
        return Answers(
            counts(valid, valid),
            {a: counts((valid * rate[a]).astype(int), valid) for a in one.arms},
        )

    wanted = next(looking)
    while True:
        try:
            wanted = looking.send(answer(wanted))
        except StopIteration as end:
            found = end.value
            break
    assert space.worst == (1, 2)
    assert found.finalists == (4,)
    assert found.naive[4] == pytest.approx(0.75)
    assert found.tried == 6
    assert set().union(*(r.items for r in seen)) <= set(range(20))
    assert sum(r.calls for r in seen) + schedule.held_out.calls == schedule.calls <= 900


# ---- the whole story ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attack") / "run"
    audit.run(
        judge="scripted:brittle_t4?flips=0.6&seed=3",
        preset="default",
        conditions=CONDITIONS,
        base_repeats=2,
        repeats=1,
        out=folder,
    )
    return folder


@pytest.fixture(scope="module")
def found(run):
    return attack(run, **CHOICES)


def rows(folder, found):
    out = []
    for path in sorted((folder / "attack" / found.folder).glob("round-*.sqlite")):
        with Ledger.open_readonly(path) as view:
            out.append([dict(r) for r in view.rows()])
    return out


@pytest.mark.slow
def test_the_wording_that_is_planted_is_found_and_measured_elsewhere(run, found):
    assert found.worst.name == "T4"
    assert found.worst.low > 0.1
    assert found.asked <= found.planned <= found.calls == 700
    asked = rows(run, found)
    assert sum(map(len, asked)) == found.asked == sum(s.calls for s in found.steps)
    with Ledger.open_readonly(run / "ledger.sqlite") as view:
        table = view.table()
        seen = {(r["item"], r["condition"], r["repeat"]) for r in view.rows()}
    cluster = dict(zip(table.items, table.clusters.tolist(), strict=True))
    *training, held = ([r["item"] for r in one] for one in asked)
    assert not {cluster[i] for one in training for i in one} & {cluster[i] for i in held}
    # every call is a fresh one: no draw of the run or of an earlier round stands twice
    fresh = [(r["item"], r["condition"], r["wording"], r["repeat"]) for one in asked for r in one]
    assert len(set(fresh)) == len(fresh)
    assert not {(i, c, n) for i, c, _, n in fresh} & seen


@pytest.mark.slow
def test_the_same_call_asks_nobody_again_and_finds_the_same(run, found):
    paths = sorted((run / "attack" / found.folder).glob("round-*.sqlite"))

    def inside():
        return [
            sqlite3.connect(p).execute("SELECT count(*), max(rowid) FROM verdicts").fetchone()
            for p in paths
        ]

    before = inside()
    assert attack(run, **CHOICES) == found
    assert inside() == before
    assert len(sorted((run / "attack").iterdir())) == 1


@pytest.mark.slow
def test_the_record_holds_one_attack_an_objective_and_the_text(run, found):
    attack(run, objective="fpr", **CHOICES)
    kept = Attacks.model_validate_json((run / "attack.json").read_bytes())
    assert [a.objective for a in kept.attacks] == ["excess", "fpr"]
    assert kept.attacks[0] == found
    assert json.loads((run / "attack.json").read_text())["version"] == 1
    worst = found.worst.rendering
    assert certify(
        worst.text, POLICY, base_text=render(POLICY, "base").text, kind="certified"
    ).passed
    (run / "attack.json").write_text("{}")
    with pytest.raises(JudgeAuditError, match="no record of judgeaudit attack"):
        attack(run, **CHOICES)
    with pytest.raises(CardError, match="no record of judgeaudit attack"):
        audit.card(run)
    (run / "attack.json").unlink()
    assert attack(run, **CHOICES) == found


@pytest.mark.slow
def test_the_card_names_the_budget_and_an_older_card_still_verifies(run, found):
    from judgeaudit.cards import render as rendering

    older = audit.card(run, attacked=False)
    assert "attack" not in older.facts.extra
    assert audit.verify(older, run).same
    card = audit.card(run)
    assert audit.verify(card, run).same
    for text in (rendering.to_html(card), rendering.to_markdown(card)):
        assert "How far wording steers the judge" in text
        assert f"{found.asked} calls of a budget of 700" in text


@pytest.mark.slow
def test_what_is_said_has_every_figure_and_escapes(found):
    hostile = found.model_copy(update={"judge": "<script>|`*", "policy": "\x1b[31m"})
    text, md, html = of_attack(hostile), of_attack(hostile, md=True), page(hostile)
    assert headline(found).startswith("Under T4 the judge flips ")
    for said in (text, md, html):
        assert f"{found.tried} wordings were tried" in said
        assert "700 calls" in said
        assert found.worst.rendering.sha256 in said
    assert "\x1b" not in text
    assert "<script>" not in html
    assert "<script>" not in md
    flat = found.worst.model_copy(update={"low": -0.1})
    quiet = found.model_copy(update={"finalists": (flat,)})
    assert "not shown to steer" in headline(quiet)
    lost = found.worst.model_copy(update={"gain": None, "low": None, "why": "nothing"})
    assert "not known: nothing" in headline(found.model_copy(update={"finalists": (lost,)}))


@pytest.mark.slow
def test_what_cannot_be_attacked_is_said(run):
    with Ledger.open_readonly(run / "ledger.sqlite") as view:
        for choices, match in (
            ({"objective": "pis"}, "unknown objective 'pis'"),
            ({"train": 1.0}, "leaves nothing"),
            ({"mixes": -1}, "mixes is -1"),
            ({"calls": 40}, "40 calls are too few"),
            ({"policy": "privacy"}, "another one than the run's"),
        ):
            with pytest.raises(ConfigError, match=match):
                plan_attack(view, AttackSpec(**choices))


@pytest.mark.slow
def test_a_judge_that_fails_gives_no_verdict_and_the_attack_ends(tmp_path):
    audit.run(
        judge="scripted:fails_to_parse?failures=0.5",
        preset="default",
        conditions=("base", "T4"),
        base_repeats=2,
        repeats=1,
        out=tmp_path / "run",
    )
    found = attack(tmp_path / "run", **CHOICES)
    held = rows(tmp_path / "run", found)[-1]
    lost = [r for r in held if r["outcome"] != "verdict"]
    assert found.worst.lost + found.worst.lost_base == len(lost) > 0
    assert found.worst.items < len({r["item"] for r in held}) + 1
    assert "without a verdict" in of_attack(found)


@pytest.mark.slow
def test_a_killed_attack_goes_on_and_ends_as_one_that_was_not(run, found, tmp_path):
    argv = [sys.executable, "-m", "judgeaudit", "attack", str(run), "--out", str(tmp_path)]
    argv += ["--calls", "700", "--wordings", "1", "--mixes", "2", "--json"]
    first = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rounds = tmp_path / found.folder
    give_up = time.monotonic() + 120
    while not (rounds / "round-03.sqlite").exists() and time.monotonic() < give_up:
        time.sleep(0.01)
    os.kill(first.pid, signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    assert len(list(rounds.glob("round-*.sqlite"))) < len(found.steps)
    made = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert re.search(r"calls +[\d,]+ at most, of a budget of 700", made.stderr)
    again = type(found).model_validate_json(made.stdout)
    assert again == found


@pytest.mark.slow
def test_the_verb_plans_and_asks_nobody(run, tmp_path):
    argv = [sys.executable, "-m", "judgeaudit", "attack", str(run), "--out", str(tmp_path)]
    made = subprocess.run([*argv, "--dry-run"], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert "held out" in made.stderr
    assert not list(tmp_path.rglob("*.sqlite"))
    made = subprocess.run([*argv, "--objective", "x"], capture_output=True, text=True, check=False)
    assert made.returncode == 2
    assert "unknown objective" in made.stderr
