"""Korean particles and verb slots for the renderer: which form follows which word."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

__all__ = ["particle", "verb_slots"]

_FIRST, _LAST = ord("가"), ord("힣")
_FINALS = 28
_RIEUL = 8
# how the digits are read: yeong, il, i, sam, sa, o, yuk, chil, pal, gu
_DIGITS = {"0": "영", "1": "일", "2": "이", "3": "삼", "4": "사", "5": "오", "6": "육", "7": "칠",
           "8": "팔", "9": "구"}  # fmt: skip
_POWERS = {1: "십", 2: "백", 3: "천", 4: "만", 5: "만", 6: "만", 7: "만", 8: "억", 12: "조"}
_LETTERS = {"L": "엘", "M": "엠", "N": "엔", "R": "알"}
_CLOSING = "\"'”’」』>]"


def particle(word: str, pair: str) -> str:
    """Put a particle behind a word.

    Parameters
    ----------
    word : str
        A word or phrase. What stands in brackets at its end is not read aloud, quotation marks
        neither; numbers are read as Korean numbers, Latin words as they are borrowed.
    pair : str
        The form behind a consonant and the one behind a vowel, parted by a slash: "은/는",
        "이/가", "을/를", "으로/로", "이란/란".

    Examples
    --------
    >>> particle("이용자", "은/는"), particle("API 3", "을/를"), particle("서울", "으로/로")
    ('이용자는', 'API 3을', '서울로')
    """
    after_consonant, _, after_vowel = pair.partition("/")
    final = _final(word)
    closed = final != 0 and not (after_consonant.startswith("으") and final == _RIEUL)
    return word + (after_consonant if closed else after_vowel)


def _final(word: str) -> int:
    """Return the number of the final consonant of the last syllable that is read aloud; 0: none."""
    bare = unicodedata.normalize("NFC", word).rstrip(_CLOSING)
    while bare.endswith(")") and "(" in bare:
        bare = bare[: bare.rindex("(")].rstrip().rstrip(_CLOSING)
    spoken = _spoken(bare)
    if not spoken or not _FIRST <= ord(spoken) <= _LAST:
        return 0
    return (ord(spoken) - _FIRST) % _FINALS


def _spoken(bare: str) -> str:
    """Return the syllable that ends the word when it is read aloud."""
    if number := re.search(r"[\d,]*\d(?:\.\d+)?%?$", bare):
        if number[0].endswith("%"):
            return "트"
        return _spoken_number(number[0].replace(",", ""))
    if latin := re.search(r"[A-Za-z]+$", bare):
        return _spoken_latin(latin[0])
    return bare[-1:]


def _spoken_number(number: str) -> str:
    zeros = len(number) - len(number.rstrip("0"))
    if "." in number or zeros == 0 or zeros == len(number):
        return _DIGITS[number[-1]]
    return _POWERS[max(p for p in _POWERS if p <= zeros)]


def _spoken_latin(word: str) -> str:
    """Guess how a Latin word ends: capitals letter by letter, else by the sound of its end."""
    if word.isupper():
        return _LETTERS.get(word[-1], "이")
    end = word.lower()
    if end.endswith(("l", "le")):
        return "을"
    if end.endswith(("m", "n", "me", "ne", "ng")):
        return "은"
    if re.search(r"(?:^|[^aeiou])[aeiou](?:ck|pp|tt|[bpktc])$", end):
        return "읍"
    return "이"


def verb_slots(verb: Mapping[str, str]) -> dict[str, str]:
    """Return the forms of a verb that wordings ask for.

    `stem` is the dictionary form without its ending; `short` is the infinitive as it is contracted
    in speech (하여: 해).
    """
    infinitive = verb["infinitive"]
    short = infinitive[:-2] + "해" if infinitive.endswith("하여") else infinitive
    return {**verb, "stem": verb["base"].removesuffix("다"), "short": short}
