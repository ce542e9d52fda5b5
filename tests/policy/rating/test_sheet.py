"""The rating sheet: what raters see, and what they must not."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from html.parser import HTMLParser

import pytest

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.records import Policy
from judgeaudit.policy import load_conditions, load_policy, read_back, render
from judgeaudit.policy.rating import (
    DIMENSIONS,
    load_sheet,
    make_sheet,
    pairs_of_policy,
    write_sheet,
)
from judgeaudit.policy.rating.marking import side_by_side
from judgeaudit.policy.rating.planting import plain_mutants
from judgeaudit.policy.rating.tables import guarded, sheet_table, unguarded


@pytest.fixture(scope="module")
def policy() -> Policy:
    return load_policy("agent_safety")


@pytest.fixture(scope="module")
def sheet(policy):
    base, rated = pairs_of_policy(policy)
    return make_sheet(base, rated, policy=policy)


class Texts(HTMLParser):
    """The texts on the page, by pair and side, and everything that could load something."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: dict[tuple[str, str], str] = {}
        self.at: tuple[str, str] | None = None
        self.pair = ""
        self.loads: list[str] = []
        self.handlers: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        given = dict(attrs)
        self.loads += [str(v) for k, v in attrs if k in ("src", "href", "action", "srcset")]
        self.handlers += [k for k, _ in attrs if k.startswith("on") or k == "style"]
        self.pair = given.get("data-pair", self.pair)
        if "data-side" in given:
            self.at = (self.pair, given["data-side"])
            self.texts[self.at] = ""

    def handle_endtag(self, tag):
        if tag == "div" and self.at is not None:
            self.at = None

    def handle_data(self, data):
        if self.at is not None:
            self.texts[self.at] += data


def test_every_certified_and_near_rewrite_is_rated_once(sheet):
    wanted = {c.id for c in load_conditions().values() if c.kind in ("certified", "near")}
    real = [p.condition for p in sheet.pairs if p.planted is None]
    assert wanted == set(real)
    assert len(wanted) == len(real)


def test_planted_rewrites_are_wrong_and_spread_over_dimensions(policy, sheet):
    planted = [p for p in sheet.pairs if p.planted is not None]
    assert 3 == len(planted)
    assert 3 == len({p.expected for p in planted})
    for p in planted:
        assert read_back(p.rewrite, policy, kind="near"), p.planted


def test_the_same_seed_gives_the_same_sheet_and_another_one_another_order(policy, sheet):
    base, rated = pairs_of_policy(policy)
    assert sheet == make_sheet(base, rated, policy=policy)
    orders = {
        tuple(
            p.condition
            for p in make_sheet(base, rated, policy=policy, seed=s).pairs
            if p.planted is None
        )
        for s in range(6)
    }
    assert len(orders) > 1


def test_the_page_says_nothing_of_conditions_and_planted_ones(sheet, tmp_path):
    page = write_sheet(sheet, tmp_path)["sheet.html"].read_text(encoding="utf-8")
    table = (tmp_path / "sheet.csv").read_text(encoding="utf-8")
    for text in (page, table):
        outside = text
        for p in sheet.pairs:
            for part in (p.original, p.rewrite):
                outside = outside.replace(part, "")
        assert not re.search(r"planted|attention|\bT[0-9]\b|certified|mutant", outside)
        assert not any(p.planted in outside for p in sheet.pairs if p.planted)


def test_the_page_shows_the_texts_character_by_character(sheet, tmp_path):
    page = write_sheet(sheet, tmp_path)["sheet.html"].read_text(encoding="utf-8")
    shown = Texts(page)
    for p in sheet.pairs:
        assert p.original == shown.texts[p.id, "original"]
        assert p.rewrite == shown.texts[p.id, "rewrite"]
    assert [] == shown.loads
    assert [] == shown.handlers


def test_the_page_allows_its_own_style_and_script_and_nothing_else(sheet, tmp_path):
    page = write_sheet(sheet, tmp_path)["sheet.html"].read_text(encoding="utf-8")
    csp = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert csp is not None
    rules = dict(rule.strip().split(" ", 1) for rule in csp[1].split(";"))
    assert {"default-src", "style-src", "script-src", "base-uri", "form-action"} == set(rules)
    assert ["'none'"] * 3 == [rules[k] for k in ("default-src", "base-uri", "form-action")]
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        body = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert body is not None
        import base64

        digest = base64.b64encode(hashlib.sha256(body[1].encode()).digest()).decode()
        assert f"'sha256-{digest}'" == rules[rule]


