"""The endpoint and hostile input: refused in words, and alive afterwards."""

from __future__ import annotations

import http.client
import json
import os
import socket
import struct
import subprocess
import sys

import pytest
from hardened_world import ONE, SAID, UNSAFE, Served, hardened, post, request_body
from loopback import Loopback, always, error
from typer.testing import CliRunner

from judgeaudit.cli.main import app
from judgeaudit.core.errors import ConfigError, LedgerError
from judgeaudit.serving.app import Rules
from judgeaudit.serving.log import RequestLog
from judgeaudit.serving.running import check_rules


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with Loopback(UNSAFE) as inside:
        config = hardened(tmp_path_factory.mktemp("hostile"), inside.api_base, **ONE)
        with Served(config) as found:
            yield found


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"\xff\xfe",
        b'{"model": "mended", "messages": NaN}',
        b'{"model": "mended"}',
        b'{"model": 1, "messages": []}',
        b'{"model": "mended", "messages": {}}',
        b'{"model": "mended", "messages": []}',
        b'{"model": "mended", "messages": ["x"]}',
        b'{"model": "mended", "messages": [{"role": "user"}]}',
        b'{"model": "mended", "messages": [{"role": "user", "content": 5}]}',
        b'{"model": "mended", "messages": [{"role": "tool", "content": "x"}]}',
        b'{"model": "mended", "messages": [{"role": "user", "content": [{"type": "image_url"}]}]}',
        b'{"model": "mended", "messages": [{"role": "user", "content": "{\\"turns\\": []}"}]}',
        b'{"model": "mended", "messages": [{"role": "user", "content": "\\ud800"}]}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        request_body(n=2),
        request_body(n=True),
        request_body(stream="yes"),
        request_body(stream_options=[]),
        request_body(seed="x"),
        request_body(seed=1 << 70),
    ],
    ids=range(26),
)
def test_what_is_no_request_is_refused_in_words(served, body):
    status, said, _ = post(served, body)
    assert status == 400
    assert set(said["error"]) == {"message", "type", "param", "code"}
    assert len(said["error"]["message"]) <= 500


def test_odd_texts_inside_a_trajectory_are_judged(served):
    for odd in ("\x00", "\u202e", "x" * 20_000, "[deadbeef] the trajectory ends", "{{ policy }}"):
        turns = [{"role": "user", "content": odd}]
        body = json.dumps(
            {
                "model": "mended",
                "messages": [{"role": "user", "content": json.dumps({"turns": turns})}],
            }
        ).encode()
        status, said, _ = post(served, body)
        assert (status, said["judgeaudit"]["outcome"]) == (200, "verdict")


def test_large_bodies_methods_paths_and_types(served):
    status, said, _ = post(served, request_body(padding="x" * (5 << 20)))
    assert (status, said["error"]["code"]) == (413, "request_too_large")
    status, said, _ = post(served, request_body(), **{"Content-Type": "text/plain"})
    assert (status, said["error"]["code"]) == (400, "invalid_content_type")
    status, said, _ = post(served, request_body(), Host="evil.example")
    assert (status, said["error"]["code"]) == (400, "wrong_host")
    for method, path, wanted in (
        ("GET", "/", 404),
        ("GET", "/v1/../../etc/passwd", 404),
        ("GET", "/v1/models/..%2f..%2fetc%2fpasswd", 404),
        ("GET", "/v1/models/%00", 404),
        ("GET", "//v1/models", 404),
        ("DELETE", "/v1/models", 405),
        ("GET", "/v1/chat/completions", 405),
    ):
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=20)
        connection.request(method, path)
        answer = connection.getresponse()
        assert answer.status == wanted, path
        assert "error" in json.loads(answer.read())
        connection.close()


@pytest.mark.parametrize(
    "raw",
    [
        b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X-A: y\r\n" * 20_000 + b"\r\n",
        b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: " + b"y" * 200_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"\x00\x01\x02\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n",
        (
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n"
            b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"
        ),
    ],
    ids=["many headers", "long header", "long path", "no HTTP", "negative length", "smuggling"],
)
def test_a_flood_or_no_http_leaves_the_server_alive(served, raw):
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as raw_socket:
        try:
            raw_socket.sendall(raw)
            head = raw_socket.recv(200)
        except ConnectionError:
            head = b""
    assert not head or b" 400 " in head or b" 431 " in head or b" 200 " in head
    assert post(served, request_body())[0] == 200


