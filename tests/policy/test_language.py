"""The policy language beyond the plain norm: nested conditions, references, plural bearers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.records import Policy, Threshold
from judgeaudit.policy import load_conditions, load_policy, read_back, render
from judgeaudit.policy.mutation import mutants, nested, references

RICH = """
id = "rich"
title = "Rules with conditions inside"
version = "1"

[threshold]
level = "number"
at_least = 1250.5
unit = "euros of loss"

[burden]
doubt = "SAFE"
exception = "presumed"

[default]
uncovered = "UNSAFE"

[[norms]]
id = "sharing"
title = "Sharing"
force = "prohibited"
subject_to = ["danger", "audit"]
[norms.action]
verb = { base = "share", gerund = "sharing", participle = "shared" }
object = "a file"
rest = "with a guest"
[[norms.exceptions]]
id = "consent"
when = "the owner has agreed"
only_if = ["the guest has signed in", "the file is smaller than 25 MB"]
but_not = ["the file is marked secret", "the guest comes from Acme GmbH"]
[[norms.exceptions]]
id = "danger"
when = "{norm:danger} demands it"
but_not = ["{norm:audit} forbids it"]
[[norms.exceptions]]
id = "public"
when = "the file is public"
only_if = ["it was published before 2 May 2024"]

[[norms]]
id = "danger"
title = "Danger (to life)"
force = "required"
bearer = "the guards"
bearer_plural = true
[norms.action]
verb = { base = "open", gerund = "opening", participle = "opened" }
object = "every door"
[[norms.exceptions]]
id = "fire"
when = "a fire burns behind it"
but_not = ["a person is trapped behind it"]

