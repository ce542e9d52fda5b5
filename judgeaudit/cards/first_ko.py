"""Korean for the first screen: what a judge gets wrong, what is void, on how little figures rest."""

from __future__ import annotations

from typing import Final

__all__ = ["FIRST", "FIRST_SENTENCES"]

FIRST: Final = {
    "SCRIPT, no model": "스크립트, 모델 아님",
    "REPLAY of recorded answers, no model was asked": "기록된 답변의 재생, 모델에 묻지 않음",
    "CONTROL, no language model": "대조군, 언어 모델 아님",
    "no score": "점수 없음",
    "none": "없음",
    "too few flips": "뒤바뀜이 너무 적음",
    "probably responsive": "아마 반응함",
    "Unsafe items missed": "놓친 위험한 항목",
    "Safe items flagged wrongly": "잘못 경보한 안전한 항목",
    "Void for the same reason.": "같은 이유로 무효.",
    "Nothing: it gave one answer to everything here.": "없음: 여기서는 모든 것에 같은 답을 했습니다.",
    "Any decision: it gave one answer whatever it was asked.": "어떤 결정에도: 무엇을 물어도 같은 답을 했습니다.",
    "Comparing items that were judged under differently worded policies.": "서로 다르게 적은 정책에서 판정한 항목을 견주는 일.",
    "A first look at items like these, under exactly this text of the policy, where people look at every item in the end.": "정책의 바로 이 글에서, 결국 사람이 모든 항목을 보는 경우의 첫 검토.",
    "Any claim that the policy's wording does not matter to it: wording changes whether it answers (shown); whether it changes the answer is not known.": "정책의 표현이 중요하지 않다는 주장: 표현에 따라 답을 하거나 하지 않는다는 것은 드러났고, 답 자체가 달라지는지는 알 수 없습니다.",
    "The same answer everywhere shows nothing: the score and the figures on wording are void.": "어디서나 같은 답은 아무것도 보여 주지 않습니다. 점수와 표현에 대한 수치는 무효입니다.",
    "Rewordings were checked by a program that reads their structure back; no person confirmed that the meaning is unchanged.": "바꿔 쓴 글은 구조를 다시 읽는 프로그램으로 확인했습니다. 뜻이 그대로인지 확인한 사람은 없습니다.",
}
"""Whole lines, English to Korean."""

_S: Final = r"(\S+)"
_ITV: Final = r"(\[[^\]]*\])"
_MISSED: Final = rf"misses {_S} of {_S} unsafe items?(?: \({_S} is not ruled out\))?"
_FLAGGED: Final = rf"wrongly flags {_S} of {_S} safe items?(?: \({_S} is not ruled out\))?"

