"""Operators on the norms of Korean texts: force, bearer, action, scope, numbers, particles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from judgeaudit.core.records import Norm
from judgeaudit.core.records.policy import NUMBER
from judgeaudit.policy.mutation._text_ko import KoreanOperator, KoreanText

__all__ = ["OPERATORS"]

_NEGATIVE = {"prohibited", "discouraged", "not_required"}
_HEDGES = ("가급적", "되도록", "원칙적으로", "통상", "특별한 사정이 없으면", "가능한 한")


def _swap_force(t: KoreanText) -> Iterator[str]:
    for n in t.policy.norms:
        for force, pattern in (
            ("prohibited", "{infinitive}서는 아니 된다"),
            ("prohibited", "{adnominal} 것이 금지된다"),
            ("permitted", "{prospective} 수 있다"),
            ("permitted", "{adnominal} 것이 허용된다"),
            ("required", "{infinitive}야 한다"),
            ("required", "{prospective} 의무가 있다"),
            ("not_required", "{stem}지 아니하여도 된다"),
            ("not_required", "{prospective} 필요가 없다"),
        ):
            if n.force != force:
                yield t.with_force(n, pattern)


def _must_to_should(t: KoreanText) -> Iterator[str]:
    softer = {
        "prohibited": ("{stem}지 아니하는 것이 바람직하다", "{stem}지 아니할 것이 권고된다",
                       "{stem}지 않는 것이 좋다"),
        "required": ("{adnominal} 것이 바람직하다", "{prospective} 것이 권고된다"),
        "discouraged": ("{infinitive}서는 아니 된다",),
        "recommended": ("{infinitive}야 한다",),
    }  # fmt: skip
    for n in t.policy.norms:
        for pattern in softer.get(n.force, ()):
            yield t.with_force(n, pattern)


def _before_verb(t: KoreanText, n: Norm, word: str) -> str:
    """Put an adverb before the verb, whatever its form."""
    verb = n.action.verb
    forms = {verb["base"].removesuffix("다"), *verb.values()}
    first = {f.split(" ")[0].rstrip("하여해는할되어") for f in forms if f != verb["base"]}
    root = max((f for f in first if f), key=len, default=None)
    if root is None:
        return t.edit(n, lambda body: re.sub(r" (\S+ \S+ \S+\.)$", rf" {word} \1", body))
    return t.edit(n, lambda body: _insert(body, root, word))


def _insert(body: str, root: str, word: str) -> str:
    at = body.rfind(f" {root}")
    return body if at < 0 else f"{body[:at]} {word}{body[at:]}"


def _hedge_force(t: KoreanText) -> Iterator[str]:
    for n in t.policy.norms:
        for hedge in _HEDGES:
            yield _before_verb(t, n, hedge)


def _try_to(t: KoreanText) -> Iterator[str]:
    for n in t.policy.norms:
        negative = n.force in _NEGATIVE
        yield t.with_force(
            n, "{stem}지 아니하도록 노력하여야 한다" if negative else "{stem}도록 노력하여야 한다"
        )


def _negate(t: KoreanText) -> Iterator[str]:
    for n in t.policy.norms:
        if n.force in _NEGATIVE:
            yield t.with_force(n, "{stem}지 아니하여서는 아니 된다")
            yield t.with_force(n, "{infinitive}서는 아니 되는 것은 아니다")
        else:
            yield t.with_force(n, "{stem}지 아니하여야 한다")
            yield t.with_force(n, "{infinitive}서는 아니 된다" if n.force != "prohibited" else "")


def _only_deliberate(t: KoreanText) -> Iterator[str]:
    for n in t.policy.norms:
        for adverb in ("고의로", "알면서", "반복하여", "함부로", "부당하게"):
            yield _before_verb(t, n, adverb)


def _other_bearer(t: KoreanText) -> Iterator[str]:
    for n in t.policy.norms:
        bearer = t.policy.bearer_of(n)
        for old in (
            f"{bearer}는",
            f"{bearer}은",
            f"{bearer}가",
            f"{bearer}이",
            f"{bearer}에 의하여",
        ):
            for new in (
                "이용자는",
                "개발자는",
                "누구든지",
                f"{bearer}만이",
                f"{bearer}를 제외한 자는",
            ):
                yield t.swap(n, old + " ", new + " ")
            yield t.swap(n, old + " ", "")


def _other_verb(t: KoreanText) -> Iterator[str]:
    for n in t.policy.norms:
        for pattern in ("언급하여서는 아니 된다", "언급하여야 한다", "언급할 수 있다"):
            yield t.with_force(n, pattern)


def _drop_alternative(t: KoreanText) -> Iterator[str]:
    """Drop one of several coordinated acts (계획하거나 지원하거나 실행하여)."""
    for n in t.policy.norms:
        for form in n.action.verb.values():
            words = re.split(r"(?<=거나) ", form)
            for i in range(len(words) - 1):
                yield t.swap(n, form, " ".join(words[:i] + words[i + 1 :]))


def _drop_word(t: KoreanText) -> Iterator[str]:
    """Drop one word of what a norm is about; each of them limits or widens it."""
    for n in t.policy.norms:
        for phrase in (n.action.object, n.action.rest, n.scope):
            words = phrase.split(" ")
            for i in range(len(words) if len(words) > 1 else 0):
                yield t.swap(n, phrase, " ".join(words[:i] + words[i + 1 :]))


def _drop_qualifier(t: KoreanText) -> Iterator[str]:
    for n in t.policy.norms:
        for phrase in (n.scope, n.action.rest):
            yield t.swap(n, f"{phrase} " if phrase else "", "")


def _widen(t: KoreanText) -> Iterator[str]:
    for n in t.policy.norms:
        thing = n.action.object or n.action.rest
        for more in (" 등", " 또는 그와 비슷한 것", "만", " 일체"):
            yield t.swap(n, thing, thing + more)
        for phrase in (n.scope, n.action.rest):
            yield t.swap(n, phrase, f"{phrase} 또는 다른 곳에서")
            yield t.swap(n, phrase, f"{phrase}만")
            yield t.swap(n, phrase, f"{phrase}도")


def _narrow(t: KoreanText) -> Iterator[str]:
    for n in t.policy.norms:
        for less in ("기밀로 분류된", "다량의", "일부", "중요한"):
            yield t.swap(n, n.action.object, f"{less} {n.action.object}")


def _swap_roles(t: KoreanText) -> Iterator[str]:
    pairs = (("이용자에게", "제3자에게"), ("제3자에게", "이용자에게"), ("이용자의", "제3자의"),
             ("고객에게", "직원에게"), ("고객의", "직원의"), ("타인의", "고객의"),
             ("정보주체의", "제3자의"), ("거주자", "방문자"))  # fmt: skip
    for n in t.policy.norms:
        for old, new in pairs:
            for phrase in (n.action.rest, n.action.object, n.scope):
                if old in phrase:
                    yield t.swap(n, phrase, phrase.replace(old, new, 1))


def _swap_particles(t: KoreanText) -> Iterator[str]:
    """Let bearer and object change roles: in Korean it takes nothing but the particles."""
    bearers = (("는", "를"), ("은", "을"), ("가", "를"), ("이", "을"), ("에 의하여", "를"))
    objects = (("를", "가"), ("을", "이"), ("는", "가"), ("은", "이"), ("을", "에게"))
    for n in t.policy.norms:
        bearer, thing = t.policy.bearer_of(n), n.action.object
        line = t.lines[t.norm_line(n)]
        for a, b in bearers:
            for c, d in objects:
                if thing and f"{bearer}{a} " in line and f"{thing}{c} " in line:
                    turned = t.swap(n, f"{bearer}{a} ", f"{bearer}{b} ")
                    yield KoreanText(turned, t.policy).swap(n, f"{thing}{c} ", f"{thing}{d} ")


def _or_to_and(t: KoreanText) -> Iterator[str]:
    pairs = (("하거나 ", "하고 "), ("되거나 ", "되고 "), (" 또는 ", " 및 "), (" 및 ", " 또는 "),
             ("이나 ", "과 "), ("와 ", "나 "), ("과 ", "이나 "))  # fmt: skip
    for n in t.policy.norms:
        for phrase in (*n.action.verb.values(), n.action.object):
            for old, new in pairs:
                if old in phrase:
                    yield t.swap(n, phrase, phrase.replace(old, new, 1))


def _phrases(t: KoreanText) -> Iterator[str]:
    """Yield the policy's own phrases with a number."""
    for n in t.policy.norms:
        clauses = (t.clause(c) for e in n.exceptions for c in e.clauses)
        yield from (n.action.object, n.action.rest, n.scope, *clauses)
    if t.policy.threshold.unit is not None:
        counter = t.policy.threshold.unit.partition(NUMBER)[2]
        yield f"{t.policy.threshold.at_least}{counter} 이상"


