"""Planted judges of the goldens."""

from __future__ import annotations

from pathlib import Path

import pytest
from score_tables import read_judge


@pytest.fixture
def judges(shared: Path):
    """Read a planted judge by name."""
    return lambda name: read_judge(shared / "goldens" / "simulated", name)
