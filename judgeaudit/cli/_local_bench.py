"""`local bench`: the embedded model on real prompts of the bundled sample."""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import Sequence

from judgeaudit import corpora
from judgeaudit.core.records import Item, JudgePrompt
from judgeaudit.judges._local_probability import p_unsafe
from judgeaudit.judges.local import LocalJudge, local_spec, usable_cores
from judgeaudit.policy import build_prompt, load_judge_template, load_policy, render

__all__ = ["bench"]


async def bench(
    model: str, n_items: int, conditions: Sequence[str], policy: str, workers: int | None
) -> str:
    """Ask about the first items of the sample under each condition, and lay the figures out."""
    template = load_judge_template("verdict_only")
    judge = LocalJudge(local_spec(model, template=template), workers=workers)
    items = corpora.load("sample", limit=n_items, seed=0).items
    rules = load_policy(policy)
    wordings = {c: render(rules, c) for c in conditions}

    def prompt(item: Item, condition: str) -> JudgePrompt:
        key = f"0/{item.key}"
        return build_prompt(template, wordings[condition], item.trajectory, fence_key=key)

    pairs = [(item, c) for item in items for c in conditions]
    before, began = _cpu(), time.perf_counter()
    try:
        await judge.probe()
        ready = time.perf_counter()
        found = await asyncio.gather(*(p_unsafe(judge, prompt(i, c)) for i, c in pairs))
        ended = time.perf_counter()
    finally:
        await judge.aclose()
    of = {(item.key, c): p for (item, c), p in zip(pairs, found, strict=True)}
    wall, cpu = (ended - ready) / len(pairs), (_cpu() - before) / len(pairs)
    included = f"loading and {len(conditions)} policy wordings read included"
    lines = [
        f"model    {model}, {workers or usable_cores()} at once",
        f"start    {ready - began:.1f} s",
        f"verdict  {wall:.2f} s, {cpu:.2f} s of processor time ({len(pairs)} verdicts; {included})",
        "",
        "P(UNSAFE)  " + "".join(f"{c:>10}" for c in conditions),
    ]
    for label in ("SAFE", "UNSAFE"):
        rows = [item for item in items if item.label == label]
        for item in rows:
            cells = "".join(f"{of[item.key, c]:>10.3f}" for c in conditions)
            lines.append(f"{label:<9}  {cells}  {item.key}")
        if rows:
            means = [sum(of[i.key, c] for i in rows) / len(rows) for c in conditions]
            lines.append(f"{'mean':<9}  " + "".join(f"{m:>10.3f}" for m in means))
    return "\n".join(lines)


def _cpu() -> float:
    """Return processor time of ended children, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
