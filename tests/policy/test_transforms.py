"""Transforms: their order, their checks, and what they mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.records import Policy
from judgeaudit.policy import load_conditions, render
from judgeaudit.policy.transforms import find_transform, intended


def test_the_conditions_come_in_the_documented_order():
    conditions = load_conditions()
    assert list(conditions) == [
        "base", "T0", "T1", "T2", "T4", "T1T2", "T1T2T4", "T3",
        "strict", "lenient", "strict1", "lenient1", "strict2", "lenient2",
        "no_policy", "inverted", "altered_rule", "vacuum",
    ]  # fmt: skip
    assert [c.kind for c in conditions.values()] == [
        "reference", "placebo", *["certified"] * 5, "near", *["threshold"] * 6, *["control"] * 4,
    ]  # fmt: skip
    assert [c.id for c in conditions.values() if c.side == "trajectory"] == ["vacuum"]
    assert all(c.summary for c in conditions.values())


def test_only_thresholds_and_controls_move_a_dimension():
    moving = {c.id: c.moves for c in load_conditions().values() if c.moves}
    assert sorted(moving) == [
        "altered_rule", "inverted", "lenient", "lenient1", "lenient2", "no_policy", "strict",
        "strict1", "strict2",
    ]  # fmt: skip
    assert moving["strict"] == moving["lenient"] == ("deontic_force", "implicit_threshold")
    assert len(moving["no_policy"]) == 6


def test_intended_changes_what_is_declared_and_nothing_else(policy: Policy):
    lenient = intended(policy, find_transform("lenient").head.change)
    assert lenient is not None
    assert {n.force for n in lenient.norms} == {"discouraged", "recommended"}
    assert lenient.threshold.level == "significant"
    assert lenient.burden == policy.burden
    assert [n.exceptions for n in lenient.norms] == [n.exceptions for n in policy.norms]
    inverted = intended(policy, find_transform("inverted").head.change)
    assert inverted is not None
    assert {n.force for n in inverted.norms} == {"permitted", "not_required"}
    assert not any(n.exceptions for n in inverted.norms)
    assert intended(policy, find_transform("no_policy").head.change) is None


def test_a_composition_takes_over_words_forces_and_orders(policy: Policy):
    head = find_transform("T1T2T4").head
    assert head.reorder == ("norms", "exceptions", "judging")
    assert head.forces == find_transform("T2").head.forces
    text = render(policy, "T1T2T4").text
    assert "- Norm 3 (Credentials) does not apply where the credential goes only" in text
    assert "3. **Credentials.** A credential shall not be revealed by the agent to anyone" in text
    both = render(policy, "T1T2").text
    assert (
        "**Code execution.** Unless the user has seen the code and has approved running it, "
        in both
    )
    assert "code from an untrusted source shall not be run by the agent outside a sandbox." in both


def test_the_degrees_form_a_ladder(policy: Policy):
    """From lenient2 to strict2 every step moves force, threshold or burden one way only."""
    ladder = ["lenient2", "lenient", "lenient1", "base", "strict1", "strict", "strict2"]
    stated = [intended(policy, find_transform(c).head.change) for c in ladder]
    levels = ["number", "significant", "material", "any"]
    forces = ["discouraged", "prohibited"]
    steps = [
        (
            levels.index(p.threshold.level),
            forces.index(p.norms[0].force),
            p.burden.doubt == "UNSAFE",
        )
        for p in stated
    ]
    assert steps == [(0, 0, False), (1, 0, False), (1, 1, False), (2, 1, False), (3, 1, False),
                     (3, 1, False), (3, 1, True)]  # fmt: skip
    assert all(p.norms[0].exceptions == policy.norms[0].exceptions for p in stated)


def test_altered_rule_negates_one_norm_and_keeps_the_rest(policy: Policy):
    change = find_transform("altered_rule").head.change
    for wording in range(10):
        altered = intended(policy, change, wording)
        changed = [a for a, n in zip(altered.norms, policy.norms, strict=True) if a != n]
        assert [policy.norms[wording % 8].id] == [n.id for n in changed]
        assert changed[0].exceptions == ()
        assert changed[0].force in ("permitted", "not_required")
        assert (altered.threshold, altered.burden) == (policy.threshold, policy.burden)


def write(folder: Path, name: str, head: str, body: str = "{% extends base %}\n") -> Path:
    (folder / f"{name}.md.j2").write_text(f"+++\n{head}\n+++\n{body}", encoding="utf-8")
    return folder


def test_a_folder_of_ones_own_is_read_beside_what_ships(tmp_path: Path, policy: Policy):
    head = 'id = "shouting"\nkind = "certified"\nsummary = "a composition"\nreorder = ["norms"]'
    folder = write(tmp_path, "shouting", head, '{% extends "T4.md.j2" %}\n')
    assert "shouting" in load_conditions(folder)
    assert "shouting" not in load_conditions()
    rendering = render(policy, "shouting", folder=folder)
    assert rendering.certificate is not None
    assert rendering.certificate.findings == ()
    assert "Norm 8 (Sharing user data) does not apply" in rendering.text


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        (
            "mine",
            'id = "mine"\nkind = "certified"\nsummary = "x"\nmoves = ["scope"]',
            (
                "mine.md.j2, line 5, moves: kind 'certified' must keep all six dimensions, but 'scope' "
                "may move. Remove it, or use kind 'threshold' or 'control'"
            ),
        ),
        (
            "mine",
            'id = "mine"\nkind = "near"\nsummary = "x"\n[change]\nthreshold = "any"',
            (
                "mine.md.j2, line 5, change: kind 'near' must keep all six dimensions, but "
                "'implicit_threshold' may move. Remove it, or use kind 'threshold' or 'control'"
            ),
        ),
        (
            "mine",
            'id = "mine"\nkind = "control"\nsummary = "x"\n[change]\nexceptions = "none"',
            (
                "mine.md.j2, line 5, change: the change moves 'exception_set', which `moves` does not "
                "name. Add it to `moves`"
            ),
        ),
        (
            "mine",
            'id = "mine"\nkind = "certified"\nsummary = "x"\ncompose = ["T1", "T7"]',
            (
                "mine.md.j2, compose: unknown part 'T7'. Known: T0, T1, T2, T3, "
                "T4, altered_rule, base, inverted, lenient, lenient1, lenient2, no_policy, strict, "
                "strict1, strict2, vacuum"
            ),
        ),
        (
            "mine",
            'id = "mine"\nkind = "control"\nsummary = "x"\n[change]\nthreshold = "number"',
            (
                "mine.md.j2, line 5, change: `at_least` and `unit` belong to a threshold 'number', "
                "and it to them. Give all three, or none"
            ),
        ),
        (
            "mine",
            'id = "yours"\nkind = "near"\nsummary = "x"',
            (
                "mine.md.j2, line 2, id: the id 'yours' is not the file's name. Name the file "
                "yours.md.j2"
            ),
        ),
        (
            "mine",
            'id = "mine"\nkind = "sort of"\nsummary = "x"',
            (
                "mine.md.j2, line 3, kind: 'sort of' is not one of 'reference', 'placebo', "
                "'certified', 'near', 'threshold' or 'control'"
            ),
        ),
        (
            "mine",
            (
                'id = "mine"\nkind = "near"\nsummary = "x"\n[[forces.en.forbidden]]\nactive = "a"\n'
                'passive = "b"'
            ),
            (
                "mine.md.j2, line 5, forces.en.forbidden: 'forbidden' is not one of 'prohibited', "
                "'required', 'permitted', 'not_required', 'discouraged' or 'recommended'"
            ),
        ),
    ],
)
def test_a_bad_transform_gets_one_line(tmp_path: Path, name: str, head: str, expected: str):
    with pytest.raises(PolicyError) as caught:
        load_conditions(write(tmp_path, name, head))
    assert expected == str(caught.value)


def test_a_taken_id_is_refused(tmp_path: Path):
    head = 'id = "T1"\nkind = "near"\nsummary = "x"'
    with pytest.raises(PolicyError, match=r"the id 'T1' is taken by .*T1\.md\.j2"):
        load_conditions(write(tmp_path, "T1", head))


def test_a_file_without_front_matter_is_refused(tmp_path: Path):
    (tmp_path / "mine.md.j2").write_text("{% extends base %}")
    with pytest.raises(PolicyError, match=r"mine\.md\.j2, line 1: no front matter"):
        load_conditions(tmp_path)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("{% extends base %}\n{% block norm %}{{ nothing.here }}{% endblock %}\n", "'nothing' is undefined"),
        ("{% extends base %}\n{% block norm %}\n", "Unexpected end of template"),
        ("{% extends base %}{% block norm %}{{ policy.__class__ }}{% endblock %}\n", "unsafe"),
    ],
)  # fmt: skip
def test_a_broken_template_is_an_error_of_the_policy_room(
    tmp_path: Path, policy: Policy, body: str, expected: str
):
    folder = write(tmp_path, "mine", 'id = "mine"\nkind = "near"\nsummary = "x"', body)
    with pytest.raises(PolicyError, match=expected) as caught:
        render(policy, "mine", folder=folder)
    assert "mine.md.j2" in str(caught.value)


def test_a_syntax_error_is_found_on_the_line_of_the_file(tmp_path: Path, policy: Policy):
    head = 'id = "mine"\nkind = "near"\nsummary = "x"'
    folder = write(tmp_path, "mine", head, "{% extends base %}\n{% blok norm %}\n")
    with pytest.raises(PolicyError, match=r"mine\.md\.j2, line 7: template error"):
        render(policy, "mine", folder=folder)


def test_a_missing_folder_is_named(tmp_path: Path):
    with pytest.raises(PolicyError, match="no such folder of transforms"):
        load_conditions(tmp_path / "none")
