"""Operators that reword a norm as editors do, and get it wrong: lists, `may only if`."""

from __future__ import annotations

from collections.abc import Iterator

from judgeaudit.core.records import Norm
from judgeaudit.policy.mutation._text import Operator, Text

__all__ = ["OPERATORS"]


def _bare(t: Text, n: Norm) -> tuple[int, str] | None:
    """Return a norm's line without its exceptions and full stop; None where it has none."""
    if t.apart or not n.exceptions:
        return None
    text = t.with_exceptions(n, [])
    if text is None:
        return None
    index = t.norm_line(n)
    return index, text.split("\n")[index].removesuffix(".")


def _each(t: Text, more_than: int = 0) -> Iterator[tuple[Norm, int, str, list[str]]]:
    for n in t.policy.norms:
        found = _bare(t, n)
        if found is not None and len(n.exceptions) > more_than:
            yield n, *found, t.whens(n)


def _wheres(clauses: list[str], link: str = ", or") -> str:
    return f"{link} ".join(f"where {c}" for c in clauses)


def _items(clauses: list[str], link: str) -> str:
    return "".join(f"\n   - {c}{link if c != clauses[-1] else '.'}" for c in clauses)


def _list_all(t: Text) -> Iterator[str]:
    """List exceptions of which all must be met, or of which it is open whether all must."""
    for _, i, line, clauses in _each(t, 1):
        yield t.with_line(i, f"{line}. This does not apply where:{_items(clauses, '; and')}")
        yield t.with_line(i, f"{line} unless:{_items(clauses, ';')}")
        yield t.with_line(i, f"{line}, except where {', where '.join(clauses)}.")
        yield t.with_line(i, f"{line}, except where {' and where '.join(clauses)}.")


def _list_short(t: Text) -> Iterator[str]:
    """List an exception too few, or announce another number of them than follows."""
    for _, i, line, clauses in _each(t):
        yield t.with_line(
            i, f"{line}. There are {len(clauses) + 2} exceptions:{_items(clauses, ';')}"
        )
        yield t.with_line(i, f"{line}. Exceptions:{_items(clauses[1:], ';')}")
        yield t.with_line(i, f"{line}. The only exceptions:{_items([*clauses, clauses[0]], ';')}")


def _list_elsewhere(t: Text) -> Iterator[str]:
    """Put the list of a norm under another one."""
    for n, i, line, clauses in _each(t):
        for other in t.policy.norms:
            if other.id == n.id:
                continue
            lines = t.with_line(i, f"{line}.").split("\n")
            at = t.norm_line(other)
            lines[at] += f" Exceptions:{_items(clauses, ';')}"
            yield "\n".join(lines)
            break


def _list_turned(t: Text) -> Iterator[str]:
    """Let a list say where the norm holds."""
    for _, i, line, clauses in _each(t):
        for lead in (
            " in the following cases",
            " only in the following cases",
            ". Examples",
            " if",
        ):
            yield t.with_line(i, f"{line}{lead}:{_items(clauses, '; or')}")


def _no_only(t: Text) -> Iterator[str | None]:
    """Permit something in some cases, and say nothing or the wrong thing of all others."""
    for n, i, _, clauses in _each(t):
        if n.force != "prohibited":
            continue
        permitted = _bare(Text(t.with_force(n, "may {base}", "may be {participle}"), t.policy), n)
        if permitted is None:
            continue
        line = permitted[1]
        ifs = " or if ".join(clauses)
        yield t.with_line(i, f"{line} if {ifs}.")
        yield (
            t.with_line(i, f"{line} only if {' and if '.join(clauses)}.")
            if len(clauses) > 1
            else None
        )
        yield t.with_line(i, f"{line} only if {ifs}. Otherwise it may.")
        yield t.with_line(i, f"{line} only if {ifs}. Otherwise it need not.")
        yield t.with_line(i, f"{line} even if {ifs}.")


def _lift(t: Text) -> Iterator[str]:
    """Say behind a norm what cannot be said of it, or says something else."""
    for n, i, line, clauses in _each(t):
        wheres = _wheres(clauses)
        wrong = [
            "It must do so",
            "The user may do so",
            "This ban applies only",
            "This applies only",
        ]
        wrong.append("This duty is lifted" if n.force != "required" else "This ban is lifted")
        for begin in wrong:
            yield t.with_line(i, f"{line}. {begin} {wheres}.")


def _rival(t: Text) -> Iterator[str]:
    """Say that what is not the only exception is the only one."""
    for n, i, line, clauses in _each(t, 1):
        first, rest = clauses[0], _wheres(clauses[1:])
        yield t.with_line(i, f"{line} unless {first}. The only exception is {rest}.")
        if n.force == "prohibited":
            yield t.with_line(i, f"{line} unless {first}. This ban is lifted only {rest}.")


def _inner(t: Text) -> Iterator[str]:
    """State a condition inside an exception so that it belongs to another, or to none."""
    for n, i, line, _ in _each(t):
        for e in n.exceptions:
            for c in e.but_not:
                clauses = [t.exception(x) if x is not e else t.clause(x.when) for x in n.exceptions]
                if len(clauses) > 1 or len(e.but_not) > 1 or e.only_if:
                    rest = f"This exception does not apply where {t.clause(c)}."
                    yield t.with_line(i, f"{line} unless {', or unless '.join(clauses)}. {rest}")
                rest = f"This exception applies only where {t.clause(c)}."
                yield t.with_line(i, f"{line} unless {', or unless '.join(clauses)}. {rest}")


OPERATORS = tuple(
    Operator(name, "exception_set", apply)
    for name, apply in {
        "list exceptions of which all must be met": _list_all,
        "list too few exceptions, or announce another number": _list_short,
        "list exceptions under another norm": _list_elsewhere,
        "list where a norm holds": _list_turned,
        "permit in some cases, and leave the others open": _no_only,
        "say behind a norm what cannot be said of it": _lift,
        "call one of several exceptions the only one": _rival,
        "state a condition apart from its exception": _inner,
    }.items()
)
