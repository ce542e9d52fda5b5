"""Korean words: particles for the renderer, verb forms for the reader, and what a policy file needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.rooms import room
from judgeaudit.policy import load_policy, policy_names
from judgeaudit.policy.morphology_ko import fits, forms
from judgeaudit.policy.particles_ko import particle, verb_slots
from judgeaudit.policy.worddiff import in_order_of


@pytest.mark.parametrize(
    ("word", "pair", "expected"),
    [
        ("이용자", "은/는", "이용자는"),
        ("챗봇", "은/는", "챗봇은"),
        ("시스템", "이/가", "시스템이"),
        ("정보", "을/를", "정보를"),
        ("서울", "으로/로", "서울로"),
        ("계정", "으로/로", "계정으로"),
        ("계좌", "으로/로", "계좌로"),
        ("3", "을/를", "3을"),
        ("2.5", "이/가", "2.5가"),
        ("20", "은/는", "20은"),
        ("1,000", "을/를", "1,000을"),
        ("5%", "은/는", "5%는"),
        ("7", "으로/로", "7로"),
        ("API", "을/를", "API를"),
        ("URL", "을/를", "URL을"),
        ("PIN", "으로/로", "PIN으로"),
        ("token", "이/가", "token이"),
        ("file", "으로/로", "file로"),
        ("bot", "은/는", "bot은"),
        ("SAFE", "으로/로", "SAFE로"),
        ('"제3자"', "이란/란", '"제3자"란'),
        ('"도구 출력"', "이란/란", '"도구 출력"이란'),
        ("정보(이름을 포함한다)", "을/를", "정보(이름을 포함한다)를"),
        ("규정(초안 2)", "은/는", "규정(초안 2)은"),
    ],
)
def test_a_particle_follows_the_last_sound(word: str, pair: str, expected: str):
    assert expected == particle(word, pair)


@given(st.text(alphabet=st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), min_size=1))
def test_renderer_and_reader_agree_on_every_syllable(word: str):
    for pair in ("은/는", "이/가", "을/를", "이란/란"):
        chosen = particle(word, pair).removeprefix(word)
        other = next(p for p in pair.split("/") if p != chosen)
        assert fits(word, chosen)
        assert not fits(word, other)


@pytest.mark.parametrize(
    ("base", "infinitive", "adnominal", "prospective"),
    [
        ("제공하다", "제공하여", "제공하는", "제공할"),
        ("따르다", "따라", "따르는", "따를"),
        ("부르다", "불러", "부르는", "부를"),
        ("만들다", "만들어", "만드는", "만들"),
        ("알리다", "알려", "알리는", "알릴"),
        ("보내다", "보내", "보내는", "보낼"),
        ("주다", "주어", "주는", "줄"),
        ("보다", "보아", "보는", "볼"),
        ("돕다", "도와", "돕는", "도울"),
        ("듣다", "들어", "듣는", "들을"),
        ("짓다", "지어", "짓는", "지을"),
        ("읽다", "읽어", "읽는", "읽을"),
        ("쓰다", "써", "쓰는", "쓸"),
        ("잠그다", "잠가", "잠그는", "잠글"),
        ("바꾸다", "바꾸어", "바꾸는", "바꿀"),
        ("켜다", "켜", "켜는", "켤"),
        ("열다", "열어", "여는", "열"),
        ("가리다", "가려", "가리는", "가릴"),
        ("지출하거나 이체하다", "지출하거나이체하여", "지출하거나이체하는", "지출하거나이체할"),
    ],
)
def test_the_reader_knows_the_forms_of_verbs(
    base: str, infinitive: str, adnominal: str, prospective: str
):
    f = forms(base)
    assert infinitive in f["infinitive"]
    assert f["adnominal"] == {adnominal}
    assert f["prospective"] == {prospective}


def test_a_passive_turns_every_coordinated_verb():
    assert "지출되거나이체되어" in forms("지출하거나 이체하다")["passive"]
    assert forms("따르다")["passive"] == frozenset()
    assert forms("x")["stem"] == frozenset()


def test_slots_of_a_verb_hold_stem_and_contraction():
    slots = verb_slots({"base": "제공하다", "infinitive": "제공하여"})
    assert (slots["stem"], slots["short"]) == ("제공하", "제공해")
    assert verb_slots({"base": "켜다", "infinitive": "켜"})["short"] == "켜"


def test_the_forms_in_shipped_policies_are_those_of_their_verbs():
    for name in policy_names("ko"):
        for norm in load_policy(name, language="ko").norms:
            known = forms(norm.action.verb["base"])
            for form, written in norm.action.verb.items():
                if form != "base":
                    assert "".join(written.split()) in known[form], (name, norm.id, form)


# ---- files ------------------------------------------------------------------------------------------


@pytest.fixture
def edited_ko(tmp_path: Path) -> Callable[[str, str], Path]:
    def edit(old: str, new: str) -> Path:
        text = (room("policies") / "agent_safety.ko.toml").read_text(encoding="utf-8")
        assert old in text
        path = tmp_path / "mine.toml"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return path

    return edit


def test_a_name_has_a_text_in_each_of_its_languages():
    assert load_policy("agent_safety").language == "en"
    assert load_policy("agent_safety", language="ko").language == "ko"
    with pytest.raises(PolicyError) as caught:
        load_policy("agent_safety", language="fr")
    assert str(caught.value) == ("the policy 'agent_safety' has no text in 'fr'. It has 'en', 'ko'")


def test_a_file_has_the_language_that_it_says(edited_ko: Callable[[str, str], Path]):
    path = edited_ko('version = "1.0"', 'version = "2"')
    assert load_policy(path).language == "ko"
    assert load_policy(path, language="ko").version == "2"
    with pytest.raises(PolicyError, match=r"has no text in 'en'\. It has 'ko'"):
        load_policy(path, language="en")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            'adnominal = "제공하는", ',
            "",
            (
                "the verb of norm 'user_data' lacks the form 'adnominal'. Wordings in 'ko' need base, "
                "infinitive, adnominal, prospective"
            ),
        ),
        (
            'adnominal = "제공하는", ',
            'adnominal = "제공하는", gerund = "제공", ',
            (
                "unknown verb form 'gerund' in norm 'user_data'. Wordings in 'ko' use base, infinitive, "
                "adnominal, prospective, passive"
            ),
        ),
        (
            "이용자가 개인정보의 제공에 동의한",
            "이용자가 개인정보의 제공에 동의한 경우",
            "cannot stand before '경우'. End the clause in an adnominal form (…한, …는, …인), without 경우",
        ),
        (
            "이용자가 개인정보의 제공에 동의한",
            "이용자가 개인정보의 제공에 동의하였다",
            "cannot stand before '경우'.",
        ),
    ],
)
def test_a_bad_korean_policy_gets_one_line(
    edited_ko: Callable[[str, str], Path], old: str, new: str, expected: str
):
    with pytest.raises(PolicyError) as caught:
        load_policy(edited_ko(old, new))
    assert expected in str(caught.value)
    assert "line" in str(caught.value)


@pytest.mark.parametrize("key", ["only_if", "but_not"])
@pytest.mark.parametrize(
    "clause", ["이용자가 이를 철회하였다", "이용자가 이를 철회한 경우", "철회"]
)
def test_a_condition_inside_an_exception_stands_before_the_same_word(
    edited_ko: Callable[[str, str], Path], key: str, clause: str
):
    when = 'when = "이용자가 개인정보의 제공에 동의한"\n'
    good = edited_ko(when, f'{when}{key} = ["이용자가 이를 철회한"]\n')
    assert getattr(load_policy(good).norms[0].exceptions[0], key) == ("이용자가 이를 철회한",)
    with pytest.raises(PolicyError, match="cannot stand before '경우'") as caught:
        load_policy(edited_ko(when, f'{when}{key} = ["{clause}"]\n'))
    assert f"norms[0].exceptions[0].{key}: '{clause}'" in str(caught.value)


def test_articles_are_compared_in_the_order_of_the_new_text():
    old = "# 규정\n\n**제1조(가)** 하나.\n\n**제2조(나)** 둘."
    new = "# 규정\n\n**제1조(나)** 둘은.\n\n**제2조(가)** 하나는."
    assert in_order_of(new, old) == "# 규정\n\n**제2조(나)** 둘.\n\n**제1조(가)** 하나."
