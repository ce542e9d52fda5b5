"""What machines read of a site: an index and two feeds; none tells when the site was built."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from judgeaudit._version import __version__
from judgeaudit.cards.clean import shorten
from judgeaudit.cards.site.reading import Group, Sited
from judgeaudit.cards.site.rows import FIGURES, cell
from judgeaudit.core.hashing import sha256_text

__all__ = ["atom", "index", "json_feed"]

_LATEST: Final = 100
_FORMAT: Final = "judgeaudit-site-1"


def _dump(tree: Any) -> str:
    return json.dumps(tree, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def index(cards: Sequence[Sited], parted: Sequence[Group], title: str) -> str:
    """List all cards with their figures, group by group."""
    group_of = {c.id: g for g in parted for c in g.cards}
    return _dump(
        {
            "format": _FORMAT,
            "generator": f"judgeaudit {__version__}",
            "title": title,
            "rule": "Figures may be ranked within a group only: its cards share policy, texts, "
            "corpus and protocol.",
            "groups": [{"id": g.id, "title": g.title, "apart": g.apart} for g in parted],
            "cards": [
                {
                    "id": c.id,
                    "group": group_of[c.id].id,
                    "json": f"cards/{c.id}/card.json",
                    "html": f"cards/{c.id}/card.html",
                    "markdown": f"cards/{c.id}/card.md",
                    "sha256": sha256_text(c.text),
                    "as_given": c.as_given,
                    "judge": c.judge,
                    "created": c.card.created,
                    "stance": c.card.headline.stance,
                    "headline": c.card.headline.sentence,
                    "policy_sha256": c.card.facts.policy.sha256,
                    "corpus_sha256": c.card.facts.corpus.sha256,
                    "protocol_sha256": c.card.facts.protocol_sha256,
                    "ledger_sha256": c.card.facts.ledger_sha256,
                    "figures": {
                        f.id: {"value": v.value, "low": v.low, "high": v.high, "words": v.text}
                        for f in FIGURES
                        for v in (cell(c, f),)
                    },
                }
                for c in cards
            ],
        }
    )


def _newest(cards: Sequence[Sited]) -> list[Sited]:
    return sorted(cards, key=lambda c: (c.when, c.id), reverse=True)[:_LATEST]


def _time(card: Sited) -> str:
    return card.when.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


def _urn(card: Sited) -> str:
    return f"urn:sha256:{sha256_text(f'{card.id} {card.text}')}"


def atom(cards: Sequence[Sited], title: str, base_url: str) -> str:
    """Write an Atom feed, the newest card first; addresses are relative without `base_url`."""
    newest = _newest(cards)
    own = base_url or "urn:sha256:" + sha256_text("\n".join(sorted(c.id for c in cards)))
    entries = "".join(
        f"<entry><id>{_urn(c)}</id>"
        f"<title>{escape(shorten(c.judge, 120))}</title>"
        f"<updated>{_time(c)}</updated>"
        f"<link href={quoteattr(f'{base_url}cards/{c.id}/card.html')}/>"
        f"<summary>{escape(shorten(c.card.headline.sentence, 1000))}</summary></entry>\n"
        for c in newest
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<id>{escape(own)}</id>\n<title>{escape(title)}</title>\n"
        f"<updated>{_time(newest[0])}</updated>\n"
        f"<author><name>judgeaudit</name></author>\n"
        f'<link rel="alternate" href={quoteattr(f"{base_url}index.html")}/>\n'
        f"{entries}</feed>\n"
    )


def json_feed(cards: Sequence[Sited], title: str, base_url: str) -> str:
    """Write a JSON Feed 1.1, the newest card first."""
    return _dump(
        {
            "version": "https://jsonfeed.org/version/1.1",
            "title": title,
            **({"home_page_url": base_url, "feed_url": f"{base_url}feed.json"} if base_url else {}),
            "items": [
                {
                    "id": _urn(c),
                    "url": f"{base_url}cards/{c.id}/card.html",
                    "title": shorten(c.judge, 120),
                    "content_text": shorten(c.card.headline.sentence, 1000),
                    "date_published": _time(c),
                }
                for c in _newest(cards)
            ],
        }
    )
