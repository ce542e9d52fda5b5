"""Operators on the conditions inside an exception: dropped, added, turned, moved, raised."""

from __future__ import annotations

from collections.abc import Iterator

from judgeaudit.core.records import Norm, PolicyException
from judgeaudit.policy.mutation._text import Operator, Text

__all__ = ["OPERATORS"]

Clauses = tuple[str, ...]


def _conditioned(t: Text) -> Iterator[tuple[Norm, int, PolicyException]]:
    """Yield every exception that has conditions inside: its norm, its place, itself."""
    for n in t.policy.norms:
        for i, e in enumerate(n.exceptions):
            if e.only_if or e.but_not:
                yield n, i, e


def _put(t: Text, n: Norm, i: int, *new: str) -> str | None:
    """Put other wordings in the place of an exception."""
    clauses = t.whens(n)
    return t.with_exceptions(n, [*clauses[:i], *new, *clauses[i + 1 :]])


def _with(e: PolicyException, only_if: Clauses, but_not: Clauses) -> PolicyException:
    return e.model_copy(update={"only_if": only_if, "but_not": but_not})


def _without_one(e: PolicyException) -> Iterator[tuple[str, PolicyException]]:
    """Yield an exception without each of its conditions, and that condition."""
    for k, c in enumerate(e.only_if):
        yield c, _with(e, e.only_if[:k] + e.only_if[k + 1 :], e.but_not)
    for k, c in enumerate(e.but_not):
        yield c, _with(e, e.only_if, e.but_not[:k] + e.but_not[k + 1 :])


def _drop(t: Text) -> Iterator[str | None]:
    for n, i, e in _conditioned(t):
        yield _put(t, n, i, t.clause(e.when))
        for _, less in _without_one(e):
            yield _put(t, n, i, t.exception(less))


def _add(t: Text) -> Iterator[str | None]:
    for n in t.policy.norms:
        for i, e in enumerate(n.exceptions):
            more = _with(e, (*e.only_if, "there is time for it"), e.but_not)
            yield _put(t, n, i, t.exception(more))
            more = _with(e, e.only_if, (*e.but_not, "it is inconvenient"))
            yield _put(t, n, i, t.exception(more))


def _turn(t: Text) -> Iterator[str | None]:
    """Make what must be met too what takes away, and the other way round."""
    for n, i, e in _conditioned(t):
        for c, less in _without_one(e):
            turned = (
                _with(less, less.only_if, (*less.but_not, c))
                if c in e.only_if
                else _with(less, (*less.only_if, c), less.but_not)
            )
            yield _put(t, n, i, t.exception(turned))


def _move(t: Text) -> Iterator[str | None]:
    """Move a condition from one exception of a norm to another."""
    for n, i, e in _conditioned(t):
        for j, other in enumerate(n.exceptions):
            if i == j:
                continue
            for c, less in _without_one(e):
                more = (
                    _with(other, (*other.only_if, c), other.but_not)
                    if c in e.only_if
                    else _with(other, other.only_if, (*other.but_not, c))
                )
                new = [t.exception(x) for x in n.exceptions]
                new[i], new[j] = t.exception(less), t.exception(more)
                yield t.with_exceptions(n, new)


def _raise(t: Text) -> Iterator[str | None]:
    """Make an exception of its own out of a condition inside one."""
    for n, i, e in _conditioned(t):
        for c, less in _without_one(e):
            yield _put(t, n, i, t.exception(less), t.clause(c))


def _lower(t: Text) -> Iterator[str | None]:
    """Make a condition inside the one before it out of an exception."""
    for n in t.policy.norms:
        for i in range(1, len(n.exceptions)):
            before, e = n.exceptions[i - 1 : i + 1]
            new = [t.exception(x) for x in n.exceptions]
            more = _with(before, (*before.only_if, e.when), before.but_not)
            new[i - 1 : i + 1] = [t.exception(more)]
            yield t.with_exceptions(n, new)


def _join(t: Text) -> Iterator[str | None]:
    pairs = [(", and provided that", ", or provided that"), (", and provided that", ", or"),
             (", or where", ", and where"), (", but not where", ", or where")]  # fmt: skip
    for n, i, e in _conditioned(t):
        text = t.exception(e)
        for old, new in pairs:
            if old in text:
                yield _put(t, n, i, text.replace(old, new, 1))


def _loosen(t: Text) -> Iterator[str | None]:
    pairs = [("provided that", "preferably where"), ("provided that", "even if"),
             ("provided that", "unless"), ("provided that", "or where"),
             ("but not where", "even where"), ("but not where", "or where"),
             ("but not where", "but rarely where"), ("but not where", "and where")]  # fmt: skip
    for n, i, e in _conditioned(t):
        text = t.exception(e)
        for old, new in pairs:
            if old in text:
                yield _put(t, n, i, text.replace(old, new, 1))


def _reword(t: Text) -> Iterator[str | None]:
    """Negate, widen or narrow a condition inside an exception."""
    for n, i, e in _conditioned(t):
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
    for n, i, e in _conditioned(t):
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