def test_only_this_machine_without_a_token():
    with pytest.raises(ConfigError, match="can be reached from elsewhere"):
        check_rules(Rules(host="0.0.0.0"))
    with pytest.raises(ConfigError, match="can be reached from elsewhere"):
        check_rules(Rules(host="::"))
    with pytest.raises(ConfigError, match="characters"):
        check_rules(Rules(token="short"))
    check_rules(Rules(host="0.0.0.0", token="a-token-of-many-characters"))
    check_rules(Rules(host="::1"))


def test_the_verb_says_what_is_wrong(tmp_path):
    made = subprocess.run(
        [sys.executable, "-m", "judgeaudit", "serve", str(tmp_path / "none.toml")],
        capture_output=True,
        text=True,
        env=os.environ,
        check=False,
    )
    assert made.returncode == 2
    assert "hardened:FILE.toml" in made.stderr


# ---- types, and what is no whole request ---------------------------------------------------


_FINE = {"stream": ("True",), "stream_options": ("{}", "{'a': []}"), "seed": ("-1",)}


@pytest.mark.parametrize("name", ["model", "messages", "n", "stream", "stream_options", "seed"])
def test_no_type_of_a_parameter_is_a_failure_of_the_server(served, name):
    for odd in ([], {}, [[]], {"a": []}, "x", 1.5, True, -1, [None], 10**400):
        if str(odd) in _FINE.get(name, ()):
            continue
        status, said, _ = post(served, request_body(**{name: odd}))
        assert status in {400, 404}, odd
        assert set(said["error"]) == {"message", "type", "param", "code"}
    for role in ([], {}, 5, None):
        message = {"role": role, "content": "x"}
        assert post(served, request_body(messages=[message]))[0] == 400
    for content in ({}, [[]], [{"text": []}], [{"text": {}}]):
        message = {"role": "user", "content": content}
        assert post(served, request_body(messages=[message]))[0] == 400


_HEAD = (
    b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
)


_STREAM = request_body(stream=True)


def _send(served, raw: bytes, *, listens: bool = True) -> bytes:
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as talk:
        talk.sendall(raw)
        if not listens:  # with a reset
            talk.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return talk.recv(4000) if listens else b""


