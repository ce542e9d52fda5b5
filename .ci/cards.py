"""Make the words, HTML and Markdown of every published card again, from the figures it holds.

usage: python .ci/cards.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from judgeaudit import cards  # noqa: E402

PUBLISHED = ROOT / "judge_cards" / "published"


def main(*flags: str) -> int:
    """Write what differs; with `--check`, only name it, and return 1 if anything does."""
    changed, n = [], 0
    for path in sorted(PUBLISHED.rglob("card.json")):
        card = cards.reworded(cards.from_json(path.read_text(encoding="utf-8"), where=str(path)))
        for target, text in (
            (path, cards.to_json(card)),
            (path.with_suffix(".html"), cards.to_html(card)),
            (path.with_suffix(".md"), cards.to_markdown(card)),
        ):
            n += 1
            if target.is_file() and target.read_text(encoding="utf-8") == text:
                continue
            changed.append(target.relative_to(ROOT).as_posix())
            if "--check" not in flags:
                cards.write_text(text, target)
    for name in changed:
        print(name)
    print(
        f"{len(changed)} of {n} files differ" if "--check" in flags else f"{len(changed)} written"
    )
    return 1 if changed and "--check" in flags else 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
