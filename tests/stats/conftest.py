"""Golden entries by id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def goldens(shared: Path):
    """Golden entries whose id begins with a prefix, by id."""
    entries = json.loads((shared / "goldens" / "seed_statistics.json").read_text("utf-8"))

    def by_prefix(prefix: str) -> dict[str, dict[str, Any]]:
        return {e["id"]: e for e in entries["entries"] if e["id"].startswith(prefix)}

    return by_prefix
