"""Cut a text into statements and tokens, keeping where each stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

__all__ = ["Statement", "Token", "statements", "tokens"]

_WORD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:['’-][^\W_]+)*|[^\s*]")
_MARKER = re.compile(r"\s*(?:[-*+•]|\([a-z]\)|\((?:i{1,3}|iv|vi{0,3})\)|(\d+)[.)])\s+")
_SENTENCE_END = re.compile(r"[.!?:](?:\s+(?=\S)|\s*$)")
_CONTRACTION = re.compile(r"(\w+)n['’]t\Z")


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number or mark: as compared (small letters), and as written."""

    text: str
    raw: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence, heading or label, and the line on which it begins.

    `number` is the list number of the block in which it stands; `first` says whether it opens
    that block; `block` numbers the blocks of a text; `item` says whether the block is an item of a
    list without numbers, `indent` how far it stands to the right, `colon` whether the statement
    ends in a colon.
    """

    tokens: tuple[Token, ...]
    line: int
    block: int
    number: int | None = None
    heading: bool = False
    first: bool = False
    item: bool = False
    indent: int = 0
    colon: bool = False
    words: tuple[str, ...] = field(init=False)
    """The compared words."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(t.text for t in self.tokens))

    @property
    def quote(self) -> str:
        """The sentence, shortened, for messages."""
        # the "not" of a contraction is written in the word before it
        text = " ".join(t.raw for t in self.tokens if t.text != "not" or t.raw.lower() == "not")
        text = re.sub(r" ([,.;:)?!])", r"\1", text).replace("( ", "(")
        return text if len(text) <= 90 else text[:87] + "..."


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[Token, ...]:
    """Cut into tokens; contractions of "not" are taken apart, only emphasis marks are left out."""
    found: list[Token] = []
    for raw in _WORD.findall(text):
        word = raw.replace("’", "'").lower()
        if word == "cannot":
            parts = ["can", "not"]
        elif contraction := _CONTRACTION.match(word):
            parts = [
                {"ca": "can", "wo": "will", "sha": "shall"}.get(contraction[1], contraction[1])
            ]
            parts.append("not")
        else:
            parts = [word]
        found.extend(Token(part, raw) for part in parts)
    return tuple(found)


def statements(text: str) -> list[Statement]:
    """Cut a Markdown text into statements.

    Emphasis is dropped, list markers become numbers, wrapped lines are joined. A sentence ends at
    a full stop, question mark, exclamation mark or colon before a blank or the end of its block.
    """
    found: list[Statement] = []
    for index, (block, lines) in enumerate(_blocks(text)):
        pending: tuple[Token, ...] = ()
        begun = 0
        first = True
        for line_number, line in lines:
            start = 0
            plain = line.replace("*", "")
            for end in _SENTENCE_END.finditer(plain):
                if plain[end.start()] == "." and _is_abbreviation(plain[: end.start()]):
                    continue
                begun = begun if pending else line_number
                # a question asks for nothing: its mark stays, and no statement has one
                stop = end.start() + (plain[end.start()] == "?")
                pending += tokens(plain[start:stop])
                if pending:
                    colon = plain[end.start()] == ":"
                    found.append(block.statement(pending, begun, index, first, colon))
                    first = False
                pending, start = (), end.end()
            begun = begun if pending else line_number
            pending += tokens(plain[start:])
        if pending:
            found.append(block.statement(pending, begun, index, first, False))
    return found


def _is_abbreviation(before: str) -> bool:
    last = before.rsplit(None, 1)[-1].lstrip("(").lower() if before.split() else ""
    return (
        last in {"e.g", "i.e", "etc", "vs", "no", "approx", "cf"} and last != before.strip().lower()
    )


@dataclass(frozen=True, slots=True)
class _Block:
    number: int | None = None
    heading: bool = False
    item: bool = False
    indent: int = 0

    def statement(
        self, found: tuple[Token, ...], line: int, index: int, first: bool, colon: bool
    ) -> Statement:
        return Statement(
            found, line, index, self.number, self.heading, first, self.item, self.indent, colon
        )


def _blocks(text: str) -> Iterator[tuple[_Block, list[tuple[int, str]]]]:
    """Yield every heading, list item and paragraph with its lines."""
    lines: list[tuple[int, str]] = []
    block = _Block()
    for line_number, line in enumerate(text.split("\n"), start=1):
        marker = _MARKER.match(line)
        is_heading = line.startswith("#")
        if lines and (not line.strip() or marker or is_heading):
            yield block, lines
            lines, block = [], _Block()
        indent = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
        if is_heading:
            yield _Block(heading=True), [(line_number, line.lstrip("#").strip())]
        elif marker:
            number = int(marker[1]) if marker[1] else None
            block = _Block(number, item=number is None, indent=indent)
            lines = [(line_number, line[marker.end() :])]
        elif line.strip():
            if not lines:
                block = _Block(indent=indent)
            lines.append((line_number, line))
    if lines:
        yield block, lines
