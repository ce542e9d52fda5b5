"""Fixtures that all rooms share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def _shared_folder() -> Path | None:
    named = os.environ.get("JUDGEAUDIT_SHARED")
    if named:
        return Path(named)
    return Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of research data and goldens, or skip where it is absent."""
    folder = _shared_folder()
    if folder is None or not (folder / "goldens").is_dir():
        pytest.skip("the shared research data is not on this machine (set JUDGEAUDIT_SHARED)")
    return folder
