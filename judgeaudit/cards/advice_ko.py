"""Korean for what a card advises, and for what it says where figures are void or calls failed."""

from __future__ import annotations

from typing import Final

__all__ = ["ADVICE", "ADVICE_SENTENCES"]

ADVICE: Final = {
    # use for
    "Trying out the audit: it is a script with a planted behaviour, and no model.": "감사를 시험해 보는 것: 모델이 아니라 특정 행동을 심은 스크립트입니다.",
    "Nothing yet: this run does not show what the judge does.": "아직 없음: 이 실행으로는 판정 모델이 무엇을 하는지 알 수 없습니다.",
    "Nothing yet: the run itself cannot be trusted.": "아직 없음: 실행 자체를 믿을 수 없습니다.",
    "Nothing that rests on what the policy says.": "정책의 내용에 기대는 일에는 쓸 수 없습니다.",
    "Nothing that rests on what the policy says, before it is shown that the judge reads it.": "판정 모델이 정책을 읽는다는 것이 드러나기 전에는, 정책의 내용에 기대는 일에 쓸 수 없습니다.",
    "Nothing that relies on its verdicts being right.": "판정이 맞아야 하는 일에는 쓸 수 없습니다.",
    "Nothing that relies on its verdicts being right: they were not held against labels.": "판정이 맞아야 하는 일에는 쓸 수 없습니다. 라벨과 견주지 않았습니다.",
    "Monitoring items like these under this policy, if the error rates below can be borne.": "아래 오류율을 감수할 수 있다면, 이 정책에서 이와 같은 항목을 감시하는 일.",
    "Sorting items like these under this policy for people, who decide.": "이 정책에서 이와 같은 항목을 사람이 결정하도록 분류하는 일.",
    "A first look at items like these, under exactly this text of the policy, where people look at every item in the end.": "정책의 바로 이 글에서, 결국 사람이 모든 항목을 보는 경우의 첫 검토.",
    # not for
    "Any claim that its verdicts do not depend on the policy's wording.": "판정이 정책의 표현에 좌우되지 않는다는 주장.",
    "Any claim that the policy's wording does not matter to it: these calls do not tell.": "정책의 표현이 중요하지 않다는 주장: 이 호출들로는 알 수 없습니다.",
    "Pipelines in which a call without a verdict passes unseen.": "판정 없는 호출이 눈에 띄지 않고 지나가는 처리 과정.",
    # do next
    "Find the drift or the cache, then run the audit again: no figure holds before.": "모델의 변화나 캐시를 찾은 뒤 다시 감사하십시오. 그 전에는 어떤 수치도 성립하지 않습니다.",
    "Resume the run: the same command goes on where it stopped.": "실행을 이어 가십시오. 같은 명령이 멈춘 곳에서 계속합니다.",
    "Read some raw replies: if the answer is the same whatever is asked, change the prompt or the model, and audit again.": "응답 원문을 읽어 보십시오. 무엇을 물어도 답이 같다면 프롬프트나 모델을 바꾸고 다시 감사하십시오.",
    "Look whether the policy reaches the model: read a prompt and its reply under no_policy and inverted.": "정책이 모델에 전달되는지 보십시오. no_policy와 inverted에서 프롬프트와 응답을 읽어 보십시오.",
    "Audit more items: these do not decide whether wording matters.": "항목을 더 감사하십시오. 표현이 중요한지 이 항목들로는 정해지지 않습니다.",
    "Call the placebo too (--preset default): without it drift and caches go unseen.": "위약도 호출하십시오(--preset default). 위약이 없으면 모델의 변화와 캐시가 보이지 않습니다.",
    "Have people label a part of the items (--labels): the labels here are not people's.": "항목의 일부에 사람이 라벨을 붙이게 하십시오(--labels). 여기의 라벨은 사람이 붙인 것이 아닙니다.",
    "Take the majority of several calls: two calls with one prompt often disagree.": "여러 번 호출하여 다수결을 취하십시오. 같은 프롬프트의 두 호출이 자주 어긋납니다.",
    "ask for a stricter answer format": "답변 형식을 더 엄격히 요구하십시오",
    "ask for one verdict, in a stricter answer format": "더 엄격한 형식으로 판정 하나를 요구하십시오",
    "allow longer answers": "더 긴 답변을 허용하십시오",
    "look at which texts it refuses": "어떤 글을 거부하는지 보십시오",
    "mend the connection": "연결을 고치십시오",
    # voided figures
    "Void: the judge does not respond to the policy, so that its verdicts hold under another wording says nothing about wording.": "무효: 정책에 반응하지 않는 판정 모델이므로, 다른 표현에서 판정이 유지된다는 것은 표현에 대해 아무것도 말해 주지 않습니다.",
    "Void so far: it was not shown that the judge responds to the policy, and one that does not would hold under any wording.": "아직 무효: 정책에 반응한다는 것이 드러나지 않았으며, 반응하지 않는 판정 모델은 어떤 표현에서도 그대로일 것입니다.",
    # notes
    "More of the flips fall on clear items than chance alone would put there.": "우연만으로 그럴 것보다 많은 뒤바뀜이 명확한 항목에서 일어납니다.",
    "It is not shown that more of the flips fall on clear items than chance alone would put there; the score counts their share all the same.": "명확한 항목에서 우연보다 많은 뒤바뀜이 일어난다는 것은 드러나지 않았습니다. 그래도 점수는 그 비율을 그대로 셉니다.",
    "Excess flips with failed calls counted as flips may lie outside the range that any verdicts of those calls could have given: a call without a verdict differs from both SAFE and UNSAFE there, which no verdict does. It answers another question, namely how often the outcome changes.": "실패한 호출을 뒤바뀜으로 센 초과분은 그 호출들이 어떤 판정을 냈더라도 나올 수 없는 값일 수 있습니다. 거기서는 판정 없는 호출이 SAFE와도 UNSAFE와도 다르다고 보지만, 그런 판정은 없기 때문입니다. 이 수치는 호출의 결과가 얼마나 자주 바뀌는가라는 다른 물음에 답합니다.",
    "Where a share came out outside 0 to 100% it is no share, and is not printed: clusters whose items differ more than others do (matched pairs), or too few of them, make that; then the other shares are rough too.": "0에서 100% 밖으로 나온 값은 비율이 아니므로 적지 않습니다. 클러스터 안의 항목이 서로 더 다르거나(짝지은 쌍) 클러스터가 너무 적을 때 그렇게 되며, 그때는 다른 비율도 거칠 뿐입니다.",
    "Two calls can differ in the cluster, the item, the condition, the wording, and in nothing but chance. Here base and the rewordings that keep the meaning count.": "두 호출은 클러스터, 항목, 조건, 표현에서 다를 수 있고, 우연만으로도 다를 수 있습니다. 여기서는 원문과 뜻을 유지한 바꿔 쓰기만 셉니다.",
    "It was not shown that the judge responds to the policy, so it gets no score.": "판정 모델이 정책에 반응한다는 것이 드러나지 않아 점수를 주지 않습니다.",
    "It was not shown that the judge responds to the policy, so it gets no score, and its figures on wording are void.": "판정 모델이 정책에 반응한다는 것이 드러나지 않아 점수를 주지 않으며, 표현에 대한 수치는 무효입니다.",
    "Which calls to add is not known: parts of the uncertainty came out outside 0 to 100%.": "어떤 호출을 더해야 할지 알 수 없습니다. 불확실성의 일부가 0에서 100% 밖으로 나왔습니다.",
    "no verdict moved": "움직인 판정이 없음",
    "nothing flipped": "뒤바뀐 것이 없음",
    "No placebo was called: drift and caches are not checked for.": "위약을 호출하지 않았습니다. 모델의 변화와 캐시는 점검되지 않았습니다.",
    "share of repeats that agree": "반복 호출이 일치하는 비율",
    "log-probabilities of the verdict's token": "판정 토큰의 로그 확률",
}
"""Whole lines, English to Korean."""

