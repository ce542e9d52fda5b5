"""One norm of a policy as English sentences: who, the force, the act, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

from judgeaudit.core.records import Force
from judgeaudit.policy import lexicon_en as lex
from judgeaudit.policy.morphology_en import forms
from judgeaudit.policy.reading import Vocabulary, starts
from judgeaudit.policy.variants_en import phrase_wordings

__all__ = ["NormPattern", "pattern"]

Words = tuple[str, ...]
Slot = frozenset[Words]

_FORCES: dict[str, list[lex.ForcePhrase]] = {}
for _phrase in lex.FORCES:
    _FORCES.setdefault(_phrase.words[0], []).append(_phrase)

_NEVER: tuple[Words, ...] = (
    ("under", "no", "circumstances"), ("in", "no", "circumstances"), ("in", "no", "case"),
    ("at", "no", "time"),
)  # fmt: skip
"""What in front of a sentence makes a ban of a permission: `under no circumstances may …`."""
_NO_ACTIVE: dict[Words, Force] = {
    ("may",): "prohibited", ("must",): "prohibited", ("shall",): "prohibited",
    ("is", "to"): "prohibited", ("are", "to"): "prohibited", ("should",): "discouraged",
    ("is", "allowed", "to"): "prohibited", ("is", "permitted", "to"): "prohibited",
    ("are", "allowed", "to"): "prohibited", ("are", "permitted", "to"): "prohibited",
}  # fmt: skip
"""Force phrases that "no" behind the verb turns into a ban: `must take no such action`."""
_NO_PASSIVE: dict[Words, Force] = {
    p: f for p, f in _NO_ACTIVE.items() if p not in {("must",), ("should",)}
}
""""No key must be revealed" could deny a duty; `no key may be revealed` is a ban."""
_NEITHER: dict[Words, Force] = {
    ("must", "neither"): "prohibited", ("may", "neither"): "prohibited",
    ("shall", "neither"): "prohibited", ("need", "neither"): "not_required",
    ("should", "neither"): "discouraged",
}  # fmt: skip
_IMPERSONAL: dict[Words, Force] = {
    ("it", "is", "forbidden", "for"): "prohibited", ("it", "is", "prohibited", "for"): "prohibited",
    ("it", "is", "not", "permitted", "for"): "prohibited",
    ("it", "is", "permitted", "for"): "permitted", ("it", "is", "permissible", "for"): "permitted",
}  # fmt: skip
_PARTICLES = frozenset(["on", "out", "off", "over", "up", "down", "in", "away", "back"])
_EMPTY: Slot = frozenset({()})


@dataclass(frozen=True, slots=True)
class NormPattern:
    """What a norm's sentence is made of; each slot holds all wordings of one part."""

    norm_id: str
    bearer: Words
    verb: Words
    object_: Slot
    no_object: Slot
    """The object with "no" for its article; empty where it cannot be said so."""
    rest: Slot
    scope: Slot
    clausal: bool
    """Whether the object holds a relative clause."""
    verb_forms: frozenset[str]
    """The forms of the verb's first word: without one of them a sentence is not this norm."""

    def force(self, words: Words) -> Force | None:
        """Return the force with which a sentence states this norm; None: it does not, in whole."""
        if self.verb_forms.isdisjoint(words):
            return None
        for main, slots in self._fronted(words):
            force = self._active(main, slots) or self._passive(main, slots)
            if force is not None:
                return force
        return None

    def _fronted(self, words: Words) -> Iterator[tuple[Words, tuple[Slot, ...]]]:
        """Yield the sentence, and what is left of it if the scope or the rest stands in front."""
        yield words, (self.rest, self.scope)
        for front, left in ((self.scope, self.rest), (self.rest, self.scope)):
            for phrase in front:
                if phrase and starts(words, 0, phrase):
                    after = words[len(phrase) :]
                    yield after[1:] if after[:1] == (",",) else after, (left,)

    def _active(self, words: Words, slots: tuple[Slot, ...]) -> Force | None:
        for i, force, complement, no, verb in self._opened(words):
            object_ = self.no_object if no else self.object_
            for at in self._verb(words, i, verb, complement):
                if _ends(words, at, self._orders(object_, slots)):
                    return force
            if complement == "base" and len(verb) == 2 and verb[1] in _PARTICLES:
                # the particle behind the object: `pass life-saving data on to a service`
                particle: Slot = frozenset({verb[1:]})
                if words[i : i + 1] == verb[:1] and _ends(
                    words, i + 1, [(object_, particle, *slots)]
                ):
                    return force
        return None

    def _orders(self, object_: Slot, slots: tuple[Slot, ...]) -> list[tuple[Slot, ...]]:
        """Return the orders of the parts behind the verb."""
        if self.clausal:
            # what stands behind `a customer who asks …` would be read as part of that clause
            return [(object_, *slots)]
        orders = [(object_, *order) for order in permutations(slots)]
        # a heavy object may stand behind: `state to the customer every fee above 1 US dollar`
        return [*orders, (slots[0], object_, *slots[1:])]

    def _opened(self, words: Words) -> Iterator[tuple[int, Force, str, bool, Words]]:
        """Yield where the verb begins, the force, its form, whether "no" follows, the verb."""
        if starts(words, 0, self.bearer):
            at = len(self.bearer)
            for phrase in _FORCES.get(words[at] if len(words) > at else "", ()):
                if starts(words, at, phrase.words):
                    end = at + len(phrase.words)
                    yield end, phrase.force, phrase.complement, False, self.verb
                    if phrase.words in _NO_ACTIVE:
                        yield end, _NO_ACTIVE[phrase.words], "base", True, self.verb
            for words_, force in _NEITHER.items():
                if starts(words, at, words_) and self.verb.count("or") == 1:
                    nor = tuple("nor" if w == "or" else w for w in self.verb)
                    yield at + len(words_), force, "base", False, nor
        yield from self._begun(words)

    def _begun(self, words: Words) -> Iterator[tuple[int, Force, str, bool, Words]]:
        """Yield the same for `it is forbidden for …` and `under no circumstances may …`."""
        for opener, force in _IMPERSONAL.items():
            whole = (*opener, *self.bearer, "to")
            if starts(words, 0, whole):
                yield len(whole), force, "base", False, self.verb
        for never in _NEVER:
            if not starts(words, 0, never):
                continue
            at = len(never)
            for auxiliary, comp in (
                (("may",), ()), (("must",), ()), (("shall",), ()), (("is",), ("to",)),
                (("are",), ("to",)), (("is",), ("allowed", "to")), (("is",), ("permitted", "to")),
                (("are",), ("allowed", "to")), (("are",), ("permitted", "to")),
            ):  # fmt: skip
                whole = (*auxiliary, *self.bearer, *comp)
                if starts(words, at, whole):
                    yield at + len(whole), "prohibited", "base", False, self.verb

    def _verb(self, words: Words, i: int, verb: Words, form: str) -> Iterator[int]:
        """Compare a verb phrase with a form of it, word by word (`spent or pledged`)."""
        end = i + len(verb)
        found = words[i:end]
        if len(found) == len(verb) and all(
            f == b or f in forms(b)[form] for f, b in zip(found, verb, strict=True)
        ):
            yield end

    def _passive(self, words: Words, slots: tuple[Slot, ...]) -> Force | None:
        """Match `personal data must not be disclosed by the agent …` in whole."""
        by: Slot = frozenset({("by", *self.bearer)})
        tails = list(permutations((by, *slots)))
        for no in (False, True):
            for begin in self.no_object if no else self.object_:
                at = len(begin)
                if not at or not starts(words, 0, begin):
                    continue
                for phrase in _FORCES.get(words[at] if len(words) > at else "", ()):
                    if not starts(words, at, phrase.words) or (
                        no and phrase.words not in _NO_PASSIVE
                    ):
                        continue
                    i = at + len(phrase.words)
                    if words[i : i + 1] != ("be" if phrase.complement == "base" else "being",):
                        continue
                    for end in self._verb(words, i + 1, self.verb, "participle"):
                        if _ends(words, end, tails):
                            return _NO_PASSIVE[phrase.words] if no else phrase.force
        return None


