"""Wrong rewrites on purpose: texts that say something else, to prove that the reader notices.

Each operator takes a correct text and yields texts that change its meaning in one way, mostly in
English that a careless or dishonest editor could have written. A reader that passes one of them
certifies nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from judgeaudit.core.records import Policy
from judgeaudit.policy.mutation import (
    constructions,
    exceptions,
    exceptions_ko,
    nested,
    nested_ko,
    norms,
    norms_ko,
    references,
    references_ko,
    verdict,
    verdict_ko,
    whole,
    whole_ko,
)
from judgeaudit.policy.mutation._text import Mutant, Operator, Text
from judgeaudit.policy.mutation._text_ko import KoreanOperator, KoreanText

__all__ = [
    "KOREAN_OPERATORS",
    "OPERATORS",
    "KoreanOperator",
    "Mutant",
    "Operator",
    "kill_rates",
    "mutants",
]

OPERATORS: dict[str, Operator] = {
    operator.name: operator
    for operator in (
        *exceptions.OPERATORS,
        *nested.OPERATORS,
        *references.OPERATORS,
        *constructions.OPERATORS,
        *norms.OPERATORS,
        *verdict.OPERATORS,
        *whole.OPERATORS,
    )
}
"""All operators on English texts by name."""

KOREAN_OPERATORS: dict[str, KoreanOperator] = {
    operator.name: operator
    for operator in (
        *exceptions_ko.OPERATORS,
        *nested_ko.OPERATORS,
        *references_ko.OPERATORS,
        *norms_ko.OPERATORS,
        *verdict_ko.OPERATORS,
        *whole_ko.OPERATORS,
    )
}
"""All operators on Korean texts; those that do the same as an English one share its name."""


def mutants(text: str, policy: Policy) -> Iterator[Mutant]:
    """Yield every mutant of a text under every operator that finds something to change.

    Parameters
    ----------
    text : str
        A correct rendering, in the language of its policy.
    policy : Policy
        What it states.
    """
    if policy.language == "ko":
        korean = KoreanText(text, policy)
        for one in KOREAN_OPERATORS.values():
            for changed in one.apply(korean):
                if changed is not None and changed != text:
                    yield Mutant(one.name, one.dimension, changed)
        return
    source = Text(text, policy)
    for operator in OPERATORS.values():
        for changed in operator.apply(source):
            if changed is not None and changed != text:
                yield Mutant(operator.name, operator.dimension, changed)


def kill_rates(
    policy: Policy, conditions: Iterable[str] | None = None, *, wording: int = 0
) -> dict[str, tuple[int, int]]:
    """Count how many wrong rewrites of a policy's renderings the reader catches.

    Parameters
    ----------
    policy : Policy
        The policy.
    conditions : iterable of str, optional
        Ids; all conditions that state a policy, where left out.
    wording : int
        Which wording of each.

    Returns
    -------
    dict of str to (int, int)
        By operator: mutants caught and mutants made; equal texts are counted once.
    """
    from judgeaudit.policy.readback import read_back
    from judgeaudit.policy.rendering import render_text
    from judgeaudit.policy.transforms import find_transform, intended, load_transforms

    names = KOREAN_OPERATORS if policy.language == "ko" else OPERATORS
    counts = dict.fromkeys(names, (0, 0))
    texts: set[str] = set()
    for id_ in load_transforms() if conditions is None else conditions:
        head = find_transform(id_).head
        stated = intended(policy, head.change, wording)
        text = render_text(policy, id_, wording=wording)
        if stated is None or text in texts:
            continue
        texts.add(text)
        for mutant in mutants(text, stated):
            caught, made = counts[mutant.operator]
            hit = bool(read_back(mutant.text, stated, kind=head.kind))
            counts[mutant.operator] = (caught + hit, made + 1)
    return counts