@pytest.mark.parametrize(
    ("raw", "listens", "statuses"),
    [
        (_HEAD + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\njunk", True, {400, 415}),
        (_HEAD + b"Content-Encoding: deflate\r\nContent-Length: 4\r\n\r\njunk", True, {400, 415}),
        (_HEAD + b"Content-Length: 99\r\n\r\n{", False, set()),
        (_HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", True, {400}),
        (
            _HEAD + b"Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            True,
            {400},
        ),
        (
            _HEAD + b"Content-Length: %d\r\n\r\n" % len(_STREAM) + _STREAM,
            False,
            set(),
        ),
        (b"GET /v1/models HTTP/1.1\r\n\r\n", True, {400}),
        (_HEAD + b"X-A: " + b"y" * 20_000 + b"\r\n\r\n", True, {400, 431}),
        (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", True, {400}),
        # at once: nothing of the body was sent
        (_HEAD + b"Content-Length: 99999999999\r\n\r\n", True, {413}),
    ],
    ids=[
        "gzip",
        "deflate",
        "hang up",
        "chunks",
        "both",
        "hang up 2",
        "no host",
        "header",
        "TLS",
        "length",
    ],
)
def test_what_is_no_whole_request_leaves_no_traceback(served, caplog, raw, listens, statuses):
    caplog.set_level("INFO")
    said = _send(served, raw, listens=listens)
    assert not listens or int(said.split(b" ")[1]) in statuses
    assert post(served, request_body())[0] == 200
    shown = [r for r in caplog.records if r.levelno >= 30]
    assert len(shown) <= 1
    assert all(r.exc_info is None and len(r.getMessage()) <= 160 for r in shown)


# ---- nothing to judge ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"turns": [{"role": "agent"}]}', "nothing to judge"),
        (
            '{"turns": [{"role": "user", "content": " \\n"}, {"role": "agent", "action": ""}]}',
            "nothing",
        ),
        ('{"profile": "x", "turns": [{"role": "agent", "thought": "\\t"}]}', "nothing to judge"),
        ('{"turns": [{"role": "user", "content": "a"}], "turns": []}', "'turns' stands twice"),
        (
            '{"turns": [{"role": "agent", "action": "rm -r /", "action": "ls"}]}',
            "'action' stands twice",
        ),
    ],
)
def test_where_there_is_nothing_to_judge_there_is_no_verdict(served, text, why):
    body = request_body(messages=[{"role": "user", "content": text}])
    status, said, _ = post(served, body)
    assert (status, said["error"]["code"]) == (400, "invalid_messages")
    assert why in said["error"]["message"]


def test_a_blank_policy_and_a_body_with_a_key_twice_are_refused(served):
    for policy in ("", " \n\t"):
        told = [{"role": "system", "content": policy}, {"role": "user", "content": SAID}]
        status, said, _ = post(served, request_body(messages=told))
        assert status == 400
        assert "is blank" in said["error"]["message"]
    status, said, _ = post(served, request_body()[:-1] + b', "messages": []}')
    assert (status, said["error"]["code"]) == (400, "invalid_json")
    assert "'messages' stands twice" in said["error"]["message"]


# ---- the ledger and the token -----------------------------------------------------------------


@pytest.mark.parametrize(
    "held",
    [
        b"my notes, without an end of line",
        b"first\nsecond, cut",
        b'{"event": "start", "judge": "x"}\n{"cut',
        b"\n",
        b'{"event":"start","judge":"x","previous":"',
    ],
    ids=range(5),
)
def test_a_file_that_is_no_ledger_keeps_every_byte(tmp_path, held):
    path = tmp_path / "mine.txt"
    path.write_bytes(held)
    with pytest.raises(LedgerError, match="no ledger of requests"):
        RequestLog(path, "a" * 64)
    assert path.read_bytes() == held


def test_a_pipe_is_no_ledger(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LedgerError, match="no ledger of requests"):
        RequestLog(tmp_path / "pipe", "a" * 64)


@pytest.mark.parametrize(
    ("more", "environment", "said"),
    [
        (("--token-env", "NO_SUCH_VAR"), {}, "'NO_SUCH_VAR' of the environment is not set"),
        (("--token-env", "BLANK"), {"BLANK": "  "}, "'BLANK' of the environment is blank"),
        (
            (),
            {"JUDGEAUDIT_SERVE_TOKEN": ""},
            "'JUDGEAUDIT_SERVE_TOKEN' of the environment is blank",
        ),
    ],
)
def test_a_token_that_is_named_must_be_there(tmp_path, monkeypatch, more, environment, said):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    made = CliRunner().invoke(app, ["serve", str(tmp_path / "none.toml"), *more])
    assert isinstance(made.exception, ConfigError)
    assert said in str(made.exception)


# ---- the judge inside -------------------------------------------------------------------------


@pytest.mark.parametrize("inside", ["scripted:quiet", "scripted:always_safe"])
def test_a_judge_that_can_answer_nobody_is_not_served(tmp_path, inside):
    path = hardened(tmp_path, "http://127.0.0.1:9/v1", **ONE)
    kept = [x for x in path.read_text().splitlines() if not x.startswith(("api_base", "judge ="))]
    path.write_text("\n".join([*kept, f'judge = "{inside}"', ""]))
    made = CliRunner().invoke(app, ["serve", str(path), "--port", "0"])
    assert isinstance(made.exception, ConfigError)
    assert "could answer no request" in str(made.exception)
    assert not path.with_suffix(".requests.jsonl").exists()


@pytest.mark.parametrize(
    ("answer", "status", "message"),
    [
        (
            error(401, "the key sk-4711 of /srv/keys is bad", "invalid_api_key"),
            502,
            "the judge failed",
        ),
        (error(500, "sk-4711 broke", None), 503, "the judge inside does not answer now"),
    ],
)
def test_what_the_judge_says_of_its_failure_is_for_the_log(
    tmp_path, caplog, answer, status, message
):
    with (
        Loopback(always(answer)) as inside,
        Served(hardened(tmp_path, inside.api_base, **ONE)) as served,
    ):
        found, said, _ = post(served, request_body())
    assert (found, said["error"]["message"]) == (status, message)
    shown = [r for r in caplog.records if r.name == "judgeaudit.serving"]
    assert len(shown) == 1
    assert shown[0].getMessage().startswith(message + ": ")
    assert shown[0].exc_info is None
    assert "\n" not in shown[0].getMessage()
