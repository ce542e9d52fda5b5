"""Outputs of other tools that are imported, for the tests of their formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgeaudit import audit

FILE = "samples_judge_{}_2026-11-30T10-00-00.123456.jsonl"


@pytest.fixture(name="took")
def taking(tmp_path):
    def run(files: dict[str, object] | Path, **choices):
        if isinstance(files, Path):
            paths = [files]
        else:
            paths = []
            for name, lines in files.items():
                paths.append(tmp_path / name)
                text = lines if isinstance(lines, str) else "\n".join(map(json.dumps, lines))
                paths[-1].write_text(text, "utf-8")
        return audit.import_verdicts(paths, out=tmp_path / paths[0].stem, **choices)

    return run


def sample(n: int, resps, *, arguments=None, **more) -> dict:
    return {
        "doc_id": n,
        "doc": {"text": f"run {n}", "gold": "SAFE", "weight": float("nan")},
        "target": "0",
        "arguments": arguments or {"gen_args_0": {"arg_0": "prompt", "arg_1": {"until": ["\n"]}}},
        "resps": resps,
        "filtered_resps": [r[0] for r in resps],
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": f"h{n}",
        "prompt_hash": "p",
        "target_hash": "t",
        "acc": 1.0,
        **more,
    }