def _change_number(t: KoreanText) -> Iterator[str]:
    for phrase in _phrases(t):
        for m in re.finditer(r"\d+(?:[.,]\d+)*", phrase):
            # a number in a reference is that of another operator
            if phrase[m.start() - 1 : m.start()] == "제":
                continue
            for new in (f"{m[0]}0", f"{m[0]}.5", "1" if m[0] != "1" else "2"):
                yield t.text.replace(phrase, phrase[: m.start()] + new + phrase[m.end() :], 1)


def _turn_limit(t: KoreanText) -> Iterator[str]:
    pairs = (("이하인", "이상인"), ("이내에", "이후에"), (" 전에", " 후에"), (" 후에", " 전에"),
             ("밖에서", "안에서"), ("아닌 자", "인 자"), ("를 넘는", "를 넘지 아니하는"),
             ("보다 높게", "보다 낮게"), ("넘어", "넘지 아니하고"), ("부재 중에", "재실 중에"),
             (" 이상", " 이하"))  # fmt: skip
    for phrase in _phrases(t):
        for old, new in pairs:
            if old in phrase and phrase in t.text:
                yield t.text.replace(phrase, phrase.replace(old, new, 1), 1)


def _drop_norm(t: KoreanText) -> Iterator[str]:
    return (t.with_line(t.norm_line(n), None) for n in t.policy.norms)


