"""The planted judges do what is planted, every time, and an audit's input shows it."""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter

import pytest
from judge_world import PROMPT, call

from judgeaudit.core.errors import ConfigError, PermanentError
from judgeaudit.core.records import Item, JudgeSpec, Reply, Trajectory, Turn, Verdict
from judgeaudit.judges import scripted
from judgeaudit.judges._planted import CHARACTERS
from judgeaudit.judges.parsing import parse
from judgeaudit.judges.scripted import ScriptedJudge

CERTIFIED = ("T1", "T2", "T4")
RESPONSES = ("strict", "lenient", "no_policy", "inverted")


def items(n: int = 200, *, known: bool = True) -> list[Item]:
    return [
        Item(
            dataset="toy",
            subset="s",
            id=str(k),
            cluster=str(k),
            trajectory=Trajectory(turns=(Turn(role="user", content=f"task {k}"),)),
            label=("SAFE", "UNSAFE")[k % 2] if known else None,
            ambiguous=k % 5 == 0 if known else None,
        )
        for k in range(n)
    ]


ITEMS = items()
CLEAR = [i for i in ITEMS if not i.ambiguous]


def judge(model: str, learnt: list[Item] = ITEMS) -> ScriptedJudge:
    made = ScriptedJudge(JudgeSpec(backend="scripted", model=model))
    made.learn(learnt)
    return made


def replies(made: ScriptedJudge, condition: str, repeats: int = 1) -> list[list[Reply]]:
    async def story() -> list[list[Reply]]:
        return [
            [
                await made.ask(PROMPT, call(i.key, condition=condition, repeat=r))
                for r in range(repeats)
            ]
            for i in ITEMS
        ]

    return asyncio.run(story())


def verdicts(made: ScriptedJudge, condition: str, repeats: int = 1) -> list[list[Verdict]]:
    return [[parse(r) for r in row] for row in replies(made, condition, repeats)]


def mean(values) -> float:
    values = list(values)
    return sum(values) / len(values)


def jitter(truth: dict[str, dict[str, float]], condition: str, of: list[Item] = CLEAR) -> float:
    return mean(2 * truth[i.key][condition] * (1 - truth[i.key][condition]) for i in of)


def turned(truth, a: str, b: str, of: list[Item] = ITEMS) -> float:
    """Share of items whose likelier verdict differs between two conditions."""
    return mean((truth[i.key][a] > 0.5) != (truth[i.key][b] > 0.5) for i in of)


@pytest.mark.parametrize("name", CHARACTERS)
def test_answers_are_the_same_in_every_run_and_order(name):
    forth, back = judge(name), judge(name)

    async def ask(made: ScriptedJudge, order: list[Item]) -> dict[str, Reply]:
        return {i.key: await made.ask(PROMPT, call(i.key, condition="T4", repeat=1)) for i in order}

    assert asyncio.run(ask(forth, ITEMS)) == asyncio.run(ask(back, ITEMS[::-1]))


def test_another_seed_is_another_judge():
    assert replies(judge("noisy"), "base") != replies(judge("noisy?seed=1"), "base")


@pytest.mark.parametrize("name", [n for n in CHARACTERS if n != "remembers"])
@pytest.mark.parametrize("condition", ["base", "T4"])
def test_verdicts_follow_the_planted_truth(name, condition):
    """The frequency of UNSAFE over draws lies within five standard errors of what is planted."""
    made, repeats = judge(f"{name}?failures=0"), 8
    truth = made.truth(ITEMS, [condition])
    seen = [sum(v.label == "UNSAFE" for v in row) for row in verdicts(made, condition, repeats)]
    planted = [truth[i.key][condition] for i in ITEMS]
    spread = math.sqrt(sum(repeats * p * (1 - p) for p in planted))
    assert abs(sum(seen) - repeats * sum(planted)) <= 5 * spread
    # and item by item: squared misfit has a known expectation
    misfit = sum((s - repeats * p) ** 2 for s, p in zip(seen, planted, strict=True))
    assert misfit <= 2 * spread**2


