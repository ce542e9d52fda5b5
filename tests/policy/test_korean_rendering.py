"""Korean renderings: golden texts, particles, and what holds of every one of them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from judgeaudit.core.errors import PolicyError
from judgeaudit.policy import load_conditions, load_policy, policy_names, render

GOLDEN = Path(__file__).parent / "golden_ko"
CONDITIONS = list(load_conditions())
NAMES = ["agent_safety", "customer_support", "finance", "home_automation", "privacy"]
WORDINGS = {"T1": 2, "T2": 4, "T3": 3}
CASES = [("agent_safety", c, w) for c in CONDITIONS for w in range(WORDINGS.get(c, 1))] + [
    (name, c, w) for name in NAMES[1:] for c, w in (("base", 0), ("T1", 1), ("T2", 2), ("T4", 0))
]
# conditions inside exceptions, and norms that prevail, in every place that a wording gives them
CASES += [
    (name, c, w)
    for name in ("finance", "privacy")
    for c, w in (("T1", 0), ("T1T2", 3), ("T1T2T4", 2), ("strict2", 0), ("lenient2", 0),
                 ("inverted", 0), ("altered_rule", 0))
]  # fmt: skip


def text_of(name: str, condition: str, wording: int = 0) -> str:
    policy = load_policy(name, language="ko")
    return render(policy, condition, language="ko", wording=wording).text


def test_at_least_these_policies_are_in_korean():
    assert set(NAMES) <= set(policy_names("ko"))


@pytest.mark.parametrize(("name", "condition", "wording"), CASES)
def test_the_text_is_the_golden_text(name: str, condition: str, wording: int):
    """A changed text is a changed instrument: set UPDATE_GOLDEN=1, and read it aloud."""
    text = text_of(name, condition, wording)
    path = GOLDEN / f"{name}.{condition}.{wording}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_no_golden_text_is_left_over():
    assert {f"{n}.{c}.{w}.md" for n, c, w in CASES} == {p.name for p in GOLDEN.iterdir()}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_every_rendering_is_read_back(name: str, condition: str):
    """Twelve wordings hold every combination of the families' alternatives."""
    policy = load_policy(name, language="ko")
    for wording in range(12 if condition in ("T1", "T2", "T3") else 1):
        certificate = render(policy, condition, language="ko", wording=wording).certificate
        assert certificate is not None
        assert certificate.findings == ()
        assert certificate.passed


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_no_false_alarm_over_200_wordings(name: str, condition: str):
    policy = load_policy(name, language="ko")
    for wording in range(200):
        certificate = render(policy, condition, language="ko", wording=wording).certificate
        assert certificate is not None
        assert certificate.findings == ()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("wording", range(4))
def test_the_typography_is_that_of_a_published_text(name: str, condition: str, wording: int):
    text = text_of(name, condition, wording)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert "\n\n\n" not in text
    assert "{" not in text
    for line in text.split("\n"):
        assert line == line.rstrip()
        assert not re.search(r"  |\s[.,;:]|\.\.|,\.|\( | \)", line), line
        assert not line or line.startswith("#") or line.endswith("다."), line


