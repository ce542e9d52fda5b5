"""Folders of cards, and the sites made of them."""

from __future__ import annotations

from pathlib import Path

from card_hostile import HOSTILE, hostile_run
from card_runs import always_safe, fragile, good

from judgeaudit import cards

TWO_GROUPS = {
    "some-judge/2026-09-01": "2026-09-01T00:00:00Z",
    "some-judge/2026-10-01": "2026-10-01T00:00:00Z",
    "some-judge/2026-11-30": "2026-11-30T00:00:00Z",
}


def put(folder: Path, name: str, card: cards.JudgeCard) -> Path:
    return cards.write_text(cards.to_json(card), folder / name / "card.json")


def changed(card: cards.JudgeCard, *, created: str = "", **facts) -> cards.JudgeCard:
    """Change facts of a card, and when it was made."""
    update = {"facts": card.facts.model_copy(update=facts)}
    return card.model_copy(update=update | ({"created": created} if created else {}))


def with_corpus(card: cards.JudgeCard, sha256: str) -> cards.JudgeCard:
    return changed(card, corpus=card.facts.corpus.model_copy(update={"sha256": sha256}))


def usual(folder: Path) -> Path:
    """One judge at three dates, two others, and one judge on another corpus."""
    kinds = (good(), fragile(), good())
    for (name, created), run in zip(TWO_GROUPS.items(), kinds, strict=True):
        put(folder, name, changed(run.card(), created=created))
    put(folder, "smollm2/2026-11-30", always_safe().card())
    put(folder, "some-judge/other-corpus", with_corpus(good().card(), "f" * 64))
    return folder


def hostile(folder: Path) -> Path:
    """Every hostile text, and folders with hostile names; two of each, so that they are joined."""
    for k, (name, text) in enumerate(sorted(HOSTILE.items())):
        place = f"<b onclick=x>&\"'{k}" if name in ("script", "close") else name
        put(folder, f"{place}/1", hostile_run(text).card())
    return folder
