"""The Korean reader of conditions inside exceptions and of references between norms."""

from __future__ import annotations

import pytest

from judgeaudit.core.records import Policy
from judgeaudit.policy import load_conditions, load_policy, read_back, render

CONDITIONS = load_conditions()


@pytest.fixture(scope="module")
def korean() -> Policy:
    return load_policy("agent_safety", language="ko")


def text_of(policy: Policy, condition: str, wording: int = 0) -> str:
    return render(policy, condition, language="ko", wording=wording).text


AUTOMATIC = (
    "(고객이 그 조건을 최근 12개월 이내에 정한 경우 및 1일 매매 총액이 2,000,000원 이하인 경우에 모두 해당하는 "
    "경우로 한정하되, 고객이 자동 매매의 중지를 요청한 경우는 제외한다)"
)
ASKED = "(금융 에이전트가 같은 상담에서 손실 가능성을 알린 경우로 한정한다)"
SMALL = "제9조(소액 이체)에 따라 승인이"
FIRST = "이 조와 제8조(부정 거래의 징후)가 서로 저촉되는 경우에는 제8조를 우선하여 적용한다."


@pytest.fixture(scope="module")
def finance() -> Policy:
    return load_policy("finance", language="ko")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (ASKED, ASKED.replace("로 한정한다", "에 한한다")),
        (ASKED, ASKED.replace("로 한정한다", "에 한정한다")),
        (AUTOMATIC, AUTOMATIC.replace("에 모두 해당하는", "를 모두 충족하는")),
        (AUTOMATIC, AUTOMATIC.replace("한정하되,", "한정하며,")),
        (AUTOMATIC, AUTOMATIC.replace("경우 및 1일", "경우와 1일")),
        (AUTOMATIC, AUTOMATIC.replace("는 제외한다", "를 제외한다")),
        (AUTOMATIC, AUTOMATIC.replace("는 제외한다", "는 포함하지 않는다")),
        (SMALL, "제9조에 따라 승인이"),
        (FIRST, FIRST.replace("제8조를", "제8조(부정 거래의 징후)를")),
        (FIRST, FIRST.replace("제8조(부정 거래의 징후)가", "제8조가")),
        (FIRST, FIRST.replace("제8조를 우선하여 적용한다", "제8조가 우선한다")),
        (FIRST, FIRST.replace("서로 저촉되는", "상충하는")),
        (FIRST, "제8조(부정 거래의 징후)가 이 조에 우선한다."),
        (FIRST, "이 조는 제8조(부정 거래의 징후)에 저촉되지 않는 범위에서 적용한다."),
    ],
)
def test_good_wordings_of_conditions_and_references_are_understood(
    finance: Policy, old: str, new: str
):
    text = text_of(finance, "base")
    assert old in text
    assert old != new
    assert read_back(text.replace(old, new), finance) == ()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (ASKED, "", "exception 'asked' lacks the condition that must be met too"),
        (ASKED, ASKED.replace("로 한정한다", "는 제외한다"), "exception 'asked' has"),
        (
            ASKED,
            ASKED.replace("로 한정한다", "도 같다"),
            "a bracket behind an exception that is not",
        ),
        (ASKED, "(같은 상담의 경우로 한정한다)", "a condition inside an exception that the policy"),
        (ASKED, "(손실을 알려야 한다)", "a bracket behind an exception that is not understood"),
        (ASKED, ASKED.removesuffix(")"), "an exception that is not understood"),
        (
            AUTOMATIC,
            AUTOMATIC.replace("에 모두 해당하는 경우", ""),
            "conditions inside an exception joined so that one cannot tell which must be met",
        ),
        (
            AUTOMATIC,
            AUTOMATIC.replace("경우 및 1일", "경우 또는 1일"),
            "conditions inside an exception joined so that one cannot tell which must be met",
        ),
        (AUTOMATIC, AUTOMATIC.replace(" 및 ", ", "), "conditions inside an exception joined so"),
        (AUTOMATIC, AUTOMATIC.replace("2,000,000", "20,000,000"), "; the nearest differs: '0' is"),
        (SMALL, "제8조(소액 이체)에 따라 승인이", "the number names norm 'fraud', the title norm"),
        (SMALL, "제7조(시장 정보)에 따라 승인이", "an exception the policy does not have"),
        (SMALL, "제9조(소액 송금)에 따라 승인이", "no norm has the title '소액송금'"),
        (SMALL, "제12조에 따라 승인이", "the number 12 names 0 norms"),
        (SMALL, "§small_change에 따라 승인이", "an exception the policy does not have"),
        (FIRST, "", "is not subject to norm 'fraud'"),
        (FIRST, FIRST.replace("제8조를", "제7조를"), "one norm conflicts, and another prevails"),
        (FIRST, FIRST.replace("제8조를", "이 조를"), "is not subject to norm 'fraud'"),
        (
            FIRST,
            FIRST.replace("제8조(", "제7조("),
            "the number names norm 'information', the title",
        ),
        (FIRST, f"{FIRST} {FIRST}", "is subject to norm 'fraud'"),
    ],
)
def test_wrong_conditions_and_references_are_caught(
    finance: Policy, old: str, new: str, expected: str
):
    text = text_of(finance, "base")
    assert old in text
    found = read_back(text.replace(old, new), finance)
    assert any(expected in f.what for f in found)
    assert {f.dimension for f in found} == {"exception_set"}


def test_blanks_at_the_ends_of_lines_mean_nothing(finance: Policy):
    text = text_of(finance, "base")
    assert read_back(text.replace("\n", "  \n"), finance) == ()


def test_a_norm_prevails_over_the_one_in_whose_article_that_is_said(finance: Policy):
    text = text_of(finance, "base").replace(f" {FIRST}", "")
    (alone,) = [f for f in read_back(f"{text}\n{FIRST}\n", finance) if "open over which" in f.what]
    assert alone.dimension == "exception_set"
    two = text.replace("\n\n**제9조", " **제9조").replace("\n\n## 판정", f" {FIRST}\n\n## 판정")
    assert any("open over which norm" in f.what for f in read_back(two, finance))


def test_an_article_of_something_else_is_no_reference(finance: Policy):
    """A clause may name an article of a statute; it is compared as it is written."""
    norms = list(finance.norms)
    fraud = next(i for i, n in enumerate(norms) if n.id == "fraud")
    when = "전자금융거래법 제2조(정의)에 따른 정상 거래로 확인된"
    exception = norms[fraud].exceptions[0].model_copy(update={"when": when})
    norms[fraud] = norms[fraud].model_copy(update={"exceptions": (exception,)})
    policy = finance.model_copy(update={"norms": tuple(norms)})
    for condition in ("base", "T1", "T4"):
        certificate = render(policy, condition, language="ko").certificate
        assert certificate is not None
        assert certificate.findings == ()
    text = text_of(policy, "base")
    assert read_back(text.replace("제2조(정의)", "제3조(정의)"), policy) != ()
