"""Korean verb forms and final consonants: the reader's own, not a policy's word for them."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

__all__ = ["fits", "forms", "has_final"]

_GA = 0xAC00
_JONG = 28
_N_JONG, _L_JONG, _B_JONG = 4, 8, 17
_B_IRREGULAR = frozenset("돕굽눕줍깁")
_D_IRREGULAR = ("듣", "걷", "싣", "깨닫", "일컫")
_S_IRREGULAR = frozenset("짓붓잇낫긋젓")
_EU_REGULAR = ("따르", "치르", "들르", "우러르")
_BRIGHT = frozenset((0, 2, 8))  # ㅏ ㅑ ㅗ

_ENDS_CLOSED = frozenset("013678")


def _parts(syllable: str) -> tuple[int, int, int]:
    code = ord(syllable) - _GA
    return code // 588, code % 588 // _JONG, code % _JONG


def _compose(first: int, vowel: int, final: int = 0) -> str:
    return chr(_GA + first * 588 + vowel * _JONG + final)


def _is_syllable(c: str) -> bool:
    return "가" <= c <= "힣"


def has_final(word: str) -> bool | None:
    """Say whether a word ends in a consonant; None where its spelling does not tell.

    Brackets at the end are not read; of a number the last digit decides unless it is a zero.
    """
    w = unicodedata.normalize("NFC", word).rstrip("\"'”’」』")
    while w.endswith(")") and "(" in w:
        w = w[: w.rindex("(")].rstrip("\"'”’」』 ")
    if not w:
        return None
    if _is_syllable(w[-1]):
        return _parts(w[-1])[2] != 0
    if w[-1].isdigit():
        # tens, hundreds, thousands, ten thousands and hundred millions all end in a consonant
        return w[-1] in _ENDS_CLOSED
    return None


@lru_cache(maxsize=4096)
def fits(word: str, particle: str) -> bool:
    """Say whether a particle has the form that its word asks for.

    Examples
    --------
    >>> fits("이용자", "는"), fits("이용자", "은"), fits("3", "을")
    (True, False, True)
    """
    closed = has_final(word)
    if closed is None:
        return True
    return closed if particle in {"은", "이", "을", "이란", "과"} else not closed


@lru_cache(maxsize=4096)
def forms(base: str) -> dict[str, frozenset[str]]:
    """Return the forms of a verb, from its dictionary form, without blanks.

    `stem` (…하), `infinitive` (…하여, …해), `adnominal` (…하는), `prospective` (…할) and `passive`
    (…되어). Of coordinated verbs (…하거나 …하다) the last one is inflected.

    Examples
    --------
    >>> sorted(forms("따르다")["infinitive"]), sorted(forms("만들다")["adnominal"])
    (['따라'], ['만드는'])
    """
    word = "".join(base.split())
    stem = word.removesuffix("다")
    if not stem or not _is_syllable(stem[-1]):
        return dict.fromkeys(
            ("stem", "infinitive", "adnominal", "prospective", "passive"), frozenset[str]()
        )
    return {
        "stem": frozenset({stem}),
        "infinitive": _infinitive(stem),
        "adnominal": frozenset({_adnominal(stem)}),
        "prospective": frozenset({_prospective(stem)}),
        "passive": _passive(stem),
    }


def _adnominal(stem: str) -> str:
    first, vowel, final = _parts(stem[-1])
    return stem[:-1] + _compose(first, vowel) + "는" if final == _L_JONG else stem + "는"


def _prospective(stem: str) -> str:
    first, vowel, final = _parts(stem[-1])
    if final == 0:
        return stem[:-1] + _compose(first, vowel, _L_JONG)
    if final == _L_JONG:
        return stem
    if stem[-1] in _B_IRREGULAR:
        return stem[:-1] + _compose(first, vowel) + "울"
    if stem.endswith(_D_IRREGULAR):
        return stem[:-1] + _compose(first, vowel, _L_JONG) + "을"
    if stem[-1] in _S_IRREGULAR:
        return stem[:-1] + _compose(first, vowel) + "을"
    return stem + "을"


def _infinitive(stem: str) -> frozenset[str]:  # noqa: PLR0911 - one return a class of verbs
    head, last = stem[:-1], stem[-1]
    first, vowel, final = _parts(last)
    if last == "하":
        return frozenset({head + "하여", head + "해"})
    if last == "르" and head and not stem.endswith(_EU_REGULAR):
        before = _parts(head[-1])
        doubled = head[:-1] + _compose(before[0], before[1], _L_JONG)
        return frozenset({doubled + ("라" if before[1] in _BRIGHT else "러")})
    if final == 0 and vowel == 18:  # ㅡ falls out
        bright = bool(head) and _parts(head[-1])[1] in _BRIGHT
        return frozenset({head + _compose(first, 0 if bright else 4)})
    if final == 0:
        # ㅏ ㅐ ㅓ ㅔ ㅕ swallow the ending or keep it; ㅗ ㅜ ㅣ ㅚ contract with it
        contracted = {8: 9, 13: 14, 20: 6, 11: 10}.get(vowel)
        long = stem + ("아" if vowel in _BRIGHT else "어")
        if contracted is not None:
            return frozenset({long, head + _compose(first, contracted)})
        return frozenset({stem}) if vowel in {0, 4, 6} else frozenset({stem, long})
    ending = "아" if vowel in _BRIGHT else "어"
    if last in _B_IRREGULAR:
        return frozenset({head + _compose(first, vowel) + ("와" if last == "돕" else "워")})
    if stem.endswith(_D_IRREGULAR):
        return frozenset({head + _compose(first, vowel, _L_JONG) + ending})
    if last in _S_IRREGULAR:
        return frozenset({head + _compose(first, vowel) + ending})
    return frozenset({stem + ending})


def _passive(stem: str) -> frozenset[str]:
    """Return what a verb in -하다 becomes in the passive: -되다, in every coordinated verb."""
    *others, last = stem.split("거나")
    if not all(v.endswith("하") for v in (*others, last)):
        return frozenset()
    turned = "".join(f"{v[:-1]}되거나" for v in others) + last[:-1]
    return frozenset({turned + "되어", turned + "돼"})
