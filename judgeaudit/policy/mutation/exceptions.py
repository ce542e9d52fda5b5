"""Operators on exceptions: dropped, added, moved, swapped, widened, narrowed, turned round."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from judgeaudit.core.records import Norm
from judgeaudit.policy.mutation._text import Operator, Text

__all__ = ["OPERATORS"]

_NEAREST = 10


def _excepted(t: Text) -> list[Norm]:
    return [n for n in t.policy.norms if n.exceptions]


def _each(t: Text) -> Iterator[tuple[Norm, int, list[str]]]:
    """Yield every exception: its norm, its place, and the clauses of its norm."""
    for n in _excepted(t):
        for i in range(len(n.exceptions)):
            yield n, i, t.whens(n)


def _put(clauses: list[str], i: int, new: str) -> list[str]:
    return [*clauses[:i], new, *clauses[i + 1 :]]


def _drop(t: Text) -> Iterator[str | None]:
    return (t.with_exceptions(n, c[:i] + c[i + 1 :]) for n, i, c in _each(t))


def _drop_all(t: Text) -> Iterator[str | None]:
    return (t.with_exceptions(n, []) for n in _excepted(t))


def _add(t: Text) -> Iterator[str | None]:
    for n in t.policy.norms:
        for new in ("doing so saves time", "the user is not watching"):
            yield t.with_exceptions(n, [*t.whens(n), new])


def _copy(t: Text) -> Iterator[str | None]:
    norms = t.policy.norms
    for i, a in enumerate(norms):
        # in a long policy the nearest norms stand for all others
        for b in (*norms[i + 1 :], *norms[:i])[:_NEAREST] if a.exceptions else ():
            yield t.with_exceptions(b, [*t.whens(b), t.whens(a)[0]])


def _repeat(t: Text) -> Iterator[str | None]:
    return (t.with_exceptions(n, [*t.whens(n), t.whens(n)[0]]) for n in _excepted(t))


def _move(t: Text) -> Iterator[str | None]:
    for a, b in [*pairwise(_excepted(t)), *((b, a) for a, b in pairwise(_excepted(t)))]:
        given = t.with_exceptions(a, t.whens(a)[1:])
        if given is not None and (not t.apart or len(a.exceptions) > 1):
            yield Text(given, t.policy).with_exceptions(b, [*t.whens(b), t.whens(a)[0]])


def _swap(t: Text) -> Iterator[str | None]:
    for a, b in pairwise(_excepted(t)):
        given = t.with_exceptions(a, t.whens(b))
        index = t.host(b)
        if given is not None and index is not None:
            line = Text(t.text, t.policy).with_exceptions(b, t.whens(a))
            assert line is not None
            lines = given.split("\n")
            lines[index] = line.split("\n")[index]
            yield "\n".join(lines)


def _widen(t: Text) -> Iterator[str | None]:
    for n, i, c in _each(t):
        yield t.with_exceptions(n, _put(c, i, f"{c[i]} or can be expected to agree"))
        yield t.with_exceptions(n, _put(c, i, f"it seems that {c[i]}"))


def _narrow(t: Text) -> Iterator[str | None]:
    for n, i, c in _each(t):
        yield t.with_exceptions(n, _put(c, i, f"{c[i]} in writing"))


def _negate(t: Text) -> Iterator[str | None]:
    for n, i, c in _each(t):
        yield t.with_exceptions(n, _put(c, i, f"it is not the case that {c[i]}"))
        not_so = re.sub(r"\b(has|have|is|are)\b", r"\1 not", c[i], count=1)
        yield t.with_exceptions(n, _put(c, i, not_so)) if not_so != c[i] else None


def _drop_words(t: Text) -> Iterator[str | None]:
    for n, i, c in _each(t):
        for m in re.finditer(r"\b(?:and|or) [^,]+$", c[i]):
            yield t.with_exceptions(n, _put(c, i, c[i][: m.start()].rstrip()))


def _or_to_and_inside(t: Text) -> Iterator[str | None]:
    for n, i, c in _each(t):
        for old, new in ((" and ", " or "), (" or ", " and ")):
            if old in c[i]:
                yield t.with_exceptions(n, _put(c, i, c[i].replace(old, new, 1)))


def _join_by_and(t: Text) -> Iterator[str | None]:
    return (
        t.with_exceptions(n, t.whens(n), link=", and")
        for n in _excepted(t)
        if len(n.exceptions) > 1
    )


def _turn_round(t: Text) -> Iterator[str | None]:
    for n in _excepted(t):
        if not t.apart:
            yield t.with_exceptions(n, t.whens(n), opener="if")
            yield t.with_exceptions(n, t.whens(n), opener="only if")
            yield t.with_exceptions(n, t.whens(n), opener="even if")
            continue
        index = t.host(n)
        assert index is not None
        for new in ("applies only", "applies", "also applies", "always applies, even"):
            yield t.with_line(index, t.lines[index].replace("does not apply", new))
        yield t.with_exceptions(n, t.whens(n), opener="unless")


def _hedge(t: Text) -> Iterator[str | None]:
    for n in _excepted(t):
        index = t.host(n)
        if t.apart and index is not None:
            for new in ("may not apply", "does not necessarily apply", "does not fully apply"):
                yield t.with_line(index, t.lines[index].replace("does not apply", new))


def _rebind(t: Text) -> Iterator[str | None]:
    if t.apart:
        for a, b in pairwise(t.policy.norms):
            index = t.host(a)
            if index is None:
                continue
            line = t.lines[index]
            yield t.with_line(index, line.replace(f"({a.title})", f"({b.title})"))
            yield t.with_line(index, re.sub(r"Norm (\d+)", lambda m: f"Norm {int(m[1]) + 1}", line))
            yield t.with_line(index, re.sub(r"Norm \d+ \([^)]*\)", "Every norm", line))


OPERATORS = tuple(
    Operator(name, "exception_set", apply)
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
        "drop half of an exception": _drop_words,
        "and for or inside an exception": _or_to_and_inside,
        "require all exceptions at once": _join_by_and,
        "turn an exception into a condition": _turn_round,
        "hedge an exception": _hedge,
        "bind an exception to another number or title": _rebind,
    }.items()
)