def _ends(words: Words, i: int, orders: Iterable[tuple[Slot, ...]]) -> bool:
    """Say whether what is left of a sentence is the slots in one of some orders."""
    return any(_fills(words, i, order) for order in orders)


def _fills(words: Words, i: int, slots: tuple[Slot, ...]) -> bool:
    if not slots:
        return i == len(words)
    return any(
        _fills(words, i + len(w), slots[1:]) for w in slots[0] if not w or starts(words, i, w)
    )


def pattern(v: Vocabulary, norm_id: str, force: Force) -> NormPattern:
    """Return the pattern of a norm of a policy."""
    return _pattern(
        norm_id,
        v.bearers[norm_id],
        v.verbs[norm_id],
        object_=v.objects[norm_id],
        rest=v.rests[norm_id],
        scope=v.scopes[norm_id],
        ban=force in {"prohibited", "discouraged"},
    )


@lru_cache(maxsize=2048)
def _pattern(
    norm_id: str,
    bearer: Words,
    verb: Words,
    *,
    object_: Words,
    rest: Words,
    scope: Words,
    ban: bool,
) -> NormPattern:
    objects = phrase_wordings(object_, negative=ban) if object_ else _EMPTY
    plain: Slot = phrase_wordings(object_) if object_ else frozenset()
    return NormPattern(
        norm_id,
        bearer,
        verb,
        objects,
        frozenset(("no", *o) for one in plain for o in _without_article(one)),
        phrase_wordings(rest, negative=ban) if rest else _EMPTY,
        phrase_wordings(scope) if scope else _EMPTY,
        bool({"who", "that", "which"} & set(object_)),
        frozenset({verb[0]}.union(*forms(verb[0]).values())),
    )


def _without_article(object_: Words) -> Iterator[Words]:
    """Yield an indefinite object as it stands behind "no"; none where it is definite or joined."""
    if object_[0] in {"a", "an"}:
        object_ = object_[1:]
    elif object_[0] in {"the", "any", "every", "more", "that", "this"} or "'" in "".join(
        object_[:2]
    ):
        return
    if "and" not in object_ and not any(w.isdigit() for w in object_[:1]):
        yield object_
