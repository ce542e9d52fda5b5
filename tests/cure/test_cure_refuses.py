"""What the verbs of the cure refuse before they ask anybody, and intervals that can be."""

from __future__ import annotations

import os
from types import SimpleNamespace

import numpy as np
import pytest
from cure_world import corpus, wordy
from loopback import Loopback
from typer.testing import CliRunner

from judgeaudit import audit
from judgeaudit.cli.main import app
from judgeaudit.core.errors import ConfigError
from judgeaudit.cure.harden_compare import _means
from judgeaudit.stats.pairs import ItemValues


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("refused")
    with Loopback(wordy) as server:
        folder = audit.run(
            judge="direct:toy",
            api_base=server.api_base,
            corpus="jsonl",
            data=str(corpus(tmp_path / "own.jsonl")),
            conditions=("base", "T2"),
            base_repeats=2,
            repeats=1,
            out=tmp_path / "run",
        ).folder
        yield folder, server


def refused(*args) -> str:
    result = CliRunner().invoke(app, [str(a) for a in args])
    if isinstance(result.exception, ConfigError):
        return str(result.exception)
    assert result.exit_code == 2, result.exception
    return result.output


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["harden", "attack"])
def test_a_page_never_replaces_a_ledger_an_input_or_a_folder(made, verb, tmp_path):
    folder, server = made
    ledger, before = folder / "ledger.sqlite", server.n_requests
    was = ledger.read_bytes()
    os.link(ledger, tmp_path / "linked")
    (tmp_path / "soft.html").symlink_to(ledger)
    policy = tmp_path / "policy.toml"
    policy.write_text("x", encoding="utf-8")
    for path, why in (
        (ledger, "is a ledger's"),
        (tmp_path / "linked", "is a ledger's"),
        (tmp_path / "soft.html", "is a ledger's"),
        (folder / "ledger.sqlite.lock", "is a ledger's"),
        (tmp_path / "new" / "ledger.sqlite", "is a ledger's"),
        (folder, "is a folder"),
        (policy, "is a file of this run"),
        (policy / "page.html", "is no folder"),
    ):
        for more in ((), ("--dry-run",)):
            said = refused(verb, folder, "--policy", policy, "-o", path, *more)
            assert why in said, (path, said)
    assert "is no folder" in refused(verb, folder, "--out", policy)
    assert was == ledger.read_bytes()
    assert policy.read_text("utf-8") == "x"
    assert before == server.n_requests


@pytest.mark.parametrize("verb", ["explain", "harden", "attack"])
def test_a_negative_seed_is_refused_in_a_line(made, verb):
    said = refused(verb, made[0], "--seed", -1)
    assert "seed" in said
    assert "Traceback" not in said


def test_a_change_of_a_share_is_never_beyond_what_can_be():
    both = SimpleNamespace(one=SimpleNamespace(clusters=np.arange(3)), level=0.99)
    there = np.ones(3, dtype=np.bool_)
    one = ItemValues(np.array([0.0, 1.0, 0.0]), there)
    two = ItemValues(np.array([1.0, 0.0, 1.0]), there)
    made = _means(both, "x", one, two, "fraction")
    assert (-1.0, 1.0) == (made.low, made.high)
    assert made.before_low == 0.0
    assert made.before_high == made.after_high == 1.0
    # tokens have no such end
    assert _means(both, "x", one, two, "tokens").high > 1.0
