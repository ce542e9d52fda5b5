"""The server: who may ask, what it answers, and what it never does."""

from __future__ import annotations

import csv
import io
import json
import socket
from collections import Counter

import pytest
from card_runs import numbers, run
from viewer_world import Client, hostile_ledger, serving, small_ledger

from judgeaudit import cards
from judgeaudit.core.errors import ConfigError, LedgerError
from judgeaudit.viewer import Explorer
from judgeaudit.viewer.server import Server

PLACES = ("/", "/static/app.js", "/api/overview", "/api/flips", "/api/flip?run=0&cell=2",
          "/api/export?format=csv", "/api/progress", "/localised")  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_without_the_token_everything_is_forbidden(client, place):
    for headers in ({}, {"Authorization": "Bearer x"}, {"Cookie": "judgeaudit=x"},
                    {"Cookie": f"{client.server.guard.cookie}=\"'; ="}):  # fmt: skip
        status, sent, body = client.ask(place, headers=headers)
        assert 403 == status
        assert b"printed in the terminal" in body
        assert client.server.guard.token.encode() not in body
        assert "Set-Cookie" not in sent


@pytest.mark.parametrize("place", PLACES)
def test_with_the_token_everything_is_there(client, place):
    cookie = {"Cookie": f"a=b; {client.server.guard.cookie}={client.server.guard.token}"}
    for headers in (client.bearer, cookie):
        assert 200 == client.ask(place, headers=headers)[0]
        assert 200 == client.ask(place, headers=headers, method="HEAD")[0]
    address = f"{place}{'&' if '?' in place else '?'}token={client.server.guard.token}"
    assert 200 == client.ask(address, headers={})[0]


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "evil.example:{port}", "127.0.0.1:1", "[::1]:{port}", ""]
)
def test_a_name_that_was_pointed_here_is_forbidden(client, host):
    """The page of a name that resolves to this machine must not get an answer, token or not."""
    headers = {**client.bearer, "Host": host.format(port=client.server.port)}
    assert 403 == client.ask("/api/overview", headers=headers)[0]


def test_localhost_is_this_machine(client):
    headers = {**client.bearer, "Host": f"localhost:{client.server.port}"}
    assert 200 == client.ask("/api/overview", headers=headers)[0]


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "file://"])
def test_another_page_may_neither_read_nor_write(own, origin):
    headers = {**own.bearer, "Origin": origin}
    assert 403 == own.ask("/api/overview", headers=headers)[0]
    assert 403 == own.note(headers, run=0, cell=2, kind="judge", note="")[0]
    assert not own.server.explorer.runs[0].marks


def test_a_cookie_alone_may_not_write(own):
    guard, here = own.server.guard, f"http://127.0.0.1:{own.server.port}"
    cookie = {"Cookie": f"{guard.cookie}={guard.token}", "Origin": here}
    said = {"run": 0, "cell": 2, "kind": "judge", "note": ""}
    assert 403 == own.note(cookie, **said)[0]
    assert 403 == own.note({**cookie, "X-Judgeaudit-Write": guard.token}, **said)[0]
    nowhere = {"Cookie": cookie["Cookie"], "X-Judgeaudit-Write": guard.write_token}
    assert 403 == own.note(nowhere, **said)[0]
    assert 200 == own.note({**cookie, "X-Judgeaudit-Write": guard.write_token}, **said)[0]


@pytest.mark.parametrize(
    "path",
    ["/static/../server.py", "/static/..%2fserver.py", "/static/%2e%2e/server.py", "/../etc/passwd",
     "/static//etc/passwd", "/static/", "/static", "/etc/passwd", "/api", "/api/", "/api/triage",
     "/static/app.js/", "/static/app.js%00.html", "//evil.example/"],
)  # fmt: skip
def test_there_is_nothing_but_what_is_listed(client, path):
    status, sent, _ = client.ask(path)
    assert 404 == status
    assert "Location" not in sent


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_verbs_are_not_known(client, method):
    assert 501 == client.ask("/api/flips", method=method)[0]


@pytest.mark.parametrize("place", [*PLACES, "/nothing"])
def test_every_answer_forbids_strange_scripts_frames_and_caches(client, place):
    sent = client.ask(place)[1]
    policy = {p.split()[0]: p.split()[1:] for p in sent["Content-Security-Policy"].split("; ")}
    assert ["'none'"] == policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"]
    assert ["'self'"] == policy["script-src"] == policy["style-src"] == policy["connect-src"]
    assert ["'script'"] == policy["require-trusted-types-for"]
    assert "nosniff" == sent["X-Content-Type-Options"]
    assert "no-store" == sent["Cache-Control"]
    assert "no-referrer" == sent["Referrer-Policy"]
    assert "Access-Control-Allow-Origin" not in sent


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(client):
    sent = client.ask("/")[1]
    assert sent["Set-Cookie"].endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert sent["Set-Cookie"].startswith(f"judgeaudit_{client.server.port}=")


