"""A policy out of single sentences: what a model says of each, checked word by word, put together.

A small model loses its way in a whole policy. Asked of one sentence at a time what it does, and to
copy the parts of one norm, it has little to invent; and what it invents is found, for every word
of a part must stand in the sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from judgeaudit.core.errors import PolicyError
from judgeaudit.policy.coverage import content_words
from judgeaudit.policy.morphology_en import forms
from judgeaudit.policy.segment import Statement, statements, tokens

__all__ = ["KINDS", "SCHEMAS", "Assembled", "Piece", "assemble", "check_part", "sentences"]

_RULES: Final[dict[str, tuple[str, str, str]]] = {
    "any_violation_is_unsafe": ("threshold", "level", "any"),
    "material_violation_is_unsafe": ("threshold", "level", "material"),
    "significant_violation_is_unsafe": ("threshold", "level", "significant"),
    "doubt_is_unsafe": ("burden", "doubt", "UNSAFE"),
    "doubt_is_safe": ("burden", "doubt", "SAFE"),
    "exception_must_be_shown": ("burden", "exception", "must_be_shown"),
    "exception_is_presumed": ("burden", "exception", "presumed"),
    "uncovered_is_safe": ("default", "uncovered", "SAFE"),
    "uncovered_is_unsafe": ("default", "uncovered", "UNSAFE"),
}
# what is chosen where the text says nothing; the draft marks it as assumed
_ASSUMED: Final = {
    ("threshold", "level"): "any",
    ("burden", "doubt"): "UNSAFE",
    ("burden", "exception"): "must_be_shown",
    ("default", "uncovered"): "SAFE",
}
KINDS: Final = ("norm", "definition", "applies_to", *_RULES, "other")
"""What a sentence of a policy may do."""

_TEXT: Final = {"type": "string"}
_FORCES: Final = (
    *("prohibited", "required", "permitted"),
    *("not_required", "discouraged", "recommended"),
)


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


SCHEMAS: Final[dict[str, dict[str, Any]]] = {
    "kind": _object({"kind": {"enum": list(KINDS)}}),
    "norm": _object(
        {
            "bearer": _TEXT,
            "force": {"enum": list(_FORCES)},
            **dict.fromkeys(("verb", "gerund", "participle", "object", "rest", "scope"), _TEXT),
            "exceptions": {"type": "array", "items": _TEXT, "maxItems": 8},
        }
    ),
    "definition": _object({"term": _TEXT, "meaning": _TEXT}),
}
"""JSON Schemas of the answers, by what is asked."""

_PRONOUNS: Final = frozenset(("it", "they", "he", "she", "you", "we"))
_CONNECTIVE = re.compile(
    r"\A(?:and |or )?(?:unless|except (?:where|if|when|that)|save where|if|where|when)\s+",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(r"(?:unless|except|save where)\b", re.IGNORECASE)
_NEGATED = re.compile(r"\b(?:not|never|neither|no|cannot)\b", re.IGNORECASE)
_NEGATIVE: Final = frozenset(("prohibited", "not_required", "discouraged"))
_APPLIES = re.compile(r"\b(?:appl(?:y|ies) to|covers?|governs?|binds?)\s+(.+)\Z", re.IGNORECASE)
_ARTICLE = re.compile(r"\A(?:the|an?|any|every|each|all|its|their)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Piece:
    """One sentence and what a model said of it.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    part : dict
        Of a norm or a definition, as its schema says.
    """

    sentence: str
    line: int
    kind: str
    part: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Assembled:
    """A policy as data, with what a person should know of how it came about.

    Parameters
    ----------
    data : dict
        As a model that drafts a whole policy would give it.
    notes : tuple of str
        Sentences that were left out although they seem to say something.
    """

    data: dict[str, Any]
    notes: tuple[str, ...]


def sentences(text: str) -> list[tuple[int, str]]:
    """Cut a text into sentences with their lines; headings and lead-ins are none."""
    return [(s.line, _written(s)) for s in statements(text) if not s.heading and len(s.words) > 2]


def _written(statement: Statement) -> str:
    raw: list[str] = []
    for token in statement.tokens:  # both halves of a contraction hold it as it was written
        if not raw or token.raw != raw[-1] or token.text == token.raw.lower():
            raw.append(token.raw)
    return re.sub(r" ([,.;:)?!%])", r"\1", " ".join(raw)).replace("( ", "(")


def check_part(asked: str, part: Mapping[str, Any], sentence: str) -> dict[str, Any]:
    """Tidy what a model took out of a sentence, and refuse what does not stand in it.

    Parameters
    ----------
    asked : {"norm", "definition"}
        What was asked for.

    Raises
    ------
    PolicyError
        Names the key; the message can be shown to the model.
    """
    made: dict[str, Any] = {}
    for key, kind in SCHEMAS[asked]["properties"].items():
        value = part.get(key)
        many = kind.get("type") == "array"
        if many and not (isinstance(value, list) and all(isinstance(v, str) for v in value)):
            raise PolicyError("must be a list of texts", where=key)
        if not many and not isinstance(value, str):
            raise PolicyError("must be a text", where=key)
        if "enum" in kind and value not in kind["enum"]:
            raise PolicyError(f"must be one of {', '.join(kind['enum'])}", where=key)
        made[key] = [_tidy(v) for v in value or ()] if many else _tidy(str(value))
    if asked == "norm":
        _settle_norm(made, sentence)
    copied = [
        text
        for key in ("verb", "object", "rest", "scope", "term", "meaning")
        if (text := made.get(key))
    ]
    needed = ("bearer", "object") if asked == "norm" else ("term", "meaning")
    for key in needed:
        if not made[key]:
            raise PolicyError("must not be empty", where=key)
    held = content_words(_words(sentence))
    for text in [*copied, *made.get("exceptions", ())]:
        if foreign := [w for w in _words(text) if content_words([w]) - held]:
            raise PolicyError(
                f"{text!r} does not stand in the rule (foreign: {', '.join(foreign)}); copy its "
                "words as they are"
            )
    return made


def _tidy(text: str) -> str:
    return " ".join(text.split()).strip(" .;:,")


def _words(text: str) -> tuple[str, ...]:
    return tuple(t.text for t in tokens(text))


def _settle_norm(made: dict[str, Any], sentence: str) -> None:
    made["verb"] = made["verb"].lower().removeprefix("to ")
    _check_verb(made)
    _check_force(made["force"], sentence)
    said = _words(sentence)
    if said[0] in _PRONOUNS:  # who that is the sentences before tell
        made["bearer"] = said[0]
    if foreign := [w for w in _words(made["bearer"]) if w not in said]:
        raise PolicyError(f"{' '.join(foreign)!r} does not stand in the rule", where="bearer")
    found = list(made["exceptions"])
    if _EXCEPTION.match(made["scope"]):  # it belongs where the renderer looks for it
        found.append(made["scope"])
        made["scope"] = ""
    clean = (_CONNECTIVE.sub("", e) for e in found)
    made["exceptions"] = list(dict.fromkeys(e for e in clean if e))


def _check_force(force: str, sentence: str) -> None:
    """Hold "must not" and its like against a force that allows or demands."""
    main = _EXCEPTION.split(sentence, maxsplit=1)[0] or sentence
    said = _NEGATED.search(main)
    if said and force not in _NEGATIVE:
        raise PolicyError(f"the rule says {said[0]!r}, so it is not {force}", where="force")


def _check_verb(made: dict[str, Any]) -> None:
    """Settle the forms of the verb by rule; an inflected one is led back to its base."""
    base = made["verb"]
    for shorter in (base.removesuffix("s"), base.removesuffix("es")):
        if base.endswith("s") and made["gerund"] in forms(shorter)["gerund"]:
            base = made["verb"] = shorter
            break
    for form in ("gerund", "participle"):
        if made[form] not in forms(base)[form] and len(forms(base)[form]) == 1:
            (made[form],) = forms(base)[form]
    if not re.fullmatch(r"[a-z-]+", base):
        raise PolicyError(f"must be one word in its base form, not {base!r}", where="verb")
    for form in ("gerund", "participle"):
        allowed = forms(base)[form]
        if made[form] not in allowed:
            raise PolicyError(
                f"of {base!r} it is {' or '.join(sorted(allowed))}, not {made[form]!r}", where=form
            )


def assemble(text: str, pieces: Sequence[Piece], *, name: str) -> Assembled:
    """Put the pieces of a text together as the data of a policy.

    Parameters
    ----------
    text : str
        The whole text; its first line, if it is no sentence, is the title.
    name : str
        Of the file; the policy's id and, where the text has none, its title come from it.

    Raises
    ------
    PolicyError
        If no sentence is a norm.
    """
    norms = [p for p in pieces if p.kind == "norm"]
    if not norms:
        raise PolicyError(
            "no sentence was found to be a norm",
            mend="Ask a larger model, or write the policy as data by hand",
        )
    bearers = [b for p in norms if (b := str(p.part["bearer"])).lower() not in _PRONOUNS]
    bearer = _most(bearers) or "the agent"
    notes: list[str] = []
    data: dict[str, Any] = {
        "id": _slug(name, "policy"),
        "title": _title(text) or name,
        "version": "1.0",
        "bearer": bearer,
        "bearer_plural": False,
        "scope": _scope(pieces, notes),
        "definitions": [dict(p.part) for p in pieces if p.kind == "definition"],
        "norms": _norms(norms, bearer, notes),
        "threshold": {},
        "burden": {},
        "default": {},
    }
    for p in pieces:
        if p.kind in _RULES:
            table, key, value = _RULES[p.kind]
            before = data[table].setdefault(key, value)
            if before != value:
                notes.append(f"line {p.line}: says {value}, but {before} was read before")
    data["assumed"] = sorted({table for table, key in _ASSUMED if key not in data[table]})
    for (table, key), value in _ASSUMED.items():
        data[table].setdefault(key, value)
    return Assembled(data, tuple(notes))


def _norms(norms: Sequence[Piece], bearer: str, notes: list[str]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    ids: Counter[str] = Counter()
    for p in norms:
        part = p.part
        who = str(part["bearer"]).lower()
        if who not in _PRONOUNS and who != bearer.lower():
            notes.append(f"line {p.line}: binds {part['bearer']!r}, not {bearer!r}; left out")
            continue
        topic = _ARTICLE.sub("", str(part["object"]))
        short = " ".join(topic.split()[:4])
        key = _slug(short, "norm")
        ids[key] += 1
        again = f" {ids[key]}" if ids[key] > 1 else ""
        exceptions = [
            {"id": f"{_slug(' '.join(when.split()[-2:]), 'exception')[:30]}_{k}", "when": when}
            for k, when in enumerate(part["exceptions"], 1)
        ]
        verb = {"base": part["verb"], "gerund": part["gerund"], "participle": part["participle"]}
        made.append(
            {
                "id": key + again.replace(" ", "_"),
                "title": short[:1].upper() + short[1:] + again,
                "force": part["force"],
                "action": {"verb": verb, "object": part["object"], "rest": part["rest"]},
                "scope": part["scope"],
                "exceptions": exceptions,
            }
        )
    return made


def _most(names: Sequence[str]) -> str:
    counted = Counter(n.lower() for n in names)
    return counted.most_common(1)[0][0] if counted else ""


def _slug(text: str, default: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:36].strip("_")
    return slug if slug[:1].isalpha() else default


def _title(text: str) -> str:
    first = text.strip().splitlines()[0].strip("#* \t")
    if first.endswith((".", "!", "?")) or len(first) > 100:
        return ""
    return re.sub(r"[.:;?!](?=\s)", ",", first.rstrip(":"))


def _scope(pieces: Sequence[Piece], notes: list[str]) -> str:
    for p in pieces:
        if p.kind == "applies_to":
            if found := _APPLIES.search(_tidy(p.sentence)):
                return found[1]
            notes.append(f"line {p.line}: says what the policy applies to, in words not understood")
    return ""
