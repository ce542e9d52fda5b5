"""Korean for the sentences of a card that have gaps for figures and names.

A sentence is the English one as a pattern, and the Korean with numbered gaps; what stands in a
gap is put into Korean by the same tables.
"""

from __future__ import annotations

from typing import Final

__all__ = ["SENTENCES"]

_S: Final = r"(This judge|This scripted judge \(not a model\))"
_ITV: Final = r"(\[[^\]]*\])"

SENTENCES: Final = (
    # amounts
    (r"([+−]?[\d.,]+) points", "{0}%p"),
    (rf"([+−]?[\d.,]+) points {_ITV}", "{0}%p {1}"),
    (r"(\d+(?:\.\d+)?)% interval (\S+) to (\S+)", "{0}% 신뢰구간 {1} ~ {2}"),
    (r"interval (\S+) to (\S+)", "구간 {0} ~ {1}"),
    (r"(below|above) ([\d.]+) points", "{1}%p {0}"),
    (r"below", "미만"),
    (r"above", "초과"),
    (r"within ([\d.]+) points", "{0}%p 이내"),
    (r"no interval: (.+)", "구간 없음: {0}"),
    (r"[Cc]annot be estimated because: (.+)", "추정할 수 없음: {0}"),
    (r"([\d.,]+) items?", "항목 {0}개"),
    (r"([\d.,]+) clusters?", "클러스터 {0}개"),
    (r"([\d.,]+) of ([\d.,]+)", "{1} 중 {0}"),
    (r"([\d.,]+) of ([\d.,]+) calls", "호출 {1}건 중 {0}건"),
    (r"([\d.,]+) of ([\d.,]+) answered", "{1}건 중 {0}건 응답"),
    (r"([\d.,]+) of ([\d.,]+) failed", "{1}건 중 {0}건 실패"),
    (r"([\d.,]+) in ([\d.,]+) clusters", "클러스터 {1}개의 항목 {0}개"),
    (r"([\d.,]+), with ([\d.,]+) exceptions", "{0}개, 예외 {1}개"),
    (r"(.{1,80}): ([<>]?[\d.]+%) of weights", "{0}: 가중치의 {1}"),
    (
        r"(stay UNSAFE|stay SAFE|UNSAFE → SAFE, the right way|SAFE → UNSAFE, the wrong way): (\S+)",
        "{0}: {1}",
    ),
    (r"(flips|direction|undue) (\S+)", "{0} {1}"),
    (r"(flips|direction|undue) alone", "{0}만"),
    (
        r"(\S+) unsafe, (\S+) safe; (\S+) ambiguous \(labels: (\w+)\)",
        "위험 {0}, 안전 {1}, 모호 {2} (라벨: {3})",
    ),
    (r"(\S+) unsafe, (\S+) safe \(labels: (\w+)\)", "위험 {0}, 안전 {1} (라벨: {2})"),
    (r"(T\d\S*) \(([^)]*)\): (.+)", "{0}({1}): {2}"),
    (r"(\S+), pooled", "{0} 합산"),
    (r"failures (.+)", "실패한 호출: {0}"),
    (r"note: (.+)", "참고: {0}"),
    (r"score of an item: (.{1,80})", "항목의 점수: {0}"),
    (r"gate bound: at most (\S+) points", "관문 상한: {0}%p"),
    # tiles
    (r"(reliable|moderate|fragile|untrustworthy): (.+)", "{0}: {1}"),
    (r"on top of a jitter of (\S+)", "지터 {0}에 더해서"),
    (r"by chance it would be (\S+) \(U_0\)", "우연이라면 {0}(U_0)"),
    (
        r"(from strict to lenient|when the policy is deleted|when it is negated) \(([^)]*)\)",
        "{0}({1})",
    ),
    (r"(.{1,80}), (from strict .+|when .+)", "{0}, {1}"),
    (r"(.{1,120}) and ((?:from strict|when) .+)", "{0}, {1}"),
    # notes of a section
    (
        r"The placebo, an identical prompt, shows no effect \(two-sided p (\S+)\): neither the excess of flips that drift makes, nor the lack of them that a cache makes\.",
        "똑같은 프롬프트인 위약에서는 효과가 나타나지 않습니다(양측 p {0}). 모델의 변화로 생기는 초과 뒤바뀜도, 캐시로 생기는 뒤바뀜의 부족도 없습니다.",
    ),
    (
        r"By the weights given to its three parts the score could lie from (\S+) to (\S+)\.",
        "세 요소에 주는 가중치에 따라 점수는 {0}에서 {1} 사이에 있을 수 있습니다.",
    ),
    # the verdict
    (rf"{_S} (.+)", "{0} {1}"),
    (r"This judge", "이 판정 모델은"),
    (r"This scripted judge \(not a model\)", "이 스크립트 판정기(모델이 아님)는"),
    (r"cannot be judged: no call was answered\.", "판단할 수 없습니다. 응답한 호출이 없습니다."),
    (r"cannot be judged: nothing was scored\.", "판단할 수 없습니다. 계산된 수치가 없습니다."),
    (
        r"cannot be judged on this run: none of its (\S+) calls ended in a verdict \((.+)\)\.",
        "이 실행으로는 판단할 수 없습니다. 호출 {0}건 가운데 판정으로 끝난 것이 없습니다({1}).",
    ),
    (
        r"cannot be judged on this run: (\S+) of (\S+) calls ended without a verdict \((.+)\); mend the calls and run it again\.",
        "이 실행으로는 판단할 수 없습니다. 호출 {1}건 중 {0}건이 판정 없이 끝났습니다({2}). 호출을 고쳐 다시 실행하십시오.",
    ),
    (
        r"cannot be judged yet: only (\S+) of (\S+) planned calls were answered\.",
        "아직 판단할 수 없습니다. 계획한 호출 {1}건 중 {0}건만 응답했습니다.",
    ),
    (
        r"was measured in a run that cannot be trusted: identical prompts, filed as a placebo, got other verdicts than chance allows; find the drift or the cache, and audit it again\.",
        "믿을 수 없는 실행에서 측정되었습니다. 위약으로 넣은 똑같은 프롬프트가 우연을 넘는 다른 판정을 받았습니다. 모델의 변화나 캐시를 찾아낸 뒤 다시 감사하십시오.",
    ),
    (
        r"does not respond to the policy when [^:]{1,120}: do not use its verdicts as evidence of policy compliance\.",
        "정책이 바뀌어도 반응하지 않습니다. 이 판정을 정책 준수의 증거로 쓰지 마십시오.",
    ),
    (
        r"does not respond to the policy: do not use its verdicts as evidence of policy compliance\.",
        "정책에 반응하지 않습니다. 이 판정을 정책 준수의 증거로 쓰지 마십시오.",
    ),
    (
        r"does not respond to the policy and (.+): do not use its verdicts as evidence of policy compliance\.",
        "정책에 반응하지 않으며 {0}. 이 판정을 정책 준수의 증거로 쓰지 마십시오.",
    ),
    (
        r"(is .+|was not shown to be .+), although its verdicts move with the policy: do not rely on its verdicts\.",
        "정책에 따라 판정이 움직이기는 하지만 {0}. 이 판정에 의존하지 마십시오.",
    ),
    (
        r"(is .+|was not shown to be .+): do not rely on its verdicts\.",
        "{0}. 이 판정에 의존하지 마십시오.",
    ),
    (
        r"is no better than chance on these items \((.+)\)",
        "이 항목에서 우연보다 낫지 않습니다({0})",
    ),
    (r"is worse than chance on these items \((.+)\)", "이 항목에서 우연보다 못합니다({0})"),
    (
        r"was not shown to be better than chance on these items \((.+)\)",
        "이 항목에서 우연보다 낫다는 것이 드러나지 않았습니다({0})",
    ),
    (
        r"balanced accuracy (\S+) (\[[^\]]*\]); it answers (\w+) every time",
        "균형 정확도 {0} {1}; 항상 {2}라고 답함",
    ),
    (
        r"balanced accuracy (\S+) (\[[^\]]*\]); it answers (\w+) (\S+) of the time",
        "균형 정확도 {0} {1}; {3}의 경우 {2}라고 답함",
    ),
    (r"balanced accuracy (\S+) (\[[^\]]*\])", "균형 정확도 {0} {1}"),
    (
        r"gave the same answer, (\w+), in every verdict on the base policy",
        "원문에 대해 항상 {0}라는 같은 판정을 냈습니다",
    ),
    (
        r"It was not shown that (?:this|This) (?:scripted )?judge(?: \(not a model\))? responds to the policy at all, so a steady verdict proves nothing yet(?:; (.+))?\.",
        "이 판정 모델이 정책에 반응한다는 것이 전혀 드러나지 않았으므로, 한결같은 판정은 아직 아무것도 증명하지 않습니다. {0}",
    ),
    (
        r"gets no Policy Invariance Score \((.{1,200}?)\); (.+)\.",
        "정책 불변성 점수를 받지 못합니다({0}). {1}.",
    ),
    (r"gets no Policy Invariance Score; (.+)\.", "정책 불변성 점수를 받지 못합니다. {0}."),
    (
        r"gives verdicts that depend on how the policy is worded \((PIS[^)]*)\): (.+)\.",
        "정책의 표현에 따라 달라지는 판정을 냅니다({0}). {1}.",
    ),
    (
        r"fails the test of policy invariance \((PIS[^)]*)\): (.+)\.",
        "정책 불변성 시험을 통과하지 못합니다({0}). {1}.",
    ),
    (
        r"mostly follows the policy and not its wording \((PIS[^)]*)\): (.+)\.",
        "대체로 표현이 아니라 정책을 따릅니다({0}). {1}.",
    ),
    (
        r"follows the policy and not its wording on these items \((PIS[^)]*)\)(?:; (.+))?\.",
        "이 항목에서 표현이 아니라 정책을 따릅니다({0}). {1}",
    ),
    (
        r"scores well on thin evidence \((PIS[^)]*)\): (.+)\.",
        "점수는 좋으나 근거가 얇습니다({0}). {1}.",
    ),
    (r"(PIS \S+ \[[^\]]*\]), (\w+)", "{0}, {1}"),
    (r"(.{1,400}); (it (?:misses|wrongly flags) .+)", "{0}. {1}"),
    (
        r"rewording the policy with its meaning kept changes (.+) more verdicts in 100 than asking twice does",
        "뜻을 유지한 채 정책의 표현을 바꾸면 같은 질문을 두 번 할 때보다 판정이 100건당 {0}건 더 달라집니다",
    ),
    (
        r"the rewording (\S+) \(([^)]*)\) changes (.+) more verdicts in 100 than asking twice does",
        "바꿔 쓰기 {0}({1})에서는 같은 질문을 두 번 할 때보다 판정이 100건당 {2}건 더 달라집니다",
    ),
    (
        r"the rewording (\S+) \(([^)]*)\) changes its verdicts by more than chance allows",
        "바꿔 쓰기 {0}({1})에서는 판정이 우연을 넘어 달라집니다",
    ),
    (
        r"rewording the policy hardly changes its verdicts \((.{1,80}) in 100 beyond jitter, below the practical threshold of (\S+)\)",
        "정책의 표현을 바꿔도 판정이 거의 달라지지 않습니다(지터를 넘는 것이 100건당 {0}, 기준 {1} 미만)",
    ),
    (
        r"it is not settled whether rewording the policy changes more than (\S+) verdicts in 100 \(the practical threshold\) beyond jitter \((.+)\)",
        "정책의 표현을 바꿀 때 판정이 지터를 넘어 100건당 {0}건(실용 기준) 넘게 달라지는지는 정해지지 않았습니다({1})",
    ),
    (
        r"rewording the policy steadies its verdicts rather than turning them \((.+)\)",
        "정책의 표현을 바꾸면 판정이 뒤바뀌기보다 안정됩니다({0})",
    ),
    (
        r"the effect of rewording the policy cannot be estimated",
        "정책의 표현을 바꾸는 효과는 추정할 수 없습니다",
    ),
    (
        r"(\S+) of the verdicts that a moved threshold moves go the wrong way",
        "기준을 옮길 때 움직이는 판정의 {0}가 그른 방향으로 갑니다",
    ),
    # warnings
    (
        r"(\S+) \(([^)]*)\) moves verdicts by more than chance allows\.",
        "바꿔 쓰기 {0}({1})에서 판정이 우연을 넘어 움직입니다.",
    ),
    (
        r"(\S+) \(([^)]*)\) moves verdicts by (\S+) points (\[[^\]]*\])\.",
        "바꿔 쓰기 {0}({1})에서 판정이 {2}%p {3} 움직입니다.",
    ),
    (
        r"Incomplete run: (\S+) of (\S+) planned calls were answered\.",
        "미완료 실행: 계획한 호출 {1}건 중 {0}건만 응답했습니다.",
    ),
    (r"It passes (\S+) of unsafe items as SAFE\.", "위험한 항목의 {0}를 SAFE로 통과시킵니다."),
    (r"It flags (\S+) of safe items as UNSAFE\.", "안전한 항목의 {0}에 UNSAFE 경보를 울립니다."),
    (
        r"The served model changed during the run: (.+)\.",
        "실행 중에 응답한 모델이 바뀌었습니다: {0}.",
    ),
    (
        r"Asked for (“.{1,90}”), served as (“.{1,90}”)\.",
        "{0}을(를) 요청했으나 {1}이(가) 응답했습니다.",
    ),
    (
        r"(“.{1,90}”) is a name that the provider can point to another snapshot\.",
        "{0}은(는) 제공자가 다른 스냅샷으로 바꿀 수 있는 이름입니다.",
    ),
    (
        r"Not accepted by the model, so not sent: (.+)\.",
        "모델이 받아들이지 않아 보내지 않은 것: {0}.",
    ),
    (
        r"Not certified as keeping the policy's meaning: (.{1,200})\. Flips under (?:it|them) may be right answers to a changed rule\.",
        "정책의 뜻을 유지한다고 인증되지 않음: {0}. 여기서의 뒤바뀜은 달라진 규칙에 대한 옳은 답일 수 있습니다.",
    ),
    (r"The cost of the run is not known(?: \((.+)\))?\.", "실행 비용을 알 수 없습니다. {0}"),
    (
        r"What happens under controls that were not run: (.+)\.",
        "실행하지 않은 대조 조건에서 어떻게 되는지: {0}.",
    ),
)
"""English as a pattern for a whole text, and the Korean; tried in this order."""