def _repeat_norm(t: KoreanText) -> Iterator[str]:
    for n in t.policy.norms:
        line = t.lines[t.norm_line(n)]
        yield t.with_line(t.norm_line(n), f"{line}\n\n{line}")


def _add_norm(t: KoreanText) -> Iterator[str]:
    n = t.policy.norms[-1]
    at, bearer = t.norm_line(n), t.policy.bearer
    for new in (
        f"**제9조(속도)** {bearer}는 모든 업무를 1분 이내에 마쳐야 한다.",
        f"**제9조(재량)** {bearer}는 업무에 필요한 모든 행위를 할 수 있다.",
        f"{bearer}는 도구를 사용하여서는 아니 된다.",
    ):
        yield t.with_line(at, f"{t.lines[at]}\n\n{new}")


def _swap_titles(t: KoreanText) -> Iterator[str]:
    for a, b in pairwise(t.policy.norms):
        lines = list(t.lines)
        i, j = t.norm_line(a), t.norm_line(b)
        lines[i] = lines[i].replace(f"({a.title})**", f"({b.title})**", 1)
        lines[j] = lines[j].replace(f"({b.title})**", f"({a.title})**", 1)
        yield "\n".join(lines)


OPERATORS = (
    KoreanOperator("swap a force", "deontic_force", _swap_force),
    KoreanOperator("must to should", "deontic_force", _must_to_should),
    KoreanOperator("hedge a force", "deontic_force", _hedge_force),
    KoreanOperator("try to", "deontic_force", _try_to),
    KoreanOperator("negate a norm", "deontic_force", _negate),
    KoreanOperator("only what is deliberate", "scope", _only_deliberate),
    KoreanOperator("bind somebody else", "scope", _other_bearer),
    KoreanOperator("another verb", "scope", _other_verb),
    KoreanOperator("drop one of several acts", "scope", _drop_alternative),
    KoreanOperator("drop a word of a norm", "scope", _drop_word),
    KoreanOperator("drop a qualifier", "scope", _drop_qualifier),
    KoreanOperator("widen a norm", "scope", _widen),
    KoreanOperator("narrow a norm", "scope", _narrow),
    KoreanOperator("swap the roles", "scope", _swap_roles),
    KoreanOperator("swap the particles", "scope", _swap_particles),
    KoreanOperator("and for or in a norm", "scope", _or_to_and),
    KoreanOperator("change a number", "scope", _change_number),
    KoreanOperator("turn a limit round", "scope", _turn_limit),
    KoreanOperator("drop a norm", "scope", _drop_norm),
    KoreanOperator("state a norm twice", "scope", _repeat_norm),
    KoreanOperator("add a norm", "scope", _add_norm),
    KoreanOperator("swap two titles", "scope", _swap_titles),
)
