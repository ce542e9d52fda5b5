"""Whatever a model, a dataset or a user writes is inert in every format."""

from __future__ import annotations

import csv
import functools
import io
import json
import re
import unicodedata
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from card_hostile import HOSTILE, hostile_run
from card_runs import CREATED, facts, numbers, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from judgeaudit import cards
from judgeaudit.cards.render import md_code, md_text
from judgeaudit.core.records import ScoreSet

ALLOWED_TAGS = frozenset(
    [
        "tspan",
        "path",
        "polygon",
        "html",
        "head",
        "meta",
        "link",
        "title",
        "style",
        "body",
        "a",
        "header",
        "p",
        "h1",
        "code",
        "main",
        "div",
        "section",
        "h2",
        "h3",
        "span",
        "aside",
        "ul",
        "li",
        "strong",
        "svg",
        "rect",
        "line",
        "circle",
        "text",
        "dl",
        "dt",
        "dd",
        "figure",
        "figcaption",
        "details",
        "summary",
        "table",
        "caption",
        "thead",
        "tr",
        "th",
        "tbody",
        "td",
        "pre",
        "footer",
        "bdi",
    ]
)


@functools.cache
def hostile_card(name: str) -> cards.JudgeCard:
    return hostile_run(HOSTILE[name]).card()


@functools.cache
def hostile_markdown(name: str) -> str:
    return cards.to_markdown(hostile_card(name))


@pytest.fixture(params=sorted(HOSTILE))
def name(request) -> str:
    return request.param


@pytest.fixture
def hostile(name) -> cards.JudgeCard:
    return hostile_card(name)


class _Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name in ("href", "src", "xlink:href", "action"):
                self.addresses.add(value or "")


def _assert_clean(text: str) -> None:
    text.encode("utf-8")
    bad = {
        c for c in text if c != "\n" and unicodedata.category(c) in {"Cc", "Cs", "Cf", "Zl", "Zp"}
    }
    assert set() == bad - {"\t"}


def test_json(hostile):
    text = cards.to_json(hostile)
    _assert_clean(text)
    assert hostile == cards.from_json(text)
    assert len(text) < 1_000_000
    json.loads(text)


def test_html(hostile):
    html = cards.to_html(hostile)
    _assert_clean(html)
    seen = _Tags(html)
    assert set() == seen.tags - ALLOWED_TAGS
    assert not {a for a in seen.attributes if a.startswith("on")}
    assert "style" not in seen.attributes
    assert all(a.startswith("#") or a in ("card.json", "card.md", "data:,") for a in seen.addresses)
    assert len(html) < 1_000_000


def test_the_template_language_stays_text():
    html = cards.to_html(hostile_run(HOSTILE["template"]).card())
    assert "{{ 7*7 }}" in html
    assert ">49<" not in html


def _tables(tokens) -> list[list[int]]:
    """Return the number of cells of each row of each table."""
    tables: list[list[int]] = []
    for t in tokens:
        if t.type == "table_open":
            tables.append([])
        elif t.type == "tr_open":
            tables[-1].append(0)
        elif t.type in ("th_open", "td_open"):
            tables[-1][-1] += 1
    return tables


def test_markdown(name):
    md = hostile_markdown(name)
    _assert_clean(md)
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = parser.parse(md)
    inline = [c for t in tokens for c in (t.children or [])]
    assert not [t for t in inline if t.type in ("link_open", "image", "html_inline", "s_open")]
    blocks = [t.content.strip() for t in tokens if t.type == "html_block"]
    assert all(re.match(r"<details><summary>|</details>$", b) for b in blocks)
    assert all("onerror" not in b and b.count("<") <= 4 for b in blocks)
    titles = [tokens[k + 1].content for k, t in enumerate(tokens) if t.type == "heading_open"]
    assert not [t for t in titles if t.startswith("Big")]
    assert "blockquote_open" not in {t.type for t in tokens}
    assert all(len(set(widths)) == 1 for widths in _tables(tokens))


SVG_TAGS = frozenset({"svg", "title", "desc", "rect", "g", "text"})


def test_badge(hostile):
    text = cards.to_badge(hostile)
    _assert_clean(text)
    root = ET.fromstring(text)
    tags = {e.tag.removeprefix("{http://www.w3.org/2000/svg}") for e in root.iter()}
    assert set() == tags - SVG_TAGS
    attributes = {a for e in root.iter() for a in e.keys()}  # noqa: SIM118
    assert not {a for a in attributes if a.startswith("on") or "href" in a or a == "style"}
    assert len(text) < 6_000
    # and inside a page, where a badge may be pasted
    seen = _Tags(text)
    assert set() == seen.tags - SVG_TAGS


def test_csv(hostile):
    text = cards.to_csv(hostile)
    _assert_clean(text)
    rows = list(csv.reader(io.StringIO(text)))
    assert {len(rows[0])} == {len(r) for r in rows}
    assert len(hostile.scores.scores) + 1 == len(rows)
    for cell in (c for row in rows for c in row):
        is_number = re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", cell)
        assert (
            is_number
            or not re.match(r"[\s\"']*[=+\-@]", cell.removeprefix("'"))
            or (cell.startswith("'"))
        )


