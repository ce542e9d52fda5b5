"""What competent editors do with a policy: every construction, and what looks like it and is wrong."""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from judgeaudit.core.records import Policy
from judgeaudit.policy import load_policy, read_back, render

FOLDER = Path(__file__).parent / "handwritten"
# the policies as they stood when people wrote these texts for them
WRITTEN_FOR = FOLDER / "policies"


def _lines(name: str) -> list[dict[str, Any]]:
    text = (FOLDER / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


CONSTRUCTIONS: list[dict[str, Any]] = json.loads(
    (FOLDER / "constructions_en.json").read_text(encoding="utf-8")
)
EXAMPLES = [(c, text, side == "right") for c in CONSTRUCTIONS for side in ("right", "wrong")
            for text in c[side]]  # fmt: skip


@lru_cache
def _policy(name: str) -> tuple[Policy, str]:
    policy = load_policy(WRITTEN_FOR / f"{name}.toml")
    return policy, render(policy, "base", language=policy.language).text


def _with(where: dict[str, Any], new: str) -> tuple[Policy, str]:
    """Put other words in the place of a norm, or of sentences about the verdict."""
    policy, text = _policy(where["policy"])
    if "sentences" in where:
        assert text.count(where["sentences"]) == 1
        return policy, text.replace(where["sentences"], new)
    lines = text.split("\n")
    (i,) = [i for i, line in enumerate(lines) if f".** {where['norm']}" in line]
    lines[i] = lines[i][: lines[i].index(where["norm"])] + new
    return policy, "\n".join(lines)


@pytest.mark.parametrize(("where", "text", "right"), EXAMPLES)
def test_a_construction_is_understood_and_what_looks_like_it_is_not(
    where: dict[str, Any], text: str, right: bool
):
    policy, whole = _with(where, text)
    assert (read_back(whole, policy) == ()) == right, where["construction"]


@pytest.mark.parametrize("where", CONSTRUCTIONS)
def test_every_construction_has_near_misses(where: dict[str, Any]):
    assert where["right"]
    assert len(where["wrong"]) >= 3


ADVERSARIAL = _lines("adversarial_en.jsonl")


@pytest.mark.parametrize("case", ADVERSARIAL)
def test_nothing_adversarial_passes(case: dict[str, Any]):
    policy, text = _policy(case["policy"])
    changed = text
    for old, new in case["edits"]:
        assert old in changed
        changed = changed.replace(old, new, 1)
    assert changed != text
    assert read_back(changed, policy) != ()


# ---- sets written by hand, by people who did not know the reader ---------------------------------

UNDERSTOOD = {
    "first_en": {
        "A-en-as-01", "A-en-as-02", "A-en-as-03", "A-en-as-06", "A-en-as-08", "A-en-as-10",
        "A-en-as-11", "A-en-on-01", "A-en-on-05", "A-en-pr-01", "A-en-pr-02", "A-en-pr-05",
        "A-en-fi-01", "A-en-fi-02", "A-en-cs-01", "A-en-cs-02", "A-en-ha-01",
    },
    "second_en": {
        "B-en-01", "B-en-10", "B-en-11", "B-en-12", "B-en-28", "B-en-38", "B-en-47", "B-en-56",
    },
    "first_ko": {"A-ko-fi-02", "A-ko-pr-01"},
    "second_ko": set(),
}  # fmt: skip
"""The right rewrites that pass. The first English set taught the reader: it tests nothing else."""


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_of_rewrites_by_hand_no_wrong_one_passes(name: str):
    cases = _lines(f"{name}.jsonl")
    suffix = ".ko" if name.endswith("ko") else ""
    passed = {
        c["id"] for c in cases if read_back(c["text"], _policy(c["policy"] + suffix)[0]) == ()
    }
    half = 32 if name.endswith("en") else 12
    assert Counter(c["same"] for c in cases) == {True: half, False: half}
    assert passed & {c["id"] for c in cases if not c["same"]} == set()
    assert passed == UNDERSTOOD[name]
