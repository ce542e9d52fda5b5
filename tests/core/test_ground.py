"""Errors, rooms, registry, and what importing the package costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from judgeaudit.core.errors import ConfigError, JudgeAuditError, TransientError, unknown_name
from judgeaudit.core.registry import Registry
from judgeaudit.core.rooms import ROOMS, room


def test_an_error_says_where_what_and_how_to_mend():
    error = ConfigError("unknown key 'x'", where="audit.toml:3", mend="Remove it")
    assert "audit.toml:3: unknown key 'x'. Remove it" == str(error)
    assert 2 == error.exit_code
    assert 3 == TransientError("timeout").exit_code
    assert isinstance(TransientError("timeout"), JudgeAuditError)


def test_an_unknown_name_lists_the_known_ones():
    got = unknown_name("corpus", "zzz", ["b", "a"])
    assert "unknown corpus 'zzz'. Known: a, b" == got


@pytest.mark.parametrize("name", ROOMS)
def test_the_data_rooms_are_found(name):
    assert room(name).is_dir()


def test_an_unknown_room_is_refused():
    with pytest.raises(ConfigError, match="unknown data room"):
        room("attic")


def test_a_registry_refuses_two_of_one_name_and_names_the_known():
    registry: Registry[int] = Registry("thing", "judgeaudit.stats", "judgeaudit.no_such_group")
    registry.register("one")(1)
    with pytest.raises(ConfigError, match="two thing entries are called 'one'"):
        registry.register("one")(2)
    assert 1 == registry["one"]
    with pytest.raises(ConfigError, match="unknown thing 'won'; did you mean 'one'"):
        registry["won"]


HEAVY = (
    "litellm", "datasets", "pandas", "scipy", "matplotlib", "tenacity", "openai", "statsmodels",
    "aiohttp",
)  # fmt: skip


@pytest.mark.parametrize("module", ["judgeaudit", "judgeaudit.cli.main"])
def test_importing_loads_nothing_heavy(module):
    code = f"import {module}, sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]" == done.stdout.strip()