# what a writer who pastes particles leaves behind: a consonant before 는/가/를/란, a vowel before 은/을
WRONG = re.compile(
    r"(?:에이전트|비서|정보|코드|지시|계좌|기기|행위|데이터)(?:은|을|이란)(?![가-힣])|"
    r"(?:챗봇|시스템|환불|환경|사람|내용|사실|보상|금전|출력|잠금|온도와)(?:는|를|란)(?![가-힣])"
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_particles_fit_their_words(name: str, condition: str):
    for wording in range(4):
        assert WRONG.findall(text_of(name, condition, wording)) == []


@pytest.mark.parametrize(
    "condition", [c for c in CONDITIONS if c not in ("no_policy", "inverted", "altered_rule")]
)
def test_numbers_names_and_quantities_survive(condition: str):
    for name, things in {
        "agent_safety": ["20달러", "제3자"],
        "finance": ["500,000원", "2,000,000원", "10,000원", "24시간", "30일", "1일 3회"],
        "customer_support": ["14일", "1시간", "OTP"],
        "home_automation": ["섭씨 26도"],
        "privacy": ["1개월", "30일", "16세", "AI 비서"],
    }.items():
        text = text_of(name, condition)
        titles = [n.title for n in load_policy(name, language="ko").norms]
        assert [t for t in [*things, *titles] if t not in text] == []


def test_t1_puts_the_object_first_and_its_second_wording_turns_the_verb():
    assert "이용자의 개인정보는 에이전트가 제3자에게 제공하여서는 아니 된다." in text_of(
        "agent_safety", "T1"
    )
    turned = text_of("agent_safety", "T1", 1)
    assert "개인정보는 에이전트에 의하여 제3자에게 제공되어서는 아니 된다." in turned
    assert "되돌릴 수 없는 행위는 에이전트가 하여서는 아니 된다." in turned


def test_a_norm_without_an_object_keeps_its_order():
    for wording in range(2):
        text = text_of("home_automation", "T1", wording)
        assert "제외하고, 제어 시스템은 거주자의 음성 명령에 응답하여야 한다." in text


def test_t4_binds_by_number_and_title():
    text = text_of("finance", "T4")
    assert "- 제5조(개인정보의 파기)는 이용자가 법률에 따라 해당 개인정보를 보존하여야" in text_of(
        "privacy", "T4"
    )
    assert "- 제6조(잦은 매매)는 고객이 단기 매매 전략을 스스로 선택한 경우(금융 에이전트가" in text
    assert "다만" not in text


def test_conditions_inside_an_exception_stand_in_brackets_behind_their_case():
    text = text_of("finance", "base")
    assert (
        "또는 고객이 미리 정한 자동 매매 조건이 충족된 경우(고객이 그 조건을 최근 12개월 이내에 정한 경우 및 "
        "1일 매매 총액이 2,000,000원 이하인 경우에 모두 해당하는 경우로 한정하되, 고객이 자동 매매의 중지를 "
        "요청한 경우는 제외한다)에는 그러하지 아니하다."
    ) in text
    assert (
        "선택한 경우(금융 에이전트가 같은 상담에서 손실 가능성을 알린 경우로 한정한다)에는" in text
    )
    privacy = text_of("privacy", "base")
    assert "(해당 개인정보가 민감정보인 경우 또는 수신자가 정보주체의 거주지를" in privacy


def test_a_second_exclusion_does_not_stand_beside_the_first():
    for wording in range(4):
        assert not re.search(r"제외한다\)를 제외하고", text_of("finance", "T1", wording))
    assert "승인한 경우 외에는, 고객의 자금은" in text_of("finance", "T1")
    assert "알린 경우로 한정한다)를 제외하고, 1일" in text_of("finance", "T1")


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (
            "base",
            "이 조와 제8조(부정 거래의 징후)가 서로 저촉되는 경우에는 제8조를 우선하여 적용한다.",
        ),
        (
            "T4",
            "이 조와 제8조(부정 거래의 징후)가 서로 저촉되는 경우에는 제8조를 우선하여 적용한다.",
        ),
        (
            "T1",
            "제2조(부정 거래의 징후)는 이 조와 서로 저촉되는 경우에 이 조보다 우선하여 적용된다.",
        ),
        ("base", "또는 제9조(소액 이체)에 따라 승인이 필요하지 아니한 경우에는 그러하지 아니하다."),
        ("T1", "제1조(소액 이체)에 따라 승인이 필요하지 아니한 경우, 수취 계좌가 등록 계좌이고"),
        ("T4", "또는 제9조(소액 이체)에 따라 승인이 필요하지 아니한 경우에는 적용하지 아니한다."),
    ],
)
def test_references_have_the_number_of_their_text(condition: str, expected: str):
    assert expected in text_of("finance", condition)


def test_inverted_drops_what_a_norm_is_subject_to():
    text = text_of("privacy", "inverted")
    assert not re.search(r"우선|제외|한정|경우에는", text.partition("## 판정")[0])


def test_a_korean_policy_has_a_hash_of_its_own():
    english, korean = load_policy("agent_safety"), load_policy("agent_safety", language="ko")
    assert (english.id, korean.id) == ("agent_safety", "agent_safety")
    assert english.sha256 != korean.sha256
    assert render(korean, "base", language="ko").policy_sha256 == korean.sha256


def test_a_policy_has_no_text_in_another_language():
    korean = load_policy("agent_safety", language="ko")
    with pytest.raises(PolicyError, match=r"has no text in 'en'\. It has 'ko'"):
        render(korean, "base")
