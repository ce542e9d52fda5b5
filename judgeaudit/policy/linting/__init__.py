"""What makes a policy hard to judge by: plain, deterministic checks, each with an id.

A check reads the policy as data, never a rendering. It is serious where two readers can reach
opposite verdicts, or no verdict, from the policy alone; a caution where it invites them to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from judgeaudit.core.records import Policy
from judgeaudit.policy._toml import Lines, parse, place, read_text
from judgeaudit.policy.linting import exceptions, norms, words
from judgeaudit.policy.linting._problem import Path_, Problem, Severity, found

__all__ = ["CHECKS", "Problem", "Severity", "lint", "lint_file"]

_STAND_INS: dict[str, tuple[str, dict[str, Any]]] = {
    "threshold": ("how much of a violation makes a trajectory UNSAFE", {"level": "any"}),
    "burden": (
        "who loses where the trajectory leaves a question open",
        {"doubt": "SAFE", "exception": "must_be_shown"},
    ),
    "default": ("the verdict on conduct that no norm covers", {"uncovered": "SAFE"}),
}

CHECKS: dict[str, Callable[[Policy], Iterator[Problem]]] = {
    **exceptions.CHECKS,
    **norms.CHECKS,
    **words.CHECKS,
}
"""All checks by id; `missing-rule` looks at the file itself and is not among them."""


def lint(policy: Policy, *, lines: Lines | None = None, file: str = "") -> tuple[Problem, ...]:
    """Check a policy.

    Parameters
    ----------
    lines : dict, optional
        Lines of the policy's keys in its file, for the places.
    file : str
        Name of the file, for the places.

    Returns
    -------
    tuple of Problem
        Serious ones first, else in the order of the policy.
    """
    problems = [p for check in CHECKS.values() for p in check(policy)]
    if lines is not None:
        problems = [p.at(place(file, p.path, lines)) for p in problems]
    return tuple(sorted(problems, key=lambda p: (p.severity != "serious", _place(p.path), p.id)))


def _place(path: Path_) -> tuple[tuple[bool, int, str], ...]:
    return tuple((isinstance(x, int), x if isinstance(x, int) else 0, str(x)) for x in path)


def lint_file(name_or_path: str | Path) -> tuple[Policy, tuple[Problem, ...]]:
    """Load a policy and check it; a missing threshold, burden or default is a problem, no error.

    Raises
    ------
    PolicyError
        If the policy cannot be loaded for another reason.
    """
    from judgeaudit.policy.loading import check_policy, policy_path

    path = policy_path(name_or_path)
    where = str(name_or_path) if str(name_or_path).endswith(".toml") else path.name
    data, lines = parse(read_text(path), where)
    missing: list[Problem] = []
    for key, (what, stand_in) in _STAND_INS.items():
        given = data.get(key)
        if given is None:
            data[key] = dict(stand_in)
            missing.append(found("missing-rule", (key,), f"[{key}] is missing: {what} is not said"))
        elif isinstance(given, dict) and key == "burden":
            for part in stand_in:
                if part not in given:
                    given[part] = stand_in[part]
                    said = f"`{part}` is missing: {what} is not said"
                    missing.append(found("missing-rule", (key, part), said))
        elif isinstance(given, dict) and not given:
            data[key] = dict(stand_in)
            missing.append(found("missing-rule", (key,), f"[{key}] is empty: {what} is not said"))
    policy = check_policy(data, lines, where)
    here = tuple(p.at(place(where, p.path, lines)) for p in missing)
    return policy, here + lint(policy, lines=lines, file=where)
