"""Operators on exceptions of Korean texts: dropped, added, moved, widened, turned round."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from judgeaudit.core.records import Norm
from judgeaudit.policy.mutation._text_ko import LEADING, KoreanOperator, KoreanText

__all__ = ["OPERATORS"]

_APART = "에는 적용하지 아니한다."
_PROVISO = "에는 그러하지 아니하다."


def _excepted(t: KoreanText) -> list[Norm]:
    return [n for n in t.policy.norms if n.exceptions]


def _each(t: KoreanText) -> Iterator[tuple[Norm, int, str]]:
    """Yield every exception: its norm, its place, and its outer clause as worded."""
    for n in _excepted(t):
        for i, e in enumerate(n.exceptions):
            yield n, i, t.clause(e.when)


def _put(t: KoreanText, n: Norm, i: int, new: str) -> str | None:
    """Put another outer clause in the place of one; what stands in brackets behind it stays."""
    cases = t.cases(n)
    old = t.clause(n.exceptions[i].when)
    return t.with_exceptions(n, [*cases[:i], new + cases[i][len(old) :], *cases[i + 1 :]])


def _drop(t: KoreanText) -> Iterator[str | None]:
    for n, i, _ in _each(t):
        cases = t.cases(n)
        yield t.with_exceptions(n, cases[:i] + cases[i + 1 :])


def _drop_all(t: KoreanText) -> Iterator[str | None]:
    return (t.with_exceptions(n, []) for n in _excepted(t))


def _add(t: KoreanText) -> Iterator[str | None]:
    for n in t.policy.norms:
        for new in ("시간이 절약되는", "이용자가 보고 있지 아니한", "업무상 필요한"):
            yield t.with_exceptions(n, [*t.cases(n), new])


def _copy(t: KoreanText) -> Iterator[str | None]:
    for a in _excepted(t):
        for b in t.policy.norms:
            if a.id != b.id:
                yield t.with_exceptions(b, [*t.cases(b), t.cases(a)[0]])


def _repeat(t: KoreanText) -> Iterator[str | None]:
    return (t.with_exceptions(n, [*t.cases(n), t.cases(n)[0]]) for n in _excepted(t))


def _move(t: KoreanText) -> Iterator[str | None]:
    for a, b in [*pairwise(_excepted(t)), *((b, a) for a, b in pairwise(_excepted(t)))]:
        given = t.with_exceptions(a, t.cases(a)[1:])
        if given is not None and (not t.apart or len(a.exceptions) > 1):
            yield KoreanText(given, t.policy).with_exceptions(b, [*t.cases(b), t.cases(a)[0]])


def _swap(t: KoreanText) -> Iterator[str | None]:
    for a, b in pairwise(_excepted(t)):
        given = t.with_exceptions(a, t.cases(b))
        index = t.host(b)
        taken = t.with_exceptions(b, t.cases(a))
        if given is not None and index is not None and taken is not None:
            lines = given.split("\n")
            lines[index] = taken.split("\n")[index]
            yield "\n".join(lines)


def _widen(t: KoreanText) -> Iterator[str | None]:
    for n, i, c in _each(t):
        for more in ("것으로 보이는", "것으로 예상되는", "것과 다름없는"):
            yield _put(t, n, i, f"{c} {more}")


def _narrow(t: KoreanText) -> Iterator[str | None]:
    for n, i, c in _each(t):
        for less in ("서면으로", "사전에", "영업시간 중에"):
            head, _, last = c.rpartition(" ")
            yield _put(t, n, i, f"{head} {less} {last}")


def _negate(t: KoreanText) -> Iterator[str | None]:
    for n, i, c in _each(t):
        yield _put(t, n, i, f"{c} 것이 아닌")
        if c.endswith("한"):
            yield _put(t, n, i, f"{c[:-1]}하지 아니한")


def _drop_words(t: KoreanText) -> Iterator[str | None]:
    for n, i, c in _each(t):
        words = c.split(" ")
        for j in range(len(words) - 1):
            yield _put(t, n, i, " ".join(words[:j] + words[j + 1 :]))


def _or_to_and_inside(t: KoreanText) -> Iterator[str | None]:
    pairs = (("하고 ", "하거나 "), ("되고 ", "되거나 "), ("였고 ", "였거나 "), ("과 ", "이나 "),
             ("와 ", "나 "), ("이나 ", "과 "), (" 및 ", " 또는 "), (" 또는 ", " 및 "))  # fmt: skip
    for n, i, c in _each(t):
        for old, new in pairs:
            if old in c:
                yield _put(t, n, i, c.replace(old, new, 1))


def _join_by_and(t: KoreanText) -> Iterator[str | None]:
    for n in _excepted(t):
        if len(n.exceptions) > 1:
            for link in (" 및 ", "이고 ", "이면서 ", " 그리고 "):
                yield t.with_exceptions(n, t.cases(n), link=link)


def _turn_round(t: KoreanText) -> Iterator[str | None]:
    for n in _excepted(t):
        if t.apart:
            for closing in (
                "에만 적용한다.",
                "에도 적용한다.",
                "에는 적용한다.",
                "에 한하여 적용한다.",
            ):
                yield t.with_exceptions(n, t.cases(n), closing=closing)
            continue
        index = t.host(n)
        assert index is not None
        if re.search(LEADING, t.lines[index]):
            for closing in ("에만", "에는", "에도", "를 포함하여", "에 한하여"):
                yield t.with_exceptions(n, t.cases(n), closing=closing)
        else:
            for closing in ("에만 그러하다.", "에도 또한 같다.", "에는 더욱 그러하다.",
                            "에도 그러하지 아니하다.", "에만 그러하지 아니하다."):  # fmt: skip
                yield t.with_exceptions(n, t.cases(n), closing=closing)


def _hedge(t: KoreanText) -> Iterator[str | None]:
    for n in _excepted(t):
        index = t.host(n)
        line = t.lines[index] if index is not None else ""
        for old, new in (
            (_APART, "에는 적용하지 아니할 수 있다."),
            (_APART, "에는 반드시 적용하지는 아니한다."),
            (_APART, "에는 원칙적으로 적용하지 아니한다."),
            (_PROVISO, "에는 그러하지 아니할 수 있다."),
            (_PROVISO, "에는 예외로 할 수 있다."),
            ("를 제외하고, ", "를 가급적 제외하고, "),
            (" 외에는, ", " 외에는 가급적 "),
        ):
            if index is not None and old in line:
                yield t.with_line(index, line.replace(old, new, 1))


def _rebind(t: KoreanText) -> Iterator[str | None]:
    if t.apart:
        for a, b in pairwise(t.policy.norms):
            index = t.host(a)
            if index is None:
                continue
            line = t.lines[index]
            yield t.with_line(index, line.replace(f"({a.title})", f"({b.title})", 1))
            yield t.with_line(
                index, re.sub(r"제(\d+)조", lambda m: f"제{int(m[1]) + 1}조", line, count=1)
            )
            yield t.with_line(index, re.sub(r"제\d+조\([^)]*\)", "모든 규범", line, count=1))
    else:
        for a, b in pairwise(t.policy.norms):
            i, j = t.norm_line(a), t.norm_line(b)
            proviso = re.search(r" 다만, [^.]*\.", t.lines[i])
            if proviso is None:
                continue
            bare = t.lines[i].replace(proviso[0], "", 1)
            if " 다만, " not in t.lines[j]:
                label, main, more = t.parted(j)
                lines = list(t.lines)
                lines[i], lines[j] = bare, label + main + proviso[0] + more
                yield "\n".join(lines)
            yield t.with_line(i, f"{bare}\n\n{proviso[0].strip()}")


OPERATORS = tuple(
    KoreanOperator(name, "exception_set", apply)
    for name, apply in {
        "drop an exception": _drop,
        "drop all exceptions of a norm": _drop_all,
        "add an exception": _add,
        "copy an exception to another norm": _copy,
        "state an exception twice": _repeat,
        "move an exception to another norm": _move,
        "swap the exceptions of two norms": _swap,
        "widen an exception": _widen,
        "narrow an exception": _narrow,
        "negate an exception": _negate,
        "drop a word of an exception": _drop_words,
        "and for or inside an exception": _or_to_and_inside,
        "require all exceptions at once": _join_by_and,
        "turn an exception into a condition": _turn_round,
        "hedge an exception": _hedge,
        "bind an exception to another number or title": _rebind,
    }.items()
)
