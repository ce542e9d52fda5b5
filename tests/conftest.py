"""Fixtures that all rooms share."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

# a busy machine is no failure, and the first example may pay for an import
hypothesis.settings.register_profile("judgeaudit", deadline=None)
hypothesis.settings.load_profile("judgeaudit")


def _shared_folder() -> Path | None:
    named = os.environ.get("JUDGEAUDIT_SHARED")
    if named:
        return Path(named)
    return Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of research data and goldens, or skip where it is absent.

    A folder that is named but is not there is a mistake, and fails: goldens are not left out
    because of a typing error.
    """
    folder = _shared_folder()
    if folder is None or not (folder / "goldens").is_dir():
        if os.environ.get("JUDGEAUDIT_SHARED"):
            pytest.fail(f"JUDGEAUDIT_SHARED is {str(folder)!r}, which has no folder goldens")
        pytest.skip("the shared research data is not on this machine (set JUDGEAUDIT_SHARED)")
    return folder
