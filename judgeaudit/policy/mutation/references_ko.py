"""Operators on references between norms of Korean texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judgeaudit.core.records import Norm
from judgeaudit.policy.mutation._text_ko import KoreanOperator, KoreanText

__all__ = ["OPERATORS"]

_TURNED = r" 제\d+조\([^.]*\)는 이 조와 서로 저촉되는[^.]*\."
_PREVAILS = rf"(?: 이 조와 제\d+조\([^.]*\.|{_TURNED})"


def _others(t: KoreanText, n: Norm) -> list[Norm]:
    """Return the nearest norms to which a norm does not refer."""
    at = t.policy.norms.index(n)
    norms = (*t.policy.norms[at + 1 :], *t.policy.norms[:at])
    return [o for o in norms if o.id not in n.subject_to][:5]


def _subject(t: KoreanText) -> Iterator[Norm]:
    return (n for n in t.policy.norms if n.subject_to)


def _sentence(t: KoreanText, over: Norm) -> str:
    name = t.reference(over)
    short = name.partition("(")[0]
    return f"이 조와 {name}가 서로 저촉되는 경우에는 {short}를 우선하여 적용한다."


def _without(t: KoreanText, n: Norm) -> str:
    index = t.norm_line(n)
    return t.with_line(index, re.sub(_PREVAILS, "", t.lines[index], count=1))


def _drop(t: KoreanText) -> Iterator[str | None]:
    return (_without(t, n) for n in _subject(t))


def _add(t: KoreanText) -> Iterator[str | None]:
    for n in t.policy.norms:
        for o in _others(t, n):
            yield t.append(n, _sentence(t, o))


def _all(t: KoreanText) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield every reference that is not the name of a norm or of a suspended one, with its line."""
    for i, line in enumerate(t.lines):
        for m in re.finditer(r"(?<!^\*\*)(?<!^- )제(\d+)조", line):
            yield i, m


def _other_norm(t: KoreanText) -> Iterator[str | None]:
    by_number = {number: id_ for id_, number in t.numbers.items()}
    norms = {n.id: n for n in t.policy.norms}
    for i, m in _all(t):
        named = norms[by_number[int(m[1])]]
        line = t.lines[i]
        for o in _others(t, named)[:2]:
            old, new = t.reference(named), t.reference(o)
            if line.startswith(old, m.start()) and o.title not in line:
                changed = line[: m.start()] + new + line[m.start() + len(old) :]
                yield t.with_line(i, changed)
                # both mentions in a sentence about which norm prevails
                yield t.with_line(
                    i, changed.replace(f" 제{m[1]}조를", f" {new[: new.index('(')]}를")
                )


def _wrong_number(t: KoreanText) -> Iterator[str | None]:
    for i, m in _all(t):
        line = t.lines[i]
        for new in (int(m[1]) + 1, int(m[1]) - 1, 99):
            yield t.with_line(i, f"{line[: m.start()]}제{new}조{line[m.end() :]}")


def _turn(t: KoreanText) -> Iterator[str | None]:
    by_id = {n.id: n for n in t.policy.norms}
    for n in _subject(t):
        for id_ in n.subject_to:
            once = KoreanText(_without(t, n), t.policy)
            yield once.append(by_id[id_], _sentence(t, n))
        index = t.norm_line(n)
        line = t.lines[index]
        yield t.with_line(index, re.sub(r"에는 제\d+조를 우선", "에는 이 조를 우선", line))
        yield t.with_line(
            index,
            re.sub(
                r"제(\d+조\([^.]*?\))는 이 조와(.*)이 조보다", r"이 조는 제\1와\2제\1보다", line
            ),
        )


def _weaken(t: KoreanText) -> Iterator[str | None]:
    pairs = (
        ("우선하여 적용한다", "우선하여 적용할 수 있다"), ("우선하여 적용한다", "함께 적용한다"),
        ("우선하여 적용한다", "우선하여 적용하지 아니한다"), ("우선하여 적용한다", "참고한다"),
        ("우선하여 적용된다", "우선하여 적용될 수 있다"), ("우선하여 적용된다", "함께 적용된다"),
        ("우선하여 적용된다", "우선하여 적용되지 아니한다"), ("우선하여", "가급적 우선하여"),
        ("저촉되는 경우", "저촉되지 아니하는 경우"), ("저촉되는 경우", "현저히 저촉되는 경우"),
        ("이 조와", "다른 조와"), ("이 조와", "이 조의 예외와"), ("이 조보다", "이 조 다음으로"),
        ("에는 제", "에도 제"),
    )  # fmt: skip
    for n in _subject(t):
        index = t.norm_line(n)
        found = re.search(_PREVAILS, t.lines[index])
        assert found is not None
        for old, new in pairs:
            changed = found[0].replace(old, new, 1)
            yield t.with_line(index, t.lines[index].replace(found[0], changed, 1))


def _misplace(t: KoreanText) -> Iterator[str | None]:
    """Let another norm prevail over one by putting the sentence into another article."""
    for n in _subject(t):
        found = re.search(_PREVAILS, t.lines[t.norm_line(n)])
        assert found is not None
        once = KoreanText(_without(t, n), t.policy)
        for o in _others(t, n)[:2]:
            if o.id not in n.subject_to:
                yield once.append(o, found[0].strip())
        index = once.norm_line(n)
        yield once.with_line(index, f"{once.lines[index]}\n\n{found[0].strip()}")


OPERATORS = tuple(
    KoreanOperator(name, "exception_set", apply)
    for name, apply in {
        "drop what a norm is subject to": _drop,
        "make a norm subject to another": _add,
        "refer to another norm": _other_norm,
        "refer by a wrong number": _wrong_number,
        "turn round which norm prevails": _turn,
        "weaken which norm prevails": _weaken,
        "move what a norm is subject to": _misplace,
    }.items()
)
