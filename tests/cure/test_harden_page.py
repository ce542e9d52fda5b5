"""The report of hardening: no stranger's text does anything in it, and a browser finds no fault."""

from __future__ import annotations

import json
import re
import unicodedata
from html.parser import HTMLParser

import pytest
from card_hostile import HOSTILE
from page_world import BROWSER, looker

from judgeaudit.cure.harden_records import Candidate, Figure, Hardened, Skipped, Wording
from judgeaudit.cure.harden_words import of_hardened, page


def candidate(name: str, text: str, shift: float) -> Candidate:
    figures = (
        Figure(
            name="excess flips", before=0.2, before_low=0.1, before_high=0.3, after=0.05 + shift,
            after_low=0.0, after_high=0.1, change=-0.15, low=-0.25, high=-0.05, level=0.975,
            p_value=0.001, p_adjusted=0.002, better="lower",
        ),
        Figure(name="tokens a verdict", before=900, after=2700 + 1e4 * shift, unit="tokens"),
        Figure(name="requests a verdict", before=1, after=3, change=2, unit="requests"),
        Figure(name=text, why=text),
    )  # fmt: skip
    return Candidate(
        name=name, strategy="panel", what=text, invariant=False, conditions=("T4", text),
        figures=figures, shown_better=True, accuracy="open", responsive=text, folder=text,
    )  # fmt: skip


def found(text: str) -> Hardened:
    """Put a text in every place that a judge, a policy, a corpus or a config can write to."""
    return Hardened(
        judge=text, policy=text, corpus=text, run=text, verdict=text, winner=text, seed=1,
        share=0.5, n_train=20, n_train_items=40, n_held_out=20, n_held_out_items=40, alpha=0.05,
        practical_threshold=0.05, wordings=(Wording(wording=text, excess=0.1),),
        candidates=(candidate(text, text, 0.0), candidate("canonical", text, 0.03)),
        skipped=(Skipped(strategy="threshold", why=text),),
    )  # fmt: skip


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes = [], set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {k for k, _ in attrs}


def assert_clean(text):
    text.encode("utf-8")
    kinds = {"Cc", "Cs", "Cf", "Zl", "Zp"}
    assert {"\n"} >= {c for c in text if unicodedata.category(c) in kinds}
    assert len(text) < 60_000


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_a_strangers_text_is_inert(name):
    text, plainly = found(HOSTILE[name]), found("mended")
    html, md, said = page(text), of_hardened(text, md=True), of_hardened(text)
    for out in (html, md, said):
        assert_clean(out)
    seen, usual = Page(html), Page(page(plainly))
    assert usual.tags == seen.tags
    assert usual.attributes == seen.attributes
    assert not re.findall(r'(?:src|href)="(?!data:,")', html)
    # as many lines as of a harmless judge: no heading, row or list of a stranger's
    assert len(of_hardened(plainly, md=True).splitlines()) == len(md.splitlines())
    assert len(of_hardened(plainly).splitlines()) == len(said.splitlines())
    assert not re.search(r"<(?!/?br)[a-z/!]", md, flags=re.IGNORECASE)
    assert not re.search(
        r"(?<!\\)\]\(|https?://|(?<!\\)(?:\*\*|__)(?!judge|policy|corpus|clu)x", md
    )
    rows = [line for line in md.splitlines() if line.startswith("|")]
    assert {5} == {len(re.findall(r"(?<!\\)\|", row)) - 1 for row in rows}


def test_the_json_holds_any_text_as_escapes():
    for text in HOSTILE.values():
        record = found(text)
        made = json.dumps(record.model_dump(mode="json"))
        assert made.isascii()
        assert record == Hardened.model_validate(json.loads(made))


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine (set CHROMIUM)")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_and_no_request_leaves(tmp_path, scheme):
    texts = {n: HOSTILE[n] for n in ("close", "attribute", "huge", "bidi", "nul")}
    with looker(scheme) as seen:
        for name, text in {**texts, "usual": "mended"}.items():
            path = tmp_path / f"{name}.html"
            path.write_text(page(found(text)), encoding="utf-8")
            seen.look(path)
        seen.tab.goto((tmp_path / "usual.html").as_uri())
        seen.tab.keyboard.press("Tab")
        assert "Costs and excess flips" == seen.tab.evaluate("document.activeElement.ariaLabel")