def test_latex(hostile):
    text = cards.to_latex(hostile)
    _assert_clean(text)
    ours = {
        *("begin", "end", "caption", "toprule", "midrule", "endhead", "bottomrule", "endfoot"),
        *("relax", "noindent", "footnotesize", "normalsize", "textbf", "linewidth", "usepackage"),
        *("textbackslash", "textasciicircum", "textasciitilde", "textless", "textgreater"),
        *("textbar", "textquotedbl", "textasciigrave", "ensuremath", "times", "pm", "leq", "geq"),
        *("rightarrow", "textendash", "textemdash", "ldots", "textquotedblleft", "textquoteleft"),
        *("textquotedblright", "textquoteright", "textperiodcentered"),
    }
    body = text.partition("\n")[2].replace("\\\\", "\n")
    assert set(re.findall(r"\\([A-Za-z]+)", body)) <= ours
    assert not re.search(r"(?<!\\)[$#^%]", body)
    # every group that is opened is closed
    bare = re.sub(r"\\[{}]", "", body)
    depth = 0
    for char in bare:
        depth += {"{": 1, "}": -1}.get(char, 0)
        assert depth >= 0
    assert depth == 0


def test_the_hubs_model_card(name, hostile):
    text = cards.to_hub(hostile)
    _assert_clean(text)
    head, _, body = text.removeprefix("---\n").partition("\n---\n")
    assert body.strip() == hostile_markdown(name).strip()
    assert "\n---" not in head
    assert len(text) < 1_000_000


@pytest.mark.slow
def test_five_megabytes_in_every_place_stay_a_card_of_usual_size():
    card = hostile_run("=<b>\u202e" + "A" * 5_000_000).card()
    for form, make in cards.FORMATS.items():
        text = make(card)
        _assert_clean(text)
        assert len(text) < 1_000_000, form


def test_markdown_is_small_enough_for_github_to_show(any_run):
    assert len(any_run.md.encode()) < 512_000


def test_nobody_is_called_by_a_card_that_is_pasted_into_a_thread():
    """GitHub looks for `@name` in the text of the page, where entities are read already."""
    served = {"@octocat": 3, "x@evil.example": 4}
    md = run(numbers({"T1": 0.0}), served_models=served).md
    html = MarkdownIt("commonmark").enable("table").render(md)
    outside = re.sub(r"<code>.*?</code>|<pre>.*?</pre>", "", html, flags=re.DOTALL)
    assert "\N{FULLWIDTH COMMERCIAL AT}octocat" in outside
    assert "@" not in outside


def test_a_card_from_elsewhere_is_cleaned_before_it_is_shown():
    card = cards.build(facts(), ScoreSet(scores=()), created=CREATED)
    dirty = card.model_copy(
        update={"limits": ("\x1b[2J\u202e<script>",), "created": "a\x00" + "b" * 10**6}
    )
    for text in (make(dirty) for form, make in cards.FORMATS.items() if form != "json"):
        _assert_clean(text)
        assert "<script" not in text
        assert len(text) < 200_000


def test_a_thousand_served_models_do_not_fill_the_page():
    served = {f"model-{k}": 1 for k in range(1000)}
    html = cards.to_html(run(numbers({"T1": 0.0}), served_models=served).card())
    assert "and 980 more" in html
    assert "model-999" not in html or html.count("model-") < 100


_INLINE = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_ACTIVE = st.text(alphabet="ab1 \\`*_[](){}<>#+-.!|~$&@:/=\n;^\"'", max_size=40)


def _shown(md: str) -> str:
    (inline,) = [t for t in _INLINE.parse(f"- x: {md}") if t.type == "inline"]
    assert {c.type for c in inline.children or []} <= {
        "text",
        "code_inline",
        "text_special",
    }
    return "".join(c.content for c in inline.children or [])


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(_ACTIVE)
def test_escaped_text_reads_as_it_was(text):
    # but for what could call a stranger on GitHub, which reads entities before it looks for names
    plain = re.sub(r"@(?=\w)", "\N{FULLWIDTH COMMERCIAL AT}", " ".join(text.split()))
    assert f"x: {plain}".strip() == _shown(md_text(text)).strip()


@given(_ACTIVE)
def test_code_reads_as_it_was(text):
    plain = " ".join(text.split()).replace("|", "\N{FULLWIDTH VERTICAL LINE}") or "–"
    assert f"x: {plain}" == _shown(md_code(text))


@given(_ACTIVE)
def test_a_cell_stays_one_cell(text):
    table = f"| a | b |\n| --- | --- |\n| {md_text(text)} | {md_code(text)} |"
    cells = [t for t in _INLINE.parse(table) if t.type == "td_open"]
    assert len(cells) == 2
