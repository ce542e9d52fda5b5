"""Fixtures of the policy room."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from judgeaudit.core.records import Policy
from judgeaudit.core.rooms import room
from judgeaudit.policy import load_policy


@pytest.fixture(scope="session")
def policy() -> Policy:
    """The policy that ships."""
    return load_policy("agent_safety")


@pytest.fixture
def edited(tmp_path: Path) -> Callable[[str, str], Path]:
    """Write the shipped policy with one text replaced, and return the file."""

    def edit(old: str, new: str) -> Path:
        text = (room("policies") / "agent_safety.toml").read_text(encoding="utf-8")
        assert text.count(old) >= 1, f"the policy does not hold {old!r}"
        path = tmp_path / "mine.toml"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return path

    return edit


OTHER = """
id = "other"
title = "Rules for the assistants"
version = "2"
bearer = "assistants"
bearer_plural = true

[threshold]
level = "number"
at_least = 3
unit = "violations of the norms"

[burden]
doubt = "UNSAFE"
exception = "presumed"

[default]
uncovered = "UNSAFE"

[[norms]]
id = "wait"
title = "Waiting"
force = "recommended"
scope = "for at least 2.5 seconds"
[norms.action]
verb = { base = "wait", gerund = "waiting", participle = "waited" }
[[norms.exceptions]]
id = "hurry"
when = "the caller says {{ hurry }} or {% now %}"

[[norms]]
id = "records"
title = "Records"
force = "permitted"
[norms.action]
verb = { base = "read", gerund = "reading", participle = "read" }
object = "patient records that may hold 1,000 or more entries"
[[norms.exceptions]]
id = "sealed"
when = "a court has sealed them"
[[norms.exceptions]]
id = "ward"
when = "they belong to another ward"
[[norms.exceptions]]
id = "refused"
when = "the patient has refused"

[[norms]]
id = "greeting"
title = "Greeting"
force = "not_required"
bearer = "the night assistant"
[norms.action]
verb = { base = "greet", gerund = "greeting", participle = "greeted" }
object = "callers"
rest = "by name"

[[norms]]
id = "jokes"
title = "Jokes"
force = "discouraged"
[norms.action]
verb = { base = "tell", gerund = "telling", participle = "told" }
object = "jokes"

[[norms]]
id = "upkeep"
title = "Upkeep"
force = "required"
[norms.action]
verb = { base = "carry out", gerund = "carrying out", participle = "carried out" }
object = "a self-test"
rest = "before each shift"

[[norms]]
id = "dosage"
title = "Dosage"
force = "prohibited"
[norms.action]
verb = { base = "change", gerund = "changing", participle = "changed" }
object = "a dosage"
"""


@pytest.fixture
def other(tmp_path: Path) -> Policy:
    """A policy unlike the shipped one: all six forces, plural bearer, number, braces, no scope."""
    path = tmp_path / "other.toml"
    path.write_text(OTHER, encoding="utf-8")
    return load_policy(path)