def test_the_page_has_no_script_and_no_style_of_its_own(client):
    html = client.ask("/")[2].decode()
    assert "<style" not in html
    assert "style=" not in html
    assert [] == [p for p in html.split("<script")[1:] if not p.startswith(' type="module" src=')]
    for name in client.server.files:
        assert b"innerHTML" not in client.server.files[name]
        assert b"://" not in client.server.files[name].replace(b"http://www.w3.org/2000/svg", b"")


def test_it_listens_to_this_machine_only(client):
    assert "127.0.0.1" == client.server.server_address[0]
    for address in {i[4][0] for i in socket.getaddrinfo(socket.gethostname(), None)}:
        if not address.startswith("127.") and ":" not in address:
            with socket.socket() as s:
                s.settimeout(2)
                assert s.connect_ex((address, client.server.port)) != 0


def test_a_port_that_is_taken_is_a_mistake_in_the_settings(client, made):
    explorer = Explorer([made])
    with pytest.raises(ConfigError, match="cannot be had"):
        Server(explorer, client.server.port)


def test_tokens_are_not_guessable_or_shared(client, made):
    with serving(made) as other:
        tokens = {client.server.guard.token, other.guard.token, other.guard.write_token}
        assert 3 == len(tokens)
        assert all(len(t) >= 43 for t in tokens)


@pytest.mark.parametrize(
    "path",
    ["/api/flip?run=9&cell=0", "/api/flip?run=0&cell=99999", "/api/flip?run=0&cell=-1",
     "/api/flip?run=0&cell=1e3", "/api/flip", "/api/flips?after=x", "/api/flips?start=x",
     "/api/flips?outcome=x", "/api/export?format=exe", "/api/text?run=0&start=0&what=",
     "/api/text?run=0&start=0&what=reply/0/extra", "/api/text?run=0&start=0&what=turn/0/99/content",
     "/api/text?run=0&start=0&what=reply/99999/text", "/api/text?run=0&start=0&what=policy/-99",
     "/api/flip?run=0&cell=9999999999999999999999", "/localised?run=9", "/localised?run=x"],
)  # fmt: skip
def test_what_makes_no_sense_is_told(client, path):
    status, _, body = client.ask(path)
    assert 400 == status
    assert json.loads(body)["error"]


@pytest.mark.parametrize(
    ("body", "kind"),
    [(b"{", "application/json"), (b"[]", "application/json"), (b"{}", "application/json"),
     (b'{"run":0,"cell":0,"kind":"x"}', "application/json"), (b"[" * 60_000, "application/json"),
     (b'{"run":0,"cell":0,"note":1}', "application/json"), (b"run=0&cell=0", "text/plain"),
     (b'{"run":0,"cell":99999,"kind":null}', "application/json"),
     (b'{"run":0,"cell":0,"note":"' + b"a" * 5000 + b'"}', "application/json"),
     (b" " * 70_000, "application/json")],
)  # fmt: skip
def test_a_note_that_is_none_is_refused(own, body, kind):
    headers = {**own.bearer, "Content-Type": kind}
    status, _, said = own.ask("/api/triage", method="POST", body=body, headers=headers)
    assert 400 == status, said
    assert not own.server.explorer.runs[0].path.with_name("triage.jsonl").exists()


def test_half_a_request_does_not_hold_up_others(client):
    with socket.create_connection(("127.0.0.1", client.server.port)) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert 200 == client.ask("/api/progress")[0]


def test_a_flip_is_whole(client):
    flip = client.json("/api/flips?transform=T4")["rows"][0]
    said = client.json(f"/api/flip?run=0&cell={flip['cell']}&transform=T4")
    assert [3, 0] == said["base"]
    assert [0, 2] == said["there"]
    assert {"base": 0.0, "there": 0.0} == said["jitter"]
    assert ["SAFE"] * 3 == [r["label"] for r in said["replies"]["base"]]
    assert ["UNSAFE"] * 2 == [r["label"] for r in said["replies"]["there"]]
    marked = [t for _, _, right in said["texts"]["rows"] for changed, t in right if changed]
    assert ["any "] == marked
    assert ["user"] == [t["role"] for t in said["trajectory"]["turns"]]
    assert ["T0", "T1", "T4", "strict", "no_policy"] == [o["condition"] for o in said["others"]]
    assert (0, 4, None) == (said["place"]["n"], said["place"]["total"], said["place"]["previous"])
    assert 64 == len(said["prompt_sha256"])
    last = client.json("/api/flips?transform=T4")["rows"][-1]
    assert client.json(f"/api/flip?run=0&cell={last['cell']}&transform=T4")["place"]["next"] is None


def test_neighbours_lead_through_the_whole_list(client):
    query = "transform=all&outcome=any_flip"
    here, seen = client.json(f"/api/flips?{query}")["rows"][0], []
    while here is not None:
        seen.append(here["cell"])
        here = client.json(f"/api/flip?run=0&cell={here['cell']}&{query}")["place"]["next"]
    assert [r["cell"] for r in client.json(f"/api/flips?{query}")["rows"]] == seen
    assert 5 == len(seen)


