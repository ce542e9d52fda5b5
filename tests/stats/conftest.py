"""Golden entries by id, and counts for references."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgeaudit.core.table import Counts


def counts(unsafe: Any, valid: Any, failed: Any = None) -> Counts:
    """Build counts from lists."""
    u, v = np.array(unsafe, dtype=np.int64), np.array(valid, dtype=np.int64)
    f = np.zeros_like(u) if failed is None else np.array(failed, dtype=np.int64)
    return Counts(u, v, f)


@pytest.fixture(scope="session")
def goldens(shared: Path):
    """Golden entries whose id begins with a prefix, by id."""
    entries = json.loads((shared / "goldens" / "seed_statistics.json").read_text("utf-8"))

    def by_prefix(prefix: str) -> dict[str, dict[str, Any]]:
        return {e["id"]: e for e in entries["entries"] if e["id"].startswith(prefix)}

    return by_prefix