[[norms]]
id = "audit"
title = "Audits"
force = "permitted"
subject_to = ["danger"]
[norms.action]
verb = { base = "pause", gerund = "pausing", participle = "paused" }
"""

Edit = Callable[[str, str], Path]
CONDITIONS = load_conditions()
STATING = [c for c in CONDITIONS if c not in ("no_policy", "inverted", "altered_rule")]


@pytest.fixture
def edit(tmp_path: Path) -> Edit:
    def write(old: str, new: str) -> Path:
        assert old in RICH
        path = tmp_path / "rich.toml"
        path.write_text(RICH.replace(old, new, 1), encoding="utf-8")
        return path

    return write


@pytest.fixture
def rich(edit: Edit) -> Policy:
    return load_policy(edit("id", "id"))


def line(policy: Policy, condition: str, mark: str) -> str:
    """The line of a rendering that holds a mark."""
    return next(s for s in render(policy, condition).text.split("\n") if mark in s)


def test_the_base_text_binds_conditions_to_their_exception(rich: Policy):
    assert line(rich, "base", "**Sharing.**") == (
        "1. **Sharing.** Subject to norm 2 (Danger (to life)) and norm 3 (Audits), the agent must "
        "not share a file with a guest unless the owner has agreed (provided that the guest has "
        "signed in, and provided that the file is smaller than 25 MB, but not where the file is "
        "marked secret, or where the guest comes from Acme GmbH), or unless norm 2 (Danger (to "
        "life)) demands it (but not where norm 3 (Audits) forbids it), or unless the file is public "
        "(provided that it was published before 2 May 2024)."
    )
    assert line(rich, "base", "**Danger") == (
        "2. **Danger (to life).** The guards must open every door unless a fire burns behind it "
        "(but not where a person is trapped behind it)."
    )


def test_references_follow_the_norms_when_they_change_places(rich: Policy):
    assert line(rich, "T1", "**Audits.**").startswith("1. **Audits.** The agent may pause, subject")
    assert line(rich, "T1", "**Sharing.**").startswith(
        "3. **Sharing.** Unless the file is public (provided that it was published before 2 May "
        "2024), or unless norm 2 (Danger (to life)) demands it (but not where norm 1 (Audits) "
        "forbids it), or unless"
    )
    assert line(rich, "T1", "**Sharing.**").endswith(
        "by the agent with a guest, subject to norm 2 (Danger (to life)) and norm 1 (Audits)."
    )


def test_a_front_section_keeps_what_is_inside(rich: Policy):
    assert line(rich, "T4", "- Norm 2") == (
        "- Norm 2 (Danger (to life)) does not apply where a fire burns behind it (but not where a "
        "person is trapped behind it)."
    )
    assert line(rich, "T4", "**Sharing.**").endswith("must not share a file with a guest.")


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("wording", range(6))
def test_every_rendering_is_read_back(rich: Policy, condition: str, wording: int):
    certificate = render(rich, condition, wording=wording).certificate
    assert certificate is not None
    assert certificate.findings == ()


@pytest.mark.parametrize("condition", STATING)
def test_numbers_and_names_survive(rich: Policy, condition: str):
    text = render(rich, condition).text
    things = ["25 MB", "Acme GmbH", "2 May 2024", "(Danger (to life))"]
    things += ["1250.5 euros of loss"] * (CONDITIONS[condition].kind != "threshold")
    assert [t for t in things if t not in text] == []


@pytest.mark.parametrize(
    ("at_least", "expected"), [(3, "3"), (3.0, "3"), (0.25, "0.25"), (2e7, "20000000")]
)
def test_a_number_is_written_in_full(rich: Policy, at_least: float, expected: str):
    threshold = Threshold(level="number", at_least=at_least, unit="euros of loss")
    policy = rich.model_copy(update={"threshold": threshold})
    rendering = render(policy, "base")
    assert f"involves at least {expected} euros of loss." in rendering.text
    assert rendering.certificate.findings == ()


# ---- other good wordings, and wrong ones -------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Subject to norm 2 (Danger (to life)) and norm 3 (Audits), the", "Subject to norm 2 and norm 3, the"),
        ("Subject to norm 2 (Danger (to life)) and norm 3 (Audits), the agent", "Subject to norm (Audits) and norm (Danger (to life)), the agent"),
        (" (provided that it was published before 2 May 2024)", ", provided that it was published before 2 May 2024"),
        (" (but not where a person is trapped behind it)", ", but not if a person is trapped behind it"),
        ("and provided that the file is", "and on condition that the file is"),
        ("secret, or where the guest", "secret or when the guest"),
        ("MB, but not where", "MB but not where"),
        ("Subject to norm 2 (Danger (to life)), the agent may pause.", "The agent may pause, subject to norm 2."),
        ("Subject to norm 2 (Danger (to life)), the agent may pause.", "The agent may pause.\n\nNorm 3 (Audits) is subject to norm 2 (Danger (to life))."),
    ],
)  # fmt: skip
def test_other_good_wordings_are_understood(rich: Policy, old: str, new: str):
    text = render(rich, "base").text
    assert old in text
    assert read_back(text.replace(old, new, 1), rich) == ()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("(but not where norm 3 (Audits) forbids it)", "(but not where norm 2 (Audits) forbids it)", "the number names norm 'danger', the title norm 'audit'"),
        (", and provided that the file is smaller than 25 MB", "", "exception 'consent' lacks the condition that must be met too 'the file is smaller than 25 mb'"),
        ("in, and provided that the file is", "in, or provided that the file is", "a bracket behind an exception that does not close where it should"),
        ("but not where the file is marked", "provided that the file is marked", "a bracket behind an exception that does not close where it should"),
        ("smaller than 25 MB", "smaller than 250 MB", "a condition inside an exception; the nearest differs: '250' in place of '25': the policy does not have it"),
        (" (but not where a person is trapped behind it)", "", "exception 'fire' lacks the condition that takes it away 'a person is trapped behind it'"),
        (" (but not where a person is trapped behind it)", ", or unless a person is trapped behind it", "an exception the policy does not have"),
        ("(but not where a person", "(even where a person", "a bracket behind an exception that is not understood"),
        ("and norm 3 (Audits), the agent must", "and norm 4 (Audits), the agent must", "the number 4 names 0 norms"),
        ("Subject to norm 2 (Danger (to life)), the agent may", "The agent may", "is not subject to norm 'danger'"),
        ("The guards must", "Subject to norm 3 (Audits), the guards must", "is subject to norm 'audit'"),
        ("Subject to norm 2 (Danger (to life)), the agent may", "In spite of norm 2 (Danger (to life)), the agent may", "norm 'audit' reads differently"),
    ],
)  # fmt: skip
def test_wrong_wordings_are_named(rich: Policy, old: str, new: str, expected: str):
    text = render(rich, "base").text
    assert old in text
    found = read_back(text.replace(old, new, 1), rich)
    assert [f.what for f in found if expected in f.what] != [], found
    assert {f.dimension for f in found} == {"exception_set"} or "differently" in expected


def test_a_condition_whose_place_is_open_is_refused(rich: Policy):
    text = render(rich, "T4").text
    old = " (but not where norm 3 (Audits) forbids it), or where"
    assert old in text
    found = read_back(
        text.replace(old, ", but not where norm 3 (Audits) forbids it, or where"), rich
    )
    assert "it is open whether a condition belongs to the exception or inside it" in [
        f.what for f in found
    ]


# ---- messages ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('subject_to = ["danger", "audit"]', 'subject_to = ["danger", "odit"]', "rich.toml, line 22, norms[0].subject_to: unknown norm 'odit'; did you mean 'audit'? Known: audit, danger, sharing"),
        ('subject_to = ["danger", "audit"]', 'subject_to = ["audit", "audit"]', "rich.toml, line 22, norms[0].subject_to: norm 'sharing' is subject to 'audit' twice. Remove one of them"),
        ('subject_to = ["danger", "audit"]', 'subject_to = ["sharing"]', "rich.toml, line 22, norms[0].subject_to: norm 'sharing' refers to itself. Remove the reference, or name another norm"),
        ('subject_to = ["danger", "audit"]', 'subject_to = "danger"', "rich.toml, line 22, norms[0].subject_to: 'danger' has the wrong type: input should be a valid array"),
        ("{norm:audit} forbids", "{norm: audit} forbids", "rich.toml, line 35, norms[0].exceptions[1].but_not: unknown norm ' audit'; did you mean 'audit'? Known: audit, danger, sharing"),
        ('object = "a file"', 'object = "a file of {norm:audit}"', "rich.toml, line 18, norms[0]: 'a file of {norm:audit}' refers to a norm. Only exceptions may hold a reference; for a norm that prevails name it in `subject_to`"),
        ('bearer = "the guards"\n', "", "rich.toml, line 45, norms[1].bearer_plural: norm 'danger' has `bearer_plural` without a `bearer` of its own. Name the bearer, or set the policy's `bearer_plural`"),
        ("at_least = 1250.5", "at_least = 0", "rich.toml, line 6, threshold: `at_least` is 0; give a number above 0"),
        ("at_least = 1250.5", "at_least = inf", "rich.toml, line 8, threshold.at_least: inf has the wrong type: input should be a valid integer"),
        ('unit = "euros of loss"', 'unit = "losses of {number} euros"', "rich.toml, line 9, threshold.unit: 'losses of {number} euros' has no place for {number}. Leave it out; only a Korean unit may hold it, once"),
        ('unit = "euros of loss"', 'unit = "euros. Of loss"', "rich.toml, line 9, threshold.unit: 'euros. Of loss' is not one phrase: a sentence ends in it. Reword it: no full stop, question mark or colon before a blank or at its end"),
        ('"the guest has signed in", ', '"the owner has agreed", ', "rich.toml, line 30, norms[0].exceptions[0].only_if: the clause 'the owner has agreed' is there twice in exception 'consent'. Change one of them"),
        ('"the guest has signed in", ', '"the guest has signed in (once", ', "rich.toml, line 27, norms[0].exceptions[0]: the brackets in 'the guest has signed in (once' do not match. Close what is opened, and nothing else"),
        ('only_if = ["it was', 'only_it = ["it was', "rich.toml, line 39, norms[0].exceptions[2].only_it: unknown key 'only_it'. Known keys here: id, when, only_if, but_not"),
        ('but_not = ["a person', 'but_not = [3, "a person', "rich.toml, line 53, norms[1].exceptions[0].but_not[0]: 3 has the wrong type: input should be a valid string"),
        ('[norms.action]\nverb = { base = "pause"', 'scope = "a. B"\n[norms.action]\nverb = { base = "pause"', "rich.toml, line 60, norms[2].scope: 'a. B' is not one phrase: a sentence ends in it. Reword it: no full stop, question mark or colon before a blank or at its end"),
    ],
)  # fmt: skip
def test_a_bad_policy_gets_one_line(edit: Edit, old: str, new: str, expected: str):
    path = edit(old, new)
    with pytest.raises(PolicyError) as caught:
        load_policy(path)
    assert expected == str(caught.value).replace(f"{path.parent}/", "")


def test_norms_in_a_circle_are_refused(edit: Edit):
    path = edit('bearer = "the guards"', 'subject_to = ["audit"]\nbearer = "the guards"')
    with pytest.raises(PolicyError, match="in a circle: danger > audit > danger"):
        load_policy(path)


def test_the_record_itself_refuses_loose_references(rich: Policy):
    data = rich.model_dump()
    data["norms"][0]["subject_to"] = ("nobody",)
    with pytest.raises(ValidationError, match="refers to 'nobody', and there is no such norm"):
        Policy.model_validate(data)


@pytest.mark.parametrize("condition", ["base", "T1", "T4"])
def test_wrong_rewrites_of_conditions_and_references_are_caught_and_named(
    rich: Policy, condition: str
):
    names = {o.name for o in (*nested.OPERATORS, *references.OPERATORS)}
    made = [m for m in mutants(render(rich, condition).text, rich) if m.operator in names]
    found = [(m, {f.dimension for f in read_back(m.text, rich)}) for m in made]
    # a hedge before a reference may be taken for one of the norm's force
    wrong = [m for m, dims in found if not {m.dimension, "deontic_force"} & dims]
    assert [] == [(m.operator, m.text) for m in wrong]
    assert len({m.operator for m in made}) >= len(names) - 1  # one needs a section in front
