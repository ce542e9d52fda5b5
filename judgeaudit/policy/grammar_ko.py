"""The grammar of norms and exceptions for the Korean reader, on texts without blanks."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from judgeaudit.core.records import Dimension, Force
from judgeaudit.policy import lexicon_ko as lex
from judgeaudit.policy.morphology_ko import fits, forms
from judgeaudit.policy.segment import Statement, tokens

__all__ = [
    "Parts",
    "bears",
    "difference",
    "dimension_of",
    "joined",
    "likeness",
    "longest_first",
    "match_norm",
    "squeeze",
    "unlike",
]

_TAILS: dict[str, tuple[tuple[str, Force], ...]] = {}
for _form, _tail, _force in lex.FORCES:
    _TAILS[_tail] = (*_TAILS.get(_tail, ()), (_form, _force))


@lru_cache(maxsize=4096)
def squeeze(text: str) -> str:
    """Return a phrase as it is compared: without blanks, but for those between Latin words."""
    return joined([t.raw for t in tokens(text)])


def joined(raw: Sequence[str]) -> str:
    """Put the tokens of a statement together without blanks."""
    out = ""
    for token in raw:
        latin = out[-1:].isascii() and out[-1:].isalnum()
        out += (" " if latin and token[0].isascii() and token[0].isalnum() else "") + token
    out = unicodedata.normalize("NFC", out)
    return out.replace("“", '"').replace("”", '"').replace("‘", "'").replace("’", "'")


@dataclass(frozen=True, slots=True)
class Parts:
    """The words of one norm, as the policy calls them, without blanks."""

    norm_id: str
    bearer: str
    verb: str
    object: str
    rest: str
    scope: str

    @property
    def content(self) -> str:
        """Everything but who is bound."""
        return self.object + self.scope + self.rest + self.verb.removesuffix("다")


def match_norm(text: str, parts: Parts) -> Force | None:
    """Match a whole sentence with a norm: bearer, object, scope, rest in any order, then the verb.

    Each of them must be there once and carry the particle that its role and its last sound ask
    for. The object is the object of an active verb, or the subject of a passive one.
    """
    inflected = forms(parts.verb)
    for tail, kinds in _tails(text):
        front = text[: -len(tail)]
        for form, force in kinds:
            for verb in inflected[form]:
                if front.endswith(verb) and _constituents(
                    front[: len(front) - len(verb)], parts, passive=form == "passive"
                ):
                    return force
    return None


@lru_cache(maxsize=1024)
def _tails(text: str) -> tuple[tuple[str, tuple[tuple[str, Force], ...]], ...]:
    return tuple((tail, kinds) for tail, kinds in _TAILS.items() if text.endswith(tail))


def force_ending(text: str) -> str:
    """Return the longest ending of a sentence that can carry a force; empty: there is none."""
    return max((tail for tail, _ in _tails(text)), key=len, default="")


def written(verb: str) -> list[str]:
    """Return what a verb can look like in a text, longest first, passive stems included."""
    found = {f for group in forms(verb).values() for f in group}
    turned = [f.removesuffix("되어") for f in found if f.endswith("되어")]
    return sorted({*found, *(t + e for t in turned for e in ("되", "되는", "될"))}, key=len)[::-1]


def without(text: str, parts: Parts) -> str:
    """Leave out what a norm is made of, with its particles, to name what else is there."""
    verb = next((f for f in written(parts.verb) if f in text), "")
    for part, particles in (
        (parts.object, "[은는이가을를]?"),
        (parts.scope, ""),
        (parts.rest, ""),
        (verb, ""),
        (parts.bearer, "(?:에의하여|에의해서?|[은는이가])?"),
    ):
        text = re.sub(re.escape(part) + particles, "", text, count=1) if part else text
    return text.strip(",")


def _constituents(front: str, parts: Parts, *, passive: bool) -> bool:
    if passive:
        if not parts.object:
            return False
        bearer = [parts.bearer + "에의하여", parts.bearer + "에의해", parts.bearer + "에의해서"]
        object_ = _with_particles(parts.object, ("은", "는", "이", "가"))
    else:
        bearer = _with_particles(parts.bearer, ("은", "는", "이", "가"))
        object_ = _with_particles(parts.object, ("을", "를", "은", "는")) if parts.object else []
    wanted = [bearer, object_, *([phrase] for phrase in (parts.rest, parts.scope) if phrase)]
    return _consume(front, [choices for choices in wanted if choices], topics=0)


def _with_particles(phrase: str, particles: tuple[str, ...]) -> list[str]:
    return [phrase + p for p in particles if fits(phrase, p)]


def _consume(text: str, wanted: list[list[str]], topics: int) -> bool:
    """Say whether a text is made of the wanted constituents, each once, with one topic at most."""
    if not wanted:
        return not text
    for i, choices in enumerate(wanted):
        for choice in choices:
            topic = len(choices) > 1 and choice[-1] in "은는"
            if not text.startswith(choice) or (topic and topics):
                continue
            left = text[len(choice) :].removeprefix(",")
            if _consume(left, wanted[:i] + wanted[i + 1 :], topics + topic):
                return True
    return False


_HEDGE = re.compile(
    "가급적|되도록|가능한|원칙적|일반적|통상|보통|대체로|웬만|사정|노력|도록|아니|않|못"
)


def unlike(main: str, best: Parts) -> tuple[Dimension, str]:
    """Say how a sentence that is no norm of the policy differs from the nearest norm."""
    ending = force_ending(main)
    left = main.removesuffix(ending)
    missing = [part for part in (best.object, best.scope, best.rest) if part not in left]
    verb = next((f for f in written(best.verb) if f in left), None)
    bound = best.bearer in left
    passive = f"{best.bearer}에의" in left
    left = without(left, best)
    details = [f"missing {m!r}" for m in missing]
    details += [] if verb else [f"its verb is not {best.verb!r}"]
    details += [] if bound else [f"it does not bind {best.bearer!r}"]
    details += [] if ending else ["its force is not understood"]
    dimension: Dimension = "scope"
    if re.search(r"경우|때에|한하여|한해", left):
        dimension = "exception_set"
    # where nothing is left of a passive, it is its force that has no passive
    elif (
        not missing
        and verb
        and bound
        and (not ending or _HEDGE.search(left) or (passive and not left))
    ):
        dimension = "deontic_force"
    if not details:
        details = [f"not understood: {left!r}" if left else "its particles do not fit"]
    return dimension, "; ".join(details)


def longest_first(clauses: Iterable[str]) -> tuple[str, ...]:
    """Sort clauses so that none hides a longer one."""
    return tuple(sorted(set(clauses), key=lambda c: (-len(c), c)))


# ---- words for differences -----------------------------------------------------------------------


def bears(s: Statement) -> bool:
    """Say whether a sentence holds anything by which it could bear on a policy."""
    return lex.NORMATIVE.search(joined([t.raw for t in s.tokens])) is not None


def dimension_of(text: str) -> Dimension:
    """Name the dimension of a sentence by its weightiest words."""
    for dimension, stems in lex.DIMENSION_STEMS.items():
        if re.search(stems, text):
            return dimension
    return "scope"


def likeness(a: str, b: str) -> float:
    """Return the share of the syllable pairs of `a` that occur in `b`."""
    pairs_a, pairs_b = _pairs(a), _pairs(b)
    return sum((pairs_a & pairs_b).values()) / max(sum(pairs_a.values()), 1)


def _pairs(text: str) -> Counter[str]:
    return Counter(text[i : i + 2] for i in range(len(text) - 1))


def difference(expected: str, found: str) -> str:
    """Word the first difference between two texts."""
    for op, a, b, c, d in SequenceMatcher(None, expected, found, autojunk=False).get_opcodes():
        old, new = expected[a:b], found[c:d]
        if op == "replace":
            return f"{new!r} in place of {old!r}"
        if op == "delete":
            return f"{old!r} is missing"
        if op == "insert":
            return f"{new!r} is added"
    return "the same"
