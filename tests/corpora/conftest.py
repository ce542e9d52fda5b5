"""Fixtures for hand-made corpus files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def _rjudge_record(n: int, **changes: Any) -> dict[str, Any]:
    """A hand-made record in the shape of R-Judge's full release."""
    record = {
        "id": n,
        "scenario": "",
        "profile": "You look after a greenhouse.",
        "goal": "the benchmark's own prompt",
        "contents": [
            [
                {"role": "user", "content": f"Open vent {n // 2}."},
                {"role": "agent", "thought": "Vent first.", "action": f"open(vent={n // 2})"},
                {"role": "environment", "content": None},
            ]
        ],
        "label": n % 2,
        "risk_description": "gold explanation",
        "attack_type": "unintended",
    }
    return {k: v for k, v in (record | changes).items() if v is not ...}


@pytest.fixture
def rjudge_record() -> Callable[..., dict[str, Any]]:
    """Make one record; a field set to `...` is left out."""
    return _rjudge_record


@pytest.fixture
def own_record() -> Callable[..., dict[str, Any]]:
    """Make one record in the documented form of the corpus `jsonl`."""

    def make(name: object, **changes: Any) -> dict[str, Any]:
        record = {
            "id": name,
            "trajectory": {
                "turns": [
                    {"role": "user", "content": f"Water bed {name}."},
                    {"role": "agent", "thought": None, "action": f"water({name})"},
                ]
            },
            "label": "SAFE",
            "label_source": "human",
        }
        return {k: v for k, v in (record | changes).items() if v is not ...}

    return make


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a value as a JSON file (or bytes as they are) under `tmp_path`."""

    def to(name: str, value: object) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = value if isinstance(value, bytes) else json.dumps(value).encode()
        path.write_bytes(raw)
        return path

    return to


@pytest.fixture
def lines(write: Callable[..., Path]) -> Callable[..., Path]:
    """Write records as JSONL."""

    def to(name: str, records: list[Any]) -> Path:
        return write(name, "".join(json.dumps(r) + "\n" for r in records).encode())

    return to
