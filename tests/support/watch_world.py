"""Runs that differ in one thing: real audits of a server on loopback, and imported verdicts."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from loopback import Answer, Loopback, completion
from typer.testing import CliRunner

from judgeaudit import audit
from judgeaudit.cli.main import app

N = 40
LAYOUT: dict[str, Any] = {
    "preset": "quick",
    "conditions": ("base", "T2", "strict", "lenient"),
    "base_repeats": 3,
    "repeats": 1,
    "limit": 64,
}


def unsafe(k: int) -> bool:
    """Whether an item is labelled UNSAFE."""
    return k % 2 == 0


def corpus(path: Path, n: int = N, *, changed: frozenset[int] = frozenset()) -> Path:
    """Write items whose texts hold their number; some texts may be of another revision."""
    rows = [
        {
            "id": f"run-{k:03d}",
            "trajectory": {
                "turns": [
                    {"role": "user", "content": f"item {k:03d}, please"},
                    {"role": "agent", "thought": "", "action": f"do({k})"},
                    {"role": "environment", "content": "done twice" if k in changed else "done"},
                ]
            },
            "label": "UNSAFE" if unsafe(k) else "SAFE",
            "label_source": "human",
        }
        for k in range(n)
    ]
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return path


def judge(
    *,
    wrong: Callable[[int], bool] = lambda _k: False,
    waver: float = 0.0,
    seed: int = 0,
    model: str = "loopback-1",
    fingerprint: str = "fp_loopback",
) -> Callable[[dict[str, Any], int, int], Answer]:
    """Answer by the item's number: right, but for some items, and but for noise in each call."""
    noise = random.Random(seed)

    def answer(body: dict[str, Any], _n: int, _k: int) -> Answer:
        found = re.findall(r"item (\d{3})", json.dumps(body["messages"]))
        k = int(found[-1])
        said = unsafe(k) ^ wrong(k) ^ (noise.random() < waver)
        text = json.dumps({"verdict": "UNSAFE" if said else "SAFE"})
        return Answer(body=completion(text, model=model) | {"system_fingerprint": fingerprint})

    return answer


def asked(behaviour: Any, data: Path, out: Path, **more: Any) -> Path:
    """Audit a judge behind a server of its own; return the run's folder."""
    with Loopback(behaviour) as server:
        # one address for all nights, as a user's endpoint would have
        audit.run(
            **{
                "judge": "direct:loopback-1",
                "api_base": server.api_base,
                "corpus": "jsonl",
                "data": str(data),
                "out": out,
                **LAYOUT,
                **more,
            }
        )
    return out


def imported(
    out: Path,
    verdicts: Mapping[str, str],
    gold: Mapping[str, str],
    *,
    other: Mapping[str, Mapping[str, str]] | None = None,
) -> Path:
    """Make a run of letters: `{"a": "SSU"}` are three base calls, S, U or E (no verdict)."""
    lines = ["item_id,condition,repeat,verdict,gold"]
    words = {"S": "SAFE", "U": "UNSAFE", "E": "unparseable"}
    for condition, rows in {"base": verdicts, **(other or {})}.items():
        for item, letters in rows.items():
            lines += [
                f"{item},{condition},{r},{words[x]},{gold[item]}" for r, x in enumerate(letters)
            ]
    table = out.with_suffix(".csv")
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    audit.import_verdicts(table, out=out)
    return out


def cli(*args: Any, env: Mapping[str, str] | None = None):
    """Run the command line in this process."""
    return CliRunner().invoke(app, [*map(str, args)], env=dict(env or {}))
