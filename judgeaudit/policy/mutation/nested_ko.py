"""Operators on the conditions inside an exception of Korean texts."""

from __future__ import annotations

from collections.abc import Iterator

from judgeaudit.core.records import Norm
from judgeaudit.policy.mutation._nested import conditioned, given, without_one
from judgeaudit.policy.mutation._text_ko import KoreanOperator, KoreanText

__all__ = ["OPERATORS"]


def _put(t: KoreanText, n: Norm, i: int, *new: str) -> str | None:
    """Put other wordings in the place of an exception."""
    cases = t.cases(n)
    return t.with_exceptions(n, [*cases[:i], *new, *cases[i + 1 :]])


def _drop(t: KoreanText) -> Iterator[str | None]:
    for n, i, e in conditioned(t.policy):
        yield _put(t, n, i, t.clause(e.when))
        for _, less in without_one(e):
            yield _put(t, n, i, t.case(less))


def _add(t: KoreanText) -> Iterator[str | None]:
    for n in t.policy.norms:
        for i, e in enumerate(n.exceptions):
            yield _put(t, n, i, t.case(given(e, "시간이 충분한", only_if=True)))
            yield _put(t, n, i, t.case(given(e, "사정이 여의치 아니한", only_if=False)))


def _turn(t: KoreanText) -> Iterator[str | None]:
    """Make what must be met too what takes away, and the other way round."""
    for n, i, e in conditioned(t.policy):
        for c, less in without_one(e):
            yield _put(t, n, i, t.case(given(less, c, only_if=c not in e.only_if)))


def _move(t: KoreanText) -> Iterator[str | None]:
    """Move a condition from one exception of a norm to another."""
    for n, i, e in conditioned(t.policy):
        for j, other in enumerate(n.exceptions):
            if i == j:
                continue
            for c, less in without_one(e):
                new = t.cases(n)
                more = given(other, c, only_if=c in e.only_if)
                new[i], new[j] = t.case(less), t.case(more)
                yield t.with_exceptions(n, new)


def _raise(t: KoreanText) -> Iterator[str | None]:
    """Make an exception of its own out of a condition inside one."""
    for n, i, e in conditioned(t.policy):
        for c, less in without_one(e):
            yield _put(t, n, i, t.case(less), t.clause(c))


def _lower(t: KoreanText) -> Iterator[str | None]:
    """Make a condition inside the one before it out of an exception."""
    for n in t.policy.norms:
        for i in range(1, len(n.exceptions)):
            before, e = n.exceptions[i - 1 : i + 1]
            new = t.cases(n)
            new[i - 1 : i + 1] = [t.case(given(before, e.when, only_if=True))]
            yield t.with_exceptions(n, new)


def _edits(t: KoreanText, pairs: tuple[tuple[str, str], ...]) -> Iterator[str | None]:
    """Edit what stands in the brackets; the clause before them stays."""
    for n, i, e in conditioned(t.policy):
        case, head = t.case(e), t.clause(e.when)
        for old, new in pairs:
            if old in case[len(head) :]:
                yield _put(t, n, i, head + case[len(head) :].replace(old, new, 1))


def _join(t: KoreanText) -> Iterator[str | None]:
    return _edits(t, (
        (" 및 ", " 또는 "), ("에 모두 해당하는 경우", ""), ("에 모두", "에 하나라도"),
        (" 또는 ", " 및 "), (" 경우 또는 ", " 경우로서 "), ("로 한정하되, ", " 또는 "),
        ("로 한정하되, ", "로서 "),
    ))  # fmt: skip


def _loosen(t: KoreanText) -> Iterator[str | None]:
    return _edits(t, (
        ("로 한정한다", "를 포함한다"), ("로 한정한다", "로 한정하지 아니한다"),
        ("로 한정한다", "로 한정할 수 있다"), ("로 한정한다", "로 가급적 한정한다"),
        ("로 한정한다", "는 제외한다"), ("로 한정한다", "가 바람직하다"),
        ("로 한정하되, ", "를 포함하되, "), ("로 한정하되, ", "로 한정하지 아니하되, "),
        ("는 제외한다", "도 포함한다"), ("는 제외한다", "는 제외하지 아니한다"),
        ("는 제외한다", "는 제외할 수 있다"), ("는 제외한다", "는 원칙적으로 제외한다"),
        ("는 제외한다", "로 한정한다"), ("는 제외한다", "에도 또한 같다"),
    ))  # fmt: skip


def _reword(t: KoreanText) -> Iterator[str | None]:
    """Negate, widen or narrow a condition inside an exception."""
    for n, i, e in conditioned(t.policy):
        case, head = t.case(e), t.clause(e.when)
        for c in map(t.clause, (*e.only_if, *e.but_not)):
            front, _, last = c.rpartition(" ")
            for new in (
                f"{c} 것이 아닌",
                f"{c} 것으로 예상되는",
                f"{front} 서면으로 {last}",
                front,
            ):
                yield _put(t, n, i, head + case[len(head) :].replace(c, new, 1))


def _unbracket(t: KoreanText) -> Iterator[str | None]:
    """Put a condition where it could belong to another exception, or to the norm."""
    for n, i, e in conditioned(t.policy):
        index = t.host(n)
        case = t.case(e)
        inside = case.partition("(")[2].removesuffix(")")
        bare = case.removesuffix(f"({inside})")
        if index is None or case not in t.lines[index]:
            continue
        line = t.lines[index].replace(case, bare, 1)
        yield t.with_line(index, f"{line} 이 경우 {inside}.")
        yield _put(t, n, i, f"{bare}, {inside}")
        for c in map(t.clause, e.but_not):
            yield t.with_line(index, f"{line} 다만, {c} 경우에는 그러하지 아니하다.")
        for c in map(t.clause, e.only_if):
            yield _put(t, n, i, f"{c} 경우로서 {bare}")


OPERATORS = tuple(
    KoreanOperator(name, "exception_set", apply)
    for name, apply in {
        "drop a condition inside an exception": _drop,
        "add a condition inside an exception": _add,
        "turn a condition inside an exception round": _turn,
        "move a condition to another exception": _move,
        "make an exception of a condition inside one": _raise,
        "make a condition inside one of an exception": _lower,
        "and for or among conditions": _join,
        "loosen a condition inside an exception": _loosen,
        "reword a condition inside an exception": _reword,
        "leave open what a condition belongs to": _unbracket,
    }.items()
)
