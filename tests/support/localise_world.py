"""Planted judges and how often `localise` names exactly what is planted in them.

Run by itself it prints the table of docs/howto/localise.md::

    python tests/support/localise_world.py 100 1000
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from judgeaudit.core.records import Call, Item, JudgePrompt, JudgeSpec, Label
from judgeaudit.core.records.localised import Section
from judgeaudit.corpora import load
from judgeaudit.cure.edits import Edits, Subset, edits_between
from judgeaudit.cure.localise_gather import section
from judgeaudit.cure.localise_rounds import CALLS_A_FLIP, Flip, Question, Rounds
from judgeaudit.judges.parsing import parse
from judgeaudit.judges.scripted import ScriptedJudge
from judgeaudit.policy import load_policy, render
from judgeaudit.policy.prompts import build_prompt, load_judge_template
from judgeaudit.policy.transforms import load_conditions

KINDS = {True: "ambiguous", False: "clear", None: "unknown"}


@dataclass(frozen=True)
class Planted:
    """A judge, the condition that it is audited under, and what is to be found."""

    model: str
    condition: str
    causes: frozenset[Subset]

    @property
    def text(self) -> str:
        return " and ".join("+".join(sorted(c)) for c in self.causes) or "nothing"


def planted(model: str, condition: str, *causes: tuple[str, ...]) -> Planted:
    return Planted(model, condition, frozenset(map(frozenset, causes)))


_HEARS = (
    ("hears_word", "T2", ("N3.words",)),
    ("hears_word", "T1T2T4", ("N3.words",)),
    ("hears_order", "T1", ("N3.order",)),
    ("hears_place", "T4", ("N2.place",)),
    ("hears_place", "T1T2T4", ("N2.place",)),
    ("hears_pair", "T1T2T4", ("N2.place", "N3.words")),
)
PLANTED = (
    *(planted(f"{name}?jitter={j}", c, cause) for j in (0.02, 0.1) for name, c, cause in _HEARS),
    planted("quiet?jitter=0.1", "T1T2T4"),
    planted("noisy?jitter=0.4", "T1T2T4"),
)


@cache
def between(condition: str) -> Edits:
    policy = load_policy("agent_safety")
    of = load_conditions()[condition]
    return edits_between(policy, render(policy, "base"), render(policy, condition), of)


@cache
def items() -> tuple[Item, ...]:
    return tuple(load("sample").items)


@cache
def prompt(key: str, condition: str, subset: Subset) -> JudgePrompt:
    item = next(i for i in items() if i.key == key)
    text = between(condition).rendering(subset)
    template = load_judge_template("default")
    return build_prompt(template, text, item.trajectory, fence_key=f"0/{key}")


class Asking:
    """Asks a scripted judge itself: prompt, answer and parser as in an audit, without a ledger."""

    def __init__(self, model: str, condition: str) -> None:
        self.judge = ScriptedJudge(JudgeSpec(backend="scripted", model=model))
        self.judge.learn(items())
        self.condition = condition
        self.asked: Counter[tuple[str, str]] = Counter()

    async def label(self, key: str, subset: Subset) -> Label | None:
        edits = between(self.condition)
        name = edits.rendering(subset).condition
        asked = prompt(key, self.condition, subset)
        call = Call(
            item=key,
            condition=name,
            repeat=self.asked[key, name],
            prompt_sha256="0" * 64,
            judge_sha256="0" * 64,
        )
        self.asked[key, name] += 1
        return parse(await self.judge.ask(asked, call)).label

    async def __call__(self, questions: Sequence[Question]) -> list[Label | None]:
        return [await self.label(q.flip.item, q.subset) for q in questions]

    async def flips(self, k: int = 3) -> tuple[int, list[Flip]]:
        """Audit all items: k base calls and one under the condition."""
        edits, out, compared = between(self.condition), [], 0
        for item in items():
            base = Counter([await self.label(item.key, frozenset()) for _ in range(k)])
            after = await self.label(item.key, edits.everything)
            if after is None or base["SAFE"] == base["UNSAFE"]:
                continue
            compared += 1
            before: Label = "SAFE" if base["SAFE"] > base["UNSAFE"] else "UNSAFE"
            if after != before:
                kind = KINDS[item.ambiguous]
                out.append(Flip(item.key, item.cluster, item.dataset, kind, edits, before))
        return compared, out


async def _tried(of: Planted, seed: int, calls: int) -> tuple[Section, int]:
    mark = "&" if "?" in of.model else "?"
    ask = Asking(f"{of.model}{mark}seed={seed}", of.condition)
    compared, flips = await ask.flips()
    begun = flips[: max(1, calls // CALLS_A_FLIP)]
    rounds = Rounds(begun, ask, calls)
    await rounds.run()
    return section(between(of.condition), begun, compared, len(flips)), rounds.calls


def tried(of: Planted, seed: int, calls: int) -> tuple[Section, int]:
    """Audit a planted judge and trace its flips; return what was found, and the calls it took."""
    return asyncio.run(_tried(of, seed, calls))


def named(found: Section) -> frozenset[Subset]:
    return frozenset(frozenset(c.edits) for c in found.named)


def main(seeds: int, calls: int = 1000) -> None:
    print(f"| judge | condition | planted | named exactly, of {seeds} | mean calls |")
    print("|---|---|---|---|---|")
    for of in PLANTED:
        right, spent = 0, 0
        for seed in range(seeds):
            found, used = tried(of, seed, calls)
            right += named(found) == of.causes
            spent += used
        row = f"`{of.model}`", of.condition, of.text, str(right), f"{spent / seeds:.0f}"
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3] or ("100",)))
