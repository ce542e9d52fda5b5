"""Markdown and HTML tell the same story, and read well."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from html.parser import HTMLParser

import pytest
from card_runs import CASES, QUIET, numbers, run, s
from markdown_it import MarkdownIt

from judgeaudit import cards
from judgeaudit.cards import render
from judgeaudit.cards.view import view
from judgeaudit.core.errors import CardError


class Page(HTMLParser):
    """Collect what a page is made of."""

    VOID = frozenset({"meta", "link", "br", "img", "input", "hr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.unbalanced: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


PAGES: dict[str, Page] = {}


def page(r) -> Page:
    if r.html not in PAGES:
        PAGES[r.html] = Page(r.html)
    return PAGES[r.html]


def test_the_page_is_balanced_and_ids_are_unique(any_run):
    p = page(any_run)
    assert (p.unbalanced, p.open) == ([], [])
    ids = [a["id"] for _, a in p.tags if "id" in a]
    assert len(ids) == len(set(ids))


def test_links_stay_inside_and_lead_somewhere(any_run):
    p = page(any_run)
    ids = {a["id"] for _, a in p.tags if "id" in a}
    hrefs = [a["href"] for t, a in p.tags if t == "a"]
    assert hrefs
    for href in hrefs:
        assert href in ("card.json", "card.md") or href[1:] in ids


def test_no_script_no_style_attribute_no_address(any_run):
    html, p = any_run.html, page(any_run)
    assert "script" not in {t for t, _ in p.tags}
    assert not [a for _, attrs in p.tags for a in attrs if a.startswith("on") or a == "style"]
    loaded = {a.get("src") for _, a in p.tags} | {a.get("href") for t, a in p.tags if t == "link"}
    assert {None, "data:,"} == loaded
    assert "@import" not in html
    assert "url(" not in html


def test_the_policy_allows_its_own_style_alone():
    html = CASES["good"]().html
    css = re.search(r"<style>(.*)</style>", html, re.DOTALL)
    assert css is not None
    digest = base64.b64encode(hashlib.sha256(css[1].encode()).digest()).decode()
    policy = next(a for t, a in page(CASES["good"]()).tags if "http-equiv" in a)["content"]
    expected = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
    assert expected == policy


def test_headings_do_not_skip_a_level(any_run):
    levels = [int(t[1]) for t, _ in page(any_run).tags if re.fullmatch(r"h[1-6]", t)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))


def test_every_drawing_has_words(any_run):
    for tag, attrs in page(any_run).tags:
        if tag == "svg":
            assert attrs.get("aria-hidden") == "true" or attrs.get("aria-label")


def test_the_first_screen_holds_what_it_must():
    p = page(CASES["incomplete"]())
    first = p.text[: p.text.index("Principle 1")]
    for words in (
        "openai/some-judge",
        "Agent safety policy",
        "Bundled sample, 60 items",
        "mostly follows the policy",
        "0.66 band not settled",
        "95% interval 0.45 to 0.83",
        "responsive",
        "Extra flips when reworded (Δ) +0.9 points",
        "Moves the right way (R_dir) 0.98",
        "Share of flips that are on clear items (U_rate) 20.0%",
        "8.4 of 42 flips",
        "by chance it would be 60.0% (U_0)",
        "Accuracy 92.0%",
        "Unsafe items missed 7.0%",
        "17% is not ruled out, one-sided 95% bound",
        "Safe items flagged wrongly 9.0%",
        "Jitter 6.0%",
        "0 of 1,380 calls",
        "serious Incomplete run: 1,000 of 1,380 planned calls were answered.",
        "What this card does not show",
    ):
        assert words in first


def test_both_formats_hold_every_figure(any_run):
    card = any_run.card()
    html, md = page(any_run).text, any_run.md
    plain_md = re.sub(r"<[^>]+>", " ", MarkdownIt("commonmark").enable("table").render(md))
    shown = view(card)
    cells = [c.text for sec in shown.sections for t in sec.tables for row in t.rows for c in row]
    assert len(cells) > 50
    for text in (*cells, card.headline.sentence, *(w.sentence for w in card.warnings)):
        assert " ".join(text.split()) in html
    for text in (card.headline.sentence, *(w.sentence for w in card.warnings)):
        assert text.replace("<", "&lt;") in " ".join(plain_md.split())


def test_a_judge_that_fails_the_gate_shows_no_score():
    scores = [x if x.metric != "pis" else s("pis", None, 1.0, 0.9, 1.0) for x in numbers(QUIET)]
    text = page(run(scores, {"responsiveness": "not responsive"})).text
    first = text[: text.index("Principle 1")]
    assert "Policy Invariance Score (PIS) void not responsive" in first
    assert "1.00" not in first.split("Does it read the policy")[0]


def test_an_undefined_figure_is_said_with_its_reason():
    text = page(CASES["no_ambiguity"]()).text
    assert "undefined Cannot be estimated because: the corpus has no ambiguity labels" in text


def test_all_treatments_stand_side_by_side():
    scores = [*numbers(QUIET)]
    scores += [
        s("delta_paper", "certified", 0.266, 0.2, 0.33, treatment="as_flip_asym"),
        s("delta_paper", "certified", 0.01, -0.4, 0.5, treatment="bounds_delta_paper"),
    ]
    text = page(run(scores)).text
    assert "The same figures under each treatment" in text
    assert "failures: as_flip_asym" in text
    assert "failures: bounds_delta_paper" in text


def test_the_declared_treatment_is_the_headline():
    scores = [*numbers(QUIET), s("pis", None, 0.03, 0.0, 0.2, treatment="as_flip_asym")]
    base = run(scores)
    protocol = base.facts.protocol.model_copy(update={"headline_treatment": "as_flip_asym"})
    card = run(scores, {"band": ""}, protocol=protocol).card()
    assert view(card).pis.value == "0.03"
    assert "PIS 0.03" in card.headline.sentence


def test_a_metric_of_the_future_is_not_lost():
    scores = [*numbers(QUIET), s("brand_new", "T4", 0.25, 0.1, 0.4, unit="fraction of items")]
    text = page(run(scores)).text
    assert "Further figures" in text
    assert "brand_new · T4: exceptions in front 25.0% [10.0%, 40.0%]" in text


def test_notes_stand_with_their_figures():
    scores = [s("undue_share", None, 1.0, 0.2, 1.0, note="only 3 flips", denominator=3.0)]
    assert "only 3 flips" in cards.to_markdown(run(scores).card())
    assert "only 3 flips" in page(run(scores)).text


def test_a_command_stands_in_a_block():
    md = cards.to_markdown(CASES["good"]().card())
    block = (
        "```text\n"
        "# made with python==3.11.9 judgeaudit==0.1.0\n"
        "judgeaudit audit --corpus sample --judge openai/some-judge\n"
        "judgeaudit card verify card.json\n"
        "```"
    )
    assert block in md
    bare = run(numbers(QUIET), extra={}).card()
    assert "was not recorded" in cards.to_markdown(bare)


def test_markdown_tables_have_whole_rows(any_run):
    lines = any_run.md.splitlines()
    for k, line in enumerate(lines):
        if line.startswith("| ---"):
            wide = len(re.findall(r"(?<!\\)\|", line))
            row = k + 1
            while row < len(lines) and lines[row].startswith("|"):
                assert wide == len(re.findall(r"(?<!\\)\|", lines[row]))
                row += 1
            assert wide == len(re.findall(r"(?<!\\)\|", lines[k - 1]))


def test_a_broken_template_is_one_clear_error(tmp_path, monkeypatch):
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "card.md.j2").write_text("{{ v.nothing }}", encoding="utf-8")
    monkeypatch.setattr(render, "room", lambda _: tmp_path)
    with pytest.raises(CardError, match=r"template cannot be used: .*nothing"):
        cards.to_markdown(CASES["good"]().card())
    with pytest.raises(CardError, match="template cannot be used"):
        cards.to_html(CASES["good"]().card())


def test_two_p_values_of_the_placebo_are_told_apart():
    r = run(numbers(QUIET), reasons={"placebo": "The placebo shows no effect (two-sided p 1.000)."})
    for text in (page(r).text, r.md.replace("\\", "")):
        assert "Test of no effect, one-sided" in text
        assert "Its check above asks on both sides" in text
    untested = run([x.model_copy(update={"p_value": None}) for x in numbers(QUIET)])
    assert "asks on both sides" not in page(untested).text


def test_equal_debiased_figures_with_other_raw_flips_are_explained():
    def figures(raw):
        same = {"low": -0.052, "high": 0.055, "p_value": 0.52, "null": "no effect"}
        return [
            *(s("delta_debiased", c, 0.001, **same) for c in ("T1", "T2")),
            s("delta_debiased", "T4", 0.03, 0.0, 0.055, p_value=0.52, null="no effect"),
            *(s("flip_rate", c, x, unit="fraction of call pairs") for c, x in raw.items()),
        ]

    text = page(run(figures({"T1": 0.088, "T2": 0.06, "T4": 0.07}))).text
    assert "The debiased excess is the same for T1 and T2, though raw flips differ" in text
    equal = page(run(figures({"T1": 0.06, "T2": 0.06, "T4": 0.07}))).text
    assert "The debiased excess is the same" not in equal
