"""The linter: each check finds what it is for, and nothing in a good policy."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgeaudit.cli.policy import app
from judgeaudit.core.errors import PolicyError
from judgeaudit.core.records import Policy
from judgeaudit.core.rooms import room
from judgeaudit.policy import load_policy, policy_names
from judgeaudit.policy.linting import CHECKS, Problem, lint, lint_file
from judgeaudit.policy.loading import parse_policy

HEAD = """
id = "p"
title = "P"
version = "1"
[threshold]
level = "any"
[burden]
doubt = "SAFE"
exception = "must_be_shown"
[default]
uncovered = "SAFE"
"""


def norm(
    id_: str = "a",
    *,
    force: str = "prohibited",
    verb: str = "read",
    object_: str = "private mail",
    rest: str = "",
    scope: str = "",
    when: tuple[str, ...] = (),
    bearer: str = "",
) -> str:
    lines = [
        "[[norms]]",
        f'id = "{id_}"',
        f'title = "Title {id_}"',
        f'force = "{force}"',
        *([f'bearer = "{bearer}"'] if bearer else []),
        *([f'scope = "{scope}"'] if scope else []),
        "[norms.action]",
        f'verb = {{ base = "{verb}", gerund = "{verb}ing", participle = "{verb}" }}',
        f'object = "{object_}"',
        f'rest = "{rest}"',
    ]
    for i, clause in enumerate(when):
        lines += ["[[norms.exceptions]]", f'id = "e{i}"', f"when = '{clause}'"]
    return "\n".join(lines) + "\n"


def policy(*parts: str, head: str = HEAD) -> Policy:
    return parse_policy(head + "".join(parts), "p.toml")


def ids(*parts: str, head: str = HEAD) -> list[str]:
    return [p.id for p in lint(policy(*parts, head=head))]


def test_every_shipped_policy_is_clean():
    for name in policy_names():
        _, problems = lint_file(name)
        assert [] == [p for p in problems if p.severity == "serious"], name
    assert () == lint(load_policy("agent_safety"))


def test_a_plain_norm_is_clean():
    assert [] == ids(norm(when=("its owner has agreed",)))
    assert [] == ids(norm(when=("the owner has agreed",)), norm("b", verb="delete"))


@pytest.mark.parametrize(
    "when",
    [
        "the agent considers it necessary",
        "the agent has decided to do so",
        "it is convenient",
        "doing so is faster",
        "there is a task, in any case",
        "the agent reads private mail",
    ],
)
def test_an_exception_that_swallows_its_norm(when):
    found = lint(policy(norm(when=(when,))))
    assert "exception-swallows-norm" in [p.id for p in found if p.severity == "serious"]


@pytest.mark.parametrize(
    "when",
    [
        "the owner considers it necessary",
        "the user has decided to share the mail",
        "the mail was read before by its owner",
        "a court has ordered the agent to read the mail",
    ],
)
def test_an_exception_that_leaves_something(when):
    assert "exception-swallows-norm" not in ids(norm(when=(when,)))


def test_two_exceptions_that_leave_nothing_together():
    when = ("the owner has agreed", "the owner has not agreed")
    assert ["exception-swallows-norm"] == ids(norm(when=when))


def test_an_exception_that_is_the_scope_itself():
    found = ids(norm(scope="outside working hours", when=("outside working hours",)))
    assert "exception-swallows-norm" in found


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({}, {"force": "required"}, ["contradictory-norms"]),
        ({}, {"force": "permitted"}, ["contradictory-norms"]),
        ({"force": "required"}, {"force": "not_required"}, ["contradictory-norms"]),
        ({"force": "recommended"}, {"force": "discouraged"}, ["contradictory-norms"]),
        ({}, {"force": "permitted", "scope": "on a holiday"}, ["overlapping-norms"]),
        ({}, {"force": "permitted", "verb": "open or read"}, ["overlapping-norms"]),
        ({}, {"force": "permitted", "object_": "private mail of a friend"}, ["overlapping-norms"]),
        ({}, {}, ["repeated-norm"]),
        ({}, {"when": ("the owner has agreed",)}, ["contradictory-norms"]),
        ({}, {"force": "permitted", "verb": "sort"}, []),
        ({}, {"force": "permitted", "object_": "public posts"}, []),
        ({}, {"force": "permitted", "bearer": "the user"}, []),
        ({"scope": "on a holiday"}, {"force": "permitted", "scope": "at work"}, []),
        ({"force": "permitted"}, {"force": "not_required"}, ["nothing-to-violate"]),
    ],
)
def test_norms_against_each_other(first, second, expected):
    assert expected == ids(norm("a", **first), norm("b", **second))


@pytest.mark.parametrize("key", ["object_", "rest", "scope"])
def test_an_exception_that_is_hidden_in_a_phrase(key):
    """Seen in drafts of a small model: the exception stands in the norm, and is none."""
    found = lint(policy(norm(**{key: "mail of a friend unless the friend agrees"})))
    assert [("hidden-exception", "serious")] == [(p.id, p.severity) for p in found]


def test_terms_without_a_definition():
    text = norm(object_="every 'Trade Secret' of the firm")
    assert ["undefined-term"] == ids(text)
    assert ["undefined-term"] == ids(norm(object_="any Confidential Information of a client"))
    defined = '[[definitions]]\nterm = "trade secret"\nmeaning = "a plan that the firm hides"\n'
    assert [] == ids(defined, text)
    assert ["undefined-abbreviation"] == ids(norm(object_="all PHI of a patient"))
    assert [] == ids(norm(object_="the API of a US firm"))


def test_a_definition_that_nothing_uses():
    unused = '[[definitions]]\nterm = "sandbox"\nmeaning = "a place apart"\n'
    assert ["unused-definition"] == ids(unused, norm())
    assert [] == ids(unused, norm(scope="outside sandboxes"))


@pytest.mark.parametrize(
    ("phrase", "found"),
    [
        ("more than 20", True),
        ("more than 20 in total", True),
        ("1,000 or more of them", True),
        ("more than 20 records", False),
        ("more than $20", False),
        ("more than 20 % of the mail", False),
        ("mail of 2.5 MB or more", False),
        ("20-page letters", False),
        ("the covid19 list", False),
    ],
)
def test_numbers_without_a_unit(phrase, found):
    assert (["number-without-unit"] if found else []) == ids(norm(object_=phrase))


@pytest.mark.parametrize(
    ("kwargs", "expected"),
    [
        ({"object_": "a reasonable number of letters"}, ["vague-word"]),
        ({"when": ("reading is necessary for the task",)}, ["discretion"]),
        ({"when": ("this was agreed",)}, ["unbound-pronoun"]),
        ({"verb": "fail to report"}, ["double-negation"]),
        ({"scope": "except under norm 3"}, ["fixed-number"]),
        (
            {"when": ("the owner agreed to it", "to it the owner agreed")},
            ["repeated-exception"],
        ),
        ({"when": tuple(f"the owner number {w} has agreed to the reading of the mail in every "
                        "part" for w in ("one", "two", "three", "four", "five"))}, ["long-norm"]),
    ],
)  # fmt: skip
def test_cautions(kwargs, expected):
    found = lint(policy(norm(**kwargs)))
    assert expected == [p.id for p in found]
    assert {"caution"} == {p.severity for p in found}


def test_a_threshold_that_is_always_met_is_not_even_a_policy():
    always = HEAD.replace('level = "any"', 'level = "number"\nat_least = 0\nunit = "breaches"')
    with pytest.raises(PolicyError, match="give a number above 0"):
        policy(norm(), head=always)


def test_rules_that_lean_one_way():
    lean = HEAD.replace('level = "any"', 'level = "significant"').replace(
        "must_be_shown", "presumed"
    )
    assert ["leaning"] == ids(norm(), head=lean)


@pytest.mark.parametrize("key", ["threshold", "burden", "default"])
def test_a_missing_rule_is_a_problem_and_no_error(tmp_path, key):
    text = re.sub(rf"\[{key}\]\n(?:(?!\[).*\n)+", "", HEAD)
    assert key not in tomllib.loads(text)
    path = tmp_path / "p.toml"
    path.write_text(text + norm(), encoding="utf-8")
    _, problems = lint_file(path)
    assert [("missing-rule", "serious")] == [(p.id, p.severity) for p in problems]
    assert f"[{key}] is missing" in problems[0].message


def test_half_a_burden_is_a_problem_too(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text(HEAD.replace('doubt = "SAFE"\n', "") + norm(), encoding="utf-8")
    _, problems = lint_file(path)
    assert ["`doubt` is missing"] == [p.message.partition(":")[0] for p in problems]


def test_places_name_file_and_line(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text(HEAD + norm(when=("it is useful",)), encoding="utf-8")
    line = path.read_text(encoding="utf-8").split("\n").index("when = 'it is useful'") + 1
    _, problems = lint_file(path)
    assert problems[0].where == f"{path}, line {line}, norms[0].exceptions[0].when"


def test_every_check_is_a_function_of_the_policy_alone():
    made = policy(norm(when=("it is useful",)), norm("b", force="permitted"))
    assert lint(made) == lint(made)
    assert all(isinstance(p, Problem) for c in CHECKS.values() for p in c(made))
    serious = [p.severity for p in lint(made)]
    assert serious == sorted(serious, key=lambda s: s != "serious")


def test_exit_codes(edited: Callable[[str, str], Path]):
    assert 0 == CliRunner().invoke(app, ["lint"]).exit_code
    bad = edited("the user has agreed to the disclosure", "the agent considers it useful")
    result = CliRunner().invoke(app, ["lint", str(bad)])
    assert 1 == result.exit_code
    assert ": serious: exception-swallows-norm: " in result.output
    vague = edited("a credential", "a reasonable credential")
    result = CliRunner().invoke(app, ["lint", str(vague)])
    assert 0 == result.exit_code
    assert "1 cautions" in result.output


def test_the_words_of_another_language_are_left_alone():
    made = load_policy(room("policies") / "agent_safety.toml")
    other = made.model_copy(update={"language": "xx"})
    assert [] == [p for p in lint(other) if p.severity == "serious"]
