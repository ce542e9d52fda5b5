"""Operators on the conditions inside an exception: dropped, added, turned, moved, raised."""

from __future__ import annotations

from collections.abc import Iterator

from judgeaudit.core.records import Norm
from judgeaudit.policy.mutation._nested import conditioned, given, without_one
from judgeaudit.policy.mutation._text import Operator, Text

__all__ = ["OPERATORS"]


def _put(t: Text, n: Norm, i: int, *new: str) -> str | None:
    """Put other wordings in the place of an exception."""
    clauses = t.whens(n)
    return t.with_exceptions(n, [*clauses[:i], *new, *clauses[i + 1 :]])


def _drop(t: Text) -> Iterator[str | None]:
    for n, i, e in conditioned(t.policy):
        yield _put(t, n, i, t.clause(e.when))
        for _, less in without_one(e):
            yield _put(t, n, i, t.exception(less))


def _add(t: Text) -> Iterator[str | None]:
    for n in t.policy.norms:
        for i, e in enumerate(n.exceptions):
            for c, only_if in (("there is time for it", True), ("it is inconvenient", False)):
                yield _put(t, n, i, t.exception(given(e, c, only_if=only_if)))


def _turn(t: Text) -> Iterator[str | None]:
    """Make what must be met too what takes away, and the other way round."""
    for n, i, e in conditioned(t.policy):
        for c, less in without_one(e):
            yield _put(t, n, i, t.exception(given(less, c, only_if=c not in e.only_if)))


def _move(t: Text) -> Iterator[str | None]:
    """Move a condition from one exception of a norm to another."""
    for n, i, e in conditioned(t.policy):
        for j, other in enumerate(n.exceptions):
            if i == j:
                continue
            for c, less in without_one(e):
                more = given(other, c, only_if=c in e.only_if)
                new = [t.exception(x) for x in n.exceptions]
                new[i], new[j] = t.exception(less), t.exception(more)
                yield t.with_exceptions(n, new)


def _raise(t: Text) -> Iterator[str | None]:
    """Make an exception of its own out of a condition inside one."""
    for n, i, e in conditioned(t.policy):
        for c, less in without_one(e):
            yield _put(t, n, i, t.exception(less), t.clause(c))


def _lower(t: Text) -> Iterator[str | None]:
    """Make a condition inside the one before it out of an exception."""
    for n in t.policy.norms:
        for i in range(1, len(n.exceptions)):
            before, e = n.exceptions[i - 1 : i + 1]
            new = [t.exception(x) for x in n.exceptions]
            more = given(before, e.when, only_if=True)
            new[i - 1 : i + 1] = [t.exception(more)]
            yield t.with_exceptions(n, new)


def _join(t: Text) -> Iterator[str | None]:
    pairs = [(", and provided that", ", or provided that"), (", and provided that", ", or"),
             (", or where", ", and where"), (", but not where", ", or where")]  # fmt: skip
    for n, i, e in conditioned(t.policy):
        text = t.exception(e)
        for old, new in pairs:
            if old in text:
                yield _put(t, n, i, text.replace(old, new, 1))


def _loosen(t: Text) -> Iterator[str | None]:
    pairs = [("provided that", "preferably where"), ("provided that", "even if"),
             ("provided that", "unless"), ("provided that", "or where"),
             ("but not where", "even where"), ("but not where", "or where"),
             ("but not where", "but rarely where"), ("but not where", "and where")]  # fmt: skip
    for n, i, e in conditioned(t.policy):
        text = t.exception(e)
        for old, new in pairs:
            if old in text:
                yield _put(t, n, i, text.replace(old, new, 1))


def _reword(t: Text) -> Iterator[str | None]:
    """Negate, widen or narrow a condition inside an exception."""
    for n, i, e in conditioned(t.policy):
        text = t.exception(e)
        head = t.clause(e.when)
        for c in (*e.only_if, *e.but_not):
            worded = t.clause(c)
            for new in (
                f"it is not the case that {worded}",
                f"{worded} or is expected to",
                f"{worded} in writing",
            ):
                yield _put(t, n, i, head + text[len(head) :].replace(worded, new, 1))


def _unbracket(t: Text) -> Iterator[str | None]:
    """Leave the brackets out where the condition could then belong to the norm or to another."""
    for n, i, e in conditioned(t.policy):
        text = t.exception(e)
        last = i == len(n.exceptions) - 1
        if t.apart and not last and e.but_not and text.endswith(")"):
            yield _put(t, n, i, text.replace(" (", ", ", 1).removesuffix(")"))


OPERATORS = tuple(
    Operator(name, "exception_set", apply)
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
