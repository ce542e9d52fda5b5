"""Say which policy a text states, whatever its wording: the text is read back against data.

Nothing is guessed. A text is taken for a policy only where the reader finds every norm, exception,
threshold, burden and default of it exactly once, and nothing else that bears on it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from judgeaudit.core.hashing import sha256_text
from judgeaudit.core.records import ConditionKind, Policy
from judgeaudit.policy.readback import read_back
from judgeaudit.policy.rendering import render_text
from judgeaudit.policy.transforms import intended, load_transforms

__all__ = ["PolicyReader", "Recognised", "changes"]

_LONGEST: Final = 200_000
"""Characters of a text that is looked at; a longer one states none of our policies."""

_KEPT: Final = 512
_KINDS: Final[tuple[ConditionKind, ...]] = ("threshold", "control")


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a text was found to state.

    Parameters
    ----------
    policy : Policy
        The policy, with its changes made.
    change : str
        Condition whose change was made: "base" for none, "strict", "lenient", ...
    """

    policy: Policy
    change: str


def changes() -> tuple[str, ...]:
    """List the conditions that change what a policy says, "base" (no change) first."""
    known = load_transforms()
    return (
        "base",
        *(
            id_
            for id_, t in known.items()
            if t.head.kind in _KINDS and t.head.side == "policy" and t.head.change.policy != "none"
        ),
    )


class PolicyReader:
    """Reads texts back against policies and their known changes, and words them anew.

    Parameters
    ----------
    policies : sequence of Policy
        What a text may state, in the order in which they are tried.
    only : iterable of str, optional
        Changes that are tried; all by default.
    """

    def __init__(self, policies: Sequence[Policy], *, only: Iterable[str] | None = None) -> None:
        self._policies = tuple(policies)
        self._only = changes() if only is None else tuple(only)
        self._read: OrderedDict[str, Recognised | None] = OrderedDict()
        self._worded: dict[tuple[str, str, str, int], str | None] = {}

    def recognise(self, text: str) -> Recognised | None:
        """Say what a text states.

        Returns
        -------
        Recognised or None
            None where it states none of the policies exactly: then nobody should put words into it.
        """
        if len(text) > _LONGEST:
            return None
        text = text.strip("\n") + "\n"
        key = sha256_text(text)
        if key in self._read:
            self._read.move_to_end(key)
            return self._read[key]
        found = self._read[key] = self._find(text)
        if len(self._read) > _KEPT:
            self._read.popitem(last=False)
        return found

    def _find(self, text: str) -> Recognised | None:
        known = load_transforms()
        kinds: tuple[ConditionKind, ...] = ("certified", "near")
        # exactly first: irrelevant context is put up with only where nothing else fits
        for kind in kinds:
            for policy in self._policies:
                for name in self._only:
                    stated = intended(policy, known[name].head.change)
                    if stated is not None and not read_back(text, stated, kind=kind):
                        return Recognised(stated, name)
        return None

    def reworded(self, found: Recognised, wording: str, number: int = 0) -> str | None:
        """Word what was recognised under a certified condition; None where it reads otherwise."""
        key = (found.policy.sha256, found.change, wording, number)
        if key not in self._worded:
            text = render_text(found.policy, wording, wording=number)
            self._worded[key] = None if read_back(text, found.policy) else text
        return self._worded[key]
