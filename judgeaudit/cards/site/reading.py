"""Read a folder of cards, name each for a web address, and say which may be compared."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from judgeaudit.cards.assemble import cleaned
from judgeaudit.cards.clean import one_line, shorten
from judgeaudit.cards.jsonio import read
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.model import JudgeCard
from judgeaudit.cards.words import joined
from judgeaudit.core.errors import CardError
from judgeaudit.core.hashing import sha256_text

__all__ = ["Group", "Sited", "differences", "groups", "read_folder"]

_LARGEST: Final = 64 * 2**20
_NOT_PLAIN: Final = re.compile(r"[^a-z0-9._-]+")
_LONGEST_PART: Final = 60
_WHAT: Final = ("policy", "texts", "corpus", "protocol")
_TEXTS: Final = "texts"


@dataclass(frozen=True, slots=True)
class Sited:
    """A card with its place on the site.

    Parameters
    ----------
    id : str
        Its folder below the folder of cards, in letters that are plain in every address.
    card : JudgeCard
        Cleaned, and of the present layout.
    text : str
        The JSON that the site offers: the file's own where nothing in it had to be changed.
    signature : str, optional
        The signature beside it; left out where the text is not the file's own.
    figures : Figures
        Look-ups.
    """

    id: str
    card: JudgeCard
    text: str
    as_given: bool
    signature: str | None
    figures: Figures

    @property
    def judge(self) -> str:
        """The judge as it is asked for: `backend:model`."""
        j = self.card.facts.judge
        name = f"{j.backend}:{j.model}" if j.backend not in ("", "litellm") else j.model
        return one_line(name) or "unnamed"

    @property
    def judge_id(self) -> str:
        """The judge's name in addresses."""
        name = self.judge.strip(":")
        return f"{_plain(name)}-{sha256_text(self.judge)[:6]}"

    @property
    def when(self) -> dt.datetime:
        """When the card was made; a card of which that cannot be read counts as the oldest."""
        return moment(self.card.created)

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What its figures rest on: policy, texts, corpus and protocol, by their hashes."""
        f = self.card.facts
        texts = sorted(f"{r.condition} {r.wording} {r.sha256}" for r in f.renderings)
        texts_hash = sha256_text("\n".join(texts)) if texts else ""
        return f.policy.sha256, texts_hash, f.corpus.sha256, f.protocol_sha256

    @property
    def key(self) -> tuple[str, ...]:
        """Cards of one key may be ranked together; one with a hash that is not known, with none."""
        known = all(self.identity)
        return self.identity if known else (*self.identity, self.id)


@dataclass(frozen=True, slots=True)
class Group:
    """Cards that may be ranked together.

    Parameters
    ----------
    id : str
        Short name, from the hashes.
    title, short : str
        Policy, corpus and protocol in words, and in a few.
    apart : str
        Why it is not ranked with the others.
    """

    id: str
    title: str
    short: str
    apart: str
    cards: tuple[Sited, ...]


def moment(text: str) -> dt.datetime:
    """Read a time with an offset; what is none is the oldest there is."""
    oldest = dt.datetime.min.replace(tzinfo=dt.UTC)
    try:
        when = dt.datetime.fromisoformat(text)
        return oldest if when.tzinfo is None else when.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return oldest


def _plain(name: str) -> str:
    """Bring a name to small letters, digits, dots and hyphens; never empty, never hidden."""
    plain = _NOT_PLAIN.sub("-", name.lower()).strip("-.") or "unnamed"
    return plain[:_LONGEST_PART].strip("-.") or "unnamed"


def _id(parts: Iterable[str], taken: set[str]) -> str:
    names = [*parts] or ["card"]
    plain = "/".join(_plain(p) for p in names)
    if plain in taken:
        plain += f"-{sha256_text('/'.join(names).encode('utf-8', 'replace').decode())[:8]}"
    while plain in taken:
        plain += "x"
    taken.add(plain)
    return plain


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            raise CardError(
                f"larger than {_LARGEST // 2**20} MB: no card is",
                where=str(path),
                mend="Take it out of the folder",
            )
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as e:
        raise CardError("not UTF-8", where=str(path), mend="Make the card again") from e
    except OSError as e:
        raise CardError(f"cannot be read: {e.strerror or e}", where=str(path)) from e


def _sited(path: Path, root: Path, taken: set[str]) -> Sited:
    from judgeaudit.cards.jsonio import to_json

    text = _text(path)
    card, steps = read(text, where=str(path))
    clean = cleaned(card)
    as_given = not steps.steps and to_json(clean) == text
    beside = path.with_name("card.json.sig")
    return Sited(
        id=_id(path.parent.relative_to(root).parts, taken),
        card=clean,
        text=text if as_given else to_json(clean),
        as_given=as_given,
        signature=_text(beside) if as_given and beside.is_file() else None,
        figures=Figures(clean.facts, clean.scores),
    )


def read_folder(folder: Path) -> tuple[Sited, ...]:
    """Read every `card.json` below a folder, in the order of their places.

    Raises
    ------
    CardError
        If there is none, or one cannot be read; the message names it.
    """
    found = sorted(p for p in folder.rglob("card.json") if p.is_file())
    if not found:
        raise CardError(
            "no card.json in this folder or below it",
            where=str(folder),
            mend="Give the folder that holds <judge>/<date>/card.json",
        )
    taken: set[str] = set()
    return tuple(_sited(path, folder, taken) for path in found)


def differences(a: Sited, b: Sited) -> tuple[str, ...]:
    """Name what two cards do not have in common: policy, texts, corpus, protocol."""
    found = [
        what for what, x, y in zip(_WHAT, a.identity, b.identity, strict=True) if x != y or not x
    ]
    # another policy, or other conditions, have other texts: that says nothing more
    implied = "policy" in found or "protocol" in found
    return tuple(w for w in found if w != _TEXTS or not implied)


def _title(card: Sited) -> str:
    f = card.card.facts
    subset = f" {f.corpus.subset}" if f.corpus.subset else ""
    words = (
        f"policy {f.policy.id}",
        f"corpus {f.corpus.name}{subset}, {f.corpus.n_items:,} items",
        f"protocol {f.protocol.preset or 'own'}, {f.protocol_sha256[:8] or 'unknown'}",
    )
    return " · ".join(shorten(w, 80) for w in words)


def _short(card: Sited) -> str:
    f = card.card.facts
    words = f"{f.policy.id}, {f.corpus.n_items:,} items, {f.protocol.preset or 'own'}"
    return f"{shorten(words, 80)} {f.protocol_sha256[:4]}".rstrip()


def _apart(first: Sited, others: Sequence[Sited]) -> str:
    if not all(first.identity):
        return "Not ranked with any other: what it was measured with is not wholly known."
    if not others:
        return "All cards here share policy, texts, corpus and protocol."
    said = sorted({joined(differences(first, o)) for o in others})
    return f"Not ranked with the other groups: they differ in {'; in '.join(said)}."


def groups(cards: Sequence[Sited]) -> tuple[Group, ...]:
    """Part cards into those that may be ranked together, the largest group first."""
    by_key: dict[tuple[str, ...], list[Sited]] = {}
    for card in cards:
        by_key.setdefault(card.key, []).append(card)
    ordered = sorted(by_key.items(), key=lambda kv: (-len(kv[1]), kv[0]))
    firsts = [held[0] for _, held in ordered]
    return tuple(
        Group(
            id=f"g{sha256_text('|'.join(key))[:10]}",
            title=_title(held[0]),
            short=_short(held[0]),
            apart=_apart(held[0], [f for f in firsts if f is not held[0]]),
            cards=tuple(sorted(held, key=lambda c: (c.judge, c.when, c.id))),
        )
        for key, held in ordered
    )
