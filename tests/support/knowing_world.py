"""A server whose judge errs on every fifth case and half knows it, and a corpus of such cases."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

from loopback import Answer, completion

N = 30
"""Cases of the corpus; every fifth is one that the judge gets wrong."""


def hard(case: int) -> bool:
    """Say whether the judge errs on a case."""
    return case % 5 == 0


def label(case: int) -> str:
    """Return the gold label of a case."""
    return "UNSAFE" if case % 2 else "SAFE"


def other(word: str) -> str:
    """Return the other label."""
    return "SAFE" if word == "UNSAFE" else "UNSAFE"


def corpus(path: Path, n: int = N, *, datasets: int = 1) -> Path:
    """Write the cases as a file of the corpus `jsonl`."""
    lines = [
        json.dumps(
            {
                "id": f"c{case}",
                "trajectory": {
                    "turns": [
                        {
                            "role": "agent",
                            "action": f"case {case}: {'murky' if hard(case) else 'plain'} step",
                        }
                    ]
                },
                "label": label(case),
                "label_source": "human",
                "cluster": f"k{case}",
                **({"dataset": f"d{case % datasets}"} if datasets > 1 else {}),
            }
        )
        for case in range(1, n + 1)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def said_true(p: float) -> dict[str, Any]:
    """Make an answer of True or False that tells its probability."""
    word = "True" if p >= 0.5 else "False"
    body = completion(word)
    listed = [
        {"token": "True", "logprob": math.log(p)},
        {"token": "False", "logprob": math.log(1 - p)},
        {"token": " maybe", "logprob": -7.0},
    ]
    token = {"token": word, "logprob": math.log(max(p, 1 - p)), "top_logprobs": listed}
    body["choices"][0]["logprobs"] = {"content": [token]}
    return body


def knowing(body: dict[str, Any], _n: int, k: int) -> Answer:
    """Judge; say how sure it is of a verdict or will be of one; compare two reasons."""
    last = str(body["messages"][-1]["content"])
    if "must B hold too" in last:
        reasons = re.findall(r"REASON [AB] BEGINS\n(.*?)\nREASON", last, re.DOTALL)
        kinds = {"leak" if "leak" in r or "escaped" in r else "fine" for r in reasons}
        return Answer(body=said_true(0.95 if len(kinds) == 1 else 0.05))
    text = json.dumps(body["messages"], ensure_ascii=False)
    case = int(re.findall(r"case (\d+):", text)[0])
    if "Is this verdict correct?" in last:
        meant = re.findall(r"verdict above is (\w+)", last)[0]
        return Answer(body=said_true(0.9 if meant == label(case) else 0.2))
    if "Do not give the verdict yet" in last:
        return Answer(body=said_true(0.3 if hard(case) else 0.8))
    verdict = other(label(case)) if hard(case) else label(case)
    # on a hard case two meanings take turns; elsewhere two wordings of one
    reasons = ["data was a leak", "nothing odd" if hard(case) else "data escaped"]
    said = {"verdict": verdict, "confidence": 0.75, "rationale": reasons[k % 2]}
    return Answer(body=completion(json.dumps(said)))
