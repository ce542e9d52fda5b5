"""The policies that ship: what they cover, that all their texts certify, and golden texts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from judgeaudit.core.records import Policy
from judgeaudit.policy import load_conditions, load_policy, policy_names, render
from judgeaudit.policy.transforms import find_transform, intended

GOLDEN = Path(__file__).parent / "golden_library"
CONDITIONS = load_conditions()
ENGLISH = [n for n in policy_names() if load_policy(n).language == "en"]
# one condition a policy beside base, so that every condition that writes a text is read in one
SAMPLE = {
    "code_execution": "T1",
    "company_standard": "T1T2T4",
    "customer_support": "T1T2",
    "email_calendar": "strict",
    "finance": "lenient2",
    "health": "strict2",
    "home_automation": "inverted",
    "one_norm": "T3",
    "privacy": "T4",
    "web_agent": "T2",
}


def test_there_are_ten_and_more_from_one_norm_to_forty():
    sizes = sorted(len(load_policy(n).norms) for n in ENGLISH)
    assert len(sizes) >= 10
    assert (1, 40) == (sizes[0], sizes[-1])


def test_the_library_varies_in_every_dimension():
    policies = [load_policy(n) for n in ENGLISH]
    norms = [n for p in policies for n in p.norms]
    exceptions = [e for n in norms for e in n.exceptions]
    assert {p.threshold.level for p in policies} == {"any", "material", "significant", "number"}
    assert {p.burden.doubt for p in policies} == {"SAFE", "UNSAFE"}
    assert {p.burden.exception for p in policies} == {"must_be_shown", "presumed"}
    assert {p.default.uncovered for p in policies} == {"SAFE", "UNSAFE"}
    assert len({n.force for n in norms}) == 6
    assert any(p.bearer_plural for p in policies)
    assert sum(bool(n.subject_to) for n in norms) > 10
    assert sum(bool(e.only_if) for e in exceptions) > 20
    assert sum(bool(e.but_not) for e in exceptions) > 20
    assert any("{norm:" in c for e in exceptions for c in e.clauses)
    assert all(p.source for p in policies)


@pytest.mark.parametrize("name", ENGLISH)
def test_every_condition_and_several_wordings_certify(name: str):
    policy = load_policy(name)
    for condition in CONDITIONS:
        for wording in range(3):
            certificate = render(policy, condition, wording=wording).certificate
            assert certificate is not None
            assert certificate.findings == (), (condition, wording)


@pytest.mark.parametrize("name", ENGLISH)
def test_numbers_quantities_and_names_survive_every_rendering(name: str):
    policy = load_policy(name)
    for condition in CONDITIONS:
        stated = intended(policy, find_transform(condition).head.change)
        text = render(policy, condition).text
        for thing in things(stated) if stated is not None else ():
            assert thing in text, (condition, thing)


def things(policy: Policy) -> Iterator[str]:
    """Every number with the word behind it, every title, and every name (a capital in mid-phrase)."""
    phrases = [policy.scope, *(d.meaning for d in policy.definitions)]
    for n in policy.norms:
        yield n.title
        phrases += [policy.bearer_of(n), n.action.object, n.action.rest, n.scope]
        phrases += [c for e in n.exceptions for c in e.clauses]
    if policy.threshold.level == "number":
        phrases.append(f"{policy.threshold.at_least} {policy.threshold.unit}")
    for phrase in phrases:
        plain = re.sub(r"\{norm:\w+\}", "", phrase)
        yield from re.findall(r"\d[\d.,:]*(?: \w+)?", plain)
        yield from re.findall(r"(?<=\w )[A-Z]\w+", plain)


def test_there_are_things_to_survive():
    found = {t for n in ENGLISH for t in things(load_policy(n))}
    assert {
        "20 US",
        "22:00 and",
        "200 words",
        "48 hours",
        "European",
        "25 euros",
        "26 degrees",
    } <= found


@pytest.mark.parametrize("name", sorted(SAMPLE))
@pytest.mark.parametrize("which", ["base", "sample"])
def test_the_text_is_the_golden_text(name: str, which: str):
    """A changed text is a changed instrument: set UPDATE_GOLDEN=1, and read it aloud."""
    condition = "base" if which == "base" else SAMPLE[name]
    text = render(load_policy(name), condition).text
    path = GOLDEN / f"{name}.{condition}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_no_golden_text_is_left_over():
    expected = {f"{n}.{c}.md" for n, s in SAMPLE.items() for c in ("base", s)}
    assert expected == {p.name for p in GOLDEN.iterdir()}
    assert set(ENGLISH) == {*SAMPLE, "agent_safety"}


@pytest.mark.parametrize("name", ENGLISH)
@pytest.mark.parametrize("wording", range(2))
def test_the_typography_is_that_of_a_published_text(name: str, wording: int):
    policy = load_policy(name)
    for condition in CONDITIONS:
        text = render(policy, condition, wording=wording).text
        assert text.endswith("\n")
        assert "\n\n\n" not in text
        for line in text.split("\n"):
            assert line == line.rstrip()
            assert not re.search(r"  |\s[.,;:)]|\.\.|,\.|,,|\( |\(\)", line), line
            sentences = re.sub(r"^(\d+\.|-) ", "", line).replace("*", "")
            assert not re.match(r"[a-z]", sentences), line
            assert line.count("(") == line.count(")"), line
