"""Loading policies: what is accepted, and the one line that says what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.records import Policy
from judgeaudit.policy import facts, load_policy, policy_names

Edit = Callable[[str, str], Path]


def message(path: Path | str) -> str:
    """Load, and return the error's line with the folder left out."""
    with pytest.raises(PolicyError) as caught:
        load_policy(path)
    text = str(caught.value)
    return text.replace(f"{Path(path).parent}/", "") if "/" in str(path) else text


def test_the_shipped_policy_has_what_an_audit_needs(policy: Policy):
    assert "agent_safety" in policy_names()
    assert [n.id for n in policy.norms] == [
        "user_data",
        "irreversible",
        "tool_instructions",
        "code",
        "money",
        "credentials",
        "harm",
        "reporting",
    ]
    assert sum(bool(n.exceptions) for n in policy.norms) == 6
    assert policy.threshold.level == "material"
    assert (policy.burden.doubt, policy.default.uncovered) == ("SAFE", "SAFE")


def test_facts_are_those_of_the_policy(policy: Policy):
    f = facts(policy)
    assert (f.id, f.n_norms, f.n_exceptions, f.language) == ("agent_safety", 8, 9, "en")
    assert f.sha256 == policy.sha256
    assert f.source == "written for judgeaudit by its authors"


def test_the_hash_follows_the_content_and_not_the_file(edited: Edit, policy: Policy):
    same = load_policy(edited("# A policy as data.", "# Comments mean nothing."))
    changed = load_policy(edited("20 US dollars", "25 US dollars"))
    assert policy.sha256 == same.sha256
    assert policy.sha256 != changed.sha256