def test_repeats_are_independent_draws():
    """Pairs of repeats disagree as often as the planted jitter says, and so do conditions."""
    made = judge("noisy")
    base, placebo = verdicts(made, "base", 6), verdicts(made, "T0", 6)
    planted = jitter(made.truth(ITEMS, ["base"]), "base", ITEMS)
    for rows in (base, placebo):
        pairs = [a.label != b.label for r in rows for k, a in enumerate(r) for b in r[:k]]
        assert abs(mean(pairs) - planted) < 0.04
    cross = [a.label != b.label for r, s in zip(base, placebo, strict=True) for a in r for b in s]
    assert abs(mean(cross) - planted) < 0.04


def test_quiet_is_decent_and_invariant():
    truth = judge("quiet").truth(ITEMS, ["base", "T0", *CERTIFIED, "T3"])
    right = [(truth[i.key]["base"] > 0.5) == (i.label == "UNSAFE") for i in CLEAR]
    assert 0.85 < mean(right) < 0.98
    assert 0.01 < jitter(truth, "base") < 0.03
    for row in truth.values():
        assert len(set(row.values())) == 1


@pytest.mark.parametrize("name", ["quiet", "noisy", "brittle_t4", "fails_to_parse", "sharpening"])
def test_threshold_pair_and_controls_move_the_verdict_the_right_way(name):
    truth = judge(name).truth(ITEMS, ["base", *RESPONSES, "vacuum"])
    unsafe = {c: mean(row[c] > 0.5 for row in truth.values()) for c in ("base", *RESPONSES)}
    assert unsafe["lenient"] < unsafe["base"] - 0.05 < unsafe["base"] < unsafe["strict"] - 0.05
    assert unsafe["no_policy"] < 0.15
    assert turned(truth, "base", "inverted") > 0.7
    forward = [r for r in truth.values() if r["strict"] > 0.5 > r["lenient"]]
    reverse = [r for r in truth.values() if r["strict"] < 0.5 < r["lenient"]]
    assert (len(forward) > 20, len(reverse)) == (True, 0)
    assert all(row["vacuum"] < 0.5 for row in truth.values())


def test_ignores_policy_moves_with_the_trajectory_alone():
    truth = judge("ignores_policy").truth(ITEMS, ["base", *CERTIFIED, *RESPONSES, "vacuum"])
    for row in truth.values():
        assert len({p for c, p in row.items() if c != "vacuum"}) == 1
    assert turned(truth, "base", "vacuum") > 0.3


def test_brittle_t4_turns_round_under_t4():
    truth = judge("brittle_t4").truth(ITEMS, ["base", "T0", *CERTIFIED, "T3"])
    assert 0.12 < turned(truth, "base", "T4") < 0.28
    assert turned(truth, "base", "T1") < 0.06
    assert turned(truth, "base", "T0") == turned(truth, "base", "T3") == 0


@pytest.mark.parametrize(("name", "label"), [("always_safe", "SAFE"), ("always_unsafe", "UNSAFE")])
def test_a_constant_judge_never_moves(name, label):
    for condition in ("base", "T4", "strict", "lenient", "no_policy", "inverted", "vacuum"):
        assert {v.label for row in verdicts(judge(name), condition) for v in row} == {label}


def test_sharpening_is_in_doubt_under_base_only():
    truth = judge("sharpening").truth(ITEMS, ["base", "T0", *CERTIFIED])
    assert 0.3 < jitter(truth, "base") < 0.4
    assert jitter(truth, "T1") < 0.08
    assert turned(truth, "base", "T1") == 0
    assert all(row["base"] == row["T0"] for row in truth.values())


def test_fails_to_parse_fails_in_every_way_and_more_often_off_base_and_when_unsafe():
    made = judge("fails_to_parse")
    seen = {c: Counter(v.outcome for r in verdicts(made, c, 5) for v in r) for c in ("base", "T4")}
    assert {"verdict", "unparseable", "refusal", "truncated", "ambiguous"} == set(seen["T4"])
    failed = {c: 1 - n["verdict"] / n.total() for c, n in seen.items()}
    assert failed["base"] < 0.06
    assert 0.18 < failed["T4"] < 0.32
    truth = made.cell(ITEMS[1], "T4")
    assert truth.fails_if_unsafe == pytest.approx(3 * truth.fails_if_safe)


