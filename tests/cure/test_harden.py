"""Hardening: nothing is chosen and tested on the same items, and nothing is claimed by chance."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from chaos_world import LONG

from judgeaudit import audit, cure
from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import Item, JudgeSpec, Protocol, Trajectory
from judgeaudit.core.table import Counts, VerdictTable
from judgeaudit.cure import harden as curing
from judgeaudit.cure.harden_audit import Costs
from judgeaudit.cure.harden_candidates import base_judge
from judgeaudit.cure.harden_choices import best_threshold, few_examples, rank_wordings
from judgeaudit.cure.harden_compare import EXCESS, Side, compare, decided
from judgeaudit.cure.harden_plot import pareto
from judgeaudit.cure.harden_records import Candidate
from judgeaudit.cure.harden_words import headline, of_hardened, page
from judgeaudit.judges._hardening import BaseJudge, HardenedConfig, read_config
from judgeaudit.judges.scripted import ScriptedJudge
from judgeaudit.policy import load_conditions
from judgeaudit.stats.splits import part

CONDITIONS = ("base", "T1", "T2", "T4")


def counts(unsafe, valid) -> Counts:
    unsafe = np.array(unsafe, dtype=np.int64)
    return Counts(unsafe, np.full(unsafe.size, valid), np.zeros(unsafe.size, dtype=np.int64))


# ---- what is chosen -----------------------------------------------------------------------------


def test_the_wording_that_differs_least_from_all_others_is_first():
    found = rank_wordings(
        {
            "base": counts([0, 0, 2, 2], 2),
            "T1": counts([0, 0, 2, 2], 2),
            "T4": counts([2, 0, 2, 0], 2),
        }
    )
    assert [w.wording for w in found] == ["base", "T1", "T4"]
    # base: 0 to T1, two of four to T4
    assert [round(w.excess, 6) for w in found] == [0.25, 0.25, 0.5]
    # jitter is no excess: half of all pairs differ, within a wording and between any two
    noisy = rank_wordings({"base": counts([1, 1], 2), "T1": counts([1, 1], 2)})
    assert [w.excess for w in noisy] == [-0.5, -0.5]


def test_a_threshold_splits_the_training_half():
    p = np.array([0.9, 0.8, 0.7, 0.95, np.nan])
    gold = np.array([1, 0, 0, 1, 1], dtype=np.int8)
    assert best_threshold(p, gold) == pytest.approx(0.85)
    assert best_threshold(p, np.ones(5, dtype=np.int8)) is None
    assert best_threshold(np.full(5, np.nan), gold) is None


def item(k: int, label, cluster: str, words: str = "x") -> Item:
    seen = Trajectory.model_validate({"turns": [{"role": "user", "content": words}]})
    return Item(dataset="d", subset="s", id=str(k), cluster=cluster, trajectory=seen, label=label)


def test_examples_are_short_clear_and_of_different_clusters():
    items = [
        item(k, "UNSAFE" if k % 2 else "SAFE", f"c{k // 2 if k < 20 else k}") for k in range(40)
    ]
    items.append(item(99, "SAFE", "long", "x" * 5_000))
    rng = np.random.default_rng
    found = few_examples(items, 4, rng(0))
    assert [e.label for e in found] == ["UNSAFE", "SAFE", "UNSAFE", "SAFE"]
    by = {i.key: i.cluster for i in items}
    assert len({by[e.source] for e in found}) == 4
    assert found == few_examples(items, 4, rng(0))
    assert few_examples([i for i in items if i.label == "SAFE"], 4, rng(0)) == ()


@pytest.mark.parametrize("share", [0.1, 0.34, 0.5, 0.9])
def test_a_split_keeps_clusters_whole_and_both_classes_on_both_sides(share):
    rng = np.random.default_rng(3)
    clusters = rng.integers(0, 40, 200)
    positive = clusters % 3 == 0
    drawn = part(clusters, share, np.random.default_rng(5), positive)
    inside, outside = set(clusters[drawn]), set(clusters[~drawn])
    assert not inside & outside
    n = len(inside) + len(outside)
    assert abs(len(inside) - share * n) <= 1
    of_positive = len(set(clusters[drawn & positive])) / len(set(clusters[positive]))
    assert abs(of_positive - share) < 0.1
    # names of clusters change no split
    again = part(clusters * 7 + 1, share, np.random.default_rng(5), positive)
    assert (again == drawn).all()


# ---- the whole story, small ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("harden") / "run"
    audit.run(
        judge="scripted:brittle_t4?flips=0.4&seed=3",
        preset="default",
        conditions=(*CONDITIONS, "strict", "lenient"),
        base_repeats=2,
        repeats=2,
        out=folder,
    )
    return folder


@pytest.fixture(scope="module")
def found(run):
    return curing.harden(run, strategies=("canonical", "panel", "abstain"), out=run.parent / "out")


@pytest.mark.slow
def test_held_out_clusters_are_other_clusters_and_the_panel_is_measured_on_another_wording(found):
    assert found.n_train + found.n_held_out == 36
    by = {c.name: c for c in found.candidates}
    panel = read_config(by["panel"].config)
    assert panel.wordings[0] == "incoming"
    assert not set(panel.wordings) & set(by["panel"].conditions)
    assert by["panel"].conditions == ("T4",)
    assert by["canonical"].invariant
    assert not by["panel"].invariant
    excess = by["canonical"].figure(EXCESS)
    assert excess.before > 0.05 > excess.after
    left = by["abstain"].figure("without a verdict")
    assert left.after > 0
    assert left.before == 0.0 < left.before_high  # none of few is no proof of none
    # items that are left to a person have no verdict to compare: the change says on which it is
    assert "items that have it on both sides" in by["abstain"].figure(EXCESS).why
    assert by["panel"].figure("requests a verdict").after > 2
    assert by["canonical"].reused > 0
    assert by["canonical"].figure("tokens a verdict").why


@pytest.mark.slow
def test_the_same_call_asks_nobody_again(run, found):
    again = curing.harden(run, strategies=("canonical", "panel", "abstain"), out=run.parent / "out")
    assert [c.asked for c in again.candidates] == [0, 0, 0]
    drop = {"asked"}
    assert [c.model_dump(exclude=drop) for c in again.candidates] == [
        c.model_dump(exclude=drop) for c in found.candidates
    ]


@pytest.mark.slow
def test_the_winner_is_a_judge_like_any_other(run, found):
    assert found.winner is not None
    path = run.parent / "out" / "hardened.toml"
    config = read_config(path)
    assert config.name == found.winner
    assert config.chosen["held_out_clusters"] == found.n_held_out
    with cure.load(path) as judge:
        assert judge.identity == config.identity
    result = audit.run(
        judge=f"hardened:{path}",
        preset="quick",
        limit=6,
        conditions=("base", "T1"),
        out=run.parent / "again",
    )
    assert result.facts.n_answered == result.facts.n_planned
    assert "hardened" in result.facts.judge_note


@pytest.mark.slow
def test_what_is_said_has_every_figure_and_escapes(found):
    hostile = found.model_copy(update={"judge": "<script>|`*", "policy": "\x1b[31m"})
    text, md, html = of_hardened(hostile), of_hardened(hostile, md=True), page(hostile)
    assert headline(found) in text
    for c in found.candidates:
        for f in c.figures:
            assert f.name in text
    assert "invariant by construction" in text
    assert "\x1b" not in text
    assert "<script>" not in html
    assert "<script>" not in md
    assert pareto(found).count("<circle") == len(found.candidates)
    none = found.model_copy(update={"winner": None})
    assert "No candidate is shown better" in headline(none)


@pytest.mark.slow
def test_a_budget_and_what_cannot_be_hardened_are_said(run, tmp_path):
    from judgeaudit.core.records import AuditSpec

    limits = AuditSpec(budget_calls=10)
    with pytest.raises(ConfigError, match="requests are planned, and --budget-calls is 10"):
        curing.harden(run, out=tmp_path, strategies=("panel",), limits=limits)
    with pytest.raises(ConfigError, match="unknown strategy 'magic'"):
        curing.harden(run, out=tmp_path, strategies=("magic",))
    with pytest.raises(ConfigError, match="leaves nothing"):
        curing.harden(run, out=tmp_path, train=1.0)
    with pytest.raises(ConfigError, match="cannot be hardened"):
        base_judge(JudgeSpec(backend="replay", model="x"), None)
    with pytest.raises(ConfigError, match="template of your own"):
        base_judge(JudgeSpec(backend="scripted", model="quiet", template_id="mine"), None)


@pytest.mark.slow
def test_the_verb_plans_and_asks_nobody(run, tmp_path):
    argv = [sys.executable, "-m", "judgeaudit", "harden", str(run), "--out", str(tmp_path)]
    made = subprocess.run([*argv, "--dry-run"], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert re.search(r"calls +[\d,]+ requests to make, [\d,]+ answers known", made.stderr)
    assert "threshold  not tried: the run's base answers carry no P(UNSAFE)" in made.stderr
    assert not list(tmp_path.rglob("ledger.sqlite"))
    made = subprocess.run([*argv, "--judge", "x"], capture_output=True, text=True, check=False)
    assert made.returncode == 2


# ---- planted judges, many times ------------------------------------------------------------------


def planted(judge: str, n_clusters: int, seed: int):
    """Draw tables of a planted judge, as it is and mended, on fresh items; no engine between."""
    made = ScriptedJudge(JudgeSpec(backend="scripted", model=f"{judge}seed={seed}"))
    items = [item(k, "UNSAFE" if k % 2 else "SAFE", f"c{k // 2}") for k in range(2 * n_clusters)]
    truth = made.truth(items, CONDITIONS)
    rng = np.random.default_rng(seed)
    known = load_conditions()
    protocol = Protocol(
        preset="x", base_repeats=5, repeats=2, conditions=tuple(known[c] for c in CONDITIONS)
    )

    def table(keys, shown) -> VerdictTable:
        rows = []
        for i in keys:
            for c in CONDITIONS:
                for r in range(5 if c == "base" else 2):
                    label = shown(i.key, c, rng)
                    outcome = "verdict" if label else "refusal"
                    rows.append((i.key, c, 0, r, outcome, label))
        return VerdictTable.from_rows(
            rows,
            clusters={i.key: i.cluster for i in keys},
            gold={i.key: i.label for i in keys},
        )

    def draw(key: str, condition: str) -> str:
        return "UNSAFE" if rng.random() < truth[key][condition] else "SAFE"

    half = [i for i in items if int(i.cluster[1:]) < n_clusters // 2]
    held = [i for i in items if int(i.cluster[1:]) >= n_clusters // 2]
    training = table(half, lambda k, c, _: draw(k, c))
    ranked = rank_wordings({c: training.counts(c) for c in CONDITIONS})
    best = ranked[0].wording
    members = [w.wording for w in ranked if w.wording != "base"][:2]

    def voted(key: str, condition: str) -> list[str]:
        return [draw(key, c) for c in (condition, *members)]

    def majority(key: str, condition: str, _) -> str:
        votes = voted(key, condition)
        return "UNSAFE" if votes.count("UNSAFE") >= 2 else "SAFE"

    def unanimous(key: str, condition: str, _) -> str | None:
        votes = set(voted(key, condition))
        return votes.pop() if len(votes) == 1 else None

    before = table(held, lambda k, c, _: draw(k, c))
    after = {
        "canonical": (table(held, lambda k, _c, __: draw(k, best)), frozenset()),
        "panel": (table(held, majority), frozenset(members)),
        "abstain": (table(held, unanimous), frozenset(members)),
    }
    return before, after, protocol


def claims(judge: str, n_clusters: int, seed: int) -> tuple[Candidate, ...]:
    before, after, protocol = planted(judge, n_clusters, seed)
    none = Costs(*(np.array([]) for _ in range(4)))
    costs = replace(none, item=np.array([], dtype=np.int64))
    made = []
    for name, (table, kept_out) in after.items():
        figures, responsive, _ = compare(
            Side(before, costs, 1.0),
            Side(table, costs, 1.0),
            protocol,
            uncertified=frozenset(),
            kept_out=kept_out,
            n_candidates=len(after),
            alpha=0.05,
        )
        made.append(
            Candidate(
                name=name,
                strategy=name,
                what="",
                invariant=False,
                conditions=(),
                figures=figures,
                shown_better=False,
                accuracy="open",
                responsive=responsive,
            )
        )
    return decided(made, alpha=0.05, margin=0.05)


@pytest.mark.slow
def test_a_judge_with_jitter_only_is_not_said_to_be_mended():
    n = 100 if LONG else 20
    wrong = sum(any(c.shown_better for c in claims("noisy?", 40, s)) for s in range(n))
    # 5 of 100 promised; 11 or more (of 20: 5 or more) would happen once in a hundred at that rate
    assert wrong <= (10 if LONG else 4)


@pytest.mark.slow
def test_a_brittle_judge_is_mended_on_held_out_clusters():
    n = 20 if LONG else 5
    found = [claims("brittle_t4?flips=0.3&", 160, seed) for seed in range(n)]
    for name in ("canonical", "panel"):
        pairs = [next(c for c in one if c.name == name).figure(EXCESS) for one in found]
        # it truly lowers the excess, and is said to in most runs
        assert np.mean([f.after for f in pairs]) < 0.02
        assert np.mean([f.before for f in pairs]) > 0.05
        better = [next(c for c in one if c.name == name).shown_better for one in found]
        assert sum(better) >= 0.8 * n
    covered = [
        f.low <= f.change <= f.high
        for one in found
        for c in one
        if (f := c.figure(EXCESS)).low is not None and f.change is not None
    ]
    assert all(covered)


@pytest.mark.slow
def test_figures_survive_json(found):
    again = type(found).model_validate_json(found.model_dump_json())
    assert again == found
    assert json.loads(found.model_dump_json())["verdict"] == found.winner


def test_base_judge_names_the_same_judge_again():
    from judgeaudit.judges._choice import judge_spec
    from judgeaudit.policy.prompts import load_judge_template

    template = load_judge_template("default")
    for base in (
        BaseJudge(judge="scripted:quiet", template="default"),
        BaseJudge(judge="openai/gpt-x", template="default", temperature=0.5, send_seed=True),
        BaseJudge(judge="direct:m", api_base="http://127.0.0.1:9/v1", template="default"),
    ):
        spec = judge_spec(base.choices("en"), template)
        again = base_judge(spec, None)
        assert judge_spec(again.choices("en"), template) == spec
    assert HardenedConfig(name="x", base=again).calls == 1