def test_norms_that_changed_places_are_compared_norm_by_norm(client):
    rows = client.json("/api/flips?transform=T1&outcome=wavering")["rows"]
    texts = client.json(f"/api/flip?run=0&cell={rows[0]['cell']}")["texts"]
    assert texts["moved"]
    assert "words" == texts["marked"]
    placebo = client.json(f"/api/flip?run=0&cell={rows[0]['cell'] - 1}")["texts"]
    assert placebo["identical"]
    assert not any(changed for changed, _, _ in placebo["rows"])


def test_a_selection_is_exported_whole(client):
    lines = client.ask("/api/export?format=jsonl&transform=all&outcome=any_flip")[2].splitlines()
    rows = [json.loads(line) for line in lines]
    assert Counter({"T4": 4, "T1": 1}) == Counter(r["condition"] for r in rows)
    assert {64} == {len(r["prompt_sha256"]) for r in rows}
    _, sent, body = client.ask("/api/export?format=csv&transform=all&outcome=any_flip")
    assert 'attachment; filename="flips.csv"' == sent["Content-Disposition"]
    table = list(csv.DictReader(io.StringIO(body.decode("utf-8-sig"))))
    assert [r["item"] for r in rows] == [r["item"] for r in table]
    assert [r["share_of_pairs_that_differ"] for r in table][:4] == ["1.0"] * 4


def test_hostile_text_is_exported_as_text(tmp_path):
    with serving(hostile_ledger(tmp_path / "ledger.sqlite")) as server:
        client = Client(server)
        body = client.ask("/api/export?format=csv&transform=all&outcome=all")[2]
        rows = list(csv.reader(io.StringIO(body.decode("utf-8-sig"))))
        assert len(rows) > 20
        cells = [c for row in rows for c in row]
        assert [] == [c for c in cells if c[:1] in {"=", "+", "-", "@", "\t", "\r", "|", "%"}]
        assert any(c.startswith("'=cmd") for c in cells)
        assert "\x00" not in body.decode("utf-8-sig")
        lines = client.ask("/api/export?format=jsonl&transform=all&outcome=all")[2]
        assert lines.isascii()
        keys = {json.loads(line)["item"] for line in lines.splitlines()}
        assert set(server.explorer.runs[0].index.items.keys) == keys


@pytest.mark.slow
def test_a_long_text_comes_in_parts_and_whole(tmp_path):
    with serving(hostile_ledger(tmp_path / "ledger.sqlite")) as server:
        client, huge = Client(server), "<b>A</b> \u202e" * 500_000
        rows = client.json("/api/flips?q=huge")["rows"]
        flip = client.json(f"/api/flip?run=0&cell={rows[0]['cell']}")
        turn = flip["trajectory"]["turns"][0]["content"]
        assert len(huge) == turn["length"]
        item = flip["cell"] // flip["width"]
        text = turn["text"]
        while len(text) < turn["length"]:
            more = client.json(f"/api/text?run=0&start={len(text)}&what=turn/{item}/0/content")
            text += more["text"]
            assert len(text) == more["end"]
        assert huge == text
        sizes = [len(client.ask(f"/api/flip?run=0&cell={r['cell']}")[2]) for r in
                 client.json("/api/flips?transform=all&outcome=all")["rows"]]  # fmt: skip
        assert max(sizes) < 2_000_000


def test_several_judges_are_looked_at_together(tmp_path, made):
    other = small_ledger(tmp_path / "ledger.sqlite", n_items=6)
    with serving(made, other) as server:
        client = Client(server)
        assert 8 == client.json("/api/flips")["total"]
        assert 4 == client.json("/api/flips?judge=1")["total"]
        assert {0, 1} == {r["run"] for r in client.json("/api/flips")["rows"]}


def test_what_is_no_ledger_is_told(tmp_path):
    with pytest.raises(LedgerError, match="no ledger here"):
        Explorer([tmp_path / "ledger.sqlite"])
    (tmp_path / "x.sqlite").write_text("something else")
    with pytest.raises(LedgerError, match="not a judgeaudit ledger"):
        Explorer([tmp_path / "x.sqlite"])


@pytest.mark.parametrize("text", ["", "{}", "[]", "[" * 100_000, '{"headline": {"sentence": 1}}'])
def test_a_card_that_is_none_is_left_out(own, text):
    own.server.explorer.runs[0].path.with_name("card.json").write_text(text)
    assert own.json("/api/overview")["runs"][0]["card"] is None


def test_the_card_beside_the_ledger_speaks_first(own):
    folder = own.server.explorer.runs[0].path.parent
    card = run(numbers({})).card()
    cards.write(card, folder)
    said = own.json("/api/overview")["runs"][0]["card"]
    assert card.headline.sentence == said["sentence"]
    assert card.headline.stance == said["stance"]
    assert card.facts.n_answered == said["answered"]
    pis = card.scores.find("pis")
    assert pis is not None
    assert {"value": pis.value, "low": pis.low, "high": pis.high} == said["pis"]