def test_failures_do_not_depend_on_the_draw_of_the_verdict():
    """At p = 0.5 a shared draw would make three quarters of the UNSAFE answers fail."""
    made = judge("fails_to_parse?jitter=0.5")
    cells = [made.cell(i, "T1") for i in ITEMS]
    planted = mean(
        c.p_unsafe * c.fails_if_unsafe + (1 - c.p_unsafe) * c.fails_if_safe for c in cells
    )
    seen = [v.outcome != "verdict" for row in verdicts(made, "T1", 5) for v in row]
    assert abs(mean(seen) - planted) < 0.06


def test_remembers_repeats_itself_though_it_would_jitter():
    made = judge("remembers")
    for row in verdicts(made, "base", 4):
        assert len({v.label for v in row}) == 1
    first, placebo = verdicts(made, "base"), verdicts(made, "T0")
    assert mean(a[0].label != b[0].label for a, b in zip(first, placebo, strict=True)) > 0.1


def test_answers_come_in_every_shape_and_each_is_read_as_meant():
    for label in ("SAFE", "UNSAFE"):
        for shape in scripted._SHAPES:
            assert parse(Reply(text=shape(label, 0.9, "Because."))).label == label
    texts = [r.text or "" for row in replies(judge("quiet"), "base", 2) for r in row]
    for mark in (
        "^{",
        "^```json",
        "^<think>",
        "^I compared",
        "^{\n",
        "^The tool printed",
        r"^\*\*V",
    ):
        assert any(re.search(mark, t) for t in texts), mark


def test_stated_confidence_is_the_planted_probability():
    made = judge("noisy")
    truth = made.truth(ITEMS, ["base"])
    for item, (verdict,) in zip(ITEMS, verdicts(made, "base"), strict=True):
        p = truth[item.key]["base"]
        stated = p if verdict.label == "UNSAFE" else 1 - p
        assert verdict.confidence in {None, round(stated, 2)}


def test_items_without_labels_or_flags_are_judged_too():
    unknown = items(known=False)
    truth = judge("quiet", unknown).truth(unknown, ["base"])
    assert 0.3 < mean(row["base"] > 0.5 for row in truth.values()) < 0.7


def test_it_is_free_and_says_so():
    reply = replies(judge("quiet"), "base")[0][0]
    assert (0.0, "scripted/quiet") == (reply.cost, reply.served_model)
    assert reply.prompt_tokens is None


def test_an_item_it_was_not_told_of_is_an_error_that_names_it():
    with pytest.raises(PermanentError, match="'x/y/z'"):
        asyncio.run(judge("quiet").ask(PROMPT, call("x/y/z")))


def test_options_change_what_is_planted():
    low, high = (judge(f"noisy?jitter={j}").truth(ITEMS, ["base"]) for j in (0.02, 0.3))
    assert jitter(low, "base") < 0.03
    assert jitter(high, "base") > 0.25
    truth = judge("brittle_t4?flips=1").truth(ITEMS, ["base", "T4"])
    assert turned(truth, "base", "T4") == 1
    wrong = judge("quiet?error=1").truth(CLEAR, ["base"])
    assert all((wrong[i.key]["base"] > 0.5) != (i.label == "UNSAFE") for i in CLEAR)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("quite", "unknown scripted judge 'quite'; did you mean 'quiet'.* Known: always_safe"),
        ("", "unknown scripted judge ''"),
        ("quiet?jiter=1", "unknown option 'jiter'; did you mean 'jitter'.* Known: error"),
        ("quiet?jitter", "cannot read the options 'jitter'"),
        ("quiet?jitter=", "jitter='' is not a number from 0 to 0.5"),
        ("quiet?jitter=0.6", "jitter='0.6' is not a number from 0 to 0.5"),
        ("quiet?jitter=nan", "is not a number"),
        ("quiet?error=-1", "is not a number from 0 to 1"),
        ("quiet?seed=1.5", "seed='1.5' is not a whole number"),
        ("quiet?seed=1&seed=2", "'seed' is given twice"),
        ("quiet?latency=1e9", "is not a number from 0 to 60"),
    ],
)
def test_a_model_string_that_cannot_be_read_says_what_is_known(model, message):
    with pytest.raises(ConfigError, match=message):
        judge(model)


def test_the_docstring_names_every_judge_and_option():
    text = ScriptedJudge.__doc__ or ""
    for name in (*CHARACTERS, *scripted._OPTIONS):
        assert name in text, name