FIRST_SENTENCES: Final = (
    # a judge that gives one answer
    (r"which any judge that always says (\w+) gets", "항상 {0}라고 하는 판정 모델이면 얻는 값"),
    (
        rf"gave the same answer, (\w+), in all {_S} verdicts, under every version of the policy tried: it decided nothing here, and that no rewording moved it says nothing about wording\. {_S} items cannot exclude another answer on others\.",
        "시험한 모든 정책에서 판정 {1}건 모두 {0}라는 같은 답을 했습니다. 여기서는 아무것도 판정하지 않았으며, 표현을 바꿔도 움직이지 않았다는 것은 표현에 대해 아무것도 말해 주지 않습니다. 항목 {2}개로는 다른 항목에서의 다른 답을 배제할 수 없습니다.",
    ),
    (
        rf"It gave the same answer in all {_S} verdicts; {_S} items cannot exclude another on others\.",
        "판정 {0}건 모두 같은 답입니다. 항목 {1}개로는 다른 항목에서의 다른 답을 배제할 수 없습니다.",
    ),
    (
        rf"Nothing moved: all {_S} verdicts are (\w+), whatever the policy said; this says nothing about wording\.",
        "아무것도 움직이지 않음: 정책이 무엇이든 판정 {0}건 모두 {1}이며, 이는 표현에 대해 아무것도 말해 주지 않습니다.",
    ),
    # what it gets wrong
    (
        rf"Clearing items unseen: it misses {_S} of {_S} unsafe items? here, and {_S} is not ruled out\.",
        "보지 않고 통과시키는 일: 여기서 위험한 항목 {1}개의 {0}를 놓치며, {2}까지도 배제되지 않습니다.",
    ),
    (
        rf"Clearing items unseen: it misses {_S} of {_S} unsafe items? here\.",
        "보지 않고 통과시키는 일: 여기서 위험한 항목 {1}개의 {0}를 놓칩니다.",
    ),
    (
        rf"Stopping items by itself: it wrongly flags {_S} of {_S} safe items? here, and {_S} is not ruled out\.",
        "혼자서 막는 일: 여기서 안전한 항목 {1}개의 {0}에 잘못 경보하며, {2}까지도 배제되지 않습니다.",
    ),
    (
        rf"Stopping items by itself: it wrongly flags {_S} of {_S} safe items? here\.",
        "혼자서 막는 일: 여기서 안전한 항목 {1}개의 {0}에 잘못 경보합니다.",
    ),
    (
        rf"Clearing items unseen: {_S} unsafe items? cannot rule out {_S} misses \(0 seen\)\.",
        "보지 않고 통과시키는 일: 위험한 항목 {0}개로는 {1}를 놓치는 것까지 배제할 수 없습니다(관측 0).",
    ),
    (
        rf"Stopping items by itself: {_S} safe items? cannot rule out {_S} false alarms \(0 seen\)\.",
        "혼자서 막는 일: 안전한 항목 {0}개로는 {1}의 잘못된 경보까지 배제할 수 없습니다(관측 0).",
    ),
    (
        rf"it {_MISSED} and {_FLAGGED}",
        "위험한 항목 {1}개 중 놓치는 것 {0}(배제되지 않는 최대 {2}), 안전한 항목 {4}개 중 잘못 경보하는 것 {3}(배제되지 않는 최대 {5})",
    ),
    (rf"it {_MISSED}", "위험한 항목 {1}개 중 놓치는 것 {0}(배제되지 않는 최대 {2})"),
    (rf"it {_FLAGGED}", "안전한 항목 {1}개 중 잘못 경보하는 것 {0}(배제되지 않는 최대 {2})"),
    (rf"{_S} is not ruled out, one-sided {_S} bound", "{0}까지 배제되지 않음, 단측 {1} 상한"),
    (
        rf"{_S} is not ruled out, end of the {_S} interval",
        "{0}까지 배제되지 않음, {1} 신뢰구간의 끝",
    ),
    (
        r"left out, of unsafe and safe items together: (.+)",
        "위험한 항목과 안전한 항목을 합쳐 제외: {0}",
    ),
    (rf"TPR, caught: {_S}", "TPR, 잡아냄: {0}"),
    (rf"TNR, cleared: {_S}", "TNR, 통과시킴: {0}"),
    (
        rf"Weakest: (“.{{1,70}}”), where {_S} of {_S} unsafe items are missed, against {_S} of all\.",
        "가장 약한 곳: {0}에서는 위험한 항목 {2}개의 {1}를 놓치며, 전체에서는 {3}입니다.",
    ),
    (
        rf"Weakest: (“.{{1,70}}”), where {_S} of {_S} safe items are flagged wrongly, against {_S} of all\.",
        "가장 약한 곳: {0}에서는 안전한 항목 {2}개의 {1}에 잘못 경보하며, 전체에서는 {3}입니다.",
    ),
    # what to do next
    (
        r"Read the flips under (\S+) \(([^)]*)\) \(judgeaudit view RUN\); freeze the policy's text and audit again after any edit\. That does not make the judge right\.",
        "{0}({1})의 뒤바뀜을 읽으십시오(judgeaudit view RUN). 정책의 글을 고정하고, 고칠 때마다 다시 감사하십시오. 그렇다고 판정이 옳아지지는 않습니다.",
    ),
    (
        r"Read the flips under (\S+) \(judgeaudit view RUN\); freeze the policy's text and audit again after any edit\. That does not make the judge right\.",
        "{0}의 뒤바뀜을 읽으십시오(judgeaudit view RUN). 정책의 글을 고정하고, 고칠 때마다 다시 감사하십시오. 그렇다고 판정이 옳아지지는 않습니다.",
    ),
    (
        rf"More items are not needed to reject it: (\S+) \(([^)]*)\) alone is above the threshold of {_S} points\.",
        "거절하는 데 항목이 더 필요하지 않습니다. {0}({1})만으로 기준 {2}%p를 넘습니다.",
    ),
    (
        rf"More items are not needed to reject it: {_S} alone is above the threshold of {_S} points\.",
        "거절하는 데 항목이 더 필요하지 않습니다. {0}만으로 기준 {1}%p를 넘습니다.",
    ),
    (
        rf"Audit about {_S} groups of items \(clusters\) instead of {_S}, to settle whether rewording changes more than {_S} verdicts in 100\.(?: This corpus has {_S}: you need one of your own\.)",
        "클러스터 {1}개가 아니라 약 {0}개를 감사하면 표현을 바꿀 때 판정이 100건당 {2}건 넘게 달라지는지 정해집니다. 이 말뭉치에는 {3}개뿐이므로 자신의 말뭉치가 필요합니다.",
    ),
    (
        rf"Audit about {_S} groups of items \(clusters\) instead of {_S}, to settle whether rewording changes more than {_S} verdicts in 100\.",
        "클러스터 {1}개가 아니라 약 {0}개를 감사하면 표현을 바꿀 때 판정이 100건당 {2}건 넘게 달라지는지 정해집니다.",
    ),
    # how it answered changes of the policy
    (
        rf"UNSAFE rate falls by {_S} points(?: {_ITV})?(?:; {_S} items)?",
        "UNSAFE 비율이 {0}%p 낮아짐 {1} {2}",
    ),
    (
        rf"UNSAFE rate rises by {_S} points(?: {_ITV})?(?:; {_S} items)?",
        "UNSAFE 비율이 {0}%p 높아짐 {1} {2}",
    ),
    (
        rf"{_S}(?: {_ITV})? more verdicts in 100 change than asking twice does; {_S} items",
        "같은 질문을 두 번 할 때보다 판정이 100건당 {0} {1} 더 달라짐; 항목 {2}개",
    ),
    (
        rf"{_S}(?: {_ITV})? more verdicts in 100 change than asking twice does",
        "같은 질문을 두 번 할 때보다 판정이 100건당 {0} {1} 더 달라짐",
    ),
    (rf"{_S}(?: {_ITV})? more in 100; {_S} items", "100건당 {0} {1} 더 달라짐; 항목 {2}개"),
    (rf"{_S}(?: {_ITV})? more in 100", "100건당 {0} {1} 더 달라짐"),
    (r"Verdicts move (.{1,500}?)\.(?: ((?:Verdicts|Not) .+))?", "판정이 움직임: {0}. {1}"),
    (r"Verdicts do not move (.{1,500}?)\.(?: (Not .+))?", "판정이 움직이지 않음: {0}. {1}"),
    (r"Not settled: (.{1,500})\.", "미결: {0}."),
    (r"(.{1,400}?\)), (when .+)", "{0}, {1}"),
    (r"(.{1,400}?\)) and ((?:from strict|when) .+)", "{0}, {1}"),
    (
        r"UNSAFE where nothing happened: (.+); 0 is right",
        "아무 일도 없는 항목의 UNSAFE: {0}; 0이 옳음",
    ),
    # figures of the tiles
    (r"The interval reaches from (\S+) to (\S+)\.", "구간이 {0}에서 {1}까지 걸쳐 있습니다."),
    (
        r"PIS not given: too few flips, the interval reaches from (\S+) to (\S+)",
        "PIS 없음: 뒤바뀜이 너무 적어 구간이 {0}에서 {1}까지 걸침",
    ),
    (r"PIS not given: too few flips", "PIS 없음: 뒤바뀜이 너무 적음"),
    (r"(PIS 0), (\w+)", "{0}, {1}"),
    (r"(.{1,300}): by itself no finding", "{0}. 그 자체로는 발견이 아닙니다"),
    (
        rf"{_S} of pairs of a strict and a lenient verdict on one item move the right way, (\S+|not known) the wrong way",
        "한 항목에 대한 엄격한 판정과 관대한 판정의 쌍 가운데 {0}가 옳은 방향, {1}가 그른 방향으로 움직임",
    ),
    (
        rf"for {_S} of items are clear, and {_S} of {_S} rewordings are certified",
        "항목의 {0}가 명확하고 바꿔 쓰기 {2}가지 중 {1}가지가 인증되었기 때문",
    ),
    (
        rf"flips in {_S} of pairs of calls on clear items, in {_S} on ambiguous ones",
        "뒤바뀜: 명확한 항목에서 호출 쌍의 {0}, 모호한 항목에서 {1}",
    ),
    # cautions
    (
        rf"{_S} of calls ended without a verdict \({_S} of ([\d,]+): (.{{1,120}}?)\): (.{{1,120}}); most under (.{{1,130}})\. Figures are over the rest; accuracy is over calls as written only, of which {_S} of {_S} ended so\.",
        "호출의 {0}가 판정 없이 끝났습니다({2}건 중 {1}건: {3}). {4}; {5}에서 가장 많습니다. 수치는 나머지에 대한 것이며, 정확도는 원문 호출만 봅니다. 그중 {7}건 가운데 {6}건이 그렇게 끝났습니다.",
    ),
    (rf"{_S} as written, (.+)", "원문 {0}, {1}"),
    (rf"{_S} reworded, {_S} of others", "바꿔 쓴 글 {0}, 그 밖 {1}"),
    (rf"{_S} reworded", "바꿔 쓴 글 {0}"),
    (
        rf"Only {_S} items?(?: in {_S} groups \(clusters\))(?:, (?:about )?([\d.,]+) flips?): effectively {_S} independent items; (.+)\.",
        "클러스터 {1}개의 항목 {0}개, 뒤바뀜 {2}건뿐입니다. 사실상 서로 독립인 항목은 {3}개이며, {4}.",
    ),
    (
        rf"Only {_S} items?(?: in {_S} groups \(clusters\)): effectively {_S} independent items\.",
        "클러스터 {1}개의 항목 {0}개뿐입니다. 사실상 서로 독립인 항목은 {2}개입니다.",
    ),
    (
        rf"Only {_S} items?, (?:about )?([\d.,]+) flips?: (.+)\.",
        "항목 {0}개, 뒤바뀜 {1}건뿐입니다. {2}.",
    ),
    (r"Only (?:about )?([\d.,]+) flips?: (.+)\.", "뒤바뀜이 {0}건뿐입니다. {1}."),
    (
        r"one flip more or less can turn (U_rate|U_rate and PIS)",
        "뒤바뀜 한 건으로 {0} 결과가 바뀔 수 있습니다",
    ),
    (r"U_rate and PIS", "U_rate와 PIS"),
    (
        rf"R_dir rests on {_S} of {_S} moves, which is hardly any\.",
        "R_dir은 움직임 {1}건 중 {0}건에 근거합니다. 거의 없는 것과 같습니다.",
    ),
    (
        rf"{_S} calls took (.{{1,30}}), and no tokens were reported: look whether a model answered, or a stub or a cache\.",
        "호출 {0}건에 {1}이(가) 걸렸고 토큰 수는 보고되지 않았습니다. 모델이 답했는지, 가짜 응답이나 캐시인지 확인하십시오.",
    ),
    (
        r"(\S+) \(([^)]*)\) moves verdicts by more than chance allows; how many is not settled \((.+)\)\.",
        "바꿔 쓰기 {0}({1})에서 판정이 우연을 넘어 움직입니다. 얼마나인지는 정해지지 않았습니다({2}).",
    ),
    (
        r"the rewording (\S+) \(([^)]*)\) changes its verdicts by more than chance allows; how many is not settled \((.+)\)",
        "바꿔 쓰기 {0}({1})에서는 판정이 우연을 넘어 달라집니다. 얼마나인지는 정해지지 않았습니다({2})",
    ),
    (
        rf"A rewording counts as shown to move verdicts where the smaller of its two adjusted p-values \(of both kinds of excess\), doubled for there being two, is at most {_S}\.",
        "보정한 두 p값(두 가지 초과분) 가운데 작은 것을 두 배 하여 {0} 이하일 때, 그 바꿔 쓰기가 판정을 움직인다는 것이 드러났다고 봅니다.",
    ),
)
"""English as a pattern for a whole text, and the Korean; tried in this order, before all others."""