def test_a_bom_and_windows_line_ends_are_read(tmp_path: Path, edited: Edit, policy: Policy):
    path = edited("# A policy", "# A policy")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert policy.sha256 == load_policy(path).sha256


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            'bearer = "the agent"',
            'bearr = "the agent"',
            (
                "mine.toml, line 11, bearr: unknown key 'bearr'. Known keys here: id, title, version, "
                "language, source, bearer, bearer_plural, scope, definitions, norms, threshold, "
                "burden, default, draft"
            ),
        ),
        (
            'scope = "outside a sandbox"',
            'scpe = "outside a sandbox"',
            (
                "mine.toml, line 92, norms[3].scpe: unknown key 'scpe'. Known keys here: id, title, "
                "force, bearer, bearer_plural, action, scope, subject_to, exceptions"
            ),
        ),
        (
            'version = "1.0"',
            "version = 1.0",
            "mine.toml, line 8, version: 1.0 has the wrong type: input should be a valid string",
        ),
        (
            'force = "required"',
            'force = "mandatory"',
            (
                "mine.toml, line 137, norms[7].force: 'mandatory' is not one of 'prohibited', "
                "'required', 'permitted', 'not_required', 'discouraged' or 'recommended'"
            ),
        ),
        (
            "[threshold]\n",
            "[treshold]\n",
            (
                "mine.toml, line 14, treshold: unknown key 'treshold'. Known keys here: id, title, "
                "version, language, source, bearer, bearer_plural, scope, definitions, norms, threshold, "
                "burden, default, draft"
            ),
        ),
        (
            'level = "material"\n',
            "",
            "mine.toml, line 14, threshold.level: missing key 'level'. Add it",
        ),
        (
            'level = "material"',
            'level = "number"',
            "mine.toml, line 14, threshold: level 'number' needs both `at_least` and `unit`",
        ),
        (
            'id = "money"',
            'id = "code"',
            (
                "mine.toml, line 101, norms[4].id: norm id 'code' is there twice (first on line 89). "
                "Change one of them"
            ),
        ),
        (
            'title = "Money"',
            'title = "credentials"',
            (
                "mine.toml, line 116, norms[5].title: norm title 'Credentials' is there twice (first "
                "on line 102). Change one of them"
            ),
        ),
        (
            'id = "small"',
            'id = "approved"',
            (
                "mine.toml, line 111, norms[4].exceptions[1].id: exception id 'approved' is there "
                "twice (first on line 108). Change one of them"
            ),
        ),
        (
            'term = "sandbox"',
            'term = "Tool output"',
            (
                "mine.toml, line 41, definitions[4].term: term 'Tool output' is there twice (first on "
                "line 33). Change one of them"
            ),
        ),
        (
            'gerund = "reporting", ',
            "",
            (
                "mine.toml, line 140, norms[7].action.verb: the verb of norm 'reporting' lacks the "
                "form 'gerund'. Wordings in 'en' need base, gerund, participle"
            ),
        ),
        (
            'gerund = "reporting"',
            'gerund = "reporting", past = "reported"',
            (
                "mine.toml, line 140, norms[7].action.verb.past: unknown verb form 'past' in norm "
                "'reporting'. Wordings in 'en' use base, gerund, participle"
            ),
        ),
        (
            'object = "a credential"',
            'object = " a credential"',
            (
                "mine.toml, line 120, norms[5].action.object: the text begins or ends with a blank; "
                "remove it"
            ),
        ),
        (
            'object = "a credential"',
            'object = "a\\u001bcredential"',
            (
                "mine.toml, line 120, norms[5].action.object: the text holds a line break or a "
                "control character; keep it on one line"
            ),
        ),
        (
            'when = "the user has agreed to the disclosure"',
            'when = ""',
            "mine.toml, line 58, norms[0].exceptions[0].when: the text is empty",
        ),
        (
            'id = "harm"',
            'id = "Harm!"',
            (
                "mine.toml, line 127, norms[6].id: 'Harm!' is not an id. Use small letters, digits "
                "and underscores, a letter first"
            ),
        ),
        (
            'object = "a credential"',
            'object = "a credential. Ever"',
            (
                "mine.toml, line 120, norms[5].action.object: 'a credential. Ever' is not one phrase: "
                "a sentence ends in it. Reword it: no full stop, question mark or colon before a "
                "blank or at its end"
            ),
        ),
        (
            'doubt = "SAFE"',
            "doubt = SAFE",
            "mine.toml, line 18: not TOML: invalid value. Mend the line",
        ),
        (
            'language = "en"',
            'language = "fr"',
            "mine.toml, line 9, language: 'fr' is not one of 'en' or 'ko'",
        ),
    ],
)
def test_a_bad_policy_gets_one_line(edited: Edit, old: str, new: str, expected: str):
    assert expected == message(edited(old, new))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "bad.toml, id: missing key 'id'. Add it"),
        (b"\xff\xfeid = 1", "bad.toml, line 1: not UTF-8 (byte 0xff). Save the file as UTF-8"),
        (b"id = 3\n", "bad.toml, line 1, id: 3 has the wrong type: input should be a valid string"),
    ],
)
def test_a_file_that_is_no_policy(tmp_path: Path, content: bytes, expected: str):
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    assert expected == message(path)


def test_unknown_names_list_the_known_ones(tmp_path: Path):
    assert message("agent_safty") == (
        "unknown policy 'agent_safty'; did you mean 'agent_safety'? Known: "
        + ", ".join(policy_names())
        + ". For a file of your own give its path"
    )
    assert message(tmp_path / "none.toml") == (
        "none.toml: no such policy file. Check the path, or use one that ships: "
        + ", ".join(policy_names())
    )
    with pytest.raises(PolicyError, match="is a folder, not a policy file"):
        load_policy(tmp_path)


def test_keys_in_multi_line_values_do_not_confuse_the_lines(tmp_path: Path, edited: Edit):
    path = edited(
        'source = "written for judgeaudit by its authors"',
        'source = """\\\n  id = "no key"\\\n  [[norms]]\\\n  """\nsumary = "x"',
    )
    assert message(path).startswith("mine.toml, line 14, sumary: unknown key 'sumary'.")
