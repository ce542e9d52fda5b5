"""Exceptions that have conditions inside, without one of them or with one more: in any language."""

from __future__ import annotations

from collections.abc import Iterator

from judgeaudit.core.records import Norm, Policy, PolicyException

__all__ = ["conditioned", "given", "without_one"]


def conditioned(policy: Policy) -> Iterator[tuple[Norm, int, PolicyException]]:
    """Yield every exception that has conditions inside: its norm, its place, itself."""
    for n in policy.norms:
        for i, e in enumerate(n.exceptions):
            if e.only_if or e.but_not:
                yield n, i, e


def given(e: PolicyException, c: str, *, only_if: bool) -> PolicyException:
    """Give an exception one more condition."""
    if only_if:
        return _with(e, (*e.only_if, c), e.but_not)
    return _with(e, e.only_if, (*e.but_not, c))


def without_one(e: PolicyException) -> Iterator[tuple[str, PolicyException]]:
    """Yield an exception without each of its conditions, and that condition."""
    for k, c in enumerate(e.only_if):
        yield c, _with(e, e.only_if[:k] + e.only_if[k + 1 :], e.but_not)
    for k, c in enumerate(e.but_not):
        yield c, _with(e, e.only_if, e.but_not[:k] + e.but_not[k + 1 :])


def _with(
    e: PolicyException, only_if: tuple[str, ...], but_not: tuple[str, ...]
) -> PolicyException:
    return e.model_copy(update={"only_if": only_if, "but_not": but_not})