def test_a_text_with_markup_stays_text(policy, tmp_path):
    base, rated = pairs_of_policy(policy, ["T2"])
    evil = '<script>alert(1)</script>\n</div><img src=x onerror=y>{{ 7*7 }} &amp; "q" \'\n'
    from judgeaudit.core.hashing import sha256_text

    changed = rated[0][0].model_copy(update={"text": evil, "sha256": sha256_text(evil)})
    made = make_sheet(base, [(changed, rated[0][1])], policy=None, own_wrong=["wrong\n"])
    shown = Texts(write_sheet(made, tmp_path)["sheet.html"].read_text(encoding="utf-8"))
    pair = next(p for p in made.pairs if p.planted is None)
    assert evil == shown.texts[pair.id, "rewrite"]
    assert [] == shown.loads + shown.handlers


def test_marks_show_what_became_of_a_norm_that_moved(policy):
    base, other = render(policy, "base").text, render(policy, "T1").text
    old, new = side_by_side(base, other)
    assert base == "".join(s.text for s in old)
    assert other == "".join(s.text for s in new)
    # the title of a norm that only moved is not a difference
    assert not any("Sharing user data" in s.text for s in (*old, *new) if s.changed)
    assert any("must not disclose" in s.text or "disclose" in s.text for s in old if s.changed)


def test_equal_texts_are_marked_nowhere():
    old, new = side_by_side("a b\n", "a b\n")
    assert [False] == [s.changed for s in old] == [s.changed for s in new]


def test_the_table_runs_nothing_in_a_spreadsheet(sheet):
    rows = list(csv.reader(io.StringIO(sheet_table(sheet).removeprefix("\ufeff"))))
    assert 1 + 6 * len(sheet.pairs) == len(rows)
    for row in rows:
        for cell in row:
            assert not cell or cell[0] not in "=+-@\t\r\n＝＋－＠|%"
    first = dict(zip(rows[0], rows[1], strict=True))
    assert sheet.pairs[0].rewrite == first["rewrite"]


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-x", "@a", "\tx", "'=1", "'x", "plain", ""])
def test_a_guarded_cell_comes_back(cell):
    assert cell == unguarded(guarded(cell))
    assert guarded(cell)[:1] not in {"=", "+", "-", "@", "\t"}


def test_a_condition_that_moves_on_purpose_cannot_be_rated(policy):
    base, rated = pairs_of_policy(policy, ["strict"])
    with pytest.raises(PolicyError, match="'strict' \\(threshold\\) cannot be certified"):
        make_sheet(base, rated, policy=policy)


def test_nothing_to_rate_is_said():
    policy = load_policy("agent_safety")
    base, _ = pairs_of_policy(policy)
    with pytest.raises(PolicyError, match="nothing to rate"):
        make_sheet(base, [(base, load_conditions()["T1"])], policy=policy)


def test_another_sheet_in_the_folder_is_not_overwritten(policy, sheet, tmp_path):
    write_sheet(sheet, tmp_path)
    write_sheet(sheet, tmp_path)
    base, rated = pairs_of_policy(policy)
    with pytest.raises(PolicyError, match="holds another rating sheet"):
        write_sheet(make_sheet(base, rated, policy=policy, seed=5), tmp_path)
    assert sheet == load_sheet(tmp_path)


def test_a_key_with_a_changed_text_is_refused(sheet, tmp_path):
    key = write_sheet(sheet, tmp_path)["key.json"]
    data = json.loads(key.read_text(encoding="utf-8"))
    data["pairs"][0]["rewrite"] += "x"
    key.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(PolicyError, match="the text of the rewrite is not the one hashed"):
        load_sheet(tmp_path)


def test_plain_texts_give_wrong_rewrites_too():
    text = "You must not lie unless asked to act. A case of doubt is SAFE.\nBe nice.\n"
    made = list(plain_mutants(text))
    assert {"drop an exception", "must to should", "turn a verdict round", "drop a sentence"} == {
        m.operator for m in made
    }
    assert all(m.text != text for m in made)
    assert "A case of doubt is UNSAFE." in "".join(m.text for m in made)


def test_six_questions_have_six_dimensions():
    from judgeaudit.policy.rating.records import QUESTIONS

    assert tuple(QUESTIONS) == DIMENSIONS
