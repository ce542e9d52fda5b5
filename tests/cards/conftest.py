"""Fixtures of the card tests."""

from __future__ import annotations

import pytest
from card_runs import CASES, Run


@pytest.fixture(params=sorted(CASES))
def any_run(request) -> Run:
    """Each of the hand-made runs."""
    return CASES[request.param]()
