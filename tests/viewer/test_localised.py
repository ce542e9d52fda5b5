"""The explorer's page of words."""

from __future__ import annotations

import pytest
from localise_world import PLANTED, tried

from judgeaudit.core.records.localised import Localised
from judgeaudit.cure.localise_page import STYLE, write_localised


@pytest.fixture(scope="module")
def found():
    section, calls = tried(PLANTED[0], 1, 600)
    return Localised(
        version="0",
        judge='scripted:hears_word"><script>x</script>',
        policy="agent_safety",
        corpus="sample",
        plan_sha256="0" * 64,
        calls=calls,
        calls_most=600,
        rounds=3,
        level=0.05,
        error=0.02,
        sure=0.002,
        interval_level=0.95,
        sections=(section,),
    )


def test_it_says_how_to_make_it_where_nobody_did(client):
    status, _, body = client.ask("/localised")
    assert 200 == status
    assert b"judgeaudit localise RUN" in body


def test_it_shows_the_coloured_text_without_a_style_or_a_script_of_its_own(own, found):
    write_localised(found, own.server.explorer.runs[0].path.parent)
    html = own.ask("/localised?run=0")[2].decode()
    assert '<mark class="u u5" title="N3:' in html or '<mark class="s s5" title="N3:' in html
    assert '<link rel="stylesheet" href="/static/localise.css">' in html
    for bad in ("<style", "style=", "<script", "://"):
        assert bad not in html
    status, sent, sheet = own.ask("/static/localise.css")
    assert (200, STYLE.encode()) == (status, sheet)
    assert sent["Content-Type"].startswith("text/css")


def test_a_record_that_is_none_is_told(own):
    own.server.explorer.runs[0].path.with_name("localise.json").write_text("{}")
    status, _, body = own.ask("/localised")
    assert 503 == status
    assert b"no record of judgeaudit localise" in body
