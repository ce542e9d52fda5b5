"""The forms of an English verb, from its base: the reader's own, not a policy's word for it."""

from __future__ import annotations

from functools import lru_cache

__all__ = ["forms", "is_participle"]

_VOWELS = frozenset("aeiou")

# base past participle
_IRREGULAR = """
abide abode abided|arise arose arisen|bear bore borne|become became become|begin began begun
bet bet bet|bid bid bid|bind bound bound|break broke broken|bring brought brought
broadcast broadcast broadcast|build built built|burn burnt burnt|buy bought bought
cast cast cast|catch caught caught|choose chose chosen|come came come|cost cost cost|cut cut cut
deal dealt dealt|dig dug dug|do did done|draw drew drawn|drink drank drunk|drive drove driven
eat ate eaten|fall fell fallen|feed fed fed|feel felt felt|fight fought fought|find found found
fly flew flown|forbid forbade forbidden|forecast forecast forecast|forget forgot forgotten
forgive forgave forgiven|freeze froze frozen|get got got|give gave given|go went gone
grow grew grown|hang hung hung|have had had|hear heard heard|hide hid hidden|hit hit hit
hold held held|hurt hurt hurt|keep kept kept|know knew known|lay laid laid|lead led led
learn learnt learnt|leave left left|lend lent lent|let let let|lie lay lain|lose lost lost
make made made|mean meant meant|meet met met|mislead misled misled|override overrode overridden
overwrite overwrote overwritten|pay paid paid|put put put|quit quit quit|read read read
rebuild rebuilt rebuilt|reset reset reset|ride rode ridden|ring rang rung|rise rose risen
run ran run|say said said|see saw seen|seek sought sought|sell sold sold|send sent sent
set set set|shake shook shaken|shoot shot shot|show showed shown|shut shut shut|sing sang sung
sit sat sat|sleep slept slept|speak spoke spoken|spend spent spent|split split split
spread spread spread|stand stood stood|steal stole stolen|stick stuck stuck|strike struck struck
swear swore sworn|take took taken|teach taught taught|tear tore torn|tell told told
think thought thought|throw threw thrown|understand understood understood
undertake undertook undertaken|undo undid undone|unset unset unset|upset upset upset
wake woke woken|wear wore worn|win won won|withdraw withdrew withdrawn|withhold withheld withheld
write wrote written
"""

_PARTICIPLES = {
    entry.split()[0]: tuple(entry.split()[1:])
    for line in _IRREGULAR.strip().splitlines()
    for entry in line.split("|")
}


_PREFIXES = ("re", "over", "under", "out", "un", "mis", "fore", "inter", "de")


@lru_cache(maxsize=4096)
def forms(base: str) -> dict[str, frozenset[str]]:
    """Return the words that `base`, `gerund` and `participle` may be.

    Examples
    --------
    >>> sorted(forms("run")["gerund"]), sorted(forms("take")["participle"])
    (['runing', 'running'], ['taken'])
    """
    doubled = (
        len(base) >= 3
        and base[-1] not in _VOWELS | set("wxy")
        and base[-2] in _VOWELS
        and base[-3] not in _VOWELS
    )
    gerund = {base + "ing"}
    past = {base + "ed"}
    if base.endswith("ie"):
        gerund, past = {base[:-2] + "ying"}, {base + "d"}
    elif base.endswith("e"):
        past = {base + "d"}
        if not base.endswith(("ee", "oe", "ye")):
            gerund = {base[:-1] + "ing"}
    elif base.endswith("y") and len(base) > 1 and base[-2] not in _VOWELS:
        past = {base[:-1] + "ied"}
    elif base.endswith("c"):
        gerund, past = {base + "king"}, {base + "ked"}
    if doubled:
        # both spellings: the stress decides, and no rule here knows it ("permitting", "visiting")
        gerund.add(base + base[-1] + "ing")
        past.add(base + base[-1] + "ed")
    past = _irregular(base, past)
    return {
        "base": frozenset({base}),
        "gerund": frozenset(gerund),
        "participle": frozenset(past),
    }


def _irregular(base: str, past: set[str]) -> set[str]:
    """Return the participles of an irregular verb, or those given."""
    prefixed = {
        prefix + _PARTICIPLES[base.removeprefix(prefix)][1]
        for prefix in _PREFIXES
        if base.startswith(prefix) and base.removeprefix(prefix) in _PARTICIPLES
    }
    if base not in _PARTICIPLES:
        return past | prefixed
    found = {_PARTICIPLES[base][1]}
    if base in {"burn", "learn", "bid", "bet", "quit", "broadcast", "forecast", "get"}:
        found.add("gotten" if base == "get" else base + "ed")
    return found


def is_participle(word: str) -> bool:
    """Say whether a word can be the past participle of a verb."""
    return word in _PAST or (word.endswith("ed") and len(word) > 4)


_PAST = frozenset(p for _, p in _PARTICIPLES.values())
