"""Operators on references between norms: dropped, added, misdirected, turned round, weakened."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judgeaudit.core.records import Norm
from judgeaudit.policy.mutation._text import Operator, Text

__all__ = ["OPERATORS"]


def _others(t: Text, n: Norm) -> list[Norm]:
    """Return the nearest norms to which a norm does not refer."""
    at = t.policy.norms.index(n)
    norms = (*t.policy.norms[at + 1 :], *t.policy.norms[:at])
    return [o for o in norms if o.id not in n.subject_to][:5]


def _subject(t: Text) -> Iterator[Norm]:
    return (n for n in t.policy.norms if n.subject_to)


def _phrase(t: Text, n: Norm) -> str:
    by_id = {x.id: x for x in t.policy.norms}
    return "subject to " + " and ".join(t.reference(by_id[id_]) for id_ in n.subject_to)


def _without(t: Text, n: Norm, body: str) -> str:
    """Take what a norm is subject to out of its sentence, in front or behind."""
    phrase = _phrase(t, n)
    front = f"S{phrase[1:]}, "
    if body.startswith(front):
        rest = body.removeprefix(front)
        return rest[:1].upper() + rest[1:]
    return body.replace(f", {phrase}", "", 1)


def _plus(body: str, phrase: str) -> str:
    return f"{body.removesuffix('.')}, {phrase}."


def _drop(t: Text) -> Iterator[str | None]:
    for n in _subject(t):
        yield t.edit(n, lambda body, n=n: _without(t, n, body))  # type: ignore[misc]


def _add(t: Text) -> Iterator[str | None]:
    for n in t.policy.norms:
        for o in _others(t, n):
            phrase = f"subject to {t.reference(o)}"
            yield t.edit(n, lambda body, phrase=phrase: _plus(body, phrase))  # type: ignore[misc]


def _all(t: Text) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield every reference that is not the name of a suspended norm, with its line."""
    for i, line in enumerate(t.lines):
        for m in re.finditer(r"\bnorm (\d+) \(", line):
            yield i, m


def _other_norm(t: Text) -> Iterator[str | None]:
    by_number = {t.numbers[n.id]: n for n in t.policy.norms if n.id in t.numbers}
    for i, m in _all(t):
        named = by_number[int(m[1])]
        line = t.lines[i]
        for o in _others(t, named)[:2]:
            old = t.reference(named)
            if line.startswith(old, m.start()) and o.title not in line:
                yield t.with_line(
                    i, line[: m.start()] + t.reference(o) + line[m.start() + len(old) :]
                )


def _wrong_number(t: Text) -> Iterator[str | None]:
    for i, m in _all(t):
        line = t.lines[i]
        for new in (int(m[1]) + 1, int(m[1]) - 1, 99):
            yield t.with_line(i, f"{line[: m.start()]}norm {new} ({line[m.end() :]}")


def _turn(t: Text) -> Iterator[str | None]:
    by_id = {n.id: n for n in t.policy.norms}
    for n in _subject(t):
        for id_ in n.subject_to:
            once = Text(
                t.edit(n, lambda body, n=n: _without(t, n, body)),  # type: ignore[misc]
                t.policy,
            )
            phrase = f"subject to {t.reference(n)}"
            yield once.edit(by_id[id_], lambda body, phrase=phrase: _plus(body, phrase))  # type: ignore[misc]


def _weaken(t: Text) -> Iterator[str | None]:
    for n in _subject(t):
        for new in ("in spite of", "regardless of", "normally subject to", "not subject to",
                    "subject, where practical, to", "even where it is subject to"):  # fmt: skip
            for a, b in (("subject to", new), ("Subject to", new[:1].upper() + new[1:])):
                yield t.edit(n, lambda body, a=a, b=b: body.replace(a, b, 1))  # type: ignore[misc]


OPERATORS = tuple(
    Operator(name, "exception_set", apply)
    for name, apply in {
        "drop what a norm is subject to": _drop,
        "make a norm subject to another": _add,
        "refer to another norm": _other_norm,
        "refer by a wrong number": _wrong_number,
        "turn round which norm prevails": _turn,
        "weaken which norm prevails": _weaken,
    }.items()
)
