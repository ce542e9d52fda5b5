from __future__ import annotations

import pytest
from viewer_world import Client, serving, small_ledger


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """One finished run that no test writes to."""
    return small_ledger(tmp_path_factory.mktemp("made") / "ledger.sqlite")


@pytest.fixture(scope="session")
def client(made):
    with serving(made) as server:
        yield Client(server)


@pytest.fixture
def own(tmp_path):
    """A finished run of a test's own."""
    with serving(small_ledger(tmp_path / "ledger.sqlite")) as server:
        yield Client(server)
