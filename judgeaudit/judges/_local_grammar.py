"""Grammars (GBNF) that let a small model write nothing but the answer that a template asks for."""

from __future__ import annotations

from collections.abc import Sequence

from judgeaudit.judges._formats import VERDICT_GRAMMAR

__all__ = ["answer_tokens", "grammar_for"]

_RULES = {
    "verdict": r'"\"" ("SAFE" | "UNSAFE") "\""',
    "confidence": r'"0" ("." [0-9] [0-9]?)? | "1" (".0" "0"?)?',
}
# no control characters, quotes or backslashes: what is written is always JSON
_TEXT = r'"\"" [^"\\\x00-\x1F\x7F]{1,240} "\""'


def grammar_for(answer: Sequence[str]) -> str:
    r"""Return the grammar of an answer with these keys, in this order.

    No blanks beyond one after each colon and comma: where they are free, a small model at
    temperature 1 writes them up to the token cap.

    Examples
    --------
    >>> print(grammar_for(["verdict"]))
    root ::= "{\"verdict\": \"" ("SAFE" | "UNSAFE") "\"}"
    """
    if tuple(answer) == ("verdict",):
        return VERDICT_GRAMMAR
    names = [f"field-{k}" for k in range(len(answer))]
    pairs = [rf'"\"{key}\": " {name}' for key, name in zip(answer, names, strict=True)]
    root = 'root ::= "{" ' + ' ", " '.join(pairs) + ' "}"'
    fields = [
        f"{name} ::= {_RULES.get(key, _TEXT)}" for key, name in zip(answer, names, strict=True)
    ]
    return "\n".join([root, *fields])


def answer_tokens(answer: Sequence[str]) -> int:
    """Return a cap on an answer's tokens that no answer of the grammar reaches."""
    return sum(24 if key in _RULES else 260 for key in answer)
