"""What strangers wrote into a log or a transcript is inert on the card and in the explorer's answers."""

from __future__ import annotations

import json
import unicodedata
from html.parser import HTMLParser

import pytest
from card_hostile import HOSTILE
from inspect_world import sample, write_json
from viewer_world import Client, serving

from judgeaudit import audit, cards

TEXTS = {**HOSTILE, "megabytes": "<b>A</b> \u202e" * 500_000}


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes = set(), set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {k for k, _ in attrs}


def inspect_log(tmp_path):
    samples = [
        sample(
            n,
            input=text,
            messages=[{"role": "user", "content": text}, {"role": "assistant", "content": text}],
            scores={"safe": {"value": "CI"[n % 2], "explanation": text}},
            metadata={"kind": text[:200]},
        )
        for n, text in enumerate(TEXTS.values())
    ]
    folder = tmp_path / "logs"
    folder.mkdir()
    who = {"task": TEXTS["close"], "model": TEXTS["attribute"]}
    for wording in ("plain", "passive"):
        log = folder / f"{wording}.json"
        write_json(log, samples, task_args={"wording": wording}, **who)
    return audit.import_verdicts(
        folder, out=tmp_path / "run", format="inspect", condition="task_args.wording",
        map=["plain=base", "passive=T2"], label=["C=SAFE", "I=UNSAFE"], assume_certified=True,
    ).folder  # fmt: skip


def transcripts(tmp_path):
    path = tmp_path / "chats.jsonl"
    # half a surrogate pair is refused there, in one line: tests/corpora
    told = [t for n, t in TEXTS.items() if n not in {"surrogate", "blank"}]
    chats = [
        {
            "id": f"c{n}",
            "messages": [{"role": "user", "content": t}, {"role": "assistant", "content": t}],
            "label": ("SAFE", "UNSAFE")[n % 2],
        }
        for n, t in enumerate(told)
    ]
    path.write_text("\n".join(map(json.dumps, chats)), encoding="utf-8")
    made = audit.run(
        judge="scripted:quiet", corpus="transcripts", data=str(path), conditions=("base", "T1"),
        base_repeats=1, repeats=1, assume_ambiguity="none",
        out=str(tmp_path / "run"),
    )  # fmt: skip
    return made.folder


@pytest.mark.parametrize("made", [inspect_log, transcripts])
def test_an_import_is_inert_on_the_card_and_in_the_explorer(made, tmp_path):
    folder = made(tmp_path)
    if made is inspect_log:
        cards.write(audit.card(folder), folder)
    for name in ("card.html", "card.md", "card.json"):
        text = (folder / name).read_text(encoding="utf-8")
        kinds = {"Cc", "Cs", "Cf", "Zl", "Zp"}
        assert {"\n", "\t"} >= {c for c in set(text) if unicodedata.category(c) in kinds}, name
        assert len(text) < 3_000_000
    page = Tags((folder / "card.html").read_text(encoding="utf-8"))
    assert not {"script", "img", "iframe", "object", "b", "form"} & page.tags
    assert not {a for a in page.attributes if a.startswith("on")}
    with serving(folder / "ledger.sqlite") as server:
        client = Client(server)
        rows = client.json("/api/flips?transform=all&outcome=all")["rows"]
        assert len(rows) >= 20
        for row in rows:
            status, headers, body = client.ask(f"/api/flip?run=0&cell={row['cell']}")
            assert 200 == status, body[:300]
            assert headers["Content-Type"].startswith("application/json")
            assert "nosniff" == headers["X-Content-Type-Options"]
            assert body.isascii()
            json.loads(body)