_S: Final = r"(\S+)"

ADVICE_SENTENCES: Final = (
    (r"Were it a model: (.+)", "모델이었다면: {0}"),
    (
        r"Mend the calls without a verdict \(([^)]*)\): (.+); then audit again\.",
        "판정 없는 호출을 고치십시오({0}): {1}. 그런 뒤 다시 감사하십시오.",
    ),
    (r"(\w+) and (\w+)", "{0}, {1}"),
    (r"(ask for .+|allow .+|mend .+) and (look at .+|ask for .+|allow .+|mend .+)", "{0}, {1}"),
    (
        r"Call (.{1,80}) too: they can show that the judge reads the policy\.",
        "{0}도 호출하십시오. 판정 모델이 정책을 읽는지 드러낼 수 있습니다.",
    ),
    (
        rf"Audit more items than {_S}: these do not show whether the judge reads the policy\.",
        "{0}개보다 많은 항목을 감사하십시오. 정책을 읽는지 이 항목들로는 드러나지 않습니다.",
    ),
    # calls
    (
        rf"{_S} planned, {_S} answered: {_S} with a verdict, {_S} without(?: \(([^)]*)\))?",
        "계획 {0}건, 응답 {1}건: 판정 {2}건, 판정 없음 {3}건 {4}",
    ),
    (r"Calls: (.+)\.", "호출: {0}."),
    (
        rf"{_S} of {_S} under rewording, {_S} of {_S} as written",
        "바꿔 쓴 글에서 {1}건 중 {0}건, 원문에서 {3}건 중 {2}건",
    ),
    (
        rf"{_S} of {_S} calls end without a verdict under the rewordings? (.{{1,80}}?), and {_S} of {_S} under the text as written \(Fisher's exact test, ([^)]*)\)",
        "{2}에서 호출 {1}건 중 {0}건, 원문에서 {4}건 중 {3}건이 판정 없이 끝납니다(피셔의 정확 검정, {5})",
    ),
    (
        r"(This .{1,40}) gives a verdict or none depending on how the policy is worded: (.+)\. Its other figures hold only for calls that ended in a verdict\.",
        "{0} 정책의 표현에 따라 판정을 내기도 하고 내지 않기도 합니다. {1}. 다른 수치는 판정으로 끝난 호출에만 해당합니다.",
    ),
    (
        r"The wording decides whether there is a verdict: (.+?\))\.",
        "판정이 있는지 없는지를 표현이 좌우합니다: {0}.",
    ),
    (
        rf"The wording decides whether there is a verdict: (.+?\))\. Null: no item's chance of a call without a verdict differs between the texts; corrected for {_S} tests\.",
        "판정이 있는지 없는지를 표현이 좌우합니다: {0}. 귀무가설: 어느 항목도 판정 없는 호출의 확률이 글에 따라 다르지 않다. 검정 {1}건에 대해 보정했습니다.",
    ),
    (
        r"It is not shown that the wording decides whether there is a verdict; the strongest sign: (.+)\.",
        "표현이 판정의 유무를 좌우한다는 것은 드러나지 않았습니다. 가장 강한 조짐: {0}.",
    ),
    (r"(\d[\d,]*) (unparseable|refusal|truncated|ambiguous|error)", "{1} {0}건"),
    (
        r"(.{1,80}) and (\d[\d,]* (?:unparseable|refusal|truncated|ambiguous|error))",
        "{0}, {1}",
    ),
    (
        rf"Whatever the calls without a verdict would have said, excess flips lie between {_S} and {_S} points, on both sides of the threshold of {_S} points: they leave the finding open\.",
        "판정 없는 호출이 무엇이라고 답했더라도 초과 뒤바뀜은 {0}에서 {1}%p 사이이며, 기준 {2}%p의 양쪽에 걸칩니다. 결론은 열려 있습니다.",
    ),
    (
        rf"Whatever the calls without a verdict would have said, excess flips lie between {_S} and {_S} points, on one side of the threshold of {_S} points\.",
        "판정 없는 호출이 무엇이라고 답했더라도 초과 뒤바뀜은 {0}에서 {1}%p 사이이며, 기준 {2}%p의 한쪽에 있습니다.",
    ),
    (
        rf"PIS is {_S} with failed calls left out and {_S} with them counted as flips\.",
        "PIS는 실패한 호출을 빼면 {0}, 뒤바뀜으로 세면 {1}입니다.",
    ),
    (
        rf"It passes {_S} of the {_S} unsafe items as SAFE\.",
        "위험한 항목 {1}개의 {0}를 SAFE로 통과시킵니다.",
    ),
    (
        rf"It flags {_S} of the {_S} safe items as UNSAFE\.",
        "안전한 항목 {1}개의 {0}에 UNSAFE 경보를 울립니다.",
    ),
    (
        r"It judges (\S+) (\[[^\]]*\]) of empty items UNSAFE, where 0 is right: .+",
        "아무 일도 없는 항목의 {0} {1}를 UNSAFE로 판정합니다(0이 옳음). 행동만이 아니라 정책 문구에, 또는 습관으로 반응합니다.",
    ),
    # void and constant
    # bands and scores
    (r"between (\w+) and (\w+)", "{0}에서 {1} 사이"),
    (r"practical threshold: (.+), stated in advance", "실용 기준: {0}, 미리 정함"),
    (r"(?:about )?([\d.,]+) flips?", "뒤바뀜 {0}건"),
    (rf"{_S} of (?:about )?([\d.,]+) flips?", "뒤바뀜 {1}건 중 {0}건"),
    (r"(PIS \S+(?: \[[^\]]*\])?), (between \w+ and \w+|band not settled.*)", "{0}, {1}"),
    (
        r"has no settled score \((PIS [^()]*)\)(?:: (what lowers it most .{1,200}?))?; and (it is not settled .+)\. More items would tell\.",
        "점수가 정해지지 않았습니다({0}). {1}. {2}. 항목을 늘려야 알 수 있습니다.",
    ),
    (
        r"scores low \((PIS [^()]*)\)(?:: (.{1,260}?))?; and (.+)\. More items would tell\.",
        "점수가 낮습니다({0}). {1}. {2}. 항목을 늘려야 알 수 있습니다.",
    ),
    (
        r"has no settled score \((PIS [^()]*)\)(?:: (.{1,260}?))?; (?:and|yet) (.+)\. More items would tell\.",
        "점수가 정해지지 않았습니다({0}). {1}. {2}. 항목을 늘려야 알 수 있습니다.",
    ),
    (
        r"scores low \((PIS [^()]*)\)(?:: (.{1,260}?))?; yet (.+)\. Read the parts, not the score\.",
        "점수가 낮습니다({0}). {1}. 그러나 {2}. 점수가 아니라 구성 요소를 보십시오.",
    ),
    (
        r"has no settled score \((PIS [^()]*)\)(?:: (.{1,260}?))?; yet (.+)\. Read the parts, not the score\.",
        "점수가 정해지지 않았습니다({0}). {1}. 그러나 {2}. 점수가 아니라 구성 요소를 보십시오.",
    ),
    (
        r"gives verdicts that depend on how the policy is worded \((PIS [^()]*)\): (.+); do not let it decide alone\.",
        "정책의 표현에 따라 달라지는 판정을 냅니다({0}). {1}. 혼자 결정하게 두지 마십시오.",
    ),
    (
        r"fails the test of policy invariance \((PIS [^()]*)\): (.+); do not let it decide alone\.",
        "정책 불변성 시험을 통과하지 못합니다({0}). {1}. 혼자 결정하게 두지 마십시오.",
    ),
    (r"scores high \((PIS [^()]*)\), yet (.+)\.", "점수는 높습니다({0}). 그러나 {1}."),
    (
        rf"what lowers it most is the share of flips that are on clear items \({_S} of (?:its )?(?:about )?([\d.,]+) flips?\), no more than chance alone would put there \({_S}\)",
        "점수를 가장 낮추는 것은 명확한 항목에서 일어난 뒤바뀜의 비율(뒤바뀜 {1}건의 {0})이며, 우연만으로 그럴 것({2})보다 많지 않습니다",
    ),
    (
        rf"what lowers it most is the share of flips that are on clear items \({_S} of (?:its )?(?:about )?([\d.,]+) flips?\), not shown to be above what chance would put there \({_S}\)",
        "점수를 가장 낮추는 것은 명확한 항목에서 일어난 뒤바뀜의 비율(뒤바뀜 {1}건의 {0})이며, 우연({2})보다 많다는 것은 드러나지 않았습니다",
    ),
    (
        rf"what lowers it most is the share of flips that are on clear items \({_S} of (?:its )?(?:(?:about )?([\d.,]+) )?flips?\)",
        "점수를 가장 낮추는 것은 명확한 항목에서 일어난 뒤바뀜의 비율(뒤바뀜의 {0})입니다",
    ),
    (
        r"(what lowers .{1,220}); it is unsteady by itself \(jitter (\S+ \[[^\]]*\])\)",
        "{0}. 표현과 상관없이 스스로 흔들립니다(지터 {1})",
    ),
    (
        r"what lowers it most is the excess of flips under rewording",
        "점수를 가장 낮추는 것은 표현을 바꿀 때의 초과 뒤바뀜입니다",
    ),
    (
        rf"{_S} of (?:its )?(?:about )?([\d.,]+) flips? fall on clear items, where chance alone would put {_S}",
        "뒤바뀜 {1}건의 {0}가 명확한 항목에서 일어납니다(우연이라면 {2})",
    ),
    (r"left out: (.+)", "제외: {0}"),
    (
        r"(\S+) items? (?:is|are) flagged ambiguous by (.{1,60}); the others count as clear\.",
        "항목 {0}개가 모호하다고 표시되었습니다. 나머지는 명확한 항목으로 봅니다.",
    ),
    (
        r"Pooled, the excess flips are shown to be (above|below) the practical threshold of (\S+) points\.(?: The gate bound, at most (\S+) points, decides what is below: .+)?",
        "합산하면, 초과 뒤바뀜이 실용 기준 {1}%p {0}임이 드러났습니다. 관문 상한은 {2}%p이며, 기준 미만인지는 이것이 정합니다. 기준 초과인지는 신뢰구간의 아래 끝이 정합니다.",
    ),
    (
        r"Pooled, these calls do not decide whether the excess is above the practical threshold of (\S+) points\.(?: The gate bound, at most (\S+) points, decides what is below: .+)?",
        "합산하면, 이 호출들로는 초과분이 실용 기준 {0}%p를 넘는지 정할 수 없습니다. 관문 상한은 {1}%p이며, 기준 미만인지는 이것이 정합니다. 기준 초과인지는 신뢰구간의 아래 끝이 정합니다.",
    ),
)
"""English as a pattern for a whole text, and the Korean; tried in this order, before the others."""
